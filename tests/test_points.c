/*
 * The points that the window and batch save: one cut for both. SPDX-License-Identifier: MIT
 */
#include "app/save/points.h"
#include "tests/cli.h"

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

/* Regions of fewer than 60 pixels, by neighbours in rows and columns, are left out; a diagonal
 * joins nothing, and what is unknown was not filled in. */
CLI_TEST("/points/filled", test_filled) {
    enum { W = 40, H = 20 };
    static const struct {
        int x, y, width, height, marked;
    } cases[] = {{0, 0, 10, 6, 60}, {3, 3, 59, 1, 0}, {0, 0, 7, 8, 0}, {30, 12, 10, 8, 80}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        int16_t disparity[W * H] = {0};
        uint8_t confidence[W * H], mask[W * H];
        memset(confidence, 100, sizeof(confidence));
        for (int y = cases[i].y; y < cases[i].y + cases[i].height; y++)
            for (int x = cases[i].x; x < MIN(W, cases[i].x + cases[i].width); x++)
                confidence[y * W + x] = 3;
        confidence[19 * W] = confidence[18 * W + 1] = confidence[17 * W + 2] = 3;
        disparity[0] = i == 1 ? DISPARITY_UNKNOWN : 0;
        g_assert_cmpint(disparity_mark_filled(disparity, confidence, W, H, 4, mask), ==, 0);
        int marked = 0;
        for (int k = 0; k < W * H; k++) {
            g_assert_true(mask[k] == 0 || (mask[k] == 255 && confidence[k] == 3));
            marked += mask[k] == 255;
        }
        g_assert_cmpint(marked, ==, cases[i].marked);
    }
}
