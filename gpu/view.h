/*
 * Each of the two pictures on its own: the passes that take it to the backend, rectify it and make
 * what is matched of it. For the code that writes a frame's passes down.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_VIEW_H
#define LIVESTEREO_VIEW_H

#include "gpu/pipeline.h"

enum { LEFT_SIDE, RIGHT_SIDE };

/* One camera's picture and what is made of it before matching. */
struct view {
    int side, width, height;
    const uint8_t *image;   /* rectified */
    const uint8_t *matched; /* what is compared: smoothed where that is on */
    const uint8_t *grey;    /* of matched, or what matching_input makes of that */
    const uint64_t *census;
    const struct arms *arms;
    const uint8_t *edges[MAX_LEVELS];
    const uint8_t *mask;             /* from MASKED on a pixel has no data cost; or NULL */
    const uint8_t *lut, *census_lut; /* of the data cost, for both views of a stereo pair */
};

static inline size_t view_pixels(const struct view *v) {
    return (size_t)v->width * (size_t)v->height;
}

/* Stages that follow are timed as this part of a frame. */
static inline void pipeline_group(struct graph *g, int side, enum stage_time time) {
    graph_group(g, side * TIME_COUNT + (int)time);
}

/* The picture of a side (LEFT_SIDE, RIGHT_SIDE) at full size. */
struct view view_prepare(struct graph *g, const struct pipeline *p, int side);

/* The same of a view's picture smoothed by 1 4 6 4 1 / 16 and halved. */
struct view view_halve(struct graph *g, const struct pipeline *p, const struct view *fine);

/* Arms of rows of a picture as if there were no others. */
const struct arms *view_arms(struct graph *g, const struct pipeline *p, const uint8_t *image,
                             int width, int rows);

#endif
