/*
 * The CPU backend: a frame's passes one after the other, each stage as a loop over its pixels whose
 * rows are dealt out to a thread pool.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/backend_cpu.h"

#include "config/clock.h"
#include "config/log.h"
#include "gpu/fusion.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAGE_ROW(name, arguments, reach_x, reach_y, ...)                                      \
    static void rows_##name(const void *args, int width, int first, int last, void *scratch) { \
        (void)scratch;                                                                         \
        for (int y = first; y < last; y++)                                                     \
            for (int x = 0; x < width; x++)                                                    \
                stage_##name((const struct arguments##_args *)args, x, y);                     \
    }
#include "gpu/stages/stages.def"
#undef STAGE_ROW

static cpu_rows *const plain_rows[STAGE_COUNT] = {
#define STAGE_ROW(name, arguments, reach_x, reach_y, ...) rows_##name,
#include "gpu/stages/stages.def"
#undef STAGE_ROW
};

static struct backend_cpu *cpu_of(struct backend *b) {
    return (struct backend_cpu *)b;
}

static void *cpu_alloc(struct backend *b, enum memory_kind kind, size_t bytes) {
    (void)b;
    (void)kind;
    return backend_host_alloc(bytes);
}

static void cpu_release(struct backend *b, enum memory_kind kind, void *memory) {
    (void)b;
    (void)kind;
    free(memory);
}

static int cpu_copy(struct backend *b, void *to, const void *from, size_t bytes) {
    (void)b;
    memcpy(to, from, bytes);
    return 0;
}

/* The passes of a cost_unit from number i on, at most 1 where there is none. */
static int costs_unit(const struct backend_cpu *cpu, const struct graph *g, int i) {
    int count = fusion_costs(g, i);
    for (int k = i; k < i + count; k++)
        if (g->passes[k].stage == STAGE_cross_x && !cpu->cross_fits(graph_virtual_args(g, k)))
            return 0;
    return count;
}

static void run_costs(struct backend_cpu *cpu, const struct graph *g, int i, int slot) {
    struct cost_unit u = {0};
    bool second;
    for (int k = i; k < i + g->passes[i].unit; k++) {
        const void *args = graph_args(g, k, slot);
        switch (g->passes[k].stage) {
        case STAGE_cost:
            u.match = args;
            break;
        case STAGE_cross_x:
            u.along = args;
            break;
        case STAGE_cross_y:
            u.down = args;
            break;
        default:
            second = u.half || ((const struct downsample_cost_args *)args)->levels > 1;
            *(second ? &u.quarter : &u.half) = args;
        }
    }
    cpu->costs(cpu->pool, &u);
}

static void run_level(struct backend_cpu *cpu, const struct graph *g, int i, int slot) {
    struct level_unit u = {0};
    bool pruned = false;
    for (int k = i; k < i + g->passes[i].unit; k++) {
        const void *args = graph_args(g, k, slot);
        switch (g->passes[k].stage) {
        case STAGE_start_messages:
        case STAGE_pruned_start:
            u.start = args;
            break;
        case STAGE_message:
        case STAGE_pruned_message:
            pruned = g->passes[k].stage == STAGE_pruned_message;
            u.args = u.count++ ? u.args : args;
            break;
        case STAGE_winner_takes_all:
        case STAGE_pruned_winner:
            u.winner = args;
            break;
        default:
            u.curve = args;
        }
    }
    (pruned ? cpu->pruned_steps : cpu->half_steps)(cpu->pool, &u);
}

/* Half-steps in which all tiles are active may run as one, after messages from the level above as
 * well, which then need not be stored, and data costs. */
static int cpu_unit(struct backend *b, const struct graph *g, int i) {
    const struct backend_cpu *cpu = cpu_of(b);
    int costs = cpu->costs ? costs_unit(cpu, g, i) : 0;
    if (costs > 1)
        return -costs;
    if (!cpu->half_steps || !cpu->pruned_steps)
        return 1;
    if (g->passes[i].stage == STAGE_sum_message)
        return fusion_sum_steps(g, i);
    int start = fusion_starts_level(g, i) || fusion_starts_pruned(g, i),
        steps = stage_max(fusion_half_steps(g, i + start), fusion_pruned_steps(g, i + start));
    return steps > 0 ? start + steps + fusion_labels(g, i + start + steps) : 1;
}

/* The list of passes is run as it is. */
static void *cpu_compile(struct backend *b, void *previous, const struct graph *g) {
    (void)b;
    (void)previous;
    return (void *)g;
}

static void cpu_discard(struct backend *b, void *compiled) {
    (void)b;
    (void)compiled;
}

struct stage_job {
    cpu_rows *rows;
    const void *args;
    int width;
};

static void run_rows(void *context, int first, int last, void *scratch) {
    const struct stage_job *job = context;
    job->rows(job->args, job->width, first, last, scratch);
}

static void run_stage(struct backend_cpu *cpu, const struct pass *pass, const void *args) {
    struct stage_job job = {cpu->rows[pass->stage], args, pass->width};
    if (pass->stage == STAGE_pruned_cost && cpu->kept_costs) {
        cpu->kept_costs(cpu->pool, args);
        return;
    }
    if (cpu->is_small[pass->stage] && cpu->is_small[pass->stage](args)) {
        job.rows(args, pass->width, 0, pass->height, thread_pool_scratch(cpu->pool));
        return;
    }
    int block = pass->height / (4 * thread_pool_threads(cpu->pool));
    thread_pool_run(cpu->pool, pass->height, stage_clamp(block, 1, 16), run_rows, &job);
}

/* What cpu_unit() found from pass i on. */
static void run_unit(struct backend_cpu *cpu, const struct graph *g, int i, int slot) {
    switch (g->passes[i].stage) {
    case STAGE_cost:
    case STAGE_cross_x:
    case STAGE_downsample_cost:
        run_costs(cpu, g, i, slot);
        break;
    case STAGE_sum_message:
        cpu->sum_steps(cpu->pool, graph_args(g, i, slot), g->passes[i].unit);
        break;
    default:
        run_level(cpu, g, i, slot);
    }
}

static void cpu_run(struct backend *b, void *compiled, int slot,
                    const struct backend_frame *frame) {
    struct backend_cpu *cpu = cpu_of(b);
    const struct graph *g = compiled;
    double before = clock_ms();
    memset(cpu->ms, 0, sizeof(cpu->ms));
    for (int i = 0; i < g->count; i += g->passes[i].unit) {
        const struct pass *pass = &g->passes[i];
        if (pass->kind != PASS_STAGE)
            backend_transfer(&pass->transfer, pass->kind == PASS_UPLOAD,
                             graph_address(g, pass->transfer.buffer, slot),
                             &frame->memory[pass->transfer.host]);
        else if (pass->unit > 1)
            run_unit(cpu, g, i, slot);
        else
            run_stage(cpu, pass, graph_args(g, i, slot));
        double now = clock_ms();
        cpu->ms[pass->group] += now - before;
        before = now;
    }
}

static int cpu_wait(struct backend *b, int slot) {
    (void)b;
    (void)slot;
    return 0;
}

static void cpu_times(struct backend *b, int slot, double *ms) {
    (void)slot;
    memcpy(ms, cpu_of(b)->ms, sizeof(cpu_of(b)->ms));
}

static void cpu_close(struct backend **b) {
    if (!*b)
        return;
    struct backend_cpu *cpu = cpu_of(*b);
    thread_pool_close(&cpu->pool);
    free(cpu);
    *b = NULL;
}

/* Asked here and not in the files of the optimised stages: on x86-64 those are compiled for AVX2
 * throughout. */
const char *cpu_vectors(enum backend_variant variant) {
    if (variant == VARIANT_PLAIN)
        return NULL;
#ifdef __x86_64__
    if (variant == VARIANT_OPTIMISED && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512bitalg"))
        return "avx512";
    return __builtin_cpu_supports("avx2") ? "avx2" : NULL;
#elif defined(__ARM_NEON)
    return "neon";
#else
    return "simde";
#endif
}

static const struct backend cpu_base = {
    .slots = 1,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .copy = cpu_copy,
    .unit = cpu_unit,
    .compile = cpu_compile,
    .discard = cpu_discard,
    .run = cpu_run,
    .wait = cpu_wait,
    .times = cpu_times,
    .close = cpu_close,
};

struct backend *backend_cpu_open(int threads, enum backend_variant variant, int *error) {
    struct backend_cpu *cpu = calloc(1, sizeof(*cpu));
    *error = cpu ? 0 : -ENOMEM;
    if (cpu) {
        cpu->base = cpu_base;
        cpu->pool = thread_pool_open(threads, SCRATCH_BYTES, error);
    }
    if (*error) {
        log_error("cpu backend", "cannot start: %s", strerror(-*error));
        free(cpu);
        return NULL;
    }
    memcpy(cpu->rows, plain_rows, sizeof(plain_rows));
    int threads_running = thread_pool_threads(cpu->pool);
    const char *vectors = cpu_vectors(variant);
    if (vectors)
        cpu_optimise_avx2(cpu);
#ifdef __x86_64__
    if (vectors && !strcmp(vectors, "avx512"))
        cpu_optimise_avx512(cpu);
#endif
    snprintf(cpu->base.name, sizeof(cpu->base.name), "cpu (%s, %d thread%s)",
             vectors ? vectors : "plain", threads_running, threads_running > 1 ? "s" : "");
    return &cpu->base;
}
