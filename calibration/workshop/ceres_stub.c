/*
 * Stands in for refine_fit.cc in a build without Ceres. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/refine_fit.h"
#include "base/log.h"

#include <errno.h>

bool fit_available(void) {
    return log_fail(
        false, "calib refine",
        "this build cannot fit a pose to features: install libceres-dev and build again");
}

int fit_pose(struct fit *fit) {
    (void)fit;
    return -ENOSYS;
}
