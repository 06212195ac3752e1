/*
 * The layers of the networks: the sums of a block of outputs of a few pixels are in registers, four
 * inputs of a pixel at a time are multiplied by their weights for all outputs of a vector. A strip
 * of columns has the rows of its taps side by side in scratch memory, borders and what is joined
 * included. Without VNNI products are by vpmaddubsw, whose sums of two have 16 bits: inputs are at
 * most 127 and weights -127 to 127, so they are at most 2 * 127 * 127 = 32258 and never saturate;
 * of grey levels, up to 255, one product is not 0, at most 255 * 127 = 32385.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <assert.h>
#include <string.h>

enum form { AVX2, AVX_VNNI, AVX512_VNNI };

/* The step that follows a layer's sums. */
enum use { HIDDEN, VECTOR, REGRESS, CHOOSE };

INLINE int32_t number_at(const uint8_t *from) {
    int32_t number;
    memcpy(&number, from, sizeof(number));
    return number;
}

#ifdef AVX512
typedef __m512i vector;
enum { VECTORS = 1, MOST_PIXELS = 12 };

INLINE vector dot(enum form form, vector sum, vector inputs, vector weights) {
    (void)form;
    return _mm512_dpbusd_epi32(sum, inputs, weights);
}

INLINE vector four_inputs(const uint8_t *from) {
    return _mm512_set1_epi32(number_at(from));
}

INLINE vector load_vector(const void *from) {
    return _mm512_loadu_si512(from);
}

/* A block's sums shifted and packed, which saturates at 32767. */
INLINE __m256i shifted(const vector sum[VECTORS], int shift) {
    return _mm512_cvtsepi32_epi16(_mm512_sra_epi32(sum[0], _mm_cvtsi32_si128(shift)));
}
#else
typedef __m256i vector;
enum { VECTORS = 2, MOST_PIXELS = 6 };

#ifdef __x86_64__
#include <cpuid.h>

bool has_vnni(void) {
    unsigned a = 0, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1;
}

bool has_vnni_512(void) {
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl");
}
#endif

/* sum plus four products in each number. The instruction is written out, since these functions are
 * compiled for processors without it, too. */
INLINE vector dot(enum form form, vector sum, vector inputs, vector weights) {
#ifdef __x86_64__
    if (form == AVX_VNNI)
        __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(inputs), "x"(weights));
    if (form == AVX512_VNNI)
        __asm__("%{evex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(inputs), "x"(weights));
    if (form != AVX2)
        return sum;
#endif
    (void)form;
    return _mm256_add_epi32(
        sum, _mm256_madd_epi16(_mm256_maddubs_epi16(inputs, weights), _mm256_set1_epi16(1)));
}

INLINE vector four_inputs(const uint8_t *from) {
    return _mm256_set1_epi32(number_at(from));
}

INLINE vector load_vector(const void *from) {
    return load_256(from);
}

/* A block's sums shifted and packed, which saturates at 32767. */
INLINE __m256i shifted(const vector sum[VECTORS], int shift) {
    const __m128i count = _mm_cvtsi32_si128(shift);
    return _mm256_permute4x64_epi64(
        _mm256_packs_epi32(_mm256_sra_epi32(sum[0], count), _mm256_sra_epi32(sum[1], count)), 0xd8);
}
#endif

/* Columns of a strip; of what is computed before its numbers are used, a multiple of all counts of
 * pixels and of 16. */
enum { STRIP = 480, COLUMNS = 48, STRIP_BYTES = 96 << 10 };

/* A strip keeps the rows of the taps, pixels with INPUTS inputs, where that is 1 with three 0. */
struct strip {
    const struct feature_args *a;
    int left, inputs, ready; /* ready: the next row to be made */
    uint8_t (*rows)[STRIP_BYTES];
};

/* Pixels from..from+count-1 of a row, some of which may lie outside. */
static void make_row(const struct feature_args *a, int y, int from, int count, uint8_t *to) {
    int first = stage_clamp(-from, 0, count), inside = stage_clamp(a->width - from, first, count);
    size_t each = (size_t)stage_max(a->inputs, FEATURE_GROUP);
    for (int i = 0; i < count; i++) {
        uint8_t *pixel = to + (size_t)i * each;
        const uint8_t *inputs = feature_inputs(a, stage_clamp(from + i, 0, a->width - 1), y, 0);
        if (a->inputs == 1) {
            memcpy(pixel, (uint8_t[FEATURE_GROUP]){*inputs}, FEATURE_GROUP);
        } else if (a->joined) {
            memcpy(pixel, inputs, FEATURE_JOINED);
            memcpy(pixel + FEATURE_JOINED,
                   feature_inputs(a, stage_clamp(from + i, 0, a->width - 1), y, FEATURE_JOINED),
                   48);
        } else if (i == first) {
            memcpy(pixel, inputs, (size_t)(inside - first) * each);
            i = stage_max(first, inside - 1);
        } else {
            memcpy(pixel, inputs, each);
        }
    }
    for (int i = 0; a->coarse && i < count; i++)
        for (size_t k = 0; k < each; k += 16) {
            uint8_t *fine = to + (size_t)i * each + k;
            int x = stage_clamp(from + i, 0, a->width - 1);
            store_128(fine,
                      _mm_avg_epu8(load_128(fine), load_128(feature_coarse(a, x, y, (int)k))));
        }
}

/* The sums of a block of outputs of some pixels, from a strip's rows at the first one. */
INLINE void sum_pixels(enum form form, int pixels, const struct strip *s,
                       const uint8_t *const row[3], int first, vector sum[MOST_PIXELS][VECTORS]) {
    const struct feature_args *a = s->a;
    const int8_t *w = a->weights + (size_t)first * (size_t)(FEATURE_TAPS * s->inputs);
    size_t step = (size_t)(a->stride * s->inputs);
    for (int v = 0; v < VECTORS; v++)
        for (int p = 0; p < pixels; p++)
            sum[p][v] = load_vector(a->bias + first + FEATURE_BLOCK / VECTORS * v);
    for (int k = 0; k < 3; k++) {
        const uint8_t *from = row[k], *end = from + 3 * s->inputs;
        for (; from < end; from += FEATURE_GROUP) {
            vector inputs[MOST_PIXELS];
            for (int p = 0; p < pixels; p++)
                inputs[p] = four_inputs(from + (size_t)p * step);
            for (int v = 0; v < VECTORS; v++, w += FEATURE_BLOCK / VECTORS * FEATURE_GROUP) {
                vector weights = load_vector(w);
                for (int p = 0; p < pixels; p++)
                    sum[p][v] = dot(form, sum[p][v], inputs[p], weights);
            }
        }
    }
}

/* feature_activation() of a block: packing saturates at 127. */
INLINE void store_activations(const vector sum[VECTORS], int shift, uint8_t *out) {
    __m256i v = shifted(sum, shift);
    __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    store_128(out, _mm_max_epi8(bytes, _mm_setzero_si128()));
}

/* feature_number() of a block: -32768 becomes -32767. */
INLINE void store_numbers(const vector sum[VECTORS], int shift, int16_t *out) {
    store_256(out,
              _mm256_max_epi16(shifted(sum, shift), _mm256_set1_epi16(-FEATURE_NUMBER_LARGEST)));
}

/* Gives the numbers of a pixel their length. */
INLINE void store_vector(const int16_t *number, int8_t *to) {
    uint64_t squares = 0;
    for (int o = 0; o < FEATURE_CHANNELS; o++)
        squares += (uint64_t)((int64_t)number[o] * number[o]);
    /* feature_square_root(): squares has 38 bits, so the root of a double is whole or lies far
     * enough from the next whole number. */
    __m128d root = _mm_sqrt_pd(_mm_set1_pd((double)squares));
    int32_t scale = feature_scale(_mm_cvttsd_si32(root));
    for (int o = 0; o < FEATURE_CHANNELS; o++)
        to[o] = feature_scaled(number[o], scale);
}

/* A block of outputs of columns from..to-1 of a row, of which row y of the output has width.
 * numbers: of a linear layer, all outputs of each column, otherwise NULL. */
INLINE void do_columns(enum form form, int pixels, const struct strip *s,
                       const uint8_t *const row[3], int y, int width, int first, int from, int to,
                       int16_t *numbers) {
    const struct feature_args *a = s->a;
    uint8_t *out = a->out + (size_t)y * (size_t)width * (size_t)a->outputs + first;
    for (int x = from; x < to; x += pixels) {
        vector sum[MOST_PIXELS][VECTORS];
        size_t start = (size_t)((x - s->left) * a->stride * s->inputs);
        const uint8_t *const at[3] = {row[0] + start, row[1] + start, row[2] + start};
        sum_pixels(form, pixels, s, at, first, sum);
        for (int p = 0; p < pixels && x + p < to; p++)
            if (numbers)
                store_numbers(sum[p], a->shift, numbers + (x + p - from) * a->outputs + first);
            else
                store_activations(sum[p], a->shift, out + (size_t)(x + p) * (size_t)a->outputs);
    }
}

/* Does with the numbers of columns from..to-1 of a row what the stage, whose arguments these are,
 * does. */
INLINE void use_numbers(enum use use, const void *args, int y, int from, int to,
                        const int16_t *numbers) {
    const struct feature_args *a = args;
    for (int x = from; use == VECTOR && x < to; x++, numbers += FEATURE_CHANNELS)
        store_vector(numbers, (int8_t *)a->out +
                                  ((size_t)y * (size_t)a->width + (size_t)x) * FEATURE_CHANNELS);
    if (use == REGRESS)
        FORM(regress_columns)(args, y, from, to, numbers);
    if (use == CHOOSE)
        FORM(choose_columns)(args, y, from, to, numbers);
}

/* The strip's columns up to end of row y. */
INLINE void do_row(enum form form, int pixels, enum use use, const void *args, struct strip *s,
                   int y, int width, int end) {
    int16_t numbers[COLUMNS * 4 * REFINE_OUTPUTS];
    const struct feature_args *a = s->a;
    const uint8_t *row[3];
    int step = use == HIDDEN ? STRIP : COLUMNS;
    int outputs = use == REGRESS ? FEATURE_BLOCK : a->outputs;
    for (; s->ready <= feature_tap_y(a, y, 6); s->ready++)
        make_row(a, s->ready, s->left * a->stride - 1, (end - s->left + pixels) * a->stride + 2,
                 s->rows[s->ready % 3]);
    for (int k = 0; k < 3; k++)
        row[k] = s->rows[feature_tap_y(a, y, 3 * k) % 3];
    for (int x = s->left; x < end; x += step) {
        int to = stage_min(x + step, end);
        for (int first = 0; first < outputs; first += FEATURE_BLOCK)
            do_columns(form, pixels, s, row, y, width, first, x, to,
                       use == HIDDEN ? NULL : numbers);
        use_numbers(use, args, y, x, to, numbers);
    }
}

INLINE void do_rows(enum form form, int pixels, enum use use, const void *args,
                    const struct feature_args *a, int first_row, int last_row, void *scratch) {
    static_assert(3 * STRIP_BYTES <= SCRATCH_BYTES &&
                      ((STRIP + MOST_PIXELS) * 2 + 2) * FEATURE_OUTPUTS <= STRIP_BYTES &&
                      (STRIP + MOST_PIXELS + 2) * 4 * REFINE_FEATURES <= STRIP_BYTES,
                  "a strip's rows fit");
    int width = (a->width + a->stride - 1) / a->stride;
    for (int left = 0; left < width; left += STRIP) {
        struct strip s = {.a = a,
                          .left = left,
                          .inputs = stage_max(a->inputs, FEATURE_GROUP),
                          .ready = feature_tap_y(a, first_row, 0),
                          .rows = scratch};
        for (int y = first_row; y < last_row; y++)
            do_row(form, pixels, use, args, &s, y, width, stage_min(left + STRIP, width));
    }
}

#define ROWS(stage, use, arguments, layer, row, name, form, pixels)                               \
    void rows_##stage##_##name(const void *args, int width, int first, int last, void *scratch) { \
        const struct arguments *a = args;                                                         \
        (void)width;                                                                              \
        do_rows(form, pixels, use, a, layer, row + first, row + last, scratch);                   \
    }
#define FORMS(name, form, pixels)                                                        \
    ROWS(feature_layer, HIDDEN, feature_args, a, 0, name, form, pixels)                  \
    ROWS(feature_vector, VECTOR, feature_args, a, 0, name, form, pixels)                 \
    ROWS(refine_regress, REGRESS, refine_regress_args, &a->layer, 0, name, form, pixels) \
    ROWS(refine_choose, CHOOSE, refine_choose_args, &a->layer, a->first_row, name, form, pixels)
#ifdef AVX512
FORMS(avx512, AVX512_VNNI, 12)
#else
FORMS(avx2, AVX2, 4)
#ifdef __x86_64__
FORMS(vnni, AVX_VNNI, 6)
FORMS(vnni_512, AVX512_VNNI, 6)
#endif
#endif
