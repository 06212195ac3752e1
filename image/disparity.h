/*
 * The unit of disparity maps and flow: 16 bits, 1/16 px, the value of what is not known, and
 * which disparities belong to no surface. Pure function.
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
