/*
 * See mrf_lanes.h: the plain form. SPDX-License-Identifier: MIT
 */
#include "gpu/mrf_lanes_wide.h"

static void find_factors(const uint16_t *largest, uint16_t *factor) {
    for (int i = 0; i < LANES; i++)
        factor[i] = (uint16_t)(1 << (__builtin_clz(largest[i]) - 16));
}

static void multiply(const uint16_t *a, const uint16_t *factor_a, const uint16_t *b, int labels,
                     uint16_t *out, uint16_t *factor) {
    uint16_t largest[LANES] = {0};
    for (int n = 0; n < labels * LANES; n++) {
        int i = n % LANES;
        uint16_t whole = (uint16_t)(a[n] * factor_a[i]);
        uint16_t v = (uint16_t)((uint32_t)whole * b[n] >> 16);
        out[n] = v > 1 ? v : 1;
        largest[i] = out[n] > largest[i] ? out[n] : largest[i];
    }
    find_factors(largest, factor);
}

static void scale(uint16_t *v, int labels, const uint16_t *factor) {
    for (int n = 0; n < labels * LANES; n++)
        v[n] = (uint16_t)(v[n] * factor[n % LANES]);
}

static void spread(const struct lanes_kernel *k, const uint16_t *h, int labels, uint16_t *out,
                   uint16_t *factor) {
    uint16_t largest[LANES] = {0};
    uint32_t sum[LANES];
    lanes_add(h, labels, sum);
    for (int n = 0; n < labels * LANES; n++) {
        int i = n % LANES;
        uint32_t v = (uint32_t)(sum[i] * k->rest >> 32) + ((uint32_t)h[n] * k->value[0] >> 16);
        for (int d = 1; d <= k->steps; d++) {
            uint32_t mean = ((uint32_t)h[n - d * LANES] + h[n + d * LANES] + 1) >> 1;
            v += mean * k->value[d] >> 16;
        }
        out[n] = (uint16_t)(v > 1 ? v : 1);
        largest[i] = out[n] > largest[i] ? out[n] : largest[i];
    }
    find_factors(largest, factor);
}

static void store(const uint16_t *v, const uint16_t *factor, const uint16_t *mask, int labels,
                  uint16_t *to) {
    for (int n = 0; n < labels * LANES; n++)
        if (mask[n % LANES])
            to[n] = (uint16_t)(v[n] * factor[n % LANES]);
}

const struct lanes lanes_plain = {multiply,           scale,           spread,
                                  spread_recursively, spread_by_table, store};
