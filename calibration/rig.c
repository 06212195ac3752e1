/*
 * Rigs: what makes one usable, bringing it to a picture size, and units. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

void rig_clear(struct rig *rig) {
    *rig = (struct rig){.rms = NAN};
    memcpy(rig->R, identity, sizeof identity);
    for (int v = 0; v < 2; v++)
        memcpy(rig->rotation[v], identity, sizeof identity);
}

static int refuse(char *why, size_t size, const char *text) {
    snprintf(why, size, "%s", text);
    return -EINVAL;
}

static int all_finite(const double *v, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(v[i]) || fabs(v[i]) > 1e9)
            return 0;
    return 1;
}

static bool is_rotation(const double R[9]) {
    double t[9], m[9];
    matrix_transpose(R, t);
    matrix_multiply(R, t, m);
    for (int i = 0; i < 9; i++)
        if (!(fabs(m[i] - identity[i]) < 1e-3))
            return false;
    double det = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
                 R[2] * (R[3] * R[7] - R[4] * R[6]);
    return det > 0;
}

/* A lens of less sees half of the world on a stamp of 20 px; such numbers are of another unit. */
enum { MIN_FOCAL_PX = 10 };

static int check_camera(const struct camera *c, const char *side, char *why, size_t size) {
    const double numbers[] = {c->fx, c->fy, c->cx, c->cy};
    if (!all_finite(numbers, 4) || !all_finite(c->k, 8))
        snprintf(why, size, "%s camera: a number is not finite or beyond reason", side);
    else if (c->fx < MIN_FOCAL_PX || c->fy < MIN_FOCAL_PX)
        snprintf(why, size,
                 "%s camera: focal length %g, %g px; it must be at least %d px, not in mm or in "
                 "parts of the picture",
                 side, c->fx, c->fy, MIN_FOCAL_PX);
    else if (c->width < 0 || c->height < 0 || c->width > 65536 || c->height > 65536)
        snprintf(why, size, "%s camera: picture size %dx%d", side, c->width, c->height);
    else
        return 0;
    return -EINVAL;
}

bool matrix_is_projection(const double *m, int columns) {
    const double *second = m + columns, *third = m + 2 * columns, near = 1e-6 * fabs(m[0]);
    return fabs(m[1]) <= near && fabs(second[0]) <= near && fabs(third[0]) <= 1e-6 &&
           fabs(third[1]) <= 1e-6 && fabs(third[2] - 1) <= 1e-6;
}

static int check_rectification(const struct rig *rig, char *why, size_t size) {
    const double *l = rig->projection[0], *r = rig->projection[1];
    if (!all_finite(l, 12) || !all_finite(r, 12))
        return refuse(why, size, "projection matrix: a number is not finite or beyond reason");
    for (int v = 0; v < 2; v++)
        if (!matrix_is_projection(rig->projection[v], 4))
            return refuse(why, size,
                          "projection matrix: is not [fx 0 cx Tx; 0 fy cy Ty; 0 0 1 0], so the "
                          "pictures it leads to are not rectified");
    if (!is_rotation(rig->rotation[0]) || !is_rotation(rig->rotation[1]))
        return refuse(why, size, "rectification matrix: not a rotation");
    if (l[0] < 1 || l[5] < 1 || fabs(l[0] - r[0]) > 1e-3 * l[0] ||
        fabs(l[5] - r[5]) > 1e-3 * l[5] || fabs(l[6] - r[6]) > 0.5)
        return refuse(
            why, size,
            "projection matrices: focal lengths and rows of left and right must be equal");
    if (!(r[3] / r[0] - l[3] / l[0] < 0))
        return refuse(why, size,
                      "P1, P2: the right camera is not to the right of the left one; the file "
                      "holds parts of two calibrations");
    double back[9], turn[9], v[3];
    matrix_transpose(rig->rotation[1], back);
    matrix_multiply(back, rig->rotation[0], turn); /* is R again */
    matrix_transpose(rig->R, back);
    matrix_multiply(back, turn, turn);
    rotation_to_vector(turn, v);
    if (sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) > 0.02)
        return refuse(why, size, "R1, R2: do not undo R; the file holds parts of two calibrations");
    return 0;
}

/* Where the right camera stands, seen from the left one. */
static void right_camera_at(const struct rig *rig, double at[3]) {
    double back[9];
    matrix_transpose(rig->R, back);
    matrix_apply(back, rig->T, at);
    for (int i = 0; i < 3; i++)
        at[i] = -at[i];
}

int rig_is_exchanged(const struct rig *rig) {
    double at[3];
    right_camera_at(rig, at);
    return at[0] < 0 && hypot(at[1], at[2]) < -at[0];
}

static void exchange(void *a, void *b, size_t size) {
    char kept[sizeof(struct camera)];
    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

void rig_exchange(struct rig *rig) {
    right_camera_at(rig, rig->T);
    matrix_transpose(rig->R, rig->R);
    exchange(&rig->camera[0], &rig->camera[1], sizeof rig->camera[0]);
    exchange(rig->rotation[0], rig->rotation[1], sizeof rig->rotation[0]);
    exchange(rig->projection[0], rig->projection[1], sizeof rig->projection[0]);
}

int rig_check(const struct rig *rig, char *why, size_t size) {
    int error = check_camera(&rig->camera[0], "left", why, size)
                    ?: check_camera(&rig->camera[1], "right", why, size);
    if (error)
        return error;
    const struct camera *l = &rig->camera[0], *r = &rig->camera[1];
    if (l->width != r->width || l->height != r->height) {
        snprintf(why, size, "picture size: left %dx%d, right %dx%d; both must be equal", l->width,
                 l->height, r->width, r->height);
        return -EINVAL;
    }
    if (!all_finite(rig->R, 9) || !is_rotation(rig->R))
        return refuse(why, size, "R: not a rotation");
    if (!all_finite(rig->T, 3))
        return refuse(why, size, "T: a number is not finite or beyond reason");
    if (rig_baseline(rig) < 1e-6)
        return refuse(why, size, "T: the two cameras are at one place");
    double at[3];
    right_camera_at(rig, at);
    if (hypot(at[1], at[2]) > fabs(at[0]))
        return refuse(why, size,
                      "T: the cameras are not side by side (turn the pictures of a rig "
                      "that stands upright before calibrating)");
    if (at[0] < 0)
        return refuse(why, size,
                      "T: the right camera is to the left of the left one: T is the other way "
                      "round (-R T is what it must be then), or the rig is mounted upside down: "
                      "--swap exchanges the pictures and this calibration");
    return rig->has_rectification ? check_rectification(rig, why, size) : 0;
}

/* A picture s times as large: pixel centres move from x to (x + 1/2) s - 1/2. */
static void scale_projection(double p[12], double s) {
    for (int i = 0; i < 8; i++)
        p[i] *= s;
    p[2] += (s - 1) / 2;
    p[6] += (s - 1) / 2;
}

#define MAX_OFF_MIDDLE 0.15 /* of a side, where the principal point of a whole picture lies */

bool rig_is_central(const struct rig *rig, int width, int height, double share) {
    bool central = true;
    for (int v = 0; v < 2; v++)
        central = central && fabs(rig->camera[v].cx + 0.5 - width / 2.0) <= share * width &&
                  fabs(rig->camera[v].cy + 0.5 - height / 2.0) <= share * height;
    return central;
}

int rig_fit(struct rig *rig, int width, int height, char *why, size_t size) {
    struct camera *l = &rig->camera[0];
    if (l->width > 0 && (long)l->width * height != (long)l->height * width) {
        snprintf(
            why, size,
            "width, height: calibrated for %dx%d, the pictures are %dx%d, which is not that size "
            "times one factor; calibrate at this size",
            l->width, l->height, width, height);
        return -EINVAL;
    }
    if (l->width == 0 && !rig_is_central(rig, width, height, MAX_OFF_MIDDLE)) {
        snprintf(why, size,
                 "the principal points %.4g, %.4g and %.4g, %.4g are far from the middle of "
                 "pictures of %dx%d: it was calibrated at another size, which it does not say; add "
                 "lines image_width: W and image_height: H to it",
                 l->cx, l->cy, rig->camera[1].cx, rig->camera[1].cy, width, height);
        return -EINVAL;
    }
    double s = l->width > 0 ? (double)width / l->width : 1;
    for (int v = 0; v < 2; v++) {
        struct camera *c = &rig->camera[v];
        c->width = width;
        c->height = height;
        c->fx *= s;
        c->fy *= s;
        c->cx = (c->cx + 0.5) * s - 0.5;
        c->cy = (c->cy + 0.5) * s - 0.5;
        scale_projection(rig->projection[v], s);
    }
    rig->rms *= s;
    return 0;
}

void rig_set_unit(struct rig *rig, double metres_per_unit) {
    for (int i = 0; i < 3; i++)
        rig->T[i] *= metres_per_unit;
    for (int v = 0; v < 2; v++)
        for (int i = 3; i < 12; i += 4)
            rig->projection[v][i] *= metres_per_unit;
    rig->metric = 1;
}

void rig_make_one_camera(struct rig *rig) {
    rig->camera[1] = rig->camera[0];
    memset(rig->R, 0, sizeof rig->R);
    rig->R[0] = rig->R[4] = rig->R[8] = 1;
    rig->T[0] = -1;
    rig->T[1] = rig->T[2] = 0;
    rig->metric = rig->has_rectification = 0;
}

double rig_baseline(const struct rig *rig) {
    return sqrt(rig->T[0] * rig->T[0] + rig->T[1] * rig->T[1] + rig->T[2] * rig->T[2]);
}
