/*
 * The points of a frame, and files of them (PLY, OBJ). No state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/depth.h"
#include "image/frame.h"
#include "image/cloud.h"

#define POINTS_FARTHEST_M 100.0 /* points beyond are mostly noise */

/* The coloured points of a frame (free): in metres up to POINTS_FARTHEST_M if the geometry is
 * metric, else all of them in baselines. Pixels without a disparity are omitted, and those at a
 * discontinuity, whose points lie between foreground and background. number (may be NULL; zeros,
 * width*height) gets the number of each pixel's point, from 1 on. */
struct ply_point *points_of(const struct frame *frame, const struct depth_geometry *geometry,
                            size_t *count, uint32_t *number);

/* Writes them, as OBJ if path ends in .obj, else as PLY. 0 or -errno after a log line. */
int points_write(const char *path, const struct frame *frame,
                 const struct depth_geometry *geometry);
