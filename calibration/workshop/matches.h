/*
 * Features of pairs of pictures. Corners, descriptors, correlation, tracking and the search for a
 * common essential matrix are OpenCV's (matches.cc); a build without it has opencv_stub.c. No
 * state: any thread, the caller owns all memory.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One point in the left and in the right picture, px. */
struct feature_match {
    float x[2], y[2];
};

#define MAX_FEATURES 3000     /* of a picture */
#define MAX_ROW_FEATURES 4000 /* of a rectified one */

/* Whether a build can find features; if not, one log line says what is missing. */
bool matches_available(void);

/* That line, or NULL. */
const char *matches_missing(void);

/* Corners (Shi and Tomasi 1994) of two grey pictures of one size, matched by their SIFT descriptors
 * (Lowe 2004), the best one both ways. The pictures may be turned against each other by some
 * degrees. How many of at most MAX_FEATURES matches there are, the left place in whole pixels, the
 * right one to a part of a pixel (Lucas and Kanade 1981), or -errno after a log line. */
int matches_find(const uint8_t *left, const uint8_t *right, int width, int height,
                 struct feature_match *matches);

/* Corners of the left one of two rectified grey pictures, one at most to a cell of a grid, matched
 * at disparities min..max and up to 6 rows up and down by normalised correlation both ways, where
 * no other place is nearly as good; places as those of matches_find. corners: how many there were,
 * at most MAX_ROW_FEATURES. How many matches, or -ENOMEM, -EINVAL (OpenCV's errors) or -ENOSYS
 * (without it), with no log line. */
int matches_in_rows(const uint8_t *left, const uint8_t *right, int width, int height, int min,
                    int max, struct feature_match *matches, int *corners);

/* Solves a x = b of n unknowns, a symmetric and positive. Whether there is a solution. */
bool matches_solve(int n, const double *a, const double *b, double *x);

/* Finds which of count pairs of rays (x/z, y/z of left and right) agree with one essential matrix:
 * in gets 1 for these, 0 for the others: 5-point RANSAC (Nister 2004). max: largest distance from
 * the epipolar line, in the rays' unit. count must be 5 or more. How many there are, or -errno
 * after a log line. */
int matches_agree(const double (*rays)[4], int count, double max, uint8_t *in);

#ifdef __cplusplus
}
#endif
