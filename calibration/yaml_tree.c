/*
 * A thin layer over libyaml's document. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/yaml_tree.h"

#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* libyaml's time grows with the square of nesting and of anchors. */
enum { MAX_DEPTH = 32, MAX_EVENTS = 20000 };

static int no_memory(char *why, size_t size) {
    snprintf(why, size, "cannot be read: not enough memory");
    return -ENOMEM;
}

/* 0 for a document that is as flat and short as calibrations are, and for what is no YAML at all:
 * the loader says what is wrong. */
static int check_plain(const char *text, size_t length, char *why, size_t size) {
    yaml_parser_t parser;
    yaml_event_t event;
    int depth = 0, plain = 1, ended = 0;
    if (!yaml_parser_initialize(&parser))
        return no_memory(why, size);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    for (int events = 0; plain && !ended && yaml_parser_parse(&parser, &event); events++) {
        depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        plain = depth <= MAX_DEPTH && events < MAX_EVENTS;
        ended = event.type == YAML_DOCUMENT_END_EVENT || event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    bool memory_ran_out = parser.error == YAML_MEMORY_ERROR;
    yaml_parser_delete(&parser);
    if (memory_ran_out)
        return no_memory(why, size);
    if (plain)
        return 0;
    snprintf(why, size, "is no calibration: lists nested more than %d deep, or over %d entries",
             MAX_DEPTH, MAX_EVENTS);
    return -EBADMSG;
}

/* Says what the loader found wrong. */
static int explain(const yaml_parser_t *parser, char *why, size_t size) {
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(why, size);
    snprintf(why, size, "is no calibration that is known here: as YAML, line %zu: %s",
             parser->problem_mark.line + 1, parser->problem ? parser->problem : "damaged");
    return -EBADMSG;
}

int yaml_tree_open(struct yaml_tree *tree, const char *text, size_t length, char *why,
                   size_t size) {
    yaml_parser_t parser;
    tree->root = NULL;
    tree->twice = NULL;
    if (length >= 6 && memcmp(text, "%YAML:", 6) == 0) {
        const char *end = memchr(text, '\n', length);
        size_t skip = end ? (size_t)(end + 1 - text) : length;
        text += skip;
        length -= skip;
    }
    int error = check_plain(text, length, why, size);
    if (error)
        return error;
    if (!yaml_parser_initialize(&parser))
        return no_memory(why, size);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    if (!yaml_parser_load(&parser, &tree->document))
        error = explain(&parser, why, size);
    yaml_parser_delete(&parser);
    if (error)
        return error;
    tree->root = yaml_document_get_root_node(&tree->document);
    if (!tree->root || tree->root->type != YAML_MAPPING_NODE) {
        snprintf(why, size,
                 "is no calibration that is known here (OpenCV, ROS, KITTI, Middlebury, "
                 "Kalibr, ZED)");
        yaml_tree_close(tree);
        return -EBADMSG;
    }
    return 0;
}

void yaml_tree_close(struct yaml_tree *tree) {
    yaml_document_delete(&tree->document);
    tree->root = NULL;
}

yaml_node_t *yaml_find(struct yaml_tree *tree, yaml_node_t *node, const char *key) {
    if (!node || node->type != YAML_MAPPING_NODE)
        return NULL;
    yaml_node_t *found = NULL;
    yaml_node_pair_t *end = node->data.mapping.pairs.top;
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < end; p++) {
        const char *text = yaml_text(yaml_document_get_node(&tree->document, p->key));
        if (!text || strcmp(text, key) != 0)
            continue;
        if (found)
            tree->twice = text;
        found = yaml_document_get_node(&tree->document, p->value);
    }
    return found;
}

yaml_node_t *yaml_find_any(struct yaml_tree *tree, yaml_node_t *node, const char *const *keys) {
    yaml_node_t *found = NULL;
    for (; *keys && !found; keys++)
        found = yaml_find(tree, node, *keys);
    return found;
}

const char *yaml_text(const yaml_node_t *node) {
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

int yaml_number(const yaml_node_t *node, double *out) {
    const char *text = yaml_text(node);
    char *end;
    if (!text || !*text)
        return 0;
    double x = number_read(text, &end);
    if (*end || !isfinite(x))
        return 0;
    *out = x;
    return 1;
}

/* Appends the numbers of a list; lists in it may hold numbers only. */
static int list_numbers(struct yaml_tree *tree, yaml_node_t *list, int nested, double *out, int max,
                        int got) {
    yaml_node_item_t *end = list->data.sequence.items.top;
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < end && got >= 0; i++) {
        yaml_node_t *node = yaml_document_get_node(&tree->document, *i);
        double x;
        if (node && node->type == YAML_SEQUENCE_NODE && nested) {
            got = list_numbers(tree, node, 0, out, max, got);
        } else if (yaml_number(node, &x)) {
            if (got < max)
                out[got] = x;
            got++;
        } else {
            return -1;
        }
    }
    return got;
}

int yaml_numbers(struct yaml_tree *tree, yaml_node_t *node, double *out, int max) {
    yaml_node_t *data = yaml_find(tree, node, "data");
    double rows, cols;
    if (!node)
        return -1;
    if (node->type == YAML_SEQUENCE_NODE)
        return list_numbers(tree, node, 1, out, max, 0);
    if (!data || data->type != YAML_SEQUENCE_NODE ||
        !yaml_number(yaml_find(tree, node, "rows"), &rows) ||
        !yaml_number(yaml_find(tree, node, "cols"), &cols))
        return -1;
    int got = list_numbers(tree, data, 0, out, max, 0);
    return rows * cols == got ? got : -1;
}
