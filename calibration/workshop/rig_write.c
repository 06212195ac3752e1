/*
 * Rigs to files: OpenCV YAML and a pair of ROS camera_info files. The text is made in memory;
 * GLib writes it beside the target and renames it. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "base/log.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void number(GString *out, double x) {
    char buf[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(buf, sizeof buf, x);
    g_string_append(out, buf);
    if (!strpbrk(buf, ".en")) /* a real number to every reader */
        g_string_append(out, ".");
}

static void list(GString *out, const double *v, int count) {
    g_string_append(out, "[ ");
    for (int i = 0; i < count; i++) {
        if (i)
            g_string_append(out, i % 4 ? ", " : ",\n       ");
        number(out, v[i]);
    }
    g_string_append(out, " ]\n");
}

static void opencv_matrix(GString *out, const char *name, const double *v, int rows, int cols) {
    g_string_append_printf(
        out, "%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: ", name, rows,
        cols);
    list(out, v, rows * cols);
}

static void ros_matrix(GString *out, const char *name, const double *v, int rows, int cols) {
    g_string_append_printf(out, "%s:\n  rows: %d\n  cols: %d\n  data: ", name, rows, cols);
    list(out, v, rows * cols);
}

static void intrinsics(const struct camera *c, double m[9]) {
    const double k[9] = {c->fx, 0, c->cx, 0, c->fy, c->cy, 0, 0, 1};
    memcpy(m, k, sizeof k);
}

/* OpenCV and ROS want five numbers at least where ours has none. */
static int lens_count(const struct camera *c) {
    int count = distortion_coefficients[c->distortion];
    return count ? count : 5;
}

/* Rotations and projections: the file's own, else what rectify_bouguet makes. */
static int with_rectification(const struct rig *rig, struct rig *full) {
    struct rectification to;
    *full = *rig;
    if (rig->has_rectification)
        return 0;
    if (rig->camera[0].width == 0)
        return -ENODATA;
    int error = rectify_bouguet(rig, 0, 1, &to);
    if (error)
        return error;
    memcpy(full->rotation, to.rotation, sizeof full->rotation);
    for (int v = 0; v < 2; v++) {
        const double p[12] = {
            to.fx, 0, to.cx[v], v ? -to.fx * to.baseline : 0, 0, to.fy, to.cy, 0, 0, 0, 1, 0};
        memcpy(full->projection[v], p, sizeof p);
    }
    full->has_rectification = 1;
    return 0;
}

static int save(const char *path, const char *text) {
    g_autoptr(GError) cause = NULL;
    if (g_file_set_contents(path, text, -1, &cause))
        return 0;
    return log_fail(-EIO, path, "cannot be written: %s; name another file", cause->message);
}

int rig_keep_old(const char *path) {
    g_autofree char *kept = g_strconcat(path, "~", NULL);
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return 0;
    if (rename(path, kept) != 0)
        return log_fail(-errno, path, "is not replaced, for it cannot be kept: %s",
                        strerror(errno));
    log_warning(path, "is replaced; what it held is kept in %s", kept);
    return 0;
}

static void opencv_rectification(GString *out, const struct rig *full) {
    static const char *const rotation[2] = {"R1", "R2"}, *const projection[2] = {"P1", "P2"};
    const double *l = full->projection[0], *r = full->projection[1];
    double baseline = l[3] / l[0] - r[3] / r[0];
    for (int v = 0; v < 2; v++)
        opencv_matrix(out, rotation[v], full->rotation[v], 3, 3);
    for (int v = 0; v < 2; v++)
        opencv_matrix(out, projection[v], full->projection[v], 3, 4);
    const double offset = (r[2] - l[2]) / baseline;
    const double q[4][4] = {
        {1, 0, 0, -l[2]}, {0, 1, 0, -l[6]}, {0, 0, 0, l[0]}, {0, 0, 1 / baseline, offset}};
    opencv_matrix(out, "Q", q[0], 4, 4);
}

char *rig_print_opencv(const char *path, const struct rig *rig, int *failed) {
    static const char *const matrix[2] = {"M1", "M2"}, *const lens[2] = {"D1", "D2"};
    GString *out = g_string_new("%YAML:1.0\n---\n");
    struct rig full;
    int fisheye = rig->camera[0].distortion == DISTORTION_FISHEYE;
    int error = with_rectification(rig, &full);
    if (fisheye != (rig->camera[1].distortion == DISTORTION_FISHEYE))
        error = log_fail(
            -EINVAL, path,
            "one camera is a fisheye and the other is not, which OpenCV's file cannot say");
    if (error == -ENODATA) /* without a size there is no rectification to write */
        error = 0;
    if (rig->camera[0].width > 0)
        g_string_append_printf(out, "image_width: %d\nimage_height: %d\n", rig->camera[0].width,
                               rig->camera[0].height);
    if (fisheye)
        g_string_append(out, "distortion_model: fisheye\n");
    g_string_append_printf(out, "baseline_unit: %s\nrectified: %d\n", rig->metric ? "m" : "unknown",
                           rig->rectified);
    if (isfinite(rig->rms)) {
        g_string_append(out, "rms: ");
        number(out, rig->rms);
        g_string_append(out, "\n");
    }
    for (int v = 0; v < 2; v++) {
        double m[9];
        intrinsics(&rig->camera[v], m);
        opencv_matrix(out, matrix[v], m, 3, 3);
        opencv_matrix(out, lens[v], rig->camera[v].k, 1, lens_count(&rig->camera[v]));
    }
    opencv_matrix(out, "R", rig->R, 3, 3);
    opencv_matrix(out, "T", rig->T, 3, 1);
    if (full.has_rectification)
        opencv_rectification(out, &full);
    *failed = error;
    return g_string_free(out, error != 0);
}

int rig_write_opencv(const char *path, const struct rig *rig) {
    int error;
    g_autofree char *text = rig_print_opencv(path, rig, &error);
    return error ? error : save(path, text);
}

static int write_ros_camera(const char *path, const char *name, const struct camera *c,
                            const double rotation[9], const double projection[12]) {
    static const char *const models[DISTORTION_COUNT] = {"plumb_bob", "plumb_bob",
                                                         "rational_polynomial", "equidistant"};
    GString *out = g_string_new(NULL);
    double m[9];
    intrinsics(c, m);
    g_string_append_printf(out, "image_width: %d\nimage_height: %d\ncamera_name: %s\n", c->width,
                           c->height, name);
    ros_matrix(out, "camera_matrix", m, 3, 3);
    g_string_append_printf(out, "distortion_model: %s\n", models[c->distortion]);
    ros_matrix(out, "distortion_coefficients", c->k, 1, lens_count(c));
    ros_matrix(out, "rectification_matrix", rotation, 3, 3);
    ros_matrix(out, "projection_matrix", projection, 3, 4);
    g_autofree char *text = g_string_free(out, FALSE);
    return save(path, text);
}

int rig_write_ros(const char *left_path, const char *right_path, const struct rig *rig) {
    struct rig full;
    if (!rig->metric)
        return log_fail(-EINVAL, left_path,
                        "the calibration does not say its unit, and ROS means metres; say it with "
                        "--unit mm (or cm, m)");
    int error = rig->camera[0].width > 0 ? with_rectification(rig, &full) : -ENODATA;
    if (error == -ENODATA)
        return log_fail(-EINVAL, left_path,
                        "the calibration does not say the picture size, which ROS needs; say it "
                        "with --size WxH");
    if (!error)
        error = write_ros_camera(left_path, "left", &full.camera[0], full.rotation[0],
                                 full.projection[0]);
    if (!error)
        error = write_ros_camera(right_path, "right", &full.camera[1], full.rotation[1],
                                 full.projection[1]);
    return error;
}
