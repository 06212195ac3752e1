/*
 * Stages of belief propagation: silence, widen, checkerboard messages with and without resting,
 * tally, pick. A message array belongs to a direction and holds what each pixel sends that way, one
 * byte a label in [0, T].
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STAGE_BP_H
#define LIVESTEREO_STAGE_BP_H

#include "config/params.h"
#include "gpu/stage.h"

/* All four messages of the pixels of one colour become zero. Run over half x height. */
struct silence_args {
    struct grid grid;
    uint8_t *message[DIRECTIONS];
    int colour;
};

STAGE void stage_silence(const struct silence_args *a, int i, int y) {
    int x = grid_column(a->colour, i, y);
    if (x >= a->grid.width)
        return;
    for (int r = 0; r < DIRECTIONS; r++)
        for (int d = 0; d < a->grid.padded; d++)
            a->message[r][grid_labels(&a->grid, x, y) + d] = 0;
}

/* The pixels of one colour start with the messages of their parent a level up (Felzenszwalb,
 * Huttenlocher 2006, 3.3). Run over half x height of the finer grid. */
struct widen_args {
    struct grid grid, coarse;
    const uint8_t *parent[DIRECTIONS];
    uint8_t *message[DIRECTIONS];
    int colour;
};

STAGE void stage_widen(const struct widen_args *a, int i, int y) {
    int x = grid_column(a->colour, i, y);
    if (x >= a->grid.width)
        return;
    size_t from = grid_labels(&a->coarse, x / 2, y / 2), to = grid_labels(&a->grid, x, y);
    for (int r = 0; r < DIRECTIONS; r++)
        for (int d = 0; d < a->grid.padded; d++)
            a->message[r][to + d] = a->parent[r][from + d];
}

/* One checkerboard half-step: the pixels with (x + y + iteration) even send. Run over half x
 * height. m_pq(d) = min_d' (h(d') + V(d, d')) - min h, clamped at T, with h = D_p + the messages
 * to p except q's (Felzenszwalb, Huttenlocher 2006, eq. 2 and 3.1). rho and T come from the
 * class of the edge p-q. */
struct message_args {
    struct grid grid;
    const uint8_t *cost8; /* one of the two is NULL */
    const uint16_t *cost16;
    uint8_t *message[DIRECTIONS];
    const uint8_t *classes; /* width*height edge classes, or NULL: all 0 */
    uint8_t *flags;         /* a byte a pixel in checkerboard order, or NULL: nobody rests */
    const uint8_t *heat;    /* a byte a tile, or NULL: where it is 0 nobody sends */
    int iteration;
    int threshold; /* resting: a message that changes by no more than this is not sent */
    uint8_t rho[4], truncation[4];
};

/* In flags: bit r, message r changed in the pixel's last half-step; bit 4 + r, it was computed. */
enum { FLAG_CHANGED = 1, FLAG_COMPUTED = 16, FLAG_ALL_CHANGED = 15 };

STAGE int message_cost(const struct message_args *a, size_t i) {
    return a->cost16 ? a->cost16[i] : a->cost8[i];
}

/* Where the pixels around (x, y) store their labels; which of them exist, a bit a direction. */
struct neighbours {
    size_t pixel[DIRECTIONS];
    int exist;
};

STAGE struct neighbours grid_neighbours(const struct grid *g, int x, int y) {
    struct neighbours n;
    n.exist =
        (y > 0) << UP | (y + 1 < g->height) << DOWN | (x > 0) << LEFT | (x + 1 < g->width) << RIGHT;
    n.pixel[UP] = n.exist & 1 << UP ? grid_pixel(g, x, y - 1) : 0;
    n.pixel[DOWN] = n.exist & 1 << DOWN ? grid_pixel(g, x, y + 1) : 0;
    n.pixel[LEFT] = n.exist & 1 << LEFT ? grid_pixel(g, x - 1, y) : 0;
    n.pixel[RIGHT] = n.exist & 1 << RIGHT ? grid_pixel(g, x + 1, y) : 0;
    return n;
}

/* The neighbour in direction r sends to us in the opposite direction. */
STAGE int opposite(int r) {
    return r ^ 1;
}

/* Message towards direction r into out[padded]. Padding labels end at most T and matter to
 * nobody. */
STAGE void message_compute(const struct message_args *a, const struct neighbours *n, int x, int y,
                           int r, uint8_t *out) {
    size_t own = grid_labels(&a->grid, x, y);
    int class_bits = a->classes ? a->classes[(size_t)y * a->grid.width + x] : 0;
    int rho = a->rho[class_bits >> (2 * r) & 3], most = a->truncation[class_bits >> (2 * r) & 3];
    int16_t h[LABELS_MOST];
    int least = INT16_MAX;
    for (int d = 0; d < a->grid.labels; d++) {
        int sum = message_cost(a, own + d);
        for (int s = 0; s < DIRECTIONS; s++)
            if (s != r && n->exist & 1 << s)
                sum += a->message[opposite(s)][n->pixel[s] * a->grid.padded + d];
        h[d] = (int16_t)sum;
        least = stage_min(least, sum);
    }
    for (int d = 0; d < a->grid.padded; d++)
        out[d] = (uint8_t)(d < a->grid.labels ? stage_min(h[d] - least, most) : most);
    for (int d = 1; d < a->grid.padded; d++)
        out[d] = (uint8_t)stage_min(out[d], out[d - 1] + rho);
    for (int d = a->grid.padded - 2; d >= 0; d--)
        out[d] = (uint8_t)stage_min(out[d], out[d + 1] + rho);
}

STAGE void stage_message(const struct message_args *a, int i, int y) {
    int x = grid_column(a->iteration & 1, i, y);
    if (x >= a->grid.width || (a->heat && !a->heat[tile_of(a->grid.width, x, y)]))
        return;
    struct neighbours n = grid_neighbours(&a->grid, x, y);
    for (int r = 0; r < DIRECTIONS; r++)
        message_compute(a, &n, x, y, r, a->message[r] + grid_labels(&a->grid, x, y));
}

/* Fast-converging updates (Yang et al. 2006, section 3), message by message: a message is
 * computed only if one of the three it is made of changed in the neighbour's last half-step.
 * Threshold 0 gives the bytes of stage_message. The first half-step of a level computes all and
 * counts all as changed. */
STAGE void stage_message_resting(const struct message_args *a, int i, int y) {
    int x = grid_column(a->iteration & 1, i, y);
    if (x >= a->grid.width)
        return;
    struct neighbours n = grid_neighbours(&a->grid, x, y);
    int arrived = 0; /* directions whose neighbour has sent something new */
    for (int s = 0; s < DIRECTIONS; s++)
        if (n.exist & 1 << s && a->flags[n.pixel[s]] & FLAG_CHANGED << opposite(s))
            arrived |= 1 << s;
    int flags = 0;
    for (int r = 0; r < DIRECTIONS; r++) {
        if (a->iteration > 1 && !(arrived & ~(1 << r)))
            continue;
        uint8_t fresh[LABELS_MOST];
        uint8_t *sent = a->message[r] + grid_labels(&a->grid, x, y);
        message_compute(a, &n, x, y, r, fresh);
        int change = a->iteration == 0 ? TRUNCATION_MOST + 1 : 0;
        for (int d = 0; d < a->grid.labels && a->iteration > 0; d++)
            change = stage_max(change, stage_abs(fresh[d] - sent[d]));
        flags |= FLAG_COMPUTED << r;
        if (change > a->threshold) {
            flags |= FLAG_CHANGED << r;
            for (int d = 0; d < a->grid.padded; d++)
                sent[d] = fresh[d];
        }
    }
    a->flags[grid_pixel(&a->grid, x, y)] = (uint8_t)flags;
}

/* Messages computed in the last half-step, counted row by row. Run over 1 x height. */
struct tally_args {
    struct grid grid;
    const uint8_t *flags;
    uint32_t *count; /* height */
    int colour;
};

STAGE void stage_tally(const struct tally_args *a, int x, int y) {
    uint32_t count = 0;
    for (x = (y + a->colour) & 1; x < a->grid.width; x += 2) {
        int computed = a->flags[grid_pixel(&a->grid, x, y)] / FLAG_COMPUTED;
        count += (uint32_t)((computed & 1) + (computed >> 1 & 1) + (computed >> 2 & 1) +
                            (computed >> 3 & 1));
    }
    a->count[y] = count;
}

/* The label of least belief (the lower of equals), its disparity with sub-pixel interpolation in
 * 1/16 px, and its confidence: how far the best label that is not its neighbour lies behind, up
 * to 255. */
struct pick_args {
    struct grid grid;
    const uint8_t *cost;
    const uint8_t *message[DIRECTIONS];
    uint16_t *label;
    int16_t *disparity;
    uint8_t *confidence;
    int min_disparity;
    int subpixel; /* SUBPIXEL_* */
};

STAGE int belief(const struct pick_args *a, const struct neighbours *n, size_t own, int d) {
    int sum = a->cost[own + d];
    for (int s = 0; s < DIRECTIONS; s++)
        if (n->exist & 1 << s)
            sum += a->message[opposite(s)][n->pixel[s] * a->grid.padded + d];
    return sum;
}

/* Offset of the minimum from the middle of three beliefs, in 1/16 px, within half a pixel. */
STAGE int subpixel_offset(int before, int here, int after, int subpixel) {
    int bend =
        subpixel == SUBPIXEL_PARABOLA ? before + after - 2 * here : stage_max(before, after) - here;
    return subpixel == SUBPIXEL_OFF || bend <= 0 ? 0 : divide_round(8 * (before - after), bend);
}

STAGE void stage_pick(const struct pick_args *a, int x, int y) {
    struct neighbours n = grid_neighbours(&a->grid, x, y);
    size_t own = grid_labels(&a->grid, x, y), i = (size_t)y * a->grid.width + x;
    int best = 0, least = belief(a, &n, own, 0);
    for (int d = 1; d < a->grid.labels; d++) {
        int b = belief(a, &n, own, d);
        if (b < least) {
            least = b;
            best = d;
        }
    }
    int second = least + 255;
    for (int d = 0; d < a->grid.labels; d++)
        if (d < best - 1 || d > best + 1)
            second = stage_min(second, belief(a, &n, own, d));
    int offset = 0;
    if (best > 0 && best + 1 < a->grid.labels)
        offset = subpixel_offset(belief(a, &n, own, best - 1), least, belief(a, &n, own, best + 1),
                                 a->subpixel);
    a->label[i] = (uint16_t)best;
    a->disparity[i] = (int16_t)(16 * (a->min_disparity + best) + offset);
    a->confidence[i] = (uint8_t)(second - least);
}

#endif
