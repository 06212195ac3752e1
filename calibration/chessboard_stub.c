/*
 * Stands in for chessboard.cc in a build without OpenCV. SPDX-License-Identifier: MIT
 */
#include "calibration/chessboard.h"

#include "config/log.h"

#include <errno.h>
#include <stdbool.h>

bool chessboard_available(void) {
    log_error("calibrate",
              "this build has no chessboard calibration: install libopencv-calib3d-dev "
              "and build again");
    return false;
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
