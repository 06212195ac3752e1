/*
 * capture/v4l2/v4l2_modes.h. SPDX-License-Identifier: MIT
 */
#include "capture/v4l2/v4l2_modes.h"

#include "image/pixel_format.h"

#include <errno.h>
#include <glib.h>
#include <libv4l2.h>
#include <linux/videodev2.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST 4096 /* a driver that never ends its list is cut off here */
#define RATE_DEFAULT 30.0

static const int usual_sizes[][2] = {{320, 240},  {640, 360},  {640, 480},
                                     {1280, 720}, {1280, 960}, {1920, 1080}};
static const double usual_rates[] = {10, 15, 25, 30, 60};

static int add_mode(struct mode_list *list, uint32_t fourcc, int width, int height, double rate) {
    if (list->count >= MAX_LIST)
        return 0;
    struct camera_mode *grown = realloc(list->mode, (size_t)(list->count + 1) * sizeof *list->mode);
    if (!grown)
        return -ENOMEM;
    list->mode = grown;
    list->mode[list->count++] = (struct camera_mode){fourcc, width, height, rate};
    return 0;
}

static double rate_of(const struct v4l2_fract *interval) {
    return interval->numerator ? (double)interval->denominator / interval->numerator : 0;
}

static int read_rates(int fd, struct mode_list *list, uint32_t fourcc, int width, int height) {
    int error = 0, before = list->count;
    for (unsigned i = 0; i < MAX_LIST && !error; i++) {
        struct v4l2_frmivalenum rates = {.index = i,
                                         .pixel_format = fourcc,
                                         .width = (unsigned)width,
                                         .height = (unsigned)height};
        if (v4l2_ioctl(fd, VIDIOC_ENUM_FRAMEINTERVALS, &rates))
            break;
        if (rates.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
            error = add_mode(list, fourcc, width, height, rate_of(&rates.discrete));
            continue;
        }
        double min = rate_of(&rates.stepwise.max), max = rate_of(&rates.stepwise.min);
        for (size_t r = 0; r < sizeof usual_rates / sizeof usual_rates[0] && !error; r++)
            if (usual_rates[r] > min && usual_rates[r] < max)
                error = add_mode(list, fourcc, width, height, usual_rates[r]);
        if (!error)
            error = add_mode(list, fourcc, width, height, max);
        break;
    }
    if (!error && list->count == before)
        error = add_mode(list, fourcc, width, height, 0);
    return error;
}

static bool in_range(const struct size_range *range, int width, int height) {
    return width >= range->min_width && width <= range->max_width && height >= range->min_height &&
           height <= range->max_height && (width - range->min_width) % range->step_width == 0 &&
           (height - range->min_height) % range->step_height == 0;
}

static int read_range(int fd, struct mode_list *list, const struct v4l2_frmsizeenum *sizes) {
    const struct v4l2_frmsize_stepwise *s = &sizes->stepwise;
    struct size_range *grown = realloc(list->range, (size_t)(list->ranges + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    list->range = grown;
    struct size_range *range = &list->range[list->ranges++];
    bool stepped = sizes->type == V4L2_FRMSIZE_TYPE_STEPWISE;
    int step_width = stepped && s->step_width ? (int)s->step_width : 1;
    int step_height = stepped && s->step_height ? (int)s->step_height : 1;
    *range =
        (struct size_range){sizes->pixel_format, (int)s->min_width,  (int)s->max_width, step_width,
                            (int)s->min_height,  (int)s->max_height, step_height};
    int error = 0;
    for (size_t i = 0; i < sizeof usual_sizes / sizeof usual_sizes[0] && !error; i++)
        if (in_range(range, usual_sizes[i][0], usual_sizes[i][1]))
            error = read_rates(fd, list, sizes->pixel_format, usual_sizes[i][0], usual_sizes[i][1]);
    return error;
}

static int read_sizes(int fd, struct mode_list *list, uint32_t fourcc) {
    int error = 0;
    for (unsigned i = 0; i < MAX_LIST && !error; i++) {
        struct v4l2_frmsizeenum sizes = {.index = i, .pixel_format = fourcc};
        if (v4l2_ioctl(fd, VIDIOC_ENUM_FRAMESIZES, &sizes))
            break;
        if (sizes.type != V4L2_FRMSIZE_TYPE_DISCRETE)
            return read_range(fd, list, &sizes);
        error = read_rates(fd, list, fourcc, (int)sizes.discrete.width, (int)sizes.discrete.height);
    }
    return error;
}

int mode_list_read(int fd, struct mode_list *list) {
    *list = (struct mode_list){0};
    int error = 0;
    for (unsigned i = 0; i < MAX_LIST && !error; i++) {
        struct v4l2_fmtdesc format = {.index = i, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
        if (v4l2_ioctl(fd, VIDIOC_ENUM_FMT, &format))
            break;
        int before = list->count + list->ranges;
        error = read_sizes(fd, list, format.pixelformat);
        if (!error && list->count + list->ranges == before) { /* no sizes listed: the current one */
            struct v4l2_format now = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
            if (v4l2_ioctl(fd, VIDIOC_G_FMT, &now) == 0)
                error = add_mode(list, format.pixelformat, (int)now.fmt.pix.width,
                                 (int)now.fmt.pix.height, 0);
        }
    }
    if (error)
        mode_list_free(list);
    return error;
}

void mode_list_free(struct mode_list *list) {
    free(list->mode);
    free(list->range);
    *list = (struct mode_list){0};
}

const char *mode_print(const struct camera_mode *mode, char *buf, size_t size) {
    char name[5];
    int used = snprintf(buf, size, "%s %dx%d", pixel_fourcc_name(mode->fourcc, name), mode->width,
                        mode->height);
    if (mode->rate > 0 && used > 0 && (size_t)used < size)
        snprintf(buf + used, size - (size_t)used, " %.4g/s", mode->rate);
    return buf;
}

/* ---- choosing */

static int preference(uint32_t fourcc) { /* smaller is better */
    const struct pixel_format *format = pixel_format_find(fourcc);
    return format ? (int)(format - pixel_formats) : pixel_format_count;
}

/* How far a mode is from the wish; what matters more comes first. */
static double distance(const struct camera_mode *mode, const struct mode_wish *wish) {
    double wanted = wish->rate > 0 ? wish->rate : RATE_DEFAULT;
    double rate = mode->rate > 0 ? mode->rate : wanted;
    double about = wish->pixels > 0 ? wish->pixels : 640.0 * 480;
    double pixels = wish->width ? 0 : fabs(log((double)mode->width * mode->height / about));
    double rates = fabs(log(rate / wanted));
    return pixels * 1e4 + preference(mode->fourcc) * 1e2 + rates;
}

static void list_choices(const struct mode_list *list, const struct mode_wish *wish, char *why,
                         size_t size) {
    char piece[64], name[5];
    g_strlcpy(why, "has no mode", size);
    if (wish->fourcc) {
        snprintf(piece, sizeof piece, " %s", pixel_fourcc_name(wish->fourcc, name));
        g_strlcat(why, piece, size);
    }
    if (wish->width) {
        snprintf(piece, sizeof piece, " %dx%d", wish->width, wish->height);
        g_strlcat(why, piece, size);
    }
    g_strlcat(why, "; it has", size);
    const struct camera_mode *last = NULL;
    for (int i = 0; i < list->count; i++) {
        const struct camera_mode *mode = &list->mode[i];
        if (last && last->fourcc == mode->fourcc && last->width == mode->width &&
            last->height == mode->height)
            continue;
        snprintf(piece, sizeof piece, "%s %s %dx%d", last ? "," : "",
                 pixel_fourcc_name(mode->fourcc, name), mode->width, mode->height);
        if (strlen(why) + strlen(piece) + sizeof "..." > size) {
            g_strlcat(why, "...", size);
            return;
        }
        g_strlcat(why, piece, size);
        last = mode;
    }
    if (!last)
        g_strlcat(why, " none", size);
}

int mode_choose(const struct mode_list *list, const struct mode_wish *wish,
                struct camera_mode *mode, char *why, size_t size) {
    int found = 0;
    double best = 0;
    for (int i = 0; i < list->count; i++) {
        const struct camera_mode *m = &list->mode[i];
        if ((wish->fourcc && m->fourcc != wish->fourcc) ||
            (wish->width && (m->width != wish->width || m->height != wish->height)))
            continue;
        double d = distance(m, wish);
        if (found && d >= best)
            continue;
        found = 1;
        best = d;
        *mode = *m;
    }
    for (int i = 0; i < list->ranges && wish->width && !found; i++) {
        const struct size_range *range = &list->range[i];
        if ((wish->fourcc && range->fourcc != wish->fourcc) || !pixel_format_find(range->fourcc) ||
            !in_range(range, wish->width, wish->height))
            continue;
        found = 1;
        *mode = (struct camera_mode){range->fourcc, wish->width, wish->height, wish->rate};
    }
    if (found)
        return 0;
    list_choices(list, wish, why, size);
    return -EINVAL;
}
