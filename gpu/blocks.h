/*
 * Divides a picture into blocks where the volumes of the whole picture do not fit into memory
 * (Grauer-Gray, Kambhamettu, Palaniappan 2008): each block is solved with a margin on all sides,
 * the overlap, and only its core is kept. Blocks and overlap are multiples of a node of the
 * coarsest level, so that a block's pyramid is a part of the picture's. All blocks are in one
 * graph, in which their buffers share memory.
 * SPDX-License-Identifier: MIT
 */
#pragma once

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

/* The whole picture as one block. overlap (px, rounded up) is used if it is divided later. */
struct blocks blocks_whole(int width, int height, int levels, int overlap);

/* Sets cores of size x size px, rounded up, or larger if there would be more than MAX_BLOCKS; one
 * block if that is as large as the picture. */
enum { MAX_BLOCKS = 256 };
void blocks_set_size(struct blocks *b, int size);

/* The blocks of another picture, of width x height, with cores of the same size. */
struct blocks blocks_like(const struct blocks *b, int width, int height);

/* Makes blocks smaller: divides the longer side of the core once more, bands of rows first. False,
 * and nothing changes, if a core would be smaller than the overlap or there would be more than
 * MAX_BLOCKS. */
bool blocks_shrink(struct blocks *b);

/* Blocks are numbered row by row. */
int blocks_count(const struct blocks *b);
struct block blocks_at(const struct blocks *b, int number);

/* Extracts a block from a map of the picture with pixel_bytes per pixel; where there is one block,
 * that is the map itself. level: the map is that of
 * a coarser level; each level has (width + 1) / 2 x (height + 1) / 2 pixels of the finer one. */
const void *blocks_crop_map(struct graph *g, const struct blocks *b, const struct block *block,
                            int level, const void *map, int pixel_bytes);

/* Copies the core of a block's map into the picture's map. Both are of this level, 0 the finest. */
void blocks_keep_core(struct graph *g, const struct blocks *b, const struct block *block, int level,
                      const void *map, void *whole, int pixel_bytes);
