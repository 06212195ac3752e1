/*
 * The census transform and its steady bits in AVX2, 32 pixels at a time. Their bits are computed
 * one after the other and gathered in eight registers; register b holds byte b of the 62 bits of
 * every pixel.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <assert.h>
#include <string.h>

/* flags: of each pixel, yes or no. */
typedef __m256i pixels;
typedef __m256i flags;

INLINE pixels load_pixels(const uint8_t *from) {
    return load_256(from);
}

INLINE void store_pixels(uint8_t *to, pixels v) {
    store_256(to, v);
}

INLINE pixels add_bit(pixels bits, flags set, int bit) {
    return _mm256_or_si256(bits, _mm256_and_si256(set, _mm256_set1_epi8((char)(1 << bit))));
}

INLINE flags darker(pixels pixel, pixels centre) {
    return ~_mm256_cmpeq_epi8(_mm256_subs_epu8(centre, pixel), _mm256_setzero_si256());
}

INLINE pixels distance(pixels a, pixels b) {
    return _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
}

INLINE flags sum_at_most(pixels a, pixels b, int most) {
    return _mm256_cmpeq_epi8(_mm256_subs_epu8(_mm256_adds_epu8(a, b), _mm256_set1_epi8((char)most)),
                             _mm256_setzero_si256());
}

enum { REACH_X = 4, REACH_Y = 3, ROWS = 2 * REACH_Y + 1, STEP = sizeof(pixels) };
enum { NEIGHBOURS = 62, PADDED = MAX_FRAME_SIDE + 2 * REACH_X + STEP };

/* The rows around y of a picture, each with its ends repeated. */
static void pad_rows(const uint8_t *grey, int width, int height, int y,
                     uint8_t rows[ROWS][PADDED]) {
    for (int i = 0; i < ROWS; i++) {
        const uint8_t *row =
            grey + (size_t)stage_clamp(y + i - REACH_Y, 0, height - 1) * (size_t)width;
        memset(rows[i], row[0], REACH_X);
        memcpy(rows[i] + REACH_X, row, (size_t)width);
        memset(rows[i] + REACH_X + width, row[width - 1], REACH_X + STEP);
    }
}

/* 16 pixels' words from their bytes. */
static void put_words(const uint8_t bytes[8][STEP], int first, uint64_t *out) {
    __m128i pair[4][2], four[2][4];
    for (int i = 0; i < 4; i++) {
        __m128i low = load_128(bytes[2 * i] + first), high = load_128(bytes[2 * i + 1] + first);
        pair[i][0] = _mm_unpacklo_epi8(low, high);
        pair[i][1] = _mm_unpackhi_epi8(low, high);
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

/* Whether a difference and the one half a pixel aside, of pixels b and a, are steady. */
INLINE flags is_steady_beside(flags dark, pixels size, const uint8_t *a, const uint8_t *b) {
    pixels one = load_pixels(a), other = load_pixels(b);
    return ~(dark ^ darker(one, other)) | sum_at_most(size, distance(one, other), STEADY_STEP);
}

/* Byte b of the pixels from column x on; the neighbour of bit 0 is the last one. between: what lies
 * half a pixel to the right, for the steady bits; NULL: for census. */
INLINE void census_byte(const uint8_t rows[ROWS][PADDED], const uint8_t between[ROWS][PADDED],
                        int x, int b, uint8_t bytes[STEP]) {
    const uint8_t *own = rows[REACH_Y] + x + REACH_X;
    pixels centre = load_pixels(own), bits = {0};
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        int n = NEIGHBOURS - 1 - 8 * b - i, place = n + (n >= NEIGHBOURS / 2);
        int row = place / (2 * REACH_X + 1), column = x + place % (2 * REACH_X + 1);
        if (n < 0)
            continue;
        pixels pixel = load_pixels(rows[row] + column);
        flags set = darker(pixel, centre);
        if (between) {
            const uint8_t *right = between[row] + column + 1,
                          *own_right = between[REACH_Y] + x + REACH_X + 1;
            pixels size = distance(pixel, centre);
            set = is_steady_beside(set, size, right, own_right) &
                  is_steady_beside(set, size, right - 1, own_right - 1);
        }
        bits = add_bit(bits, set, i);
    }
    store_pixels(bytes, bits);
}

INLINE void census_step(const uint8_t rows[ROWS][PADDED], const uint8_t between[ROWS][PADDED],
                        int x, uint64_t out[STEP]) {
    uint8_t bytes[8][STEP];
#pragma GCC unroll 8
    for (int b = 0; b < 8; b++)
        census_byte(rows, between, x, b, bytes[b]);
    for (int i = 0; i < STEP; i += 16)
        put_words(bytes, i, out + i);
}

INLINE void census_row(const uint8_t rows[ROWS][PADDED], const uint8_t between[ROWS][PADDED],
                       int width, uint64_t *out) {
    uint64_t words[STEP];
    for (int x = 0; x < width; x += STEP)
        if (x + STEP <= width) {
            census_step(rows, between, x, out + x);
        } else {
            census_step(rows, between, x, words);
            memcpy(out + x, words, (size_t)(width - x) * sizeof(*words));
        }
}

void rows_census_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct census_args *a = args;
    uint8_t(*rows)[PADDED] = scratch;
    static_assert(2 * ROWS * sizeof(*rows) <= SCRATCH_BYTES, "the rows around a row fit");
    if (census_stays(a))
        return;
    for (int y = first; y < last; y++) {
        pad_rows(a->grey, width, a->height, y, rows);
        census_row(rows, NULL, width, a->out + (size_t)y * (size_t)width);
    }
}

void rows_steady_bits_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct steady_bits_args *a = args;
    uint8_t(*rows)[PADDED] = scratch, (*between)[PADDED] = rows + ROWS;
    for (int y = first; y < last; y++) {
        for (int x = 0; x < width; x++)
            a->slack[(size_t)y * (size_t)width + (size_t)x] = (uint8_t)slack_of(a, x, y);
        pad_rows(a->grey, width, a->height, y, rows);
        for (int i = 0; i < ROWS; i++) {
            between[i][0] = rows[i][0];
            for (int x = 1; x < width + 2 * REACH_X + 1; x++)
                between[i][x] = (uint8_t)((rows[i][x - 1] + rows[i][x] + 1) / 2);
        }
        census_row(rows, between, width, a->out + (size_t)y * (size_t)width);
    }
}
