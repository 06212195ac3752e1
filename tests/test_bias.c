/*
 * Disparities between whole pixels: planes whose disparity changes by a few hundredths of a pixel
 * from column to column, so that every fraction of a pixel occurs as often as any other; the mean
 * error at each fraction must be small. Single thread besides the pipeline's.
 * SPDX-License-Identifier: MIT
 */
#include "tests/frame_run.h"
#include "tests/test.h"
#include "image/frame.h"

enum { W = 320, H = 96, LABELS = 32, MARGIN = 40, FRACTIONS = 16 };

static double lattice(int x, int y) {
    uint32_t v = (uint32_t)x * 374761393u + (uint32_t)y * 668265263u;
    v = (v ^ (v >> 13)) * 1274126177u;
    return (double)((v ^ (v >> 16)) & 0xffff) / 65535;
}

/* Random values at the points of a grid with a smooth curve between them. */
static double texture(double x, double y) {
    double x0 = floor(x), y0 = floor(y), u = x - x0, v = y - y0;
    int i = (int)x0, j = (int)y0;
    u *= u * (3 - 2 * u);
    v *= v * (3 - 2 * v);
    return (lattice(i, j) * (1 - u) + lattice(i + 1, j) * u) * (1 - v) +
           (lattice(i, j + 1) * (1 - u) + lattice(i + 1, j + 1) * u) * v;
}

static uint8_t shade(double x, double y) {
    return (uint8_t)lround(30 + 120 * texture(x / 2.5, y / 2.5) + 70 * texture(x / 9, y / 9 + 50));
}

/* The largest mean error of a fraction, px, of a plane base + slope x. */
static double largest_bias(const char *from, const char *curve, double base, double slope) {
    char why[256];
    int error;
    struct params p = default_params();
    p.disparity_range = LABELS;
    g_assert_cmpint(params_set(&p, "subpixel_from", from, why, sizeof(why)), ==, 0);
    g_assert_cmpint(params_set(&p, "subpixel", curve, why, sizeof(why)), ==, 0);
    OWN_HANDLE *s = handle_open(NULL, &p, W, H, 1, NULL, &error);
    g_assert_nonnull(s);
    OWN_POOL *pool = frame_pool(s, 1, W, H, 1);
    OWN_FRAME *f = pool_take(pool);
    double sum[FRACTIONS] = {0}, count[FRACTIONS] = {0}, most = 0;
    for (int i = 0; i < W * H; i++) {
        int x = i % W, y = i / W;
        f->left.data[i] = shade(x, y);
        f->right.data[i] = shade((x + base) / (1 - slope), y);
    }
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    for (int i = 0; i < W * H; i++) {
        int x = i % W, y = i / W;
        double truth = base + slope * x, off = f->disparity[i] / 16.0 - truth;
        if (x < MARGIN || x >= W - MARGIN || y < 10 || y >= H - 10 || fabs(off) > 1)
            continue;
        int k = (int)floor((truth - floor(truth)) * FRACTIONS);
        sum[k] += off;
        count[k]++;
    }
    for (int k = 0; k < FRACTIONS; k++) {
        g_assert_cmpfloat(count[k], >, 100);
        g_test_message("%s, %s, slope %.2f, fraction %.3f: %+.4f px", from, curve, slope,
                       (k + 0.5) / FRACTIONS, sum[k] / count[k]);
        most = fmax(most, fabs(sum[k] / count[k]));
    }
    return most;
}

/* The default's bias, and that a curve through the beliefs, which smoothness draws to whole pixels,
 * has more of it. */
TEST("/bias", test_bias) {
    static const double slopes[] = {0.02, -0.02};
    for (size_t i = 0; i < G_N_ELEMENTS(slopes); i++) {
        double base = slopes[i] > 0 ? 8 : 16;
        double costs = largest_bias("costs", "equiangular", base, slopes[i]);
        double parabola = largest_bias("costs", "parabola", base, slopes[i]);
        double beliefs = largest_bias("beliefs", "equiangular", base, slopes[i]);
        g_test_message("slope %.2f: at most %.4f px from costs, %.4f with a parabola, %.4f from "
                       "beliefs",
                       slopes[i], costs, parabola, beliefs);
        g_assert_cmpfloat(costs, <=, 0.06);
        g_assert_cmpfloat(beliefs, >, costs);
    }
}
