/*
 * All stages share these: their declaration, the memory order of volumes, integer helpers. A stage
 * is one step of the pipeline, a function of one element of its output (a pixel, of some a row, a
 * tile or a count) that the C compiler and nvcc compile from the same source. The order of the
 * elements does not matter: within one stage none reads what another one writes, except by atomics
 * that end in the same values in any order (regions of speckles and sky, votes for motions, counts,
 * active tiles). Stages use integers only, so that all backends give the same bytes; `depth` and
 * those of temporal.h compute with floats that are rounded one operation after the other.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/limits.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define STAGE static __host__ __device__ inline
#else
#define STAGE static inline
#endif

enum { MAX_LEVELS = 10, LABEL_BLOCK = 16 };
enum { MAX_COST = 120, MAX_TRUNCATION = 255, COST_SATURATION = 30720 };

/* The direction of a message, and of an edge in a byte of edge classes (2 bits each). */
enum { UP, DOWN, LEFT, RIGHT, DIRECTIONS };

/* The labels of a pixel: a displacement (u, v) in px between the two pictures, numbered row by row:
 * label l is (u_min + l % u_count, v_min + l / u_count). A disparity has one v, which is 0. */
struct label_space {
    int u_min, u_count, v_min, v_count;
};

/* One level of the hierarchy. Volumes of cost and messages are stored
 * [parity][y][x/2][label] with the parity (x + y) & 1 of a checkerboard, labels padded to a
 * multiple of LABEL_BLOCK: neighbours of one parity lie side by side, which is what a half-step
 * reads and writes. */
struct grid {
    int width, height;
    int half; /* (width + 1) / 2: pixels of one parity in a row, the last may not exist */
    struct label_space space;
    int labels; /* of space */
    int padded;
};

STAGE struct grid grid_make(int width, int height, struct label_space space) {
    int labels = space.u_count * space.v_count;
    struct grid g = {width, height, (width + 1) / 2,
                     space, labels, (labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK};
    return g;
}

/* The next coarser level: a node stands for 2x2 of the finer one. */
STAGE struct grid grid_coarser(const struct grid *g) {
    return grid_make((g->width + 1) / 2, (g->height + 1) / 2, g->space);
}

/* The nodes of a level, 0 the finest, in a row or column of so many pixels. */
STAGE int nodes_along(int pixels, int level) {
    return (pixels + (1 << level) - 1) >> level;
}

STAGE int stage_min(int a, int b) {
    return a < b ? a : b;
}
STAGE int stage_max(int a, int b) {
    return a > b ? a : b;
}
STAGE int stage_abs(int a) {
    return a < 0 ? -a : a;
}
STAGE int stage_clamp(int v, int minimum, int maximum) {
    return stage_max(stage_min(v, maximum), minimum);
}

/* The number of the highest bit that is set of v > 0. */
STAGE int stage_top_bit(uint32_t v) {
#ifdef __CUDA_ARCH__
    return 31 - __clz((int)v);
#else
    return 31 - __builtin_clz(v);
#endif
}

/* The number of a pixel in checkerboard order; multiplied by padded it gives its first label. */
STAGE size_t grid_pixel(const struct grid *g, int x, int y) {
    return ((size_t)((x + y) & 1) * (size_t)g->height + (size_t)y) * (size_t)g->half +
           (size_t)(x >> 1);
}

STAGE size_t grid_labels(const struct grid *g, int x, int y) {
    return grid_pixel(g, x, y) * (size_t)g->padded;
}

/* The column of pixel number i of a parity in row y. */
STAGE int grid_column(int parity, int i, int y) {
    return 2 * i + ((y + parity) & 1);
}

STAGE size_t grid_pixels(const struct grid *g) {
    return (size_t)2 * g->height * g->half;
}
STAGE size_t grid_volume(const struct grid *g) {
    return grid_pixels(g) * (size_t)g->padded;
}

/* Fast-converging updates skip tiles of pixels in which nothing changes; tiles are numbered row by
 * row. TILE_PIXELS: pixels of one parity in a tile. */
enum { TILE_WIDTH = 4, TILE_HEIGHT = 4, TILE_PIXELS = TILE_WIDTH / 2 * TILE_HEIGHT };

STAGE int tile_columns(int width) {
    return (width + TILE_WIDTH - 1) / TILE_WIDTH;
}
STAGE int tile_count(int width, int height) {
    return tile_columns(width) * ((height + TILE_HEIGHT - 1) / TILE_HEIGHT);
}
STAGE int tile_of(int width, int x, int y) {
    return y / TILE_HEIGHT * tile_columns(width) + x / TILE_WIDTH;
}

/* Whether a pixel is the first of its parity in its tile. In a tile that is one pixel wide, that of
 * one parity is in the second row. */
STAGE int is_first_of_tile(int width, int x, int y) {
    int column = x % TILE_WIDTH, row = y % TILE_HEIGHT;
    return row == 0 ? column < 2 : row == 1 && column == 0 && x + 1 == width;
}

/* The largest absolute difference over the channels, 1 or 3, of two pixels. */
STAGE int color_step(const uint8_t *a, const uint8_t *b, int channels) {
    int one = channels > 1, two = 2 * one; /* without a branch, at which a GPU would wait */
    return stage_max(stage_max(stage_abs(a[0] - b[0]), stage_abs(a[one] - b[one])),
                     stage_abs(a[two] - b[two]));
}

/* Displacements. A map of them has two arrays of width*height in 1/16 px; one of disparities has u
 * alone. u is UNKNOWN where none is known. */
enum { UNKNOWN = -32768 }; /* frame.h's DISPARITY_UNKNOWN, for both compilers */

struct displacement {
    int u, v;
};

struct motion_map {
    int16_t *u, *v;
};

STAGE struct displacement motion_at(const struct motion_map *map, size_t i) {
    struct displacement d = {map->u[i], map->v[i]};
    return d;
}

STAGE void motion_put(const struct motion_map *map, size_t i, struct displacement d) {
    map->u[i] = (int16_t)(d.u == UNKNOWN ? UNKNOWN : stage_clamp(d.u, -32767, 32767));
    if (map->v)
        map->v[i] = (int16_t)(d.u == UNKNOWN ? UNKNOWN : stage_clamp(d.v, -32767, 32767));
}

/* A window of labels: label l of a pixel stands for its centre + (u_min + l % u_count, v_min + l /
 * u_count), counted in steps of 1 / fraction px. Centres are a map in such steps; u NULL: all 0. */
STAGE struct displacement motion_centre(const struct motion_map *centre, const struct grid *g,
                                        int x, int y) {
    struct displacement none = {0, 0};
    return centre->u ? motion_at(centre, (size_t)y * (size_t)g->width + (size_t)x) : none;
}

/* Where label l of a window with this centre leads. */
STAGE struct displacement motion_label(const struct label_space *s, struct displacement centre,
                                       int l) {
    struct displacement d = {centre.u + s->u_min + l % s->u_count,
                             centre.v + s->v_min + l / s->u_count};
    return d;
}

/* *sum += value, whoever else adds to it in the same stage. */
STAGE void stage_add(uint32_t *sum, uint32_t value) {
#ifdef __CUDA_ARCH__
    atomicAdd(sum, value);
#else
    __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
#endif
}

/* Makes *most at least value, whoever else does so in the same stage. */
STAGE void stage_raise64(uint64_t *most, uint64_t value) {
#ifdef __CUDA_ARCH__
    atomicMax((unsigned long long *)most, (unsigned long long)value);
#else
    uint64_t old = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (old < value &&
           !__atomic_compare_exchange_n(most, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
#endif
}

/* a / b to the nearest whole number, halves away from zero; b > 0. */
STAGE int divide_round(int a, int b) {
    int size = (2 * stage_abs(a) + b) / (2 * b); /* without a branch, which depends on noise */
    return a < 0 ? -size : size;
}
