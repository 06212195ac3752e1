/*
 * The texts of app/live/foxglove_text.h, by json-glib, which prints GVariants.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/foxglove_text.h"

#include "app/eval/metrics.h"
#include "app/live/quality.h"
#include "base/clock.h"
#include "config/presets.h"
#include "image/picture.h"

#include <math.h>
#include <string.h>

enum { NESTED = 16 }; /* lists and objects in a client's message */

/* Takes the value. */
static char *print_json(GVariant *value) {
    g_autoptr(GVariant) own = g_variant_ref_sink(value);
    return json_gvariant_serialize_data(own, NULL);
}

/* ---- what clients send */

JsonArray *foxglove_array(JsonObject *object, const char *name) {
    JsonNode *node = json_object_get_member(object, name);
    return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

JsonObject *foxglove_object(JsonArray *array, guint i) {
    JsonNode *node = json_array_get_element(array, i);
    return JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

/* NULL where it is no text. */
const char *foxglove_string(JsonObject *object, const char *name) {
    JsonNode *node = object ? json_object_get_member(object, name) : NULL;
    return node && json_node_get_value_type(node) == G_TYPE_STRING ? json_node_get_string(node)
                                                                   : NULL;
}

static bool number_of(JsonNode *node, double *value) {
    GType type = node ? json_node_get_value_type(node) : G_TYPE_INVALID;
    if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE && type != G_TYPE_BOOLEAN)
        return false;
    *value = type == G_TYPE_BOOLEAN ? json_node_get_boolean(node) : json_node_get_double(node);
    return true;
}

/* A whole number of 32 bits. */
bool foxglove_whole(JsonNode *node, uint32_t *value) {
    double number;
    if (!number_of(node, &number) || number < 0 || number > UINT32_MAX || number != floor(number))
        return false;
    *value = (uint32_t)number;
    return true;
}

/* Whether lists and objects are nested no deeper than the parser's stack can hold. The parser
 * knows comments and other quotes, in which brackets do not count, too: JSON does not. */
static bool is_flat(const char *text) {
    int depth = 0;
    bool quoted = false;
    for (; *text && depth <= NESTED; text++) {
        if (quoted && *text == '\\' && text[1])
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (!quoted && strchr("/#'", *text))
            return false;
        else if (!quoted)
            depth += (*text == '[' || *text == '{') - (*text == ']' || *text == '}');
    }
    return depth <= NESTED;
}

JsonObject *foxglove_parse(JsonParser *parser, const char *text) {
    if (!g_utf8_validate(text, -1, NULL) || !is_flat(text) ||
        !json_parser_load_from_data(parser, text, -1, NULL))
        return NULL;
    JsonNode *root = json_parser_get_root(parser);
    return root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
}

/* ---- parameters: those that act on the next frame, and "preset", which sets many of them */

static bool is_offered(const struct param_info *info) {
    return info->when == PARAM_LIVE && (info->part == PARAM_METHOD || info->part == PARAM_DISPLAY);
}

static GVariant *param_of(const struct params *params, const struct param_info *info) {
    double value = param_get(params, info);
    char text[64];
    if (info->type == PARAM_TYPE_ENUM)
        return g_variant_new_parsed("{'name': <%s>, 'value': <%s>}", info->name,
                                    param_print(params, info, text, sizeof text));
    if (info->type == PARAM_TYPE_BOOL)
        return g_variant_new_parsed("{'name': <%s>, 'value': <%b>}", info->name, value != 0);
    return g_variant_new_parsed("{'name': <%s>, 'value': <%d>, 'type': <'float64'>}", info->name,
                                value);
}

/* The settings of a preset, but for the range searched and the rig. */
static int set_preset(struct params *params, const char *name) {
    const struct preset *preset = preset_find(name);
    struct params own;
    params_default(&own);
    if (!preset)
        return -ENOENT;
    preset_apply(preset, &own);
    for (int i = 0; i < param_count; i++)
        if (is_offered(&param_table[i]) && strcmp(param_table[i].group, "search") != 0 &&
            strcmp(param_table[i].group, "rectification") != 0)
            param_put(params, &param_table[i], param_get(&own, &param_table[i]));
    return 0;
}

/* The preset whose settings these are, or "custom"; those of the segments of Quality first. */
static const char *find_preset(const struct params *params) {
    for (int i = -QUALITIES; i < 0 || preset_table[i].name; i++) {
        const char *name = i < 0 ? quality_presets[i + QUALITIES] : preset_table[i].name;
        struct params own = *params;
        if (set_preset(&own, name) == 0 && params_equal(&own, params))
            return name;
    }
    return "custom";
}

/* names NULL or empty: all. id may be NULL. */
char *foxglove_params(const struct params *params, JsonArray *names, const char *id) {
    GVariantBuilder list;
    g_variant_builder_init(&list, G_VARIANT_TYPE("aa{sv}"));
    guint count = names ? json_array_get_length(names) : 0;
    for (int i = 0; i < param_count; i++) {
        bool asked = count == 0;
        for (guint k = 0; k < count && !asked; k++) {
            JsonNode *name = json_array_get_element(names, k);
            asked = json_node_get_value_type(name) == G_TYPE_STRING &&
                    strcmp(json_node_get_string(name), param_table[i].name) == 0;
        }
        if (asked && is_offered(&param_table[i]))
            g_variant_builder_add_value(&list, param_of(params, &param_table[i]));
    }
    if (count == 0)
        g_variant_builder_add_value(
            &list,
            g_variant_new_parsed("{'name': <'preset'>, 'value': <%s>}", find_preset(params)));
    GVariant *values = g_variant_builder_end(&list);
    if (!id)
        return print_json(
            g_variant_new_parsed("{'op': <'parameterValues'>, 'parameters': <%@aa{sv}>}", values));
    g_autofree char *answered = g_utf8_make_valid(id, -1); /* JSON can spell half a character */
    return print_json(g_variant_new_parsed(
        "{'op': <'parameterValues'>, 'id': <%s>, 'parameters': <%@aa{sv}>}", answered, values));
}

/* Sets what an element of setParameters says; why says what is wrong with it. */
int foxglove_set_param(struct params *params, JsonObject *object, char *why, size_t size) {
    const char *name = foxglove_string(object, "name"), *text = foxglove_string(object, "value");
    const struct param_info *info = name ? param_find(name) : NULL;
    double value;
    int error = -EINVAL;
    if (name && text && strcmp(name, "preset") == 0) {
        error = set_preset(params, text);
        g_snprintf(why, size, "there is no preset of this name");
    } else if (!info || !is_offered(info)) {
        g_snprintf(why, size, "%s cannot be set while frames are computed", name ? name : "what");
    } else if (text) {
        error = params_set(params, name, text, why, size);
    } else if (number_of(json_object_get_member(object, "value"), &value)) {
        error = param_put(params, info, value);
        g_snprintf(why, size, "%s: between %g and %g", name, info->min, info->max);
    } else {
        g_snprintf(why, size, "%s has no value", name);
    }
    return error;
}

/* ---- what is announced */

bool foxglove_has_channel(int channel, int mode, bool metric) {
    return channel == FOXGLOVE_STATISTICS || ros_topic_has((enum ros_topic)channel, mode, metric);
}

static GVariant *channel_of(int channel) {
    const struct mcap_topic statistics = {"/statistics", "livestereo.Statistics",
                                          "{\"type\":\"object\"}"};
    const struct mcap_topic *topic = &ros_topics[channel];
    const char *encoding = "cdr", *schema = "ros2msg";
    if (channel == FOXGLOVE_STATISTICS) {
        topic = &statistics;
        encoding = "json";
        schema = "jsonschema";
    }
    return g_variant_new_parsed("{'id': <%i>, 'topic': <%s>, 'encoding': <%s>, 'schemaName': <%s>, "
                                "'schema': <%s>, 'schemaEncoding': <%s>}",
                                channel + 1, topic->topic, encoding, topic->type, topic->definition,
                                schema);
}

char *foxglove_welcome(void) {
    return print_json(g_variant_new_parsed(
        "{'op': <'serverInfo'>, 'name': <'livestereo " LIVESTEREO_VERSION "'>, "
        "'capabilities': <['parameters', 'parametersSubscribe']>}"));
}

char *foxglove_channels(int mode, bool metric) {
    GVariantBuilder list;
    g_variant_builder_init(&list, G_VARIANT_TYPE("aa{sv}"));
    for (int channel = 0; channel < FOXGLOVE_CHANNELS; channel++)
        if (foxglove_has_channel(channel, mode, metric))
            g_variant_builder_add_value(&list, channel_of(channel));
    return print_json(g_variant_new_parsed("{'op': <'advertise'>, 'channels': <%@aa{sv}>}",
                                           g_variant_builder_end(&list)));
}

char *foxglove_status(int level, const char *text) {
    g_autofree char *valid = g_utf8_make_valid(text, -1); /* it may quote what a client sent */
    return print_json(
        g_variant_new_parsed("{'op': <'status'>, 'level': <%i>, 'message': <%s>}", level, valid));
}

/* The presets of stereo, or of motion. */
static GVariant *list_presets(int mode) {
    GVariantBuilder list;
    g_variant_builder_init(&list, G_VARIANT_TYPE("as"));
    for (const struct preset *p = preset_table; p->name; p++) {
        struct params own;
        params_default(&own);
        preset_apply(p, &own);
        if (own.mode == mode)
            g_variant_builder_add(&list, "s", p->name);
    }
    return g_variant_builder_end(&list);
}

/* The rows of the window's tab Depth, with bounds where they are a parameter: what is of use; the
 * whole range is Foxglove's, or --set. */
static GVariant *list_rows(void) {
    enum { ALL, DEPTH };
#define ROW(id, tab, name, label, kind, help, get, set, fit, when) {name, label, help, tab},
    static const struct {
        const char *name, *label, *help;
        int tab;
    } rows[] = {
#include "app/view/rows.def"
    };
#undef ROW
    GVariantBuilder list;
    g_variant_builder_init(&list, G_VARIANT_TYPE("aa{sv}"));
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const struct param_info *info = param_find(rows[i].name);
        if (rows[i].tab != DEPTH || g_str_has_prefix(rows[i].name, "motion_"))
            continue;
        const char *help = rows[i].help || !info ? rows[i].help : info->help;
        GVariantDict row;
        g_variant_dict_init(&row, NULL);
        g_variant_dict_insert(&row, "name", "s", rows[i].name);
        g_variant_dict_insert(&row, "label", "s", rows[i].label);
        g_variant_dict_insert(&row, "help", "s", help);
        if (info) {
            double most = info->def > 0 ? 8 * info->def : 255;
            g_variant_dict_insert(&row, "unit", "s", strstr(rows[i].name, "disparity") ? "px" : "");
            g_variant_dict_insert(&row, "min", "d", fmax(info->min, -most));
            g_variant_dict_insert(&row, "max", "d", fmin(info->max, most));
            g_variant_dict_insert(&row, "step", "d",
                                  info->type == PARAM_TYPE_BOOL ? 0 : info->step);
        }
        g_variant_builder_add_value(&list, g_variant_dict_end(&row));
    }
    return g_variant_builder_end(&list);
}

/* The page needs these beside the topics: geometry, errors by confidence, colours, presets and
 * rows of settings. */
char *foxglove_about(const struct params *params, const struct depth_geometry *g,
                     const char *source) {
    double sigma[256];
    GVariantDict colors, quality;
    for (int confidence = 0; confidence < 256; confidence++)
        sigma[confidence] = metrics_sigma(params, confidence);
    g_variant_dict_init(&colors, NULL);
    for (int i = 0; i < COLORMAP_COUNT; i++)
        g_variant_dict_insert_value(
            &colors, colormap_names[i],
            g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, colormap_table[i], 256 * 3, 1));
    g_variant_dict_init(&quality, NULL);
    for (int i = 0; i < QUALITIES; i++)
        g_variant_dict_insert(&quality, quality_names[i], "s", quality_presets[i]);
    return print_json(g_variant_new_parsed(
        "{'source': <%s>, 'metric': <%i>, 'fx': <%d>, 'cx': <%d>, 'cy': <%d>, 'baseline': <%d>, "
        "'doffs': <%d>, 'sigma': <%@ad>, 'colors': <%@a{sv}>, 'quality': <%@a{sv}>, "
        "'presets': <%@as>, 'rows': <%@aa{sv}>}",
        source, (int)g->metric, g->fx, g->cx, g->cy, g->baseline, g->doffs,
        g_variant_new_fixed_array(G_VARIANT_TYPE_DOUBLE, sigma, 256, sizeof sigma[0]),
        g_variant_dict_end(&colors), g_variant_dict_end(&quality), list_presets(params->mode),
        list_rows()));
}

GBytes *foxglove_statistics(const struct frame *frame, double frame_ms, int clients) {
    GVariant *rate = frame_ms > 0 ? g_variant_new_double(1000 / frame_ms) : NULL;
    char *text = print_json(g_variant_new_parsed(
        "{'frame': <%x>, 'rate': <%@md>, 'compute_ms': <%d>, 'age_ms': <%d>, 'clients': <%i>, "
        "'min_disparity': <%i>, 'disparity_range': <%i>, 'matched_from': <%i>}",
        (gint64)frame->index, g_variant_new_maybe(G_VARIANT_TYPE_DOUBLE, rate), frame->compute_ms,
        (double)(clock_ns() - frame->taken_ns) / 1e6, clients, frame->params->min_disparity,
        frame->params->disparity_range, params_matched_from(frame->params)));
    return g_bytes_new_take(text, strlen(text));
}
