/*
 * See bench.h: the message stage alone, fast-converging updates, copy speed, and small helpers.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/bench.h"

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
    size_t bytes = (size_t)(b->own_memory ? 1024 : 64) << 20; /* beyond any cache */
    void *from = b->alloc(b, bytes), *to = b->alloc(b, bytes);
    double best = 0;
    if (from && to && b->copy) {
        for (int i = 0; i < REPEATS; i++) {
            b->mark(b, 0);
            b->copy(b, to, from, bytes);
            b->mark(b, 1);
            if (b->finish(b))
                break;
            double gbs = 2.0 * (double)bytes / (b->elapsed_ms(b, 0, 1) * 1e6);
            if (i > 0 && gbs > best)
                best = gbs;
        }
    }
    b->release(b, from);
    b->release(b, to);
    return best;
}

/* Random costs and messages of one level in the memory of a backend. */
struct message_bench {
    struct message_args args;
    uint8_t *memory;
};

static int message_open(struct message_bench *m, struct backend *b, int width, int height,
                        int labels) {
    int padded = (labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK;
    m->args = (struct message_args){.grid = {width, height, (width + 1) / 2, labels, padded}};
    size_t volume = grid_volume(&m->args.grid);
    uint64_t state = 7;
    m->memory = b->alloc(b, (1 + DIRECTIONS) * volume);
    uint8_t *host = malloc((1 + DIRECTIONS) * volume);
    if (!m->memory || !host) {
        free(host);
        b->release(b, m->memory);
        return -ENOMEM;
    }
    struct params p;
    params_default(&p);
    struct scaling scaling;
    scaling_make(&scaling, &p, 3);
    for (size_t i = 0; i < (1 + DIRECTIONS) * volume; i++)
        host[i] = (uint8_t)(bench_draw(&state) %
                            (uint64_t)(i < volume ? COST_MOST : scaling.truncation[0]));
    b->upload(b, m->memory, host, (1 + DIRECTIONS) * volume);
    int error = b->finish(b);
    free(host);
    m->args.cost8 = m->memory;
    for (int r = 0; r < DIRECTIONS; r++)
        m->args.message[r] = m->memory + (size_t)(1 + r) * volume;
    memset(m->args.rho, scaling.rho[0], sizeof(m->args.rho));
    memset(m->args.truncation, scaling.truncation[0], sizeof(m->args.truncation));
    return error;
}

/* Median time of a half-step, in ms. */
static double message_ms(int form, int width, int height, int labels, int repeats, int *error) {
    struct backend *b = backend_cpu_open(1, (enum cpu_form)form, 0, error);
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
        b->run(b, STAGE_message, &m.args, m.args.grid.half, height);
        *error = *error ? *error : b->finish(b);
        times[i < 0 ? 0 : i] = clock_ms() - started;
    }
    b->release(b, m.memory);
    b->close(&b);
    return bench_quantile(times, repeats, 0.5);
}

int bench_message(const struct bench_options *o) {
    static const int sizes[][3] = {{384, 288, 16}, {1242, 375, 128}, {640, 480, 64}};
    int error = 0, count = o->width ? 1 : 3;
    double ratio = 0;
    printf("one half-step of the message stage, one core, ms (medians)\n"
           "size      labels     plain    tuned  ratio\n");
    for (int i = 0; i < count && !error; i++) {
        int width = o->width ? o->width : sizes[i][0], height = o->width ? o->height : sizes[i][1];
        int labels = o->labels ? o->labels : o->width ? 64 : sizes[i][2];
        double plain = message_ms(CPU_PLAIN, width, height, labels, 9, &error);
        double tuned = error ? 0 : message_ms(CPU_TUNED, width, height, labels, 41, &error);
        ratio = error ? 0 : plain / tuned;
        printf("%4dx%-4d %4d  %9.3f %8.3f %6.1f\n", width, height, labels, plain, tuned, ratio);
    }
    if (!error)
        printf("ratio %.1f\n", ratio);
    return error;
}

/* Settings of Yang et al. 2006 on five levels. */
static struct params resting_params(int labels) {
    struct params p;
    params_default(&p);
    p.disparity_range = labels;
    p.data_cost = DATA_COST_AD;
    p.data_curve = CURVE_TRUNCATED;
    p.data_weight = 0.15;
    p.data_truncation = 30;
    p.discontinuity_weight = 1;
    p.discontinuity_truncation = 2;
    p.truncation_by_range = 1;
    p.edge_factor_1 = p.edge_factor_2 = 1;
    p.cost_smoothing = COST_SMOOTHING_OFF;
    p.subpixel = SUBPIXEL_OFF;
    p.lr_check = LR_CHECK_OFF;
    p.fill = 0;
    p.median_radius = 0;
    p.bp_levels = 5;
    return p;
}

/* Median over runs of the time of BP, ms. */
static int time_bp(struct stereo *s, const struct params *p, struct frame *f, int runs,
                   double *ms) {
    double times[64];
    int error = 0;
    for (int i = -1; i < runs && !error; i++) {
        error = stereo_run(s, p, f);
        times[i < 0 ? 0 : i] = f->stage_ms[TIME_BP];
    }
    *ms = bench_quantile(times, runs, 0.5);
    return error;
}

static void print_updated(const struct frame *f) {
    printf("messages computed at the finest level, %% of all:");
    for (int i = 0; i < f->updated_count; i += i < 8 ? 1 : 8)
        printf(" %d: %.2f", i, 100 * (double)f->updated[i]);
    printf("\n");
}

static int compare_resting(struct stereo *s, struct frame *f, int labels) {
    struct params plain = resting_params(labels), resting = plain;
    double plain_ms, resting_ms, energy, ratio = 0;
    plain.bp_iterations = 5;
    resting.bp_iterations = 100;
    int error = time_bp(s, &plain, f, 31, &plain_ms);
    if (!error)
        error = stereo_energy(s, &energy);
    if (error)
        return error;
    printf("%s\n5 plain half-steps a level: %.3f ms, energy %.0f\n", stereo_backend(s), plain_ms,
           energy);
    static const double thresholds[] = {0, 0.01, 0.02, 0.05, 0.1};
    resting.bp_resting = 1;
    for (int i = 4; i >= 0 && !error; i--) {
        resting.bp_rest_threshold = thresholds[i];
        error = time_bp(s, &resting, f, 11, &resting_ms);
        if (!error)
            error = stereo_energy(s, &energy);
        ratio = resting_ms / plain_ms;
        printf("100 resting half-steps a level, threshold %.3f of T: %.3f ms, energy %.0f, ratio "
               "%.2f\n",
               thresholds[i], resting_ms, energy, ratio);
        print_updated(f);
    }
    if (!error)
        printf("ratio %.2f\n", ratio);
    return error;
}

int bench_resting(const struct image *left, const struct image *right, int labels) {
    int error = 0;
    struct bench_options o = {.backend = BACKEND_AUTO};
    struct backend *b = bench_backend(&o, &error);
    if (!b)
        return 1;
    struct stereo *s = stereo_open_on(b, left->width, left->height, left->channels, NULL, &error);
    if (!s)
        return 1;
    struct frame_pool *pool =
        pool_open(1, left->width, left->height, left->channels, 0, stereo_frame_alloc(s));
    struct frame *f = pool ? pool_take(pool) : NULL;
    error = f ? 0 : -ENOMEM;
    if (!error) {
        memcpy(f->left.data, left->data, image_bytes(left));
        memcpy(f->right.data, right->data, image_bytes(right));
        error = compare_resting(s, f, labels);
    }
    if (f)
        frame_drop(&f);
    pool_close(&pool);
    stereo_close(&s);
    return error ? 1 : 0;
}
