/*
 * Ray casting for the desk of synth: shapes with their intersections and normals, textures with
 * mipmaps, and rows of work for several threads. x is to the right, y up, z away from the
 * cameras; metres. Nothing here is shared between threads but what the caller shares.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SYNTH_RAY_H
#define LIVESTEREO_SYNTH_RAY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct vec {
    float x, y, z;
};

static inline struct vec vec(float x, float y, float z) {
    return (struct vec){x, y, z};
}
static inline struct vec vec_add(struct vec a, struct vec b) {
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline struct vec vec_sub(struct vec a, struct vec b) {
    return vec(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline struct vec vec_scale(struct vec a, float s) {
    return vec(a.x * s, a.y * s, a.z * s);
}
static inline struct vec vec_mul(struct vec a, struct vec b) {
    return vec(a.x * b.x, a.y * b.y, a.z * b.z);
}
static inline float vec_dot(struct vec a, struct vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline struct vec vec_unit(struct vec a) {
    return vec_scale(a, 1 / sqrtf(vec_dot(a, a)));
}
/* a + t b */
static inline struct vec vec_along(struct vec a, float t, struct vec b) {
    return vec(a.x + t * b.x, a.y + t * b.y, a.z + t * b.z);
}

static inline float clamped(float x, float low, float high) {
    return x < low ? low : x > high ? high : x;
}
static inline float blend(float a, float b, float t) {
    return a + (b - a) * t;
}
static inline float smooth_step(float from, float to, float x) {
    float t = clamped((x - from) / (to - from), 0, 1);
    return t * t * (3 - 2 * t);
}
static inline struct vec vec_mix(struct vec a, struct vec b, float t) {
    return vec_along(a, t, vec_sub(b, a));
}
static inline struct vec vec_grey(float value) {
    return vec(value, value, value);
}

enum shape_kind {
    SHAPE_BOX,  /* at its centre, turned about y; half sizes a */
    SHAPE_CUP,  /* at the centre of its base, turned about y: a cone's side of height height, wall
                   thick, filled up to fill */
    SHAPE_CONE, /* the side of a cone from at along the unit vector a, high long */
    SHAPE_BALL, /* at its centre, radius radius */
    SHAPE_LEAF, /* flat and pointed: at + u a/|a|^2 + v b/|b|^2 with |v| <= 1 - u^2; normal n */
};

/* Faces: of a box 0 x, 1 y, 2 z; of a cup as below; else 0. */
enum { FACE_OUTSIDE, FACE_INSIDE, FACE_RIM, FACE_FILL, FACES };

struct shape {
    enum shape_kind kind;
    int material;
    struct vec at, a, b, n, color;
    float cos_yaw, sin_yaw;
    float radius, slope, height, wall, fill; /* radius at the base, and its change per height */
    struct vec box_low, box_high;            /* the box round it, by shape_bound() */
    bool casts;                              /* shadows */
};

/* Sets box_low and box_high. */
void shape_bound(struct shape *shape);

/* The least t > 0 at which o + t d meets the shape, INFINITY if it does not; *face is set then. */
float shape_hit(const struct shape *shape, struct vec o, struct vec d, int *face);

/* The point as the shape has it, turned back about y. */
struct vec shape_local(const struct shape *shape, struct vec p);

/* Unit normal at a point of that face, towards the viewer, who looks along d. */
struct vec shape_normal(const struct shape *shape, int face, struct vec p, struct vec d);

/* A square picture that repeats, with its mipmaps (Williams, Pyramidal Parametrics, SIGGRAPH 1983)
 * behind one another, each half as wide. Texels are square roots of the reflectance, RGBX. */
struct texture {
    int side; /* a power of two */
    uint8_t *texel;
};

/* The reflectance at (u, v) with a pixel that is width of the texture wide, by trilinear
 * interpolation. */
struct vec texture_at(const struct texture *texture, float u, float v, float width);

/* Computes the mipmaps from the first picture. */
void texture_halve(struct texture *texture);

/* Texels of all mipmaps together. */
static inline int texture_texels(int side) {
    int count = 0;
    for (; side; side /= 2)
        count += side * side;
    return count;
}

/* Calls row(context, i) for i in [0, rows) in threads threads, the caller's included; with fewer
 * where they cannot be created. Returns when all are done. */
void rows_run(int rows, int threads, void (*row)(void *context, int i), void *context);

/* Value noise in [0, 1) that repeats every period, and its sum over octaves. */
float noise_at(float x, float y, int period, uint32_t seed);
float noise_sum(float x, float y, int period, int octaves, uint32_t seed);

/* An even number in [0, 1) for two whole numbers. */
float noise_hash(int x, int y, uint32_t seed);

#endif
