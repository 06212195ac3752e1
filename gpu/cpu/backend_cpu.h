/*
 * The CPU backend's launch table, for it and for the files of its optimised stages.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/backend.h"
#include "gpu/cpu/thread_pool.h"

enum { SCRATCH_BYTES = 1536 << 10 };

/* Rows first..last-1 of a stage. scratch: SCRATCH_BYTES of memory for this call alone. */
typedef void cpu_rows(const void *args, int width, int first, int last, void *scratch);

struct backend_cpu;

/* The optimised form of a kind of unit: runs passes of a unit as one, from its first on, and
 * returns how many; the backend runs those that are left one by one. 0: the form does not fit
 * these. */
typedef int cpu_unit(struct backend_cpu *cpu, const struct graph *g, int unit, int slot);

struct backend_cpu {
    struct backend base; /* first: the two pointers are one */
    struct thread_pool *pool;
    cpu_rows *rows[STAGE_COUNT];
    cpu_unit *units[UNIT_KINDS]; /* NULL: pass by pass. UNIT_COSTS stores no costs but the last. */
    double ms[GROUP_COUNT];      /* of the last frame */
};

/* Runs rows of a stage over height rows in all threads. */
void cpu_run_rows(struct thread_pool *pool, cpu_rows *rows, const void *args, int width,
                  int height);

/* Whether UNIT_COSTS averages in such windows: their sums have 16 bits. */
bool cpu_averages(const struct cross_args *args);

/* The passes of a level, of all labels or of pruned ones; NULL where there is none. */
struct level_unit {
    const void *start, *args; /* args: of the first half-step */
    int count;                /* half-steps */
    const void *winner;
    const struct cost_curve_args *curve;
};
struct level_unit cpu_level(const struct graph *g, int unit, int slot, enum stage start,
                            enum stage half_step, enum stage winner);

/* The optimised stages run on this here: "avx512", "avx2", "neon" or, on other processors that
 * SIMDe makes AVX2 of, "simde". NULL where they cannot run, and of the plain ones. */
const char *cpu_vectors(enum backend_variant variant);

/* Enters the stages optimised for AVX2 into the launch table, then those for AVX-512. */
void cpu_optimise_avx2(struct backend_cpu *cpu);
void cpu_optimise_avx512(struct backend_cpu *cpu);
