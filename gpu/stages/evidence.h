/*
 * The evidence of a node: how much its data costs tell labels apart.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/pruning.h"

/* Multiplies the costs of each node of the third finest level by a weight, which grows with
 * r = (mean - least) / mean of the costs summed over the node and EVIDENCE_REACH nodes on each side
 * of it in its row: the mean over the labels whose match lies in the other picture, and the least
 * of them. On a plain surface r is about 0.07, by noise alone, and coarser nodes would sum up that
 * noise until it outweighs smoothness. Rows above and below do not count, since the ground changes
 * its disparity from row to row. Run over width x height of the grid. */
struct evidence_args {
    struct grid grid;
    const uint16_t *source; /* at most 16 * MAX_COST */
    uint16_t *out;
    int first, width; /* of the picture: the column of the first node's first pixel, the width */
    int sign;         /* as in cost_args */
    int bare_weight;  /* of costs without evidence, in 1/256 */
    int least_mean;   /* of a node's costs, in r: where pictures are clipped all costs are small */
};

enum { EVIDENCE_REACH = 5, EVIDENCE_NODES = 2 * EVIDENCE_REACH + 1, EVIDENCE_LEAST_LABELS = 8 };

/* The labels first..end-1 of a node. */
struct label_range {
    int first, end;
};

/* Those whose match for the pixel in the middle of the node lies in the other picture. */
STAGE struct label_range evidence_labels(const struct evidence_args *a, int x) {
    int middle =
            stage_min(a->first + (x << PRUNED_LEVELS) + (1 << PRUNED_LEVELS) / 2, a->width - 1),
        first = (a->sign > 0 ? middle - a->width + 1 : -middle) - a->grid.space.u_min;
    struct label_range r = {stage_clamp(first, 0, a->grid.labels),
                            stage_clamp(first + a->width, 0, a->grid.labels)};
    return r;
}

/* The weight in 1/256 by the costs summed over nodes: their sum and least over count labels, and
 * how many are less than a quarter of the way from the least to the mean. r up to 1/20 is no
 * evidence, from 1/10 on it is full. Where more than a fifth of the labels are that near, r is
 * divided by how many fifths they are. */
STAGE int evidence_weight(const struct evidence_args *a, int nodes, int count, uint32_t sum,
                          uint32_t least, uint32_t near) {
    if (count < EVIDENCE_LEAST_LABELS)
        return a->bare_weight;
    uint32_t labels = (uint32_t)count, smallest = (uint32_t)(a->least_mean * nodes) * labels;
    uint64_t above = (uint64_t)(sum - least * labels) * 20 * 256,
             mean = sum > smallest ? sum : smallest;
    if (5 * near > labels)
        above = above * labels / (5 * near);
    int r = (int)(above / (mean + 1)); /* in 1/20/256 */
    return a->bare_weight + (256 - a->bare_weight) * stage_clamp(r - 256, 0, 256) / 256;
}

/* The least cost of near labels. */
STAGE uint32_t evidence_limit(int count, uint32_t sum, uint32_t least) {
    return least + (sum - least * (uint32_t)count) / (4 * (uint32_t)stage_max(count, 1));
}

STAGE int evidence_scaled(int cost, int weight) {
    return (cost * weight + 128) >> 8;
}

/* How many nodes costs are summed over: those of them that exist. */
STAGE int evidence_nodes(const struct evidence_args *a, int x) {
    return stage_min(x + EVIDENCE_REACH, a->grid.width - 1) - stage_max(x - EVIDENCE_REACH, 0) + 1;
}

STAGE void stage_evidence(const struct evidence_args *a, int x, int y) {
    int left = stage_max(x - EVIDENCE_REACH, 0), nodes = evidence_nodes(a, x);
    struct label_range range = evidence_labels(a, x);
    uint32_t sums[MAX_LABELS], sum = 0, least = UINT32_MAX, near = 0;
    for (int d = range.first; d < range.end; d++) {
        sums[d] = 0;
        for (int px = left; px < left + nodes; px++)
            sums[d] += a->source[grid_labels(&a->grid, px, y) + d];
        sum += sums[d];
        least = sums[d] < least ? sums[d] : least;
    }
    uint32_t limit = evidence_limit(range.end - range.first, sum, least);
    for (int d = range.first; d < range.end; d++)
        near += sums[d] <= limit;
    int weight = evidence_weight(a, nodes, range.end - range.first, sum, least, near);
    size_t at = grid_labels(&a->grid, x, y);
    for (int d = 0; d < a->grid.padded; d++)
        a->out[at + d] = (uint16_t)evidence_scaled(a->source[at + d], weight);
}
