/*
 * Compares disparity maps and motion with ground truth. Pure functions on the caller's arrays, any
 * thread. An unknown disparity counts as bad at every threshold; pixels without ground truth are
 * not scored.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

#include <stdbool.h>

#define BAD_COUNT 3 /* off by more than 1, 2, 3 px */

/* Sums over the scored pixels of one or more maps; initialised with zeros. */
struct error_sums {
    long scored;         /* pixels with truth, inside the mask */
    long known;          /* of those, the ones with a disparity */
    long bad[BAD_COUNT]; /* [i]: off by more than i + 1 px, or unknown */
    long d1;             /* KITTI: off by more than 3 px and 5 % of the truth, or unknown */
    double absolute;     /* sum of |error| over the known ones, px */
    long bad_half;       /* off by more than half a px, or unknown */
    long near;           /* known and off by at most 1 px */
    double near_squares; /* sum of error^2 over those, px^2 */
    long whole;          /* known and a whole number of px */
};

/* bad, d1 and bad_half in percent of the scored pixels; mean error in px over those with a
 * disparity; rms_near in px over those off by at most 1 px; whole: percentage of whole numbers
 * among the disparities (6.25 if fractions are uniform). NaN without any. */
struct error_rates {
    double bad[BAD_COUNT], d1, mean, bad_half, rms_near, whole;
};

/* disparity in 1/16 px, truth in px with NaN for unknown, mask NULL or 255 where a pixel is
 * scored; all of count pixels. */
void error_add(struct error_sums *sums, const int16_t *disparity, const float *truth,
               const uint8_t *mask, long count);

struct error_rates error_rates(const struct error_sums *sums);

/* Sparsification: the least confident pixels are removed one by one, unknown ones first. area is
 * the mean, over all densities, of the percentage of remaining pixels that are off by more than
 * threshold px; best is the least area that any order gives. NaN where nothing is scored. */
struct sparsification {
    double area, best;
};

/* Arrays as in error_add(). Pixels of equal confidence are removed together, as if their bad ones
 * were spread evenly. */
struct sparsification metrics_sparsify(const int16_t *disparity, const uint8_t *confidence,
                                       const float *truth, const uint8_t *mask, long count,
                                       double threshold);

/* The same of motion: maps are count u, then as many v. off[i]: by more than 1 and 3 px, or
 * unknown; fl: by more than 3 px and 5 % of the truth's length (KITTI), or unknown. */
struct motion_sums {
    long scored, known, off[2], fl;
    double length, angle; /* sums over the known ones: px, degrees */
};

/* Mean length of the difference (AEE, px) and mean angle between (u, v, 1) (AAE, degrees), of the
 * pixels with a motion; shares in percent of the scored ones. NaN without any. */
struct motion_rates {
    double aee, aae, off[2], fl;
};

void motion_error_add(struct motion_sums *sums, const int16_t *motion, const float *truth,
                      const uint8_t *mask, long count);
struct motion_rates motion_error_rates(const struct motion_sums *sums);

/* Errors of frames against the truth that they bring: of what both pictures show, and of all. Zero
 * to begin with. */
struct frame_score {
    struct error_sums seen, all;
    struct motion_sums motion_seen, motion_all; /* with mode=motion, in their place */
};
void frame_score_add(struct frame_score *score, const struct frame *frame);

/* The error, px, that 68 % of the disparities of this confidence do not exceed, as measured on
 * pictures with ground truth (tests/fit_sigma.py); of all where the confidence is no chance. */
double metrics_sigma(const struct params *params, int confidence);

/* How much disparities change from one frame to the next where the picture stands still: where grey
 * levels of the left pictures differ by at most STILL_STEP, mean of 3x3. Of
 * pictures wider than 320 px a grid of some 320 columns is looked at. All zero to begin with. */
struct flicker_sums {
    long pixels;         /* looked at */
    long still;          /* of those, where the picture stands still */
    long compared;       /* of those, with a disparity in both frames */
    double change;       /* sum of |difference| over those, px */
    long true_pixels;    /* whose truth is known in both frames and has changed by 1 px at most */
    double error_change; /* sum of |difference of the errors| over those, px */
};

/* Mean change in px, share of pixels that stand still in percent. NaN without any. */
struct flicker {
    double px, still;
};

/* Disparities of the same size. */
void flicker_add(struct flicker_sums *sums, const struct frame *before, const struct frame *now);
struct flicker flicker_of(const struct flicker_sums *sums);

/* Prints the line of a report, or nothing where no disparities were compared. */
void flicker_print(const struct flicker_sums *sums);

/* Percentage of the pixels that are not masked which have a disparity. */
double metrics_density(const int16_t *disparity, const uint8_t *left_out, long count);
