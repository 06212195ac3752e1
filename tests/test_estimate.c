/*
 * Parameters that are estimated: from differences that were drawn from the mixture itself, what
 * they were drawn with; the commands' option.
 * SPDX-License-Identifier: MIT
 */
#include "app/run/estimate.h"
#include "config/params.h"
#include "tests/cli.h"
#include "tests/test.h"

#include <math.h>

enum { PIXELS = 16000, LABELS = 512 };

/* 0, 1, 2... with probabilities that fall by the factor q. */
static int draw(GRand *r, double q) {
    return (int)floor(log(1 - g_rand_double(r)) / log(q));
}

/* A row. Matching pixels differ by a geometric distribution, neighbours' labels by one of both
 * signs; a tenth of the pixels is anything. */
static void fill(struct frame *f, GRand *r, double q_pixels, double q_labels) {
    int label = LABELS / 2;
    for (int i = 0; i < PIXELS; i++) {
        int next = label + draw(r, q_labels) - draw(r, q_labels), d = draw(r, q_pixels);
        label = next < 0 || next >= LABELS ? label : next;
        f->disparity[i] = (int16_t)(DISPARITY_ONE * label);
        f->rect_right.data[i] = 0;
        f->rect_left.data[i] =
            (uint8_t)(g_rand_double(r) < 0.1 ? g_rand_int_range(r, 0, 256) : MIN(d, 255));
    }
}

TEST("/estimate/mixture", test_mixture) {
    AUTO(frame_drop) struct frame *f = frame_alone(PIXELS, 1, 1, 0, NULL);
    struct params p;
    params_default(&p);
    GRand *r = g_rand_new_with_seed(5);
    f->rect_left = f->left;
    f->rect_right = f->right;
    p.data_cost = DATA_COST_AD;
    p.data_curve = CURVE_TRUNCATED;
    p.disparity_range = LABELS;
    p.edge_factor_1 = p.edge_factor_2 = 1;
    fill(f, r, exp(-0.2), exp(-1.5));
    double odds = 0.9 / 0.1 * (1 - exp(-0.2)) * 256, change = estimate_fit(f, &p);
    g_test_message("lambda %g, tau %g, rho %g, T %g", p.data_weight, p.data_truncation,
                   p.discontinuity_weight, p.discontinuity_truncation);
    g_assert_cmpfloat(change, >, 0);
    g_assert_cmpfloat(fabs(p.data_weight - 0.2), <, 0.01);
    g_assert_cmpfloat(fabs(p.data_truncation * p.data_weight - log1p(odds)), <, 0.1);
    g_assert_cmpfloat(fabs(p.discontinuity_weight - 1.5), <, 0.05);
    struct params again = p;
    g_assert_cmpfloat(estimate_fit(f, &again), ==, 0);
    /* the exponential curve has the same slope at 0 and the same largest cost */
    p.data_curve = CURVE_EXPONENTIAL;
    double largest = p.data_weight * p.data_truncation, slope = p.data_weight * -expm1(-largest);
    estimate_fit(f, &p);
    g_assert_cmpfloat(fabs(p.data_weight - largest), <, 1e-9);
    g_assert_cmpfloat(fabs(p.data_weight / p.data_truncation - slope), <, 1e-9);
    g_rand_free(r);
}

/* Colours that are all grey give what grey pictures give: with cost_color=0, and by census. */
TEST("/estimate/grey", test_grey) {
    enum { W = 40, H = 30 };
    struct params of[2];
    for (int n = 0; n < 2; n++) {
        AUTO(frame_drop) struct frame *f = frame_alone(W, H, n ? 3 : 1, 0, NULL);
        GRand *r = g_rand_new_with_seed(7);
        params_default(&of[n]);
        of[n].cost_color = 0;
        of[n].disparity_range = 4;
        f->rect_left = f->left;
        f->rect_right = f->right;
        for (int i = 0; i < W * H; i++) {
            int v = g_rand_int_range(r, 0, 250), other = v + g_rand_int_range(r, 0, 5);
            memset(f->left.data + i * f->left.channels, v, (size_t)f->left.channels);
            memset(f->right.data + i * f->left.channels, other, (size_t)f->left.channels);
            f->disparity[i] = 0;
        }
        estimate_fit(f, &of[n]);
        g_rand_free(r);
    }
    g_assert_true(params_equal(&of[0], &of[1]));
    /* most bits of census are the same: a narrow curve of its own */
    g_assert_cmpfloat(of[0].census_truncation, <, 20);
}

/* The left picture has noise of every value from 80 to 120, as often; the right one is even. Of
 * squares the mean of their distribution is what is known, its variance; of smoothed pictures, that
 * a Gaussian of sigma 1 leaves 1 / (2 sqrt(pi)) of the noise. */
TEST("/estimate/noise", test_noise) {
    enum { W = 120, H = 90, LEVELS = 41 };
    const double variance = (LEVELS * LEVELS - 1) / 12.0, left = sqrt(variance / (4 * M_PI)),
                 mean = left * sqrt(2 / M_PI);
    AUTO(frame_drop) struct frame *f = frame_alone(W, H, 3, 0, NULL);
    GRand *r = g_rand_new_with_seed(11);
    struct params p;
    params_default(&p);
    f->rect_left = f->left;
    f->rect_right = f->right;
    for (int i = 0; i < 3 * W * H; i++) {
        f->left.data[i] = (uint8_t)g_rand_int_range(r, 100 - LEVELS / 2, 101 + LEVELS / 2);
        f->right.data[i] = 100;
        f->disparity[i / 3] = 0;
    }
    p.data_curve = CURVE_TRUNCATED;
    p.disparity_range = 16;
    p.data_cost = DATA_COST_SSD;
    estimate_fit(f, &p);
    g_assert_cmpfloat(fabs(p.data_weight / p.data_truncation * variance - 1), <, 0.02);
    p.data_cost = DATA_COST_AD;
    p.smooth_sigma = 1;
    g_assert_null(estimate_conflict(&p));
    estimate_fit(f, &p);
    g_test_message("of squares of %g, smoothed to %g: lambda %g", variance, left, p.data_weight);
    g_assert_cmpfloat(fabs(p.data_weight / (3 * log1p(1 / (3 * mean))) - 1), <, 0.05);
    g_rand_free(r);
}

TEST("/estimate/option", test_option) {
    AUTO(outcome_free)
    struct outcome o = run_limited(0, "run --estimate --preset yang2006_tuned "
                                      "synth:width=120,height=90,range=16,frames=2,noise=4 "
                                      "--set disparity_range=16");
    g_assert_cmpint(o.code, ==, 0);
    const char *line = strstr(o.err, "estimate: 1: lambda ");
    g_assert_nonnull(line);
    g_assert_nonnull(strstr(line, "; rho "));
    g_assert_null(strstr(line + 1, "estimate: 1: ")); /* of the first pair alone */
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    set_up(NULL, NULL);
    int code = tests_run();
    tear_down(NULL, NULL);
    return code;
}
