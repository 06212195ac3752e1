/*
 * Stages that extract a block from the whole picture and copy it back: see gpu/blocks.h.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/pruning.h"

/* Copies the costs of a block, whose first pixel is (x, y), from a larger volume. Run over the
 * block. */
struct crop_cost_args {
    struct grid grid, source_grid;
    int x, y;
    const uint8_t *source;
    uint8_t *out;
};

STAGE void stage_crop_cost(const struct crop_cost_args *a, int x, int y) {
    const uint8_t *from = a->source + grid_labels(&a->source_grid, a->x + x, a->y + y);
    uint8_t *to = a->out + grid_labels(&a->grid, x, y);
    for (int d = 0; d < a->grid.padded; d++)
        to[d] = from[d];
}

/* Copies a rectangle from one map to another; both pointers are at its first pixel. Run over the
 * rectangle. */
struct copy_map_args {
    const uint8_t *source;
    uint8_t *out;
    int source_width, out_width; /* of the maps, in pixels */
    int pixel_bytes;
};

STAGE void stage_copy_map(const struct copy_map_args *a, int x, int y) {
    const uint8_t *from =
        a->source + ((size_t)y * (size_t)a->source_width + (size_t)x) * (size_t)a->pixel_bytes;
    uint8_t *to = a->out + ((size_t)y * (size_t)a->out_width + (size_t)x) * (size_t)a->pixel_bytes;
    for (int i = 0; i < a->pixel_bytes; i++)
        to[i] = from[i];
}

/* The data cost of each pixel's label, 8 bits. */
struct label_data_cost_args {
    struct grid grid;
    const uint8_t *cost;
    struct pruning pruning; /* kept NULL: cost is of all labels */
    const uint16_t *label;  /* width*height */
    uint8_t *out;           /* width*height */
};

STAGE void stage_label_data_cost(const struct label_data_cost_args *a, int x, int y) {
    size_t i = (size_t)y * (size_t)a->grid.width + (size_t)x;
    int exists;
    a->out[i] = a->cost[label_place(&a->grid, &a->pruning, x, y, a->label[i], &exists)];
}
