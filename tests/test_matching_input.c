/*
 * What matching_input compares: each image against its definition, and blind to an offset between
 * the cameras. Single thread.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/stages.h"
#include "tests/scene.h"
#include "tests/test.h"

enum { W = 40, H = 30, L = 12 };

static int at(const uint8_t *image, int x, int y) {
    return image[CLAMP(y, 0, H - 1) * W + CLAMP(x, 0, W - 1)];
}

TEST("/matching-input/sobel", test_sobel) {
    static const int kernel[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    uint8_t grey[W * H], out[W * H];
    for (int i = 0; i < W * H; i++)
        grey[i] = (uint8_t)g_test_rand_int_range(0, 256);
    struct sobel_args a = {grey, out, W, H};
    for (int i = 0; i < W * H; i++) {
        double gx = 0, gy = 0;
        for (int k = 0; k < 9; k++) {
            int v = at(grey, i % W + k % 3 - 1, i / W + k / 3 - 1);
            gx += kernel[k / 3][k % 3] * v;
            gy += kernel[k % 3][k / 3] * v;
        }
        stage_sobel(&a, i % W, i / W);
        g_assert_cmpint(out[i], ==, (int)CLAMP(round((fabs(gx) + fabs(gy)) / 4), 0, 255));
    }
}

/* Grey less the mean of a square, and less a Gaussian, from the taps that the pipeline takes. */
TEST("/matching-input/residual", test_residual) {
    uint8_t grey[W * H], smoothed[W * H], out[W * H];
    uint16_t between[W * H];
    for (int i = 0; i < W * H; i++)
        grey[i] = (uint8_t)g_test_rand_int_range(0, 256);
    for (int radius = 1; radius <= 8; radius++)
        for (int gauss = 0; gauss < 2; gauss++) {
            double sigma = radius / 2.0;
            struct taps taps = gauss ? scaling_taps(sigma) : scaling_mean_taps(radius);
            struct smooth_x_args x = {grey, between, W, 1, taps};
            struct smooth_y_args y = {between, smoothed, W, H, 1, taps};
            struct residual_args a = {grey, smoothed, out, W};
            RUN_STAGE(stage_smooth_x, &x, W, H);
            for (int i = 0; i < W * H; i++) {
                double sum = 0, weights = 0;
                int reach = gauss ? (int)ceil(3 * sigma) : radius;
                for (int dy = -reach; dy <= reach; dy++)
                    for (int dx = -reach; dx <= reach; dx++) {
                        double w = gauss ? exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)) : 1;
                        sum += w * at(grey, i % W + dx, i / W + dy);
                        weights += w;
                    }
                stage_smooth_y(&y, i % W, i / W);
                stage_residual(&a, i % W, i / W);
                g_assert_cmpfloat(fabs(out[i] - CLAMP(128 + grey[i] - sum / weights, 0, 255)), <=,
                                  0.6);
            }
        }
}

/* The map of a scene whose right picture is offset grey levels brighter. */
static void run(const char *input, int offset, int16_t map[W * H]) {
    char why[256];
    struct params p = default_params();
    p.disparity_range = L;
    p.data_cost = DATA_COST_AD;
    p.row_alignment = false;       /* it would cut what overshoots */
    p.refinement = REFINEMENT_OFF; /* which sees the pictures */
    g_assert_cmpint(params_set(&p, "matching_input", input, why, sizeof(why)), ==, 0);
    OWN_FRAME *f = scene_frame(W, H, 3, L, 1);
    for (int i = 0; i < 3 * W * H; i++) { /* the sum stays within 8 bits */
        f->left.data[i] = (uint8_t)(f->left.data[i] / 2);
        f->right.data[i] = (uint8_t)(f->right.data[i] / 2 + offset);
    }
    OWN_HANDLE *s = frame_open(1, VARIANT_OPTIMISED, W, H, 3);
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    memcpy(map, f->disparity, W * H * sizeof(*map));
}

TEST("/matching-input/offset", test_offset) {
    const struct param_info *info = param_find("matching_input");
    g_auto(GStrv) inputs = g_strsplit(info->choices, "|", -1);
    for (int i = 0; inputs[i]; i++) {
        int16_t one[W * H], two[W * H];
        run(inputs[i], 0, one);
        run(inputs[i], 40, two);
        g_assert_cmpint(memcmp(one, two, sizeof(one)) != 0, ==, i == MATCHING_INPUT_PICTURE);
    }
}
