/*
 * Point clouds to PLY files and meshes to OBJ files, written beside the target and renamed. No
 * shared state.
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

/* OBJ: a line "v x y z r g b" for each point, colours from 0 to 1, and "f a b c" for each triangle.
 * The points of a picture of width x height in its order: number has of each pixel that of its
 * point, from 1 on, 0 where it has none. A triangle joins three pixels of a square of four whose
 * disparities (1/16 px) differ by a pixel at most. unit goes into the comment of the first line
 * ("metres"). 0 or -errno after a log line. */
int obj_write(const char *path, const struct ply_point *points, size_t count,
              const uint32_t *number, const int16_t *disparity, int width, int height,
              const char *unit);
