/*
 * Runs frames: keeps the passes and their memory up to date with the parameters, starts frames and
 * waits for them. pipeline.c makes the list of passes. Where the backend has two slots, the next
 * frame may be started before the last one is finished.
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"
#include "base/log.h"
#include "gpu/handle.h"
#include "gpu/picture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const stage_time_names[TIME_COUNT] = {
    [TIME_UPLOAD] = "upload",     [TIME_RECTIFY] = "rectify",     [TIME_SMOOTH] = "smooth",
    [TIME_COST] = "cost",         [TIME_AGGREGATE] = "aggregate", [TIME_BP] = "bp",
    [TIME_WTA] = "wta",           [TIME_CHECK] = "check",         [TIME_REFINE] = "refine",
    [TIME_DOWNLOAD] = "download",
};

/* ---- memory */

void handle_release(struct livestereo *s, void **memory) {
    s->backend->release(s->backend, MEMORY_STAGES, *memory);
    *memory = NULL;
}

static void release_frame_memory(struct livestereo *s) {
    handle_release(s, &s->arena);
    for (int i = 0; i < MAX_SLOTS; i++)
        handle_release(s, &s->slot_memory[i]);
    s->arena_bytes = s->slot_bytes = 0;
}

void handle_release_memory(struct livestereo *s) {
    if (s->compiled)
        s->backend->discard(s->backend, s->compiled);
    s->compiled = NULL;
    release_frame_memory(s);
    inputs_release(s);
}

static double mebibytes(size_t bytes) {
    return (double)bytes / (1 << 20);
}

/* The memory of the frames that are described. */
static size_t frame_bytes(const struct livestereo *s) {
    return s->graph->arena_bytes + (size_t)s->backend->slots * s->graph->slot_bytes;
}

/* Logs the memory of the device. The host's is logged at level verbose, or where there are
 * blocks. */
static void say_memory(const struct livestereo *s) {
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

int handle_no_memory(const struct livestereo *s, const char *what) {
    log_at(s->has_next ? LOG_DEBUG : LOG_ERROR, s->backend->name,
           "not enough memory for %s of %dx%d; use smaller pictures or a smaller "
           "disparity_range",
           what, s->pipeline.width, s->pipeline.height);
    return -ENOMEM;
}

/* Allocates memory again where the frame needs more than there is, or less than half of it. */
static bool fits(size_t needed, size_t taken) {
    return needed <= taken && needed >= taken / 2;
}

/* 0 or -ENOMEM; says nothing. */
static int take_frame_memory(struct livestereo *s) {
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

/* The most memory that frames may take: that of memory or else, where there is a choice, all of
 * this machine. A device reports its own. */
static size_t memory_limit(const struct livestereo *s) {
    const struct params *p = &s->pipeline.params;
    if (p->memory > 0)
        return (size_t)(p->memory * (1 << 20));
    if (s->backend->own_memory || !params_solver_can(p, SOLVES_BLOCKS))
        return SIZE_MAX;
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

static int over_limit(const struct livestereo *s) {
    const struct pipeline *p = &s->pipeline;
    char names[128] = "";
    const char *way = "the smallest";
    if (p->params.memory <= 0)
        return handle_no_memory(s, "frames");
    if (!params_solver_can(&p->params, SOLVES_BLOCKS)) {
        way = "smaller ones need bp_schedule=";
        params_solvers(SOLVES_BLOCKS, names, sizeof(names));
    }
    return log_fail(
        -ENOSPC, "memory",
        "%.1f MiB are too little: %dx%d with %d labels takes %.1f MiB, in blocks of %dx%d px, "
        "%s%s",
        p->params.memory, p->width, p->height, params_labels(&p->params), mebibytes(frame_bytes(s)),
        p->blocks.core_width, p->blocks.core_height, way, names);
}

/* Plans frames in as few blocks as the memory allows, and allocates that memory. */
static int fit_blocks(struct livestereo *s) {
    struct pipeline *p = &s->pipeline;
    const struct params *q = &p->params;
    size_t limit = memory_limit(s);
    bool overlaps = s->backend->overlap_bytes > 0; /* with one block alone */
    p->blocks = blocks_whole(p->width, p->height, q->bp_levels, q->block_overlap);
    if (q->block_size > 0)
        blocks_set_size(&p->blocks, q->block_size);
    for (;;) {
        graph_clear(s->graph);
        s->result = pipeline_describe(s->graph, p);
        if (backend_plan(s->backend, s->graph, overlaps))
            return handle_no_memory(s, "the passes");
        bool small_enough = frame_bytes(s) <= limit;
        if (small_enough && take_frame_memory(s) == 0)
            return 0;
        if (small_enough && !s->backend->own_memory)
            return handle_no_memory(s, "frames");
        if (overlaps) {
            overlaps = false;
            continue;
        }
        if (small_enough) /* the device has less: leave it something */
            limit = frame_bytes(s) / 8 * 7;
        if (!params_solver_can(q, SOLVES_BLOCKS) || !blocks_shrink(&p->blocks))
            return over_limit(s);
    }
}

void handle_wait_for_all(struct livestereo *s) {
    for (int i = 0; i < s->in_flight; i++) {
        int slot = (s->slot + i) % s->backend->slots, error = s->backend->wait(s->backend, slot);
        if (error && !s->failed)
            s->failed = error;
    }
}

static int forget(struct livestereo *s) {
    size_t bytes = s->described ? s->graph->persistent_bytes : 0;
    if (bytes == 0)
        return 0;
    handle_wait_for_all(s);
    void *zeros = calloc(1, bytes);
    int error = zeros ? s->backend->copy(s->backend, s->arena, zeros, bytes)
                      : handle_no_memory(s, "frames");
    free(zeros);
    return error;
}

static int describe(struct livestereo *s) {
    struct graph *g = s->graph;
    struct blocks before = s->pipeline.blocks;
    void *arena = s->arena;
    int error = fit_blocks(s);
    if (error)
        return error;
    if (s->arena != arena || memcmp(&s->pipeline.blocks, &before, sizeof(before)) != 0)
        say_memory(s);
    if (graph_bind(g, s->arena, s->slot_memory, s->backend->slots))
        return handle_no_memory(s, "the passes");
    s->compiled = s->backend->compile(s->backend, s->compiled, g);
    return s->compiled ? 0 : handle_no_memory(s, "the passes");
}

static bool labels_fit(const struct livestereo *s, const struct params *p) {
    return params_labels(p) <= MAX_LABELS &&
           (p->mode == MODE_MOTION || p->disparity_range < s->pipeline.width);
}

/* 0, or -EINVAL after logging which parameters cannot be combined. */
static int check_params(const struct livestereo *s, const struct params *p) {
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
        log_error("parameters", "disparity_range %d is not below the width of %d; try %d",
                  p->disparity_range, s->pipeline.width, stage_max(2, s->pipeline.width / 4));
    return labels_fit(s, p) ? 0 : -EINVAL;
}

int handle_prepare(struct livestereo *s, const struct params *params) {
    int error = check_params(s, params);
    if (error)
        return error;
    if (s->described && params_same_method(params, &s->pipeline.params))
        return 0;
    handle_wait_for_all(s);
    s->described = s->computed = false;
    s->forgets = true;
    if (!s->has_inputs)
        error = inputs_take(s);
    if (error)
        return error;
    s->pipeline.params = *params;
    s->pipeline.in_parts = s->backend->slots > 1;
    scaling_make(&s->pipeline.scaling, params,
                 scaling_match_channels(params, s->pipeline.channels));
    error = s->backend->copy(s->backend, s->tables, &s->pipeline.scaling.tables,
                             sizeof(s->pipeline.scaling.tables))
                ?: inputs_take_weights(s);
    if (!error)
        error = describe(s);
    s->described = !error;
    return error;
}

/* ---- a frame */

/* Whether a frame comes so soon after the one before it that both show the same scene. */
static bool follows(const struct livestereo *s, const struct livestereo_frame *f) {
    return f->number > s->last_number &&
           (uint64_t)f->number - (uint64_t)s->last_number <= FRAMES_REMEMBERED;
}

static int result_width(const struct livestereo *s) {
    return s->pipeline.width - s->margin[0] - s->margin[1];
}

struct livestereo_info handle_info(const struct livestereo *s) {
    const struct pipeline *p = &s->pipeline;
    const struct backend *b = s->backend;
    const struct depth_geometry *g = &s->geometry;
    struct livestereo_info info = {
        .backend = b->name,
        .width = result_width(s),
        .height = p->height,
        .labels = params_labels(&p->params),
        .is_resampled = {picture_is_remapped(p, LEFT_SIDE), picture_is_remapped(p, RIGHT_SIDE)},
        .frames_in_flight = b->slots > 1 ? 2 : 1,
        .gpu_lost = s->lost != NULL,
        .memory = s->arena_bytes + (size_t)b->slots * s->slot_bytes,
        .kind = b->own_memory ? LIVESTEREO_BACKEND_CUDA : LIVESTEREO_BACKEND_CPU,
        .min_disparity = p->params.mode == MODE_MOTION ? 0 : p->params.min_disparity,
        .valid_x = s->seen[0],
        .valid_y = s->seen[1],
        .valid_width = s->seen[2],
        .valid_height = s->seen[3],
        .has_geometry = s->has_geometry,
        .geometry = {.fx = g->fx,
                     .fy = g->fy,
                     .cx = g->cx,
                     .cy = g->cy,
                     .baseline = g->baseline,
                     .doffs = g->doffs,
                     .metric = g->metric}};
    memcpy(info.rotation, s->rotation, sizeof(info.rotation));
    return info;
}

/* An image where it is wanted in this format, and none otherwise. */
static const struct livestereo_image *wanted_as(const struct livestereo_image *image,
                                                enum livestereo_format format) {
    static const struct livestereo_image none;
    return image->data && image->format == format ? image : &none;
}

/* Memory for a map or picture of the computed width, without the margins. */
static struct image_memory rows_of(const struct livestereo *s, const struct livestereo_image *image,
                                   size_t pixel) {
    return (struct image_memory){.data = image->data,
                                 .row = (size_t)s->pipeline.width * pixel,
                                 .first = (size_t)s->margin[0] * pixel,
                                 .kept = (size_t)result_width(s) * pixel,
                                 .pitch = (size_t)image->row_bytes};
}

/* Issues a frame in the next slot. */
static void issue(struct livestereo *s, const struct livestereo_frame *f) {
    const struct pipeline *p = &s->pipeline;
    int slot = (s->slot + s->in_flight - 1) % s->backend->slots;
    size_t updates = FRAME_UPDATES * sizeof(*s->updates[slot]),
           row = picture_row(p->format, p->source_width);
    const struct livestereo_image *picture[2] = {&f->left, &f->right};
    struct image_memory memory[HOST_COUNT] = {
        [HOST_DISPARITY] = rows_of(s, wanted_as(&f->disparity, LIVESTEREO_DISP16), sizeof(int16_t)),
        [HOST_CONFIDENCE] = rows_of(s, &f->confidence, 1),
        [HOST_MOTION] = rows_of(s, &f->motion, sizeof(int16_t)),
        [HOST_UPDATES] = {s->updates[slot], updates, 0, updates, updates},
        [HOST_PX] = rows_of(s, wanted_as(&f->disparity, LIVESTEREO_PX32F), sizeof(float)),
        [HOST_MM] = rows_of(s, wanted_as(&f->depth, LIVESTEREO_MM16), sizeof(uint16_t)),
        [HOST_METRES] = rows_of(s, wanted_as(&f->depth, LIVESTEREO_M32F), sizeof(float)),
        [HOST_POINTS] = rows_of(s, &f->points, 3 * sizeof(float))};
    for (int side = 0; side < 2; side++) {
        const struct livestereo_image *v = picture[side];
        memory[HOST_PICTURES + side] =
            (struct image_memory){v->data, row, 0, row, (size_t)v->row_bytes};
        memory[HOST_CHROMA + side] =
            v->chroma ? (struct image_memory){v->chroma, row, 0, row, (size_t)v->chroma_row_bytes}
                      : (struct image_memory){(char *)v->data + v->row_bytes * v->height, row, 0,
                                              row, (size_t)v->row_bytes};
        memory[HOST_RECTIFIED + side] = rows_of(s, &f->rectified[side], (size_t)p->channels);
    }
    s->backend->run(s->backend, s->compiled, slot,
                    &(struct backend_frame){memory, f->left.memory == LIVESTEREO_CUDA, f->stream});
    s->computed = true;
}

/* Adds the passes that hand over what was not wanted before, and keeps what the next frame may read
 * of earlier ones. */
static int deliver_more(struct livestereo *s) {
    size_t bytes = s->forgets ? 0 : s->graph->persistent_bytes;
    void *kept = malloc(bytes + 1);
    handle_wait_for_all(s);
    s->described = s->computed = false;
    int error =
        kept ? s->backend->copy(s->backend, kept, s->arena, bytes) : handle_no_memory(s, "frames");
    if (!error)
        error = describe(s);
    if (!error)
        error = s->backend->copy(s->backend, s->arena, kept, bytes);
    s->described = !error;
    free(kept);
    return error;
}

/* Adds what a frame wants; whether that is more than before. */
static bool wants_measures(struct measures *m, const struct livestereo_frame *f) {
    struct measures before = *m;
    bool px = wanted_as(&f->disparity, LIVESTEREO_PX32F)->data,
         mm = wanted_as(&f->depth, LIVESTEREO_MM16)->data,
         metres = wanted_as(&f->depth, LIVESTEREO_M32F)->data, points = f->points.data;
    m->px |= px;
    m->mm |= mm;
    m->metres |= metres;
    m->points |= points;
    m->min_confidence = mm || metres || points ? f->min_confidence : m->min_confidence;
    return m->px != before.px || m->mm != before.mm || m->metres != before.metres ||
           m->points != before.points || m->min_confidence != before.min_confidence;
}

/* The passes of a frame, and what it may read of earlier ones. */
static int make_ready(struct livestereo *s, const struct params *params,
                      const struct livestereo_frame *f) {
    bool more = false;
    int error = handle_prepare(s, params);
    for (int side = 0; side < 2; side++) {
        bool *delivers = &s->pipeline.delivers_picture[side], before = *delivers;
        *delivers |= f->rectified[side].data && !picture_is_remapped(&s->pipeline, side);
        more |= *delivers != before;
    }
    more |= wants_measures(&s->pipeline.measures, f);
    if (!error && more)
        error = deliver_more(s);
    if (!error && s->forgets)
        error = forget(s);
    s->forgets &= error != 0;
    return error;
}

int handle_start(struct livestereo *s, const struct livestereo_frame *f) {
    const struct params params = s->pipeline.params;
    bool deferred = s->lost && s->in_flight > 0; /* the caller may count on two in flight */
    if (s->in_flight >= (s->lost ? MAX_SLOTS : s->backend->slots)) {
        log_explain("%d frames are in flight; wait for one first", s->in_flight);
        return -EBUSY;
    }
    s->forgets |= !follows(s, f);
    struct flight flight = {
        .frame = *f, .params = params, .started_ms = clock_ms(), .forgets = s->forgets};
    int error = deferred ? 0 : make_ready(s, &params, f);
    if (error && !handle_replace_lost(s, error))
        return error;
    flight.deferred = deferred || error;
    flight.update_count = s->result.update_count;
    s->last_number = f->number;
    s->flight[s->in_flight++] = flight;
    if (flight.deferred)
        s->forgets = false;
    else
        issue(s, f);
    s->flight[s->in_flight - 1].issued_ms = clock_ms();
    return 0;
}

/* was_done: before it was waited for. How long ago is not known then; what it took is. */
static void note_times(struct livestereo *s, int slot, const struct flight *f, bool was_done,
                       struct livestereo_result *r) {
    double ms[GROUP_COUNT], sum = 0;
    s->backend->times(s->backend, slot, ms);
    for (int i = 0; i < 2 * TIME_COUNT; i++)
        sum += ms[i];
    /* Stages that ran beside each other share the time that they took together. */
    double share = ms[GROUP_STAGES] > 0 && ms[GROUP_STAGES] < sum ? ms[GROUP_STAGES] / sum : 1;
    for (int i = 0; i < TIME_COUNT; i++)
        r->stage_ms[i] = share * (ms[i] + ms[TIME_COUNT + i]);
    r->stage_ms[TIME_UPLOAD] = ms[GROUP_UPLOAD];
    r->stage_ms[TIME_DOWNLOAD] = ms[GROUP_DOWNLOAD];
    r->left_bp_ms = ms[TIME_BP];
    /* Pictures that are copied on the way are there when the frame has been issued. */
    double now = clock_ms(), uploaded = fmax(f->issued_ms, f->started_ms + ms[GROUP_UPLOAD]),
           own = s->backend->own_memory ? fmax(ms[GROUP_STAGES], share * sum) + ms[GROUP_DOWNLOAD]
                                        : 0;
    r->ms = fmin(now, was_done ? uploaded + own : now) - f->started_ms;
}

/* The share of tiles that each half-step of the finest level updated. */
static void note_updates(const struct livestereo *s, int slot, int count,
                         struct livestereo_result *r) {
    int tiles = tile_count(s->pipeline.width, s->pipeline.height);
    r->half_steps = count;
    for (int i = 0; i < count; i++)
        r->updated[i] = i < SOLVER_FULL_UPDATES ? 1 : (float)s->updates[slot][i] / (float)tiles;
}

static bool is_done(struct livestereo *s, int slot) {
    return !s->backend->is_done || s->backend->is_done(s->backend, slot);
}

/* Waits for the frame in the oldest slot. */
static int collect(struct livestereo *s, const struct flight *f, struct livestereo_result *r) {
    int slot = s->slot;
    bool was_done = is_done(s, slot);
    int error = s->backend->wait(s->backend, slot);
    error = s->failed ? s->failed : error;
    s->failed = 0;
    s->slot = (slot + 1) % s->backend->slots;
    note_times(s, slot, f, was_done, r);
    note_updates(s, slot, f->update_count, r);
    s->computed &= !error;
    return error;
}

/* Computes a frame on the backend that is open now, which has none in flight. */
static int compute_again(struct livestereo *s, struct flight *f, struct livestereo_result *r) {
    const struct params now = s->pipeline.params;
    bool next_forgets = s->forgets;
    int in_flight = s->in_flight;
    if (f->frame.left.memory == LIVESTEREO_CUDA)
        return log_fail(-EIO, s->backend->name,
                        "the pictures were in the memory of the GPU that was lost");
    s->in_flight = 1;
    s->forgets = f->forgets;
    int error = make_ready(s, &f->params, &f->frame);
    if (!error) {
        f->update_count = s->result.update_count;
        issue(s, &f->frame);
        f->issued_ms = clock_ms();
        error = collect(s, f, r);
    }
    s->in_flight = in_flight;
    s->forgets |= next_forgets;
    int restored = handle_prepare(s, &now);
    return error ? error : restored;
}

bool handle_replace_lost(struct livestereo *s, int error) {
    int cannot = 0;
    if (error != -EIO || !s->may_fall_back || s->lost)
        return false;
    struct backend *cpu = backend_cpu_open(s->pipeline.params.threads, VARIANT_OPTIMISED, &cannot);
    if (!cpu)
        return false;
    log_warning(s->backend->name,
                "the GPU was lost; going on with the CPU backend, which is slower");
    handle_wait_for_all(s);
    handle_release_memory(s);
    s->lost = s->backend;
    s->backend = cpu;
    s->slot = s->failed = 0;
    s->described = s->computed = false;
    for (int i = 0; i < s->in_flight; i++)
        s->flight[i].deferred = true;
    return true;
}

int handle_finish(struct livestereo *s, struct livestereo_result *result) {
    struct livestereo_result unused;
    if (s->in_flight == 0) {
        log_explain("no frame is in flight");
        return -EINVAL;
    }
    struct flight *oldest = &s->flight[0];
    result = result ? result : &unused;
    *result = (struct livestereo_result){0};
    int error = oldest->deferred ? 0 : collect(s, oldest, result);
    if (error && handle_replace_lost(s, error))
        error = 0;
    if (!error && oldest->deferred)
        error = compute_again(s, oldest, result);
    else if (s->in_flight > 1) /* it may be the younger frame's failure */
        s->failed = error;
    s->in_flight--;
    memmove(&s->flight[0], &s->flight[1], sizeof(s->flight) - sizeof(s->flight[0]));
    return error;
}

int handle_update(struct livestereo *s, const struct params *params) {
    const struct params before = s->pipeline.params;
    int error = handle_prepare(s, params);
    if (error && handle_replace_lost(s, error))
        error = handle_prepare(s, params);
    if (error)
        s->pipeline.params = before;
    return error;
}

/* ---- the caller's frames */

int livestereo_start(struct livestereo *h, const struct livestereo_frame *given) {
    CALL(h);
    struct livestereo_frame f;
    int error = library_read_sized("frame", &f, sizeof(f), given) ?: handle_check_frame(h, &f);
    return error ?: handle_start(h, &f);
}

/* Waits at most so long for the oldest frame. Whether it is done, or has failed. */
static bool wait_until_done(struct livestereo *s, double timeout_ms) {
    double end = clock_ms() + timeout_ms;
    bool done = s->in_flight == 0 || s->flight[0].deferred;
    while (!done && !(done = is_done(s, s->slot)) && clock_ms() < end)
        usleep(100);
    return done;
}

int livestereo_wait(struct livestereo *h, struct livestereo_result *result) {
    return livestereo_wait_for(h, INFINITY, result);
}

int livestereo_wait_for(struct livestereo *h, double timeout_ms, struct livestereo_result *result) {
    CALL(h);
    struct livestereo_result out;
    int error = result ? library_read_sized("result", &out, sizeof(out), result) : 0;
    if (error)
        return error;
    if (!(timeout_ms >= 0))
        return refuse("a frame is waited for 0 ms or longer");
    if (timeout_ms < INFINITY && !wait_until_done(h, timeout_ms)) {
        log_explain("the frame is not done yet");
        return -ETIMEDOUT;
    }
    error = handle_finish(h, &out);
    if (result)
        library_write_sized(result, &out, sizeof(out));
    return error;
}

int livestereo_forget(struct livestereo *h) {
    CALL(h);
    h->forgets = true;
    return 0;
}

int livestereo_get_info(struct livestereo *h, struct livestereo_info *info) {
    CALL(h);
    struct livestereo_info out;
    int error = library_read_sized("info", &out, sizeof(out), info);
    if (error)
        return error;
    out = handle_info(h);
    library_write_sized(info, &out, sizeof(out));
    return 0;
}

_Static_assert((int)LIVESTEREO_DOWNLOAD == (int)TIME_DOWNLOAD &&
                   (int)TIME_COUNT <= (int)LIVESTEREO_MAX_STAGES,
               "one list of stages");

const char *livestereo_stage_name(enum livestereo_stage stage) {
    return (unsigned)stage < TIME_COUNT ? stage_time_names[stage] : NULL;
}
