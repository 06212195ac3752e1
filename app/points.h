/*
 * Writes the points of a frame as a PLY or OBJ file. No state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_POINTS_H
#define LIVESTEREO_POINTS_H

#include "calibration/depth.h"
#include "image/frame.h"

#define POINTS_FARTHEST_M 100.0 /* points beyond are mostly noise */

/* Writes the coloured points of a frame, as OBJ if path ends in .obj, else as PLY: in metres up to
 * POINTS_FARTHEST_M if the geometry is metric, else all of them in baselines. Pixels without a
 * disparity are omitted, and those at a discontinuity, whose points lie between foreground and
 * background. 0 or -errno after a log line. */
int points_write(const char *path, const struct frame *frame,
                 const struct depth_geometry *geometry);

#endif
