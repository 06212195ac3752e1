/*
 * What runs the stages: a table of functions, filled by the CPU or the CUDA backend. One thread
 * uses a backend at a time. Memory from alloc is the backend's own and may only be read by stages,
 * upload and download. run, upload and download keep their order within a lane; they may return
 * before the work is done, and what fails in them is remembered and returned by the next finish.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BACKEND_H
#define LIVESTEREO_BACKEND_H

#include "gpu/stages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first BACKEND_INNER_SIGNALS are given and waited for between begin and end alone; the others
 * may also be given there and waited for elsewhere, or the other way round. */
enum {
    BACKEND_MARKS = 64,
    BACKEND_SIGNALS = 19,
    BACKEND_INNER_SIGNALS = 2,
    BACKEND_RECORDINGS = 10
};

/* What runs side by side: stages, stages that need not wait for others, pictures going up, results
 * coming down. */
enum backend_lane { LANE_COMPUTE, LANE_SIDE, LANE_UP, LANE_DOWN, LANES };

/* Belief propagation from the cost volumes to the labels: levels and half-steps, finest first,
 * and the pick. Nobody rests (flags are NULL). */
struct propagate_args {
    int levels;
    struct message_args level[LEVELS_MOST];
    int iterations[LEVELS_MOST];
    struct pick_args pick;
    int keep; /* messages of colour 1 are read by the next frame, and stored even if sent last */
    /* Warm: the finest level alone, an odd number of half-steps from the messages of colour 1 as
     * they are, in all tiles. A pair of half-steps may move those to the other colour's place and
     * the next one back; displaced: that is where they are to begin with. */
    int warm, displaced;
};

struct backend {
    char name[128]; /* for people */
    int own_memory; /* alloc takes a device's memory, not the host's */
    /* Uninitialised memory, 256-byte aligned, or NULL. release takes NULL. */
    void *(*alloc)(struct backend *b, size_t bytes);
    void (*release)(struct backend *b, void *memory);
    /* Host memory that uploads fastest. */
    void *(*alloc_host)(struct backend *b, size_t bytes);
    void (*release_host)(struct backend *b, void *memory);
    void (*upload)(struct backend *b, void *to, const void *from, size_t bytes);
    void (*download)(struct backend *b, void *to, const void *from, size_t bytes);
    /* Within the backend's memory, as fast as it goes; a yardstick for measurements, too. */
    void (*copy)(struct backend *b, void *to, const void *from, size_t bytes);
    /* Every pixel of width x height through a stage; args is that stage's struct and is copied. */
    void (*run)(struct backend *b, enum stage stage, const void *args, int width, int height);
    /* Stages cost and halve, from the finest level to the next, in one go. 0: not done, run them
     * singly; so does NULL. */
    int (*cost_and_halve)(struct backend *b, const struct cost_args *cost,
                          const struct halve_args *halve);
    /* Stages cross_x and cross_y in one go, where source is not out; nothing needs to be left in
     * between. Where halve is not NULL that may be done besides: 1 if it is. NULL: run the stages
     * singly. */
    int (*cross)(struct backend *b, const struct cross_args *args, const struct halve_args *halve);
    /* count half-steps of stage message from args->iteration on, in one go; NULL: run them
     * singly. */
    void (*half_steps)(struct backend *b, const struct message_args *args, int count);
    /* All half-steps of all levels from silence on, and the pick, in one go; what the last
     * half-step of the finest level sends need not be stored. NULL: run the stages singly. */
    void (*propagate)(struct backend *b, const struct propagate_args *args);
    /* Stages issued under the same number are the same every time, and BACKEND_RECORDINGS numbers
     * that differ by that modulo are remembered: begin returns 1 when it has issued them again by
     * itself; else the caller issues them and calls end. NULL: there is no such thing. */
    int (*begin)(struct backend *b, uint64_t number);
    void (*end)(struct backend *b);
    /* Notes the time when all before it is done, as mark number i; elapsed is read after finish. */
    void (*mark)(struct backend *b, int i);
    double (*elapsed_ms)(struct backend *b, int from, int to);
    /* What is issued from now on goes to lane; each keeps its order, and they wait for each other
     * where told to: nothing after wait(i) on a lane starts before what came before the last
     * signal(i) is done. NULL: there is one lane. */
    void (*lane)(struct backend *b, enum backend_lane lane);
    void (*signal)(struct backend *b, int i);
    void (*wait)(struct backend *b, int i);
    /* Waits for the last signal(i); else like finish. */
    int (*finish_signal)(struct backend *b, int i);
    /* Waits for all lanes. 0, or -errno of the first failure since the last finish, logged once. */
    int (*finish)(struct backend *b);
    void (*close)(struct backend **b);
};

/* Plain runs every stage as written; tuned replaces what this processor can do faster with the same
 * bytes; shuffled runs the pixels of each stage in an order drawn from seed, and offers lanes, for
 * tests. */
enum cpu_form { CPU_PLAIN, CPU_TUNED, CPU_SHUFFLED };

/* threads 0 takes all cores. NULL and *error = -errno on failure, logged. */
struct backend *backend_cpu_open(int threads, enum cpu_form form, uint64_t seed, int *error);

/* Device number gpu. plain keeps the generated kernels. NULL and *error = -ENODEV when there is no
 * usable device; quiet leaves saying so to the caller. */
struct backend *backend_cuda_open(int gpu, int plain, int quiet, int *error);

/* Name and argument size of a stage. */
extern const char *const stage_names[STAGE_COUNT];
extern const size_t stage_args_size[STAGE_COUNT];

#ifdef __cplusplus
}
#endif

#endif
