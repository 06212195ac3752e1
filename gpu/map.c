/*
 * See map.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/map.h"

struct motion_map map_make(struct graph *g, const struct picture *picture, bool motion) {
    size_t bytes = picture_pixels(picture) * sizeof(int16_t);
    return (struct motion_map){graph_buffer(g, bytes), motion ? graph_buffer(g, bytes) : NULL};
}

struct motion_map map_remove_speckles(struct graph *g, const struct pipeline *p,
                                      const struct picture *picture, struct motion_map map) {
    size_t bytes = picture_pixels(picture) * sizeof(uint32_t);
    if (p->params.speckle_size <= 0)
        return map;
    struct speckle_args a = {.source = map,
                             .out = map_make(g, picture, map.v),
                             .parent = graph_buffer(g, bytes),
                             .count = graph_buffer(g, bytes),
                             .width = picture->width,
                             .height = picture->height,
                             .range = SPECKLE_STEP,
                             .size = (uint32_t)p->params.speckle_size};
    graph_begin(g, UNIT_SPECKLES);
    for (int stage = STAGE_speckle_start; stage <= STAGE_speckle_drop; stage++)
        graph_stage(g, (enum stage)stage, &a, picture->width, picture->height);
    graph_end(g);
    return a.out;
}

struct motion_map map_fill(struct graph *g, const struct picture *picture, struct motion_map map,
                           bool along_columns) {
    struct fill_args a = {.source = map,
                          .out = map_make(g, picture, map.v),
                          .width = picture->width,
                          .height = picture->height,
                          .dx = !along_columns,
                          .dy = along_columns};
    graph_stage(g, STAGE_fill, &a, picture->width, picture->height);
    return a.out;
}

int16_t *map_median(struct graph *g, const struct pipeline *p, const struct picture *picture,
                    const int16_t *map, int radius, int first, int last) {
    size_t pixels = (size_t)(last - first) * (size_t)picture->width;
    struct median_args a = {.source = map,
                            .image = picture->image,
                            .weight = p->tables->median_weight,
                            .out = graph_buffer(g, pixels * sizeof(*a.out)),
                            .width = picture->width,
                            .height = picture->height,
                            .channels = p->channels,
                            .radius = radius,
                            .first_row = first};
    graph_stage(g, STAGE_median, &a, picture->width, last - first);
    return a.out;
}
