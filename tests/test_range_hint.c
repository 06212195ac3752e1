/*
 * The hint about the range that is searched. SPDX-License-Identifier: MIT
 */
#include "app/view/hints.h"
#include "config/params.h"

#include <glib.h>

enum { W = 100, H = 10 };

/* The hint for a map that spans 0..most px evenly, with a few mismatches at the end. */
static int hint(int range, int most, int mismatches) {
    int16_t disparity[W * H];
    struct params params;
    struct frame frame = {.params = &params, .disparity = disparity, .rect_left = {NULL, W, H, 1}};
    params_default(&params);
    params.disparity_range = range;
    for (int i = 0; i < W * H; i++)
        disparity[i] = (int16_t)(most * (i % W) * DISPARITY_ONE / (W - 1));
    for (int i = 0; i < mismatches; i++)
        disparity[i] = (int16_t)((range - 1) * DISPARITY_ONE);
    disparity[W * H - 1] = DISPARITY_UNKNOWN;
    return hints_range(&frame, 399);
}

static void test_hint(void) {
    g_assert_cmpint(hint(64, 50, 0), ==, 0);
    g_assert_cmpint(hint(64, 50, 60), ==, 128); /* cut off */
    g_assert_cmpint(hint(256, 200, 60), ==, 399);
    g_assert_cmpint(hint(399, 200, 60), ==, 0); /* it cannot be larger */
    g_assert_cmpint(hint(256, 20, 0), ==, 32);
    g_assert_cmpint(hint(256, 20, 1), ==, 32); /* whatever one mismatch says */
    g_assert_cmpint(hint(64, 20, 0), ==, 0);
    g_assert_cmpint(hint(16, 2, 0), ==, 0); /* no fewer than a step */
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/range-hint/hint", test_hint);
    return g_test_run();
}
