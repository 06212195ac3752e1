/*
 * Stages of label pruning: the two finest levels of belief propagation look only at those labels
 * that are likely by the level above them. A tile of 8x8 px (of the finest level) keeps a few
 * blocks of LABEL_BLOCK labels, and all messages of its pixels are of these labels.
 *
 * Messages and costs are stored
 * [number of the block among those kept][parity][y][x/2][LABEL_BLOCK];
 * what lies behind the last block that a tile keeps is neither written nor read.
 *
 * Beyond its blocks a pixel's messages are what the min-convolution gives there where other labels
 * cost infinity. Blocks apart from each other do not see each other. Their labels are at least
 * PRUNING_APART apart, so that this is exact where T <= PRUNING_APART * rho.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/bp.h"
#include "gpu/stages/cost.h"

/* KEPT_MOST: blocks that a tile can keep, bytes that a tile has in struct pruning; NOT_KEPT: those
 * behind the last block. */
enum { KEPT_MOST = 4, NOT_KEPT = 255, PRUNED_LEVELS = 2, PRUNING_TILE = 8 };
enum { PRUNING_APART = LABEL_BLOCK + 1 };

/* Which blocks are kept: KEPT_MOST bytes a tile, numbers of blocks in ascending order. */
struct pruning {
    const uint8_t *kept;
    int tile;    /* width and height of a tile in pixels of the level */
    int columns; /* tiles in a row */
};

/* The first byte of a tile. */
STAGE const uint8_t *kept_at(const struct pruning *p, int x, int y) {
    return p->kept +
           KEPT_MOST * ((size_t)(y / p->tile) * (size_t)p->columns + (size_t)(x / p->tile));
}

STAGE int kept_count(const uint8_t *kept) {
    int n = 0;
    while (n < KEPT_MOST && kept[n] != NOT_KEPT)
        n++;
    return n;
}

/* The place of a block among those kept, -1 if it is not. */
STAGE int kept_find(const uint8_t *kept, int block) {
    for (int k = 0; k < KEPT_MOST; k++)
        if (kept[k] == block)
            return k;
    return -1;
}

/* The label of number d of a pixel's messages. */
STAGE int pruned_label(const uint8_t *kept, int d) {
    return kept[d / LABEL_BLOCK] * LABEL_BLOCK + d % LABEL_BLOCK;
}

/* The first label of block number k of a pixel's messages and costs. */
STAGE size_t pruned_labels(const struct grid *g, int k, size_t pixel) {
    return ((size_t)k * grid_pixels(g) + pixel) * LABEL_BLOCK;
}

STAGE size_t pruned_volume(const struct grid *g, int blocks) {
    return (size_t)blocks * grid_pixels(g) * LABEL_BLOCK;
}

/* Where a label of a pixel lies in a volume of the labels kept, or of all where kept is NULL. Sets
 * *exists to 0 where it does not: at is that of some label then. */
STAGE size_t label_place(const struct grid *g, const struct pruning *p, int x, int y, int label,
                         int *exists) {
    *exists = label >= 0 && label < g->labels;
    if (!p->kept)
        return grid_labels(g, x, y) + (size_t)(*exists ? label : 0);
    int k = *exists ? kept_find(kept_at(p, x, y), label / LABEL_BLOCK) : -1;
    *exists = k >= 0;
    return pruned_labels(g, stage_max(k, 0), grid_pixel(g, x, y)) +
           (size_t)(*exists ? label % LABEL_BLOCK : 0);
}

/* Each tile keeps the blocks that most labels of the third finest level vote for, among the
 * pixels that lie in the tile and in a ring of one around it. A label gives PRUNING_OWN votes to
 * the block that it is in, and one to a block that labels within PRUNING_REACH of it are in. Of
 * equal votes the lower block's count more. Run over the tiles. */
enum { PRUNING_REACH = 4, PRUNING_OWN = 9 };

struct prune_args {
    const uint16_t *label; /* width*height, of the third finest level */
    uint8_t *kept;         /* KEPT_MOST a tile */
    int width, height;
    int labels;  /* of all */
    int columns; /* tiles in a row */
    int count;   /* blocks to keep, at most KEPT_MOST */
};

STAGE void prune_vote(const struct prune_args *a, int x, int y,
                      uint8_t votes[MAX_LABELS / LABEL_BLOCK]) {
    int label = a->label[(size_t)y * (size_t)a->width + (size_t)x];
    int first = stage_max(label - PRUNING_REACH, 0) / LABEL_BLOCK,
        last = stage_min(label + PRUNING_REACH, a->labels - 1) / LABEL_BLOCK;
    for (int block = first; block <= last; block++)
        votes[block] = (uint8_t)(votes[block] + (block == label / LABEL_BLOCK ? PRUNING_OWN : 1));
}

STAGE void stage_prune(const struct prune_args *a, int x, int y) {
    enum { SIDE = PRUNING_TILE >> PRUNED_LEVELS };
    uint8_t votes[MAX_LABELS / LABEL_BLOCK] = {0},
                               *kept = a->kept +
                                       KEPT_MOST * ((size_t)y * (size_t)a->columns + (size_t)x);
    for (int py = stage_max(SIDE * y - 1, 0); py <= stage_min(SIDE * y + SIDE, a->height - 1); py++)
        for (int px = stage_max(SIDE * x - 1, 0); px <= stage_min(SIDE * x + SIDE, a->width - 1);
             px++)
            prune_vote(a, px, py, votes);
    int blocks = (a->labels + LABEL_BLOCK - 1) / LABEL_BLOCK, n = 0;
    for (int block = 0; block < blocks; block++) {
        int before = 0; /* blocks with more votes */
        for (int other = 0; other < blocks; other++)
            before +=
                votes[other] > votes[block] || (other < block && votes[other] == votes[block]);
        if (votes[block] && before < a->count)
            kept[n++] = (uint8_t)block;
    }
    while (n < KEPT_MOST)
        kept[n++] = NOT_KEPT;
}

/* The data costs of the labels kept. */
struct pruned_cost_args {
    struct grid grid;      /* of the finest level */
    const uint8_t *source; /* all labels */
    struct pruning pruning;
    uint8_t *out;
};

STAGE void stage_pruned_cost(const struct pruned_cost_args *a, int x, int y) {
    const uint8_t *kept = kept_at(&a->pruning, x, y);
    size_t from = grid_labels(&a->grid, x, y), pixel = grid_pixel(&a->grid, x, y);
    for (int d = 0; d < kept_count(kept) * LABEL_BLOCK; d++)
        a->out[pruned_labels(&a->grid, d / LABEL_BLOCK, pixel) + (size_t)(d % LABEL_BLOCK)] =
            a->source[from + (size_t)pruned_label(kept, d)];
}

/* stage_downsample_cost from the finest level to the next, among the labels kept: the children of a
 * node lie in one tile. */
struct pruned_downsample_args {
    struct grid grid, fine;
    struct pruning pruning; /* of the nodes */
    const uint8_t *cost;
    uint16_t *out;
};

STAGE void stage_pruned_downsample(const struct pruned_downsample_args *a, int x, int y) {
    int right = stage_min(2 * x + 1, a->fine.width - 1),
        bottom = stage_min(2 * y + 1, a->fine.height - 1);
    for (int k = 0, n = kept_count(kept_at(&a->pruning, x, y)); k < n; k++) {
        uint16_t *out = a->out + pruned_labels(&a->grid, k, grid_pixel(&a->grid, x, y));
        for (int d = 0; d < LABEL_BLOCK; d++)
            out[d] = 0;
        for (int py = 2 * y; py <= bottom; py++)
            for (int px = 2 * x; px <= right; px++) {
                const uint8_t *child =
                    a->cost + pruned_labels(&a->fine, k, grid_pixel(&a->fine, px, py));
                for (int d = 0; d < LABEL_BLOCK; d++)
                    out[d] = (uint16_t)(out[d] + child[d]);
            }
    }
}

/* stage_start_messages from a level of all labels or from one that is pruned likewise: a tile is
 * the same on both. */
struct pruned_start_args {
    struct grid grid, coarse;
    const uint8_t *parent[DIRECTIONS];
    uint8_t *message[DIRECTIONS];
    struct pruning pruning;
    int parity;
    int from_pruned; /* whether the coarser level is */
};

STAGE void stage_pruned_start(const struct pruned_start_args *a, int i, int y) {
    int x = grid_column(a->parity, i, y);
    if (x >= a->grid.width)
        return;
    const uint8_t *kept = kept_at(&a->pruning, x, y);
    size_t pixel = grid_pixel(&a->grid, x, y), above = grid_pixel(&a->coarse, x / 2, y / 2);
    for (int k = 0, n = kept_count(kept); k < n; k++) {
        size_t to = pruned_labels(&a->grid, k, pixel),
               from = a->from_pruned
                          ? pruned_labels(&a->coarse, k, above)
                          : above * (size_t)a->coarse.padded + (size_t)kept[k] * LABEL_BLOCK;
        for (int r = 0; r < DIRECTIONS; r++)
            for (int d = 0; d < LABEL_BLOCK; d++)
                a->message[r][to + d] = a->parent[r][from + d];
    }
}

/* stage_message among the labels kept, without tiles that have converged. */
struct pruned_message_args {
    struct grid grid;
    const uint8_t *cost8; /* one of the two is NULL; both are of the labels kept */
    const uint16_t *cost16;
    uint8_t *message[DIRECTIONS];
    const uint8_t *classes;
    struct pruning pruning;
    int iteration;
    uint8_t rho[4], truncation[4];
};

/* A pixel that keeps other blocks than its neighbour gets this from it. */
struct handed {
    const uint8_t *message; /* the neighbour's, of its block 0 */
    const uint8_t *kept;    /* by the neighbour */
    size_t block;           /* labels from one block to the next */
    int rho, truncation;
};

/* The message that says something of label i of a block. */
STAGE int handed_label(const struct handed *h, int block, int i) {
    int k = kept_find(h->kept, block), before, after, m = h->truncation;
    if (k >= 0)
        return h->message[(size_t)k * h->block + (size_t)i];
    before = block > 0 ? kept_find(h->kept, block - 1) : -1;
    after = kept_find(h->kept, block + 1);
    if (before >= 0)
        m = stage_min(m,
                      h->message[(size_t)before * h->block + LABEL_BLOCK - 1] + h->rho * (i + 1));
    if (after >= 0)
        m = stage_min(m, h->message[(size_t)after * h->block] + h->rho * (LABEL_BLOCK - i));
    return m;
}

/* The message to (x, y) from its neighbour in direction r, which exists. classes: (x, y)'s. */
STAGE struct handed handed_from(const struct grid *g, const struct pruning *p,
                                const uint8_t *const message[DIRECTIONS],
                                const struct neighbours *n, int x, int y, int r, int rho,
                                int truncation) {
    struct handed h = {message[opposite(r)] + pruned_labels(g, 0, n->pixel[r]),
                       kept_at(p, x + (r == RIGHT) - (r == LEFT), y + (r == DOWN) - (r == UP)),
                       pruned_volume(g, 1), rho, truncation};
    return h;
}

/* The message towards direction r out of the sums of all directions but that: n blocks of labels,
 * of which those from number end on, counted within the last block, are padding. */
STAGE void pruned_convolve(int16_t *h, const uint8_t *kept, int n, int end, int rho,
                           int truncation) {
    int minimum = INT16_MAX, last = n * LABEL_BLOCK - LABEL_BLOCK + end;
    for (int d = 0; d < last; d++)
        minimum = stage_min(minimum, h[d]);
    for (int d = 0; d < n * LABEL_BLOCK; d++)
        h[d] = (int16_t)(d < last ? stage_min(h[d] - minimum, truncation) : truncation);
    for (int d = 1; d < n * LABEL_BLOCK; d++)
        if (d % LABEL_BLOCK || kept[d / LABEL_BLOCK] == kept[d / LABEL_BLOCK - 1] + 1)
            h[d] = (int16_t)stage_min(h[d], h[d - 1] + rho);
    for (int d = n * LABEL_BLOCK - 2; d >= 0; d--)
        if ((d + 1) % LABEL_BLOCK || kept[(d + 1) / LABEL_BLOCK] == kept[d / LABEL_BLOCK] + 1)
            h[d] = (int16_t)stage_min(h[d], h[d + 1] + rho);
}

/* The labels of the last block kept that are no padding. */
STAGE int pruned_end(const struct grid *g, const uint8_t *kept, int n) {
    return stage_min(g->labels - kept[n - 1] * LABEL_BLOCK, LABEL_BLOCK);
}

STAGE void stage_pruned_message(const struct pruned_message_args *a, int i, int y) {
    int x = grid_column(a->iteration & 1, i, y);
    if (x >= a->grid.width)
        return;
    const struct grid *g = &a->grid;
    const uint8_t *kept = kept_at(&a->pruning, x, y);
    const uint8_t *message[DIRECTIONS] = {a->message[0], a->message[1], a->message[2],
                                          a->message[3]};
    struct neighbours around = grid_neighbours(g, x, y);
    int n = kept_count(kept), end = pruned_end(g, kept, n);
    int classes = a->classes ? a->classes[(size_t)y * (size_t)g->width + (size_t)x] : 0;
    int16_t h[DIRECTIONS][KEPT_MOST * LABEL_BLOCK];
    size_t pixel = grid_pixel(g, x, y);
    for (int d = 0; d < n * LABEL_BLOCK; d++) {
        size_t at = pruned_labels(g, d / LABEL_BLOCK, pixel) + (size_t)(d % LABEL_BLOCK);
        for (int r = 0; r < DIRECTIONS; r++)
            h[r][d] = (int16_t)(a->cost16 ? a->cost16[at] : a->cost8[at]);
    }
    for (int s = 0; s < DIRECTIONS; s++) {
        int c = classes >> (2 * s) & 3;
        if (!(around.exist & 1 << s))
            continue;
        struct handed from =
            handed_from(g, &a->pruning, message, &around, x, y, s, a->rho[c], a->truncation[c]);
        for (int d = 0; d < n * LABEL_BLOCK; d++) {
            int m = handed_label(&from, kept[d / LABEL_BLOCK], d % LABEL_BLOCK);
            for (int r = 0; r < DIRECTIONS; r++)
                h[r][d] = (int16_t)(h[r][d] + (r == s ? 0 : m));
        }
    }
    for (int r = 0; r < DIRECTIONS; r++) {
        int c = classes >> (2 * r) & 3;
        pruned_convolve(h[r], kept, n, end, a->rho[c], a->truncation[c]);
        for (int d = 0; d < n * LABEL_BLOCK; d++)
            a->message[r][pruned_labels(g, d / LABEL_BLOCK, pixel) + (size_t)(d % LABEL_BLOCK)] =
                (uint8_t)h[r][d];
    }
}

/* stage_winner_takes_all among the labels kept. A best label beside one that is not kept has a
 * whole disparity. */
struct pruned_wta_args {
    struct grid grid;
    const uint8_t *cost; /* of the labels kept */
    const uint8_t *message[DIRECTIONS];
    const uint8_t *classes;
    struct pruning pruning;
    uint16_t *label;
    int16_t *disparity;
    uint8_t *confidence;
    int subpixel; /* SUBPIXEL_* */
    uint8_t rho[4], truncation[4];
};

STAGE void stage_pruned_winner(const struct pruned_wta_args *a, int x, int y) {
    const struct grid *g = &a->grid;
    const uint8_t *kept = kept_at(&a->pruning, x, y);
    struct neighbours around = grid_neighbours(g, x, y);
    size_t pixel = grid_pixel(g, x, y), i = (size_t)y * (size_t)g->width + (size_t)x;
    int classes = a->classes ? a->classes[i] : 0, n = kept_count(kept);
    int count = (n - 1) * LABEL_BLOCK + pruned_end(g, kept, n), best = 0, offset = 0;
    int belief[KEPT_MOST * LABEL_BLOCK];
    for (int d = 0; d < count; d++)
        belief[d] = a->cost[pruned_labels(g, d / LABEL_BLOCK, pixel) + (size_t)(d % LABEL_BLOCK)];
    for (int s = 0; s < DIRECTIONS; s++) {
        int c = classes >> (2 * s) & 3;
        if (!(around.exist & 1 << s))
            continue;
        struct handed from =
            handed_from(g, &a->pruning, a->message, &around, x, y, s, a->rho[c], a->truncation[c]);
        for (int d = 0; d < count; d++)
            belief[d] += handed_label(&from, kept[d / LABEL_BLOCK], d % LABEL_BLOCK);
    }
    for (int d = 1; d < count; d++)
        best = belief[d] < belief[best] ? d : best;
    int label = pruned_label(kept, best), second = belief[best] + 255;
    if (best > 0 && best + 1 < count && pruned_label(kept, best - 1) == label - 1 &&
        pruned_label(kept, best + 1) == label + 1)
        offset = subpixel_offset(belief[best - 1], belief[best], belief[best + 1], a->subpixel);
    for (int d = 0; d < count; d++)
        if (stage_abs(pruned_label(kept, d) - label) > 1)
            second = stage_min(second, belief[d]);
    a->label[i] = (uint16_t)label;
    a->disparity[i] = (int16_t)(16 * (g->space.u_min + label) + offset);
    a->confidence[i] = (uint8_t)(second - belief[best]);
}
