/*
 * The functions of tests/stage_cases.h, one for each stage, called by its name.
 * SPDX-License-Identifier: MIT
 */
#include "tests/stage_cases.h"

#include <math.h>

/* A stage that has the stages before it in a function that ends with the one asked for. */
#define STAGE_UNTIL(name, function)                \
    static void case_##name(struct pass_case *c) { \
        function(c, STAGE_##name);                 \
    }

/* Defines the case of a stage by its extent, the first of its arguments, and a body that fills in
 * the others, in a; pictures have w x h pixels. */
#define UNUSED __attribute__((unused))
#define STAGE_CASE(name, columns, rows, ...)                                     \
    static void fill_##name(struct pass_case *, struct name##_args *, int, int); \
    static void case_##name(struct pass_case *c) {                               \
        UNUSED int w = c->shape.width, h = c->shape.height;                      \
        struct name##_args a = {__VA_ARGS__};                                    \
        fill_##name(c, &a, w, h);                                                \
        case_add_pass(c, STAGE_##name, &a, columns, rows);                       \
    }                                                                            \
    static void fill_##name(struct pass_case *c, struct name##_args *a, UNUSED int w, UNUSED int h)
#define PIXEL_CASE(name, ...) STAGE_CASE(name, w, h, __VA_ARGS__)

/* ---- what several stages take */

struct grid case_grid(struct pass_case *c) {
    struct label_space space = {
        .u_min = case_between(c, -5, 30), .u_count = c->shape.labels, .v_count = 1};
    return grid_make(c->shape.width, c->shape.height, space);
}

struct taps case_taps(struct pass_case *c, int most) {
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
static struct arms *case_arms_of(struct pass_case *c, int w, int h, int longest_x, int longest_y) {
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

static struct arms *case_random_arms(struct pass_case *c, int longest_x, int longest_y) {
    return case_arms_of(c, c->shape.width, c->shape.height, longest_x, longest_y);
}

int16_t *case_disparities(struct pass_case *c, int maximum) {
    int w = c->shape.width, h = c->shape.height;
    int16_t *map = case_add_rows(c, w, h, sizeof(*map));
    for (int i = 0; i < w * h; i++)
        map[i] =
            (int16_t)(draw(&c->random_contents) % 4 ? (int)case_value(c, 16 * (uint32_t)maximum)
                                                    : UNKNOWN);
    return map;
}

uint8_t *case_classes(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    uint8_t *classes = case_add_rows(c, w, h, 1);
    for (int i = 0; i < w * h; i++)
        classes[i] = (uint8_t)draw(&c->random_contents);
    return classes;
}

/* rho and T of the four classes: the extremes, no slope, slopes beyond T, T/rho from 1 to 20. */
static void case_envelopes(struct pass_case *c, uint8_t rho[4], uint8_t truncation[4]) {
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

STAGE_CASE(convert, a.width, a.height, .width = c->shape.width, .height = c->shape.height,
           .format = case_between(c, PICTURE_BGR, PICTURE_YUYV)) {
    if (a->format == PICTURE_NV12 || a->format == PICTURE_YUYV)
        a->width += a->width % 2;
    if (a->format == PICTURE_NV12)
        a->height += a->height % 2;
    size_t row = picture_row((enum picture_format)a->format, a->width);
    a->source =
        case_bytes(c, (int)row, picture_rows((enum picture_format)a->format, a->height), 1, 255);
    a->out = case_bytes(c, a->width, a->height, 3, 255);
}

struct likeness *case_likeness(struct pass_case *c) {
    struct likeness *likeness = case_add_table(c, sizeof(*likeness));
    likeness->difference = (int32_t)case_value(c, AGREEMENT_ALL);
    likeness->smooth_bits = (int32_t)case_value(c, SMOOTH_ALL);
    likeness->noise = (int32_t)case_value(c, 80);
    return likeness;
}

/* Pictures of steps between blocks of 8x8 and some noise: all strengths. */
struct deblock_args case_deblock_args(struct pass_case *c, int w, int h) {
    int channels = c->shape.channels;
    struct deblock_args a = {.width = w, .height = h, .channels = channels};
    uint8_t *source = case_bytes(c, w, h, channels, (uint32_t)case_between(c, 0, 20));
    int step = case_between(c, 0, 12);
    for (int i = 0; i < w * h; i++)
        for (int k = 0; k < channels; k++)
            source[i * channels + k] += (uint8_t)(step * ((i % w / 8 + i / w / 8) % 3));
    a.source = source;
    a.sums = case_randomise(c, case_add_table(c, BLOCK_SUMS * sizeof(*a.sums)), 4,
                            case_between(c, 0, 2) ? 5000 : 0);
    a.out = case_bytes(c, w, h, channels, 255);
    return a;
}

static void case_deblocks(struct pass_case *c, enum stage last) {
    int least = last == STAGE_deblock_sum ? 3 * JPEG_BLOCK : 1; /* px: smaller ones have no sums */
    int w = stage_max(c->shape.width, least), h = stage_max(c->shape.height, least);
    struct deblock_args a = case_deblock_args(c, w, h);
    case_add_pass(c, STAGE_deblock_start, &a, BLOCK_SUMS, 1);
    if (last != STAGE_deblock_start && jpeg_blocks(w) > 0 && jpeg_blocks(h) > 0)
        case_add_pass(c, STAGE_deblock_sum, &a, jpeg_blocks(w), jpeg_blocks(h));
    if (last == STAGE_deblock)
        case_add_pass(c, STAGE_deblock, &a, w, h);
}

STAGE_UNTIL(deblock_start, case_deblocks)
STAGE_UNTIL(deblock_sum, case_deblocks)
STAGE_UNTIL(deblock, case_deblocks)

PIXEL_CASE(remap, .width = w, .channels = c->shape.channels,
           .source_width = w + case_between(c, 0, 2), .source_height = h + case_between(c, 0, 1),
           .row_shift = case_between(c, -40, 40), .samples = case_between(c, 0, 3)) {
    int channels = c->shape.channels;
    a->step = a->samples * case_between(c, 25, 35);
    a->source = case_bytes(c, a->source_width, a->source_height, channels, 255);
    if (case_between(c, 0, 4)) { /* some of it outside the picture */
        struct rectify_point *map = case_add_rows(c, w, h, sizeof(*map));
        for (int i = 0; i < w * h; i++) {
            map[i].x = (int32_t)case_value(c, 32 * (uint32_t)w + 320) - 160;
            map[i].y = (int32_t)case_value(c, 32 * (uint32_t)h + 320) - 160;
        }
        a->map = map;
    }
    if (case_between(c, 0, 2)) { /* without blocks, or with */
        a->with_blocks = case_bytes(c, w, h, channels, 255);
        a->block_sums =
            case_randomise(c, case_add_table(c, BLOCK_SUMS * sizeof(*a->block_sums)), 4, 5000);
    }
    a->out = case_bytes(c, w, h, channels, 255);
}

PIXEL_CASE(hide_unseen, .width = w, .source_width = w, .source_height = h) {
    int what = case_between(c, 1, 3);
    struct rectify_point *map = case_add_rows(c, w, h, sizeof(*map));
    for (int i = 0; i < w * h; i++) {
        map[i].x = (int32_t)case_value(c, 32 * (uint32_t)w + 320) - 160;
        map[i].y = (int32_t)case_value(c, 32 * (uint32_t)h + 320) - 160;
    }
    a->map = map;
    if (what & 1) {
        a->source = case_disparities(c, 60);
        a->out = case_disparities(c, 60);
    }
    if (what & 2) {
        a->confidence = case_bytes(c, w, h, 1, 255);
        a->confidence_out = case_bytes(c, w, h, 1, 255);
    }
}

PIXEL_CASE(grey, .width = w, .channels = c->shape.channels) {
    a->source = case_bytes(c, w, h, a->channels, 255);
    a->out = case_bytes(c, w, h, 1, 255);
}

PIXEL_CASE(smooth_x, .width = w, .channels = c->shape.channels,
           .taps = case_taps(c, MAX_TAPS - 1)) {
    a->source = case_bytes(c, w, h, a->channels, 255);
    a->out = case_shorts(c, w, h, a->channels, 65535);
}

PIXEL_CASE(smooth_y, .width = w, .height = h, .channels = c->shape.channels,
           .taps = case_taps(c, MAX_TAPS - 1)) {
    a->source = case_shorts(c, w, h, a->channels, 255 * 256);
    a->out = case_bytes(c, w, h, a->channels, 255);
}

PIXEL_CASE(sobel, .width = w, .height = h) {
    a->grey = case_bytes(c, w, h, 1, 255);
    a->out = case_bytes(c, w, h, 1, 255);
}

PIXEL_CASE(residual, .width = w) {
    a->grey = case_bytes(c, w, h, 1, 255);
    a->smoothed = case_bytes(c, w, h, 1, 255);
    a->out = case_bytes(c, w, h, 1, 255);
}

PIXEL_CASE(census, .width = w, .height = h, .offsets = case_between(c, 0, 2)) {
    int32_t *offset = case_add_table(c, 2 * sizeof(*offset));
    a->offset = a->offsets ? case_randomise(c, offset, 4, case_between(c, 0, 1)) : NULL;
    a->grey = case_bytes(c, w, h, 1, 255);
    a->out = case_add_rows(c, w, h, sizeof(*a->out));
}

struct feature_args case_layer(struct pass_case *c, const int kind[3], int w, int h) {
    struct feature_args a = {.width = w,
                             .height = h,
                             .inputs = kind[0],
                             .outputs = kind[1],
                             .stride = kind[2],
                             .shift = case_between(c, 0, 1) ? case_between(c, 4, 10)
                                                            : case_between(c, 0, 24)};
    int groups = (a.inputs + FEATURE_GROUP - 1) / FEATURE_GROUP,
        words_of_weights = FEATURE_TAPS * groups * a.outputs;
    int32_t *bias = case_add_table(c, (size_t)a.outputs * sizeof(*bias));
    int8_t *weights = case_add_table(c, (size_t)words_of_weights * FEATURE_GROUP);
    for (int o = 0; o < a.outputs; o++)
        bias[o] = (int32_t)case_value(c, 200000) - 100000;
    for (int i = 0; i < words_of_weights * FEATURE_GROUP; i++)
        weights[i] = (int8_t)(i % FEATURE_GROUP < a.inputs ? (int)case_value(c, 254) - 127 : 0);
    a.bias = bias;
    a.weights = weights;
    return a;
}

/* The layers of the descriptor and of the refinement; the first one is the descriptor's last. */
static void case_feature(struct pass_case *c, enum stage stage) {
    enum { JOINED = 15 };
    static const int kinds[][3] = {{64, 64, 1}, {1, 64, 1},   {32, 32, 1}, {32, 16, 1},
                                   {64, 32, 1}, {192, 64, 1}, {64, 64, 2}, {64, 96, 2},
                                   {96, 96, 1}, {96, 96, 2},  {96, 64, 1}, {192, 16, 1},
                                   {32, 32, 2}, {16, 16, 1},  {16, 32, 2}, [JOINED] = {64, 32, 1}};
    int w = c->shape.width, h = c->shape.height,
        kind = stage == STAGE_feature_vector ? 0 : case_between(c, 0, JOINED);
    struct feature_args a = case_layer(c, kinds[kind], w, h);
    int half_w = (w + 1) / 2, half_h = (h + 1) / 2;
    a.source = kind == JOINED
                   ? case_bytes(c, half_w, half_h, 4 * FEATURE_JOINED, FEATURE_LARGEST)
                   : case_bytes(c, w, h, a.inputs, a.inputs == 1 ? 255 : FEATURE_LARGEST);
    if (kind == JOINED)
        a.joined = case_bytes(c, half_w, half_h, 4 * 48, FEATURE_LARGEST);
    else if (stage == STAGE_feature_layer && a.stride == 1 && a.inputs > 1 && a.inputs < 192 &&
             case_between(c, 0, 2) == 0)
        a.coarse = case_bytes(c, half_w, half_h, a.inputs, FEATURE_LARGEST);
    if (a.stride == 2) {
        w = half_w;
        h = half_h;
    }
    a.out = case_bytes(c, w, h, a.outputs, 255);
    case_add_pass(c, stage, &a, w, h);
}

STAGE_UNTIL(feature_layer, case_feature)
STAGE_UNTIL(feature_vector, case_feature)

PIXEL_CASE(arms, .width = w, .height = h, .channels = c->shape.channels,
           .longest_x = case_between(c, 1, 63), .longest_y = case_between(c, 0, 63),
           .step = case_between(c, 5, 40)) {
    int brightest = case_between(c, 0, 3) ? case_between(c, 10, 60) : 255;
    a->image = case_bytes(c, w, h, a->channels, (uint32_t)brightest);
    if (case_between(c, 0, 1))
        a->likeness = case_likeness(c);
    a->out = case_add_rows(c, w, h, sizeof(*a->out));
}

PIXEL_CASE(edges, .width = w, .height = h, .channels = c->shape.channels, .step = {4, 20}) {
    a->image = case_bytes(c, w, h, a->channels, 40);
    a->out = case_bytes(c, w, h, 1, 255);
}

static void case_downsample_edges(struct pass_case *c) {
    int w = (c->shape.width + 1) / 2, h = (c->shape.height + 1) / 2;
    struct downsample_edges_args a = {
        .fine_width = c->shape.width, .fine_height = c->shape.height, .width = w};
    a.fine = case_classes(c);
    a.out = case_bytes(c, w, h, 1, 255);
    case_add_pass(c, STAGE_downsample_edges, &a, w, h);
}

/* ---- the cost volume */

/* Census of 62 bits, or vectors of random length. */
static const uint64_t *case_descriptors(struct pass_case *c, int w, int h, int words) {
    if (words == 1)
        return case_randomise(c, case_add_rows(c, w, h, 8), 4, UINT32_MAX >> 2);
    int8_t *numbers = case_add_rows(c, w, h, FEATURE_CHANNELS);
    for (int i = 0; i < w * h * FEATURE_CHANNELS; i++)
        numbers[i] =
            (int8_t)((int)case_value(c, 2 * FEATURE_VECTOR_LARGEST) - FEATURE_VECTOR_LARGEST);
    return (const uint64_t *)(const void *)numbers;
}

struct cost_args case_cost_args(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct cost_args a = {.grid = case_grid(c),
                          .channels = c->shape.channels,
                          .kind = case_between(c, DATA_COST_AD, DATA_COST_AD_CENSUS),
                          .sign = case_between(c, 0, 1) ? 1 : -1,
                          .border = case_between(c, 0, 1),
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
    a.words = case_between(c, 0, 1) ? VECTOR_WORDS : 1;
    if (a.kind == DATA_COST_CENSUS || a.kind == DATA_COST_AD_CENSUS) {
        a.descriptor_reference = case_descriptors(c, w, h, a.words);
        a.descriptor_target = case_descriptors(c, w, h, a.words);
    }
    if (a.kind == DATA_COST_AD_CENSUS && a.words == 1 && case_between(c, 0, 1)) {
        a.steady = case_randomise(c, case_add_rows(c, w, h, 8), 4, UINT32_MAX - 1);
        a.slack = case_bytes(c, w, h, 1, SLACK_MAX);
        struct likeness *likeness = case_likeness(c);
        likeness->difference *= case_between(c, 0, 1);
        a.likeness = likeness;
    }
    a.cost = case_volume8(c, &a.grid, 255);
    return a;
}

static void case_costs(struct pass_case *c, enum stage stage) {
    struct cost_args a = case_cost_args(c);
    case_add_pass(c, stage, &a, a.grid.width, a.grid.height);
}

STAGE_UNTIL(cost, case_costs)

/* Of one pixel at least. */
static uint8_t *case_places(struct pass_case *c) {
    int places = agreement_columns(c->shape.width) * agreement_columns(c->shape.height);
    return case_randomise(c, case_add_table(c, (size_t)stage_max(places, 1)), 1, SEVERAL_PLACES);
}

static void case_agreements(struct pass_case *c, enum stage last) {
    int w = c->shape.width, h = c->shape.height, channels = c->shape.channels;
    struct agreement_args a = {.grid = case_grid(c), .channels = channels};
    a.census_reference = case_randomise(c, case_add_rows(c, w, h, 8), 4, 15);
    a.census_target = case_randomise(c, case_add_rows(c, w, h, 8), 4, 15);
    a.reference = case_bytes(c, w, h, channels, 40);
    a.target = case_bytes(c, w, h, channels, 40);
    a.grey = case_bytes(c, w, h, 1, 255);
    a.counts = case_randomise(c, case_add_table(c, AGREEMENT_COUNTS * sizeof(*a.counts)), 4, 1000);
    a.likeness = case_likeness(c);
    a.places = case_places(c);
    if (case_between(c, 0, 1))
        a.block_sums = case_randomise(c, case_add_table(c, BLOCK_SUMS * sizeof(uint32_t)), 4, 9999);
    a.source_width = w;
    a.source_height = h;
    case_add_pass(c, STAGE_agreement_start, &a, AGREEMENT_COUNTS, 1);
    if (last >= STAGE_agreement)
        case_add_pass(c, STAGE_agreement, &a, (w + 7) / 8, (h + 7) / 8);
    if (last >= STAGE_agreement_strength)
        case_add_pass(c, STAGE_agreement_strength, &a, 1, 1);
}

STAGE_UNTIL(agreement_start, case_agreements)
STAGE_UNTIL(agreement, case_agreements)
STAGE_UNTIL(agreement_strength, case_agreements)

static void case_row_offsets(struct pass_case *c, enum stage last) {
    int w = c->shape.width, h = c->shape.height;
    struct row_offset_args a = {.grid = case_grid(c)};
    a.census_reference = case_randomise(c, case_add_rows(c, w, h, 8), 4, 15);
    a.census_target = case_randomise(c, case_add_rows(c, w, h, 8), 4, 15);
    a.sums = case_randomise(c, case_add_table(c, ROW_SUMS * sizeof(*a.sums)), 4, 5000);
    a.offset = case_randomise(c, case_add_table(c, ROW_CELLS * ROW_CELLS * sizeof(*a.offset)), 4,
                              2 * ROW_ONE);
    if (last != STAGE_row_offset_find)
        case_add_pass(c, STAGE_row_offset_start, &a, ROW_SUMS, 1);
    if (last == STAGE_row_offset_sum)
        case_add_pass(c, STAGE_row_offset_sum, &a, (w + ROW_STEP - 1) / ROW_STEP,
                      (h + ROW_STEP - 1) / ROW_STEP * ROW_TRIED);
    if (last == STAGE_row_offset_find)
        case_add_pass(c, STAGE_row_offset_find, &a, ROW_CELLS * ROW_CELLS, 1);
}

STAGE_UNTIL(row_offset_start, case_row_offsets)
STAGE_UNTIL(row_offset_sum, case_row_offsets)
STAGE_UNTIL(row_offset_find, case_row_offsets)

struct move_rows_args case_move_rows_args(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, channels = c->shape.channels;
    struct move_rows_args a = {.width = w, .height = h, .channels = channels};
    uint32_t most = case_between(c, 0, 2) ? 2 * ROW_ONE : 0;
    uint32_t *offset =
        case_randomise(c, case_add_table(c, ROW_CELLS * ROW_CELLS * sizeof(*offset)), 4, 2 * most);
    for (int i = 0; i < ROW_CELLS * ROW_CELLS; i++)
        offset[i] -= most;
    a.source = case_bytes(c, w, h, channels, 255);
    a.offset = (const int32_t *)offset;
    a.out = case_bytes(c, w, h, channels, 255);
    return a;
}

static void case_move_rows(struct pass_case *c) {
    struct move_rows_args a = case_move_rows_args(c);
    case_add_pass(c, STAGE_move_rows, &a, a.width, a.height);
}

PIXEL_CASE(mix_census, .width = w, .likeness = case_likeness(c)) {
    a->census = case_randomise(c, case_add_rows(c, w, h, 8), 4, UINT32_MAX - 1);
    a->smoothed = case_randomise(c, case_add_rows(c, w, h, 8), 4, UINT32_MAX - 1);
}

static void case_steady_bits(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct steady_bits_args a = {.width = w, .height = h, .channels = c->shape.channels};
    a.grey = case_bytes(c, w, h, 1, case_between(c, 0, 1) ? 255 : 30);
    a.picture = case_bytes(c, w, h, a.channels, case_between(c, 0, 1) ? 255 : 30);
    a.slack = case_bytes(c, w, h, 1, 255);
    a.out = case_randomise(c, case_add_rows(c, w, h, 8), 4, UINT32_MAX - 1);
    case_add_pass(c, STAGE_steady_bits, &a, w, h);
}

STAGE_CASE(choose_costs, COST_LUT, 1, 0) {
    a->likeness = case_likeness(c);
    a->lut = case_randomise(c, case_add_table(c, COST_LUT), 1, MAX_COST);
    a->census_lut = case_randomise(c, case_add_table(c, CENSUS_LUT), 1, MAX_COST);
    a->differing_census_lut = case_randomise(c, case_add_table(c, CENSUS_LUT), 1, MAX_COST);
    a->out = case_randomise(c, case_add_table(c, COST_LUT), 1, 255);
    a->census_out = case_randomise(c, case_add_table(c, CENSUS_LUT), 1, 255);
}

struct cross_args case_cross_args(struct pass_case *c) {
    struct cross_args a = {.grid = case_grid(c)};
    a.longest_x = case_between(c, 0, 3) ? case_between(c, 1, 63) : 63;
    a.longest_y = case_between(c, 0, 3) ? case_between(c, 0, 8) : 63;
    a.arms = case_random_arms(c, a.longest_x, a.longest_y);
    a.source = case_volume8(c, &a.grid, MAX_COST);
    a.between = case_volume16(c, &a.grid, MAX_COST);
    a.out = case_volume8(c, &a.grid, 255);
    return a;
}

/* The pass along columns needs sums that belong to the arms. */
static void case_cross(struct pass_case *c, enum stage last) {
    struct cross_args a = case_cross_args(c);
    case_add_pass(c, STAGE_cross_x, &a, a.grid.width, a.grid.height);
    if (last == STAGE_cross_y)
        case_add_pass(c, STAGE_cross_y, &a, a.grid.width, a.grid.height);
}

STAGE_UNTIL(cross_x, case_cross)
STAGE_UNTIL(cross_y, case_cross)

struct downsample_cost_args case_downsample_args(struct pass_case *c, struct grid fine,
                                                 int levels) {
    struct downsample_cost_args a = {.grid = grid_coarser(&fine), .fine = fine, .levels = levels};
    if (levels > 1)
        a.grid = grid_coarser(&a.grid);
    a.cost = case_volume16(c, &a.grid, 65535);
    return a;
}

static void case_downsample_cost(struct pass_case *c) {
    struct downsample_cost_args a = case_downsample_args(c, case_grid(c), case_between(c, 1, 2));
    if (a.levels == 1 && case_between(c, 0, 1))
        a.fine16 = case_volume16(c, &a.fine, COST_SATURATION);
    else
        a.fine8 = case_volume8(c, &a.fine, MAX_COST);
    case_add_pass(c, STAGE_downsample_cost, &a, a.grid.width, a.grid.height);
}

void case_cross_nodes(struct pass_case *c) {
    struct cross_nodes_args a = {.grid = case_grid(c), .level = case_between(c, 1, 2)};
    a.width = stage_max((a.grid.width << a.level) - case_between(c, 0, (1 << a.level) - 1), 1);
    a.height = stage_max((a.grid.height << a.level) - case_between(c, 0, (1 << a.level) - 1), 1);
    a.arms_width = a.width + case_between(c, 0, 3);
    a.arms = case_arms_of(c, a.arms_width, a.height, 63, 0);
    a.source = case_volume16(c, &a.grid, (uint32_t)MAX_COST << 2 * a.level);
    a.out = case_volume16(c, &a.grid, 65535);
    case_add_pass(c, STAGE_cross_nodes, &a, a.grid.width, a.grid.height);
}

static struct evidence_args case_evidence_args(struct pass_case *c, struct grid grid) {
    struct evidence_args a = {.grid = grid, .sign = case_between(c, 0, 1) ? 1 : -1};
    a.first = case_between(c, 0, 2) << PRUNED_LEVELS;
    a.width = a.first + (a.grid.width << PRUNED_LEVELS) - case_between(c, 0, 3);
    a.width += case_between(c, 0, 1) ? case_between(c, 0, 40) : 0;
    a.source = case_volume16(c, &a.grid, case_between(c, 0, 1) ? 16 * MAX_COST : 300);
    a.bare_weight = case_between(c, 0, 256);
    a.least_mean = case_between(c, 0, 600);
    a.averaged = case_between(c, 0, 1);
    return a;
}

static struct node_match *case_matches(struct pass_case *c, const struct grid *g) {
    struct node_match *match = case_add_rows(c, g->width, g->height, sizeof(*match));
    case_randomise(c, match, sizeof(uint16_t), 40);
    for (int i = 0; i < g->width * g->height; i++) {
        match[i].depth = (uint16_t)(40 * match[i].depth);
        match[i].lead = (uint16_t)(4 * match[i].lead);
        match[i].label = match[i].label == 40 ? NO_MATCH : match[i].label % g->labels;
    }
    return match;
}

static uint64_t *case_ground(struct pass_case *c, const struct grid *g) {
    uint64_t *ground = case_add_table(c, sizeof(*ground));
    *ground = (uint64_t)case_between(c, 0, g->width * g->height) << 32 |
              (uint64_t)case_between(c, 0, g->height - 1) << 16 |
              (uint64_t)case_between(c, 0, g->labels);
    return ground;
}

void case_node_match(struct pass_case *c) {
    struct evidence_args a = case_evidence_args(c, case_grid(c));
    a.match = case_matches(c, &a.grid);
    if (case_between(c, 0, 1))
        a.ground = case_ground(c, &a.grid);
    case_add_pass(c, STAGE_node_match, &a, a.grid.width, a.grid.height);
}

static void case_ground_line(struct pass_case *c) {
    struct grid g = case_grid(c);
    struct evidence_args a =
        case_evidence_args(c, grid_make(g.width + EVIDENCE_NODES, g.height, g.space));
    a.match = case_matches(c, &a.grid);
    a.ground = case_randomise(c, case_add_table(c, sizeof(*a.ground)), 4, 99);
    case_add_pass(c, STAGE_ground_line, &a, g.labels, g.height);
}

void case_evidence(struct pass_case *c) {
    struct evidence_args a = case_evidence_args(c, case_grid(c));
    a.match = case_matches(c, &a.grid);
    a.out = case_volume16(c, &a.grid, 65535);
    if (case_between(c, 0, 1)) {
        struct likeness *likeness = case_add_table(c, sizeof(*likeness));
        likeness->noise = case_between(c, 0, 15);
        a.likeness = likeness;
    }
    if (case_between(c, 0, 1))
        a.ground = case_ground(c, &a.grid);
    if (case_between(c, 0, 1))
        a.doubts = case_bytes(c, a.grid.width, a.grid.height, 1, 255);
    case_add_pass(c, STAGE_evidence, &a, a.grid.width, a.grid.height);
}

/* ---- messages and labels */

/* Of -most to most; unknown: a quarter has no motion. */
static struct motion_map case_motion(struct pass_case *c, int w, int h, int most, bool unknown) {
    struct motion_map map = {case_add_rows(c, w, h, 2), case_add_rows(c, w, h, 2)};
    for (int i = 0; i < w * h; i++) {
        bool known = !unknown || draw(&c->random_contents) % 4;
        map.u[i] = (int16_t)(known ? (int)case_value(c, 2 * (uint32_t)most) - most : UNKNOWN);
        map.v[i] = (int16_t)(known ? (int)case_value(c, 2 * (uint32_t)most) - most : UNKNOWN);
    }
    return map;
}

/* Windows of all shapes, 1 x n and n x 1 too. */
static struct grid case_motion_grid(struct pass_case *c) {
    struct label_space space = {.u_min = case_between(c, -9, 3),
                                .u_count = case_between(c, 1, c->shape.labels),
                                .v_min = case_between(c, -9, 3)};
    space.v_count = case_between(c, 1, stage_min(9, MAX_LABELS / space.u_count));
    return grid_make(c->shape.width, c->shape.height, space);
}

static struct message_args case_message_args_of(struct pass_case *c, struct grid grid) {
    struct message_args a = {.grid = grid, .iteration = case_between(c, 0, 5)};
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

struct message_args case_message_args(struct pass_case *c) {
    return case_message_args_of(c, case_grid(c));
}

void case_active_tiles(struct pass_case *c, struct message_args *a) {
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

static void case_message(struct pass_case *c) {
    bool windows = case_between(c, 0, 1);
    struct message_args a =
        windows ? case_message_args_of(c, case_motion_grid(c)) : case_message_args(c);
    a.windows = windows;
    if (windows && case_between(c, 0, 1))
        a.centre = case_motion(c, c->shape.width, c->shape.height, 5, false);
    if (case_between(c, 0, 1))
        case_active_tiles(c, &a);
    case_add_pass(c, STAGE_message, &a, a.grid.half, a.grid.height);
}

STAGE_CASE(start_messages, a.grid.half, a.grid.height, .grid = case_grid(c),
           .parity = case_between(c, 0, 1)) {
    bool from_above = case_between(c, 0, 1);
    if (from_above)
        a->coarse = grid_coarser(&a->grid);
    for (int r = 0; r < DIRECTIONS; r++) {
        if (from_above)
            a->parent[r] = case_volume8(c, &a->coarse, MAX_TRUNCATION);
        a->message[r] = case_volume8(c, &a->grid, MAX_TRUNCATION);
    }
}

static void case_clear_tiles(struct pass_case *c) {
    int tiles = case_between(c, 1, 200);
    struct clear_tiles_args a = {.update_count = case_between(c, 0, tiles)};
    a.active = case_randomise(c, case_add_table(c, (size_t)tiles * sizeof(*a.active)), 2, 65535);
    if (case_between(c, 0, 1))
        a.updates =
            case_randomise(c, case_add_table(c, (size_t)tiles * sizeof(*a.updates)), 4, 65535);
    case_add_pass(c, STAGE_clear_tiles, &a, tiles, 1);
}

struct wta_args case_wta_args(struct pass_case *c, struct grid grid, const uint8_t *cost,
                              uint8_t *const message[DIRECTIONS]) {
    int w = grid.width, h = grid.height;
    struct wta_args a = {
        .grid = grid, .cost = cost, .subpixel = case_between(c, 0, 2), .fraction = 1};
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = message[r];
    a.label = case_shorts(c, w, h, 1, 65535);
    a.disparity = (int16_t *)case_shorts(c, w, h, 1, 65535);
    a.confidence = case_bytes(c, w, h, 1, 255);
    return a;
}

static void case_winner_takes_all(struct pass_case *c) {
    bool windows = case_between(c, 0, 1);
    struct grid grid = windows ? case_motion_grid(c) : case_grid(c);
    const uint8_t *cost = case_volume8(c, &grid, MAX_COST);
    uint32_t maximum = case_between(c, 0, 3) ? MAX_TRUNCATION : 3; /* 3: many ties */
    uint8_t *message[DIRECTIONS];
    for (int r = 0; r < DIRECTIONS; r++)
        message[r] = case_volume8(c, &grid, maximum);
    struct wta_args a = case_wta_args(c, grid, cost, message);
    if (windows) {
        a.fraction = 1 << case_between(c, 0, 3);
        a.v = (int16_t *)case_shorts(c, grid.width, grid.height, 1, 65535);
        if (case_between(c, 0, 1))
            a.centre = case_motion(c, grid.width, grid.height, 3000, false);
    }
    case_add_pass(c, STAGE_winner_takes_all, &a, grid.width, grid.height);
}

/* ---- pruned labels */

void case_prune(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, rows = (h + 1) / 2;
    struct prune_args a = {.width = w,
                           .height = h,
                           .labels = c->shape.labels,
                           .columns = (w + 1) / 2,
                           .count = case_between(c, 1, KEPT_MOST)};
    a.label = case_shorts(c, w, h, 1, (uint32_t)case_between(c, 0, a.labels - 1));
    a.kept = case_randomise(c, case_add_rows(c, a.columns, rows, KEPT_MOST), 1, 255);
    case_add_pass(c, STAGE_prune, &a, a.columns, rows);
}

/* Different blocks in ascending order, count at most. */
static void case_kept_tile(struct pass_case *c, const struct grid *g, int count, uint8_t *kept) {
    int blocks = g->padded / LABEL_BLOCK, n = case_between(c, 1, stage_min(count, blocks));
    int span = case_between(c, 0, 1) ? stage_min(n + 1, blocks) : blocks; /* few gaps or many */
    int first = case_between(c, 0, blocks - span), taken = 0;
    for (int block = first; taken < n; block++)
        if (case_between(c, 1, first + span - block) <= n - taken)
            kept[taken++] = (uint8_t)block;
    memset(kept + n, NOT_KEPT, (size_t)(KEPT_MOST - n));
}

struct pruning case_pruning_of(struct pass_case *c, const struct grid *g, int tile, int count) {
    struct pruning p = {.tile = tile};
    p.columns = (g->width + p.tile - 1) / p.tile + case_between(c, 0, 1);
    int tiles = p.columns * ((g->height + p.tile - 1) / p.tile);
    uint8_t *kept = case_add_table(c, (size_t)tiles * KEPT_MOST);
    for (int i = 0; i < tiles; i++)
        if (i > 0 && case_between(c, 0, 2) == 0)
            memcpy(kept + KEPT_MOST * i, kept + KEPT_MOST * (i - 1), KEPT_MOST);
        else
            case_kept_tile(c, g, count, kept + KEPT_MOST * i);
    p.kept = kept;
    return p;
}

static struct pruning case_pruning(struct pass_case *c, const struct grid *g, int count) {
    return case_pruning_of(c, g, PRUNING_TILE >> case_between(c, 0, PRUNED_LEVELS - 1), count);
}

uint8_t *case_pruned_volume(struct pass_case *c, const struct grid *g, int blocks,
                            uint32_t maximum) {
    return case_randomise(c, case_add_pruned(c, g, blocks, 1), 1, maximum);
}

static uint16_t *case_pruned_volume16(struct pass_case *c, const struct grid *g, int blocks,
                                      uint32_t maximum) {
    return case_randomise(c, case_add_pruned(c, g, blocks, 2), 2, maximum);
}

struct pruned_cost_args case_pruned_cost_args(struct pass_case *c, int blocks) {
    struct pruned_cost_args a = {.grid = case_grid(c)};
    a.source = case_volume8(c, &a.grid, MAX_COST);
    a.pruning = case_pruning_of(c, &a.grid, PRUNING_TILE, blocks);
    a.out = case_pruned_volume(c, &a.grid, blocks, 255);
    return a;
}

struct pruned_downsample_args case_pruned_downsample_args(struct pass_case *c, struct grid fine,
                                                          struct pruning pruning,
                                                          const uint8_t *cost, int blocks) {
    struct pruned_downsample_args a = {
        .grid = grid_coarser(&fine), .fine = fine, .pruning = pruning, .cost = cost};
    a.pruning.tile = PRUNING_TILE / 2;
    a.out = case_pruned_volume16(c, &a.grid, blocks, 65535);
    return a;
}

static void case_pruned_cost(struct pass_case *c) {
    struct pruned_cost_args a = case_pruned_cost_args(c, case_between(c, 1, KEPT_MOST));
    case_add_pass(c, STAGE_pruned_cost, &a, a.grid.width, a.grid.height);
}

static void case_pruned_downsample(struct pass_case *c) {
    int blocks = case_between(c, 1, KEPT_MOST);
    struct grid fine = case_grid(c);
    const uint8_t *cost = case_pruned_volume(c, &fine, blocks, MAX_COST);
    struct pruned_downsample_args a = case_pruned_downsample_args(
        c, fine, case_pruning_of(c, &fine, PRUNING_TILE, blocks), cost, blocks);
    case_add_pass(c, STAGE_pruned_downsample, &a, a.grid.width, a.grid.height);
}

/* Smoothness must not reach from a block to one that is apart from it. */
static void case_prunable(const uint8_t rho[4], uint8_t truncation[4]) {
    for (int i = 0; i < 4; i++)
        truncation[i] = (uint8_t)stage_min(truncation[i], PRUNING_APART * rho[i]);
}

struct pruned_start_args case_pruned_start_args(struct pass_case *c, struct grid grid,
                                                struct pruning pruning, int blocks,
                                                uint8_t *const message[DIRECTIONS]) {
    struct pruned_start_args a = {.grid = grid,
                                  .coarse = grid_coarser(&grid),
                                  .pruning = pruning,
                                  .parity = case_between(c, 0, 1),
                                  .from_pruned = case_between(c, 0, 1)};
    for (int r = 0; r < DIRECTIONS; r++) {
        a.message[r] = message[r];
        a.parent[r] = a.from_pruned ? case_pruned_volume(c, &a.coarse, blocks, MAX_TRUNCATION)
                                    : case_volume8(c, &a.coarse, MAX_TRUNCATION);
    }
    return a;
}

struct pruned_message_args case_pruned_message_args(struct pass_case *c, int blocks) {
    struct pruned_message_args a = {.grid = case_grid(c), .iteration = case_between(c, 0, 5)};
    if (case_between(c, 0, 1))
        a.cost16 = case_pruned_volume16(c, &a.grid, blocks, COST_SATURATION);
    else
        a.cost8 = case_pruned_volume(c, &a.grid, blocks, MAX_COST);
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = case_pruned_volume(c, &a.grid, blocks, MAX_TRUNCATION);
    if (case_between(c, 0, 1))
        a.classes = case_classes(c);
    a.pruning = case_pruning(c, &a.grid, blocks);
    case_envelopes(c, a.rho, a.truncation);
    case_prunable(a.rho, a.truncation);
    return a;
}

struct pruned_wta_args case_pruned_wta_args(struct pass_case *c,
                                            const struct pruned_message_args *m,
                                            const uint8_t *cost) {
    int w = m->grid.width, h = m->grid.height;
    struct pruned_wta_args a = {.grid = m->grid,
                                .cost = cost,
                                .classes = m->classes,
                                .pruning = m->pruning,
                                .subpixel = case_between(c, 0, 2)};
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = m->message[r];
    memcpy(a.rho, m->rho, sizeof(a.rho));
    memcpy(a.truncation, m->truncation, sizeof(a.truncation));
    a.label = case_shorts(c, w, h, 1, 65535);
    a.disparity = (int16_t *)case_shorts(c, w, h, 1, 65535);
    a.confidence = case_bytes(c, w, h, 1, 255);
    return a;
}

static void case_pruned_start(struct pass_case *c) {
    int blocks = case_between(c, 1, KEPT_MOST);
    struct grid grid = case_grid(c);
    uint8_t *message[DIRECTIONS];
    for (int r = 0; r < DIRECTIONS; r++)
        message[r] = case_pruned_volume(c, &grid, blocks, MAX_TRUNCATION);
    struct pruned_start_args a =
        case_pruned_start_args(c, grid, case_pruning(c, &grid, blocks), blocks, message);
    case_add_pass(c, STAGE_pruned_start, &a, a.grid.half, a.grid.height);
}

static void case_pruned_message(struct pass_case *c) {
    struct pruned_message_args a = case_pruned_message_args(c, case_between(c, 1, KEPT_MOST));
    case_add_pass(c, STAGE_pruned_message, &a, a.grid.half, a.grid.height);
}

static void case_pruned_winner(struct pass_case *c) {
    int blocks = case_between(c, 1, KEPT_MOST);
    struct pruned_message_args m = case_pruned_message_args(c, blocks);
    uint32_t maximum = case_between(c, 0, 1) ? MAX_TRUNCATION : 3; /* 3: many ties */
    for (int r = 0; r < DIRECTIONS; r++)
        case_randomise(c, m.message[r], 1, maximum);
    struct pruned_wta_args a = case_pruned_wta_args(
        c, &m, case_pruned_volume(c, &m.grid, blocks, maximum == 3 ? 3 : MAX_COST));
    case_add_pass(c, STAGE_pruned_winner, &a, a.grid.width, a.grid.height);
}

/* V that never falls, for each class, with 0 to all steps before the largest. */
static struct smoothing case_smoothing(struct pass_case *c) {
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
static struct label_cost case_label_cost(struct pass_case *c, struct grid grid) {
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

static struct tiling case_tiling(struct pass_case *c, const struct grid *g) {
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

static void case_tiles_start(struct pass_case *c) {
    struct grid grid = case_grid(c);
    struct tiles_start_args a = {case_tiling(c, &grid), grid.padded};
    case_add_pass(c, STAGE_tiles_start, &a, 1, a.tiling.columns * a.tiling.rows);
}

static void case_tiles(struct pass_case *c) {
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

STAGE_CASE(best_label, a.grid.half, a.grid.height, .grid = case_grid(c),
           .parity = case_between(c, 0, 1)) {
    if (case_between(c, 0, 1))
        a->cost16 = case_volume16(c, &a->grid, COST_SATURATION);
    else
        a->cost8 = case_volume8(c, &a->grid, MAX_COST);
    for (int r = 0; r < DIRECTIONS; r++)
        a->message[r] = case_volume8(c, &a->grid, MAX_TRUNCATION);
    a->label = case_shorts(c, a->grid.width, a->grid.height, 1, 65535);
}

STAGE_CASE(mask_cost, a.grid.half, a.grid.height, .grid = case_grid(c),
           .parity = case_between(c, 0, 1), .sign = case_between(c, 0, 1) ? 1 : -1,
           .first = case_between(c, 0, 1)) {
    a->label = case_shorts(c, w, h, 1, (uint32_t)stage_min(c->shape.labels - 1, 5));
    a->mask = case_bytes(c, w, h, 1, 1);
    if (case_between(c, 0, 1)) {
        a->cost16 = case_volume16(c, &a->grid, COST_SATURATION);
        a->masked16 = case_volume16(c, &a->grid, COST_SATURATION);
    } else {
        a->cost8 = case_volume8(c, &a->grid, MAX_COST);
        a->masked8 = case_volume8(c, &a->grid, MAX_COST);
    }
}

/* ---- blocks */

STAGE_CASE(crop_cost, a.grid.width, a.grid.height, .source_grid = case_grid(c)) {
    a->x = case_between(c, 0, c->shape.width - 1);
    a->y = case_between(c, 0, c->shape.height - 1);
    a->grid = grid_make(case_between(c, 1, c->shape.width - a->x),
                        case_between(c, 1, c->shape.height - a->y), a->source_grid.space);
    a->source = case_volume8(c, &a->source_grid, MAX_COST);
    a->out = case_volume8(c, &a->grid, MAX_COST);
}

PIXEL_CASE(copy_map, .source_width = w + case_between(c, 0, 9),
           .out_width = w + case_between(c, 0, 9), .pixel_bytes = case_between(c, 1, 4)) {
    a->source = case_bytes(c, a->source_width, h, a->pixel_bytes, 255);
    a->out = case_bytes(c, a->out_width, h, a->pixel_bytes, 255);
}

/* Costs of all labels, or of those that tiles keep; these labels are among them then. */
static const uint8_t *case_label_costs(struct pass_case *c, const struct grid *g, uint16_t *label,
                                       uint32_t maximum, struct pruning *pruning) {
    int blocks = case_between(c, 1, KEPT_MOST);
    if (case_between(c, 0, 1))
        return case_volume8(c, g, maximum);
    *pruning = case_pruning_of(c, g, PRUNING_TILE, blocks);
    for (int i = 0; i < g->width * g->height; i++) {
        const uint8_t *kept = kept_at(pruning, i % g->width, i / g->width);
        int first = kept[label[i] % kept_count(kept)] * LABEL_BLOCK;
        label[i] = (uint16_t)stage_min(first + label[i] % LABEL_BLOCK, g->labels - 1);
    }
    return case_pruned_volume(c, g, blocks, maximum);
}

PIXEL_CASE(label_data_cost, .grid = case_grid(c)) {
    a->label = case_shorts(c, w, h, 1, (uint32_t)c->shape.labels - 1);
    a->cost = case_label_costs(c, &a->grid, (uint16_t *)a->label, MAX_COST, &a->pruning);
    a->out = case_bytes(c, w, h, 1, 255);
}

/* ---- disparity maps */

PIXEL_CASE(check, .width = w, .range = c->shape.labels, .tolerance = case_between(c, -1, 20) * 8,
           .min_confidence = case_between(c, 0, 2) * 60) {
    int maximum = stage_min(w, c->shape.labels);
    a->left = case_disparities(c, maximum);
    if (case_between(c, 0, 1))
        a->right = case_disparities(c, maximum);
    a->confidence = case_bytes(c, w, h, 1, 255);
    a->out = case_disparities(c, 1);
}

/* Of disparities, or of motion. */
static void case_maps(struct pass_case *c, struct motion_map *source, struct motion_map *out) {
    int w = c->shape.width, h = c->shape.height;
    bool motion = case_between(c, 0, 1);
    *source = motion
                  ? case_motion(c, w, h, 60, true)
                  : (struct motion_map){case_disparities(c, stage_min(w, c->shape.labels)), NULL};
    *out =
        motion ? case_motion(c, w, h, 1, false) : (struct motion_map){case_disparities(c, 1), NULL};
}

struct speckle_args case_speckle_args(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct speckle_args a = {.width = w,
                             .height = h,
                             .range = 16 * case_between(c, 1, 30),
                             .size = (uint32_t)case_between(c, 1, 90)};
    case_maps(c, &a.source, &a.out);
    a.parent = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.parent)), 4, UINT32_MAX);
    a.count = case_randomise(c, case_add_rows(c, w, h, sizeof(*a.count)), 4, UINT32_MAX);
    return a;
}

static void case_speckles(struct pass_case *c, enum stage last) {
    struct speckle_args a = case_speckle_args(c);
    int w = a.width, h = a.height;
    for (int stage = STAGE_speckle_start; stage <= (int)last; stage++)
        case_add_pass(c, (enum stage)stage, &a, w, h);
    if (last >= STAGE_speckle_join) /* the forest's shape is free, its trees are not */
        case_compare_only(c, a.parent, COMPARE_NOTHING);
    if (last == STAGE_speckle_join)
        case_add_pass(c, STAGE_speckle_count, &a, w, h);
}

STAGE_UNTIL(speckle_start, case_speckles)
STAGE_UNTIL(speckle_join, case_speckles)
STAGE_UNTIL(speckle_count, case_speckles)
STAGE_UNTIL(speckle_drop, case_speckles)

static void case_fill(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, along_columns = case_between(c, 0, 1);
    struct fill_args a = {.width = w, .height = h, .dx = !along_columns, .dy = along_columns};
    case_maps(c, &a.source, &a.out);
    case_add_pass(c, STAGE_fill, &a, w, h);
}

PIXEL_CASE(fill_side, .width = w, .channels = c->shape.channels) {
    a->source = case_disparities(c, stage_min(w, c->shape.labels));
    a->filled = case_disparities(c, stage_min(w, c->shape.labels));
    a->image = case_bytes(c, w, h, a->channels, 255);
    a->out = case_disparities(c, 1);
}

/* The first known pixel of a row is the farther from the border the lower the row is. */
STAGE_CASE(border_plane, 1, h, .width = w, .height = h) {
    int16_t *map = case_add_rows(c, w, h, sizeof(*map));
    for (int i = 0; i < w * h; i++)
        map[i] = (int16_t)(i % w < i / w / 2 || draw(&c->random_contents) % 64 == 0
                               ? UNKNOWN
                               : i % w * 3 - i / w * 2 + (int)case_value(c, 3));
    a->source = map;
    a->out = case_randomise(c, case_add_rows(c, 1, h, sizeof(*a->out)), 4, 1000);
}

PIXEL_CASE(extend, .width = w, .height = h, .channels = c->shape.channels,
           .minimum = case_between(c, -64, 64)) {
    struct border_plane *plane = case_add_rows(c, 1, h, sizeof(*plane));
    a->plane = case_randomise(c, plane, 4, 300);
    a->image = case_bytes(c, w, h, a->channels, 255);
    a->weight = case_randomise(c, case_add_table(c, 256 * sizeof(*a->weight)), 2, 256);
    int16_t *source = case_disparities(c, stage_min(w, c->shape.labels));
    for (int y = 0; y < h; y++) {
        int hole = case_between(c, 0, w);
        for (int x = 0; x < hole; x++)
            source[y * w + x] = UNKNOWN;
        plane[y].first = first_known(source + y * w, w, 0, 1);
        plane[y].last = first_known(source + y * w, w, w - 1, -1);
    }
    a->source = source;
    a->out = case_disparities(c, 1);
}

PIXEL_CASE(cost_curve, .grid = case_grid(c), .subpixel = case_between(c, 0, 2)) {
    a->label = case_shorts(c, w, h, 1, (uint32_t)c->shape.labels - 1);
    a->cost = case_label_costs(c, &a->grid, (uint16_t *)a->label,
                               case_between(c, 0, 1) ? MAX_COST : 3, &a->pruning);
    a->disparity = case_disparities(c, 1);
    a->rise = case_bytes(c, w, h, 1, 255);
}

/* Near, far, infinitely far and unknown depths. */
static struct depth_tables *case_depth_tables(struct pass_case *c) {
    static const float odd[] = {INFINITY, NAN, 0.3f, 1e5f};
    struct depth_tables *tables = case_add_table(c, sizeof(*tables));
    for (int d = 0; d < DEPTHS; d++) {
        tables->metres[d] = d % 5 ? 7.3f / (float)(d + 1) : odd[d / 5 % 4];
        tables->mm[d] = (uint16_t)(d * 7);
    }
    for (int i = 0; i < MAX_FRAME_SIDE; i++) {
        tables->across[i] = (float)(i - 20) / 77;
        tables->down[i] = (float)(i - 13) / 75;
    }
    return tables;
}

PIXEL_CASE(depth, .width = w, .min_confidence = case_between(c, 0, 200), .nothing = NAN) {
    int what = case_between(c, 1, 15);
    a->source = case_disparities(c, 60);
    a->confidence = case_bytes(c, w, h, 1, 255);
    if (what > 1)
        a->tables = case_depth_tables(c);
    a->px = what & 1 ? case_add_rows(c, w, h, sizeof(*a->px)) : NULL;
    a->mm = what & 2 ? case_add_rows(c, w, h, sizeof(*a->mm)) : NULL;
    a->metres = what & 4 ? case_add_rows(c, w, h, sizeof(*a->metres)) : NULL;
    a->points = what & 8 ? case_add_rows(c, w, h, 3 * sizeof(*a->points)) : NULL;
}

PIXEL_CASE(take_known, .width = w) {
    int maximum = stage_min(w, c->shape.labels);
    a->source = case_disparities(c, maximum);
    a->values = case_disparities(c, maximum);
    a->out = case_disparities(c, 1);
}

PIXEL_CASE(chance, .width = w, .cells = case_between(c, 0, 1)) {
    a->source = case_disparities(c, 2);
    a->arms = case_random_arms(c, CHANCE_LENGTH, CHANCE_LENGTH);
    a->margin = case_bytes(c, w, h, 1, 255);
    a->rise = case_bytes(c, w, h, 1, MAX_COST);
    a->out = case_bytes(c, w, h, 1, 255);
}

static void case_doubt(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, rows = (h + 7) / 8,
        first = case_between(c, 0, rows - 1);
    struct doubt_args a = {case_places(c), NULL, NULL, 8 * first, w, h, case_between(c, 0, 1)};
    if (case_between(c, 0, 1))
        a.doubts = case_bytes(c, (w + 3) / 4, (h + 3) / 4, 1, DOUBT_BARE | DOUBT_REPEATS);
    a.confidence = case_bytes(c, w, h - 8 * first, 1, 255);
    case_add_pass(c, STAGE_doubt, &a, (w + 7) / 8, rows - first);
}

static void case_surface(struct pass_case *c, enum stage last) {
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

STAGE_UNTIL(surface_arms, case_surface)
STAGE_UNTIL(surface_sums, case_surface)
STAGE_UNTIL(surface_plane, case_surface)

static void case_sky_until(struct pass_case *c, enum stage last) {
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
    a.confidence = case_bytes(c, w, h, 1, 255);
    a.value = case_between(c, 0, 1) ? UNKNOWN : 16 * case_between(c, -3, 3);
    for (int stage = STAGE_sky_start; stage <= (int)last; stage++)
        case_add_pass(c, (enum stage)stage, &a, w, h);
    if (last >= STAGE_sky_join) /* the forest's shape is free, its trees are not */
        case_compare_only(c, a.parent, COMPARE_NOTHING);
    if (last == STAGE_sky_join)
        case_add_pass(c, STAGE_sky_count, &a, w, h);
}

STAGE_UNTIL(sky_start, case_sky_until)
STAGE_UNTIL(sky_join, case_sky_until)
STAGE_UNTIL(sky_count, case_sky_until)
STAGE_UNTIL(sky_region, case_sky_until)
STAGE_UNTIL(sky, case_sky_until)

/* Weights of colour steps: any, or falling by the same from step to step. */
static uint16_t *case_weights(struct pass_case *c) {
    uint16_t *weight = case_randomise(c, case_add_table(c, 256 * sizeof(*weight)), 2, 256);
    weight[0] = (uint16_t)stage_max(weight[0], 1);
    int fall = case_between(c, 0, 2) ? case_between(c, 1, 128) : 0;
    for (int i = 0; i < 256 && fall; i++)
        weight[i] = (uint16_t)stage_max(256 - i * fall / 8, 0);
    return weight;
}

STAGE_CASE(median, w, h - a.first_row, .width = w, .height = h, .channels = c->shape.channels,
           .radius = case_between(c, 1, 4), .first_row = case_between(c, 0, 1) * (h / 2)) {
    a->source = case_disparities(c, stage_min(w, c->shape.labels));
    a->image = case_bytes(c, w, h, a->channels, 255);
    a->weight = case_weights(c);
    a->out = (int16_t *)case_shorts(c, w, h - a->first_row, 1, 65535);
}

PIXEL_CASE(hole_median, .width = w, .height = h, .channels = c->shape.channels,
           .radius = case_between(c, 1, 24)) {
    a->source = case_disparities(c, stage_min(w, c->shape.labels));
    a->known = case_disparities(c, 1);
    a->image = case_bytes(c, w, h, a->channels, 255);
    a->weight = case_weights(c);
    a->out = case_disparities(c, 1);
}

/* ---- the refinement */

/* Four planes of a map. */
static void *case_planes(struct pass_case *c, size_t pixel_bytes) {
    int w = c->shape.width, h = c->shape.height;
    struct case_buffer *b = case_find(c, case_add_rows(c, w, 4 * h, pixel_bytes));
    b->grid.height = h;
    b->planes = 4;
    return case_start(b);
}

/* Nearest disparities as from anywhere. */
static struct refine_map case_refined(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct refine_map m = {.width = w, .height = h, .least = 16 * case_between(c, -20, 20)};
    m.disparity = case_disparities(c, case_between(c, 0, 1) ? 3 : c->shape.labels);
    m.confidence = case_bytes(c, w, h, 1, 255);
    m.nearest = case_planes(c, sizeof(*m.nearest));
    m.steps = case_planes(c, 1);
    for (int i = 0; i < 4 * w * h; i++) {
        m.nearest[i] = (int16_t)((int)case_value(c, 2000) - 400);
        m.steps[i] = (uint8_t)case_value(c, 255);
    }
    return m;
}

static void case_refine_nearest(struct pass_case *c) {
    struct refine_nearest_args a = {case_refined(c)};
    case_add_pass(c, STAGE_refine_nearest, &a, a.map.width, a.map.height);
}

STAGE_CASE(refine_evidence, (w + 1) / 2, (h + 1) / 2, .map = case_refined(c),
           .channels = c->shape.channels, .census = case_between(c, 0, 1)) {
    int words = a->census ? 1 : VECTOR_WORDS;
    a->left = case_bytes(c, w, h, a->channels, 255);
    a->right = case_bytes(c, w, h, a->channels, 255);
    a->left_vectors = case_descriptors(c, w, h, words);
    a->right_vectors = case_descriptors(c, w, h, words);
    a->out = case_bytes(c, (w + 1) / 2, (h + 1) / 2, 4 * REFINE_FEATURES, 255);
}

static void case_refine_regress(struct pass_case *c) {
    struct refine_regress_args a = {.map = case_refined(c)};
    int w = (a.map.width + 3) / 4, h = (a.map.height + 3) / 4, inputs = 32 * case_between(c, 1, 2);
    a.layer = case_layer(c, (int[]){inputs, 32, 1}, w, h);
    a.layer.source = case_bytes(c, w, h, inputs, FEATURE_LARGEST);
    a.out = case_add_rows(c, w, h, REFINE_REGRESSED * sizeof(*a.out));
    case_add_pass(c, STAGE_refine_regress, &a, w, h);
}

static void case_refine_choose(struct pass_case *c) {
    struct refine_choose_args a = {.map = case_refined(c), .prior = case_between(c, 0, 200)};
    int w = a.map.width, h = a.map.height;
    a.greatest = a.map.least + 16 * case_between(c, 1, 60);
    int side = case_between(c, 1, 2), rows = (h + side - 1) / side, columns = (w + side - 1) / side,
        inputs = 32 / side;
    a.layer = case_layer(c, (int[]){inputs, side * side * REFINE_OUTPUTS, 1}, columns, rows);
    a.layer.shift = case_between(c, 4, 14);
    a.layer.source = case_bytes(c, columns, rows, inputs, FEATURE_LARGEST);
    int32_t *regressed = case_add_rows(c, (w + 3) / 4, (h + 3) / 4, 8);
    for (int i = 0; i < (w + 3) / 4 * ((h + 3) / 4) * 2; i++)
        regressed[i] = (int32_t)case_value(c, 8000) - 1000;
    a.regressed = regressed;
    for (int i = 0; i < REFINE_CHANCES; i++)
        a.chance[i] = (uint8_t)case_between(c, 0, 255);
    a.first_row = case_between(c, 0, rows - 1);
    rows = case_between(c, 1, rows - a.first_row);
    a.out = case_add_rows(c, w, side * rows, sizeof(*a.out));
    a.confidence_out = case_bytes(c, w, side * rows, 1, 255);
    case_add_pass(c, STAGE_refine_choose, &a, columns, rows);
}

/* ---- maps of a sequence */

PIXEL_CASE(shrink, .source_width = 4 * w + 3, .width = w, .size = 4) {
    a->source = case_bytes(c, a->source_width, 4 * h, 1, 255);
    a->out = case_bytes(c, w, h, 1, 255);
}

static struct rig_motion *case_rig_motion(struct pass_case *c) {
    struct rig_motion *m = case_add_table(c, sizeof(*m));
    *m = (struct rig_motion){.gain = 0.9f + 0.05f * (float)case_between(c, 0, 4)};
    for (int i = 0; i < 3; i++) {
        m->gibbs[i] = 0.01f * (float)case_between(c, -3, 3);
        m->shift[i] = 0.1f * (float)case_between(c, -3, 3);
    }
    motion_turn(m);
    m->state = case_between(c, MOTION_UNKNOWN, MOTION_FOUND);
    return m;
}

static struct pinhole case_camera(struct pass_case *c, int w, int h) {
    return (struct pinhole){.focal = (float)case_between(c, w, 2 * w),
                            .cx = 0.5f * (float)w,
                            .cy = 0.4f * (float)h,
                            .doffs = (float)case_between(c, 0, 2),
                            .known = case_between(c, 0, 1)};
}

/* Estimates near that of 2 px. */
static struct estimate *case_estimates(struct pass_case *c, int w, int h, int spread) {
    struct estimate *e = case_add_rows(c, w, h, sizeof(*e));
    for (int i = 0; i < w * h; i++)
        e[i] = (struct estimate){512 + case_between(c, -spread, spread),
                                 (uint16_t)case_between(c, 0, 2 * SURE_VARIANCE),
                                 (uint8_t)case_between(c, 0, KEPT_FRAMES + 1),
                                 (uint8_t)case_between(c, FITS_NOTHING, FITS_NOT)};
    return e;
}

/* A picture with its patches a few pixels on in the next one, but for noise. */
STAGE_CASE(find_patch, patches_along(a.width, a.spacing), patches_along(a.height, a.spacing),
           .width = w + 3 * PATCH_SIDE, .height = h + 3 * PATCH_SIDE, .size = case_between(c, 2, 4),
           .spacing = case_between(c, 1, 8), .reach = case_between(c, 1, MOST_REACH),
           .fine = case_between(c, 0, 1)) {
    int map_h = a->size * a->height + 1, dx = case_between(c, -3, 3), dy = case_between(c, -3, 3);
    a->map_width = a->size * a->width + 1;
    a->columns = patches_along(a->width, a->spacing);
    a->camera = case_camera(c, a->map_width, map_h);
    a->before = case_bytes(c, a->width, a->height, 1, 255);
    uint8_t *now = case_bytes(c, a->width, a->height, 1, 20);
    for (int i = 0; i < a->width * a->height; i++) {
        int x = i % a->width - dx, y = i / a->width - dy;
        if (x >= 0 && y >= 0 && x < a->width && y < a->height)
            now[i] = (uint8_t)(now[i] + a->before[y * a->width + x] * 7 / 8);
    }
    a->now = now;
    a->last = case_estimates(c, a->map_width, map_h, 150);
    struct rig_motion *m = case_rig_motion(c);
    for (int i = 0; i < 3; i++)
        m->gibbs[i] /= 10;
    motion_turn(m);
    a->motion = m;
    a->out = case_add_rows(c, a->columns, patches_along(a->height, a->spacing), sizeof(*a->out));
}

STAGE_CASE(pose, 1, 1, .columns = w, .count = w * h, .first = 7.5f, .spacing = 16, .widest = 4,
           .narrowest = 0.5f, .steps = case_between(c, 1, 6), .last = case_between(c, 0, 1)) {
    struct patch_match *m = case_add_table(c, (size_t)(w * h) * sizeof(*m));
    a->camera = case_camera(c, 16 * w, 16 * h);
    a->motion = case_rig_motion(c);
    for (int i = 0; i < w * h; i++)
        m[i] = (struct patch_match){16 * (float)(i % w) + 0.1f * (float)case_between(c, -90, 90),
                                    16 * (float)(i / w) + 0.1f * (float)case_between(c, -90, 90),
                                    0.1f * (float)case_between(c, 0, 200),
                                    (uint16_t)case_between(c, 0, 16320),
                                    (uint16_t)case_between(c, 0, 16320)};
    a->matches = m;
}

static void case_move(struct pass_case *c, enum stage last) {
    int w = c->shape.width, h = c->shape.height;
    struct move_args a = {.width = w, .height = h, .camera = case_camera(c, w, h)};
    a.last = case_estimates(c, w, h, case_between(c, 100, 600));
    a.before = case_shorts(c, w, h, 1, 180);
    a.now = case_shorts(c, w, h, 1, 180);
    a.motion = case_rig_motion(c);
    a.vote = case_add_rows(c, w, h, sizeof(*a.vote));
    a.moved = case_estimates(c, w, h, 9);
    for (int stage = STAGE_move_start; stage <= (int)last; stage++)
        case_add_pass(c, (enum stage)stage, &a, w, h);
}
STAGE_UNTIL(move_start, case_move)
STAGE_UNTIL(move_vote, case_move)
STAGE_UNTIL(move_take, case_move)

static int cells_of(int side) {
    return (side + CELL - 1) / CELL;
}

STAGE_CASE(count_cells, cells_of(w), cells_of(h), .width = w, .height = h, .cells = cells_of(w)) {
    a->moved = case_estimates(c, w, h, 500);
    a->confidence = case_bytes(c, w, h, 1, 255);
    a->source = case_disparities(c, 3);
    a->out = case_add_rows(c, cells_of(w), cells_of(h), sizeof(*a->out));
}

PIXEL_CASE(sum_around, .width = w, .height = h) {
    a->source = case_bytes(c, w, h, 1, 255);
    a->out = case_shorts(c, w, h, 1, 9);
}

STAGE_CASE(judge_cells, w, h, .cells = w, .rows = h) {
    struct cell_counts *counts = case_add_rows(c, w, h, sizeof(*counts));
    for (int i = 0; i < w * h; i++)
        counts[i] =
            (struct cell_counts){(uint8_t)case_between(c, 0, 6), (uint8_t)case_between(c, 0, 20),
                                 (uint8_t)case_between(c, 0, 12)};
    a->counts = counts;
    a->out = case_bytes(c, w, h, 1, 255);
}

PIXEL_CASE(temporal, .width = w, .height = h, .cells = cells_of(w),
           .drift = case_between(c, 0, 40)) {
    a->source = case_disparities(c, case_between(c, 1, 3));
    a->confidence = case_bytes(c, w, h, 1, 255);
    a->moved = case_estimates(c, w, h, 500);
    a->judged = case_bytes(c, a->cells, cells_of(h), 1, CELL_MOVES | CELL_CLASHES);
    a->motion = case_rig_motion(c);
    a->out = case_estimates(c, w, h, 9);
    a->shown = case_disparities(c, 1);
    a->confidence_out = case_bytes(c, w, h, 1, 255);
    for (int i = 0; i < 32; i++)
        a->spread[i] = (uint16_t)(2000 - 60 * i);
}

/* ---- motion */

STAGE_CASE(halve, a.width, (h + 1) / 2, .source_width = w, .width = (w + 1) / 2,
           .channels = c->shape.channels) {
    a->source = case_bytes(c, w, h, a->channels, 255);
    a->out = case_bytes(c, a->width, (h + 1) / 2, a->channels, 255);
}

static void case_motion_centre(struct pass_case *c) {
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

PIXEL_CASE(motion_cost, .grid = case_motion_grid(c), .channels = c->shape.channels,
           .kind = case_between(c, DATA_COST_AD, DATA_COST_AD_CENSUS),
           .fraction = 1 << stage_max(case_between(c, -3, 3), 0), .border = case_between(c, 0, 1),
           .outside = (uint8_t)case_between(c, 0, MAX_COST)) {
    /* a block of larger pictures */
    a->left = case_between(c, 0, 3);
    a->top = case_between(c, 0, 3);
    a->width = w + a->left + case_between(c, 0, 3);
    a->height = h + a->top + case_between(c, 0, 3);
    a->lut = case_randomise(c, case_add_table(c, COST_LUT), 1, MAX_COST / 2);
    a->census_lut = case_randomise(c, case_add_table(c, CENSUS_LUT), 1, MAX_COST / 2);
    if (a->kind != DATA_COST_CENSUS || a->fraction > 1) {
        a->reference = case_bytes(c, a->width, a->height, a->channels, 255);
        a->target = case_bytes(c, a->width, a->height, a->channels, 255);
    }
    if (a->fraction == 1 && (a->kind == DATA_COST_CENSUS || a->kind == DATA_COST_AD_CENSUS)) {
        a->words = case_between(c, 0, 1) ? VECTOR_WORDS : 1;
        a->descriptor_reference = case_descriptors(c, a->width, a->height, a->words);
        a->descriptor_target = case_descriptors(c, a->width, a->height, a->words);
    }
    if (case_between(c, 0, 1))
        a->centre = case_motion(c, w, h, 20, false);
    if (case_between(c, 0, 1))
        a->mask = case_bytes(c, a->width, a->height, 1, 255);
    a->cost = case_volume8(c, &a->grid, 255);
}

PIXEL_CASE(motion_check, .width = w, .height = h, .tolerance = case_between(c, 0, 100),
           .min_confidence = case_between(c, 0, 40)) {
    a->forward = case_motion(c, w, h, 60, false);
    if (case_between(c, 0, 3))
        a->backward = case_motion(c, w, h, 60, true);
    a->confidence = case_bytes(c, w, h, 1, 255);
    a->out = case_motion(c, w, h, 1, false);
}

/* ---- all stages */

typedef void case_maker(struct pass_case *c);

void case_add_stage(struct pass_case *c, enum stage stage) {
    static case_maker *const makers[STAGE_COUNT] = {
#define STAGE_ROW(name, ...) case_##name,
#include "gpu/stages/stages.def"
#undef STAGE_ROW
    };
    makers[stage](c);
}
