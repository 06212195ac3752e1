/*
 * Arms and edge classes in AVX2, on the bytes of the picture as they lie: a channel at a time gives
 * a length or a class, and a pixel has the least length, the largest class, of its channels.
 * Columns near the picture's left and right border run the plain stage.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <immintrin.h>

enum { STEP = 32, ROW_BYTES = 3 * MAX_WIDTH };

static __m256i load(const uint8_t *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* Ones where two bytes differ by maximum or less. */
static __m256i within(__m256i p, __m256i q, __m256i maximum) {
    __m256i difference = _mm256_or_si256(_mm256_subs_epu8(p, q), _mm256_subs_epu8(q, p));
    return _mm256_cmpeq_epi8(_mm256_subs_epu8(difference, maximum), _mm256_setzero_si256());
}

/* Where the vector at i begins: the last one of a row overlaps the one before it. */
static int vector_start(int i, int end) {
    return stage_min(i, end - STEP);
}

/* ---- arms */

/* Bytes first..end-1 of a row: how often one can go by `way` bytes, at most `longest` times. */
static void arm_bytes(const uint8_t *row, ptrdiff_t way, int longest, int step, int first, int end,
                      uint8_t *lengths) {
    __m256i maximum = _mm256_set1_epi8((char)step);
    for (int i = first; i < end; i += STEP) {
        int at = vector_start(i, end);
        __m256i centre = load(row + at), length = _mm256_setzero_si256();
        __m256i going = _mm256_set1_epi8(-1);
        for (int n = 1; n <= longest; n++) {
            going = _mm256_and_si256(going, within(centre, load(row + at + n * way), maximum));
            if (_mm256_testz_si256(going, going))
                break;
            length = _mm256_sub_epi8(length, going);
        }
        _mm256_storeu_si256((__m256i *)(void *)(lengths + at), length);
    }
}

static uint8_t least(const uint8_t *bytes, int channels) {
    uint8_t minimum = bytes[0];
    for (int c = 1; c < channels; c++)
        minimum = bytes[c] < minimum ? bytes[c] : minimum;
    return minimum;
}

static void arms_row(const struct arms_args *a, int y, uint8_t lengths[DIRECTIONS][ROW_BYTES]) {
    ptrdiff_t stride = (ptrdiff_t)a->width * a->channels;
    const uint8_t *row = a->image + y * stride;
    struct arms *out = a->out + (size_t)y * (size_t)a->width;
    int left = a->longest_x, right = a->width - a->longest_x;
    int first = left * a->channels, end = right * a->channels;
    if (end - first < STEP || a->step > 255) {
        for (int x = 0; x < a->width; x++)
            stage_arms(a, x, y);
        return;
    }
    arm_bytes(row, -stride, stage_min(a->longest_y, y), a->step, first, end, lengths[UP]);
    arm_bytes(row, stride, stage_min(a->longest_y, a->height - 1 - y), a->step, first, end,
              lengths[DOWN]);
    arm_bytes(row, -a->channels, a->longest_x, a->step, first, end, lengths[LEFT]);
    arm_bytes(row, a->channels, a->longest_x, a->step, first, end, lengths[RIGHT]);
    for (int x = 0; x < left; x++) {
        stage_arms(a, x, y);
        stage_arms(a, a->width - 1 - x, y);
    }
    for (int x = left; x < right; x++)
        for (int r = 0; r < DIRECTIONS; r++)
            out[x].length[r] = least(lengths[r] + x * a->channels, a->channels);
}

static void rows_arms(const void *args, int width, int first, int last, void *scratch) {
    static_assert((int)DIRECTIONS * ROW_BYTES <= SCRATCH_BYTES, "lengths of a row fit");
    (void)width;
    for (int y = first; y < last; y++)
        arms_row(args, y, scratch);
}

/* ---- edges */

/* One bit for step[0], one for step[1], in the place of a direction. */
static __m256i edge_bits(__m256i p, const uint8_t *from, const __m256i below[2], int direction) {
    __m256i q = load(from), bits = _mm256_setzero_si256();
    for (int i = 0; i < 2; i++)
        bits = _mm256_or_si256(
            bits, _mm256_andnot_si256(within(p, q, below[i]),
                                      _mm256_set1_epi8((char)(1 << i << 2 * direction))));
    return bits;
}

static void edges_row(const struct edges_args *a, int y, uint8_t *bits) {
    ptrdiff_t stride = (ptrdiff_t)a->width * a->channels;
    const uint8_t *row = a->image + y * stride;
    uint8_t *out = a->out + (size_t)y * (size_t)a->width;
    int channels = a->channels, first = channels, end = (a->width - 1) * channels;
    if (end - first < STEP || a->mean_square || a->step[0] < 1 || a->step[1] < 1) {
        for (int x = 0; x < a->width; x++)
            stage_edges(a, x, y);
        return;
    }
    const __m256i below[2] = {_mm256_set1_epi8((char)stage_min(a->step[0] - 1, 255)),
                              _mm256_set1_epi8((char)stage_min(a->step[1] - 1, 255))};
    for (int i = first; i < end; i += STEP) {
        int at = vector_start(i, end);
        __m256i p = load(row + at), all = edge_bits(p, row + at - channels, below, LEFT);
        all = _mm256_or_si256(all, edge_bits(p, row + at + channels, below, RIGHT));
        if (y > 0)
            all = _mm256_or_si256(all, edge_bits(p, row + at - stride, below, UP));
        if (y + 1 < a->height)
            all = _mm256_or_si256(all, edge_bits(p, row + at + stride, below, DOWN));
        _mm256_storeu_si256((__m256i *)(void *)(bits + at), all);
    }
    stage_edges(a, 0, y);
    stage_edges(a, a->width - 1, y);
    for (int x = 1; x < a->width - 1; x++) {
        unsigned all = bits[x * channels];
        for (int c = 1; c < channels; c++)
            all |= bits[x * channels + c];
        out[x] = (uint8_t)((all & 0xaa) | (all & 0x55 & ~(all >> 1)));
    }
}

static void rows_edges(const void *args, int width, int first, int last, void *scratch) {
    static_assert((int)ROW_BYTES <= SCRATCH_BYTES, "bits of a row fit");
    (void)width;
    for (int y = first; y < last; y++)
        edges_row(args, y, scratch);
}

void optimise_image_avx2(struct backend_cpu *cpu) {
    cpu->rows[STAGE_arms] = rows_arms;
    cpu->rows[STAGE_edges] = rows_edges;
}
