/*
 * Pictures and files of results: the disparity in colour, alone or beside the left picture, its
 * error in colour, and maps as they are. No shared state. The caller frees each picture with
 * picture_free, or visualize_write() does.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"
#include "image/picture.h"

/* The disparity in colour over the searched range: near is red, far is blue, unknown is black,
 * and so is what hide_below hides; mark_filled hatches what was filled in. With
 * mode=motion the motion in the colours of image/flow.h. */
struct image visualize_disparity(const struct frame *frame);

/* The same over these disparities (px) and in this colour map. */
struct image visualize_disparity_in(const struct frame *frame, double min, double max,
                                    enum colormap colormap);

/* The left picture and its disparity in colour, side by side. */
struct image visualize_pair(const struct frame *frame);

/* Length of the motions that have full saturation, px. */
double visualize_motion_range(const struct params *params);

/* The error in colour, from 0 (blue) to 4 px and more (red). A pixel is white where the disparity
 * is unknown, black where the truth (px; of motion all u, then all v) is unknown (NaN). */
struct image visualize_error(const struct frame *frame, const float *truth);

/* Writes a picture and frees it. 0 or -errno after a log line. */
int visualize_write(const char *path, struct image picture);

/* Writes the disparity in KITTI's form, or where the name ends so as .pfm; the motion as a 16-bit
 * picture or as .flo. 0 or -errno after a log line. */
int map_write(const char *path, const struct frame *frame);
