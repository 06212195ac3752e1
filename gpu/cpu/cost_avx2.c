/*
 * The data cost (absolute difference, census and both) in AVX2.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

#include <string.h>

void labels_inside_avx2(const struct cost_args *a, int x, int *from, int *to) {
    int minimum =
        a->sign > 0 ? x - a->grid.space.u_min - (a->grid.width - 1) : -x - a->grid.space.u_min;
    int maximum =
        a->sign > 0 ? x - a->grid.space.u_min : a->grid.width - 1 - x - a->grid.space.u_min;
    *from = stage_clamp(minimum, 0, a->grid.labels);
    *to = stage_clamp(maximum + 1, *from, a->grid.labels);
}

/* Where the table of differences is too long for shuffles, each label is computed separately. */
static void cost_row(const struct cost_args *a, int y) {
    bool census = a->kind == DATA_COST_AD_CENSUS;
    size_t row = (size_t)y * (size_t)a->grid.width;
    for (int x = 0; x < a->grid.width; x++) {
        int from, to;
        labels_inside_avx2(a, x, &from, &to);
        uint8_t *out = a->cost + grid_labels(&a->grid, x, y);
        memset(out, a->outside, (size_t)a->grid.labels);
        memset(out + a->grid.labels, 0, (size_t)(a->grid.padded - a->grid.labels));
        for (int d = from; d < to; d++) {
            int other = x - a->sign * (a->grid.space.u_min + d);
            int cost = a->lut[cost_ad(a, x, other, y)];
            if (census)
                cost += a->census_lut[hamming64(a->census_reference[row + (size_t)x],
                                                a->census_target[row + (size_t)other])];
            out[d] = (uint8_t)cost;
        }
    }
}

void rows_cost_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct cost_args *a = args;
    if (match_rows_avx2(a, first, last, scratch))
        return;
    for (int y = first; y < last; y++) {
        if (a->kind != DATA_COST_BT && a->kind != DATA_COST_SSD)
            cost_row(a, y);
        else
            for (int x = 0; x < width; x++)
                stage_cost(a, x, y);
    }
}
