/*
 * Textures for scenes of cast.h, painted from seeds.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/synth/cast.h"

enum painting {
    WOOD,
    PRINT,
    GLAZE,
    SPINES,
    SPECKLE,
    OUTSIDE,
    STRIPES,
    BRICKS,
    CHECKS,
    WAVES,
};

/* Textures with their levels, one behind the other, as cast.h takes them; NULL without memory. */
uint8_t *textures_paint(const enum painting *paintings, int count, uint32_t seed, int threads);

/* The cloth of each of the eight spines, 0 to 255. */
vec spine_colour(int book);

/* An even number in [0, 1) for two whole numbers. */
float noise_hash(int x, int y, uint32_t seed);
