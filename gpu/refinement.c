/*
 * See refinement.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/refinement.h"

#include <string.h>

static enum refinement number_of(const struct pipeline *p) {
    return p->params.descriptor == DESCRIPTOR_LEARNED ? REFINEMENT_OF_VECTORS
                                                      : REFINEMENT_OF_CENSUS;
}

bool refinement_is_on(const struct pipeline *p) {
    return params_refines(&p->params) && p->network.refinements > (int)number_of(p);
}

/* The input or output of a layer. */
struct channels {
    const uint8_t *data; /* [height][width][count] */
    int width, height, count;
};

static struct feature_args layer_args(const struct pipeline *p, enum refine_layer k, int width,
                                      int height) {
    const struct feature_network *n = &p->network;
    int first = FEATURE_LAYERS + (int)number_of(p) * REFINE_LAYERS;
    return features_layer(n, p->weights, first + (int)k, width, height);
}

/* A layer of what another one gave or, with coarse, of the mean of it and of what one of half the
 * size gave. */
static struct channels add_mean_layer(struct graph *g, const struct pipeline *p,
                                      enum refine_layer k, struct channels from,
                                      const uint8_t *coarse) {
    struct feature_args a = layer_args(p, k, from.width, from.height);
    struct channels to = {.width = (from.width + a.stride - 1) / a.stride,
                          .height = (from.height + a.stride - 1) / a.stride,
                          .count = a.outputs};
    a.source = from.data;
    a.coarse = coarse;
    to.data = a.out = graph_buffer(g, (size_t)to.width * (size_t)to.height * (size_t)to.count);
    graph_stage(g, STAGE_feature_layer, &a, to.width, to.height);
    return to;
}

static struct channels add_layer(struct graph *g, const struct pipeline *p, enum refine_layer k,
                                 struct channels from) {
    return add_mean_layer(g, p, k, from, NULL);
}

static struct refine_map find_nearest(struct graph *g, const struct pipeline *p, const int16_t *map,
                                      const uint8_t *confidence) {
    size_t pixels = (size_t)p->width * (size_t)p->height;
    struct refine_nearest_args a = {.map = {.disparity = map,
                                            .confidence = confidence,
                                            .nearest = graph_buffer(g, 4 * pixels * sizeof(*map)),
                                            .steps = graph_buffer(g, 4 * pixels),
                                            .width = p->width,
                                            .height = p->height,
                                            .least = 16 * p->params.min_disparity}};
    graph_stage(g, STAGE_refine_nearest, &a, p->width, p->height);
    return a.map;
}

static struct channels find_evidence(struct graph *g, const struct pipeline *p,
                                     const struct picture picture[2], struct refine_map map) {
    struct channels to = {
        .width = (p->width + 1) / 2, .height = (p->height + 1) / 2, .count = 4 * REFINE_FEATURES};
    struct refine_evidence_args a = {.map = map,
                                     .left = picture[LEFT_SIDE].image,
                                     .right = picture[RIGHT_SIDE].image,
                                     .left_vectors = picture[LEFT_SIDE].descriptor,
                                     .right_vectors = picture[RIGHT_SIDE].descriptor,
                                     .census = number_of(p) == REFINEMENT_OF_CENSUS,
                                     .channels = p->channels};
    to.data = a.out = graph_buffer(g, (size_t)to.width * (size_t)to.height * (size_t)to.count);
    graph_stage(g, STAGE_refine_evidence, &a, to.width, to.height);
    return to;
}

/* The two disparities that the network gives by itself, of a quarter of the size. */
static const int32_t *regress(struct graph *g, const struct pipeline *p, struct refine_map map,
                              struct channels from) {
    struct refine_regress_args a = {
        .map = map, .layer = layer_args(p, REFINE_REGRESS, from.width, from.height)};
    a.layer.source = from.data;
    a.out = graph_buffer(g, (size_t)from.width * (size_t)from.height * REFINE_REGRESSED *
                                sizeof(*a.out));
    graph_stage(g, STAGE_refine_regress, &a, from.width, from.height);
    return a.out;
}

/* The hidden layer of full size. */
static struct channels add_full_size(struct graph *g, const struct pipeline *p, struct channels h0,
                                     struct channels evidence) {
    struct feature_args a = layer_args(p, REFINE_H1, p->width, p->height);
    struct channels to = {.width = a.width, .height = a.height, .count = a.outputs};
    a.source = h0.data;
    a.joined = evidence.data;
    to.data = a.out = graph_buffer(g, (size_t)to.width * (size_t)to.height * (size_t)to.count);
    graph_stage(g, STAGE_feature_layer, &a, to.width, to.height);
    return to;
}

/* Adds the choice in the layer's rows from the first that is left to before end. */
static struct refined choose_rows(struct graph *g, const struct pipeline *p,
                                  struct refine_choose_args *a, int end) {
    int rows = end - a->first_row, side = refine_side(&a->layer);
    size_t pixels = (size_t)(side * rows) * (size_t)p->width;
    a->out = graph_buffer(g, pixels * sizeof(*a->out));
    a->confidence_out = graph_buffer(g, pixels);
    graph_stage(g, STAGE_refine_choose, a, a->layer.width, rows);
    a->first_row = end;
    return (struct refined){a->out, a->confidence_out};
}

void refinement_describe(struct graph *g, const struct pipeline *p, const struct picture picture[2],
                         const int16_t *map, const uint8_t *confidence, int upper,
                         struct refined out[2]) {
    struct refine_map from = find_nearest(g, p, map, confidence);
    struct channels evidence = find_evidence(g, p, picture, from);

    struct channels e1 = add_layer(g, p, REFINE_E1, add_layer(g, p, REFINE_I, evidence));
    struct channels e2 = add_layer(g, p, REFINE_E2B, add_layer(g, p, REFINE_E2A, e1));
    struct channels e3 = add_layer(g, p, REFINE_E3B, add_layer(g, p, REFINE_E3A, e2));
    struct channels e4 = add_layer(g, p, REFINE_E4B, add_layer(g, p, REFINE_E4A, e3));
    struct channels e5 = add_layer(g, p, REFINE_E5B, add_layer(g, p, REFINE_E5A, e4));
    struct channels d4 = add_mean_layer(g, p, REFINE_D4, e4, e5.data);
    struct channels d3 = add_mean_layer(g, p, REFINE_D3, e3, d4.data);
    struct channels u3 = add_layer(g, p, REFINE_U3, d3);
    struct channels d2 = add_mean_layer(g, p, REFINE_D2, e2, u3.data);
    struct channels u2 = add_layer(g, p, REFINE_U2, d2);
    struct channels d1 = add_mean_layer(g, p, REFINE_D1, e1, u2.data);
    if (number_of(p) == REFINEMENT_OF_VECTORS)
        d1 = add_full_size(g, p, add_layer(g, p, REFINE_H0, d1), evidence);
    struct refine_choose_args a = {.map = from,
                                   .layer = layer_args(p, REFINE_OUT, d1.width, d1.height),
                                   .regressed = regress(g, p, from, d2),
                                   .greatest = from.least + 16 * (p->params.disparity_range - 1),
                                   .prior = p->network.choice[number_of(p)].prior};
    a.layer.source = d1.data;
    memcpy(a.chance, p->network.choice[number_of(p)].chance, sizeof(a.chance));
    if (upper > 0)
        out[0] = choose_rows(g, p, &a, upper / refine_side(&a.layer));
    out[1] = choose_rows(g, p, &a, d1.height);
}
