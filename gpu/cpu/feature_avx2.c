/*
 * The layers of the networks in AVX2: the sums of 32 outputs of a few pixels are in
 * registers, four inputs of a pixel at a time are multiplied by their weights for eight outputs in
 * a vector. Without VNNI that is vpmaddubsw, whose sums of two products have 16 bits: inputs are at
 * most 127 and weights -127 to 127, so they are at most 2 * 127 * 127 = 32258 and never saturate;
 * of grey levels, up to 255, one product is not 0, at most 255 * 127 = 32385.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <assert.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum form { AVX2, AVX_VNNI, AVX512_VNNI };
enum { VECTORS = 4, MOST_PIXELS = 3 };

#ifdef __x86_64__
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
INLINE __m256i dot(enum form form, __m256i sum, __m256i inputs, __m256i weights) {
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

/* Of the source and of what is joined to it: the inputs of a pixel, and the rows of the taps. For
 * each column, which pixels of these its taps are. */
struct taps_of_row {
    int width; /* of the output */
    int sources, inputs[2];
    const uint8_t *row[2][3];
    const int32_t (*at)[MAX_FRAME_SIDE + MOST_PIXELS]; /* [3] */
};

/* Four inputs; of one input it and three of 0. */
INLINE __m256i four_inputs(const uint8_t *from, bool single) {
    int32_t four = *from;
    if (!single)
        memcpy(&four, from, sizeof(four));
    return _mm256_set1_epi32(four);
}

/* The sums of 32 outputs of pixels x, x + 1... */
INLINE void sum_pixels(enum form form, int pixels, bool single, const struct feature_args *a,
                       int first, const struct taps_of_row *taps, int x,
                       __m256i sum[MOST_PIXELS][VECTORS]) {
    int all = stage_max(a->inputs, FEATURE_GROUP), sources = single ? 1 : taps->sources;
    const int8_t *w = a->weights + (size_t)first * (size_t)(FEATURE_TAPS * all);
    for (int v = 0; v < VECTORS; v++)
        for (int p = 0; p < pixels; p++)
            sum[p][v] = load_256(a->bias + first + 8 * v);
    for (int n = 0; n < FEATURE_TAPS * sources; n++) {
        int tap = n / sources, source = n % sources, count = single ? 1 : taps->inputs[source];
        const uint8_t *from[MOST_PIXELS];
        for (int p = 0; p < pixels; p++)
            from[p] = taps->row[source][tap / 3] + count * taps->at[tap % 3][x + p];
        for (int i = 0; i < count; i += FEATURE_GROUP) {
            __m256i inputs[MOST_PIXELS];
            for (int p = 0; p < pixels; p++)
                inputs[p] = four_inputs(from[p] + i, single);
            for (int v = 0; v < VECTORS; v++, w += 32) {
                __m256i weights = load_256(w);
                for (int p = 0; p < pixels; p++)
                    sum[p][v] = dot(form, sum[p][v], inputs[p], weights);
            }
        }
    }
}

/* feature_activation() of 32 outputs: packing saturates at 127. */
INLINE void store_activations(const __m256i sum[VECTORS], int shift, uint8_t *out) {
    const __m128i count = _mm_cvtsi32_si128(shift);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i low =
        _mm256_packs_epi32(_mm256_sra_epi32(sum[0], count), _mm256_sra_epi32(sum[1], count));
    __m256i high =
        _mm256_packs_epi32(_mm256_sra_epi32(sum[2], count), _mm256_sra_epi32(sum[3], count));
    __m256i bytes = _mm256_max_epi8(_mm256_packs_epi16(low, high), _mm256_setzero_si256());
    store_256(out, _mm256_permutevar8x32_epi32(bytes, order));
}

/* feature_number() of 32 outputs: packing saturates at 32767, and -32768 becomes -32767. */
INLINE void store_numbers(const __m256i sum[VECTORS], int shift, int16_t *out) {
    const __m128i count = _mm_cvtsi32_si128(shift);
    for (int v = 0; v < VECTORS; v += 2) {
        __m256i both = _mm256_packs_epi32(_mm256_sra_epi32(sum[v], count),
                                          _mm256_sra_epi32(sum[v + 1], count));
        both = _mm256_max_epi16(both, _mm256_set1_epi16(-FEATURE_NUMBER_LARGEST));
        store_256(out + 8 * v, _mm256_permute4x64_epi64(both, 0xd8));
    }
}

/* Gives the numbers of a pixel their length. */
INLINE void store_vector(const int16_t *number, int8_t *vector) {
    uint64_t squares = 0;
    for (int o = 0; o < FEATURE_CHANNELS; o++)
        squares += (uint64_t)((int64_t)number[o] * number[o]);
    /* feature_square_root(): squares has 38 bits, so the root of a double is whole or lies far
     * enough from the next whole number. */
    __m128d root = _mm_sqrt_pd(_mm_set1_pd((double)squares));
    int32_t scale = feature_scale(_mm_cvttsd_si32(root));
    for (int o = 0; o < FEATURE_CHANNELS; o++)
        vector[o] = feature_scaled(number[o], scale);
}

/* FEATURE_BLOCK outputs of columns from..to-1 of a row; behind its end the last pixel is repeated.
 * numbers: of a linear layer, [FEATURE_CHANNELS] of each column, otherwise NULL. */
INLINE void do_columns(enum form form, int pixels, bool single, const struct feature_args *a, int y,
                       int first, const struct taps_of_row *taps, int from, int to,
                       int16_t (*numbers)[FEATURE_CHANNELS]) {
    size_t start = (size_t)y * (size_t)taps->width;
    for (int x = from; x < to; x += pixels) {
        __m256i sum[MOST_PIXELS][VECTORS];
        sum_pixels(form, pixels, single, a, first, taps, x, sum);
        for (int p = 0; p < pixels; p++) {
            int i = stage_min(x + p, taps->width - 1);
            if (numbers)
                store_numbers(sum[p], a->shift, numbers[i - from] + first);
            else
                store_activations(sum[p], a->shift,
                                  a->out + (start + (size_t)i) * (size_t)a->outputs + first);
        }
    }
}

/* choice: the refinement's, of whose layer a row is computed, or NULL. */
INLINE void do_row(enum form form, int pixels, bool single, bool vectors,
                   const struct refine_choose_args *choice, const struct feature_args *a, int y,
                   const struct taps_of_row *taps) {
    enum { COLUMNS = 48 }; /* a multiple of 2, 3 and 8 */
    int16_t numbers[COLUMNS][FEATURE_CHANNELS];
    bool linear = vectors || choice;
    int8_t *to = (int8_t *)a->out + (size_t)y * (size_t)a->width * FEATURE_CHANNELS;
    int step = linear ? COLUMNS : taps->width;
    for (int x = 0; x < taps->width; x += step) {
        int end = stage_min(x + step, taps->width);
        for (int first = 0; first < a->outputs; first += FEATURE_BLOCK)
            do_columns(form, pixels, single, a, y, first, taps, x, end, linear ? numbers : NULL);
        for (int i = x; vectors && i < end; i++)
            store_vector(numbers[i - x], to + (size_t)i * FEATURE_CHANNELS);
        if (choice)
            refine_columns_avx2(choice, y, x, end, numbers);
    }
}

/* The pixels of the taps' columns. */
static void place_columns(const struct feature_args *a, int width,
                          int32_t (*at)[MAX_FRAME_SIDE + MOST_PIXELS]) {
    for (int k = 0; k < 3; k++)
        for (int x = 0; x < width + MOST_PIXELS; x++) {
            int from = feature_tap_x(a, stage_min(x, width - 1), k);
            at[k][x] = a->joined ? (int32_t)feature_unshuffled(a->width, from, 0) : from;
        }
}

INLINE void do_rows(enum form form, int pixels, bool vectors,
                    const struct refine_choose_args *choice, const struct feature_args *a,
                    int first_row, int last_row, void *scratch) {
    int32_t(*at)[MAX_FRAME_SIDE + MOST_PIXELS] = scratch;
    static_assert(3 * sizeof(*at) <= SCRATCH_BYTES, "the columns of the taps fit");
    struct taps_of_row taps = {
        .width = (a->width + a->stride - 1) / a->stride,
        .sources = a->joined ? 2 : 1,
        .inputs = {a->joined ? FEATURE_JOINED : a->inputs, a->inputs - FEATURE_JOINED},
        .at = (const int32_t(*)[MAX_FRAME_SIDE + MOST_PIXELS]) at};
    place_columns(a, taps.width, at);
    for (int y = first_row; y < last_row; y++) {
        for (int k = 0; k < 3; k++) {
            int from = feature_tap_y(a, y, 3 * k);
            taps.row[0][k] = feature_inputs(a, 0, from, 0);
            taps.row[1][k] = a->joined ? feature_inputs(a, 0, from, FEATURE_JOINED) : NULL;
        }
        if (!vectors && !choice && a->inputs == 1)
            do_row(form, pixels, true, vectors, choice, a, y, &taps);
        else
            do_row(form, pixels, false, vectors, choice, a, y, &taps);
    }
}

#define ROWS(name, form, pixels)                                                      \
    void rows_feature_layer_##name(const void *args, int width, int first, int last,  \
                                   void *scratch) {                                   \
        (void)width;                                                                  \
        do_rows(form, pixels, false, NULL, args, first, last, scratch);               \
    }                                                                                 \
    void rows_feature_vector_##name(const void *args, int width, int first, int last, \
                                    void *scratch) {                                  \
        (void)width;                                                                  \
        do_rows(form, pixels, true, NULL, args, first, last, scratch);                \
    }                                                                                 \
    void rows_refine_choose_##name(const void *args, int width, int first, int last,  \
                                   void *scratch) {                                   \
        const struct refine_choose_args *a = args;                                    \
        (void)width;                                                                  \
        do_rows(form, pixels, false, a, &a->layer, first, last, scratch);             \
    }
ROWS(avx2, AVX2, 2)
#ifdef __x86_64__
ROWS(vnni, AVX_VNNI, 3)
ROWS(vnni_512, AVX512_VNNI, 3)
#endif
