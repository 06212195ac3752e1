/*
 * The unit of disparity maps and flow: 16 bits, 1/16 px, the value of what is not known, which
 * disparities belong to no surface, and which were filled in. Pure functions.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Left column minus right column; to the right and down for flow. */
#define DISPARITY_UNKNOWN INT16_MIN
#define DISPARITY_ONE 16

/* Whether the point of pixel (x, y) of a map of width x height hangs in the air, in a curtain
 * between a near and a far side: both neighbours in its row or in its column are known and more
 * than a pixel of disparity away, on either side of it. As in shaders/points.vert. */
bool disparity_hangs(const int16_t *disparity, int x, int y, int width, int height);

/* Sets mask to 255 where a disparity was filled in, which its confidence below matched_from tells,
 * in regions (of neighbours in rows and columns) of at least DISPARITY_FILLED_PX pixels; else to 0.
 * 0 or -ENOMEM. */
enum { DISPARITY_FILLED_PX = 60 };
int disparity_mark_filled(const int16_t *disparity, const uint8_t *confidence, int width,
                          int height, int matched_from, uint8_t *mask);
