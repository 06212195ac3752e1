/*
 * The error measures of app/metrics.h: bad-N and mean error as on the Middlebury pages, D1 as
 * KITTI 2015.
 * SPDX-License-Identifier: MIT
 */
#include "app/metrics.h"

#include "image/frame.h"

#include <math.h>
#include <stdlib.h>

void error_add(struct error_sums *sums, const int16_t *disparity, const float *truth,
               const uint8_t *mask, long count) {
    for (long i = 0; i < count; i++) {
        if (isnan(truth[i]) || (mask && mask[i] != 255))
            continue;
        double error = INFINITY;
        if (disparity[i] != DISPARITY_UNKNOWN) {
            error = fabs((double)disparity[i] / DISPARITY_ONE - (double)truth[i]);
            sums->known++;
            sums->absolute += error;
        }
        sums->scored++;
        for (int n = 0; n < BAD_COUNT; n++)
            sums->bad[n] += error > n + 1;
        sums->d1 += error > 3 && error > 0.05 * fabs((double)truth[i]);
    }
}

static double share(long part, long whole) {
    return whole ? 100.0 * (double)part / (double)whole : NAN;
}

struct error_rates error_rates(const struct error_sums *sums) {
    struct error_rates rates;
    for (int n = 0; n < BAD_COUNT; n++)
        rates.bad[n] = share(sums->bad[n], sums->scored);
    rates.d1 = share(sums->d1, sums->scored);
    rates.mean = sums->known ? sums->absolute / (double)sums->known : NAN;
    return rates;
}

double density(const int16_t *disparity, long count) {
    long known = 0;
    for (long i = 0; i < count; i++)
        known += disparity[i] != DISPARITY_UNKNOWN;
    return share(known, count);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile(double *values, int count, double share_below) {
    if (count == 0)
        return NAN;
    qsort(values, (size_t)count, sizeof values[0], compare_doubles);
    double position = share_below * (count - 1);
    int below = (int)position;
    int above = below + 1 < count ? below + 1 : below;
    return values[below] + (position - below) * (values[above] - values[below]);
}
