/*
 * The points of a frame, and files of them (PLY). No state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/depth.h"
#include "image/frame.h"
#include "image/cloud.h"

#define POINTS_FARTHEST_M 100.0 /* points beyond are mostly noise */

/* The coloured points of a frame (free): in metres up to POINTS_FARTHEST_M if the geometry is
 * metric, else all of them in baselines. Pixels without a disparity are omitted, and those at a
 * discontinuity, whose points lie between foreground and background. */
struct ply_point *points_of(const struct frame *frame, const struct depth_geometry *geometry,
                            size_t *count);

/* Writes them as PLY. 0 or -errno after a log line. */
int points_write(const char *path, const struct frame *frame,
                 const struct depth_geometry *geometry);
