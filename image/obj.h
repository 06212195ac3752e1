/*
 * Point clouds to OBJ files: a line "v x y z r g b" for each point, colours from 0 to 1. Written
 * beside the target and renamed. No shared state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_OBJ_H
#define LIVESTEREO_OBJ_H

#include "image/ply.h"

/* unit goes into the comment of the first line ("metres"). 0 or -errno after a log line. */
int obj_write(const char *path, const struct ply_point *points, size_t count, const char *unit);

#endif
