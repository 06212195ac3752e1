/*
 * The search for the labels of a picture, whatever they are: of all of it or block by block. Used
 * by pipeline.c and motion.c, which make the costs.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/picture.h"

/* The data costs beside each pixel's label tell these, width*height: a disparity between the
 * labels, and how much the costs rise. */
struct cost_curve {
    int16_t *disparity;
    uint8_t *rise;
};

struct search {
    const struct pipeline *p;
    const struct picture *reference, *target;
    struct blocks blocks;
    struct label_space space;
    struct label_window window; /* of the picture; fraction 0: labels are disparities */
    struct cost_curve curve;    /* to be computed, or NULL */
    uint32_t *updates;          /* struct problem's */
    bool wants_doubts;          /* struct problem's */

    /* The result. */
    struct label_map map;
    struct problem problem; /* of the last block */
    uint8_t *label_cost;    /* struct pipeline_result's */
};

/* The grid of a block's pixels, and the window of its labels. */
struct grid search_grid(const struct search *s, const struct block *b);
struct label_window search_window(struct graph *g, const struct search *s, const struct block *b);

/* Adds the passes that find the labels of block after block, in the order of their numbers. cost:
 * what its labels cost, NULL where the solver makes that from the pictures; averages: the solver
 * averages it (solver_averages()). */
void search_block(struct graph *g, struct search *s, const struct block *b,
                  const struct label_window *window, const uint8_t *cost, bool averages);

/* Memory that can be inspected, which is kept until the next frame. */
struct pipeline_result search_result(struct graph *g, const struct search *s);
