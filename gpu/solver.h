/*
 * A solver finds labels of low energy: it adds passes to a frame's list, from a cost volume to a
 * map of labels. Its messages may have any type. Pointers are addresses of the graph's buffers.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SOLVER_H
#define LIVESTEREO_SOLVER_H

#include "gpu/graph.h"
#include "gpu/scaling.h"
#include "image/frame.h"

/* With fast-converging updates, the number of half-steps at the start of a level that update all
 * tiles. */
enum { SOLVER_FULL_UPDATES = 3 };

/* The displacements of labels (u, v), see gpu/stages/motion.h: V is min(rho |l_p - l_q|, T) with
 * the L1 distance of the displacements. */
struct window {
    struct motion_map centre; /* of the finest level's pixels; u not NULL: there is one level */
    int fraction;
};

/* E(l) = sum_p D_p(l_p) + sum_(p,q) min(rho f(|l_p - l_q|), T) over the 4-connected grid, for one
 * of the two pictures as the reference. */
struct problem {
    const struct params *params;
    const struct scaling *scaling;
    struct grid grid;                 /* of the finest level */
    const uint8_t *cost;              /* D: grid_volume(&grid), at most MAX_COST; NULL where it has
                                         more bits, which min_sum_solve() cannot take */
    struct label_cost source;         /* D again, of cost or made from the pictures */
    const uint8_t *smoothness;        /* struct scaling's, in the backend's memory */
    const uint8_t *edges[MAX_LEVELS]; /* classes of the edges, for rho and T; NULL: all 0 */
    int levels;
    const struct window *window; /* of labels (u, v), NULL: labels are disparities */
    int sign;                    /* 1: of the left picture, -1: of the right one */
    int max_iterations;          /* at the finest level; -1: as many as params says */
    int group;                   /* TIME_COUNT times the side: times count from there on */
    uint32_t
        *updates; /* FRAME_UPDATES: tiles updated in each half-step of the finest level, or NULL */
};

/* width*height each; confidence 0 to 255, disparity in 1/16 px; of labels (u, v) it is u. */
struct label_map {
    uint16_t *label;
    int16_t *disparity, *v;
    uint8_t *confidence;
    const uint8_t
        *message[DIRECTIONS]; /* of the finest level; a backend may leave out what the last
                                           half-step sends, since no pass reads it. NULL: none of
                                           min_sum_solve() */
};

/* Hierarchical min-sum belief propagation with checkerboard updates (Felzenszwalb, Huttenlocher
 * 2006), then the label of least belief; f(d) = d. */
struct label_map min_sum_solve(struct graph *g, const struct problem *p);

/* Liang et al. 2011, one level, any non-decreasing f. Rows and columns: bp_iterations times all
 * rows in both directions, then all columns, each message used as soon as it is computed (BP-M).
 * Tiles: BP-M inside a tile with the messages at its border fixed, tiles from first to last and
 * back; only the messages at borders and of tiles that are processed in parallel are stored. */
struct label_map rows_columns_solve(struct graph *g, const struct problem *p);
struct label_map tiles_solve(struct graph *g, const struct problem *p);

/* The grids of the pyramid from the finest on: at most count, without coarser ones of a single
 * node. Returns their number. */
int solver_levels(struct grid finest, int count, struct grid levels[MAX_LEVELS]);

#endif
