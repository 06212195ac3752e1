/*
 * The data cost of absolute differences, of a descriptor and of both in AVX2, 32 labels of a pixel
 * at a time, in AVX-512 64. The target pixels of a row are stored in the order of the labels,
 * colours and bytes of census separately, so that those of as many labels are one load. Byte
 * shuffles count bits and look up both tables, 16 entries each (in AVX-512 bits are counted by an
 * instruction, and tables have 64 and 128); this requires a table of differences that is constant
 * from AD_ENTRIES on. Vectors are read from the picture, eight at a time.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/costs_avx2.h"
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <string.h>

enum { SHORT_PARTS = 5 };

/* The bytes of targets at..at+7, separated: from words 0..7, or 7..0 where they run backwards. */
static void spread_census(const uint64_t *words, bool backwards, struct target_row *row, int at) {
    const __m128i forth = _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    const __m128i back = _mm_setr_epi8(8, 0, 9, 1, 10, 2, 11, 3, 12, 4, 13, 5, 14, 6, 15, 7);
    __m128i two[4], four[2][2], eight[4];
    for (int i = 0; i < 4; i++) {
        const uint64_t *from = words + 2 * (backwards ? 3 - i : i);
        two[i] = _mm_shuffle_epi8(load_128(from), backwards ? back : forth);
    }
    for (int i = 0; i < 2; i++) {
        four[i][0] = _mm_unpacklo_epi16(two[2 * i], two[2 * i + 1]);
        four[i][1] = _mm_unpackhi_epi16(two[2 * i], two[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        eight[2 * i] = _mm_unpacklo_epi32(four[0][i], four[1][i]);
        eight[2 * i + 1] = _mm_unpackhi_epi32(four[0][i], four[1][i]);
    }
    for (int i = 0; i < 4; i++) {
        _mm_storel_pd((double *)(void *)(row->census[2 * i] + at), _mm_castsi128_pd(eight[i]));
        _mm_storeh_pd((double *)(void *)(row->census[2 * i + 1] + at), _mm_castsi128_pd(eight[i]));
    }
}

/* Every step-th byte. */
INLINE void take_bytes(const uint8_t *from, int step, int count, uint8_t *restrict to) {
    for (int i = 0; i < count; i++)
        to[i] = from[(ptrdiff_t)i * step];
}

/* Targets first..last-1 in the order of the labels: backwards where the other picture is to the
 * left. */
static void line_up(const struct cost_args *a, int y, int first, int last, int ad, int census,
                    struct target_row *row) {
    int w = a->grid.width, i = stage_max(first, 0), end = stage_min(last, w);
    bool backwards = a->sign > 0;
    size_t start = (size_t)y * (size_t)w;
    const uint8_t *picture = ad ? a->target + start * (size_t)a->channels : NULL;
    const uint64_t *bits = census ? a->descriptor_target + start : NULL;
    for (int c = 0; ad && c < a->channels; c++) {
        const uint8_t *from = picture + (backwards ? w - 1 - i : i) * a->channels + c;
        uint8_t *to = row->color[c] + TARGETS + i;
        if (a->channels == 3 && backwards)
            take_bytes(from, -3, end - i, to);
        else if (a->channels == 3)
            take_bytes(from, 3, end - i, to);
        else
            take_bytes(from, backwards ? -1 : 1, end - i, to);
    }
    for (; census && i + 8 <= end; i += 8)
        spread_census(bits + (backwards ? w - 8 - i : i), backwards, row, TARGETS + i);
    for (; census && i < end; i++)
        for (int k = 0; k < CENSUS_BYTES; k++)
            row->census[k][TARGETS + i] = (uint8_t)(bits[backwards ? w - 1 - i : i] >> 8 * k);
}

#ifdef AVX512
static void make_lookups(const struct cost_args *a, int ad, struct match_tables *t) {
    for (int i = 0; ad && i < AD_ENTRIES / 64; i++)
        t->ad[i] = _mm512_loadu_si512(a->lut + 64 * i);
    t->census = _mm512_loadu_si512(a->census_lut);
}
#else
static void make_lookups(const struct cost_args *a, int ad, struct match_tables *t) {
    if (ad)
        make_parts(a->lut, AD_ENTRIES / 16, t->ad);
    make_parts(a->census_lut, CENSUS_LUT / 16, t->census);
}
#endif

/* The parts of the table of differences that are looked up: 0 where the table is not used or adds
 * nothing to census, -1 where it is too long. */
static int make_tables(const struct cost_args *a, struct match_tables *t) {
    int changing = 255 * a->channels, ad = a->kind != DATA_COST_CENSUS;
    while (ad && changing > 0 && a->lut[changing - 1] == a->lut[255 * a->channels])
        changing--;
    if (ad && changing >= AD_ENTRIES)
        return -1;
    make_lookups(a, ad, t);
    if (!ad || (a->kind == DATA_COST_AD_CENSUS && changing == 0 && a->lut[0] == 0))
        return 0;
    return changing < 16 * SHORT_PARTS ? SHORT_PARTS : AD_ENTRIES / 16;
}

/* Distances of eight vectors, before they are limited: of labels first, first + 1... of a pixel. */
INLINE __m256i eight_vector_distances(const struct cost_args *a, const int8_t *own,
                                      const uint64_t *targets, int first) {
    __m256i low = load_256(own), high = load_256(own + 32), sum[8];
    __m256i size_low = _mm256_abs_epi8(low), size_high = _mm256_abs_epi8(high);
    for (int i = 0; i < 8; i++) {
        int at = a->sign > 0 ? a->grid.width - 1 - first - i : first + i;
        const int8_t *other =
            (const int8_t *)(targets +
                             (size_t)stage_clamp(at, 0, a->grid.width - 1) * VECTOR_WORDS);
        __m256i products = _mm256_add_epi16(
            _mm256_maddubs_epi16(size_low, _mm256_sign_epi8(load_256(other), low)),
            _mm256_maddubs_epi16(size_high, _mm256_sign_epi8(load_256(other + 32), high)));
        sum[i] = _mm256_madd_epi16(products, _mm256_set1_epi16(1));
    }
    for (int n = 4; n > 1; n /= 2)
        for (int i = 0; i < n; i++)
            sum[i] = _mm256_hadd_epi32(sum[2 * i], sum[2 * i + 1]);
    __m256i dot = _mm256_add_epi32(_mm256_permute2x128_si256(sum[0], sum[1], 0x20),
                                   _mm256_permute2x128_si256(sum[0], sum[1], 0x31));
    return _mm256_srai_epi32(_mm256_sub_epi32(_mm256_set1_epi32(VECTOR_HALF), dot), VECTOR_SHIFT);
}

/* 32 of them, as places in the table. at: of the first label's target, from the row's start. */
INLINE __m256i vector_distances(const struct cost_args *a, const int8_t *own,
                                const uint64_t *targets, int at) {
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i d[4];
    for (int i = 0; i < 4; i++)
        d[i] = eight_vector_distances(a, own, targets, at + 8 * i);
    __m256i bytes =
        _mm256_packus_epi16(_mm256_packs_epi32(d[0], d[1]), _mm256_packs_epi32(d[2], d[3]));
    return _mm256_min_epu8(_mm256_permutevar8x32_epi32(bytes, order),
                           _mm256_set1_epi8(CENSUS_LUT - 1));
}

/* Costs compare these of a pixel. */
struct own {
    const uint8_t *color, *descriptor, *steady; /* steady: of census */
    int slack;                                  /* of differences of colour */
};

/* Costs compare this besides colours. */
enum descriptor { NONE, CENSUS, VECTORS };

#ifdef AVX512
typedef __m512i costs;
enum { STEP = sizeof(costs) };

INLINE costs distances(const uint8_t *bits, const uint8_t *steady, const struct target_row *row,
                       int at) {
    costs count = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int k = 0; k < CENSUS_BYTES; k++) {
        costs differing = _mm512_xor_si512(_mm512_set1_epi8((char)bits[k]),
                                           _mm512_loadu_si512(row->census[k] + at));
        differing = _mm512_and_si512(differing, _mm512_set1_epi8((char)steady[k]));
        count = _mm512_add_epi8(count, _mm512_popcnt_epi8(differing));
    }
    return _mm512_min_epu8(count, _mm512_set1_epi8(CENSUS_LUT - 1));
}

INLINE costs match_labels_at(const struct match *m, const struct target_row *row, int y, int at,
                             const struct own *own, int ad, enum descriptor descriptor,
                             int channels) {
    const struct match_tables *t = &m->tables;
    costs cost = _mm512_setzero_si512(), sum = cost;
    for (int c = 0; ad && c < channels; c++) {
        costs color = _mm512_set1_epi8((char)own->color[c]),
              target = _mm512_loadu_si512(row->color[c] + at);
        sum = _mm512_adds_epu8(
            sum, _mm512_sub_epi8(_mm512_max_epu8(color, target), _mm512_min_epu8(color, target)));
    }
    sum = _mm512_subs_epu8(sum, _mm512_set1_epi8((char)own->slack));
    if (ad)
        cost = _mm512_permutex2var_epi8(
            t->ad[0], _mm512_min_epu8(sum, _mm512_set1_epi8(AD_ENTRIES - 1)), t->ad[1]);
    if (descriptor == CENSUS)
        cost = _mm512_add_epi8(
            cost,
            _mm512_permutexvar_epi8(distances(own->descriptor, own->steady, row, at), t->census));
    if (descriptor == VECTORS) {
        const uint64_t *targets =
            m->args->descriptor_target + (size_t)y * (size_t)m->args->grid.width * VECTOR_WORDS;
        __m256i low = vector_distances(m->args, (const int8_t *)own->descriptor, targets,
                                       at - TARGETS),
                high = vector_distances(m->args, (const int8_t *)own->descriptor, targets,
                                        at - TARGETS + 32);
        cost = _mm512_add_epi8(
            cost, _mm512_permutexvar_epi8(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1),
                                          t->census));
    }
    return cost;
}

/* Ones for the first count labels. */
INLINE __mmask64 first_labels(int count) {
    if (count >= STEP)
        return ~(__mmask64)0;
    return count <= 0 ? 0 : ((__mmask64)1 << count) - 1;
}
#else
typedef __m256i costs;
enum { STEP = sizeof(costs) };

/* Adds three bits in each place: the sum's lower bit, its upper one. */
struct added {
    __m256i sum, carry;
};

INLINE struct added add_bits(__m256i a, __m256i b, __m256i c) {
    __m256i either = _mm256_xor_si256(a, b);
    return (struct added){_mm256_xor_si256(either, c),
                          _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(either, c))};
}

/* Number of bits in each byte, times weight. */
INLINE __m256i count_bits(__m256i v, int weight) {
    const __m256i count = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    __m256i table = _mm256_slli_epi16(count, weight / 2); /* weight: 1, 2 or 4 */
    __m256i a = _mm256_shuffle_epi8(table, _mm256_and_si256(v, low));
    __m256i b = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
    return _mm256_add_epi8(a, b);
}

INLINE __m256i differing(const uint8_t *bits, const uint8_t *steady, const struct target_row *row,
                         int at, int k) {
    return _mm256_and_si256(
        _mm256_xor_si256(_mm256_set1_epi8((char)bits[k]), load_256(row->census[k] + at)),
        _mm256_set1_epi8((char)steady[k]));
}

/* 32 distances of census; bits: the pixel's bytes; steady: which of them count. Seven bytes are
 * added bit by bit before bits are counted. */
INLINE __m256i distances(const uint8_t *bits, const uint8_t *steady, const struct target_row *row,
                         int at) {
    struct added a =
        add_bits(differing(bits, steady, row, at, 0), differing(bits, steady, row, at, 1),
                 differing(bits, steady, row, at, 2));
    struct added b =
        add_bits(differing(bits, steady, row, at, 3), differing(bits, steady, row, at, 4),
                 differing(bits, steady, row, at, 5));
    struct added ones = add_bits(a.sum, b.sum, differing(bits, steady, row, at, 6));
    struct added twos = add_bits(a.carry, b.carry, ones.carry);
    __m256i count = _mm256_add_epi8(count_bits(ones.sum, 1),
                                    count_bits(differing(bits, steady, row, at, 7), 1));
    count =
        _mm256_add_epi8(count, _mm256_add_epi8(count_bits(twos.sum, 2), count_bits(twos.carry, 4)));
    return _mm256_min_epu8(count, _mm256_set1_epi8(CENSUS_LUT - 1));
}

INLINE __m256i match_labels_at(const struct match *m, const struct target_row *row, int y, int at,
                               const struct own *own, int ad, enum descriptor descriptor,
                               int channels) {
    const struct match_tables *t = &m->tables;
    __m256i cost = _mm256_setzero_si256(), sum = cost;
    for (int c = 0; ad && c < channels; c++) {
        __m256i color = _mm256_set1_epi8((char)own->color[c]),
                target = load_256(row->color[c] + at);
        sum = _mm256_adds_epu8(
            sum, _mm256_or_si256(_mm256_subs_epu8(color, target), _mm256_subs_epu8(target, color)));
    }
    sum = _mm256_subs_epu8(sum, _mm256_set1_epi8((char)own->slack));
    if (ad)
        cost = look_up(t->ad, ad, _mm256_min_epu8(sum, _mm256_set1_epi8((char)(16 * ad - 1))));
    if (descriptor != NONE) {
        const uint64_t *targets =
            m->args->descriptor_target + (size_t)y * (size_t)m->args->grid.width * VECTOR_WORDS;
        __m256i distance =
            descriptor == CENSUS
                ? distances(own->descriptor, own->steady, row, at)
                : vector_distances(m->args, (const int8_t *)own->descriptor, targets, at - TARGETS);
        cost = _mm256_add_epi8(cost, look_up(t->census, CENSUS_LUT / 16, distance));
    }
    return cost;
}
#endif

INLINE void match_row(const struct match *m, const struct target_row *row, int y,
                      const struct span *s, int ad, enum descriptor descriptor, int channels) {
    static const uint8_t all[CENSUS_BYTES] = {255, 255, 255, 255, 255, 255, 255, 255};
    const struct cost_args *a = m->args;
    size_t start = (size_t)y * (size_t)a->grid.width;
    int end = s->label + s->labels;
    bool slack = cost_has_slack(a);
    for (int x = s->first; x < s->last; x++) {
        struct labels_inside in = labels_inside(a, x, s);
        uint8_t *out = span_pixel(s, x) - s->label;
        size_t i = start + (size_t)x;
        struct own own = {.steady = slack ? (const uint8_t *)(a->steady + i) : all};
        if (ad) {
            own.color = a->reference + i * (size_t)channels;
            own.slack = slack ? a->slack[i] : 0;
        }
        if (descriptor != NONE)
            own.descriptor = (const uint8_t *)(a->descriptor_reference + i * (size_t)a->words);
        for (int d = s->label; d < end; d += STEP) {
            bool some = in.from < in.to && d + STEP > in.from && d < in.to;
            int at = TARGETS + in.target + d;
#ifdef AVX512
            costs cost = _mm512_set1_epi8((char)a->outside);
            if (some)
                cost = _mm512_mask_blend_epi8(
                    first_labels(in.to - d) & ~first_labels(in.from - d), cost,
                    match_labels_at(m, row, y, at, &own, ad, descriptor, channels));
            _mm512_mask_storeu_epi8(out + d, first_labels(end - d),
                                    _mm512_maskz_mov_epi8(first_labels(a->grid.labels - d), cost));
#else
            if (!some)
                continue;
            costs cost = match_labels_at(m, row, y, at, &own, ad, descriptor, channels);
            if (d + STEP <= end)
                store_256(out + d, cost);
            else
                store_128(out + d, _mm256_castsi256_si128(cost));
#endif
        }
#ifdef AVX512
        if (!a->border)
            continue;
#endif
        fill_outside(a, x, y, s, &in);
    }
}

/* parts: of the table of differences, or 0. */
INLINE void match_channels(const struct match *m, const struct target_row *row, int y,
                           const struct span *s, int parts, enum descriptor descriptor) {
    if (!parts)
        match_row(m, row, y, s, 0, descriptor, 1);
    else if (m->args->channels == 3)
        match_row(m, row, y, s, parts, descriptor, 3);
    else
        match_row(m, row, y, s, parts, descriptor, 1);
}

static enum descriptor descriptor_of(const struct cost_args *a) {
    if (a->kind == DATA_COST_AD)
        return NONE;
    return a->words == 1 ? CENSUS : VECTORS;
}

INLINE void match_parts(const struct match *m, const struct target_row *row, int y,
                        const struct span *s, int parts) {
    enum descriptor descriptor = descriptor_of(m->args);
    if (descriptor == VECTORS)
        match_channels(m, row, y, s, parts, VECTORS);
    else if (descriptor == CENSUS)
        match_channels(m, row, y, s, parts, CENSUS);
    else
        match_channels(m, row, y, s, parts, NONE);
}

void FORM(match_make)(struct match *m, const struct cost_args *a) {
    bool tables = a->kind != DATA_COST_BT && a->kind != DATA_COST_SSD;
    m->args = a;
    m->parts = tables ? make_tables(a, &m->tables) : -1;
}

/* Costs without tables, or whose table of differences is too long for shuffles: label by label. */
static void match_labels(const struct cost_args *a, int y, const struct span *s) {
    for (int x = s->first; x < s->last; x++) {
        struct labels_inside in = labels_inside(a, x, s);
        uint8_t *out = span_pixel(s, x);
        for (int d = in.from; d < in.to; d++)
            out[d - s->label] =
                (uint8_t)cost_match(a, x, x - a->sign * (a->grid.space.u_min + d), y);
        fill_outside(a, x, y, s, &in);
    }
}

void FORM(match_span)(const struct match *m, struct target_row *row, int y, const struct span *s) {
    const struct cost_args *a = m->args;
    if (m->parts < 0) {
        match_labels(a, y, s);
        return;
    }
    line_up(a, y, first_target(a, s), last_target(a, s), m->parts, descriptor_of(a) == CENSUS, row);
    if (m->parts == SHORT_PARTS)
        match_parts(m, row, y, s, SHORT_PARTS);
    else if (m->parts)
        match_parts(m, row, y, s, AD_ENTRIES / 16);
    else
        match_parts(m, row, y, s, 0);
}

void FORM(rows_cost)(const void *args, int width, int first, int last, void *scratch) {
    const struct cost_args *a = args;
    struct match m;
    static_assert(sizeof(struct target_row) <= SCRATCH_BYTES, "a row fits");
    FORM(match_make)(&m, a);
    for (int y = first; y < last; y++) {
        struct span s = span_of(&a->grid, a->cost, y, 0, width, 0, a->grid.padded);
        FORM(match_span)(&m, scratch, y, &s);
    }
}
