/*
 * Planes on the disparity map and chances in AVX2. Arms are runs of links between neighbours,
 * counted along columns from row to row. Sums over arms are differences of running sums; words may
 * wrap, their differences are right since no sum over a region reaches 2^31. A plane's value is
 * computed in doubles, and by the plain stage where their rounding could decide.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/arms_avx2.h"
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <string.h>

/* BAND: rows that are computed together. LEAD: bytes before a row's first pixel. */
enum { BAND = 16, STEP = 32, LEAD = 32, PADDED = LEAD + MAX_FRAME_SIDE + 2 * STEP };
static_assert((int)LEAD >= MAX_SURFACE_LENGTH && (int)STEP >= MAX_SURFACE_LENGTH, "arms fit");

/* ---- arms */

struct arms_rows {
    uint8_t up[BAND][PADDED], down[PADDED], side[2][PADDED], link[PADDED];
};

/* Pixels 0..count-1 of two rows of disparities: ones where both are known and at most step apart.
 * count is at least 16. */
static void find_links(const int16_t *p, const int16_t *q, int count, int step, uint8_t *links) {
    const __m256i unknown = _mm256_set1_epi16(UNKNOWN), maximum = _mm256_set1_epi16((int16_t)step);
    for (int i = 0; i < count; i += 16) {
        int at = stage_min(i, count - 16);
        __m256i u = load_256(p + at), v = load_256(q + at);
        __m256i apart = _mm256_sub_epi16(_mm256_max_epi16(u, v), _mm256_min_epi16(u, v));
        __m256i missing =
            _mm256_or_si256(_mm256_cmpeq_epi16(u, unknown), _mm256_cmpeq_epi16(v, unknown));
        __m256i near =
            _mm256_cmpeq_epi16(_mm256_subs_epu16(apart, maximum), _mm256_setzero_si256());
        near = _mm256_andnot_si256(missing, near);
        _mm_storeu_si128(
            (__m128i *)(void *)(links + at),
            _mm_packs_epi16(_mm256_castsi256_si128(near), _mm256_extracti128_si256(near, 1)));
    }
}

/* Runs of the next row: those of the row before and one more where there is a link. */
static void go_on(const uint8_t *before, const uint8_t *links, int width, int longest,
                  uint8_t *runs) {
    const __m256i one = _mm256_set1_epi8(1), maximum = _mm256_set1_epi8((char)longest);
    for (int x = 0; x < width; x += STEP) {
        __m256i run =
            _mm256_and_si256(_mm256_add_epi8(load_256(before + x), one), load_256(links + x));
        store_256(runs + x, _mm256_min_epu8(run, maximum));
    }
}

/* How many links there are in turn from each on, by steps of way. */
static void count_links(const uint8_t *links, int width, int way, int longest, uint8_t *runs) {
    for (int x = 0; x < width; x += STEP) {
        __m256i run = _mm256_setzero_si256(), going = _mm256_set1_epi8(-1);
        for (int n = 0; n < longest; n++) {
            going = _mm256_and_si256(going, load_256(links + x + n * way));
            if (_mm256_testz_si256(going, going))
                break;
            run = _mm256_sub_epi8(run, going);
        }
        store_256(runs + x, run);
    }
}

static void put_row(const uint8_t *up, const struct arms_rows *rows, int width, struct arms *out) {
    struct arms last[16];
    for (int x = 0; x < width; x += 16) {
        struct arms *to = x + 16 <= width ? out + x : last;
        put_arms(load_128(up + x), load_128(rows->down + x), load_128(rows->side[0] + x),
                 load_128(rows->side[1] + x), to);
        if (to == last)
            memcpy(out + x, last, (size_t)(width - x) * sizeof(*out));
    }
}

static void arms_band(const struct surface_args *a, int first, int last, struct arms_rows *rows) {
    int w = a->width;
    const int16_t *source = a->source;
    const uint8_t *before = rows->down;
    memset(rows->down, 0, sizeof(rows->down));
    memset(rows->up[0], 0, sizeof(rows->up[0]));
    for (int y = stage_max(first - a->longest + 1, 1); y < last; y++) {
        uint8_t *runs = rows->up[stage_max(y - first, 0)];
        find_links(source + (size_t)(y - 1) * (size_t)w, source + (size_t)y * (size_t)w, w, a->step,
                   rows->link);
        go_on(before, rows->link, w, a->longest, runs);
        before = runs;
    }
    memset(rows->down, 0, sizeof(rows->down));
    for (int y = stage_min(last + a->longest, a->height) - 1; y >= first; y--) {
        const int16_t *row = source + (size_t)y * (size_t)w;
        if (y + 1 < a->height) {
            find_links(row, row + w, w, a->step, rows->link);
            go_on(rows->down, rows->link, w, a->longest, rows->down);
        }
        if (y >= last)
            continue;
        uint8_t *link = rows->link + LEAD; /* that of a pixel with the one before it */
        memset(rows->link, 0, LEAD + 1);
        find_links(row, row + 1, w - 1, a->step, link + 1);
        memset(link + w, 0, 2 * STEP);
        count_links(link, w, -1, a->longest, rows->side[0]);
        count_links(link + 1, w, 1, a->longest, rows->side[1]);
        put_row(rows->up[y - first], rows, w, a->arms + (size_t)y * (size_t)w);
    }
}

void rows_surface_arms_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct surface_args *a = args;
    static_assert(sizeof(struct arms_rows) <= SCRATCH_BYTES, "a band of rows fits");
    for (int y = first; y < last && width > 16; y += BAND)
        arms_band(a, y, stage_min(y + BAND, last), scratch);
    for (int y = first; y < last && width <= 16; y++)
        for (int x = 0; x < width; x++)
            stage_surface_arms(a, x, y);
}

/* ---- sums along a row's arms */

void rows_surface_sums_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct surface_args *a = args;
    uint32_t *sum = scratch, *moment = sum + MAX_FRAME_SIDE + 1;
    static_assert(2 * (MAX_FRAME_SIDE + 1) * sizeof(*sum) <= SCRATCH_BYTES, "a row of sums fits");
    for (int y = first; y < last; y++) {
        size_t start = (size_t)y * (size_t)width;
        const int16_t *row = a->source + start;
        sum[0] = moment[0] = 0;
        for (int x = 0; x < width; x++) {
            sum[x + 1] = sum[x] + (uint32_t)row[x];
            moment[x + 1] = moment[x] + (uint32_t)(x * row[x]);
        }
        for (int x = 0; x < width; x++) {
            const struct arms *arms = a->arms + start + x;
            int l = arms->length[LEFT], r = arms->length[RIGHT], n = l + r + 1;
            uint32_t all = sum[x + r + 1] - sum[x - l];
            uint32_t turning = moment[x + r + 1] - moment[x - l] - (uint32_t)x * all;
            a->sums[2 * (start + (size_t)x)] = (int32_t)(all - (uint32_t)(n * row[x]));
            a->sums[2 * (start + (size_t)x) + 1] =
                (int32_t)(turning - (uint32_t)((r - l) * n / 2 * row[x]));
        }
    }
}

/* ---- planes */

/* Sums over a column's pixels from the band's top on, 8 columns each: of the pixels on their
 * horizontal arms, distances x, their squares, disparities, disparities times x; and of those
 * without a square times the row. */
enum { N, X, XX, D, XD, NY, XY, DY, NYY, SUMS };
enum { COLUMNS = 8, BAND_ROWS = BAND + 2 * MAX_SURFACE_LENGTH };

struct plane_band {
    __m256i sum[BAND_ROWS + 1][SUMS];
};

static __m256i multiply(__m256i a, __m256i b) {
    return _mm256_mullo_epi32(a, b);
}

/* Sum of the squares up to v, times 6. */
static __m256i six_squares(__m256i v) {
    __m256i next = _mm256_add_epi32(v, _mm256_set1_epi32(1));
    return multiply(multiply(v, next), _mm256_add_epi32(v, next));
}

static __m256i disparities(const int16_t *from) {
    return _mm256_cvtepi16_epi32(load_128(from));
}

static void add_row(const struct surface_args *a, size_t i, int row, const __m256i *before,
                    __m256i *after) {
    const __m256i y = _mm256_set1_epi32(row), one = _mm256_set1_epi32(1);
    __m256i arms = load_256(a->arms + i), d = disparities(a->source + i), v[SUMS];
    __m256i l = _mm256_and_si256(_mm256_srli_epi32(arms, 8 * LEFT), _mm256_set1_epi32(255));
    __m256i r = _mm256_srli_epi32(arms, 8 * RIGHT);
    __m256 sums[2] = {_mm256_castsi256_ps(load_256(a->sums + 2 * i)),
                      _mm256_castsi256_ps(load_256(a->sums + 2 * i + 8))};
    __m256i sum = _mm256_castps_si256(_mm256_shuffle_ps(sums[0], sums[1], 0x88));
    __m256i moment = _mm256_castps_si256(_mm256_shuffle_ps(sums[0], sums[1], 0xdd));
    v[N] = _mm256_add_epi32(_mm256_add_epi32(l, r), one);
    v[X] = _mm256_srai_epi32(multiply(_mm256_sub_epi32(r, l), v[N]), 1);
    v[XX] = _mm256_add_epi32(six_squares(l), six_squares(r)); /* at most 58800 */
    v[XX] = _mm256_srli_epi32(multiply(v[XX], _mm256_set1_epi32(43691)), 18);
    v[D] = _mm256_add_epi32(_mm256_permute4x64_epi64(sum, 0xd8), multiply(v[N], d));
    v[XD] = _mm256_add_epi32(_mm256_permute4x64_epi64(moment, 0xd8), multiply(v[X], d));
    v[NY] = multiply(v[N], y);
    v[XY] = multiply(v[X], y);
    v[DY] = multiply(v[D], y);
    v[NYY] = multiply(v[NY], y);
    for (int k = 0; k < SUMS; k++)
        after[k] = _mm256_add_epi32(before[k], v[k]);
}

/* plane_value() of four pixels. wrong: the sign bit is set where it may be another number. */
static __m256d plane_of_four(const __m128i *sum, __m256d *wrong) {
    const __m256d one = _mm256_set1_pd(1), sign = _mm256_set1_pd(-0.0), half = _mm256_set1_pd(0.5);
    __m256d v[SUMS], magnitude[2], total[2];
    for (int k = 0; k < SUMS; k++)
        v[k] = _mm256_cvtepi32_pd(sum[k]);
    __m256d xx = _mm256_add_pd(v[XX], one), yy = _mm256_add_pd(v[NYY], one);
    /* exact: below 2^53 */
    __m256d m = _mm256_sub_pd(_mm256_mul_pd(xx, yy), _mm256_mul_pd(v[XY], v[XY]));
    __m256d mx = _mm256_sub_pd(_mm256_mul_pd(v[X], yy), _mm256_mul_pd(v[NY], v[XY]));
    __m256d my = _mm256_sub_pd(_mm256_mul_pd(v[NY], xx), _mm256_mul_pd(v[X], v[XY]));
    for (int i = 0; i < 2; i++) { /* the determinant of the planes, the one with disparities */
        static const int of[2][3] = {{N, X, NY}, {D, XD, DY}};
        __m256d p = _mm256_mul_pd(v[of[i][0]], m), q = _mm256_mul_pd(v[of[i][1]], mx);
        __m256d r = _mm256_mul_pd(v[of[i][2]], my);
        total[i] = _mm256_sub_pd(_mm256_sub_pd(p, q), r);
        magnitude[i] =
            _mm256_add_pd(_mm256_andnot_pd(sign, p),
                          _mm256_add_pd(_mm256_andnot_pd(sign, q), _mm256_andnot_pd(sign, r)));
    }
    /* Each total is off by at most 4 roundings of 2^-53 of its magnitude; the bound is 4 times as
     * large. */
    __m256d quotient = _mm256_div_pd(total[1], total[0]), size = _mm256_andnot_pd(sign, quotient);
    __m256d fraction = _mm256_sub_pd(size, _mm256_floor_pd(size));
    __m256d apart = _mm256_andnot_pd(sign, _mm256_sub_pd(fraction, half));
    __m256d error =
        _mm256_add_pd(magnitude[1], _mm256_mul_pd(_mm256_add_pd(size, one), magnitude[0]));
    error = _mm256_mul_pd(error, _mm256_set1_pd(0x1p-49));
    *wrong = _mm256_cmp_pd(_mm256_mul_pd(apart, total[0]), error, _CMP_NGT_UQ);
    __m256d whole = _mm256_floor_pd(_mm256_add_pd(size, half));
    whole = _mm256_min_pd(whole, _mm256_set1_pd(100)); /* as far away as any above 16 */
    return _mm256_or_pd(whole, _mm256_and_pd(quotient, sign));
}

/* Sums over the regions of 8 pixels from the columns', with distances from each. */
static void region_sums(const struct plane_band *b, __m256i arms, __m256i d, int row, __m256i *s) {
    const __m256i y = _mm256_set1_epi32(row), bytes = _mm256_set1_epi32(255);
    const __m256i size = _mm256_set1_epi32(SUMS * COLUMNS);
    __m256i lane = _mm256_add_epi32(_mm256_set1_epi32(row * SUMS * COLUMNS),
                                    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i up = _mm256_and_si256(_mm256_srli_epi32(arms, 8 * UP), bytes);
    __m256i down = _mm256_and_si256(_mm256_srli_epi32(arms, 8 * DOWN), bytes);
    __m256i top = _mm256_sub_epi32(lane, multiply(up, size));
    __m256i end = _mm256_add_epi32(_mm256_add_epi32(lane, size), multiply(down, size));
    for (int k = 0; k < SUMS; k++) {
        const int *from = (const int *)(const void *)&b->sum[0][k];
        s[k] = _mm256_sub_epi32(_mm256_i32gather_epi32(from, end, 4),
                                _mm256_i32gather_epi32(from, top, 4));
    }
    s[D] = _mm256_sub_epi32(s[D], multiply(d, s[N]));
    s[XD] = _mm256_sub_epi32(s[XD], multiply(d, s[X]));
    s[DY] = _mm256_sub_epi32(s[DY], multiply(d, s[NY]));
    s[NYY] = _mm256_sub_epi32(s[NYY], multiply(y, s[NY]));
    s[NY] = _mm256_sub_epi32(s[NY], multiply(y, s[N]));
    s[NYY] = _mm256_sub_epi32(s[NYY], multiply(y, s[NY]));
    s[XY] = _mm256_sub_epi32(s[XY], multiply(y, s[X]));
    s[DY] = _mm256_sub_epi32(s[DY], multiply(y, s[D]));
}

static void plane_of_eight(const struct surface_args *a, const struct plane_band *b, int x, int y,
                           int row) {
    size_t i = (size_t)y * (size_t)a->width + (size_t)x;
    __m256i d = disparities(a->source + i), s[SUMS];
    region_sums(b, load_256(a->arms + i), d, row, s);
    __m128i part[2], keep[2];
    int redo = 0;
    for (int h = 0; h < 2; h++) {
        __m128i half[SUMS];
        __m256d wrong;
        for (int k = 0; k < SUMS; k++)
            half[k] = h ? _mm256_extracti128_si256(s[k], 1) : _mm256_castsi256_si128(s[k]);
        part[h] = _mm256_cvttpd_epi32(plane_of_four(half, &wrong));
        keep[h] = _mm_or_si128(_mm_cmpgt_epi32(_mm_abs_epi32(part[h]), _mm_set1_epi32(16)),
                               _mm_cmpgt_epi32(_mm_set1_epi32(MIN_SURFACE), half[N]));
        redo |= _mm256_movemask_pd(wrong) << 4 * h;
    }
    __m128i own = load_128((a->source + i));
    __m128i offset =
        _mm_andnot_si128(_mm_packs_epi32(keep[0], keep[1]), _mm_packs_epi32(part[0], part[1]));
    offset = _mm_andnot_si128(_mm_cmpeq_epi16(own, _mm_set1_epi16(UNKNOWN)), offset);
    store_128((a->out + i), _mm_add_epi16(own, offset));
    for (; redo; redo &= redo - 1)
        stage_surface_plane(a, x + __builtin_ctz((unsigned)redo), y);
}

static void plane_band(const struct surface_args *a, int first, int last, struct plane_band *b) {
    int top = stage_max(first - a->longest, 0), end = stage_min(last + a->longest, a->height);
    for (int k = 0; k < SUMS; k++)
        b->sum[0][k] = _mm256_setzero_si256();
    for (int i = 0; i < a->width; i += COLUMNS) {
        int x = stage_min(i, a->width - COLUMNS);
        for (int y = top; y < end; y++)
            add_row(a, (size_t)y * (size_t)a->width + (size_t)x, y - top, b->sum[y - top],
                    b->sum[y - top + 1]);
        for (int y = first; y < last; y++)
            plane_of_eight(a, b, x, y, y - top);
    }
}

void rows_surface_plane_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct surface_args *a = args;
    static_assert(sizeof(struct plane_band) <= SCRATCH_BYTES, "sums of a band fit");
    for (int y = first; y < last && width >= COLUMNS; y += BAND)
        plane_band(a, y, stage_min(y + BAND, last), scratch);
    for (int y = first; y < last && width < COLUMNS; y++)
        for (int x = 0; x < width; x++)
            stage_surface_plane(a, x, y);
}

/* ---- chance */

void rows_chance_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct chance_args *a = args;
    int margin_bin[256], rise_bin[256];
    (void)scratch;
    for (int i = 0; i < 256; i++) {
        margin_bin[i] = CHANCE_BINS * chance_bin(i / 3);
        rise_bin[i] = chance_bin(i);
    }
    for (size_t i = (size_t)first * (size_t)width; i < (size_t)last * (size_t)width; i++) {
        int cell = CHANCE_BINS * CHANCE_BINS * chance_kind(a, i) + margin_bin[a->margin[i]] +
                   rise_bin[a->rise[i]];
        a->out[i] = a->cells ? (uint8_t)cell : chance_of(cell);
    }
}
