/*
 * The points of a frame, and files of them (PLY). No state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/depth.h"
#include "image/frame.h"
#include "image/cloud.h"

/* Points beyond both are mostly noise: of long baselines the disparity is the farther one. */
#define POINTS_FARTHEST_M 100.0
#define POINTS_FARTHEST_PX 4.0

/* How far points go, of a metric geometry. */
double points_farthest(const struct depth_geometry *geometry);

/* The coloured points of a frame (free; NULL: out of memory): in metres up to points_farthest() if
 * the geometry is metric, else all of them in baselines. Pixels without a disparity are omitted,
 * and those at a discontinuity, whose points lie between foreground and background. *far grows by
 * the number of points that are too far. */
struct ply_point *points_of(const struct frame *frame, const struct depth_geometry *geometry,
                            size_t *count, long *far);

/* Writes them as PLY. 0 or -errno after a log line. */
int points_write(const char *path, const struct frame *frame, const struct depth_geometry *geometry,
                 long *far);
