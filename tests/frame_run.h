/*
 * Frames of the program (image/frame.h) computed by the pipeline (gpu/handle.h): for tests.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/handle.h"
#include "image/frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static inline struct livestereo_image frame_rows(void *data, int width, int bytes) {
    return (struct livestereo_image){.data = data, .row_bytes = (ptrdiff_t)width * bytes};
}

/* Cost and belief of a pixel's labels, in the papers' units. Its label or -errno. */
static inline int frame_probe(struct livestereo *s, int x, int y, double *cost, double *belief) {
    struct livestereo_probe probe = LIVESTEREO_PROBE;
    int error = livestereo_get_probe(s, x, y, &probe);
    memcpy(cost, probe.cost, (size_t)probe.labels * sizeof(*cost));
    memcpy(belief, probe.belief, (size_t)probe.labels * sizeof(*belief));
    return error ? error : probe.label;
}

static inline void *frame_allocate(void *stereo, size_t bytes) {
    return livestereo_alloc((struct livestereo *)stereo, bytes);
}

static inline void frame_release(void *stereo, void *memory) {
    livestereo_free((struct livestereo *)stereo, memory);
}

/* A pool of memory that the backend copies fastest. */
static inline struct frame_pool *frame_pool(struct livestereo *s, int count, int width, int height,
                                            int channels) {
    const struct frame_alloc alloc = {frame_allocate, frame_release, s};
    return pool_open(count, width, height, channels, 0, &alloc);
}

/* Names the rectified pictures, and starts the frame. */
static inline int frame_start(struct livestereo *s, const struct params *params, struct frame *f) {
    int error = handle_update(s, params);
    if (error)
        return error;
    struct livestereo_info info = handle_info(s);
    int width = info.width, channels = f->left.channels;
    struct livestereo_frame frame = {
        .number = f->index,
        .left = frame_rows(f->left.data, f->left.width, channels),
        .right = frame_rows(f->right.data, f->right.width, channels),
        .disparity = frame_rows(f->disparity, width, sizeof(*f->disparity)),
        .confidence = frame_rows(f->confidence, width, 1),
        .motion = frame_rows(f->motion, width, sizeof(*f->motion)),
    };
    frame.disparity.format = LIVESTEREO_DISP16;
    *f->params = *params;
    if (info.width != f->left.width || info.height != f->left.height)
        f->has_truth = 0;
    struct image *out[2] = {&f->rect_left, &f->rect_right};
    const struct image *in[2] = {&f->left, &f->right};
    for (int side = 0; side < 2; side++) {
        *out[side] = *in[side];
        if (!info.is_resampled[side])
            continue;
        *out[side] = (struct image){f->rectified[side], width, info.height, channels};
        frame.rectified[side] = frame_rows(f->rectified[side], width, channels);
    }
    return handle_start(s, &frame);
}

static inline int frame_finish(struct livestereo *s, struct frame *f) {
    struct livestereo_result r = {0};
    int error = handle_finish(s, &r);
    memcpy(f->stage_ms, r.stage_ms, TIME_COUNT * sizeof(*r.stage_ms));
    memcpy(f->updated, r.updated, sizeof(r.updated));
    f->compute_ms = r.ms;
    f->left_bp_ms = r.left_bp_ms;
    f->updated_count = r.half_steps;
    return error;
}

static inline int frame_run(struct livestereo *s, const struct params *params, struct frame *f) {
    int error = frame_start(s, params, f);
    return error ? error : frame_finish(s, f);
}

/* The pipeline on the CPU, of rectified pictures. */
static inline struct livestereo *frame_open(int threads, enum backend_variant variant, int width,
                                            int height, int channels) {
    int error;
    struct livestereo *s = handle_open(backend_cpu_open(threads, variant, &error), NULL, width,
                                       height, (enum picture_format)channels, NULL, &error);
    assert(s);
    return s;
}

/* Runs a graph of stages alone once. The caller frees the memory that its addresses lie in. */
static inline void *graph_run_once(struct backend *b, struct graph *g) {
    void *const no_slots[MAX_SLOTS] = {NULL};
    int error = backend_plan(b, g, false);
    assert(!error);
    void *arena = aligned_alloc(256, g->arena_bytes);
    error = graph_bind(g, arena, no_slots, 1);
    assert(!error);
    void *compiled = b->compile(b, NULL, g);
    b->run(b, compiled, 0, &(struct backend_frame){0});
    error = b->wait(b, 0);
    assert(!error);
    b->discard(b, compiled);
    return arena;
}
