/*
 * Checks what callers give: handles, structs and images. Structs may be of a header that is older
 * or newer than the library.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/mistakes.h"

#include "gpu/handle.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

__thread struct log_target library_no_handle;

/* ---- handles */

struct call call_begin(struct livestereo *h) {
    if (h)
        h->inside = true;
    return (struct call){h, log_redirect(h ? &h->log : &library_no_handle)};
}

void call_end(struct call *call) {
    log_redirect(call->before);
    if (call->handle)
        call->handle->inside = false;
}

/* In a child process a GPU cannot be used further, nor what a call of another thread had in hand
 * at the fork(). */
bool handle_is_usable(const struct livestereo *h) {
    return h && (h->process == getpid() || !(h->inside || h->backend->own_memory || h->lost));
}

int handle_refuse(struct livestereo *h) {
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

int handle_busy(void) {
    log_explain("a frame is in flight; wait for it first");
    return -EBUSY;
}

const char *livestereo_error(const struct livestereo *h) {
    return h ? h->log.error : library_no_handle.error;
}

/* ---- structs */

/* More than any struct will have; what says more was not set up. */
enum { MAX_SIZE = 1 << 16 };

bool library_is_zero(const void *memory, size_t bytes) {
    const char *at = memory;
    for (size_t i = 0; i < bytes; i++)
        if (at[i])
            return false;
    return true;
}

static size_t size_of(const void *sized) {
    return *(const size_t *)sized;
}

int library_read_sized(const char *name, void *to, size_t known, const void *from) {
    size_t size = from ? size_of(from) : 0;
    size_t shared = size < known ? size : known;
    if (size <= sizeof(size) || size > MAX_SIZE) {
        log_explain("%s: its size is %zu; set it up with its macro", name, size);
        return -EINVAL;
    }
    if (!library_is_zero((const char *)from + shared, size - shared)) {
        log_explain("%s: it asks for more than version %s of the library knows", name,
                    livestereo_version());
        return -EINVAL;
    }
    memset(to, 0, known);
    memcpy(to, from, shared);
    return 0;
}

void library_write_sized(void *to, const void *from, size_t known) {
    size_t size = size_of(to), shared = size < known ? size : known;
    memcpy((char *)to + sizeof(size), (const char *)from + sizeof(size), shared - sizeof(size));
    memset((char *)to + shared, 0, size - shared);
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
    if (format < LIVESTEREO_DISP16)
        return 1;
    return bytes > 4 ? 4 : bytes;
}

enum picture_format library_picture_format(enum livestereo_format format) {
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

int library_check_reserved(const char *name, const void *reserved, size_t bytes) {
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
    return library_check_reserved(name, image->reserved, sizeof(image->reserved));
}

int library_check_image(const char *name, const struct livestereo_image *image, int width,
                        int height, enum livestereo_format format) {
    int error = check_image(name, image, width, height, format);
    if (!error && image->memory != LIVESTEREO_HOST)
        error = refuse("%s: it must be in host memory", name);
    return error;
}

int library_geometry(struct depth_geometry *to, const struct livestereo_geometry *g) {
    *to = (struct depth_geometry){g->fx, g->fy, g->cx, g->cy, g->baseline, g->doffs, g->metric};
    if (library_check_reserved("geometry", g->reserved, sizeof(g->reserved)))
        return -EINVAL;
    if (g->fx > 0 && g->fy > 0 && g->baseline > 0 && isfinite(g->fx) && isfinite(g->fy) &&
        isfinite(g->baseline) && isfinite(g->cx) && isfinite(g->cy) && isfinite(g->doffs))
        return 0;
    return refuse("geometry: fx, fy and baseline must be above 0, and all numbers finite");
}

int library_need_metres(const struct depth_geometry *g) {
    if (g && g->metric)
        return 0;
    log_explain(g ? "the calibration does not say in which unit its baseline is, so there is no "
                    "depth; give the unit to livestereo_rig_read(), or metric 1 and metres"
                  : "depth needs a calibration: a rig or a geometry");
    return -ENOTSUP;
}

/* ---- options and frames */

int library_check_options(const struct livestereo_options *o) {
    if (library_check_reserved("options", o->reserved, sizeof(o->reserved)))
        return -EINVAL;
    if (library_picture_format(o->format) == 0)
        return refuse("options: format %d is not one of pictures", (int)o->format);
    if (o->width < 2 || o->height < 2 || o->width > MAX_FRAME_SIDE || o->height > MAX_FRAME_SIDE)
        return refuse("options: pictures of %dx%d px; 2 to %d px a side are possible", o->width,
                      o->height, MAX_FRAME_SIDE);
    if (o->rig && (o->remap || o->geometry))
        return refuse("options: a rig comes without remap and geometry");
    if (!(o->alpha >= 0 && o->alpha <= 1))
        return refuse("options: alpha is %g, not in 0 to 1", o->alpha);
    if ((unsigned)o->log_level > LIVESTEREO_LOG_DEBUG)
        return refuse("options: log_level %d does not exist", (int)o->log_level);
    if ((unsigned)o->sequence > 1)
        return refuse("options: sequence is %d, not 0 or 1", o->sequence);
    return 0;
}

int handle_check_frame(const struct livestereo *h, const struct livestereo_frame *f) {
    const struct livestereo_info info = handle_info(h);
    const struct pipeline *p = &h->pipeline;
    bool px = f->disparity.format == LIVESTEREO_PX32F, mm = f->depth.format == LIVESTEREO_MM16,
         motion = h->at_open.mode == MODE_MOTION, measured = f->depth.data || f->points.data;
    enum livestereo_format rectified = p->channels == 1 ? LIVESTEREO_GRAY8 : LIVESTEREO_RGB8;
    const struct {
        const char *name;
        const struct livestereo_image *image;
        enum livestereo_format format;
    } outputs[] = {{"disparity", &f->disparity, px ? LIVESTEREO_PX32F : LIVESTEREO_DISP16},
                   {"depth", &f->depth, mm ? LIVESTEREO_MM16 : LIVESTEREO_M32F},
                   {"points", &f->points, LIVESTEREO_XYZ32F},
                   {"confidence", &f->confidence, LIVESTEREO_CONF8},
                   {"motion", &f->motion, LIVESTEREO_FLOW16},
                   {"rectified[0]", &f->rectified[0], rectified},
                   {"rectified[1]", &f->rectified[1], rectified}};
    enum { OUTPUTS = sizeof(outputs) / sizeof(outputs[0]) };
    const struct livestereo_image *const side[2] = {&f->left, &f->right};
    int error = library_check_reserved("frame", f->reserved, sizeof(f->reserved));
    for (int i = 0; i < 2 && !error; i++)
        error = check_image(i ? "right" : "left", side[i], p->source_width, p->source_height,
                            h->format);
    for (int i = 0; i < OUTPUTS && !error; i++)
        if (outputs[i].image->data)
            error = check_image(outputs[i].name, outputs[i].image, info.width, info.height,
                                outputs[i].format);
    if (error)
        return error;
    if ((f->disparity.data || measured) && motion)
        return refuse("disparity, depth, points: with mode=motion there are none");
    if (f->min_confidence < 0 || f->min_confidence > 255)
        return refuse("min_confidence: it is 0 to 255");
    if (measured && (error = library_need_metres(h->has_geometry ? &h->geometry : NULL)))
        return error;
    if (f->motion.data && !motion)
        return refuse("motion: it needs mode=motion");
    if (f->left.memory == LIVESTEREO_CUDA && info.kind != LIVESTEREO_BACKEND_CUDA)
        return refuse("CUDA memory, and the backend is %s", info.backend);
    bool apart = f->right.memory != f->left.memory;
    for (int i = 0; i < OUTPUTS; i++)
        apart |= outputs[i].image->data && outputs[i].image->memory != f->left.memory;
    return apart ? refuse("all images of a frame must be in memory of one kind") : 0;
}
