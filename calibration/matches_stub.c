/*
 * Stands in for matches.cc in a build without OpenCV. SPDX-License-Identifier: MIT
 */
#include "calibration/matches.h"

#include "config/log.h"

#include <errno.h>

bool matches_available(void) {
    log_error("calib refine",
              "this build cannot find features: install libopencv-calib3d-dev and build again");
    return false;
}

int matches_find(const uint8_t *left, const uint8_t *right, int width, int height,
                 struct feature_match *matches) {
    (void)left, (void)right, (void)width, (void)height, (void)matches;
    return -ENOSYS;
}

int matches_agree(const double (*rays)[4], int count, double max, uint8_t *in) {
    (void)rays, (void)count, (void)max, (void)in;
    return -ENOSYS;
}
