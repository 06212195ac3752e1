/*
 * The points of a frame as a PLY or OBJ file, with the same cut wherever they are saved. No state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_POINTS_H
#define LIVESTEREO_POINTS_H

#include "calibration/depth.h"
#include "image/frame.h"

#define POINTS_FARTHEST_M 100.0 /* what is beyond is noise in a cloud */

/* Writes the coloured points of a frame, to a name that ends with .obj as OBJ, else as PLY: in
 * metres up to POINTS_FARTHEST_M where the geometry is metric, in baselines, all of them, where it
 * is not. Pixels without a disparity have none, nor those in a curtain between a near and a far
 * side, which hang in the air. 0 or -errno after a log line. */
int points_write(const char *path, const struct frame *frame,
                 const struct depth_geometry *geometry);

#endif
