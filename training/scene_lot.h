/*
 * Draws scenes by lot: furnished rooms, streets, things that fly. Lengths are metres; what a scene
 * shows in px follows from its focal length and base.
 * SPDX-License-Identifier: MIT
 */
#ifndef TRAINING_SCENE_LOT_H
#define TRAINING_SCENE_LOT_H

#include "capture/synth/cast.h"

#include <stdlib.h>

enum look { ANY, PLAIN, ROUGH, GLOSSY, BARE };

/* The scene that is being drawn. */
struct lot {
    uint64_t state; /* SplitMix64 */
    struct scene *scene;
    const struct textures *textures;
    float per_length;  /* texels for a unit of length */
    float wide;        /* half of the picture's width at distance 1 */
    float photographs; /* their share among textures */
    int varied;        /* 0: as the accuracy score's scenes stay */
};

/* A kind of scene; least, most: of the largest disparity that is drawn by lot. */
struct kind {
    void (*draw)(struct lot *);
    float least, most;
    int outdoors, sky;
};

static float share_of(struct lot *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (float)((z ^ z >> 31) >> 40) / 16777216.0f;
}
static float between(struct lot *r, float a, float b) {
    return a + (b - a) * share_of(r);
}
static float by_octaves(struct lot *r, float a, float b) { /* log-uniform */
    return a * powf(b / a, share_of(r));
}
static int chance(struct lot *r, float p) {
    return share_of(r) < p;
}
static int pick(struct lot *r, int n) {
    return (int)(share_of(r) * n) % n;
}
static float either(struct lot *r, float a) {
    return chance(r, 0.5f) ? a : -a;
}

static void paint(struct lot *r, struct solid *s, enum look look) {
    const struct textures *t = r->textures;
    float grey = between(r, 50, 210), tint = chance(r, 0.4f) ? 60 : 15;
    s->texture = pick(r, chance(r, r->photographs) ? t->photographs : t->photographs + t->drawn);
    s->cut_texture = t->photographs + t->drawn + pick(r, t->waves);
    s->contrast = chance(r, 0.2f) ? between(r, 0.05f, 0.3f) : between(r, 0.4f, 1.2f);
    s->grain = r->varied ? by_octaves(r, 0.04f, 0.3f) : by_octaves(r, 0.02f, 0.2f);
    if (chance(r, 0.14f)) /* dark, or white */
        grey = chance(r, 0.6f) ? between(r, 5, 45) : between(r, 220, 270);
    if (look == PLAIN) {
        s->contrast = by_octaves(r, 0.04f, 0.3f);
        grey = between(r, 40, 235);
    } else if (look == ROUGH) {
        s->contrast = between(r, 0.6f, 1.2f);
    } else if (look == GLOSSY) {
        s->contrast = by_octaves(r, 0.02f, 0.3f);
        grey = between(r, 10, 80);
        s->mirror = between(r, 0.1f, 0.7f);
        s->gloss = between(r, 0, 0.8f);
    } else if (look == BARE) { /* painted: light that falls off, grain of up to 3 grey levels */
        s->texture = s->cut_texture;
        s->contrast = by_octaves(r, 0.02f, 0.15f);
        s->grain = by_octaves(r, 0.008f, 0.05f);
        grey = between(r, 90, 240);
        tint *= 0.4f;
    } else {
        s->mirror = chance(r, 0.07f) ? between(r, 0.05f, 0.4f) : 0;
        s->gloss = chance(r, 0.2f) ? between(r, 0.1f, 0.9f) : 0;
    }
    s->gloss_power = by_octaves(r, 12, 250);
    for (int c = 0; c < 3; c++)
        s->colour[c] = grey + tint * between(r, -1, 1);
}

/* Adds a solid of half sizes `size`; m turns its axes to the world's. */
static struct solid *add(struct lot *r, enum shape shape, vec at, const float m[9], vec size,
                         enum look look) {
    float texels = r->per_length * by_octaves(r, 0.5f, 2);
    struct solid *s = solid_add(r->scene, shape, at, m, size, texels);
    s->u = between(r, 0, 1000);
    s->v = between(r, 0, 1000);
    float turn = chance(r, 0.5f) ? 0 : between(r, 0, 6.28f);
    s->cos = cosf(turn);
    s->sin = sinf(turn);
    paint(r, s, look);
    return s;
}

static struct solid *add_turned(struct lot *r, enum shape shape, vec at, float yaw, float pitch,
                                float roll, vec size, enum look look) {
    float m[9];
    rotation(m, yaw, pitch, roll);
    return add(r, shape, at, m, size, look);
}

static void set_colour(struct solid *s, float red, float green, float blue) {
    s->colour[0] = red;
    s->colour[1] = green;
    s->colour[2] = blue;
}

static void cut_by_lot(struct lot *r, struct solid *s, enum cut cut) {
    s->cut = cut;
    s->cut_scale = cut == RAGGED ? by_octaves(r, 0.06f, 0.8f) : between(r, 2, 14);
    s->cut_at = cut == RAGGED  ? between(r, 65, 120)
                : cut == FRAME ? between(r, 0.6f, 0.95f)
                               : between(r, 0.1f, 0.6f);
}

static void add_leaves(struct lot *r, vec at, float size, int count) {
    int texture = pick(r, r->textures->photographs);
    float red = between(r, 20, 110), green = between(r, 50, 150), blue = between(r, 10, 80);
    float cut_at = between(r, 95, 150), scale = by_octaves(r, 0.15f, 1.2f);
    for (int i = 0; i < count; i++) {
        float k = size * between(r, 0.15f, 0.6f), light = between(r, -20, 20);
        vec off = vec_of(between(r, -1, 1), between(r, -1, 1), between(r, -1, 1));
        struct solid *s =
            add_turned(r, QUAD, plus(at, off, size * 0.6f), between(r, -1.2f, 1.2f),
                       between(r, -0.7f, 0.7f), between(r, 0, 6.28f), vec_of(k, k, k), ROUGH);
        s->texture = texture;
        s->cut = RAGGED;
        s->cut_at = cut_at;
        s->cut_scale = scale;
        set_colour(s, red + light, green + light, blue + light);
    }
}

/* Some object of size about k; upright ones stand. */
static void add_thing(struct lot *r, vec at, float k, int upright) {
    float a = share_of(r), yaw = between(r, -1.57f, 1.57f);
    float pitch = upright ? 0 : between(r, -1.57f, 1.57f), roll = upright ? 0 : between(r, -3, 3);
    enum look look = chance(r, 0.08f) ? PLAIN : chance(r, 0.05f) ? GLOSSY : ANY;
    vec size = vec_of(k * between(r, 0.3f, 1), k * between(r, 0.3f, 1), k * between(r, 0.3f, 1));
    if (a < 0.42f) {
        add_turned(r, a < 0.24f ? BOX : BALL, at, yaw, pitch, roll, size, look);
    } else if (a < 0.54f) {
        add_turned(r, CYLINDER, at, yaw, pitch, roll, vec_of(0.6f * size.x, size.y, 0.6f * size.x),
                   look);
    } else if (a < 0.66f) { /* rods, or slats, side by side */
        int count = 1 + pick(r, 9), slats = chance(r, 0.5f);
        float thin = k * by_octaves(r, 0.015f, 0.1f), apart = thin * between(r, 3, 9);
        float lean = between(r, -1.57f, 1.57f) * (upright ? 0.2f : 1),
              fan = between(r, -0.1f, 0.1f);
        for (int i = 0; i < count; i++) {
            vec off =
                vec_of(apart * cosf(lean), apart * sinf(lean), between(r, -0.1f, 0.1f) * apart);
            add_turned(r, slats ? BOX : CYLINDER, plus(at, off, i - 0.5f * count), 0, 0,
                       lean + fan * i, vec_of(thin, k, slats ? 0.3f * thin : thin), look);
        }
    } else if (a < 0.74f) { /* books in a row */
        float x = -k, tall = k * between(r, 0.3f, 0.7f);
        while (x < k) {
            float thick = k * between(r, 0.03f, 0.12f), high = tall * between(r, 0.7f, 1);
            add_turned(r, BOX,
                       plus(at, vec_of(x + thick, tall - high, tall * between(r, 0, 0.15f)), 1), 0,
                       0, chance(r, 0.15f) ? 0.15f : 0, vec_of(thick, high, 0.6f * tall), ANY);
            x += 2 * thick;
        }
    } else if (a < 0.83f) {
        add_leaves(r, at, k, 2 + pick(r, 14));
    } else {
        struct solid *s = add_turned(r, chance(r, 0.8f) ? QUAD : DISC, at, between(r, -1, 1),
                                     between(r, -0.6f, 0.6f), roll * 0.3f, size, look);
        cut_by_lot(r, s, (enum cut)pick(r, FRAME + 1));
    }
}

static vec in_view(struct lot *r, float z, float low, float high) {
    return vec_of(between(r, -1.1f, 1.1f) * z * r->wide, between(r, low, high) * z * r->wide, z);
}

/* A street's or a room's own axes: x across, z along it, y down. */
struct place {
    float yaw, ground;
};

static vec in_place(const struct place *w, float x, float up, float z) {
    float c = cosf(w->yaw), s = sinf(w->yaw);
    return vec_of(x * c + z * s, w->ground - up, z * c - x * s);
}

/* ---- furnished rooms */

enum { CROWDED = 170 }; /* solids: no more things are added */

/* A piece of furniture: its axes, and where in the world it stands. */
struct piece {
    struct place axes;
    vec origin;
};

static struct piece piece_at(const struct place *w, float x, float z, float yaw) {
    struct piece p = {{w->yaw + yaw, w->ground}, in_place(w, x, 0, z)};
    return p;
}

static struct solid *put(struct lot *r, const struct piece *p, enum shape shape, float x, float up,
                         float z, float a, float b, float c, enum look look) {
    vec there = plus(in_place(&p->axes, x, up, z), vec_of(p->origin.x, 0, p->origin.z), 1);
    return add_turned(r, shape, there, p->axes.yaw, 0, 0, vec_of(a, b, c), look);
}

/* All solids from number first on get the paint of that one. */
static void paint_alike(struct lot *r, int first) {
    const struct solid *one = &r->scene->solid[first];
    for (int i = first + 1; i < r->scene->solids; i++) {
        struct solid *s = &r->scene->solid[i];
        s->texture = one->texture;
        s->contrast = one->contrast;
        s->grain = one->grain;
        s->mirror = one->mirror;
        s->gloss = one->gloss;
        set_colour(s, one->colour[0], one->colour[1], one->colour[2]);
    }
}

/* Bars between two rails: cribs, railings, backs of chairs. */
static void put_bars(struct lot *r, const struct piece *p, float half, float low, float high,
                     float z, int count, enum look look) {
    float thick = between(r, 0.006f, 0.02f), middle = 0.5f * (low + high);
    for (int end = 0; end < 2; end++)
        put(r, p, BOX, 0, end ? high : low, z, half, 1.5f * thick, thick, look);
    for (int i = 0; i < count; i++)
        put(r, p, CYLINDER, half * (2 * ((float)i + 0.5f) / (float)count - 1), middle, z, thick,
            high - middle, thick, look);
}

static void put_books(struct lot *r, const struct piece *p, float half, float up) {
    for (float x = -half; x < half && r->scene->solids < CROWDED;) {
        float thick = between(r, 0.008f, 0.03f), high = between(r, 0.07f, 0.14f);
        put(r, p, BOX, x + thick, up + high, 0, thick, high, 0.1f, ANY);
        x += 2 * thick + (chance(r, 0.2f) ? between(r, 0, 0.2f) : 0);
    }
}

static void put_bookcase(struct lot *r, const struct piece *p, float wide, float high, float deep,
                         enum look look) {
    float thin = 0.012f;
    int first = r->scene->solids;
    put(r, p, BOX, 0, high, deep, wide, high, thin, look);
    for (int side = -1; side <= 1; side += 2)
        put(r, p, BOX, (float)side * wide, high, 0, thin, high, deep, look);
    for (float up = thin; up <= 2 * high; up += 0.4f)
        put(r, p, BOX, 0, up, 0, wide, thin, deep, look);
    paint_alike(r, first);
    for (float up = 2 * thin; up < 2 * high; up += 0.4f)
        if (chance(r, 0.5f))
            put_books(r, p, 0.95f * wide, up);
}

static void add_furniture(struct lot *r, const struct piece *p) {
    enum { TABLE, CASE, WARDROBE, SOFA, CRIB, LAMP, PIECES };
    enum look look = chance(r, 0.4f) ? PLAIN : chance(r, 0.1f) ? GLOSSY : ANY;
    float wide = between(r, 0.2f, 0.7f), deep = between(r, 0.2f, 0.45f);
    float high = between(r, 0.4f, 0.8f);
    int first = r->scene->solids, bars = 4 + pick(r, 9), what = pick(r, PIECES);
    if (what == TABLE) { /* or a chair */
        put(r, p, BOX, 0, high, 0, wide, 0.02f, deep, look);
        for (int i = 0; i < 4; i++)
            put(r, p, BOX, (i & 1 ? 0.93f : -0.93f) * wide, 0.5f * high,
                (i & 2 ? 0.9f : -0.9f) * deep, 0.02f, 0.5f * high, 0.02f, look);
        if (chance(r, 0.5f))
            put_bars(r, p, 0.9f * wide, high + 0.1f, high + 0.5f, deep, bars / 2, look);
    } else if (what == CASE) {
        put_bookcase(r, p, wide, between(r, 0.5f, 1.05f), 0.6f * deep, look);
        return;
    } else if (what == WARDROBE) {
        put(r, p, BOX, 0, 1, 0, wide, 1, deep, look);
    } else if (what == SOFA) { /* or a bed */
        put(r, p, BOX, 0, 0.25f, 0, wide + 0.3f, between(r, 0.15f, 0.25f), deep + 0.4f, look);
        put(r, p, BOX, 0, 0.4f, deep + 0.4f, wide + 0.3f, 0.4f, 0.06f, look);
    } else if (what == CRIB) { /* or a railing */
        put_bars(r, p, wide, 0.1f, high + 0.2f, -deep, bars, look);
        put_bars(r, p, wide, 0.1f, high + 0.2f, deep, bars, look);
    } else {
        put(r, p, CYLINDER, 0, 0.75f, 0, 0.015f, 0.75f, 0.015f, look);
        set_colour(put(r, p, BALL, 0, 1.5f, 0, 0.15f, 0.12f, 0.15f, BARE), 280, 270, 240);
        return;
    }
    paint_alike(r, first);
    for (int i = 0; i < (what == WARDROBE ? 2 : 0); i++) /* doors, one of which may be a mirror */
        put(r, p, BOX, (i ? 0.5f : -0.5f) * wide, 1, -deep, 0.48f * wide, 0.95f, 0.01f, look)
            ->mirror = chance(r, 0.15f) ? between(r, 0.2f, 0.6f) : 0;
}

/* Adds the view through a window: ground, houses, trees, far away and bright. */
static void add_outdoors(struct lot *r, const struct place *w, float wall) {
    struct place out = {w->yaw, w->ground + by_octaves(r, 0.3f, 12)};
    struct piece p = piece_at(&out, 0, 0, 0);
    int first = r->scene->solids;
    float light = between(r, 0.9f, 1.7f);
    if (chance(r, 0.8f))
        add_turned(r, QUAD, in_place(&out, 0, 0, wall + 155), w->yaw, 1.5708f, 0,
                   vec_of(300, 150, 1), ANY);
    for (int i = pick(r, 6); i > 0; i--) {
        float z = wall + by_octaves(r, 6, 80), high = between(r, 2, 8);
        put(r, &p, BOX, between(r, -0.8f, 0.8f) * z, high, z, between(r, 2, 8), high, 3, ANY);
    }
    for (int i = pick(r, 3); i > 0; i--)
        add_leaves(r,
                   in_place(w, between(r, -2, 2), between(r, -1, 3), wall + by_octaves(r, 3, 20)),
                   between(r, 1, 3), 4 + pick(r, 10));
    for (int i = first; i < r->scene->solids; i++)
        for (int c = 0; c < 3; c++)
            r->scene->solid[i].colour[c] *= light;
}

/* A wall across, from -half to half, around a window with a frame and bars. */
static void add_window(struct lot *r, const struct piece *p, float half, float tall,
                       enum look look) {
    float wide = fminf(between(r, 0.3f, 1.2f), 0.45f * half),
          x = between(r, wide - half, half - wide);
    float low = between(r, 0.3f, 1), high = between(r, low + 0.6f, tall);
    float part[4][4] = {{-half, half, high, tall},
                        {-half, half, 0, low},
                        {-half, x - wide, low, high},
                        {x + wide, half, low, high}};
    int first = r->scene->solids;
    for (int i = 0; i < 4; i++) {
        const float *q = part[i];
        put(r, p, QUAD, 0.5f * (q[0] + q[1]), 0.5f * (q[2] + q[3]), 0, 0.5f * (q[1] - q[0]),
            0.5f * (q[3] - q[2]), 1, look);
    }
    paint_alike(r, first);
    first = r->scene->solids;
    for (int i = chance(r, 0.2f); i < 2; i++) {
        struct solid *s = put(r, p, QUAD, x, 0.5f * (low + high), -0.02f, wide + 0.05f,
                              0.5f * (high - low) + 0.05f, 1, chance(r, 0.7f) ? BARE : ANY);
        s->cut = i ? FRAME : chance(r, 0.5f) ? BARS : GRID;
        s->cut_at = i ? between(r, 0.85f, 0.95f) : between(r, 0.05f, 0.15f);
        s->cut_scale = between(r, 0.5f, 4);
    }
    paint_alike(r, first);
}

/* A door with panels, across. */
static void add_door(struct lot *r, const struct piece *p, float x) {
    int first = r->scene->solids;
    put(r, p, BOX, x, 1.02f, 0, 0.45f, 1.02f, 0.03f, BARE);
    for (int i = 0; i < 4; i++)
        put(r, p, BOX, x + (i & 1 ? 0.2f : -0.2f), i & 2 ? 1.45f : 0.55f, -0.03f, 0.14f, 0.35f,
            0.012f, BARE);
    paint_alike(r, first);
}

/* Walls, floor, ceiling of a room from its middle; some have a window onto far outdoors. */
static void add_walls(struct lot *r, const struct place *w, float middle, float half, float deep,
                      float tall) {
    enum look look = chance(r, 0.55f) ? BARE : chance(r, 0.2f) ? PLAIN : ANY;
    struct piece back = piece_at(w, middle, deep, 0), side[2];
    int first = r->scene->solids;
    for (int i = 0; i < 2; i++) {
        side[i] = piece_at(w, middle + (i ? half : -half), 0.5f * deep, i ? 1.5708f : -1.5708f);
        put(r, &side[i], QUAD, 0, 0.5f * tall, 0, 0.5f * deep + 3, 0.5f * tall, 1, look);
    }
    paint_alike(r, first);
    for (int up = 0; up < 2; up++)
        add_turned(r, QUAD, in_place(w, middle, up ? tall : 0, 0.5f * deep), w->yaw, 1.5708f, 0,
                   vec_of(half, 0.5f * deep + 3, 1),
                   up                 ? BARE
                   : chance(r, 0.25f) ? PLAIN
                                      : ANY);
    put(r, &back, BOX, 0, 0.05f, 0, half, 0.05f, 0.015f, BARE); /* skirting boards */
    for (int i = 0; i < 2; i++)
        put(r, &side[i], BOX, 0, 0.05f, 0, 0.5f * deep, 0.05f, 0.015f, BARE);
    if (chance(r, 0.4f))
        add_door(r, &side[1], between(r, -0.3f, 0.3f) * deep);
    for (int i = pick(r, 4); i > 0; i--) /* pictures; a mirror */
        put(r, &back, BOX, between(r, -0.9f, 0.9f) * half, between(r, 1, 1.8f), 0,
            by_octaves(r, 0.1f, 0.5f), by_octaves(r, 0.1f, 0.5f), 0.02f, ANY)
            ->mirror = chance(r, 0.15f) ? between(r, 0.2f, 0.6f) : 0;
    if (chance(r, 0.45f)) {
        add_window(r, &back, half, tall, look);
        add_outdoors(r, w, deep);
        return;
    }
    put(r, &back, QUAD, 0, 0.5f * tall, 0, half, 0.5f * tall, 1, look);
    if (chance(r, 0.5f))
        add_door(r, &back, between(r, -0.7f, 0.7f) * half);
}

/* A room, its furniture, and maybe things in the air. */
static void draw_home(struct lot *r) {
    float half = between(r, 1.3f, 3.2f), deep = between(r, 2.2f, 6);
    struct place w = {between(r, -0.7f, 0.7f), between(r, 0.6f, 1.5f)};
    float middle = between(r, -0.7f, 0.7f) * half, nearest = deep * between(r, 0.25f, 0.6f);
    for (int i = 2 + pick(r, 5); i > 0; i--) {
        struct piece p =
            piece_at(&w, middle + between(r, -0.9f, 0.9f) * half, between(r, nearest, deep - 0.3f),
                     chance(r, 0.6f) ? 1.5708f * (float)pick(r, 4) : between(r, -3, 3));
        add_furniture(r, &p);
    }
    for (int i = chance(r, 0.45f) ? 10 + pick(r, 21) : pick(r, 6); i > 0; i--) {
        float z = 1 / between(r, 1 / deep, 1 / nearest),
              k = z * r->wide * by_octaves(r, 0.03f, 0.3f);
        if (r->scene->solids < CROWDED - 40)
            add_thing(r, in_view(r, z, -0.7f, 0.7f), k, chance(r, 0.4f));
    }
    r->scene->casting = r->scene->solids; /* walls let the sun in */
    add_walls(r, &w, middle, half, deep, between(r, 2.3f, 2.8f));
}

static void draw_flying(struct lot *r) {
    float wall = between(r, 3, 8), nearest = wall * between(r, 0.15f, 0.6f);
    float big = by_octaves(r, 0.2f, 0.6f);
    if (!chance(r, 0.12f))
        add_turned(r, QUAD, vec_of(0, 0, wall), between(r, -0.9f, 0.9f), between(r, -0.7f, 0.7f), 0,
                   vec_of(60, 60, 1), chance(r, 0.1f) ? PLAIN : ANY);
    for (int i = (r->varied ? 15 : 6) + pick(r, 40); i > 0; i--) {
        float z = 1 / between(r, 1 / wall, 1 / nearest);
        if (r->varied && r->scene->solids > CROWDED)
            break;
        add_thing(r, in_view(r, z, -0.7f, 0.7f), z * r->wide * by_octaves(r, 0.03f, big), 0);
    }
}

static void add_car(struct lot *r, const struct place *w, float x, float z) {
    float wide = between(r, 0.8f, 1), length = between(r, 1.7f, 2.5f),
          high = between(r, 0.25f, 0.45f);
    float top = between(r, 0.25f, 0.4f), yaw = w->yaw + between(r, -0.1f, 0.1f);
    float grey = chance(r, 0.25f) ? between(r, 200, 290) : between(r, 15, 230);
    float mirror = chance(r, 0.35f) ? 0 : between(r, 0.03f, 0.5f),
          contrast = by_octaves(r, 0.02f, r->varied ? 0.4f : 0.2f);
    float gloss = chance(r, 0.3f) ? 0 : between(r, 0.1f, 1);
    float colour[3] = {grey, grey + between(r, -40, 40), grey + between(r, -40, 40)};
    int first = r->scene->solids, curved = chance(r, 0.6f);
    if (chance(r, 0.2f))
        yaw += between(r, -1.57f, 1.57f);
    if (chance(r, 0.15f)) { /* a van */
        length *= 1.3f;
        top *= 2.5f;
    }
    struct piece here = {{yaw, w->ground}, in_place(w, x, 0, z)};
    put(r, &here, BOX, 0, 0.35f + high, 0, wide, high, length, GLOSSY);
    put(r, &here, BOX, 0, 0.38f + 2 * high + 2 * top, 0, 0.85f * wide, 0.05f, 0.45f * length,
        GLOSSY);
    for (int end = -1; end <= 1 && curved; end += 2) /* bonnet and boot */
        put(r, &here, BALL, 0, 0.35f + 1.6f * high, end * 0.55f * length, 0.98f * wide,
            high * between(r, 0.6f, 1), 0.5f * length, GLOSSY);
    for (int i = first; i < r->scene->solids; i++) {
        struct solid *s = &r->scene->solid[i];
        set_colour(s, colour[0], colour[1], colour[2]);
        s->mirror = mirror;
        s->gloss = gloss;
        s->contrast = contrast;
    }
    float back = between(r, -0.3f, 0.4f), sill = 0.35f + 2 * high;
    struct solid *glass = put(r, &here, chance(r, 0.5f) ? BOX : BALL, 0, sill + top, back,
                              0.92f * wide, top, 0.6f * length, GLOSSY);
    set_colour(glass, between(r, 5, 60), between(r, 5, 60), between(r, 5, 60));
    for (int i = 0; i < 4; i++) {
        vec at = in_place(&here.axes, i & 1 ? wide : -wide, 0.33f, (i & 2 ? 0.6f : -0.6f) * length);
        set_colour(add_turned(r, CYLINDER, plus(at, vec_of(here.origin.x, 0, here.origin.z), 1),
                              yaw, 0, 1.5708f, vec_of(0.33f, 0.12f, 0.33f), PLAIN),
                   25, 25, 25);
    }
    if (r->varied && z < 18 && chance(r, 0.5f))
        glass->clear = between(r, 0.05f, 0.35f);
}

/* Houses, trees and hedges, fences along one side. */
static void add_side(struct lot *r, const struct place *w, float edge) {
    float side = edge > 0 ? 1 : -1, z = between(r, -5, 5);
    int kind = pick(r, 4);
    if (chance(r, 0.7f)) { /* a verge */
        float begin = edge - side * between(r, 0.5f, 2);
        struct solid *s =
            add_turned(r, QUAD, in_place(w, begin + 20 * side, between(r, 0.01f, 0.15f), 100),
                       w->yaw, 1.5708f, 0, vec_of(20, 100, 1), ANY);
        s->mirror = s->gloss = 0;
    }
    while (z < 90 && r->scene->solids < (r->varied ? 110 : 140)) {
        float length = between(r, 2, 14), x = edge + side * between(r, 0, 3);
        if (kind == 0 || (kind == 3 && chance(r, 0.5f))) {
            float tall = between(r, 2, 6), deep = between(r, 1, 5);
            add_turned(r, BOX, in_place(w, x + side * deep, tall, z + length), w->yaw, 0, 0,
                       vec_of(deep, tall, length),
                       chance(r, r->varied ? 0.1f : 0.2f) ? PLAIN : ANY);
            for (int i = chance(r, 0.5f) ? 4 : 0; i > 0; i--) /* windows */
                add_turned(r, QUAD,
                           in_place(w, x - 0.02f * side, between(r, 1, 2 * tall),
                                    z + between(r, 0, 2 * length)),
                           w->yaw + 1.5708f, 0, 0,
                           vec_of(between(r, 0.3f, 1), between(r, 0.4f, 1.2f), 1), GLOSSY);
            z += 2 * length + (chance(r, 0.3f) ? between(r, 0, 8) : 0);
        } else if (kind == 2) {
            struct solid *s = add_turned(
                r, QUAD, in_place(w, x, 0.6f, z + length), w->yaw + 1.5708f, 0, 0,
                vec_of(length, between(r, 0.4f, 1), 0.1f), chance(r, 0.2f) ? PLAIN : ANY);
            if (chance(r, 0.6f)) {
                s->cut = chance(r, 0.5f) ? BARS : GRID;
                s->cut_scale = length * by_octaves(r, 0.6f, 5);
                s->cut_at = between(r, 0.08f, 0.5f);
            }
            z += 2 * length;
        } else {
            float thick = between(r, 0.08f, 0.35f);
            add_turned(r, CYLINDER, in_place(w, x, 1.5f, z), 0, 0, 0, vec_of(thick, 2, thick), ANY);
            add_leaves(r, in_place(w, x, between(r, 2, 5), z), between(r, 1, 3), 4 + pick(r, 12));
            if (chance(r, 0.4f))
                add_turned(r, BOX, in_place(w, x + side, 0.6f, z + 3), w->yaw, 0, 0,
                           vec_of(0.6f, between(r, 0.4f, 1.2f), 4), ROUGH)
                    ->colour[1] += 30;
            z += between(r, 3, 10);
        }
    }
}

static void draw_street(struct lot *r) {
    struct place w = {between(r, -0.12f, 0.12f), between(r, 1.3f, 2)};
    float edge[2] = {-between(r, 3.5f, 12), between(r, 3.5f, 12)}, lane = between(r, -3, 3);
    r->per_length = by_octaves(r, 40, 150);
    if (r->varied)
        r->photographs = 0.88f;
    struct solid *road =
        add_turned(r, QUAD, vec_of(0, w.ground, 0), 0, 1.5708f, 0, vec_of(300, 300, 1), PLAIN);
    float grey = between(r, 40, 150);
    set_colour(road, grey, grey + between(r, -8, 8), grey + between(r, -8, 8));
    road->contrast = r->varied ? by_octaves(r, 0.25f, 0.9f) : by_octaves(r, 0.1f, 0.7f);
    if (r->varied)
        road->grain = by_octaves(r, 0.1f, 0.5f);
    road->mirror = chance(r, 0.08f) ? between(r, 0.1f, 0.5f) : 0;
    for (int side = 0; side < 2; side++)
        add_side(r, &w, edge[side]);
    if (chance(r, 0.6f)) /* what ends the street */
        add_turned(r, BOX, in_place(&w, between(r, -10, 10), 4, between(r, 30, 100)),
                   between(r, -0.4f, 0.4f), 0, 0, vec_of(between(r, 10, 60), between(r, 3, 10), 1),
                   chance(r, 0.2f) ? PLAIN : ANY);
    for (int i = pick(r, 14); i > 0; i--) { /* marks */
        struct solid *s = add_turned(
            r, QUAD, in_place(&w, lane + (i & 1 ? between(r, 2, 4) : 0), 0.004f, 4 + i * 5), w.yaw,
            1.5708f, 0, vec_of(between(r, 0.05f, 0.12f), between(r, 1.5f, 2.5f), 1), PLAIN);
        grey = between(r, 170, 240);
        set_colour(s, grey, grey, grey);
    }
    for (int i = pick(r, 11); i > 0; i--)
        add_car(r, &w,
                chance(r, 0.3f)
                    ? between(r, -3, 3)
                    : (i & 1 ? edge[0] + between(r, 0.5f, 2.5f) : edge[1] - between(r, 0.5f, 2.5f)),
                by_octaves(r, 4.5f, 50));
    if (r->varied && chance(r, 0.5f)) /* parked beside the cameras */
        add_car(r, &w, either(r, between(r, 2.2f, 4)), between(r, 3, 8));
    for (int i = pick(r, 9); i > 0; i--) { /* poles and signs */
        float thick = by_octaves(r, 0.02f, 0.15f), tall = between(r, 0.5f, 4);
        vec at = in_place(&w, i & 1 ? edge[0] + between(r, 0, 2) : edge[1] - between(r, 0, 2), tall,
                          by_octaves(r, 4, 60));
        add_turned(r, CYLINDER, at, 0, 0, 0, vec_of(thick, tall, thick),
                   chance(r, 0.4f) ? PLAIN : ANY);
        if (chance(r, 0.5f))
            add_turned(r, chance(r, 0.5f) ? QUAD : DISC,
                       plus(at, vec_of(0, -tall * between(r, 0.5f, 1), -0.05f), 1),
                       between(r, -0.5f, 0.5f), 0, 0,
                       vec_of(between(r, 0.2f, 0.6f), between(r, 0.2f, 0.6f), 1), ANY);
    }
    for (int i = pick(r, 5); i > 0; i--) { /* people */
        vec at = in_place(&w, between(r, edge[0], edge[1]), 0.9f, by_octaves(r, 4, 30));
        for (int leg = -1; leg <= 1; leg += 2)
            add_turned(r, CYLINDER,
                       plus(at, vec_of(0.09f * leg, 0.45f, between(r, -0.1f, 0.1f)), 1), 0, 0, 0,
                       vec_of(0.08f, 0.45f, 0.08f), ANY);
        add_turned(r, BALL, plus(at, vec_of(0, -0.3f, 0), 1), 0, 0, 0,
                   vec_of(between(r, 0.2f, 0.3f), 0.4f, 0.18f), ANY);
        add_turned(r, BALL, plus(at, vec_of(0, -0.82f, 0), 1), 0, 0, 0, vec_of(0.11f, 0.14f, 0.12f),
                   PLAIN);
    }
}

static int greater(const void *a, const void *b) {
    float d = *(const float *)a - *(const float *)b;
    return (d > 0) - (d < 0);
}

/* Chooses the base so that nearly all of the picture has at most a disparity by lot. */
static void set_base(struct lot *r, const struct kind *kind) {
    enum { COLUMNS = 40, ROWS = 24 };
    struct scene *s = r->scene;
    const uint8_t *pixels = r->textures->pixels;
    float inverse[ROWS * COLUMNS], largest = 235;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        vec way = ray_of(s, 0, (i % COLUMNS + 0.5f) * s->width / COLUMNS,
                         ((float)(i / COLUMNS) + 0.5f) * s->height / ROWS);
        inverse[i] =
            1 / trace(s, pixels, NULL, s->solids, vec_of(0, 0, 0), way, 0.01f, 1e9f, 0, -1).t;
    }
    qsort(inverse, ROWS * COLUMNS, sizeof(*inverse), greater);
    float near =
        inverse[(int)((kind->outdoors && !kind->sky ? 0.985f : 0.97f) * (ROWS * COLUMNS - 1))];
    float most = inverse[ROWS * COLUMNS - 1];
    float target = by_octaves(r, kind->least, kind->most);
    s->zero = !kind->outdoors && chance(r, 0.4f) ? target * between(r, 0, 0.4f) : 0;
    s->base = (target - s->zero) / (s->f * near);
    if (r->varied) /* metres */
        s->base = fminf(fmaxf(s->base, 0.04f), kind->outdoors ? 0.6f : 0.4f);
    s->base = fminf(s->base, (largest - s->zero) / (s->f * most * 1.02f));
    s->largest = s->f * s->base * most * 1.02f + s->zero + 2;
}

/* The kinds of scenes for training. */
static const struct kind kinds[] = {
    {draw_home, 9, 170, 0, 0}, {draw_street, 18, 130, 1, 0}, {draw_flying, 9, 170, 0, 0}};

/* The scene of a seed, of a kind, or NULL for one of a third each. varied: with more in it. */
static void draw_scene(struct scene *s, uint64_t seed, const struct textures *textures, int width,
                       int height, const struct kind *kind, int varied) {
    struct lot lot = {seed * 0x2545f4914f6cdd1du, s, textures, 0, 0, 0.65f, varied}, *r = &lot;
    struct scene none = {0};
    float a = share_of(r), sky = between(r, 150, 255), blue = between(r, 0, 60);
    *s = none;
    kind = kind ? kind : &kinds[(int)(a * 3) % 3];
    int street = kind->outdoors;
    s->width = width;
    s->height = height;
    s->f = (float)width * (street ? between(r, 0.7f, 1.3f) : by_octaves(r, 0.7f, 2.2f));
    s->cx = (float)width * (0.5f + between(r, -0.25f, 0.25f));
    s->cy = (float)height * (0.5f + between(r, -0.2f, street ? 0.05f : 0.2f));
    if (street)
        rotation(s->turn, between(r, -0.15f, 0.15f), between(r, -0.06f, 0.03f),
                 between(r, -0.03f, 0.03f));
    else
        rotation(s->turn, 0, chance(r, 0.7f) ? between(r, -0.4f, 0.1f) : 0,
                 between(r, -0.03f, 0.03f));
    s->sun = unit(vec_of(between(r, -1, 1), between(r, -1, -0.1f), between(r, -1, 0.6f)));
    s->ambient =
        r->varied && street && chance(r, 0.3f) ? between(r, 0.25f, 0.45f) : between(r, 0.45f, 1);
    s->shadow = chance(r, 0.6f) ? between(r, 0.3f, 1) : 0;
    for (int c = 0; c < 3; c++) {
        s->sky[0][c] = fminf(sky + 20, 255);
        s->sky[1][c] = sky - blue * (1 - 0.5f * (float)c);
    }
    s->clouds = chance(r, 0.5f) ? between(r, 0, 0.05f) : between(r, 0, 0.4f);
    s->sky_texture = chance(r, 0.7f)
                         ? textures->photographs + textures->drawn + pick(r, textures->waves)
                         : pick(r, textures->photographs);
    if (kind->sky) {
        s->cy += 0.25f * (float)height;
        s->clouds = between(r, 0, 0.04f);
    }
    r->wide = 0.5f * (float)width / s->f;
    r->per_length = s->f / 4 * by_octaves(r, 0.8f, 4);
    kind->draw(r);
    s->rows_off = chance(r, 0.35f)  ? between(r, -0.4f, 0.4f)
                  : chance(r, 0.1f) ? between(r, -1, 1)
                                    : between(r, -0.05f, 0.05f);
    s->casting = s->casting ? s->casting : s->solids;
    set_base(r, kind);
}

#endif
