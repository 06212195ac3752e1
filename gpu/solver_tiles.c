/*
 * Belief propagation along rows and columns, tile by tile (Liang et al. 2011): see solver.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/solver.h"

#include <string.h>

/* Memory of tiles that are computed at the same time: a share of that of plain belief propagation,
 * or an amount that every machine has. */
enum { SCRATCH_SHARE = 100, SCRATCH_BYTES = 2 << 20 };

static struct smoothing make_smoothing(const struct problem *p) {
    struct smoothing s = {.grid = p->grid,
                          .classes = p->edges[0],
                          .smoothness = p->tables->smoothness[0],
                          .damping = p->scaling->damping};
    memcpy(s.steps, p->scaling->steps, sizeof(s.steps));
    memcpy(s.largest, p->scaling->truncation, sizeof(s.largest));
    return s;
}

/* The number of tiles that are computed at the same time: no more than an anti-diagonal has. */
static int tiles_at_once(const struct tiling *t, const struct grid *g) {
    size_t share = (DIRECTIONS + 1) * grid_volume(g) / SCRATCH_SHARE;
    size_t maximum =
        (share > SCRATCH_BYTES ? share : SCRATCH_BYTES) / tile_bytes(t->size, g->padded);
    int diagonal = stage_min(t->columns, t->rows);
    return maximum < (size_t)diagonal ? stage_max((int)maximum, 1) : diagonal;
}

/* Computes all tiles of an anti-diagonal, some of them at a time. */
static void solve_diagonal(struct graph *g, struct tiles_args *a, int diagonal, int at_once) {
    int first = stage_max(0, diagonal - a->tiling.rows + 1);
    int last = stage_min(diagonal, a->tiling.columns - 1);
    a->diagonal = diagonal;
    for (a->column = first; a->column <= last; a->column += at_once)
        graph_stage(g, STAGE_tiles, a, 1, stage_min(at_once, last + 1 - a->column));
}

/* BP-M inside a tile with the messages at its border fixed, tiles from first to last and back; only
 * the messages at borders and of tiles that are processed in parallel are stored. */
struct label_map solver_tiles(struct graph *g, const struct problem *p) {
    graph_end(g);
    int size = stage_min(p->params->tile_size, stage_max(p->grid.width, p->grid.height));
    struct tiling tiling = {.size = size,
                            .columns = (p->grid.width + size - 1) / size,
                            .rows = (p->grid.height + size - 1) / size};
    int tiles = tiling.columns * tiling.rows, diagonals = tiling.columns + tiling.rows - 1;
    int at_once = tiles_at_once(&tiling, &p->grid);
    tiling.changed = graph_buffer(g, (size_t)tiles * TILE_FLAGS);
    size_t pixels = (size_t)p->grid.width * (size_t)p->grid.height;
    struct label_map map = {.label = graph_buffer(g, pixels * sizeof(uint16_t)),
                            .disparity = graph_buffer(g, pixels * sizeof(int16_t)),
                            .confidence = graph_buffer(g, pixels)};
    for (int d = 0; d < DIRECTIONS; d++)
        tiling.entering[d] = graph_buffer(g, (size_t)tiles * (size_t)size * (size_t)p->grid.padded);
    struct tiles_start_args start = {tiling, p->grid.padded};
    struct tiles_args a = {.smoothing = make_smoothing(p),
                           .source = p->source,
                           .tiling = tiling,
                           .scratch =
                               graph_buffer(g, (size_t)at_once * tile_bytes(size, p->grid.padded)),
                           .out = {map.label, map.disparity, map.confidence, p->params->subpixel},
                           .iterations = p->params->tile_inner};
    graph_group(g, p->group + TIME_BP);
    graph_stage(g, STAGE_tiles_start, &start, 1, tiles);
    for (int i = 0; i < p->params->tile_outer; i++) {
        for (int d = 0; d < diagonals; d++)
            solve_diagonal(g, &a, d, at_once);
        for (int d = diagonals - 1; d >= 0; d--)
            solve_diagonal(g, &a, d, at_once);
    }
    return map;
}
