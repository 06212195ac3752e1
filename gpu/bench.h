/*
 * Measurements of the stages: `livestereo bench` and build/bench_gpu. Needs neither GLib nor files.
 * Results go to stdout. Nothing here is timed by a test.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BENCH_H
#define LIVESTEREO_BENCH_H

#include "gpu/backend.h"

#include "capture/frame.h"

/* argv[0] is the name; argv[1] may be "message" or "warm", else come the options of bench_usage().
 * params: the settings to start from, NULL for the default ones with 7 half-steps. Returns the exit
 * code: 0, 1 when a measurement failed, 2 on a wrong option. */
int bench_main(int argc, char **argv, const struct params *params);

struct bench_options {
    int width, height, labels; /* 0: the table of sizes */
    int levels, iterations;
    int backend; /* BACKEND_* */
    int plain, threads, frames, json;
    int channels, rectify; /* rectify: pictures come unrectified */
    struct params params;
};

/* Fast-converging updates: BP of 100 half-steps a level, resting, against 5 plain ones, on a
 * rectified pair with the settings of Yang et al. 2006. The last line printed is "ratio R".
 * Returns the exit code. */
int bench_resting(const struct image *left, const struct image *right, int labels);

/* The message stage, plain against tuned, on one core. */
int bench_message(const struct bench_options *o);

/* Frames that start from the last one's messages against frames that start anew. */
int bench_warm(const struct bench_options *o);

struct backend *bench_backend(const struct bench_options *o, int *error);

/* GB/s, read and written, of the stage that copies most plainly; of a large block, best of
 * several. */
double bench_copy_gbs(struct backend *b);

/* A frame's worth of time samples: value at share (0..1) of the sorted ones. Sorts in place. */
double bench_quantile(double *values, int count, double share);

/* splitmix64. */
uint64_t bench_draw(uint64_t *state);

#endif
