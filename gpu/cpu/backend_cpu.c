/*
 * The CPU backend: a frame's passes one after the other, each stage as a loop over its pixels whose
 * rows are dealt out to a thread pool.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/backend_cpu.h"
#include "gpu/cpu/plain_rows.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool cpu_averages(const struct cross_args *a) {
    return (2 * a->longest_x + 1) * (2 * a->longest_y + 1) <= CROSS_PIXELS;
}

/* The form of UNIT_COSTS does not store these. */
static bool cpu_leaves_out(void *context, const struct graph *g, int i) {
    (void)context;
    int first = i;
    bool fits = g->passes[i].of == UNIT_COSTS;
    while (!g->passes[first].unit)
        first--;
    for (int k = first; k < first + g->passes[first].unit && fits; k++)
        if (g->passes[k].stage == STAGE_cross_x)
            fits = cpu_averages(graph_virtual_args(g, k));
    return fits;
}

struct level_unit cpu_level(const struct graph *g, int unit, int slot, enum stage start,
                            enum stage half_step, enum stage winner) {
    return (struct level_unit){.start = graph_unit_args(g, unit, start, 0, slot),
                               .args = graph_unit_args(g, unit, half_step, 0, slot),
                               .count = graph_unit_count(g, unit, half_step),
                               .winner = graph_unit_args(g, unit, winner, 0, slot),
                               .curve = graph_unit_args(g, unit, STAGE_cost_curve, 0, slot)};
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

void cpu_run_rows(struct thread_pool *pool, cpu_rows *rows, const void *args, int width,
                  int height) {
    struct stage_job job = {rows, args, width};
    int block = height / (4 * thread_pool_threads(pool));
    thread_pool_run(pool, height, stage_clamp(block, 1, 16), run_rows, &job);
}

static void run_unit(struct backend_cpu *cpu, const struct graph *g, int unit, int slot) {
    const struct pass *first = &g->passes[unit];
    cpu_unit *form = first->unit > 1 ? cpu->units[first->of] : NULL;
    int done = form ? form(cpu, g, unit, slot) : 0;
    cpu->base.fused += stage_max(done - 1, 0);
    for (int i = unit + done; i < unit + first->unit; i++)
        cpu_run_rows(cpu->pool, cpu->rows[g->passes[i].stage], graph_args(g, i, slot),
                     g->passes[i].width, g->passes[i].height);
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
            backend_transfer(&pass->transfer, pass->kind == PASS_UPLOAD, false,
                             graph_address(g, pass->transfer.buffer, slot),
                             &frame->memory[pass->transfer.host]);
        else
            run_unit(cpu, g, i, slot);
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
        __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vnni"))
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
    const char *vectors = cpu_vectors(variant), *plural = threads_running > 1 ? "s" : "";
    if (vectors) {
        static const bool apart[STAGE_COUNT];
        cpu->base.rules = (struct unit_rules){apart, cpu_leaves_out, cpu};
        cpu_optimise_avx2(cpu);
    }
#ifdef __x86_64__
    if (vectors && !strcmp(vectors, "avx512"))
        cpu_optimise_avx512(cpu);
#endif
    snprintf(cpu->base.name, sizeof(cpu->base.name), "cpu (%s, %d thread%s)",
             vectors ? vectors : "plain", threads_running, plural);
    return &cpu->base;
}
