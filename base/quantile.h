/*
 * Quantiles of a few numbers. No state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <math.h>
#include <stdlib.h>

static inline int quantile_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that a share (0 to below 1) of count values, at least one, lies below. Sorts them. */
static inline double quantile_of(double *values, int count, double share) {
    qsort(values, (size_t)count, sizeof *values, quantile_compare);
    return values[(int)(share * count)];
}

/* Interpolated between the two values around that place, share 0 to 1; NaN of no values. */
static inline double quantile_between(double *values, int count, double share) {
    if (count == 0)
        return NAN;
    qsort(values, (size_t)count, sizeof *values, quantile_compare);
    double place = share * (count - 1);
    int below = (int)place, above = below + 1 < count ? below + 1 : below;
    return values[below] + (place - below) * (values[above] - values[below]);
}
