/*
 * A solver finds labels of low energy: it adds passes to a frame's list, from a cost volume to a
 * map of labels. Its messages may have any type. Pointers are addresses of the graph's buffers.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/graph.h"
#include "gpu/scaling.h"
#include "gpu/result.h"
#include "image/disparity.h"

/* With fast-converging updates, the number of half-steps at the start of a level that update all
 * tiles. */
enum { SOLVER_FULL_UPDATES = 3 };

/* The displacements of labels (u, v), see gpu/stages/motion.h: V is min(rho |l_p - l_q|, T) with
 * the L1 distance of the displacements. */
struct label_window {
    struct motion_map centre; /* of the finest level's pixels; u not NULL: there is one level */
    int fraction;
};

/* E(l) = sum_p D_p(l_p) + sum_(p,q) min(rho f(|l_p - l_q|), T) over the 4-connected grid, for one
 * of the two pictures as the reference. */
struct problem {
    const struct params *params;
    const struct scaling *scaling;
    struct grid grid;         /* of the finest level */
    const uint8_t *cost;      /* D, grid_volume(&grid), at most MAX_COST; NULL where D has
                                         more bits (SOLVES_SUMS) */
    const struct arms *arms;  /* of the picture, from the first pixel on: the solver averages along
                                them where it averages costs (solver_averages()); else NULL */
    int arms_width;           /* from one row of arms to the next */
    struct label_cost source; /* cost again, or how it is made from the pictures */
    const struct tables *tables;      /* struct scaling's, in the backend's memory */
    const uint8_t *edges[MAX_LEVELS]; /* classes of the edges, for rho and T; NULL: all 0 */
    int levels;
    int first_column,
        columns; /* of the picture: the first pixel's, and how many; 0 of no picture */
    const struct likeness *likeness;   /* of the pictures, or NULL */
    const struct label_window *window; /* of labels (u, v), NULL: labels are disparities */
    int sign;                          /* 1: of the left picture, -1: of the right one */
    bool wants_doubts;                 /* whether struct label_map's are wanted */
    int max_iterations;                /* at the finest level; -1: as many as params says */
    int group;                         /* TIME_COUNT times the side: times count from there on */
    uint32_t *updates; /* FRAME_UPDATES: gets the tiles updated in each half-step of the finest
                          level from SOLVER_FULL_UPDATES on, where those may be fewer than all; or
                          NULL */
};

/* width*height each; confidence 0 to 255, disparity in 1/16 px; of labels (u, v) it is u. */
struct label_map {
    uint16_t *label;
    int16_t *disparity, *v;
    uint8_t *confidence;
    const uint8_t
        *message[DIRECTIONS]; /* of the finest level; a backend may leave out what the last
                                           half-step sends, since no pass reads it. NULL: the solver
                                           keeps none */
    struct pruning pruning;   /* of these messages; kept NULL: they are of all labels */
    const uint8_t *cost;      /* with pruning: the data costs of the labels kept; else NULL */
    uint8_t *doubts;          /* struct evidence_args', or NULL */
    int update_count;         /* how many half-steps struct problem's updates tells of; 0: none */
};

/* Whether the solver that params->bp_schedule names averages costs itself, above the levels that
 * are pruned, for a problem of this grid and disparities. */
bool solver_averages(const struct params *params, const struct scaling *scaling,
                     const struct grid *grid);

/* Adds the passes of the solver that params->bp_schedule names. Where a unit of costs has begun, it
 * goes on with it; that of the finest level may have begun when it returns, and the caller ends
 * it. */
struct label_map solver_solve(struct graph *g, const struct problem *p);

/* Those of each solver by itself. */
#define SOLVER_DECLARATION(constant, name, function, can) \
    struct label_map function(struct graph *g, const struct problem *p);
SOLVERS(SOLVER_DECLARATION, )
#undef SOLVER_DECLARATION

/* Whether the costs of nodes from the third finest level on are weighted by their evidence. */
bool solver_weighs(const struct problem *p);

/* Iterations at a level, 0 the finest. Fewer do among pruned labels, whose messages begin with
 * those of all labels. */
int solver_iterations(const struct problem *p, int level, bool pruned);
