/*
 * A hint that the left and the right picture are exchanged: then points match to the wrong side.
 * The watch belongs to the main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SWAP_HINT_H
#define LIVESTEREO_SWAP_HINT_H

#include "image/frame.h"

#include <stdbool.h>

struct swap_watch { /* zero to begin with, and when the pictures are exchanged */
    long seen;      /* frames */
    int for_swap, against;
    bool told;
};

/* Compares textured blocks of a frame's rectified pictures, on a grid, with those to the right and
 * to the left of the same row; *negative and *positive become the numbers of blocks that match
 * clearly better at negative or at positive disparities up to range px. Takes some ms. */
void swap_count(const struct frame *frame, int range, int *negative, int *positive);

/* Examines the first frames, then one now and then. True while most of their blocks match at
 * negative disparities, unless the settings include those. */
bool swap_watch_add(struct swap_watch *watch, const struct frame *frame);
bool swap_watch_hint(const struct swap_watch *watch);

#endif
