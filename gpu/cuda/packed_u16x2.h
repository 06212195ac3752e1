/*
 * The arithmetic of the optimised message kernel: 16 labels of one message as eight registers of
 * two unsigned 16-bit lanes; register i holds labels i and i + 8. Plain functions of such values,
 * so that a test on the CPU runs the code that the GPU runs. Sums stay below 65536, so 32-bit adds
 * never carry between lanes.
 *
 * The two sweeps of the min-convolution run inside blocks of eight labels, and blocks hand on one
 * number each way. Where an add and a minimum are one instruction (compute capability 9) the sweeps
 * are little else.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/stage.h"

enum { PACKED_REGISTERS = LABEL_BLOCK / 2 };

/* Two lanes of what is larger than any belief and, with 8 rho added, still below 65536. */
#define U16X2_FAR 0x9c409c40u

struct packed_labels {
    uint32_t v[PACKED_REGISTERS];
};

struct label_words { /* 16 labels of 8 bits, as they lie in memory */
    uint32_t w[4];
};

STAGE uint32_t u16x2_min(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    return __vminu2(a, b);
#else
    uint32_t low = (a & 0xffff) < (b & 0xffff) ? a & 0xffff : b & 0xffff;
    return low | (a >> 16 < b >> 16 ? a >> 16 : b >> 16) << 16;
#endif
}

STAGE uint32_t u16x2_max(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    return __vmaxu2(a, b);
#else
    return ~u16x2_min(~a, ~b);
#endif
}

STAGE uint32_t u16x2_min3(uint32_t a, uint32_t b, uint32_t c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __vimin3_u16x2(a, b, c);
#else
    return u16x2_min(a, u16x2_min(b, c));
#endif
}

/* min(a + b, c). */
STAGE uint32_t u16x2_add_min(uint32_t a, uint32_t b, uint32_t c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __viaddmin_u16x2(a, b, c);
#else
    return u16x2_min(a + b, c);
#endif
}

/* Bytes of a (0 to 3) and b (4 to 7) by the four digits of choice, the lowest digit for the
 * lowest byte. */
STAGE uint32_t byte_permute(uint32_t a, uint32_t b, uint32_t choice) {
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
STAGE uint32_t u16x2_broadcast(uint32_t value) {
    return value * 0x10001u;
}

/* The table's byte number i (0 to 3) in both lanes. */
STAGE uint32_t u16x2_from_table(uint32_t table, int i) {
    return byte_permute(table, 0, 0x4040u + 0x101u * (uint32_t)i);
}

/* 16-bit sums of bytes are kept in two halves until all are added: odd labels, and whole words,
 * from which the even labels follow as words - 256 odd. Lanes here are labels (k, k + 2) of a
 * word. */
struct label_sums {
    uint32_t words[4], odd[4];
};

STAGE uint32_t odd_labels(uint32_t word) {
    return byte_permute(word, 0, 0x4341);
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

/* In the order of struct packed_labels. */
STAGE void sums_to_packed(const struct label_sums *s, struct packed_labels *out) {
    for (int k = 0; k < 2; k++) {
        uint32_t low = s->words[k] - 256 * s->odd[k], high = s->words[k + 2] - 256 * s->odd[k + 2];
        out->v[4 * k] = byte_permute(low, high, 0x5410);
        out->v[4 * k + 1] = byte_permute(s->odd[k], s->odd[k + 2], 0x5410);
        out->v[4 * k + 2] = byte_permute(low, high, 0x7632);
        out->v[4 * k + 3] = byte_permute(s->odd[k], s->odd[k + 2], 0x7632);
    }
}

/* 16 labels of 8 bits. */
STAGE void packed_from_bytes(const struct label_words *a, struct packed_labels *out) {
    for (int k = 0; k < 4; k++) { /* labels 2k, 2k + 1, 2k + 8 and 2k + 9 */
        uint32_t four = byte_permute(a->w[k / 2], a->w[k / 2 + 2], k % 2 ? 0x7632 : 0x5410);
        out->v[2 * k + 1] = odd_labels(four);
        out->v[2 * k] = four - 256 * out->v[2 * k + 1];
    }
}

/* 16 labels of 16 bits, two to a word as they lie in memory. */
STAGE void packed_from_u16(const uint32_t w[8], struct packed_labels *out) {
    for (int k = 0; k < 4; k++) {
        out->v[2 * k] = byte_permute(w[k], w[k + 4], 0x5410);
        out->v[2 * k + 1] = byte_permute(w[k], w[k + 4], 0x7632);
    }
}

/* And back. */
STAGE void packed_to_u16(const struct packed_labels *a, uint32_t w[8]) {
    for (int k = 0; k < 4; k++) {
        w[k] = byte_permute(a->v[2 * k], a->v[2 * k + 1], 0x5410);
        w[k + 4] = byte_permute(a->v[2 * k], a->v[2 * k + 1], 0x7632);
    }
}

/* Four 16-bit labels, two to a word as they lie in memory, from the bytes of two rows, which are
 * sums of two costs each. */
STAGE void labels_of_rows(uint32_t upper, uint32_t lower, uint32_t out[2]) {
    out[0] = byte_permute(upper, 0, 0x4140) + byte_permute(lower, 0, 0x4140);
    out[1] = byte_permute(upper, 0, 0x4342) + byte_permute(lower, 0, 0x4342);
}

STAGE void packed_add(struct packed_labels *a, const struct packed_labels *b) {
    for (int i = 0; i < PACKED_REGISTERS; i++)
        a->v[i] += b->v[i];
}

/* Labels from number count on are no labels: they lose every minimum. first is this thread's
 * first label. */
STAGE void packed_pad(struct packed_labels *h, int first, int count) {
    for (int i = 0; i < PACKED_REGISTERS; i++) {
        uint32_t keep =
            (first + i < count ? 0xffffu : 0) | (first + i + 8 < count ? 0xffff0000u : 0);
        h->v[i] = (h->v[i] & keep) | (U16X2_FAR & ~keep);
    }
}

/* Minimum of the eight registers, lane by lane. */
STAGE uint32_t packed_minimum(const struct packed_labels *h) {
    return u16x2_min3(u16x2_min3(h->v[0], h->v[1], h->v[2]), u16x2_min3(h->v[3], h->v[4], h->v[5]),
                      u16x2_min(h->v[6], h->v[7]));
}

/* A block of eight labels passes on these: upward, the least cost of its last label that comes from
 * inside it; downward, that of its first label. */
struct block_ends {
    uint32_t up, down;
};

/* rho in both lanes. slanted gets h + rho (7 - i), in which the upward sweep is a running
 * minimum. */
STAGE struct block_ends packed_ends(const struct packed_labels *h, uint32_t rho,
                                    struct packed_labels *slanted) {
    const uint32_t *v = h->v;
    uint32_t down[4]; /* of pairs of labels */
    for (int i = 0; i < PACKED_REGISTERS; i++)
        slanted->v[i] = v[i] + (uint32_t)(7 - i) * rho;
    for (int k = 0; k < 4; k++)
        down[k] = u16x2_add_min(v[2 * k + 1], rho, v[2 * k]) + (uint32_t)(2 * k) * rho;
    struct block_ends e = {packed_minimum(slanted),
                           u16x2_min3(u16x2_min(down[0], down[1]), down[2], down[3])};
    return e;
}

/* Hands each of a thread's two blocks the end of the block before it: before is the end of the
 * thread with the labels below. keep has ones, but not in a lane whose block is the first: that
 * gets U16X2_FAR. */
STAGE uint32_t carry_up(uint32_t before, uint32_t own, uint32_t keep) {
    return (byte_permute(before, own, 0x5432) & keep) | (U16X2_FAR & ~keep);
}

/* The same from the blocks above. */
STAGE uint32_t carry_down(uint32_t after, uint32_t own, uint32_t keep) {
    return (byte_permute(own, after, 0x5432) & keep) | (U16X2_FAR & ~keep);
}

/* How many blocks a carry must travel: those further away than T / rho lose to the truncation. */
STAGE int carry_blocks(int rho, int maximum, int blocks) {
    int n = 1;
    while (n < blocks - 1 && (8 * n + 1) * rho < maximum)
        n++;
    return n;
}

/* The min-convolution from slanted h and the carries, clamped at ceiling (least + T in both
 * lanes). */
STAGE void packed_sweep(struct packed_labels *slanted, uint32_t up, uint32_t down, uint32_t rho,
                        uint32_t ceiling) {
    uint32_t *v = slanted->v;
    for (int i = 0; i < PACKED_REGISTERS; i++)
        v[i] = u16x2_min3(v[i], i ? v[i - 1] : up + 8 * rho, ceiling + (uint32_t)(7 - i) * rho);
    for (int i = 0; i < PACKED_REGISTERS; i++)
        v[i] -= (uint32_t)(7 - i) * rho;
    for (int i = PACKED_REGISTERS - 1; i >= 0; i--)
        v[i] = u16x2_add_min(i < PACKED_REGISTERS - 1 ? v[i + 1] : down, rho, v[i]);
}

/* least (both lanes) subtracted, as bytes in memory order. */
STAGE struct label_words packed_to_bytes(const struct packed_labels *m, uint32_t minimum) {
    uint32_t pair[4];
    for (int k = 0; k < 4; k++)
        pair[k] = m->v[2 * k] + 256 * m->v[2 * k + 1] - 257 * minimum;
    struct label_words out = {
        {byte_permute(pair[0], pair[1], 0x5410), byte_permute(pair[2], pair[3], 0x5410),
         byte_permute(pair[0], pair[1], 0x7632), byte_permute(pair[2], pair[3], 0x7632)}};
    return out;
}

STAGE void packed_subtract(struct packed_labels *m, uint32_t minimum) {
    for (int i = 0; i < PACKED_REGISTERS; i++)
        m->v[i] -= minimum;
}
