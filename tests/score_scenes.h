/*
 * The score's scenes that no training has, and its rooms: drawn as those of training.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "training/scene_lot.h"

static void draw_room(struct lot *r) {
    float wall = between(r, 2.5f, 6), floor = between(r, 0.35f, 1.3f);
    enum look look = chance(r, 0.12f) ? PLAIN : ANY;
    vec endless = vec_of(40, 40, 1);
    add_turned(r, QUAD, vec_of(0, 0, wall), between(r, -0.5f, 0.5f), between(r, -0.15f, 0.15f), 0,
               endless, look);
    if (chance(r, 0.35f)) /* a steep wall */
        add_turned(r, QUAD, vec_of(between(r, -2, 2), 0, 0.9f * wall),
                   either(r, between(r, 0.7f, 1.45f)), 0, 0, endless, look);
    int floored = chance(r, 0.75f);
    if (floored)
        add_turned(r, QUAD, vec_of(0, floor, 0), 0, 1.5708f + between(r, -0.05f, 0.05f), 0, endless,
                   chance(r, 0.15f) ? PLAIN : ANY);
    for (int i = pick(r, 6); i > 0; i--) { /* posters, shelves */
        vec at = in_view(r, wall * between(r, 0.75f, 1), -0.6f, 0.4f);
        float k = at.z * r->wide;
        add_turned(r, QUAD, at, between(r, -0.4f, 0.4f), between(r, -0.1f, 0.1f),
                   between(r, -0.1f, 0.1f),
                   vec_of(k * between(r, 0.1f, 0.5f), k * between(r, 0.1f, 0.4f), 1),
                   chance(r, 0.2f) ? PLAIN : ANY);
    }
    float nearest = wall * between(r, 0.3f, 0.7f);
    for (int i = 5 + pick(r, 50); i > 0; i--) {
        float z = between(r, nearest, wall), k = z * r->wide * by_octaves(r, 0.04f, 0.45f);
        vec at = in_view(r, z, -0.4f, 0.4f);
        if (floored && chance(r, 0.6f))
            at.y = floor - 0.6f * k;
        add_thing(r, at, k, chance(r, 0.6f));
    }
}

/* Few and large ones: most are cut by the picture's border. */
static void draw_planes(struct lot *r) {
    float wall = between(r, 3, 5);
    add_turned(r, QUAD, vec_of(0, 0, wall), between(r, -1, 1), between(r, -0.6f, 0.6f), 0,
               vec_of(60, 60, 1), chance(r, 0.08f) ? PLAIN : ANY);
    for (int i = pick(r, 9); i > 0; i--) {
        vec at = in_view(r, wall * between(r, 0.5f, 0.97f), -0.5f, 0.5f);
        float k = at.z * r->wide;
        struct solid *s =
            add_turned(r, QUAD, at, between(r, -1, 1), between(r, -0.7f, 0.7f), between(r, -3, 3),
                       vec_of(k * between(r, 0.1f, 1), k * between(r, 0.1f, 0.8f), 1),
                       chance(r, 0.1f) ? PLAIN : ANY);
        if (chance(r, 0.4f))
            cut_by_lot(r, s, RAGGED);
    }
}

/* Slats that look alike, before a wall, and things before them; in no training. */
static void draw_slats(struct lot *r) {
    float wall = between(r, 2.5f, 4), yaw = between(r, -0.6f, 0.6f);
    vec size = vec_of(20, 20, 1);
    for (int front = 0; front < 2; front++) {
        struct solid *s =
            add_turned(r, QUAD, vec_of(0, 0, wall - 0.1f * (float)front), yaw, 0, 0, size, PLAIN);
        s->contrast = s->grain = between(r, 0.005f, 0.05f);
        s->cut = front ? BARS : WHOLE;
        s->cut_scale = size.x / (wall * r->wide * between(r, 0.03f, 0.09f));
        s->cut_at = between(r, 0.35f, 0.65f);
    }
    for (int i = pick(r, 5); i > 0; i--) {
        float z = wall * between(r, 0.5f, 0.8f);
        add_thing(r, in_view(r, z, -0.4f, 0.4f), z * r->wide * between(r, 0.1f, 0.3f), 1);
    }
}

/* Rooms with something before all else, the scene's first solid; in no training. */
static void draw_metal(struct lot *r) { /* a bare sheet */
    float z = between(r, 1.2f, 2.2f), k = z * r->wide;
    struct solid *s = add_turned(
        r, QUAD, in_view(r, z, -0.2f, 0.2f), between(r, -0.7f, 0.7f), between(r, -0.3f, 0.3f), 0,
        vec_of(k * between(r, 0.4f, 0.9f), k * between(r, 0.4f, 0.9f), 1), PLAIN);
    s->contrast = by_octaves(r, 0.003f, 0.02f);
    s->grain = by_octaves(r, 0.003f, 0.01f);
    s->mirror = between(r, 0, 0.2f);
    draw_room(r);
}

static void draw_fence(struct lot *r) { /* chain link */
    float z = between(r, 1, 1.7f), k = 3 * z * r->wide;
    struct solid *s = add_turned(r, QUAD, vec_of(0, 0, z), between(r, -0.4f, 0.4f), 0, 0.785f,
                                 vec_of(k, k, 1), PLAIN);
    s->cut = GRID;
    s->cut_scale = k / (z * r->wide * between(r, 0.05f, 0.13f));
    s->cut_at = between(r, 0.07f, 0.15f);
    draw_room(r);
}

static void draw_table(struct lot *r) { /* dark and glossy, with things on it */
    float z = between(r, 1.2f, 1.8f), k = z * r->wide, deep = between(r, 0.25f, 0.4f) * z;
    float top = fminf(between(r, 0.3f, 0.6f) * k, 0.33f), grey = between(r, 5, 30);
    struct solid *s = add_turned(r, BOX, vec_of(between(r, -0.3f, 0.3f) * k, top + 0.01f, z),
                                 between(r, -0.3f, 0.3f), 0, 0,
                                 vec_of(between(r, 0.6f, 1.2f) * k, 0.01f, deep), GLOSSY);
    set_colour(s, grey, grey, grey);
    s->contrast = by_octaves(r, 0.005f, 0.05f);
    s->grain = by_octaves(r, 0.005f, 0.02f);
    s->mirror = between(r, 0.4f, 0.8f);
    for (int i = 1 + pick(r, 4); i > 0; i--) {
        float high = between(r, 0.1f, 0.25f) * k;
        add_thing(r, vec_of(between(r, -0.6f, 0.6f) * k, top - high, z + either(r, 0.7f * deep)),
                  high, 1);
    }
    draw_room(r);
}

static const struct kind room = {draw_room, 9, 170, 0, 0}, street = {draw_street, 18, 130, 1, 0},
                         flying = {draw_flying, 9, 170, 0, 0}, planes = {draw_planes, 8, 80, 0, 0},
                         slats = {draw_slats, 9, 170, 0, 0}, sky = {draw_street, 18, 130, 1, 1},
                         strip = {draw_room, 30, 120, 0, 0}, metal = {draw_metal, 30, 120, 0, 0},
                         home = {draw_home, 9, 100, 0, 0}, fence = {draw_fence, 30, 120, 0, 0},
                         table = {draw_table, 30, 120, 0, 0};
