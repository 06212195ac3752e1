/*
 * See blocks.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/blocks.h"

enum { MIN_CORE = 16 };

static int round_up(int v, int multiple) {
    return (v + multiple - 1) / multiple * multiple;
}

static int parts_of(int length, int core) {
    return (length + core - 1) / core;
}

static void set_cores(struct blocks *b, int width, int height) {
    b->core_width = stage_min(round_up(width, b->node), b->width);
    b->core_height = stage_min(round_up(height, b->node), b->height);
    b->columns = parts_of(b->width, b->core_width);
    b->rows = parts_of(b->height, b->core_height);
}

struct blocks blocks_whole(int width, int height, int levels, int overlap) {
    struct blocks b = {.width = width, .height = height, .node = 1 << (levels - 1)};
    b.overlap = round_up(overlap, b.node);
    set_cores(&b, width, height);
    return b;
}

void blocks_set_size(struct blocks *b, int size) {
    do {
        set_cores(b, stage_min(size, b->width), stage_min(size, b->height));
        size *= 2;
    } while (blocks_count(b) > MAX_BLOCKS);
}

struct blocks blocks_like(const struct blocks *b, int width, int height) {
    struct blocks other = *b;
    other.width = width;
    other.height = height;
    set_cores(&other, stage_min(b->core_width, width), stage_min(b->core_height, height));
    return other;
}

/* Divides a length into about a quarter more parts, at least into one part more. */
static int divide_more(const struct blocks *b, int length, int core) {
    int parts = parts_of(length, core);
    return round_up(parts_of(length, parts + stage_max(parts / 4, 1)), b->node);
}

bool blocks_shrink(struct blocks *b) {
    int minimum = stage_max(stage_max(MIN_CORE, b->node), b->overlap);
    int width = divide_more(b, b->width, b->core_width),
        height = divide_more(b, b->height, b->core_height);
    bool narrower = width >= minimum && width < b->core_width,
         lower = height >= minimum && height < b->core_height;
    struct blocks smaller = *b;
    if (lower && (!narrower || 4 * b->core_height >= b->core_width))
        set_cores(&smaller, b->core_width, height);
    else if (narrower)
        set_cores(&smaller, width, b->core_height);
    else
        return false;
    if (blocks_count(&smaller) > MAX_BLOCKS)
        return false;
    *b = smaller;
    return true;
}

int blocks_count(const struct blocks *b) {
    return b->columns * b->rows;
}

struct block blocks_at(const struct blocks *b, int number) {
    int column = number % b->columns, row = number / b->columns;
    struct block k = {.core_x = column * b->core_width, .core_y = row * b->core_height};
    k.core_width = stage_min(b->core_width, b->width - k.core_x);
    k.core_height = stage_min(b->core_height, b->height - k.core_y);
    k.x = stage_max(k.core_x - b->overlap, 0);
    k.y = stage_max(k.core_y - b->overlap, 0);
    k.width = stage_min(k.core_x + k.core_width + b->overlap, b->width) - k.x;
    k.height = stage_min(k.core_y + k.core_height + b->overlap, b->height) - k.y;
    return k;
}

const void *blocks_crop_map(struct graph *g, const struct blocks *b, const struct block *block,
                            int level, const void *map, int pixel_bytes) {
    int width = nodes_along(b->width, level), w = nodes_along(block->width, level),
        h = nodes_along(block->height, level);
    if (blocks_count(b) == 1)
        return map;
    size_t first = (size_t)(block->y >> level) * (size_t)width + (size_t)(block->x >> level);
    struct copy_map_args a = {.source = (const uint8_t *)map + first * (size_t)pixel_bytes,
                              .out = graph_buffer(g, (size_t)w * (size_t)h * (size_t)pixel_bytes),
                              .source_width = width,
                              .out_width = w,
                              .pixel_bytes = pixel_bytes};
    graph_stage(g, STAGE_copy_map, &a, w, h);
    return a.out;
}

void blocks_keep_core(struct graph *g, const struct blocks *b, const struct block *block, int level,
                      const void *map, void *whole, int pixel_bytes) {
    int width = nodes_along(b->width, level), w = nodes_along(block->width, level),
        core_x = block->core_x >> level, core_y = block->core_y >> level;
    size_t from = (size_t)(core_y - (block->y >> level)) * (size_t)w +
                  (size_t)(core_x - (block->x >> level)),
           to = (size_t)core_y * (size_t)width + (size_t)core_x;
    struct copy_map_args a = {.source = (const uint8_t *)map + from * (size_t)pixel_bytes,
                              .out = (uint8_t *)whole + to * (size_t)pixel_bytes,
                              .source_width = w,
                              .out_width = width,
                              .pixel_bytes = pixel_bytes};
    graph_stage(g, STAGE_copy_map, &a, nodes_along(block->core_width, level),
                nodes_along(block->core_height, level));
}
