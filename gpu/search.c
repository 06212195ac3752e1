/*
 * See search.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/search.h"

#include <string.h>

static struct label_cost label_cost_of(const struct search *s, struct grid grid,
                                       const uint8_t *volume) {
    const struct pipeline *p = s->p;
    int channels = scaling_match_channels(&p->params, p->channels);
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
static const uint8_t *found_cost(const struct search *s, const struct label_map *found) {
    return found->pruning.kept ? found->cost : s->problem.cost;
}

static bool is_whole(const struct search *s) {
    return blocks_count(&s->blocks) == 1;
}

static void find_curve(struct graph *g, const struct search *s, const struct block *b,
                       const struct label_map *found) {
    size_t pixels = (size_t)b->width * (size_t)b->height;
    bool one = is_whole(s);
    struct cost_curve_args a = {.grid = s->problem.grid,
                                .label = found->label,
                                .cost = found_cost(s, found),
                                .pruning = found->pruning,
                                .subpixel = s->p->params.subpixel};
    a.disparity = one ? s->curve.disparity : graph_buffer(g, pixels * sizeof(*a.disparity));
    a.rise = one ? s->curve.rise : graph_buffer(g, pixels);
    graph_stage(g, STAGE_cost_curve, &a, b->width, b->height);
    graph_end(g);
    if (one)
        return;
    blocks_keep_core(g, &s->blocks, b, 0, a.disparity, s->curve.disparity, sizeof(*a.disparity));
    blocks_keep_core(g, &s->blocks, b, 0, a.rise, s->curve.rise, 1);
}

struct grid search_grid(const struct search *s, const struct block *b) {
    return grid_make(b->width, b->height, s->space);
}

struct label_window search_window(struct graph *g, const struct search *s, const struct block *b) {
    struct label_window window = s->window;
    if (window.centre.u) {
        window.centre.u = (int16_t *)blocks_crop_map(g, &s->blocks, b, 0, window.centre.u, 2);
        window.centre.v = (int16_t *)blocks_crop_map(g, &s->blocks, b, 0, window.centre.v, 2);
    }
    return window;
}

/* Most half-steps at the finest level for the right picture, whose map is only compared with: as
 * many as for the left one in motion, which is checked both ways. */
static int most_iterations(const struct params *params, int side) {
    enum { RIGHT_ITERATIONS = 2 };
    return side == LEFT_SIDE || params->mode == MODE_MOTION ? -1 : RIGHT_ITERATIONS;
}

static struct problem make_problem(struct graph *g, const struct search *s, const struct block *b,
                                   const struct label_window *window, const uint8_t *cost,
                                   bool averages) {
    const struct params *params = &s->p->params;
    int side = s->reference->side;
    struct grid grid = search_grid(s, b);
    struct problem problem = {.params = params,
                              .scaling = &s->p->scaling,
                              .grid = grid,
                              .cost = cost,
                              .source = label_cost_of(s, grid, cost),
                              .tables = s->p->tables,
                              .levels = window->centre.u ? 1 : params->bp_levels,
                              .first_column = b->x,
                              .columns = s->p->width,
                              .likeness = s->reference->likeness,
                              .window = window->fraction ? window : NULL,
                              .sign = side == LEFT_SIDE ? 1 : -1,
                              .max_iterations = most_iterations(params, side),
                              .group = side * TIME_COUNT,
                              .updates = s->updates,
                              .wants_doubts = s->wants_doubts};
    if (averages) {
        problem.arms = s->reference->arms + (size_t)b->y * (size_t)s->p->width + (size_t)b->x;
        problem.arms_width = s->p->width;
    }
    if (!is_whole(s)) /* cropping is no part of the costs' unit */
        graph_end(g);
    for (int l = 0; l < problem.levels; l++)
        if (s->reference->edges[l])
            problem.edges[l] = blocks_crop_map(g, &s->blocks, b, l, s->reference->edges[l], 1);
    return problem;
}

/* The maps that blocks' cores are put together in. */
static void make_whole(struct graph *g, struct search *s, const struct label_map *found) {
    size_t pixels = picture_pixels(s->reference);
    s->map = (struct label_map){.label = graph_buffer(g, pixels * sizeof(*s->map.label)),
                                .disparity = graph_buffer(g, pixels * sizeof(*s->map.disparity)),
                                .v = found->v ? graph_buffer(g, pixels * sizeof(*s->map.v)) : NULL,
                                .doubts = found->doubts ? graph_buffer(g, pixels) : NULL,
                                .confidence = graph_buffer(g, pixels)};
    s->label_cost = graph_buffer(g, pixels);
}

static void keep_label_cost(struct graph *g, const struct search *s, const struct block *b,
                            const struct label_map *found) {
    struct label_data_cost_args a = {.grid = s->problem.grid,
                                     .cost = found_cost(s, found),
                                     .pruning = found->pruning,
                                     .label = found->label,
                                     .out = graph_buffer(g, (size_t)b->width * (size_t)b->height)};
    graph_stage(g, STAGE_label_data_cost, &a, b->width, b->height);
    blocks_keep_core(g, &s->blocks, b, 0, a.out, s->label_cost, 1);
}

/* Puts the core of a block into the maps of the picture. */
static void keep_core(struct graph *g, struct search *s, const struct block *b,
                      const struct label_map *found) {
    if (!s->label_cost)
        make_whole(g, s, found);
    const struct label_map *all = &s->map;
    const struct blocks *blocks = &s->blocks;
    keep_label_cost(g, s, b, found);
    if (found->doubts)
        blocks_keep_core(g, blocks, b, PRUNED_LEVELS, found->doubts, all->doubts, 1);
    if (found->v)
        blocks_keep_core(g, blocks, b, 0, found->v, all->v, sizeof(*all->v));
    blocks_keep_core(g, blocks, b, 0, found->label, all->label, sizeof(*all->label));
    blocks_keep_core(g, blocks, b, 0, found->disparity, all->disparity, sizeof(*all->disparity));
    blocks_keep_core(g, blocks, b, 0, found->confidence, all->confidence, 1);
}

void search_block(struct graph *g, struct search *s, const struct block *b,
                  const struct label_window *window, const uint8_t *cost, bool averages) {
    s->problem = make_problem(g, s, b, window, cost, averages);
    struct label_map found = solver_solve(g, &s->problem);
    s->problem.window = NULL;
    if (s->curve.rise)
        find_curve(g, s, b, &found);
    graph_end(g);
    if (is_whole(s))
        s->map = found;
    else
        keep_core(g, s, b, &found);
}

struct pipeline_result search_result(struct graph *g, const struct search *s) {
    const struct picture *picture = s->reference;
    struct pipeline_result r = {.grid = grid_make(picture->width, picture->height, s->space),
                                .cost = s->label_cost ? NULL : found_cost(s, &s->map),
                                .label_cost = s->label_cost,
                                .source = s->problem.source,
                                .label = s->map.label,
                                .edges = picture->edges[0],
                                .pruning = s->map.pruning,
                                .window = s->window,
                                .update_count = s->map.update_count};
    memcpy(r.message, s->map.message, sizeof(r.message));
    bool pictures = !r.cost && !r.label_cost; /* that the costs are made from */
    const void *reference = pictures ? r.source.reference : NULL;
    const void *target = pictures ? r.source.target : NULL;
    const void *const kept[] = {
        r.cost,         r.label_cost, reference,         target,           r.label, r.message[0],
        r.pruning.kept, r.edges,      r.window.centre.u, r.window.centre.v};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (kept[i])
            graph_keep(g, kept[i]);
    return r;
}
