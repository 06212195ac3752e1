/*
 * The learned descriptor's weights in the order that its stages read, and its passes.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_FEATURES_H
#define LIVESTEREO_FEATURES_H

#include "gpu/graph.h"

/* Bytes of the largest network's weights. */
enum {
    FEATURE_LAYER_BYTES =
        FEATURE_CHANNELS * ((int)sizeof(int32_t) + FEATURE_TAPS * FEATURE_CHANNELS),
    FEATURE_BYTES = FEATURE_LAYERS * FEATURE_LAYER_BYTES
};

/* Writes the weights to FEATURE_BYTES bytes, aligned for numbers of 32 bits. */
void features_pack(const struct feature_network *network, void *to);

/* Adds the passes that give each pixel of a grey picture, width*height, its vector. packed is what
 * features_pack() wrote, in the backend's memory. */
const uint64_t *features_describe(struct graph *g, const struct feature_network *network,
                                  const void *packed, const uint8_t *grey, int width, int height);

#endif
