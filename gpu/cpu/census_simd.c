/*
 * The census transform in AVX2, 32 pixels at a time, in AVX-512 64. Their bits are computed one
 * after the other and gathered in eight registers; register b holds byte b of the 62 bits of every
 * pixel.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <assert.h>
#include <string.h>

#ifdef AVX512
typedef __m512i pixels;

INLINE pixels load_pixels(const uint8_t *from) {
    return _mm512_loadu_si512(from);
}

INLINE void store_pixels(uint8_t *to, pixels v) {
    _mm512_storeu_si512(to, v);
}

/* bits, with a bit more where a pixel is darker than the centre. */
INLINE pixels add_darker(pixels bits, pixels centre, pixels pixel, int bit) {
    __mmask64 darker = _mm512_cmplt_epu8_mask(pixel, centre);
    return _mm512_mask_add_epi8(bits, darker, bits, _mm512_set1_epi8((char)(1 << bit)));
}
#else
typedef __m256i pixels;

INLINE pixels load_pixels(const uint8_t *from) {
    return load_256(from);
}

INLINE void store_pixels(uint8_t *to, pixels v) {
    store_256(to, v);
}

INLINE pixels add_darker(pixels bits, pixels centre, pixels pixel, int bit) {
    pixels not_darker = _mm256_cmpeq_epi8(_mm256_subs_epu8(centre, pixel), _mm256_setzero_si256());
    return _mm256_or_si256(bits,
                           _mm256_andnot_si256(not_darker, _mm256_set1_epi8((char)(1 << bit))));
}
#endif

enum { REACH_X = 4, REACH_Y = 3, ROWS = 2 * REACH_Y + 1, STEP = sizeof(pixels) };
enum { NEIGHBOURS = 62, PADDED = MAX_FRAME_SIDE + 2 * REACH_X + STEP };

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

/* Byte b of the pixels from column x on; the neighbour of bit 0 is the last one. */
INLINE void census_byte(const uint8_t rows[ROWS][PADDED], int x, int b, uint8_t bytes[STEP]) {
    pixels centre = load_pixels(rows[REACH_Y] + x + REACH_X), bits = {0};
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        int n = NEIGHBOURS - 1 - 8 * b - i, place = n + (n >= NEIGHBOURS / 2);
        if (n >= 0)
            bits = add_darker(
                bits, centre,
                load_pixels(rows[place / (2 * REACH_X + 1)] + x + place % (2 * REACH_X + 1)), i);
    }
    store_pixels(bytes, bits);
}

static void census_step(const uint8_t rows[ROWS][PADDED], int x, uint64_t out[STEP]) {
    uint8_t bytes[8][STEP];
#pragma GCC unroll 8
    for (int b = 0; b < 8; b++)
        census_byte(rows, x, b, bytes[b]);
    for (int i = 0; i < STEP; i += 16)
        put_words(bytes, i, out + i);
}

void FORM(rows_census)(const void *args, int width, int first, int last, void *scratch) {
    const struct census_args *a = args;
    uint8_t(*rows)[PADDED] = scratch;
    static_assert(ROWS * sizeof(*rows) <= SCRATCH_BYTES, "the rows around a row fit");
    uint64_t words[STEP];
    for (int y = first; y < last; y++) {
        pad_rows(a, y, rows);
        uint64_t *out = a->out + (size_t)y * (size_t)width;
        for (int x = 0; x < width; x += STEP)
            if (x + STEP <= width) {
                census_step(rows, x, out + x);
            } else {
                census_step(rows, x, words);
                memcpy(out + x, words, (size_t)(width - x) * sizeof(*words));
            }
    }
}
