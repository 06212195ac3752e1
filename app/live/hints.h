/*
 * What the maps say about the settings: whether the searched range fits the pictures, and whether
 * left and right are exchanged. Main thread.
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

struct swap_watch { /* zero to begin with, and when the pictures are exchanged */
    long seen;      /* frames */
    int for_swap, against;
    bool told;
};

/* Compares textured blocks of a frame's rectified pictures, on a grid, with those to the right and
 * to the left of the same row; *negative and *positive become the numbers of blocks that match
 * clearly better at negative or at positive disparities up to range px. Takes some ms. */
void hints_swap_count(const struct frame *frame, int range, int *negative, int *positive);

/* Examines the first frames, then one now and then. True while most of their blocks match at
 * negative disparities, unless the settings include those. */
bool swap_watch_add(struct swap_watch *watch, const struct frame *frame);
bool swap_watch_hint(const struct swap_watch *watch);
