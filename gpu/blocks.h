/*
 * A picture in blocks, for volumes of labels that memory does not hold whole (Grauer-Gray,
 * Kambhamettu, Palaniappan 2008): each block is solved with a margin on all sides, the overlap, and
 * its core is kept. Blocks and overlap are multiples of a node of the coarsest level, so that a
 * block's pyramid is a part of the picture's. All in one graph: the blocks' buffers share memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BLOCKS_H
#define LIVESTEREO_BLOCKS_H

#include "gpu/solver.h"

struct blocks {
    int width, height;           /* of the picture */
    int node;                    /* px: what sizes and the overlap are multiples of */
    int core_width, core_height; /* of a block without its overlap; the last ones are smaller */
    int overlap;                 /* px on each side, as far as the picture goes */
    int columns, rows;
};

/* In px of the picture: a block with its overlap, and its core. */
struct block {
    int x, y, width, height;
    int core_x, core_y, core_width, core_height;
};

/* The whole picture as one block. overlap is for when there are more, rounded up. */
struct blocks blocks_whole(int width, int height, int levels, int overlap);

/* Cores of size x size px, rounded up, larger where there were more than MAX_BLOCKS; one block
 * where that is as large as the picture. */
enum { MAX_BLOCKS = 256 };
void blocks_set_size(struct blocks *b, int size);

/* Another picture of this size in cores of the same size. */
struct blocks blocks_like(const struct blocks *b, int width, int height);

/* Somewhat smaller blocks: the longer side of the core is divided once more, bands of rows first.
 * False, and nothing changes, where a core would be smaller than the overlap or there would be
 * more than MAX_BLOCKS. */
bool blocks_shrink(struct blocks *b);

int blocks_count(const struct blocks *b);
struct block blocks_at(const struct blocks *b, int column, int row);

/* Adds the passes that solve a block: the map of its labels, b.width x b.height. */
typedef struct label_map solve_block(struct graph *g, void *context, struct block b);

/* Solves block after block, row by row, and puts the cores together; of a single block the map is
 * what solve returns. The map of several has no messages. */
struct label_map blocks_solve(struct graph *g, const struct blocks *b, solve_block *solve,
                              void *context);

/* A block out of a map of the picture, of pixels of so many bytes: the block's map. level: the map
 * is that of a coarser level, (width + 1) / 2 a level and so on. */
const void *blocks_crop_map(struct graph *g, const struct blocks *b, const struct block *block,
                            int level, const void *map, int pixel_bytes);

/* Puts the core of a block's map into the picture's. */
void blocks_keep_core(struct graph *g, const struct blocks *b, const struct block *block,
                      const void *map, void *whole, int pixel_bytes);

/* The same of the data costs of a block's labels, out of its volume of costs. */
void blocks_keep_label_cost(struct graph *g, const struct blocks *b, const struct block *block,
                            const struct grid *grid, const uint8_t *cost, const uint16_t *label,
                            uint8_t *whole);

#endif
