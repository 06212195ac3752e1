/*
 * Stages of the learned descriptor: the layers of a convolutional network with integer weights,
 * whose last one gives a word for each pixel in place of census. A sum fits 32 bits
 * (config/feature_network.h), so its order does not matter.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STAGE_FEATURE_H
#define LIVESTEREO_STAGE_FEATURE_H

#include "config/feature_network.h"
#include "gpu/stages/stage.h"

enum { FEATURE_GROUP = 4, FEATURE_BLOCK = 32, FEATURE_LARGEST = 127 };

/* A layer: 3x3 taps, dilation px apart, of a picture or of what the layer before it gave; outside
 * of it its border repeats. Inputs are grey levels or at most FEATURE_LARGEST. */
struct feature_args {
    const uint8_t *source; /* width*height*inputs */
    const int32_t *bias;   /* outputs */
    const int8_t *weights; /* [outputs / FEATURE_BLOCK][tap][inputs / FEATURE_GROUP][output %
                              FEATURE_BLOCK][FEATURE_GROUP]; of one input its weight and three
                              of 0 */
    uint8_t *out;          /* width*height*outputs, of feature_layer */
    uint64_t *words;       /* of feature_word */
    int width, height, inputs, outputs, dilation, shift;
};

STAGE const uint8_t *feature_tap(const struct feature_args *a, int x, int y, int tap) {
    int px = stage_clamp(x + (tap % 3 - 1) * a->dilation, 0, a->width - 1);
    int py = stage_clamp(y + (tap / 3 - 1) * a->dilation, 0, a->height - 1);
    return a->source + ((size_t)py * a->width + px) * a->inputs;
}

/* The sums of all outputs at a pixel. */
STAGE void feature_sums(const struct feature_args *a, int x, int y, int32_t sum[FEATURE_CHANNELS]) {
    int used = stage_min(a->inputs, FEATURE_GROUP);
    const int8_t *w = a->weights;
    for (int o = 0; o < a->outputs; o++)
        sum[o] = a->bias[o];
    for (int first = 0; first < a->outputs; first += FEATURE_BLOCK)
        for (int tap = 0; tap < FEATURE_TAPS; tap++) {
            const uint8_t *from = feature_tap(a, x, y, tap);
            for (int i = 0; i < a->inputs; i += FEATURE_GROUP)
                for (int o = first; o < first + FEATURE_BLOCK; o++, w += FEATURE_GROUP)
                    for (int k = 0; k < used; k++)
                        sum[o] += w[k] * from[i + k];
        }
}

/* What a hidden layer gives on. The bias has its rounding. */
STAGE uint8_t feature_activation(const struct feature_args *a, int32_t sum) {
    return (uint8_t)stage_clamp(sum >> a->shift, 0, FEATURE_LARGEST);
}

STAGE void stage_feature_layer(const struct feature_args *a, int x, int y) {
    int32_t sum[FEATURE_CHANNELS];
    uint8_t *out = a->out + ((size_t)y * a->width + x) * a->outputs;
    feature_sums(a, x, y, sum);
    for (int o = 0; o < a->outputs; o++)
        out[o] = feature_activation(a, sum[o]);
}

/* The last layer: bit o is the sign of output o. */
STAGE void stage_feature_word(const struct feature_args *a, int x, int y) {
    int32_t sum[FEATURE_CHANNELS];
    uint64_t word = 0;
    feature_sums(a, x, y, sum);
    for (int o = 0; o < FEATURE_CHANNELS; o++)
        word |= (uint64_t)(sum[o] > 0) << o;
    a->words[(size_t)y * a->width + x] = word;
}

#endif
