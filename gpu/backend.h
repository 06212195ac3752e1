/*
 * Runs graphs: a table of functions, filled in by the CPU or the CUDA backend. One thread uses a
 * backend at a time. An error while a frame runs is stored and returned by the next wait.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that stages read and write, and memory of the host for fast copies (pinned with CUDA). */
enum memory_kind { MEMORY_STAGES, MEMORY_HOST };

struct backend_frame {
    const struct image_memory *memory; /* by number */
    bool
        ordered; /* the frame begins after the work that is in stream, a cudaStream_t, and work that
                     is put there later waits for the frame; CUDA alone */
    void *stream;
};

struct backend {
    char name[128];  /* shown to the user */
    bool own_memory; /* stages use the memory of a device, not the host's */
    int slots;       /* how many frames may be in flight */
    size_t
        overlap_bytes; /* the largest arena for passes to run beside each other: see graph_plan() */
    /* Uninitialised memory, 256-byte aligned, or NULL. release takes NULL. */
    void *(*alloc)(struct backend *b, enum memory_kind kind, size_t bytes);
    void (*release)(struct backend *b, enum memory_kind kind, void *memory);
    /* Copies between any two kinds of memory after all frames in flight, and waits for the copy. 0
     * or -errno. */
    int (*copy)(struct backend *b, void *to, const void *from, size_t bytes);
    struct unit_rules rules; /* for graph_plan() */
    long fused; /* passes that ran in one form with the one before them, of all frames; for tests */
    /* Prepares to run a planned and bound graph, which the caller keeps and must not change before
     * discard. previous: the result of compile for an earlier version of the graph, or NULL; the
     * backend takes ownership. No frame may be in flight. NULL when memory runs out. */
    void *(*compile)(struct backend *b, void *previous, const struct graph *g);
    void (*discard)(struct backend *b, void *compiled);
    /* Issues a frame in a free slot, with the memory that its transfers name. That may be read and
     * written until wait has returned. */
    void (*run)(struct backend *b, void *compiled, int slot, const struct backend_frame *frame);
    /* Waits for the last frame in slot. 0, or -errno of the first failure since the last wait,
     * logged once. */
    int (*wait)(struct backend *b, int slot);
    /* Whether wait would return at once, but for copying within the host. NULL: it always does. */
    bool (*is_done)(struct backend *b, int slot);
    /* Times in ms, after wait: of each group of stages (GROUP_COUNT) in all streams, and from the
     * first stage to the end of the last one (GROUP_STAGES, 0 where they run one by one), of the
     * last frame in slot or of one up to 15 frames of the slot before it; of the last frame's
     * uploads from the first to the last, and of its downloads after the last stage. */
    void (*times)(struct backend *b, int slot, double *ms);
    void (*close)(struct backend **b);
};

/* Plain runs every stage as written; optimised replaces what this processor can do faster with the
 * same bytes. AVX2, for tests of the CPU: optimised without what is compiled for AVX-512 (VNNI
 * excepted). */
enum backend_variant { VARIANT_PLAIN, VARIANT_AVX2, VARIANT_OPTIMISED };

/* threads 0 takes all cores. NULL and *error = -errno on failure, logged. */
struct backend *backend_cpu_open(int threads, enum backend_variant variant, int *error);

/* Opens device number gpu. NULL and *error = -ENODEV when there is no usable device, which is
 * logged unless quiet. */
struct backend *backend_cuda_open(int gpu, enum backend_variant variant, bool quiet, int *error);

/* Memory of the host, uninitialised, for stages or what is as large: in huge pages. NULL: there is
 * none. Freed with free(). */
void *backend_host_alloc(size_t bytes);

/* Copies what a transfer names, with inside in place of its buffer, on the host. past_caches: where
 * a GPU reads it next, which would have to fetch it from there. */
void backend_transfer(const struct transfer *transfer, bool up, bool past_caches, void *inside,
                      const struct image_memory *outside);

/* graph_plan() by this backend's rules. overlaps: passes may take more memory to run beside each
 * other, as far as this backend can use it. */
int backend_plan(struct backend *b, struct graph *g, bool overlaps);

/* Runs one stage, whose arguments point to the backend's memory, and waits for it. 0 or -errno. */
int backend_run_stage(struct backend *b, enum stage stage, const void *args, int width, int height);

/* Takes memory for a graph, runs it once with the host's memory and waits for it. 0 or -errno. */
int backend_run_graph(struct backend *b, struct graph *g, const struct image_memory *memory);

#ifdef __cplusplus
}
#endif
