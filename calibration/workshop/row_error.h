/*
 * Measures how well the rows of a rectified pair agree: features of the left picture are matched in
 * the right one, and their vertical distance is the error. No state; any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/workshop/matches.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_match {
    float x, y;   /* left picture */
    float dx, dy; /* left minus right column (disparity), right minus left row */
};

struct row_error {
    int features;      /* of the left picture */
    int matches;       /* features with a match, mismatches left out */
    int left_out;      /* mismatches: they contradict their neighbours */
    double median;     /* of dy: how much too low the right picture is, px */
    double median_abs; /* of |dy| */
    double mean_abs;
    double p95_abs; /* 95th percentile of |dy| */
    double scatter; /* 95th percentile of |dy - median|: what a row offset cannot correct */
    double spread;  /* median of |dy - median|, which mismatches do not affect */
    double apart;   /* 95th percentile of |dx|: near 0 of one picture twice */
};

#define MIN_ROW_ERROR_MATCHES 30
#define MAX_ROW_ERROR_PAIRS 256
#define MIN_ROW_OFFSET 0.1 /* px; smaller ones are within the accuracy of the measurement */

/* Two grey pictures of one size. Disparities min..max px and up to 6 rows up and down are
 * searched. matches (may be NULL) gets up to `room` of them. 0, or -ENODATA (fewer than
 * MIN_ROW_ERROR_MATCHES features match: result->matches says how many) or as matches_in_rows, with
 * no log line: callers try again with the next picture. */
int row_error_measure(const uint8_t *left, const uint8_t *right, int width, int height, int min,
                      int max, struct row_error *result, struct row_match *matches, int room);

/* Combines several pairs of one rig: the median of each figure, the sum of counts; the scatter is
 * that of the better half, since on chessboards some features are mismatched in every pair. Uses at
 * most MAX_ROW_ERROR_PAIRS pairs. */
void row_error_combine(const struct row_error *pairs, int count, struct row_error *result);

/* Largest disparity to search in a picture of this width. It does not depend on the matching's
 * range, because the pictures may contain nearer points, which would be mismatched. */
int row_error_reach(int width);

/* Whether a row offset would correct the error. */
bool row_error_mendable(const struct row_error *error);

/* The row_offset that brings the median to 0, 0 where it is below MIN_ROW_OFFSET. */
double row_error_offset(const struct row_error *error);

/* A message about why so few features match, after -ENODATA. */
const char *row_error_too_few(const struct row_error *error);

/* A message about what is wrong with the rig, or NULL when nothing is. */
const char *row_error_advice(const struct row_error *error);

/* How well a rig fits its pictures. */
enum row_level { ROWS_GOOD, ROWS_OFF, ROWS_BAD };

struct row_health {
    enum row_level level; /* OFF: a row offset mends it; BAD: a new calibration */
    double error, sd;     /* px: median |dy|, and how sure it is */
    int pairs;
    double offset;      /* px that a row offset would mend, right too low above 0; 0: none would */
    const char *advice; /* as row_error_advice */
};

/* That of one pair or more, all of one rig. The deviation is the larger one of what the scatter of
 * the matches leaves and of what the pairs differ by. */
struct row_health row_error_health(const struct row_error *pairs, int count);

/* "rows 0.21 ± 0.02 px, 3 s old: good"; without the age where that is NaN. */
void row_health_print(const struct row_health *health, double age_s, char *text, size_t size);
