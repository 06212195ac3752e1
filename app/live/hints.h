/*
 * Hints of the maps and the pictures: whether the disparities that are searched fit, whether left
 * and right are exchanged. No state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

#include <stdbool.h>

/* A better disparity_range for frames like this one: twice as large (at most max) where more
 * than 2 % of the known pixels have the largest label, smaller where less than a
 * quarter of the range is used; 0 where it fits. */
int hints_range(const struct frame *frame, int max);
/* Warns of the first frame of a source of this name that needs a larger range; *said then becomes
 * true. Of disparities, not of motions, and not of fewer than 16, which are often all there are. */
void range_watch_add(bool *said, const char *name, const struct frame *frame);

/* Whether left and right of a rectified pair are exchanged: 1; -1 where they clearly are not; 0
 * where that cannot be told, and never 1 where min_disparity is below 0. Textured
 * blocks of pictures at most 640 px wide are compared with those of their row, as far as a quarter
 * of the width to either side. Takes some 10 ms. */
int hints_exchanged(const struct image *left, const struct image *right, int min_disparity);
