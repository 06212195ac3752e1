/*
 * Stages of the warm start: how much the pictures of a tile have changed since the last frame (what
 * follows from that is decided on the host, gpu/warm.c), and labels settling among their neighbours
 * after few half-steps.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STAGE_WARM_H
#define LIVESTEREO_STAGE_WARM_H

#include "gpu/stage_bp.h"

/* Two numbers a tile: the sum of the differences of its samples, and those of 4x4 samples each of
 * a channel, in which noise cancels and movement does not. Run over tiles. */
struct change_args {
    const uint8_t *now, *before; /* width*height*channels */
    uint32_t *change;            /* a pair a tile */
    int width, height, channels;
};

enum { CHANGE_BLOCK = 4 };

/* One block's part in both sums; x counts samples of all channels. */
STAGE void change_block(const struct change_args *a, int x, int y, uint32_t sum[2]) {
    int together = 0;
    for (int j = y; j < stage_min(y + CHANGE_BLOCK, a->height); j++)
        for (int i = x; i < stage_min(x + CHANGE_BLOCK * a->channels, a->width * a->channels);
             i += a->channels) {
            size_t at = (size_t)j * (size_t)a->width * (size_t)a->channels + (size_t)i;
            int change = a->now[at] - a->before[at];
            sum[0] += (uint32_t)stage_abs(change);
            together += change;
        }
    sum[1] += (uint32_t)stage_abs(together);
}

STAGE void stage_change(const struct change_args *a, int column, int row) {
    uint32_t sum[2] = {0, 0};
    for (int y = row * HEAT_HEIGHT; y < (row + 1) * HEAT_HEIGHT; y += CHANGE_BLOCK)
        for (int x = column * HEAT_WIDTH; x < (column + 1) * HEAT_WIDTH; x += CHANGE_BLOCK)
            for (int c = 0; c < a->channels; c++)
                change_block(a, x * a->channels + c, y, sum);
    uint32_t *out = a->change + 2 * (row * tile_columns(a->width) + column);
    out[0] = sum[0];
    out[1] = sum[1];
}

/* The pixels of one colour take a neighbour's label where that lowers the energy, most of all and
 * of equals the first (iterated conditional modes, Besag 1986, over the labels around). Beliefs do
 * not speak for such a label: its disparity is whole, its confidence 0. Run over half x height. */
struct settle_args {
    struct grid grid;
    const uint8_t *cost, *classes; /* classes as in message_args */
    uint16_t *label;
    int16_t *disparity;
    uint8_t *confidence;
    int min_disparity, colour;
    uint8_t rho[4], truncation[4];
};

/* Labels around a pixel; where there is none, an edge that costs nothing. */
struct settle_around {
    int label[DIRECTIONS], rho[DIRECTIONS], truncation[DIRECTIONS];
};

STAGE int settle_energy(const struct settle_around *n, int cost, int label) {
    for (int r = 0; r < DIRECTIONS; r++)
        cost += stage_min(n->rho[r] * stage_abs(label - n->label[r]), n->truncation[r]);
    return cost;
}

STAGE void stage_settle(const struct settle_args *a, int i, int y) {
    int x = grid_column(a->colour, i, y);
    if (x >= a->grid.width)
        return;
    size_t at = (size_t)y * (size_t)a->grid.width + (size_t)x, step[DIRECTIONS] = {0};
    int own = a->label[at], class_bits = a->classes ? a->classes[at] : 0, differ = 0;
    const uint8_t *cost = a->cost + grid_labels(&a->grid, x, y);
    struct settle_around n;
    int exist = grid_neighbours(&a->grid, x, y).exist;
    step[UP] = at - (size_t)a->grid.width;
    step[DOWN] = at + (size_t)a->grid.width;
    step[LEFT] = at - 1;
    step[RIGHT] = at + 1;
    for (int r = 0; r < DIRECTIONS; r++) {
        int there = exist >> r & 1, edge_class = class_bits >> (2 * r) & 3;
        n.label[r] = there ? a->label[step[r]] : own;
        n.rho[r] = there ? a->rho[edge_class] : 0;
        n.truncation[r] = there ? a->truncation[edge_class] : 0;
        differ |= n.label[r] != own;
    }
    if (!differ)
        return;
    int best = own, least = settle_energy(&n, cost[own], own);
    for (int r = 0; r < DIRECTIONS; r++) {
        int energy = settle_energy(&n, cost[n.label[r]], n.label[r]);
        if (energy < least) {
            least = energy;
            best = n.label[r];
        }
    }
    if (best == own)
        return;
    a->label[at] = (uint16_t)best;
    a->disparity[at] = (int16_t)(16 * (a->min_disparity + best));
    a->confidence[at] = 0;
}

#endif
