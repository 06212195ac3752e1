/*
 * Reads maps in Portable FloatMap files: Middlebury's disp0.pfm. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* "Pf", width, height and a scale whose sign is the byte order (negative: little-endian), then
 * floats, bottom row first. malloc's *data, width*height, top row first. 0 or -errno after a log
 * line (-EBADMSG damaged, -EFBIG over 16384 px a side, ...); then *data is NULL. */
int pfm_read(const char *path, float **data, int *width, int *height);

/* The same from memory, behind which there is a 0; name is for messages. */
int pfm_parse(const char *bytes, size_t length, const char *name, float **data, int *width,
              int *height);
