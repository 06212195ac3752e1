/*
 * Pictures and frames, which pass from the sources through the pipeline to the readers. Frames are
 * reference counted. After the compute thread has passed a frame on, nobody writes to it. Frames
 * come from a pool, which is freed when it is closed and its last frame has been returned.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/limits.h"
#include "image/disparity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 8-bit picture, row by row without gaps: data[(y * width + x) * channels + c]. channels is 1
 * (grey) or 3 (RGB). data NULL means no picture. Whoever allocated data frees it. */
struct image {
    uint8_t *data;
    int width, height, channels;
};

static inline size_t image_bytes(const struct image *im) {
    return (size_t)im->width * (size_t)im->height * (size_t)im->channels;
}

struct frame_pool;
struct params;

/* As many as the library times, which app/matcher.c compares. */
enum { FRAME_STAGES = 10 };

struct frame {
    /* from the source */
    long index;                /* number of the pair in its source, from 0 */
    int64_t left_ns, right_ns; /* capture times, CLOCK_MONOTONIC or media time */
    int64_t taken_ns;          /* CLOCK_MONOTONIC when the source handed the pair over */
    bool exchanged;            /* left and right were exchanged since */
    struct image left, right;  /* as captured; same size and channels */
    int16_t *truth;            /* width*height left truth in 1/16 px, or all u and then all v with
                       mode=motion, or NULL where has_truth is 0 */
    uint8_t *non_occluded; /* width*height mask, 255 where the right picture shows the point, too,
                              or NULL */
    bool has_truth;

    /* from the compute stage; width*height of rect_left, which may be smaller than left */
    struct params *params; /* settings it was computed with, in memory of the pool */
    /* Rectified; left and right themselves (the same data) where they are so already. */
    struct image rect_left, rect_right;
    int16_t *disparity; /* 1/16 px, DISPARITY_UNKNOWN; undefined with mode=motion */
    int16_t *motion;    /* with mode=motion: width*height u, then as many v, in 1/16 px, of what is
                           at a place of the left picture until the right one was taken; u is
                           DISPARITY_UNKNOWN where that is not known */
    uint8_t *confidence;
    int valid[4]; /* x, y, width, height: livestereo_info's; what lies outside may show nothing */
    double stage_ms[FRAME_STAGES];
    double left_bp_ms; /* belief propagation of the left view */
    double compute_ms; /* wall time of the whole compute stage */
    float updated[64]; /* ratio of tiles updated per half-step, finest level */
    int updated_count;

    /* the pool's */
    uint8_t *rectified[2]; /* room for what rect_left and rect_right show when it is resampled */
    struct frame_pool *pool;
    int references; /* atomic */
};

/* The allocator of frames' buffers: malloc, or pinned memory for a GPU. */
struct frame_alloc {
    void *(*alloc)(void *context, size_t bytes);
    void (*release)(void *context, void *data);
    void *context;
};

/* A pool of count frames for pictures up to width x height x channels, all memory taken here.
 * with_truth adds truth and mask buffers. alloc NULL takes malloc. NULL and a log line on
 * failure. */
struct frame_pool *pool_open(int count, int width, int height, int channels, bool with_truth,
                             const struct frame_alloc *alloc);

/* A free frame with one reference. Never waits; if there is none, that is a bug (assert). */
struct frame *pool_take(struct frame_pool *pool);

/* Frees the pool once its last frame has been returned; clears the caller's pointer. NULL inside is
 * fine. */
void pool_close(struct frame_pool **pool);

/* A frame of its own: that of a pool of one, which it is freed with. NULL and a log line on
 * failure. */
struct frame *frame_alone(int width, int height, int channels, bool with_truth,
                          const struct frame_alloc *alloc);

/* Adds a reference; returns frame. */
struct frame *frame_ref(struct frame *frame);

/* Drops a reference and clears the pointer; the last one returns the frame to its pool. */
void frame_drop(struct frame **frame);
