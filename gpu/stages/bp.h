/*
 * Stages of belief propagation: the first messages of a level, checkerboard updates of messages,
 * winner-takes-all. There is an array of messages for each direction; it has the messages that
 * pixels send in that direction, one byte per label in [0, T].
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/choices.h"
#include "gpu/stages/stage.h"

/* Sets the messages of the pixels of one parity to those of their parent in the coarser level
 * (Felzenszwalb, Huttenlocher 2006, 3.3), or to zero. Run over half x height of the finer grid. */
struct start_messages_args {
    struct grid grid, coarse;
    const uint8_t *parent[DIRECTIONS]; /* NULL: zero */
    uint8_t *message[DIRECTIONS];
    int parity;
};

STAGE void stage_start_messages(const struct start_messages_args *a, int i, int y) {
    int x = grid_column(a->parity, i, y);
    if (x >= a->grid.width)
        return;
    size_t to = grid_labels(&a->grid, x, y),
           from = a->parent[0] ? grid_labels(&a->coarse, x / 2, y / 2) : 0;
    for (int r = 0; r < DIRECTIONS; r++)
        for (int d = 0; d < a->grid.padded; d++)
            a->message[r][to + d] = a->parent[r] ? a->parent[r][from + d] : 0;
}

/* One checkerboard half-step: the pixels with (x + y + iteration) even send. Run over half x
 * height. m_pq(d) = min_d' (h(d') + V(d, d')) - min h, clamped at T, with h = D_p + the messages
 * to p except q's (Felzenszwalb, Huttenlocher 2006, eq. 2 and 3.1). rho and T come from the
 * class of the edge p-q.
 *
 * Fast-converging updates (Yang et al. 2006, section 3), tile by tile: a pixel sends if a message
 * to a pixel of its tile changed by more than threshold in the half-step before. Threshold 0 gives
 * the messages of plain updates.
 *
 * Between windows of labels (u, v), V is min(rho |k - l|, T) with the L1 distance: rows of labels
 * are swept in both directions, then columns, which is exact, since the distance is a sum of one
 * along u and one along v. A message is computed in the sender's window and resampled to the
 * receiver's. */
struct message_args {
    struct grid grid;
    const uint8_t *cost8; /* one of the two is NULL */
    const uint16_t *cost16;
    uint8_t *message[DIRECTIONS];
    const uint8_t *classes; /* width*height edge classes, or NULL: all 0 */
    const uint16_t *active; /* a number a tile: it is updated if that is iteration. NULL: all are */
    uint16_t *next_active;  /* gets iteration + 1 where a message to the tile changed. NULL: a plain
                               half-step, for which active and updates are NULL, too */
    uint32_t *updates;      /* tiles updated, counted at number iteration, or NULL */
    int iteration;
    int threshold;
    uint8_t rho[4], truncation[4];
    int windows; /* whether labels are (u, v); then: */
    struct motion_map centre;
};

STAGE int message_cost(const struct message_args *a, size_t i) {
    return a->cost16 ? a->cost16[i] : a->cost8[i];
}

/* The first labels of the neighbours of (x, y), and which neighbours exist, one bit per
 * direction. */
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

/* The opposite of direction r: the neighbour in direction r sends its message that way. */
STAGE int opposite(int r) {
    return r ^ 1;
}

STAGE void window_lower(uint8_t *m, const uint8_t *from, int rho) {
    *m = (uint8_t)stage_min(*m, *from + rho); /* NOLINT(clang-analyzer*): there are labels */
}

STAGE void window_sweep(uint8_t *m, const struct label_space *s, int rho) {
    int n = s->u_count * s->v_count, row = s->u_count;
    for (int l = 1; l < n; l++)
        if (l % row)
            window_lower(m + l, m + l - 1, rho);
    for (int l = n - 2; l >= 0; l--)
        if ((l + 1) % row)
            window_lower(m + l, m + l + 1, rho);
    for (int l = row; l < n; l++)
        window_lower(m + l, m + l - row, rho);
    for (int l = n - row - 1; l >= 0; l--)
        window_lower(m + l, m + l + row, rho);
}

/* From the window of (x, y) to its neighbour's in direction r. */
STAGE struct displacement window_shift(const struct message_args *a, const struct neighbours *n,
                                       int x, int y, int r) {
    struct displacement shift = {0, 0};
    if (a->centre.u && n->exist & 1 << r) {
        struct displacement here = motion_centre(&a->centre, &a->grid, x, y),
                            there =
                                motion_centre(&a->centre, &a->grid, x + (r == RIGHT) - (r == LEFT),
                                              y + (r == DOWN) - (r == UP));
        shift.u = there.u - here.u;
        shift.v = there.v - here.v;
    }
    return shift;
}

/* The receiver's label l at shift from the sender's window: the nearest label of that window, and
 * rho for each step to it. Outside its window the sender's labels cost infinity. */
STAGE int window_handed(const uint8_t *m, const struct label_space *s, struct displacement shift,
                        int l, int rho, int maximum) {
    int u = l % s->u_count + shift.u, v = l / s->u_count + shift.v;
    int bu = stage_clamp(u, 0, s->u_count - 1), bv = stage_clamp(v, 0, s->v_count - 1);
    return stage_min(maximum,
                     m[bv * s->u_count + bu] + rho * (stage_abs(u - bu) + stage_abs(v - bv)));
}

/* Message towards direction r into out[padded]. Padding labels end at most T (at T between windows)
 * and are never read as labels. */
STAGE void message_compute(const struct message_args *a, const struct neighbours *n, int x, int y,
                           int r, uint8_t *out) {
    size_t own = grid_labels(&a->grid, x, y);
    int class_bits = a->classes ? a->classes[(size_t)y * a->grid.width + x] : 0;
    int rho = a->rho[class_bits >> (2 * r) & 3], maximum = a->truncation[class_bits >> (2 * r) & 3];
    int16_t h[MAX_LABELS];
    uint8_t m[MAX_LABELS];
    int minimum = INT16_MAX;
    for (int d = 0; d < a->grid.labels; d++) {
        int sum = message_cost(a, own + d);
        for (int s = 0; s < DIRECTIONS; s++)
            if (s != r && n->exist & 1 << s)
                sum += a->message[opposite(s)][n->pixel[s] * a->grid.padded + d];
        h[d] = (int16_t)sum;
        minimum = stage_min(minimum, sum);
    }
    for (int d = 0; d < a->grid.padded; d++)
        m[d] = out[d] =
            (uint8_t)(d < a->grid.labels ? stage_min(h[d] - minimum, maximum) : maximum);
    if (a->windows) {
        struct displacement shift = window_shift(a, n, x, y, r);
        window_sweep(m, &a->grid.space, rho);
        for (int l = 0; l < a->grid.labels; l++)
            out[l] = (uint8_t)window_handed(m, &a->grid.space, shift, l, rho, maximum);
        return;
    }
    for (int d = 1; d < a->grid.padded; d++)
        out[d] = (uint8_t)stage_min(out[d], out[d - 1] + rho);
    for (int d = a->grid.padded - 2; d >= 0; d--)
        out[d] = (uint8_t)stage_min(out[d], out[d + 1] + rho);
}

/* Largest change of a label's message. */
STAGE int message_change(const uint8_t *before, const uint8_t *after, int labels) {
    int change = 0;
    for (int d = 0; d < labels; d++)
        change = stage_max(change, stage_abs(after[d] - before[d]));
    return change;
}

/* Marks the tile of the pixel that receives the message in direction r for the next update. All
 * threads that write to a tile write the same value. */
STAGE void activate_tile(const struct message_args *a, int x, int y, int r) {
    int to_x = x + (r == RIGHT) - (r == LEFT), to_y = y + (r == DOWN) - (r == UP);
    uint16_t *tile = a->next_active + tile_of(a->grid.width, to_x, to_y);
#ifdef __CUDA_ARCH__
    *tile = (uint16_t)(a->iteration + 1);
#else
    __atomic_store_n(tile, (uint16_t)(a->iteration + 1), __ATOMIC_RELAXED);
#endif
}

/* Counts a tile, at its first pixel. */
STAGE void count_update(const struct message_args *a, int x, int y) {
    if (!a->updates || !is_first_of_tile(a->grid.width, x, y))
        return;
    stage_add(a->updates + a->iteration, 1);
}

STAGE void stage_message(const struct message_args *a, int i, int y) {
    int x = grid_column(a->iteration & 1, i, y);
    if (x >= a->grid.width ||
        (a->active && a->active[tile_of(a->grid.width, x, y)] != a->iteration))
        return;
    struct neighbours n = grid_neighbours(&a->grid, x, y);
    uint8_t fresh[MAX_LABELS];
    count_update(a, x, y);
    for (int r = 0; r < DIRECTIONS; r++) {
        uint8_t *out = a->message[r] + grid_labels(&a->grid, x, y);
        message_compute(a, &n, x, y, r, fresh);
        if (a->next_active && n.exist & 1 << r &&
            message_change(out, fresh, a->grid.labels) > a->threshold)
            activate_tile(a, x, y, r);
        for (int d = 0; d < a->grid.padded; d++)
            out[d] = fresh[d];
    }
}

/* Clears the marks of all tiles and the counts of updates. Run over count x 1. */
struct clear_tiles_args {
    uint16_t *active;  /* count */
    uint32_t *updates; /* update_count, at most count, or NULL */
    int update_count;
};

STAGE void stage_clear_tiles(const struct clear_tiles_args *a, int x, int y) {
    (void)y;
    a->active[x] = 0;
    if (a->updates && x < a->update_count)
        a->updates[x] = 0;
}

/* The label of least belief (the lowest of equals), its displacement, along u and along v with the
 * minimum of a curve through the beliefs beside it, in 1/16 px, and its margin: the least belief
 * among labels that are not adjacent to it (in a window: its eight neighbours) minus its own, at
 * most 255. */
struct wta_args {
    struct grid grid;
    const uint8_t *cost;
    const uint8_t *message[DIRECTIONS];
    uint16_t *label;
    int16_t *disparity; /* or u */
    uint8_t *confidence;
    int subpixel; /* SUBPIXEL_* */
    int fraction; /* labels in a px */
    int16_t *v;   /* NULL: labels are disparities */
    struct motion_map centre;
};

STAGE int belief(const struct wta_args *a, const struct neighbours *n, size_t own, int d) {
    int sum = a->cost[own + d];
    for (int s = 0; s < DIRECTIONS; s++)
        if (n->exist & 1 << s)
            sum += a->message[opposite(s)][n->pixel[s] * a->grid.padded + d];
    return sum;
}

/* The offset of the minimum of a curve through three beliefs from the middle one, in 1/16 px, at
 * most half a pixel. */
STAGE int subpixel_offset(int before, int here, int after, int subpixel) {
    int bend =
        subpixel == SUBPIXEL_PARABOLA ? before + after - 2 * here : stage_max(before, after) - here;
    return subpixel == SUBPIXEL_OFF || bend <= 0 ? 0 : divide_round(8 * (before - after), bend);
}

/* Beliefs of a pixel's best label and of those one step beside it; any number where the window
 * ends. */
struct wta_beliefs {
    int best, before_u, after_u, before_v, after_v;
};

/* Stores a pixel whose best label is known, and the least belief beyond that label's neighbours,
 * which is at most 255 more than the best one. */
STAGE void wta_put(const struct wta_args *a, int x, int y, int best, const struct wta_beliefs *b,
                   int second) {
    const struct grid *g = &a->grid;
    const struct label_space *s = &g->space;
    size_t i = (size_t)y * (size_t)g->width + (size_t)x;
    int u = best % s->u_count, v = best / s->u_count, offset_u = 0, offset_v = 0;
    if (u > 0 && u + 1 < s->u_count)
        offset_u = subpixel_offset(b->before_u, b->best, b->after_u, a->subpixel);
    if (v > 0 && v + 1 < s->v_count)
        offset_v = subpixel_offset(b->before_v, b->best, b->after_v, a->subpixel);
    struct displacement d = motion_label(s, motion_centre(&a->centre, g, x, y), best);
    struct motion_map out = {a->disparity, a->v};
    d.u = divide_round(16 * d.u + offset_u, a->fraction);
    d.v = divide_round(16 * d.v + offset_v, a->fraction);
    motion_put(&out, i, d);
    a->label[i] = (uint16_t)best;
    a->confidence[i] = (uint8_t)(second - b->best);
}

STAGE int belief_or_0(const struct wta_args *a, const struct neighbours *n, size_t own, int d) {
    return d >= 0 && d < a->grid.labels ? belief(a, n, own, d) : 0;
}

STAGE void stage_winner_takes_all(const struct wta_args *a, int x, int y) {
    const struct label_space *s = &a->grid.space;
    struct neighbours n = grid_neighbours(&a->grid, x, y);
    size_t own = grid_labels(&a->grid, x, y);
    int best = 0, minimum = belief(a, &n, own, 0);
    for (int d = 1; d < a->grid.labels; d++) {
        int b = belief(a, &n, own, d);
        if (b < minimum) {
            minimum = b;
            best = d;
        }
    }
    struct wta_beliefs around = {
        minimum, belief_or_0(a, &n, own, best - 1), belief_or_0(a, &n, own, best + 1),
        belief_or_0(a, &n, own, best - s->u_count), belief_or_0(a, &n, own, best + s->u_count)};
    int second = minimum + 255, best_u = best % s->u_count, best_v = best / s->u_count;
    for (int v = 0, d = 0; v < s->v_count; v++)
        for (int u = 0; u < s->u_count; u++, d++)
            if (stage_abs(u - best_u) > 1 || stage_abs(v - best_v) > 1)
                second = stage_min(second, belief(a, &n, own, d));
    wta_put(a, x, y, best, &around, second);
}
