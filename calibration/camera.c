/*
 * Camera models: rays to pixels and back, and the small matrix algebra that rigs need, in
 * doubles. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const char *const distortion_names[DISTORTION_COUNT] = {"none", "radtan", "rational", "fisheye"};
const int distortion_coefficients[DISTORTION_COUNT] = {0, 5, 8, 4};

static void distort_polynomial(const double *k, const double in[2], double out[2]) {
    double x = in[0], y = in[1], r2 = x * x + y * y;
    double radial =
        (1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]))) / (1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7])));
    out[0] = x * radial + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x);
    out[1] = y * radial + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y;
}

static double fisheye_radius(const double *k, double angle) {
    double a2 = angle * angle;
    return angle * (1 + a2 * (k[0] + a2 * (k[1] + a2 * (k[2] + a2 * k[3]))));
}

static void distort(const struct camera *c, const double in[2], double out[2]) {
    if (c->distortion == DISTORTION_NONE) {
        out[0] = in[0];
        out[1] = in[1];
    } else if (c->distortion == DISTORTION_FISHEYE) {
        double r = hypot(in[0], in[1]);
        double scale = r > 0 ? fisheye_radius(c->k, atan(r)) / r : 1;
        out[0] = in[0] * scale;
        out[1] = in[1] * scale;
    } else {
        distort_polynomial(c->k, in, out);
    }
}

void camera_project(const struct camera *c, const double xy[2], double pixel[2]) {
    double d[2];
    distort(c, xy, d);
    pixel[0] = c->fx * d[0] + c->cx;
    pixel[1] = c->fy * d[1] + c->cy;
}

/* The widest ray a plane can still hold: 85 degrees off the axis. */
#define MAX_ANGLE (85.0 / 180.0 * M_PI)

static int undistort_fisheye(const double *k, const double d[2], double xy[2]) {
    double r = hypot(d[0], d[1]), angle = fmin(r, MAX_ANGLE);
    if (r == 0) {
        xy[0] = xy[1] = 0;
        return 0;
    }
    for (int i = 0; i < 50; i++) {
        double a2 = angle * angle;
        double slope = 1 + a2 * (3 * k[0] + a2 * (5 * k[1] + a2 * (7 * k[2] + a2 * 9 * k[3])));
        if (slope < 1e-3)
            break; /* at the fold: what is left over is reported below */
        double step = (fisheye_radius(k, angle) - r) / slope;
        angle = fmin(fmax(angle - step, 0), MAX_ANGLE);
        if (fabs(step) < 1e-14)
            break;
    }
    double scale = tan(angle) / r;
    xy[0] = d[0] * scale;
    xy[1] = d[1] * scale;
    return fabs(fisheye_radius(k, angle) - r) < 1e-9 ? 0 : -EDOM;
}

/* Newton with the exact Jacobian by differences; the start is the distorted point itself,
 * steps are halved until they bring it nearer. */
static int undistort_polynomial(const double *k, const double d[2], double xy[2]) {
    double p[2] = {d[0], d[1]}, at[2];
    distort_polynomial(k, p, at);
    double miss = hypot(at[0] - d[0], at[1] - d[1]);
    for (int i = 0; i < 50 && miss > 1e-13; i++) {
        double h = 1e-7, ax[2], ay[2], px[2] = {p[0] + h, p[1]}, py[2] = {p[0], p[1] + h};
        distort_polynomial(k, px, ax);
        distort_polynomial(k, py, ay);
        double a = (ax[0] - at[0]) / h, b = (ay[0] - at[0]) / h;
        double c = (ax[1] - at[1]) / h, e = (ay[1] - at[1]) / h, det = a * e - b * c;
        if (!(det > 1e-6))
            break; /* beyond the fold the model turns rays over */
        double ex = d[0] - at[0], ey = d[1] - at[1];
        double sx = (e * ex - b * ey) / det, sy = (a * ey - c * ex) / det;
        double step = 1, next = INFINITY, q[2] = {0}, qat[2] = {0};
        for (int halved = 0; halved < 14; halved++, step /= 2) {
            q[0] = p[0] + step * sx;
            q[1] = p[1] + step * sy;
            distort_polynomial(k, q, qat);
            next = hypot(qat[0] - d[0], qat[1] - d[1]);
            if (next < miss)
                break;
        }
        if (!(next < miss))
            break;
        memcpy(p, q, sizeof p);
        memcpy(at, qat, sizeof at);
        miss = next;
    }
    xy[0] = p[0];
    xy[1] = p[1];
    return miss < 1e-9 ? 0 : -EDOM;
}

int camera_unproject(const struct camera *c, const double pixel[2], double xy[2]) {
    double d[2] = {(pixel[0] - c->cx) / c->fx, (pixel[1] - c->cy) / c->fy};
    if (c->distortion == DISTORTION_FISHEYE)
        return undistort_fisheye(c->k, d, xy);
    if (c->distortion != DISTORTION_NONE)
        return undistort_polynomial(c->k, d, xy);
    xy[0] = d[0];
    xy[1] = d[1];
    return 0;
}

double camera_reach(const struct camera *c) {
    const double step = 0.25 / 180 * M_PI;
    struct camera radial = {.fx = 1, .fy = 1, .distortion = c->distortion};
    double reach = 0, before = 0, pixel[2];
    memcpy(radial.k, c->k, sizeof radial.k);
    if (c->distortion != DISTORTION_FISHEYE)
        radial.k[2] = radial.k[3] = 0; /* tangential */
    for (int i = 1; i * step <= MAX_ANGLE; i++) {
        const double xy[2] = {tan(i * step), 0};
        camera_project(&radial, xy, pixel);
        if (!(pixel[0] > before))
            break;
        before = pixel[0];
        reach = xy[0];
    }
    return reach;
}

void matrix_multiply(const double a[9], const double b[9], double out[9]) {
    double m[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    memcpy(out, m, sizeof m);
}

void matrix_transpose(const double a[9], double out[9]) {
    double m[9] = {a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]};
    memcpy(out, m, sizeof m);
}

void matrix_apply(const double a[9], const double v[3], double out[3]) {
    double r[3];
    for (int i = 0; i < 3; i++)
        r[i] = a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2];
    memcpy(out, r, sizeof r);
}

void rotation_from_vector(const double v[3], double R[9]) {
    double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double s = angle > 1e-12 ? sin(angle) / angle : 1;
    double half = angle > 1e-12 ? sin(angle / 2) / angle : 0.5;
    double c = 2 * half * half; /* (1 - cos) / angle^2 without its cancellation */
    double x = v[0], y = v[1], z = v[2];
    double m[9] = {1 - c * (y * y + z * z), c * x * y - s * z,       c * x * z + s * y,
                   c * x * y + s * z,       1 - c * (x * x + z * z), c * y * z - s * x,
                   c * x * z - s * y,       c * y * z + s * x,       1 - c * (x * x + y * y)};
    memcpy(R, m, sizeof m);
}

void rotation_to_vector(const double R[9], double v[3]) {
    double a[3] = {(R[7] - R[5]) / 2, (R[2] - R[6]) / 2, (R[3] - R[1]) / 2}; /* axis * sin */
    double s = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    double c = (R[0] + R[4] + R[8] - 1) / 2, angle = atan2(s, c);
    if (s > 1e-9 || c > 0) {
        double scale = s > 1e-12 ? angle / s : 1;
        for (int i = 0; i < 3; i++)
            v[i] = a[i] * scale;
        return;
    }
    /* half a turn: the axis is the longest column of R + I */
    int best = R[4] >= R[8] ? 1 : 2;
    if (R[0] >= R[4] && R[0] >= R[8])
        best = 0;
    double axis[3] = {R[best], R[3 + best], R[6 + best]};
    axis[best] += 1;
    double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    for (int i = 0; i < 3; i++)
        v[i] = angle * axis[i] / n;
}
