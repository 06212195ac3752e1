/*
 * Private: what comes to two pixels among pruned labels, for their messages and their labels.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/cpu/message_avx2.h"
#include "gpu/stages/pruning.h"

#include <string.h>

/* For each pair of edge classes: min(255, rho * distance) of the labels of a block to the last one
 * of the block before, and to the first one of the block after. */
struct borders {
    __m256i top[16], from_before[16], from_after[16]; /* top: T */
};

/* The pixels of one parity in one row, and what tiles keep. */
struct pruned_row {
    struct message_row messages; /* of block 0 */
    const struct borders *borders;
    const uint8_t *kept[DIRECTIONS]; /* by the neighbours' row of tiles */
    int half_tile, tiles;
    size_t plane, cost_plane; /* bytes from one block of messages, of costs, to the next */
    int padded;               /* all labels */
};

/* How a tile's blocks follow from a neighbour's that keeps others: see handed_label(). The places
 * of the same blocks, of those before and of those after. Masks: ones where that one counts. */
struct lent {
    size_t here[KEPT_MOST], before[KEPT_MOST], after[KEPT_MOST];
    __m256i is_here[KEPT_MOST], is_before[KEPT_MOST], is_after[KEPT_MOST];
};

/* Tiles of a row that keep the same n blocks and have the same beside them: pixels first..end-1.
 * Neighbours of the pixels inner..inner_end-1 are pixels that keep the same. */
struct pruned_run {
    const uint8_t *kept;
    int n, first, end, next; /* next: the tile behind them */
    int inner, inner_end;
    int ends;                  /* whether these blocks end with the last of all */
    int differs;               /* a bit a direction: the neighbours there keep others */
    __m256i joined[KEPT_MOST]; /* see REACH_WITHIN */
    struct lent lent[DIRECTIONS];
};

/* The messages to pixels i and i + 1 of a run: block k from direction r, side by side, at in[r]
 * + k * plane. The last of an odd number of pixels counts twice. */
struct pruned_pair {
    const uint8_t *cost[2], *in[DIRECTIONS];
    size_t plane, cost_plane;
    int two; /* whether there is an i + 1 */
    int classes;
};

typedef uint8_t gathered_labels[DIRECTIONS][KEPT_MOST][2 * LABEL_BLOCK];

static inline void borders_make(struct borders *b, const uint8_t rho[4],
                                const uint8_t truncation[4]) {
    for (int i = 0; i < 16; i++) {
        uint8_t top[2][LABEL_BLOCK], before[2][LABEL_BLOCK], after[2][LABEL_BLOCK];
        for (int lane = 0; lane < 2; lane++)
            for (int d = 0; d < LABEL_BLOCK; d++) {
                int c = i >> (2 * lane) & 3;
                top[lane][d] = truncation[c];
                before[lane][d] = after[lane][LABEL_BLOCK - 1 - d] =
                    (uint8_t)stage_min(rho[c] * (d + 1), 255);
            }
        b->top[i] = load_256(top);
        b->from_before[i] = load_256(before);
        b->from_after[i] = load_256(after);
    }
}

/* Row y of the pixels that messages come to. */
static inline struct pruned_row pruned_row_of(const struct grid *g, const struct pruning *p,
                                              const struct borders *borders, const uint8_t *classes,
                                              int parity, int y, const void *cost, int cost_size,
                                              const uint8_t *const message[DIRECTIONS]) {
    struct grid block = *g;
    block.padded = LABEL_BLOCK;
    struct pruned_row row = {.messages = row_of(&block, parity, y, cost, cost_size, message),
                             .borders = borders,
                             .half_tile = p->tile / 2,
                             .plane = pruned_volume(g, 1),
                             .cost_plane = pruned_volume(g, 1) * (size_t)cost_size,
                             .padded = g->padded};
    int odd = row.messages.odd;
    row.messages.classes = classes ? classes + (size_t)y * (size_t)g->width + (size_t)odd : NULL;
    row.tiles = (row.messages.count + row.half_tile - 1) / row.half_tile;
    for (int r = 0; r < DIRECTIONS; r++)
        row.kept[r] = kept_at(p, 0, stage_clamp(y + (r == DOWN) - (r == UP), 0, g->height - 1));
    return row;
}

static inline uint32_t kept_of(const struct pruned_row *row, int r, int tile) {
    uint32_t kept;
    memcpy(&kept, row->kept[r] + (size_t)tile * KEPT_MOST, sizeof(kept));
    return kept;
}

/* kept_find() times plane without branches, of a block that may be -1. Sets ones where there is
 * such a block. */
static inline size_t place_of(uint32_t kept, int block, size_t plane, __m256i *exists) {
    uint32_t other = kept ^ (uint32_t)(block & 127) * 0x01010101u;
    uint32_t zero = (other - 0x01010101u) & ~other & 0x80808080u;
    *exists = _mm256_set1_epi8(zero ? -1 : 0);
    return zero ? (size_t)(__builtin_ctz(zero) / 8) * plane : 0;
}

static inline void lend(struct lent *l, const struct pruned_run *run, uint32_t kept, size_t plane) {
    for (int k = 0; k < run->n; k++) {
        int block = run->kept[k];
        l->here[k] = place_of(kept, block, plane, &l->is_here[k]);
        l->before[k] = place_of(kept, block - 1, plane, &l->is_before[k]);
        l->after[k] = place_of(kept, block + 1, plane, &l->is_after[k]);
        l->is_before[k] = _mm256_andnot_si256(l->is_here[k], l->is_before[k]);
        l->is_after[k] = _mm256_andnot_si256(l->is_here[k], l->is_after[k]);
    }
}

/* Goes on to the tiles behind those of a run, of which there must be some; at first, next is 0. */
static inline void pruned_next(const struct pruned_row *row, struct pruned_run *run) {
    int tile = run->next, last = (row->messages.width - 1) / (2 * row->half_tile);
    uint32_t kept = kept_of(row, LEFT, tile), up = kept_of(row, UP, tile),
             down = kept_of(row, DOWN, tile);
    run->kept = row->kept[LEFT] + (size_t)tile * KEPT_MOST;
    run->n = kept_count(run->kept);
    run->first = tile * row->half_tile;
    run->ends = (run->kept[run->n - 1] + 1) * LABEL_BLOCK == row->padded;
    do
        run->next++;
    while (run->next < row->tiles && kept_of(row, LEFT, run->next) == kept &&
           kept_of(row, UP, run->next) == up && kept_of(row, DOWN, run->next) == down);
    run->end = stage_min(run->next * row->half_tile, row->messages.count);
    for (int k = 0; k < run->n; k++)
        run->joined[k] = _mm256_set1_epi8(k > 0 && run->kept[k] == run->kept[k - 1] + 1 ? -1 : 0);
    const uint32_t beside[DIRECTIONS] = {up, down, kept_of(row, LEFT, stage_max(tile - 1, 0)),
                                         kept_of(row, RIGHT, stage_min(run->next, last))};
    int odd = row->messages.odd, end_x = 2 * (run->end - 1) + odd + 1;
    int touches[DIRECTIONS] = {1, 1, !odd, odd}; /* the neighbours' tiles there */
    run->differs = 0;
    for (int r = 0; r < DIRECTIONS; r++)
        if (touches[r] && beside[r] != kept) {
            run->differs |= 1 << r;
            lend(&run->lent[r], run, beside[r], row->plane);
        }
    int whole =
        row->messages.in[UP] && row->messages.in[DOWN] && !(run->differs & (1 << UP | 1 << DOWN));
    int left = odd || (tile > 0 && !(run->differs & 1 << LEFT));
    int right = end_x < row->messages.width && !(run->differs & 1 << RIGHT);
    run->inner = run->first + (left ? 0 : 2);
    run->inner_end = whole ? run->end - !right : run->first;
}

/* Gathers the messages from direction r to pixels of a run that may be anywhere. */
static inline void gather_from(const struct pruned_row *row, const struct pruned_run *run,
                               const struct pruned_pair *p, int r, int i,
                               uint8_t to[KEPT_MOST][2 * LABEL_BLOCK]) {
    const struct message_row *m = &row->messages;
    const struct lent *l = &run->lent[r];
    const struct borders *b = row->borders;
    const uint8_t *from[2];
    size_t plane[2];
    int64_t outside[2];
    int c = p->classes >> (4 * r) & 15;
    for (int lane = 0; lane < 2; lane++) {
        int at = i + (lane & p->two), beside = at;
        if (r == LEFT || r == RIGHT)
            beside += m->odd - (r == LEFT);
        int exists = m->in[r] && beside >= 0 && (r != RIGHT || 2 * at + m->odd + 1 < m->width);
        from[lane] = exists ? m->in[r] + (size_t)beside * LABEL_BLOCK : no_message;
        plane[lane] = exists ? row->plane : 0;
        outside[lane] = r == UP || r == DOWN || beside < run->first || beside >= run->end ? -1 : 0;
    }
    for (int k = 0; k < run->n; k++)
        store_256(to[k],
                  load_lanes(from[0] + (size_t)k * plane[0], from[1] + (size_t)k * plane[1]));
    if (!(run->differs & 1 << r) || !(outside[0] | outside[1]))
        return;
    __m256i lanes = _mm256_setr_epi64x(outside[0], outside[0], outside[1], outside[1]);
    for (int k = 0; k < run->n; k++) {
        __m256i lent = b->top[c];
        __m256i here = load_lanes(from[0] + l->here[k], from[1] + l->here[k]);
        __m256i last = load_lanes(from[0] + l->before[k], from[1] + l->before[k]);
        __m256i first = load_lanes(from[0] + l->after[k], from[1] + l->after[k]);
        last = _mm256_shuffle_epi8(last, _mm256_set1_epi8(LABEL_BLOCK - 1));
        last = _mm256_adds_epu8(last, b->from_before[c]);
        first = _mm256_shuffle_epi8(first, _mm256_setzero_si256());
        first = _mm256_adds_epu8(first, b->from_after[c]);
        lent = _mm256_blendv_epi8(lent, _mm256_min_epu8(lent, last), l->is_before[k]);
        lent = _mm256_blendv_epi8(lent, _mm256_min_epu8(lent, first), l->is_after[k]);
        lent = _mm256_blendv_epi8(lent, here, l->is_here[k]);
        store_256(to[k], _mm256_blendv_epi8(load_256(to[k]), lent, lanes));
    }
}

/* Points at the messages to pixels i and i + 1 of a run; blocks that lie apart are copied to
 * gathered. */
INLINE struct pruned_pair pruned_receive(const struct pruned_row *row, const struct pruned_run *run,
                                         int i, gathered_labels gathered) {
    const struct message_row *m = &row->messages;
    struct pruned_pair p = {.two = i + 1 < run->end, .cost_plane = row->cost_plane};
    int second = i + p.two;
    p.cost[0] = m->cost + (size_t)(i * LABEL_BLOCK * m->cost_size);
    p.cost[1] = m->cost + (size_t)(second * LABEL_BLOCK * m->cost_size);
    if (m->classes)
        p.classes = pair_classes(m->classes[2 * i], m->classes[2 * second]);
    if (i >= run->inner && i + 1 < run->inner_end) {
        size_t at = (size_t)i * LABEL_BLOCK, before = (size_t)(i + m->odd - 1) * LABEL_BLOCK;
        p.plane = row->plane;
        p.in[UP] = m->in[UP] + at;
        p.in[DOWN] = m->in[DOWN] + at;
        p.in[LEFT] = m->in[LEFT] + before;
        p.in[RIGHT] = m->in[RIGHT] + before + LABEL_BLOCK;
        return p;
    }
    p.plane = sizeof(gathered[0][0]);
    for (int r = 0; r < DIRECTIONS; r++) {
        struct pruned_pair copy = p;
        gather_from(row, run, &copy, r, i, gathered[r]);
    }
    for (int r = 0; r < DIRECTIONS; r++)
        p.in[r] = gathered[r][0];
    return p;
}

/* Block k of what comes from two directions, side by side. */
INLINE struct halves load_blocks(const struct pruned_pair *p, int first, int second, int k) {
    return side_by_side(load_256(p->in[first] + (size_t)k * p->plane),
                        load_256(p->in[second] + (size_t)k * p->plane));
}

INLINE struct halves load_block_cost(const struct pruned_pair *p, int k, int wide) {
    const uint8_t *first = p->cost[0] + (size_t)k * p->cost_plane,
                  *second = p->cost[1] + (size_t)k * p->cost_plane;
    if (wide)
        return (struct halves){{load_lanes(first, second), load_lanes(first + 16, second + 16)}};
    return side_by_side(load_lanes(first, second), _mm256_setzero_si256());
}
