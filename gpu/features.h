/*
 * The weights of the learned descriptor and of the refinement in the order that stages read, and
 * the passes of layers.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/graph.h"

/* The bytes that all weights of a network take. */
size_t features_bytes(const struct feature_network *network);

/* Writes the weights to features_bytes() bytes, aligned for numbers of 32 bits. */
void features_pack(const struct feature_network *network, void *to);

/* The arguments of layer number k of a network, but source, joined and out, for a source of this
 * size. packed is what features_pack() wrote, in the backend's memory. */
struct feature_args features_layer(const struct feature_network *network, const void *packed, int k,
                                   int width, int height);

/* Adds the passes that give each pixel of a grey picture, width*height, its vector. */
const uint64_t *features_describe(struct graph *g, const struct feature_network *network,
                                  const void *packed, const uint8_t *grey, int width, int height);
