/*
 * See bench.h: the message stage alone, fast-converging updates, copy speed, and small helpers.
 * SPDX-License-Identifier: MIT
 */
#include "app/bench/bench.h"

#include "config/clock.h"
#include "gpu/stereo_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t bench_draw(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(double *values, int count, double share) {
    qsort(values, (size_t)count, sizeof(*values), ascending);
    return values[(int)(share * (count - 1) + 0.5)];
}

double bench_copy_gbs(struct backend *b) {
    enum { REPEATS = 9 };
    size_t bytes = (size_t)(b->own_memory ? 2048 : 64) << 20; /* beyond any cache */
    void *from = b->alloc(b, MEMORY_STAGES, bytes), *to = b->alloc(b, MEMORY_STAGES, bytes);
    double best = 0;
    for (int i = 0; i < REPEATS && from && to; i++) {
        double started = clock_ms();
        if (b->copy(b, to, from, bytes))
            break;
        double gbs = 2.0 * (double)bytes / ((clock_ms() - started) * 1e6);
        if (i > 0 && gbs > best)
            best = gbs;
    }
    b->release(b, MEMORY_STAGES, from);
    b->release(b, MEMORY_STAGES, to);
    return best;
}

/* Random costs and messages of one level in the memory of a backend. */
struct message_bench {
    struct message_args args;
    uint8_t *memory;
};

static int message_open(struct message_bench *m, struct backend *b, int width, int height,
                        int labels) {
    struct label_space space = {.u_count = labels, .v_count = 1};
    m->args = (struct message_args){.grid = grid_make(width, height, space)};
    size_t volume = grid_volume(&m->args.grid);
    uint64_t state = 7;
    m->memory = b->alloc(b, MEMORY_STAGES, (1 + DIRECTIONS) * volume);
    uint8_t *host = malloc((1 + DIRECTIONS) * volume);
    if (!m->memory || !host) {
        free(host);
        b->release(b, MEMORY_STAGES, m->memory);
        return -ENOMEM;
    }
    struct params p;
    params_default(&p);
    struct scaling scaling;
    scaling_make(&scaling, &p, 3);
    for (size_t i = 0; i < (1 + DIRECTIONS) * volume; i++)
        host[i] = (uint8_t)(bench_draw(&state) %
                            (uint64_t)(i < volume ? MAX_COST : scaling.truncation[0]));
    int error = b->copy(b, m->memory, host, (1 + DIRECTIONS) * volume);
    free(host);
    m->args.cost8 = m->memory;
    for (int r = 0; r < DIRECTIONS; r++)
        m->args.message[r] = m->memory + (size_t)(1 + r) * volume;
    memset(m->args.rho, scaling.rho[0], sizeof(m->args.rho));
    memset(m->args.truncation, scaling.truncation[0], sizeof(m->args.truncation));
    return error;
}

/* Median time of a half-step, in ms. */
static double message_ms(enum backend_variant variant, int width, int height, int labels,
                         int repeats, int *error) {
    struct backend *b = backend_cpu_open(1, variant, error);
    struct message_bench m;
    if (!b)
        return 0;
    *error = message_open(&m, b, width, height, labels);
    if (*error) {
        b->close(&b);
        return 0;
    }
    double times[101];
    for (int i = -1; i < repeats; i++) {
        m.args.iteration = i & 1;
        double started = clock_ms();
        int failed = backend_run_stage(b, STAGE_message, &m.args, m.args.grid.half, height);
        *error = *error ? *error : failed;
        times[i < 0 ? 0 : i] = clock_ms() - started;
    }
    b->release(b, MEMORY_STAGES, m.memory);
    b->close(&b);
    return bench_quantile(times, repeats, 0.5);
}

int bench_message(const struct bench_options *o) {
    static const int sizes[][3] = {{384, 288, 16}, {1242, 375, 128}, {640, 480, 64}};
    int error = 0, count = o->width ? 1 : 3;
    double ratio = 0;
    printf("one half-step of the message stage, one core, ms (medians)\n"
           "size      labels     plain optimised ratio\n");
    for (int i = 0; i < count && !error; i++) {
        int width = o->width ? o->width : sizes[i][0], height = o->width ? o->height : sizes[i][1];
        int labels = o->labels ? o->labels : o->width ? 64 : sizes[i][2];
        double plain = message_ms(VARIANT_PLAIN, width, height, labels, 9, &error);
        double optimised =
            error ? 0 : message_ms(VARIANT_OPTIMISED, width, height, labels, 41, &error);
        ratio = error ? 0 : plain / optimised;
        printf("%4dx%-4d %4d  %9.3f %8.3f %6.1f\n", width, height, labels, plain, optimised, ratio);
    }
    if (!error)
        printf("ratio %.1f\n", ratio);
    return error;
}

struct params bench_plain_params(int labels) {
    struct params p;
    params_default(&p);
    p.disparity_range = labels;
    p.data_curve = CURVE_TRUNCATED;
    p.cost_smoothing = COST_SMOOTHING_OFF;
    p.subpixel = SUBPIXEL_OFF;
    p.lr_check = LR_CHECK_OFF;
    p.speckle_size = 0;
    p.fill = 0;
    p.median_radius = 0;
    return p;
}

/* Settings of Yang et al. 2006 on five levels. */
static struct params converging_params(int labels) {
    struct params p = bench_plain_params(labels);
    p.data_cost = DATA_COST_AD;
    p.data_weight = 0.15;
    p.data_truncation = 30;
    p.discontinuity_weight = 1;
    p.discontinuity_truncation = 2;
    p.truncation_by_range = 1;
    p.edge_factor_1 = p.edge_factor_2 = 1;
    p.bp_levels = 5;
    return p;
}

/* Median over runs of the time of belief propagation, ms, and the energy of its labels. */
static int time_bp(struct stereo *s, const struct params *p, struct frame *f, double *ms,
                   double *energy) {
    enum { RUNS = 11 };
    double times[RUNS];
    int error = 0;
    for (int i = -2; i < RUNS && !error; i++) {
        error = stereo_run(s, p, f);
        times[i < 0 ? 0 : i] = f->stage_ms[TIME_BP];
    }
    *ms = bench_quantile(times, RUNS, 0.5);
    return error ? error : stereo_energy(s, energy);
}

static void print_updated(const struct frame *f) {
    printf("tiles updated at the finest level, %%:");
    for (int i = 0; i < f->updated_count; i += i < 8 ? 1 : 8)
        printf(" %d: %.1f", i, 100 * (double)f->updated[i]);
    printf("\n");
}

static int compare_converging(struct stereo *s, struct frame *f, int labels) {
    static const double thresholds[] = {0, 0.005, 0.01, 0.02, 0.05, 0.1};
    struct params p = converging_params(labels);
    double few_ms, plain_ms, ms, plain_energy, energy;
    p.bp_iterations = 5;
    int error = time_bp(s, &p, f, &few_ms, &energy);
    if (!error)
        printf("%s, %dx%d, %d labels\n5 half-steps a level: %.3f ms, energy %.0f\n",
               stereo_backend(s), f->left.width, f->left.height, labels, few_ms, energy);
    p.bp_iterations = 100;
    error = error ? error : time_bp(s, &p, f, &plain_ms, &plain_energy);
    if (!error)
        printf("100 half-steps a level: %.3f ms, energy %.0f\n", plain_ms, plain_energy);
    p.bp_fast_converging = 1;
    for (int i = 0; i < (int)(sizeof(thresholds) / sizeof(thresholds[0])) && !error; i++) {
        p.bp_convergence_threshold = thresholds[i];
        error = time_bp(s, &p, f, &ms, &energy);
        if (error)
            break;
        printf("100 with active tiles, threshold %.3f of T: %.3f ms, %.1f %% of plain, energy "
               "%+.4f %%\n",
               thresholds[i], ms, 100 * ms / plain_ms, 100 * (energy / plain_energy - 1));
        print_updated(f);
    }
    return error;
}

int bench_pair(const struct bench_options *o, const struct image *left, const struct image *right,
               int (*measure)(struct stereo *s, struct frame *f, int labels)) {
    int error = 0;
    struct backend *b = bench_backend(o, &error);
    struct stereo *s =
        b ? stereo_open_on(b, left->width, left->height, left->channels, NULL, &error) : NULL;
    if (!s)
        return 1;
    struct frame_pool *pool =
        pool_open(1, left->width, left->height, left->channels, 0, stereo_frame_alloc(s));
    struct frame *f = pool ? pool_take(pool) : NULL;
    error = f ? 0 : -ENOMEM;
    if (!error) {
        memcpy(f->left.data, left->data, image_bytes(left));
        memcpy(f->right.data, right->data, image_bytes(right));
        error = measure(s, f, o->labels);
    }
    if (f)
        frame_drop(&f);
    pool_close(&pool);
    stereo_close(&s);
    return error ? 1 : 0;
}

int bench_converging(const struct bench_options *o, const struct image *left,
                     const struct image *right) {
    return bench_pair(o, left, right, compare_converging);
}
