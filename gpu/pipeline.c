/*
 * The method: a frame's passes from top to bottom. See pipeline_describe() first, at the end.
 * docs/METHODS.md says what each stage computes and where it comes from.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/view.h"

#include <math.h>
#include <string.h>

int pipeline_match_channels(const struct params *params, int channels) {
    return params->cost_color && params->matching_input == MATCHING_INPUT_PICTURE ? channels : 1;
}

static size_t pixels_of(const struct pipeline *p) {
    return (size_t)p->width * (size_t)p->height;
}

/* ---- the cost volume, of some rows of the picture or of all */

/* The data cost's tables, for both views: those of the parameters, or what they become by the
 * likeness of this frame's matched pixels. */
static void choose_costs(struct graph *g, const struct pipeline *p, struct grid grid,
                         struct view view[2]) {
    const struct view *left = &view[LEFT_SIDE], *right = &view[RIGHT_SIDE];
    struct choose_costs_args c = {.lut = p->lut,
                                  .census_lut = p->census_lut,
                                  .differing_census_lut = p->differing_census_lut};
    view[0].lut = view[1].lut = p->lut;
    view[0].census_lut = view[1].census_lut = p->census_lut;
    if (!scaling_adapts(&p->params))
        return;
    struct agreement_args a = {
        .grid = grid,
        .census_reference = left->census,
        .census_target = right->census,
        .channels = pipeline_match_channels(&p->params, p->channels),
        .counts = graph_buffer(g, AGREEMENT_BINS * sizeof(*a.counts)),
        .strength = graph_buffer(g, sizeof(*a.strength)),
    };
    a.reference = a.channels > 1 ? left->matched : left->grey;
    a.target = a.channels > 1 ? right->matched : right->grey;
    c.strength = a.strength;
    c.out = graph_buffer(g, COST_LUT);
    c.census_out = graph_buffer(g, CENSUS_LUT);
    graph_stage(g, STAGE_agreement_start, &a, AGREEMENT_BINS, 1);
    graph_stage(g, STAGE_agreement, &a, (p->width + AGREEMENT_STEP - 1) / AGREEMENT_STEP,
                (p->height + AGREEMENT_STEP - 1) / AGREEMENT_STEP);
    graph_stage(g, STAGE_agreement_strength, &a, 1, 1);
    graph_stage(g, STAGE_choose_costs, &c, COST_LUT, 1);
    view[0].lut = view[1].lut = c.out;
    view[0].census_lut = view[1].census_lut = c.census_out;
}

static const uint8_t *match(struct graph *g, const struct pipeline *p, struct grid grid,
                            const struct view *reference, const struct view *target,
                            int first_row) {
    size_t first = (size_t)first_row * (size_t)p->width;
    int kind = p->params.data_cost, channels = pipeline_match_channels(&p->params, p->channels);
    bool difference = kind != DATA_COST_CENSUS,
         census = kind == DATA_COST_CENSUS || kind == DATA_COST_AD_CENSUS;
    struct cost_args a = {.grid = grid,
                          .lut = reference->lut,
                          .census_lut = reference->census_lut,
                          .cost = graph_buffer(g, grid_volume(&grid)),
                          .channels = channels,
                          .kind = kind,
                          .sign = reference->side == LEFT_SIDE ? 1 : -1,
                          .outside = p->scaling.outside};
    if (difference) {
        a.reference = channels > 1 ? reference->matched : reference->grey;
        a.target = channels > 1 ? target->matched : target->grey;
        a.reference += first * (size_t)channels;
        a.target += first * (size_t)channels;
    }
    if (census) {
        a.census_reference = reference->census + first;
        a.census_target = target->census + first;
    }
    bool border = p->params.outside_match == OUTSIDE_MATCH_BORDER;
    pipeline_group(g, reference->side, TIME_COST);
    if (kind == DATA_COST_BT_SMOOTHED) {
        struct smoothed_cost_args smoothed = {a, scaling_taps(p->params.cost_sigma), border};
        graph_stage(g, STAGE_smoothed_cost, &smoothed, grid.width, grid.height);
        return a.cost;
    }
    graph_stage(g, STAGE_cost, &a, grid.width, grid.height);
    if (border)
        graph_stage(g, STAGE_border_cost, &a, grid.width, grid.height);
    return a.cost;
}

static const uint8_t *smooth_cost(struct graph *g, const struct pipeline *p, struct grid grid,
                                  const uint8_t *cost) {
    struct cost_smooth_args a = {.grid = grid,
                                 .source = cost,
                                 .between =
                                     graph_buffer(g, grid_volume(&grid) * sizeof(*a.between)),
                                 .out = graph_buffer(g, grid_volume(&grid)),
                                 .taps = scaling_taps(p->params.cost_sigma)};
    graph_stage(g, STAGE_cost_smooth_x, &a, grid.width, grid.height);
    graph_stage(g, STAGE_cost_smooth_y, &a, grid.width, grid.height);
    return a.out;
}

/* Cross-shaped averaging, round by round. */
static const uint8_t *average_cost(struct graph *g, const struct pipeline *p, struct grid grid,
                                   const struct arms *arms, const uint8_t *cost) {
    for (int i = 0; i < p->params.cross_rounds; i++) {
        struct cross_args a = {.grid = grid,
                               .arms = arms,
                               .source = cost,
                               .between = graph_buffer(g, grid_volume(&grid) * sizeof(*a.between)),
                               .out = graph_buffer(g, grid_volume(&grid)),
                               .longest_x = p->params.cross_length,
                               .longest_y = p->params.cross_height};
        graph_stage(g, STAGE_cross_x, &a, grid.width, grid.height);
        graph_stage(g, STAGE_cross_y, &a, grid.width, grid.height);
        cost = a.out;
    }
    return cost;
}

/* The volume, or NULL where the solver makes its costs from the pictures. */
static const uint8_t *cost_volume(struct graph *g, const struct pipeline *p, struct grid grid,
                                  const struct view *reference, const struct view *target,
                                  int first_row) {
    const struct arms *arms = reference->arms;
    if (scaling_sums(&p->params))
        return NULL;
    const uint8_t *cost = match(g, p, grid, reference, target, first_row);
    pipeline_group(g, reference->side, TIME_AGGREGATE);
    if (p->params.cost_smoothing == COST_SMOOTHING_GAUSSIAN)
        return smooth_cost(g, p, grid, cost);
    if (p->params.cost_smoothing == COST_SMOOTHING_OFF)
        return cost;
    if (grid.height < p->height) {
        size_t first = (size_t)first_row * (size_t)p->width * (size_t)p->channels;
        arms = view_arms(g, p, reference->image + first, p->width, grid.height);
    }
    return average_cost(g, p, grid, arms, cost);
}

/* The number of rows above and below its own that a cost depends on. */
static int rows_around(const struct pipeline *p) {
    const struct params *q = &p->params;
    int window = q->data_cost == DATA_COST_BT_SMOOTHED ? scaling_taps(q->cost_sigma).radius
                                                       : q->data_cost == DATA_COST_SSD;
    if (q->cost_smoothing == COST_SMOOTHING_GAUSSIAN)
        return window + scaling_taps(q->cost_sigma).radius;
    return window + (q->cost_smoothing == COST_SMOOTHING_CROSS) * q->cross_rounds * q->cross_height;
}

/* ---- labels */

static struct label_cost label_cost_of(const struct pipeline *p, struct grid grid,
                                       const struct view *reference, const struct view *target,
                                       const uint8_t *volume) {
    int channels = pipeline_match_channels(&p->params, p->channels);
    struct label_cost cost = {.grid = grid, .volume = volume};
    if (volume)
        return cost;
    cost.reference = channels > 1 ? reference->matched : reference->grey;
    cost.target = channels > 1 ? target->matched : target->grey;
    cost.lut = p->sum_lut;
    cost.channels = channels;
    cost.squared = p->params.data_cost == DATA_COST_BT_SUM_SQUARED;
    cost.sign = reference->side == LEFT_SIDE ? 1 : -1;
    cost.border = p->params.outside_match == OUTSIDE_MATCH_BORDER;
    cost.outside = p->scaling.sum_outside;
    return cost;
}

/* What the data costs beside each pixel's label say, width*height. NULL where there is no
 * volume. */
struct curve {
    int16_t *disparity;
    uint8_t *rise;
};

/* What finds the labels of one view, block by block. */
struct search {
    const struct pipeline *p;
    const struct view *reference, *target;
    struct grid grid;   /* of the picture */
    int max_iterations; /* struct problem's */
    bool lowers_energy;
    uint32_t *updates; /* of a single block, or NULL */
    struct grid band;  /* costs of the rows of the last block, and those around */
    int band_first, band_end;
    const uint8_t *band_cost;
    uint8_t *label_cost; /* of several blocks: struct pipeline_result's, or NULL */
    struct curve curve;  /* of the picture, where has_curve */
    bool has_curve;
    struct problem problem; /* of the last block */
    struct label_map map;
};

/* A block's costs, cut out of those of a band of rows as wide as the picture. A band includes the
 * rows around it that its costs depend on. */
static const uint8_t *block_cost(struct graph *g, struct search *s, struct grid grid,
                                 const struct block *b) {
    int around = rows_around(s->p), first = stage_max(b->y - around, 0),
        end = stage_min(b->y + b->height + around, s->p->height);
    if (!s->band_cost || first != s->band_first || end != s->band_end) {
        s->band = grid_make(s->p->width, end - first, grid.space);
        s->band_first = first;
        s->band_end = end;
        s->band_cost = cost_volume(g, s->p, s->band, s->reference, s->target, first);
    }
    if (!s->band_cost || (s->band.width == grid.width && s->band.height == grid.height))
        return s->band_cost;
    struct crop_cost_args a = {.grid = grid,
                               .source_grid = s->band,
                               .x = b->x,
                               .y = b->y - first,
                               .source = s->band_cost,
                               .out = graph_buffer(g, grid_volume(&grid))};
    graph_stage(g, STAGE_crop_cost, &a, grid.width, grid.height);
    return a.out;
}

static struct problem make_problem(struct graph *g, struct search *s, const struct block *b) {
    const struct pipeline *p = s->p;
    struct grid grid = grid_make(b->width, b->height, s->grid.space);
    const uint8_t *cost = block_cost(g, s, grid, b);
    struct problem problem = {.params = &p->params,
                              .scaling = &p->scaling,
                              .grid = grid,
                              .cost = cost,
                              .source = label_cost_of(p, grid, s->reference, s->target, cost),
                              .smoothness = p->smoothness,
                              .levels = p->params.bp_levels,
                              .sign = s->reference->side == LEFT_SIDE ? 1 : -1,
                              .max_iterations = s->max_iterations,
                              .group = s->reference->side * TIME_COUNT,
                              .updates = s->updates};
    for (int l = 0; l < p->params.edge_levels && l < p->params.bp_levels; l++)
        if (s->reference->edges[l])
            problem.edges[l] = blocks_crop_map(g, &p->blocks, b, l, s->reference->edges[l], 1);
    return problem;
}

static struct label_map solve(struct graph *g, const struct problem *p) {
    switch (p->params->bp_schedule) {
    case BP_SCHEDULE_ROWS_COLUMNS:
        return rows_columns_solve(g, p);
    case BP_SCHEDULE_TILES:
        return tiles_solve(g, p);
    default:
        return min_sum_solve(g, p);
    }
}

/* Iterated conditional modes: sweeps over both parities. */
static void lower_energy(struct graph *g, const struct pipeline *p, const struct problem *problem,
                         const struct label_map *map) {
    struct icm_args a = {.grid = problem->grid,
                         .cost = problem->cost,
                         .classes = problem->edges[0],
                         .label = map->label,
                         .disparity = map->disparity,
                         .confidence = map->confidence};
    for (int i = 0; i < 4; i++) {
        a.rho[i] = p->scaling.rho[i];
        a.truncation[i] = p->scaling.truncation[i];
    }
    for (int i = 0; i < 2 * p->params.icm_sweeps; i++) {
        a.parity = i & 1;
        graph_stage(g, STAGE_icm, &a, a.grid.half, a.grid.height);
    }
}

static void find_curve(struct graph *g, struct search *s, const struct block *b) {
    const struct blocks *blocks = &s->p->blocks;
    size_t pixels = (size_t)b->width * (size_t)b->height;
    bool one = blocks_count(blocks) == 1;
    struct cost_curve_args a = {.grid = s->problem.grid,
                                .label = s->map.label,
                                .cost = s->problem.cost,
                                .subpixel = s->p->params.subpixel};
    a.disparity = one ? s->curve.disparity : graph_buffer(g, pixels * sizeof(*a.disparity));
    a.rise = one ? s->curve.rise : graph_buffer(g, pixels);
    graph_stage(g, STAGE_cost_curve, &a, b->width, b->height);
    if (one)
        return;
    blocks_keep_core(g, blocks, b, a.disparity, s->curve.disparity, sizeof(*a.disparity));
    blocks_keep_core(g, blocks, b, a.rise, s->curve.rise, 1);
}

static struct label_map search_block(struct graph *g, void *context, struct block b) {
    struct search *s = context;
    s->problem = make_problem(g, s, &b);
    if (s->p->fence_solver)
        graph_fence(g);
    s->map = solve(g, &s->problem);
    if (s->lowers_energy)
        lower_energy(g, s->p, &s->problem, &s->map);
    if (s->label_cost)
        blocks_keep_label_cost(g, &s->p->blocks, &b, &s->problem.grid, s->problem.cost,
                               s->map.label, s->label_cost);
    if (s->has_curve)
        find_curve(g, s, &b);
    return s->map;
}

/* The right picture's map is only compared with, so it takes fewer half-steps. */
static struct label_map solve_right(struct graph *g, const struct pipeline *p, struct grid grid,
                                    const struct view *right, const struct view *left) {
    struct search s = {.p = p,
                       .reference = right,
                       .target = left,
                       .grid = grid,
                       .max_iterations = p->params.right_iterations};
    return blocks_solve(g, &p->blocks, search_block, &s);
}

static struct label_map solve_left(struct graph *g, const struct pipeline *p, struct grid grid,
                                   const struct view *left, const struct view *right,
                                   struct pipeline_result *result, struct curve *curve) {
    size_t update_bytes = FRAME_UPDATES * sizeof(uint32_t);
    bool one = blocks_count(&p->blocks) == 1;
    struct search s = {.p = p,
                       .reference = left,
                       .target = right,
                       .grid = grid,
                       .max_iterations = -1,
                       .lowers_energy = true,
                       .has_curve = !scaling_sums(&p->params)};
    if (s.has_curve) {
        s.curve.disparity = graph_buffer(g, pixels_of(p) * sizeof(*s.curve.disparity));
        s.curve.rise = graph_buffer(g, pixels_of(p));
    }
    if (scaling_fast_converging(&p->params) && one)
        s.updates = graph_buffer(g, update_bytes);
    if (!one)
        s.label_cost = graph_buffer(g, pixels_of(p));
    struct label_map map = blocks_solve(g, &p->blocks, search_block, &s);
    if (s.updates)
        graph_download(g, s.updates, HOST_UPDATES, 0, update_bytes);
    *result = (struct pipeline_result){.grid = grid,
                                       .cost = one ? s.problem.cost : NULL,
                                       .label_cost = s.label_cost,
                                       .source = s.problem.source,
                                       .label = map.label,
                                       .edges = left->edges[0]};
    memcpy(result->message, map.message, sizeof(result->message));
    *curve = s.curve;
    return map;
}

/* ---- the map */

static int16_t *make_map(struct graph *g, const struct pipeline *p) {
    return graph_buffer(g, pixels_of(p) * sizeof(int16_t));
}

/* Whether confidence is the estimated chance; the cost's rise is needed for it. */
static bool has_chance(const struct pipeline *p) {
    return p->params.confidence != CONFIDENCE_MARGIN && !scaling_sums(&p->params);
}

/* The left-right check and the least margin. */
static const int16_t *check(struct graph *g, const struct pipeline *p, const struct label_map *left,
                            const int16_t *right) {
    const struct params *q = &p->params;
    int min_confidence = has_chance(p) ? 0 : q->min_confidence;
    if (q->lr_check == LR_CHECK_OFF && min_confidence <= 0)
        return left->disparity;
    struct check_args a = {
        .left = left->disparity,
        .right = right,
        .confidence = left->confidence,
        .out = make_map(g, p),
        .width = p->width,
        .range = q->disparity_range,
        .tolerance = q->lr_check == LR_CHECK_OFF ? -1 : (int)lround(16 * q->disp12_max_diff),
        .min_confidence = min_confidence};
    graph_stage(g, STAGE_check, &a, p->width, p->height);
    return a.out;
}

static const int16_t *remove_speckles(struct graph *g, const struct pipeline *p,
                                      const int16_t *map) {
    size_t bytes = pixels_of(p) * sizeof(uint32_t);
    if (p->params.speckle_size <= 0)
        return map;
    struct speckle_args a = {.source = map,
                             .out = make_map(g, p),
                             .parent = graph_buffer(g, bytes),
                             .count = graph_buffer(g, bytes),
                             .width = p->width,
                             .height = p->height,
                             .range = (int)lround(16 * p->params.speckle_range),
                             .size = (uint32_t)p->params.speckle_size};
    for (int stage = STAGE_speckle_start; stage <= STAGE_speckle_drop; stage++)
        graph_stage(g, (enum stage)stage, &a, p->width, p->height);
    return a.out;
}

/* Sub-pixel disparities from the data costs, where the solver has a volume of them. */
static const int16_t *offset_by_costs(struct graph *g, const struct pipeline *p,
                                      const struct curve *curve, const int16_t *map) {
    if (p->params.subpixel == SUBPIXEL_OFF || p->params.subpixel_from != SUBPIXEL_FROM_COSTS ||
        !curve->disparity)
        return map;
    struct take_known_args a = {map, curve->disparity, make_map(g, p), p->width};
    graph_stage(g, STAGE_take_known, &a, p->width, p->height);
    return a.out;
}

static struct surface_args find_regions(struct graph *g, const struct pipeline *p,
                                        const int16_t *map, int longest, int step) {
    struct surface_args a = {.source = map,
                             .arms = graph_buffer(g, pixels_of(p) * sizeof(*a.arms)),
                             .width = p->width,
                             .height = p->height,
                             .longest = longest,
                             .step = step};
    graph_stage(g, STAGE_surface_arms, &a, p->width, p->height);
    return a;
}

/* Computes the confidence from the margin and downloads it. Disparities of too little confidence
 * become unknown. */
static const int16_t *estimate_chance(struct graph *g, const struct pipeline *p,
                                      const uint8_t **confidence, const struct curve *curve,
                                      const int16_t *map) {
    if (!has_chance(p)) {
        graph_download(g, *confidence, HOST_CONFIDENCE, 0, pixels_of(p));
        return map;
    }
    struct chance_args a = {.source = map,
                            .arms = find_regions(g, p, map, CHANCE_LENGTH, CHANCE_STEP).arms,
                            .margin = *confidence,
                            .rise = curve->rise,
                            .out = graph_buffer(g, pixels_of(p)),
                            .width = p->width,
                            .cells = p->params.confidence == CONFIDENCE_CELL};
    graph_stage(g, STAGE_chance, &a, p->width, p->height);
    *confidence = a.out;
    graph_download(g, a.out, HOST_CONFIDENCE, 0, pixels_of(p));
    if (p->params.min_confidence <= 0)
        return map;
    struct check_args c = {.left = map,
                           .confidence = a.out,
                           .out = make_map(g, p),
                           .width = p->width,
                           .range = p->params.disparity_range,
                           .tolerance = -1,
                           .min_confidence = p->params.min_confidence};
    graph_stage(g, STAGE_check, &c, p->width, p->height);
    return c.out;
}

static const int16_t *fit_planes(struct graph *g, const struct pipeline *p, const int16_t *map) {
    if (p->params.surface_length <= 0)
        return map;
    struct surface_args a =
        find_regions(g, p, map, p->params.surface_length, (int)lround(16 * p->params.surface_step));
    a.sums = graph_buffer(g, pixels_of(p) * 2 * sizeof(*a.sums));
    a.out = make_map(g, p);
    graph_stage(g, STAGE_surface_sums, &a, p->width, p->height);
    graph_stage(g, STAGE_surface_plane, &a, p->width, p->height);
    return a.out;
}

/* Whether holes between known pixels get a second look after filling. */
static bool smooths_holes(const struct pipeline *p) {
    return p->params.fill && p->params.hole_radius > 0;
}

/* Chooses by colour which side of its row a hole takes. */
static const int16_t *choose_sides(struct graph *g, const struct pipeline *p,
                                   const struct view *left, const int16_t *map,
                                   const int16_t *filled) {
    struct fill_side_args a = {.source = map,
                               .filled = filled,
                               .image = left->image,
                               .out = make_map(g, p),
                               .width = p->width,
                               .channels = p->channels};
    graph_stage(g, STAGE_fill_side, &a, p->width, p->height);
    return a.out;
}

/* Holes take the lower neighbour or, by colour, the other one: first along rows, then, where a
 * whole row is unknown, along columns. */
static const int16_t *fill_holes(struct graph *g, const struct pipeline *p, const struct view *left,
                                 const int16_t *map) {
    const int16_t *known = map;
    for (int along_columns = 0; along_columns < 2 && p->params.fill; along_columns++) {
        struct fill_args a = {.source = map,
                              .out = make_map(g, p),
                              .width = p->width,
                              .height = p->height,
                              .dx = !along_columns,
                              .dy = along_columns};
        graph_stage(g, STAGE_fill, &a, p->width, p->height);
        map = a.out;
        if (!along_columns && smooths_holes(p))
            map = choose_sides(g, p, left, known, map);
    }
    return map;
}

/* Fills the holes at the left and right border alone. */
static const int16_t *fill_borders(struct graph *g, const struct pipeline *p, const int16_t *map) {
    if (!smooths_holes(p))
        return map;
    struct border_plane_args plane = {map, graph_buffer(g, (size_t)p->height * sizeof(*plane.out)),
                                      p->width, p->height};
    struct extend_args a = {map, make_map(g, p), p->width, 16 * p->params.min_disparity, plane.out};
    graph_stage(g, STAGE_border_plane, &plane, 1, p->height);
    graph_stage(g, STAGE_extend, &a, p->width, p->height);
    return a.out;
}

/* Pixels that are unknown in another map get, in place of what filling gave them, the colour-
 * weighted median of their surroundings. */
static const int16_t *smooth_holes(struct graph *g, const struct pipeline *p,
                                   const struct view *left, const int16_t *known,
                                   const int16_t *map) {
    for (int round = 0; round < 2 && smooths_holes(p); round++) {
        struct hole_median_args a = {.source = map,
                                     .known = known,
                                     .image = left->image,
                                     .weight = p->hole_weight,
                                     .out = make_map(g, p),
                                     .width = p->width,
                                     .height = p->height,
                                     .channels = p->channels,
                                     .radius = p->params.hole_radius};
        graph_stage(g, STAGE_hole_median, &a, p->width, p->height);
        map = a.out;
    }
    return map;
}

static const int16_t *mark_sky(struct graph *g, const struct pipeline *p, const struct view *left,
                               const struct curve *curve, const int16_t *map) {
    size_t bytes = pixels_of(p) * sizeof(uint32_t);
    if (p->params.sky == SKY_OFF || !curve->rise)
        return map;
    struct sky_args a = {.image = left->image,
                         .rise = curve->rise,
                         .brightness = graph_buffer(g, pixels_of(p)),
                         .parent = graph_buffer(g, bytes),
                         .votes = graph_buffer(g, bytes),
                         .border = graph_buffer(g, bytes),
                         .in_region = graph_buffer(g, pixels_of(p)),
                         .source = map,
                         .out = make_map(g, p),
                         .width = p->width,
                         .height = p->height,
                         .channels = p->channels,
                         .value =
                             p->params.sky == SKY_FAR ? 16 * p->params.min_disparity : UNKNOWN};
    for (int stage = STAGE_sky_start; stage <= STAGE_sky; stage++)
        graph_stage(g, (enum stage)stage, &a, p->width, p->height);
    return a.out;
}

/* Rows first..last-1 of the map. */
static const int16_t *smooth_map(struct graph *g, const struct pipeline *p, const struct view *left,
                                 const int16_t *map, int first, int last) {
    size_t pixels = (size_t)(last - first) * (size_t)p->width;
    struct median_args a = {.source = map,
                            .image = left->image,
                            .weight = p->median_weight,
                            .out = graph_buffer(g, pixels * sizeof(*a.out)),
                            .width = p->width,
                            .height = p->height,
                            .channels = p->channels,
                            .radius = p->params.median_radius,
                            .first_row = first};
    graph_stage(g, STAGE_median, &a, p->width, last - first);
    return a.out;
}

/* The map, averaged with those of the frames before where the picture stands still. */
static const int16_t *steady_map(struct graph *g, const struct pipeline *p, const struct view *left,
                                 const uint8_t *confidence, const int16_t *map) {
    size_t pixels = pixels_of(p);
    uint8_t *before = graph_persistent(g, pixels);
    struct temporal_args a = {.source = map,
                              .confidence = confidence,
                              .grey = left->grey,
                              .before = before,
                              .running = graph_persistent(g, pixels * sizeof(*a.running)),
                              .state = graph_persistent(g, pixels),
                              .out = make_map(g, p),
                              .width = p->width,
                              .height = p->height,
                              .new_share = (int)lround(256 * (1 - p->params.temporal_filter))};
    struct copy_map_args keep = {left->grey, before, p->width, p->width, 1};
    graph_stage(g, STAGE_temporal, &a, p->width, p->height);
    graph_stage(g, STAGE_copy_map, &keep, p->width, p->height);
    return a.out;
}

static bool filters_frames(const struct pipeline *p) {
    const struct params *params = &p->params;
    return params->temporal_filter > 0 &&
           (params->temporal_mode == TEMPORAL_AUTO ? p->sequence
                                                   : params->temporal_mode == TEMPORAL_ON);
}

/* Downloads rows first..last-1 of the final map. */
static void deliver(struct graph *g, const struct pipeline *p, const int16_t *rows, int first,
                    int last) {
    size_t row = (size_t)p->width * sizeof(*rows);
    graph_download(g, rows, HOST_DISPARITY, (size_t)first * row, (size_t)(last - first) * row);
}

/* Colour-weighted median and temporal filter. Without the filter the map is computed in two parts,
 * and the upper part is downloaded while the lower one is computed. On an H200 computing 9/16 of
 * the rows takes about as long as downloading them, so both end at the same time. */
static void finish_map(struct graph *g, const struct pipeline *p, const struct view *left,
                       const uint8_t *confidence, const int16_t *map) {
    bool smooths = p->params.median_radius > 0, filters = filters_frames(p);
    int upper = p->in_parts && smooths && !filters ? p->height * 9 / 16 : 0;
    if (upper > 0)
        deliver(g, p, smooth_map(g, p, left, map, 0, upper), 0, upper);
    if (smooths)
        map = smooth_map(g, p, left, map, upper, p->height);
    if (filters)
        map = steady_map(g, p, left, confidence, map);
    deliver(g, p, map, upper, p->height);
}

/* ---- the frame */

void pipeline_keep(struct graph *g, const struct pipeline_result *result) {
    bool cost = result->label_cost || result->cost;
    const void *const kept[] = {result->label_cost ? result->label_cost : result->cost,
                                cost ? NULL : result->source.reference,
                                cost ? NULL : result->source.target,
                                result->label,
                                result->message[0],
                                result->edges,
                                result->window.centre.u,
                                result->window.centre.v};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (kept[i])
            graph_keep(g, kept[i]);
}

struct pipeline_result pipeline_describe(struct graph *g, const struct pipeline *p) {
    if (p->params.mode == MODE_MOTION)
        return motion_describe(g, p);
    struct label_space disparities = {
        .u_min = p->params.min_disparity, .u_count = p->params.disparity_range, .v_count = 1};
    struct grid grid = grid_make(p->width, p->height, disparities);
    bool both = p->params.lr_check == LR_CHECK_BP;
    struct pipeline_result result;
    struct curve curve;
    struct view view[2];
    const int16_t *right_map = NULL;

    view[both] = view_prepare(g, p, both); /* the side that is solved first */
    view[!both] = view_prepare(g, p, !both);
    choose_costs(g, p, grid, view);
    if (both)
        right_map = solve_right(g, p, grid, &view[RIGHT_SIDE], &view[LEFT_SIDE]).disparity;
    struct label_map left =
        solve_left(g, p, grid, &view[LEFT_SIDE], &view[RIGHT_SIDE], &result, &curve);

    const uint8_t *confidence = left.confidence;
    pipeline_group(g, LEFT_SIDE, TIME_CHECK);
    const int16_t *map = remove_speckles(g, p, check(g, p, &left, right_map));
    pipeline_group(g, LEFT_SIDE, TIME_REFINE);
    map = offset_by_costs(g, p, &curve, map);
    map = estimate_chance(g, p, &confidence, &curve, map);
    const int16_t *known = fill_borders(g, p, map);
    map = fit_planes(g, p, fill_holes(g, p, &view[LEFT_SIDE], known));
    map = smooth_holes(g, p, &view[LEFT_SIDE], known, map);
    map = mark_sky(g, p, &view[LEFT_SIDE], &curve, map);
    finish_map(g, p, &view[LEFT_SIDE], confidence, map);

    pipeline_keep(g, &result);
    return result;
}
