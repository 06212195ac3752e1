/*
 * Motion: a frame's passes where labels are displacements (u, v) from the left picture to the right
 * one. See motion_describe() first, at the end; docs/METHODS.md says what each stage computes.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/view.h"

#include <math.h>
#include <string.h>

enum { MAX_PICTURE_LEVELS = 8, MOVING_LABELS = 7 };

/* One run, from a picture to the other: its views by picture level, the full size first. */
struct run {
    const struct pipeline *p;
    const struct view *from, *to;
    struct motion_map expected; /* of from at full size; u NULL: none */
};

/* What a run has found at a picture level. */
struct found {
    struct label_map map;
    struct problem problem; /* of the last block */
    struct window window;
    uint8_t *label_cost; /* of several blocks: struct pipeline_result's, or NULL */
};

static struct motion_map make_motion(struct graph *g, const struct view *v) {
    size_t bytes = view_pixels(v) * sizeof(int16_t);
    return (struct motion_map){graph_buffer(g, bytes), graph_buffer(g, bytes)};
}

static struct motion_map motion_of(const struct label_map *map) {
    return (struct motion_map){map->disparity, map->v};
}

/* ---- labels */

static struct label_space window_set(const struct params *p) {
    return (struct label_space){p->motion_u_min, p->motion_u_range, p->motion_v_min,
                                p->motion_v_range};
}

static struct label_space window_moving(void) {
    return (struct label_space){-(MOVING_LABELS / 2), MOVING_LABELS, -(MOVING_LABELS / 2),
                                MOVING_LABELS};
}

/* The labels of a picture level, that are found block by block. */
struct search {
    const struct run *run;
    struct found *found;
    int level;
    struct label_space space;
    struct blocks blocks;
};

static void expect(struct graph *g, const struct search *s, const struct block *b,
                   const struct motion_cost_args *cost) {
    const struct view *full = &s->run->from[0];
    const struct scaling *scaling = &s->run->p->scaling;
    struct motion_expect_args a = {.grid = cost->grid,
                                   .left = cost->left,
                                   .top = cost->top,
                                   .width = cost->width,
                                   .centre = cost->centre,
                                   .cost = cost->cost,
                                   .mask = cost->mask,
                                   .expected = s->run->expected,
                                   .expected_width = full->width,
                                   .expected_height = full->height,
                                   .level = s->level,
                                   .fraction = cost->fraction,
                                   .slope = scaling->temporal_slope,
                                   .most = scaling->temporal_most};
    graph_stage(g, STAGE_motion_expect, &a, b->width, b->height);
}

static const uint8_t *match(struct graph *g, const struct search *s, const struct block *b,
                            struct grid grid, const struct window *window) {
    const struct pipeline *p = s->run->p;
    const struct view *from = &s->run->from[s->level], *to = &s->run->to[s->level];
    int kind = p->params.data_cost, channels = pipeline_match_channels(&p->params, p->channels);
    bool samples = window->fraction > 1;
    struct motion_cost_args a = {.grid = grid,
                                 .left = b->x,
                                 .top = b->y,
                                 .width = from->width,
                                 .height = from->height,
                                 .lut = samples ? p->fraction_lut : p->lut,
                                 .census_lut = p->census_lut,
                                 .centre = window->centre,
                                 .cost = graph_buffer(g, grid_volume(&grid)),
                                 .channels = channels,
                                 .kind = kind,
                                 .fraction = window->fraction,
                                 .border = p->params.outside_match == OUTSIDE_MATCH_BORDER,
                                 .outside = p->scaling.outside,
                                 .mask = from->mask};
    if (samples || kind != DATA_COST_CENSUS) {
        a.reference = channels > 1 ? from->matched : from->grey;
        a.target = channels > 1 ? to->matched : to->grey;
    }
    if (!samples && (kind == DATA_COST_CENSUS || kind == DATA_COST_AD_CENSUS)) {
        a.census_reference = from->census;
        a.census_target = to->census;
    }
    pipeline_group(g, from->side, TIME_COST);
    graph_stage(g, STAGE_motion_cost, &a, b->width, b->height);
    if (s->run->expected.u)
        expect(g, s, b, &a);
    return a.cost;
}

/* Belief propagation, with a cost pyramid where all pixels have the same window. */
static struct label_map search_block(struct graph *g, void *context, struct block b) {
    struct search *s = context;
    const struct pipeline *p = s->run->p;
    const struct view *from = &s->run->from[s->level];
    struct found *f = s->found;
    struct grid grid = grid_make(b.width, b.height, s->space);
    struct window window = f->window;
    if (window.centre.u) {
        window.centre.u = (int16_t *)blocks_crop_map(g, &s->blocks, &b, 0, window.centre.u, 2);
        window.centre.v = (int16_t *)blocks_crop_map(g, &s->blocks, &b, 0, window.centre.v, 2);
    }
    const uint8_t *cost = match(g, s, &b, grid, &window);
    f->problem = (struct problem){.params = &p->params,
                                  .scaling = &p->scaling,
                                  .grid = grid,
                                  .cost = cost,
                                  .source = {.grid = grid, .volume = cost},
                                  .levels = window.centre.u ? 1 : p->params.bp_levels,
                                  .window = &window,
                                  .sign = 1,
                                  .max_iterations =
                                      from->side == RIGHT_SIDE ? p->params.right_iterations : -1,
                                  .group = from->side * TIME_COUNT};
    for (int l = 0; l < p->params.edge_levels && l < f->problem.levels; l++)
        if (from->edges[l])
            f->problem.edges[l] = blocks_crop_map(g, &s->blocks, &b, l, from->edges[l], 1);
    struct label_map map = min_sum_solve(g, &f->problem);
    f->problem.window = NULL;
    if (f->label_cost)
        blocks_keep_label_cost(g, &s->blocks, &b, &grid, cost, map.label, f->label_cost);
    return map;
}

/* Blocks have the size of those of the whole picture. */
static void solve(struct graph *g, const struct run *run, int level, struct label_space space,
                  struct found *f) {
    const struct view *from = &run->from[level];
    struct search s = {run, f, level, space,
                       blocks_like(&run->p->blocks, from->width, from->height)};
    f->label_cost = blocks_count(&s.blocks) > 1 ? graph_buffer(g, view_pixels(from)) : NULL;
    f->map = blocks_solve(g, &s.blocks, search_block, &s);
}

static struct motion_map median(struct graph *g, const struct pipeline *p, const struct view *v,
                                struct motion_map motion, int radius) {
    struct motion_map out = make_motion(g, v);
    struct median_args a = {.image = v->image,
                            .weight = p->median_weight,
                            .width = v->width,
                            .height = v->height,
                            .channels = p->channels,
                            .radius = radius};
    for (int i = 0; i < 2; i++) {
        a.source = i ? motion.v : motion.u;
        a.out = i ? out.v : out.u;
        graph_stage(g, STAGE_median, &a, v->width, v->height);
    }
    return out;
}

/* Searches `fraction` labels a px around the motion found at coarse, which is this level or the one
 * above. */
static void search_round(struct graph *g, const struct run *run, int level, int coarse,
                         int fraction, struct found *f) {
    const struct view *from = &run->from[level], *above = &run->from[coarse];
    pipeline_group(g, from->side, TIME_REFINE);
    struct motion_centre_args a = {.reference = from->grey,
                                   .target = run->to[level].grey,
                                   .mask = from->mask,
                                   .motion = median(g, run->p, above, motion_of(&f->map), 2),
                                   .centre = make_motion(g, from),
                                   .width = from->width,
                                   .height = from->height,
                                   .motion_width = above->width,
                                   .motion_height = above->height,
                                   .scale = coarse > level ? 2 : 1,
                                   .fraction = fraction};
    graph_stage(g, STAGE_motion_centre, &a, from->width, from->height);
    f->window = (struct window){a.centre, fraction};
    solve(g, run, level, window_moving(), f);
}

/* From the coarsest picture level to the finest. */
static void find_motion(struct graph *g, const struct run *run, int levels, struct found *f) {
    int fraction = 1 << run->p->params.motion_fraction;
    f->window = (struct window){.fraction = 1};
    solve(g, run, levels - 1, window_set(&run->p->params), f);
    for (int l = levels - 2; l >= 0; l--)
        search_round(g, run, l, l + 1, 1, f);
    if (fraction > 1)
        search_round(g, run, 0, 0, fraction, f);
}

/* ---- the map */

static struct motion_map check(struct graph *g, const struct pipeline *p, const struct view *v,
                               const struct label_map *forward, const struct label_map *backward) {
    if (!backward->disparity && p->params.min_confidence <= 0)
        return motion_of(forward);
    struct motion_check_args a = {.forward = motion_of(forward),
                                  .backward = motion_of(backward),
                                  .confidence = forward->confidence,
                                  .out = make_motion(g, v),
                                  .width = v->width,
                                  .height = v->height,
                                  .tolerance = (int)lround(16 * p->params.disp12_max_diff),
                                  .min_confidence = p->params.min_confidence};
    graph_stage(g, STAGE_motion_check, &a, v->width, v->height);
    return a.out;
}

static struct motion_map remove_speckles(struct graph *g, const struct pipeline *p,
                                         const struct view *v, struct motion_map motion) {
    size_t bytes = view_pixels(v) * sizeof(uint32_t);
    if (p->params.speckle_size <= 0)
        return motion;
    struct motion_map out = make_motion(g, v);
    struct speckle_args a = {.source = motion.u,
                             .out = out.u,
                             .parent = graph_buffer(g, bytes),
                             .count = graph_buffer(g, bytes),
                             .width = v->width,
                             .height = v->height,
                             .size = (uint32_t)p->params.speckle_size};
    struct motion_join_args join = {motion, a.parent, v->width, v->height,
                                    (int)lround(16 * p->params.speckle_range)};
    graph_stage(g, STAGE_speckle_start, &a, v->width, v->height);
    graph_stage(g, STAGE_motion_join, &join, v->width, v->height);
    graph_stage(g, STAGE_speckle_count, &a, v->width, v->height);
    graph_stage(g, STAGE_speckle_drop, &a, v->width, v->height);
    a.source = motion.v;
    a.out = out.v;
    graph_stage(g, STAGE_speckle_drop, &a, v->width, v->height);
    return out;
}

/* First along rows, then, where a whole row is unknown, along columns. */
static struct motion_map fill_holes(struct graph *g, const struct pipeline *p, const struct view *v,
                                    struct motion_map motion) {
    for (int along_columns = 0; along_columns < 2 && p->params.fill; along_columns++) {
        struct motion_fill_args a = {.source = motion,
                                     .out = make_motion(g, v),
                                     .width = v->width,
                                     .height = v->height,
                                     .dx = !along_columns,
                                     .dy = along_columns};
        graph_stage(g, STAGE_motion_fill, &a, v->width, v->height);
        motion = a.out;
    }
    return motion;
}

/* ---- from frame to frame */

/* What the frame before left: its motion where both runs agree, and the confidence of that. */
struct memory {
    struct motion_map motion;
    uint8_t *confidence;
};

static struct memory make_memory(struct graph *g, const struct view *v) {
    size_t pixels = view_pixels(v), bytes = pixels * sizeof(int16_t);
    return (struct memory){{graph_persistent(g, bytes), graph_persistent(g, bytes)},
                           graph_persistent(g, pixels)};
}

/* Where its motion has led. */
static struct motion_map carry(struct graph *g, const struct pipeline *p, const struct view *v,
                               const struct memory *before) {
    struct motion_carry_args a = {.motion = before->motion,
                                  .confidence = before->confidence,
                                  .vote = graph_buffer(g, view_pixels(v) * sizeof(*a.vote)),
                                  .out = make_motion(g, v),
                                  .width = v->width,
                                  .height = v->height,
                                  .pictures = p->params.motion_step};
    pipeline_group(g, LEFT_SIDE, TIME_COST);
    graph_stage(g, STAGE_motion_vote_start, &a, v->width, v->height);
    graph_stage(g, STAGE_motion_vote, &a, v->width, v->height);
    graph_stage(g, STAGE_motion_take, &a, v->width, v->height);
    return a.out;
}

static void keep(struct graph *g, const struct view *v, const void *map, void *kept, int bytes) {
    struct copy_map_args a = {map, kept, v->width, v->width, bytes};
    graph_stage(g, STAGE_copy_map, &a, v->width, v->height);
}

/* ---- the frame */

/* Both pictures by level, finest first. Returns the number of levels; none has a single row or
 * column. */
static int make_pyramids(struct graph *g, const struct pipeline *p,
                         struct view views[2][MAX_PICTURE_LEVELS]) {
    int levels = 1;
    for (int side = 0; side < 2; side++)
        views[side][0] = view_prepare(g, p, side);
    for (; levels < p->params.motion_levels; levels++) {
        if (views[0][levels - 1].width < 4 || views[0][levels - 1].height < 4)
            break;
        for (int side = 0; side < 2; side++)
            views[side][levels] = view_halve(g, p, &views[side][levels - 1]);
    }
    return levels;
}

struct pipeline_result motion_describe(struct graph *g, const struct pipeline *p) {
    struct view views[2][MAX_PICTURE_LEVELS];
    int levels = make_pyramids(g, p, views);
    struct run forward = {.p = p, .from = views[LEFT_SIDE], .to = views[RIGHT_SIDE]};
    const struct run backward = {.p = p, .from = views[RIGHT_SIDE], .to = views[LEFT_SIDE]};
    const struct view *v = &views[LEFT_SIDE][0];
    struct found f, b = {0};
    struct memory before = {0};

    if (p->params.temporal_weight > 0) {
        before = make_memory(g, v);
        forward.expected = carry(g, p, v, &before);
    }

    if (p->params.lr_check == LR_CHECK_BP)
        find_motion(g, &backward, levels, &b);
    find_motion(g, &forward, levels, &f);
    graph_download(g, f.map.confidence, HOST_CONFIDENCE, 0, view_pixels(v));

    pipeline_group(g, LEFT_SIDE, TIME_CHECK);
    struct motion_map motion = remove_speckles(g, p, v, check(g, p, v, &f.map, &b.map));
    if (before.confidence) {
        keep(g, v, motion.u, before.motion.u, sizeof(*motion.u));
        keep(g, v, motion.v, before.motion.v, sizeof(*motion.v));
        keep(g, v, f.map.confidence, before.confidence, 1);
    }
    pipeline_group(g, LEFT_SIDE, TIME_REFINE);
    motion = fill_holes(g, p, v, motion);
    if (p->params.median_radius > 0)
        motion = median(g, p, v, motion, p->params.median_radius);
    size_t bytes = view_pixels(v) * sizeof(int16_t);
    graph_download(g, motion.u, HOST_MOTION, 0, bytes);
    graph_download(g, motion.v, HOST_MOTION, bytes, bytes);

    bool one = blocks_count(&p->blocks) == 1;
    struct pipeline_result result = {.grid = grid_make(v->width, v->height, f.problem.grid.space),
                                     .cost = one ? f.problem.cost : NULL,
                                     .label_cost = f.label_cost,
                                     .source = f.problem.source,
                                     .label = f.map.label,
                                     .edges = v->edges[0],
                                     .window = f.window};
    memcpy(result.message, f.map.message, sizeof(result.message));
    pipeline_keep(g, &result);
    return result;
}
