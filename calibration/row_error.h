/*
 * How well the rows of a rectified pair agree: features of the left picture are looked up in the
 * right one, and what is left of the vertical distance is the error. No state; any thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_ROW_ERROR_H
#define LIVESTEREO_ROW_ERROR_H

#include <stddef.h>
#include <stdint.h>

struct row_match {
    float x, y;   /* left picture */
    float dx, dy; /* left minus right column (disparity), right minus left row */
};

struct row_error {
    int features;      /* of the left picture that were looked for */
    int matches;       /* those of them found in both */
    int left_out;      /* besides them, taken for mismatches: alone against their neighbours */
    double median;     /* of dy with its sign: how far the right picture sits too low, px */
    double median_abs; /* of |dy| */
    double mean_abs;
    double p95_abs; /* 95 % of |dy| are below */
    double scatter; /* 95 % of |dy - median| are below: what a row offset cannot mend */
    double
        spread; /* median of |dy - median|: the same without the worst half, mismatches among it */
};

#define MIN_ROW_ERROR_MATCHES 30
#define MAX_ROW_ERROR_PAIRS 256
#define MIN_ROW_OFFSET 0.1 /* px; below it is what a picture of something else may say, too */

/* Two grey pictures of one size. Disparities least..most px and up to 6 rows up and down are
 * searched. matches (may be NULL) gets up to `room` of them. 0, or -ENODATA (fewer than
 * ROW_ERROR_MATCHES_LEAST features match: result->matches says how many) or -ENOMEM, without a
 * log line: callers try again with the next picture. */
int row_error_measure(const uint8_t *left, const uint8_t *right, int width, int height, int min,
                      int max, struct row_error *result, struct row_match *matches, int room);

/* What several pairs of one rig say together: of each figure the median, of counts the sum; the
 * scatter is that of the better half, since on boards some features match wrongly in every pair.
 * At most ROW_ERROR_PAIRS_MOST pairs count. */
void row_error_combine(const struct row_error *pairs, int count, struct row_error *result);

/* Largest disparity to search in a picture so wide, whatever range the matching has: what is nearer
 * than that range is in the pictures too, and would be found at a wrong place. */
int row_error_reach(int width);

/* Whether a row offset brings the rows together. */
int row_error_mendable(const struct row_error *error);

/* The row_offset that brings the median to 0, 0 where it is below ROW_OFFSET_LEAST. */
double row_error_offset(const struct row_error *error);

/* Why so few features match, after -ENODATA. */
const char *row_error_too_few(const struct row_error *error);

/* Why a rig needs care, in words for a person, or NULL when all is well. */
const char *row_error_advice(const struct row_error *error);

#endif
