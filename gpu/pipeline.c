/*
 * The method: a frame's passes from top to bottom. See pipeline_describe() first, at the end.
 * docs/METHODS.md says what each stage computes and where it comes from.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/map.h"
#include "gpu/refinement.h"
#include "gpu/search.h"

#include <math.h>

static size_t pixels_of(const struct pipeline *p) {
    return (size_t)p->width * (size_t)p->height;
}

/* ---- the cost volume, of some rows of the picture or of all */

/* The data cost's tables. */
struct costs {
    const uint8_t *lut, *census_lut;
};

/* Costs of rows first..end-1, as wide as the picture; those of a block are cut out of them.
 * averages: the solver averages them. cost NULL: the solver makes its costs from the pictures. */
struct band {
    struct grid grid;
    int first, end;
    bool averages;
    const uint8_t *cost;
};

/* Maps that tell where the picture repeats itself: struct agreement_args' and evidence_args'. */
struct repeats {
    const uint8_t *places, *doubts;
};

/* Measures how much matched pixels of the frame differ, and its noise. places: where pixels have a
 * match. */
static const struct likeness *measure_likeness(struct graph *g, const struct pipeline *p,
                                               struct grid grid, const struct picture picture[2],
                                               const uint8_t **places) {
    const struct picture *left = &picture[LEFT_SIDE], *right = &picture[RIGHT_SIDE];
    struct agreement_args a = {
        .grid = grid,
        .census_reference = left->census,
        .census_target = right->census,
        .grey = left->grey,
        .channels = scaling_match_channels(&p->params, p->channels),
        .block_sums = left->block_sums,
        .source_width = p->source_width,
        .source_height = p->source_height,
        .counts = graph_buffer(g, AGREEMENT_COUNTS * sizeof(*a.counts)),
        .likeness = graph_buffer(g, sizeof(*a.likeness)),
        .places =
            graph_buffer(g, (size_t)(agreement_columns(p->width) * agreement_columns(p->height))),
    };
    *places = a.places;
    a.reference = a.channels > 1 ? left->matched : left->grey;
    a.target = a.channels > 1 ? right->matched : right->grey;
    picture_group(g, LEFT_SIDE, TIME_SMOOTH);
    graph_stage(g, STAGE_agreement_start, &a, AGREEMENT_COUNTS, 1);
    graph_stage(g, STAGE_agreement, &a, (p->width + AGREEMENT_STEP - 1) / AGREEMENT_STEP,
                (p->height + AGREEMENT_STEP - 1) / AGREEMENT_STEP);
    graph_stage(g, STAGE_agreement_strength, &a, 1, 1);
    return a.likeness;
}

/* The tables are those of the parameters, or what they become by the likeness of this frame's
 * matched pixels. */
static struct costs choose_costs(struct graph *g, const struct pipeline *p,
                                 const struct likeness *likeness) {
    struct choose_costs_args c = {.likeness = likeness,
                                  .lut = p->tables->lut,
                                  .census_lut = p->tables->census_lut,
                                  .differing_census_lut = p->tables->differing_census_lut};
    if (!likeness)
        return (struct costs){.lut = c.lut, .census_lut = c.census_lut};
    c.out = graph_buffer(g, COST_LUT);
    c.census_out = graph_buffer(g, CENSUS_LUT);
    graph_stage(g, STAGE_choose_costs, &c, COST_LUT, 1);
    return (struct costs){.lut = c.out, .census_lut = c.census_out};
}

/* The arguments of stage cost for the rows of grid, from first_row on, but its output. */
static struct cost_args match_args(const struct search *s, const struct costs *costs,
                                   struct grid grid, int first_row) {
    const struct pipeline *p = s->p;
    const struct picture *reference = s->reference, *target = s->target;
    size_t first = (size_t)first_row * (size_t)p->width;
    int kind = p->params.data_cost, channels = scaling_match_channels(&p->params, p->channels);
    struct cost_args a = {.grid = grid,
                          .lut = costs->lut,
                          .census_lut = costs->census_lut,
                          .channels = channels,
                          .kind = kind,
                          .sign = reference->side == LEFT_SIDE ? 1 : -1,
                          .border = p->params.outside_match == OUTSIDE_MATCH_BORDER,
                          .outside = p->scaling.outside};
    if (kind != DATA_COST_CENSUS) {
        a.reference = channels > 1 ? reference->matched : reference->grey;
        a.target = channels > 1 ? target->matched : target->grey;
        a.reference += first * (size_t)channels;
        a.target += first * (size_t)channels;
    }
    if (kind == DATA_COST_CENSUS || kind == DATA_COST_AD_CENSUS) {
        a.words = reference->words;
        a.descriptor_reference = reference->descriptor + first * (size_t)a.words;
        a.descriptor_target = target->descriptor + first * (size_t)a.words;
    }
    if (reference->likeness && reference->steady) {
        a.likeness = reference->likeness;
        a.steady = reference->steady + first;
        a.slack = reference->slack + first;
    }
    return a;
}

/* The costs of a band before they are averaged. */
static const uint8_t *match(struct graph *g, const struct search *s, const struct costs *costs,
                            const struct band *band) {
    struct grid grid = band->grid;
    struct cost_args a = match_args(s, costs, grid, band->first);
    a.cost = graph_buffer(g, grid_volume(&grid));
    picture_group(g, s->reference->side, TIME_COST);
    graph_begin(g, UNIT_COSTS);
    graph_stage(g, STAGE_cost, &a, grid.width, grid.height);
    return a.cost;
}

/* Cross-shaped averaging. */
static const uint8_t *average_cost(struct graph *g, const struct pipeline *p, struct grid grid,
                                   const struct arms *arms, const uint8_t *cost) {
    struct cross_args a = {.grid = grid,
                           .arms = arms,
                           .source = cost,
                           .between = graph_buffer(g, grid_volume(&grid) * sizeof(*a.between)),
                           .out = graph_buffer(g, grid_volume(&grid)),
                           .longest_x = CROSS_LENGTH,
                           .longest_y = p->params.cross_height};
    graph_begin(g, UNIT_COSTS);
    graph_stage(g, STAGE_cross_x, &a, grid.width, grid.height);
    graph_stage(g, STAGE_cross_y, &a, grid.width, grid.height);
    return a.out;
}

/* The number of rows above and below its own that a cost depends on, an even number. averages:
 * before it is averaged. */
static int rows_around(const struct pipeline *p, bool averages) {
    const struct params *q = &p->params;
    int rows = q->data_cost == DATA_COST_SSD;
    if (q->cost_smoothing == COST_SMOOTHING_CROSS && !averages)
        rows += q->cross_height;
    return rows + (rows & 1);
}

static struct band make_band(struct graph *g, const struct search *s, const struct costs *costs,
                             int first, int end, bool averages) {
    const struct pipeline *p = s->p;
    struct band band = {.grid = grid_make(p->width, end - first, s->space),
                        .first = first,
                        .end = end,
                        .averages = averages};
    if (scaling_sums(&p->params))
        return band;
    bool smooths = p->params.cost_smoothing != COST_SMOOTHING_OFF && !averages;
    const struct arms *arms = s->reference->arms;
    if (smooths && band.grid.height < p->height)
        arms = picture_arms(g, p, s->reference, first, band.grid.height);
    band.cost = match(g, s, costs, &band);
    picture_group(g, s->reference->side, TIME_AGGREGATE);
    if (smooths)
        band.cost = average_cost(g, p, band.grid, arms, band.cost);
    return band;
}

/* The costs of a block: those of the band around it, which is the last block's where it can be, cut
 * out where the band is larger. */
static const uint8_t *block_cost(struct graph *g, const struct search *s, const struct costs *costs,
                                 const struct block *b, bool averages, struct band *band) {
    const struct pipeline *p = s->p;
    struct grid grid = search_grid(s, b);
    int around = rows_around(p, averages), first = stage_max(b->y - around, 0),
        end = stage_min(b->y + b->height + around, p->height);
    if (first != band->first || end != band->end || averages != band->averages)
        *band = make_band(g, s, costs, first, end, averages);
    if (!band->cost || (band->grid.width == grid.width && band->grid.height == grid.height))
        return band->cost;
    struct crop_cost_args a = {.grid = grid,
                               .source_grid = band->grid,
                               .x = b->x,
                               .y = b->y - first,
                               .source = band->cost,
                               .out = graph_buffer(g, grid_volume(&grid))};
    graph_end(g);
    graph_stage(g, STAGE_crop_cost, &a, grid.width, grid.height);
    return a.out;
}

/* Whether confidence is the estimated chance; the cost's rise is needed for it. */
static bool has_chance(const struct pipeline *p) {
    return p->params.confidence != CONFIDENCE_MARGIN && !scaling_sums(&p->params);
}

static bool wants_doubts(const struct pipeline *p) {
    return has_chance(p) && p->params.confidence != CONFIDENCE_CELL;
}

static struct search find_labels(struct graph *g, const struct pipeline *p,
                                 const struct picture picture[2], int side,
                                 struct label_space space, const struct costs *costs) {
    size_t update_bytes = FRAME_UPDATES * sizeof(uint32_t);
    bool left = side == LEFT_SIDE;
    struct search s = {.p = p,
                       .reference = &picture[side],
                       .target = &picture[!side],
                       .blocks = p->blocks,
                       .space = space,
                       .wants_doubts = left && wants_doubts(p)};
    const struct label_window none = {.fraction = 0};
    struct band band = {.end = 0};
    if (left && !scaling_sums(&p->params)) {
        s.curve.disparity = graph_buffer(g, pixels_of(p) * sizeof(*s.curve.disparity));
        s.curve.rise = graph_buffer(g, pixels_of(p));
    }
    if (left && blocks_count(&p->blocks) == 1)
        s.updates = graph_buffer(g, update_bytes);
    for (int i = 0; i < blocks_count(&s.blocks); i++) {
        struct block b = blocks_at(&s.blocks, i);
        struct grid grid = search_grid(&s, &b);
        bool averages = solver_averages(&p->params, &p->scaling, &grid);
        search_block(g, &s, &b, &none, block_cost(g, &s, costs, &b, averages, &band), averages);
    }
    if (s.map.update_count)
        graph_download(g, s.updates, HOST_UPDATES, 0, update_bytes);
    return s;
}

/* ---- the map */

static int16_t *make_map(struct graph *g, const struct pipeline *p) {
    return graph_buffer(g, pixels_of(p) * sizeof(int16_t));
}

static struct motion_map disparities(const int16_t *map) {
    return (struct motion_map){.u = (int16_t *)map};
}

/* The left-right check and the least margin. */
static const int16_t *check(struct graph *g, const struct pipeline *p, const struct label_map *left,
                            const int16_t *right) {
    const struct params *q = &p->params;
    int min_confidence = has_chance(p) ? 0 : q->min_confidence;
    if (q->lr_check == LR_CHECK_OFF && min_confidence <= 0)
        return left->disparity;
    struct check_args a = {.left = left->disparity,
                           .right = right,
                           .confidence = left->confidence,
                           .out = make_map(g, p),
                           .width = p->width,
                           .range = q->disparity_range,
                           .tolerance = q->lr_check == LR_CHECK_OFF ? -1 : CHECK_TOLERANCE,
                           .min_confidence = min_confidence};
    graph_stage(g, STAGE_check, &a, p->width, p->height);
    return a.out;
}

/* Sub-pixel disparities from the data costs, where the solver has a volume of them. */
static const int16_t *offset_by_costs(struct graph *g, const struct pipeline *p,
                                      const struct cost_curve *curve, const int16_t *map) {
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

/* The confidence that is estimated from the margin. */
static uint8_t *estimate_chance(struct graph *g, const struct pipeline *p, const uint8_t *margin,
                                const struct cost_curve *curve, const int16_t *map) {
    struct chance_args a = {.source = map,
                            .arms = find_regions(g, p, map, CHANCE_LENGTH, CHANCE_STEP).arms,
                            .margin = margin,
                            .rise = curve->rise,
                            .out = graph_buffer(g, pixels_of(p)),
                            .width = p->width,
                            .cells = p->params.confidence == CONFIDENCE_CELL};
    graph_stage(g, STAGE_chance, &a, p->width, p->height);
    return a.out;
}

/* Confidence that is a chance becomes less where the picture repeats itself, and where what is
 * around a node has decided: in rows first..last-1, which confidence begins with. */
static void doubt(struct graph *g, const struct pipeline *p, const struct repeats *r,
                  uint8_t *confidence, int first, int last) {
    struct doubt_args a = {.places = r->places,
                           .doubts = r->doubts,
                           .confidence = confidence,
                           .first_row = first,
                           .width = p->width,
                           .height = p->height,
                           .bare = !refinement_is_on(p)};
    if (wants_doubts(p))
        graph_stage(g, STAGE_doubt, &a, (p->width + AGREEMENT_STEP - 1) / AGREEMENT_STEP,
                    (last - first + AGREEMENT_STEP - 1) / AGREEMENT_STEP);
}

/* Disparities of too little confidence become unknown. */
static const int16_t *drop_unlikely(struct graph *g, const struct pipeline *p,
                                    const uint8_t *confidence, const int16_t *map) {
    if (!has_chance(p) || p->params.min_confidence <= 0)
        return map;
    struct check_args a = {.left = map,
                           .confidence = confidence,
                           .out = make_map(g, p),
                           .width = p->width,
                           .range = p->params.disparity_range,
                           .tolerance = -1,
                           .min_confidence = p->params.min_confidence};
    graph_stage(g, STAGE_check, &a, p->width, p->height);
    return a.out;
}

/* Planes through disparities of a map, over regions of another one: the beliefs end more sharply at
 * discontinuities than the costs. */
static const int16_t *fit_planes(struct graph *g, const struct pipeline *p, const int16_t *regions,
                                 const int16_t *map) {
    if (p->params.surface_length <= 0)
        return map;
    struct surface_args a = find_regions(g, p, regions, p->params.surface_length,
                                         (int)lround(16 * p->params.surface_step));
    a.source = map;
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
                                   const struct picture *left, const int16_t *map,
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
static const int16_t *fill_holes(struct graph *g, const struct pipeline *p,
                                 const struct picture *left, const int16_t *known) {
    if (!p->params.fill)
        return known;
    graph_begin(g, UNIT_SIDES);
    struct motion_map map = map_fill(g, left, disparities(known), false);
    if (smooths_holes(p))
        map = disparities(choose_sides(g, p, left, known, map.u));
    graph_end(g);
    return map_fill(g, left, map, true).u;
}

/* The planes that holes at the left border take: of the disparities from beliefs, which are
 * smoother than those from costs and known at the same pixels. NULL: they are filled as others. */
static const struct border_plane *fit_borders(struct graph *g, const struct pipeline *p,
                                              const int16_t *beliefs) {
    if (!smooths_holes(p))
        return NULL;
    struct border_plane_args a = {beliefs, graph_buffer(g, (size_t)p->height * sizeof(*a.out)),
                                  p->width, p->height};
    graph_stage(g, STAGE_border_plane, &a, 1, p->height);
    return a.out;
}

/* Fills the holes at the left and right border alone. */
static const int16_t *fill_borders(struct graph *g, const struct pipeline *p,
                                   const struct picture *left, const struct border_plane *plane,
                                   const int16_t *map) {
    if (!plane)
        return map;
    struct extend_args a = {.source = map,
                            .image = left->image,
                            .weight = p->tables->hole_weight,
                            .out = make_map(g, p),
                            .width = p->width,
                            .height = p->height,
                            .channels = p->channels,
                            .minimum = 16 * p->params.min_disparity,
                            .plane = plane};
    graph_stage(g, STAGE_extend, &a, p->width, p->height);
    return a.out;
}

/* Pixels that are unknown in another map get, in place of what filling gave them, the colour-
 * weighted median of their surroundings. */
static const int16_t *smooth_holes(struct graph *g, const struct pipeline *p,
                                   const struct picture *left, const int16_t *known,
                                   const int16_t *map) {
    for (int round = 0; round < 2 && smooths_holes(p); round++) {
        struct hole_median_args a = {.source = map,
                                     .known = known,
                                     .image = left->image,
                                     .weight = p->tables->hole_weight,
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

/* Pixels that become unknown have no confidence. */
static const int16_t *mark_sky(struct graph *g, const struct pipeline *p,
                               const struct picture *left, const struct cost_curve *curve,
                               uint8_t *confidence, const int16_t *map) {
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
                         .confidence = confidence,
                         .width = p->width,
                         .height = p->height,
                         .channels = p->channels,
                         .value =
                             p->params.sky == SKY_FAR ? 16 * p->params.min_disparity : UNKNOWN};
    for (int stage = STAGE_sky_start; stage <= STAGE_sky; stage++)
        graph_stage(g, (enum stage)stage, &a, p->width, p->height);
    return a.out;
}

/* ---- the map of the last frame: stages/temporal.h */

/* These stay from frame to frame. */
struct history {
    struct estimate *last;
    uint16_t *around; /* stage_sum_around's of the picture */
    struct rig_motion *motion;
};

static void keep(struct graph *g, const void *from, void *to, int width, int height, int bytes) {
    struct copy_map_args a = {from, to, width, width, bytes};
    graph_stage(g, STAGE_copy_map, &a, width, height);
}

static struct pinhole camera_of(const struct pipeline *p) {
    struct pinhole guess = {(float)p->width, (float)p->width / 2, (float)p->height / 2, 0, 0};
    return p->camera.known ? p->camera : guess;
}

/* How the rig has moved since the last frame: patches of coarse pictures, then those of fine ones
 * around the places to which the pose so found moves them. */
static void align(struct graph *g, const struct pipeline *p, const uint8_t *grey,
                  const struct history *h) {
    enum { SMALL = 320, LARGE = 1000 }; /* px */
    int coarse = p->width < LARGE ? 4 : 8;
    int grid = p->width < SMALL ? 8 : 4 * coarse;
    for (int fine = 0; fine < 2; fine++) {
        int size = fine ? 2 : coarse, w = p->width / size, rows = p->height / size;
        uint8_t *before = graph_persistent(g, (size_t)w * (size_t)rows + 1);
        struct shrink_args shrink = {grey, graph_buffer(g, (size_t)w * (size_t)rows + 1), p->width,
                                     w, size};
        struct find_patch_args a = {.before = before,
                                    .now = shrink.out,
                                    .last = h->last,
                                    .motion = h->motion,
                                    .camera = camera_of(p),
                                    .width = w,
                                    .height = rows,
                                    .map_width = p->width,
                                    .size = size,
                                    .spacing = grid / size,
                                    .reach = fine ? 2 : MOST_REACH,
                                    .fine = fine};
        a.columns = patches_along(w, a.spacing);
        int patch_rows = patches_along(rows, a.spacing);
        struct pose_args pose = {.motion = h->motion,
                                 .camera = a.camera,
                                 .columns = a.columns,
                                 .count = a.columns * patch_rows,
                                 .first = (float)(size * PATCH_MIDDLE) - 0.5f,
                                 .spacing = (float)(size * a.spacing),
                                 .widest = 16,
                                 .narrowest = 1,
                                 .steps = 8};
        if (fine) {
            pose.widest = 2;
            pose.narrowest = 0.5f;
            pose.steps = 5;
            pose.last = 1;
        }
        if (pose.count == 0)
            continue;
        pose.matches = a.out = graph_buffer(g, (size_t)pose.count * sizeof(*a.out));
        graph_stage(g, STAGE_shrink, &shrink, w, rows);
        graph_stage(g, STAGE_find_patch, &a, a.columns, patch_rows);
        graph_stage(g, STAGE_pose, &pose, 1, 1);
        keep(g, shrink.out, before, w, rows, 1);
    }
}

/* The last map, moved with the rig. */
static const struct estimate *move_map(struct graph *g, const struct pipeline *p,
                                       const uint16_t *now, const struct history *h) {
    size_t pixels = pixels_of(p);
    struct move_args a = {.last = h->last,
                          .before = h->around,
                          .now = now,
                          .motion = h->motion,
                          .vote = graph_buffer(g, pixels * sizeof(*a.vote)),
                          .moved = graph_buffer(g, pixels * sizeof(*a.moved)),
                          .camera = camera_of(p),
                          .width = p->width,
                          .height = p->height};
    for (int stage = STAGE_move_start; stage <= STAGE_move_take; stage++)
        graph_stage(g, (enum stage)stage, &a, p->width, p->height);
    return a.moved;
}

/* The variances of disparities by their confidence. */
static void spread_of(const struct pipeline *p, uint16_t spread[32]) {
    for (int i = 0; i < 32; i++) {
        double s = params_sigma(&p->params, 8 * i);
        spread[i] = (uint16_t)lround(1024 * s * s);
    }
}

/* The map, averaged with those of the frames before, which move with the rig. *confidence gets what
 * goes with it. */
static const int16_t *steady_map(struct graph *g, const struct pipeline *p,
                                 const struct picture *left, const uint8_t **confidence,
                                 const int16_t *map) {
    size_t pixels = pixels_of(p);
    struct history h = {.last = graph_persistent(g, pixels * sizeof(*h.last)),
                        .around = graph_persistent(g, pixels * sizeof(*h.around)),
                        .motion = graph_persistent(g, sizeof(*h.motion))};
    align(g, p, left->grey, &h);
    struct sum_around_args sums = {left->grey, graph_buffer(g, pixels * sizeof(*sums.out)),
                                   p->width, p->height};
    graph_stage(g, STAGE_sum_around, &sums, p->width, p->height);
    const struct estimate *moved = move_map(g, p, sums.out, &h);
    int cells = (p->width + CELL - 1) / CELL, rows = (p->height + CELL - 1) / CELL;
    size_t of_cells = (size_t)cells * (size_t)rows;
    struct count_cells_args count = {.moved = moved,
                                     .source = map,
                                     .confidence = *confidence,
                                     .out = graph_buffer(g, of_cells * sizeof(*count.out)),
                                     .width = p->width,
                                     .height = p->height,
                                     .cells = cells};
    graph_stage(g, STAGE_count_cells, &count, cells, rows);
    struct judge_cells_args judge = {count.out, graph_buffer(g, of_cells), cells, rows};
    graph_stage(g, STAGE_judge_cells, &judge, cells, rows);
    struct temporal_args a = {.source = map,
                              .confidence = *confidence,
                              .moved = moved,
                              .judged = judge.out,
                              .motion = h.motion,
                              .out = h.last,
                              .shown = make_map(g, p),
                              .confidence_out = graph_buffer(g, pixels),
                              .width = p->width,
                              .height = p->height,
                              .cells = cells,
                              .drift = 10};
    spread_of(p, a.spread);
    graph_stage(g, STAGE_temporal, &a, p->width, p->height);
    keep(g, sums.out, h.around, p->width, p->height, sizeof(*sums.out));
    *confidence = a.confidence_out;
    return a.shown;
}

static bool filters_frames(const struct pipeline *p) {
    int mode = p->params.temporal_mode;
    return mode == TEMPORAL_ON || (mode == TEMPORAL_AUTO && p->sequence);
}

/* Downloads rows first..last-1 of the final map, and of its confidence. */
static void deliver(struct graph *g, const struct pipeline *p, const int16_t *rows, int first,
                    int last) {
    size_t row = (size_t)p->width * sizeof(*rows);
    graph_download(g, rows, HOST_DISPARITY, (size_t)first * row, (size_t)(last - first) * row);
}

static void deliver_confidence(struct graph *g, const struct pipeline *p, const uint8_t *rows,
                               int first, int last) {
    size_t row = (size_t)p->width;
    graph_download(g, rows, HOST_CONFIDENCE, (size_t)first * row, (size_t)(last - first) * row);
}

static bool has_measures(const struct measures *m) {
    return m->px || m->mm || m->metres || m->points;
}

static void *make_measure(struct graph *g, const struct pipeline *p, bool wanted, size_t bytes) {
    return wanted ? graph_buffer(g, pixels_of(p) * bytes) : NULL;
}

/* Adds the final map in px, in metres or as points, as it is wanted. */
static void measure(struct graph *g, const struct pipeline *p, const uint8_t *confidence,
                    const int16_t *map) {
    const struct measures *m = &p->measures;
    struct depth_args a = {.source = map,
                           .confidence = confidence,
                           .tables = p->depths,
                           .width = p->width,
                           .min_confidence = m->min_confidence,
                           .nothing = NAN};
    if (!has_measures(m))
        return;
    a.px = make_measure(g, p, m->px, sizeof(*a.px));
    a.mm = make_measure(g, p, m->mm, sizeof(*a.mm));
    a.metres = make_measure(g, p, m->metres, sizeof(*a.metres));
    a.points = make_measure(g, p, m->points, 3 * sizeof(*a.points));
    graph_stage(g, STAGE_depth, &a, p->width, p->height);
    const void *const made[] = {a.px, a.mm, a.metres, a.points};
    const size_t bytes[] = {sizeof(*a.px), sizeof(*a.mm), sizeof(*a.metres), 3 * sizeof(*a.points)};
    for (int i = 0; i < 4; i++)
        if (made[i])
            graph_download(g, made[i], HOST_PX + i, 0, pixels_of(p) * bytes[i]);
}

/* The number of 16 parts of a map that are computed first, by medians or by the learned choice, so
 * that the downloads of both parts end at about the same time. A choice in parts takes 12 us more,
 * which pays from so many pixels on. */
enum { UPPER_PARTS = 9, LARGE_CHOICE = 3 << 18 };

/* The learned choice; of large maps the upper rows are delivered first. Returns how many. */
static int refine(struct graph *g, const struct pipeline *p, const struct picture picture[2],
                  const struct repeats *r, bool in_parts, const uint8_t **confidence,
                  const int16_t **map) {
    struct refined parts[2];
    int upper = in_parts && pixels_of(p) >= LARGE_CHOICE ? p->height * UPPER_PARTS / 16 : 0;
    upper -= upper % AGREEMENT_STEP;
    refinement_describe(g, p, picture, *map, *confidence, upper, parts);
    if (upper > 0) {
        doubt(g, p, r, parts[0].confidence, 0, upper);
        deliver(g, p, parts[0].map, 0, upper);
        deliver_confidence(g, p, parts[0].confidence, 0, upper);
    }
    doubt(g, p, r, parts[1].confidence, upper, p->height);
    *map = parts[1].map;
    *confidence = parts[1].confidence;
    return upper;
}

/* Colour-weighted median, refinement and temporal filter. Without the filter the map is computed in
 * two parts, and the upper part is downloaded while the lower one is computed. */
static void finish_map(struct graph *g, const struct pipeline *p, const struct picture picture[2],
                       const struct repeats *r, const uint8_t *confidence, const int16_t *map) {
    const struct picture *left = &picture[LEFT_SIDE];
    int radius = p->params.median_radius, upper = 0;
    bool smooths = radius > 0, filters = filters_frames(p),
         in_parts = p->in_parts && !filters && !has_measures(&p->measures);
    if (refinement_is_on(p)) {
        if (smooths)
            map = map_median(g, p, left, map, radius, 0, p->height);
        upper = refine(g, p, picture, r, in_parts, &confidence, &map);
        smooths = false;
    }
    bool early = smooths && !filters; /* it is copied while medians are computed */
    if (early)
        deliver_confidence(g, p, confidence, 0, p->height);
    if (in_parts && smooths)
        upper = p->height * UPPER_PARTS / 16; /* none of a single row */
    if (smooths && upper > 0)
        deliver(g, p, map_median(g, p, left, map, radius, 0, upper), 0, upper);
    if (smooths)
        map = map_median(g, p, left, map, radius, upper, p->height);
    if (filters)
        map = steady_map(g, p, left, &confidence, map);
    deliver(g, p, map, upper, p->height);
    if (!early)
        deliver_confidence(g, p, confidence, upper, p->height);
    measure(g, p, confidence, map);
}

/* ---- the frame */

struct pipeline_result pipeline_describe(struct graph *g, const struct pipeline *p) {
    if (p->params.mode == MODE_MOTION)
        return motion_describe(g, p);
    struct label_space space = {
        .u_min = p->params.min_disparity, .u_count = p->params.disparity_range, .v_count = 1};
    struct grid grid = grid_make(p->width, p->height, space);
    bool solves_right = p->params.lr_check == LR_CHECK_BP;
    struct picture picture[2], *left = &picture[LEFT_SIDE];
    const int16_t *right_map = NULL;

    for (int side = 0; side < 2; side++) /* the left one is prepared while the other is uploaded */
        picture[side] = picture_prepare(g, p, side);
    if (p->params.row_alignment)
        picture_align_rows(g, p, grid, left, &picture[RIGHT_SIDE]);
    const struct likeness *likeness = NULL;
    struct repeats repeats = {NULL, NULL};
    if (scaling_adapts(&p->params) || wants_doubts(p))
        likeness = measure_likeness(g, p, grid, picture, &repeats.places);
    if (scaling_adapts(&p->params))
        picture_adapt(g, p, likeness, picture);
    else
        likeness = NULL;
    for (int side = 0; side < 2; side++)
        picture_describe(p, &picture[side]);
    struct costs costs = choose_costs(g, p, likeness);
    if (solves_right)
        right_map = find_labels(g, p, picture, RIGHT_SIDE, space, &costs).map.disparity;
    struct search found = find_labels(g, p, picture, LEFT_SIDE, space, &costs);
    repeats.doubts = found.map.doubts;

    picture_group(g, LEFT_SIDE, TIME_CHECK);
    const int16_t *map = picture_hide_unseen(g, p, check(g, p, &found.map, right_map));
    map = map_remove_speckles(g, p, left, disparities(map)).u;
    picture_group(g, LEFT_SIDE, TIME_REFINE);
    const int16_t *beliefs = map;
    map = offset_by_costs(g, p, &found.curve, map);
    bool offset = map != beliefs;
    uint8_t *chance = found.map.confidence;
    if (has_chance(p))
        chance = estimate_chance(g, p, chance, &found.curve, map);
    if (!refinement_is_on(p)) /* what is refined is given other chances, by these */
        doubt(g, p, &repeats, chance, 0, p->height);
    uint8_t *confidence = picture_doubt_unseen(g, p, chance);
    map = drop_unlikely(g, p, confidence, map);
    beliefs = drop_unlikely(g, p, confidence, beliefs);
    const struct border_plane *planes = fit_borders(g, p, beliefs);
    const int16_t *known = fill_borders(g, p, left, planes, map);
    const int16_t *filled = fill_holes(g, p, left, known), *regions = filled;
    if (offset)
        regions = fill_holes(g, p, left, fill_borders(g, p, left, planes, beliefs));
    map = fit_planes(g, p, regions, filled);
    map = smooth_holes(g, p, left, known, map);
    map = picture_hide_unseen(g, p, mark_sky(g, p, left, &found.curve, confidence, map));
    finish_map(g, p, picture, &repeats, confidence, map);
    return search_result(g, &found);
}
