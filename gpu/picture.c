/*
 * See picture.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/picture.h"

enum { RESIDUAL_RADIUS = 3 }; /* px */

#include <math.h>

/* Corrects the vertical drift of the cameras, in 1/32 px, by moving the right picture. */
static int row_shift(const struct pipeline *p, int side) {
    return side == RIGHT_SIDE ? (int)lround(32 * p->params.row_offset) : 0;
}

bool picture_is_remapped(const struct pipeline *p, int side) {
    return p->map[side] || row_shift(p, side);
}

/* The picture as grey or RGB. */
static const uint8_t *upload(struct graph *g, const struct pipeline *p, int side) {
    int width = p->source_width, height = p->source_height;
    size_t row = picture_row(p->format, width), first = row * (size_t)height,
           bytes = row * (size_t)picture_rows(p->format, height);
    uint8_t *picture = graph_buffer(g, bytes);
    graph_upload(g, picture, HOST_PICTURES + side, first);
    if (bytes > first)
        graph_upload(g, picture + first, HOST_CHROMA + side, bytes - first);
    if (p->format == PICTURE_GREY || p->format == PICTURE_RGB)
        return picture;
    struct convert_args a = {.source = picture,
                             .out = graph_buffer(g, (size_t)3 * (size_t)width * (size_t)height),
                             .width = width,
                             .height = height,
                             .format = (int)p->format};
    picture_group(g, side, TIME_RECTIFY);
    graph_stage(g, STAGE_convert, &a, width, height);
    return a.out;
}

/* Smooths the blocks of JPEG, if there are any. */
static const uint8_t *deblock(struct graph *g, const struct pipeline *p, struct picture *v,
                              const uint8_t *picture) {
    int width = p->source_width, height = p->source_height;
    int across = jpeg_blocks(width), down = jpeg_blocks(height);
    if (!p->params.cost_adapts || !across || !down)
        return picture;
    size_t bytes = (size_t)width * (size_t)height * (size_t)p->channels;
    struct deblock_args a = {.source = picture,
                             .sums = graph_buffer(g, BLOCK_SUMS * sizeof(*a.sums)),
                             .out = graph_buffer(g, bytes),
                             .width = width,
                             .height = height,
                             .channels = p->channels};
    picture_group(g, v->side, TIME_SMOOTH);
    graph_stage(g, STAGE_deblock_start, &a, BLOCK_SUMS, 1);
    graph_stage(g, STAGE_deblock_sum, &a, across, down);
    graph_begin(g, UNIT_GREY);
    graph_stage(g, STAGE_deblock, &a, width, height);
    v->block_sums = a.sums;
    return a.out;
}

/* with_blocks: what came of the picture before its blocks were smoothed, or NULL. */
static const uint8_t *remap(struct graph *g, const struct pipeline *p, const struct picture *v,
                            const uint8_t *picture, const uint8_t *with_blocks) {
    int side = v->side;
    size_t bytes = (size_t)p->width * (size_t)p->height * (size_t)p->channels;
    if (!picture_is_remapped(p, side))
        return picture;
    struct remap_args a = {.source = picture,
                           .map = p->map[side],
                           .out = graph_buffer(g, bytes),
                           .width = p->width,
                           .channels = p->channels,
                           .source_width = p->source_width,
                           .source_height = p->source_height,
                           .row_shift = row_shift(p, side),
                           .samples = p->map_samples,
                           .step = p->map_step,
                           .with_blocks = with_blocks,
                           .block_sums = v->block_sums};
    picture_group(g, side, TIME_RECTIFY);
    graph_stage(g, STAGE_remap, &a, p->width, p->height);
    return a.out;
}

static struct hide_unseen_args unseen(const struct pipeline *p) {
    return (struct hide_unseen_args){.map = p->map[LEFT_SIDE],
                                     .width = p->width,
                                     .source_width = p->source_width,
                                     .source_height = p->source_height};
}

const int16_t *picture_hide_unseen(struct graph *g, const struct pipeline *p, const int16_t *map) {
    struct hide_unseen_args a = unseen(p);
    if (!p->has_unseen)
        return map;
    a.source = map;
    a.out = graph_buffer(g, (size_t)p->width * (size_t)p->height * sizeof(*a.out));
    graph_stage(g, STAGE_hide_unseen, &a, p->width, p->height);
    return a.out;
}

uint8_t *picture_doubt_unseen(struct graph *g, const struct pipeline *p, uint8_t *confidence) {
    struct hide_unseen_args a = unseen(p);
    if (!p->has_unseen)
        return confidence;
    a.confidence = confidence;
    a.confidence_out = graph_buffer(g, (size_t)p->width * (size_t)p->height);
    graph_stage(g, STAGE_hide_unseen, &a, p->width, p->height);
    return a.confidence_out;
}

/* The picture that is delivered is the one that came. */
static void rectify(struct graph *g, const struct pipeline *p, struct picture *v) {
    const uint8_t *picture = upload(g, p, v->side), *delivered = remap(g, p, v, picture, NULL);
    if (delivered != picture || p->delivers_picture[v->side])
        graph_download(g, delivered, HOST_RECTIFIED + v->side, 0,
                       picture_pixels(v) * (size_t)p->channels);
    const uint8_t *even = deblock(g, p, v, picture);
    v->image = even == picture ? delivered : remap(g, p, v, even, delivered);
}

/* A separable kernel over a picture. */
static const uint8_t *convolve(struct graph *g, const struct picture *v, const uint8_t *image,
                               int channels, struct taps taps) {
    size_t samples = picture_pixels(v) * (size_t)channels;
    uint16_t *rows = graph_buffer(g, samples * sizeof(*rows));
    uint8_t *out = graph_buffer(g, samples);
    struct smooth_x_args x = {image, rows, v->width, channels, taps};
    struct smooth_y_args y = {rows, out, v->width, v->height, channels, taps};
    graph_stage(g, STAGE_smooth_x, &x, v->width, v->height);
    graph_stage(g, STAGE_smooth_y, &y, v->width, v->height);
    return out;
}

static const uint8_t *smooth(struct graph *g, const struct pipeline *p, const struct picture *v,
                             const uint8_t *image) {
    double sigma = p->params.smooth_sigma;
    return sigma > 0 ? convolve(g, v, image, p->channels, scaling_taps(sigma)) : image;
}

static const uint8_t *make_grey(struct graph *g, const struct pipeline *p, const struct picture *v,
                                const uint8_t *image) {
    uint8_t *grey = graph_buffer(g, picture_pixels(v));
    struct grey_args a = {image, grey, v->width, p->channels};
    graph_stage(g, STAGE_grey, &a, v->width, v->height);
    graph_end(g);
    return grey;
}

static const uint8_t *differentiate(struct graph *g, const struct picture *v, const uint8_t *grey) {
    struct sobel_args a = {.grey = grey,
                           .out = graph_buffer(g, picture_pixels(v)),
                           .width = v->width,
                           .height = v->height};
    graph_stage(g, STAGE_sobel, &a, v->width, v->height);
    return a.out;
}

static const uint8_t *subtract_smoothed(struct graph *g, const struct picture *v,
                                        const uint8_t *grey, struct taps taps) {
    struct residual_args a = {.grey = grey,
                              .smoothed = convolve(g, v, grey, 1, taps),
                              .out = graph_buffer(g, picture_pixels(v)),
                              .width = v->width};
    graph_stage(g, STAGE_residual, &a, v->width, v->height);
    return a.out;
}

static const uint8_t *matching_input(struct graph *g, const struct pipeline *p,
                                     const struct picture *v, const uint8_t *grey) {
    switch (p->params.matching_input) {
    case MATCHING_INPUT_SOBEL:
        return differentiate(g, v, grey);
    case MATCHING_INPUT_RESIDUAL_MEAN:
        return subtract_smoothed(g, v, grey, scaling_mean_taps(RESIDUAL_RADIUS));
    default:
        return grey;
    }
}

static uint64_t *census_transform(struct graph *g, const struct picture *v, const uint8_t *grey) {
    struct census_args a = {.grey = grey, .width = v->width, .height = v->height};
    a.out = graph_buffer(g, picture_pixels(v) * sizeof(*a.out));
    graph_stage(g, STAGE_census, &a, v->width, v->height);
    return a.out;
}

/* That of a picture whose rows have been moved. */
static uint64_t *renew_census(struct graph *g, const struct picture *v) {
    struct census_args a = {.grey = v->grey,
                            .out = v->census,
                            .width = v->width,
                            .height = v->height,
                            .offset = v->row_offset,
                            .offsets = ROW_CELLS * ROW_CELLS};
    graph_stage(g, STAGE_census, &a, v->width, v->height);
    return a.out;
}

const struct arms *picture_arms(struct graph *g, const struct pipeline *p, const struct picture *v,
                                int first, int rows) {
    size_t before = (size_t)first * (size_t)v->width, count = (size_t)rows * (size_t)v->width;
    struct arms_args a = {.image = v->image + before * (size_t)p->channels,
                          .likeness = v->likeness,
                          .out = graph_buffer(g, count * sizeof(*a.out)),
                          .width = v->width,
                          .height = rows,
                          .channels = p->channels,
                          .longest_x = CROSS_LENGTH,
                          .longest_y = p->params.cross_height,
                          .step = p->params.cross_step};
    graph_stage(g, STAGE_arms, &a, v->width, rows);
    return a.out;
}

static bool has_edge_classes(const struct pipeline *p) {
    return p->params.edge_factor_1 < 1 || p->params.edge_factor_2 < 1;
}

/* The classes of all levels, finest first. */
static void classify_edges(struct graph *g, const struct pipeline *p, struct picture *v) {
    int width = v->width, height = v->height;
    uint8_t *classes = graph_buffer(g, picture_pixels(v));
    struct edges_args a = {.image = v->image,
                           .out = classes,
                           .width = width,
                           .height = height,
                           .channels = p->channels,
                           .step = {p->params.edge_step_1, p->params.edge_step_2},
                           .mean_square =
                               p->params.edge_difference == EDGE_DIFFERENCE_ROOT_MEAN_SQUARE};
    graph_stage(g, STAGE_edges, &a, width, height);
    v->edges[0] = classes;
    for (int l = 1; l < p->params.bp_levels; l++) {
        struct downsample_edges_args d = {
            .fine = classes, .fine_width = width, .fine_height = height, .width = (width + 1) / 2};
        width = (width + 1) / 2;
        height = (height + 1) / 2;
        d.out = classes = graph_buffer(g, (size_t)width * (size_t)height);
        graph_stage(g, STAGE_downsample_edges, &d, width, height);
        v->edges[l] = classes;
    }
}

static void steady_bits(struct graph *g, const struct pipeline *p, struct picture *v) {
    int channels = scaling_match_channels(&p->params, p->channels);
    struct steady_bits_args a = {.grey = v->grey,
                                 .picture = channels > 1 ? v->matched : v->grey,
                                 .out = graph_buffer(g, picture_pixels(v) * sizeof(*a.out)),
                                 .slack = graph_buffer(g, picture_pixels(v)),
                                 .width = v->width,
                                 .height = v->height,
                                 .channels = channels};
    graph_stage(g, STAGE_steady_bits, &a, v->width, v->height);
    v->steady = a.out;
    v->slack = a.slack;
}

/* Derives from v->image what is matched. */
static void prepare(struct graph *g, const struct pipeline *p, struct picture *v) {
    picture_group(g, v->side, TIME_SMOOTH);
    v->matched = smooth(g, p, v, v->image);
    v->grey = matching_input(g, p, v, make_grey(g, p, v, v->matched));
    v->census = v->row_offset ? renew_census(g, v) : census_transform(g, v, v->grey);
    if (p->params.descriptor == DESCRIPTOR_LEARNED) /* it takes longest and waits for the least */
        v->descriptor = features_describe(g, &p->network, p->weights, v->grey, v->width, v->height);
    v->arms = picture_arms(g, p, v, 0, v->height);
    if (has_edge_classes(p))
        classify_edges(g, p, v);
    if (scaling_adapts(&p->params) && p->params.descriptor != DESCRIPTOR_LEARNED)
        steady_bits(g, p, v);
}

struct picture picture_prepare(struct graph *g, const struct pipeline *p, int side) {
    struct picture v = {.side = side, .width = p->width, .height = p->height};
    rectify(g, p, &v);
    v.mask = p->mask;
    prepare(g, p, &v);
    return v;
}

void picture_align_rows(struct graph *g, const struct pipeline *p, struct grid grid,
                        const struct picture *left, struct picture *right) {
    struct row_offset_args a = {.grid = grid,
                                .census_reference = left->census,
                                .census_target = right->census,
                                .sums = graph_buffer(g, ROW_SUMS * sizeof(*a.sums)),
                                .offset =
                                    graph_buffer(g, ROW_CELLS * ROW_CELLS * sizeof(*a.offset))};
    struct move_rows_args m = {.source = right->image,
                               .offset = a.offset,
                               .out = graph_buffer(g, picture_pixels(right) * (size_t)p->channels),
                               .width = p->width,
                               .height = p->height,
                               .channels = p->channels};
    picture_group(g, right->side, TIME_RECTIFY);
    graph_stage(g, STAGE_row_offset_start, &a, ROW_SUMS, 1);
    graph_stage(g, STAGE_row_offset_sum, &a, (p->width + ROW_STEP - 1) / ROW_STEP,
                (p->height + ROW_STEP - 1) / ROW_STEP * ROW_TRIED);
    graph_stage(g, STAGE_row_offset_find, &a, ROW_CELLS * ROW_CELLS, 1);
    graph_begin(g, UNIT_GREY);
    graph_stage(g, STAGE_move_rows, &m, p->width, p->height);
    right->image = m.out;
    right->row_offset = a.offset;
    prepare(g, p, right);
}

void picture_adapt(struct graph *g, const struct pipeline *p, const struct likeness *likeness,
                   struct picture picture[2]) {
    static const struct taps binomial = {.radius = 1, .q14 = {8192, 4096}};
    for (int side = 0; side < 2; side++) {
        struct picture *v = &picture[side];
        picture_group(g, side, TIME_SMOOTH);
        graph_begin(g, UNIT_MIXED_CENSUS);
        struct mix_census_args a = {
            .likeness = likeness,
            .census = v->census,
            .smoothed = census_transform(g, v, convolve(g, v, v->grey, 1, binomial)),
            .width = v->width};
        graph_stage(g, STAGE_mix_census, &a, v->width, v->height);
        graph_end(g);
        v->likeness = likeness;
        v->arms = picture_arms(g, p, v, 0, v->height);
    }
}

void picture_describe(const struct pipeline *p, struct picture *v) {
    v->words = p->params.descriptor == DESCRIPTOR_LEARNED ? VECTOR_WORDS : 1;
    if (v->words == 1)
        v->descriptor = v->census;
}

static const uint8_t *halve(struct graph *g, const struct picture *fine, const struct picture *v,
                            const uint8_t *image, int channels) {
    static const struct taps binomial = {.radius = 2, .q14 = {6144, 4096, 1024}};
    struct halve_args a = {.source = convolve(g, fine, image, channels, binomial),
                           .out = graph_buffer(g, picture_pixels(v) * (size_t)channels),
                           .source_width = fine->width,
                           .width = v->width,
                           .channels = channels};
    graph_stage(g, STAGE_halve, &a, v->width, v->height);
    return a.out;
}

struct picture picture_halve(struct graph *g, const struct pipeline *p,
                             const struct picture *fine) {
    struct picture v = {
        .side = fine->side, .width = (fine->width + 1) / 2, .height = (fine->height + 1) / 2};
    picture_group(g, v.side, TIME_SMOOTH);
    v.image = halve(g, fine, &v, fine->image, p->channels);
    v.mask = fine->mask ? halve(g, fine, &v, fine->mask, 1) : NULL;
    prepare(g, p, &v);
    return v;
}
