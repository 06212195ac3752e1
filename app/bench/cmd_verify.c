/*
 * livestereo verify: computes a built-in sequence with each preset and backend, and compares the
 * hashes of the maps with those that are compiled in. Pictures and rectification tables are made of
 * integers, so they are the same on all machines.
 * SPDX-License-Identifier: MIT
 */
#include "app/bench/bench.h"
#include "app/commands.h"
#include "app/matcher.h"
#include "base/log.h"
#include "config/presets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 112, HEIGHT = 48, PIXELS = WIDTH * HEIGHT, CHANNELS = 3, SKY = 12 };
enum { LABELS = 40, FRAMES = 3 };

static const struct {
    const char *preset, *hash;
} built_in[] = {
#include "app/bench/verify_hashes.inc" /* by make verify-hashes */
};

struct verify {
    struct common_options common;
    struct params params;
    char *backend;
    int results, different;
};

static bool is_built_in(const char *preset, const char *hash) {
    for (size_t i = 0; i < G_N_ELEMENTS(built_in); i++)
        if (strcmp(built_in[i].preset, preset) == 0)
            return strcmp(built_in[i].hash, hash) == 0;
    return false;
}

/* ---- one preset */

static struct matcher *open_matcher(const struct params *params, int *code) {
    g_autofree struct rectify_point *points = g_new(struct rectify_point, PIXELS);
    const struct rectify_map map = {.width = WIDTH, .height = HEIGHT, .point = points};
    bench_turn(points, WIDTH, HEIGHT);
    return matcher_open(params, "verify", WIDTH, HEIGHT, CHANNELS, (struct rectify_map[]){map, map},
                        NULL, true, code);
}

/* One colour of a point: lumps of 6 px with noise, and a sky without either. */
static uint8_t texture(int x, int y, int c) {
    uint64_t fine = (uint64_t)(y << 16 | x << 2 | c),
             lump = (uint64_t)(y / 6 << 16 | x / 6 << 2 | c);
    return (uint8_t)(y < SKY ? 200 : bench_random(&fine) % 80 + bench_random(&lump) % 170);
}

/* A floor that comes nearer downwards, and a box before it. All move by 1 px a frame. */
static void draw_pair(struct frame *f) {
    size_t i = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < CHANNELS; c++, i++) {
                bool in_box = abs(x - WIDTH / 2) < WIDTH / 6 && abs(y - HEIGHT / 2) < HEIGHT / 5;
                int disparity = in_box ? LABELS * 3 / 4 : LABELS * y / (2 * HEIGHT);
                f->left.data[i] = texture(x + (int)f->index + LABELS - disparity, y, c);
                f->right.data[i] = texture(x + (int)f->index + LABELS, y, c);
            }
}

/* Adds the maps of a few frames to the sum. 0 or -errno. */
static int add_frames(struct matcher *m, const struct params *params, struct frame *f,
                      GChecksum *sum) {
    for (f->index = 0; f->index < FRAMES; f->index++) {
        draw_pair(f);
        int error = matcher_run(m, params, f);
        if (error)
            return error;
        if (params->mode == MODE_MOTION)
            g_checksum_update(sum, (const guchar *)f->motion, 2 * sizeof(int16_t) * PIXELS);
        else
            g_checksum_update(sum, (const guchar *)f->disparity, sizeof(int16_t) * PIXELS);
        g_checksum_update(sum, f->confidence, PIXELS);
    }
    return 0;
}

/* Prints a line. The exit code. */
static int verify_preset(struct verify *v, const char *preset, const struct params *params) {
    int code;
    struct matcher *m = open_matcher(params, &code);
    if (!m)
        return code;
    struct frame *f = frame_alone(WIDTH, HEIGHT, CHANNELS, false, matcher_frame_alloc(m));
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    int error = f ? add_frames(m, params, f, sum) : -ENOMEM;
    if (!error) {
        const char *hash = g_checksum_get_string(sum);
        bool same = is_built_in(preset, hash);
        v->results++;
        v->different += !same;
        if (!same || !v->common.quiet)
            printf("%-7s  %-18s %8.2f ms  %s  %s\n", same ? "same" : "differs", preset,
                   f->compute_ms, hash, matcher_info(m).backend);
        fflush(stdout);
    }
    frame_drop(&f);
    matcher_close(&m);
    return error ? EXIT_RUN_FAILED : EXIT_DONE;
}

/* ---- the command */

static int verify_backend(struct verify *v, int backend) {
    int code = EXIT_DONE;
    for (const struct preset *p = preset_table; p->name && code == EXIT_DONE; p++) {
        struct params params;
        if (v->common.preset && strcmp(v->common.preset, p->name) != 0)
            continue;
        params_default(&params);
        preset_apply(p, &params);
        params.backend = backend;
        params.threads = v->params.threads;
        params.gpu = v->params.gpu;
        params.disparity_range = LABELS;
        code = verify_preset(v, p->name, &params);
    }
    return code;
}

/* Those presets alone, as they are, have hashes. GO_ON or EXIT_USAGE. */
static int check_options(struct verify *v, int words) {
    char why[512];
    struct params own;
    const struct preset *preset = preset_find(v->common.preset ? v->common.preset : "default");
    if (v->backend && params_set(&v->params, "backend", v->backend, why, sizeof(why)))
        return log_fail(EXIT_USAGE, "--backend", "%s", why);
    params_default(&own);
    if (preset)
        preset_apply(preset, &own);
    if (words == 1 && preset && v->params.memory == 0 && params_same_method(&v->params, &own))
        return GO_ON;
    return log_fail(EXIT_USAGE, "verify",
                    "computes built-in presets as they are: of options that change results it "
                    "takes --preset alone, with the name of one");
}

static int verify(struct verify *v) {
    const int backend = v->params.backend;
    int code = EXIT_DONE;
    if (log_get_level() == LOG_INFO)
        log_set_level(LOG_WARNING); /* the lines say what the matcher does */
    if (backend != BACKEND_CUDA)
        code = verify_backend(v, BACKEND_CPU);
    if (code == EXIT_DONE &&
        (backend == BACKEND_CUDA || (backend == BACKEND_AUTO && matcher_has_gpu(&v->params))))
        code = verify_backend(v, BACKEND_CUDA);
    if (v->different == 0)
        return code;
    return log_fail(
        EXIT_RUN_FAILED, "verify",
        "%d of %d results differ from those built in; please report the lines above and what "
        "livestereo --version prints",
        v->different, v->results);
}

int cmd_verify(int argc, char **argv) {
    struct verify v = {.common.first_preset = "default"};
    const GOptionEntry entries[] = {
        {"backend", 0, 0, G_OPTION_ARG_STRING, &v.backend, "This backend alone", "cpu|cuda"},
        {0},
    };
    int code = options_parse(
        &argc, &argv, "",
        "Computes a built-in sequence of small pictures with each preset, on the CPU and, where\n"
        "there is one, on the GPU, and compares SHA-256 hashes of disparity or motion and\n"
        "confidence with those built in. A line for each: same or differs, the preset, the time\n"
        "of the last frame, the hash, the backend. With --quiet those alone that differ. The\n"
        "exit code is 1 when one differs.",
        "Examples:\n"
        "  livestereo verify\n"
        "  livestereo verify --backend cuda --preset live\n",
        entries, &v.common, &v.params);
    if (code == GO_ON)
        code = check_options(&v, argc);
    if (code == GO_ON)
        code = verify(&v);
    options_free(&v.common);
    return code;
}
