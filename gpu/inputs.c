/*
 * The inputs of a backend beside pictures: tables, rectification, mask, weights, depths. The host
 * keeps copies, since those of a GPU are lost with it.
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "gpu/handle.h"
#include "gpu/refinement.h"

#include <stdlib.h>
#include <string.h>

void inputs_release(struct livestereo *s) {
    struct pipeline *p = &s->pipeline;
    void **const memory[] = {&s->tables, &s->map[0], &s->map[1], &s->mask, &s->weights, &s->depths};
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
        handle_release(s, memory[i]);
    p->map[0] = p->map[1] = NULL;
    p->mask = NULL;
    p->depths = NULL;
    for (int i = 0; i < MAX_SLOTS; i++) {
        s->backend->release(s->backend, MEMORY_HOST, s->updates[i]);
        s->updates[i] = NULL;
    }
    s->has_inputs = false;
}

/* Copies bytes of the host's, where there are any, to memory that is taken once. */
static int take(struct livestereo *s, void **memory, const void *source, size_t bytes,
                const char *what) {
    struct backend *b = s->backend;
    if (!source)
        return 0;
    if (!*memory)
        *memory = b->alloc(b, MEMORY_STAGES, bytes);
    return *memory ? b->copy(b, *memory, source, bytes) : handle_no_memory(s, what);
}

static int take_tables(struct livestereo *s) {
    struct backend *b = s->backend;
    s->tables = b->alloc(b, MEMORY_STAGES, sizeof(struct tables));
    bool taken = s->tables;
    for (int i = 0; i < b->slots && taken; i++) {
        s->updates[i] = b->alloc(b, MEMORY_HOST, FRAME_UPDATES * sizeof(*s->updates[i]));
        taken = s->updates[i];
    }
    s->pipeline.tables = s->tables;
    return taken ? 0 : handle_no_memory(s, "the tables");
}

static size_t pixels_of(const struct livestereo *s) {
    return (size_t)s->pipeline.width * (size_t)s->pipeline.height;
}

static int take_maps(struct livestereo *s) {
    int error = 0;
    for (int side = 0; side < 2 && !error; side++) {
        const struct rectify_map *map = &s->source_map[side];
        error = take(s, &s->map[side], map->point, pixels_of(s) * sizeof(*map->point),
                     "the rectification tables");
        s->pipeline.map[side] = s->map[side];
        if (map->point) {
            s->pipeline.map_samples = map->samples;
            s->pipeline.map_step = map->step;
        }
    }
    return error;
}

static int take_mask(struct livestereo *s) {
    int error = take(s, &s->mask, s->source_mask, pixels_of(s), "the mask");
    s->pipeline.mask = s->mask;
    return error;
}

int inputs_take(struct livestereo *s) {
    inputs_release(s);
    int error = take_tables(s) ?: take_mask(s);
    if (!error)
        error = take(s, &s->depths, s->source_depths, sizeof(*s->source_depths),
                     "the tables of depths");
    if (!error)
        error = take_maps(s);
    s->pipeline.depths = s->depths;
    s->has_inputs = !error;
    return error;
}

int inputs_take_weights(struct livestereo *s) {
    struct pipeline *p = &s->pipeline;
    if (p->params.descriptor != DESCRIPTOR_LEARNED && !params_refines(&p->params))
        return 0;
    if (!p->params.network && s->weights && feature_network_is_built_in(&p->network))
        return 0;
    if (p->params.network)
        p->network = *p->params.network;
    else
        feature_network_built_in(&p->network);
    if (params_refines(&p->params) && !refinement_is_on(p))
        log_warning("refinement",
                    "these weights have none for descriptor=%s, so that maps are not refined",
                    p->params.descriptor == DESCRIPTOR_LEARNED ? "learned" : "census");
    size_t bytes = features_bytes(&p->network);
    void *packed = malloc(bytes);
    handle_release(s, &s->weights);
    if (packed)
        features_pack(&p->network, packed);
    int error = packed ? take(s, &s->weights, packed, bytes, "the weights")
                       : handle_no_memory(s, "the weights");
    free(packed);
    if (error)
        handle_release(s, &s->weights);
    p->weights = s->weights;
    return error;
}

int inputs_use_mask(struct livestereo *s, uint8_t *source) {
    s->described = s->computed = false;
    free(s->source_mask);
    s->source_mask = source;
    int error = s->has_inputs ? take_mask(s) : 0; /* else all are taken for the next frame */
    if (error && handle_replace_lost(s, error))
        return 0;
    if (!error && source)
        return 0;
    free(s->source_mask);
    s->source_mask = NULL;
    handle_release(s, &s->mask);
    s->pipeline.mask = NULL;
    return error;
}

int livestereo_set_mask(struct livestereo *h, const struct livestereo_image *mask) {
    CALL(h);
    int width = h->pipeline.width, height = h->pipeline.height,
        error = mask ? library_check_image("mask", mask, width, height, LIVESTEREO_GRAY8) : 0;
    if (error)
        return error;
    if (h->in_flight)
        return handle_busy();
    if (h->pipeline.params.mode != MODE_MOTION)
        return refuse("a mask needs mode=motion");
    uint8_t *packed = mask ? malloc(pixels_of(h)) : NULL;
    if (mask && !packed)
        return handle_no_memory(h, "the mask");
    for (int y = 0; mask && y < height; y++) {
        const uint8_t *row = (const uint8_t *)mask->data + y * mask->row_bytes;
        for (int x = 0; x < width; x++)
            packed[(size_t)y * (size_t)width + (size_t)x] = row[x] > 127 ? 255 : 0;
    }
    return inputs_use_mask(h, packed);
}
