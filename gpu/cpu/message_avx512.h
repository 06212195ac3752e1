/*
 * Private: messages among 64 labels in AVX-512, all labels of a pixel in one register and their
 * sums in two.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/cpu/message_avx2.h"

/* WIDE_BLOCKS: blocks of labels in a register. */
enum { WIDE_LABELS = 64, WIDE_BLOCKS = WIDE_LABELS / LABEL_BLOCK };

/* Words of 64 labels: 0 to 7 of each block, 8 to 15. */
struct wide {
    __m512i low, high;
};

INLINE struct wide wide_add(struct wide a, struct wide b) {
    return (struct wide){_mm512_add_epi16(a.low, b.low), _mm512_add_epi16(a.high, b.high)};
}

INLINE struct wide wide_or(struct wide a, struct wide b) {
    return (struct wide){_mm512_or_si512(a.low, b.low), _mm512_or_si512(a.high, b.high)};
}

INLINE struct wide wide_bytes(const uint8_t *from) {
    __m512i bytes = _mm512_loadu_si512(from), zero = _mm512_setzero_si512();
    return (struct wide){_mm512_unpacklo_epi8(bytes, zero), _mm512_unpackhi_epi8(bytes, zero)};
}

INLINE struct wide wide_words(const uint8_t *from) {
    const __m512i low = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13),
                  high = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
    __m512i first = _mm512_loadu_si512(from), second = _mm512_loadu_si512(from + WIDE_LABELS);
    return (struct wide){_mm512_permutex2var_epi64(first, low, second),
                         _mm512_permutex2var_epi64(first, high, second)};
}

/* The last block's words are padded as in struct envelope. */
INLINE struct wide wide_padding(const __m256i padding[2]) {
    const __m512i zero = _mm512_setzero_si512();
    return (struct wide){_mm512_inserti32x4(zero, load_128(&padding[0]), WIDE_BLOCKS - 1),
                         _mm512_inserti32x4(zero, load_128(&padding[1]), WIDE_BLOCKS - 1)};
}

/* A pixel's sums and their least ones: words 0 to 3 (and 4 to 7...) are directions 0 to 3. */
struct wide_sums {
    struct wide up, down, left, right;
    __m512i minimum;
    uint8_t *out[DIRECTIONS];
    int classes;
};

INLINE __m512i least_in_turn(struct wide a, struct wide b) {
    __m512i first = _mm512_min_epu16(a.low, a.high), second = _mm512_min_epu16(b.low, b.high);
    return _mm512_min_epu16(_mm512_unpacklo_epi16(first, second),
                            _mm512_unpackhi_epi16(first, second));
}

INLINE void wide_sum(const struct message_row *row, int i, int wide, struct wide padding,
                     struct wide_sums *s) {
    struct pair p;
    pair_point(&p, 0, row, i);
    struct wide up = wide_bytes(p.in[UP][0]), down = wide_bytes(p.in[DOWN][0]),
                left = wide_bytes(p.in[LEFT][0]), right = wide_bytes(p.in[RIGHT][0]),
                cost = wide_or(wide ? wide_words(p.cost[0]) : wide_bytes(p.cost[0]), padding),
                with_row = wide_add(cost, wide_add(left, right)),
                with_column = wide_add(cost, wide_add(up, down));
    s->up = wide_add(with_row, down);
    s->down = wide_add(with_row, up);
    s->left = wide_add(with_column, right);
    s->right = wide_add(with_column, left);
    __m512i column = least_in_turn(s->up, s->down), sides = least_in_turn(s->left, s->right),
            least = _mm512_min_epu16(_mm512_unpacklo_epi32(column, sides),
                                     _mm512_unpackhi_epi32(column, sides));
    least = _mm512_min_epu16(least, _mm512_shuffle_epi32(least, 0x4e));
    least = _mm512_min_epu16(least, _mm512_shuffle_i64x2(least, least, 0x4e));
    s->minimum = _mm512_min_epu16(least, _mm512_shuffle_i64x2(least, least, 0xb1));
    for (int r = 0; r < DIRECTIONS; r++)
        s->out[r] = p.out[r][0];
    s->classes = p.classes[0];
}

/* Labels for byte shuffles: those shift before or behind each, at most the first or last one,
 * whose distance is no longer. */
struct wide_shifts {
    __m512i before[2], behind[2];
};

INLINE struct wide_shifts wide_shifts(void) {
    struct wide_shifts s;
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++) {
        uint8_t before[WIDE_LABELS], behind[WIDE_LABELS];
        for (int d = 0; d < WIDE_LABELS; d++) {
            before[d] = (uint8_t)stage_max(d - (1 << k), 0);
            behind[d] = (uint8_t)stage_min(d + (1 << k), WIDE_LABELS - 1);
        }
        s.before[k] = _mm512_loadu_si512(before);
        s.behind[k] = _mm512_loadu_si512(behind);
    }
    return s;
}

/* The greater ones of g(d - 2^k) and g(d + 2^k): zeros outside, or as struct wide_shifts has it. */
INLINE __m512i wide_beside(const struct wide_shifts *s, __m512i g, int k) {
    const __m512i zero = _mm512_setzero_si512();
#define BESIDE(bits, count)                                                   \
    _mm512_max_epu8(_mm512_alignr_epi##bits(g, zero, 512 / (bits) - (count)), \
                    _mm512_alignr_epi##bits(zero, g, count))
    switch (k) {
    case 0:
    case 1:
        return _mm512_max_epu8(_mm512_permutexvar_epi8(s->before[k], g),
                               _mm512_permutexvar_epi8(s->behind[k], g));
    case 2:
        return BESIDE(32, 1);
    case 3:
        return BESIDE(64, 1);
    case 4:
        return BESIDE(64, 2);
    default:
        return BESIDE(64, 4);
    }
#undef BESIDE
}

INLINE __m512i in_each_lane(const __m256i *from) {
    return _mm512_broadcast_i32x4(load_128(from));
}

/* Where struct envelope has what is for both edges of the same class. */
INLINE int wide_class(int classes, int r) {
    return 5 * (classes >> (2 * r) & 3);
}

/* T less the message in direction r before the min-convolution. */
INLINE __m512i wide_limit(const struct envelope *e, const struct wide_sums *s, int r,
                          struct wide h) {
    __m512i word = _mm512_set1_epi16((int16_t)(0x0100 + 0x0202 * r));
    __m512i top = _mm512_add_epi16(_mm512_shuffle_epi8(s->minimum, word),
                                   in_each_lane(&e->top16[wide_class(s->classes, r)]));
    return _mm512_packus_epi16(_mm512_subs_epu16(top, h.low), _mm512_subs_epu16(top, h.high));
}

/* Step k of reach(). */
INLINE __m512i wide_reach(const struct envelope *e, const struct wide_shifts *shifts, int classes,
                          int r, __m512i g, int k) {
    __m512i fall = in_each_lane(&e->fall[wide_class(classes, r)][k]);
    return _mm512_max_epu8(g, wide_beside(shifts, _mm512_subs_epu8(g, fall), k));
}

INLINE void wide_put(const struct envelope *e, const struct wide_sums *s, int r, __m512i g) {
    __m512i top = in_each_lane(&e->top8[wide_class(s->classes, r)]);
    _mm512_storeu_si512(s->out[r], _mm512_sub_epi8(top, g));
}

/* The messages of a pixel, side by side, since each step waits for the one before it. */
INLINE void wide_convolve(const struct envelope *e, const struct wide_shifts *shifts,
                          const struct wide_sums *s, int steps) {
    __m512i up = wide_limit(e, s, UP, s->up), down = wide_limit(e, s, DOWN, s->down),
            left = wide_limit(e, s, LEFT, s->left), right = wide_limit(e, s, RIGHT, s->right);
    for (int k = 0; k < steps; k++) {
        up = wide_reach(e, shifts, s->classes, UP, up, k);
        down = wide_reach(e, shifts, s->classes, DOWN, down, k);
        left = wide_reach(e, shifts, s->classes, LEFT, left, k);
        right = wide_reach(e, shifts, s->classes, RIGHT, right, k);
    }
    wide_put(e, s, UP, up);
    wide_put(e, s, DOWN, down);
    wide_put(e, s, LEFT, left);
    wide_put(e, s, RIGHT, right);
}

/* The sums of a pixel are begun before the messages of the one before it, which do not wait for
 * them. */
INLINE void wide_message_row(const struct envelope *e, const struct message_row *row, int wide,
                             int steps) {
    struct wide_shifts shifts = wide_shifts();
    struct wide padding = wide_padding(e->padding);
    struct wide_sums next;
    if (row->first >= row->count)
        return;
    wide_sum(row, row->first, wide, padding, &next);
    for (int i = row->first; i < row->count; i++) {
        struct wide_sums here = next;
        wide_sum(row, stage_min(i + 1, row->count - 1), wide, padding, &next);
        wide_convolve(e, &shifts, &here, steps);
    }
}
