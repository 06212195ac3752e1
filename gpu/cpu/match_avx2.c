/*
 * Twin of cost for absolute differences, census and both: 32 labels of a pixel at a time. A row's
 * partners lie in the order of the labels, colours apart, so that 32 of them are one load. Bits are
 * counted, and both tables looked up, by byte shuffles, 16 entries each; that takes a table of
 * differences that no longer changes beyond AD_ENTRIES.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <immintrin.h>
#include <string.h>

enum { STEP = 32, AD_ENTRIES = 128, CENSUS_ENTRIES = 64 };
enum { PADDED = MAX_WIDTH + 2 * STEP };

/* The other picture's row; partner i is number STEP + i. */
struct partner_row {
    uint8_t color[3][PADDED];
    uint64_t census[PADDED];
};

struct match_tables {
    __m256i ad[AD_ENTRIES / 16], census[CENSUS_ENTRIES / 16];
};

/* Partners in the order of the labels: backwards where the other picture is to the left. */
static void line_up(const struct cost_args *a, int y, int ad, int census, struct partner_row *row) {
    int w = a->grid.width;
    size_t start = (size_t)y * (size_t)w;
    const uint8_t *picture = ad ? a->target + start * (size_t)a->channels : NULL;
    const uint64_t *bits = census ? a->census_target + start : NULL;
    for (int c = 0; ad && c < a->channels; c++)
        for (int i = 0; i < w; i++)
            row->color[c][STEP + i] = picture[(a->sign > 0 ? w - 1 - i : i) * a->channels + c];
    for (int i = 0; census && i < w; i++)
        row->census[STEP + i] = bits[a->sign > 0 ? w - 1 - i : i];
}

static __m256i entries(const uint8_t *table) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

/* 0 when the table of differences is too long. */
static int make_tables(const struct cost_args *a, int ad, struct match_tables *t) {
    uint8_t census[CENSUS_ENTRIES] = {0};
    int last = 255 * a->channels;
    for (int i = AD_ENTRIES - 1; ad && i < last; i++)
        if (a->lut[i] != a->lut[last])
            return 0;
    for (int i = 0; ad && i < AD_ENTRIES / 16; i++)
        t->ad[i] = entries(a->lut + 16 * i);
    memcpy(census, a->census_lut, CENSUS_LUT);
    for (int i = 0; i < CENSUS_ENTRIES / 16; i++)
        t->census[i] = entries(census + 16 * i);
    return 1;
}

/* Bytes of a table of 16 * count entries. Places beyond a part's 16 become negative, which a
 * shuffle answers with 0. */
__attribute__((always_inline)) static inline __m256i look_up(const __m256i *table, int count,
                                                             __m256i place) {
    __m256i out = _mm256_setzero_si256();
    for (int i = 0; i < count; i++) {
        __m256i here = _mm256_xor_si256(place, _mm256_set1_epi8((char)(16 * i)));
        here = _mm256_adds_epu8(here, _mm256_set1_epi8(0x70));
        out = _mm256_or_si256(out, _mm256_shuffle_epi8(table[i], here));
    }
    return out;
}

__attribute__((always_inline)) static inline __m256i load(const void *from) {
    return _mm256_loadu_si256((const __m256i *)from);
}

/* Number of bits in each of four words that differ. */
__attribute__((always_inline)) static inline __m256i differing(__m256i bits,
                                                               const uint64_t *partners) {
    const __m256i count = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    __m256i low = _mm256_set1_epi8(15), v = _mm256_xor_si256(bits, load(partners));
    __m256i a = _mm256_shuffle_epi8(count, _mm256_and_si256(v, low));
    __m256i b = _mm256_shuffle_epi8(count, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
    return _mm256_sad_epu8(_mm256_add_epi8(a, b), _mm256_setzero_si256());
}

/* 32 Hamming distances. Eight registers of four words interleave to bytes: word j of register k,
 * label 4 k + j, becomes byte 8 j + k, which is then put in its place. */
__attribute__((always_inline)) static inline __m256i distances(__m256i bits,
                                                               const uint64_t *partners) {
    __m256i sum = differing(bits, partners);
    for (int k = 1; k < 8; k++)
        sum = _mm256_or_si256(sum, _mm256_slli_epi64(differing(bits, partners + 4 * k), 8 * k));
    /* words 0, 1 | 2, 3: bytes k of each pair of words side by side, then pairs beside pairs */
    const __m256i pairs = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0,
                                           8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    sum = _mm256_shuffle_epi8(sum, pairs);
    __m128i first = _mm256_castsi256_si128(sum), second = _mm256_extracti128_si256(sum, 1);
    return _mm256_set_m128i(_mm_unpackhi_epi16(first, second), _mm_unpacklo_epi16(first, second));
}

__attribute__((always_inline)) static inline __m256i match_32(const struct match_tables *t,
                                                              const struct partner_row *row, int at,
                                                              const uint8_t *p, uint64_t bits,
                                                              int ad, int census, int channels) {
    __m256i cost = _mm256_setzero_si256(), sum = cost;
    for (int c = 0; ad && c < channels; c++) {
        __m256i own = _mm256_set1_epi8((char)p[c]), target = load(row->color[c] + at);
        sum = _mm256_adds_epu8(
            sum, _mm256_or_si256(_mm256_subs_epu8(own, target), _mm256_subs_epu8(target, own)));
    }
    if (ad)
        cost =
            look_up(t->ad, AD_ENTRIES / 16, _mm256_min_epu8(sum, _mm256_set1_epi8(AD_ENTRIES - 1)));
    if (census)
        cost = _mm256_add_epi8(
            cost, look_up(t->census, CENSUS_ENTRIES / 16,
                          distances(_mm256_set1_epi64x((long long)bits), row->census + at)));
    return cost;
}

__attribute__((always_inline)) static inline void match_row(const struct cost_args *a,
                                                            const struct match_tables *t,
                                                            const struct partner_row *row, int y,
                                                            int ad, int census, int channels) {
    size_t start = (size_t)y * (size_t)a->grid.width;
    for (int x = 0; x < a->grid.width; x++) {
        int from, to, first = (a->sign > 0 ? a->grid.width - 1 - x : x) + a->grid.space.u_min;
        uint8_t *out = a->cost + grid_labels(&a->grid, x, y);
        const uint8_t *p = ad ? a->reference + (start + (size_t)x) * (size_t)channels : NULL;
        uint64_t bits = census ? a->census_reference[start + (size_t)x] : 0;
        labels_inside_avx2(a, x, &from, &to);
        for (int d = from / STEP * STEP; from < to && d < to; d += STEP) {
            __m256i cost = match_32(t, row, STEP + first + d, p, bits, ad, census, channels);
            if (d + STEP <= a->grid.padded)
                _mm256_storeu_si256((__m256i *)(void *)(out + d), cost);
            else
                _mm_storeu_si128((__m128i *)(void *)(out + d), _mm256_castsi256_si128(cost));
        }
        memset(out, a->outside, (size_t)from);
        memset(out + to, a->outside, (size_t)(a->grid.labels - to));
        memset(out + a->grid.labels, 0, (size_t)(a->grid.padded - a->grid.labels));
    }
}

bool match_rows_avx2(const struct cost_args *a, int first, int last, void *scratch) {
    int ad = a->kind != DATA_COST_CENSUS, census = a->kind != DATA_COST_AD;
    struct match_tables t;
    struct partner_row *row = scratch;
    static_assert(sizeof(*row) <= SCRATCH_BYTES, "a row fits");
    if (a->kind == DATA_COST_BT || a->kind == DATA_COST_SSD || !make_tables(a, ad, &t))
        return false;
    for (int y = first; y < last; y++) {
        line_up(a, y, ad, census, row);
        if (!ad)
            match_row(a, &t, row, y, 0, 1, 1);
        else if (a->channels == 3 && census)
            match_row(a, &t, row, y, 1, 1, 3);
        else if (a->channels == 3)
            match_row(a, &t, row, y, 1, 0, 3);
        else if (census)
            match_row(a, &t, row, y, 1, 1, 1);
        else
            match_row(a, &t, row, y, 1, 0, 1);
    }
    return true;
}
