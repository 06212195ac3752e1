/*
 * What all stages share: how a stage is declared, the checkerboard memory order, small integer
 * helpers. A stage is one step of the pipeline, written once as a function of one output pixel,
 * that the C compiler and nvcc both take; within one stage no pixel reads what another pixel writes
 * (DESIGN section 1). Integers only: both backends give the same bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STAGE_H
#define LIVESTEREO_STAGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define STAGE static __host__ __device__ inline
#else
#define STAGE static inline
#endif

enum { LABELS_MOST = 512, LEVELS_MOST = 10, LABEL_BLOCK = 16 };
enum { COST_MOST = 120, TRUNCATION_MOST = 255, COST_SATURATION = 30720 };

/* The direction a message travels, and its place in an edge-class byte (2 bits each). */
enum { UP, DOWN, LEFT, RIGHT, DIRECTIONS };

/* One level of the hierarchy. Volumes of cost and messages are stored
 * [colour][y][x/2][label] with colour (x + y) & 1, labels padded to a multiple of LABEL_BLOCK:
 * neighbours of one colour lie side by side, which is what a half-step reads and writes. */
struct grid {
    int width, height;
    int half;   /* (width + 1) / 2: pixels of one colour in a row, the last may not exist */
    int labels; /* real labels; label l is disparity min_disparity + l */
    int padded;
};

STAGE int stage_min(int a, int b) {
    return a < b ? a : b;
}
STAGE int stage_max(int a, int b) {
    return a > b ? a : b;
}
STAGE int stage_abs(int a) {
    return a < 0 ? -a : a;
}
STAGE int stage_clamp(int v, int least, int most) {
    return stage_min(stage_max(v, least), most);
}

/* Number of a pixel in checkerboard order; times padded gives its first label. */
STAGE size_t grid_pixel(const struct grid *g, int x, int y) {
    return ((size_t)((x + y) & 1) * (size_t)g->height + (size_t)y) * (size_t)g->half +
           (size_t)(x >> 1);
}

STAGE size_t grid_labels(const struct grid *g, int x, int y) {
    return grid_pixel(g, x, y) * (size_t)g->padded;
}

/* Column of number i of colour c in row y. */
STAGE int grid_column(int colour, int i, int y) {
    return 2 * i + ((y + colour) & 1);
}

STAGE size_t grid_pixels(const struct grid *g) {
    return (size_t)2 * g->height * g->half;
}
STAGE size_t grid_volume(const struct grid *g) {
    return grid_pixels(g) * (size_t)g->padded;
}

/* A warm start skips tiles of pixels in which nothing changes; tiles are numbered row by row. */
enum { HEAT_WIDTH = 32, HEAT_HEIGHT = 16 };

STAGE int tile_columns(int width) {
    return (width + HEAT_WIDTH - 1) / HEAT_WIDTH;
}
STAGE int tile_rows(int height) {
    return (height + HEAT_HEIGHT - 1) / HEAT_HEIGHT;
}
STAGE int tile_of(int width, int x, int y) {
    return y / HEAT_HEIGHT * tile_columns(width) + x / HEAT_WIDTH;
}

/* Largest difference over the channels of two pixels. */
STAGE int colour_step(const uint8_t *a, const uint8_t *b, int channels) {
    int step = 0;
    for (int c = 0; c < channels; c++)
        step = stage_max(step, stage_abs(a[c] - b[c]));
    return step;
}

/* a / b to the nearest whole number, halves away from zero; b > 0. */
STAGE int divide_round(int a, int b) {
    return a >= 0 ? (2 * a + b) / (2 * b) : -((-2 * a + b) / (2 * b));
}

#endif
