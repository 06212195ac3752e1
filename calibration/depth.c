/*
 * Disparity to depth and points. SPDX-License-Identifier: MIT
 */
#include "calibration/depth.h"

#include "calibration/rectify.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

void depth_geometry_of(const struct rectification *to, int metric, struct depth_geometry *out) {
    *out = (struct depth_geometry){.fx = to->fx,
                                   .fy = to->fy,
                                   .cx = to->cx[0],
                                   .cy = to->cy,
                                   .baseline = to->baseline,
                                   .doffs = to->cx[1] - to->cx[0],
                                   .metric = metric};
}

double depth_of(const struct depth_geometry *g, double disparity) {
    double d = disparity + g->doffs;
    return d > 0 ? g->fx * g->baseline / d : INFINITY;
}

double depth_disparity(const struct depth_geometry *g, double depth) {
    return g->fx * g->baseline / depth - g->doffs;
}

double depth_error(const struct depth_geometry *g, double depth, double error_px) {
    return depth * depth * error_px / (g->fx * g->baseline);
}

void depth_limits(const struct depth_geometry *g, int min_disparity, int range, double *nearest,
                  double *farthest) {
    *nearest = depth_of(g, min_disparity + range - 1);
    *farthest = depth_of(g, min_disparity);
}

int depth_labels(const struct depth_geometry *g, int min_disparity, double depth) {
    double labels = ceil(depth_disparity(g, depth) - min_disparity - 1e-9) + 1;
    return (int)fmin(fmax(labels, 1), INT16_MAX);
}

/* INT16_MIN is "unknown" and 16 the unit of disparity maps (image/frame.h, which is not ours
 * to see). */
static double pixels(int16_t disparity) {
    return disparity == INT16_MIN ? NAN : disparity / 16.0;
}

long depth_map_16(const struct depth_geometry *g, const int16_t *disparity, int width, int height,
                  int units_per_m, uint16_t *depth) {
    size_t count = (size_t)width * (size_t)height;
    long far = 0;
    for (size_t i = 0; i < count; i++) {
        double d = pixels(disparity[i]), z = units_per_m * depth_of(g, d);
        bool held = !isnan(d) && z < UINT16_MAX + 0.5;
        depth[i] = held ? (uint16_t)lrint(z) : 0;
        far += !isnan(d) && !held;
    }
    return far;
}

void depth_map_metres(const struct depth_geometry *g, const int16_t *disparity, int width,
                      int height, float *depth) {
    size_t count = (size_t)width * (size_t)height;
    for (size_t i = 0; i < count; i++) {
        double d = pixels(disparity[i]);
        depth[i] = isnan(d) ? NAN : (float)depth_of(g, d);
    }
}

int depth_point(const struct depth_geometry *g, int x, int y, int16_t disparity, double farthest,
                float xyz[3]) {
    double z = depth_of(g, pixels(disparity));
    if (!(z <= farthest) || !isfinite(z))
        return -ERANGE;
    xyz[0] = (float)((x - g->cx) * z / g->fx);
    xyz[1] = (float)((y - g->cy) * z / g->fy);
    xyz[2] = (float)z;
    return 0;
}
