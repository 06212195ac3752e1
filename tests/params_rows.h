/*
 * Rows of the table of parameters for tests: by name, with random values, compared. Needs GLib's
 * random numbers; single thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/params.h"

#include <glib.h>
#include <locale.h>
#include <stdbool.h>

static inline const struct param_info *row(const char *name) {
    const struct param_info *info = param_find(name);
    if (!info)
        g_error("params.def has no %s", name);
    return info;
}

static inline void assert_same(const struct params *a, const struct params *b) {
    for (int i = 0; i < param_count; i++) {
        double left = param_get(a, &param_table[i]), right = param_get(b, &param_table[i]);
        if (left != right)
            g_error("%s: %.17g and %.17g", param_table[i].name, left, right);
    }
}

/* A random value that the row allows. */
static inline double random_value(const struct param_info *info) {
    if (info->type == PARAM_TYPE_REAL)
        return CLAMP(g_test_rand_double_range(info->min, info->max), info->min, info->max);
    return info->min + g_test_rand_int_range(0, (int)(info->max - info->min) + 1);
}

static inline void random_params(struct params *p) {
    params_default(p);
    for (int i = 0; i < param_count; i++)
        g_assert_cmpint(param_put(p, &param_table[i], random_value(&param_table[i])), ==, 0);
}

/* Sets a locale whose numbers have a comma; false after skipping the test where there is none. */
static inline bool comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", NULL};
    int at = 0;
    while (names[at] && !setlocale(LC_ALL, names[at]))
        at++;
    if (!names[at]) {
        g_test_skip("needs the locale de_DE.UTF-8 (a decimal comma)");
        return false;
    }
    char comma[16];
    g_snprintf(comma, sizeof comma, "%.1f", 0.5);
    g_assert_cmpstr(comma, ==, "0,5");
    return true;
}
