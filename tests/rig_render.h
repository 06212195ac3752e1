/*
 * Pictures of made-up scenes as a rig's cameras see them: rays through the lens model meet
 * planes. For tests; slow and plain.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rig.h"
#include "tests/watched.h"

#include <assert.h>
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
struct view {
    const struct camera *camera;
    double R[9], at[3];
    double *corner; /* rays through the corners of pixels, made by the first render */
};

/* M v, as matrix_apply() has it, here to be inlined. */
UNWATCHED static inline void turn_ray(const double M[9], double v[3]) {
    double x = v[0], y = v[1], z = v[2];
    for (int i = 0; i < 3; i++)
        v[i] = M[3 * i] * x + M[3 * i + 1] * y + M[3 * i + 2] * z;
}

static inline void eyes_of(const struct rig *rig, struct view eye[2]) {
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

UNWATCHED static inline double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

enum { MAX_PLANES = 4 };

/* Planes as one eye sees them. */
struct view_of_planes {
    const struct plane *plane;
    int count;
    double normal[MAX_PLANES][3], to[MAX_PLANES][3], distance[MAX_PLANES];
};

static inline struct view_of_planes view_planes(const struct plane *planes, int count,
                                                const double at[3]) {
    struct view_of_planes view = {.plane = planes, .count = count};
    assert(count <= MAX_PLANES);
    for (int i = 0; i < count; i++) {
        const double *u = planes[i].u, *v = planes[i].v;
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            view.normal[i][k] = u[l] * v[m] - u[m] * v[l];
            view.to[i][k] = planes[i].origin[k] - at[k];
        }
        view.distance[i] = dot3(view.normal[i], view.to[i]);
    }
    return view;
}

/* Nearest plane along a ray: its grey, *depth in units of the ray. Grey 90 and INFINITY where
 * there is none. */
UNWATCHED static inline double trace(const struct view_of_planes *view, const double ray[3],
                                     double *depth) {
    double grey = 90;
    *depth = INFINITY;
    for (int i = view->count - 1; i >= 0; i--) { /* what is in front is mostly named last */
        const struct plane *p = &view->plane[i];
        const double *to = view->to[i];
        double z = view->distance[i] / dot3(view->normal[i], ray);
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

static inline void eyes_free(struct view eye[2]) {
    for (int v = 0; v < 2; v++)
        free(eye[v].corner);
}

UNWATCHED static inline void make_corners(struct view *eye) {
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
UNWATCHED static inline double trace_in_pixel(const struct view_of_planes *view,
                                              const double back[9], const double *a,
                                              const double *b, double u, double v, double *depth) {
    double ray[3] = {0, 0, 1};
    for (int i = 0; i < 2; i++)
        ray[i] = (1 - v) * ((1 - u) * a[i] + u * a[2 + i]) + v * ((1 - u) * b[i] + u * b[2 + i]);
    turn_ray(back, ray);
    return trace(view, ray, depth);
}

/* The greys at a row of the w + 1 corners of pixels. */
UNWATCHED static inline void trace_corners(const struct view_of_planes *view, const double back[9],
                                           const double *corner, int w, double *grey) {
    double depth;
    for (int x = 0; x <= w; x++) {
        double ray[3] = {corner[2 * x], corner[2 * x + 1], 1};
        turn_ray(back, ray);
        grey[x] = trace(view, ray, &depth);
    }
}

/* Rays along each side of a pixel. */
#ifndef RAYS
#define RAYS (WATCHED ? 2 : 4)
#endif

/* The mean grey of RAYS x RAYS rays through a pixel. */
UNWATCHED static inline double trace_finely(const struct view_of_planes *view, const double back[9],
                                            const double *a, const double *b) {
    double grey = 0, depth;
    for (int k = 0; k < RAYS * RAYS; k++)
        grey += trace_in_pixel(view, back, a, b, (k % RAYS + 0.5) / RAYS,
                               (k / RAYS % RAYS + 0.5) / RAYS, &depth) /
                (RAYS * RAYS);
    return grey;
}

/* Renders width*height of the camera with RAYS x RAYS rays a pixel (one where the pixel's corners
 * and middle all see the same grey) and Gaussian-like noise of the given standard deviation; z
 * (may be NULL) gets the depth along the camera's axis at pixel centres. The caller frees. */
UNWATCHED static inline uint8_t *render(struct view *eye, const struct plane *planes, int count,
                                        double noise, uint32_t seed, double *z) {
    int w = eye->camera->width, h = eye->camera->height;
    size_t corners = (size_t)w + 1; /* of a row */
    uint8_t *out = malloc((size_t)w * (size_t)h);
    double *greys = malloc(2 * corners * sizeof *greys), back[9];
    struct view_of_planes view = view_planes(planes, count, eye->at);
    if (!eye->corner)
        make_corners(eye);
    matrix_transpose(eye->R, back);
    for (int y = 0; y < h; y++) {
        const double *above = eye->corner + 2 * corners * (size_t)y, *below = above + 2 * corners;
        double *top = greys + (y % 2 ? corners : 0), *bottom = greys + (y % 2 ? 0 : corners);
        if (y == 0)
            trace_corners(&view, back, above, w, top);
        trace_corners(&view, back, below, w, bottom);
        for (int x = 0; x < w; x++) {
            const double *a = above + 2 * x, *b = below + 2 * x;
            double depth, grey = trace_in_pixel(&view, back, a, b, 0.5, 0.5, &depth);
            if (grey != top[x] || grey != top[x + 1] || grey != bottom[x] || grey != bottom[x + 1])
                grey = trace_finely(&view, back, a, b);
            if (z)
                z[(size_t)y * (size_t)w + (size_t)x] = depth;
            for (int i = 0; i < 4; i++) { /* the sum of four uniform numbers: sqrt(1/3) wide */
                seed = seed * 1664525u + 1013904223u;
                grey += noise * 1.7320508 * ((seed >> 8) / 16777216.0 - 0.5);
            }
            out[(size_t)y * (size_t)w + (size_t)x] = (uint8_t)fmin(fmax(grey + 0.5, 0), 255);
        }
    }
    free(greys);
    return out;
}

/* A board of cols x rows inner corners, the first of them at the plane's origin, with a white
 * rim; the square right and below of the first corner is dark. */
UNWATCHED static inline double board_texture(const struct plane *p, double s, double t) {
    double x = s / p->square, y = t / p->square;
    if (x < -2 || y < -2 || x > p->cols + 1 || y > p->rows + 1)
        return -1;
    if (x > p->hide_from)
        return 60;
    if (x < -1 || y < -1 || x > p->cols || y > p->rows)
        return 225;
    return ((int)floor(x) + (int)floor(y)) % 2 ? 225 : 30;
}

UNWATCHED static inline double hash_grey(int x, int y) {
    uint32_t h = (uint32_t)x * 374761393u + (uint32_t)y * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return (double)((h ^ (h >> 16)) & 255);
}

/* Smooth noise of three sizes. `square` is the largest one's cell. */
UNWATCHED static inline double noise_texture(const struct plane *p, double s, double t) {
    double sum = 0, weight = 0;
    if (p->cols > 0 &&
        (s < 0 || t < 0 || s > p->cols || t > p->rows)) /* a patch of cols x rows metres */
        return -1;
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
