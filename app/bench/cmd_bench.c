/*
 * livestereo bench: times of whole frames on random textures. SPDX-License-Identifier: MIT
 */
#include "app/bench/bench.h"
#include "app/commands.h"
#include "app/matcher.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>

enum { CHANNELS = 3 };

struct bench {
    struct common_options common;
    struct params params;
    char *size_text;
    struct bench_size size; /* 0: those of the table */
    int frames;
};

static int start_frame(void *context, struct frame *f) {
    struct params params = *f->params;
    return matcher_start(context, &params, f);
}

static int finish_frame(void *context, struct frame *f) {
    return matcher_finish(context, f);
}

static struct matcher *open_matcher(const struct params *params, const struct bench_size *size,
                                    int *code) {
    if (log_get_level() == LOG_INFO)
        log_set_level(LOG_WARNING); /* the table says what the matcher does */
    return matcher_open(params, "bench", size->width, size->height, CHANNELS, NULL, NULL, false,
                        code);
}

/* Whether the backend has two frames in flight, as those of GPUs do. */
static bool overlaps(const struct livestereo_info *info) {
    return info->frames_in_flight > 1;
}

/* One row. *on_gpu gets what computed it. The exit code. */
static int measure_size(const struct bench *b, const struct bench_size *size, bool with_header,
                        bool *on_gpu) {
    struct params params = b->params;
    int code;
    params.disparity_range = size->labels;
    struct matcher *m = open_matcher(&params, size, &code);
    if (!m)
        return code;
    struct livestereo_info info = matcher_info(m);
    struct frame_pool *pool =
        pool_open(2, size->width, size->height, CHANNELS, 0, matcher_frame_alloc(m));
    struct frame *frames[2] = {NULL, NULL};
    g_autofree struct bench_times *times = g_new(struct bench_times, 1);
    struct bench_runner runner = {
        m, start_frame, finish_frame, overlaps(&info), b->frames ? b->frames : BENCH_FRAMES, 0};
    int error = pool ? 0 : -ENOMEM;
    for (int i = 0; i < 2 && pool; i++) {
        frames[i] = pool_take(pool);
        *frames[i]->params = params;
        bench_draw_pair(frames[i], size->labels);
    }
    if (!error)
        error = bench_measure(&runner, frames, times);
    info = matcher_info(m);
    *on_gpu = overlaps(&info);
    if (!error && with_header)
        bench_print_header(info.backend);
    if (!error)
        bench_print_row(size, times, info.memory, livestereo_stage_name);
    for (int i = 0; i < 2 && pool; i++)
        frame_drop(&frames[i]);
    pool_close(&pool);
    matcher_close(&m);
    return error ? EXIT_RUN_FAILED : EXIT_DONE;
}

static int measure_frames(const struct bench *b) {
    int count = b->size.width ? 1 : BENCH_SIZES, code = EXIT_DONE;
    bool on_gpu = true;
    for (int i = 0; i < count && code == EXIT_DONE && (on_gpu || i < BENCH_CPU_SIZES); i++) {
        struct bench_size size = b->size.width ? b->size : bench_sizes[i];
        if (b->size.labels || !size.labels)
            size.labels = b->size.labels ? b->size.labels : 64;
        code = measure_size(b, &size, i == 0, &on_gpu);
    }
    return code;
}

/* GO_ON or EXIT_USAGE. */
static int check_options(struct bench *b) {
    struct bench_size *s = &b->size;
    if (option_size("--size", b->size_text, MIN_FRAME_SIDE, &s->width, &s->height) != GO_ON)
        return EXIT_USAGE;
    if (option_check("--labels", s->labels, 2, LIVESTEREO_MAX_LABELS) != GO_ON)
        return EXIT_USAGE;
    return option_check("--frames", b->frames, 1, BENCH_MAX_FRAMES);
}

/* ---- the command */

int cmd_bench(int argc, char **argv) {
    struct bench b = {.common.first_preset = "default"};
    const GOptionEntry entries[] = {
        {"size", 0, 0, G_OPTION_ARG_STRING, &b.size_text, "Pictures of this size alone", "WxH"},
        {"labels", 0, 0, G_OPTION_ARG_INT, &b.size.labels, "Disparities to search", "N"},
        {"frames", 0, 0, OPTION_COUNT, &b.frames, "Frames to measure (51)", "N"},
        {0},
    };
    int code = options_parse(
        &argc, &argv, "",
        "Measures the speed of frames on random textures: whole frames alone and overlapped,\n"
        "from the first stage to the last, and belief propagation of the left view, in ms.",
        "Examples:\n"
        "  livestereo bench --preset live\n"
        "  livestereo bench --set backend=cpu --set threads=1 --size 640x480 --labels 64\n",
        entries, &b.common, &b.params);
    if (code == GO_ON && argc > 1)
        code = log_fail(EXIT_USAGE, "bench", "does not measure '%s'; see livestereo bench --help",
                        argv[1]);
    if (code == GO_ON)
        code = check_options(&b);
    if (code == GO_ON)
        code = measure_frames(&b);
    options_free(&b.common);
    return code;
}
