/*
 * Handles: checks what the caller gives, and hands it to the pipeline (gpu/stereo.h). Each function
 * begins with enter() and ends with leave(): in between, the messages of this thread are the
 * handle's.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/depth.h"
#include "calibration/rectify.h"
#include "calibration/rig.h"
#include "calibration/rig_read.h"
#include "gpu/pipeline.h"
#include "gpu/stages/depth.h"
#include "gpu/stereo.h"
#include "library/library.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    double rotation[2][9]; /* of a rig, to the rectified frames */
    struct params at_open;
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
    case LIVESTEREO_PX32F:
        return 4;
    case LIVESTEREO_XYZ32F:
        return 12;
    }
    return 0;
}

/* Bytes of each number in an image. */
static int number_bytes(enum livestereo_format format) {
    int bytes = pixel_bytes(format);
    return format < LIVESTEREO_DISP16 ? 1 : bytes > 4 ? 4 : bytes;
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

static int check_reserved(const char *name, const void *reserved, size_t bytes) {
    return library_is_zero(reserved, bytes) ? 0 : refuse("%s: reserved is not 0", name);
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
    if (image->chroma ? format != LIVESTEREO_NV12 || image->chroma_row_bytes < width
                      : image->chroma_row_bytes != 0)
        return refuse("%s: chroma is a plane of NV12, with rows of %d bytes or more", name, width);
    return check_reserved(name, image->reserved, sizeof(image->reserved));
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

/* A rig's fields up to rms are those of the header's struct, in its order. */
enum { RIG_BYTES = offsetof(struct rig, rms) };
_Static_assert((int)offsetof(struct livestereo_rig, reserved) == (int)RIG_BYTES &&
                   offsetof(struct livestereo_rig, R) == offsetof(struct rig, R) &&
                   offsetof(struct livestereo_rig, metric) == offsetof(struct rig, metric) &&
                   offsetof(struct livestereo_rig, rotation) == offsetof(struct rig, rotation) &&
                   offsetof(struct livestereo_camera, fx) == offsetof(struct camera, fx) &&
                   offsetof(struct livestereo_camera, distortion) ==
                       offsetof(struct camera, distortion) &&
                   offsetof(struct livestereo_camera, k) == offsetof(struct camera, k) &&
                   (int)LIVESTEREO_FISHEYE + 1 == (int)DISTORTION_COUNT,
               "one rig");

int livestereo_rig_read(struct livestereo_rig *rig, const char *const *paths, int count, int width,
                        int height, double unit) {
    struct log_target *before = enter(NULL);
    struct rig_read_options options = {.width = width, .height = height, .unit = unit};
    struct rig read;
    if (!rig || !paths || count < 1 || count > 2 || !paths[0] || !paths[count - 1])
        return leave(before, refuse("a rig is read from one file or two"));
    int error = rig_load(paths, count, &options, &read);
    if (!error) {
        memset(rig, 0, sizeof(*rig));
        memcpy(rig, &read, RIG_BYTES);
    }
    return leave(before, error);
}

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
    if (check_reserved("rig", o->rig->reserved, sizeof(o->rig->reserved)))
        return -EINVAL;
    rig_clear(&rig);
    memcpy(&rig, o->rig, RIG_BYTES);
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

static int geometry_from(struct depth_geometry *to, const struct livestereo_geometry *g) {
    *to = (struct depth_geometry){g->fx, g->fy, g->cx, g->cy, g->baseline, g->doffs, g->metric};
    if (check_reserved("geometry", g->reserved, sizeof(g->reserved)))
        return -EINVAL;
    if (g->fx > 0 && g->fy > 0 && g->baseline > 0 && isfinite(g->fx) && isfinite(g->fy) &&
        isfinite(g->baseline) && isfinite(g->cx) && isfinite(g->cy) && isfinite(g->doffs))
        return 0;
    return refuse("geometry: fx, fy and baseline must be above 0, and all numbers finite");
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
    h->has_geometry = true;
    return geometry_from(&h->geometry, o->geometry);
}

/* ---- opening, closing, settings */

static void pass_message(void *context, enum log_level level, const char *text) {
    const struct livestereo *h = context;
    h->message(h->context, (enum livestereo_level)level, text);
}

static int check_options(const struct livestereo_options *o) {
    if (check_reserved("options", o->reserved, sizeof(o->reserved)))
        return -EINVAL;
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

/* The settings with the handle's own network. */
static struct params params_of(const struct livestereo *h, const struct livestereo_settings *s) {
    struct params params = s->params;
    params.network = h->network.file ? &h->network : NULL;
    return params;
}

/* Gives params the values that only livestereo_open() reads. */
static void keep_at_open(const struct livestereo *h, struct params *params) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].when == PARAM_START)
            param_put(params, &param_table[i], param_get(&h->at_open, &param_table[i]));
}

/* Column 0 of the tables is margin columns left of the maps. */
static int set_depths(struct livestereo *h, int margin) {
    const struct depth_geometry *g = &h->geometry;
    struct depth_tables *t = malloc(sizeof(*t));
    int16_t *disparity = malloc(DEPTHS * sizeof(*disparity));
    int error = t && disparity ? 0 : -ENOMEM;
    for (int d = 0; d < DEPTHS && !error; d++)
        disparity[d] = (int16_t)(uint16_t)d;
    for (int i = 0; i < MAX_PICTURE_SIDE && !error; i++) {
        t->across[i] = (float)((i - margin - g->cx) / g->fx);
        t->down[i] = (float)((i - g->cy) / g->fy);
    }
    if (error) {
        log_explain("not enough memory for the tables of depths");
    } else {
        depth_map_metres(g, disparity, DEPTHS, 1, t->metres);
        depth_map_16(g, disparity, DEPTHS, 1, 1000, t->mm);
        error = stereo_set_depths(h->stereo, t);
    }
    free(disparity);
    free(t);
    return error;
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
    if (!error && h->has_geometry && h->geometry.metric)
        error = set_depths(h, maps[0].margin[0]);
    h->at_open = params;
    if (o->rig)
        rectify_free(maps);
    return error;
}

int livestereo_open(struct livestereo **handle, const struct livestereo_settings *settings,
                    const struct livestereo_options *given) {
    struct log_target *before = enter(NULL);
    struct livestereo_options o;
    if (handle)
        *handle = NULL;
    if (!handle || !settings || !given)
        return leave(before, refuse("a handle needs settings, options and a place to put it"));
    int error = library_read_sized("options", &o, sizeof(o), given) ?: check_options(&o);
    if (error)
        return leave(before, error);
    struct livestereo *h = calloc(1, sizeof(*h));
    if (!h) {
        log_explain("not enough memory for a handle");
        return leave(before, -ENOMEM);
    }
    h->process = getpid();
    h->message = o.log;
    h->context = o.log_context;
    h->log = (struct log_target){
        .message = o.log ? pass_message : NULL, .context = h, .level = (enum log_level)o.log_level};
    enter(h);
    error = open_pipeline(h, settings, &o);
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

/* NULL: not known. 0, or -ENOTSUP after a message. */
static int need_metres(const struct depth_geometry *g) {
    if (g && g->metric)
        return 0;
    log_explain(g ? "the calibration does not say in which unit its baseline is, so there is no "
                    "depth; give the unit to livestereo_rig_read(), or metric 1 and metres"
                  : "depth needs a calibration: a rig or a geometry");
    return -ENOTSUP;
}

static bool wants_metres(const struct livestereo_frame *f) {
    return f->depth.data || f->points.data;
}

static int check_output(const char *name, const struct livestereo_image *image, int width,
                        int height, enum livestereo_format format) {
    return image->data ? check_image(name, image, width, height, format) : 0;
}

static int check_memory(const struct livestereo_frame *f) {
    const struct livestereo_image *outputs[] = {&f->right,  &f->disparity,    &f->confidence,
                                                &f->motion, &f->rectified[0], &f->rectified[1],
                                                &f->depth,  &f->points};
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
        if (outputs[i]->data && outputs[i]->memory != f->left.memory)
            return refuse("all images of a frame must be in memory of one kind");
    return 0;
}

static int check_frame(const struct livestereo *h, const struct livestereo_frame *f) {
    struct livestereo_info info = stereo_info(h->stereo);
    int w = info.width, height = info.height, error;
    bool px = f->disparity.format == LIVESTEREO_PX32F, mm = f->depth.format == LIVESTEREO_MM16;
    if ((error = check_reserved("frame", f->reserved, sizeof(f->reserved))) ||
        (error = check_image("left", &f->left, h->width, h->height, h->format)) ||
        (error = check_image("right", &f->right, h->width, h->height, h->format)) ||
        (error = check_output("disparity", &f->disparity, w, height,
                              px ? LIVESTEREO_PX32F : LIVESTEREO_DISP16)) ||
        (error =
             check_output("depth", &f->depth, w, height, mm ? LIVESTEREO_MM16 : LIVESTEREO_M32F)) ||
        (error = check_output("points", &f->points, w, height, LIVESTEREO_XYZ32F)) ||
        (error = check_output("confidence", &f->confidence, w, height, LIVESTEREO_CONF8)) ||
        (error = check_output("motion", &f->motion, w, height, LIVESTEREO_FLOW16)) ||
        (error = check_output("rectified[0]", &f->rectified[0], w, height, h->rectified)) ||
        (error = check_output("rectified[1]", &f->rectified[1], w, height, h->rectified)))
        return error;
    if ((f->disparity.data || wants_metres(f)) && h->motion)
        return refuse("disparity, depth, points: with mode=motion there are none");
    if (f->min_confidence < 0 || f->min_confidence > 255)
        return refuse("min_confidence: it is 0 to 255");
    if (wants_metres(f) && (error = need_metres(h->has_geometry ? &h->geometry : NULL)))
        return error;
    if (f->motion.data && !h->motion)
        return refuse("motion: it needs mode=motion");
    if (f->left.memory == LIVESTEREO_CUDA && info.kind != LIVESTEREO_BACKEND_CUDA)
        return refuse("CUDA memory, and the backend is %s", info.backend);
    return check_memory(f);
}

int livestereo_start(struct livestereo *h, const struct livestereo_frame *given) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    struct livestereo_frame f;
    int error = library_read_sized("frame", &f, sizeof(f), given) ?: check_frame(h, &f);
    if (!error)
        error = stereo_start(h->stereo, &f);
    return leave(before, error);
}

_Static_assert((int)LIVESTEREO_DOWNLOAD == (int)TIME_DOWNLOAD &&
                   (int)TIME_COUNT <= (int)LIVESTEREO_MAX_STAGES,
               "one list of stages");

const char *livestereo_stage_name(enum livestereo_stage stage) {
    return (unsigned)stage < TIME_COUNT ? stage_time_names[stage] : NULL;
}

int livestereo_wait(struct livestereo *h, struct livestereo_result *result) {
    return livestereo_wait_for(h, INFINITY, result);
}

int livestereo_wait_for(struct livestereo *h, double timeout_ms, struct livestereo_result *result) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    struct livestereo_result out;
    int error = result ? library_read_sized("result", &out, sizeof(out), result) : 0;
    if (!error && !(timeout_ms >= 0))
        error = refuse("a frame is waited for 0 ms or longer");
    if (error)
        return leave(before, error);
    if (timeout_ms < INFINITY && !stereo_is_done(h->stereo, timeout_ms)) {
        log_explain("the frame is not done yet");
        return leave(before, -ETIMEDOUT);
    }
    error = stereo_finish(h->stereo, &out);
    if (result)
        library_write_sized(result, &out, sizeof(out));
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
    struct livestereo_info info = stereo_info(h->stereo);
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
    free(packed);
    return leave(before, error);
}

/* ---- what is known */

int livestereo_get_info(struct livestereo *h, struct livestereo_info *info) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    struct livestereo_info out;
    int error = library_read_sized("info", &out, sizeof(out), info);
    if (error)
        return leave(before, error);
    const struct depth_geometry *g = &h->geometry;
    out = stereo_info(h->stereo);
    out.has_geometry = h->has_geometry;
    out.geometry = (struct livestereo_geometry){.fx = g->fx,
                                                .fy = g->fy,
                                                .cx = g->cx,
                                                .cy = g->cy,
                                                .baseline = g->baseline,
                                                .doffs = g->doffs,
                                                .metric = g->metric};
    memcpy(out.rotation, h->rotation, sizeof(out.rotation));
    library_write_sized(info, &out, sizeof(out));
    return leave(before, 0);
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

/* The caller's geometry, which must be metric, and a disparity map. */
static int check_measured(const struct livestereo_geometry *geometry,
                          const struct livestereo_image *disparity, struct depth_geometry *g) {
    if (!geometry)
        return refuse("there is no geometry");
    int error = geometry_from(g, geometry);
    if (!error)
        error = check_host_image("disparity", disparity, disparity ? disparity->width : 0,
                                 disparity ? disparity->height : 0, LIVESTEREO_DISP16);
    return error ? error : need_metres(g);
}

int livestereo_depth(const struct livestereo_geometry *geometry,
                     const struct livestereo_image *disparity,
                     const struct livestereo_image *depth) {
    struct log_target *before = enter(NULL);
    struct depth_geometry g;
    bool in_metres = depth && depth->format == LIVESTEREO_M32F;
    int error = check_measured(geometry, disparity, &g);
    if (!error)
        error = check_host_image("depth", depth, disparity->width, disparity->height,
                                 in_metres ? LIVESTEREO_M32F : LIVESTEREO_MM16);
    for (int y = 0; !error && y < disparity->height; y++)
        depth_row(&g, row_of(disparity, y), (char *)depth->data + y * depth->row_bytes,
                  disparity->width, in_metres);
    return leave(before, error);
}

static void color_of(const struct livestereo_image *color, int x, int y, float rgb[3]) {
    const uint8_t *row = color ? row_of(color, y) : NULL;
    int channels = color && color->format == LIVESTEREO_RGB8 ? 3 : 1;
    for (int c = 0; c < 3; c++)
        rgb[c] = row ? row[x * channels + (channels == 3 ? c : 0)] : 255;
}

int livestereo_points(const struct livestereo_geometry *geometry,
                      const struct livestereo_image *disparity,
                      const struct livestereo_image *color, double farthest, float *xyzrgb,
                      size_t max, size_t *count) {
    struct log_target *before = enter(NULL);
    struct depth_geometry g;
    bool grey = color && color->format == LIVESTEREO_GRAY8;
    int error = check_measured(geometry, disparity, &g);
    if (!error && color)
        error = check_host_image("color", color, disparity->width, disparity->height,
                                 grey ? LIVESTEREO_GRAY8 : LIVESTEREO_RGB8);
    if (!error && (!xyzrgb || !count || !(farthest >= 0)))
        error = refuse("points need a place to put them, and a distance of 0 or more");
    if (!error)
        *count = 0;
    for (int y = 0; !error && y < disparity->height; y++) {
        const int16_t *row = row_of(disparity, y);
        for (int x = 0; x < disparity->width && *count < max; x++) {
            float *point = xyzrgb + 6 * *count;
            if (depth_point(&g, x, y, row[x], farthest > 0 ? farthest : INFINITY, point))
                continue;
            color_of(color, x, y, point + 3);
            ++*count;
        }
    }
    return leave(before, error);
}

int livestereo_get_probe(struct livestereo *h, int x, int y, struct livestereo_probe *probe) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    struct livestereo_probe out;
    int error = library_read_sized("probe", &out, sizeof(out), probe);
    if (error)
        return leave(before, error);
    out = (struct livestereo_probe){0};
    out.label = stereo_probe(h->stereo, x, y, out.cost, out.belief);
    error = out.label < 0 ? out.label : stereo_probe_labels(h->stereo, x, y, &out);
    if (error == -EBUSY || error == -EINVAL)
        return leave(before, error);
    if (error == -ENOMEM)
        log_explain("not enough memory to look at the frame");
    library_write_sized(probe, &out, sizeof(out));
    return leave(before, error);
}

int livestereo_bound(struct livestereo *h, int sweeps, double *bound, double *least) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    if (sweeps < 1 || !bound || !least)
        return leave(before, refuse("a bound needs one sweep or more, and places for two numbers"));
    int error = stereo_bound(h->stereo, sweeps, bound, least);
    if (error == -ENOMEM)
        log_explain("not enough memory for a bound");
    return leave(before, error);
}

int livestereo_energy(struct livestereo *h, double *energy) {
    if (!is_usable(h))
        return refuse_handle(h);
    struct log_target *before = enter(h);
    int error =
        energy ? stereo_energy(h->stereo, energy) : refuse("there is no place for the energy");
    if (error == -ENOMEM)
        log_explain("not enough memory to look at the frame");
    return leave(before, error);
}
