/*
 * Measures the speed of stages and frames: `livestereo bench` and build/bench_gpu. Needs neither
 * GLib nor files. Results go to stdout.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BENCH_H
#define LIVESTEREO_BENCH_H

#include "gpu/backend.h"
#include "gpu/stereo.h"
#include "image/frame.h"

/* argv[0] is the command's name, argv[1] may be "message", options follow (see the manual).
 * params: the settings to start from, NULL for the default ones with 7 half-steps. Returns the exit
 * code: 0, 1 when a measurement failed, 2 on a wrong option. */
int bench_main(int argc, char **argv, const struct params *params);

struct bench_options {
    int width, height, labels; /* 0: the table of sizes */
    int levels, iterations;
    int backend; /* BACKEND_* */
    int variant; /* enum backend_variant */
    int threads, frames, json;
    int channels, rectify; /* rectify: pictures come unrectified */
    struct params params;
};

/* Fast-converging updates: BP of 100 half-steps a level with active tiles against 100 and 5 plain
 * ones, on a rectified pair with o->labels labels and the settings of Yang et al. 2006. Returns the
 * exit code. */
int bench_converging(const struct bench_options *o, const struct image *left,
                     const struct image *right);

/* bp_schedule=tiles with two outer iterations, and checkerboard half-steps until their energy is as
 * low, with o->labels labels. Returns the exit code. */
int bench_tiles(const struct bench_options *o, const struct image *left, const struct image *right);

/* The message stage, plain against optimised, on one core. Returns the exit code. */
int bench_message(const struct bench_options *o);

/* Default settings without averaging and post-processing, with a truncated data cost. */
struct params bench_plain_params(int labels);

/* Opens the pipeline for a pair, measures, closes. Returns the exit code. */
int bench_pair(const struct bench_options *o, const struct image *left, const struct image *right,
               int (*measure)(struct stereo *s, struct frame *f, int labels));

struct backend *bench_backend(const struct bench_options *o, int *error);

/* The copy speed of the backend's memory in GB/s, read plus written: the simplest stage on a large
 * block, best of several runs. */
double bench_copy_gbs(struct backend *b);

/* The quantile at share (0..1) of count values, which are sorted in place. */
double bench_quantile(double *values, int count, double share);

/* The next number of splitmix64. */
uint64_t bench_draw(uint64_t *state);

#endif
