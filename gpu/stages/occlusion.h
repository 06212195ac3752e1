/*
 * Stages of the occlusion masks (Brunton, Shu, Roth 2006): the labels between two half-steps of
 * belief propagation, and a data cost that is 0 at pixels that occlude or are occluded by these
 * labels.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/bp.h"

/* The label of least belief (the lower of equals) of the pixels of one parity. Run over half x
 * height. */
struct best_label_args {
    struct grid grid;
    const uint8_t *cost8; /* one of the two is NULL */
    const uint16_t *cost16;
    const uint8_t *message[DIRECTIONS];
    uint16_t *label; /* width*height */
    int parity;
};

STAGE void stage_best_label(const struct best_label_args *a, int i, int y) {
    int x = grid_column(a->parity, i, y);
    if (x >= a->grid.width)
        return;
    struct neighbours n = grid_neighbours(&a->grid, x, y);
    size_t own = grid_labels(&a->grid, x, y);
    int best = 0, minimum = INT32_MAX;
    for (int d = 0; d < a->grid.labels; d++) {
        int sum = a->cost16 ? a->cost16[own + d] : a->cost8[own + d];
        for (int s = 0; s < DIRECTIONS; s++)
            if (n.exist & 1 << s)
                sum += a->message[opposite(s)][n.pixel[s] * a->grid.padded + d];
        if (sum < minimum) {
            minimum = sum;
            best = d;
        }
    }
    a->label[(size_t)y * a->grid.width + x] = (uint16_t)best;
}

/* A copy of the data cost that is 0 at occluding and occluded pixels. Run over half x height, the
 * pixels of one parity; only those whose mask changes are written. */
struct mask_cost_args {
    struct grid grid;
    const uint16_t *label; /* width*height */
    const uint8_t *cost8;  /* one of the two is NULL, and its copy with it */
    const uint16_t *cost16;
    uint8_t *masked8;
    uint16_t *masked16;
    uint8_t *mask; /* width*height, 1 where the copy is 0 */
    int parity;
    int sign;  /* 1: the labels are the left picture's, -1: the right one's */
    int first; /* the copy and the masks of this parity hold nothing yet */
};

/* In the left picture, p occludes what the right one shows left of it where the label rises by d at
 * p and is still as low d px to the left; p is occluded where the label rises by d to its right and
 * is still as high d px to the right. In the right picture left and right are exchanged. On a
 * coarse level d counts its nodes, as the paper's text has it. */
STAGE int is_masked(const struct mask_cost_args *a, int x, int y) {
    const uint16_t *row = a->label + (size_t)y * a->grid.width;
    int width = a->grid.width, own = row[x], left = x - a->sign, right = x + a->sign;
    if (left >= 0 && left < width && own > row[left]) {
        int at = x - a->sign * (own - row[left]);
        if (at >= 0 && at < width && row[at] == row[left])
            return 1;
    }
    if (right >= 0 && right < width && own < row[right]) {
        int at = x + a->sign * (row[right] - own);
        if (at >= 0 && at < width && row[at] == row[right])
            return 1;
    }
    return 0;
}

STAGE void stage_mask_cost(const struct mask_cost_args *a, int i, int y) {
    int x = grid_column(a->parity, i, y);
    if (x >= a->grid.width)
        return;
    size_t at = (size_t)y * a->grid.width + x, own = grid_labels(&a->grid, x, y);
    int masked = is_masked(a, x, y);
    if (!a->first && a->mask[at] == masked)
        return;
    a->mask[at] = (uint8_t)masked;
    for (int d = 0; d < a->grid.padded; d++)
        if (a->cost16)
            a->masked16[own + d] = masked ? 0 : a->cost16[own + d];
        else
            a->masked8[own + d] = masked ? 0 : a->cost8[own + d];
}
