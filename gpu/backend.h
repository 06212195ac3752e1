/*
 * What runs a graph: a table of functions, filled by the CPU or the CUDA backend. One thread uses a
 * backend at a time. What fails while a frame runs is remembered and returned by the next wait.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BACKEND_H
#define LIVESTEREO_BACKEND_H

#include "gpu/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that stages read and write, and memory of the host that is copied from and to fastest. */
enum memory_kind { MEMORY_STAGES, MEMORY_HOST };

struct backend {
    char name[128];  /* for people */
    bool own_memory; /* the stages' memory is a device's, not the host's */
    int slots;       /* frames that may be in flight */
    /* Uninitialised memory, 256-byte aligned, or NULL. release takes NULL. */
    void *(*alloc)(struct backend *b, enum memory_kind kind, size_t bytes);
    void (*release)(struct backend *b, enum memory_kind kind, void *memory);
    /* Copies between any two kinds of memory, after all that runs, and waits until it is done. 0 or
     * -errno. */
    int (*copy)(struct backend *b, void *to, const void *from, size_t bytes);
    /* How many passes from number i on this backend runs as one: see graph_plan(). NULL: each
     * alone. */
    int (*unit)(struct backend *b, const struct graph *g, int i);
    /* Gets ready to run a planned and bound graph, which stays the caller's and must not change
     * until it is discarded. previous: what was compiled from an earlier version of the graph, or
     * NULL; it is taken over. No frame may be in flight. NULL when memory runs out. */
    void *(*compile)(struct backend *b, void *previous, const struct graph *g);
    void (*discard)(struct backend *b, void *compiled);
    /* Issues a frame: slot is free; host has the addresses that transfers name by number. They may
     * be read and written until the frame is waited for. */
    void (*run)(struct backend *b, void *compiled, int slot, void *const *host);
    /* Waits for the last frame in slot. 0, or -errno of the first failure since the last wait,
     * logged once. */
    int (*wait)(struct backend *b, int slot);
    /* Of the last frame in slot, which was waited for: ms of each group of stages (GROUP_COUNT),
     * the branch's left out; of uploads from the first to the last; of downloads after the last
     * stage. */
    void (*times)(struct backend *b, int slot, double *ms);
    void (*close)(struct backend **b);
};

/* Plain runs every stage as written; optimised replaces what this processor can do faster with the
 * same bytes. */
enum backend_variant { VARIANT_PLAIN, VARIANT_OPTIMISED };

/* threads 0 takes all cores. NULL and *error = -errno on failure, logged. */
struct backend *backend_cpu_open(int threads, enum backend_variant variant, int *error);

/* Device number gpu. NULL and *error = -ENODEV when there is no usable device; quiet leaves saying
 * so to the caller. */
struct backend *backend_cuda_open(int gpu, enum backend_variant variant, bool quiet, int *error);

/* graph_plan() with this backend's units. */
int backend_plan(struct backend *b, struct graph *g);

/* One stage on its own, with the backend's memory in its arguments; waits for it. 0 or -errno. */
int backend_run_stage(struct backend *b, enum stage stage, const void *args, int width, int height);

/* The passes of a graph without buffers of its own, planned and bound here; waits for them. 0 or
 * -errno. */
int backend_run_graph(struct backend *b, struct graph *g);

#ifdef __cplusplus
}
#endif

#endif
