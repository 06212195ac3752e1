/*
 * What sum-product (mrf.h) spends its time with, for 16 pixels together: arrays are [label][lane],
 * of 16-bit probabilities of which none is below 1. Each form gives the same bytes. No state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MRF_LANES_H
#define LIVESTEREO_MRF_LANES_H

#include <stdint.h>

enum { LANES = 16 };

/* A smoothness V of differences d, which is largest for all d above steps; t = exp(-largest). All
 * are divided by the sum over the labels. */
struct lanes_kernel {
    int steps;
    uint64_t rest;   /* t, of which 2^32 is 1 */
    uint16_t *value; /* exp(-V(d)) - t, of which 2^16 is 1, for d above 0 twice; steps + 1 */
};

struct lanes {
    /* out = a b, where a still lacks its factors. So does out: the powers of two with which the
     * largest of each lane is at least 2^15. out may be a, and its factors a's. */
    void (*multiply)(const uint16_t *a, const uint16_t *factor_a, const uint16_t *b, int labels,
                     uint16_t *out, uint16_t *factor);
    void (*scale)(uint16_t *v, int labels, const uint16_t *factor);
    /* out(k) = sum_l h(l) exp(-V(|l - k|)), which lacks its factors. steps labels of zeros lie
     * before and after h. */
    void (*spread)(const struct lanes_kernel *k, const uint16_t *h, int labels, uint16_t *out,
                   uint16_t *factor);
    /* to = v with the factors, in lanes whose mask is all ones; others, with 0, stay. */
    void (*store)(const uint16_t *v, const uint16_t *factor, const uint16_t *mask, int labels,
                  uint16_t *to);
};

extern const struct lanes lanes_plain, lanes_avx2;

/* The sums over all labels. */
static inline void lanes_add(const uint16_t *h, int labels, uint32_t *sum) {
    for (int i = 0; i < LANES; i++)
        sum[i] = 0;
    for (int l = 0; l < labels; l++)
        for (int i = 0; i < LANES; i++)
            sum[i] += h[l * LANES + i];
}

static inline void lanes_find_factors(const uint16_t *largest, uint16_t *factor) {
    for (int i = 0; i < LANES; i++)
        factor[i] = (uint16_t)(1 << (__builtin_clz(largest[i]) - 16));
}

#endif
