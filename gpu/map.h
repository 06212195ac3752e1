/*
 * Passes on maps of disparities or of motion, of the size of a picture: used by pipeline.c and
 * motion.c.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/picture.h"

/* In 1/16 px: the largest difference of two views that passes the check, and of two neighbours in a
 * region. */
enum { CHECK_TOLERANCE = 16, SPECKLE_STEP = 16 };

/* A new map of motion, or of disparities: v is NULL. */
struct motion_map map_make(struct graph *g, const struct picture *picture, bool motion);

/* Patches of fewer than speckle_size pixels become unknown. */
struct motion_map map_remove_speckles(struct graph *g, const struct pipeline *p,
                                      const struct picture *picture, struct motion_map map);

/* Fills what is unknown, along rows or along columns. */
struct motion_map map_fill(struct graph *g, const struct picture *picture, struct motion_map map,
                           bool along_columns);

/* Colour-weighted median of rows first..last-1. */
int16_t *map_median(struct graph *g, const struct pipeline *p, const struct picture *picture,
                    const int16_t *map, int radius, int first, int last);
