/*
 * OpenCV's own rectification, to compare ours with. Tests only. SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rectify.h"
#include "calibration/rig.h"

#ifdef __cplusplus
extern "C" {
#endif

/* initUndistortRectifyMap (fisheye's where the lens is one) of camera v: width*height floats
 * each. */
void opencv_maps(const struct rig *rig, const struct rectification *to, int v, float *x, float *y);

/* stereoRectify, not for fisheye. flags: zero disparity or not. */
void opencv_rectify(const struct rig *rig, double alpha, int zero_disparity,
                    struct rectification *out);

#ifdef __cplusplus
}
#endif
