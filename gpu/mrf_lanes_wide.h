/*
 * Private: what the forms of mrf_lanes.h have in common, each compiled for its own processor.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MRF_LANES_WIDE_H
#define LIVESTEREO_MRF_LANES_WIDE_H

#include "gpu/mrf_lanes.h"

#include <string.h>

/* The sums over all labels. */
static void lanes_add(const uint16_t *h, int labels, uint32_t *sum) {
    memset(sum, 0, LANES * sizeof(*sum));
    for (int l = 0; l < labels; l++)
        for (int i = 0; i < LANES; i++)
            sum[i] += h[l * LANES + i];
}

/* The upper 16 bits of each lane, the largest of which gets shifted to the top. */
static void narrow(const uint32_t *wide, int labels, uint16_t *restrict out) {
    uint32_t largest[LANES] = {0}, shift[LANES];
    for (int l = 0; l < labels; l++)
        for (int i = 0; i < LANES; i++)
            largest[i] = wide[l * LANES + i] > largest[i] ? wide[l * LANES + i] : largest[i];
    for (int i = 0; i < LANES; i++)
        shift[i] = (uint32_t)__builtin_clz(largest[i]);
    for (int l = 0; l < labels; l++)
        for (int i = 0; i < LANES; i++) {
            uint32_t v = wide[l * LANES + i] << shift[i] >> 16;
            out[l * LANES + i] = (uint16_t)(v > 1 ? v : 1);
        }
}

/* v ratio, 2^16 of which is 1. */
static int32_t decay(int32_t v, uint32_t ratio) {
    return (v >> 16) * (int32_t)ratio + (int32_t)(((uint32_t)v & 0xffff) * ratio >> 16);
}

/* Sums of h exp(-V) over the labels nearer than window by a recursion in each direction, which
 * what leaves this window is subtracted from, and t times what is outside. 2^5 is 1 of h. */
static void spread_recursively(const struct lanes_recursion *k, const uint16_t *h, int labels,
                               uint32_t *restrict wide, uint16_t *restrict out) {
    int32_t sum[LANES] = {0};
    uint32_t outside[LANES];
    int window = k->window;
    for (int l = 0; l < labels; l++)
        for (int i = 0; i < LANES; i++) {
            int n = l * LANES + i;
            sum[i] = decay(sum[i], k->ratio) + (h[n] << 5) -
                     (int32_t)(h[n - window * LANES] * k->leaves >> 11);
            wide[n] = (uint32_t)sum[i];
        }
    memset(sum, 0, sizeof(sum));
    lanes_add(h, labels - window + 1, outside); /* of the label behind the last one */
    for (int l = labels - 1; l >= 0; l--)
        for (int i = 0; i < LANES; i++) {
            int n = l * LANES + i;
            sum[i] = decay(sum[i], k->ratio) + (h[n] << 5) -
                     (int32_t)(h[n + window * LANES] * k->leaves >> 11);
            outside[i] += h[n + window * LANES];
            outside[i] -= h[n - (window - 1) * LANES];
            int32_t v = (int32_t)wide[n] + sum[i] - (h[n] << 5) +
                        (int32_t)((outside[i] >> 9) * k->rest >> 2);
            wide[n] = (uint32_t)(v > 1 ? v : 1);
        }
    narrow(wide, labels, out);
}

static void spread_by_table(const uint16_t *table, bool forwards, const uint16_t *h, int labels,
                            uint32_t *restrict wide, uint16_t *restrict out) {
    for (int to = 0; to < labels; to++) {
        uint32_t sum[LANES] = {0};
        for (int l = 0; l < labels; l++) {
            uint32_t v = table[forwards ? l * labels + to : to * labels + l];
            for (int i = 0; i < LANES; i++)
                sum[i] += h[l * LANES + i] * v >> 9;
        }
        for (int i = 0; i < LANES; i++)
            wide[to * LANES + i] = sum[i] > 1 ? sum[i] : 1;
    }
    narrow(wide, labels, out);
}

#endif
