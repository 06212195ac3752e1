/*
 * Both medians, the check and filled holes in AVX2. Values are not sorted: for 16 pixels at a time,
 * in AVX-512 for 32, the value at which half of the weight is reached is found by halving the range
 * of values. The check of a map against itself does not search for the pixel that hides another
 * one: for each row it stores what the right view sees in each 1/16 px.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/vector_avx2.h"
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <string.h>

/* Words and bytes of as many pixels as are computed at a time. */
#ifdef AVX512
typedef __m512i words;
typedef __m256i bytes;
#define WORDS(operation) _mm512_##operation
#define BYTES(operation) _mm256_##operation

INLINE words load_words(const void *from) {
    return _mm512_loadu_si512(from);
}

INLINE void store_words(void *to, words v) {
    _mm512_storeu_si512(to, v);
}

INLINE bytes load_bytes(const void *from) {
    return load_256(from);
}

/* a == b ? yes : no */
INLINE words where_equal(words a, words b, words yes, words no) {
    return _mm512_mask_blend_epi16(_mm512_cmpeq_epi16_mask(a, b), no, yes);
}
#else
typedef __m256i words;
typedef __m128i bytes;
#define WORDS(operation) _mm256_##operation
#define BYTES(operation) _mm_##operation

INLINE words load_words(const void *from) {
    return load_256(from);
}

INLINE void store_words(void *to, words v) {
    store_256(to, v);
}

INLINE bytes load_bytes(const void *from) {
    return load_128(from);
}

INLINE words where_equal(words a, words b, words yes, words no) {
    return _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi16(a, b));
}
#endif

INLINE words all_words(int16_t v) {
    return WORDS(set1_epi16)(v);
}

INLINE bytes farther(bytes maximum, bytes u, bytes v) {
    bytes apart = BYTES(sub_epi8)(BYTES(max_epu8)(u, v), BYTES(min_epu8)(u, v));
    return BYTES(max_epu8)(maximum, apart);
}

enum { STEP = sizeof(bytes), REACH = 4, RING = 2 * REACH + 1 };
enum { PADDED = MAX_FRAME_SIDE + 2 * REACH + STEP };

/* ---- weighted medians */

#ifdef AVX512
/* Weights of colour steps, at most 256: their lower bytes and their upper ones. */
struct weights {
    __m512i byte[2][4];
};

static void make_weights(const uint16_t *table, struct weights *w) {
    for (int k = 0; k < 2; k++) {
        uint8_t entries[256];
        for (int i = 0; i < 256; i++)
            entries[i] = (uint8_t)(table[i] >> 8 * k);
        memcpy(w->byte[k], entries, sizeof(entries));
    }
}

static __m512i look_up_bytes(const __m512i table[4], __m512i place) {
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(place),
                                  _mm512_permutex2var_epi8(table[0], place, table[1]),
                                  _mm512_permutex2var_epi8(table[2], place, table[3]));
}

static __m512i words_of(__m256i low, __m256i high) {
    return _mm512_or_si512(_mm512_cvtepu8_epi16(low),
                           _mm512_slli_epi16(_mm512_cvtepu8_epi16(high), 8));
}

/* Weights of STEP pixels from steps, then of STEP more. */
static void weights_of(const struct weights *t, const uint8_t *steps, words out[2]) {
    __m512i place = _mm512_loadu_si512(steps), low = look_up_bytes(t->byte[0], place),
            high = look_up_bytes(t->byte[1], place);
    out[0] = words_of(_mm512_castsi512_si256(low), _mm512_castsi512_si256(high));
    out[1] = words_of(_mm512_extracti64x4_epi64(low, 1), _mm512_extracti64x4_epi64(high, 1));
}
#else
/* A table of 256 bytes: the parts below place 128, those from it on. */
struct byte_table {
    __m256i low[8], high[8];
    int low_count, high_count;
};

/* Weights of colour steps, at most 256: their lower bytes and their upper ones. */
struct weights {
    struct byte_table byte[2];
};

/* Parts of as many entries, and one more for all that follow. */
static int parts_needed(int entries) {
    return stage_min((entries + 15) / 16 + 1, 8);
}

static void make_weights(const uint16_t *table, struct weights *w) {
    for (int k = 0; k < 2; k++) {
        struct byte_table *t = &w->byte[k];
        uint8_t entries[256];
        int last = 255;
        for (int i = 0; i < 256; i++)
            entries[i] = (uint8_t)(table[i] >> 8 * k);
        while (last > 0 && entries[last - 1] == entries[255])
            last--;
        t->low_count = parts_needed(stage_min(last, 128));
        t->high_count = last > 127 ? parts_needed(last - 128) : 0;
        make_parts(entries, 8, t->low);
        make_parts(entries + 128, 8, t->high);
        t->high[0] = _mm256_xor_si256(t->high[0], _mm256_set1_epi8((char)entries[127]));
    }
}

static __m256i look_up_bytes(const struct byte_table *t, __m256i place) {
    __m256i low = look_up(t->low, t->low_count, _mm256_min_epu8(place, _mm256_set1_epi8(127)));
    if (!t->high_count)
        return low;
    __m256i beyond = _mm256_xor_si256(place, _mm256_set1_epi8((char)128));
    return _mm256_xor_si256(low, look_up(t->high, t->high_count, beyond));
}

/* Weights of STEP pixels from steps, then of STEP more. */
static void weights_of(const struct weights *t, const uint8_t *steps, words out[2]) {
    __m256i place = load_256(steps), low = look_up_bytes(&t->byte[0], place),
            high = look_up_bytes(&t->byte[1], place), first = _mm256_unpacklo_epi8(low, high),
            second = _mm256_unpackhi_epi8(low, high);
    out[0] = _mm256_permute2x128_si256(first, second, 0x20);
    out[1] = _mm256_permute2x128_si256(first, second, 0x31);
}
#endif

/* The window of STEP pixels: values, colour steps, weights (0 for unknown ones) and their sum. */
enum { MAX_WINDOW = MAX_HOLE_SIDE * MAX_HOLE_SIDE };
static_assert((int)MAX_WINDOW >= (int)MAX_MEDIAN_WINDOW, "either median's window fits");

struct window {
    words value[MAX_WINDOW + 1], weight[MAX_WINDOW + 1];
    uint8_t step[MAX_WINDOW + 1][STEP];
    words low, high, total;
    int count;
};

static void clear_window(struct window *w) {
    w->low = all_words(INT16_MAX);
    w->high = all_words(UNKNOWN);
    w->count = 0;
}

/* steps: of colour, between STEP pixels and those in the middle of their windows. */
static void add_values(struct window *w, const int16_t *value, bytes steps) {
    words v = load_words(value);
    w->value[w->count] = v;
    memcpy(w->step[w->count++], &steps, sizeof(steps));
    w->low = WORDS(min_epi16)(w->low, where_equal(v, all_words(UNKNOWN), all_words(INT16_MAX), v));
    w->high = WORDS(max_epi16)(w->high, v);
}

static void weigh(struct window *w, const struct weights *t) {
    const words zero = all_words(0);
    w->total = zero;
    w->value[w->count] = all_words(UNKNOWN);
    for (int i = 0; i < w->count; i += 2) {
        weights_of(t, w->step[i], w->weight + i);
        for (int k = i; k < i + 2; k++) {
            w->weight[k] = where_equal(w->value[k], all_words(UNKNOWN), zero, w->weight[k]);
            w->total = WORDS(add_epi16)(w->total, w->weight[k]);
        }
    }
}

/* The least value, from low to high, up to which lies half of the weight, which is below 2^16. */
#ifdef AVX512
static words search_window(const struct window *w) {
    words low = w->low, high = w->high;
    __mmask32 open;
    while ((open = _mm512_cmpgt_epi16_mask(high, low)) != 0) {
        words sum = all_words(0), middle;
        middle = WORDS(add_epi16)(_mm512_and_si512(low, high),
                                  _mm512_srai_epi16(_mm512_xor_si512(low, high), 1));
        for (int i = 0; i < w->count; i++)
            sum = _mm512_mask_add_epi16(sum, _mm512_cmple_epi16_mask(w->value[i], middle), sum,
                                        w->weight[i]);
        __mmask32 enough = _mm512_cmple_epu16_mask(_mm512_sub_epi16(w->total, sum), sum);
        low = _mm512_mask_add_epi16(low, open & ~enough, middle, all_words(1));
        high = _mm512_mask_mov_epi16(high, enough, middle);
    }
    return low;
}
#else
static __m256i search_window(const struct window *w) {
    __m256i low = w->low, high = w->high, open;
    while (open = _mm256_cmpgt_epi16(high, low), _mm256_movemask_epi8(open)) {
        __m256i sum = _mm256_setzero_si256(), middle;
        middle = _mm256_add_epi16(_mm256_and_si256(low, high),
                                  _mm256_srai_epi16(_mm256_xor_si256(low, high), 1));
        for (int i = 0; i < w->count; i++)
            sum = _mm256_add_epi16(
                sum, _mm256_andnot_si256(_mm256_cmpgt_epi16(w->value[i], middle), w->weight[i]));
        __m256i rest = _mm256_sub_epi16(w->total, sum);
        __m256i enough = _mm256_cmpeq_epi16(_mm256_max_epu16(rest, sum), sum);
        __m256i next = _mm256_sub_epi16(middle, _mm256_set1_epi16(-1));
        low = _mm256_blendv_epi8(low, next, _mm256_andnot_si256(enough, open));
        high = _mm256_blendv_epi8(high, middle, enough);
    }
    return low;
}
#endif

/* ---- median */

/* A row as the median reads it, REACH pixels more on either side: unknown ones. */
struct padded_row {
    int y; /* -1: none yet */
    int16_t value[PADDED];
    uint8_t color[3][PADDED];
};

struct median_rows {
    struct padded_row row[RING]; /* row y is number y % RING */
    struct weights weights;
    struct window window;
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

static void gather_window(const struct median_args *a, const struct median_rows *rows, int x, int y,
                          struct window *w) {
    const struct padded_row *centre = &rows->row[y % RING];
    clear_window(w);
    for (int py = stage_max(y - a->radius, 0); py <= stage_min(y + a->radius, a->height - 1); py++)
        for (int at = REACH + x - a->radius; at <= REACH + x + a->radius; at++) {
            const struct padded_row *row = &rows->row[py % RING];
            bytes steps = {0};
            for (int c = 0; c < a->channels; c++)
                steps = farther(steps, load_bytes(centre->color[c] + REACH + x),
                                load_bytes(row->color[c] + at));
            add_values(w, row->value + at, steps);
        }
    weigh(w, &rows->weights);
}

static void median_row(const struct median_args *a, struct median_rows *rows, int y) {
    struct window *w = &rows->window;
    words unknown = all_words(UNKNOWN);
    int16_t *out = a->out + (size_t)(y - a->first_row) * (size_t)a->width;
    for (int x = 0; x < a->width; x += STEP) {
        gather_window(a, rows, x, y, w);
        words own = load_words(rows->row[y % RING].value + REACH + x),
              found = where_equal(own, unknown, unknown, search_window(w));
        if (x + STEP <= a->width) {
            store_words(out + x, found);
            continue;
        }
        int16_t last[STEP];
        store_words(last, found);
        memcpy(out + x, last, (size_t)(a->width - x) * sizeof(*out));
    }
}

void FORM(rows_median)(const void *args, int width, int first, int last, void *scratch) {
    const struct median_args *a = args;
    struct median_rows *rows = scratch;
    static_assert(sizeof(*rows) <= SCRATCH_BYTES, "the rows around a row fit");
    (void)width;
    make_weights(a->weight, &rows->weights);
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

/* ---- median of filled holes */

/* The rows of a window STEP pixels wide, from `radius` before its first pixel on. */
enum { HOLE_ROW = STEP + 48 };
static_assert((int)HOLE_ROW >= (MAX_HOLE_SIDE - 1) * HOLE_STEP + STEP, "a row of a window fits");

struct hole_rows {
    struct weights weights;
    struct window window;
    int16_t value[MAX_HOLE_SIDE][HOLE_ROW];
    uint8_t color[MAX_HOLE_SIDE][3][HOLE_ROW];
};

/* Bytes 0, 3, 6, ... of 48, shifted by channel. */
static __m128i every_third(const uint8_t *from, int channel) {
    const __m128i numbers =
        _mm_setr_epi8(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45);
    __m128i out = _mm_setzero_si128();
    for (int i = 0; i < 3; i++) {
        __m128i place = _mm_add_epi8(numbers, _mm_set1_epi8((char)(channel - 16 * i)));
        __m128i far = _mm_cmpgt_epi8(place, _mm_set1_epi8(15));
        out =
            _mm_or_si128(out, _mm_shuffle_epi8(load_128(from + 16 * i), _mm_or_si128(place, far)));
    }
    return out;
}

/* Pixels x.. of row y of map and picture; outside they are unknown. */
static void take_row(const struct hole_median_args *a, int x, int y, int16_t *value,
                     uint8_t color[3][HOLE_ROW]) {
    bool inside = y >= 0 && y < a->height;
    const int16_t *map = a->source + (inside ? (ptrdiff_t)y * a->width : 0);
    const uint8_t *image = a->image + (inside ? (ptrdiff_t)y * a->width * a->channels : 0);
    if (inside && a->channels == 3 && x >= 0 && x + HOLE_ROW <= a->width) {
        memcpy(value, map + x, HOLE_ROW * sizeof(*value));
        for (int i = 0; i < HOLE_ROW; i += 16)
            for (int c = 0; c < 3; c++)
                store_128((color[c] + i), every_third(image + 3 * (x + i), c));
        return;
    }
    for (int i = 0; i < HOLE_ROW; i++) {
        bool there = inside && x + i >= 0 && x + i < a->width;
        value[i] = (int16_t)(there ? map[x + i] : UNKNOWN);
        for (int c = 0; c < a->channels; c++)
            color[c][i] = there ? image[(x + i) * a->channels + c] : 0;
    }
}

/* STEP pixels from x on, where they are filled. */
static void fill_median(const struct hole_median_args *a, struct hole_rows *rows, int x, int y) {
    struct window *w = &rows->window;
    int side = a->radius / HOLE_STEP * 2 + 1, radius = side / 2 * HOLE_STEP, middle = side / 2;
    size_t i = (size_t)y * (size_t)a->width + (size_t)x;
    for (int r = 0; r < side; r++)
        take_row(a, x - radius, y + (r - middle) * HOLE_STEP, rows->value[r], rows->color[r]);
    clear_window(w);
    for (int r = 0; r < side; r++)
        for (int at = 0; at <= 2 * radius; at += HOLE_STEP) {
            bytes steps = {0};
            for (int c = 0; c < a->channels; c++)
                steps = farther(steps, load_bytes(rows->color[middle][c] + radius),
                                load_bytes(rows->color[r][c] + at));
            add_values(w, rows->value[r] + at, steps);
        }
    weigh(w, &rows->weights);
    words unknown = all_words(UNKNOWN), own = load_words(a->source + i),
          known = load_words(a->known + i);
    w->high = where_equal(known, unknown, where_equal(own, unknown, w->low, w->high), w->low);
    words found = where_equal(own, unknown, own, search_window(w));
    store_words(a->out + i, where_equal(known, unknown, found, own));
}

void FORM(rows_hole_median)(const void *args, int width, int first, int last, void *scratch) {
    const struct hole_median_args *a = args;
    struct hole_rows *rows = scratch;
    static_assert(sizeof(*rows) <= SCRATCH_BYTES, "the rows of a window fit");
    bool plain = width < STEP;
    make_weights(a->weight, &rows->weights);
    for (int y = first; y < last; y++) {
        size_t start = (size_t)y * (size_t)width;
        if (!plain)
            memcpy(a->out + start, a->source + start, (size_t)width * sizeof(*a->out));
        for (int x = 0; x < width; x++)
            if (plain) {
                stage_hole_median(a, x, y);
            } else if (a->known[start + (size_t)x] == UNKNOWN &&
                       a->source[start + (size_t)x] != UNKNOWN) {
                fill_median(a, rows, stage_min(x, width - STEP), y);
                x += STEP - 1;
            }
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
                _mm256_cmpgt_epi16(load_256(from), _mm256_set1_epi16((int16_t)maximum));
            keep = !_mm256_movemask_epi8(nearer) && from[2 * NEAR] <= maximum;
        }
        a->out[start + (size_t)x] = (int16_t)(keep ? d : UNKNOWN);
    }
}

void FORM(rows_check)(const void *args, int width, int first, int last, void *scratch) {
    const struct check_args *a = args;
    int16_t *seen = scratch;
    static_assert(16 * (MAX_FRAME_SIDE + 2) * sizeof(*seen) <= SCRATCH_BYTES, "a row fits");
    for (int y = first; y < last; y++) {
        if (!a->right && a->tolerance >= 0)
            check_row(a, y, seen);
        else
            for (int x = 0; x < width; x++)
                stage_check(a, x, y);
    }
}

/* ---- fill */

/* Runs of unknown pixels get the lower one of the disparities at their ends. */
static void fill_row(const int16_t *row, int width, int16_t *out) {
    memcpy(out, row, (size_t)width * sizeof(*out));
    for (int x = 0; x < width; x++) {
        if (row[x] != UNKNOWN)
            continue;
        int end = first_known(row, width, x, 1);
        int before = x > 0 ? row[x - 1] : UNKNOWN;
        int after = end < width ? row[end] : UNKNOWN;
        int lower = stage_min(before, after);
        for (; x < end; x++)
            out[x] = (int16_t)(lower == UNKNOWN ? stage_max(before, after) : lower);
    }
}

void FORM(rows_fill)(const void *args, int width, int first, int last, void *scratch) {
    const struct fill_args *a = args;
    (void)scratch;
    for (int y = first; y < last; y++) {
        size_t start = (size_t)y * (size_t)width;
        if (a->dx == 1 && a->dy == 0 && !a->source.v)
            fill_row(a->source.u + start, width, a->out.u + start);
        else
            for (int x = 0; x < width; x++)
                stage_fill(a, x, y);
    }
}
