/*
 * See features.h. Of each layer its biases, then its weights.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/features.h"

static size_t layer_bytes(const struct feature_layer *l) {
    return (size_t)l->outputs *
           (sizeof(int32_t) + (size_t)(FEATURE_TAPS * stage_max(l->inputs, FEATURE_GROUP)));
}

/* The bytes of the layers before number k. */
static size_t bytes_before(const struct feature_network *n, int k) {
    size_t bytes = 0;
    for (int i = 0; i < k; i++)
        bytes += layer_bytes(&n->layer[i]);
    return bytes;
}

size_t features_bytes(const struct feature_network *n) {
    return bytes_before(n, feature_all_layers(n));
}

static void pack_layer(const struct feature_layer *l, int32_t *bias) {
    int8_t *w = (int8_t *)(bias + l->outputs);
    for (int o = 0; o < l->outputs; o++)
        bias[o] = feature_bias(l, o);
    for (int first = 0; first < l->outputs; first += FEATURE_BLOCK)
        for (int tap = 0; tap < FEATURE_TAPS; tap++)
            for (int i = 0; i < l->inputs; i += FEATURE_GROUP)
                for (int o = first; o < first + FEATURE_BLOCK; o++, w += FEATURE_GROUP)
                    for (int k = 0; k < FEATURE_GROUP; k++)
                        w[k] = i + k < l->inputs ? (int8_t)feature_weight(l, o, tap, i + k) : 0;
}

void features_pack(const struct feature_network *n, void *to) {
    for (int k = 0; k < feature_all_layers(n); k++)
        pack_layer(&n->layer[k], (int32_t *)to + bytes_before(n, k) / sizeof(int32_t));
}

struct feature_args features_layer(const struct feature_network *n, const void *packed, int k,
                                   int width, int height) {
    const struct feature_layer *l = &n->layer[k];
    const int32_t *bias = (const int32_t *)packed + bytes_before(n, k) / sizeof(int32_t);
    return (struct feature_args){.bias = bias,
                                 .weights = (const int8_t *)(bias + l->outputs),
                                 .width = width,
                                 .height = height,
                                 .inputs = l->inputs,
                                 .outputs = l->outputs,
                                 .stride = l->stride,
                                 .shift = l->shift};
}

const uint64_t *features_describe(struct graph *g, const struct feature_network *n,
                                  const void *packed, const uint8_t *from, int width, int height) {
    graph_begin(g, UNIT_VECTORS);
    for (int k = 0; k < FEATURE_LAYERS; k++) {
        struct feature_args a = features_layer(n, packed, k, width, height);
        a.source = from;
        a.out = graph_buffer(g, (size_t)width * (size_t)height * FEATURE_CHANNELS);
        graph_stage(g, k + 1 < FEATURE_LAYERS ? STAGE_feature_layer : STAGE_feature_vector, &a,
                    width, height);
        from = a.out;
    }
    graph_end(g);
    return (const uint64_t *)(const void *)from;
}
