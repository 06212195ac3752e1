/*
 * The census transform in AVX2, 32 pixels at a time. Their bits are computed one after the
 * other and gathered in eight registers; register b holds byte b of the 62 bits of every pixel.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <assert.h>
#include <string.h>

enum { REACH_X = 4, REACH_Y = 3, ROWS = 2 * REACH_Y + 1, STEP = 32 };
enum { NEIGHBOURS = 62, PADDED = MAX_WIDTH + 2 * REACH_X + STEP };

/* The rows around y, each with its ends repeated. */
static void pad_rows(const struct census_args *a, int y, uint8_t rows[ROWS][PADDED]) {
    for (int i = 0; i < ROWS; i++) {
        const uint8_t *row =
            a->grey + (size_t)stage_clamp(y + i - REACH_Y, 0, a->height - 1) * (size_t)a->width;
        memset(rows[i], row[0], REACH_X);
        memcpy(rows[i] + REACH_X, row, (size_t)a->width);
        memset(rows[i] + REACH_X + a->width, row[a->width - 1], REACH_X + STEP);
    }
}

static __m128i half(__m256i v, int high) {
    return high ? _mm256_extracti128_si256(v, 1) : _mm256_castsi256_si128(v);
}

/* 16 pixels' words from their bytes. */
static void put_words(const __m256i byte[8], int high, uint64_t *out) {
    __m128i pair[4][2], four[2][4];
    for (int i = 0; i < 4; i++) {
        pair[i][0] = _mm_unpacklo_epi8(half(byte[2 * i], high), half(byte[2 * i + 1], high));
        pair[i][1] = _mm_unpackhi_epi8(half(byte[2 * i], high), half(byte[2 * i + 1], high));
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            four[i][2 * k] = _mm_unpacklo_epi16(pair[2 * i][k], pair[2 * i + 1][k]);
            four[i][2 * k + 1] = _mm_unpackhi_epi16(pair[2 * i][k], pair[2 * i + 1][k]);
        }
    for (int k = 0; k < 4; k++) {
        store_128((out + 4 * k), _mm_unpacklo_epi32(four[0][k], four[1][k]));
        store_128((out + 4 * k + 2), _mm_unpackhi_epi32(four[0][k], four[1][k]));
    }
}

static void census_32(uint8_t rows[ROWS][PADDED], int x, uint64_t out[STEP]) {
    __m256i byte[8] = {_mm256_setzero_si256()}, zero = _mm256_setzero_si256();
    __m256i centre = load_256((rows[REACH_Y] + x + REACH_X));
    for (int i = 1; i < 8; i++)
        byte[i] = zero;
    int bit = NEIGHBOURS;
    for (int dy = 0; dy < ROWS; dy++)
        for (int dx = 0; dx <= 2 * REACH_X; dx++) {
            if (dy == REACH_Y && dx == REACH_X)
                continue;
            bit--;
            __m256i target = load_256((rows[dy] + x + dx));
            __m256i not_darker = _mm256_cmpeq_epi8(_mm256_subs_epu8(centre, target), zero);
            __m256i mask = _mm256_set1_epi8((char)(1 << bit % 8));
            byte[bit / 8] = _mm256_or_si256(byte[bit / 8], _mm256_andnot_si256(not_darker, mask));
        }
    put_words(byte, 0, out);
    put_words(byte, 1, out + 16);
}

void FORM(rows_census)(const void *args, int width, int first, int last, void *scratch) {
    const struct census_args *a = args;
    uint8_t(*rows)[PADDED] = scratch;
    static_assert(ROWS * sizeof(*rows) <= SCRATCH_BYTES, "the rows around a row fit");
    uint64_t words[STEP];
    for (int y = first; y < last; y++) {
        pad_rows(a, y, rows);
        for (int x = 0; x < width; x += STEP) {
            int count = stage_min(STEP, width - x);
            census_32(rows, x, words);
            memcpy(a->out + (size_t)y * (size_t)width + x, words, (size_t)count * sizeof(*words));
        }
    }
}
