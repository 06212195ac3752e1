/*
 * Stands in for chessboard.cc and matches.cc in a build without OpenCV.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"
#include "calibration/workshop/matches.h"
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>

bool chessboard_available(void) {
    return log_fail(false, "calibrate",
                    "this build has no chessboard calibration: install libopencv-calib3d-dev "
                    "and libopencv-video-dev, and build again");
}

int chessboard_find(const uint8_t *grey, int width, int height, const struct board *board,
                    int thorough, float *xy) {
    (void)grey, (void)width, (void)height, (void)board, (void)thorough, (void)xy;
    return -ENOSYS;
}

int chessboard_solve(const struct board *board, int width, int height, enum distortion model,
                     double min_outlier, struct board_view *views, int count,
                     struct board_result *result) {
    (void)board, (void)width, (void)height, (void)model, (void)min_outlier, (void)views;
    (void)count, (void)result;
    return chessboard_available() ? 0 : -ENOSYS;
}

bool matches_available(void) {
    return log_fail(false, "calib refine", "%s", matches_missing());
}

const char *matches_missing(void) {
    return "this build cannot find features: install libopencv-calib3d-dev and "
           "libopencv-video-dev, and build again";
}

int matches_find(const uint8_t *left, const uint8_t *right, int width, int height,
                 struct feature_match *matches) {
    (void)left, (void)right, (void)width, (void)height, (void)matches;
    return -ENOSYS;
}

int matches_in_rows(const uint8_t *left, const uint8_t *right, int width, int height, int min,
                    int max, struct feature_match *matches, int *corners) {
    (void)left, (void)right, (void)width, (void)height, (void)min, (void)max;
    (void)matches, (void)corners;
    return -ENOSYS;
}

bool matches_solve(int n, const double *a, const double *b, double *x) {
    (void)n, (void)a, (void)b, (void)x;
    return false;
}

int matches_agree(const double (*rays)[4], int count, double max, uint8_t *in) {
    (void)rays, (void)count, (void)max, (void)in;
    return -ENOSYS;
}
