/*
 * Inputs that users of comparable programs met, with their right values: the folder field beside
 * LIVESTEREO_DATA, whose README.md this is as a test. field.txt has the rows.
 * SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"

#include "image/pfm.h"

/* What maps must be, to 1 px: a number of px, from column FIRST_COLUMN on, or the map of
 * times_gap's pair whose number the map's name begins with: others hold the same pictures. */
enum { NOT_COMPARED = 0, SCENE = -1, FIRST_COLUMN = 40 };

/* Where the folder is, and the program, for a line of the shell. */
static char *preamble(void) {
    const char *shared = g_getenv("LIVESTEREO_DATA");
    g_autofree char *field = g_build_filename(shared ? shared : "../shared/data", "../field", NULL);
    g_autofree char *program = g_canonicalize_filename(binary(), NULL);
    if (!g_file_test(field, G_FILE_TEST_IS_DIR))
        return NULL;
    return g_strdup_printf(
        "S=$PWD && cd '%s' && B='%s' F=$PWD && O='--preset live --set disparity_range=32 "
        "--save pfm --set backend=cpu' R='--preset live --set disparity_range=64' && "
        "median() { /usr/bin/python3 -c \"import numpy as n; m = n.fromfile("
        "'$D/out/left_depth.pfm', '<f4', offset=16)[-320 * 240:]; "
        "assert abs(n.median(m[n.isfinite(m)]) - $1) < .1\"; } && ",
        field, program);
}

static float *read_map(const char *path, int *width, int *height) {
    float *map;
    g_assert_cmpint(pfm_read(path, &map, width, height), ==, 0);
    return map;
}

/* Per cent of a map's pixels that are off by more than 1 px. */
static double wrong(const char *path, double px) {
    int width, height, scene_width, scene_height;
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *below = g_strdup_printf("scene/%.6s.pfm", name), *scene_path = path_in(below);
    g_autofree float *map = read_map(path, &width, &height), *scene = NULL;
    long bad = 0, count = 0;
    if (px == SCENE) {
        scene = read_map(scene_path, &scene_width, &scene_height);
        g_assert_true(width == scene_width && height == scene_height);
    }
    for (int y = 0; y < height; y++)
        for (int x = scene ? 0 : FIRST_COLUMN; x < width; x++, count++)
            bad += !(fabs(map[y * width + x] - (scene ? scene[y * width + x] : px)) <= 1);
    return 100.0 * (double)bad / (double)count;
}

static void check_maps(const char *const *row, int count, double px, double most) {
    g_autofree char *out = path_in("out");
    GDir *dir = g_dir_open(out, 0, NULL);
    const char *name;
    int maps = 0;
    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        if (!g_str_has_suffix(name, ".pfm"))
            continue;
        g_autofree char *path = g_build_filename(out, name, NULL);
        double bad = px == NOT_COMPARED ? 0 : wrong(path, px);
        g_test_message("%s: %.2f %% off", name, bad);
        if (bad > most)
            g_error("%s: %s: %.2f %% of the pixels are off", row[0], name, bad);
        maps++;
    }
    g_dir_close(dir);
    g_assert_cmpint(maps, ==, count);
}

/* name, exit code, output, log, what maps there are, line */
static void test_row(gconstpointer data) {
    const char *const *row = data;
    g_auto(GStrv) maps = g_strsplit(row[4], " ", -1);
    g_autofree char *before = preamble(), *out = g_strcompress(row[2]);
    double px = strcmp(maps[1], "scene") == 0 ? SCENE : g_ascii_strtod(maps[1], NULL);
    if (!before) {
        g_test_skip("needs the folder field beside LIVESTEREO_DATA");
        return;
    }
    g_autofree char *line = g_strconcat(before, row[5], NULL);
    g_autofree char *scene = g_strconcat(before, "$B batch $O times_gap -q -o $D/scene", NULL);
    if (px == SCENE)
        expect_shell(0, "", "", scene);
    expect_shell(atoi(row[1]), out, row[3], line);
    if (atoi(maps[0]))
        check_maps(row, atoi(maps[0]), px, g_ascii_strtod(maps[2], NULL));
}

__attribute__((constructor)) static void list_rows(void) {
    static char *text;
    g_assert_true(g_file_get_contents("tests/field.txt", &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
    for (char **line = lines; *line; line++) {
        char **row = **line == '#' ? NULL : g_strsplit(*line, " | ", 6);
        g_assert_true(!row || g_strv_length(row) == 6);
        if (row)
            tests_add("/field", row[0], test_row, row);
    }
}
