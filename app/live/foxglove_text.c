/*
 * The texts of app/live/foxglove_text.h, by json-glib. SPDX-License-Identifier: MIT
 */
#include "app/live/foxglove_text.h"

#include "app/eval/metrics.h"
#include "config/clock.h"
#include "config/presets.h"
#include "image/picture.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { NESTED = 16 }; /* lists and objects in a client's message */

static char *print_json(JsonBuilder *builder) {
    g_autoptr(JsonNode) root = json_builder_get_root(builder);
    char *text = json_to_string(root, FALSE);
    g_object_unref(builder);
    return text;
}

static void add_text(JsonBuilder *b, const char *name, const char *text) {
    json_builder_set_member_name(b, name);
    json_builder_add_string_value(b, text);
}

static void add_number(JsonBuilder *b, const char *name, double value) {
    json_builder_set_member_name(b, name);
    if (value == floor(value) && fabs(value) < 1e15)
        json_builder_add_int_value(b, (gint64)value);
    else if (isfinite(value))
        json_builder_add_double_value(b, value);
    else
        json_builder_add_null_value(b);
}

static void begin_array(JsonBuilder *b, const char *name) {
    json_builder_set_member_name(b, name);
    json_builder_begin_array(b);
}

/* Begins a message of this op. */
static JsonBuilder *begin_op(const char *op) {
    JsonBuilder *b = json_builder_new();
    json_builder_begin_object(b);
    add_text(b, "op", op);
    return b;
}

static char *end_op(JsonBuilder *b) {
    json_builder_end_object(b);
    return print_json(b);
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

/* Whether lists and objects are nested no deeper than the parser's stack can hold. */
static bool is_flat(const char *text) {
    int depth = 0;
    bool quoted = false;
    for (; *text && depth <= NESTED; text++) {
        if (quoted && *text == '\\' && text[1])
            text++;
        else if (*text == '"')
            quoted = !quoted;
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

static void add_param(JsonBuilder *b, const struct params *params, const struct param_info *info) {
    char text[64];
    json_builder_begin_object(b);
    add_text(b, "name", info->name);
    if (info->type == PARAM_TYPE_ENUM) {
        add_text(b, "value", param_print(params, info, text, sizeof text));
    } else if (info->type == PARAM_TYPE_BOOL) {
        json_builder_set_member_name(b, "value");
        json_builder_add_boolean_value(b, param_get(params, info) != 0);
    } else {
        add_number(b, "value", param_get(params, info));
        add_text(b, "type", "float64");
    }
    json_builder_end_object(b);
}

/* names NULL or empty: all. id may be NULL. */
char *foxglove_params(const struct params *params, JsonArray *names, const char *id) {
    JsonBuilder *b = begin_op("parameterValues");
    if (id)
        add_text(b, "id", id);
    begin_array(b, "parameters");
    guint count = names ? json_array_get_length(names) : 0;
    for (int i = 0; i < param_count; i++) {
        bool asked = count == 0;
        for (guint k = 0; k < count && !asked; k++) {
            JsonNode *name = json_array_get_element(names, k);
            asked = json_node_get_value_type(name) == G_TYPE_STRING &&
                    strcmp(json_node_get_string(name), param_table[i].name) == 0;
        }
        if (asked && is_offered(&param_table[i]))
            add_param(b, params, &param_table[i]);
    }
    json_builder_end_array(b);
    return end_op(b);
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

static void add_channel(JsonBuilder *b, int channel) {
    const struct mcap_topic statistics = {"/statistics", "livestereo.Statistics",
                                          "{\"type\":\"object\"}"};
    bool json = channel == FOXGLOVE_STATISTICS;
    const struct mcap_topic *topic = json ? &statistics : &ros_topics[channel];
    json_builder_begin_object(b);
    add_number(b, "id", channel + 1);
    add_text(b, "topic", topic->topic);
    add_text(b, "encoding", json ? "json" : "cdr");
    add_text(b, "schemaName", topic->type);
    add_text(b, "schema", topic->definition);
    add_text(b, "schemaEncoding", json ? "jsonschema" : "ros2msg");
    json_builder_end_object(b);
}

char *foxglove_welcome(void) {
    JsonBuilder *b = begin_op("serverInfo");
    add_text(b, "name", "livestereo " LIVESTEREO_VERSION);
    begin_array(b, "capabilities");
    json_builder_add_string_value(b, "parameters");
    json_builder_add_string_value(b, "parametersSubscribe");
    json_builder_end_array(b);
    return end_op(b);
}

char *foxglove_channels(int mode, bool metric) {
    JsonBuilder *b = begin_op("advertise");
    begin_array(b, "channels");
    for (int channel = 0; channel < FOXGLOVE_CHANNELS; channel++)
        if (foxglove_has_channel(channel, mode, metric))
            add_channel(b, channel);
    json_builder_end_array(b);
    return end_op(b);
}

char *foxglove_status(int level, const char *text) {
    JsonBuilder *b = begin_op("status");
    add_number(b, "level", level);
    add_text(b, "message", text);
    return end_op(b);
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
    JsonBuilder *b = json_builder_new();
    json_builder_begin_object(b);
    add_number(b, "width", width);
    add_number(b, "height", height);
    add_number(b, "metric", g->metric);
    add_number(b, "fx", g->fx);
    add_number(b, "fy", g->fy);
    add_number(b, "cx", g->cx);
    add_number(b, "cy", g->cy);
    add_number(b, "baseline", g->baseline);
    add_number(b, "doffs", g->doffs);
    begin_array(b, "sigma");
    for (int confidence = 0; confidence < 256; confidence++)
        json_builder_add_double_value(b, metrics_sigma(params, confidence));
    json_builder_end_array(b);
    begin_array(b, "colors");
    for (int i = 0; i < 256 * 3; i++)
        json_builder_add_int_value(b, colormap_table[COLORMAP_TURBO][i / 3][i % 3]);
    json_builder_end_array(b);
    begin_array(b, "presets");
    for (const struct preset *p = preset_table; p->name; p++)
        json_builder_add_string_value(b, p->name);
    json_builder_end_array(b);
    begin_array(b, "settings");
    for (size_t i = 0; i < G_N_ELEMENTS(shown); i++) {
        const struct param_info *info = param_find(shown[i].name);
        json_builder_begin_object(b);
        add_text(b, "name", info->name);
        add_text(b, "label", shown[i].label);
        add_number(b, "default", info->def);
        add_text(b, "unit", info->unit ? info->unit : "");
        add_text(b, "help", info->help);
        add_number(b, "min", info->min);
        add_number(b, "max", info->max);
        add_number(b, "step", info->type == PARAM_TYPE_BOOL ? 0 : info->step);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    json_builder_end_object(b);
    return print_json(b);
}

GBytes *foxglove_statistics(const struct frame *frame, double frame_ms, int clients) {
    JsonBuilder *b = json_builder_new();
    json_builder_begin_object(b);
    add_number(b, "frame", (double)frame->index);
    add_number(b, "rate", frame_ms > 0 ? 1000 / frame_ms : NAN);
    add_number(b, "compute_ms", frame->compute_ms);
    add_number(b, "age_ms", (double)(clock_ns() - frame->taken_ns) / 1e6);
    add_number(b, "clients", clients);
    add_number(b, "min_disparity", frame->params->min_disparity);
    add_number(b, "disparity_range", frame->params->disparity_range);
    json_builder_end_object(b);
    char *text = print_json(b);
    return g_bytes_new_take(text, strlen(text));
}
