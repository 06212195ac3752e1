/*
 * Names of files that are counted up, as printf writes them. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>

/* A printf pattern with one %d, %i or %u conversion, taken apart; printf itself never sees the
 * user's text. */
struct number_pattern {
    char *before, *after;
    int width;
    bool zeros;
};

/* 1 and the parts, 0 when text holds no conversion, -EINVAL with why when it holds something
 * else. */
int number_pattern_parse(const char *text, struct number_pattern *pattern, const char **why);
char *number_pattern_name(const struct number_pattern *pattern, long number);
void number_pattern_free(struct number_pattern *pattern);
