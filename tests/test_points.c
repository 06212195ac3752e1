/*
 * The points that the window and batch save: one cut for both. SPDX-License-Identifier: MIT
 */
#include "app/save/points.h"
#include "tests/cli.h"

#include <stdbool.h>
#include <string.h>

static struct frame *make_frame(struct frame *frame, int16_t *disparity, uint8_t *grey) {
    static uint8_t confidence[4] = {0, 100, 150, 200};
    *frame = (struct frame){
        .disparity = disparity, .confidence = confidence, .rect_left = {grey, 4, 1, 1}};
    return frame;
}

/* Points that are written of four disparities: unknown, near, 90 m, 110 m. */
static char *written(const struct depth_geometry *geometry) {
    int16_t disparity[4] = {DISPARITY_UNKNOWN, 160, 18, 14};
    uint8_t grey[4] = {1, 2, 3, 4};
    struct frame frame;
    g_autofree char *path = path_in("a.ply");
    char *text, *count;
    g_assert_cmpint(points_write(path, make_frame(&frame, disparity, grey), geometry), ==, 0);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    count = strstr(text, "element vertex ");
    g_assert_nonnull(count);
    count = g_strndup(count + strlen("element vertex "), 1);
    g_free(text);
    return count;
}

CLI_TEST("/points/cut", test_cut) {
    const struct depth_geometry metric = {.fx = 100, .fy = 100, .baseline = 1, .metric = 1};
    const struct depth_geometry unknown = {0};
    g_autofree char *metres = written(&metric), *baselines = written(&unknown);
    g_assert_cmpstr(metres, ==, "2");
    g_assert_cmpstr(baselines, ==, "3");
}

/* The same points as text. */
CLI_TEST("/points/obj", test_obj) {
    const struct depth_geometry metric = {.fx = 100, .fy = 100, .baseline = 1, .metric = 1};
    int16_t disparity[4] = {DISPARITY_UNKNOWN, 160, 25, 14};
    uint8_t grey[4] = {1, 51, 255, 4};
    struct frame frame;
    g_autofree char *path = path_in("a.obj"), *text = NULL;
    g_assert_cmpint(points_write(path, make_frame(&frame, disparity, grey), &metric), ==, 0);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_assert_cmpstr(lines[1], ==, "v 0.10000 0.00000 10.00000 0.2000 0.2000 0.2000");
    g_assert_cmpstr(lines[2], ==, "v 1.28000 0.00000 64.00000 1.0000 1.0000 1.0000");
    g_assert_cmpstr(lines[3], ==, "");
}

/* What lies between near and far, along a row or a column, is left out, and nothing else: not a
 * step, a slope, an edge beside an unknown pixel. */
CLI_TEST("/points/hanging", test_hanging) {
    enum { U = DISPARITY_UNKNOWN };
    const struct depth_geometry metric = {.fx = 100, .fy = 100, .baseline = 1, .metric = 1};
    static const struct {
        int16_t disparity[5];
        int points;
    } cases[] = {
        {{640, 640, 400, 160, 160}, 4}, {{160, 160, 400, 640, 640}, 4},
        {{640, 640, 640, 160, 160}, 5}, {{160, 176, 192, 208, 224}, 5},
        {{640, U, 400, 160, 160}, 4},   {{640, 160, 640, 160, 640}, 5},
    };
    g_autofree char *path = path_in("a.obj");
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
        uint8_t grey[5] = {0}, confidence[5] = {0};
        int16_t disparity[5];
        g_autofree char *text = NULL;
        bool column = i & 1;
        int points = 0;
        memcpy(disparity, cases[i / 2].disparity, sizeof(disparity));
        struct frame frame = {.disparity = disparity,
                              .confidence = confidence,
                              .rect_left = {grey, column ? 1 : 5, column ? 5 : 1, 1}};
        g_assert_cmpint(points_write(path, &frame, &metric), ==, 0);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        for (const char *line = text; (line = strstr(line, "\nv ")); line++)
            points++;
        g_assert_cmpint(points, ==, cases[i / 2].points);
    }
}

/* Triangles join neighbours of one surface, and nothing across an edge or an unknown pixel. */
CLI_TEST("/points/mesh", test_mesh) {
    enum { U = DISPARITY_UNKNOWN };
    const struct depth_geometry metric = {.fx = 100, .fy = 100, .baseline = 1, .metric = 1};
    int16_t disparity[12] = {160, 170, 400, 410, /* two surfaces */
                             165, 175, 405, U,   180, 192, 400, 400};
    uint8_t grey[12] = {0}, confidence[12] = {0};
    struct frame frame = {
        .disparity = disparity, .confidence = confidence, .rect_left = {grey, 4, 3, 1}};
    g_autofree char *path = path_in("a.obj"), *text = NULL;
    g_assert_cmpint(points_write(path, &frame, &metric), ==, 0);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    const char *faces = strstr(text, "\nf ");
    g_assert_nonnull(faces);
    g_assert_cmpstr(faces, ==,
                    "\nf 1 5 2\nf 2 5 6\nf 3 7 4\n" /* not 2 to 3, nor the unknown one */
                    "f 5 8 6\n");
}
