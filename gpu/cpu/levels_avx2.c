/*
 * Stages between the levels of the hierarchy, in plain C that the compiler vectorises for AVX2
 * because the inner loops run over the labels.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

#include <string.h>

static const uint16_t no_cost[MAX_LABELS];

/* The four children of a node have the same index in their rows: (0,0) and (1,1) have parity 0, the
 * others parity 1. */
static size_t child(const struct downsample_cost_args *a, int x, int y, int k) {
    return grid_labels(&a->fine, 2 * x + (k & 1), 2 * y + (k >> 1));
}

static int child_exists(const struct downsample_cost_args *a, int x, int y, int k) {
    return 2 * x + (k & 1) < a->fine.width && 2 * y + (k >> 1) < a->fine.height;
}

static void downsample8(const uint8_t *restrict p, const uint8_t *restrict q,
                        const uint8_t *restrict r, const uint8_t *restrict s,
                        uint16_t *restrict out, int padded) {
    for (int d = 0; d < padded / LABEL_BLOCK * LABEL_BLOCK; d++)
        out[d] = (uint16_t)(p[d] + q[d] + r[d] + s[d]);
}

static void downsample16(const uint16_t *restrict p, const uint16_t *restrict q,
                         const uint16_t *restrict r, const uint16_t *restrict s,
                         uint16_t *restrict out, int padded) {
    for (int d = 0; d < padded / LABEL_BLOCK * LABEL_BLOCK; d++)
        out[d] = (uint16_t)stage_min(p[d] + q[d] + r[d] + s[d], COST_SATURATION);
}

/* Labels of all pixels of a node. */
static void sum_pixels(const struct downsample_cost_args *a, int x, int y) {
    uint16_t *restrict out = a->cost + grid_labels(&a->grid, x, y);
    int padded = a->grid.padded / LABEL_BLOCK * LABEL_BLOCK;
    memset(out, 0, (size_t)padded * sizeof(*out));
    for (int cy = y << a->levels; cy < stage_min((y + 1) << a->levels, a->fine.height); cy++)
        for (int cx = x << a->levels; cx < stage_min((x + 1) << a->levels, a->fine.width); cx++) {
            const uint8_t *restrict from = a->fine8 + grid_labels(&a->fine, cx, cy);
            for (int d = 0; d < padded; d++)
                out[d] = (uint16_t)(out[d] + from[d]);
        }
}

void rows_downsample_cost_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct downsample_cost_args *a = args;
    (void)scratch;
    for (int y = first; a->levels > 1 && y < last; y++)
        for (int x = 0; x < width; x++)
            sum_pixels(a, x, y);
    if (a->levels > 1)
        return;
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++) {
            uint16_t *out = a->cost + grid_labels(&a->grid, x, y);
            const uint8_t *c8[4];
            const uint16_t *c16[4];
            for (int k = 0; k < 4; k++) {
                int exists = child_exists(a, x, y, k);
                c8[k] =
                    exists && a->fine8 ? a->fine8 + child(a, x, y, k) : (const uint8_t *)no_cost;
                c16[k] = exists && a->fine16 ? a->fine16 + child(a, x, y, k) : no_cost;
            }
            if (a->fine16)
                downsample16(c16[0], c16[1], c16[2], c16[3], out, a->grid.padded);
            else
                downsample8(c8[0], c8[1], c8[2], c8[3], out, a->grid.padded);
        }
}

static void add_node(uint16_t *restrict sums, const uint16_t *restrict cost, int padded) {
    for (int d = 0; d < padded / LABEL_BLOCK * LABEL_BLOCK; d++)
        sums[d] = (uint16_t)(sums[d] + cost[d]);
}

static void take_node(uint16_t *restrict sums, const uint16_t *restrict cost, int padded) {
    for (int d = 0; d < padded / LABEL_BLOCK * LABEL_BLOCK; d++)
        sums[d] = (uint16_t)(sums[d] - cost[d]);
}

static uint16_t least_of(const uint16_t *restrict sums, int first, int end) {
    uint16_t least = UINT16_MAX;
    for (int d = first; d < end; d++)
        least = sums[d] < least ? sums[d] : least;
    return least;
}

/* By the costs summed over nodes. */
static struct node_match match_node(const struct evidence_args *a, int x,
                                    const uint16_t *restrict sums) {
    struct label_range range = evidence_labels(a, x);
    int count = range.end - range.first, label = range.first;
    uint32_t sum = 0;
    uint16_t least = least_of(sums, range.first, range.end), near = 0;
    for (int d = range.first; d < range.end; d++)
        sum += sums[d];
    uint16_t limit = (uint16_t)evidence_limit(count, sum, least);
    for (int d = range.first; d < range.end; d++)
        near = (uint16_t)(near + (sums[d] <= limit));
    while (label < range.end && sums[label] != least)
        label++;
    uint16_t below = least_of(sums, range.first, label - MATCH_APART),
             above = least_of(sums, label + MATCH_APART + 1, range.end);
    struct node_costs c = {sum, least, near, (uint32_t)label, below < above ? below : above};
    return node_match_of(a, evidence_nodes(a, x), count, &c);
}

/* Sums over nodes go along with x. */
void rows_node_match_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct evidence_args *a = args;
    (void)scratch;
    for (int y = first; y < last; y++) {
        uint16_t sums[MAX_LABELS] = {0};
        for (int x = -EVIDENCE_REACH; x < width; x++) {
            int enters = x + EVIDENCE_REACH, leaves = enters - EVIDENCE_NODES;
            if (enters < width)
                add_node(sums, a->source + grid_labels(&a->grid, enters, y), a->grid.padded);
            if (leaves >= 0)
                take_node(sums, a->source + grid_labels(&a->grid, leaves, y), a->grid.padded);
            if (x >= 0)
                a->match[y * width + x] = match_node(a, x, sums);
        }
    }
    if (first == 0 && a->ground)
        *a->ground = 0;
}

void rows_evidence_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct evidence_args *a = args;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0, ground = ground_of_row(a, y); x < width; x++) {
            struct node_weight w = node_weight_of(a, x, y, ground);
            size_t at = grid_labels(&a->grid, x, y);
            const uint16_t *restrict cost = a->source + at;
            uint16_t *restrict out = a->out + at;
            for (int d = 0; d < a->grid.padded / LABEL_BLOCK * LABEL_BLOCK; d++)
                out[d] = (uint16_t)((cost[d] * w.weight + 128) >> 8);
            for (int d = stage_max(ground - GROUND_NEAR, 0);
                 w.gain && d < stage_min(ground + GROUND_NEAR + 1, a->grid.padded); d++)
                out[d] = evidence_scaled(cost[d], &w, d);
        }
}

/* Costs of block k of the nodes' labels from their children's, where these exist. */
void rows_pruned_downsample_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct pruned_downsample_args *a = args;
    const struct downsample_cost_args pixels = {.fine = a->fine};
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++) {
            int n = kept_count(kept_at(&a->pruning, x, y));
            uint16_t *out = a->out + pruned_labels(&a->grid, 0, grid_pixel(&a->grid, x, y));
            for (int k = 0; k < n; k++) {
                const uint8_t *from[4];
                for (int i = 0; i < 4; i++)
                    from[i] = child_exists(&pixels, x, y, i)
                                  ? a->cost + pruned_labels(&a->fine, k,
                                                            grid_pixel(&a->fine, 2 * x + (i & 1),
                                                                       2 * y + (i >> 1)))
                                  : (const uint8_t *)no_cost;
                downsample8(from[0], from[1], from[2], from[3], out + pruned_volume(&a->grid, k),
                            LABEL_BLOCK);
            }
        }
}
