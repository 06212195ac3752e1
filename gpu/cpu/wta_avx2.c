/*
 * Winner-takes-all and best labels in AVX2: a pixel's beliefs 16 labels at a time.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/stages/occlusion.h"

#include <immintrin.h>

#define INLINE __attribute__((always_inline)) static inline

static const uint8_t no_message[MAX_LABELS];

static __m256i words_of(const uint8_t *bytes) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)bytes));
}

static __m256i load_words(const uint16_t *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

static __m256i numbers_from(int first) {
    return _mm256_add_epi16(_mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                            _mm256_set1_epi16((int16_t)first));
}

/* Ones for the labels of the last block that are padding. */
static __m256i padding_of(const struct grid *g) {
    return _mm256_cmpgt_epi16(numbers_from(g->padded - LABEL_BLOCK),
                              _mm256_set1_epi16((int16_t)(g->labels - 1)));
}

static int least_word(__m256i v) {
    __m128i half = _mm_min_epu16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return _mm_extract_epi16(_mm_minpos_epu16(half), 0);
}

/* b: cost (8 or 16 bits) plus the four messages, the largest word for padding. Returns the
 * least. */
INLINE int beliefs(uint16_t *b, const struct grid *g, const struct neighbours *n, const void *cost,
                   bool wide, const uint8_t *const message[DIRECTIONS], __m256i padding) {
    const uint8_t *in[DIRECTIONS];
    for (int s = 0; s < DIRECTIONS; s++)
        in[s] =
            n->exist & 1 << s ? message[opposite(s)] + n->pixel[s] * (size_t)g->padded : no_message;
    __m256i least = _mm256_set1_epi16(-1);
    for (int d = 0; d < g->padded; d += LABEL_BLOCK) {
        __m256i sum =
            wide ? load_words((const uint16_t *)cost + d) : words_of((const uint8_t *)cost + d);
        for (int s = 0; s < DIRECTIONS; s++)
            sum = _mm256_add_epi16(sum, words_of(in[s] + d));
        if (d + LABEL_BLOCK == g->padded)
            sum = _mm256_or_si256(sum, padding);
        least = _mm256_min_epu16(least, sum);
        _mm256_storeu_si256((__m256i *)(void *)(b + d), sum);
    }
    return least_word(least);
}

static int first_of(const uint16_t *b, int value) {
    __m256i wanted = _mm256_set1_epi16((int16_t)value);
    for (int d = 0;; d += LABEL_BLOCK) {
        __m256i equal = _mm256_cmpeq_epi16(load_words(b + d), wanted);
        unsigned mask = (unsigned)_mm256_movemask_epi8(equal);
        if (mask)
            return d + __builtin_ctz(mask) / 2;
    }
}

/* The least belief of the labels that are not best or its neighbours. */
static int least_elsewhere(const uint16_t *b, int padded, int best) {
    __m256i least = _mm256_set1_epi16(-1), after = _mm256_set1_epi16((int16_t)(best + 1));
    for (int d = 0; d < padded; d += LABEL_BLOCK) {
        __m256i back = _mm256_sub_epi16(after, numbers_from(d));
        __m256i near = _mm256_cmpeq_epi16(_mm256_min_epu16(back, _mm256_set1_epi16(2)), back);
        least = _mm256_min_epu16(least, _mm256_or_si256(load_words(b + d), near));
    }
    return least_word(least);
}

INLINE void wta_pixel(const struct wta_args *a, int x, int y, __m256i padding) {
    struct neighbours n = grid_neighbours(&a->grid, x, y);
    size_t i = (size_t)y * (size_t)a->grid.width + (size_t)x;
    uint16_t b[MAX_LABELS];
    int minimum =
        beliefs(b, &a->grid, &n, a->cost + grid_labels(&a->grid, x, y), false, a->message, padding);
    int best = first_of(b, minimum), offset = 0;
    if (best > 0 && best + 1 < a->grid.labels)
        offset = subpixel_offset(b[best - 1], minimum, b[best + 1], a->subpixel);
    a->label[i] = (uint16_t)best;
    a->disparity[i] = (int16_t)(16 * (a->grid.space.u_min + best) + offset);
    a->confidence[i] = (uint8_t)stage_min(least_elsewhere(b, a->grid.padded, best) - minimum, 255);
}

static void rows_winner_takes_all(const void *args, int width, int first, int last, void *scratch) {
    const struct wta_args *a = args;
    __m256i padding = padding_of(&a->grid);
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++)
            wta_pixel(a, x, y, padding);
}

static void rows_best_label(const void *args, int width, int first, int last, void *scratch) {
    const struct best_label_args *a = args;
    const struct grid *g = &a->grid;
    __m256i padding = padding_of(g);
    uint16_t b[MAX_LABELS];
    (void)width;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = (y + a->parity) & 1; x < g->width; x += 2) {
            struct neighbours n = grid_neighbours(g, x, y);
            size_t own = grid_labels(g, x, y);
            int minimum = a->cost16 ? beliefs(b, g, &n, a->cost16 + own, true, a->message, padding)
                                    : beliefs(b, g, &n, a->cost8 + own, false, a->message, padding);
            a->label[(size_t)y * (size_t)g->width + (size_t)x] = (uint16_t)first_of(b, minimum);
        }
}

void optimise_wta_avx2(struct backend_cpu *cpu) {
    cpu->rows[STAGE_winner_takes_all] = rows_winner_takes_all;
    cpu->rows[STAGE_best_label] = rows_best_label;
}
