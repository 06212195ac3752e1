/*
 * The passes for each of the two pictures by itself: upload, rectification and preprocessing for
 * matching. Used by pipeline.c and motion.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_VIEW_H
#define LIVESTEREO_VIEW_H

#include "gpu/pipeline.h"

enum { LEFT_SIDE, RIGHT_SIDE };

/* One camera's picture and what is computed from it before matching. */
struct view {
    int side, width, height;
    const uint8_t *image;   /* rectified */
    const uint8_t *matched; /* what is compared: the picture, smoothed if smooth_sigma is set */
    const uint8_t *grey;    /* luma of matched, or what matching_input computes from it */
    const uint64_t *census;
    const struct arms *arms;
    const uint8_t *edges[MAX_LEVELS];
    const uint8_t *mask;             /* pixels of MASKED and above have no data cost; or NULL */
    const uint8_t *lut, *census_lut; /* of the data cost, for both views of a stereo pair */
};

static inline size_t view_pixels(const struct view *v) {
    return (size_t)v->width * (size_t)v->height;
}

/* The stages that follow count for this part of a frame's times. */
static inline void pipeline_group(struct graph *g, int side, enum stage_time time) {
    graph_group(g, side * TIME_COUNT + (int)time);
}

/* Adds the passes for the picture of a side (LEFT_SIDE, RIGHT_SIDE) at full size. */
struct view view_prepare(struct graph *g, const struct pipeline *p, int side);

/* Adds the passes for the next level of the picture pyramid: smoothed by 1 4 6 4 1 / 16, halved. */
struct view view_halve(struct graph *g, const struct pipeline *p, const struct view *fine);

/* Arms of a band of rows, which end at the band's borders. */
const struct arms *view_arms(struct graph *g, const struct pipeline *p, const uint8_t *image,
                             int width, int rows);

#endif
