/*
 * The data cost of Birchfield and Tomasi (1998) in AVX2, 16 labels of a pixel at a time, in words
 * of half grey levels. The targets of a row and what their intervals reach are stored in the order
 * of the labels, as in match_simd.c; sums are looked up one by one.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/costs_avx2.h"

/* A value and its interval: of the value and both half-way values, see bt_one_way(). */
struct interval {
    uint16_t twice, least, most;
};

static struct interval interval_at(const uint8_t *row, int x, int width, int channels) {
    int here = row[x * channels], left = here + row[stage_max(x - 1, 0) * channels],
        right = here + row[stage_min(x + 1, width - 1) * channels];
    return (struct interval){(uint16_t)(2 * here),
                             (uint16_t)stage_min(2 * here, stage_min(left, right)),
                             (uint16_t)stage_max(2 * here, stage_max(left, right))};
}

static void line_up(const struct cost_args *a, int y, int first, int last, struct bt_row *row) {
    int w = a->grid.width;
    const uint8_t *target = a->target + (size_t)y * (size_t)w * (size_t)a->channels;
    for (int c = 0; c < a->channels; c++)
        for (int k = stage_max(first, 0); k < stage_min(last, w); k++) {
            struct interval t =
                interval_at(target + c, a->sign > 0 ? w - 1 - k : k, w, a->channels);
            row->twice[c][TARGETS + k] = t.twice;
            row->least[c][TARGETS + k] = t.least;
            row->most[c][TARGETS + k] = t.most;
        }
}

/* The distance of values from intervals. */
INLINE __m256i outside_by(__m256i twice, __m256i least, __m256i most) {
    return _mm256_or_si256(_mm256_subs_epu16(twice, most), _mm256_subs_epu16(least, twice));
}

/* 16 labels from target number at on. */
INLINE void bt_labels(const struct cost_args *a, const struct interval *own,
                      const struct bt_row *row, int at, uint8_t *out, int channels) {
    __m256i sum = _mm256_setzero_si256();
    const __m256i most = _mm256_set1_epi16(3 * 2 * 255); /* labels outside have any */
    uint16_t sums[LABEL_BLOCK];
    for (int c = 0; c < channels; c++) {
        __m256i twice = _mm256_set1_epi16((int16_t)own[c].twice);
        __m256i there =
            outside_by(twice, load_256(row->least[c] + at), load_256(row->most[c] + at));
        __m256i here =
            outside_by(load_256(row->twice[c] + at), _mm256_set1_epi16((int16_t)own[c].least),
                       _mm256_set1_epi16((int16_t)own[c].most));
        sum = _mm256_add_epi16(sum, _mm256_min_epu16(there, here));
    }
    store_256(sums, _mm256_min_epu16(sum, most));
    for (int i = 0; i < LABEL_BLOCK; i++)
        out[i] = a->lut[sums[i]];
}

INLINE void bt_row(const struct cost_args *a, const struct bt_row *row, int y, const struct span *s,
                   int channels) {
    const uint8_t *reference = a->reference + (size_t)y * (size_t)a->grid.width * (size_t)channels;
    for (int x = s->first; x < s->last; x++) {
        struct labels_inside in = labels_inside(a, x, s);
        struct interval own[3];
        for (int c = 0; c < channels; c++)
            own[c] = interval_at(reference + c, x, a->grid.width, channels);
        for (int d = in.from / LABEL_BLOCK * LABEL_BLOCK; in.from < in.to && d < in.to;
             d += LABEL_BLOCK)
            bt_labels(a, own, row, TARGETS + in.target + d, span_pixel(s, x) + d - s->label,
                      channels);
        fill_outside(a, x, s, &in);
    }
}

void bt_span_avx2(const struct cost_args *a, struct bt_row *row, int y, const struct span *s) {
    line_up(a, y, first_target(a, s), last_target(a, s), row);
    if (a->channels == 3)
        bt_row(a, row, y, s, 3);
    else
        bt_row(a, row, y, s, 1);
}
