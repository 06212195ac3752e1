/*
 * The refinement's evidence and choice in AVX2; its layers are in feature_avx2.c.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

void refine_columns_avx2(const struct refine_choose_args *a, int y, int from, int to,
                         int16_t (*numbers)[FEATURE_CHANNELS]) {
    for (int x = from; x < to; x++) {
        int number[2 * REFINE_MODES];
        for (int k = 0; k < 2 * REFINE_MODES; k++)
            number[k] = numbers[x - from][k];
        refine_pixel(a, x, y, number);
    }
}

/* Both vectors' numbers are at most FEATURE_VECTOR_LARGEST: sums of four products fit 16 bits. */
INLINE int similarity(const int8_t *one, const int8_t *two) {
    __m256i sum = _mm256_setzero_si256();
    for (int i = 0; i < FEATURE_CHANNELS; i += 32) {
        __m256i v = load_256(one + i);
        sum = _mm256_add_epi16(
            sum, _mm256_maddubs_epi16(_mm256_abs_epi8(v), _mm256_sign_epi8(load_256(two + i), v)));
    }
    sum = _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
}

/* refine_features() */
static void find_features(const struct refine_evidence_args *a, int x, int y, uint8_t *out) {
    const struct refine_map *m = &a->map;
    size_t row = (size_t)y * (size_t)m->width * FEATURE_CHANNELS;
    const int8_t *left = (const int8_t *)a->left_vectors + row + (size_t)x * FEATURE_CHANNELS,
                 *right = (const int8_t *)a->right_vectors + row;
    int own = refine_own(m, x, y);
    for (int k = 0; k < REFINE_CANDIDATES; k++) {
        int candidate = refine_candidate(m, x, y, k);
        struct refine_columns c = refine_columns(m, x, candidate);
        if (k > 0)
            out[k - 1] = refine_distance(candidate - own);
        out[REFINE_LIKENESS + k] =
            refine_likeness(similarity(left, right + c.first * FEATURE_CHANNELS) * (16 - c.share) +
                            similarity(left, right + c.second * FEATURE_CHANNELS) * c.share);
        out[REFINE_COLOUR + k] = refine_colour(a, x, y, c);
    }
    refine_others(a, x, y, out + REFINE_OTHERS);
}

void rows_refine_evidence_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct refine_evidence_args *a = args;
    uint8_t *out = a->out + (size_t)first * (size_t)width * 4 * REFINE_FEATURES;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++)
            for (int i = 0; i < 4; i++, out += REFINE_FEATURES)
                find_features(a, stage_min(2 * x + i % 2, a->map.width - 1),
                              stage_min(2 * y + i / 2, a->map.height - 1), out);
}
