/*
 * The CPU backend: every stage as a loop over its pixels, rows dealt out to a crew of threads.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend_cpu.h"

#include "config/clock.h"
#include "config/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAGE_ROW(name, arguments)                                              \
    static void pixel_##name(const void *args, int x, int y) {                  \
        stage_##name((const struct arguments##_args *)args, x, y);              \
    }                                                                           \
    static void rows_##name(const void *args, int width, int first, int last) { \
        for (int y = first; y < last; y++)                                      \
            for (int x = 0; x < width; x++)                                     \
                stage_##name((const struct arguments##_args *)args, x, y);      \
    }
#include "gpu/stages.def"
#undef STAGE_ROW

static const struct cpu_stage plain_stages[STAGE_COUNT] = {
#define STAGE_ROW(name, arguments) {pixel_##name, rows_##name, NULL},
#include "gpu/stages.def"
#undef STAGE_ROW
};

const char *const stage_names[STAGE_COUNT] = {
#define STAGE_ROW(name, arguments) #name,
#include "gpu/stages.def"
#undef STAGE_ROW
};

const size_t stage_args_size[STAGE_COUNT] = {
#define STAGE_ROW(name, arguments) sizeof(struct arguments##_args),
#include "gpu/stages.def"
#undef STAGE_ROW
};

static struct backend_cpu *cpu_of(struct backend *b) {
    return (struct backend_cpu *)b;
}

static void *cpu_alloc(struct backend *b, size_t bytes) {
    (void)b;
    void *memory = NULL;
    return posix_memalign(&memory, 256, bytes ? bytes : 1) ? NULL : memory;
}

static void cpu_release(struct backend *b, void *memory) {
    (void)b;
    free(memory);
}

static void cpu_copy(struct backend *b, void *to, const void *from, size_t bytes) {
    (void)b;
    memcpy(to, from, bytes);
}

struct copy_job {
    char *to;
    const char *from;
    size_t block, bytes;
};

static void work_copy(void *context, int first, int last) {
    const struct copy_job *job = context;
    size_t start = (size_t)first * job->block, end = (size_t)last * job->block;
    end = end < job->bytes ? end : job->bytes;
    memcpy(job->to + start, job->from + start, end - start);
}

static void cpu_copy_crew(struct backend *b, void *to, const void *from, size_t bytes) {
    struct workers *w = cpu_of(b)->workers;
    int count = workers_count(w);
    struct copy_job job = {to, from, (bytes + (size_t)count - 1) / (size_t)count, bytes};
    workers_run(w, count, 1, work_copy, &job);
}

struct row_job {
    void (*rows)(const void *args, int width, int first, int last);
    const void *args;
    int width;
};

static void work_rows(void *context, int first, int last) {
    const struct row_job *job = context;
    job->rows(job->args, job->width, first, last);
}

static void cpu_run(struct backend *b, enum stage stage, const void *args, int width, int height) {
    struct backend_cpu *cpu = cpu_of(b);
    const struct cpu_stage *row = &cpu->stages[stage];
    if (row->light && row->light(args)) {
        row->rows(args, width, 0, height);
        return;
    }
    struct row_job job = {row->rows, args, width};
    int block = height / (4 * workers_count(cpu->workers));
    workers_run(cpu->workers, height, block < 1 ? 1 : block > 16 ? 16 : block, work_rows, &job);
}

static void cpu_mark(struct backend *b, int i) {
    cpu_of(b)->mark_ms[i] = clock_ms();
}

static double cpu_elapsed_ms(struct backend *b, int from, int to) {
    return cpu_of(b)->mark_ms[to] - cpu_of(b)->mark_ms[from];
}

static int cpu_finish(struct backend *b) {
    (void)b;
    return 0;
}

static void cpu_close(struct backend **b) {
    if (!*b)
        return;
    struct backend_cpu *cpu = cpu_of(*b);
    cpu_unshuffle(cpu);
    workers_close(&cpu->workers);
    free(cpu);
    *b = NULL;
}

/* Whether there are twins for this processor, which is asked here and not in their files: those are
 * compiled for AVX2 throughout, and on x86-64 alone. */
static int tune(struct backend_cpu *cpu) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        cpu_tune_avx2(cpu);
        return 1;
    }
#else
    (void)cpu;
#endif
    return 0;
}

static const struct backend cpu_base = {
    .alloc = cpu_alloc,
    .release = cpu_release,
    .alloc_host = cpu_alloc,
    .release_host = cpu_release,
    .upload = cpu_copy,
    .download = cpu_copy,
    .copy = cpu_copy_crew,
    .run = cpu_run,
    .mark = cpu_mark,
    .elapsed_ms = cpu_elapsed_ms,
    .finish = cpu_finish,
    .close = cpu_close,
};

struct backend *backend_cpu_open(int threads, enum cpu_form form, uint64_t seed, int *error) {
    struct backend_cpu *cpu = calloc(1, sizeof(*cpu));
    *error = cpu ? 0 : -ENOMEM;
    if (cpu) {
        cpu->base = cpu_base;
        cpu->workers = workers_open(form == CPU_SHUFFLED ? 1 : threads, error);
    }
    if (!*error && form == CPU_SHUFFLED)
        *error = cpu_shuffle(cpu, seed);
    if (*error) {
        log_error("cpu backend", "cannot start: %s", strerror(-*error));
        if (cpu)
            workers_close(&cpu->workers);
        free(cpu);
        return NULL;
    }
    memcpy(cpu->stages, plain_stages, sizeof(cpu->stages));
    int count = workers_count(cpu->workers);
    int tuned = form == CPU_TUNED && tune(cpu);
    snprintf(cpu->base.name, sizeof(cpu->base.name), "cpu (%s, %d thread%s)",
             tuned ? "avx2" : "plain", count, count > 1 ? "s" : "");
    return &cpu->base;
}
