/*
 * The layers of convolutional networks with integer weights: of the learned descriptor, whose last
 * one gives a vector for each pixel in place of census, and of the refinement (refinement.h). A sum
 * fits 32 bits (config/feature_network.h), so its order does not matter.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/feature_network.h"
#include "gpu/stages/stage.h"

enum { FEATURE_GROUP = 4, FEATURE_BLOCK = 16, FEATURE_LARGEST = 127 };

/* The largest number of a linear layer, and of a vector after it got its length. */
enum { FEATURE_NUMBER_LARGEST = 32767, FEATURE_VECTOR_LARGEST = 63 };
enum {
    FEATURE_LENGTH_BITS = 7,
    FEATURE_LENGTH = 1 << FEATURE_LENGTH_BITS,
    FEATURE_SCALE_BITS = 30
};

/* Where a layer has joined, so many of a pixel's 64 inputs come from source. */
enum { FEATURE_JOINED = 16 };

/* A layer: 3x3 taps of a picture or of what the layer before it gave; outside of it its border
 * repeats. Inputs are grey levels or at most FEATURE_LARGEST. joined: NULL, or the inputs are those
 * of two buffers of half the size (sizes rounded up) that have all of 2x2 pixels at one: source
 * with 4 * FEATURE_JOINED channels and joined with 4 * 48, the upper left pixel's first, then the
 * upper right one's. coarse: NULL, or what another layer gave at half the size, rounded up; an
 * input is the mean of source and of it. */
struct feature_args {
    const uint8_t *source, *joined, *coarse; /* width*height*inputs */
    const int32_t *bias;                     /* outputs */
    const int8_t *weights; /* [outputs / FEATURE_BLOCK][tap][inputs / FEATURE_GROUP][output %
                              FEATURE_BLOCK][FEATURE_GROUP]; of one input its weight and three
                              of 0 */
    uint8_t *out;          /* width*height*outputs, of feature_vector with signs; with a stride of 2
                              sizes are halved, rounded up */
    int width, height, inputs, outputs, stride, shift; /* stride: 1 or 2 */
};

/* The number of a pixel in buffers that have 2x2 pixels at one. */
STAGE size_t feature_unshuffled(int width, int x, int y) {
    return (((size_t)(y >> 1) * ((width + 1) >> 1) + (x >> 1)) << 2) + ((y & 1) << 1) + (x & 1);
}

/* Inputs of a pixel from number first on, FEATURE_GROUP of them or, of one input, it. */
STAGE const uint8_t *feature_inputs(const struct feature_args *a, int x, int y, int first) {
    if (!a->joined)
        return a->source + ((size_t)y * a->width + x) * a->inputs + first;
    size_t pixel = feature_unshuffled(a->width, x, y);
    return first < FEATURE_JOINED
               ? a->source + pixel * FEATURE_JOINED + first
               : a->joined + pixel * (a->inputs - FEATURE_JOINED) + first - FEATURE_JOINED;
}

/* The inputs that coarse has there. */
STAGE const uint8_t *feature_coarse(const struct feature_args *a, int x, int y, int first) {
    return a->coarse + ((size_t)(y >> 1) * ((a->width + 1) >> 1) + (x >> 1)) * a->inputs + first;
}

STAGE int feature_input(const struct feature_args *a, int x, int y, int i) {
    int fine = *feature_inputs(a, x, y, i);
    return a->coarse ? (*feature_coarse(a, x, y, i) + fine + 1) >> 1 : fine;
}

STAGE int feature_tap_x(const struct feature_args *a, int x, int tap) {
    return stage_clamp(x * a->stride + tap % 3 - 1, 0, a->width - 1);
}

STAGE int feature_tap_y(const struct feature_args *a, int y, int tap) {
    return stage_clamp(y * a->stride + tap / 3 - 1, 0, a->height - 1);
}

/* The sums of count outputs at a pixel from number from on, a multiple of FEATURE_BLOCK. */
STAGE void feature_sums(const struct feature_args *a, int x, int y, int from, int count,
                        int32_t *sum) {
    int used = stage_min(a->inputs, FEATURE_GROUP), groups = (a->inputs + 3) / FEATURE_GROUP;
    const int8_t *w = a->weights + (size_t)from * FEATURE_TAPS * groups * FEATURE_GROUP;
    for (int o = 0; o < count; o++)
        sum[o] = a->bias[from + o];
    for (int first = 0; first < count; first += FEATURE_BLOCK)
        for (int tap = 0; tap < FEATURE_TAPS; tap++)
            for (int i = 0; i < a->inputs; i += FEATURE_GROUP, w += FEATURE_BLOCK * FEATURE_GROUP) {
                int32_t input[FEATURE_GROUP];
                for (int k = 0; k < FEATURE_GROUP; k++)
                    input[k] = k < used ? feature_input(a, feature_tap_x(a, x, tap),
                                                        feature_tap_y(a, y, tap), i + k)
                                        : 0;
                for (int o = first; o < stage_min(count, first + FEATURE_BLOCK); o++)
                    for (int k = 0; k < FEATURE_GROUP; k++)
                        sum[o] += w[(o - first) * FEATURE_GROUP + k] * input[k];
            }
}

/* The activation that a hidden layer hands on. The bias has its rounding. */
STAGE uint8_t feature_activation(const struct feature_args *a, int32_t sum) {
    return (uint8_t)stage_clamp(sum >> a->shift, 0, FEATURE_LARGEST);
}

STAGE void stage_feature_layer(const struct feature_args *a, int x, int y) {
    int32_t sum[FEATURE_OUTPUTS];
    int width = (a->width + a->stride - 1) / a->stride;
    uint8_t *out = a->out + ((size_t)y * width + x) * a->outputs;
    feature_sums(a, x, y, 0, a->outputs, sum);
    for (int o = 0; o < a->outputs; o++)
        out[o] = feature_activation(a, sum[o]);
}

/* The greatest whole number whose square is at most v, of v below 2^38. */
STAGE int32_t feature_square_root(uint64_t v) {
    uint32_t root = 0;
    for (uint32_t bit = 1u << 18; bit; bit >>= 1)
        if ((uint64_t)(root + bit) * (root + bit) <= v)
            root += bit;
    return (int32_t)root;
}

/* An output of a linear layer: of the descriptor's last one before the vector gets its length, and
 * of those whose numbers the refinement chooses by. The bias has its rounding. */
STAGE int32_t feature_number(const struct feature_args *a, int32_t sum) {
    return stage_clamp(sum >> a->shift, -FEATURE_NUMBER_LARGEST, FEATURE_NUMBER_LARGEST);
}

/* The factor that gives a vector of this length (the root of the sum of its squares) the length
 * FEATURE_LENGTH; feature_scaled() multiplies with it. */
STAGE int32_t feature_scale(int32_t length) {
    return length ? (1 << FEATURE_SCALE_BITS) / length : 0;
}

/* No number exceeds the length, so the product fits 32 bits. */
STAGE int8_t feature_scaled(int32_t number, int32_t scale) {
    enum { SHIFT = FEATURE_SCALE_BITS - FEATURE_LENGTH_BITS };
    int32_t scaled = (number * scale + (1 << (SHIFT - 1))) >> SHIFT;
    return (int8_t)stage_clamp(scaled, -FEATURE_VECTOR_LARGEST, FEATURE_VECTOR_LARGEST);
}

/* The last layer: a vector of FEATURE_LENGTH. */
STAGE void stage_feature_vector(const struct feature_args *a, int x, int y) {
    int32_t sum[FEATURE_CHANNELS];
    uint64_t squares = 0;
    int8_t *vector = (int8_t *)a->out + ((size_t)y * a->width + x) * FEATURE_CHANNELS;
    feature_sums(a, x, y, 0, FEATURE_CHANNELS, sum);
    for (int o = 0; o < FEATURE_CHANNELS; o++) {
        sum[o] = feature_number(a, sum[o]);
        squares += (uint64_t)((int64_t)sum[o] * sum[o]);
    }
    int32_t scale = feature_scale(feature_square_root(squares));
    for (int o = 0; o < FEATURE_CHANNELS; o++)
        vector[o] = feature_scaled(sum[o], scale);
}
