/*
 * The CPU backend's launch table, for it and for the files of its optimised stages.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BACKEND_CPU_H
#define LIVESTEREO_BACKEND_CPU_H

#include "gpu/backend.h"
#include "gpu/cpu/thread_pool.h"

enum { MAX_WIDTH = 16384, SCRATCH_BYTES = 1536 << 10 };

/* Rows first..last-1 of a stage. scratch: SCRATCH_BYTES of memory for this call alone. */
typedef void cpu_rows(const void *args, int width, int first, int last, void *scratch);

/* Data costs as one: matched, averaged, and summed for the next two levels. NULL where a pass is
 * not part of it; costs that are not matched are along's source or half's fine8. */
struct cost_unit {
    const struct cost_args *match;
    const struct cross_args *along, *down;
    const struct downsample_cost_args *half, *quarter;
};

/* Half-steps of a level, perhaps after messages from the level above, perhaps with the labels and
 * their cost curves after them; NULL where they are not. The arguments are those of the stages
 * start_messages, message and winner_takes_all, or of those for pruned labels. */
struct level_unit {
    const void *start, *args; /* args: of the first half-step */
    int count;                /* half-steps; after a start of all labels, at least 2 */
    const void *winner;
    const struct cost_curve_args *curve;
};

struct backend_cpu {
    struct backend base; /* first: the two pointers are one */
    struct thread_pool *pool;
    cpu_rows *rows[STAGE_COUNT];
    /* Whether there is so little work that waking the thread pool would take longer; NULL:
     * never. */
    bool (*is_small[STAGE_COUNT])(const void *args);
    /* Run half-steps among all labels, and among pruned ones, together; NULL: one by one. */
    void (*half_steps)(struct thread_pool *pool, const struct level_unit *unit);
    void (*pruned_steps)(struct thread_pool *pool, const struct level_unit *unit);
    /* Runs a unit of fusion_costs() whose averaging, where there is some, cross_fits; NULL: its
     * passes one by one. What comes before averaging and within it is not stored. */
    void (*costs)(struct thread_pool *pool, const struct cost_unit *unit);
    bool (*cross_fits)(const struct cross_args *args);
    /* Runs the stage pruned_cost; NULL: row by row, as other stages. */
    void (*kept_costs)(struct thread_pool *pool, const struct pruned_cost_args *args);
    /* Runs count half-steps of sum-product together, the first one with these arguments; NULL: one
     * by one. */
    void (*sum_steps)(struct thread_pool *pool, const struct sum_message_args *args, int count);
    double ms[GROUP_COUNT]; /* of the last frame */
};

/* What the optimised stages run on here: "avx512", "avx2", "neon" or, on other processors that
 * SIMDe makes AVX2 of, "simde". NULL where they cannot run, and of the plain ones. */
const char *cpu_vectors(enum backend_variant variant);

/* Enters the stages optimised for AVX2 into the launch table, then those for AVX-512. */
void cpu_optimise_avx2(struct backend_cpu *cpu);
void cpu_optimise_avx512(struct backend_cpu *cpu);

#endif
