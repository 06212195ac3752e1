/*
 * The refinement's evidence and choice in AVX2; its layers are in feature_avx2.c.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

/* refine_weight() and refine_near() as numbers that can be gathered. */
struct tables {
    int32_t weight[REFINE_WEIGHTS], near[REFINE_NEAR];
};

INLINE __m256i look(const int32_t *table, int count, __m256i difference) {
    __m256i i = _mm256_srai_epi32(difference, 2);
    return _mm256_i32gather_epi32(table, _mm256_min_epi32(i, _mm256_set1_epi32(count - 1)), 4);
}

/* Eight pixels: modes and logits of each. Weights have at most 13 bits, what they are multiplied by
 * 9 and a sign: products of 16 bits each and 0 are exact. refine_choose() */
static void choose_eight(const struct refine_choose_args *a, size_t first, int count,
                         const struct tables *t, int32_t (*mode)[8], int32_t (*logit)[8]) {
    __m256i m[REFINE_MODES], weight[REFINE_MODES], score[REFINE_MODES],
        most = load_256(logit[0]), all = _mm256_setzero_si256();
    int32_t best_mode[8], best_score[8], total[8], offset[8], sum[8];
    for (int k = 1; k < REFINE_MODES; k++)
        most = _mm256_max_epi32(most, load_256(logit[k]));
    for (int k = 0; k < REFINE_MODES; k++) {
        m[k] = load_256(mode[k]);
        weight[k] = look(t->weight, REFINE_WEIGHTS, _mm256_sub_epi32(most, load_256(logit[k])));
        score[k] = _mm256_slli_epi32(weight[k], 8);
        all = _mm256_add_epi32(all, weight[k]);
    }
    for (int k = 1; k < REFINE_MODES; k++)
        for (int j = 0; j < k; j++) {
            __m256i near =
                look(t->near, REFINE_NEAR, _mm256_abs_epi32(_mm256_sub_epi32(m[j], m[k])));
            score[k] = _mm256_add_epi32(score[k], _mm256_madd_epi16(weight[j], near));
            score[j] = _mm256_add_epi32(score[j], _mm256_madd_epi16(weight[k], near));
        }
    __m256i best = m[0], most_score = score[0], within = _mm256_setzero_si256(), moment = within;
    for (int k = 1; k < REFINE_MODES; k++) {
        __m256i better = _mm256_cmpgt_epi32(score[k], most_score);
        best = _mm256_blendv_epi8(best, m[k], better);
        most_score = _mm256_max_epi32(most_score, score[k]);
    }
    for (int k = 0; k < REFINE_MODES; k++) {
        __m256i difference = _mm256_sub_epi32(m[k], best);
        __m256i far =
            _mm256_cmpgt_epi32(_mm256_abs_epi32(difference), _mm256_set1_epi32(REFINE_ONE));
        __m256i here = _mm256_andnot_si256(far, weight[k]);
        within = _mm256_add_epi32(within, here);
        moment = _mm256_add_epi32(moment, _mm256_madd_epi16(here, difference));
    }
    store_256(best_mode, best);
    store_256(best_score, most_score);
    store_256(total, within);
    store_256(offset, moment);
    store_256(sum, all);
    for (int i = 0; i < count; i++)
        if (a->map.disparity[first + (size_t)i] != UNKNOWN)
            refine_store(a, first + (size_t)i, best_mode[i], offset[i], total[i],
                         stage_min(best_score[i] / sum[i], UINT8_MAX));
        else
            refine_keep(a, first + (size_t)i);
}

void refine_columns_avx2(const struct refine_choose_args *a, int y, int from, int to,
                         int16_t (*numbers)[FEATURE_CHANNELS]) {
    struct tables t;
    for (int i = 0; i < REFINE_WEIGHTS; i++)
        t.weight[i] = refine_weight(i);
    for (int i = 0; i < REFINE_NEAR; i++)
        t.near[i] = refine_near(i);
    for (int x = from; x < to; x += 8) {
        int32_t mode[REFINE_MODES][8], logit[REFINE_MODES][8];
        for (int i = 0; i < 8; i++) {
            int px = stage_min(x + i, to - 1);
            for (int k = 0; k < REFINE_MODES; k++) {
                logit[k][i] = numbers[px - from][k];
                mode[k][i] = refine_mode(a, px, y, k) + numbers[px - from][REFINE_MODES + k];
            }
            logit[0][i] += refine_known(&a->map, px, y) ? a->prior : 0;
        }
        choose_eight(a, (size_t)y * (size_t)a->map.width + (size_t)x, stage_min(8, to - x), &t,
                     mode, logit);
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

/* refine_similarity() */
INLINE uint8_t likeness(const struct refine_evidence_args *a, int x, int y,
                        struct refine_columns c) {
    if (a->census)
        return refine_similarity(a, x, y, c);
    size_t row = (size_t)y * (size_t)a->map.width * FEATURE_CHANNELS;
    const int8_t *left = (const int8_t *)a->left_vectors + row + (size_t)x * FEATURE_CHANNELS,
                 *right = (const int8_t *)a->right_vectors + row;
    return refine_likeness(similarity(left, right + c.first * FEATURE_CHANNELS) * (16 - c.share) +
                           similarity(left, right + c.second * FEATURE_CHANNELS) * c.share);
}

/* refine_features() */
static void find_features(const struct refine_evidence_args *a, int x, int y, uint8_t *out) {
    const struct refine_map *m = &a->map;
    int own = refine_own(m, x, y);
    for (int k = 0; k < REFINE_CANDIDATES; k++) {
        int candidate = refine_candidate(m, x, y, k);
        struct refine_columns c = refine_columns(m, x, candidate);
        if (k > 0)
            out[k - 1] = refine_distance(candidate - own);
        out[REFINE_LIKENESS + k] = likeness(a, x, y, c);
        out[REFINE_COLOUR + k] = refine_colour(a, x, y, c);
    }
    for (int k = REFINE_OTHERS; k < REFINE_FEATURES; k++)
        out[k] = refine_other(a, x, y, k - REFINE_OTHERS);
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
