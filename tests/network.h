/*
 * Files of weights for the learned descriptor (config/feature_network.h), made here: of any shape,
 * with random numbers. No GLib.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_TESTS_NETWORK_H
#define LIVESTEREO_TESTS_NETWORK_H

#include "tests/pass_case.h"

struct network_layer {
    int inputs, outputs, dilation, shift;
};

struct network_file {
    uint8_t *bytes;
    size_t size, header; /* header: bytes up to the numbers */
    int layers;
    struct network_layer layer[9];
};

/* Writes the hash of the numbers. */
static inline void network_sign(struct network_file *f) {
    uint64_t hash = 0xcbf29ce484222325u;
    char text[17];
    for (size_t i = f->header; i < f->size; i++)
        hash = (hash ^ f->bytes[i]) * 0x100000001b3u;
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash);
    memcpy(f->bytes + f->header - 18, text, 16);
}

/* Random weights; biases that keep sums about 0. */
static inline void network_make(struct network_file *f, const struct network_layer *layers,
                                int count, uint64_t seed) {
    uint64_t random = draw_start(seed);
    char header[1024];
    int length = sprintf(header, "livestereo-features 1\nlicence: none\ntrained: not at all\n");
    size_t numbers = 0;
    *f = (struct network_file){.layers = count};
    for (int k = 0; k < count; k++) {
        const struct network_layer *l = &layers[k];
        f->layer[k] = *l;
        length += sprintf(header + length, "layer %d %d %d %d\n", l->inputs, l->outputs,
                          l->dilation, l->shift);
        numbers += (size_t)l->outputs * (size_t)(4 + 9 * l->inputs);
    }
    length += sprintf(header + length, "hash %016d\n\n", 0);
    f->header = (size_t)length;
    f->size = f->header + numbers;
    f->bytes = malloc(f->size);
    assert(f->bytes);
    memcpy(f->bytes, header, f->header);
    uint8_t *at = f->bytes + f->header;
    for (int k = 0; k < count; k++) {
        for (int o = 0; o < layers[k].outputs; o++, at += 4) {
            int32_t bias = (int32_t)(draw(&random) % 4001) - 2000;
            memcpy(at, &bias, 4);
        }
        for (int i = 0; i < layers[k].outputs * 9 * layers[k].inputs; i++)
            *at++ = (uint8_t)((int)(draw(&random) % 255) - 127);
    }
    network_sign(f);
}

/* A valid one of 32 or 64 channels with any dilations; its activations are neither all 0 nor all at
 * their limit. */
static inline void network_random(struct network_file *f, int layers, uint64_t seed) {
    struct network_layer l[8];
    uint64_t random = draw_start(seed ^ 0x5eed);
    int inputs = 1;
    for (int k = 0; k < layers; k++) {
        int outputs = k + 1 == layers || draw(&random) % 2 ? 64 : 32;
        l[k] = (struct network_layer){inputs, outputs, 1 + (int)(draw(&random) % 4),
                                      k ? 9 + (int)(draw(&random) % 3) : 7};
        inputs = outputs;
    }
    network_make(f, l, layers, seed);
}

static inline void network_free(struct network_file *f) {
    free(f->bytes);
    f->bytes = NULL;
}

#endif
