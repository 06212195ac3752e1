/*
 * The weights of the learned descriptor (docs/METHODS.md): a small convolutional network with
 * integer weights, as a file of its own and compiled in. Constant after parsing; any thread.
 *
 * The file is text up to an empty line, and then numbers:
 *
 *     livestereo-features 1
 *     licence: TEXT
 *     trained: TEXT
 *     layer INPUTS OUTPUTS DILATION SHIFT      a line for each layer
 *     hash 16 HEXADECIMAL DIGITS               FNV-1a of the numbers, 64 bits
 *
 * Of each layer OUTPUTS biases of 32 bits, little-endian, then weights of 8 bits,
 * [OUTPUTS][3][3][INPUTS].
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_FEATURE_NETWORK_H
#define LIVESTEREO_FEATURE_NETWORK_H

#include <stddef.h>
#include <stdint.h>

enum {
    FEATURE_LAYERS = 8,    /* at most */
    FEATURE_CHANNELS = 64, /* outputs of a layer, at most, and of the last one */
    FEATURE_DILATION = 4,  /* at most */
    FEATURE_TAPS = 9,
    FEATURE_FILE_BYTES = 1 << 19 /* no file is longer */
};

struct feature_layer {
    int inputs, outputs, dilation, shift;
    const uint8_t *bias;   /* little-endian; see feature_bias() */
    const uint8_t *weight; /* of 8 bits, signed: [outputs][FEATURE_TAPS][inputs] */
};

struct feature_network {
    int layers;
    struct feature_layer layer[FEATURE_LAYERS];
    uint64_t hash;
    const void *file; /* what was parsed, and its size */
    size_t size;
};

/* Reads a file's size bytes, which the caller keeps as long as the network is used. 0, or -EINVAL
 * and why says what is wrong; then the network is undefined. Sums of an accepted network fit 32
 * bits. */
int feature_network_parse(struct feature_network *network, const void *file, size_t size, char *why,
                          size_t why_size);

/* The one that is compiled in. */
void feature_network_built_in(struct feature_network *network);

static inline int32_t feature_bias(const struct feature_layer *layer, int output) {
    const uint8_t *b = layer->bias + 4 * output;
    return (int32_t)(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

static inline int feature_weight(const struct feature_layer *layer, int output, int tap,
                                 int input) {
    return (int8_t)layer->weight[(output * FEATURE_TAPS + tap) * layer->inputs + input];
}

/* Frees the file of a network that was parsed from memory of malloc(); NULL is none. */
void feature_network_drop(struct feature_network *network);

#endif
