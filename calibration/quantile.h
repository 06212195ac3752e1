/*
 * Quantiles of a few numbers. No state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

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
