/*
 * Tests of the parameter table and its text form. What can be checked of any row runs over all rows
 * of params.def. Single thread.
 * SPDX-License-Identifier: MIT
 */
#include "config/params.h"
#include "tests/params_rows.h"
#include "tests/test.h"

#include <locale.h>

TEST("/params/rows", test_rows) {
    struct params p = default_params();
    g_assert_cmpint(param_count, >, 0);
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        g_test_message("%s", info->name);
        g_assert_true(param_find(info->name) == info);
        g_assert_cmpfloat(info->min, <, info->max);
        g_assert_cmpfloat(info->def, >=, info->min);
        g_assert_cmpfloat(info->def, <=, info->max);
        g_assert_cmpfloat(info->step, >, 0);
        g_assert_cmpfloat(param_get(&p, info), ==, info->def);
        g_assert_true(info->help[0] && info->group[0] && info->unit);
        g_assert_true(info->when == PARAM_LIVE || info->when == PARAM_START);
        g_assert_cmpint(info->choices != NULL, ==, info->type == PARAM_TYPE_ENUM);
        if (info->type != PARAM_TYPE_REAL)
            g_assert_cmpfloat(info->def, ==, floor(info->def));
        g_assert_cmpint(param_put(&p, info, info->min - 1), ==, -ERANGE);
        g_assert_cmpint(param_put(&p, info, nextafter(info->max, INFINITY)), ==, -ERANGE);
        g_assert_cmpint(param_put(&p, info, INFINITY), ==, -ERANGE);
        g_assert_cmpint(param_put(&p, info, NAN), ==, -EINVAL);
        if (info->type != PARAM_TYPE_REAL)
            g_assert_cmpint(param_put(&p, info, info->min + 0.5), ==, -EINVAL);
        g_assert_cmpfloat(param_get(&p, info), ==, info->def);
    }
    g_assert_null(param_find(""));
    g_assert_null(param_find("bp_level"));
}

/* Whether the text of an enum names the choices in their order: PREFIX_CHOICE, counted from 0. */
static bool names_choices(const char *text, char **choices) {
    g_auto(GStrv) names = g_strsplit(text, ",", -1);
    guint count = g_strv_length(names);
    bool same = count == g_strv_length(choices) && !strchr(text, '=');
    for (guint i = 0; i < count && same; i++) {
        g_autofree char *upper = g_ascii_strup(choices[i], -1);
        g_autofree char *end = g_strconcat("_", upper, NULL);
        same = g_str_has_suffix(g_strstrip(names[i]), end);
    }
    return same;
}

/* The enumerators of params.h and the choices of params.def are written apart: each row has its
 * enum, or is made of the solvers. */
TEST("/params/choices", test_choices) {
    g_autofree char *header = NULL;
    g_assert_true(g_file_get_contents("config/choices.h", &header, NULL, NULL));
    g_auto(GStrv) enums = g_strsplit(header, "enum {", -1);
    for (char **text = enums; *text; text++)
        (*text)[strcspn(*text, "}")] = '\0';
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        bool found = !info->choices || strcmp(info->choices, SOLVER_NAMES) == 0;
        g_auto(GStrv) choices = g_strsplit(info->choices ? info->choices : "", "|", -1);
        for (char **text = enums + 1; *text && !found; text++)
            found = names_choices(*text, choices);
        if (!found)
            g_error("%s: config/choices.h has no enum of %s", info->name, info->choices);
        g_assert_true(!info->choices || info->max == g_strv_length(choices) - 1);
    }
}

static void print_and_set(const struct param_info *info, double value) {
    struct params from, to;
    char text[64], why[256];
    params_default(&from);
    params_default(&to);
    g_assert_cmpint(param_put(&from, info, value), ==, 0);
    param_print(&from, info, text, sizeof text);
    int rc = params_set(&to, info->name, text, why, sizeof why);
    if (rc != 0 || param_get(&to, info) != value)
        g_error("%s: %.17g printed as '%s' gives %d, %.17g: %s", info->name, value, text, rc,
                param_get(&to, info), why);
    g_assert_cmpstr(why, ==, "");
}

TEST("/params/round_trip", test_round_trip) {
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        print_and_set(info, info->min);
        print_and_set(info, info->max);
        print_and_set(info, info->def);
        for (int k = 0; k < 200; k++)
            print_and_set(info, random_value(info));
    }
}

TEST("/params/short_numbers", test_short_numbers) {
    struct params p = default_params();
    char text[64];
    g_assert_cmpint(param_put(&p, row("data_weight"), 0.07), ==, 0);
    g_assert_cmpstr(param_print(&p, row("data_weight"), text, sizeof text), ==, "0.07");
    g_assert_cmpint(param_put(&p, row("data_weight"), 0.1 + 0.2), ==, 0);
    g_assert_cmpstr(param_print(&p, row("data_weight"), text, sizeof text), ==,
                    "0.30000000000000004");
    g_assert_cmpint(param_put(&p, row("fill"), 1), ==, 0);
    g_assert_cmpstr(param_print(&p, row("fill"), text, sizeof text), ==, "true");
}

/* params_assign gives rc, and a line that holds both texts; nothing changes. */
static void refused(const char *assignment, int rc, const char *first, const char *second) {
    struct params p, before;
    char why[256];
    params_default(&before);
    p = before;
    memset(why, '\n', sizeof why);
    int got = params_assign(&p, assignment, why, sizeof why);
    if (got != rc || strchr(why, '\n') || !strstr(why, first) || !strstr(why, second))
        g_error("%s: %d '%s' instead of %d '%s' '%s'", assignment, got, why, rc, first, second);
    assert_same(&p, &before);
}

TEST("/params/refused", test_refused) {
    static const char *const numbers[] = {
        "",    " ",   "x", "4x", "4 ", " 4",  "0x4",  "inf",  "nan",    "-inf", "+", "-",
        "--4", "4,5", ".", "4e", "e4", "4\n", "true", "1..2", "NaN(4)", "1e",   "٤",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_autofree char *whole = g_strconcat("bp_levels=", numbers[i], NULL);
        g_autofree char *real = g_strconcat("data_truncation=", numbers[i], NULL);
        refused(whole, -EINVAL, "bp_levels: \"",
                "is not a whole number; give a whole number from 1 to 10");
        refused(real, -EINVAL, "data_truncation: \"",
                "is not a number; give a number from 0.1 to 1000");
    }
    refused("bp_levels=5.5", -EINVAL, "\"5.5\"", "whole number from 1 to 10");
    refused("bp_levels=1e1", -EINVAL, "\"1e1\"", "whole number from 1 to 10");
    refused("bp_levels=11", -ERANGE, "bp_levels: 11 is outside", "from 1 to 10");
    refused("bp_levels=0", -ERANGE, "bp_levels: 0 is outside", "from 1 to 10");
    refused("bp_levels=4294967300", -ERANGE, "4294967300 is outside", "from 1 to 10");
    refused("bp_levels=99999999999999999999", -ERANGE, "outside", "from 1 to 10");
    refused("bp_levels=-99999999999999999999", -ERANGE, "outside", "from 1 to 10");
    refused("data_truncation=0.0999", -ERANGE, "0.0999 is outside", "from 0.1 to 1000");
    refused("data_truncation=1000.0001", -ERANGE, "1000.0001 is outside", "from 0.1 to 1000");
    refused("data_truncation=1e999", -ERANGE, "1e999 is outside", "from 0.1 to 1000");
    refused("data_truncation=-1e999", -ERANGE, "-1e999 is outside", "from 0.1 to 1000");
    refused("fill=maybe", -EINVAL, "fill: \"maybe\"", "give true or false");
    refused("fill=2", -EINVAL, "fill: \"2\"", "give true or false");
    refused("fill=", -EINVAL, "fill: \"\"", "give true or false");
    refused("lr_check=bpp", -EINVAL, "lr_check: \"bpp\"", "give off, warp or bp");
    refused("lr_check=b", -EINVAL, "lr_check: \"b\"", "give off, warp or bp");
    refused("lr_check=warp|bp", -EINVAL, "lr_check: \"warp|bp\"", "give off, warp or bp");
    refused("lr_check=", -EINVAL, "lr_check: \"\"", "give off, warp or bp");
    refused("lr_check=a\nb\033c", -EINVAL, "\"a?b?c\"", "give off, warp or bp");
    refused("bp_levels", -EINVAL, "\"bp_levels\"", "name=value");
    refused("", -EINVAL, "\"\"", "name=value");
    refused("=4", -EINVAL, "\"=4\"", "name=value");
    char long_name[5000];
    memset(long_name, 'a', sizeof long_name);
    memcpy(long_name + sizeof long_name - 3, "=1", 3);
    refused(long_name, -ENOENT, "no parameter \"aaaa", "...\"");
}

TEST("/params/accepted", test_accepted) {
    static const struct {
        const char *assignment, *name;
        double value;
    } cases[] = {
        {"bp_levels=4", "bp_levels", 4},
        {"bp_levels=+04", "bp_levels", 4},
        {"min_disparity=-7", "min_disparity", -7},
        {"data_truncation=12.5", "data_truncation", 12.5},
        {"data_truncation=2e1", "data_truncation", 20},
        {"smooth_sigma=.5", "smooth_sigma", 0.5},
        {"fill=0", "fill", 0},
        {"fill=1", "fill", 1},
        {"fill=false", "fill", 0},
        {"fill=true", "fill", 1},
        {"fill=no", "fill", 0},
        {"fill=yes", "fill", 1},
        {"fill=off", "fill", 0},
        {"fill=on", "fill", 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct params p = default_params();
        char why[256];
        if (params_assign(&p, cases[i].assignment, why, sizeof why) != 0)
            g_error("%s", why);
        g_assert_cmpfloat(param_get(&p, row(cases[i].name)), ==, cases[i].value);
    }
}

/* A message fits whatever buffer there is. */
TEST("/params/short_buffers", test_short_buffers) {
    char why[300];
    for (size_t size = 1; size < sizeof why; size++) {
        struct params p = default_params();
        memset(why, '#', sizeof why);
        g_assert_cmpint(params_assign(&p, "bp_itertions=1", why, size), ==, -ENOENT);
        g_assert_nonnull(memchr(why, '\0', size));
        if (size + 1 < sizeof why)
            g_assert_true(why[size] == '#');
    }
}

TEST("/params/locale", test_locale) {
    if (!comma_locale())
        return;
    test_round_trip();
    test_short_numbers();
    refused("data_truncation=4,5", -EINVAL, "\"4,5\"", "from 0.1 to 1000");
    setlocale(LC_ALL, "C");
}
