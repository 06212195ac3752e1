/*
 * Pictures of results: the disparity in colour, alone or beside the left picture, and its error in
 * colour. No shared state. The caller frees each picture with picture_free. All return 0, or
 * -ENOMEM after a log line.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_VISUALIZE_H
#define LIVESTEREO_VISUALIZE_H

#include "image/frame.h"
#include "image/picture.h"

/* The disparity in colour over the searched range: near is red, far is blue, unknown is black,
 * and so is what hide_below hides; mark_filled hatches what was filled in. With
 * mode=motion the motion in the colours of image/flow.h. */
int visualize_disparity(const struct frame *frame, struct image *out);

/* The same over these disparities (px) and in this colour map. */
int visualize_disparity_in(const struct frame *frame, double min, double max,
                           enum colormap colormap, struct image *out);

/* The left picture and its disparity in colour, side by side. */
int visualize_pair(const struct frame *frame, struct image *out);

/* Length of the motions that have full saturation, px. */
double visualize_motion_range(const struct params *params);

/* The error in colour, from 0 (blue) to 4 px and more (red). A pixel is white where the disparity
 * is unknown, black where the truth (px; of motion all u, then all v) is unknown (NaN). */
int visualize_error(const struct frame *frame, const float *truth, struct image *out);

#endif
