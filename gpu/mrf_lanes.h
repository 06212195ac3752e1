/*
 * What sum-product (mrf.h) spends its time with, for 16 pixels together: arrays are [label][lane],
 * of 16-bit probabilities of which none is below 1. Each form gives the same bytes. No state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MRF_LANES_H
#define LIVESTEREO_MRF_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum { LANES = 16 };

/* A smoothness V of differences d, which is largest for all d above steps; t = exp(-largest). All
 * are divided by the sum over the labels. */
struct lanes_kernel {
    int steps;
    uint64_t rest;   /* t, of which 2^32 is 1 */
    uint16_t *value; /* exp(-V(d)) - t, of which 2^16 is 1, for d above 0 twice; steps + 1 */
};

/* V = min(rho d, T), of which 2^16 is 1. */
struct lanes_recursion {
    int window;      /* the first difference of which V is T */
    uint32_t ratio;  /* exp(-rho) */
    uint32_t leaves; /* exp(-rho window) */
    uint32_t rest;   /* exp(-T) */
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
    /* The same in 32 bits, without factors; window labels of zeros lie before and after h. wide:
     * memory for labels * LANES. */
    void (*spread_recursively)(const struct lanes_recursion *k, const uint16_t *h, int labels,
                               uint32_t *wide, uint16_t *out);
    /* The same with a table of exp(-V), [l][k], or with forwards false [k][l]. */
    void (*spread_by_table)(const uint16_t *table, bool forwards, const uint16_t *h, int labels,
                            uint32_t *wide, uint16_t *out);
    /* to = v with the factors, in lanes whose mask is all ones; others, with 0, stay. */
    void (*store)(const uint16_t *v, const uint16_t *factor, const uint16_t *mask, int labels,
                  uint16_t *to);
};

extern const struct lanes lanes_plain, lanes_avx2;

#endif
