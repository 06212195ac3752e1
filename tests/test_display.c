/*
 * The range of colours that is fitted to a map. SPDX-License-Identifier: MIT
 */
#include "app/view/display.h"
#include "config/params.h"
#include "tests/test.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    return *(const int16_t *)a - *(const int16_t *)b;
}

/* A street: most pixels are far, a few outliers are nearer than anything; at several sizes the
 * middle 96 % of the pixels use 90 % of the colours at least, and a map of nothing fits nothing. */
TEST("/display/fit", test_fit) {
    enum { W = 160, H = 120 };
    const double scales[] = {1, 0.5, 1.0 / 3};
    for (size_t k = 0; k < G_N_ELEMENTS(scales); k++) {
        struct params params = default_params();
        struct frame *frame = frame_alone(W, H, 1, false, NULL);
        struct display d;
        int16_t sorted[W * H];
        *frame->params = params;
        display_init(&d, false);
        display_fit_range(&d, &params);
        g_assert_cmpfloat(d.range[1] - d.range[0], ==, params.disparity_range);
        for (int i = 0; i < W * H; i++)
            frame->disparity[i] = DISPARITY_UNKNOWN;
        g_assert_false(display_range_from_frame(&d, frame, scales[k]));
        for (int i = 0; i < W * H; i++) {
            double share = (i + 0.5) / (W * H), px = i % 300 == 0 ? 63 : 2 + 40 * pow(share, 4);
            sorted[i] = frame->disparity[i] = (int16_t)lround(px * scales[k] * DISPARITY_ONE);
        }
        g_assert_true(display_range_from_frame(&d, frame, scales[k]));
        qsort(sorted, W * H, sizeof(*sorted), by_value);
        double used = (sorted[W * H * 98 / 100] - sorted[W * H * 2 / 100]) /
                      (scales[k] * DISPARITY_ONE * (d.range[1] - d.range[0]));
        g_assert_cmpfloat(used, >=, 0.9);
        g_assert_cmpfloat(used, <=, 1);
        frame_drop(&frame);
    }
}
