/*
 * livestereo bench: times of whole frames and their BP part on random textures, and what share of
 * the memory's copy speed that is.
 * SPDX-License-Identifier: MIT
 */
#include "app/bench/bench.h"

#include "image/frame.h"
#include "config/clock.h"
#include "config/log.h"
#include "gpu/stereo_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 1000 };

static const int sizes[][3] = {
    {384, 288, 16},   {450, 375, 64},    {640, 480, 64},    {1242, 375, 128},
    {1280, 720, 128}, {1920, 1080, 128}, {1920, 1080, 256},
};
enum { GPU_SIZES = 2 }; /* the last ones, too large for a CPU's patience */

/* A texture of random grey levels and, as its left view, the same moved by strips of different
 * disparity. */
static void draw_pair(struct frame *f, int labels) {
    uint64_t state = 1;
    int w = f->left.width, h = f->left.height, channels = f->left.channels;
    for (size_t i = 0; i < image_bytes(&f->right); i++)
        f->right.data[i] = (uint8_t)bench_draw(&state);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int from = x - (y / 40 * 7 + x / 100 * 3) % labels;
            size_t row = (size_t)y * (size_t)w;
            for (int c = 0; c < channels; c++)
                f->left.data[(row + (size_t)x) * (size_t)channels + (size_t)c] =
                    f->right
                        .data[(row + (size_t)(from < 0 ? 0 : from)) * (size_t)channels + (size_t)c];
        }
}

/* Bytes that the pyramid, the starts of the levels and the half-steps must read and write, each
 * array once a stage; fewer where half-steps share a cache. */
static double bp_bytes(int width, int height, int labels, int levels, int iterations) {
    int padded = (labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK;
    double bytes = 0;
    for (int l = 0; l < levels; l++) {
        double volume = (double)width * height * padded;
        int cost = l ? 2 : 1;
        bytes += volume * (l + 1 < levels ? cost + 0.5 : 0);   /* downsampling */
        bytes += volume / 2 * 4 * (l + 1 < levels ? 1.25 : 1); /* start */
        bytes += iterations * volume / 2 * (2 * DIRECTIONS + cost);
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    return bytes;
}

/* The same where pairs of half-steps are one pass, starts are read from the parents and the
 * finest level ends with the labels. */
static double bp_bytes_fused(int width, int height, int labels, int levels, int iterations) {
    int padded = (labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK;
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

struct backend *bench_backend(const struct bench_options *o, int *error) {
    struct backend *b = NULL;
    if (o->backend != BACKEND_CPU)
        b = backend_cuda_open(o->params.gpu, o->variant, o->backend == BACKEND_AUTO, error);
    if (b || o->backend == BACKEND_CUDA)
        return b;
    return backend_cpu_open(o->threads, o->variant, error);
}

/* bp: the left view's; stages: from the pictures on the device to the map there; whole: host to
 * host. */
struct row {
    double bp[MAX_FRAMES], stages[MAX_FRAMES], whole[MAX_FRAMES];
    double stage[TIME_COUNT]; /* of the last frame */
    double overlapped;        /* ms a frame when neighbouring frames overlap; 0: they do not */
    int count;
};

static double stages_ms(const struct frame *f) {
    double sum = 0;
    for (int i = TIME_RECTIFY; i < TIME_DOWNLOAD; i++)
        sum += f->stage_ms[i];
    return sum;
}

/* One frame on its way behind the other. */
static int measure_overlap(struct stereo *s, const struct bench_options *o, struct frame *f[2],
                           struct row *row) {
    double started = 0;
    int warm = 4, error = 0, issued = 0, finished = 0;
    if (!stereo_overlaps(s))
        return 0;
    while (issued < row->count + warm && !error) {
        if (issued == warm)
            started = clock_ms();
        f[issued & 1]->index = s->last_index + 1;
        error = stereo_start(s, &o->params, f[issued & 1]);
        issued += !error;
        if (issued > 1 && !error)
            error = stereo_finish(s, f[finished++ & 1]);
    }
    for (; finished < issued; finished++) { /* one, or what an error left on its way */
        int last = stereo_finish(s, f[finished & 1]);
        error = error ? error : last;
    }
    row->overlapped = (clock_ms() - started) / row->count;
    return error;
}

/* One warm-up frame, then as many as asked for, or as three seconds hold, but three. */
static int measure(struct stereo *s, const struct bench_options *o, struct frame *f,
                   struct row *row) {
    double started = 0;
    for (int i = -1; i < o->frames; i++) {
        f->index = s->last_index + 1;
        int error = stereo_run(s, &o->params, f);
        if (error)
            return error;
        if (i < 0) {
            started = clock_ms();
            continue;
        }
        row->stages[row->count] = stages_ms(f);
        row->bp[row->count] = s->bp_ms;
        row->whole[row->count++] = f->compute_ms;
        if (i >= 2 && clock_ms() - started > 3000)
            break;
    }
    memcpy(row->stage, f->stage_ms, sizeof(row->stage));
    return 0;
}

/* Belief propagation from the cost volume on, where the matching otherwise makes the first coarse
 * level in passing. */
static int measure_bp(struct stereo *s, const struct bench_options *o, struct frame *f,
                      struct row *row) {
    s->pipeline.fence_solver = true;
    s->described = false;
    for (int i = -1; i < row->count; i++) {
        f->index = s->last_index + 1;
        int error = stereo_run(s, &o->params, f);
        if (error)
            return error;
        if (i >= 0)
            row->bp[i] = s->bp_ms;
    }
    s->pipeline.fence_solver = s->described = false;
    return 0;
}

static void print_row(const struct bench_options *o, const struct backend *backend, struct row *r,
                      double copy) {
    const struct params *p = &o->params;
    double bp = bench_quantile(r->bp, r->count, 0.5),
           whole = bench_quantile(r->whole, r->count, 0.5),
           stages = bench_quantile(r->stages, r->count, 0.5);
    double bytes = (backend->own_memory && !p->bp_fast_converging && p->bp_iterations > 1
                        ? bp_bytes_fused
                        : bp_bytes)(o->width, o->height, o->labels, p->bp_levels, p->bp_iterations);
    double bp10 = bench_quantile(r->bp, r->count, 0.1), bp90 = bench_quantile(r->bp, r->count, 0.9);
    double whole10 = bench_quantile(r->whole, r->count, 0.1),
           whole90 = bench_quantile(r->whole, r->count, 0.9);
    double share = copy > 0 ? bytes / (bp * 1e6) / copy : 0;
    if (o->json)
        printf("{\"backend\": \"%s\", \"width\": %d, \"height\": %d, \"channels\": %d, "
               "\"rectified\": %d, "
               "\"labels\": %d, \"levels\": %d, "
               "\"iterations\": %d, \"bp_ms\": %.4f, \"bp_ms_p10\": %.4f, \"bp_ms_p90\": %.4f, "
               "\"stages_ms\": %.4f, \"overlapped_ms\": %.4f, \"frame_ms\": %.4f, "
               "\"frame_ms_p10\": %.4f, \"frame_ms_p90\": %.4f, \"bp_bytes\": %.0f, \"copy_gbs\": "
               "%.2f, "
               "\"copy_share\": %.4f, \"frames\": %d}\n",
               backend->name, o->width, o->height, o->channels, !o->rectify, o->labels,
               p->bp_levels, p->bp_iterations, bp, bp10, bp90, stages, r->overlapped, whole,
               whole10, whole90, bytes, copy, share, r->count);
    else
        printf("%4dx%-4d %4d  %9.3f %9.3f..%-9.3f %7.3f %5.0f %%  %9.2f %9.2f..%-9.2f %9.2f %9.2f "
               "%4d\n",
               o->width, o->height, o->labels, bp, bp10, bp90, bytes * 1e-9, 100 * share, whole,
               whole10, whole90, stages, r->overlapped, r->count);
}

static void print_stages(const struct row *r) {
    printf("         ");
    for (int i = 0; i < TIME_COUNT; i++)
        printf(" %s %.2f", stage_time_names[i], r->stage[i]);
    printf("\n");
}

/* A rig that is turned by a third of a degree: nothing lies on whole pixels. */
static int make_maps(const struct bench_options *o, struct rectify_map maps[2]) {
    for (int v = 0; v < 2; v++) {
        size_t pixels = (size_t)o->width * (size_t)o->height;
        maps[v] = (struct rectify_map){.width = o->width, .height = o->height};
        if (!o->rectify)
            continue;
        maps[v].point = malloc(pixels * sizeof(*maps[v].point));
        if (!maps[v].point)
            return -ENOMEM;
        for (int y = 0; y < o->height; y++)
            for (int x = 0; x < o->width; x++)
                maps[v].point[(size_t)y * (size_t)o->width + (size_t)x] =
                    (struct rectify_point){32 * x + 7 + (y - o->height / 2) * 32 / 172,
                                           32 * y + 9 - (x - o->width / 2) * 32 / 172};
    }
    return 0;
}

static int bench_size(struct bench_options *o) {
    int error = 0;
    o->params.disparity_range = o->labels;
    struct backend *b = bench_backend(o, &error);
    if (!b)
        return error;
    double copy = bench_copy_gbs(b);
    struct rectify_map maps[2];
    error = make_maps(o, maps);
    struct stereo *s = stereo_open_on(b, o->width, o->height, o->channels, maps, &error);
    free(maps[0].point);
    free(maps[1].point);
    if (!s)
        return error;
    struct frame_pool *pool =
        pool_open(2, o->width, o->height, o->channels, 0, stereo_frame_alloc(s));
    struct frame *f = pool ? pool_take(pool) : NULL, *next = pool ? pool_take(pool) : NULL;
    struct row *row = calloc(1, sizeof(*row));
    error = f && next && row ? 0 : -ENOMEM;
    if (!error) {
        draw_pair(f, o->labels);
        draw_pair(next, o->labels);
        error = measure(s, o, f, row);
    }
    if (!error && b->own_memory)
        error = measure_bp(s, o, f, row);
    if (!error)
        error = measure_overlap(s, o, (struct frame *[2]){f, next}, row);
    if (!error) {
        print_row(o, b, row, copy);
        if (!o->json)
            print_stages(row);
        fflush(stdout);
    }
    frame_drop(&f);
    frame_drop(&next);
    pool_close(&pool);
    free(row);
    stereo_close(&s);
    return error;
}

static int bench_table(const struct bench_options *o) {
    int error = 0;
    struct backend *b = bench_backend(o, &error);
    if (!b)
        return error;
    if (!o->json)
        printf("%s, copies %.1f GB/s; %d levels x %d half-steps\n"
               "size      labels   BP ms (left view) p10..p90      GB  of copy   frame ms       "
               "p10..p90    stages overlapped frames\n",
               b->name, bench_copy_gbs(b), o->params.bp_levels, o->params.bp_iterations);
    int count =
        o->width ? 1 : (int)(sizeof(sizes) / sizeof(sizes[0])) - (b->own_memory ? 0 : GPU_SIZES);
    b->close(&b);
    for (int i = 0; i < count && !error; i++) {
        struct bench_options one = *o;
        if (!o->width) {
            one.width = sizes[i][0];
            one.height = sizes[i][1];
            one.labels = o->labels ? o->labels : sizes[i][2];
        } else if (!o->labels) {
            one.labels = 64;
        }
        error = bench_size(&one);
    }
    return error;
}

static int whole(const char *text, int minimum, int maximum, int *value) {
    char *end;
    long v = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || v < minimum || v > maximum)
        return -EINVAL;
    *value = (int)v;
    return 0;
}

static int one_of(const char *text, const char *const *words, int count, int *value) {
    for (int i = 0; text && i < count; i++)
        if (!strcmp(text, words[i])) {
            *value = i;
            return 0;
        }
    return -EINVAL;
}

/* 0, -EINVAL for a value that is none, -ENOENT for an unknown name. The word after a name is its
 * value, NULL at the end. why gets what a parameter's value lacks. */
static int set_option(struct bench_options *o, const char *name, const char *value, char *why,
                      size_t why_size) {
    static const char *const backends[] = {"auto", "cpu", "cuda"}, *const variants[] = {
                                                                       "plain", "optimised"};
    why[0] = 0;
    if (!strcmp(name, "--size"))
        return value && sscanf(value, "%dx%d", &o->width, &o->height) == 2 && o->width >= 2 &&
                       o->height >= 1 && o->width <= 16384 && o->height <= 16384
                   ? 0
                   : -EINVAL;
    if (!strcmp(name, "--labels"))
        return whole(value, 2, MAX_LABELS, &o->labels);
    if (!strcmp(name, "--levels"))
        return whole(value, 1, MAX_LEVELS, &o->params.bp_levels);
    if (!strcmp(name, "--iterations"))
        return whole(value, 0, 1000, &o->params.bp_iterations);
    if (!strcmp(name, "--backend"))
        return one_of(value, backends, 3, &o->backend);
    if (!strcmp(name, "--variant"))
        return one_of(value, variants, 2, &o->variant);
    if (!strcmp(name, "--channels"))
        return value && (!strcmp(value, "1") || !strcmp(value, "3"))
                   ? whole(value, 1, 3, &o->channels)
                   : -EINVAL;
    if (!strcmp(name, "--threads"))
        return whole(value, 0, 256, &o->threads);
    if (!strcmp(name, "--frames"))
        return whole(value, 1, MAX_FRAMES, &o->frames);
    if (!strcmp(name, "--memory"))
        return value && !params_set_memory(&o->params, value, why, why_size) ? 0 : -EINVAL;
    if (!strcmp(name, "--set"))
        return value && !params_assign(&o->params, value, why, why_size) ? 0 : -EINVAL;
    return -ENOENT;
}

static void print_usage(FILE *to) {
    fprintf(
        to,
        "usage: livestereo bench [message|converging|tiles] [OPTION..]\n"
        "  (nothing)  frames and their belief propagation, on random textures; the default "
        "settings\n"
        "             but 7 half-steps a level, unless --preset or --iterations says "
        "otherwise\n"
        "  message    the message stage, plain against optimised, on one core\n"
        "  converging [FOLDER [LABELS]]  fast-converging updates on left.png and right.png of "
        "FOLDER,\n"
        "             else of $LIVESTEREO_DATA/middlebury/tsukuba\n"
        "  tiles [FOLDER [LABELS]]  belief propagation by tiles, and plain until its energy is as "
        "low\n"
        "  --size WxH --labels L --levels N --iterations N --backend auto|cpu|cuda --variant "
        "optimised|plain\n"
        "  --threads N --frames N --channels 1|3 --rectify --preset NAME --set NAME=VALUE "
        "--memory SIZE\n"
        "  --json\n");
}

static void say_wrong(const char *name, const char *value, int error, const char *why) {
    if (error == -ENOENT)
        log_error("bench", "'%s' is not one of its options; see livestereo bench --help", name);
    else if (*why)
        log_error("bench", "%s %s: %s", name, value, why);
    else
        log_error("bench", "%s does not take '%s'; see livestereo bench --help", name,
                  value ? value : "");
}

int bench_main(int argc, char **argv, const struct params *params) {
    char why[200];
    struct bench_options o = {.variant = VARIANT_OPTIMISED, .frames = 51, .channels = 3};
    params_default(&o.params);
    o.params.bp_iterations = 7;
    if (params)
        o.params = *params;
    int message = argc > 1 && !strcmp(argv[1], "message");
    for (int i = 1 + message; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
            print_usage(stdout);
            return 0;
        }
        if (!strcmp(name, "--json") || !strcmp(name, "--rectify")) {
            *(name[2] == 'j' ? &o.json : &o.rectify) = 1;
            continue;
        }
        int error = set_option(&o, name, value, why, sizeof(why));
        if (error) {
            say_wrong(name, value, error, why);
            return 2;
        }
        i++;
    }
    if (o.backend == BACKEND_AUTO)
        o.backend = o.params.backend;
    if (!o.threads)
        o.threads = o.params.threads;
    int error = message ? bench_message(&o) : bench_table(&o);
    return error == -ENOSPC ? 2 : error ? 1 : 0;
}
