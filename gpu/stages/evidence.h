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
 * its disparity from row to row. Nodes on the ground have full weight.
 * Run over width x height of the grid. */
struct evidence_args {
    struct grid grid;
    const uint16_t *source; /* at most 16 * MAX_COST */
    uint16_t *out;
    int first, width; /* of the picture: the column of the first node's first pixel, the width */
    int sign;         /* as in cost_args */
    int bare_weight;  /* of costs without evidence, in 1/256 */
    int least_mean;   /* of a node's costs, in r: where pictures are clipped all costs are small */
    uint16_t *least;  /* labels of least cost, GROUND_NONE where there are few labels */
    uint64_t *ground; /* ground_vote() of the line that is kept, or NULL */
};

enum { EVIDENCE_REACH = 5, EVIDENCE_NODES = 2 * EVIDENCE_REACH + 1, EVIDENCE_LEAST_LABELS = 8 };

/* GROUND_BOTTOM: the least disparity below the last row. GROUND_NEAR: labels from the ground that
 * cost less, by 1 / GROUND_SHARE of a node's mean cost. */
enum { GROUND_NONE = 0xffff, GROUND_BOTTOM = 8, GROUND_NEAR = 3, GROUND_SHARE = 10 };

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

/* The label of the ground in row y. A level ground's disparity grows with the row, from 0 at the
 * horizon to bottom below the last row (Labayrade, Aubert, Tarel 2002). */
STAGE int ground_label(const struct grid *g, int horizon, int bottom, int y) {
    return divide_round(bottom * (y - horizon), g->height - horizon) - g->space.u_min;
}

/* A line of ground_label() with its votes; the greatest one has most of them. */
STAGE uint64_t ground_vote(uint32_t votes, int horizon, int bottom) {
    return (uint64_t)votes << 32 | (uint64_t)horizon << 16 | (uint64_t)bottom;
}

/* How many times EVIDENCE_NODES nodes a row has. */
STAGE int ground_groups(const struct grid *g) {
    return g->width / EVIDENCE_NODES;
}

/* The label of least cost of EVIDENCE_NODES nodes. Run over ground_groups() x height. */
STAGE void stage_ground_least(const struct evidence_args *a, int i, int y) {
    int left = i * EVIDENCE_NODES, label = GROUND_NONE;
    struct label_range range = evidence_labels(a, left + EVIDENCE_REACH);
    uint32_t least = UINT32_MAX;
    for (int d = range.first; d < range.end; d++) {
        uint32_t sum = 0;
        for (int x = left; x < left + EVIDENCE_NODES; x++)
            sum += a->source[grid_labels(&a->grid, x, y) + d];
        label = sum < least ? d : label;
        least = sum < least ? sum : least;
    }
    a->least[y * ground_groups(&a->grid) + i] =
        (uint16_t)(range.end - range.first < EVIDENCE_LEAST_LABELS ? GROUND_NONE : label);
    if (i == 0 && y == 0)
        *a->ground = 0;
}

/* Keeps the line with most votes: labels of least cost within 1 of it, in every second row.
 * Run over labels x the rows that may be the horizon. */
STAGE void stage_ground_line(const struct evidence_args *a, int i, int horizon) {
    const struct grid *g = &a->grid;
    int bottom = GROUND_BOTTOM + i, groups = ground_groups(g);
    uint32_t votes = 0;
    for (int y = horizon + 2; y < g->height; y += 2) {
        int label = ground_label(g, horizon, bottom, y);
        for (int k = 0; k < groups; k++)
            votes += stage_abs(a->least[y * groups + k] - label) <= 1;
    }
    stage_raise64(a->ground, ground_vote(votes, horizon, bottom));
}

/* The same of the line that was kept, or a label far from all: above the horizon, where that is in
 * the upper three tenths of the picture, and where less than a sixth of the votes below it are for
 * the line. */
STAGE int ground_of_row(const struct evidence_args *a, int y) {
    const struct grid *g = &a->grid;
    uint64_t line = a->ground ? *a->ground : 0, votes = line >> 32;
    int horizon = (int)(line >> 16 & 0xffff), rows = (g->height - horizon - 1) / 2;
    if (10 * horizon < 3 * g->height || y <= horizon ||
        6 * votes < (uint64_t)rows * (uint64_t)ground_groups(g))
        return -2 * GROUND_NEAR;
    return ground_label(g, horizon, (int)(line & 0xffff), y);
}

STAGE bool is_near_ground(int ground, int label) {
    return stage_abs(label - ground) <= GROUND_NEAR;
}

/* How much less labels near the ground cost at a node on the ground: one where such a label is
 * nearly as good as the least. */
STAGE int ground_gain(int nodes, int count, uint32_t sum) {
    return (int)(sum / (uint32_t)(GROUND_SHARE * count * nodes));
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

/* A cost with the node's weight, less what it gains near the ground. */
STAGE int evidence_scaled(int cost, int weight, int gain) {
    return stage_max(((cost * weight + 128) >> 8) - gain, 0);
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
    int count = range.end - range.first, ground = ground_of_row(a, y), on_ground = 0;
    uint32_t limit = evidence_limit(count, sum, least);
    for (int d = range.first; d < range.end; d++) {
        near += sums[d] <= limit;
        on_ground |= sums[d] <= limit && is_near_ground(ground, d);
    }
    on_ground &= count >= EVIDENCE_LEAST_LABELS;
    int weight = on_ground ? 256 : evidence_weight(a, nodes, count, sum, least, near),
        gain = on_ground ? ground_gain(nodes, count, sum) : 0;
    size_t at = grid_labels(&a->grid, x, y);
    for (int d = 0; d < a->grid.padded; d++)
        a->out[at + d] = (uint16_t)evidence_scaled(a->source[at + d], weight,
                                                   is_near_ground(ground, d) ? gain : 0);
}
