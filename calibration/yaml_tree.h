/*
 * Finds keys, numbers and matrices in a YAML document loaded by libyaml, as OpenCV, ROS and Kalibr
 * write them. Nodes live as long as their tree. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>
#include <yaml.h>

struct yaml_tree {
    yaml_document_t document;
    yaml_node_t *root; /* a mapping */
    const char *twice; /* a key that was looked for and stands there twice, or NULL */
};

/* Loads the first document. OpenCV's line "%YAML:1.0", which is not YAML, is skipped. 0, or
 * -EBADMSG or -ENOMEM with why; then there is nothing to close. */
int yaml_tree_open(struct yaml_tree *tree, const char *text, size_t length, char *why, size_t size);
void yaml_tree_close(struct yaml_tree *tree);

/* Value of a mapping's key, NULL where there is none; node may be NULL or of another kind. */
yaml_node_t *yaml_find(struct yaml_tree *tree, yaml_node_t *node, const char *key);

/* The first of the keys that is there, up to a NULL. */
yaml_node_t *yaml_find_any(struct yaml_tree *tree, yaml_node_t *node, const char *const *keys);

/* Text of a scalar, NULL for anything else. */
const char *yaml_text(const yaml_node_t *node);

/* 1 and *out if node is a scalar that consists of a finite number. */
int yaml_number(const yaml_node_t *node, double *out);

/* Numbers of a matrix {rows, cols, data: [..]}, of a list or of a list of lists, row by row.
 * Returns how many (at most max are stored), or -1 if node is none of these or its counts
 * do not fit. */
int yaml_numbers(struct yaml_tree *tree, yaml_node_t *node, double *out, int max);
