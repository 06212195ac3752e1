/*
 * Converts disparities to depth, Z = f B / (d + doffs). A geometry is plain values; nothing here
 * allocates or keeps state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rectification;

/* The numbers that make points of the rectified left picture: pixel (x, y) of disparity d is the
 * point Z = fx baseline / (d + doffs), X = (x - cx) Z / fx, Y = (y - cy) Z / fy, x right, y
 * down, z forward. doffs is the right cx minus the left one. */
struct depth_geometry {
    double fx, fy, cx, cy; /* px */
    double baseline;       /* metres; of unknown unit where metric is 0 */
    double doffs;          /* px */
    int metric;
};

/* The geometry of a rectified pair; metric: its baseline is in metres. */
void depth_geometry_of(const struct rectification *to, int metric, struct depth_geometry *out);

/* Depth of a disparity in px; INFINITY where d + doffs <= 0, that is at and beyond infinity.
 * And back. */
double depth_of(const struct depth_geometry *g, double disparity);
double depth_disparity(const struct depth_geometry *g, double depth);

/* The error of a depth Z whose disparity is off by error_px: Z^2 error / (f B), to first order. */
double depth_error(const struct depth_geometry *g, double depth, double error_px);

/* Nearest and farthest depth of `range` labels from min_disparity on; the farthest may be
 * INFINITY. */
void depth_limits(const struct depth_geometry *g, int min_disparity, int range, double *nearest,
                  double *farthest);

/* The smallest number of labels from min_disparity on that includes depth. */
int depth_labels(const struct depth_geometry *g, int min_disparity, double depth);

/* The depth of a disparity map (int16, 1/16 px, INT16_MIN unknown) in so many units per metre; 0
 * where it is unknown or too far for 16 bits. Returns how many pixels are too far. */
long depth_map_16(const struct depth_geometry *g, const int16_t *disparity, int width, int height,
                  int units_per_m, uint16_t *depth);

/* The same in metres: NAN where it is unknown, INFINITY at and beyond infinity. */
void depth_map_metres(const struct depth_geometry *g, const int16_t *disparity, int width,
                      int height, float *depth);

/* The point of pixel (x, y), metres. 0, or -ERANGE where it has none or lies beyond farthest. */
int depth_point(const struct depth_geometry *g, int x, int y, int16_t disparity, double farthest,
                float xyz[3]);
