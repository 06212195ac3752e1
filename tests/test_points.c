/*
 * The points that the window and batch save: one cut for both. SPDX-License-Identifier: MIT
 */
#include "app/save/points.h"
#include "tests/cli.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How many points are written of a frame. */
static int written(const struct frame *frame, const struct depth_geometry *geometry) {
    g_autofree char *path = path_in("a.ply"), *text = NULL;
    long far = 0;
    g_assert_cmpint(points_write(path, frame, geometry, &far), ==, 0);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    const char *count = strstr(text, "element vertex ");
    g_assert_nonnull(count);
    return atoi(count + strlen("element vertex "));
}

/* Of disparities that are unknown, near, 90 m, 110 m. */
CLI_TEST("/points/cut", test_cut) {
    const struct depth_geometry metric = {.fx = 100, .fy = 100, .baseline = 1, .metric = 1};
    const struct depth_geometry unknown = {0};
    int16_t disparity[4] = {DISPARITY_UNKNOWN, 160, 18, 14};
    uint8_t grey[4] = {1, 2, 3, 4}, confidence[4] = {0, 100, 150, 200};
    const struct frame frame = {
        .disparity = disparity, .confidence = confidence, .rect_left = {grey, 4, 1, 1}};
    g_assert_cmpint(written(&frame, &metric), ==, 2);
    g_assert_cmpint(written(&frame, &unknown), ==, 3);
    const struct depth_geometry aerial = {.fx = 4000, .fy = 4000, .baseline = 1.2, .metric = 1};
    disparity[1] = disparity[2] = 6 * 16;
    disparity[3] = 3 * 16;
    g_assert_cmpint(written(&frame, &aerial), ==, 2); /* 800 m, not 1600 */
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
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
        uint8_t grey[5] = {0}, confidence[5] = {0};
        int16_t disparity[5];
        bool column = i & 1;
        memcpy(disparity, cases[i / 2].disparity, sizeof(disparity));
        struct frame frame = {.disparity = disparity,
                              .confidence = confidence,
                              .rect_left = {grey, column ? 1 : 5, column ? 5 : 1, 1}};
        g_assert_cmpint(written(&frame, &metric), ==, cases[i / 2].points);
    }
}
