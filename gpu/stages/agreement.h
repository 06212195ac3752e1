/*
 * Stages that measure how far matched pixels of the two pictures differ in colour, by noise and by
 * exposure, and choose the curves of the data cost by that, frame by frame.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STAGE_AGREEMENT_H
#define LIVESTEREO_STAGE_AGREEMENT_H

#include "gpu/stages/cost.h"

/* One pixel of AGREEMENT_STEP x AGREEMENT_STEP looks for its match by census alone. Where that is
 * like and no other place is nearly as like, the difference of the two is counted. */
enum { AGREEMENT_STEP = 8, AGREEMENT_BITS = 12, AGREEMENT_LEAD = 4, AGREEMENT_BINS = 256 };

/* How strongly the curves change, from none to all: from the upper quartile of the differences. */
enum { AGREEMENT_NONE = 0, AGREEMENT_ALL = 16, AGREEMENT_LEAST = 7, AGREEMENT_MOST = 11 };

struct agreement_args {
    struct grid grid;
    const uint64_t *census_reference, *census_target;
    const uint8_t *reference, *target; /* width*height*channels */
    uint32_t *counts;                  /* AGREEMENT_BINS, one a grey level */
    uint32_t *strength;                /* 1 */
    int channels;
};

/* Run over AGREEMENT_BINS x 1. */
STAGE void stage_agreement_start(const struct agreement_args *a, int x, int y) {
    (void)y;
    a->counts[x] = 0;
}

/* The label of the only match of (x, y), or -1. */
STAGE int agreement_match(const struct agreement_args *a, int x, int y) {
    size_t row = (size_t)y * a->grid.width;
    int best = 64, second = 64, label = -1;
    for (int l = 0; l < a->grid.labels; l++) {
        int xo = x - a->grid.space.u_min - l;
        if (xo < 0 || xo >= a->grid.width)
            continue;
        int bits = hamming64(a->census_reference[row + x], a->census_target[row + xo]);
        if (bits < best) {
            second = label == l - 1 ? second : best;
            best = bits;
            label = l;
        } else if (label != l - 1) {
            second = stage_min(second, bits);
        }
    }
    return best <= AGREEMENT_BITS && second >= best + AGREEMENT_LEAD ? label : -1;
}

STAGE void stage_agreement(const struct agreement_args *a, int i, int j) {
    int x = i * AGREEMENT_STEP + AGREEMENT_STEP / 2, y = j * AGREEMENT_STEP + AGREEMENT_STEP / 2;
    int label = x < a->grid.width && y < a->grid.height ? agreement_match(a, x, y) : -1;
    if (label < 0)
        return;
    size_t row = (size_t)y * a->grid.width;
    const uint8_t *p = a->reference + (row + x) * a->channels;
    const uint8_t *q = a->target + (row + x - a->grid.space.u_min - label) * a->channels;
    int sum = 0;
    for (int c = 0; c < a->channels; c++)
        sum += stage_abs(p[c] - q[c]);
    uint32_t *count = a->counts + sum / a->channels;
#ifdef __CUDA_ARCH__
    atomicAdd(count, 1u);
#else
    __atomic_fetch_add(count, 1u, __ATOMIC_RELAXED);
#endif
}

/* Run over 1 x 1. */
STAGE void stage_agreement_strength(const struct agreement_args *a, int x, int y) {
    (void)x;
    (void)y;
    uint32_t total = 0, below = 0;
    int quartile = 0;
    for (int i = 0; i < AGREEMENT_BINS; i++)
        total += a->counts[i];
    while (quartile < AGREEMENT_BINS - 1 && 4 * (below += a->counts[quartile]) < 3 * total)
        quartile++;
    int strength =
        (quartile - AGREEMENT_LEAST) * AGREEMENT_ALL / (AGREEMENT_MOST - AGREEMENT_LEAST);
    *a->strength = (uint32_t)stage_clamp(strength, AGREEMENT_NONE, AGREEMENT_ALL);
}

/* The tables of the data cost for a strength: the one of differences of colour fades, that of
 * census turns into another. Run over COST_LUT x 1. */
struct choose_costs_args {
    const uint32_t *strength;
    const uint8_t *lut;                               /* COST_LUT */
    const uint8_t *census_lut, *differing_census_lut; /* CENSUS_LUT */
    uint8_t *out, *census_out;
};

STAGE void stage_choose_costs(const struct choose_costs_args *a, int x, int y) {
    (void)y;
    int strength = (int)*a->strength, rest = AGREEMENT_ALL - strength;
    a->out[x] = (uint8_t)((a->lut[x] * rest + AGREEMENT_ALL / 2) / AGREEMENT_ALL);
    if (x < CENSUS_LUT)
        a->census_out[x] = (uint8_t)((a->census_lut[x] * rest +
                                      a->differing_census_lut[x] * strength + AGREEMENT_ALL / 2) /
                                     AGREEMENT_ALL);
}

#endif
