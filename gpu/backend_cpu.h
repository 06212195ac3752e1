/*
 * The CPU backend's launch table, for it and for the files of its other forms.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BACKEND_CPU_H
#define LIVESTEREO_BACKEND_CPU_H

#include "gpu/backend.h"
#include "gpu/workers.h"

struct cpu_stage {
    void (*pixel)(const void *args, int x, int y);
    void (*rows)(const void *args, int width, int first, int last); /* rows first..last-1 */
    /* Whether so little is to do that waking the crew would take longer; NULL: never. */
    int (*light)(const void *args);
};

struct backend_cpu {
    struct backend base;       /* first: the two pointers are one */
    struct shuffled *shuffled; /* NULL: of another form */
    struct workers *workers;
    struct cpu_stage stages[STAGE_COUNT];
    double mark_ms[BACKEND_MARKS];
};

/* Replaces the rows of the stages that this processor's AVX2 does faster; no change without
 * AVX2. */
void cpu_tune_avx2(struct backend_cpu *cpu);

/* Makes cpu one of form CPU_SHUFFLED: 0 or -ENOMEM. unshuffle does what was held back, and gives
 * back what shuffle took; no change for other forms. */
int cpu_shuffle(struct backend_cpu *cpu, uint64_t seed);
void cpu_unshuffle(struct backend_cpu *cpu);

#endif
