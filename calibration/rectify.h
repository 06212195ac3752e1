/*
 * Rectification tables for the remap stage, made in doubles on the host, once per rig.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RECTIFY_H
#define LIVESTEREO_RECTIFY_H

#include <stdint.h>

/* Where output pixel (x, y) is read: source column and row in 1/32 px. */
struct rectify_point {
    int32_t x, y;
};

/* width*height points, row by row. point NULL is the identity. The maker owns point. */
struct rectify_map {
    int width, height;
    struct rectify_point *point;
};

#endif
