/*
 * Private: messages of two pixels at once in AVX2, one pixel in each 128-bit lane, 16 labels a
 * register. Included by the files that run them over rows; all functions are inlined with their
 * constants.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"
#include "gpu/stages/bp.h"

/* Steps of 1, 2, 4, ... labels; nine of them reach 511 labels, four reach through a block. */
enum { REACH_STEPS = 9, BLOCK_STEPS = 4, MAX_BLOCKS = MAX_LABELS / LABEL_BLOCK };

/* rho and T of two pixels' edges, for each pair of edge classes. Made once a run. */
struct envelope {
    __m256i top16[16], top8[16];   /* T in words, in bytes */
    __m256i fall[16][REACH_STEPS]; /* min(255, 2^k rho): for as many steps as are needed, and for
                                      those in a block */
    __m256i padding[2]; /* words of the last block's labels, see halves(), that are padding: ones */
    __m256i real;       /* labels of the last block that are no padding: ones */
    int steps;          /* how many are needed until the truncation wins */
};

/* classed: edges have classes. */
void FORM(envelope_make)(struct envelope *e, const struct grid *g, int classed,
                         const uint8_t rho[4], const uint8_t truncation[4]);

/* Where two pixels' messages come from and go to. */
struct pair {
    const uint8_t *cost[2];
    const uint8_t
        *in[DIRECTIONS][2]; /* from the neighbour in that direction; zeros where there is none */
    uint8_t *out[DIRECTIONS][2];
    int classes[2];
};

/* Four bits a direction: the class of the first pixel's edge, that of the second's. */
INLINE int pair_classes(int first, int second) {
    uint32_t c = (uint32_t)first | (uint32_t)second << 16;
    c = (c | c << 4) & 0x0f0f0f0f;
    c = (c | c << 2) & 0x33333333;
    return (int)((c | c >> 14) & 0xffff);
}

/* The pixels of one parity in one row: those that send. */
struct message_row {
    const uint8_t *cost;
    const uint8_t *in[DIRECTIONS]; /* the neighbours' rows; NULL outside the picture */
    uint8_t *out[DIRECTIONS];
    const uint8_t *classes; /* of the first pixel, or NULL */
    /* Where messages are those of the level above, in[] are its rows of parity 0; how far those of
     * parity 1 are from there, and the parity of its column 0. second_parity 0: of this level. */
    size_t second_parity;
    int swapped[DIRECTIONS];
    int padded, cost_size;
    int first, count; /* pixels first..count-1 are looked at */
    int odd;          /* 1: the first pixel is in column 1 */
    int width;
};

/* Zeros for the neighbours that do not exist. */
static const uint8_t no_message[MAX_LABELS];

/* The pixels of a parity in row y that messages come to. */
INLINE struct message_row row_of(const struct grid *g, int parity, int y, const void *cost,
                                 int cost_size, const uint8_t *const message[DIRECTIONS]) {
    int odd = (y + parity) & 1;
    size_t stride = (size_t)g->half * (size_t)g->padded;
    size_t own = ((size_t)parity * (size_t)g->height + (size_t)y) * stride;
    size_t other = ((size_t)!parity * (size_t)g->height + (size_t)y) * stride;
    return (struct message_row){
        .cost = (const uint8_t *)cost + own * (size_t)cost_size,
        .in[UP] = y > 0 ? message[DOWN] + (other - stride) : NULL,
        .in[DOWN] = y + 1 < g->height ? message[UP] + (other + stride) : NULL,
        .in[LEFT] = message[RIGHT] + other,
        .in[RIGHT] = message[LEFT] + other,
        .padded = g->padded,
        .cost_size = cost_size,
        .count = (g->width - odd + 1) / 2,
        .odd = odd,
        .width = g->width,
    };
}

/* The message to number i of the pixels beside a row in direction r. On the level above it is that
 * of column i. */
INLINE const uint8_t *received(const struct message_row *row, int r, int i) {
    size_t size = (size_t)row->padded;
    if (row->second_parity)
        return row->in[r] + (size_t)(i >> 1) * size +
               ((i ^ row->swapped[r]) & 1 ? row->second_parity : 0);
    return row->in[r] + (size_t)i * size;
}

/* Points one lane of a pair at what comes to pixel i of a row. */
INLINE void pair_receive(struct pair *p, int lane, const struct message_row *row, int i) {
    int odd = row->odd;
    p->cost[lane] = row->cost + (size_t)i * (size_t)row->padded * (size_t)row->cost_size;
    p->in[UP][lane] = row->in[UP] ? received(row, UP, i) : no_message;
    p->in[DOWN][lane] = row->in[DOWN] ? received(row, DOWN, i) : no_message;
    p->in[LEFT][lane] = i + odd > 0 ? received(row, LEFT, i + odd - 1) : no_message;
    p->in[RIGHT][lane] = 2 * i + odd + 1 < row->width ? received(row, RIGHT, i + odd) : no_message;
}

/* The same, and what it sends. */
INLINE void pair_point(struct pair *p, int lane, const struct message_row *row, int i) {
    pair_receive(p, lane, row, i);
    for (int r = 0; r < DIRECTIONS; r++)
        p->out[r][lane] = row->out[r] + (size_t)i * (size_t)row->padded;
    p->classes[lane] = row->classes ? row->classes[2 * i] : 0;
}

INLINE __m256i load_lanes(const uint8_t *first, const uint8_t *second) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(first)), load_128(second), 1);
}

INLINE __m256i load_pair(const uint8_t *const *from, int offset) {
    return load_lanes(from[0] + offset, from[1] + offset);
}

INLINE void store_pair(uint8_t *const *to, int offset, __m256i v) {
    store_128((to[0] + offset), _mm256_castsi256_si128(v));
    store_128((to[1] + offset), _mm256_extracti128_si256(v, 1));
}

/* Bytes to words: labels 0 to 7 of each lane, labels 8 to 15. Where the two bytes of a word come
 * from two vectors, low is from the first, high from the second. */
struct halves {
    __m256i v[2];
};

INLINE struct halves side_by_side(__m256i first, __m256i second) {
    return (struct halves){
        {_mm256_unpacklo_epi8(first, second), _mm256_unpackhi_epi8(first, second)}};
}

INLINE __m256i low_byte(__m256i words) {
    return _mm256_and_si256(words, _mm256_set1_epi16(0xff));
}

INLINE __m256i high_byte(__m256i words) {
    return _mm256_srli_epi16(words, 8);
}

INLINE __m256i both_bytes(__m256i words) {
    return _mm256_maddubs_epi16(words, _mm256_set1_epi8(1));
}

/* Four vectors' least words, lane by lane: words 0..3 (and 4..7) of a lane are vectors 0..3. */
INLINE __m256i lane_minimum(const __m256i *v) {
    __m256i a =
        _mm256_min_epu16(_mm256_unpacklo_epi16(v[0], v[1]), _mm256_unpackhi_epi16(v[0], v[1]));
    __m256i b =
        _mm256_min_epu16(_mm256_unpacklo_epi16(v[2], v[3]), _mm256_unpackhi_epi16(v[2], v[3]));
    __m256i c = _mm256_min_epu16(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    return _mm256_min_epu16(c, _mm256_shuffle_epi32(c, 0x4e));
}

INLINE __m256i lane_word(__m256i v, int word) {
    return _mm256_shuffle_epi8(v, _mm256_set1_epi16((int16_t)(0x0100 + 0x0202 * word)));
}

INLINE struct halves load_cost(const struct pair *p, int k, int wide) {
    if (wide)
        return (struct halves){{load_pair(p->cost, 32 * k), load_pair(p->cost, 32 * k + 16)}};
    return side_by_side(load_pair(p->cost, 16 * k), _mm256_setzero_si256());
}

/* Block k of the messages from two directions, side by side. */
INLINE struct halves load_messages(const struct pair *p, int first, int second, int k) {
    return side_by_side(load_pair(p->in[first], 16 * k), load_pair(p->in[second], 16 * k));
}

/* Block k of h for all directions: D plus the messages from the other three. padding: struct
 * envelope's, if there may be some: it becomes larger than any sum can get. */
INLINE void sum_block(const __m256i *padding, struct halves cost, struct halves column,
                      struct halves row, int k, __m256i h[DIRECTIONS][2][MAX_BLOCKS]) {
    for (int i = 0; i < 2; i++) {
        __m256i own = padding ? _mm256_or_si256(cost.v[i], padding[i]) : cost.v[i];
        __m256i with_row = _mm256_add_epi16(own, both_bytes(row.v[i]));
        __m256i with_column = _mm256_add_epi16(own, both_bytes(column.v[i]));
        h[UP][i][k] = _mm256_add_epi16(with_row, high_byte(column.v[i]));
        h[DOWN][i][k] = _mm256_add_epi16(with_row, low_byte(column.v[i]));
        h[LEFT][i][k] = _mm256_add_epi16(with_column, high_byte(row.v[i]));
        h[RIGHT][i][k] = _mm256_add_epi16(with_column, low_byte(row.v[i]));
    }
}

/* g(d) becomes max(g(d), g(d - shift) - fall, g(d + shift) - fall). Outside the labels g is 0, so
 * lanes may be filled with zeros. joined: ones for a block that follows the one before it, else
 * zeros; or NULL, all do. */
#define REACH_WITHIN(shift)                                                                       \
    INLINE void reach_##shift(__m256i *g, int n, __m256i fall, const __m256i *joined) {           \
        __m256i before = _mm256_setzero_si256(), here = _mm256_subs_epu8(g[0], fall);             \
        for (int k = 0; k < n; k++) {                                                             \
            __m256i next = k + 1 < n ? _mm256_subs_epu8(g[k + 1], fall) : _mm256_setzero_si256(); \
            __m256i after = joined && k + 1 < n ? _mm256_and_si256(next, joined[k + 1]) : next;   \
            __m256i up = _mm256_alignr_epi8(here, before, 16 - (shift));                          \
            __m256i down = _mm256_alignr_epi8(after, here, shift);                                \
            g[k] = _mm256_max_epu8(g[k], _mm256_max_epu8(up, down));                              \
            before = joined && k + 1 < n ? _mm256_and_si256(here, joined[k + 1]) : here;          \
            here = next;                                                                          \
        }                                                                                         \
    }
REACH_WITHIN(1)
REACH_WITHIN(2)
REACH_WITHIN(4)
REACH_WITHIN(8)
#undef REACH_WITHIN

/* The same, shift blocks; where some are not joined, one. */
INLINE void reach_blocks(__m256i *g, int n, int shift, __m256i fall, const __m256i *joined) {
    __m256i old[MAX_BLOCKS];
    for (int k = 0; k < n; k++)
        old[k] = _mm256_subs_epu8(g[k], fall);
    for (int k = shift; k < n; k++) {
        __m256i before = joined ? _mm256_and_si256(old[k - shift], joined[k]) : old[k - shift];
        __m256i after = joined ? _mm256_and_si256(old[k], joined[k]) : old[k];
        g[k] = _mm256_max_epu8(g[k], before);
        g[k - shift] = _mm256_max_epu8(g[k - shift], after);
    }
}

/* The min-convolution, on g = T - f where f is the message before it: a distance is a sum of
 * different powers of two, and on the way from label to label each stays between the two. */
INLINE void reach(__m256i *g, int n, const __m256i *fall, int steps, const __m256i *joined) {
    if (steps > 0)
        reach_1(g, n, fall[0], joined);
    if (steps > 1)
        reach_2(g, n, fall[1], joined);
    if (steps > 2)
        reach_4(g, n, fall[2], joined);
    if (steps > 3)
        reach_8(g, n, fall[3], joined);
    for (int k = BLOCK_STEPS; k < steps; k++)
        reach_blocks(g, n, 1 << (k - BLOCK_STEPS), fall[k], joined);
}

/* Fast-converging updates: which messages of two pixels changed by more than threshold. */
struct change_test {
    __m256i real;      /* struct envelope's */
    __m256i threshold; /* the largest change that counts as none */
    int changed[2];    /* a bit a direction, for each lane */
};

/* Notes which of the messages in direction r are about to change. */
INLINE void note_change(struct change_test *t, uint8_t *const *out, const __m256i *fresh, int n,
                        int r) {
    __m256i more = _mm256_setzero_si256();
    for (int k = 0; k < n; k++) {
        __m256i old = load_pair((const uint8_t *const *)out, 16 * k);
        __m256i change =
            _mm256_or_si256(_mm256_subs_epu8(fresh[k], old), _mm256_subs_epu8(old, fresh[k]));
        change = _mm256_subs_epu8(change, t->threshold);
        more = _mm256_or_si256(more, k + 1 == n ? _mm256_and_si256(change, t->real) : change);
    }
    uint32_t same = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(more, _mm256_setzero_si256()));
    t->changed[0] |= ((same & 0xffff) != 0xffff) << r;
    t->changed[1] |= ((same >> 16) != 0xffff) << r;
}

/* Lowers the least sums of all directions to those of block k. */
INLINE void lower_minima(__m256i minimum[DIRECTIONS], __m256i h[DIRECTIONS][2][MAX_BLOCKS], int k) {
#pragma GCC unroll 4
    for (int r = 0; r < DIRECTIONS; r++)
        minimum[r] = _mm256_min_epu16(minimum[r], _mm256_min_epu16(h[r][0][k], h[r][1][k]));
}

/* The messages in direction r from n blocks of sums. all: lane_minimum() of the least. */
INLINE void convolve_pair(const struct envelope *e, int classes, int r, __m256i all,
                          __m256i h[2][MAX_BLOCKS], int n, int steps, const __m256i *joined,
                          __m256i *g) {
    classes = classes >> (4 * r) & 15;
    __m256i top = _mm256_add_epi16(lane_word(all, r), e->top16[classes]);
    for (int k = 0; k < n; k++) {
        __m256i low = _mm256_subs_epu16(top, h[0][k]), high = _mm256_subs_epu16(top, h[1][k]);
        g[k] = _mm256_packus_epi16(low, high);
    }
    reach(g, n, e->fall[classes], steps, joined);
    for (int k = 0; k < n; k++)
        g[k] = _mm256_sub_epi8(e->top8[classes], g[k]);
}

/* All four messages of both pixels; test may be NULL. First the sums for all directions and their
 * minimum, so that the long way from the minimum to the result does not hold up the next
 * direction. */
INLINE void messages_pair(const struct envelope *e, const struct pair *p, struct change_test *test,
                          int n, int wide, int steps) {
    __m256i h[DIRECTIONS][2][MAX_BLOCKS], minimum[DIRECTIONS];
    if (n < 1)
        __builtin_unreachable();
    for (int r = 0; r < DIRECTIONS; r++)
        minimum[r] = _mm256_set1_epi16(-1);
    for (int k = 0; k < n; k++) {
        sum_block(k + 1 == n ? e->padding : NULL, load_cost(p, k, wide),
                  load_messages(p, UP, DOWN, k), load_messages(p, LEFT, RIGHT, k), k, h);
        lower_minima(minimum, h, k);
    }
    __m256i all = lane_minimum(minimum);
    int classes = pair_classes(p->classes[0], p->classes[1]);
#pragma GCC unroll 4
    for (int r = 0; r < DIRECTIONS; r++) {
        __m256i g[MAX_BLOCKS];
        convolve_pair(e, classes, r, all, h[r], n, steps, NULL, g);
        if (test)
            note_change(test, p->out[r], g, n, r);
        for (int k = 0; k < n; k++)
            store_pair(p->out[r], 16 * k, g[k]);
    }
}
