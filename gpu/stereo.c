/*
 * Runs frames: opens a backend, keeps the passes and their memory up to date with the
 * parameters, and starts and finishes frames. pipeline.c makes the list of passes. Where the
 * backend has two slots, the next frame may be started before the last one is finished.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stereo.h"

#include "config/clock.h"
#include "config/log.h"
#include "gpu/stereo_private.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- memory */

static void release(struct stereo *s, void **memory) {
    s->backend->release(s->backend, MEMORY_STAGES, *memory);
    *memory = NULL;
}

static void release_frame_memory(struct stereo *s) {
    release(s, &s->arena);
    for (int i = 0; i < MAX_SLOTS; i++)
        release(s, &s->slot_memory[i]);
    s->arena_bytes = s->slot_bytes = 0;
}

static void release_memory(struct stereo *s) {
    if (s->compiled)
        s->backend->discard(s->backend, s->compiled);
    s->compiled = NULL;
    release_frame_memory(s);
    release(s, &s->tables);
    for (int side = 0; side < 2; side++) {
        release(s, &s->map[side]);
        s->pipeline.map[side] = NULL;
    }
    release(s, &s->mask);
    s->pipeline.mask = NULL;
    for (int i = 0; i < MAX_SLOTS; i++) {
        s->backend->release(s->backend, MEMORY_HOST, s->updates[i]);
        s->updates[i] = NULL;
    }
}

static double mebibytes(size_t bytes) {
    return (double)bytes / (1 << 20);
}

/* Of the frames that are described. */
static size_t frame_bytes(const struct stereo *s) {
    return s->graph->arena_bytes + (size_t)s->backend->slots * s->graph->slot_bytes;
}

/* Logs the memory of the device. The host's is logged at level verbose, or where there are
 * blocks. */
static void say_memory(const struct stereo *s) {
    const struct pipeline *p = &s->pipeline;
    const struct blocks *b = &p->blocks;
    int count = blocks_count(b), labels = params_labels(&p->params);
    double size = mebibytes(frame_bytes(s));
    if (count > 1)
        log_info(s->backend->name,
                 "%dx%d with %d labels is computed in %d blocks of %dx%d px, each with %d px more "
                 "on every side, and takes %.0f MiB",
                 p->width, p->height, labels, count, b->core_width, b->core_height, b->overlap,
                 size);
    else
        log_at(s->backend->own_memory ? LOG_INFO : LOG_DEBUG, s->backend->name,
               "%dx%d with %d labels takes %.0f MiB", p->width, p->height, labels, size);
}

static int no_memory(const struct stereo *s, const char *what) {
    log_at(s->has_next ? LOG_DEBUG : LOG_ERROR, s->backend->name,
           "not enough memory for %s of %dx%d; use smaller pictures (--scale) or a smaller "
           "disparity_range",
           what, s->pipeline.width, s->pipeline.height);
    return -ENOMEM;
}

/* Allocates memory again where the frame needs more than there is, or less than half of it. */
static bool fits(size_t needed, size_t taken) {
    return needed <= taken && needed >= taken / 2;
}

/* 0 or -ENOMEM; says nothing. */
static int take_frame_memory(struct stereo *s) {
    const struct graph *g = s->graph;
    struct backend *b = s->backend;
    if (s->arena && fits(g->arena_bytes, s->arena_bytes) && fits(g->slot_bytes, s->slot_bytes))
        return 0;
    release_frame_memory(s);
    s->arena = b->alloc(b, MEMORY_STAGES, g->arena_bytes);
    bool taken = s->arena;
    for (int i = 0; i < b->slots && taken; i++) {
        s->slot_memory[i] = b->alloc(b, MEMORY_STAGES, g->slot_bytes);
        taken = s->slot_memory[i];
    }
    if (!taken) {
        release_frame_memory(s);
        return -ENOMEM;
    }
    s->arena_bytes = g->arena_bytes;
    s->slot_bytes = g->slot_bytes;
    return 0;
}

/* ---- parameters */

enum { TABLE_ALIGNMENT = 256, LUT_BYTES = (COST_LUT + TABLE_ALIGNMENT) / 256 * 256 };
enum { CENSUS_LUT_AT = LUT_BYTES, MEDIAN_WEIGHT_AT = LUT_BYTES + TABLE_ALIGNMENT };
enum { HOLE_WEIGHT_AT = MEDIAN_WEIGHT_AT + 256 * sizeof(uint16_t) };
enum { DIFFERING_CENSUS_LUT_AT = HOLE_WEIGHT_AT + 256 * sizeof(uint16_t) };
enum { SMOOTHNESS_AT = DIFFERING_CENSUS_LUT_AT + TABLE_ALIGNMENT };
enum { SUM_LUT_AT = SMOOTHNESS_AT + 4 * MAX_LABELS };
enum { FRACTION_LUT_AT = SUM_LUT_AT + SUM_LUT * sizeof(uint16_t) };
enum { TABLES_BYTES = FRACTION_LUT_AT + SUM_LUT };

static int copy_tables(struct stereo *s) {
    const struct scaling *scaling = &s->pipeline.scaling;
    uint8_t *host = calloc(1, TABLES_BYTES);
    if (!host)
        return no_memory(s, "the tables");
    memcpy(host, scaling->lut, sizeof(scaling->lut));
    memcpy(host + CENSUS_LUT_AT, scaling->census_lut, sizeof(scaling->census_lut));
    memcpy(host + DIFFERING_CENSUS_LUT_AT, scaling->differing_census_lut,
           sizeof(scaling->differing_census_lut));
    memcpy(host + MEDIAN_WEIGHT_AT, scaling->median_weight, sizeof(scaling->median_weight));
    memcpy(host + HOLE_WEIGHT_AT, scaling->hole_weight, sizeof(scaling->hole_weight));
    memcpy(host + SMOOTHNESS_AT, scaling->smoothness, sizeof(scaling->smoothness));
    memcpy(host + SUM_LUT_AT, scaling->sum_lut, sizeof(scaling->sum_lut));
    memcpy(host + FRACTION_LUT_AT, scaling->fraction_lut, sizeof(scaling->fraction_lut));
    int error = s->backend->copy(s->backend, s->tables, host, TABLES_BYTES);
    free(host);
    return error;
}

/* The most memory that frames may take: that of --memory or else, where there is a choice, all of
 * this machine. A device reports its own. */
static size_t memory_limit(const struct stereo *s) {
    const struct params *p = &s->pipeline.params;
    if (p->memory > 0)
        return (size_t)(p->memory * (1 << 20));
    if (s->backend->own_memory || p->bp_schedule != BP_SCHEDULE_CHECKERBOARD)
        return SIZE_MAX;
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Whether labels can be found in blocks. */
static bool has_blocks(const struct params *p) {
    return p->bp_schedule == BP_SCHEDULE_CHECKERBOARD;
}

static int over_limit(const struct stereo *s) {
    const struct pipeline *p = &s->pipeline;
    if (p->params.memory <= 0)
        return no_memory(s, "frames");
    log_error(
        "--memory",
        "%.1f MiB are too little: %dx%d with %d labels takes %.1f MiB, in blocks of %dx%d px, "
        "%s",
        p->params.memory, p->width, p->height, params_labels(&p->params), mebibytes(frame_bytes(s)),
        p->blocks.core_width, p->blocks.core_height,
        has_blocks(&p->params) ? "the smallest"
                               : "since bp_schedule=checkerboard alone has smaller ones");
    return -ENOSPC;
}

/* Plans frames in as few blocks as the memory allows, and allocates that memory. */
static int fit_blocks(struct stereo *s) {
    struct pipeline *p = &s->pipeline;
    const struct params *q = &p->params;
    size_t limit = memory_limit(s);
    p->blocks = blocks_whole(p->width, p->height, q->bp_levels, q->block_overlap);
    if (q->block_size > 0)
        blocks_set_size(&p->blocks, q->block_size);
    for (;;) {
        graph_clear(s->graph);
        s->result = pipeline_describe(s->graph, p);
        if (backend_plan(s->backend, s->graph))
            return no_memory(s, "the passes");
        bool small_enough = frame_bytes(s) <= limit;
        if (small_enough && take_frame_memory(s) == 0)
            return 0;
        if (small_enough && !s->backend->own_memory)
            return no_memory(s, "frames");
        if (small_enough) /* the device has less: leave it something */
            limit = frame_bytes(s) / 8 * 7;
        if (!has_blocks(q) || !blocks_shrink(&p->blocks))
            return over_limit(s);
    }
}

/* Waits for all frames in flight. Their errors are returned when they are finished. */
static void wait_for_all(struct stereo *s) {
    for (int i = 0; i < s->in_flight; i++) {
        int slot = (s->slot + i) % s->backend->slots, error = s->backend->wait(s->backend, slot);
        if (error && !s->failed)
            s->failed = error;
    }
}

int stereo_forget(struct stereo *s) {
    size_t bytes = s->described ? s->graph->persistent_bytes : 0;
    if (bytes == 0)
        return 0;
    wait_for_all(s);
    void *zeros = calloc(1, bytes);
    int error =
        zeros ? s->backend->copy(s->backend, s->arena, zeros, bytes) : no_memory(s, "frames");
    free(zeros);
    return error;
}

void stereo_set_sequence(struct stereo *s, bool sequence) {
    s->pipeline.sequence = sequence;
    s->described = false;
}

static int describe(struct stereo *s) {
    struct graph *g = s->graph;
    struct blocks before = s->pipeline.blocks;
    void *arena = s->arena;
    int error = fit_blocks(s);
    if (error)
        return error;
    if (s->arena != arena || memcmp(&s->pipeline.blocks, &before, sizeof(before)) != 0)
        say_memory(s);
    if (graph_bind(g, s->arena, s->slot_memory, s->backend->slots))
        return no_memory(s, "the passes");
    s->compiled = s->backend->compile(s->backend, s->compiled, g);
    return s->compiled ? 0 : no_memory(s, "the passes");
}

static bool labels_fit(const struct stereo *s, const struct params *p) {
    return params_labels(p) <= MAX_LABELS &&
           (p->mode == MODE_MOTION || p->disparity_range < s->pipeline.width);
}

/* 0, or -EINVAL after logging which parameters cannot be combined. */
static int check_params(const struct stereo *s, const struct params *p) {
    const char *why = params_conflict(p);
    if (why)
        log_error("parameters", "%s", why);
    if (why)
        return -EINVAL;
    if (p->mode == MODE_MOTION && !labels_fit(s, p))
        log_error("motion_u_range",
                  "%d times motion_v_range %d is %d labels, more than the %d possible; use fewer, "
                  "and motion_levels for larger motions",
                  p->motion_u_range, p->motion_v_range, params_labels(p), MAX_LABELS);
    else if (!labels_fit(s, p))
        log_error("disparity_range", "%d labels do not fit pictures %d px wide; use fewer",
                  p->disparity_range, s->pipeline.width);
    return labels_fit(s, p) ? 0 : -EINVAL;
}

int stereo_prepare(struct stereo *s, const struct params *params) {
    int error = check_params(s, params);
    if (error)
        return error;
    if (s->described && params_equal(params, &s->pipeline.params))
        return 0;
    wait_for_all(s);
    s->described = false;
    s->pipeline.params = *params;
    s->pipeline.in_parts = s->backend->slots > 1;
    scaling_make(&s->pipeline.scaling, params,
                 pipeline_match_channels(params, s->pipeline.channels));
    error = copy_tables(s);
    if (!error)
        error = describe(s);
    s->described = !error;
    return error ? error : stereo_forget(s);
}

/* ---- a frame */

static bool same_size(const struct image *a, const struct image *b) {
    return a->width == b->width && a->height == b->height && a->channels == b->channels;
}

/* The pictures as the stages see them: rectified, or as they came. */
static void name_rectified(const struct stereo *s, struct frame *f) {
    struct image *out[2] = {&f->rect_left, &f->rect_right};
    const struct image *in[2] = {&f->left, &f->right};
    for (int side = 0; side < 2; side++) {
        *out[side] = *in[side];
        if (pipeline_is_remapped(&s->pipeline, side))
            *out[side] = (struct image){f->rectified[side], s->pipeline.width, s->pipeline.height,
                                        s->pipeline.channels};
    }
}

/* Whether a frame comes so soon after the one before it that both show the same scene. */
static bool follows(const struct stereo *s, const struct frame *f) {
    return f->index > s->last_index && f->index - s->last_index <= FRAMES_REMEMBERED;
}

size_t stereo_bytes(const struct stereo *s) {
    return s->arena_bytes + (size_t)s->backend->slots * s->slot_bytes;
}

bool stereo_overlaps(const struct stereo *s) {
    return s->backend->slots > 1;
}

int stereo_start(struct stereo *s, const struct params *params, struct frame *f) {
    assert(s->in_flight < s->backend->slots);
    if (!same_size(&f->left, &s->source) || !same_size(&f->right, &s->source)) {
        log_error("stereo",
                  "a pair of %dx%d pictures came where the pipeline was opened for others",
                  f->left.width, f->left.height);
        return -EINVAL;
    }
    int error = stereo_prepare(s, params);
    if (!error && !follows(s, f))
        error = stereo_forget(s);
    if (error)
        return error;
    s->last_index = f->index;
    int slot = (s->slot + s->in_flight++) % s->backend->slots;
    s->started_ms[slot] = clock_ms();
    f->params = *params;
    if (s->pipeline.width != s->source.width || s->pipeline.height != s->source.height)
        f->has_truth = 0; /* that of another picture */
    name_rectified(s, f);
    void *const host[HOST_COUNT] = {
        [HOST_PICTURES] = f->left.data,     [HOST_PICTURES + 1] = f->right.data,
        [HOST_RECTIFIED] = f->rectified[0], [HOST_RECTIFIED + 1] = f->rectified[1],
        [HOST_DISPARITY] = f->disparity,    [HOST_CONFIDENCE] = f->confidence,
        [HOST_MOTION] = f->motion,          [HOST_UPDATES] = s->updates[slot]};
    s->backend->run(s->backend, s->compiled, slot, host);
    return 0;
}

static void note_times(struct stereo *s, int slot, struct frame *f) {
    double ms[GROUP_COUNT];
    s->backend->times(s->backend, slot, ms);
    for (int i = 0; i < TIME_COUNT; i++)
        f->stage_ms[i] = ms[i] + ms[TIME_COUNT + i];
    f->stage_ms[TIME_UPLOAD] = ms[GROUP_UPLOAD];
    f->stage_ms[TIME_DOWNLOAD] = ms[GROUP_DOWNLOAD];
    s->bp_ms = ms[TIME_BP];
    f->compute_ms = clock_ms() - s->started_ms[slot];
}

/* The share of tiles that each half-step of the finest level updated. */
static void note_updates(const struct stereo *s, int slot, struct frame *f) {
    const struct params *p = &f->params;
    int iterations = scaling_iterations(p, 0),
        tiles = tile_count(s->pipeline.width, s->pipeline.height);
    bool counted = scaling_fast_converging(p) && blocks_count(&s->pipeline.blocks) == 1 &&
                   p->mode == MODE_STEREO;
    f->updated_count = counted ? stage_min(iterations, FRAME_UPDATES) : 0;
    for (int i = 0; i < f->updated_count; i++)
        f->updated[i] = i < SOLVER_FULL_UPDATES ? 1 : (float)s->updates[slot][i] / (float)tiles;
}

/* Runs the same frame again on the backend that is open now. */
static int compute_again(struct stereo *s, struct frame *f) {
    struct params params = f->params;
    int in_flight = s->in_flight, recompute = s->recompute;
    s->in_flight = s->recompute = 0;
    int error = stereo_run(s, &params, f);
    s->in_flight = in_flight;
    s->recompute = recompute;
    return error;
}

static int take_maps(struct stereo *s, const struct rectify_map maps[2]);
static int take_tables(struct stereo *s);
static int take_mask(struct stereo *s);

/* The GPU is lost, and all frames in flight with it. The CPU backend replaces it. */
static int fall_back(struct stereo *s) {
    int error = 0;
    struct backend *cpu = backend_cpu_open(s->pipeline.params.threads, VARIANT_OPTIMISED, &error);
    if (!cpu)
        return error;
    log_warning(s->backend->name,
                "the GPU was lost; going on with the CPU backend, which is slower");
    release_memory(s);
    s->lost = s->backend;
    s->backend = cpu;
    s->slot = 0;
    s->described = false;
    error = take_tables(s);
    if (!error)
        error = take_mask(s);
    return error ? error : take_maps(s, s->source_map);
}

static int recover(struct stereo *s, struct frame *f) {
    int error = fall_back(s);
    if (!error)
        error = compute_again(s, f);
    s->recompute = error ? 0 : s->in_flight;
    return error;
}

int stereo_finish(struct stereo *s, struct frame *f) {
    assert(s->in_flight > 0);
    s->in_flight--;
    if (s->recompute > 0) {
        s->recompute--;
        return compute_again(s, f);
    }
    int slot = s->slot, error = s->backend->wait(s->backend, slot);
    error = s->failed ? s->failed : error;
    s->failed = 0;
    s->slot = (slot + 1) % s->backend->slots;
    if (error == -EIO && s->may_fall_back && !s->lost)
        return recover(s, f);
    if (s->in_flight > 0) /* it may be the younger frame's failure, which was issued meanwhile */
        s->failed = error;
    note_times(s, slot, f);
    note_updates(s, slot, f);
    f->energy = NAN;
    return error;
}

int stereo_run(struct stereo *s, const struct params *params, struct frame *f) {
    int error = stereo_start(s, params, f);
    return error ? error : stereo_finish(s, f);
}

/* ---- opening and closing */

static struct backend *open_backend(const struct params *p, int *error) {
    bool any = p->backend == BACKEND_AUTO;
    struct backend *b = NULL;
    if (p->backend != BACKEND_CPU)
        b = backend_cuda_open(p->gpu, VARIANT_OPTIMISED, any, error);
    if (b || p->backend == BACKEND_CUDA)
        return b;
    return backend_cpu_open(p->threads, VARIANT_OPTIMISED, error);
}

static void *frame_memory(void *context, size_t bytes) {
    struct backend *b = context;
    return b->alloc(b, MEMORY_HOST, bytes);
}

static void frame_release(void *context, void *memory) {
    struct backend *b = context;
    b->release(b, MEMORY_HOST, memory);
}

static int take_tables(struct stereo *s) {
    struct backend *b = s->backend;
    s->tables = b->alloc(b, MEMORY_STAGES, TABLES_BYTES);
    bool taken = s->tables;
    for (int i = 0; i < b->slots && taken; i++) {
        s->updates[i] = b->alloc(b, MEMORY_HOST, FRAME_UPDATES * sizeof(*s->updates[i]));
        taken = s->updates[i];
    }
    if (!taken)
        return no_memory(s, "the tables");
    const uint8_t *tables = s->tables;
    s->pipeline.lut = tables;
    s->pipeline.census_lut = tables + CENSUS_LUT_AT;
    s->pipeline.differing_census_lut = tables + DIFFERING_CENSUS_LUT_AT;
    s->pipeline.median_weight = (const uint16_t *)(tables + MEDIAN_WEIGHT_AT);
    s->pipeline.hole_weight = (const uint16_t *)(tables + HOLE_WEIGHT_AT);
    s->pipeline.smoothness = tables + SMOOTHNESS_AT;
    s->pipeline.sum_lut = (const uint16_t *)(tables + SUM_LUT_AT);
    s->pipeline.fraction_lut = tables + FRACTION_LUT_AT;
    return 0;
}

static int take_maps(struct stereo *s, const struct rectify_map maps[2]) {
    for (int side = 0; maps && side < 2; side++) {
        const struct rectify_map *map = &maps[side];
        size_t bytes = (size_t)s->pipeline.width * (size_t)s->pipeline.height * sizeof(*map->point);
        if (!map->point)
            continue;
        s->map[side] = s->backend->alloc(s->backend, MEMORY_STAGES, bytes);
        if (!s->map[side])
            return no_memory(s, "the rectification tables");
        int error = s->backend->copy(s->backend, s->map[side], map->point, bytes);
        if (error)
            return error;
        s->pipeline.map[side] = s->map[side];
        s->pipeline.map_samples = map->samples;
        s->pipeline.map_step = map->step;
    }
    return 0;
}

/* With a lost GPU its tables are lost. */
static int keep_maps(struct stereo *s, const struct rectify_map maps[2]) {
    for (int side = 0; maps && side < 2; side++) {
        size_t bytes =
            (size_t)s->pipeline.width * (size_t)s->pipeline.height * sizeof(*maps[side].point);
        s->source_map[side] = maps[side];
        if (!maps[side].point)
            continue;
        s->source_map[side].point = malloc(bytes);
        if (!s->source_map[side].point)
            return no_memory(s, "the rectification tables");
        memcpy(s->source_map[side].point, maps[side].point, bytes);
    }
    return 0;
}

static size_t mask_bytes(const struct stereo *s) {
    return (size_t)s->pipeline.width * (size_t)s->pipeline.height;
}

/* Copies the host's tables to the backend. */
static int take_mask(struct stereo *s) {
    if (!s->source_mask)
        return 0;
    s->mask = s->backend->alloc(s->backend, MEMORY_STAGES, mask_bytes(s));
    if (!s->mask)
        return no_memory(s, "the mask");
    s->pipeline.mask = s->mask;
    return s->backend->copy(s->backend, s->mask, s->source_mask, mask_bytes(s));
}

int stereo_set_mask(struct stereo *s, const uint8_t *mask) {
    assert(!s->in_flight);
    free(s->source_mask);
    release(s, &s->mask);
    s->pipeline.mask = NULL;
    s->source_mask = NULL;
    s->described = false;
    if (!mask)
        return 0;
    s->source_mask = malloc(mask_bytes(s));
    if (!s->source_mask)
        return no_memory(s, "the mask");
    memcpy(s->source_mask, mask, mask_bytes(s));
    return take_mask(s);
}

static int check_size(int width, int height, int channels) {
    if (width >= 2 && height >= 1 && width <= 16384 && height <= 16384 &&
        (channels == 1 || channels == 3))
        return 0;
    log_error("stereo",
              "pictures of %dx%d with %d channels cannot be matched; they must be 2 to 16384 px "
              "wide, 1 to 16384 px high, grey or RGB",
              width, height, channels);
    return -EINVAL;
}

/* has_next: another backend is tried where this one has too little memory. */
static struct stereo *open_on(struct backend *b, bool has_next, int width, int height, int channels,
                              const struct rectify_map maps[2], int *error) {
    struct stereo *s = calloc(1, sizeof(*s));
    struct graph *g = graph_open();
    *error = s && g ? 0 : -ENOMEM;
    if (*error) {
        log_error(b->name, "not enough memory");
        graph_close(&g);
        free(s);
        b->close(&b);
        return NULL;
    }
    bool has_size = maps && maps[0].point;
    s->backend = b;
    s->has_next = has_next;
    s->graph = g;
    s->frame_alloc = (struct frame_alloc){frame_memory, frame_release, b};
    s->source = (struct image){NULL, width, height, channels};
    s->pipeline.source_width = width;
    s->pipeline.source_height = height;
    s->pipeline.width = has_size ? maps[0].width : width;
    s->pipeline.height = has_size ? maps[0].height : height;
    s->pipeline.channels = channels;
    *error = check_size(width, height, channels);
    if (!*error)
        *error = take_tables(s);
    if (!*error)
        *error = take_maps(s, maps);
    if (!*error && b->own_memory)
        *error = keep_maps(s, maps);
    if (*error)
        stereo_close(&s);
    return s;
}

struct stereo *stereo_open_on(struct backend *b, int width, int height, int channels,
                              const struct rectify_map maps[2], int *error) {
    return open_on(b, false, width, height, channels, maps, error);
}

/* Allocates the memory of params' frames. Labels that do not fit are an error of the first
 * frame. */
static struct stereo *open_for(struct backend *b, const struct params *params, bool has_next,
                               int width, int height, int channels,
                               const struct rectify_map maps[2], int *error) {
    struct stereo *s = open_on(b, has_next, width, height, channels, maps, error);
    if (s && labels_fit(s, params))
        *error = stereo_prepare(s, params);
    if (s && *error)
        stereo_close(&s);
    if (s) {
        s->has_next = false;
        s->may_fall_back = params->backend == BACKEND_AUTO && s->backend->own_memory;
    }
    return s;
}

struct stereo *stereo_open(const struct params *params, int width, int height, int channels,
                           const struct rectify_map maps[2], int *error) {
    *error = 0;
    struct backend *b = open_backend(params, error);
    bool may_retry = b && b->own_memory && params->backend == BACKEND_AUTO;
    struct stereo *s =
        b ? open_for(b, params, may_retry, width, height, channels, maps, error) : NULL;
    if (s || *error != -ENOMEM || !may_retry)
        return s;
    b = backend_cpu_open(params->threads, VARIANT_OPTIMISED, error); /* too little is like none */
    s = b ? open_for(b, params, false, width, height, channels, maps, error) : NULL;
    if (s)
        log_warning(s->backend->name, "computes, since the GPU has too little memory for %dx%d",
                    width, height);
    return s;
}

void stereo_close(struct stereo **stereo) {
    struct stereo *s = *stereo;
    *stereo = NULL;
    if (!s)
        return;
    wait_for_all(s); /* frames in flight are their owners' again */
    release_memory(s);
    graph_close(&s->graph);
    s->backend->close(&s->backend);
    if (s->lost)
        s->lost->close(&s->lost);
    for (int side = 0; side < 2; side++)
        free(s->source_map[side].point);
    free(s->source_mask);
    free(s);
}

const char *stereo_backend(const struct stereo *s) {
    return s->backend->name;
}

const struct frame_alloc *stereo_frame_alloc(struct stereo *s) {
    return &s->frame_alloc;
}
