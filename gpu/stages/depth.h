/*
 * Disparities in px, depths and points from the final map. A depth comes from a table, and a
 * coordinate is one product of floats, rounded once: the same bytes everywhere.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/stage.h"

enum { DEPTHS = 1 << 16 };

/* Made by the host: the depth of each disparity, taken as uint16, in metres and millimetres, as
 * include/livestereo.h has them, X / Z of each column and Y / Z of each row. */
struct depth_tables {
    float metres[DEPTHS];
    uint16_t mm[DEPTHS];
    float across[MAX_FRAME_SIDE], down[MAX_FRAME_SIDE];
};

struct depth_args {
    const int16_t *source;
    const uint8_t *confidence;
    const struct depth_tables *tables; /* NULL where px alone is wanted */
    float *px, *metres, *points;       /* points: x y z of each pixel; NULL: not wanted */
    uint16_t *mm;
    int width, min_confidence; /* depths and points of less are unknown */
    float nothing;             /* NAN */
};

STAGE void stage_depth(const struct depth_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    int d = a->source[i], sure = a->confidence[i] >= a->min_confidence;
    float z = sure && a->tables ? a->tables->metres[(uint16_t)d] : a->nothing;
    int finite = z < 3e38f; /* and a number */
    if (a->px)
        a->px[i] = d == UNKNOWN ? a->nothing : (float)d / 16;
    if (a->mm)
        a->mm[i] = sure ? a->tables->mm[(uint16_t)d] : (uint16_t)0;
    if (a->metres)
        a->metres[i] = z;
    if (a->points) {
        a->points[3 * i] = finite ? a->tables->across[x] * z : a->nothing;
        a->points[3 * i + 1] = finite ? a->tables->down[y] * z : a->nothing;
        a->points[3 * i + 2] = finite ? z : a->nothing;
    }
}
