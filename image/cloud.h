/*
 * Point clouds to PLY files, written beside the target and renamed. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ply_point {
    float xyz[3];
    uint8_t rgb[3], confidence; /* 0 to 255, of the disparity */
};

/* PLY: binary, little endian, x y z float and red green blue confidence uchar. unit goes into the
 * header's comment ("metres"). 0 or -errno after a log line. */
int ply_write(const char *path, const struct ply_point *points, size_t count, const char *unit);
