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

static void mark(struct stereo *s, int i) {
    s->backend->mark(s->backend, s->slot * SLOT_MARKS + i);
}

static void run(struct stereo *s, enum stage stage, const void *args, int width, int height) {
    s->backend->run(s->backend, stage, args, width, height);
}

int stereo_adopt_params(struct stereo *s, const struct params *p) {
    if (p->disparity_range >= s->width) {
        log_error("disparity_range", "%d labels do not fit pictures %d px wide; use fewer",
                  p->disparity_range, s->width);
        return -EINVAL;
    }
    int error = stereo_memory_shape(s, p->disparity_range, p->bp_levels);
    if (error || (s->params_known && params_equal(p, &s->params)))
        return error;
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

static const uint8_t *picture(const struct stereo *s, int view) {
    return stereo_is_remapped(s, view) ? s->rectified[view] : s->at[s->slot].raw[view];
}

/* The pictures that are compared: smoothed where that is on. */
static const uint8_t *match_picture(const struct stereo *s, int view) {
    return s->params.smooth_sigma > 0 ? s->smoothed[view] : picture(s, view);
}

static void rectify(struct stereo *s) {
    for (int v = 0; v < 2; v++) {
        struct remap_args a = {
            .source = s->at[s->slot].raw[v],
            .map = s->map[v],
            .out = s->rectified[v],
            .width = s->width,
            .channels = s->channels,
            .source_width = s->source.width,
            .source_height = s->source.height,
            .row_shift = row_shift(s, v),
            .samples = s->map_samples,
            .step = s->map_step,
        };
        if (stereo_is_remapped(s, v))
            run(s, STAGE_remap, &a, s->width, s->height);
    }
}

static void smooth(struct stereo *s) {
    for (int v = 0; v < 2; v++) {
        if (s->params.smooth_sigma > 0) {
            struct taps taps = scaling_taps(s->params.smooth_sigma);
            struct smooth_x_args x = {picture(s, v), s->smooth_between, s->width, s->channels,
                                      taps};
            struct smooth_y_args y = {s->smooth_between, s->smoothed[v], s->width,
                                      s->height,         s->channels,    taps};
            run(s, STAGE_smooth_x, &x, s->width, s->height);
            run(s, STAGE_smooth_y, &y, s->width, s->height);
        }
        struct grey_args grey = {match_picture(s, v), s->grey[v], s->width, s->channels};
        run(s, STAGE_grey, &grey, s->width, s->height);
        struct census_args census = {s->grey[v], s->census[v], s->width, s->height};
        if (s->params.data_cost == DATA_COST_CENSUS || s->params.data_cost == DATA_COST_AD_CENSUS)
            run(s, STAGE_census, &census, s->width, s->height);
    }
}

/* Where the matching cost goes before it is smoothed: the end of the block of messages, whose first
 * half holds the 16-bit sums between the two passes. */
static uint8_t *unsmoothed_cost(const struct stereo *s) {
    return s->params.cost_smoothing == COST_SMOOTHING_OFF ? s->cost : s->level[0].message[2];
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
    run(s, STAGE_cost, &a, s->width, s->height);
}

static void smooth_cost_gaussian(struct stereo *s) {
    struct cost_smooth_args a = {s->level[0].grid, unsmoothed_cost(s), (uint16_t *)s->messages[0],
                                 s->cost, scaling_taps(s->params.cost_sigma)};
    run(s, STAGE_cost_smooth_x, &a, s->width, s->height);
    run(s, STAGE_cost_smooth_y, &a, s->width, s->height);
}

static void find_arms(struct stereo *s, int base) {
    struct arms_args arms = {picture(s, base),
                             s->arms,
                             s->width,
                             s->height,
                             s->channels,
                             s->params.cross_length,
                             s->params.cross_height,
                             s->params.cross_step};
    if (s->params.cost_smoothing == COST_SMOOTHING_CROSS)
        run(s, STAGE_arms, &arms, s->width, s->height);
}

static void smooth_cost_cross(struct stereo *s) {
    struct cross_args a = {s->level[0].grid,           s->arms, unsmoothed_cost(s),
                           (uint16_t *)s->messages[0], s->cost, s->params.cross_length,
                           s->params.cross_height};
    for (int i = 0; i < s->params.cross_rounds; i++) {
        if (s->backend->cross && a.source != a.out) {
            s->backend->cross(s->backend, &a);
        } else {
            run(s, STAGE_cross_x, &a, s->width, s->height);
            run(s, STAGE_cross_y, &a, s->width, s->height);
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

static void build_pyramid(struct stereo *s) {
    for (int l = 1; l < s->levels; l++) {
        const struct level *fine = &s->level[l - 1];
        struct halve_args a = {s->level[l].grid, fine->grid, l == 1 ? s->cost : NULL,
                               l == 1 ? NULL : fine->cost16, s->level[l].cost16};
        run(s, STAGE_halve, &a, a.grid.width, a.grid.height);
    }
}

static int edges_on(const struct stereo *s) {
    return s->params.edge_factor_1 < 1 || s->params.edge_factor_2 < 1;
}

static void classify_edges(struct stereo *s, int base) {
    if (!edges_on(s))
        return;
    struct edges_args a = {picture(s, base), s->level[0].classes,
                           s->width,         s->height,
                           s->channels,      {s->params.edge_step_1, s->params.edge_step_2}};
    run(s, STAGE_edges, &a, s->width, s->height);
    for (int l = 1; l < s->levels && l < s->params.edge_levels; l++) {
        const struct level *fine = &s->level[l - 1], *level = &s->level[l];
        struct edges_halve_args h = {fine->classes, level->classes, fine->grid.width,
                                     fine->grid.height, level->grid.width};
        run(s, STAGE_edges_halve, &h, level->grid.width, level->grid.height);
    }
}

/* The first half-step of a level overwrites colour 0 unread, so only colour 1 needs a start. */
static void start_messages(struct stereo *s, int l, int iterations) {
    const struct level *level = &s->level[l];
    for (int colour = iterations > 0; colour < 2; colour++) {
        struct silence_args silence = {.grid = level->grid, .colour = colour};
        struct widen_args widen = {.grid = level->grid, .colour = colour};
        memcpy(silence.message, level->message, sizeof(silence.message));
        memcpy(widen.message, level->message, sizeof(widen.message));
        if (l + 1 == s->levels) {
            run(s, STAGE_silence, &silence, level->grid.half, level->grid.height);
            continue;
        }
        widen.coarse = s->level[l + 1].grid;
        for (int r = 0; r < DIRECTIONS; r++)
            widen.parent[r] = s->level[l + 1].message[r];
        run(s, STAGE_widen, &widen, level->grid.half, level->grid.height);
    }
}

static struct message_args message_args_of(const struct stereo *s, int l) {
    const struct level *level = &s->level[l];
    struct message_args a = {
        .grid = level->grid,
        .cost8 = l ? NULL : s->cost,
        .cost16 = level->cost16,
        .classes = edges_on(s) && l < s->params.edge_levels ? level->classes : NULL,
        .flags = s->params.bp_resting ? s->flags : NULL,
        .threshold = s->scaling.rest_threshold,
    };
    memcpy(a.message, level->message, sizeof(a.message));
    memcpy(a.rho, s->scaling.rho, sizeof(a.rho));
    memcpy(a.truncation, s->scaling.truncation, sizeof(a.truncation));
    return a;
}

static void tally(struct stereo *s, int l, int iteration) {
    struct tally_args t = {s->level[l].grid, s->flags, s->tally + (size_t)iteration * s->height,
                           iteration & 1};
    if (l == 0 && iteration < FRAME_TALLY)
        run(s, STAGE_tally, &t, 1, t.grid.height);
}

static void send_messages(struct stereo *s, int l, int iterations) {
    struct message_args a = message_args_of(s, l);
    if (!a.flags && s->backend->half_steps) {
        s->backend->half_steps(s->backend, &a, iterations);
        return;
    }
    for (; a.iteration < iterations; a.iteration++) {
        run(s, a.flags ? STAGE_message_resting : STAGE_message, &a, a.grid.half, a.grid.height);
        if (a.flags)
            tally(s, l, a.iteration);
    }
}

static struct pick_args pick_args_of(const struct stereo *s, int base) {
    struct pick_args a = {
        .grid = s->level[0].grid,
        .cost = s->cost,
        .label = s->label,
        .disparity = s->disparity[base],
        .confidence = s->confidence,
        .min_disparity = s->params.min_disparity,
        .subpixel = s->params.subpixel,
    };
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = s->level[0].message[r];
    return a;
}

static void propagate_at_once(struct stereo *s, int base) {
    struct propagate_args a = {.levels = s->levels, .pick = pick_args_of(s, base)};
    for (int l = 0; l < s->levels; l++) {
        a.level[l] = message_args_of(s, l);
        a.iterations[l] = scaling_iterations(&s->params, l);
    }
    s->backend->propagate(s->backend, &a);
    s->unsent = a.level[0];
    s->unsent.iteration = a.iterations[0] - 1;
}

static void propagate_beliefs(struct stereo *s, int base) {
    s->unsent.iteration = -1;
    if (s->backend->propagate && !s->params.bp_resting) {
        propagate_at_once(s, base);
        mark(s, base * RIGHT_MARKS + TIME_PICK);
        return;
    }
    for (int l = s->levels - 1; l >= 0; l--) {
        int iterations = scaling_iterations(&s->params, l);
        start_messages(s, l, iterations);
        send_messages(s, l, iterations);
    }
    mark(s, base * RIGHT_MARKS + TIME_PICK);
    struct pick_args pick = pick_args_of(s, base);
    run(s, STAGE_pick, &pick, s->width, s->height);
}

/* What the picture alone says is found beside the matching, where there are lanes. */
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

static void estimate(struct stereo *s, int base) {
    int marks = base * RIGHT_MARKS;
    mark(s, marks + TIME_COST);
    leave_to_side(s, base);
    match(s, base);
    mark(s, marks + TIME_AGGREGATE);
    if (s->slots > 1)
        s->backend->wait(s->backend, SIGNAL_SIDE_DONE);
    smooth_cost(s);
    mark(s, marks + TIME_BP);
    build_pyramid(s);
    propagate_beliefs(s, base);
    mark(s, marks + TIME_CHECK);
}

/* Refinement goes back and forth between the map and a spare one. */
static void swap_maps(struct stereo *s) {
    int16_t *map = s->disparity[0];
    s->disparity[0] = s->spare[0];
    s->spare[0] = map;
    s->swapped = !s->swapped;
}

static void check(struct stereo *s) {
    const struct params *p = &s->params;
    if (p->lr_check != LR_CHECK_OFF || p->min_confidence > 0) {
        struct check_args a = {
            .left = s->disparity[0],
            .right = p->lr_check == LR_CHECK_BP ? s->disparity[1] : NULL,
            .confidence = s->confidence,
            .out = s->spare[0],
            .width = s->width,
            .range = p->disparity_range,
            .tolerance = p->lr_check == LR_CHECK_OFF ? -1 : (int)lround(16 * p->disp12_max_diff),
            .min_confidence = p->min_confidence,
        };
        run(s, STAGE_check, &a, s->width, s->height);
        swap_maps(s);
    }
    if (p->speckle_size > 0) {
        struct speckle_args a = {s->disparity[0],
                                 s->spare[0],
                                 s->patch,
                                 s->patch_size,
                                 s->width,
                                 s->height,
                                 (int)lround(16 * p->speckle_range),
                                 (uint32_t)p->speckle_size};
        for (int stage = STAGE_speckle_start; stage <= STAGE_speckle_drop; stage++)
            run(s, (enum stage)stage, &a, s->width, s->height);
        swap_maps(s);
    }
}

static void refine(struct stereo *s) {
    for (int along_columns = 0; along_columns < 2 && s->params.fill; along_columns++) {
        struct fill_args a = {s->disparity[0], s->spare[0],    s->width,
                              s->height,       !along_columns, along_columns};
        run(s, STAGE_fill, &a, s->width, s->height);
        swap_maps(s);
    }
    if (s->params.median_radius > 0) {
        struct median_args a = {
            s->disparity[0], picture(s, 0), s->median_weight, s->spare[0],
            s->width,        s->height,     s->channels,      s->params.median_radius};
        run(s, STAGE_median, &a, s->width, s->height);
        swap_maps(s);
    }
}

void stereo_compute(struct stereo *s) {
    if (s->swapped)
        swap_maps(s);
    rectify(s);
    mark(s, TIME_SMOOTH);
    smooth(s);
    if (s->params.lr_check == LR_CHECK_BP)
        estimate(s, 1);
    estimate(s, 0);
    check(s);
    mark(s, TIME_REFINE);
    refine(s);
}
