/*
 * A labelling problem of the caller's own on a grid, on the host, and algorithms for it:
 *
 *     E(l) = sum_p D_p(l_p) + sum_(p,q) V_pq(l_p, l_q)
 *
 * over the 4-connected grid of pixels, with any costs D and any smoothness V. A problem that came
 * from the pipeline's pictures is struct problem (gpu/solver.h), whose numbers are bytes; here they
 * have 32 bits and sums have 64. They are no stages: TRW-S is sequential, since each pixel reads
 * what the one before it wrote.
 *
 * Numbers are integers, in units of 1 / scale of the caller's; scale is a power of two. Costs count
 * from their pixel's least one; those that exceed it by MRF_CUT times the largest smoothness, which
 * no label can outweigh, are cut there. What is no multiple of 1 / scale is rounded down, so that a
 * lower bound of these integers is one of the caller's problem. Energies are sums of the caller's
 * own numbers. Used by one thread. Nothing is logged.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Directions of edges from a pixel, and the largest number of a cost or a smoothness. */
enum { MRF_RIGHT, MRF_DOWN, MRF_EDGES };
enum { MRF_MAX_NUMBER = 1 << 26, MRF_CUT = 1 << 10 };

/* The caller's problem. Each number is finite; functions get context. All of it lives as
 * long as the problem. */
struct mrf_input {
    int width, height, labels;
    /* Writes the cost of each label at (x, y). */
    void (*costs)(const void *context, int x, int y, float *cost);
    /* V of an edge that has this class, between label l of the left or upper pixel and label m of
     * the other one, at least 0. */
    double (*smoothness)(const void *context, int edge_class, int l, int m);
    /* 0: V depends on |l - m| alone, does not decrease with it and is 0 for 0. 1: it is any V; then
     * a class is a factor of V, and smoothness is asked for class 1 alone. */
    bool table;
    const uint8_t *classes[MRF_EDGES]; /* width*height each; the last column's and row's are not
                                          read. NULL: all are 1 */
    const void *context;
};

/* V as a function of |l - m|, of one class. */
struct mrf_curve {
    int32_t *value; /* labels entries */
    int steps;      /* the largest difference for which V is below largest */
    int32_t largest;
    bool linear; /* V is min(value[1] * difference, largest) */
};

struct mrf {
    struct mrf_input in;
    int width, height, labels;
    int32_t *cost;               /* [y][x][label], above the pixel's least one */
    double least_costs;          /* the sum of all pixels' least ones, in the caller's units */
    int32_t *table;              /* [l][m], of class 1 */
    int32_t *values;             /* of all curves */
    bool used[256];              /* which classes edges have */
    struct mrf_curve curve[256]; /* of these */
    uint8_t *classes[MRF_EDGES];
    double scale;
    double rounding; /* by this much at most, energies of the integers lie below the caller's */
    bool whole; /* all numbers of the caller are whole and exact, so that each energy is whole */
};

/* Makes a problem of the input. 0, or with *m NULL -ENOMEM, and -ERANGE: the smoothness is so much
 * larger than all differences of costs that integers of 27 bits do not hold both. */
int mrf_open(struct mrf **m, const struct mrf_input *input);
void mrf_close(struct mrf **m);

/* V of an edge of this class. */
int32_t mrf_smoothness(const struct mrf *m, int edge_class, int l, int k);

/* The largest V of an edge, as far as edges of one problem differ: with a table its factor. 0: it
 * is as if it were not there. */
int32_t mrf_strength(const struct mrf *m, int edge_class);

int32_t mrf_least(const int32_t *v, int count);

/* The message out(k) = min_l h(l) + V(l, k) along an edge. h belongs to the left or upper end where
 * it goes onward, to the right or down. */
void mrf_convolve(const struct mrf *m, int edge_class, bool onward, const int32_t *h, int32_t *out);

/* The energy of width*height labels, in the caller's units. */
double mrf_energy(const struct mrf *m, const uint16_t *label);

/* A lower bound of all energies, by one of the integers' energies. Where all numbers are whole it
 * is rounded up, since no energy lies between. */
double mrf_bound_of(const struct mrf *m, int64_t bound);

/* The result of an algorithm, in the caller's units. */
struct mrf_result {
    int sweeps;    /* done */
    double energy; /* of the labels */
    double bound;  /* no labels have less */
};

/* Called after each sweep with what is known by then; another return than 0 ends the work. May be
 * NULL. */
struct mrf_watch {
    int (*each)(void *context, const struct mrf_result *so_far);
    void *context;
};

/* Sequential tree-reweighted message passing (TRW-S): Kolmogorov, PAMI 28(10), 2006. At most sweeps
 * (one or more) times over all pixels forwards and backwards; it ends earlier where the bound
 * reaches the energy or no message changes. label gets the width*height labels of the least energy
 * met. 0, or -ENOMEM. */
int mrf_trws(const struct mrf *m, int sweeps, const struct mrf_watch *watch, uint16_t *label,
             struct mrf_result *result);
