/*
 * The points that the window and batch save: one cut for both. SPDX-License-Identifier: MIT
 */
#include "app/points.h"

#include <glib/gstdio.h>
#include <string.h>

static struct frame *make_frame(struct frame *frame, int16_t *disparity, uint8_t *grey) {
    *frame = (struct frame){.disparity = disparity, .rect_left = {grey, 4, 1, 1}};
    return frame;
}

/* Points that are written of four disparities: unknown, near, 90 m, 110 m. */
static char *written(const struct depth_geometry *geometry) {
    int16_t disparity[4] = {DISPARITY_UNKNOWN, 160, 18, 14};
    uint8_t grey[4] = {1, 2, 3, 4};
    struct frame frame;
    g_autofree char *folder = g_dir_make_tmp("livestereo-points-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "a.ply", NULL);
    char *text, *count;
    g_assert_cmpint(points_write(path, make_frame(&frame, disparity, grey), geometry), ==, 0);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    count = strstr(text, "element vertex ");
    g_assert_nonnull(count);
    count = g_strndup(count + strlen("element vertex "), 1);
    g_remove(path);
    g_rmdir(folder);
    g_free(text);
    return count;
}

static void test_cut(void) {
    const struct depth_geometry metric = {.fx = 100, .fy = 100, .baseline = 1, .metric = 1};
    const struct depth_geometry unknown = {0};
    g_autofree char *metres = written(&metric), *baselines = written(&unknown);
    g_assert_cmpstr(metres, ==, "2");
    g_assert_cmpstr(baselines, ==, "3");
}

/* The same points as text. */
static void test_obj(void) {
    const struct depth_geometry metric = {.fx = 100, .fy = 100, .baseline = 1, .metric = 1};
    int16_t disparity[4] = {DISPARITY_UNKNOWN, 160, 32, 14};
    uint8_t grey[4] = {1, 51, 255, 4};
    struct frame frame;
    g_autofree char *folder = g_dir_make_tmp("livestereo-points-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "a.obj", NULL), *text = NULL;
    g_assert_cmpint(points_write(path, make_frame(&frame, disparity, grey), &metric), ==, 0);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_assert_cmpstr(lines[1], ==, "v 0.10000 0.00000 10.00000 0.2000 0.2000 0.2000");
    g_assert_cmpstr(lines[2], ==, "v 1.00000 0.00000 50.00000 1.0000 1.0000 1.0000");
    g_assert_cmpstr(lines[3], ==, "");
    g_remove(path);
    g_rmdir(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/points/cut", test_cut);
    g_test_add_func("/points/obj", test_obj);
    return g_test_run();
}
