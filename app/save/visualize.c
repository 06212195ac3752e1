/*
 * The pictures of app/save/visualize.h. SPDX-License-Identifier: MIT
 */
#include "app/save/visualize.h"

#include "base/auto.h"
#include "base/log.h"
#include "config/params.h"
#include "image/flow.h"
#include "image/picture.h"
#include "image/pixel_format.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ERROR_PX 4.0

/* data NULL: out of memory. */
static struct image make_picture(int width, int height) {
    struct image image = {NULL, width, height, 3};
    image.data = malloc(image_bytes(&image));
    return image;
}

double visualize_motion_range(const struct params *p) {
    int u = MAX(abs(p->motion_u_min), abs(p->motion_u_min + p->motion_u_range - 1)),
        v = MAX(abs(p->motion_v_min), abs(p->motion_v_min + p->motion_v_range - 1));
    if (p->motion_color_range > 0)
        return p->motion_color_range;
    return MAX(MAX(u, v), 1) * (double)(1 << (p->motion_levels - 1));
}

/* Black where the confidence is below hide_below, hatched where the disparity was filled in. */
static void mark_confidence(const struct frame *frame, struct image *out) {
    const struct params *p = frame->params;
    int matched_from = p->mark_filled ? params_matched_from(p) : 0;
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++) {
            size_t i = (size_t)y * (size_t)out->width + (size_t)x;
            bool hidden = frame->confidence[i] < p->hide_below,
                 filled = frame->confidence[i] < matched_from &&
                          frame->disparity[i] != DISPARITY_UNKNOWN;
            int share = hidden ? 0 : 1 + ((x + y) & 2) / 2;
            for (int c = 0; c < 3 && (hidden || filled); c++)
                out->data[3 * i + c] = (uint8_t)((2 * out->data[3 * i + c] + 128) * share / 6);
        }
}

struct image visualize_disparity(const struct frame *frame) {
    int min = frame->params->min_disparity, max = min + frame->params->disparity_range - 1;
    return visualize_disparity_in(frame, min, max, COLORMAP_TURBO);
}

struct image visualize_disparity_in(const struct frame *frame, double min, double max,
                                    enum colormap colormap) {
    struct image out = make_picture(frame->rect_left.width, frame->rect_left.height);
    if (!out.data)
        return out;
    if (frame->params->mode == MODE_MOTION) {
        size_t count = (size_t)out.width * (size_t)out.height;
        flow_color(frame->motion, frame->motion + count, count,
                   visualize_motion_range(frame->params), out.data);
        return out;
    }
    colormap_disparity(frame->disparity, out.width, out.height, min, max, colormap, out.data);
    mark_confidence(frame, &out);
    return out;
}

struct image visualize_pair(const struct frame *frame) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    size_t row_bytes = 3 * (size_t)width;
    AUTO(picture_free)
    struct image left = make_picture(width, height), map = visualize_disparity(frame);
    struct image out = make_picture(2 * width, height);
    if (!left.data || !map.data || !out.data) {
        picture_free(&out);
        return out;
    }
    image_convert(&frame->rect_left, &left);
    for (int i = 0; i < 2 * height; i++)
        memcpy(out.data + row_bytes * (size_t)i,
               (i % 2 ? map : left).data + row_bytes * (size_t)(i / 2), row_bytes);
    return out;
}

/* Px; NaN: no truth, infinite: nothing computed. */
static double error_at(const struct frame *frame, const float *truth, size_t i, size_t count) {
    bool motion = frame->params->mode == MODE_MOTION;
    int16_t value = motion ? frame->motion[i] : frame->disparity[i];
    if (isnan(truth[i]))
        return NAN;
    if (value == DISPARITY_UNKNOWN)
        return INFINITY;
    double off = (double)value / DISPARITY_ONE - (double)truth[i];
    if (!motion)
        return fabs(off);
    return hypot(off, (double)frame->motion[i + count] / DISPARITY_ONE - (double)truth[i + count]);
}

struct image visualize_error(const struct frame *frame, const float *truth) {
    struct image out = make_picture(frame->rect_left.width, frame->rect_left.height);
    size_t count = (size_t)out.width * (size_t)out.height;
    for (size_t i = 0; out.data && i < count; i++) {
        uint8_t *to = out.data + 3 * i;
        double error_px = error_at(frame, truth, i, count);
        if (isnan(error_px)) {
            memset(to, 0, 3);
        } else if (isinf(error_px)) {
            memset(to, 255, 3);
        } else {
            int level = (int)(fmin(error_px, MAX_ERROR_PX) / MAX_ERROR_PX * 255);
            memcpy(to, colormap_table[COLORMAP_TURBO][level], 3);
        }
    }
    return out;
}

int visualize_write(const char *path, struct image picture) {
    int error = picture.data ? picture_write(path, &picture)
                             : log_fail(-ENOMEM, path, "cannot be written: out of memory");
    picture_free(&picture);
    return error;
}

int map_write(const char *path, const struct frame *frame) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    if (frame->params->mode != MODE_MOTION)
        return (g_str_has_suffix(path, ".pfm") ? picture_write_pfm : picture_write_disp16)(
            path, frame->disparity, width, height);
    return (g_str_has_suffix(path, ".flo") ? flow_write : flow_write16)(path, frame->motion, width,
                                                                        height);
}
