/*
 * Grey levels, arms and edge classes in AVX2, on the interleaved bytes of the picture. Each channel
 * gives a length and a class; a pixel has the least length and the largest class of its channels.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/arms_avx2.h"
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <string.h>

enum { STEP = 32, ROW_BYTES = 3 * MAX_FRAME_SIDE };

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

enum { ARMS_LEAD = 192, PIXELS = 16, LENGTHS = ROW_BYTES + 3 * PIXELS + 2 };

/* The picture's row with zeros beside it, for arms that are cut at the border afterwards. */
struct arms_row {
    uint8_t lead[ARMS_LEAD], row[ROW_BYTES + ARMS_LEAD], length[DIRECTIONS][LENGTHS];
};

/* For bytes 0..end-1 of a row: how many steps by `way` bytes are possible, at most `longest`. */
static void arm_bytes(const uint8_t *row, ptrdiff_t way, int longest, int step, int end,
                      uint8_t *lengths) {
    __m256i maximum = _mm256_set1_epi8((char)step);
    for (int i = 0; i < end; i += STEP) {
        int at = vector_start(i, end);
        __m256i centre = load_256(row + at), length = _mm256_setzero_si256();
        __m256i going = _mm256_set1_epi8(-1);
        for (int n = 1; n <= longest; n++) {
            going = _mm256_and_si256(going, within(centre, load_256(row + at + n * way), maximum));
            if (_mm256_testz_si256(going, going))
                break;
            length = _mm256_sub_epi8(length, going);
        }
        store_256((lengths + at), length);
    }
}

static __m128i minimum_of_three(const uint8_t *from) {
    return _mm_min_epu8(load_128(from), _mm_min_epu8(load_128(from + 1), load_128(from + 2)));
}

/* 16 pixels' lengths from those of their channels. */
static __m128i pixel_lengths(const uint8_t *from, int channels) {
    const __m128i first = _mm_setr_epi8(0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i middle =
        _mm_setr_epi8(-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1);
    const __m128i last = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13);
    if (channels == 1)
        return load_128(from);
    __m128i out = _mm_shuffle_epi8(minimum_of_three(from), first);
    out = _mm_or_si128(out, _mm_shuffle_epi8(minimum_of_three(from + 16), middle));
    return _mm_or_si128(out, _mm_shuffle_epi8(minimum_of_three(from + 32), last));
}

static void arms_row(const struct arms_args *a, int y, struct arms_row *r) {
    const __m128i numbers = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ptrdiff_t stride = (ptrdiff_t)a->width * a->channels;
    const uint8_t *row = a->image + y * stride;
    struct arms *out = a->out + (size_t)y * (size_t)a->width, last[PIXELS];
    int end = (int)stride, above = stage_min(a->longest_y, y),
        below = stage_min(a->longest_y, a->height - 1 - y), step = stage_min(arm_step(a), 255);
    memcpy(r->row, row, (size_t)end);
    memset(r->row + end, 0, ARMS_LEAD);
    arm_bytes(row, -stride, above, step, end, r->length[UP]);
    arm_bytes(row, stride, below, step, end, r->length[DOWN]);
    arm_bytes(r->row, -a->channels, a->longest_x, step, end, r->length[LEFT]);
    arm_bytes(r->row, a->channels, a->longest_x, step, end, r->length[RIGHT]);
    for (int x = 0; x < a->width; x += PIXELS) {
        __m128i length[DIRECTIONS];
        for (int d = 0; d < DIRECTIONS; d++)
            length[d] = pixel_lengths(r->length[d] + x * a->channels, a->channels);
        __m128i before = _mm_adds_epu8(_mm_set1_epi8((char)stage_min(x, 255)), numbers);
        __m128i after =
            _mm_subs_epu8(_mm_set1_epi8((char)stage_min(a->width - 1 - x, 255)), numbers);
        struct arms *to = x + PIXELS <= a->width ? out + x : last;
        put_arms(length[UP], length[DOWN], _mm_min_epu8(length[LEFT], before),
                 _mm_min_epu8(length[RIGHT], after), to);
        if (to == last)
            memcpy(out + x, last, (size_t)(a->width - x) * sizeof(*out));
    }
}

void rows_arms_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct arms_args *a = args;
    struct arms_row *row = scratch;
    bool plain =
        width * a->channels < STEP || a->longest_x * a->channels > ARMS_LEAD || a->longest_y > 255;
    static_assert(sizeof(*row) <= SCRATCH_BYTES, "a row fits");
    memset(row->lead, 0, ARMS_LEAD);
    for (int y = first; y < last; y++)
        if (plain)
            for (int x = 0; x < width; x++)
                stage_arms(a, x, y);
        else
            arms_row(a, y, row);
}

/* ---- edges */

/* One bit for step[0], one for step[1], in the place of a direction. */
static __m256i edge_bits(__m256i p, const uint8_t *from, const __m256i below[2], int direction) {
    __m256i q = load_256(from), bits = _mm256_setzero_si256();
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
        __m256i p = load_256(row + at), all = edge_bits(p, row + at - channels, below, LEFT);
        all = _mm256_or_si256(all, edge_bits(p, row + at + channels, below, RIGHT));
        if (y > 0)
            all = _mm256_or_si256(all, edge_bits(p, row + at - stride, below, UP));
        if (y + 1 < a->height)
            all = _mm256_or_si256(all, edge_bits(p, row + at + stride, below, DOWN));
        store_256((bits + at), all);
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

void rows_edges_avx2(const void *args, int width, int first, int last, void *scratch) {
    static_assert((int)ROW_BYTES <= SCRATCH_BYTES, "bits of a row fit");
    (void)width;
    for (int y = first; y < last; y++)
        edges_row(args, y, scratch);
}

/* ---- grey */

void rows_grey_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct grey_args *a = args;
    size_t start = (size_t)first * (size_t)width, count = (size_t)(last - first) * (size_t)width;
    const uint8_t *restrict source = a->source + start * (size_t)a->channels;
    uint8_t *restrict out = a->out + start;
    (void)scratch;
    if (a->channels == 1) {
        memcpy(out, source, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = grey_level(source + 3 * i, 3);
}
