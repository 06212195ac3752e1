/*
 * The arguments of every stage, random but repeatable: case_add_stage() adds a stage, and before it
 * those whose results it works on, to a list of passes. A new stage needs a case_##name
 * here.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STAGE_CASES_H
#define LIVESTEREO_STAGE_CASES_H

#include "tests/pass_case.h"

/* ---- what several stages take */

static inline struct grid case_grid(struct pass_case *c) {
    struct label_space space = {
        .u_min = case_between(c, -5, 30), .u_count = c->shape.labels, .v_count = 1};
    return grid_make(c->shape.width, c->shape.height, space);
}

/* Taps that sum to 1 << 14, as Gaussian ones do. */
static inline struct taps case_taps(struct pass_case *c, int most) {
    struct taps taps = {.radius = case_between(c, 1, most)};
    int rest = 1 << 14;
    for (int k = 1; k <= taps.radius; k++) {
        taps.q14[k] = (int16_t)case_between(c, 0, 8192 / (2 * taps.radius));
        rest -= 2 * taps.q14[k];
    }
    taps.q14[0] = (int16_t)rest;
    return taps;
}

/* Arms that stay inside the picture. */
static inline struct arms *case_random_arms(struct pass_case *c, int longest_x, int longest_y) {
    int w = c->shape.width, h = c->shape.height;
    struct arms *arms = case_add_rows(c, w, h, sizeof(*arms));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            uint8_t *l = arms[y * w + x].length;
            l[UP] = (uint8_t)stage_min(y, (int)case_value(c, (uint32_t)longest_y));
            l[DOWN] = (uint8_t)stage_min(h - 1 - y, (int)case_value(c, (uint32_t)longest_y));
            l[LEFT] = (uint8_t)stage_min(x, (int)case_value(c, (uint32_t)longest_x));
            l[RIGHT] = (uint8_t)stage_min(w - 1 - x, (int)case_value(c, (uint32_t)longest_x));
        }
    return arms;
}

/* Disparities from 0 to maximum px, a quarter of them unknown. */
static inline int16_t *case_disparities(struct pass_case *c, int maximum) {
    int w = c->shape.width, h = c->shape.height;
    int16_t *map = case_add_rows(c, w, h, sizeof(*map));
    for (int i = 0; i < w * h; i++)
        map[i] =
            (int16_t)(draw(&c->random_contents) % 4 ? (int)case_value(c, 16 * (uint32_t)maximum)
                                                    : UNKNOWN);
    return map;
}

static inline uint8_t *case_classes(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    uint8_t *classes = case_add_rows(c, w, h, 1);
    for (int i = 0; i < w * h; i++)
        classes[i] = (uint8_t)draw(&c->random_contents);
    return classes;
}

/* rho and T of the four classes: the extremes, no slope, slopes beyond T, T/rho from 1 to 20. */
static inline void case_envelopes(struct pass_case *c, uint8_t rho[4], uint8_t truncation[4]) {
    static const int rhos[] = {0, 1, 7, 40, 120, 255}, truncations[] = {0, 1, 9, 100, 254, 255};
    for (int i = 0; i < 4; i++) {
        int kind = case_between(c, 0, 4), maximum = case_one_of(c, truncations, 6);
        maximum = kind == 0 ? maximum : case_between(c, 0, MAX_TRUNCATION);
        truncation[i] = (uint8_t)maximum;
        rho[i] = (uint8_t)(kind <= 1   ? case_one_of(c, rhos, 6)
                           : kind == 2 ? case_between(c, maximum, 255)
                                       : maximum / case_between(c, 1, 20));
    }
}

/* ---- pictures */

static inline void case_remap(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, channels = c->shape.channels;
    struct remap_args a = {.width = w,
                           .channels = channels,
                           .source_width = w + case_between(c, 0, 2),
                           .source_height = h + case_between(c, 0, 1),
                           .row_shift = case_between(c, -40, 40),
                           .samples = case_between(c, 0, 3)};
    a.step = a.samples * case_between(c, 25, 35);
    a.source = case_bytes(c, a.source_width, a.source_height, channels, 255);
    if (case_between(c, 0, 4)) { /* some of it outside the picture */
        struct rectify_point *map = case_add_rows(c, w, h, sizeof(*map));
        for (int i = 0; i < w * h; i++) {
            map[i].x = (int32_t)case_value(c, 32 * (uint32_t)w + 320) - 160;
            map[i].y = (int32_t)case_value(c, 32 * (uint32_t)h + 320) - 160;
        }
        a.map = map;
    }
    a.out = case_bytes(c, w, h, channels, 255);
    case_add_pass(c, STAGE_remap, &a, w, h);
}

static inline void case_grey(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct grey_args a = {.width = w, .channels = c->shape.channels};
    a.source = case_bytes(c, w, h, a.channels, 255);
    a.out = case_bytes(c, w, h, 1, 255);
    case_add_pass(c, STAGE_grey, &a, w, h);
}

static inline void case_smooth_x(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct smooth_x_args a = {
        .width = w, .channels = c->shape.channels, .taps = case_taps(c, MAX_TAPS - 1)};
    a.source = case_bytes(c, w, h, a.channels, 255);
    a.out = case_shorts(c, w, h, a.channels, 65535);
    case_add_pass(c, STAGE_smooth_x, &a, w, h);
}

static inline void case_smooth_y(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct smooth_y_args a = {
        .width = w, .height = h, .channels = c->shape.channels, .taps = case_taps(c, MAX_TAPS - 1)};
    a.source = case_shorts(c, w, h, a.channels, 255 * 256);
    a.out = case_bytes(c, w, h, a.channels, 255);
    case_add_pass(c, STAGE_smooth_y, &a, w, h);
}

static inline void case_sobel(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct sobel_args a = {.width = w, .height = h, .magnitude = case_between(c, 0, 1)};
    a.grey = case_bytes(c, w, h, 1, 255);
    a.out = case_bytes(c, w, h, 1, 255);
    case_add_pass(c, STAGE_sobel, &a, w, h);
}

static inline void case_residual(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct residual_args a = {.width = w};
    a.grey = case_bytes(c, w, h, 1, 255);
    a.smoothed = case_bytes(c, w, h, 1, 255);
    a.out = case_bytes(c, w, h, 1, 255);
    case_add_pass(c, STAGE_residual, &a, w, h);
}

static inline void case_census(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct census_args a = {.width = w, .height = h};
    a.grey = case_bytes(c, w, h, 1, 255);
    a.out = case_add_rows(c, w, h, sizeof(*a.out));
    case_add_pass(c, STAGE_census, &a, w, h);
}

static inline void case_arms(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct arms_args a = {.width = w,
                          .height = h,
                          .channels = c->shape.channels,
                          .longest_x = case_between(c, 1, 63),
                          .longest_y = case_between(c, 0, 63),
                          .step = case_between(c, 5, 40)};
    a.image = case_bytes(c, w, h, a.channels, (uint32_t)case_between(c, 10, 60));
    a.out = case_add_rows(c, w, h, sizeof(*a.out));
    case_add_pass(c, STAGE_arms, &a, w, h);
}

static inline void case_edges(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct edges_args a = {.width = w, .height = h, .channels = c->shape.channels, .step = {4, 20}};
    a.image = case_bytes(c, w, h, a.channels, 40);
    a.out = case_bytes(c, w, h, 1, 255);
    case_add_pass(c, STAGE_edges, &a, w, h);
}

static inline void case_downsample_edges(struct pass_case *c) {
    int w = (c->shape.width + 1) / 2, h = (c->shape.height + 1) / 2;
    struct downsample_edges_args a = {
        .fine_width = c->shape.width, .fine_height = c->shape.height, .width = w};
    a.fine = case_classes(c);
    a.out = case_bytes(c, w, h, 1, 255);
    case_add_pass(c, STAGE_downsample_edges, &a, w, h);
}

/* ---- the cost volume */

static inline struct cost_args case_cost_args(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct cost_args a = {.grid = case_grid(c),
                          .channels = c->shape.channels,
                          .kind = case_between(c, DATA_COST_AD, DATA_COST_AD_CENSUS),
                          .sign = case_between(c, 0, 1) ? 1 : -1,
                          .outside = (uint8_t)case_between(c, 0, MAX_COST)};
    if (case_between(c, 0, 9) == 0) /* all outside */
        a.grid.space.u_min = -2 * w - c->shape.labels;
    int flat = case_between(c, 0, 2) ? COST_LUT - 1 : case_between(c, 1, 200);
    uint8_t *lut = case_randomise(c, case_add_table(c, COST_LUT), 1, MAX_COST / 2);
    memset(lut + flat, lut[flat], (size_t)(COST_LUT - flat)); /* it no longer changes from there */
    if (case_between(c, 0, 5) == 0)
        memset(lut, 0, COST_LUT);
    a.lut = lut;
    a.census_lut = case_randomise(c, case_add_table(c, CENSUS_LUT), 1, MAX_COST / 2);
    if (a.kind != DATA_COST_CENSUS) {
        a.reference = case_bytes(c, w, h, a.channels, 255);
        a.target = case_bytes(c, w, h, a.channels, 255);
    }
    if (a.kind == DATA_COST_CENSUS || a.kind == DATA_COST_AD_CENSUS) { /* 62 bits each */
        a.census_reference = case_randomise(c, case_add_rows(c, w, h, 8), 4, UINT32_MAX >> 2);
        a.census_target = case_randomise(c, case_add_rows(c, w, h, 8), 4, UINT32_MAX >> 2);
    }
    a.cost = case_volume8(c, &a.grid, 255);
    return a;
}

static inline void case_cost(struct pass_case *c) {
    struct cost_args a = case_cost_args(c);
    case_add_pass(c, STAGE_cost, &a, a.grid.width, a.grid.height);
}

static inline void case_border_cost(struct pass_case *c) {
    struct cost_args a = case_cost_args(c);
    case_add_pass(c, STAGE_border_cost, &a, a.grid.width, a.grid.height);
}

static inline void case_smoothed_cost(struct pass_case *c) {
    struct smoothed_cost_args a = {.match = case_cost_args(c), .border = case_between(c, 0, 1)};
    if (!a.match.reference) {
        a.match.reference = case_bytes(c, c->shape.width, c->shape.height, a.match.channels, 255);
        a.match.target = case_bytes(c, c->shape.width, c->shape.height, a.match.channels, 255);
    }
    a.match.census_reference = a.match.census_target = NULL;
    a.taps = case_taps(c, 3);
    case_add_pass(c, STAGE_smoothed_cost, &a, a.match.grid.width, a.match.grid.height);
}

static inline void case_agreements(struct pass_case *c, enum stage last) {
    int w = c->shape.width, h = c->shape.height, channels = c->shape.channels;
    struct agreement_args a = {.grid = case_grid(c), .channels = channels};
    a.census_reference = case_randomise(c, case_add_rows(c, w, h, 8), 4, 15);
    a.census_target = case_randomise(c, case_add_rows(c, w, h, 8), 4, 15);
    a.reference = case_bytes(c, w, h, channels, 40);
    a.target = case_bytes(c, w, h, channels, 40);
    a.counts = case_randomise(c, case_add_table(c, AGREEMENT_BINS * sizeof(*a.counts)), 4, 1000);
    a.strength = case_randomise(c, case_add_table(c, sizeof(*a.strength)), 4, AGREEMENT_ALL);
    case_add_pass(c, STAGE_agreement_start, &a, AGREEMENT_BINS, 1);
    if (last >= STAGE_agreement)
        case_add_pass(c, STAGE_agreement, &a, (w + 7) / 8, (h + 7) / 8);
    if (last >= STAGE_agreement_strength)
        case_add_pass(c, STAGE_agreement_strength, &a, 1, 1);
}

static inline void case_agreement_start(struct pass_case *c) {
    case_agreements(c, STAGE_agreement_start);
}
static inline void case_agreement(struct pass_case *c) {
    case_agreements(c, STAGE_agreement);
}
static inline void case_agreement_strength(struct pass_case *c) {
    case_agreements(c, STAGE_agreement_strength);
}

static inline void case_choose_costs(struct pass_case *c) {
    struct choose_costs_args a = {0};
    a.strength = case_randomise(c, case_add_table(c, sizeof(*a.strength)), 4, AGREEMENT_ALL);
    a.lut = case_randomise(c, case_add_table(c, COST_LUT), 1, MAX_COST);
    a.census_lut = case_randomise(c, case_add_table(c, CENSUS_LUT), 1, MAX_COST);
    a.differing_census_lut = case_randomise(c, case_add_table(c, CENSUS_LUT), 1, MAX_COST);
    a.out = case_randomise(c, case_add_table(c, COST_LUT), 1, 255);
    a.census_out = case_randomise(c, case_add_table(c, CENSUS_LUT), 1, 255);
    case_add_pass(c, STAGE_choose_costs, &a, COST_LUT, 1);
}

static inline struct cost_smooth_args case_cost_smooth_args(struct pass_case *c) {
    struct cost_smooth_args a = {.grid = case_grid(c), .taps = case_taps(c, MAX_TAPS - 1)};
    a.source = case_volume8(c, &a.grid, MAX_COST);
    a.between = case_volume16(c, &a.grid, 256 * MAX_COST);
    a.out = case_volume8(c, &a.grid, 255);
    return a;
}

static inline void case_cost_smooth_x(struct pass_case *c) {
    struct cost_smooth_args a = case_cost_smooth_args(c);
    case_add_pass(c, STAGE_cost_smooth_x, &a, a.grid.width, a.grid.height);
}

static inline void case_cost_smooth_y(struct pass_case *c) {
    struct cost_smooth_args a = case_cost_smooth_args(c);
    case_add_pass(c, STAGE_cost_smooth_y, &a, a.grid.width, a.grid.height);
}

static inline struct cross_args case_cross_args(struct pass_case *c) {
    struct cross_args a = {.grid = case_grid(c)};
    a.longest_x = case_between(c, 0, 3) ? case_between(c, 1, 63) : 63;
    a.longest_y = case_between(c, 0, 3) ? case_between(c, 0, 8) : 63;
    a.arms = case_random_arms(c, a.longest_x, a.longest_y);
    a.source = case_volume8(c, &a.grid, MAX_COST);
    a.between = case_volume16(c, &a.grid, MAX_COST);
    a.out = case_volume8(c, &a.grid, 255);
    return a;
}

static inline void case_cross_x(struct pass_case *c) {
    struct cross_args a = case_cross_args(c);
    case_add_pass(c, STAGE_cross_x, &a, a.grid.width, a.grid.height);
}

/* The pass along columns needs sums that belong to the arms. */
static inline void case_cross_y(struct pass_case *c) {
    struct cross_args a = case_cross_args(c);
    case_add_pass(c, STAGE_cross_x, &a, a.grid.width, a.grid.height);
    case_add_pass(c, STAGE_cross_y, &a, a.grid.width, a.grid.height);
    c->passes[c->pass_count - 1].fenced = true;
}

static inline struct downsample_cost_args case_downsample_args(struct pass_case *c,
                                                               struct grid fine) {
    struct downsample_cost_args a = {.grid = grid_coarser(&fine), .fine = fine};
    a.cost = case_volume16(c, &a.grid, 65535);
    return a;
}

static inline void case_downsample_cost(struct pass_case *c) {
    struct downsample_cost_args a = case_downsample_args(c, case_grid(c));
    if (case_between(c, 0, 1))
        a.fine16 = case_volume16(c, &a.fine, COST_SATURATION);
    else
        a.fine8 = case_volume8(c, &a.fine, MAX_COST);
    case_add_pass(c, STAGE_downsample_cost, &a, a.grid.width, a.grid.height);
}

/* ---- messages and labels */

/* Without active tiles. */
static inline struct message_args case_message_args(struct pass_case *c) {
    struct message_args a = {.grid = case_grid(c), .iteration = case_between(c, 0, 5)};
    if (case_between(c, 0, 1))
        a.cost16 = case_volume16(c, &a.grid, COST_SATURATION);
    else
        a.cost8 = case_volume8(c, &a.grid, MAX_COST);
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = case_volume8(c, &a.grid, MAX_TRUNCATION);
    if (case_between(c, 0, 1))
        a.classes = case_classes(c);
    case_envelopes(c, a.rho, a.truncation);
    return a;
}

/* Some tiles active or all of them, some marked before, some counts. */
static inline void case_active_tiles(struct pass_case *c, struct message_args *a) {
    size_t tiles = (size_t)tile_count(a->grid.width, a->grid.height);
    a->next_active =
        case_randomise(c, case_add_table(c, tiles * sizeof(*a->next_active)), 2, 65535);
    if (case_between(c, 0, 3)) {
        uint16_t *active = case_add_table(c, tiles * sizeof(*active));
        for (size_t i = 0; i < tiles; i++)
            active[i] = (uint16_t)(a->iteration - (draw(&c->random_contents) % 3 == 0));
        a->active = active;
    }
    if (case_between(c, 0, 1))
        a->updates = case_randomise(c, case_add_table(c, 8 * sizeof(*a->updates)), 4, 65535);
    a->threshold = case_between(c, 0, 1) ? case_between(c, 0, 80) : 0;
}

static inline void case_message(struct pass_case *c) {
    struct message_args a = case_message_args(c);
    if (case_between(c, 0, 1))
        case_active_tiles(c, &a);
    case_add_pass(c, STAGE_message, &a, a.grid.half, a.grid.height);
}

static inline void case_zero_messages(struct pass_case *c) {
    struct zero_messages_args a = {.grid = case_grid(c), .parity = case_between(c, 0, 1)};
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = case_volume8(c, &a.grid, MAX_TRUNCATION);
    case_add_pass(c, STAGE_zero_messages, &a, a.grid.half, a.grid.height);
}

static inline void case_upsample_messages(struct pass_case *c) {
    struct upsample_messages_args a = {.grid = case_grid(c), .parity = case_between(c, 0, 1)};
    a.coarse = grid_coarser(&a.grid);
    for (int r = 0; r < DIRECTIONS; r++) {
        a.parent[r] = case_volume8(c, &a.coarse, MAX_TRUNCATION);
        a.message[r] = case_volume8(c, &a.grid, MAX_TRUNCATION);
    }
    case_add_pass(c, STAGE_upsample_messages, &a, a.grid.half, a.grid.height);
}

static inline void case_clear_tiles(struct pass_case *c) {
    int tiles = case_between(c, 1, 200);
    struct clear_tiles_args a = {.update_count = case_between(c, 0, tiles)};
    a.active = case_randomise(c, case_add_table(c, (size_t)tiles * sizeof(*a.active)), 2, 65535);
    if (case_between(c, 0, 1))
        a.updates =
            case_randomise(c, case_add_table(c, (size_t)tiles * sizeof(*a.updates)), 4, 65535);
    case_add_pass(c, STAGE_clear_tiles, &a, tiles, 1);
}

/* Labels of messages in memory. */
static inline struct wta_args case_wta_args(struct pass_case *c, struct grid grid,
                                            const uint8_t *cost,
                                            uint8_t *const message[DIRECTIONS]) {
    int w = grid.width, h = grid.height;
    struct wta_args a = {.grid = grid, .cost = cost, .subpixel = case_between(c, 0, 2)};
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = message[r];
    a.label = case_shorts(c, w, h, 1, 65535);
    a.disparity = (int16_t *)case_shorts(c, w, h, 1, 65535);
    a.confidence = case_bytes(c, w, h, 1, 255);
    return a;
}

static inline void case_winner_takes_all(struct pass_case *c) {
    struct grid grid = case_grid(c);
    const uint8_t *cost = case_volume8(c, &grid, MAX_COST);
    uint32_t maximum = case_between(c, 0, 3) ? MAX_TRUNCATION : 3; /* 3: many ties */
    uint8_t *message[DIRECTIONS];
    for (int r = 0; r < DIRECTIONS; r++)
        message[r] = case_volume8(c, &grid, maximum);
    struct wta_args a = case_wta_args(c, grid, cost, message);
    case_add_pass(c, STAGE_winner_takes_all, &a, grid.width, grid.height);
}

/* V that never falls, for each class, with 0 to all steps before the largest. */
static inline struct smoothing case_smoothing(struct pass_case *c) {
    struct smoothing s = {.grid = case_grid(c), .damping = case_between(c, 0, 3) * 51};
    uint8_t *table = case_add_table(c, 4 * MAX_LABELS);
    for (int i = 0; i < 4; i++) {
        s.largest[i] = (uint8_t)case_between(c, 0, MAX_TRUNCATION);
        s.steps[i] = s.largest[i] ? case_between(c, 0, s.grid.labels - 1) : 0;
        for (int k = 1, v = 0; k < MAX_LABELS; k++) {
            v = stage_min(v + case_between(c, 0, 20), stage_max(s.largest[i] - 1, 0));
            table[i * MAX_LABELS + k] = (uint8_t)(k <= s.steps[i] ? v : s.largest[i]);
        }
        table[i * MAX_LABELS] = 0;
    }
    s.smoothness = table;
    if (case_between(c, 0, 1))
        s.classes = case_classes(c);
    return s;
}

/* Of a volume, or from two pictures. */
static inline struct label_cost case_label_cost(struct pass_case *c, struct grid grid) {
    struct label_cost a = {.grid = grid,
                           .channels = c->shape.channels,
                           .squared = case_between(c, 0, 1),
                           .sign = case_between(c, 0, 1) ? 1 : -1,
                           .border = case_between(c, 0, 1),
                           .outside = (uint16_t)case_value(c, COST_SATURATION)};
    if (case_between(c, 0, 2) == 0) {
        a.volume = case_volume8(c, &grid, MAX_COST);
        return a;
    }
    a.reference = case_bytes(c, grid.width, grid.height, a.channels, 255);
    a.target = case_bytes(c, grid.width, grid.height, a.channels, 255);
    a.lut = case_randomise(c, case_add_table(c, SUM_LUT * sizeof(*a.lut)), 2, COST_SATURATION);
    return a;
}

static inline void case_area_start(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct area_start_args a = {.source = case_label_cost(c, case_grid(c))};
    a.cost = (int16_t *)case_shorts(c, w, h, a.source.grid.padded, COST_SATURATION);
    for (int d = 0; d < DIRECTIONS; d++)
        a.message[d] = case_bytes(c, w, h, a.source.grid.padded, MAX_TRUNCATION);
    case_add_pass(c, STAGE_area_start, &a, w, h);
}

/* Costs or messages of an area as a whole: its rows and columns are written by one thread. */
static inline void *case_area(struct pass_case *c, const struct grid *g, size_t size,
                              uint32_t maximum) {
    size_t labels = (size_t)g->width * (size_t)g->height * (size_t)g->padded;
    return case_randomise(c, case_add_table(c, labels * size), size, maximum);
}

static inline struct area_args case_area_args(struct pass_case *c) {
    struct area_args a = {.smoothing = case_smoothing(c)};
    const struct grid *g = &a.smoothing.grid;
    a.cost = case_area(c, g, sizeof(*a.cost), COST_SATURATION);
    for (int i = 0; i < 2; i++) {
        a.along[i] = case_area(c, g, 1, MAX_TRUNCATION);
        a.across[i] = case_area(c, g, 1, MAX_TRUNCATION);
    }
    return a;
}

static inline void case_rows(struct pass_case *c) {
    struct area_args a = case_area_args(c);
    case_add_pass(c, STAGE_rows, &a, 1, a.smoothing.grid.height);
}

static inline void case_columns(struct pass_case *c) {
    struct area_args a = case_area_args(c);
    case_add_pass(c, STAGE_columns, &a, 1, a.smoothing.grid.width);
}

static inline void case_area_labels(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct area_labels_args a = {.smoothing = case_smoothing(c)};
    uint32_t maximum = case_between(c, 0, 3) ? MAX_TRUNCATION : 3; /* 3: many ties */
    a.cost = (int16_t *)case_shorts(c, w, h, a.smoothing.grid.padded,
                                    maximum == 3 ? 3 : COST_SATURATION);
    for (int d = 0; d < DIRECTIONS; d++)
        a.message[d] = case_bytes(c, w, h, a.smoothing.grid.padded, maximum);
    a.out.label = case_shorts(c, w, h, 1, 65535);
    a.out.disparity = (int16_t *)case_shorts(c, w, h, 1, 65535);
    a.out.confidence = case_bytes(c, w, h, 1, 255);
    a.out.subpixel = case_between(c, 0, 2);
    case_add_pass(c, STAGE_area_labels, &a, w, h);
}

static inline struct tiling case_tiling(struct pass_case *c, const struct grid *g) {
    struct tiling t = {.size = case_between(c, 1, 20)};
    t.columns = (g->width + t.size - 1) / t.size;
    t.rows = (g->height + t.size - 1) / t.size;
    size_t tiles = (size_t)t.columns * (size_t)t.rows;
    size_t border = tiles * (size_t)t.size * (size_t)g->padded;
    for (int d = 0; d < DIRECTIONS; d++)
        t.entering[d] = case_randomise(c, case_add_table(c, border), 1, MAX_TRUNCATION);
    t.changed = case_add_table(c, tiles * TILE_FLAGS);
    for (size_t i = 0; i < tiles * TILE_FLAGS; i++)
        t.changed[i] = draw(&c->random_contents) % 4 == 0;
    return t;
}

static inline void case_tiles_start(struct pass_case *c) {
    struct grid grid = case_grid(c);
    struct tiles_start_args a = {case_tiling(c, &grid), grid.padded};
    case_add_pass(c, STAGE_tiles_start, &a, 1, a.tiling.columns * a.tiling.rows);
}

static inline void case_tiles(struct pass_case *c) {
    struct tiles_args a = {.smoothing = case_smoothing(c), .iterations = case_between(c, 0, 2)};
    const struct grid *g = &a.smoothing.grid;
    size_t pixels = (size_t)g->width * (size_t)g->height;
    a.source = case_label_cost(c, *g);
    a.tiling = case_tiling(c, g);
    a.diagonal = case_between(c, 0, a.tiling.columns + a.tiling.rows - 2);
    a.column = stage_max(0, a.diagonal - a.tiling.rows + 1);
    int count = stage_min(a.diagonal, a.tiling.columns - 1) - a.column + 1;
    a.scratch = case_add_table(c, (size_t)count * tile_bytes(a.tiling.size, g->padded));
    case_compare_only(c, a.scratch, COMPARE_NOTHING);
    a.out.label = case_randomise(c, case_add_table(c, 2 * pixels), 2, 65535);
    a.out.disparity = case_randomise(c, case_add_table(c, 2 * pixels), 2, 65535);
    a.out.confidence = case_randomise(c, case_add_table(c, pixels), 1, 255);
    a.out.subpixel = case_between(c, 0, 2);
    case_add_pass(c, STAGE_tiles, &a, 1, count);
}

static inline void case_best_label(struct pass_case *c) {
    struct best_label_args a = {.grid = case_grid(c), .parity = case_between(c, 0, 1)};
    if (case_between(c, 0, 1))
        a.cost16 = case_volume16(c, &a.grid, COST_SATURATION);
    else
        a.cost8 = case_volume8(c, &a.grid, MAX_COST);
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = case_volume8(c, &a.grid, MAX_TRUNCATION);
    a.label = case_shorts(c, a.grid.width, a.grid.height, 1, 65535);
    case_add_pass(c, STAGE_best_label, &a, a.grid.half, a.grid.height);
}

static inline void case_mask_cost(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct mask_cost_args a = {.grid = case_grid(c),
                               .parity = case_between(c, 0, 1),
                               .level = case_between(c, 0, 3),
                               .sign = case_between(c, 0, 1) ? 1 : -1,
                               .first = case_between(c, 0, 1)};
    a.label = case_shorts(c, w, h, 1, (uint32_t)stage_min(c->shape.labels - 1, 5));
    a.mask = case_bytes(c, w, h, 1, 1);
    if (case_between(c, 0, 1)) {
        a.cost16 = case_volume16(c, &a.grid, COST_SATURATION);
        a.masked16 = case_volume16(c, &a.grid, COST_SATURATION);
    } else {
        a.cost8 = case_volume8(c, &a.grid, MAX_COST);
        a.masked8 = case_volume8(c, &a.grid, MAX_COST);
    }
    case_add_pass(c, STAGE_mask_cost, &a, a.grid.half, a.grid.height);
}

static inline void case_icm(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct icm_args a = {.grid = case_grid(c), .parity = case_between(c, 0, 1)};
    a.cost = case_volume8(c, &a.grid, MAX_COST);
    if (case_between(c, 0, 1))
        a.classes = case_classes(c);
    a.label = case_shorts(c, w, h, 1, (uint32_t)stage_min(c->shape.labels - 1, 3));
    a.disparity = (int16_t *)case_shorts(c, w, h, 1, 65535);
    a.confidence = case_bytes(c, w, h, 1, 255);
    case_envelopes(c, a.rho, a.truncation);
    case_add_pass(c, STAGE_icm, &a, a.grid.half, h);
}

/* ---- blocks */

static inline void case_crop_cost(struct pass_case *c) {
    struct crop_cost_args a = {.source_grid = case_grid(c)};
    a.x = case_between(c, 0, c->shape.width - 1);
    a.y = case_between(c, 0, c->shape.height - 1);
    a.grid = grid_make(case_between(c, 1, c->shape.width - a.x),
                       case_between(c, 1, c->shape.height - a.y), a.source_grid.space);
    a.source = case_volume8(c, &a.source_grid, MAX_COST);
    a.out = case_volume8(c, &a.grid, MAX_COST);
    case_add_pass(c, STAGE_crop_cost, &a, a.grid.width, a.grid.height);
}

static inline void case_copy_map(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct copy_map_args a = {.source_width = w + case_between(c, 0, 9),
                              .out_width = w + case_between(c, 0, 9),
                              .pixel_bytes = case_between(c, 1, 4)};
    a.source = case_bytes(c, a.source_width, h, a.pixel_bytes, 255);
    a.out = case_bytes(c, a.out_width, h, a.pixel_bytes, 255);
    case_add_pass(c, STAGE_copy_map, &a, w, h);
}

static inline void case_label_data_cost(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct label_data_cost_args a = {.grid = case_grid(c)};
    a.cost = case_volume8(c, &a.grid, MAX_COST);
    a.label = case_shorts(c, w, h, 1, (uint32_t)c->shape.labels - 1);
    a.out = case_bytes(c, w, h, 1, 255);
    case_add_pass(c, STAGE_label_data_cost, &a, w, h);
}

/* ---- disparity maps */

static inline void case_check(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, maximum = stage_min(w, c->shape.labels);
    struct check_args a = {.width = w,
                           .range = c->shape.labels,
                           .tolerance = case_between(c, -1, 20) * 8,
                           .min_confidence = case_between(c, 0, 2) * 60};
    a.left = case_disparities(c, maximum);
    if (case_between(c, 0, 1))
        a.right = case_disparities(c, maximum);
    a.confidence = case_bytes(c, w, h, 1, 255);
    a.out = case_disparities(c, 1);
    case_add_pass(c, STAGE_check, &a, w, h);
}

static inline void case_speckles(struct pass_case *c, enum stage last) {
    int w = c->shape.width, h = c->shape.height;
    struct speckle_args a = {.width = w,
                             .height = h,
                             .range = 16 * case_between(c, 1, 30),
                             .size = (uint32_t)case_between(c, 1, 90)};
    a.source = case_disparities(c, stage_min(w, c->shape.labels));
    a.out = case_disparities(c, 1);
    a.parent = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.parent)), 4, UINT32_MAX);
    a.count = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.count)), 4, UINT32_MAX);
    for (int stage = STAGE_speckle_start; stage <= (int)last; stage++)
        case_add_pass(c, (enum stage)stage, &a, w, h);
    if (last >= STAGE_speckle_join) /* the forest's shape is free, its trees are not */
        case_compare_only(c, a.parent, COMPARE_NOTHING);
    if (last == STAGE_speckle_join)
        case_add_pass(c, STAGE_speckle_count, &a, w, h);
}

static inline void case_speckle_start(struct pass_case *c) {
    case_speckles(c, STAGE_speckle_start);
}
static inline void case_speckle_join(struct pass_case *c) {
    case_speckles(c, STAGE_speckle_join);
}
static inline void case_speckle_count(struct pass_case *c) {
    case_speckles(c, STAGE_speckle_count);
}
static inline void case_speckle_drop(struct pass_case *c) {
    case_speckles(c, STAGE_speckle_drop);
}

static inline void case_fill(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, along_columns = case_between(c, 0, 1);
    struct fill_args a = {.width = w, .height = h, .dx = !along_columns, .dy = along_columns};
    a.source = case_disparities(c, stage_min(w, c->shape.labels));
    a.out = case_disparities(c, 1);
    case_add_pass(c, STAGE_fill, &a, w, h);
}

static inline void case_fill_side(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct fill_side_args a = {.width = w, .channels = c->shape.channels};
    a.source = case_disparities(c, stage_min(w, c->shape.labels));
    a.filled = case_disparities(c, stage_min(w, c->shape.labels));
    a.image = case_bytes(c, w, h, a.channels, 255);
    a.out = case_disparities(c, 1);
    case_add_pass(c, STAGE_fill_side, &a, w, h);
}

/* The first known pixel of a row is the farther from the border the lower the row is. */
static inline void case_border_plane(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct border_plane_args a = {.width = w, .height = h};
    int16_t *map = case_add_rows(c, w, h, sizeof(*map));
    for (int i = 0; i < w * h; i++)
        map[i] = (int16_t)(i % w < i / w / 2 || draw(&c->random_contents) % 64 == 0
                               ? UNKNOWN
                               : i % w * 3 - i / w * 2 + (int)case_value(c, 3));
    a.source = map;
    a.out = case_randomise(c, case_add_rows(c, 1, h, sizeof(*a.out)), 4, 1000);
    case_add_pass(c, STAGE_border_plane, &a, 1, h);
}

static inline void case_extend(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct extend_args a = {.width = w, .least = case_between(c, -64, 64)};
    struct border_plane *plane = case_add_rows(c, 1, h, sizeof(*plane));
    a.plane = case_randomise(c, plane, 4, 300);
    a.source = case_disparities(c, stage_min(w, c->shape.labels));
    a.out = case_disparities(c, 1);
    case_add_pass(c, STAGE_extend, &a, w, h);
}

static inline void case_cost_curve(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct cost_curve_args a = {.grid = case_grid(c), .subpixel = case_between(c, 0, 2)};
    a.label = case_shorts(c, w, h, 1, (uint32_t)c->shape.labels - 1);
    a.cost = case_volume8(c, &a.grid, case_between(c, 0, 1) ? MAX_COST : 3);
    a.disparity = case_disparities(c, 1);
    a.rise = case_bytes(c, w, h, 1, 255);
    case_add_pass(c, STAGE_cost_curve, &a, w, h);
}

static inline void case_take_known(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, maximum = stage_min(w, c->shape.labels);
    struct take_known_args a = {.width = w};
    a.source = case_disparities(c, maximum);
    a.values = case_disparities(c, maximum);
    a.out = case_disparities(c, 1);
    case_add_pass(c, STAGE_take_known, &a, w, h);
}

static inline void case_chance(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct chance_args a = {.width = w, .cells = case_between(c, 0, 1)};
    a.source = case_disparities(c, 2);
    a.arms = case_random_arms(c, CHANCE_LENGTH, CHANCE_LENGTH);
    a.margin = case_bytes(c, w, h, 1, 255);
    a.rise = case_bytes(c, w, h, 1, MAX_COST);
    a.out = case_bytes(c, w, h, 1, 255);
    case_add_pass(c, STAGE_chance, &a, w, h);
}

static inline void case_surface(struct pass_case *c, enum stage last) {
    int w = c->shape.width, h = c->shape.height;
    struct surface_args a = {.width = w,
                             .height = h,
                             .longest = case_between(c, 1, MAX_SURFACE_LENGTH),
                             .step = case_between(c, 0, MAX_SURFACE_STEP)};
    a.source = case_disparities(c, case_between(c, 0, 2) ? 2 : stage_min(w, c->shape.labels));
    a.arms = case_random_arms(c, 0, 0);
    a.sums = case_randomise(c, case_add_rows(c, w, h, 2 * sizeof(*a.sums)), 4, UINT32_MAX);
    a.out = case_disparities(c, 1);
    for (int stage = STAGE_surface_arms; stage <= (int)last; stage++)
        case_add_pass(c, (enum stage)stage, &a, w, h);
}

static inline void case_surface_arms(struct pass_case *c) {
    case_surface(c, STAGE_surface_arms);
}
static inline void case_surface_sums(struct pass_case *c) {
    case_surface(c, STAGE_surface_sums);
}
static inline void case_surface_plane(struct pass_case *c) {
    case_surface(c, STAGE_surface_plane);
}

static inline void case_sky_until(struct pass_case *c, enum stage last) {
    int w = c->shape.width, h = c->shape.height;
    struct sky_args a = {.width = w, .height = h, .channels = c->shape.channels};
    a.image = case_bytes(c, w, h, a.channels, case_between(c, 0, 1) ? 255 : SKY_DARKEST + SKY_STEP);
    a.rise = case_bytes(c, w, h, 1, case_between(c, 0, 1) ? MAX_COST : SKY_RISE + 1);
    a.brightness = case_bytes(c, w, h, 1, 255);
    a.parent = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.parent)), 4, UINT32_MAX);
    a.votes = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.votes)), 4, UINT32_MAX);
    a.border = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.border)), 4, UINT32_MAX);
    a.in_region = case_bytes(c, w, h, 1, 1);
    a.source = case_disparities(c, stage_min(w, c->shape.labels));
    a.out = case_disparities(c, 1);
    a.value = case_between(c, 0, 1) ? UNKNOWN : 16 * case_between(c, -3, 3);
    for (int stage = STAGE_sky_start; stage <= (int)last; stage++)
        case_add_pass(c, (enum stage)stage, &a, w, h);
    if (last >= STAGE_sky_join) /* the forest's shape is free, its trees are not */
        case_compare_only(c, a.parent, COMPARE_NOTHING);
    if (last == STAGE_sky_join)
        case_add_pass(c, STAGE_sky_count, &a, w, h);
}

static inline void case_sky_start(struct pass_case *c) {
    case_sky_until(c, STAGE_sky_start);
}
static inline void case_sky_join(struct pass_case *c) {
    case_sky_until(c, STAGE_sky_join);
}
static inline void case_sky_count(struct pass_case *c) {
    case_sky_until(c, STAGE_sky_count);
}
static inline void case_sky_region(struct pass_case *c) {
    case_sky_until(c, STAGE_sky_region);
}
static inline void case_sky(struct pass_case *c) {
    case_sky_until(c, STAGE_sky);
}

/* Weights of colour steps: any, or falling by the same from step to step. */
static inline uint16_t *case_weights(struct pass_case *c) {
    uint16_t *weight = case_randomise(c, case_add_table(c, 256 * sizeof(*weight)), 2, 256);
    int fall = case_between(c, 0, 2) ? case_between(c, 1, 128) : 0;
    for (int i = 0; i < 256 && fall; i++)
        weight[i] = (uint16_t)stage_max(256 - i * fall / 8, 0);
    return weight;
}

static inline void case_median(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct median_args a = {.width = w,
                            .height = h,
                            .channels = c->shape.channels,
                            .radius = case_between(c, 1, 4),
                            .first_row = case_between(c, 0, 1) * (h / 2)};
    a.source = case_disparities(c, stage_min(w, c->shape.labels));
    a.image = case_bytes(c, w, h, a.channels, 255);
    a.weight = case_weights(c);
    a.out = (int16_t *)case_shorts(c, w, h - a.first_row, 1, 65535);
    case_add_pass(c, STAGE_median, &a, w, h - a.first_row);
}

static inline void case_hole_median(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct hole_median_args a = {
        .width = w, .height = h, .channels = c->shape.channels, .radius = case_between(c, 1, 24)};
    a.source = case_disparities(c, stage_min(w, c->shape.labels));
    a.known = case_disparities(c, 1);
    a.image = case_bytes(c, w, h, a.channels, 255);
    a.weight = case_weights(c);
    a.out = case_disparities(c, 1);
    case_add_pass(c, STAGE_hole_median, &a, w, h);
}

static inline void case_temporal(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct temporal_args a = {.width = w, .height = h, .new_share = case_between(c, 0, 256)};
    int changes = case_between(c, 0, 1) ? 255 : 2 * STILL_STEP;
    a.source = case_disparities(c, case_between(c, 1, 3));
    a.confidence = case_bytes(c, w, h, 1, 255);
    a.grey = case_bytes(c, w, h, 1, (uint8_t)changes);
    a.before = case_bytes(c, w, h, 1, (uint8_t)changes);
    a.running = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.running)), 4, 3 * 256);
    a.state = case_bytes(c, w, h, 1, KEPT_FRAMES + 1);
    a.out = case_disparities(c, 1);
    case_add_pass(c, STAGE_temporal, &a, w, h);
}

/* ---- motion */

/* Windows of all shapes, 1 x n and n x 1 too. */
static inline struct grid case_motion_grid(struct pass_case *c) {
    struct label_space space = {.u_min = case_between(c, -9, 3),
                                .u_count = case_between(c, 1, c->shape.labels),
                                .v_min = case_between(c, -9, 3)};
    space.v_count = case_between(c, 1, stage_min(9, MAX_LABELS / space.u_count));
    return grid_make(c->shape.width, c->shape.height, space);
}

/* Of -most to most; unknown: a quarter has no motion. */
static inline struct motion_map case_motion(struct pass_case *c, int w, int h, int most,
                                            bool unknown) {
    struct motion_map map = {case_add_rows(c, w, h, 2), case_add_rows(c, w, h, 2)};
    for (int i = 0; i < w * h; i++) {
        bool known = !unknown || draw(&c->random_contents) % 4;
        map.u[i] = (int16_t)(known ? (int)case_value(c, 2 * (uint32_t)most) - most : UNKNOWN);
        map.v[i] = (int16_t)(known ? (int)case_value(c, 2 * (uint32_t)most) - most : UNKNOWN);
    }
    return map;
}

static inline void case_halve(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct halve_args a = {.source_width = w, .width = (w + 1) / 2, .channels = c->shape.channels};
    a.source = case_bytes(c, w, h, a.channels, 255);
    a.out = case_bytes(c, a.width, (h + 1) / 2, a.channels, 255);
    case_add_pass(c, STAGE_halve, &a, a.width, (h + 1) / 2);
}

static inline void case_motion_centre(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, scale = case_between(c, 1, 2);
    struct motion_centre_args a = {.width = w,
                                   .height = h,
                                   .motion_width = (w + scale - 1) / scale,
                                   .motion_height = (h + scale - 1) / scale,
                                   .scale = scale,
                                   .fraction = 1 << case_between(c, 0, 3)};
    a.reference = case_bytes(c, w, h, 1, 255);
    a.target = case_bytes(c, w, h, 1, 255);
    if (case_between(c, 0, 1))
        a.mask = case_bytes(c, w, h, 1, 255);
    a.motion = case_motion(c, a.motion_width, a.motion_height, 90, false);
    a.centre = case_motion(c, w, h, 1, false);
    case_add_pass(c, STAGE_motion_centre, &a, w, h);
}

static inline void case_motion_cost(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct motion_cost_args a = {.grid = case_motion_grid(c),
                                 .channels = c->shape.channels,
                                 .kind = case_between(c, DATA_COST_AD, DATA_COST_AD_CENSUS),
                                 .fraction = 1 << stage_max(case_between(c, -3, 3), 0),
                                 .border = case_between(c, 0, 1),
                                 .outside = (uint8_t)case_between(c, 0, MAX_COST)};
    /* a block of larger pictures */
    a.left = case_between(c, 0, 3);
    a.top = case_between(c, 0, 3);
    a.width = w + a.left + case_between(c, 0, 3);
    a.height = h + a.top + case_between(c, 0, 3);
    a.lut = case_randomise(c, case_add_table(c, COST_LUT), 1, MAX_COST / 2);
    a.census_lut = case_randomise(c, case_add_table(c, CENSUS_LUT), 1, MAX_COST / 2);
    if (a.kind != DATA_COST_CENSUS || a.fraction > 1) {
        a.reference = case_bytes(c, a.width, a.height, a.channels, 255);
        a.target = case_bytes(c, a.width, a.height, a.channels, 255);
    }
    if (a.fraction == 1 && (a.kind == DATA_COST_CENSUS || a.kind == DATA_COST_AD_CENSUS)) {
        a.census_reference =
            case_randomise(c, case_add_rows(c, a.width, a.height, 8), 4, UINT32_MAX >> 2);
        a.census_target =
            case_randomise(c, case_add_rows(c, a.width, a.height, 8), 4, UINT32_MAX >> 2);
    }
    if (case_between(c, 0, 1))
        a.centre = case_motion(c, w, h, 20, false);
    if (case_between(c, 0, 1))
        a.mask = case_bytes(c, a.width, a.height, 1, 255);
    a.cost = case_volume8(c, &a.grid, 255);
    case_add_pass(c, STAGE_motion_cost, &a, w, h);
}

static inline void case_motion_vote_start(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct motion_carry_args a = {.width = w, .height = h, .pictures = case_between(c, 1, 3)};
    a.motion = case_motion(c, w, h, 90, true);
    a.confidence = case_bytes(c, w, h, 1, case_between(c, 0, 1) ? 255 : 3); /* 3: many ties */
    a.vote = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.vote)), 4, UINT32_MAX);
    a.out = case_motion(c, w, h, 1, false);
    case_add_pass(c, STAGE_motion_vote_start, &a, w, h);
    case_add_pass(c, STAGE_motion_vote, &a, w, h);
    case_add_pass(c, STAGE_motion_take, &a, w, h);
}

static inline void case_motion_vote(struct pass_case *c) {
    case_motion_vote_start(c);
}

static inline void case_motion_take(struct pass_case *c) {
    case_motion_vote_start(c);
}

static inline void case_motion_expect(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct motion_expect_args a = {.grid = case_motion_grid(c),
                                   .left = case_between(c, 0, 3),
                                   .top = case_between(c, 0, 3),
                                   .level = case_between(c, 0, 3),
                                   .fraction = 1 << stage_max(case_between(c, -3, 3), 0),
                                   .slope =
                                       case_between(c, 0, 3) ? case_between(c, 0, 9000) : 65535,
                                   .most = case_between(c, 0, MAX_COST)};
    a.width = w + a.left;
    a.expected_width = (a.width << a.level) - case_between(c, 0, (1 << a.level) - 1);
    a.expected_height = ((h + a.top) << a.level) - case_between(c, 0, (1 << a.level) - 1);
    a.expected = case_motion(c, a.expected_width, a.expected_height, 300, true);
    if (case_between(c, 0, 1))
        a.centre = case_motion(c, w, h, 20, false);
    if (case_between(c, 0, 1))
        a.mask = case_bytes(c, a.width, h + a.top, 1, 255);
    a.cost = case_volume8(c, &a.grid, MAX_COST);
    case_add_pass(c, STAGE_motion_expect, &a, w, h);
}

static inline void case_motion_message(struct pass_case *c) {
    struct motion_message_args a = {
        .base = {.grid = case_motion_grid(c), .iteration = case_between(c, 0, 5)}};
    if (case_between(c, 0, 1))
        a.base.cost16 = case_volume16(c, &a.base.grid, COST_SATURATION);
    else
        a.base.cost8 = case_volume8(c, &a.base.grid, MAX_COST);
    for (int r = 0; r < DIRECTIONS; r++)
        a.base.message[r] = case_volume8(c, &a.base.grid, MAX_TRUNCATION);
    if (case_between(c, 0, 1))
        a.base.classes = case_classes(c);
    case_envelopes(c, a.base.rho, a.base.truncation);
    if (case_between(c, 0, 1))
        a.centre = case_motion(c, c->shape.width, c->shape.height, 5, false);
    if (case_between(c, 0, 1))
        case_active_tiles(c, &a.base);
    case_add_pass(c, STAGE_motion_message, &a, a.base.grid.half, a.base.grid.height);
}

static inline void case_motion_wta(struct pass_case *c) {
    struct grid grid = case_motion_grid(c);
    const uint8_t *cost = case_volume8(c, &grid, MAX_COST);
    uint32_t maximum = case_between(c, 0, 3) ? MAX_TRUNCATION : 3; /* 3: many ties */
    uint8_t *message[DIRECTIONS];
    for (int r = 0; r < DIRECTIONS; r++)
        message[r] = case_volume8(c, &grid, maximum);
    struct motion_wta_args a = {.base = case_wta_args(c, grid, cost, message),
                                .fraction = 1 << case_between(c, 0, 3)};
    a.v = (int16_t *)case_shorts(c, grid.width, grid.height, 1, 65535);
    if (case_between(c, 0, 1))
        a.centre = case_motion(c, grid.width, grid.height, 3000, false);
    case_add_pass(c, STAGE_motion_wta, &a, grid.width, grid.height);
}

static inline void case_motion_check(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct motion_check_args a = {.width = w,
                                  .height = h,
                                  .tolerance = case_between(c, 0, 100),
                                  .min_confidence = case_between(c, 0, 40)};
    a.forward = case_motion(c, w, h, 60, false);
    if (case_between(c, 0, 3))
        a.backward = case_motion(c, w, h, 60, true);
    a.confidence = case_bytes(c, w, h, 1, 255);
    a.out = case_motion(c, w, h, 1, false);
    case_add_pass(c, STAGE_motion_check, &a, w, h);
}

static inline void case_motion_join(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct motion_join_args a = {.width = w, .height = h, .range = case_between(c, 0, 90)};
    struct speckle_args speckle = {.width = w, .height = h};
    a.motion = case_motion(c, w, h, 60, true);
    a.parent = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.parent)), 4, UINT32_MAX);
    speckle.parent = a.parent;
    speckle.count = case_randomise(c, case_add_rows(c, w, h, 4), 4, UINT32_MAX);
    case_add_pass(c, STAGE_speckle_start, &speckle, w, h);
    case_add_pass(c, STAGE_motion_join, &a, w, h);
    case_compare_only(c, a.parent, COMPARE_NOTHING);
    case_add_pass(c, STAGE_speckle_count, &speckle, w, h);
}

static inline void case_motion_fill(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, along_columns = case_between(c, 0, 1);
    struct motion_fill_args a = {
        .width = w, .height = h, .dx = !along_columns, .dy = along_columns};
    a.source = case_motion(c, w, h, 60, true);
    a.out = case_motion(c, w, h, 1, false);
    case_add_pass(c, STAGE_motion_fill, &a, w, h);
}

/* ---- all stages */

typedef void case_maker(struct pass_case *c);

static inline void case_add_stage(struct pass_case *c, enum stage stage) {
    static case_maker *const makers[STAGE_COUNT] = {
#define STAGE_ROW(name, ...) case_##name,
#include "gpu/stages/stages.def"
#undef STAGE_ROW
    };
    makers[stage](c);
}

#endif
