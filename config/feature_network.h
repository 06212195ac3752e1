/*
 * The weights of the learned descriptor and of the refinements (docs/METHODS.md): small
 * convolutional networks with integer weights, as one file and compiled in. Constant after parsing;
 * any thread.
 *
 * The file is text up to an empty line, and then numbers:
 *
 *     livestereo-features 1
 *     licence: TEXT
 *     trained: TEXT
 *     layer 1 64 1 SHIFT                   the layers of the descriptor: INPUTS OUTPUTS STRIDE
 *     layer 64 64 1 SHIFT                  three times
 *     refine INPUTS OUTPUTS STRIDE SHIFT   for each of enum refine_layer that the refinement has
 *     choose PRIOR CHANCE CHANCE...        REFINE_CHANCES of them
 *     hash 16 HEXADECIMAL DIGITS           FNV-1a of the numbers, 64 bits
 *
 * Lines refine and choose come once for each of enum refinement, or for the first one alone, or
 * not at all. Of each layer OUTPUTS biases of 32 bits, little-endian, then weights of 8 bits,
 * [OUTPUTS][3][3][INPUTS].
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FEATURE_LAYERS = 4,    /* of the descriptor */
    FEATURE_CHANNELS = 64, /* outputs of each of them */
    FEATURE_TAPS = 9,
    FEATURE_OUTPUTS = 96,        /* of any hidden layer, at most */
    FEATURE_FILE_BYTES = 1 << 21 /* no file is longer */
};

/* The refinements: of maps by the descriptor's vectors, and by census, a smaller one. */
enum refinement { REFINEMENT_OF_VECTORS, REFINEMENT_OF_CENSUS, REFINEMENTS };

/* The layers of a refinement, a U-Net: E are those down to 1/32 of the picture's size, D and U
 * those up again, H those of full size, which the one of census does not have. */
enum refine_layer {
    REFINE_I,
    REFINE_E1,
    REFINE_E2A,
    REFINE_E2B,
    REFINE_E3A,
    REFINE_E3B,
    REFINE_E4A,
    REFINE_E4B,
    REFINE_E5A,
    REFINE_E5B,
    REFINE_D4,
    REFINE_D3,
    REFINE_U3,
    REFINE_D2,
    REFINE_U2,
    REFINE_D1,
    REFINE_H0,
    REFINE_H1,
    REFINE_REGRESS,
    REFINE_OUT,
    REFINE_LAYERS
};
enum { REFINE_CHANCES = 17 };

struct feature_layer {
    int inputs, outputs, stride, shift;
    const uint8_t *bias;   /* little-endian; see feature_bias() */
    const uint8_t *weight; /* of 8 bits, signed: [outputs][FEATURE_TAPS][inputs] */
};

struct feature_network {
    int refinements; /* behind the descriptor, REFINE_LAYERS each */
    /* all 0 where a refinement does not have it */
    struct feature_layer layer[FEATURE_LAYERS + REFINEMENTS * REFINE_LAYERS];
    struct { /* see struct refine_choose_args */
        int prior;
        uint8_t chance[REFINE_CHANCES];
    } choice[REFINEMENTS];
    uint64_t hash;
    const void *file; /* what was parsed, and its size */
    size_t size;
};

/* Reads a file's size bytes, which the caller keeps as long as the network is used. 0, or -EINVAL
 * and why says what is wrong; then the network is undefined. Sums of an accepted network fit 32
 * bits. */
int feature_network_parse(struct feature_network *network, const void *file, size_t size, char *why,
                          size_t why_size);

static inline int feature_all_layers(const struct feature_network *network) {
    return FEATURE_LAYERS + network->refinements * REFINE_LAYERS;
}

/* The one that is compiled in; whether a network, which may be all 0, is it. */
void feature_network_built_in(struct feature_network *network);
bool feature_network_is_built_in(const struct feature_network *network);

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
