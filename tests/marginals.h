/*
 * Whether the marginals of sum-product are of one distribution. SPDX-License-Identifier: MIT
 */
#pragma once

#include <glib.h>
#include <math.h>

/* Of a pixel: p are the probabilities of its labels, label the best one; mean (one number, or two
 * of labels (u, v) with so many columns), near and entropy are what follows from them. */
static inline void check_marginals_of(const float *p, int labels, int columns, int numbers,
                                      int label, const float *mean, float near, float entropy) {
    double sum = 0, u = 0, v = 0, close = 0, bits = 0;
    for (int l = 0; l < labels; l++) {
        int du = abs(l % columns - label % columns), dv = abs(l / columns - label / columns);
        g_assert_cmpfloat(p[l], <=, p[label]);
        sum += p[l];
        bits -= p[l] * log2(p[l]);
        u += l % columns * p[l];
        v += l / columns * p[l];
        close += du + dv <= 1 ? p[l] : 0;
    }
    g_assert_cmpfloat(fabs(sum - 1), <, 1e-5);
    g_assert_cmpfloat(fabs(mean[0] - u), <, 1e-4);
    g_assert_cmpfloat(numbers == 2 ? fabs(mean[1] - v) : 0, <, 1e-4);
    g_assert_cmpfloat(fabs(near - close), <, 1e-5);
    g_assert_cmpfloat(fabs(entropy - bits), <, 5e-5);
}
