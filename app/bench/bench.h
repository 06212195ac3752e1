/*
 * Measures whole frames on random textures: what livestereo bench, which computes by the library,
 * and tests/bench_gpu.c, which computes by the pipeline, have in common. Needs no GLib. Results go
 * to stdout.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"
#include "include/livestereo.h"

#include <stdbool.h>

struct bench_size {
    int width, height, labels;
};
/* The last ones are too large for a CPU's patience. */
enum { BENCH_SIZES = 7, BENCH_CPU_SIZES = 5, BENCH_FRAMES = 51, BENCH_MAX_FRAMES = 1000 };
extern const struct bench_size bench_sizes[BENCH_SIZES];

/* How a frame is computed. */
struct bench_runner {
    void *context;
    int (*start)(void *context, struct frame *frame); /* 0 or -errno */
    int (*finish)(void *context, struct frame *frame);
    bool overlaps; /* a second frame may be started before the first is finished */
    int frames;    /* to measure, BENCH_MAX_FRAMES at most */
    long number;   /* of the next frame */
};

/* Times in ms. bp: the left view's; stages: from the pictures on the device to the maps there;
 * whole: host to host. */
struct bench_times {
    double bp[BENCH_MAX_FRAMES], stages[BENCH_MAX_FRAMES], whole[BENCH_MAX_FRAMES];
    double stage[FRAME_STAGES]; /* of the last frame */
    double overlapped;          /* a frame when neighbouring frames overlap; 0: they do not */
    int count;
};

/* Random colours or grey levels and, as left view, the same moved by up to labels - 1 px in
 * strips. */
void bench_draw_pair(struct frame *frame, int labels);

/* One frame to warm up, then as many as asked for, or as three seconds hold, but three; then as
 * many again with one started before the last is finished. 0 or -errno. */
int bench_measure(struct bench_runner *runner, struct frame *const frames[2],
                  struct bench_times *times);

/* A line that names the columns, and one for each size, with another for the stages of the last
 * frame, which stage_name names. memory: bytes on the device. */
void bench_print_header(const char *title);
void bench_print_row(const struct bench_size *size, struct bench_times *times, size_t memory,
                     const char *(*stage_name)(enum livestereo_stage stage));
