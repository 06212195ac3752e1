/*
 * Files of weights (config/feature_network.h), made here: a learned descriptor of any shape, and
 * the refinement, with random numbers. No GLib.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/feature_network.h"
#include "tests/pass_case.h"

struct network_layer {
    int inputs, outputs, dilation, shift;
};

struct network_file {
    uint8_t *bytes;
    size_t size, header; /* header: bytes up to the numbers */
    int layers;          /* of the descriptor */
    struct network_layer layer[9];
};

/* The refinement's inputs, outputs and stride, from docs/METHODS.md; see network_with(). */
static const int network_refinement[REFINE_LAYERS][3] = {
    {192, 64, 1}, {64, 64, 1}, {64, 64, 2}, {64, 64, 1}, {64, 96, 2}, {96, 96, 1}, {96, 96, 2},
    {96, 96, 1},  {96, 96, 2}, {96, 96, 1}, {96, 96, 1}, {96, 96, 1}, {96, 64, 1}, {64, 64, 1},
    {64, 64, 1},  {64, 64, 1}, {64, 64, 1}, {64, 32, 1}, {64, 32, 1}, {32, 32, 1}};

/* Writes the hash of the numbers. */
static inline void network_sign(struct network_file *f) {
    uint64_t hash = 0xcbf29ce484222325u;
    char text[17];
    for (size_t i = f->header; i < f->size; i++)
        hash = (hash ^ f->bytes[i]) * 0x100000001b3u;
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash);
    memcpy(f->bytes + f->header - 18, text, 16);
}

static inline uint8_t *network_draw(uint8_t *at, int inputs, int outputs, uint64_t *random) {
    for (int o = 0; o < outputs; o++, at += 4) {
        int32_t bias = (int32_t)(draw(random) % 4001) - 2000;
        memcpy(at, &bias, 4);
    }
    for (int i = 0; i < outputs * 9 * inputs; i++)
        *at++ = (uint8_t)((int)(draw(random) % 255) - 127);
    return at;
}

/* Random weights; biases that keep sums about 0. With the refinement or without it: activations
 * are of both signs' sums, and logits and residuals a few px at most. */
static inline void network_with(struct network_file *f, const struct network_layer *layers,
                                int count, bool refines, uint64_t seed) {
    uint64_t random = draw_start(seed);
    char header[2048];
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
    for (int k = 0; refines && k < REFINE_LAYERS; k++) {
        const int *l = network_refinement[k];
        length +=
            sprintf(header + length, "refine %d %d %d %d\n", l[0], l[1], l[2], l[0] > 96 ? 12 : 11);
        numbers += (size_t)l[1] * (size_t)(4 + 9 * l[0]);
    }
    if (refines)
        length += sprintf(header + length, "choose 96 0 9 30 40 50 60 75 90 99 120 140 160 180 190 "
                                           "200 240 255\n");
    length += sprintf(header + length, "hash %016d\n\n", 0);
    f->header = (size_t)length;
    f->size = f->header + numbers;
    f->bytes = malloc(f->size);
    assert(f->bytes);
    memcpy(f->bytes, header, f->header);
    uint8_t *at = f->bytes + f->header;
    for (int k = 0; k < count; k++)
        at = network_draw(at, layers[k].inputs, layers[k].outputs, &random);
    for (int k = 0; refines && k < REFINE_LAYERS; k++)
        at = network_draw(at, network_refinement[k][0], network_refinement[k][1], &random);
    network_sign(f);
}

static inline void network_make(struct network_file *f, const struct network_layer *layers,
                                int count, uint64_t seed) {
    network_with(f, layers, count, false, seed);
}

/* A small one with the refinement: plain stages take long. */
static inline void network_small(struct network_file *f) {
    static const struct network_layer layers[] = {{1, 32, 2, 5}, {32, 64, 1, 0}};
    network_with(f, layers, 2, true, 1);
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
