/*
 * Pictures of made-up scenes as a rig's cameras see them: rays through the lens model meet
 * planes. For tests; slow and plain.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RIG_RENDER_H
#define LIVESTEREO_RIG_RENDER_H

#include "calibration/rig.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* A plane through origin with unit axes u, v; texture gives grey 0..255 at (s, t) metres along
 * them, or < 0 where the plane has a hole. */
struct plane {
    double origin[3], u[3], v[3];
    double (*texture)(const struct plane *plane, double s, double t);
    double cols, rows, square; /* of boards */
    double hide_from;          /* boards: what lies right of this many squares is covered */
};

/* A camera at `at`, turned by R: a point X of the scene is R (X - at) in its frame. */
struct eye {
    const struct camera *camera;
    double R[9], at[3];
    double *corner; /* rays through the corners of pixels, made by the first render */
};

static inline void eyes_of(const struct rig *rig, struct eye eye[2]) {
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double back[9];
    matrix_transpose(rig->R, back);
    for (int i = 0; i < 9; i++) {
        eye[0].R[i] = identity[i];
        eye[1].R[i] = rig->R[i];
    }
    eye[0].corner = eye[1].corner = NULL;
    eye[0].camera = &rig->camera[0];
    eye[1].camera = &rig->camera[1];
    matrix_apply(back, rig->T, eye[1].at);
    for (int i = 0; i < 3; i++) {
        eye[0].at[i] = 0;
        eye[1].at[i] = -eye[1].at[i];
    }
}

static inline double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Nearest plane along a ray: its grey, *depth in units of the ray. Grey 90 and INFINITY where
 * there is none. */
static inline double trace(const struct plane *planes, int count, const double at[3],
                           const double ray[3], double *depth) {
    double grey = 90;
    *depth = INFINITY;
    for (int i = 0; i < count; i++) {
        const struct plane *p = &planes[i];
        double n[3] = {p->u[1] * p->v[2] - p->u[2] * p->v[1], p->u[2] * p->v[0] - p->u[0] * p->v[2],
                       p->u[0] * p->v[1] - p->u[1] * p->v[0]};
        double to[3] = {p->origin[0] - at[0], p->origin[1] - at[1], p->origin[2] - at[2]};
        double z = dot3(n, to) / dot3(n, ray);
        if (!(z > 0.01 && z < *depth))
            continue;
        double hit[3] = {z * ray[0] - to[0], z * ray[1] - to[1], z * ray[2] - to[2]};
        double g = p->texture(p, dot3(hit, p->u), dot3(hit, p->v));
        if (g >= 0) {
            grey = g;
            *depth = z;
        }
    }
    return grey;
}

static inline void eyes_free(struct eye eye[2]) {
    for (int v = 0; v < 2; v++)
        free(eye[v].corner);
}

static inline void make_corners(struct eye *eye) {
    int w = eye->camera->width, h = eye->camera->height;
    eye->corner = malloc(2 * (size_t)(w + 1) * (size_t)(h + 1) * sizeof *eye->corner);
    for (int y = 0; y <= h; y++)
        for (int x = 0; x <= w; x++) {
            double pixel[2] = {x - 0.5, y - 0.5};
            camera_unproject(eye->camera, pixel,
                             eye->corner + 2 * ((size_t)y * (size_t)(w + 1) + (size_t)x));
        }
}

/* Grey along the ray at (u, v) of 0..1 of a pixel: between its corners' rays (a above, b
 * below) on straight lines. */
static inline double trace_in_pixel(const struct eye *eye, const double back[9], const double *a,
                                    const double *b, double u, double v, const struct plane *planes,
                                    int count, double *depth) {
    double ray[3] = {0, 0, 1};
    for (int i = 0; i < 2; i++)
        ray[i] = (1 - v) * ((1 - u) * a[i] + u * a[2 + i]) + v * ((1 - u) * b[i] + u * b[2 + i]);
    matrix_apply(back, ray, ray);
    return trace(planes, count, eye->at, ray, depth);
}

/* Renders width*height of the camera with 4 x 4 rays a pixel (one where the pixel's corners
 * and middle all see the same grey) and Gaussian-like noise of the given standard deviation; z
 * (may be NULL) gets the depth along the camera's axis at pixel centres. The caller frees. */
static inline uint8_t *render(struct eye *eye, const struct plane *planes, int count, double noise,
                              uint32_t seed, double *z) {
    enum { RAYS = 4 };
    int w = eye->camera->width, h = eye->camera->height;
    uint8_t *out = malloc((size_t)w * (size_t)h);
    double back[9];
    if (!eye->corner)
        make_corners(eye);
    matrix_transpose(eye->R, back);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const double *a = eye->corner + 2 * ((size_t)y * (size_t)(w + 1) + (size_t)x);
            const double *b = a + 2 * (size_t)(w + 1);
            double depth, unused;
            double grey = trace_in_pixel(eye, back, a, b, 0.5, 0.5, planes, count, &depth);
            int flat = 1;
            for (int k = 0; k < 4 && flat; k++)
                flat = grey ==
                       trace_in_pixel(eye, back, a, b, k % 2, k / 2 % 2, planes, count, &unused);
            if (!flat)
                grey = 0;
            for (int k = 0; k < RAYS * RAYS && !flat; k++)
                grey += trace_in_pixel(eye, back, a, b, (k % RAYS + 0.5) / RAYS,
                                       (k / RAYS % RAYS + 0.5) / RAYS, planes, count, &unused) /
                        (RAYS * RAYS);
            if (z)
                z[(size_t)y * (size_t)w + (size_t)x] = depth;
            for (int i = 0; i < 4; i++) { /* the sum of four uniform numbers: sqrt(1/3) wide */
                seed = seed * 1664525u + 1013904223u;
                grey += noise * 1.7320508 * ((seed >> 8) / 16777216.0 - 0.5);
            }
            out[(size_t)y * (size_t)w + (size_t)x] = (uint8_t)fmin(fmax(grey + 0.5, 0), 255);
        }
    return out;
}

/* A board of cols x rows inner corners, the first of them at the plane's origin, with a white
 * rim; the square right and below of the first corner is dark. */
static inline double board_texture(const struct plane *p, double s, double t) {
    double x = s / p->square, y = t / p->square;
    if (x < -2 || y < -2 || x > p->cols + 1 || y > p->rows + 1)
        return -1;
    if (x > p->hide_from)
        return 60;
    if (x < -1 || y < -1 || x > p->cols || y > p->rows)
        return 225;
    return ((int)floor(x) + (int)floor(y)) % 2 ? 225 : 30;
}

static inline double hash_grey(int x, int y) {
    uint32_t h = (uint32_t)x * 374761393u + (uint32_t)y * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return (double)((h ^ (h >> 16)) & 255);
}

/* Smooth noise of three sizes. `square` is the largest one's cell. */
static inline double noise_texture(const struct plane *p, double s, double t) {
    double sum = 0, weight = 0;
    for (int octave = 0; octave < 3; octave++) {
        double cell = p->square / (1 << octave), x = s / cell + 1000, y = t / cell + 1000;
        int i = (int)floor(x), j = (int)floor(y);
        double u = x - i, v = y - j, w = octave == 0 ? 1 : 0.8;
        u = u * u * (3 - 2 * u);
        v = v * v * (3 - 2 * v);
        sum += w * ((1 - v) * ((1 - u) * hash_grey(i, j) + u * hash_grey(i + 1, j)) +
                    v * ((1 - u) * hash_grey(i, j + 1) + u * hash_grey(i + 1, j + 1)));
        weight += w;
    }
    if (p->cols > 0 &&
        (s < 0 || t < 0 || s > p->cols || t > p->rows)) /* a patch of cols x rows metres */
        return -1;
    return sum / weight;
}

/* A wall and a board before it, both slanted: disparities of all fractions. */
static inline void wall_and_box(struct plane scene[2]) {
    scene[0] = (struct plane){.origin = {-3, -2, 1.2},
                              .u = {0.9553, 0, 0.2955},
                              .v = {0, 1, 0},
                              .texture = noise_texture,
                              .square = 0.085};
    scene[1] = (struct plane){.origin = {-0.35, -0.3, 1.4},
                              .u = {0.9553, 0, -0.2955},
                              .v = {0, 1, 0},
                              .texture = noise_texture,
                              .square = 0.05,
                              .cols = 0.6,
                              .rows = 0.6};
}

#endif
