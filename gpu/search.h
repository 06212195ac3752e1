/*
 * The search for the labels of a picture, block by block, whatever they are: used by pipeline.c and
 * motion.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SEARCH_H
#define LIVESTEREO_SEARCH_H

#include "gpu/picture.h"

/* What the data costs beside each pixel's label tell, width*height: a disparity between the labels,
 * and how much the costs rise. */
struct cost_curve {
    int16_t *disparity;
    uint8_t *rise;
};

struct search;

/* Adds the passes that make the costs of a block. window: of the block, with labels (u, v). NULL
 * where the solver makes them from the pictures. Where it averages them, sets s->averaging. */
typedef const uint8_t *search_cost(struct graph *g, struct search *s, const struct grid *grid,
                                   const struct block *b, const struct label_window *window);

struct search {
    const struct pipeline *p;
    const struct picture *reference, *target;
    struct blocks blocks;
    struct label_space space;
    search_cost *cost;
    void *context;              /* of cost */
    struct label_window window; /* fraction 0: labels are disparities */
    struct cost_curve curve;    /* to be computed, or NULL */
    uint32_t *updates;          /* struct problem's */
    struct averaging averaging; /* likewise, of the block whose costs are made */

    /* What is found. */
    struct label_map map;
    struct problem problem; /* of the last block */
    uint8_t *label_cost;    /* struct pipeline_result's */
};

void search_solve(struct graph *g, struct search *s);

/* What can be inspected of it, which is kept until the next frame. */
struct pipeline_result search_result(struct graph *g, const struct search *s);

#endif
