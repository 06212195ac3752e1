/*
 * The things on the desk and their places in a frame: a scene of cast.h. Nothing is glossy, so that
 * both cameras see a point in the same colour. Places are metres from a point of the desk's top
 * below the cameras: x to the right, y up, z away. See desk.h.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/desk.h"

#include "capture/synth/cast.h"
#include "capture/synth/render.h"
#include "capture/synth/textures.h"

#include <stdlib.h>

#define BACK 1.55f /* z of the wall */
#define TURN 6.2831853f

static const enum painting paintings[] = {WOOD, PRINT, GLAZE, SPINES, SPECKLE, OUTSIDE};

struct desk {
    int width, height, threads;
    float focal, baseline, min, row_offset;
    uint32_t seed;
    uint8_t *texels;
    struct scene scene, later;
    struct scene *made; /* one of them, while it is made, */
    vec eye;            /* and its left camera */
};

/* ---- solids */

static float lot(const struct desk *desk, int i, int kind) {
    return noise_hash(i, kind, desk->seed);
}

static vec colour(float red, float green, float blue) {
    return vec_of(red, green, blue);
}

/* A solid of half sizes size at its middle, turned about y, of a colour with some grain. */
static struct solid *put_turned(struct desk *desk, int shape, vec at, const float m[9], vec size,
                                vec paint) {
    at = vec_of(at.x - desk->eye.x, desk->eye.y - at.y, at.z - desk->eye.z);
    struct solid *p = solid_add(desk->made, shape, at, m, size, 1000);
    p->texture = SPECKLE;
    p->contrast = 0.25f;
    p->colour[0] = paint.x;
    p->colour[1] = paint.y;
    p->colour[2] = paint.z;
    return p;
}

static struct solid *put(struct desk *desk, int shape, vec at, vec size, float yaw, vec paint) {
    float m[9];
    rotation(m, yaw, 0, 0);
    return put_turned(desk, shape, at, m, size, paint);
}

/* A rod from one point to another. */
static void put_rod(struct desk *desk, vec from, vec to, float radius, vec paint) {
    vec y = plus(to, from, -1), way = unit(vec_of(y.x, -y.y, y.z));
    vec x = unit(fabsf(way.x) < 0.5f ? vec_of(0, -way.z, way.y) : vec_of(way.z, 0, -way.x));
    vec z = cross(x, way);
    const float m[9] = {x.x, way.x, z.x, x.y, way.y, z.y, x.z, way.z, z.z};
    vec size = vec_of(radius, 0.5f * sqrtf(dot(y, y)), radius);
    put_turned(desk, CYLINDER, scaled(plus(from, to, 1), 0.5f), m, size, paint);
}

/* Paints a flat or round solid with a part of a texture: u in [u0, u1], v in [v0, v1]. */
static void paper(struct solid *p, enum painting painting, float u0, float u1, float v0, float v1) {
    float round = p->shape == CYLINDER ? 0.5f * TURN : 1;
    p->texture = (int)painting;
    p->contrast = 1;
    p->colour[0] = p->colour[1] = p->colour[2] = 128;
    float across = 0.5f * SIDE * (u1 - u0) / round, along = 0.5f * SIDE * (v1 - v0);
    p->per_length *= fmaxf(across / p->texels[0], along / p->texels[1]);
    p->texels[0] = across;
    p->texels[1] = along;
    p->u = 0.5f * SIDE * (u0 + u1);
    p->v = 0.5f * SIDE * (v0 + v1);
}

static void quad(struct desk *desk, vec at, vec size, float yaw, float pitch,
                 enum painting painting, float u1, float v1) {
    float m[9];
    rotation(m, yaw, pitch, 0);
    paper(put_turned(desk, QUAD, at, m, size, colour(0, 0, 0)), painting, 0, u1, 0, v1);
}

/* ---- the things */

static void add_room(struct desk *desk) {
    vec white = colour(225, 225, 220), middle = vec_of(-0.3f, 0.68f, BACK);
    quad(desk, vec_of(0, 0, 0.85f), vec_of(2.5f, 0.7f, 1), 0, 0.25f * TURN, WOOD, 2, 1);
    quad(desk, vec_of(-14, 5, OUTSIDE_Z), vec_of(44, 24, 1), 0, 0, OUTSIDE, 4, 4);
    struct solid *wall = put(desk, QUAD, middle, vec_of(4.2f, 5.2f, 1), 0, colour(214, 208, 193));
    wall->cut = FRAME; /* the window */
    wall->cut_at = 0.1f;
    wall->contrast = 0.1f;
    put(desk, BOX, vec_of(middle.x, 0.17f, BACK), vec_of(0.47f, 0.011f, 0.1f), 0, white);
    for (int i = -1; i <= 1; i++) {
        vec at = vec_of(middle.x + 0.395f * (float)i, middle.y, BACK + 0.03f);
        put(desk, BOX, at, vec_of(0.025f, 0.52f, 0.025f), 0, white);
    }
    put(desk, BOX, vec_of(middle.x, 0.485f, BACK + 0.03f), vec_of(0.42f, 0.015f, 0.015f), 0, white);
}

/* at: the middle of its base; spine: of the texture. Books stand, or lie. */
static void add_book(struct desk *desk, vec at, vec size, float yaw, int spine) {
    int lies = size.x > size.y;
    at.y += 0.5f * size.y;
    put(desk, BOX, at, scaled(size, 0.5f), yaw, scaled(spine_colour(spine), 0.8f));
    float deep = 0.5f * size.z + 0.0004f, v = (float)(spine % 8) / 8;
    at.x -= deep * sinf(yaw);
    at.z -= deep * cosf(yaw);
    struct solid *p = put(desk, QUAD, at, scaled(size, 0.5f), yaw, colour(0, 0, 0));
    if (lies) {
        paper(p, SPINES, 0, 1, v, v + 0.125f);
    } else { /* the spine's text runs upwards */
        paper(p, SPINES, v, v + 0.125f, 0, 1);
        float swap = p->u;
        p->u = p->v;
        p->v = swap;
        p->cos = 0;
        p->sin = 1;
    }
}

static void add_books(struct desk *desk) {
    static const struct {
        vec at, size;
        float yaw;
    } lying[] = {{{-0.40f, 0, 1.0f}, {0.24f, 0.032f, 0.17f}, 0.30f},
                 {{-0.405f, 0.032f, 1.0f}, {0.21f, 0.024f, 0.15f}, 0.12f},
                 {{0.78f, 0, 0.98f}, {0.25f, 0.038f, 0.18f}, -0.35f},
                 {{0.76f, 0.038f, 0.98f}, {0.20f, 0.026f, 0.15f}, -0.2f}};
    float x = 0.19f;
    for (int i = 0; i < 6; i++) {
        float thick = 0.022f + 0.02f * lot(desk, i, 10), deep = 0.13f + 0.03f * lot(desk, i, 12);
        add_book(desk, vec_of(x + thick / 2, 0, BACK - 0.03f - deep / 2),
                 vec_of(thick, 0.185f + 0.06f * lot(desk, i, 11), deep), 0, i);
        x += thick + 0.0015f;
    }
    for (int i = 0; i < 4; i++)
        add_book(desk, lying[i].at, lying[i].size, lying[i].yaw, i + 4);
}

static void add_small_things(struct desk *desk) {
    vec tin = vec_of(0.03f, 0.045f, 1.27f), lamp = vec_of(0.52f, 0.37f, 1.2f);
    vec metal = colour(80, 80, 80), yellow = colour(228, 180, 50);
    put(desk, BALL, vec_of(-0.22f, 0.038f, 0.83f), scaled(vec_of(1, 1, 1), 0.038f), 0,
        colour(248, 157, 44));
    put(desk, BALL, vec_of(-0.42f, 0.089f, 1.0f), scaled(vec_of(1, 1, 1), 0.033f), 0,
        colour(189, 221, 72));
    put(desk, CYLINDER, tin, vec_of(0.036f, 0.045f, 0.036f), 0, colour(57, 102, 114));
    for (int i = 0; i < 4; i++) {
        float angle = TURN * (0.1f + (float)i / 4), x = cosf(angle), z = sinf(angle);
        put_rod(desk, plus(tin, vec_of(0.01f * x, 0.04f, 0.01f * z), 1),
                plus(tin, vec_of(0.04f * x, 0.11f + 0.012f * (float)i, 0.04f * z), 1), 0.004f,
                i % 2 ? yellow : colour(180, 60, 60));
    }
    put_rod(desk, vec_of(0.07f, 0.0045f, 0.80f), vec_of(0.165f, 0.0045f, 0.92f), 0.0042f, yellow);
    put(desk, CYLINDER, vec_of(lamp.x, 0.007f, lamp.z), vec_of(0.065f, 0.007f, 0.065f), 0, metal);
    put_rod(desk, vec_of(lamp.x, 0, lamp.z), lamp, 0.008f, metal);
    put(desk, CYLINDER, lamp, vec_of(0.09f, 0.07f, 0.09f), 0, colour(255, 225, 170));
}

/* Paper on the desk, which casts no shadows. */
static void add_sheets(struct desk *desk) {
    vec size = vec_of(0.105f, 0.1485f, 1);
    quad(desk, vec_of(0, 0.0006f, 0.93f), size, -0.22f, -0.25f * TURN, PRINT, 1, 1);
    quad(desk, vec_of(0.02f, 0.0012f, 0.90f), size, 0.10f, -0.25f * TURN, PRINT, 1, 1);
}

/* A pot with stems that bend outwards, each with leaves. */
static void add_plant(struct desk *desk) {
    enum { STEMS = 9 };
    vec pot = vec_of(-0.60f, 0.0575f, 1.26f), green = colour(85, 140, 60);
    put(desk, CYLINDER, pot, vec_of(0.065f, 0.0575f, 0.065f), 0, colour(194, 125, 92));
    for (int i = 0; i < STEMS; i++) {
        float angle = TURN * ((float)i + 0.7f * lot(desk, i, 20)) / STEMS;
        float reach = 0.08f + 0.10f * lot(desk, i, 21), high = 0.22f + 0.20f * lot(desk, i, 22);
        vec last = vec_of(pot.x + 0.03f * cosf(angle), 0.11f, pot.z + 0.03f * sinf(angle));
        for (int k = 1; k <= 2; k++) {
            float t = (float)k / 2, out = 0.03f + reach * t * t;
            vec next = vec_of(pot.x + out * cosf(angle), 0.11f + high * (t - 0.25f * t * t),
                              pot.z + 0.8f * out * sinf(angle));
            put_rod(desk, last, next, 0.003f - 0.0006f * (float)k, colour(102, 140, 62));
            last = next;
            float length = 0.036f + 0.026f * lot(desk, i, 30 + k), m[9];
            rotation(m, TURN * lot(desk, i, 33 + k), 0.25f * TURN + 0.8f * (t - 0.6f), 0);
            put_turned(desk, DISC, next, m, vec_of(0.45f * length, length, 1),
                       scaled(green, 0.85f + 0.4f * lot(desk, i, 40 + k)));
        }
    }
}

static void add_mug(struct desk *desk, long index) {
    float angle = TURN * (float)(index % 480) / 480, yaw = 0.75f + 0.7f * sinf(angle);
    float radius = 0.043f, high = 0.098f, c = cosf(yaw), n = sinf(yaw);
    vec at = vec_of(0.27f + 0.06f * sinf(angle), high / 2, 0.90f - 0.035f * cosf(angle)), last = at;
    vec white = colour(225, 225, 222);
    paper(put(desk, CYLINDER, at, vec_of(radius, high / 2, radius), yaw, white), GLAZE, 0, 1, 0, 1);
    for (int i = 0; i <= 5; i++) {
        float bend = TURN * ((float)i / 5 - 0.5f) * 0.46f;
        float out = radius - 0.004f + 0.031f * cosf(bend);
        vec next = vec_of(at.x + out * c, at.y + 0.033f * sinf(bend), at.z - out * n);
        if (i > 0)
            put_rod(desk, last, next, 0.0058f, white);
        put(desk, BALL, next, scaled(vec_of(1, 1, 1), 0.0058f), yaw, white);
        last = next;
    }
    float m[9];
    rotation(m, 0, 0.25f * TURN, 0);
    put_turned(desk, DISC, vec_of(at.x, high + 0.0003f, at.z), m, vec_of(0.037f, 0.037f, 1),
               colour(52, 35, 24)); /* coffee */
}

void desk_scene(struct desk *desk, struct scene *s, long index) {
    float angle = TURN * (float)(index % 900) / 900;
    *s = (struct scene){.width = desk->width, .height = desk->height, .f = desk->focal};
    s->cx = 0.5f * (float)(desk->width - 1);
    s->cy = 0.5f * (float)(desk->height - 1);
    s->base = desk->baseline;
    s->zero = desk->min;
    s->rows_off = -desk->row_offset;
    rotation(s->turn, 0.03f * sinf(angle), -0.31f - 0.01f * sinf(2 * angle), 0);
    s->sun = unit(vec_of(-0.8f, -1, -0.6f));
    s->ambient = 0.65f;
    s->shadow = 0.7f;
    vec middle = vec_of(0.035f * sinf(angle), 0.5f + 0.01f * cosf(angle), 0.02f * sinf(2 * angle));
    vec right = scaled(vec_of(s->turn[0], s->turn[3], s->turn[6]), -0.5f * s->base);
    desk->eye = vec_of(middle.x + right.x, middle.y - right.y, middle.z + right.z);
    desk->made = s;
    add_books(desk);
    add_small_things(desk);
    add_mug(desk, index);
    s->casting = s->solids;
    add_plant(desk);
    add_sheets(desk);
    add_room(desk);
}

void desk_render(struct desk *desk, long index, int step, struct image *left, struct image *right,
                 int16_t *truth, uint8_t *mask) {
    struct render render = {.scene = &desk->scene,
                            .pixels = desk->texels,
                            .image = {left, right},
                            .truth = truth,
                            .mask = mask};
    desk_scene(desk, &desk->scene, index);
    if (step) {
        desk_scene(desk, &desk->later, index + step);
        render.later = &desk->later;
    }
    scene_render(&render, desk->threads);
}

struct desk *desk_open(int width, int height, double min, double range, double row_offset,
                       uint32_t seed, int threads) {
    struct desk *desk = calloc(1, sizeof(*desk));
    if (!desk)
        return NULL;
    desk->width = width;
    desk->height = height;
    desk->threads = threads;
    desk->seed = seed;
    desk->focal = (float)fmax(1.1 * sqrt((double)width * height), fmax(1.1 * height, 0.75 * width));
    desk->baseline = (float)(0.97 * (range - 1)) * DESK_NEAREST / desk->focal;
    desk->min = (float)min;
    desk->row_offset = (float)row_offset;
    desk->texels = textures_paint(paintings, sizeof(paintings) / sizeof(*paintings), seed, threads);
    if (!desk->texels) {
        desk_close(desk);
        return NULL;
    }
    return desk;
}

void desk_cameras(const struct desk *desk, double *focal, double *baseline) {
    *focal = desk->focal;
    *baseline = desk->baseline;
}

void desk_close(struct desk *desk) {
    if (desk)
        free(desk->texels);
    free(desk);
}
