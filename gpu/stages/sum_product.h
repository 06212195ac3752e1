/*
 * Sum-product belief propagation on a grid (Pearl 1988), hierarchical with checkerboard updates, as
 * stages; gpu/mrf/sum_product.c makes their arguments.
 *
 * Probabilities are 16-bit integers. Those of a pixel's labels, of its data cost or of a message,
 * have a common factor, with which the largest is at least 2^15, and none is below 1. Volumes are
 * [parity][y][block][label][lane]: a block is SUM_LANES pixels of one parity in a row; lanes of no
 * pixel, and what comes from outside of the picture, have UINT16_MAX for all labels.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/stage.h"

enum { SUM_LANES = 16 };

/* A level of the hierarchy. */
struct sum_grid {
    int width, height, labels;
    int blocks; /* of SUM_LANES pixels of one parity in a row */
};

STAGE struct sum_grid sum_grid_make(int width, int height, int labels) {
    struct sum_grid g = {width, height, labels, ((width + 1) / 2 + SUM_LANES - 1) / SUM_LANES};
    return g;
}

/* Pixels of both parities, those of no picture included; a row of one parity has half. */
STAGE int sum_half(const struct sum_grid *g) {
    return g->blocks * SUM_LANES;
}
STAGE size_t sum_slots(const struct sum_grid *g) {
    return (size_t)2 * (size_t)g->height * (size_t)sum_half(g);
}
STAGE size_t sum_volume(const struct sum_grid *g) {
    return sum_slots(g) * (size_t)g->labels;
}

/* The number of pixel i of a parity in row y, and where its first label lies. */
STAGE size_t sum_pixel(const struct sum_grid *g, int parity, int i, int y) {
    return ((size_t)parity * (size_t)g->height + (size_t)y) * (size_t)sum_half(g) + (size_t)i;
}
STAGE size_t sum_place(const struct sum_grid *g, int parity, int i, int y) {
    size_t pixel = sum_pixel(g, parity, i, y);
    return pixel / SUM_LANES * SUM_LANES * (size_t)g->labels + pixel % SUM_LANES;
}

STAGE uint16_t sum_at_most_16_bits(uint64_t v) {
    return (uint16_t)(v > UINT16_MAX ? UINT16_MAX : v);
}

/* ---- data */

/* Costs above each pixel's least one, in bits, -log2 of a probability, of which one is 2^12: times
 * factor / 2^shift, shift is 1 to 62. Arrays are [y][x][label]. Run over width x height. */
struct sum_bits_args {
    int width, labels;
    const int32_t *cost; /* differences below 2^27 */
    uint32_t factor;
    int shift;
    uint16_t *out;
};

STAGE void stage_sum_bits(const struct sum_bits_args *a, int x, int y) {
    size_t labels = (size_t)a->labels, at = ((size_t)y * (size_t)a->width + (size_t)x) * labels;
    const int32_t *cost = a->cost + at;
    int32_t least = cost[0];
    for (size_t l = 1; l < labels; l++)
        least = cost[l] < least ? cost[l] : least;
    for (size_t l = 0; l < labels; l++) {
        uint64_t v = (uint64_t)((int64_t)cost[l] - least) * a->factor;
        a->out[at + l] = sum_at_most_16_bits((v + ((uint64_t)1 << (a->shift - 1))) >> a->shift);
    }
}

/* Costs of a node, the sums of its pixels' less the least, in bits. Run over the nodes. */
struct sum_coarser_args {
    int width, height, labels; /* of the finer level */
    const uint16_t *fine;
    uint16_t *out;
};

STAGE void stage_sum_coarser(const struct sum_coarser_args *a, int x, int y) {
    uint32_t sum[MAX_LABELS] = {0}, least = UINT32_MAX;
    size_t width = (size_t)a->width, labels = (size_t)a->labels;
    uint16_t *out = a->out + ((size_t)y * ((width + 1) / 2) + (size_t)x) * labels;
    for (int i = 0; i < 4; i++) {
        int fx = 2 * x + (i & 1), fy = 2 * y + i / 2;
        if (fx >= a->width || fy >= a->height)
            continue;
        const uint16_t *from = a->fine + ((size_t)fy * width + (size_t)fx) * labels;
        for (size_t l = 0; l < labels; l++)
            sum[l] += from[l];
    }
    for (size_t l = 0; l < labels; l++)
        least = sum[l] < least ? sum[l] : least;
    for (size_t l = 0; l < labels; l++)
        out[l] = sum_at_most_16_bits(sum[l] - least);
}

/* Powers of 2^-1/2^16: 2^-(i / 2^8) and 2^-(i / 2^16) for i below 256, 2^32 is 1. */
enum { SUM_POWERS = 512 };

STAGE uint64_t sum_multiply_fractions(uint64_t a, uint64_t b) {
    return a >> 32 ? b : b >> 32 ? a : (a * b + (1u << 31)) >> 32;
}

/* 2^-bits, 2^16 bits are 1 and 2^32 of the result. */
STAGE uint64_t sum_power(const uint64_t *powers, uint32_t bits) {
    uint64_t v = sum_multiply_fractions(powers[bits >> 8 & 255], powers[256 + (bits & 255)]);
    return bits >> 16 > 32 ? 0 : v >> (bits >> 16);
}

/* exp(-D) of costs in bits. Run over width x height. */
struct sum_data_args {
    struct sum_grid grid;
    const uint16_t *bits; /* [y][x][label] */
    const uint64_t *powers;
    uint16_t *out;
};

STAGE void stage_sum_data(const struct sum_data_args *a, int x, int y) {
    const struct sum_grid *g = &a->grid;
    size_t labels = (size_t)g->labels;
    const uint16_t *bits = a->bits + ((size_t)y * (size_t)g->width + (size_t)x) * labels;
    uint16_t *out = a->out + sum_place(g, (x + y) & 1, x / 2, y);
    for (size_t l = 0; l < labels; l++) {
        uint16_t p = sum_at_most_16_bits(sum_power(a->powers, (uint32_t)bits[l] << 4) >> 16);
        out[l * SUM_LANES] = (uint16_t)(p > 1 ? p : 1);
    }
}

/* ---- messages */

/* Pixels of parity 1 take their node's messages; those of parity 0 send before they are heard.
 * Lanes of no pixel get theirs in both. Run over half x height. */
struct sum_start_args {
    struct sum_grid grid, coarse;
    const uint16_t *parent[DIRECTIONS]; /* NULL on the coarsest level */
    uint16_t *message[DIRECTIONS];
};

STAGE void stage_sum_start(const struct sum_start_args *a, int i, int y) {
    for (int parity = 0; parity < 2; parity++) {
        int x = grid_column(parity, i, y), inside = x < a->grid.width;
        size_t to = sum_place(&a->grid, parity, i, y),
               from = sum_place(&a->coarse, (x / 2 + y / 2) & 1, x / 4, y / 2);
        for (int r = 0; r < DIRECTIONS && (parity || !inside); r++)
            for (size_t n = 0; n < (size_t)a->grid.labels * SUM_LANES; n += SUM_LANES)
                a->message[r][to + n] =
                    inside && a->parent[r] ? a->parent[r][from + n] : UINT16_MAX;
    }
}

/* How a message follows from h, the product at the sender: m(k) = sum_l h(l) exp(-V(l, k)), times a
 * factor with which it has 16 bits. V is free (all 0), a function of |l - k|, one that is linear up
 * to a truncation, or any. */
enum { SUM_FREE, SUM_DIRECT, SUM_RECURSIVE, SUM_TABLE };

struct sum_kernel {
    int kind;
    /* Of a function, the largest difference for which V is below its largest value T; of a
     * recursion, the first one for which V is T. */
    int steps;
    uint32_t ratio, leaves; /* exp(-rho) and exp(-rho steps), 2^16 is 1; of a recursion */
    uint64_t rest;          /* exp(-T): of a recursion, 2^16 is 1; of a function, 2^32, divided by
                               the sum of exp(-V) over the labels */
    /* Where its values begin, of which 2^16 is 1: of a function exp(-V(d)) - exp(-T) for d up to
     * steps, divided by that sum, for d above 0 twice; of any V exp(-V(l, k)), [l][k]. */
    size_t values;
};

/* A checkerboard half-step: the pixels of a parity send. Run over half x height. */
struct sum_message_args {
    struct sum_grid grid;
    int parity;
    int kinds; /* of the kernels in use, one bit each */
    const uint16_t *data;
    const uint16_t *edge; /* the kernel of the edge from each pixel, [direction][parity][y][i] */
    const struct sum_kernel *kernel;
    const uint16_t *values;
    uint16_t *message[DIRECTIONS];
};

/* What comes to a pixel from each direction: where it begins, or NULL from outside. */
STAGE void sum_find_messages(const struct sum_grid *g, uint16_t *const message[DIRECTIONS],
                             int parity, int i, int y, const uint16_t *from[DIRECTIONS]) {
    int left = i - 1 + ((y + parity) & 1), sender = !parity;
    from[UP] = y ? message[DOWN] + sum_place(g, sender, i, y - 1) : 0;
    from[DOWN] = y + 1 < g->height ? message[UP] + sum_place(g, sender, i, y + 1) : 0;
    from[LEFT] = left >= 0 ? message[RIGHT] + sum_place(g, sender, left, y) : 0;
    from[RIGHT] = left + 1 < sum_half(g) ? message[LEFT] + sum_place(g, sender, left + 1, y) : 0;
}

/* The power of two with which v has 16 bits. */
STAGE uint32_t sum_factor(uint32_t v) {
    uint32_t factor = 1;
    while (v * factor < 1 << 15)
        factor *= 2;
    return factor;
}

/* What lies at from, or what comes from outside. */
STAGE void sum_load(const uint16_t *from, int labels, uint16_t *out) {
    for (int l = 0; l < labels; l++)
        out[l] = from ? from[(size_t)l * SUM_LANES] : UINT16_MAX;
}

/* v = v b, at least 1, where v lacks its factor. Returns that of the result. */
STAGE uint32_t sum_multiply(uint16_t *v, uint32_t factor, const uint16_t *b, int labels) {
    uint32_t largest = 1;
    for (int l = 0; l < labels; l++) {
        uint32_t product = v[l] * factor * (b ? b[(size_t)l * SUM_LANES] : UINT16_MAX) >> 16;
        v[l] = (uint16_t)(product > 1 ? product : 1);
        largest = v[l] > largest ? v[l] : largest;
    }
    return sum_factor(largest);
}

STAGE void sum_scale(uint16_t *v, uint32_t factor, int labels) {
    for (int l = 0; l < labels; l++)
        v[l] = (uint16_t)(v[l] * factor);
}

/* A message, still without its factor. */
STAGE void sum_spread_direct(const struct sum_kernel *k, const uint16_t *value, const uint16_t *h,
                             int labels, uint32_t *out) {
    uint32_t sum = 0;
    for (int l = 0; l < labels; l++)
        sum += h[l];
    for (int l = 0; l < labels; l++) {
        out[l] = (uint32_t)(sum * k->rest >> 32) + ((uint32_t)h[l] * value[0] >> 16);
        for (int d = 1; d <= k->steps; d++) {
            uint32_t below = l >= d ? h[l - d] : 0, above = l + d < labels ? h[l + d] : 0;
            out[l] += ((below + above + 1) >> 1) * value[d] >> 16;
        }
    }
}

/* v ratio, 2^16 of which is 1. */
STAGE int32_t sum_decay(int32_t v, uint32_t ratio) {
    return (v >> 16) * (int32_t)ratio + (int32_t)(((uint32_t)v & 0xffff) * ratio >> 16);
}

/* Sums of h exp(-V) over the labels nearer than steps by a recursion in each direction, which what
 * leaves this window is subtracted from, and exp(-T) times what is outside. 2^5 is 1 of h. */
STAGE void sum_spread_recursively(const struct sum_kernel *k, const uint16_t *h, int labels,
                                  uint32_t *out) {
    int32_t sum = 0;
    uint32_t outside = 0;
    int steps = k->steps;
    for (int l = 0; l < labels; l++) {
        uint32_t leaving = l >= steps ? h[l - steps] : 0;
        sum = sum_decay(sum, k->ratio) + (h[l] << 5) - (int32_t)(leaving * k->leaves >> 11);
        out[l] = (uint32_t)sum;
    }
    for (int l = 0; l < labels - steps + 1; l++)
        outside += h[l]; /* of the label behind the last one */
    sum = 0;
    for (int l = labels - 1; l >= 0; l--) {
        uint32_t leaving = l + steps < labels ? h[l + steps] : 0;
        sum = sum_decay(sum, k->ratio) + (h[l] << 5) - (int32_t)(leaving * k->leaves >> 11);
        outside += leaving - (l - steps + 1 >= 0 ? h[l - steps + 1] : 0);
        int32_t v = (int32_t)out[l] + sum - (h[l] << 5) +
                    (int32_t)((outside >> 9) * (uint32_t)k->rest >> 2);
        out[l] = (uint32_t)(v > 1 ? v : 1);
    }
}

STAGE void sum_spread_by_table(const uint16_t *table, int forwards, const uint16_t *h, int labels,
                               uint32_t *out) {
    for (int to = 0; to < labels; to++) {
        out[to] = 0;
        for (int l = 0; l < labels; l++)
            out[to] += h[l] * (uint32_t)table[forwards ? l * labels + to : to * labels + l] >> 9;
    }
}

/* Sends what a kernel makes of h, with its factor. */
STAGE void sum_send(const struct sum_message_args *a, int r, const struct sum_kernel *k,
                    const uint16_t *h, uint16_t *to) {
    int labels = a->grid.labels, shift = 0;
    uint32_t out[MAX_LABELS], largest = 1;
    for (int l = 0; l < labels; l++)
        out[l] = UINT16_MAX;
    if (k->kind == SUM_DIRECT)
        sum_spread_direct(k, a->values + k->values, h, labels, out);
    else if (k->kind == SUM_RECURSIVE)
        sum_spread_recursively(k, h, labels, out);
    else if (k->kind == SUM_TABLE)
        sum_spread_by_table(a->values + k->values, r == RIGHT || r == DOWN, h, labels, out);
    for (int l = 0; l < labels; l++) {
        out[l] = out[l] > 1 ? out[l] : 1;
        largest = out[l] > largest ? out[l] : largest;
    }
    int wide = k->kind == SUM_RECURSIVE || k->kind == SUM_TABLE ? 32 : 16;
    while (largest << shift >> (wide - 1) == 0)
        shift++;
    for (int l = 0; l < labels; l++) {
        uint32_t v = out[l] << shift >> (wide - 16);
        to[(size_t)l * SUM_LANES] = (uint16_t)(v > 1 ? v : 1);
    }
}

STAGE void stage_sum_message(const struct sum_message_args *a, int i, int y) {
    const struct sum_grid *g = &a->grid;
    int labels = g->labels;
    size_t own = sum_place(g, a->parity, i, y);
    uint16_t with[2][MAX_LABELS], h[MAX_LABELS]; /* the data with columns, with rows */
    uint32_t factor[2];
    const uint16_t *from[DIRECTIONS];
    if (grid_column(a->parity, i, y) >= g->width)
        return;
    sum_find_messages(g, a->message, a->parity, i, y, from);
    for (int n = 0; n < 2; n++) {
        sum_load(from[2 * n], labels, with[n]);
        factor[n] = sum_multiply(with[n], 1, from[2 * n + 1], labels);
        factor[n] = sum_multiply(with[n], factor[n], a->data + own, labels);
    }
    for (int r = 0; r < DIRECTIONS; r++) {
        int n = r < LEFT;
        for (int l = 0; l < labels; l++)
            h[l] = with[n][l];
        sum_scale(h, sum_multiply(h, factor[n], from[r ^ 1], labels), labels);
        size_t edge = (size_t)r * sum_slots(g) + sum_pixel(g, a->parity, i, y);
        sum_send(a, r, a->kernel + a->edge[edge], h, a->message[r] + own);
    }
}

/* ---- labels */

/* log2 of 1 + i / 2^8, i to 2^8; 2^16 is 1. */
enum { SUM_LOGARITHMS = 257 };

/* log2 of v by the line between two entries, off by less than 2^-15; 2^16 is 1. Of 0: 0. */
STAGE uint32_t sum_log2(const uint32_t *logarithms, uint32_t v) {
    uint32_t whole = 31;
    for (uint32_t step = 16; step; step /= 2)
        if (v >> (32 - step) == 0) {
            v <<= step;
            whole -= step;
        }
    const uint32_t *at = logarithms + (v >> 23 & 255);
    return (whole << 16) + at[0] + ((at[1] - at[0]) * (v & 0x7fffff) >> 23);
}

/* The most probable label, of equals the first; and, with a common factor, the sums over the labels
 * of their probabilities, of these times the label, of those of the most probable one and its
 * neighbours, and of p log2 p with 2^16 times that factor. Run over half x height. */
struct sum_labels_args {
    struct sum_grid grid;
    int parity;
    const uint16_t *data;
    uint16_t *message[DIRECTIONS];
    uint16_t *label; /* width * height, as the next three */
    uint64_t *sum, *mean, *near;
    uint64_t *bits;   /* likewise, or NULL */
    uint32_t *belief; /* the probability of each label, width * height * labels, or NULL */
    const uint32_t *logarithms;
};

STAGE void stage_sum_labels(const struct sum_labels_args *a, int i, int y) {
    const struct sum_grid *g = &a->grid;
    int x = grid_column(a->parity, i, y), labels = g->labels, best = 0;
    uint16_t one[MAX_LABELS], other[MAX_LABELS];
    const uint16_t *from[DIRECTIONS];
    if (x >= g->width)
        return;
    sum_find_messages(g, a->message, a->parity, i, y, from);
    sum_load(from[UP], labels, one);
    uint32_t factor = sum_multiply(one, 1, from[DOWN], labels);
    factor = sum_multiply(one, factor, a->data + sum_place(g, a->parity, i, y), labels);
    sum_scale(one, factor, labels);
    sum_load(from[LEFT], labels, other);
    sum_scale(other, sum_multiply(other, 1, from[RIGHT], labels), labels);
    size_t at = (size_t)y * (size_t)g->width + (size_t)x;
    uint64_t sum = 0, mean = 0, near = 0, bits = 0;
    for (int l = 0; l < labels; l++) {
        uint32_t p = (uint32_t)one[l] * other[l];
        best = p > (uint32_t)one[best] * other[best] ? l : best;
        sum += p;
        mean += (uint64_t)l * p;
        bits += a->bits ? (uint64_t)sum_log2(a->logarithms, p) * p : 0;
        if (a->belief)
            a->belief[at * (size_t)labels + (size_t)l] = p;
    }
    for (int l = stage_max(best - 1, 0); l <= stage_min(best + 1, labels - 1); l++)
        near += (uint32_t)one[l] * other[l];
    a->label[at] = (uint16_t)best;
    a->sum[at] = sum;
    a->mean[at] = mean;
    a->near[at] = near;
    if (a->bits)
        a->bits[at] = bits;
}
