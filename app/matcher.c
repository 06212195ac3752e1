/*
 * The functions of app/matcher.h, and mask_use() of app/run/mask.h. SPDX-License-Identifier: MIT
 */
#include "app/matcher.h"

#include "app/commands.h"
#include "app/run/mask.h"
#include "base/log.h"
#include "gpu/settings.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

_Static_assert(FRAME_STAGES == LIVESTEREO_DOWNLOAD + 1, "frames have room for all times");

struct matcher {
    struct livestereo *handle;
    struct livestereo_settings *settings;
    struct params params; /* those of settings */
    bool exchanged;       /* of the last frame: left and right */
    struct frame_alloc alloc;
};

static void pass_message(void *context, enum livestereo_level level, const char *message) {
    (void)context;
    log_at((enum log_level)level, NULL, "%s", message);
}

static void *allocate(void *context, size_t bytes) {
    struct matcher *m = context;
    return livestereo_alloc(m->handle, bytes);
}

static void release(void *context, void *memory) {
    struct matcher *m = context;
    livestereo_free(m->handle, memory);
}

/* Checks what the library does not refuse by itself. GO_ON or the exit code after a log line. */
static int check(const struct params *params, const char *name, int width, int height) {
    /* two disparities, the fewest, need three columns */
    int min_width = params->mode == MODE_MOTION ? 2 : 3, min = params->min_disparity,
        max = min + params->disparity_range - 1;
    if (width < min_width || height < 2)
        return log_fail(EXIT_SOURCE, name,
                        "pictures of %dx%d are too small: at least %dx2 is needed", width, height,
                        min_width);
    if (params->mode != MODE_MOTION && (min >= width || max <= -width))
        return log_fail(EXIT_USAGE, name,
                        "disparities from %d to %d all lie outside a picture %d wide; try --set "
                        "min_disparity=0",
                        min, max, width);
    return GO_ON;
}

static int open_handle(struct matcher *m, const struct params *params, int width, int height,
                       int channels, const struct rectify_map *maps,
                       const struct depth_geometry *geometry, bool sequence) {
    struct livestereo_options options =
        LIVESTEREO_OPTIONS(width, height, channels == 3 ? LIVESTEREO_RGB8 : LIVESTEREO_GRAY8);
    struct livestereo_remap remap[2];
    for (int side = 0; maps && side < 2; side++)
        remap[side] =
            (struct livestereo_remap){.width = maps[side].width,
                                      .height = maps[side].height,
                                      .margin = {maps[side].margin[0], maps[side].margin[1]},
                                      .point = (const int32_t *)maps[side].point,
                                      .samples = maps[side].samples,
                                      .step = maps[side].step};
    options.remap = maps ? remap : NULL;
    struct livestereo_geometry of_library = {0};
    if (geometry) {
        of_library = (struct livestereo_geometry){.fx = geometry->fx,
                                                  .fy = geometry->fy,
                                                  .cx = geometry->cx,
                                                  .cy = geometry->cy,
                                                  .baseline = geometry->baseline,
                                                  .doffs = geometry->doffs,
                                                  .metric = geometry->metric};
        options.geometry = &of_library;
    }
    options.log = pass_message;
    options.log_level = LIVESTEREO_LOG_DEBUG;
    options.sequence = sequence;
    int error = livestereo_settings_open(&m->settings, NULL);
    if (error)
        return error;
    m->settings->params = *params;
    return livestereo_open(&m->handle, m->settings, &options);
}

struct matcher *matcher_open(const struct params *params, const char *name, int width, int height,
                             int channels, const struct rectify_map *maps,
                             const struct depth_geometry *geometry, bool sequence, int *code) {
    *code = check(params, name, maps ? MIN(maps[0].width, width) : width,
                  maps ? MIN(maps[0].height, height) : height);
    if (*code != GO_ON)
        return NULL;
    struct matcher *m = g_new0(struct matcher, 1);
    m->params = *params;
    m->alloc = (struct frame_alloc){allocate, release, m};
    int error = open_handle(m, params, width, height, channels, maps, geometry, sequence);
    if (error) {
        *code = error == -ENOSPC || error == -EINVAL ? EXIT_USAGE : EXIT_RUN_FAILED;
        if (error == -ENODEV)
            *code = EXIT_NO_GPU;
        matcher_close(&m);
        return NULL;
    }
    struct livestereo_info info = matcher_info(m);
    log_info(name, "%dx%d, %d %s, %s", info.width, info.height, info.labels,
             params->mode == MODE_MOTION ? "motions" : "disparities", info.backend);
    return m;
}

static struct livestereo_image image_of(void *data, int width, int height, int row_bytes,
                                        enum livestereo_format format) {
    return (struct livestereo_image){
        .data = data, .width = width, .height = height, .row_bytes = row_bytes, .format = format};
}

int matcher_set_mask(struct matcher *m, const uint8_t *mask) {
    struct livestereo_info info = matcher_info(m);
    struct livestereo_image image =
        image_of((void *)(uintptr_t)mask, info.width, info.height, info.width, LIVESTEREO_GRAY8);
    return livestereo_set_mask(m->handle, mask ? &image : NULL);
}

double matcher_energy(struct matcher *m) {
    double energy;
    return livestereo_energy(m->handle, &energy) ? NAN : energy;
}

void matcher_close(struct matcher **matcher) {
    struct matcher *m = *matcher;
    *matcher = NULL;
    if (!m)
        return;
    livestereo_close(&m->handle);
    livestereo_settings_close(&m->settings);
    g_free(m);
}

struct livestereo *matcher_handle(struct matcher *m) {
    return m->handle;
}

struct livestereo_info matcher_info(struct matcher *m) {
    struct livestereo_info info = LIVESTEREO_INFO;
    int error = livestereo_get_info(m->handle, &info);
    assert(!error);
    (void)error;
    return info;
}

const struct frame_alloc *matcher_frame_alloc(struct matcher *m) {
    return &m->alloc;
}

static struct livestereo_image picture_of(const struct image *image) {
    return image_of(image->data, image->width, image->height, image->width * image->channels,
                    image->channels == 3 ? LIVESTEREO_RGB8 : LIVESTEREO_GRAY8);
}

/* A picture that is not resampled is the rectified one as it is. */
static struct livestereo_image rectify(const struct livestereo_info *info, int side,
                                       struct frame *f, const struct image *from,
                                       struct image *to) {
    *to = *from;
    if (!info->is_resampled[side])
        return (struct livestereo_image){0};
    *to = (struct image){f->rectified[side], info->width, info->height, from->channels};
    return picture_of(to);
}

int matcher_start(struct matcher *m, const struct params *params, struct frame *f) {
    int error = f->exchanged != m->exchanged ? livestereo_forget(m->handle) : 0;
    if (!error && !params_same_method(params, &m->params)) {
        m->settings->params = *params;
        error = livestereo_update(m->handle, m->settings);
    }
    if (error)
        return error;
    struct livestereo_info info = matcher_info(m);
    struct livestereo_frame frame = LIVESTEREO_FRAME;
    bool motion = params->mode == MODE_MOTION;
    int w = info.width, h = info.height;
    m->params = *f->params = *params;
    memcpy(f->valid, (int[]){info.valid_x, info.valid_y, info.valid_width, info.valid_height},
           sizeof(f->valid));
    m->exchanged = f->exchanged;
    if (w != f->left.width || h != f->left.height)
        f->has_truth = 0; /* that of another picture */
    frame.number = f->index;
    frame.left = picture_of(&f->left);
    frame.right = picture_of(&f->right);
    frame.rectified[0] = rectify(&info, 0, f, &f->left, &f->rect_left);
    frame.rectified[1] = rectify(&info, 1, f, &f->right, &f->rect_right);
    frame.confidence = image_of(f->confidence, w, h, w, LIVESTEREO_CONF8);
    if (motion)
        frame.motion = image_of(f->motion, w, h, 2 * w, LIVESTEREO_FLOW16);
    else
        frame.disparity = image_of(f->disparity, w, h, 2 * w, LIVESTEREO_DISP16);
    return livestereo_start(m->handle, &frame);
}

int matcher_finish(struct matcher *m, struct frame *f) {
    struct livestereo_result r = LIVESTEREO_RESULT;
    int error = livestereo_wait(m->handle, &r);
    memcpy(f->stage_ms, r.stage_ms, sizeof(f->stage_ms));
    memcpy(f->updated, r.updated, sizeof(f->updated));
    f->compute_ms = r.ms;
    f->left_bp_ms = r.left_bp_ms;
    f->updated_count = r.half_steps;
    return error;
}

int matcher_run(struct matcher *m, const struct params *params, struct frame *f) {
    return matcher_start(m, params, f) ?: matcher_finish(m, f);
}

int mask_use(const char *path, const struct params *params, int width, int height,
             struct matcher *matcher, uint8_t **mask) {
    *mask = NULL;
    if (!path)
        return EXIT_DONE;
    if (params->mode != MODE_MOTION)
        return log_fail(EXIT_USAGE, "--mask", "needs mode=motion; preset flow has it");
    int code = mask_read(path, width, height, mask);
    if (code == EXIT_DONE && matcher_set_mask(matcher, *mask) != 0) {
        free(*mask);
        *mask = NULL;
        code = EXIT_RUN_FAILED;
    }
    return code;
}
