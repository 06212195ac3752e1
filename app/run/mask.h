/*
 * The option --mask: a picture of what does not move with the scene, such as lines that are drawn
 * into the pictures. Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/commands.h"
#include "app/matcher.h"

/* clang-format off */
#define MASK_ENTRY(file) \
    {"mask", 0, 0, G_OPTION_ARG_FILENAME, file, \
     "With mode=motion: pixels that are white in this picture have no data cost and count in no " \
     "figure", "PICTURE"}
/* clang-format on */

/* Reads a mask for computed pictures of this size: *mask gets width*height bytes, 255 where the
 * picture is white (of any depth), else 0, for free(). EXIT_DONE; or, after a log line and with
 * *mask NULL, EXIT_SOURCE (damaged, or of another size). */
int mask_read(const char *path, int width, int height, uint8_t **mask);

/* The same, and gives it to the pipeline; NULL where path is. EXIT_DONE, or the exit code after a
 * log line. */
int mask_use(const char *path, const struct params *params, int width, int height,
             struct matcher *matcher, uint8_t **mask);
