/*
 * The data cost (absolute difference, census and both) and cross-shaped sums in AVX2.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <immintrin.h>
#include <string.h>

void labels_inside_avx2(const struct cost_args *a, int x, int *from, int *to) {
    int minimum =
        a->sign > 0 ? x - a->grid.space.u_min - (a->grid.width - 1) : -x - a->grid.space.u_min;
    int maximum =
        a->sign > 0 ? x - a->grid.space.u_min : a->grid.width - 1 - x - a->grid.space.u_min;
    *from = stage_clamp(minimum, 0, a->grid.labels);
    *to = stage_clamp(maximum + 1, *from, a->grid.labels);
}

/* Where the table of differences is too long for the shuffles, each label by itself. */
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

static void rows_cost(const void *args, int width, int first, int last, void *scratch) {
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

/* Sums along the horizontal arms as differences of running sums; words may wrap, their
 * difference is right since no sum reaches 65536. */
static void rows_cross_x(const void *args, int width, int first, int last, void *scratch) {
    const struct cross_args *a = args;
    __m256i *running = scratch;
    static_assert((MAX_WIDTH + 1) * sizeof(*running) <= SCRATCH_BYTES, "a row of sums fits");
    for (int y = first; y < last; y++) {
        const struct arms *arms = a->arms + (size_t)y * (size_t)width;
        for (int d = 0; d < a->grid.padded; d += LABEL_BLOCK) {
            running[0] = _mm256_setzero_si256();
            for (int x = 0; x < width; x++) {
                const uint8_t *from = a->source + grid_labels(&a->grid, x, y) + d;
                __m256i words = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)from));
                running[x + 1] = _mm256_add_epi16(running[x], words);
            }
            for (int x = 0; x < width; x++) {
                __m256i sum = _mm256_sub_epi16(running[x + arms[x].length[RIGHT] + 1],
                                               running[x - arms[x].length[LEFT]]);
                uint16_t *out = a->between + grid_labels(&a->grid, x, y) + d;
                _mm256_storeu_si256((__m256i *)out, sum);
            }
        }
    }
}

/* (sum + count / 2) / count by floats, which is exact: both are below 2^24, so a quotient that
 * is not whole lies farther from the next whole number than it can be rounded. */
static __m256i divide(__m256i sum, __m256 count, __m256i half) {
    return _mm256_cvttps_epi32(
        _mm256_div_ps(_mm256_cvtepi32_ps(_mm256_add_epi32(sum, half)), count));
}

__attribute__((always_inline)) static inline void cross_column(const struct cross_args *a, int x,
                                                               int top, int bottom, int d,
                                                               int count, uint8_t *out,
                                                               int blocks) {
    __m256i sum[2 * 4];
    for (int k = 0; k < 2 * blocks; k++)
        sum[k] = _mm256_setzero_si256();
    for (int y = top; y <= bottom; y++) {
        const uint16_t *from = a->between + grid_labels(&a->grid, x, y) + d;
        for (int k = 0; k < 2 * blocks; k++) {
            __m128i words = _mm_loadu_si128((const __m128i *)(from + 8 * k));
            sum[k] = _mm256_add_epi32(sum[k], _mm256_cvtepu16_epi32(words));
        }
    }
    __m256 by = _mm256_set1_ps((float)count);
    __m256i half = _mm256_set1_epi32(count / 2), bytes = _mm256_set1_epi32(0xff);
    for (int k = 0; k < blocks; k++) {
        __m256i low = _mm256_and_si256(divide(sum[2 * k], by, half), bytes);
        __m256i high = _mm256_and_si256(divide(sum[2 * k + 1], by, half), bytes);
        __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
        __m128i packed =
            _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        _mm_storeu_si128((__m128i *)(out + 16 * k), packed);
    }
}

/* n / count = (n * multiplier >> 16) >> shift for every n that the costs of count pixels, and half
 * the count, add up to. */
struct reciprocal {
    uint16_t multiplier, shift; /* multiplier 0: such numbers do not give it */
};

/* Of so many pixels the sum fits a word. */
enum { WORD_COUNT = 2 * 65535 / (2 * MAX_COST + 1) };

static struct reciprocal reciprocal_of(uint32_t count) {
    uint32_t shift = 0, largest = count * MAX_COST + count / 2;
    while (((uint64_t)65536 << (shift + 1)) + count <= (uint64_t)65536 * count)
        shift++;
    uint32_t power = 65536u << shift, multiplier = (power + count - 1) / count;
    bool exact = (uint64_t)(multiplier * count - power) * largest < power && multiplier < 65536;
    return (struct reciprocal){(uint16_t)(exact ? multiplier : 0), (uint16_t)shift};
}

/* cross_column() in words. */
__attribute__((always_inline)) static inline void
cross_column_words(const struct cross_args *a, int x, int top, int bottom, int d, int count,
                   struct reciprocal by, uint8_t *out, int blocks) {
    __m256i sum[4];
    for (int k = 0; k < blocks; k++)
        sum[k] = _mm256_set1_epi16((int16_t)(count / 2));
    for (int y = top; y <= bottom; y++) {
        const uint16_t *from = a->between + grid_labels(&a->grid, x, y) + d;
        for (int k = 0; k < blocks; k++)
            sum[k] = _mm256_add_epi16(
                sum[k], _mm256_loadu_si256((const __m256i *)(const void *)(from + 16 * k)));
    }
    __m256i multiplier = _mm256_set1_epi16((int16_t)by.multiplier);
    __m128i shift = _mm_cvtsi32_si128(by.shift);
    for (int k = 0; k < blocks; k++) {
        __m256i words = _mm256_srl_epi16(_mm256_mulhi_epu16(sum[k], multiplier), shift);
        __m128i packed =
            _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        _mm_storeu_si128((__m128i *)(void *)(out + 16 * k), packed);
    }
}

static void cross_pixel(const struct cross_args *a, int x, int y,
                        const struct reciprocal *reciprocals) {
    const struct arms *arms = a->arms + (size_t)y * (size_t)a->grid.width + x;
    int top = y - arms->length[UP], bottom = y + arms->length[DOWN], d = 0;
    int count = cross_count(a, x, top, bottom), four = 4 * LABEL_BLOCK;
    uint8_t *out = a->out + grid_labels(&a->grid, x, y);
    struct reciprocal by = count <= WORD_COUNT ? reciprocals[count] : (struct reciprocal){0, 0};
    if (by.multiplier) {
        for (; d + four <= a->grid.padded; d += four)
            cross_column_words(a, x, top, bottom, d, count, by, out + d, 4);
        for (; d < a->grid.padded; d += LABEL_BLOCK)
            cross_column_words(a, x, top, bottom, d, count, by, out + d, 1);
    }
    for (; d + four <= a->grid.padded; d += four)
        cross_column(a, x, top, bottom, d, count, out + d, 4);
    for (; d < a->grid.padded; d += LABEL_BLOCK)
        cross_column(a, x, top, bottom, d, count, out + d, 1);
}

static void rows_cross_y(const void *args, int width, int first, int last, void *scratch) {
    struct reciprocal *reciprocals = scratch;
    static_assert((WORD_COUNT + 1) * sizeof(*reciprocals) <= SCRATCH_BYTES, "a table fits");
    for (uint32_t count = 1; count <= WORD_COUNT; count++)
        reciprocals[count] = reciprocal_of(count);
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++)
            cross_pixel(args, x, y, reciprocals);
}

void optimise_cost_avx2(struct backend_cpu *cpu) {
    cpu->rows[STAGE_cost] = rows_cost;
    cpu->rows[STAGE_cross_x] = rows_cross_x;
    cpu->rows[STAGE_cross_y] = rows_cross_y;
}
