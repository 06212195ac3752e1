/*
 * The texts of app/live/foxglove_text.h, by json-glib, which prints GVariants.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/foxglove_text.h"

#include "app/eval/metrics.h"
#include "base/clock.h"
#include "config/presets.h"
#include "image/picture.h"

#include <errno.h>
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
    GVariant *values = g_variant_builder_end(&list);
    if (!id)
        return print_json(
            g_variant_new_parsed("{'op': <'parameterValues'>, 'parameters': <%@aa{sv}>}", values));
    g_autofree char *answered = g_utf8_make_valid(id, -1); /* JSON can spell half a character */
    return print_json(g_variant_new_parsed(
        "{'op': <'parameterValues'>, 'id': <%s>, 'parameters': <%@aa{sv}>}", answered, values));
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

/* What the page needs beside the topics: geometry, errors by confidence, presets, settings. */
char *foxglove_about(const struct params *params, const struct depth_geometry *g, int width,
                     int height) {
    static const struct {
        const char *name, *label;
    } shown[] = {{"disparity_range", "Search range"},
                 {"min_disparity", "Smallest disparity"},
                 {"discontinuity_weight", "Smoothness"},
                 {"discontinuity_truncation", "Cost of an edge"},
                 {"min_confidence", "Least confidence"},
                 {"speckle_size", "Drop regions below"},
                 {"fill", "Fill holes"}};
    GVariantBuilder presets, settings;
    double sigma[256];
    for (int confidence = 0; confidence < 256; confidence++)
        sigma[confidence] = metrics_sigma(params, confidence);
    g_variant_builder_init(&presets, G_VARIANT_TYPE("as"));
    for (const struct preset *p = preset_table; p->name; p++)
        g_variant_builder_add(&presets, "s", p->name);
    g_variant_builder_init(&settings, G_VARIANT_TYPE("aa{sv}"));
    for (size_t i = 0; i < G_N_ELEMENTS(shown); i++) {
        const struct param_info *info = param_find(shown[i].name);
        double step = info->type == PARAM_TYPE_BOOL ? 0 : info->step;
        g_variant_builder_add_value(
            &settings, g_variant_new_parsed(
                           "{'name': <%s>, 'label': <%s>, 'default': <%d>, 'unit': <%s>, "
                           "'help': <%s>, 'min': <%d>, 'max': <%d>, 'step': <%d>}",
                           info->name, shown[i].label, info->def, info->unit ? info->unit : "",
                           info->help, info->min, info->max, step));
    }
    return print_json(g_variant_new_parsed(
        "{'width': <%i>, 'height': <%i>, 'metric': <%i>, 'fx': <%d>, 'fy': <%d>, 'cx': <%d>, "
        "'cy': <%d>, 'baseline': <%d>, 'doffs': <%d>, 'sigma': <%@ad>, 'colors': <%@ay>, "
        "'presets': <%@as>, 'settings': <%@aa{sv}>}",
        width, height, (int)g->metric, g->fx, g->fy, g->cx, g->cy, g->baseline, g->doffs,
        g_variant_new_fixed_array(G_VARIANT_TYPE_DOUBLE, sigma, 256, sizeof sigma[0]),
        g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, colormap_table[COLORMAP_TURBO], 256 * 3, 1),
        g_variant_builder_end(&presets), g_variant_builder_end(&settings)));
}

GBytes *foxglove_statistics(const struct frame *frame, double frame_ms, int clients) {
    GVariant *rate = frame_ms > 0 ? g_variant_new_double(1000 / frame_ms) : NULL;
    char *text = print_json(g_variant_new_parsed(
        "{'frame': <%x>, 'rate': <%@md>, 'compute_ms': <%d>, 'age_ms': <%d>, 'clients': <%i>, "
        "'min_disparity': <%i>, 'disparity_range': <%i>}",
        (gint64)frame->index, g_variant_new_maybe(G_VARIANT_TYPE_DOUBLE, rate), frame->compute_ms,
        (double)(clock_ns() - frame->taken_ns) / 1e6, clients, frame->params->min_disparity,
        frame->params->disparity_range));
    return g_bytes_new_take(text, strlen(text));
}
