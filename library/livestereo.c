/*
 * Handles: checks what the caller gives, and hands it to the pipeline (gpu/stereo.h). Each function
 * begins with enter() and ends with leave(): in between, the messages of this thread are the
 * handle's.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/depth.h"
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "gpu/pipeline.h"
#include "gpu/stereo.h"
#include "library/library.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of smoothness: one for the parameters in use, one for each frame in flight, and one to come. */
enum { TABLES = MAX_SLOTS + 2 };

struct livestereo {
    struct stereo *stereo;
    pid_t process; /* that opened it */
    bool inside;   /* a call is under way */
    struct log_target log;
    void (*message)(void *context, enum livestereo_level level, const char *text);
    void *context;
    int width, height; /* of the pictures */
    enum livestereo_format format;
    enum livestereo_format rectified; /* GRAY8 or RGB8 */
    bool motion;
    bool has_geometry;
    struct depth_geometry geometry;
    struct params at_open;
    struct smoothness_table table[TABLES];
    struct feature_network network; /* of weights that are not compiled in */
};

/* ---- messages */

static struct log_target *enter(struct livestereo *h) {
    if (h)
        h->inside = true;
    return log_redirect(h ? &h->log : &library_no_handle);
}

static int leave(struct log_target *before, int result) {
    struct log_target *log = log_redirect(before);
    if (log != &library_no_handle)
        ((struct livestereo *)log->context)->inside = false;
    return result;
}

/* A mistake of the caller. */
#define refuse(...) (log_explain(__VA_ARGS__), -EINVAL)

static int busy(void) {
    log_explain("a frame is in flight; wait for it first");
    return -EBUSY;
}

/* In a child process a GPU cannot be used further, nor what a call of another thread had in hand
 * at the fork(). */
static bool is_usable(const struct livestereo *h) {
    return h && (h->process == getpid() || (!h->inside && !stereo_needs_gpu(h->stereo)));
}

static int refuse_handle(struct livestereo *h) {
    struct log_target *before = log_redirect(h ? &h->log : &library_no_handle);
    if (h)
        log_explain("the handle is of the process that called fork(), where it %s; open another "
                    "one in this process",
                    h->inside ? "was in use" : "uses a GPU");
    else
        log_explain("there is no handle");
    log_redirect(before);
    return -EINVAL;
}

const char *livestereo_error(const struct livestereo *h) {
    return h ? h->log.error : library_no_handle.error;
}

/* ---- images */

/* Bytes of a pixel; of several planes, of the first one. */
static int pixel_bytes(enum livestereo_format format) {
    switch (format) {
    case LIVESTEREO_GRAY8:
    case LIVESTEREO_NV12:
    case LIVESTEREO_CONF8:
        return 1;
    case LIVESTEREO_YUYV:
    case LIVESTEREO_DISP16:
    case LIVESTEREO_FLOW16:
    case LIVESTEREO_MM16:
        return 2;
    case LIVESTEREO_RGB8:
    case LIVESTEREO_BGR8:
        return 3;
    case LIVESTEREO_RGBA8:
    case LIVESTEREO_M32F:
        return 4;
    }
    return 0;
}

/* Bytes of each number in an image. */
static int number_bytes(enum livestereo_format format) {
    return format < LIVESTEREO_DISP16 ? 1 : pixel_bytes(format);
}

/* The pipeline's name of a picture's format; 0 for a map's. */
static enum picture_format picture_format_of(enum livestereo_format format) {
    switch (format) {
    case LIVESTEREO_GRAY8:
        return PICTURE_GREY;
    case LIVESTEREO_RGB8:
        return PICTURE_RGB;
    case LIVESTEREO_BGR8:
        return PICTURE_BGR;
    case LIVESTEREO_RGBA8:
        return PICTURE_RGBA;
    case LIVESTEREO_NV12:
        return PICTURE_NV12;
    case LIVESTEREO_YUYV:
        return PICTURE_YUYV;
    default:
        return 0;
    }
}

/* 0, or -EINVAL after a message, if image is not one of this size and format. */
static int check_image(const char *name, const struct livestereo_image *image, int width,
                       int height, enum livestereo_format format) {
    int bytes = pixel_bytes(format);
    if (!image || !image->data)
        return refuse("%s: there is no image", name);
    if (image->format != format)
        return refuse("%s: format %d where %d is needed", name, (int)image->format, (int)format);
    if (image->width != width || image->height != height)
        return refuse("%s: %dx%d px where %dx%d are needed", name, image->width, image->height,
                      width, height);
    if (image->row_bytes < (ptrdiff_t)width * bytes)
        return refuse("%s: rows of %td bytes; %td are needed", name, image->row_bytes,
                      (ptrdiff_t)width * bytes);
    int number = number_bytes(format);
    if ((uintptr_t)image->data % (unsigned)number || image->row_bytes % number)
        return refuse("%s: data and row_bytes must be multiples of %d bytes", name, number);
    if (image->memory != LIVESTEREO_HOST && image->memory != LIVESTEREO_CUDA)
        return refuse("%s: memory %d does not exist", name, (int)image->memory);
    return 0;
}

static int check_host_image(const char *name, const struct livestereo_image *image, int width,
                            int height, enum livestereo_format format) {
    int error = check_image(name, image, width, height, format);
    if (!error && image->memory != LIVESTEREO_HOST)
        error = refuse("%s: it must be in host memory", name);
    return error;
}

/* Lies before the memory given, and keeps it aligned. */
struct allocation {
    _Alignas(64) bool plain; /* by malloc: after a GPU was lost */
};

void *livestereo_alloc(struct livestereo *h, size_t bytes) {
    struct allocation *memory = NULL;
    if (!is_usable(h) || bytes > SIZE_MAX / 2)
        return NULL;
    size_t all = (sizeof(*memory) + bytes + 63) / 64 * 64;
    bool plain = stereo_info(h->stereo).gpu_lost;
    memory = plain ? aligned_alloc(64, all) : stereo_alloc(h->stereo, all);
    if (!memory)
        return NULL;
    memory->plain = plain;
    return memory + 1;
}

void livestereo_free(struct livestereo *h, void *memory) {
    if (!memory || (h && !is_usable(h)))
        return;
    struct allocation *a = (struct allocation *)memory - 1;
    struct log_target *before = log_redirect(h ? &h->log : &library_no_handle);
    if (a->plain)
        free(a);
    else if (h)
        stereo_release(h->stereo, a);
    log_redirect(before);
}

/* ---- calibration */

static void rig_from(struct rig *to, const struct livestereo_rig *from) {
    rig_clear(to);
    for (int i = 0; i < 2; i++) {
        const struct livestereo_camera *c = &from->camera[i];
        to->camera[i] = (struct camera){.width = c->width,
                                        .height = c->height,
                                        .fx = c->fx,
                                        .fy = c->fy,
                                        .cx = c->cx,
                                        .cy = c->cy,
                                        .distortion = (enum distortion)c->distortion};
        memcpy(to->camera[i].k, c->k, sizeof(c->k));
    }
    memcpy(to->R, from->R, sizeof(to->R));
    memcpy(to->T, from->T, sizeof(to->T));
    memcpy(to->rotation, from->rotation, sizeof(to->rotation));
    memcpy(to->projection, from->projection, sizeof(to->projection));
    to->metric = from->metric;
    to->rectified = from->rectified;
    to->has_rectification = from->has_rectification;
}

static void rig_to(struct livestereo_rig *to, const struct rig *from) {
    *to = (struct livestereo_rig){.metric = from->metric,
                                  .rectified = from->rectified,
                                  .has_rectification = from->has_rectification};
    for (int i = 0; i < 2; i++) {
        const struct camera *c = &from->camera[i];
        to->camera[i] =
            (struct livestereo_camera){.width = c->width,
                                       .height = c->height,
                                       .fx = c->fx,
                                       .fy = c->fy,
                                       .cx = c->cx,
                                       .cy = c->cy,
                                       .distortion = (enum livestereo_distortion)c->distortion};
        memcpy(to->camera[i].k, c->k, sizeof(c->k));
    }
    memcpy(to->R, from->R, sizeof(to->R));
    memcpy(to->T, from->T, sizeof(to->T));
    memcpy(to->rotation, from->rotation, sizeof(to->rotation));
    memcpy(to->projection, from->projection, sizeof(to->projection));
}

int livestereo_rig_read(struct livestereo_rig *rig, const char *const *paths, int count, int width,
                        int height, double unit) {
    struct log_target *before = enter(NULL);
    struct rig_read_options options = {.width = width, .height = height, .unit = unit};
    struct rig read;
    if (!rig || !paths || count < 1 || count > 2 || !paths[0] || !paths[count - 1])
        return leave(before, refuse("a rig is read from one file or two"));
    int error = rig_load(paths, count, &options, &read);
    if (!error)
        rig_to(rig, &read);
    return leave(before, error);
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
    rig_from(&rig, o->rig);
    int error = rig_check(&rig, why, sizeof(why));
    if (!error)
        error = rig_fit(&rig, o->width, o->height, why, sizeof(why));
    if (error) {
        log_explain("rig: %s", why);
        return error;
    }
    error = !rig.rectified && o->alpha > 0 ? rectify_bouguet(&rig, o->alpha, 1, &to)
                                           : rectify_of_rig(&rig, 0, &to);
    if (error)
        return error;
    depth_geometry_of(&to, rig.metric, &h->geometry);
    h->has_geometry = true;
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
            from->width < 2 || from->height < 2 || from->width > 16384 || from->height > 16384)
            return refuse("remap: both tables must have one size, 2 to 16384 px a side");
        if (from->margin[0] != o->remap[0].margin[0] || from->margin[1] != o->remap[0].margin[1] ||
            from->margin[0] < 0 || from->margin[1] < 0 ||
            from->margin[0] > from->width - 2 - from->margin[1])
            return refuse("remap: the margins must be those of both tables and leave 2 px");
        if (h->motion && (from->margin[0] || from->margin[1]))
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
    const struct livestereo_geometry *g = o->geometry;
    h->geometry =
        (struct depth_geometry){g->fx, g->fy, g->cx, g->cy, g->baseline, g->doffs, g->metric};
    h->has_geometry = true;
    if (g->fx > 0 && g->fy > 0 && g->baseline > 0 && isfinite(g->fx) && isfinite(g->fy) &&
        isfinite(g->baseline) && isfinite(g->cx) && isfinite(g->cy) && isfinite(g->doffs))
        return 0;
    return refuse("geometry: fx, fy and baseline must be above 0, and all numbers finite");
}

/* ---- opening, closing, settings */

static void pass_message(void *context, enum log_level level, const char *text) {
    const struct livestereo *h = context;
    h->message(h->context, (enum livestereo_level)level, text);
}

static int check_options(const struct livestereo_options *o) {
    if (o->size != sizeof(*o))
        return refuse("options: size is %zu, not %zu; use LIVESTEREO_OPTIONS", o->size, sizeof(*o));
    if (picture_format_of(o->format) == 0)
        return refuse("options: format %d is not one of pictures", (int)o->format);
    if (o->width < 2 || o->height < 2 || o->width > 16384 || o->height > 16384)
        return refuse("options: pictures of %dx%d px; 2 to 16384 px a side are possible", o->width,
                      o->height);
    if (o->rig && (o->remap || o->geometry))
        return refuse("options: a rig comes without remap and geometry");
    if (!(o->alpha >= 0 && o->alpha <= 1))
        return refuse("options: alpha is %g, not in 0 to 1", o->alpha);
    if ((unsigned)o->log_level > LIVESTEREO_LOG_DEBUG)
        return refuse("options: log_level %d does not exist", (int)o->log_level);
    return 0;
}

/* The settings with a table and a network of the handle's own. */
static struct params params_of(struct livestereo *h, const struct livestereo_settings *s) {
    struct params params = s->params;
    int i = 0;
    params.network = h->network.file ? &h->network : NULL;
    if (!params.table)
        return params;
    while (h->stereo && stereo_uses_table(h->stereo, &h->table[i]))
        i++;
    assert(i < TABLES);
    h->table[i] = s->table;
    params.table = &h->table[i];
    return params;
}

/* Gives params the values that only livestereo_open() reads. */
static void keep_at_open(const struct livestereo *h, struct params *params) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].when == PARAM_START)
            param_put(params, &param_table[i], param_get(&h->at_open, &param_table[i]));
}

static int open_pipeline(struct livestereo *h, const struct livestereo_settings *settings,
                         const struct livestereo_options *o) {
    struct rectify_map maps[2] = {{0}};
    const struct feature_network *network = settings->params.network;
    h->motion = settings->params.mode == MODE_MOTION;
    int error = network ? library_copy_network(&h->network, network->file, network->size,
                                               h->log.error, sizeof(h->log.error))
                        : 0;
    if (error)
        return error;
    error = o->rig ? use_rig(h, o, maps) : use_remap(h, o, maps);
    bool remapped = maps[0].point || maps[1].point;
    h->width = o->width;
    h->height = o->height;
    h->format = o->format;
    h->rectified = o->format == LIVESTEREO_GRAY8 ? LIVESTEREO_GRAY8 : LIVESTEREO_RGB8;
    struct params params = params_of(h, settings);
    if (!error)
        h->stereo = stereo_open(&params, o->width, o->height, picture_format_of(o->format),
                                remapped ? maps : NULL, &error);
    h->at_open = params;
    if (o->rig)
        rectify_free(maps);
    return error;
}

int livestereo_open(struct livestereo **handle, const struct livestereo_settings *settings,
                    const struct livestereo_options *options) {
    struct log_target *before = enter(NULL);
    if (handle)
        *handle = NULL;
    if (!handle || !settings || !options)
        return leave(before, refuse("a handle needs settings, options and a place to put it"));
    int error = check_options(options);
    if (error)
        return leave(before, error);
    struct livestereo *h = calloc(1, sizeof(*h));
    if (!h) {
        log_explain("not enough memory for a handle");
        return leave(before, -ENOMEM);
    }
    h->process = getpid();
    h->message = options->log;
    h->context = options->log_context;
    h->log = (struct log_target){.message = options->log ? pass_message : NULL,
                                 .context = h,
                                 .level = (enum log_level)options->log_level};
    enter(h);
    error = open_pipeline(h, settings, options);
    if (error) {
        memcpy(library_no_handle.error, h->log.error, sizeof(h->log.error));
        leave(&library_no_handle, 0);
        livestereo_close(&h);
    }
    *handle = h;
    return leave(before, error);
}

int livestereo_update(struct livestereo *h, const struct livestereo_settings *settings) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    if (!settings)
        return leave(before, refuse("there are no settings"));
    if ((settings->params.mode == MODE_MOTION) != h->motion)
        return leave(before, refuse("mode cannot change while a handle is open"));
    struct params params = params_of(h, settings);
    keep_at_open(h, &params);
    return leave(before, stereo_update(h->stereo, &params));
}

void livestereo_close(struct livestereo **handle) {
    struct livestereo *h = handle ? *handle : NULL;
    if (!h)
        return;
    *handle = NULL;
    if (!is_usable(h))
        return;
    struct log_target *before = enter(h);
    stereo_close(&h->stereo);
    feature_network_drop(&h->network);
    leave(before, 0);
    free(h);
}

/* ---- frames */

static int check_output(const char *name, const struct livestereo_image *image, int width,
                        int height, enum livestereo_format format) {
    return image->data ? check_image(name, image, width, height, format) : 0;
}

static int check_memory(const struct livestereo_frame *f) {
    const struct livestereo_image *outputs[] = {&f->right,  &f->disparity,    &f->confidence,
                                                &f->motion, &f->rectified[0], &f->rectified[1]};
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
        if (outputs[i]->data && outputs[i]->memory != f->left.memory)
            return refuse("all images of a frame must be in memory of one kind");
    return 0;
}

static int check_frame(const struct livestereo *h, const struct livestereo_frame *f) {
    struct stereo_info info = stereo_info(h->stereo);
    int w = info.width, height = info.height, error;
    if (f->size != sizeof(*f))
        return refuse("frame: size is %zu, not %zu; use LIVESTEREO_FRAME", f->size, sizeof(*f));
    if ((error = check_image("left", &f->left, h->width, h->height, h->format)) ||
        (error = check_image("right", &f->right, h->width, h->height, h->format)) ||
        (error = check_output("disparity", &f->disparity, w, height, LIVESTEREO_DISP16)) ||
        (error = check_output("confidence", &f->confidence, w, height, LIVESTEREO_CONF8)) ||
        (error = check_output("motion", &f->motion, w, height, LIVESTEREO_FLOW16)) ||
        (error = check_output("rectified[0]", &f->rectified[0], w, height, h->rectified)) ||
        (error = check_output("rectified[1]", &f->rectified[1], w, height, h->rectified)))
        return error;
    if (f->disparity.data && h->motion)
        return refuse("disparity: with mode=motion there is none");
    if (f->motion.data && !h->motion)
        return refuse("motion: it needs mode=motion");
    if (f->left.memory == LIVESTEREO_CUDA && !stereo_on_device(h->stereo))
        return refuse("CUDA memory, and the backend is %s", stereo_backend(h->stereo));
    return check_memory(f);
}

static struct stereo_image plain(const struct livestereo_image *image) {
    return (struct stereo_image){image->data, (size_t)image->row_bytes};
}

int livestereo_start(struct livestereo *h, const struct livestereo_frame *f) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    int error = f ? check_frame(h, f) : refuse("there is no frame");
    if (error)
        return leave(before, error);
    struct stereo_frame frame = {.number = f->number,
                                 .picture = {plain(&f->left), plain(&f->right)},
                                 .rectified = {plain(&f->rectified[0]), plain(&f->rectified[1])},
                                 .disparity = plain(&f->disparity),
                                 .confidence = plain(&f->confidence),
                                 .motion = plain(&f->motion),
                                 .on_device = f->left.memory == LIVESTEREO_CUDA,
                                 .stream = f->stream};
    error = stereo_start(h->stereo, &frame);
    if (error == -EBUSY)
        log_explain("%d frames are in flight; wait for one first", stereo_in_flight(h->stereo));
    return leave(before, error);
}

_Static_assert((int)LIVESTEREO_STAGES == (int)TIME_COUNT, "one list of stages");

const char *livestereo_stage_name(enum livestereo_stage stage) {
    return (unsigned)stage < LIVESTEREO_STAGES ? stage_time_names[stage] : NULL;
}

int livestereo_wait(struct livestereo *h, struct livestereo_result *result) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    struct stereo_result r;
    if (result && result->size != sizeof(*result))
        return leave(before, refuse("result: size is %zu, not %zu; use LIVESTEREO_RESULT",
                                    result->size, sizeof(*result)));
    if (stereo_in_flight(h->stereo) == 0)
        return leave(before, refuse("no frame is in flight"));
    int error = stereo_finish(h->stereo, &r);
    if (result) {
        *result = (struct livestereo_result){.size = sizeof(*result),
                                             .ms = r.ms,
                                             .left_bp_ms = r.left_bp_ms,
                                             .half_steps = r.half_steps};
        memcpy(result->stage_ms, r.stage_ms, sizeof(r.stage_ms));
        memcpy(result->updated, r.updated, sizeof(r.updated));
    }
    return leave(before, error);
}

int livestereo_forget(struct livestereo *h) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    stereo_forget(h->stereo);
    return leave(before, 0);
}

int livestereo_set_mask(struct livestereo *h, const struct livestereo_image *mask) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    struct stereo_info info = stereo_info(h->stereo);
    size_t pixels = (size_t)info.width * (size_t)info.height;
    int error =
        mask ? check_host_image("mask", mask, info.width, info.height, LIVESTEREO_GRAY8) : 0;
    if (error)
        return leave(before, error);
    if (!h->motion)
        return leave(before, refuse("a mask needs mode=motion"));
    uint8_t *packed = mask ? malloc(pixels) : NULL;
    if (mask && !packed) {
        log_explain("not enough memory for the mask");
        return leave(before, -ENOMEM);
    }
    for (int y = 0; mask && y < info.height; y++) {
        const uint8_t *row = (const uint8_t *)mask->data + y * mask->row_bytes;
        for (int x = 0; x < info.width; x++)
            packed[(size_t)y * (size_t)info.width + (size_t)x] = row[x] > 127 ? 255 : 0;
    }
    error = stereo_set_mask(h->stereo, packed);
    if (error == -EBUSY)
        error = busy();
    free(packed);
    return leave(before, error);
}

/* ---- what is known */

int livestereo_info(struct livestereo *h, struct livestereo_info *info) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    if (!info || info->size != sizeof(*info))
        return leave(before, refuse("info: its size is wrong; use LIVESTEREO_INFO"));
    struct stereo_info s = stereo_info(h->stereo);
    const struct depth_geometry *g = &h->geometry;
    *info = (struct livestereo_info){.size = sizeof(*info),
                                     .backend = stereo_backend(h->stereo),
                                     .width = s.width,
                                     .height = s.height,
                                     .labels = s.labels,
                                     .is_resampled = {s.is_remapped[0], s.is_remapped[1]},
                                     .frames_in_flight = stereo_overlaps(h->stereo) ? 2 : 1,
                                     .gpu_lost = s.gpu_lost,
                                     .memory = stereo_bytes(h->stereo),
                                     .has_geometry = h->has_geometry,
                                     .geometry = {.fx = g->fx,
                                                  .fy = g->fy,
                                                  .cx = g->cx,
                                                  .cy = g->cy,
                                                  .baseline = g->baseline,
                                                  .doffs = g->doffs,
                                                  .metric = g->metric}};
    return leave(before, 0);
}

/* 0, or -ENOTSUP after a message. */
static int need_metres(const struct livestereo *h) {
    if (h->has_geometry && h->geometry.metric)
        return 0;
    log_explain(h->has_geometry ? "the calibration does not say in which unit its baseline is"
                                : "depth needs a calibration");
    return -ENOTSUP;
}

static const void *row_of(const struct livestereo_image *image, int y) {
    return (const char *)image->data + y * image->row_bytes;
}

static void depth_row(const struct depth_geometry *g, const int16_t *disparity, void *depth,
                      int width, bool in_metres) {
    if (in_metres)
        depth_map_metres(g, disparity, width, 1, depth);
    else
        depth_map_16(g, disparity, width, 1, 1000, depth);
}

int livestereo_depth(struct livestereo *h, const struct livestereo_image *disparity,
                     const struct livestereo_image *depth) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    struct stereo_info info = stereo_info(h->stereo);
    bool in_metres = depth && depth->format == LIVESTEREO_M32F;
    int error =
        check_host_image("disparity", disparity, info.width, info.height, LIVESTEREO_DISP16);
    if (!error)
        error = check_host_image("depth", depth, info.width, info.height,
                                 in_metres ? LIVESTEREO_M32F : LIVESTEREO_MM16);
    if (!error)
        error = need_metres(h);
    for (int y = 0; y < info.height && !error; y++)
        depth_row(&h->geometry, row_of(disparity, y), (char *)depth->data + y * depth->row_bytes,
                  info.width, in_metres);
    return leave(before, error);
}

static void color_of(const struct livestereo_image *color, int x, int y, float rgb[3]) {
    const uint8_t *row = color ? row_of(color, y) : NULL;
    int channels = color && color->format == LIVESTEREO_RGB8 ? 3 : 1;
    for (int c = 0; c < 3; c++)
        rgb[c] = row ? row[x * channels + (channels == 3 ? c : 0)] : 255;
}

int livestereo_points(struct livestereo *h, const struct livestereo_image *disparity,
                      const struct livestereo_image *color, double farthest, float *xyzrgb,
                      size_t max, size_t *count) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    struct stereo_info info = stereo_info(h->stereo);
    bool grey = color && color->format == LIVESTEREO_GRAY8;
    int error =
        check_host_image("disparity", disparity, info.width, info.height, LIVESTEREO_DISP16);
    if (!error && color)
        error = check_host_image("color", color, info.width, info.height,
                                 grey ? LIVESTEREO_GRAY8 : LIVESTEREO_RGB8);
    if (!error && (!xyzrgb || !count || !(farthest >= 0)))
        error = refuse("points need a place to put them, and a distance of 0 or more");
    if (!error)
        error = need_metres(h);
    if (!error)
        *count = 0;
    for (int y = 0; y < info.height && !error; y++) {
        const int16_t *row = row_of(disparity, y);
        for (int x = 0; x < info.width && *count < max; x++) {
            float *point = xyzrgb + 6 * *count;
            if (depth_point(&h->geometry, x, y, row[x], farthest > 0 ? farthest : INFINITY, point))
                continue;
            color_of(color, x, y, point + 3);
            ++*count;
        }
    }
    return leave(before, error);
}

int livestereo_probe(struct livestereo *h, int x, int y, struct livestereo_probe *probe) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    if (!probe || probe->size != sizeof(*probe))
        return leave(before, refuse("probe: its size is wrong; use LIVESTEREO_PROBE"));
    struct probe_labels labels = {0};
    *probe = (struct livestereo_probe){.size = sizeof(*probe)};
    int label = stereo_probe(h->stereo, x, y, probe->cost, probe->belief),
        error = label < 0 ? label : stereo_probe_labels(h->stereo, x, y, &labels);
    if (error == -EBUSY)
        return leave(before, busy());
    if (error == -EINVAL)
        return leave(before, refuse("pixel %d, %d is not one of a computed frame", x, y));
    if (error == -ENOTSUP)
        log_explain("the frame was computed in blocks, which keep no costs");
    if (error == -ENOMEM)
        log_explain("not enough memory to look at the frame");
    probe->label = label;
    probe->labels = labels.u_count * labels.v_count;
    probe->u = labels.u;
    probe->v = labels.v;
    probe->step = labels.step;
    probe->u_count = labels.u_count;
    probe->v_count = labels.v_count;
    return leave(before, error);
}

int livestereo_bound(struct livestereo *h, int sweeps, double *bound, double *least) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    if (sweeps < 1 || !bound || !least)
        return leave(before, refuse("a bound needs one sweep or more, and places for two numbers"));
    int error = stereo_bound(h->stereo, sweeps, bound, least);
    if (error == -EBUSY)
        return leave(before, busy());
    if (error == -EINVAL)
        log_explain("no frame has been computed");
    if (error == -ENOTSUP)
        log_explain(
            "there is no bound with mode=motion, with one label, in blocks or where labels are "
            "pruned; see pruning");
    if (error == -ENOMEM)
        log_explain("not enough memory for a bound");
    return leave(before, error);
}

int livestereo_energy(struct livestereo *h, double *energy) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    int error = energy ? stereo_energy(h->stereo, energy) : -EINVAL;
    if (error == -EBUSY)
        return leave(before, busy());
    if (error == -EINVAL)
        log_explain("no frame has been computed, or there is no place for its energy");
    if (error == -ENOMEM)
        log_explain("not enough memory to look at the frame");
    return leave(before, error);
}
