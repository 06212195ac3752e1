/*
 * Checks of the structs that callers give. Each function returns 0, or -errno after a message of
 * the call.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/log.h"
#include "gpu/stages/convert.h"
#include "include/livestereo.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* The messages of calls without a handle, one log for each thread. */
extern __thread struct log_target library_no_handle;

/* A mistake of the caller. */
#define refuse(...) (log_explain(__VA_ARGS__), -EINVAL)

/* Copies a struct of the caller's that begins with its size into one of known bytes: what it lacks
 * is 0, and what it has beyond that must be. */
int library_read_sized(const char *name, void *to, size_t known, const void *from);

/* The way back into as many bytes as the caller's struct has, which the former function took. */
void library_write_sized(void *to, const void *from, size_t known);

bool library_is_zero(const void *memory, size_t bytes);
int library_check_reserved(const char *name, const void *reserved, size_t bytes);

/* The pipeline's name of a picture's format; 0 for a map's. */
enum picture_format library_picture_format(enum livestereo_format format);

/* Whether image is one of this size and format, in host memory. */
int library_check_image(const char *name, const struct livestereo_image *image, int width,
                        int height, enum livestereo_format format);

int library_check_options(const struct livestereo_options *o);

struct depth_geometry;
int library_geometry(struct depth_geometry *to, const struct livestereo_geometry *g);

/* -ENOTSUP: geometry, where it is known, has no unit. */
int library_need_metres(const struct depth_geometry *g);
