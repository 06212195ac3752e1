/*
 * The passes for each of the two pictures by itself: upload, rectification and preprocessing for
 * matching. Used by pipeline.c and motion.c.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/pipeline.h"

/* One of the two pictures and what is computed from it before matching. */
struct picture {
    int side, width, height;
    const uint8_t *image;       /* rectified */
    const uint32_t *block_sums; /* of the picture as it came, stage deblock_sum's, or NULL */
    const uint8_t *matched;     /* what is compared: the picture, smoothed if smooth_sigma is set */
    const uint8_t *grey;        /* luma of matched, or what matching_input computes from it */
    uint64_t *census;
    const uint64_t *descriptor; /* census or vectors, of so many words a pixel */
    int words;
    const int32_t *row_offset; /* by which rows were moved, or NULL */
    const uint64_t *steady;    /* of the census bits: stage steady_bits's, or NULL */
    const uint8_t *slack;      /* with it */
    const struct arms *arms;
    const struct likeness *likeness; /* what arms and census have been adapted to, or NULL */
    const uint8_t *edges[MAX_LEVELS];
    const uint8_t *mask; /* pixels of MASKED and above have no data cost; or NULL */
};

static inline size_t picture_pixels(const struct picture *p) {
    return (size_t)p->width * (size_t)p->height;
}

/* The stages that follow count for this part of a frame's times. */
static inline void picture_group(struct graph *g, int side, enum stage_time time) {
    graph_group(g, side * TIME_COUNT + (int)time);
}

/* Whether the picture of a side (0 left, 1 right) is resampled. */
bool picture_is_remapped(const struct pipeline *p, int side);

/* Adds the passes for the picture of a side (LEFT_SIDE, RIGHT_SIDE) at full size. */
struct picture picture_prepare(struct graph *g, const struct pipeline *p, int side);

/* Adds the passes that move the right picture's rows to where they match the left one's, with what
 * is derived from it. grid has the labels. */
void picture_align_rows(struct graph *g, const struct pipeline *p, struct grid grid,
                        const struct picture *left, struct picture *right);

/* Adds the passes that make census and arms of both pictures less sensitive to noise, by its
 * measure in the frame. */
void picture_adapt(struct graph *g, const struct pipeline *p, const struct likeness *likeness,
                   struct picture picture[2]);

/* Takes the descriptor that costs compare: census, or vectors with descriptor=learned. */
void picture_describe(const struct pipeline *p, struct picture *v);

/* The map with UNKNOWN, and the confidence with 0, where the left picture shows nothing of its
 * source. */
const int16_t *picture_hide_unseen(struct graph *g, const struct pipeline *p, const int16_t *map);
uint8_t *picture_doubt_unseen(struct graph *g, const struct pipeline *p, uint8_t *confidence);

/* Adds the passes for the next level of the picture pyramid: smoothed by 1 4 6 4 1 / 16, halved. */
struct picture picture_halve(struct graph *g, const struct pipeline *p, const struct picture *fine);

enum { CROSS_LENGTH = 17 }; /* px, the longest arm along the row */

/* Arms of rows first..first+rows-1 of a picture, which end there. */
const struct arms *picture_arms(struct graph *g, const struct pipeline *p, const struct picture *v,
                                int first, int rows);
