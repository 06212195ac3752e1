/*
 * usage: draw_scenes DIR FIRST COUNT      (pairs of the seeds FIRST, FIRST + 1..., as eval takes)
 * Random scenes with exact disparities, drawn with the ray caster of synth's desk: what pictures
 * with ground truth have little of. x is to the right, y up, z away from the cameras; metres. Light
 * comes from one direction and from everywhere; there are no shadows.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/synth_ray.h"
#include "image/frame.h"
#include "image/picture.h"

#include <glib.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCENE_WIDTH = 640, SCENE_HEIGHT = 480 };

/* RGB; disparities of the left picture in px, sky 0; seen: 255 where the right picture shows the
 * point, too, else 0; the number of disparities to search. */
struct scene_pair {
    uint8_t left[3 * SCENE_WIDTH * SCENE_HEIGHT], right[3 * SCENE_WIDTH * SCENE_HEIGHT];
    float truth[SCENE_WIDTH * SCENE_HEIGHT];
    uint8_t seen[SCENE_WIDTH * SCENE_HEIGHT];
    int disparities;
};

/* What a scene is mostly about, by seed modulo SCENE_KINDS. */
enum scene_kind {
    SCENE_ROOM,   /* boxes, balls and cylinders between steep walls */
    SCENE_POST,   /* bare posts that are steep along x */
    SCENE_SLATS,  /* a facade of slats */
    SCENE_FENCE,  /* upright bars, or chain link, with something behind */
    SCENE_STREET, /* houses with rows of windows, road, sky */
    SCENE_SHELF,  /* books and a keyboard */
    SCENE_PLANT,  /* stems and leaves */
    SCENE_TABLE,  /* a dark glossy table, and bare metal */
    SCENE_KINDS
};

#define MOST_THINGS 240
#define SKY_Z 1e6f

static const char *const scene_names[SCENE_KINDS] = {"room",   "post",  "slats", "fence",
                                                     "street", "shelf", "plant", "table"};

enum pattern { PLAIN, GRAIN, STRIPES, WINDOWS, BRICKS, PRINT };

struct thing {
    struct shape shape; /* material: a pattern */
    struct vec other;   /* its second colour */
    float period;       /* of the pattern, metres */
    float contrast;     /* of grain on it */
    float mirror, gloss;
    uint32_t seed;
};

struct scene {
    struct thing thing[MOST_THINGS];
    int things, draws;
    uint32_t seed;
    struct vec light, sky[2];
    float focal, baseline, sin_pitch, cos_pitch;
    struct scene_pair *pair;
};

/* ---- what is drawn at random */

static float draw(struct scene *s, float low, float high) {
    return low + (high - low) * noise_hash(s->draws++, 77, s->seed);
}

static bool chance(struct scene *s, float share) {
    return draw(s, 0, 1) < share;
}

/* A point of a box, its coordinates one after the other. */
static struct vec draw_vec(struct scene *s, struct vec low, struct vec high) {
    struct vec v;
    v.x = draw(s, low.x, high.x);
    v.y = draw(s, low.y, high.y);
    v.z = draw(s, low.z, high.z);
    return v;
}

static struct vec draw_color(struct scene *s) {
    float grey = draw(s, 0.05f, 0.8f), tint = draw(s, 0, 0.5f);
    return vec_scale(draw_vec(s, vec_grey(1 - tint), vec_grey(1 + tint)), grey);
}

static struct thing *add(struct scene *s, enum shape_kind kind, enum pattern pattern,
                         struct vec at) {
    struct thing *t = &s->thing[s->things < MOST_THINGS ? s->things++ : MOST_THINGS - 1];
    *t = (struct thing){.seed = s->seed + 31 * (uint32_t)s->things};
    t->other = draw_color(s);
    t->shape = (struct shape){.kind = kind, .material = (int)pattern, .at = at, .cos_yaw = 1};
    t->shape.color = draw_color(s);
    t->period = draw(s, 0.08f, 0.4f);
    t->contrast = pattern == PLAIN ? draw(s, 0.01f, 0.12f) : draw(s, 0.05f, 0.9f);
    return t;
}

/* at: the centre of its base. */
static struct thing *add_box(struct scene *s, enum pattern pattern, struct vec at, struct vec size,
                             float yaw) {
    at.y += size.y / 2;
    struct thing *t = add(s, SHAPE_BOX, pattern, at);
    t->shape.a = vec_scale(size, 0.5f);
    t->shape.cos_yaw = cosf(yaw);
    t->shape.sin_yaw = sinf(yaw);
    return t;
}

static struct thing *add_rod(struct scene *s, struct vec from, struct vec to, float radius) {
    struct thing *t = add(s, SHAPE_CONE, PLAIN, from);
    struct vec way = vec_sub(to, from);
    t->shape.height = sqrtf(vec_dot(way, way));
    t->shape.a = vec_scale(way, 1 / t->shape.height);
    t->shape.radius = radius;
    return t;
}

static enum pattern draw_pattern(struct scene *s, float bare) {
    static const enum pattern patterns[] = {GRAIN, GRAIN, STRIPES, BRICKS, PRINT};
    return chance(s, bare) ? PLAIN : patterns[(int)draw(s, 0, 4.999f)];
}

/* Floor, walls to the left, right and behind. */
static void add_room(struct scene *s, float floor, float depth, float half) {
    add_box(s, draw_pattern(s, 0.3f), vec(0, floor - 0.1f, 0), vec(40, 0.1f, 80), 0);
    float yaw = draw(s, -0.4f, 0.4f);
    add_box(s, draw_pattern(s, 0.4f), vec(0, floor, depth), vec(20, 9, 0.1f), yaw);
    for (int side = -1; side <= 1; side += 2) {
        float x = (float)side * (half + draw(s, 0, 1));
        yaw = (float)side * draw(s, -0.1f, 0.35f);
        if (chance(s, 0.7f))
            add_box(s, draw_pattern(s, 0.5f), vec(x, floor, depth / 2), vec(0.1f, 9, 2 * depth),
                    yaw);
    }
}

/* Boxes, balls and cylinders that stand on the floor between z0 and z1. */
static void add_things(struct scene *s, int count, float floor, float z0, float z1, float bare) {
    for (int i = 0; i < count; i++) {
        float z = draw(s, z0, z1), x = draw(s, -0.55f, 0.55f) * z, size = draw(s, 0.05f, 0.2f) * z;
        float high = size * draw(s, 0.5f, 3), deep = size * draw(s, 0.4f, 2),
              yaw = draw(s, -1.3f, 1.3f), kind = draw(s, 0, 1);
        enum pattern pattern = draw_pattern(s, bare);
        if (kind < 0.55f) {
            add_box(s, pattern, vec(x, floor, z), vec(size, high, deep), yaw);
        } else if (kind < 0.75f) {
            add(s, SHAPE_BALL, pattern, vec(x, floor + size, z))->shape.radius = size;
        } else {
            struct thing *t = add(s, SHAPE_CUP, pattern, vec(x, floor, z));
            t->shape.radius = 0.6f * size;
            t->shape.slope = draw(s, -0.1f, 0.1f);
            t->shape.height = t->shape.fill = high;
            t->shape.wall = 0.01f;
        }
    }
}

static void make_post(struct scene *s, float floor) {
    int posts = 1 + (int)draw(s, 0, 2.9f);
    for (int i = 0; i < posts; i++) {
        float side = i % 2 ? -1 : 1, z = draw(s, 1.4f, 2.4f), x = side * z * draw(s, 0.25f, 0.5f);
        struct vec size = draw_vec(s, vec(0.1f, 4, 0.8f), vec(0.4f, 4, 1.6f));
        struct thing *t =
            add_box(s, PLAIN, vec(x, floor, z + 0.5f), size, side * draw(s, 0.15f, 1.0f));
        t->contrast = draw(s, 0.01f, 0.06f);
    }
}

/* Slats or bars of a row that starts at from; each is thick wide and gap away from the next. */
static void add_row(struct scene *s, struct vec from, float yaw, int count, float thick, float gap,
                    float high) {
    struct vec step = vec(cosf(yaw) * (thick + gap), 0, -sinf(yaw) * (thick + gap));
    struct vec color = draw_color(s);
    for (int i = 0; i < count; i++) {
        struct thing *t =
            add_box(s, PLAIN, vec_along(from, (float)i, step), vec(thick, high, 0.02f), yaw);
        t->shape.color = color;
    }
}

static void make_slats(struct scene *s, float floor) {
    float yaw = draw(s, -0.6f, 0.6f), z = draw(s, 2.2f, 3.5f), period = z * draw(s, 0.014f, 0.035f);
    struct thing *wall = add_box(s, STRIPES, vec(0, floor, z + 0.3f), vec(9, 6, 0.1f), yaw);
    wall->period = period;
    wall->contrast = draw(s, 0, 0.03f);
    if (chance(s, 0.5f))
        add_row(s, vec(-1.2f, floor, z + 0.1f - 1.2f * sinf(yaw)), yaw, 60, 0.5f * period,
                0.5f * period, 3);
}

static void make_fence(struct scene *s, float floor) {
    float z = draw(s, 1.5f, 2.2f), yaw = draw(s, -0.4f, 0.4f);
    if (chance(s, 0.5f)) {
        float thick = z * draw(s, 0.006f, 0.02f);
        add_row(s, vec(-1.1f, floor, z), yaw, 26, thick, 0.075f, 3);
        return;
    }
    float apart = draw(s, 0.07f, 0.12f), radius = draw(s, 0.0015f, 0.004f);
    struct vec metal = vec_grey(draw(s, 0.2f, 0.6f));
    for (int i = 0; i < 70; i++) {
        float side = i % 2 ? -1 : 1, x = ((float)i / 2 - 17) * apart;
        add_rod(s, vec(x - side, floor, z), vec(x + side, floor + 2, z), radius)->shape.color =
            metal;
    }
}

static void make_street(struct scene *s, float floor) {
    for (int i = 0; i < 6; i++) {
        float side = i % 2 ? -1 : 1, z = 2.0f + 1.6f * (float)(i / 2), yaw = draw(s, -0.1f, 0.3f);
        float x = side * draw(s, 1.5f, 2.2f), high = draw(s, 1.2f, 3);
        struct thing *t = add_box(s, WINDOWS, vec(x, floor, z), vec(1.6f, high, 1.5f), side * yaw);
        t->period = draw(s, 0.12f, 0.3f);
        t->contrast = draw(s, 0.02f, 0.2f);
    }
}

static void make_shelf(struct scene *s, float floor) {
    float x = -1.1f, z = draw(s, 1.4f, 2.2f), top = floor + 0.25f;
    bool alike = chance(s, 0.4f); /* the volumes of one work */
    struct vec color = draw_color(s);
    add_box(s, GRAIN, vec(0, top - 0.04f, z), vec(4, 0.04f, 0.4f), 0);
    while (x < 1.1f) {
        float thick = alike ? 0.04f : draw(s, 0.02f, 0.07f),
              high = alike ? 0.3f : draw(s, 0.2f, 0.4f);
        float deep = draw(s, 0.2f, 0.3f);
        struct thing *t =
            add_box(s, chance(s, 0.5f) ? PRINT : PLAIN, vec(x, top, z), vec(thick, high, deep), 0);
        if (alike)
            t->shape.color = color;
        t->period = 0.03f;
        x += thick + 0.002f;
    }
    struct vec keys = vec_grey(draw(s, 0.03f, 0.6f));
    for (int i = 0; i < 60; i++) {
        float left = 0.085f * (float)(i % 12) - 0.5f, away = 1.0f + 0.085f * (float)(i / 12);
        struct thing *t = add_box(s, PLAIN, vec(left, floor, away), vec(0.07f, 0.03f, 0.07f), 0);
        t->shape.color = keys;
    }
}

static void make_plant(struct scene *s, float floor) {
    for (int i = 0; i < 40; i++) {
        float z = draw(s, 1.3f, 2.4f), x = draw(s, -0.5f, 0.5f) * z;
        struct vec top =
            draw_vec(s, vec(x - 0.3f, floor + 0.3f, z), vec(x + 0.3f, floor + 1.3f, z));
        struct vec green = draw_vec(s, vec(0.05f, 0.2f, 0.06f), vec(0.3f, 0.5f, 0.06f));
        add_rod(s, vec(x, floor, z), top, draw(s, 0.003f, 0.012f))->shape.color = green;
        for (int k = 0; k < 3; k++) {
            struct thing *t = add(s, SHAPE_LEAF, GRAIN,
                                  vec_add(top, vec(draw(s, -0.1f, 0.1f), -0.08f * (float)k, 0)));
            struct vec a = vec_unit(draw_vec(s, vec(-1, -1, -0.5f), vec(1, 1, 0.5f)));
            struct vec b = vec_unit(vec(-a.y, a.x, draw(s, -0.5f, 0.5f)));
            b = vec_unit(vec_along(b, -vec_dot(a, b), a));
            float length = draw(s, 0.03f, 0.12f);
            t->shape.color = green;
            t->shape.n = vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
            t->shape.a = vec_scale(a, 1 / length);
            t->shape.b = vec_scale(b, 2.2f / length);
        }
    }
}

static void make_table(struct scene *s, float floor) {
    float z = draw(s, 1.0f, 1.3f), top = floor + draw(s, 0.2f, 0.3f);
    float wide = draw(s, 1.2f, 3), yaw = draw(s, -0.3f, 0.3f);
    struct thing *table =
        add_box(s, PLAIN, vec(0, top - 0.03f, z + 0.6f), vec(wide, 0.03f, 1.2f), yaw);
    table->shape.color = vec_grey(draw(s, 0.01f, 0.06f));
    table->mirror = draw(s, 0.08f, 0.4f);
    table->gloss = 0.5f;
    add_things(s, 5, top, z + 0.2f, z + 1, 0.3f);
    struct thing *metal = add(s, SHAPE_CUP, PLAIN, vec(draw(s, -0.5f, 0.5f), floor, 2.6f));
    metal->shape.radius = draw(s, 0.1f, 0.3f);
    metal->shape.height = metal->shape.fill = 3;
    metal->shape.wall = 0.01f;
    metal->mirror = 0.5f;
    metal->gloss = 0.8f;
    metal->contrast = 0.005f;
}

static void make(struct scene *s) {
    float floor = -draw(s, 0.45f, 0.8f), pitch = draw(s, 0.0f, 0.25f);
    enum scene_kind kind = (enum scene_kind)(s->seed % SCENE_KINDS);
    s->sin_pitch = sinf(pitch);
    s->cos_pitch = cosf(pitch);
    s->light = vec_unit(draw_vec(s, vec(-1, 0.4f, -1), vec(1, 1.2f, -0.2f)));
    s->sky[0] = vec(0.8f, 0.85f, 0.9f);
    s->sky[1] = draw_vec(s, vec(0.1f, 0.3f, 0.9f), vec(0.7f, 0.7f, 0.9f));
    if (kind == SCENE_STREET)
        add_box(s, chance(s, 0.5f) ? PLAIN : GRAIN, vec(0, floor - 0.1f, 0), vec(80, 0.1f, 300), 0);
    else {
        float depth = draw(s, 3, 7);
        add_room(s, floor, depth, draw(s, 1.2f, 2));
    }
    switch (kind) {
    case SCENE_POST:
        make_post(s, floor);
        break;
    case SCENE_SLATS:
        make_slats(s, floor);
        break;
    case SCENE_FENCE:
        make_fence(s, floor);
        break;
    case SCENE_STREET:
        make_street(s, floor);
        break;
    case SCENE_SHELF:
        make_shelf(s, floor);
        break;
    case SCENE_PLANT:
        make_plant(s, floor);
        break;
    case SCENE_TABLE:
        make_table(s, floor);
        break;
    default:
        add_things(s, 6, floor, 1.2f, 3, 0.4f);
    }
    if (kind != SCENE_SHELF && kind != SCENE_TABLE)
        add_things(s, 4, floor, 1.4f, 3.5f, 0.4f);
    for (int i = 0; i < s->things; i++) {
        s->thing[i].gloss = fmaxf(s->thing[i].gloss, chance(s, 0.2f) ? 0.4f : 0);
        shape_bound(&s->thing[i].shape);
    }
}

/* ---- rays */

/* The thing that o + t d meets first, or NULL, and t there. */
static const struct thing *cast(const struct scene *s, struct vec o, struct vec d, float *t,
                                int *face) {
    const struct thing *nearest = NULL;
    float x = 1 / d.x, y = 1 / d.y, z = 1 / d.z;
    *t = SKY_Z;
    for (int i = 0; i < s->things; i++) {
        const struct shape *q = &s->thing[i].shape;
        float x0 = (q->box_low.x - o.x) * x, x1 = (q->box_high.x - o.x) * x,
              y0 = (q->box_low.y - o.y) * y, y1 = (q->box_high.y - o.y) * y,
              z0 = (q->box_low.z - o.z) * z, z1 = (q->box_high.z - o.z) * z;
        float in = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fminf(z0, z1)),
              out = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fmaxf(z0, z1));
        int f;
        if (in > out || out < 0 || in > *t)
            continue;
        float at = shape_hit(q, o, d, &f);
        if (at < *t) {
            *t = at;
            *face = f;
            nearest = &s->thing[i];
        }
    }
    return nearest;
}

/* Where on the surface q lies, metres. */
static void surface_place(const struct shape *s, int face, struct vec q, float *u, float *v) {
    bool box = s->kind == SHAPE_BOX, round = s->kind == SHAPE_CUP || s->kind == SHAPE_BALL;
    *u = box && face == 0 ? q.z : round ? s->radius * atan2f(q.z, q.x) : q.x;
    *v = box && face == 1 ? q.z : q.y;
}

/* Noise without what is finer than a pixel. */
static float grain(float u, float v, float width, uint32_t seed) {
    float sum = 0, weight = 1, scale = 6;
    for (int i = 0; i < 7 && 1 / scale > 1.5f * width; i++) {
        sum += weight * (noise_at(u * scale, v * scale, 4096, seed + (uint32_t)i) - 0.5f);
        scale *= 2.1f;
        weight *= 0.8f;
    }
    return sum;
}

static struct vec reflectance(const struct thing *t, float u, float v, float width) {
    float a = u / t->period, b = v / t->period, inside_a = a - floorf(a), inside_b = b - floorf(b);
    bool other = false;
    switch ((enum pattern)t->shape.material) {
    case STRIPES:
        other = inside_a < 0.5f;
        break;
    case WINDOWS:
        other = inside_a > 0.3f && inside_b > 0.35f;
        break;
    case BRICKS:
        a = 0.5f * a + 0.5f * (float)((int)floorf(b) & 1);
        other = a - floorf(a) < 0.06f || inside_b < 0.12f;
        break;
    case PRINT:
        other = noise_hash((int)floorf(4 * a), (int)floorf(4 * b), t->seed) < 0.4f;
        break;
    default:
        break;
    }
    struct vec color = other ? t->other : t->shape.color;
    return vec_scale(color, fmaxf(1 + t->contrast * grain(u, v, width, t->seed), 0));
}

static struct vec sky(const struct scene *s, struct vec d) {
    return vec_mix(s->sky[0], s->sky[1], clamped(2 * d.y, 0, 1));
}

/* depth: how many mirrors the ray has met. */
static struct vec color_of(const struct scene *s, const struct thing *t, int face, struct vec o,
                           struct vec d, float at, int depth) {
    if (!t)
        return sky(s, vec_unit(d));
    struct vec p = vec_along(o, at, d), q = shape_local(&t->shape, p),
               n = shape_normal(&t->shape, face, p, d), e = vec_unit(d);
    float u, v, facing = fmaxf(-vec_dot(n, e), 0.05f);
    surface_place(&t->shape, face, q, &u, &v);
    float light = 0.45f + 0.75f * fmaxf(vec_dot(n, s->light), 0);
    struct vec color = vec_scale(reflectance(t, u, v, at / s->focal / sqrtf(facing)), light),
               away = vec_along(e, 2 * facing, n);
    if (t->gloss > 0)
        color = vec_add(color, vec_grey(t->gloss * powf(fmaxf(vec_dot(away, s->light), 0), 40)));
    if (t->mirror > 0 && depth == 0) {
        float further;
        int other_face = 0;
        const struct thing *other = cast(s, p, away, &further, &other_face);
        color = vec_mix(color, color_of(s, other, other_face, p, away, further, 1), t->mirror);
    }
    return color;
}

/* ---- the pictures */

static struct vec eye_at(const struct scene *s, int eye) {
    return vec((eye ? 0.5f : -0.5f) * s->baseline, 0, 0);
}

static struct vec ray(const struct scene *s, float x, float y) {
    float u = (x - 0.5f * (SCENE_WIDTH - 1)) / s->focal,
          v = -(y - 0.5f * (SCENE_HEIGHT - 1)) / s->focal;
    return vec(u, v * s->cos_pitch - s->sin_pitch, v * s->sin_pitch + s->cos_pitch);
}

/* Whether the right eye sees what the left one has at x, y at that depth. */
static bool right_sees(const struct scene *s, float x, float y, float z) {
    float at = x - s->focal * s->baseline / z, nearest;
    int face;
    if (at < 0)
        return false;
    cast(s, eye_at(s, 1), ray(s, at, y), &nearest, &face);
    return nearest > 0.9985f * z;
}

static void draw_row(void *context, int i) {
    struct scene *s = context;
    int eye = i % 2, y = i / 2, face = 0;
    struct vec o = eye_at(s, eye);
    for (int x = 0; x < SCENE_WIDTH; x++) {
        uint8_t *out = (eye ? s->pair->right : s->pair->left) + 3 * (y * SCENE_WIDTH + x);
        struct vec sum = {0};
        float z;
        for (int k = 0; k < 4; k++) {
            struct vec d = ray(s, (float)x - 0.25f + 0.5f * (float)(k & 1),
                               (float)y - 0.25f + 0.5f * (float)(k >> 1));
            const struct thing *t = cast(s, o, d, &z, &face);
            struct vec c = color_of(s, t, face, o, d, z, 0);
            sum = vec_along(sum, 0.25f, vec(fminf(c.x, 1), fminf(c.y, 1), fminf(c.z, 1)));
        }
        out[0] = (uint8_t)(255 * sqrtf(sum.x) + 0.5f);
        out[1] = (uint8_t)(255 * sqrtf(sum.y) + 0.5f);
        out[2] = (uint8_t)(255 * sqrtf(sum.z) + 0.5f);
        if (eye)
            continue;
        const struct thing *t = cast(s, o, ray(s, (float)x, (float)y), &z, &face);
        s->pair->truth[y * SCENE_WIDTH + x] = t ? s->focal * s->baseline / z : 0;
        s->pair->seen[y * SCENE_WIDTH + x] = right_sees(s, (float)x, (float)y, z) ? 255 : 0;
    }
}

/* What the sensors make of a picture: light, an offset, and noise that is nearly normal. */
static void expose(uint8_t *rgb, float gain, float offset, float sigma, uint32_t seed) {
    for (int i = 0; i < 3 * SCENE_WIDTH * SCENE_HEIGHT; i++) {
        float noise = -6;
        for (int k = 0; k < 12; k++)
            noise += noise_hash(i, k, seed);
        rgb[i] = (uint8_t)clamped(gain * rgb[i] + offset + sigma * noise + 0.5f, 0, 255);
    }
}

static void draw_pair(uint32_t seed, int threads, struct scene_pair *pair) {
    struct scene s = {.seed = seed, .pair = pair};
    make(&s);
    /* cameras: the nearest point in view gets the largest disparity */
    float nearest = SKY_Z, most = expf(draw(&s, logf(24), logf(120)));
    s.focal = SCENE_WIDTH * draw(&s, 0.8f, 1.2f);
    for (int y = 0; y < SCENE_HEIGHT; y += 4)
        for (int x = 0; x < SCENE_WIDTH; x += 4) {
            float z;
            int face;
            cast(&s, vec(0, 0, 0), ray(&s, (float)x, (float)y), &z, &face);
            nearest = fminf(nearest, z);
        }
    s.baseline = most * nearest / s.focal;
    rows_run(2 * SCENE_HEIGHT, threads, draw_row, &s);
    float largest = 0;
    for (int i = 0; i < SCENE_WIDTH * SCENE_HEIGHT; i++)
        largest = fmaxf(largest, pair->truth[i]);
    pair->disparities = ((int)largest + 17) / 16 * 16;
    bool differs = chance(&s, 0.35f);
    float sigma = draw(&s, 0.3f, 1.5f), gain = draw(&s, 0.75f, 1.3f), offset = draw(&s, -8, 8);
    expose(pair->left, 1, 0, sigma, seed);
    expose(pair->right, differs ? gain : 1, differs ? offset : 0, sigma, seed + 1);
}

/* ---- the files */

static int write_pair(const char *folder, struct scene_pair *pair) {
    static uint16_t truth[SCENE_WIDTH * SCENE_HEIGHT];
    const struct image images[] = {{pair->left, SCENE_WIDTH, SCENE_HEIGHT, 3},
                                   {pair->right, SCENE_WIDTH, SCENE_HEIGHT, 3},
                                   {pair->seen, SCENE_WIDTH, SCENE_HEIGHT, 1}};
    static const char *const names[] = {"left.png", "right.png", "nonocc.png"};
    int error = g_mkdir_with_parents(folder, 0777);
    for (int i = 0; i < 3 && !error; i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        error = picture_write(path, &images[i]);
    }
    for (int i = 0; i < SCENE_WIDTH * SCENE_HEIGHT; i++) /* 0 would be unknown */
        truth[i] = (uint16_t)fmaxf(256 * pair->truth[i] + 0.5f, 1);
    g_autofree char *path = g_build_filename(folder, "disp_left.png", NULL);
    g_autofree char *ini = g_build_filename(folder, "pair.ini", NULL);
    g_autofree char *text =
        g_strdup_printf("[pair]\ndisparity_scale=256\ndisparities=%d\n", pair->disparities);
    if (!error)
        error = picture_write16(path, truth, SCENE_WIDTH, SCENE_HEIGHT);
    return error || !g_file_set_contents(ini, text, -1, NULL);
}

int main(int argc, char **argv) {
    static struct scene_pair pair;
    if (argc != 4) {
        fprintf(stderr, "usage: draw_scenes DIR FIRST COUNT\n");
        return 2;
    }
    uint32_t first = (uint32_t)atoi(argv[2]), count = (uint32_t)atoi(argv[3]);
    for (uint32_t seed = first; seed < first + count; seed++) {
        g_autofree char *name = g_strdup_printf("%s_%u", scene_names[seed % SCENE_KINDS], seed);
        g_autofree char *folder = g_build_filename(argv[1], name, NULL);
        draw_pair(seed, (int)g_get_num_processors(), &pair);
        if (write_pair(folder, &pair))
            return 1;
    }
    return 0;
}
