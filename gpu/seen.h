/*
 * Which part of a rectified picture shows something of its source, from its table. No state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rectify.h"

#include <stdbool.h>

/* A source of width x height px. Less than 1 px beyond its border does not count: a table that
 * leaves no empty rim (alpha 0) may do that. */
bool seen_whole(const struct rectify_map *map, int width, int height);

/* The largest rectangle of the results, without the margins, in which all pixels show something of
 * the source: x, y, width, height. 0 or -ENOMEM after a log line. */
int seen_window(const struct rectify_map *map, int width, int height, int window[4]);
