/*
 * How far a disparity map is from the truth. Pure functions on the caller's arrays, any thread.
 * An unknown disparity counts as bad at every threshold; pixels of unknown truth are not scored.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_METRICS_H
#define LIVESTEREO_METRICS_H

#include "image/frame.h"

#define BAD_COUNT 3 /* off by more than 1, 2, 3 px */

/* Sums over scored pixels; all zero to begin with, maps are added one after the other. */
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

/* Shares in percent of the scored pixels; mean in px over those with a disparity; rms_near in px
 * over those off by at most 1 px; whole, of those with a disparity, the share of whole numbers, of
 * which chance makes 1/16. NaN without any. */
struct error_rates {
    double bad[BAD_COUNT], d1, mean, bad_half, rms_near, whole;
};

/* disparity in 1/16 px, truth in px with NaN for unknown, mask NULL or 255 where a pixel is
 * scored; all of count pixels. */
void error_add(struct error_sums *sums, const int16_t *disparity, const float *truth,
               const uint8_t *mask, long count);

struct error_rates error_rates(const struct error_sums *sums);

/* Sparsification: the least confident pixels are left out one by one, unknown ones first, and of
 * those that remain the share off by more than threshold px is taken, in percent; area is its mean
 * over all densities, best the least that any order gives. NaN where nothing is scored. */
struct sparsification {
    double area, best;
};

/* Arrays as in error_add(); pixels of equal confidence are left out together, their bad ones
 * evenly. */
struct sparsification sparsify(const int16_t *disparity, const uint8_t *confidence,
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

/* What motion is worth where no truth is known: the mean difference of a picture and the later one,
 * over the channels, in grey levels, where motion leads (bilinear) and at the same place. Pixels
 * count that have a motion, lead to a place inside the picture, and touch none that is left out
 * (255, or NULL) at either end. Both pictures have the same size. */
struct moved_sums {
    long count;
    double moved, still;
};

void moved_difference_add(struct moved_sums *sums, const int16_t *motion, const struct image *from,
                          const struct image *to, const uint8_t *left_out);

/* Mean anticlockwise motion, as seen, round (x, y) of the pixels at least least and below most px
 * away from there; px, NaN without any. */
struct ring {
    double x, y, least, most;
};
double mean_turn(const struct ring *ring, const int16_t *motion, int width, int height,
                 const uint8_t *left_out);

/* Mean length of the difference of two motions, px, where both are known; NaN without any. */
double mean_change(const int16_t *a, const int16_t *b, long count, const uint8_t *left_out);

/* Share of pixels that have a disparity, percent, of those that are not left out. */
double density(const int16_t *disparity, const uint8_t *left_out, long count);

/* The value below which this share (0..1) of the values lies, interpolated; sorts values. NaN
 * for none. */
double quantile(double *values, int count, double share);

#endif
