/*
 * The functions of app/bench/bench.h. SPDX-License-Identifier: MIT
 */
#include "app/bench/bench.h"

#include "base/clock.h"
#include "base/quantile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct bench_size bench_sizes[BENCH_SIZES] = {
    {384, 288, 16},   {450, 375, 64},    {640, 480, 64},    {1242, 375, 128},
    {1280, 720, 128}, {1920, 1080, 128}, {1920, 1080, 256},
};

/* The next number of splitmix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void bench_draw_pair(struct frame *f, int labels) {
    uint64_t state = 1;
    int w = f->left.width, h = f->left.height;
    size_t channels = (size_t)f->left.channels;
    for (size_t i = 0; i < image_bytes(&f->right); i++)
        f->right.data[i] = (uint8_t)next_random(&state);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int from = x - (y / 40 * 7 + x / 100 * 3) % labels;
            size_t row = (size_t)y * (size_t)w;
            memcpy(f->left.data + (row + (size_t)x) * channels,
                   f->right.data + (row + (size_t)(from < 0 ? 0 : from)) * channels, channels);
        }
}

static int start(struct bench_runner *r, struct frame *f) {
    f->index = r->number++;
    return r->start(r->context, f);
}

static double stages_ms(const struct frame *f) {
    double sum = 0;
    for (int i = LIVESTEREO_UPLOAD + 1; i < LIVESTEREO_DOWNLOAD; i++)
        sum += f->stage_ms[i];
    return sum;
}

static int measure_alone(struct bench_runner *r, struct frame *f, struct bench_times *t) {
    double started = 0;
    for (int i = -1; i < r->frames; i++) {
        int error = start(r, f) ?: r->finish(r->context, f);
        if (error)
            return error;
        if (i < 0) {
            started = clock_ms();
            continue;
        }
        t->stages[t->count] = stages_ms(f);
        t->bp[t->count] = f->left_bp_ms;
        t->whole[t->count++] = f->compute_ms;
        if (i >= 2 && clock_ms() - started > 3000)
            break;
    }
    memcpy(t->stage, f->stage_ms, sizeof(t->stage));
    return 0;
}

static int measure_overlapped(struct bench_runner *r, struct frame *const f[2],
                              struct bench_times *t) {
    enum { WARM = 4 };
    double started = 0;
    int error = 0, issued = 0, finished = 0;
    while (issued < t->count + WARM && !error) {
        if (issued == WARM)
            started = clock_ms();
        error = start(r, f[issued & 1]);
        issued += !error;
        if (issued > 1 && !error)
            error = r->finish(r->context, f[finished++ & 1]);
    }
    for (; finished < issued; finished++) { /* one, or what an error left in flight */
        int last = r->finish(r->context, f[finished & 1]);
        error = error ? error : last;
    }
    t->overlapped = (clock_ms() - started) / t->count;
    return error;
}

int bench_measure(struct bench_runner *r, struct frame *const frames[2], struct bench_times *t) {
    *t = (struct bench_times){0};
    int error = measure_alone(r, frames[0], t);
    return error || !r->overlaps ? error : measure_overlapped(r, frames, t);
}

void bench_print_header(const char *title) {
    printf(
        "%s\nsize      labels   frame ms       p10..p90       overlapped    stages  left BP    MiB "
        "frames\n",
        title);
}

void bench_print_row(const struct bench_size *size, struct bench_times *t, size_t memory,
                     const char *(*stage_name)(enum livestereo_stage stage)) {
    double whole = quantile_between(t->whole, t->count, 0.5);
    double low = quantile_between(t->whole, t->count, 0.1),
           high = quantile_between(t->whole, t->count, 0.9);
    printf("%4dx%-4d %6d  %9.3f %9.3f..%-9.3f %11.3f %9.3f %8.3f %6.0f %6d\n         ", size->width,
           size->height, size->labels, whole, low, high, t->overlapped,
           quantile_between(t->stages, t->count, 0.5), quantile_between(t->bp, t->count, 0.5),
           (double)memory / (1 << 20), t->count);
    for (int i = 0; i < FRAME_STAGES; i++)
        printf(" %s %.2f", stage_name((enum livestereo_stage)i), t->stage[i]);
    printf("\n");
    fflush(stdout);
}
