/*
 * Opens and closes handles, and what a rig or tables of the caller's make of its pictures.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig.h"
#include "gpu/handle.h"
#include "gpu/seen.h"
#include "gpu/settings.h"
#include "gpu/stages/depth.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- calibration */

/* The pose that follows from the rectification: the rectified frames differ by the baseline. */
static void rig_complete(struct rig *rig) {
    double back[9];
    const double *l = rig->projection[0], *r = rig->projection[1];
    const double apart[3] = {r[3] / r[0] - l[3] / l[0], 0, 0};
    if (!rig->has_rectification || !library_is_zero(rig->R, sizeof(rig->R)) ||
        !library_is_zero(rig->T, sizeof(rig->T)))
        return;
    matrix_transpose(rig->rotation[1], back);
    matrix_multiply(back, rig->rotation[0], rig->R);
    matrix_apply(back, apart, rig->T);
}

/* Tables and geometry of a rig; maps[].point stays NULL where the pictures are rectified. */
static int use_rig(struct livestereo *h, const struct livestereo_options *o,
                   struct rectify_map maps[2]) {
    char why[LOG_MESSAGE];
    struct rig rig;
    struct rectification to;
    for (int i = 0; i < 2; i++)
        if ((unsigned)o->rig->camera[i].distortion >= DISTORTION_COUNT)
            return refuse("rig: distortion %d does not exist", (int)o->rig->camera[i].distortion);
    if (library_check_reserved("rig", o->rig->reserved, sizeof(o->rig->reserved)))
        return -EINVAL;
    rig_clear(&rig);
    memcpy(&rig, o->rig, offsetof(struct rig, rms)); /* see rig_file.c */
    rig_complete(&rig);
    int error =
        rig_check(&rig, why, sizeof(why)) ?: rig_fit(&rig, o->width, o->height, why, sizeof(why));
    if (error) {
        log_explain("rig: %s", why);
        return error;
    }
    error = rectify_of_rig(&rig, o->alpha, &to);
    if (error)
        return error;
    depth_geometry_of(&to, rig.metric, &h->geometry);
    h->has_geometry = true;
    memcpy(h->rotation, to.rotation, sizeof(h->rotation));
    if (!rig.metric)
        log_warning("rig", "the unit of its lengths is not known, so there is no depth; give it to "
                           "livestereo_rig_read(), or T in metres with metric 1");
    return rig.rectified ? 0 : rectify_tables(&rig, &to, maps);
}

/* Beyond this a table's sums with steps and offsets need more than 32 bits. */
enum { MAX_POINT = 1 << 28 };

static bool points_are_near(const struct livestereo_remap *remap) {
    size_t count = 2 * (size_t)remap->width * (size_t)remap->height;
    for (size_t i = 0; remap->point && i < count; i++)
        if (remap->point[i] < -MAX_POINT || remap->point[i] > MAX_POINT)
            return false;
    return true;
}

/* The same from the caller's tables, which are only read. */
static int use_remap(struct livestereo *h, const struct livestereo_options *o,
                     struct rectify_map maps[2]) {
    for (int i = 0; o->remap && i < 2; i++) {
        const struct livestereo_remap *from = &o->remap[i];
        if (from->width != o->remap[0].width || from->height != o->remap[0].height ||
            from->width < 2 || from->height < 2 || from->width > MAX_FRAME_SIDE ||
            from->height > MAX_FRAME_SIDE)
            return refuse("remap: both tables must have one size, 2 to %d px a side",
                          MAX_FRAME_SIDE);
        if (from->margin[0] != o->remap[0].margin[0] || from->margin[1] != o->remap[0].margin[1] ||
            from->margin[0] < 0 || from->margin[1] < 0 ||
            from->margin[0] > from->width - 2 - from->margin[1])
            return refuse("remap: the margins must be those of both tables and leave 2 px");
        if (h->at_open.mode == MODE_MOTION && (from->margin[0] || from->margin[1]))
            return refuse("remap: margins need mode=stereo");
        if (from->samples != o->remap[0].samples || from->step != o->remap[0].step ||
            from->samples < 0 || from->samples > 16 || from->step < 0 || from->step > MAX_POINT)
            return refuse("remap: samples must be 0 to 16, step 0 to %d, in both tables",
                          MAX_POINT);
        if (!from->point && (o->remap[1 - i].point || from->width != o->width ||
                             from->height != o->height || from->margin[0] || from->margin[1]))
            return refuse("remap: a table is missing");
        if (!points_are_near(from))
            return refuse("remap: a point of the table lies beyond %d/32 px", MAX_POINT);
        maps[i] = (struct rectify_map){from->width,
                                       from->height,
                                       {from->margin[0], from->margin[1]},
                                       (struct rectify_point *)(uintptr_t)from->point,
                                       from->samples,
                                       from->step};
    }
    if (!o->geometry)
        return 0;
    h->has_geometry = true;
    return library_geometry(&h->geometry, o->geometry);
}

/* ---- the backend */

static struct backend *open_backend(const struct params *p, int *error) {
    bool any = p->backend == BACKEND_AUTO;
    struct backend *b = NULL;
    if (p->backend != BACKEND_CPU)
        b = backend_cuda_open(p->gpu, VARIANT_OPTIMISED, any, error);
    if (b || p->backend == BACKEND_CUDA)
        return b;
    return backend_cpu_open(p->threads, VARIANT_OPTIMISED, error);
}

static int check_size(int width, int height, enum picture_format format) {
    bool even = (format != PICTURE_NV12 && format != PICTURE_YUYV) || width % 2 == 0;
    if (format == PICTURE_NV12 && height % 2 != 0)
        even = false;
    if (width >= 2 && height >= 1 && width <= MAX_FRAME_SIDE && height <= MAX_FRAME_SIDE && even)
        return 0;
    return log_fail(
        -EINVAL, "stereo",
        "pictures of %dx%d cannot be matched; they must be 2 to %d px wide and 1 to %d px high%s",
        width, height, MAX_FRAME_SIDE, MAX_FRAME_SIDE, even ? "" : ", and even with this format");
}

/* The caller's tables are not kept: copies are, where a GPU may be lost. */
static int keep_maps(struct livestereo *h, bool opened) {
    size_t pixels = (size_t)h->pipeline.width * (size_t)h->pipeline.height;
    int error = 0;
    for (int side = 0; side < 2; side++) {
        struct rectify_point *from = h->source_map[side].point, *copy = NULL;
        bool keeps = opened && from && h->backend->own_memory;
        if (keeps)
            copy = malloc(pixels * sizeof(*copy));
        if (copy)
            memcpy(copy, from, pixels * sizeof(*copy));
        if (keeps && !copy)
            error = handle_no_memory(h, "the rectification tables");
        h->source_map[side].point = copy;
    }
    return error;
}

/* Opens the backend that params names. Too little memory of a GPU is like no GPU, where there is a
 * choice. */
static int open_and_prepare(struct livestereo *h, const struct params *params) {
    int error = 0;
    h->backend = open_backend(params, &error);
    if (!h->backend)
        return error;
    h->may_fall_back = h->has_next = h->backend->own_memory && params->backend == BACKEND_AUTO;
    error = handle_prepare(h, params);
    if (error == -ENOMEM && h->has_next) {
        h->may_fall_back = h->has_next = false;
        handle_release_memory(h);
        h->backend->close(&h->backend);
        error = 0;
        h->backend = backend_cpu_open(params->threads, VARIANT_OPTIMISED, &error);
        error = h->backend ? handle_prepare(h, params) : error;
        if (!error)
            log_warning(h->backend->name, "computes, since the GPU has too little memory for %dx%d",
                        h->pipeline.source_width, h->pipeline.source_height);
    }
    h->has_next = false;
    return error;
}

/* Does the work of handle_open() in a handle that exists. */
static int open_pipeline(struct livestereo *h, const struct params *params, int width, int height,
                         enum picture_format format, const struct rectify_map maps[2]) {
    struct pipeline *p = &h->pipeline;
    bool resized = maps && maps[0].point;
    int error = check_size(width, height, format);
    p->source_width = width;
    p->source_height = height;
    p->width = resized ? maps[0].width : width;
    p->height = resized ? maps[0].height : height;
    p->format = format;
    p->channels = picture_channels(format);
    h->seen[2] = width;
    h->seen[3] = height;
    for (int i = 0; i < 2 && resized; i++)
        h->margin[i] = maps[0].margin[i];
    for (int i = 0; i < 2 && maps; i++)
        h->source_map[i] = maps[i];
    h->graph = graph_open();
    if (!h->graph)
        error = log_fail(-ENOMEM, "stereo", "not enough memory");
    if (!error && maps) {
        p->has_unseen = !seen_whole(&maps[LEFT_SIDE], width, height);
        error = seen_window(&maps[LEFT_SIDE], width, height, h->seen);
    }
    if (!error)
        error = h->backend ? inputs_take(h) : open_and_prepare(h, params);
    return keep_maps(h, !error) ?: error;
}

static struct livestereo *new_handle(void) {
    struct livestereo *h = calloc(1, sizeof(*h));
    if (h)
        h->process = getpid();
    return h;
}

struct livestereo *handle_open(struct backend *backend, const struct params *params, int width,
                               int height, enum picture_format format,
                               const struct rectify_map maps[2], int *error) {
    struct livestereo *h = new_handle();
    assert(h);
    h->backend = backend;
    *error = open_pipeline(h, params, width, height, format, maps);
    if (*error)
        livestereo_close(&h);
    return h;
}

/* ---- the caller's handle */

static void pass_message(void *context, enum log_level level, const char *text) {
    const struct livestereo *h = context;
    h->message(h->context, (enum livestereo_level)level, text);
}

/* The settings with the handle's own network. */
static struct params params_of(const struct livestereo *h, const struct livestereo_settings *s) {
    struct params params = s->params;
    params.network = h->network.file ? &h->network : NULL;
    return params;
}

/* Tables of depths and points, whose column 0 is margin columns left of the maps. */
static int make_depths(struct livestereo *h, int margin) {
    const struct depth_geometry *g = &h->geometry;
    struct depth_tables *t = h->source_depths = malloc(sizeof(*t));
    int16_t *disparity = malloc(DEPTHS * sizeof(*disparity));
    bool made = t && disparity;
    for (int d = 0; d < DEPTHS && made; d++)
        disparity[d] = (int16_t)(uint16_t)d;
    for (int i = 0; i < MAX_FRAME_SIDE && made; i++) {
        t->across[i] = (float)((i - margin - g->cx) / g->fx);
        t->down[i] = (float)((i - g->cy) / g->fy);
    }
    if (made) {
        depth_map_metres(g, disparity, DEPTHS, 1, t->metres);
        depth_map_16(g, disparity, DEPTHS, 1, 1000, t->mm);
    } else {
        log_explain("not enough memory for the tables of depths");
    }
    free(disparity);
    return made ? 0 : -ENOMEM;
}

static int open_as_asked(struct livestereo *h, const struct livestereo_settings *settings,
                         const struct livestereo_options *o) {
    struct rectify_map maps[2] = {{0}};
    const struct feature_network *network = settings->params.network;
    int error = network ? library_copy_network(&h->network, network->file, network->size,
                                               h->log.error, sizeof(h->log.error))
                        : 0;
    if (error)
        return error;
    h->at_open = params_of(h, settings);
    h->format = o->format;
    error = o->rig ? use_rig(h, o, maps) : use_remap(h, o, maps);
    if (!error && h->has_geometry)
        h->pipeline.camera = (struct pinhole){.focal = (float)h->geometry.fx,
                                              .cx = (float)(h->geometry.cx + maps[0].margin[0]),
                                              .cy = (float)h->geometry.cy,
                                              .doffs = (float)h->geometry.doffs,
                                              .known = 1};
    h->pipeline.sequence = o->sequence;
    if (!error && !h->has_geometry && o->sequence && h->at_open.mode == MODE_STEREO &&
        h->at_open.temporal_mode != TEMPORAL_OFF)
        log_info("temporal_mode",
                 "without a calibration depth is not averaged while the rig moves");
    if (!error && h->has_geometry && h->geometry.metric)
        error = make_depths(h, maps[0].margin[0]);
    if (!error)
        error =
            open_pipeline(h, &h->at_open, o->width, o->height, library_picture_format(o->format),
                          maps[0].point || maps[1].point ? maps : NULL);
    if (o->rig)
        rectify_free(maps);
    return error;
}

int livestereo_open(struct livestereo **handle, const struct livestereo_settings *settings,
                    const struct livestereo_options *given) {
    AUTO(call_end) struct call call = call_begin(NULL);
    struct livestereo_options o;
    if (handle)
        *handle = NULL;
    if (!handle || !settings || !given)
        return refuse("a handle needs settings, options and a place to put it");
    int error = library_read_sized("options", &o, sizeof(o), given) ?: library_check_options(&o);
    if (error)
        return error;
    struct livestereo *h = new_handle();
    if (!h) {
        log_explain("not enough memory for a handle");
        return -ENOMEM;
    }
    h->message = o.log;
    h->context = o.log_context;
    h->log = (struct log_target){
        .message = o.log ? pass_message : NULL, .context = h, .level = (enum log_level)o.log_level};
    struct call inner = call_begin(h);
    error = open_as_asked(h, settings, &o);
    call_end(&inner);
    if (error) {
        memcpy(library_no_handle.error, h->log.error, sizeof(h->log.error));
        livestereo_close(&h);
    }
    *handle = h;
    return error;
}

int livestereo_update(struct livestereo *h, const struct livestereo_settings *settings) {
    CALL(h);
    if (!settings)
        return refuse("there are no settings");
    if ((settings->params.mode == MODE_MOTION) != (h->at_open.mode == MODE_MOTION))
        return refuse("mode cannot change while a handle is open");
    struct params params = params_of(h, settings);
    for (int i = 0; i < param_count; i++)
        if (param_table[i].when == PARAM_START)
            param_put(&params, &param_table[i], param_get(&h->at_open, &param_table[i]));
    return handle_update(h, &params);
}

static void close_pipeline(struct livestereo *h) {
    if (h->backend) {
        handle_wait_for_all(h); /* frames in flight are their owners' again */
        handle_release_memory(h);
        h->backend->close(&h->backend);
    }
    if (h->lost)
        h->lost->close(&h->lost);
    graph_close(&h->graph);
    for (int side = 0; side < 2; side++)
        free(h->source_map[side].point);
    free(h->source_mask);
    free(h->source_depths);
    feature_network_drop(&h->network);
}

void livestereo_close(struct livestereo **handle) {
    struct livestereo *h = handle ? *handle : NULL;
    if (!h)
        return;
    *handle = NULL;
    if (!handle_is_usable(h))
        return;
    struct call call = call_begin(h);
    close_pipeline(h);
    call_end(&call);
    free(h);
}

/* ---- memory */

/* Lies before the memory given, and keeps it aligned. */
struct allocation {
    _Alignas(64) bool plain; /* by malloc: after a GPU was lost */
};

void *livestereo_alloc(struct livestereo *h, size_t bytes) {
    if (!handle_is_usable(h) || bytes > SIZE_MAX / 2)
        return NULL;
    size_t all = (sizeof(struct allocation) + bytes + 63) / 64 * 64;
    struct allocation *memory =
        h->lost ? aligned_alloc(64, all) : h->backend->alloc(h->backend, MEMORY_HOST, all);
    if (!memory)
        return NULL;
    memory->plain = h->lost != NULL;
    return memory + 1;
}

void livestereo_free(struct livestereo *h, void *memory) {
    if (!memory || (h && !handle_is_usable(h)))
        return;
    struct allocation *a = (struct allocation *)memory - 1;
    AUTO(call_end) struct call call = call_begin(h);
    if (a->plain) {
        free(a);
    } else if (h) {
        struct backend *b = h->lost ? h->lost : h->backend;
        b->release(b, MEMORY_HOST, a);
    }
}
