/*
 * The arithmetic of the tuned message kernel: 16 labels of one message as eight registers of two
 * unsigned 16-bit lanes; register i holds labels i and i + 8. Plain functions of such values, so
 * that a test on the CPU runs the code that the GPU runs. Sums stay below 65536, so 32-bit adds
 * never carry between lanes.
 *
 * The two sweeps of the min-convolution run inside blocks of eight labels, and blocks hand on one
 * number each way. Where an add and a minimum are one instruction (compute capability 9) the sweeps
 * are little else.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_LANES_H
#define LIVESTEREO_LANES_H

#include "gpu/stage.h"

enum { LANE_REGISTERS = LABEL_BLOCK / 2 };

/* Two lanes of what is larger than any belief and, with 8 rho added, still below 65536. */
#define LANES_FAR 0x9c409c40u

struct lanes {
    uint32_t v[LANE_REGISTERS];
};

struct label_words { /* 16 labels of 8 bits, as they lie in memory */
    uint32_t w[4];
};

STAGE uint32_t lanes_min(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    return __vminu2(a, b);
#else
    uint32_t low = (a & 0xffff) < (b & 0xffff) ? a & 0xffff : b & 0xffff;
    return low | (a >> 16 < b >> 16 ? a >> 16 : b >> 16) << 16;
#endif
}

STAGE uint32_t lanes_min3(uint32_t a, uint32_t b, uint32_t c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __vimin3_u16x2(a, b, c);
#else
    return lanes_min(a, lanes_min(b, c));
#endif
}

/* min(a + b, c). */
STAGE uint32_t lanes_add_min(uint32_t a, uint32_t b, uint32_t c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __viaddmin_u16x2(a, b, c);
#else
    return lanes_min(a + b, c);
#endif
}

/* Bytes of a (0 to 3) and b (4 to 7) by the four digits of choice, the lowest digit for the
 * lowest byte. */
STAGE uint32_t lanes_pick(uint32_t a, uint32_t b, uint32_t choice) {
#ifdef __CUDA_ARCH__
    return __byte_perm(a, b, choice);
#else
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; i++)
        out |= (uint32_t)(both >> 8 * (choice >> 4 * i & 7) & 255) << 8 * i;
    return out;
#endif
}

/* The same number in both lanes. */
STAGE uint32_t lanes_both(uint32_t value) {
    return value * 0x10001u;
}

/* The table's byte number i (0 to 3) in both lanes. */
STAGE uint32_t lanes_from_table(uint32_t table, int i) {
    return lanes_pick(table, 0, 0x4040u + 0x101u * (uint32_t)i);
}

/* 16-bit sums of bytes are kept in two halves until all are added: odd labels, and whole words,
 * from which the even labels follow as words - 256 odd. Lanes here are labels (k, k + 2) of a
 * word. */
struct label_sums {
    uint32_t words[4], odd[4];
};

STAGE uint32_t odd_labels(uint32_t word) {
    return lanes_pick(word, 0, 0x4341);
}

STAGE void sums_start(struct label_sums *s, const struct label_words *a) {
    for (int k = 0; k < 4; k++) {
        s->words[k] = a->w[k];
        s->odd[k] = odd_labels(a->w[k]);
    }
}

STAGE void sums_add(struct label_sums *s, const struct label_words *a) {
    for (int k = 0; k < 4; k++) {
        s->words[k] += a->w[k];
        s->odd[k] += odd_labels(a->w[k]);
    }
}

/* Into the order of struct lanes. */
STAGE void sums_lanes(const struct label_sums *s, struct lanes *out) {
    for (int k = 0; k < 2; k++) {
        uint32_t low = s->words[k] - 256 * s->odd[k], high = s->words[k + 2] - 256 * s->odd[k + 2];
        out->v[4 * k] = lanes_pick(low, high, 0x5410);
        out->v[4 * k + 1] = lanes_pick(s->odd[k], s->odd[k + 2], 0x5410);
        out->v[4 * k + 2] = lanes_pick(low, high, 0x7632);
        out->v[4 * k + 3] = lanes_pick(s->odd[k], s->odd[k + 2], 0x7632);
    }
}

/* 16 labels of 16 bits, two to a word as they lie in memory. */
STAGE void lanes_of_shorts(const uint32_t w[8], struct lanes *out) {
    for (int k = 0; k < 4; k++) {
        out->v[2 * k] = lanes_pick(w[k], w[k + 4], 0x5410);
        out->v[2 * k + 1] = lanes_pick(w[k], w[k + 4], 0x7632);
    }
}

/* And back. */
STAGE void lanes_shorts(const struct lanes *a, uint32_t w[8]) {
    for (int k = 0; k < 4; k++) {
        w[k] = lanes_pick(a->v[2 * k], a->v[2 * k + 1], 0x5410);
        w[k + 4] = lanes_pick(a->v[2 * k], a->v[2 * k + 1], 0x7632);
    }
}

/* Four 16-bit labels, two to a word as they lie in memory, from the bytes of two rows, which are
 * sums of two costs each. */
STAGE void labels_of_rows(uint32_t upper, uint32_t lower, uint32_t out[2]) {
    out[0] = lanes_pick(upper, 0, 0x4140) + lanes_pick(lower, 0, 0x4140);
    out[1] = lanes_pick(upper, 0, 0x4342) + lanes_pick(lower, 0, 0x4342);
}

STAGE void lanes_add(struct lanes *a, const struct lanes *b) {
    for (int i = 0; i < LANE_REGISTERS; i++)
        a->v[i] += b->v[i];
}

/* Labels from number count on are no labels: they lose every minimum. first is this thread's
 * first label. */
STAGE void lanes_pad(struct lanes *h, int first, int count) {
    for (int i = 0; i < LANE_REGISTERS; i++) {
        uint32_t keep =
            (first + i < count ? 0xffffu : 0) | (first + i + 8 < count ? 0xffff0000u : 0);
        h->v[i] = (h->v[i] & keep) | (LANES_FAR & ~keep);
    }
}

/* Minimum of the eight registers, lane by lane. */
STAGE uint32_t lanes_least(const struct lanes *h) {
    return lanes_min3(lanes_min3(h->v[0], h->v[1], h->v[2]), lanes_min3(h->v[3], h->v[4], h->v[5]),
                      lanes_min(h->v[6], h->v[7]));
}

/* What a block of eight labels hands on: upward, the least cost of its last label coming from
 * inside it; downward, of its first label. */
struct block_ends {
    uint32_t up, down;
};

/* rho in both lanes. slanted gets h + rho (7 - i), in which the upward sweep is a running
 * minimum. */
STAGE struct block_ends lanes_ends(const struct lanes *h, uint32_t rho, struct lanes *slanted) {
    const uint32_t *v = h->v;
    uint32_t down[4]; /* of pairs of labels */
    for (int i = 0; i < LANE_REGISTERS; i++)
        slanted->v[i] = v[i] + (uint32_t)(7 - i) * rho;
    for (int k = 0; k < 4; k++)
        down[k] = lanes_add_min(v[2 * k + 1], rho, v[2 * k]) + (uint32_t)(2 * k) * rho;
    struct block_ends e = {lanes_least(slanted),
                           lanes_min3(lanes_min(down[0], down[1]), down[2], down[3])};
    return e;
}

/* What each of a thread's two blocks gets from the block before it: before is the end of the
 * thread with the labels below. keep has ones, but not in a lane whose block is the first: that
 * gets LANES_FAR. */
STAGE uint32_t carry_up(uint32_t before, uint32_t own, uint32_t keep) {
    return (lanes_pick(before, own, 0x5432) & keep) | (LANES_FAR & ~keep);
}

/* The same from the blocks above. */
STAGE uint32_t carry_down(uint32_t after, uint32_t own, uint32_t keep) {
    return (lanes_pick(own, after, 0x5432) & keep) | (LANES_FAR & ~keep);
}

/* How many blocks a carry must travel: those further away than T / rho lose to the truncation. */
STAGE int carry_blocks(int rho, int most, int blocks) {
    int n = 1;
    while (n < blocks - 1 && (8 * n + 1) * rho < most)
        n++;
    return n;
}

/* The min-convolution from slanted h and the carries, clamped at ceiling (least + T in both
 * lanes). */
STAGE void lanes_sweep(struct lanes *slanted, uint32_t up, uint32_t down, uint32_t rho,
                       uint32_t ceiling) {
    uint32_t *v = slanted->v;
    for (int i = 0; i < LANE_REGISTERS; i++)
        v[i] = lanes_min3(v[i], i ? v[i - 1] : up + 8 * rho, ceiling + (uint32_t)(7 - i) * rho);
    for (int i = 0; i < LANE_REGISTERS; i++)
        v[i] -= (uint32_t)(7 - i) * rho;
    for (int i = LANE_REGISTERS - 1; i >= 0; i--)
        v[i] = lanes_add_min(i < LANE_REGISTERS - 1 ? v[i + 1] : down, rho, v[i]);
}

/* least (both lanes) subtracted, as bytes in memory order. */
STAGE struct label_words lanes_bytes(const struct lanes *m, uint32_t least) {
    uint32_t pair[4];
    for (int k = 0; k < 4; k++)
        pair[k] = m->v[2 * k] + 256 * m->v[2 * k + 1] - 257 * least;
    struct label_words out = {
        {lanes_pick(pair[0], pair[1], 0x5410), lanes_pick(pair[2], pair[3], 0x5410),
         lanes_pick(pair[0], pair[1], 0x7632), lanes_pick(pair[2], pair[3], 0x7632)}};
    return out;
}

STAGE void lanes_subtract(struct lanes *m, uint32_t least) {
    for (int i = 0; i < LANE_REGISTERS; i++)
        m->v[i] -= least;
}

#endif
