/*
 * The lists of an RGB-D folder, which batch --save rgbd makes of its results: color/N.png and
 * depth/N.png (mm, 16 bits) have files beside them that Open3D, RTAB-Map and readers of TUM's data
 * sets take. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/depth.h"

enum { RGBD_UNITS = 1000 }; /* of its depths, per metre */

/* Makes color/ and depth/, and writes intrinsics.json (Open3D's form) and calibration.yaml
 * (RTAB-Map's) for pictures of this size. 0 or -errno after a log line. */
int batch_rgbd_begin(const char *folder, const struct depth_geometry *geometry, int width,
                     int height);

/* Writes times.txt (seconds, a line for each picture) and associations.txt (TUM's). 0 or -errno
 * after a log line. */
int batch_rgbd_lists(const char *folder, const char *times, const char *pairs);

/* Whether none of these files in a folder is another's, which would be written over. 0, or -EEXIST
 * after a log line. */
int batch_rgbd_may_replace(const char *folder);
