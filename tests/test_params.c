/*
 * Tests of the parameter table, its text form, settings files, presets and the log's lines. What
 * can be checked of any row runs over all rows of params.def. Single thread; files go to a folder
 * of its own under the temporary one, removed at the end.
 * SPDX-License-Identifier: MIT
 */
#include "config/log.h"
#include "config/params.h"
#include "config/params_file.h"
#include "tests/stderr_of.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PRESETS "config/presets"

static const struct param_info *row(const char *name) {
    const struct param_info *info = param_find(name);
    if (!info)
        g_error("params.def has no %s", name);
    return info;
}

static void assert_same(const struct params *a, const struct params *b) {
    for (int i = 0; i < param_count; i++) {
        double left = param_get(a, &param_table[i]), right = param_get(b, &param_table[i]);
        if (left != right)
            g_error("%s: %.17g and %.17g", param_table[i].name, left, right);
    }
}

/* A random value that the row allows. */
static double random_value(const struct param_info *info) {
    if (info->type == PARAM_TYPE_REAL)
        return CLAMP(g_test_rand_double_range(info->least, info->most), info->least, info->most);
    return info->least + g_test_rand_int_range(0, (int)(info->most - info->least) + 1);
}

static void random_params(struct params *p) {
    params_default(p);
    for (int i = 0; i < param_count; i++)
        g_assert_cmpint(param_put(p, &param_table[i], random_value(&param_table[i])), ==, 0);
}

static void test_rows(void) {
    struct params p;
    params_default(&p);
    g_assert_cmpint(param_count, >, 0);
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        g_test_message("%s", info->name);
        g_assert_true(param_find(info->name) == info);
        g_assert_cmpfloat(info->least, <, info->most);
        g_assert_cmpfloat(info->def, >=, info->least);
        g_assert_cmpfloat(info->def, <=, info->most);
        g_assert_cmpfloat(info->step, >, 0);
        g_assert_cmpfloat(param_get(&p, info), ==, info->def);
        g_assert_true(info->help[0] && info->group[0] && info->unit);
        g_assert_true(info->when == PARAM_LIVE || info->when == PARAM_START);
        g_assert_cmpint(info->choices != NULL, ==, info->type == PARAM_TYPE_ENUM);
        if (info->type != PARAM_TYPE_REAL)
            g_assert_cmpfloat(info->def, ==, floor(info->def));
        g_assert_cmpint(param_put(&p, info, info->least - 1), ==, -ERANGE);
        g_assert_cmpint(param_put(&p, info, nextafter(info->most, INFINITY)), ==, -ERANGE);
        g_assert_cmpint(param_put(&p, info, INFINITY), ==, -ERANGE);
        g_assert_cmpint(param_put(&p, info, NAN), ==, -EINVAL);
        if (info->type != PARAM_TYPE_REAL)
            g_assert_cmpint(param_put(&p, info, info->least + 0.5), ==, -EINVAL);
        g_assert_cmpfloat(param_get(&p, info), ==, info->def);
    }
    g_assert_null(param_find(""));
    g_assert_null(param_find("bp_level"));
}

/* The numbers of params.h's enumerators and the choices' places in params.def are written apart. */
static void test_choices(void) {
    static const struct {
        const char *name, *text;
        int value;
    } cases[] = {
        {"backend", "cpu", BACKEND_CPU},
        {"backend", "cuda", BACKEND_CUDA},
        {"data_cost", "ad", DATA_COST_AD},
        {"data_cost", "bt", DATA_COST_BT},
        {"data_cost", "ssd", DATA_COST_SSD},
        {"data_cost", "census", DATA_COST_CENSUS},
        {"data_cost", "ad_census", DATA_COST_AD_CENSUS},
        {"data_curve", "truncated", CURVE_TRUNCATED},
        {"census_curve", "exponential", CURVE_EXPONENTIAL},
        {"cost_smoothing", "gaussian", COST_SMOOTHING_GAUSSIAN},
        {"cost_smoothing", "cross", COST_SMOOTHING_CROSS},
        {"subpixel", "parabola", SUBPIXEL_PARABOLA},
        {"subpixel", "equiangular", SUBPIXEL_EQUIANGULAR},
        {"lr_check", "warp", LR_CHECK_WARP},
        {"lr_check", "bp", LR_CHECK_BP},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct params p;
        char why[256], text[64];
        params_default(&p);
        g_assert_cmpint(params_set(&p, cases[i].name, cases[i].text, why, sizeof why), ==, 0);
        g_assert_cmpint((int)param_get(&p, row(cases[i].name)), ==, cases[i].value);
        g_assert_cmpstr(param_print(&p, row(cases[i].name), text, sizeof text), ==, cases[i].text);
    }
    g_assert_cmpfloat(row("lr_check")->most, ==, LR_CHECK_BP);
    g_assert_cmpfloat(row("data_cost")->most, ==, DATA_COST_AD_CENSUS);
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

static void test_round_trip(void) {
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        print_and_set(info, info->least);
        print_and_set(info, info->most);
        print_and_set(info, info->def);
        for (int k = 0; k < 200; k++)
            print_and_set(info, random_value(info));
    }
}

static void test_short_numbers(void) {
    struct params p;
    char text[64];
    params_default(&p);
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

static void test_refused(void) {
    static const char *const numbers[] = {
        "",    " ",   "x", "4x", "4 ", " 4",  "0x4",  "inf",  "nan",    "-inf", "+", "-",
        "--4", "4,5", ".", "4e", "e4", "4\n", "true", "1..2", "NaN(4)", "1e",   "٤",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        char *whole = g_strconcat("bp_levels=", numbers[i], NULL);
        char *real = g_strconcat("data_truncation=", numbers[i], NULL);
        refused(whole, -EINVAL, "bp_levels: \"",
                "is not a whole number; give a whole number from 1 to 10");
        refused(real, -EINVAL, "data_truncation: \"",
                "is not a number; give a number from 0.1 to 255");
        g_free(whole);
        g_free(real);
    }
    refused("bp_levels=5.5", -EINVAL, "\"5.5\"", "whole number from 1 to 10");
    refused("bp_levels=1e1", -EINVAL, "\"1e1\"", "whole number from 1 to 10");
    refused("bp_levels=11", -ERANGE, "bp_levels: 11 is outside", "from 1 to 10");
    refused("bp_levels=0", -ERANGE, "bp_levels: 0 is outside", "from 1 to 10");
    refused("bp_levels=4294967300", -ERANGE, "4294967300 is outside", "from 1 to 10");
    refused("bp_levels=99999999999999999999", -ERANGE, "outside", "from 1 to 10");
    refused("bp_levels=-99999999999999999999", -ERANGE, "outside", "from 1 to 10");
    refused("data_truncation=0.0999", -ERANGE, "0.0999 is outside", "from 0.1 to 255");
    refused("data_truncation=255.0001", -ERANGE, "255.0001 is outside", "from 0.1 to 255");
    refused("data_truncation=1e999", -ERANGE, "1e999 is outside", "from 0.1 to 255");
    refused("data_truncation=-1e999", -ERANGE, "-1e999 is outside", "from 0.1 to 255");
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

static void test_accepted(void) {
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
        struct params p;
        char why[256];
        params_default(&p);
        if (params_assign(&p, cases[i].assignment, why, sizeof why) != 0)
            g_error("%s", why);
        g_assert_cmpfloat(param_get(&p, row(cases[i].name)), ==, cases[i].value);
    }
}

/* A message fits whatever buffer there is. */
static void test_short_buffers(void) {
    char why[300];
    for (size_t size = 1; size < sizeof why; size++) {
        struct params p;
        params_default(&p);
        memset(why, '#', sizeof why);
        g_assert_cmpint(params_assign(&p, "bp_itertions=1", why, size), ==, -ENOENT);
        g_assert_nonnull(memchr(why, '\0', size));
        if (size + 1 < sizeof why)
            g_assert_true(why[size] == '#');
    }
}

static void test_suggestions(void) {
    refused("bp_itertions=5", -ENOENT, "no parameter \"bp_itertions\"; did you mean bp_iterations",
            "?");
    refused("bp-levels=5", -ENOENT, "did you mean bp_levels", "?");
    refused("BP_Levels=5", -ENOENT, "did you mean bp_levels", "?");
    refused("flil=1", -ENOENT, "did you mean fill", "?");
    refused("lrcheck=bp", -ENOENT, "did you mean lr_check", "?");
    refused("disparty_range=64", -ENOENT, "did you mean disparity_range", "?");
    refused("median=2", -ENOENT, "median_radius", "median_color_sigma");
    refused("sigma=2", -ENOENT, "smooth_sigma", "cost_sigma");
    refused("iterations=2", -ENOENT, "did you mean", "bp_iterations");
    refused("qqqqqqqqq=1", -ENOENT, "no parameter \"qqqqqqqqq\"", "--help-params");
    refused("z=1", -ENOENT, "no parameter \"z\"", "--help-params");

    /* One slip anywhere in any name brings that name back, among three at most; but a slip in the
     * number at the end of a name says nothing about which of its family was meant. */
    for (int i = 0; i < param_count; i++) {
        const char *name = param_table[i].name;
        size_t letters = strcspn(name, "0123456789");
        for (size_t k = 0; strlen(name) > 3 && k < letters; k++) {
            char *typed = g_strdup(name), why[256];
            typed[k] = typed[k] == 'x' ? 'w' : 'x';
            struct params p;
            params_default(&p);
            g_assert_cmpint(params_set(&p, typed, "1", why, sizeof why), ==, -ENOENT);
            int commas = 0;
            for (const char *c = why; *c; c++)
                commas += *c == ',';
            if (!strstr(why, name) || commas >= 3)
                g_error("%s: %s", typed, why);
            g_free(typed);
        }
    }
}

static char *dump_text(const struct params *p, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    g_assert_nonnull(out);
    g_assert_cmpint(params_dump(p, out), ==, 0);
    fclose(out);
    return text;
}

static void test_dump_and_parse(void) {
    for (int k = 0; k < 20; k++) {
        struct params p, again;
        size_t length;
        random_params(&p);
        char *text = dump_text(&p, &length);
        params_default(&again);
        g_assert_cmpint(params_parse(&again, text, length, "dump"), ==, 0);
        assert_same(&p, &again);
        for (int i = 0; i < param_count; i++) {
            char *line = g_strdup_printf("\n%s=", param_table[i].name);
            g_assert_nonnull(strstr(text, line));
            g_assert_nonnull(strstr(text, param_table[i].help));
            g_free(line);
        }
        free(text);
    }
}

static char *in_folder(gconstpointer folder, const char *name) {
    return g_build_filename(folder, name, NULL);
}

static guint entries(const char *folder) {
    GDir *dir = g_dir_open(folder, 0, NULL);
    guint count = 0;
    while (g_dir_read_name(dir))
        count++;
    g_dir_close(dir);
    return count;
}

static void test_save_and_load(gconstpointer folder) {
    char *path = in_folder(folder, "saved.ini");
    guint before = entries(folder);
    for (int k = 0; k < 5; k++) {
        struct params p, again;
        random_params(&p);
        params_default(&again);
        g_assert_cmpint(params_save(&p, path), ==, 0);
        g_assert_cmpint(params_load(&again, path), ==, 0);
        assert_same(&p, &again);
        g_assert_cmpuint(entries(folder), ==, before + 1);
    }
    g_unlink(path);
    g_free(path);
}

static void test_save_refused(gconstpointer folder) {
    struct params p;
    params_default(&p);
    char *missing = in_folder(folder, "no/such/file.ini");
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(params_save(&p, missing), ==, -ENOENT);
    stderr_one_line(caught, missing, "make the folder first");
    g_free(missing);

    /* The rename fails over a folder; what was written beside it must go. */
    char *taken = in_folder(folder, "taken.ini");
    g_assert_cmpint(g_mkdir(taken, 0755), ==, 0);
    guint before = entries(folder);
    caught = stderr_begin();
    g_assert_cmpint(params_save(&p, taken), ==, -EISDIR);
    stderr_one_line(caught, taken, "directory");
    g_assert_cmpuint(entries(folder), ==, before);
    g_rmdir(taken);
    g_free(taken);

    FILE *full = fopen("/dev/full", "w");
    if (full) {
        caught = stderr_begin();
        g_assert_cmpint(params_dump(&p, full), ==, -ENOSPC);
        stderr_one_line(caught, "cannot write", "space");
        fclose(full);
    }
}

static void parse_refused_bytes(const char *text, size_t length, int rc, const char *first) {
    struct params p, before;
    random_params(&before);
    p = before;
    struct stderr_of caught = stderr_begin();
    int got = params_parse(&p, text, length, "some.ini");
    stderr_one_line(caught, "livestereo: error: some.ini: ", first);
    g_assert_cmpint(got, ==, rc);
    assert_same(&p, &before);
}

static void parse_refused(const char *text, int rc, const char *first) {
    parse_refused_bytes(text, strlen(text), rc, first);
}

static void test_parse_refused(void) {
    parse_refused("[livestereo]\nbp_levels=3\nbp_itertions=5\n", -ENOENT,
                  "no parameter \"bp_itertions\"; did you mean bp_iterations");
    parse_refused("[livestereo]\nbp_levels=3\nbp_levels=11\n", -ERANGE, "from 1 to 10");
    parse_refused("[livestereo]\nbp_levels=3\nfill=maybe\n", -EINVAL, "give true or false");
    parse_refused("[livestereo]\nbp_levels=\n", -EINVAL, "bp_levels: \"\"");
    parse_refused("[livestereo]\nbp_levels[de]=4\n", -ENOENT, "no parameter \"bp_levels[de]\"");
    parse_refused("[livestereo]\nbp_levels=3\n[camera]\nx=1\n", -EINVAL, "[camera]");
    parse_refused("[LiveStereo]\nbp_levels=3\n", -EINVAL, "did you mean [livestereo]?");
    parse_refused("bp_levels=3\n", -EINVAL, "");
    parse_refused("[livestereo]\nbp_levels 3\n", -EINVAL, "bp_levels 3");
    parse_refused("[livestereo\n", -EINVAL, "");
    parse_refused("# only a comment\n", -EINVAL, "[livestereo]");
    parse_refused("", -EINVAL, "empty");
    parse_refused_bytes("[livestereo]\nbp_levels=3\n\0\n", 26, -EINVAL, "binary");
    parse_refused("\x89PNG\r\n\x1a\n", -EINVAL, "");

    size_t length = (1 << 20) + 1;
    char *large = g_strnfill(length, '\n');
    g_strlcpy(large, "[livestereo]", length);
    large[strlen(large)] = '\n';
    parse_refused_bytes(large, length, -EFBIG, "1 MiB");
    struct params p;
    params_default(&p);
    g_assert_cmpint(params_parse(&p, large, length - 1, "large.ini"), ==, 0);
    g_free(large);
}

static void test_partial_file(void) {
    static const char text[] = "# c\n[livestereo]\n bp_levels = 3 \r\nfill = off\n";
    struct params p, expected;
    random_params(&p);
    expected = p;
    expected.bp_levels = 3;
    expected.fill = 0;
    g_assert_cmpint(params_parse(&p, text, sizeof text - 1, "partial.ini"), ==, 0);
    assert_same(&p, &expected);
}

static void test_load_refused(gconstpointer folder) {
    struct params p;
    params_default(&p);
    char *missing = in_folder(folder, "missing.ini"), *large = in_folder(folder, "large.ini");
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(params_load(&p, missing), ==, -ENOENT);
    stderr_one_line(caught, missing, "No such file");
    caught = stderr_begin();
    g_assert_cmpint(params_load(&p, folder), ==, -EISDIR);
    stderr_one_line(caught, folder, "directory");
    int fd = g_creat(large, 0644);
    g_assert_cmpint(ftruncate(fd, 3 << 20), ==, 0);
    close(fd);
    caught = stderr_begin();
    g_assert_cmpint(params_load(&p, large), ==, -EFBIG);
    stderr_one_line(caught, large, "1 MiB");
    g_unlink(large);
    g_free(missing);
    g_free(large);
}

static void test_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", NULL};
    int at = 0;
    while (names[at] && !setlocale(LC_ALL, names[at]))
        at++;
    if (!names[at]) {
        g_test_skip("needs the locale de_DE.UTF-8 (a decimal comma)");
        return;
    }
    char comma[16];
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    g_assert_cmpstr(comma, ==, "0,5");
    test_round_trip();
    test_short_numbers();
    test_dump_and_parse();
    refused("data_truncation=4,5", -EINVAL, "\"4,5\"", "from 0.1 to 255");
    setlocale(LC_ALL, "C");
}

static void test_presets(void) {
    GDir *dir = g_dir_open(PRESETS, 0, NULL);
    if (!dir) {
        g_test_skip("needs to run in the source tree");
        return;
    }
    const char *entry;
    int count = 0;
    while ((entry = g_dir_read_name(dir))) {
        struct params p;
        char *path = g_build_filename(PRESETS, entry, NULL);
        if (preset_load(&p, path) != 0)
            g_error("%s does not load", path);
        g_free(path);
        count++;
    }
    g_dir_close(dir);
    g_assert_cmpint(count, >=, 7);

    struct params p, defaults;
    params_default(&defaults);
    random_params(&p);
    g_assert_cmpint(preset_load(&p, PRESETS "/default.ini"), ==, 0);
    assert_same(&p, &defaults);
}

static void test_yang2006(void) {
    static const struct {
        const char *name;
        double value;
    } cases[] = {
        {"data_cost", DATA_COST_BT}, {"data_curve", CURVE_TRUNCATED},
        {"data_truncation", 30},     {"data_weight", 0.15},
        {"discontinuity_weight", 1}, {"discontinuity_truncation", 2},
        {"truncation_by_range", 1},  {"bp_levels", 5},
        {"bp_iterations", 10},       {"bp_iterations_3", 10},
        {"bp_iterations_2", 10},     {"bp_iterations_1", 20},
        {"bp_iterations_0", 8},      {"cost_smoothing", COST_SMOOTHING_OFF},
        {"edge_factor_1", 1},        {"edge_factor_2", 1},
        {"lr_check", LR_CHECK_OFF},  {"fill", 0},
        {"median_radius", 0},        {"smooth_sigma", 0},
        {"speckle_size", 0},         {"min_confidence", 0},
        {"subpixel", SUBPIXEL_OFF},
    };
    if (!g_file_test(PRESETS, G_FILE_TEST_IS_DIR)) {
        g_test_skip("needs to run in the source tree");
        return;
    }
    struct params p;
    g_assert_cmpint(preset_load(&p, PRESETS "/yang2006.ini"), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].name);
        g_assert_cmpfloat(param_get(&p, row(cases[i].name)), ==, cases[i].value);
    }
}

/* By name: the user's folder comes first, a bad or unknown one changes nothing. */
static void test_preset_names(gconstpointer folder) {
    struct params p, before;
    char *mine = in_folder(folder, "livestereo/presets");
    char *path = in_folder(folder, "livestereo/presets/yang2006.ini");
    g_assert_cmpint(g_mkdir_with_parents(mine, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, "[livestereo]\nbp_levels=9\n", -1, NULL));
    params_default(&before);
    before.bp_levels = 9;
    random_params(&p);
    g_assert_cmpint(preset_load(&p, "yang2006"), ==, 0);
    assert_same(&p, &before);

    g_assert_true(g_file_set_contents(path, "[livestereo]\nbp_levels=3\nbp_level=9\n", -1, NULL));
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(preset_load(&p, "yang2006"), ==, -ENOENT);
    stderr_one_line(caught, path, "did you mean bp_levels");
    caught = stderr_begin();
    g_assert_cmpint(preset_load(&p, "yang2007"), ==, -ENOENT);
    stderr_one_line(caught, "no preset \"yang2007\"", "yang2006");
    caught = stderr_begin();
    g_assert_cmpint(preset_load(&p, ""), ==, -ENOENT);
    stderr_one_line(caught, "no preset \"\"", "yang2006");
    caught = stderr_begin();
    g_assert_cmpint(preset_load(&p, "yang2007.ini"), ==, -ENOENT);
    stderr_one_line(caught, "yang2007.ini", "No such file");
    assert_same(&p, &before);

    g_unlink(path);
    g_rmdir(mine);
    g_free(mine);
    char *between = in_folder(folder, "livestereo");
    g_rmdir(between);
    g_free(between);
    g_free(path);
    if (g_file_test(PRESETS "/liang2011.ini", G_FILE_TEST_EXISTS))
        g_assert_cmpint(preset_load(&p, "liang2011"), ==, 0);
}

static void test_help(void) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    params_help(out);
    fclose(out);
    for (int i = 0; i < param_count; i++) {
        char *name = g_strdup_printf("\n  %s  ", param_table[i].name);
        char *group = g_strdup_printf("\n\n%s\n", param_table[i].group);
        char *found = strstr(text, name), *heading = strstr(text, group);
        if (!found || strstr(found + 1, name) || !heading || strstr(heading + 1, group))
            g_error("%s or its group is not on the page once", param_table[i].name);
        g_free(name);
        g_free(group);
    }
    char *levels =
        g_strdup_printf("  bp_levels  1 to 10, default %d, LIVE\n", (int)row("bp_levels")->def);
    g_assert_nonnull(strstr(text, levels));
    g_free(levels);
    g_assert_nonnull(strstr(text, "  backend  auto|cpu|cuda, default auto, START\n"));
    free(text);
}

static void test_log(void) {
    enum log_level before = log_get_level();
    struct stderr_of caught = stderr_begin();
    errno = EPERM;
    log_set_level(LOG_WARNING);
    log_info("camera", "not shown");
    log_error("left\n\033[1m.png", "line\none %d", 1);
    g_assert_cmpint(errno, ==, EPERM);
    log_warning(NULL, "two");
    log_set_level(before);
    char *text = stderr_end(caught);
    g_assert_cmpstr(text, ==,
                    "livestereo: error: left??[1m.png: line?one 1\nlivestereo: warning: two\n");
    g_free(text);

    char *large = g_strnfill(10000, 'a');
    for (int k = 0; k < 3; k++) {
        /* Two-byte characters, moved by one each time: a cut falls on either half. */
        for (int i = k; i + 1 < 9999; i += 2)
            large[i] = '\xc3', large[i + 1] = '\xa4';
        caught = stderr_begin();
        log_error("large", "%s", large);
        text = stderr_end(caught);
        g_assert_true(g_str_has_suffix(text, "...\n"));
        g_assert_true(g_utf8_validate(text, -1, NULL));
        g_assert_cmpuint(strlen(text), <=, 2048);
        g_free(text);
        memset(large, 'a', 10000);
    }
    g_free(large);
}

int main(int argc, char **argv) {
    char *folder = g_dir_make_tmp("livestereo-params-XXXXXX", NULL);
    g_assert_nonnull(folder);
    g_setenv("XDG_CONFIG_HOME", folder, TRUE);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/params/rows", test_rows);
    g_test_add_func("/params/choices", test_choices);
    g_test_add_func("/params/round_trip", test_round_trip);
    g_test_add_func("/params/short_numbers", test_short_numbers);
    g_test_add_func("/params/refused", test_refused);
    g_test_add_func("/params/accepted", test_accepted);
    g_test_add_func("/params/short_buffers", test_short_buffers);
    g_test_add_func("/params/suggestions", test_suggestions);
    g_test_add_func("/params/locale", test_locale);
    g_test_add_func("/params_file/dump_and_parse", test_dump_and_parse);
    g_test_add_data_func("/params_file/save_and_load", folder, test_save_and_load);
    g_test_add_data_func("/params_file/save_refused", folder, test_save_refused);
    g_test_add_func("/params_file/parse_refused", test_parse_refused);
    g_test_add_func("/params_file/partial_file", test_partial_file);
    g_test_add_data_func("/params_file/load_refused", folder, test_load_refused);
    g_test_add_func("/params_file/presets", test_presets);
    g_test_add_func("/params_file/yang2006", test_yang2006);
    g_test_add_data_func("/params_file/preset_names", folder, test_preset_names);
    g_test_add_func("/params_file/help", test_help);
    g_test_add_func("/log/lines", test_log);
    int rc = g_test_run();
    g_rmdir(folder);
    g_free(folder);
    return rc;
}
