/*
 * Motion: a frame's passes where labels are displacements (u, v) from the left picture to the right
 * one. See motion_describe() first, at the end; docs/METHODS.md says what each stage computes.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/map.h"
#include "gpu/search.h"

enum { MAX_PICTURE_LEVELS = 8, MOVING_LABELS = 7 };

/* One run, from a picture to the other: its pictures by level, the full size first. */
struct run {
    const struct pipeline *p;
    const struct picture *from, *to;
};

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

static const uint8_t *match(struct graph *g, const struct search *s, const struct block *b,
                            const struct label_window *window) {
    const struct pipeline *p = s->p;
    struct grid grid = search_grid(s, b);
    const struct picture *from = s->reference, *to = s->target;
    int kind = p->params.data_cost, channels = scaling_match_channels(&p->params, p->channels);
    bool samples = window->fraction > 1;
    struct motion_cost_args a = {.grid = grid,
                                 .left = b->x,
                                 .top = b->y,
                                 .width = from->width,
                                 .height = from->height,
                                 .lut = samples ? p->tables->fraction_lut : p->tables->lut,
                                 .census_lut = p->tables->census_lut,
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
        a.descriptor_reference = from->descriptor;
        a.descriptor_target = to->descriptor;
        a.words = from->words;
    }
    picture_group(g, from->side, TIME_COST);
    graph_stage(g, STAGE_motion_cost, &a, b->width, b->height);
    return a.cost;
}

/* Belief propagation at a level, with a cost pyramid where all pixels have the same window. Blocks
 * have the size of those of the whole picture. */
static struct search solve(struct graph *g, const struct run *run, int number,
                           struct label_space space, struct label_window window) {
    const struct picture *from = &run->from[number];
    struct search s = {.p = run->p,
                       .reference = from,
                       .target = &run->to[number],
                       .blocks = blocks_like(&run->p->blocks, from->width, from->height),
                       .space = space,
                       .window = window};
    for (int i = 0; i < blocks_count(&s.blocks); i++) {
        struct block b = blocks_at(&s.blocks, i);
        struct label_window cropped = search_window(g, &s, &b);
        search_block(g, &s, &b, &cropped, match(g, &s, &b, &cropped), false);
    }
    return s;
}

static struct motion_map median(struct graph *g, const struct pipeline *p,
                                const struct picture *picture, struct motion_map motion,
                                int radius) {
    return (struct motion_map){map_median(g, p, picture, motion.u, radius, 0, picture->height),
                               map_median(g, p, picture, motion.v, radius, 0, picture->height)};
}

/* Searches `fraction` labels a px around the motion found at coarse, which is this level or the one
 * above. */
static struct search search_round(struct graph *g, const struct run *run, int level, int coarse,
                                  int fraction, const struct label_map *found) {
    const struct picture *from = &run->from[level], *above = &run->from[coarse];
    picture_group(g, from->side, TIME_REFINE);
    struct motion_centre_args a = {.reference = from->grey,
                                   .target = run->to[level].grey,
                                   .mask = from->mask,
                                   .motion = median(g, run->p, above, motion_of(found), 2),
                                   .centre = map_make(g, from, true),
                                   .width = from->width,
                                   .height = from->height,
                                   .motion_width = above->width,
                                   .motion_height = above->height,
                                   .scale = coarse > level ? 2 : 1,
                                   .fraction = fraction};
    graph_stage(g, STAGE_motion_centre, &a, from->width, from->height);
    return solve(g, run, level, window_moving(), (struct label_window){a.centre, fraction});
}

/* From the coarsest picture level to the finest. */
static struct search find_motion(struct graph *g, const struct run *run, int levels) {
    int fraction = 1 << run->p->params.motion_fraction;
    struct search s = solve(g, run, levels - 1, window_set(&run->p->params),
                            (struct label_window){.fraction = 1});
    for (int l = levels - 2; l >= 0; l--)
        s = search_round(g, run, l, l + 1, 1, &s.map);
    return fraction > 1 ? search_round(g, run, 0, 0, fraction, &s.map) : s;
}

/* ---- the map */

static struct motion_map check(struct graph *g, const struct pipeline *p, const struct picture *v,
                               const struct label_map *forward, const struct label_map *backward) {
    if (!backward->disparity && p->params.min_confidence <= 0)
        return motion_of(forward);
    struct motion_check_args a = {.forward = motion_of(forward),
                                  .backward = motion_of(backward),
                                  .confidence = forward->confidence,
                                  .out = map_make(g, v, true),
                                  .width = v->width,
                                  .height = v->height,
                                  .tolerance = CHECK_TOLERANCE,
                                  .min_confidence = p->params.min_confidence};
    graph_stage(g, STAGE_motion_check, &a, v->width, v->height);
    return a.out;
}

/* ---- the frame */

/* Both pictures by level, finest first. Returns the number of levels; none has a single row or
 * column. */
static int make_pyramids(struct graph *g, const struct pipeline *p,
                         struct picture views[2][MAX_PICTURE_LEVELS]) {
    int levels = 1;
    for (int side = 0; side < 2; side++)
        views[side][0] = picture_prepare(g, p, side);
    for (; levels < p->params.motion_levels; levels++) {
        if (views[0][levels - 1].width < 4 || views[0][levels - 1].height < 4)
            break;
        for (int side = 0; side < 2; side++)
            views[side][levels] = picture_halve(g, p, &views[side][levels - 1]);
    }
    for (int i = 0; i < 2 * levels; i++)
        picture_describe(p, &views[i % 2][i / 2]);
    return levels;
}

struct pipeline_result motion_describe(struct graph *g, const struct pipeline *p) {
    struct picture views[2][MAX_PICTURE_LEVELS];
    int levels = make_pyramids(g, p, views);
    const struct run forward = {.p = p, .from = views[LEFT_SIDE], .to = views[RIGHT_SIDE]};
    const struct run backward = {.p = p, .from = views[RIGHT_SIDE], .to = views[LEFT_SIDE]};
    const struct picture *v = &views[LEFT_SIDE][0];
    struct label_map back = {0};

    if (p->params.lr_check == LR_CHECK_BP)
        back = find_motion(g, &backward, levels).map;
    struct search found = find_motion(g, &forward, levels);

    picture_group(g, LEFT_SIDE, TIME_CHECK);
    graph_download(g, picture_doubt_unseen(g, p, found.map.confidence), HOST_CONFIDENCE, 0,
                   picture_pixels(v));
    struct motion_map motion = map_remove_speckles(g, p, v, check(g, p, v, &found.map, &back));
    picture_group(g, LEFT_SIDE, TIME_REFINE);
    for (int along_columns = 0; along_columns < 2 && p->params.fill; along_columns++)
        motion = map_fill(g, v, motion, along_columns);
    if (p->params.median_radius > 0)
        motion = median(g, p, v, motion, p->params.median_radius);
    size_t bytes = picture_pixels(v) * sizeof(int16_t);
    graph_download(g, picture_hide_unseen(g, p, motion.u), HOST_MOTION, 0, bytes);
    graph_download(g, motion.v, HOST_MOTION, bytes, bytes);
    return search_result(g, &found);
}
