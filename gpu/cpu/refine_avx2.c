/*
 * Twins of median and check. The median is not sorted: for 16 pixels at a time the value at which
 * half of the weight is reached is searched by halving the range of values. The check of a map
 * against itself does not search for whoever hides a pixel: a row writes down what the right view
 * sees in each 1/16 px.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <immintrin.h>
#include <string.h>

enum { STEP = 16, REACH = 4, RING = 2 * REACH + 1 };
enum { PADDED = MAX_WIDTH + 2 * REACH + STEP };

/* ---- median */

/* A row as the median reads it, REACH pixels more on either side: unknown ones. */
struct padded_row {
    int y; /* -1: none yet */
    int16_t value[PADDED];
    uint8_t color[3][PADDED];
};

struct median_rows {
    struct padded_row row[RING]; /* row y is number y % RING */
    int32_t weight[256];
};

static void pad_row(const struct median_args *a, int y, struct padded_row *row) {
    const uint8_t *image = a->image + (size_t)y * (size_t)a->width * (size_t)a->channels;
    row->y = y;
    for (int i = 0; i < REACH; i++)
        row->value[i] = UNKNOWN;
    for (int i = REACH + a->width; i < 2 * REACH + a->width + STEP; i++)
        row->value[i] = UNKNOWN;
    memcpy(row->value + REACH, a->source + (size_t)y * (size_t)a->width,
           (size_t)a->width * sizeof(*row->value));
    for (int c = 0; c < a->channels; c++) {
        memset(row->color[c], 0, REACH);
        memset(row->color[c] + REACH + a->width, 0, REACH + STEP);
        for (int x = 0; x < a->width; x++)
            row->color[c][REACH + x] = image[x * a->channels + c];
    }
}

static __m128i load_bytes(const uint8_t *from) {
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

static __m256i load_shorts(const int16_t *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* Weights of 16 colour steps. */
static __m256i look_up(const int32_t *table, __m128i steps) {
    __m256i low = _mm256_i32gather_epi32(table, _mm256_cvtepu8_epi32(steps), 4);
    __m256i high = _mm256_i32gather_epi32(table, _mm256_cvtepu8_epi32(_mm_srli_si128(steps, 8)), 4);
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
}

static __m128i colour_steps(const struct padded_row *p, int x, const struct padded_row *q, int xq,
                            int channels) {
    __m128i maximum = _mm_setzero_si128();
    for (int c = 0; c < channels; c++) {
        __m128i u = load_bytes(p->color[c] + x), v = load_bytes(q->color[c] + xq);
        maximum = _mm_max_epu8(maximum, _mm_or_si128(_mm_subs_epu8(u, v), _mm_subs_epu8(v, u)));
    }
    return maximum;
}

/* The window of 16 pixels: values, weights (0 for unknown ones), and what they add up to. */
struct median_window {
    __m256i value[MAX_MEDIAN_WINDOW], weight[MAX_MEDIAN_WINDOW];
    __m256i low, high, total;
    int count;
};

static void gather_window(const struct median_args *a, const struct median_rows *rows, int x, int y,
                          struct median_window *w) {
    const struct padded_row *centre = &rows->row[y % RING];
    __m256i unknown = _mm256_set1_epi16(UNKNOWN), none = _mm256_set1_epi16(INT16_MAX);
    w->low = none;
    w->high = unknown;
    w->total = _mm256_setzero_si256();
    w->count = 0;
    for (int py = stage_max(y - a->radius, 0); py <= stage_min(y + a->radius, a->height - 1); py++)
        for (int dx = -a->radius; dx <= a->radius; dx++) {
            const struct padded_row *row = &rows->row[py % RING];
            int at = REACH + x + dx, n = w->count++;
            __m256i value = load_shorts(row->value + at), missing;
            missing = _mm256_cmpeq_epi16(value, unknown);
            __m128i steps = colour_steps(centre, REACH + x, row, at, a->channels);
            w->value[n] = value;
            w->weight[n] = _mm256_andnot_si256(missing, look_up(rows->weight, steps));
            w->total = _mm256_add_epi16(w->total, w->weight[n]);
            w->low = _mm256_min_epi16(w->low, _mm256_blendv_epi8(value, none, missing));
            w->high = _mm256_max_epi16(w->high, value);
        }
}

static __m256i search_window(const struct median_window *w) {
    __m256i low = w->low, high = w->high, open;
    while (open = _mm256_cmpgt_epi16(high, low), _mm256_movemask_epi8(open)) {
        __m256i sum = _mm256_setzero_si256(), middle;
        middle = _mm256_add_epi16(_mm256_and_si256(low, high),
                                  _mm256_srai_epi16(_mm256_xor_si256(low, high), 1));
        for (int i = 0; i < w->count; i++)
            sum = _mm256_add_epi16(
                sum, _mm256_andnot_si256(_mm256_cmpgt_epi16(w->value[i], middle), w->weight[i]));
        __m256i above = _mm256_cmpgt_epi16(_mm256_sub_epi16(w->total, sum), sum);
        __m256i next = _mm256_sub_epi16(middle, _mm256_set1_epi16(-1));
        low = _mm256_blendv_epi8(low, next, _mm256_and_si256(open, above));
        high = _mm256_blendv_epi8(high, middle, _mm256_andnot_si256(above, open));
    }
    return low;
}

static void median_row(const struct median_args *a, const struct median_rows *rows, int y) {
    struct median_window w;
    __m256i unknown = _mm256_set1_epi16(UNKNOWN);
    int16_t *out = a->out + (size_t)(y - a->first_row) * (size_t)a->width;
    for (int x = 0; x < a->width; x += STEP) {
        gather_window(a, rows, x, y, &w);
        __m256i own = load_shorts(rows->row[y % RING].value + REACH + x), found;
        found = _mm256_blendv_epi8(search_window(&w), unknown, _mm256_cmpeq_epi16(own, unknown));
        if (x + STEP <= a->width) {
            _mm256_storeu_si256((__m256i *)(void *)(out + x), found);
            continue;
        }
        int16_t last[STEP];
        _mm256_storeu_si256((__m256i *)(void *)last, found);
        memcpy(out + x, last, (size_t)(a->width - x) * sizeof(*out));
    }
}

static void rows_median(const void *args, int width, int first, int last, void *scratch) {
    const struct median_args *a = args;
    struct median_rows *rows = scratch;
    static_assert(sizeof(*rows) <= SCRATCH_BYTES, "the rows around a row fit");
    (void)width;
    for (int i = 0; i < 256; i++)
        rows->weight[i] = a->weight[i];
    for (int i = 0; i < RING; i++)
        rows->row[i].y = -1;
    for (int y = first + a->first_row; y < last + a->first_row; y++) {
        int top = stage_max(y - a->radius, 0), bottom = stage_min(y + a->radius, a->height - 1);
        for (int i = top; i <= bottom; i++)
            if (rows->row[i % RING].y != i)
                pad_row(a, i, &rows->row[i % RING]);
        median_row(a, rows, y);
    }
}

/* ---- check */

enum { NEAR = 8 }; /* 1/16 px: how far apart two pixels may land and still hide each other */

/* seen: largest disparity that lands on a column of the right view, in 1/16 px from a px before
 * the picture on. A nearer pixel beyond range would be nearer by more than all labels. */
static void check_row(const struct check_args *a, int y, int16_t *seen) {
    size_t start = (size_t)y * (size_t)a->width;
    const int16_t *row = a->left + start;
    int columns = 16 * (a->width + 2);
    for (int i = 0; i < columns; i++)
        seen[i] = UNKNOWN;
    for (int x = 0; x < a->width; x++) {
        int d = row[x], column = 16 * (x + 1) - d;
        if (d != UNKNOWN && column >= 0 && column < columns && d > seen[column])
            seen[column] = (int16_t)d;
    }
    for (int x = 0; x < a->width; x++) {
        int d = row[x], xr = x - ((d + 8) >> 4), keep = 0;
        if (a->confidence[start + (size_t)x] >= a->min_confidence && xr >= 0 && xr < a->width) {
            const int16_t *from = seen + 16 * (x + 1) - d - NEAR;
            int maximum = d + a->tolerance;
            __m256i nearer =
                _mm256_cmpgt_epi16(load_shorts(from), _mm256_set1_epi16((int16_t)maximum));
            keep = !_mm256_movemask_epi8(nearer) && from[2 * NEAR] <= maximum;
        }
        a->out[start + (size_t)x] = (int16_t)(keep ? d : UNKNOWN);
    }
}

static void rows_check(const void *args, int width, int first, int last, void *scratch) {
    const struct check_args *a = args;
    int16_t *seen = scratch;
    static_assert(16 * (MAX_WIDTH + 2) * sizeof(*seen) <= SCRATCH_BYTES, "a row fits");
    for (int y = first; y < last; y++) {
        if (!a->right && a->tolerance >= 0)
            check_row(a, y, seen);
        else
            for (int x = 0; x < width; x++)
                stage_check(a, x, y);
    }
}

void optimise_refine_avx2(struct backend_cpu *cpu) {
    cpu->rows[STAGE_median] = rows_median;
    cpu->rows[STAGE_check] = rows_check;
}
