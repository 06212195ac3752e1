/*
 * Times of the pipeline itself, on machines that have a GPU but no GLib (`make gpu-test`): whole
 * frames of presets, belief propagation beside the copy speed of the memory, labelling problems,
 * and the plain form of the stages, of which the library has no choice.
 * SPDX-License-Identifier: MIT
 */
#include "app/bench.h"
#include "config/clock.h"
#include "config/log.h"
#include "config/presets.h"
#include "config/solvers.h"
#include "gpu/mrf/min_sum_bytes.h"
#include "tests/frame_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SET = 32 };

struct options {
    int backend, variant;
    struct bench_size size;   /* 0: those of the table */
    struct params params;     /* of a preset, with what --set names over it */
    const char *set[MAX_SET]; /* NULL behind the last one */
};

/* ---- frames */

/* GB/s, read plus written, of a large block; the best of several runs. */
static double copy_speed(struct backend *b) {
    enum { REPEATS = 9 };
    size_t bytes = (size_t)(b->own_memory ? 2048 : 64) << 20; /* beyond any cache */
    void *from = b->alloc(b, MEMORY_STAGES, bytes), *to = b->alloc(b, MEMORY_STAGES, bytes);
    double best = 0;
    for (int i = 0; i < REPEATS && from && to; i++) {
        double started = clock_ms();
        if (b->copy(b, to, from, bytes))
            break;
        double speed = 2.0 * (double)bytes / ((clock_ms() - started) * 1e6);
        if (i > 0 && speed > best)
            best = speed;
    }
    b->release(b, MEMORY_STAGES, from);
    b->release(b, MEMORY_STAGES, to);
    return best;
}

/* Bytes that belief propagation must read and write where pairs of half-steps are one pass, starts
 * are read from the parents and the finest level ends with the labels, as on a GPU. */
static double bp_bytes(const struct bench_size *size, int levels, int iterations) {
    int padded = (size->labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK;
    int width = size->width, height = size->height;
    double bytes = 0;
    for (int l = 0; l < levels; l++) {
        double volume = (double)width * height * padded, parents = l + 1 < levels ? 1 : 0;
        int cost = l ? 2 : 1, even = iterations % 2 == 0, pairs = (iterations - 1) / 2;
        bytes += volume * (l + 1 < levels ? cost + 0.5 : 0); /* downsampling */
        bytes += volume * (even ? 0.5 * cost + parents + 2 : 0);
        for (int i = 0; i < pairs; i++)
            bytes += volume * (cost + (i || even ? 2 : parents) + 2);
        bytes += volume * (l ? 0.5 * cost + 4 : cost + 2);
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    return bytes;
}

static struct backend *open_backend(const struct options *o, int *error) {
    struct backend *b = NULL;
    if (o->backend != BACKEND_CPU)
        b = backend_cuda_open(o->params.gpu, o->variant, o->backend == BACKEND_AUTO, error);
    return b || o->backend == BACKEND_CUDA ? b
                                           : backend_cpu_open(o->params.threads, o->variant, error);
}

static int start(void *stereo, struct frame *f) {
    struct params params = *f->params;
    return frame_start(stereo, &params, f);
}

static int finish(void *stereo, struct frame *f) {
    return frame_finish(stereo, f);
}

static const char *stage_name(enum livestereo_stage stage) {
    return stage_time_names[stage];
}

/* Belief propagation from the cost volume on, where otherwise the first coarse level is made while
 * costs are computed. */
static int print_bp(struct stereo *s, struct bench_runner *r, struct frame *const frames[2],
                    const struct bench_size *size, struct bench_times *t, double copy) {
    const struct params *p = frames[0]->params;
    double bytes = bp_bytes(size, p->bp_levels, p->bp_iterations);
    size_t overlap_bytes = s->backend->overlap_bytes;
    s->pipeline.fence_solver = true;
    s->described = r->overlaps = false;
    s->backend->overlap_bytes = 0; /* nor does the right view run beside it */
    int error = bench_measure(r, frames, t);
    s->pipeline.fence_solver = s->described = false;
    s->backend->overlap_bytes = overlap_bytes;
    double ms = error ? 0 : bench_quantile(t->bp, t->count, 0.5);
    if (!error && copy > 0)
        printf("          left BP from costs to labels %.3f ms, %.3f GB, %.0f %% of copy speed\n",
               ms, bytes * 1e-9, 100 * bytes / (ms * 1e6) / copy);
    return error;
}

static int measure_size(const struct options *o, struct backend *b, const struct bench_size *size,
                        double copy) {
    static struct bench_times times;
    int error = 0;
    struct params params = o->params;
    params.disparity_range = size->labels;
    struct stereo *s = stereo_open_on(b, size->width, size->height, PICTURE_RGB, NULL, &error);
    if (!s)
        return error;
    struct frame_pool *pool = frame_pool(s, 2, size->width, size->height, 3);
    struct frame *frames[2] = {pool ? pool_take(pool) : NULL, pool ? pool_take(pool) : NULL};
    struct bench_runner runner = {s, start, finish, stereo_overlaps(s), BENCH_FRAMES, 0};
    error = pool ? 0 : -ENOMEM;
    for (int i = 0; i < 2 && pool; i++) {
        *frames[i]->params = params;
        bench_draw_pair(frames[i], size->labels);
    }
    if (!error)
        error = bench_measure(&runner, frames, &times);
    if (!error)
        bench_print_row(size, &times, stereo_bytes(s), stage_name);
    if (!error && b->own_memory && params.bp_schedule == BP_SCHEDULE_CHECKERBOARD)
        error = print_bp(s, &runner, frames, size, &times, copy);
    for (int i = 0; i < 2 && pool; i++)
        frame_drop(&frames[i]);
    pool_close(&pool);
    stereo_close(&s);
    return error;
}

static int measure_preset(const struct options *o, const char *name) {
    char title[256];
    int error = 0, count = 1;
    double copy = 0;
    for (int i = 0; i < count && !error; i++) {
        struct bench_size size = o->size.width ? o->size : bench_sizes[i];
        struct backend *b = open_backend(o, &error);
        if (!b)
            return error;
        if (o->size.labels || !size.labels)
            size.labels = o->size.labels ? o->size.labels : 64;
        if (i == 0) {
            copy = copy_speed(b);
            snprintf(title, sizeof(title), "%s, %s, copies %.0f GB/s", name, b->name, copy);
            bench_print_header(title);
            count = o->size.width ? 1 : b->own_memory ? BENCH_SIZES : BENCH_CPU_SIZES;
        }
        error = measure_size(o, b, &size, copy);
    }
    return error;
}

/* The exit code. */
static int measure_presets(struct options *o, const char *const *names) {
    int error = 0;
    char why[200];
    for (; *names && !error; names++) {
        const struct preset *preset = preset_find(*names);
        params_default(&o->params);
        if (!preset) {
            log_error("bench_gpu", "no preset \"%s\"", *names);
            return 2;
        }
        preset_apply(preset, &o->params);
        for (const char *const *set = o->set; *set; set++)
            if (params_assign(&o->params, *set, why, sizeof(why))) {
                log_error("--set", "%s", why);
                return 2;
            }
        error = measure_preset(o, *names);
    }
    return error ? 1 : 0;
}

/* ---- labelling problems */

static void random_costs(const void *context, int x, int y, float *cost) {
    const struct mrf_input *in = context;
    for (int l = 0; l < in->labels; l++) {
        uint64_t state = ((uint64_t)y << 40 | (uint64_t)x << 16 | (uint64_t)l) + 1;
        cost[l] = (float)(bench_random(&state) % 60);
    }
}

static double potts(const void *context, int edge_class, int l, int m) {
    (void)context;
    return l == m ? 0 : 20 * edge_class;
}

/* The time of min-sum with as many sweeps, in ms, negative where it failed, and a hash of the
 * labels. */
static double time_min_sum(const struct mrf *m, struct backend *b, int threads, int sweeps,
                           uint16_t *label, uint64_t *hash) {
    struct mrf_result result;
    const char *why;
    double started = clock_ms();
    int error = mrf_min_sum_in_bytes(m, sweeps, b, threads, NULL, label, &result, &why);
    double ms = clock_ms() - started;
    *hash = 0;
    for (int i = 0; i < m->width * m->height; i++)
        *hash = (*hash ^ label[i]) * 0x100000001b3u;
    return error ? -1 : ms;
}

/* Min-sum on random costs with Potts smoothness; the exit code. */
static int measure_problem(const struct options *o) {
    struct mrf_input in = {.width = o->size.width ? o->size.width : 1920,
                           .height = o->size.width ? o->size.height : 1080,
                           .labels = o->size.labels ? o->size.labels : 64,
                           .costs = random_costs,
                           .smoothness = potts,
                           .context = &in};
    int error = 0;
    struct mrf *m = NULL;
    struct backend *b = open_backend(o, &error);
    uint16_t *label = malloc((size_t)in.width * (size_t)in.height * sizeof(*label));
    if (b && label && !(error = mrf_open(&m, &in))) {
        uint64_t hash;
        int threads = o->params.threads;
        int more = b->own_memory ? 1100 : 2;          /* other sweeps, for the time of one */
        time_min_sum(m, b, threads, 2, label, &hash); /* warms up */
        double other = time_min_sum(m, b, threads, more, label, &hash),
               ms = time_min_sum(m, b, threads, 100, label, &hash);
        printf("min_sum %dx%d, %d labels, potts, %s: 100 sweeps %.1f ms, a half-step on all levels "
               "%.3f ms, labels %016llx\n",
               in.width, in.height, in.labels, b->name, ms, (ms - other) / (100 - more),
               (unsigned long long)hash);
        error = ms < 0 || other < 0;
    }
    mrf_close(&m);
    free(label);
    if (b)
        b->close(&b);
    return error || !label ? 1 : 0;
}

/* ---- the command line */

static int print_usage(FILE *to, int code) {
    fprintf(to, "usage: bench_gpu [OPTION..] [PRESET..]\n"
                "  frames of the presets, or of default, live and driving, on random textures\n"
                "  --backend auto|cpu|cuda  --plain (stages in their plain form)\n"
                "  --avx2 (on the CPU without AVX-512)\n"
                "  --size WxH  --labels N  --set NAME=VALUE (repeatable)\n"
                "  --solve (min-sum on a labelling problem instead)\n");
    return code;
}

/* Whether name is an option and value fits it. */
static bool set_option(struct options *o, const char *name, const char *value) {
    static const char *const backends[] = {"auto", "cpu", "cuda"};
    size_t set = 0;
    if (!value)
        return false;
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, "--backend") && !strcmp(value, backends[i])) {
            o->backend = i;
            return true;
        }
    if (!strcmp(name, "--size"))
        return sscanf(value, "%dx%d", &o->size.width, &o->size.height) == 2;
    if (!strcmp(name, "--labels"))
        return sscanf(value, "%d", &o->size.labels) == 1 && o->size.labels > 1;
    while (set + 1 < MAX_SET && o->set[set])
        set++;
    if (strcmp(name, "--set") != 0 || set + 1 == MAX_SET)
        return false;
    o->set[set] = value;
    return true;
}

int main(int argc, char **argv) {
    struct options o = {.variant = VARIANT_OPTIMISED};
    const char *const usual[] = {"default", "live", "driving", NULL}, *named[MAX_SET] = {0};
    int count = 0;
    bool solve = false;
    params_default(&o.params);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help"))
            return print_usage(stdout, 0);
        if (!strcmp(argv[i], "--solve"))
            solve = true;
        else if (!strcmp(argv[i], "--plain"))
            o.variant = VARIANT_PLAIN;
        else if (!strcmp(argv[i], "--avx2"))
            o.variant = VARIANT_AVX2;
        else if (argv[i][0] == '-' && set_option(&o, argv[i], argv[i + 1]))
            i++;
        else if (argv[i][0] == '-' || count + 1 == MAX_SET)
            return print_usage(stderr, 2);
        else
            named[count++] = argv[i];
    }
    if (solve) {
        char why[200];
        for (const char *const *set = o.set; *set; set++)
            if (params_assign(&o.params, *set, why, sizeof(why)))
                return print_usage(stderr, 2);
        return measure_problem(&o);
    }
    return measure_presets(&o, count ? named : usual);
}
