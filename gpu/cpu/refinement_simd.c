/*
 * The refinement: the nearest known disparities, carried along; the evidence, with the
 * candidates of a pixel side by side; the choice at 32 pixels at once. Its layers are in
 * feature_simd.c.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <assert.h>
#include <string.h>

enum { COLUMNS = 32, LANES = 16 }; /* of a row that are done at once; numbers of a vector */

/* ---- nearest known disparities */

struct nearest {
    int16_t d, steps; /* more than REFINE_STEPS: there is none */
};

/* Goes on from a pixel's neighbour in a direction to the pixel. */
INLINE void step_nearest(const struct refine_map *m, int direction, int x, int y,
                         struct nearest *n) {
    size_t i = (size_t)y * (size_t)m->width + (size_t)x,
           to = refine_plane(m) * (size_t)direction + i;
    int16_t own = (int16_t)refine_own(m, x, y);
    int further = stage_min(n->steps + 1, REFINE_STEPS + 1);
    bool known = refine_known(m, x, y);
    n->d = known ? own : n->d;
    n->steps = (int16_t)(known ? 0 : further);
    m->nearest[to] = n->steps <= REFINE_STEPS ? n->d : own;
    m->steps[to] = (uint8_t)stage_min(n->steps, REFINE_STEPS);
}

/* The nearest known disparity of a pixel's neighbour in direction 2 or 3. */
static struct nearest nearest_beside(const struct refine_map *m, int direction, int x, int y) {
    int dy = refine_dy(direction);
    for (int t = 0; t < REFINE_STEPS; t++) {
        y += dy;
        if (y < 0 || y >= m->height)
            break;
        if (refine_known(m, x, y))
            return (struct nearest){(int16_t)refine_own(m, x, y), (int16_t)t};
    }
    return (struct nearest){0, REFINE_STEPS + 1};
}

void FORM(rows_refine_nearest)(const void *args, int width, int first, int last, void *scratch) {
    const struct refine_map *m = &((const struct refine_nearest_args *)args)->map;
    struct nearest *column = scratch;
    static_assert(MAX_FRAME_SIDE * sizeof(*column) <= SCRATCH_BYTES, "a row fits");
    for (int y = first; y < last; y++) {
        struct nearest n = {0, REFINE_STEPS + 1};
        for (int x = 0; x < width; x++)
            step_nearest(m, 0, x, y, &n);
        n.steps = REFINE_STEPS + 1;
        for (int x = width - 1; x >= 0; x--)
            step_nearest(m, 1, x, y, &n);
    }
    for (int direction = 2; direction < 4; direction++) {
        bool up = direction == 2;
        for (int x = 0; x < width; x++)
            column[x] = nearest_beside(m, direction, x, up ? first : last - 1);
        for (int i = 0; i < last - first; i++)
            for (int x = 0; x < width; x++)
                step_nearest(m, direction, x, up ? first + i : last - 1 - i, &column[x]);
    }
}

/* ---- candidates */

/* refine_candidate() of COLUMNS columns from left on; behind the last one it is repeated. */
static void find_candidates(const struct refine_map *m, int left, int y, int k, int16_t *out) {
    int direction = (k - 1) / 2, away = k % 2 ? 2 : 9, diagonal = k - 9, dx = 0, dy = 0;
    const int16_t *row = m->disparity;
    if (diagonal >= 0) {
        dx = diagonal % 2 ? 5 : -5;
        dy = diagonal / 2 ? 5 : -5;
    } else if (k > 0) {
        dx = away * refine_dx(direction);
        dy = away * refine_dy(direction);
        row = m->nearest + refine_plane(m) * (size_t)direction;
    }
    row += (size_t)stage_clamp(y + dy, 0, m->height - 1) * (size_t)m->width;
    if (left + dx >= 0 && left + dx + COLUMNS <= m->width && left + COLUMNS <= m->width)
        memcpy(out, row + left + dx, COLUMNS * sizeof(*out));
    else
        for (int i = 0; i < COLUMNS; i++)
            out[i] = row[stage_clamp(stage_min(left + i, m->width - 1) + dx, 0, m->width - 1)];
    for (int i = 0; i < COLUMNS; i += LANES) {
        __m256i d = load_256(out + i), unknown = _mm256_cmpeq_epi16(d, _mm256_set1_epi16(UNKNOWN));
        store_256(out + i, _mm256_blendv_epi8(d, _mm256_set1_epi16((int16_t)m->least), unknown));
    }
}

/* ---- evidence */

/* A row of the map, and of both pictures with 4 bytes a pixel and its last pixel twice. */
struct evidence_row {
    const struct refine_evidence_args *a;
    int y;
    uint32_t *left, *right;
    uint8_t logarithm[REFINE_STEPS + 1]; /* of steps */
};

static void spread_row(const uint8_t *picture, int y, int width, int channels, uint32_t *to) {
    const uint8_t *from = picture + (size_t)y * (size_t)width * (size_t)channels;
    for (int x = 0; x < width; x++, from += channels)
        to[x] = channels > 1 ? from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16
                             : 0x010101u * from[0];
    to[width] = to[width - 1];
}

/* refine_distance() of eight differences, as numbers of 32 bits. The bits of a float have its
 * exponent and, below it, what is linear between powers of 2. */
INLINE __m256i distances(__m256i difference) {
    __m256i v = _mm256_add_epi32(_mm256_abs_epi32(difference), _mm256_set1_epi32(4));
    v = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(v)), 18);
    v = _mm256_sub_epi32(v, _mm256_set1_epi32(32 * (127 + 2)));
    v = _mm256_srli_epi32(_mm256_mullo_epi32(v, _mm256_set1_epi32(6)), 5);
    v = _mm256_sign_epi32(_mm256_min_epi32(v, _mm256_set1_epi32(63)), difference);
    return _mm256_add_epi32(v, _mm256_set1_epi32(64));
}

/* Numbers of 16 bits as bytes; what is negative becomes 0. */
INLINE __m128i bytes_of(__m256i v) {
    return _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

/* refine_colour() of LANES candidates; first: the first one of the columns that they lead to,
 * share: how much of 16 the second one counts. */
INLINE __m128i colours(uint32_t left, const uint32_t *right, const int16_t *first, __m256i share) {
    const __m256i pairs = _mm256_broadcastsi128_si256(
                      _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15)),
                  one = _mm256_set1_epi16(1),
                  quarter = _mm256_broadcastsi128_si256(
                      _mm_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 8, 9, 8, 9, 8, 9, 8, 9));
    __m256i own = _mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_set1_epi32((int)left)), 4),
            parts = _mm256_or_si256(_mm256_sub_epi16(_mm256_set1_epi16(16), share),
                                    _mm256_slli_epi16(share, 8)),
            sums = _mm256_setzero_si256();
    for (int n = 3; n >= 0; n--) { /* candidates n, n + 4, n + 8 and n + 12 */
        int64_t both[4];
        for (int i = 0; i < 4; i++)
            memcpy(&both[i], right + first[n + 4 * i], sizeof(*both));
        __m256i weights =
            _mm256_shuffle_epi8(parts, _mm256_add_epi8(quarter, _mm256_set1_epi8((char)(2 * n))));
        __m256i v = _mm256_maddubs_epi16(_mm256_shuffle_epi8(load_256(both), pairs), weights);
        v = _mm256_madd_epi16(_mm256_abs_epi16(_mm256_sub_epi16(own, v)), one);
        v = _mm256_add_epi32(v, _mm256_srli_epi64(v, 32));
        sums = _mm256_or_si256(_mm256_slli_epi64(sums, 16),
                               _mm256_and_si256(v, _mm256_set1_epi64x(0xffff)));
    }
    sums = _mm256_srli_epi16(_mm256_mulhi_epu16(sums, _mm256_set1_epi16((short)43691)), 4);
    return bytes_of(_mm256_min_epi16(sums, _mm256_set1_epi16(FEATURE_LARGEST)));
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

/* refine_similarity() of the candidates. */
INLINE void find_likeness(const struct evidence_row *row, int x, const int16_t *first,
                          const int16_t *share, uint8_t *out) {
    const struct refine_evidence_args *a = row->a;
    size_t start = (size_t)row->y * (size_t)a->map.width;
    int16_t differ[LANES] = {0};
    for (int k = 0; k < REFINE_CANDIDATES; k++) {
        int second = stage_min(first[k] + 1, a->map.width - 1);
        if (a->census) {
            uint64_t own = a->left_vectors[start + (size_t)x];
            differ[k] =
                (int16_t)(hamming64(own, a->right_vectors[start + first[k]]) * (16 - share[k]) +
                          hamming64(own, a->right_vectors[start + second]) * share[k]);
            continue;
        }
        const int8_t *left =
                         (const int8_t *)a->left_vectors + (start + (size_t)x) * FEATURE_CHANNELS,
                     *right = (const int8_t *)a->right_vectors + start * FEATURE_CHANNELS;
        out[k] = refine_likeness(similarity(left, right + first[k] * FEATURE_CHANNELS) *
                                     (16 - share[k]) +
                                 similarity(left, right + second * FEATURE_CHANNELS) * share[k]);
    }
    if (a->census) { /* refine_likeness(refine_agreement()) */
        __m256i v = _mm256_slli_epi16(load_256(differ), 1);
        v = _mm256_srai_epi16(_mm256_sub_epi16(_mm256_set1_epi16(16 * CENSUS_BITS), v), 3);
        store_128(out, bytes_of(v));
    }
}

/* refine_features() at (x, y) with its candidates. Behind some of the numbers it writes, for a
 * moment, places of later ones. */
INLINE void find_features(const struct evidence_row *row, int x, const int16_t d[LANES],
                          uint8_t *out) {
    const struct refine_evidence_args *a = row->a;
    const struct refine_map *m = &a->map;
    int16_t first[LANES], shares[LANES];
    __m256i v = load_256(d), zero = _mm256_setzero_si256(), own = _mm256_set1_epi32(d[0]),
            away = _mm256_sub_epi16(zero, v),
            at = _mm256_add_epi16(_mm256_srai_epi16(away, 4), _mm256_set1_epi16((int16_t)x));
    __m256i near = distances(_mm256_sub_epi32(_mm256_cvtepi16_epi32(load_128(d)), own)),
            far = distances(_mm256_sub_epi32(_mm256_cvtepi16_epi32(load_128(d + 8)), own));
    store_128(out, _mm_srli_si128(
                       bytes_of(_mm256_permute4x64_epi64(_mm256_packs_epi32(near, far), 0xd8)), 1));
    /* left of the picture both columns are its first one */
    __m256i share = _mm256_andnot_si256(_mm256_srai_epi16(at, 15),
                                        _mm256_and_si256(away, _mm256_set1_epi16(15)));
    at = _mm256_min_epi16(_mm256_max_epi16(at, zero), _mm256_set1_epi16((int16_t)(m->width - 1)));
    store_256(first, at);
    store_256(shares, share);
    find_likeness(row, x, first, shares, out + REFINE_LIKENESS);
    store_128(out + REFINE_COLOUR, colours(row->left[x], row->right, first, share));
    for (int k = 0; k < 6; k++)
        out[REFINE_OTHERS + k] = refine_other(a, x, row->y, k);
    for (int k = 0; k < 4; k++)
        out[REFINE_OTHERS + 6 + k] =
            row->logarithm[m->steps[refine_plane(m) * (size_t)k +
                                    (size_t)row->y * (size_t)m->width + (size_t)x]];
}

/* Finds the evidence of COLUMNS columns, or of those that are left up to to, which is at most the
 * picture's width, rounded up to an even number. */
static void find_evidence(const struct evidence_row *row, int left, int to, uint8_t *out) {
    int16_t candidate[REFINE_CANDIDATES][COLUMNS], d[LANES] = {0};
    for (int k = 0; k < REFINE_CANDIDATES; k++)
        find_candidates(&row->a->map, left, row->y, k, candidate[k]);
    for (int i = 0; i < stage_min(COLUMNS, to - left); i++) {
        for (int k = 0; k < REFINE_CANDIDATES; k++)
            d[k] = candidate[k][i];
        find_features(row, stage_min(left + i, row->a->map.width - 1), d,
                      out + (i / 2 * 4 + i % 2) * REFINE_FEATURES);
    }
}

void FORM(rows_refine_evidence)(const void *args, int width, int first, int last, void *scratch) {
    const struct refine_evidence_args *a = args;
    int columns = a->map.width;
    struct evidence_row row = {.a = a, .left = scratch, .right = (uint32_t *)scratch + columns + 1};
    static_assert(2 * (MAX_FRAME_SIDE + 1) * sizeof(*row.left) <= SCRATCH_BYTES, "two rows fit");
    for (int i = 0; i <= REFINE_STEPS; i++)
        row.logarithm[i] = (uint8_t)stage_min(refine_logarithm(i, 14, 0), FEATURE_LARGEST);
    for (int y = 2 * first; y < 2 * last; y++) {
        uint8_t *out =
            a->out + ((size_t)(y / 2) * (size_t)width * 4 + (size_t)(y % 2) * 2) * REFINE_FEATURES;
        row.y = stage_min(y, a->map.height - 1);
        spread_row(a->left, row.y, columns, a->channels, row.left);
        spread_row(a->right, row.y, columns, a->channels, row.right);
        for (int x = 0; x < 2 * width; x += COLUMNS)
            find_evidence(&row, x, 2 * width, out + x * 2 * REFINE_FEATURES);
    }
}

/* ---- the regressed disparities and the choice, of a layer's numbers */

void FORM(regress_columns)(const struct refine_regress_args *a, int y, int from, int to,
                           const int16_t *numbers) {
    for (int x = from; x < to; x++, numbers += a->layer.outputs) {
        int mean = refine_mean(&a->map, x, y);
        for (int r = 0; r < REFINE_REGRESSED; r++)
            a->out[((size_t)y * (size_t)a->layer.width + (size_t)x) * REFINE_REGRESSED +
                   (size_t)r] = mean + 8 * numbers[r];
    }
}

/* COLUMNS pixels have numbers of 16 bits in two vectors, of 32 bits in four, in the order that
 * unpacking gives them. */
enum { HALVES = COLUMNS / LANES, QUARTERS = 2 * HALVES, PAIRS = (REFINE_MODES + 1) / 2 };

/* Tables, in parts for look_up(): weights' bytes, and how much of what is near counts. */
enum { LOW = REFINE_WEIGHTS / 16, HIGH = 3, NEAR = 5 };
struct tables {
    __m256i low[LOW], high[HIGH], near[NEAR];
};

static void make_tables(struct tables *t) {
    uint8_t low[16 * LOW], high[16 * HIGH], near[16 * NEAR];
    for (int i = 0; i < 16 * LOW; i++)
        low[i] = (uint8_t)refine_weight(i);
    for (int i = 0; i < 16 * HIGH; i++)
        high[i] = (uint8_t)(refine_weight(i) >> 8);
    for (int i = 0; i < 16 * NEAR; i++)
        near[i] = (uint8_t)stage_min(refine_near(i), UINT8_MAX); /* the first one is 256 */
    make_parts(low, LOW, t->low);
    make_parts(high, HIGH, t->high);
    make_parts(near, NEAR, t->near);
}

/* The modes that a choice is made among, relative to the own disparity, in 1/64 px. */
struct choice {
    __m256i mode[2 * PAIRS][HALVES], weight[2 * PAIRS][HALVES]; /* the last one is 0 */
};

/* Places in a table of so many entries that differences of logits or modes lead to. */
INLINE __m256i places(const __m256i difference[HALVES], int count) {
    __m256i v = _mm256_packus_epi16(_mm256_srli_epi16(difference[0], 2),
                                    _mm256_srli_epi16(difference[1], 2));
    return _mm256_min_epu8(v, _mm256_set1_epi8((char)(count - 1)));
}

static void weigh(struct choice *c, const struct tables *t, const __m256i (*logit)[HALVES]) {
    __m256i most[HALVES];
    for (int h = 0; h < HALVES; h++) {
        most[h] = logit[0][h];
        for (int k = 1; k < REFINE_MODES; k++)
            most[h] = _mm256_max_epi16(most[h], logit[k][h]);
    }
    for (int k = 0; k < REFINE_MODES; k++) {
        __m256i less[HALVES] = {_mm256_subs_epi16(most[0], logit[k][0]),
                                _mm256_subs_epi16(most[1], logit[k][1])};
        __m256i low = look_up(t->low, LOW, places(less, 16 * LOW)),
                high = look_up(t->high, HIGH, places(less, 16 * HIGH));
        c->weight[k][0] = _mm256_unpacklo_epi8(low, high);
        c->weight[k][1] = _mm256_unpackhi_epi8(low, high);
    }
}

/* How much each mode supports each other one. */
static void find_near(const struct choice *c, const struct tables *t,
                      __m256i (*near)[2 * PAIRS][HALVES]) {
    const __m256i zero = _mm256_setzero_si256(), largest = _mm256_set1_epi16(UINT8_MAX);
    for (int k = 0; k < REFINE_MODES; k++) {
        for (int j = 0; j < k; j++) {
            __m256i apart[HALVES];
            for (int h = 0; h < HALVES; h++)
                apart[h] = _mm256_abs_epi16(_mm256_subs_epi16(c->mode[j][h], c->mode[k][h]));
            __m256i bytes = look_up(t->near, NEAR, places(apart, 16 * NEAR)),
                    half[HALVES] = {_mm256_unpacklo_epi8(bytes, zero),
                                    _mm256_unpackhi_epi8(bytes, zero)};
            for (int h = 0; h < HALVES; h++)
                near[j][k][h] = near[k][j][h] =
                    _mm256_sub_epi16(half[h], _mm256_cmpeq_epi16(half[h], largest));
        }
        for (int h = 0; h < HALVES; h++) {
            near[k][k][h] = _mm256_set1_epi16(256);
            near[k][REFINE_MODES][h] = zero;
        }
    }
}

/* Numbers of two modes side by side, of a quarter of the pixels. */
INLINE __m256i side_by_side(const __m256i (*v)[HALVES], int pair, int quarter) {
    __m256i a = v[2 * pair][quarter / 2], b = v[2 * pair + 1][quarter / 2];
    return quarter % 2 ? _mm256_unpackhi_epi16(a, b) : _mm256_unpacklo_epi16(a, b);
}

struct chosen {
    int16_t mode[COLUMNS];
    uint16_t all[COLUMNS], total[COLUMNS];
    int32_t score[COLUMNS], moment[COLUMNS]; /* in the order of quarters */
};

/* The last steps of refine_choose(): the mean around the best mode. */
static void find_mean(const struct choice *c, const __m256i best[HALVES], struct chosen *out) {
    __m256i within[2 * PAIRS][HALVES], apart[2 * PAIRS][HALVES];
    for (int h = 0; h < HALVES; h++) {
        __m256i all = _mm256_setzero_si256(), total = all;
        for (int k = 0; k < 2 * PAIRS; k++) {
            apart[k][h] = _mm256_subs_epi16(c->mode[k][h], best[h]);
            __m256i far =
                _mm256_cmpgt_epi16(_mm256_abs_epi16(apart[k][h]), _mm256_set1_epi16(REFINE_ONE));
            within[k][h] = _mm256_andnot_si256(far, c->weight[k][h]);
            all = _mm256_add_epi16(all, c->weight[k][h]);
            total = _mm256_add_epi16(total, within[k][h]);
        }
        store_256(out->mode + h * LANES, best[h]);
        store_256(out->all + h * LANES, all);
        store_256(out->total + h * LANES, total);
    }
    for (int q = 0; q < QUARTERS; q++) {
        __m256i moment = _mm256_setzero_si256();
        for (int pair = 0; pair < PAIRS; pair++)
            moment = _mm256_add_epi32(
                moment, _mm256_madd_epi16(side_by_side((const __m256i(*)[HALVES])within, pair, q),
                                          side_by_side((const __m256i(*)[HALVES])apart, pair, q)));
        store_256(out->moment + 8 * q, moment);
    }
}

/* refine_choose() but for its end: weights have 13 bits, what is near 9, so that products of 16
 * bits are exact. */
static void choose(const struct choice *c, const struct tables *t, struct chosen *out) {
    __m256i near[REFINE_MODES][2 * PAIRS][HALVES], weight[PAIRS][QUARTERS], most[QUARTERS],
        best[HALVES];
    find_near(c, t, near);
    for (int pair = 0; pair < PAIRS; pair++)
        for (int q = 0; q < QUARTERS; q++)
            weight[pair][q] = side_by_side(c->weight, pair, q);
    for (int k = 0; k < REFINE_MODES; k++) {
        __m256i score[QUARTERS], better[QUARTERS];
        for (int q = 0; q < QUARTERS; q++) {
            score[q] = _mm256_setzero_si256();
            for (int pair = 0; pair < PAIRS; pair++)
                score[q] = _mm256_add_epi32(
                    score[q],
                    _mm256_madd_epi16(side_by_side((const __m256i(*)[HALVES])near[k], pair, q),
                                      weight[pair][q]));
            better[q] = k ? _mm256_cmpgt_epi32(score[q], most[q]) : _mm256_set1_epi32(-1);
            most[q] = k ? _mm256_max_epi32(score[q], most[q]) : score[q];
        }
        for (int h = 0; h < HALVES; h++)
            best[h] = k ? _mm256_blendv_epi8(best[h], c->mode[k][h],
                                             _mm256_packs_epi32(better[2 * h], better[2 * h + 1]))
                        : c->mode[0][h];
    }
    for (int q = 0; q < QUARTERS; q++)
        store_256(out->score + 8 * q, most[q]);
    find_mean(c, best, out);
}

/* Eight numbers each of eight pixels, as rows of those of the same kind. */
INLINE void transpose(const int16_t *const from[8], int first, int16_t (*to)[COLUMNS]) {
    __m128i a[8], b[8];
    for (int i = 0; i < 8; i++)
        a[i] = load_128(from[i] + first);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 4; i++) {
            b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
            b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
        }
        memcpy(a, b, sizeof(a));
    }
    for (int i = 0; i < 8; i++)
        store_128(to[first + i], a[i]);
}

/* COLUMNS pixels of a row of the map, and a layer's numbers of each. */
struct choice_row {
    int left, y;
    const int16_t *of[COLUMNS];
};

/* refine_regressed() less four times the own disparity. */
static void find_regressed(const struct refine_choose_args *a, const struct choice_row *row,
                           const int16_t *own, int16_t (*out)[COLUMNS]) {
    int width = (a->map.width + 3) / 4, height = (a->map.height + 3) / 4, ay = 2 * row->y - 3,
        start = (2 * row->left - 3) >> 3, between[COLUMNS / 4 + 2];
    const int32_t *above = a->regressed + (size_t)stage_clamp(ay >> 3, 0, height - 1) *
                                              (size_t)width * REFINE_REGRESSED,
                  *below = a->regressed + (size_t)stage_clamp((ay >> 3) + 1, 0, height - 1) *
                                              (size_t)width * REFINE_REGRESSED;
    for (int r = 0; r < REFINE_REGRESSED; r++) {
        for (int i = 0; i < COLUMNS / 4 + 2; i++) {
            int at = stage_clamp(start + i, 0, width - 1) * REFINE_REGRESSED + r;
            between[i] = above[at] * (8 - (ay & 7)) + below[at] * (ay & 7);
        }
        for (int i = 0; i < COLUMNS; i++) {
            int ax = 2 * (row->left + i) - 3, at = (ax >> 3) - start;
            int v = (between[at] * (8 - (ax & 7)) + between[at + 1] * (ax & 7) + 32) >> 6;
            out[r][i] = (int16_t)stage_clamp(v - 4 * own[i], -INT16_MAX, INT16_MAX);
        }
    }
}

/* Whether all modes and logits fit 16 bits with room for differences. */
static bool find_modes(const struct refine_choose_args *a, const struct choice_row *row,
                       int16_t *own, struct choice *c, __m256i (*logit)[HALVES]) {
    int16_t number[REFINE_OUTPUTS][COLUMNS], mode[REFINE_MODES][COLUMNS], prior[COLUMNS];
    __m256i large = _mm256_setzero_si256();
    for (int i = 0; i < COLUMNS; i += 8)
        for (int first = 0; first < REFINE_OUTPUTS; first += 8)
            transpose(row->of + i, first, (int16_t(*)[COLUMNS])(number[0] + i));
    for (int k = 0; k < REFINE_CANDIDATES; k++)
        find_candidates(&a->map, row->left, row->y, k, mode[k]);
    memcpy(own, mode[0], sizeof(mode[0]));
    find_regressed(a, row, own, mode + REFINE_CANDIDATES);
    for (int i = 0; i < COLUMNS; i++)
        prior[i] =
            (int16_t)(refine_known(&a->map, stage_min(row->left + i, a->map.width - 1), row->y)
                          ? a->prior
                          : 0);
    for (int h = 0; h < HALVES; h++) {
        __m256i base = load_256(own + h * LANES);
        for (int k = 0; k < REFINE_MODES; k++) {
            __m256i v = load_256(mode[k] + h * LANES),
                    residual = load_256(number[REFINE_MODES + k] + h * LANES);
            if (k < REFINE_CANDIDATES) {
                v = _mm256_subs_epi16(v, base);
                v = _mm256_adds_epi16(v, v);
                v = _mm256_adds_epi16(v, v);
            }
            large = _mm256_or_si256(
                large, _mm256_or_si256(_mm256_abs_epi16(v), _mm256_abs_epi16(residual)));
            c->mode[k][h] = _mm256_adds_epi16(v, residual);
            logit[k][h] = load_256(number[k] + h * LANES);
        }
        logit[0][h] = _mm256_adds_epi16(logit[0][h], load_256(prior + h * LANES));
        large = _mm256_or_si256(
            large,
            _mm256_slli_epi16(_mm256_cmpeq_epi16(logit[0][h], _mm256_set1_epi16(INT16_MAX)), 14));
        c->mode[REFINE_MODES][h] = c->weight[REFINE_MODES][h] = _mm256_setzero_si256();
    }
    return _mm256_testz_si256(large, _mm256_set1_epi16((short)0xc000));
}

static void choose_row(const struct refine_choose_args *a, const struct tables *t,
                       const struct choice_row *row) {
    int count = stage_min(COLUMNS, a->map.width - row->left);
    size_t start = (size_t)row->y * (size_t)a->map.width + (size_t)row->left;
    int16_t own[COLUMNS];
    __m256i logit[REFINE_MODES][HALVES];
    struct choice c;
    struct chosen out;
    bool fit = find_modes(a, row, own, &c, logit);
    if (fit) {
        weigh(&c, t, (const __m256i(*)[HALVES])logit);
        choose(&c, t, &out);
    }
    for (int i = 0; i < count; i++) {
        int at = i / LANES * LANES + i % 8 / 4 * 8 + i % LANES / 8 * 4 + i % 4;
        int32_t number[REFINE_OUTPUTS];
        for (int o = 0; o < REFINE_OUTPUTS && !fit; o++)
            number[o] = row->of[i][o];
        if (a->map.disparity[start + (size_t)i] == UNKNOWN)
            refine_keep(a, start + (size_t)i);
        else if (fit)
            refine_store(a, start + (size_t)i, 4 * own[i] + out.mode[i], out.moment[at],
                         out.total[i], stage_min(out.score[at] / out.all[i], UINT8_MAX));
        else
            refine_choose_pixel(a, row->left + i, row->y, number);
    }
}

void FORM(choose_columns)(const struct refine_choose_args *a, int y, int from, int to,
                          const int16_t *numbers) {
    int side = refine_side(&a->layer);
    struct tables t;
    make_tables(&t);
    for (int part = 0; part < side; part++) {
        struct choice_row row = {.y = side * y + part};
        for (row.left = side * from; row.left < stage_min(side * to, a->map.width);
             row.left += COLUMNS) {
            for (int i = 0; i < COLUMNS; i++) {
                int x = stage_min(row.left + i, side * to - 1);
                row.of[i] = numbers + (x / side - from) * a->layer.outputs +
                            (part * side + x % side) * REFINE_OUTPUTS;
            }
            if (row.y < a->map.height)
                choose_row(a, &t, &row);
        }
    }
}
