/*
 * Rig files: loads them, tells the format, has the right reader fill the rig, checks and fits it.
 * No state; what is read is freed before returning.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig_read.h"

#include "calibration/rig_private.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE (1 << 20) /* bytes; the largest seen is 6 KB */

int rig_refuse(struct rig_reading *in, int file, const char *format, ...) {
    va_list args;
    if (in->refused)
        return -EBADMSG;
    va_start(args, format);
    vsnprintf(in->why, sizeof in->why, format, args);
    va_end(args);
    in->at = file;
    in->refused = true;
    return -EBADMSG;
}

int rig_take_size(struct rig_reading *in, int file, const char *what, const double size[2],
                  struct camera *camera) {
    for (int i = 0; i < 2; i++)
        if (!(size[i] >= 1 && size[i] <= 65536) || size[i] != floor(size[i]))
            return rig_refuse(in, file, "%s: picture size %g x %g", what, size[0], size[1]);
    camera->width = (int)size[0];
    camera->height = (int)size[1];
    return 0;
}

void rig_make_rectified(struct rig *rig, double fx, double fy, double cx_left, double cx_right,
                        double cy, double baseline) {
    const double cx[2] = {cx_left, cx_right};
    for (int v = 0; v < 2; v++) {
        struct camera *c = &rig->camera[v];
        double *p = rig->projection[v];
        c->fx = fx;
        c->fy = fy;
        c->cx = cx[v];
        c->cy = cy;
        p[0] = fx;
        p[2] = cx[v];
        p[3] = v ? -fx * baseline : 0;
        p[5] = fy;
        p[6] = cy;
        p[10] = 1;
    }
    rig->T[0] = -baseline;
    rig->rectified = rig->has_rectification = 1;
}

void rig_pose_from_rectification(struct rig *rig) {
    const double *l = rig->projection[0], *r = rig->projection[1];
    double back[9], t[3] = {r[3] / r[0] - l[3] / l[0], 0, 0};
    matrix_transpose(rig->rotation[1], back);
    matrix_multiply(back, rig->rotation[0], rig->R);
    matrix_apply(back, t, rig->T);
}

static int read_format(struct rig_reading *in, struct rig *rig) {
    static const struct {
        bool (*is)(const char *text);
        int (*read)(struct rig_reading *in, const char *text, struct rig *rig);
    } kinds[] = {{rig_is_zed, rig_read_zed},
                 {rig_is_kitti, rig_read_kitti},
                 {rig_is_middlebury, rig_read_middlebury}};
    const struct rig_text *first = &in->files[0];
    if (memchr(first->text, 0, first->length))
        return rig_refuse(in, 0, "is not a text file");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].is(first->text))
            return in->count == 1 ? kinds[i].read(in, first->text, rig)
                                  : rig_refuse(in, 1, "is one file too many: %s holds both cameras",
                                               first->name);
    return rig_read_yaml(in, rig);
}

#define MIN_BASELINE_M 1e-3
#define MAX_BASELINE_M 10.0

/* Says what is likely of another unit or picture size. */
static void doubt_numbers(const char *name, const struct rig *rig) {
    const struct camera *c = &rig->camera[0];
    double baseline = rig_baseline(rig);
    if (rig->metric && !(baseline >= MIN_BASELINE_M && baseline <= MAX_BASELINE_M))
        log_warning(
            name,
            "says that its cameras are %.4g m apart; if its lengths are in another unit (mm, "
            "cm, m), give that one",
            baseline);
    if (c->width > 0 && !rig_is_central(rig, c->width, c->height, 0.25))
        log_warning(name,
                    "has the principal point %.4g, %.4g, far from the middle of its pictures of "
                    "%dx%d: is it of another size?",
                    c->cx, c->cy, c->width, c->height);
}

int rig_parse(const struct rig_text *files, int count, const struct rig_read_options *options,
              struct rig *rig) {
    struct rig_reading in = {.files = files, .count = count};
    if (options)
        in.options = *options;
    rig_clear(rig);
    if (count < 1 || count > 2)
        return log_fail(-EINVAL, "calibration", "%d files given; one rig is in one file or two",
                        count);
    int error = 0;
    for (int i = 0; i < count && !error; i++)
        if (files[i].length > MAX_FILE)
            error =
                rig_refuse(&in, i, "is too long (%zu bytes) for a calibration", files[i].length);
        else if (files[i].length == 0)
            error = rig_refuse(&in, i, "is empty");
    if (!error)
        error = read_format(&in, rig);
    double unit = in.options.unit > 0 ? in.options.unit : in.unit;
    if (!error && unit > 0)
        rig_set_unit(rig, unit);
    if (!error && in.options.exchanged && rig_is_exchanged(rig)) {
        rig_exchange(rig);
        log_info(files[0].name, "its cameras are exchanged, as the pictures are");
    }
    if (!error)
        error = rig_check(rig, in.why, sizeof in.why);
    if (!error)
        doubt_numbers(files[0].name, rig);
    bool sized = rig->camera[0].width > 0;
    if (!error && in.options.width > 0)
        error = rig_fit(rig, in.options.width, in.options.height, in.why, sizeof in.why);
    if (!error && in.options.width > 0 && !sized)
        log_info(files[0].name, "does not say its picture size; %dx%d is taken", in.options.width,
                 in.options.height);
    if (!error && in.doubtful)
        log_warning(files[0].name,
                    "%s: four numbers without a lens model are taken as radtan's k1 k2 p1 p2; "
                    "where they are a fisheye's, write distortion_model: fisheye into the file",
                    in.doubtful);
    if (error)
        log_error(files[in.at].name, "%s", in.why);
    return error;
}

int rig_load(const char *const *paths, int count, const struct rig_read_options *options,
             struct rig *rig) {
    struct rig_text files[2] = {{0}};
    char *loaded[2] = {NULL, NULL};
    int error = 0;
    rig_clear(rig);
    for (int i = 0; i < count && i < 2 && !error; i++) {
        size_t length;
        error = file_load(paths[i], MAX_FILE, &loaded[i], &length);
        files[i] = (struct rig_text){paths[i], loaded[i], length};
    }
    if (!error)
        error = rig_parse(files, count, options, rig);
    free(loaded[0]);
    free(loaded[1]);
    return error;
}
