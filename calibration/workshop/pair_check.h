/*
 * Whether the two pictures of a pair are alike: brightness, focus, and the time of exposure, by the
 * matches that row_error.h found. No state; any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/workshop/row_error.h"

/* How the right picture differs. */
enum { UNLIKE_BRIGHTNESS = 1, UNLIKE_FOCUS = 2, UNLIKE_TIME = 4 };

struct pair_check {
    double brightness; /* times that of the left one */
    double sharpness;  /* the same, of gradients relative to contrast */
    double rows; /* px that things that move are further off their rows than those at rest; 0 where
                    either are too few */
    int unlike;  /* which of them are worth a sentence: flags as above */
};

/* Compares rectified grey pictures at their matches. before: a left picture of some time earlier,
 * or NULL; the rig is taken to be at rest where most of the picture is as it was. 0 or -ENOMEM. */
int pair_check_measure(const uint8_t *left, const uint8_t *right, const uint8_t *before, int width,
                       int height, const struct row_match *matches, int count,
                       struct pair_check *result);

/* Measures rows by row_error_measure, from a margin below the disparity min up to max or the reach,
 * and compares the pictures at its matches. 0 or as row_error_measure; where that fails or there is
 * no memory to compare, check holds nothing unlike. */
int pair_check_rows(const uint8_t *left, const uint8_t *right, const uint8_t *before, int width,
                    int height, int min, int max, struct row_error *rows, struct pair_check *check);

/* Logs a warning for each of these kinds that are unlike, with what to do. name: of the source. */
void pair_check_warn(const char *name, const struct pair_check *check, int kinds);
