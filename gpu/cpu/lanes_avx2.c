/*
 * See gpu/mrf_lanes.h: the form for AVX2. SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/vector_avx2.h"
#include "gpu/mrf_lanes_wide.h"

/* Shifts by 8, 4, 2 and 1 where that many upper bits are 0. */
INLINE void find_factors(__m256i largest, uint16_t *factor) {
    __m256i f = _mm256_set1_epi16(1);
    for (int bits = 8; bits; bits /= 2) {
        __m256i fits =
            _mm256_cmpeq_epi16(_mm256_srli_epi16(largest, 16 - bits), _mm256_setzero_si256());
        largest = _mm256_blendv_epi8(largest, _mm256_slli_epi16(largest, bits), fits);
        f = _mm256_blendv_epi8(f, _mm256_slli_epi16(f, bits), fits);
    }
    store_256(factor, f);
}

static void multiply(const uint16_t *a, const uint16_t *factor_a, const uint16_t *b, int labels,
                     uint16_t *out, uint16_t *factor) {
    __m256i f = load_256(factor_a), one = _mm256_set1_epi16(1), largest = one;
    for (int n = 0; n < labels * LANES; n += LANES) {
        __m256i v = _mm256_mulhi_epu16(_mm256_mullo_epi16(load_256(a + n), f), load_256(b + n));
        v = _mm256_max_epu16(v, one);
        largest = _mm256_max_epu16(largest, v);
        store_256(out + n, v);
    }
    find_factors(largest, factor);
}

static void scale(uint16_t *v, int labels, const uint16_t *factor) {
    __m256i f = load_256(factor);
    for (int n = 0; n < labels * LANES; n += LANES)
        store_256(v + n, _mm256_mullo_epi16(load_256(v + n), f));
}

/* Of count labels; a constant, for which sums stay in registers. */
INLINE __m256i spread_labels(const struct lanes_kernel *k, const uint16_t *h, int count,
                             __m256i rest, uint16_t *out) {
    __m256i sum[4], largest = _mm256_set1_epi16(1), v = _mm256_set1_epi16((short)k->value[0]);
    for (int i = 0; i < count; i++)
        sum[i] = _mm256_add_epi16(rest, _mm256_mulhi_epu16(load_256(h + i * LANES), v));
    for (int d = 1; d <= k->steps; d++) {
        v = _mm256_set1_epi16((short)k->value[d]);
        for (int i = 0; i < count; i++) {
            __m256i mean =
                _mm256_avg_epu16(load_256(h + (i - d) * LANES), load_256(h + (i + d) * LANES));
            sum[i] = _mm256_add_epi16(sum[i], _mm256_mulhi_epu16(mean, v));
        }
    }
    for (int i = 0; i < count; i++) {
        sum[i] = _mm256_max_epu16(sum[i], _mm256_set1_epi16(1));
        largest = _mm256_max_epu16(largest, sum[i]);
        store_256(out + i * LANES, sum[i]);
    }
    return largest;
}

static void spread(const struct lanes_kernel *k, const uint16_t *h, int labels, uint16_t *out,
                   uint16_t *factor) {
    uint32_t sum[LANES];
    uint16_t rest[LANES];
    lanes_add(h, labels, sum);
    for (int i = 0; i < LANES; i++)
        rest[i] = (uint16_t)(sum[i] * k->rest >> 32);
    __m256i r = load_256(rest), largest = _mm256_setzero_si256();
    int l = 0;
    for (; l + 4 <= labels; l += 4)
        largest = _mm256_max_epu16(largest, spread_labels(k, h + l * LANES, 4, r, out + l * LANES));
    for (; l < labels; l++)
        largest = _mm256_max_epu16(largest, spread_labels(k, h + l * LANES, 1, r, out + l * LANES));
    find_factors(largest, factor);
}

static void store(const uint16_t *v, const uint16_t *factor, const uint16_t *mask, int labels,
                  uint16_t *to) {
    __m256i f = load_256(factor), m = load_256(mask);
    bool all = _mm256_movemask_epi8(m) == -1;
    for (int n = 0; n < labels * LANES; n += LANES) {
        __m256i w = _mm256_mullo_epi16(load_256(v + n), f);
        store_256(to + n, all ? w : _mm256_blendv_epi8(load_256(to + n), w, m));
    }
}

const struct lanes lanes_avx2 = {multiply,           scale,           spread,
                                 spread_recursively, spread_by_table, store};
