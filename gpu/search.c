/*
 * See search.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/search.h"

#include <string.h>

static struct label_cost label_cost_of(const struct search *s, struct grid grid,
                                       const uint8_t *volume) {
    const struct pipeline *p = s->p;
    int channels = pipeline_match_channels(&p->params, p->channels);
    struct label_cost cost = {.grid = grid, .volume = volume};
    if (volume)
        return cost;
    cost.reference = channels > 1 ? s->reference->matched : s->reference->grey;
    cost.target = channels > 1 ? s->target->matched : s->target->grey;
    cost.lut = p->tables->sum_lut;
    cost.channels = channels;
    cost.squared = p->params.data_cost == DATA_COST_BT_SUM_SQUARED;
    cost.sign = s->reference->side == LEFT_SIDE ? 1 : -1;
    cost.border = p->params.outside_match == OUTSIDE_MATCH_BORDER;
    cost.outside = p->scaling.sum_outside;
    return cost;
}

/* The data costs of what was found: of all labels or, with pruning, of those kept. */
static const uint8_t *found_cost(const struct search *s) {
    return s->map.pruning.kept ? s->map.cost : s->problem.cost;
}

static void find_curve(struct graph *g, const struct search *s, const struct block *b) {
    size_t pixels = (size_t)b->width * (size_t)b->height;
    bool one = blocks_count(&s->blocks) == 1;
    struct cost_curve_args a = {.grid = s->problem.grid,
                                .label = s->map.label,
                                .cost = found_cost(s),
                                .pruning = s->map.pruning,
                                .subpixel = s->p->params.subpixel};
    a.disparity = one ? s->curve.disparity : graph_buffer(g, pixels * sizeof(*a.disparity));
    a.rise = one ? s->curve.rise : graph_buffer(g, pixels);
    graph_stage(g, STAGE_cost_curve, &a, b->width, b->height);
    graph_end(g);
    if (one)
        return;
    blocks_keep_core(g, &s->blocks, b, a.disparity, s->curve.disparity, sizeof(*a.disparity));
    blocks_keep_core(g, &s->blocks, b, a.rise, s->curve.rise, 1);
}

/* The right picture's map is only compared with, so it takes fewer half-steps. */
static void make_problem(struct graph *g, struct search *s, const struct block *b,
                         const struct label_window *window) {
    const struct params *params = &s->p->params;
    int side = s->reference->side;
    struct grid grid = grid_make(b->width, b->height, s->space);
    const uint8_t *cost = s->cost(g, s, &grid, b, window);
    s->problem =
        (struct problem){.params = params,
                         .scaling = &s->p->scaling,
                         .grid = grid,
                         .cost = cost,
                         .averaging = s->averaging,
                         .source = label_cost_of(s, grid, cost),
                         .tables = s->p->tables,
                         .levels = window->centre.u ? 1 : params->bp_levels,
                         .window = window->fraction ? window : NULL,
                         .sign = side == LEFT_SIDE ? 1 : -1,
                         .max_iterations = side == LEFT_SIDE ? -1 : params->right_iterations,
                         .group = side * TIME_COUNT,
                         .updates = s->updates};
    for (int l = 0; l < s->problem.levels; l++)
        if (s->reference->edges[l])
            s->problem.edges[l] = blocks_crop_map(g, &s->blocks, b, l, s->reference->edges[l], 1);
}

static void keep_label_cost(struct graph *g, const struct search *s, const struct block *b) {
    struct label_data_cost_args a = {.grid = s->problem.grid,
                                     .cost = found_cost(s),
                                     .pruning = s->map.pruning,
                                     .label = s->map.label,
                                     .out = graph_buffer(g, (size_t)b->width * (size_t)b->height)};
    graph_stage(g, STAGE_label_data_cost, &a, b->width, b->height);
    blocks_keep_core(g, &s->blocks, b, a.out, s->label_cost, 1);
}

static struct label_map search_block(struct graph *g, void *context, struct block b) {
    struct search *s = context;
    struct label_window window = s->window;
    if (window.centre.u) {
        window.centre.u = (int16_t *)blocks_crop_map(g, &s->blocks, &b, 0, window.centre.u, 2);
        window.centre.v = (int16_t *)blocks_crop_map(g, &s->blocks, &b, 0, window.centre.v, 2);
    }
    make_problem(g, s, &b, &window);
    if (s->p->fence_solver)
        graph_end(g);
    s->map = solver_solve(g, &s->problem);
    s->problem.window = NULL;
    if (s->curve.rise)
        find_curve(g, s, &b);
    graph_end(g);
    if (s->label_cost)
        keep_label_cost(g, s, &b);
    return s->map;
}

void search_solve(struct graph *g, struct search *s) {
    if (blocks_count(&s->blocks) > 1)
        s->label_cost = graph_buffer(g, picture_pixels(s->reference));
    s->map = blocks_solve(g, &s->blocks, search_block, s);
}

struct pipeline_result search_result(struct graph *g, const struct search *s) {
    const struct picture *picture = s->reference;
    struct pipeline_result r = {.grid = grid_make(picture->width, picture->height, s->space),
                                .cost = s->label_cost ? NULL : found_cost(s),
                                .label_cost = s->label_cost,
                                .source = s->problem.source,
                                .label = s->map.label,
                                .edges = picture->edges[0],
                                .pruning = s->map.pruning,
                                .window = s->window,
                                .update_count = s->map.update_count};
    memcpy(r.message, s->map.message, sizeof(r.message));
    bool pictures = !r.cost && !r.label_cost; /* that the costs are made from */
    const void *const kept[] = {r.cost,
                                r.label_cost,
                                pictures ? r.source.reference : NULL,
                                pictures ? r.source.target : NULL,
                                r.label,
                                r.message[0],
                                r.pruning.kept,
                                r.edges,
                                r.window.centre.u,
                                r.window.centre.v};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (kept[i])
            graph_keep(g, kept[i]);
    return r;
}
