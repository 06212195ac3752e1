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

/* Half-steps among pruned labels from args->iteration on, perhaps after messages from the level
 * above, perhaps with the labels and their cost curves after them; NULL where they are not. */
struct pruned_unit {
    const struct pruned_start_args *start;
    const struct pruned_message_args *args;
    int count; /* half-steps */
    const struct pruned_wta_args *winner;
    const struct cost_curve_args *curve;
};

struct backend_cpu {
    struct backend base; /* first: the two pointers are one */
    struct thread_pool *pool;
    cpu_rows *rows[STAGE_COUNT];
    /* Whether there is so little work that waking the thread pool would take longer; NULL:
     * never. */
    bool (*is_small[STAGE_COUNT])(const void *args);
    /* Runs a number of half-steps from args->iteration on together; NULL: one by one. Where up is
     * not NULL, the first of at least two takes its messages from the level above. */
    void (*half_steps)(struct thread_pool *pool, const struct start_messages_args *up,
                       const struct message_args *args, int count);
    /* The same of pruned labels, and what follows. */
    void (*pruned_steps)(struct thread_pool *pool, const struct pruned_unit *unit);
    /* Runs a unit of fusion_costs() whose averaging, where there is some, cross_fits; NULL: its
     * passes one by one. What comes before averaging and within it is not stored. */
    void (*costs)(struct thread_pool *pool, const struct cost_unit *unit);
    bool (*cross_fits)(const struct cross_args *args);
    double ms[GROUP_COUNT]; /* of the last frame */
};

/* Enters the stages optimised for AVX2 into the launch table; does nothing on processors without
 * AVX2. */
void cpu_optimise_avx2(struct backend_cpu *cpu);

#endif
