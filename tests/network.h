/*
 * Files of weights (config/feature_network.h), made here: the learned descriptor and the
 * refinements, with random numbers. No GLib.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/feature_network.h"
#include "tests/pass_case.h"

struct network_layer {
    int inputs, outputs, shift;
};

struct network_file {
    uint8_t *bytes;
    size_t size, header; /* header: bytes up to the numbers */
    struct network_layer layer[4];
};

/* A layer of a refinement, from docs/METHODS.md: inputs, outputs, stride, and the shift that
 * network_with() gives it; all 0 where the refinement does not have it. */
struct network_shape {
    int inputs, outputs, stride, shift;
};
static inline struct network_shape network_refinement(enum refinement kind, int layer) {
    enum { I, E2A = 2, E3A = 4, E4A = 6, E5A = 8, U3 = 12, U2 = 14, H0 = 16, H1, REGRESS, OUT };
    bool vectors = kind == REFINEMENT_OF_VECTORS;
    int half = vectors ? 64 : 16, quarter = vectors ? 64 : 32, coarse = vectors ? 96 : 32;
    struct network_shape s = {half, half, 1, 11};
    if (layer > E2A && layer <= U2)
        s.inputs = layer > E3A && layer <= U3 ? coarse : quarter;
    if (layer >= E2A && layer < U2)
        s.outputs = layer >= E3A && layer < U3 ? coarse : quarter;
    if (layer == E2A || layer == E3A || layer == E4A || layer == E5A)
        s.stride = 2;
    if (layer == I)
        s = (struct network_shape){192, half, 1, 12};
    if (layer == H0)
        s.outputs = 64;
    if (layer == H1)
        s = (struct network_shape){64, 32, 1, 11};
    if (layer == REGRESS)
        s = (struct network_shape){quarter, 32, 1, 11};
    if (layer == OUT)
        s = (struct network_shape){vectors ? 32 : 16, vectors ? 32 : 128, 1, 11};
    return !vectors && (layer == H0 || layer == H1) ? (struct network_shape){0} : s;
}

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

/* Random weights; biases that keep sums about 0. Activations are neither all 0 nor all at their
 * limit; those of so many refinements are of both signs' sums, and logits and residuals a few px at
 * most. shift: the descriptor's last one, of 0 most numbers are at their limit. */
static inline void network_with(struct network_file *f, int shift, int refinements, uint64_t seed) {
    uint64_t random = draw_start(seed);
    char header[4096];
    int length = sprintf(header, "livestereo-features 1\nlicence: none\ntrained: not at all\n");
    size_t numbers = 0;
    *f = (struct network_file){.layer = {{1, 64, 7}, {64, 64, 10}, {64, 64, 10}, {64, 64, shift}}};
    for (int k = 0; k < FEATURE_LAYERS; k++) {
        const struct network_layer *l = &f->layer[k];
        length += sprintf(header + length, "layer %d %d 1 %d\n", l->inputs, l->outputs, l->shift);
        numbers += (size_t)l->outputs * (size_t)(4 + 9 * l->inputs);
    }
    for (int kind = 0; kind < refinements; kind++) {
        for (int k = 0; k < REFINE_LAYERS; k++) {
            struct network_shape s = network_refinement((enum refinement)kind, k);
            if (s.inputs)
                length += sprintf(header + length, "refine %d %d %d %d\n", s.inputs, s.outputs,
                                  s.stride, s.shift);
            numbers += (size_t)s.outputs * (size_t)(4 + 9 * s.inputs);
        }
        length += sprintf(header + length, "choose 96 0 9 30 40 50 60 75 90 99 120 140 160 180 190 "
                                           "200 240 255\n");
    }
    length += sprintf(header + length, "hash %016d\n\n", 0);
    f->header = (size_t)length;
    f->size = f->header + numbers;
    f->bytes = malloc(f->size);
    assert(f->bytes);
    memcpy(f->bytes, header, f->header);
    uint8_t *at = f->bytes + f->header;
    for (int k = 0; k < FEATURE_LAYERS; k++)
        at = network_draw(at, f->layer[k].inputs, f->layer[k].outputs, &random);
    for (int k = 0; k < refinements * REFINE_LAYERS; k++) {
        struct network_shape s =
            network_refinement((enum refinement)(k / REFINE_LAYERS), k % REFINE_LAYERS);
        at = network_draw(at, s.inputs, s.outputs, &random);
    }
    network_sign(f);
}

/* One with both refinements. */
static inline void network_refining(struct network_file *f) {
    network_with(f, 3, REFINEMENTS, 1);
}

/* One of the descriptor alone. */
static inline void network_random(struct network_file *f, int shift, uint64_t seed) {
    network_with(f, shift, 0, seed);
}

static inline void network_free(struct network_file *f) {
    free(f->bytes);
    f->bytes = NULL;
}
