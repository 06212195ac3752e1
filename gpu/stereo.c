/*
 * The order of the stages, once for both backends. stereo_compute() reads top to bottom as the
 * pipeline; stereo_frame.c brings pictures there and results back.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stereo.h"

#include "config/log.h"
#include "gpu/stereo_private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

int stereo_adopt_params(struct stereo *s, const struct params *p) {
    if (p->disparity_range >= s->width) {
        log_error("disparity_range", "%d labels do not fit pictures %d px wide; use fewer",
                  p->disparity_range, s->width);
        return -EINVAL;
    }
    int error = stereo_memory_shape(s, p);
    if (error || (s->params_known && params_equal(p, &s->params)))
        return error;
    s->warm.known = s->warm.displaced = 0;
    s->params = *p;
    s->params_known = 1;
    s->number++;
    scaling_make(&s->scaling, p, p->cost_color ? s->channels : 1);
    struct backend *b = s->backend;
    b->upload(b, s->lut, s->scaling.lut, sizeof(s->scaling.lut));
    b->upload(b, s->census_lut, s->scaling.census_lut, sizeof(s->scaling.census_lut));
    b->upload(b, s->median_weight, s->scaling.median_weight, sizeof(s->scaling.median_weight));
    return 0;
}

/* Of the right view alone: rows that the cameras have drifted apart by, 1/32 px. */
static int row_shift(const struct stereo *s, int view) {
    return view ? (int)lround(32 * s->params.row_offset) : 0;
}

int stereo_is_remapped(const struct stereo *s, int view) {
    return s->map[view] || row_shift(s, view);
}

const uint8_t *stereo_picture(const struct stereo *s, int view) {
    const struct slot *slot = &s->at[s->slot];
    return stereo_is_remapped(s, view) ? slot->rectified[view] : slot->raw[view];
}

/* The pictures that are compared: smoothed where that is on. */
static const uint8_t *match_picture(const struct stereo *s, int view) {
    return s->params.smooth_sigma > 0 ? s->smoothed[view] : stereo_picture(s, view);
}

/* As soon as the picture is there. */
static void rectify(struct stereo *s, int v) {
    stereo_wait(s, UPLOADED + v);
    stereo_mark(s, v * RIGHT_MARKS + TIME_RECTIFY);
    struct remap_args a = {
        .source = s->at[s->slot].raw[v],
        .map = s->map[v],
        .out = s->at[s->slot].rectified[v],
        .width = s->width,
        .channels = s->channels,
        .source_width = s->source.width,
        .source_height = s->source.height,
        .row_shift = row_shift(s, v),
        .samples = s->map_samples,
        .step = s->map_step,
    };
    if (stereo_is_remapped(s, v)) {
        stereo_stage(s, STAGE_remap, &a, s->width, s->height);
        stereo_signal(s, RECTIFIED + v);
    }
}

static void smooth(struct stereo *s, int v) {
    stereo_mark(s, v * RIGHT_MARKS + TIME_SMOOTH);
    if (s->params.smooth_sigma > 0) {
        struct taps taps = scaling_taps(s->params.smooth_sigma);
        struct smooth_x_args x = {stereo_picture(s, v), s->smooth_between, s->width, s->channels,
                                  taps};
        struct smooth_y_args y = {s->smooth_between, s->smoothed[v], s->width,
                                  s->height,         s->channels,    taps};
        stereo_stage(s, STAGE_smooth_x, &x, s->width, s->height);
        stereo_stage(s, STAGE_smooth_y, &y, s->width, s->height);
    }
    struct grey_args grey = {match_picture(s, v), s->grey[v], s->width, s->channels};
    stereo_stage(s, STAGE_grey, &grey, s->width, s->height);
    struct census_args census = {s->grey[v], s->census[v], s->width, s->height};
    if (s->params.data_cost == DATA_COST_CENSUS || s->params.data_cost == DATA_COST_AD_CENSUS)
        stereo_stage(s, STAGE_census, &census, s->width, s->height);
}

/* The 16-bit sums between the passes of cost smoothing lie where the messages will, unless those
 * are kept. */
static uint16_t *cost_sums(const struct stereo *s) {
    return (uint16_t *)(s->cost_apart ? s->apart : s->messages[0]);
}

/* Where the matching cost goes before it is smoothed: behind the sums. */
static uint8_t *unsmoothed_cost(const struct stereo *s) {
    return s->params.cost_smoothing == COST_SMOOTHING_OFF
               ? s->cost
               : (uint8_t *)(cost_sums(s) + grid_volume(&s->level[0].grid));
}

/* Whether what makes the costs may make the next level's too. */
static int halves_in_passing(const struct stereo *s) {
    return s->levels > 1 && s->way != WAY_WARM && !s->unfused;
}

static void match(struct stereo *s, int base) {
    int color = s->params.cost_color && s->channels > 1;
    struct cost_args a = {
        .grid = s->level[0].grid,
        .base = color ? match_picture(s, base) : s->grey[base],
        .other = color ? match_picture(s, !base) : s->grey[!base],
        .census_base = s->census[base],
        .census_other = s->census[!base],
        .lut = s->lut,
        .census_lut = s->census_lut,
        .cost = unsmoothed_cost(s),
        .channels = color ? s->channels : 1,
        .kind = s->params.data_cost,
        .min_disparity = s->params.min_disparity,
        .sign = base ? -1 : 1,
        .outside = s->scaling.outside,
    };
    struct halve_args half = stereo_halve_args(s, 1);
    s->halved = s->backend->cost_and_halve && halves_in_passing(s) && a.cost == s->cost &&
                s->backend->cost_and_halve(s->backend, &a, &half);
    if (!s->halved)
        stereo_stage(s, STAGE_cost, &a, s->width, s->height);
}

static void smooth_cost_gaussian(struct stereo *s) {
    struct cost_smooth_args a = {s->level[0].grid, unsmoothed_cost(s), cost_sums(s), s->cost,
                                 scaling_taps(s->params.cost_sigma)};
    stereo_stage(s, STAGE_cost_smooth_x, &a, s->width, s->height);
    stereo_stage(s, STAGE_cost_smooth_y, &a, s->width, s->height);
}

static void find_arms(struct stereo *s, int base) {
    struct arms_args arms = {stereo_picture(s, base),
                             s->arms,
                             s->width,
                             s->height,
                             s->channels,
                             s->params.cross_length,
                             s->params.cross_height,
                             s->params.cross_step};
    if (s->params.cost_smoothing == COST_SMOOTHING_CROSS)
        stereo_stage(s, STAGE_arms, &arms, s->width, s->height);
}

static void smooth_cost_cross(struct stereo *s) {
    struct cross_args a = {s->level[0].grid,      s->arms, unsmoothed_cost(s),
                           cost_sums(s),          s->cost, s->params.cross_length,
                           s->params.cross_height};
    struct halve_args half = stereo_halve_args(s, 1);
    for (int i = 0; i < s->params.cross_rounds; i++) {
        int last = i + 1 == s->params.cross_rounds;
        if (s->backend->cross && a.source != a.out) {
            s->halved =
                s->backend->cross(s->backend, &a, last && halves_in_passing(s) ? &half : NULL);
        } else {
            stereo_stage(s, STAGE_cross_x, &a, s->width, s->height);
            stereo_stage(s, STAGE_cross_y, &a, s->width, s->height);
        }
        a.source = s->cost;
    }
}

static void smooth_cost(struct stereo *s) {
    if (s->params.cost_smoothing == COST_SMOOTHING_GAUSSIAN)
        smooth_cost_gaussian(s);
    else if (s->params.cost_smoothing == COST_SMOOTHING_CROSS)
        smooth_cost_cross(s);
}

static void classify_edges(struct stereo *s, int base) {
    if (!stereo_has_edges(s))
        return;
    struct edges_args a = {stereo_picture(s, base),
                           s->level[0].classes,
                           s->width,
                           s->height,
                           s->channels,
                           {s->params.edge_step_1, s->params.edge_step_2}};
    stereo_stage(s, STAGE_edges, &a, s->width, s->height);
    for (int l = 1; l < s->levels && l < s->params.edge_levels; l++) {
        const struct level *fine = &s->level[l - 1], *level = &s->level[l];
        struct edges_halve_args h = {fine->classes, level->classes, fine->grid.width,
                                     fine->grid.height, level->grid.width};
        stereo_stage(s, STAGE_edges_halve, &h, level->grid.width, level->grid.height);
    }
}

/* What the picture alone says is found beside what needs both, where there are lanes. */
static void leave_to_side(struct stereo *s, int base) {
    struct backend *b = s->backend;
    if (s->slots > 1) {
        b->signal(b, SIGNAL_SIDE);
        b->lane(b, LANE_SIDE);
        b->wait(b, SIGNAL_SIDE);
    }
    find_arms(s, base);
    classify_edges(s, base);
    if (s->slots > 1) {
        b->signal(b, SIGNAL_SIDE_DONE);
        b->lane(b, LANE_COMPUTE);
    }
}

static void prepare_view(struct stereo *s, int view) {
    if (!s->params.warm_start) /* else it is done */
        rectify(s, view);
    smooth(s, view);
}

/* What is done with a picture on its own, the first one's while the second is still on its way. */
static void prepare(struct stereo *s) {
    int first = stereo_first_view(&s->params);
    prepare_view(s, first);
    leave_to_side(s, first);
    stereo_mark(s, MARK_VIEW_DONE);
    prepare_view(s, !first);
}

static void estimate(struct stereo *s, int base) {
    int marks = base * RIGHT_MARKS;
    stereo_mark(s, marks + TIME_COST);
    if (base != stereo_first_view(&s->params))
        leave_to_side(s, base);
    match(s, base);
    stereo_mark(s, marks + TIME_AGGREGATE);
    if (s->slots > 1)
        s->backend->wait(s->backend, SIGNAL_SIDE_DONE);
    smooth_cost(s);
    stereo_mark(s, marks + TIME_BP);
    stereo_propagate(s, base);
    stereo_mark(s, marks + TIME_CHECK);
}

/* Refinement goes back and forth between the map and a spare one. */
static void swap_maps(struct stereo *s) {
    int16_t *map = s->disparity[0];
    s->disparity[0] = s->spare;
    s->spare = map;
    s->swapped = !s->swapped;
}

static void check(struct stereo *s) {
    const struct params *p = &s->params;
    if (p->lr_check != LR_CHECK_OFF || p->min_confidence > 0) {
        struct check_args a = {
            .left = s->disparity[0],
            .right = p->lr_check == LR_CHECK_BP ? s->disparity[1] : NULL,
            .confidence = s->at[s->slot].confidence,
            .out = s->spare,
            .width = s->width,
            .range = p->disparity_range,
            .tolerance = p->lr_check == LR_CHECK_OFF ? -1 : (int)lround(16 * p->disp12_max_diff),
            .min_confidence = p->min_confidence,
        };
        stereo_stage(s, STAGE_check, &a, s->width, s->height);
        swap_maps(s);
    }
    if (p->speckle_size > 0) {
        struct speckle_args a = {s->disparity[0],
                                 s->spare,
                                 s->patch,
                                 s->patch_size,
                                 s->width,
                                 s->height,
                                 (int)lround(16 * p->speckle_range),
                                 (uint32_t)p->speckle_size};
        for (int stage = STAGE_speckle_start; stage <= STAGE_speckle_drop; stage++)
            stereo_stage(s, (enum stage)stage, &a, s->width, s->height);
        swap_maps(s);
    }
}

/* Last, and in two parts where the first can be on its way down beside the second. */
static void smooth_map(struct stereo *s) {
    int upper = stereo_upper_rows(s);
    struct median_args a = {.source = s->disparity[0],
                            .image = stereo_picture(s, 0),
                            .weight = s->median_weight,
                            .out = s->at[s->slot].disparity,
                            .width = s->width,
                            .height = s->height,
                            .channels = s->channels,
                            .radius = s->params.median_radius};
    if (upper > 0) {
        stereo_stage(s, STAGE_median, &a, s->width, upper);
        stereo_signal(s, UPPER_PART);
        a.first_row = upper;
    }
    stereo_stage(s, STAGE_median, &a, s->width, s->height - upper);
}

/* The map ends in the slot: it must not be where the next frame's stages will write. */
static void refine(struct stereo *s) {
    for (int along_columns = 0; along_columns < 2 && s->params.fill; along_columns++) {
        struct fill_args a = {s->disparity[0], s->spare,       s->width,
                              s->height,       !along_columns, along_columns};
        stereo_stage(s, STAGE_fill, &a, s->width, s->height);
        swap_maps(s);
    }
    if (s->params.median_radius > 0)
        smooth_map(s);
    else
        s->backend->copy(s->backend, s->at[s->slot].disparity, s->disparity[0],
                         (size_t)s->width * (size_t)s->height * sizeof(*s->disparity[0]));
}

void stereo_choose_way(struct stereo *s) {
    s->way = WAY_COLD;
    if (!s->params.warm_start)
        return;
    for (int i = 0; i < 2; i++) {
        int v = i ^ stereo_first_view(&s->params);
        rectify(s, v);
        stereo_warm_compare(s, v);
    }
    int error = stereo_warm_choose(s);
    if (error) /* goes with the frame, which is of no use */
        s->failed = error;
}

void stereo_compute(struct stereo *s) {
    if (s->swapped)
        swap_maps(s);
    prepare(s);
    if (s->params.lr_check == LR_CHECK_BP)
        estimate(s, 1);
    estimate(s, 0);
    stereo_signal(s, CONFIDENT);
    check(s);
    stereo_mark(s, TIME_REFINE);
    refine(s);
}
