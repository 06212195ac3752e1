/*
 * Pictures made of results: left view and disparity side by side, errors in colour. The caller
 * frees what comes out with picture_free.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_VIEWS_H
#define LIVESTEREO_VIEWS_H

#include "capture/frame.h"

/* Disparity in colour over the searched range, near red, far blue, black where unknown. -ENOMEM
 * is logged. */
int view_disparity(const struct frame *frame, struct image *out);

/* The left picture and its disparity in colour, side by side. */
int view_pair(const struct frame *frame, struct image *out);

/* The error in colour from 0 (blue) to 4 px and more (red); white where the disparity is
 * unknown, black where the truth (px, NaN unknown) is. */
int view_error(const struct frame *frame, const float *truth, struct image *out);

#endif
