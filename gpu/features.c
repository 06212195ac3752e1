/*
 * See features.h. Of each layer FEATURE_LAYER_BYTES, biases first.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/features.h"

#include <string.h>

static void pack_layer(const struct feature_layer *l, int32_t *bias) {
    int8_t *w = (int8_t *)(bias + l->outputs);
    memset(bias, 0, FEATURE_LAYER_BYTES);
    for (int o = 0; o < l->outputs; o++)
        bias[o] = feature_bias(l, o);
    for (int first = 0; first < l->outputs; first += FEATURE_BLOCK)
        for (int tap = 0; tap < FEATURE_TAPS; tap++)
            for (int i = 0; i < l->inputs; i += FEATURE_GROUP)
                for (int o = first; o < first + FEATURE_BLOCK; o++, w += FEATURE_GROUP)
                    for (int k = 0; k < stage_min(l->inputs, FEATURE_GROUP); k++)
                        w[k] = (int8_t)feature_weight(l, o, tap, i + k);
}

void features_pack(const struct feature_network *n, void *to) {
    for (int k = 0; k < n->layers; k++)
        pack_layer(&n->layer[k], (int32_t *)to + k * (FEATURE_LAYER_BYTES / 4));
}

const uint64_t *features_describe(struct graph *g, const struct feature_network *n,
                                  const void *packed, const uint8_t *grey, int width, int height) {
    size_t pixels = (size_t)width * (size_t)height;
    struct feature_args a = {.out = (uint8_t *)grey, .width = width, .height = height};
    for (int k = 0; k < n->layers; k++) {
        const struct feature_layer *l = &n->layer[k];
        bool last = k + 1 == n->layers;
        a.source = a.out;
        a.bias = (const int32_t *)packed + k * (FEATURE_LAYER_BYTES / 4);
        a.weights = (const int8_t *)(a.bias + l->outputs);
        a.out = last ? NULL : graph_buffer(g, pixels * (size_t)l->outputs);
        a.vectors = last ? graph_buffer(g, pixels * FEATURE_CHANNELS) : NULL;
        a.inputs = l->inputs;
        a.outputs = l->outputs;
        a.dilation = l->dilation;
        a.shift = l->shift;
        graph_stage(g, last ? STAGE_feature_vector : STAGE_feature_layer, &a, width, height);
    }
    return a.vectors;
}
