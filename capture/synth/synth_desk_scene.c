/*
 * What is on the desk, of what it is made, and how it is lit. Surfaces are diffuse (Lambert), so
 * that both cameras see a point in the same colour. Light that does not change, with soft shadows
 * and ambient occlusion, is computed once, at points of the desk and of the wall; see synth_desk.h.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/synth_desk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define BACK 1.55f     /* z of the wall */
#define SHADOW_SIDE 64 /* points of the mug's shadow, SHADOW_STEP apart */
#define SHADOW_STEP 0.008f
#define TURN 6.2831853f
#define STEMS 12

enum material {
    MATERIAL_WOOD,
    MATERIAL_WALL,
    MATERIAL_PAINT,
    MATERIAL_SHEET,
    MATERIAL_STANDING,
    MATERIAL_LYING,
    MATERIAL_MUG,
    MATERIAL_POT,
    MATERIAL_STEM,
    MATERIAL_LEAF,
    MATERIAL_SHADE,
    MATERIAL_PEEL
};

/* The lights: areas, each of the colour times its share of the hemisphere. */
static const struct vec key_at = {-1.25f, 1.0f, 0.2f}, window_at = {-0.3f, 0.62f, 1.66f};
static const struct vec key_color = {4.9f, 4.65f, 4.2f}, window_color = {0.75f, 0.85f, 1.0f},
                        room_color = {0.17f, 0.17f, 0.19f}, lamp_color = {0.050f, 0.033f, 0.017f};
static const struct vec lamp_at = {0.52f, 0.37f, 1.2f};
#define KEY_RADIUS 0.15f
#define WINDOW_RADIUS 0.38f

/* ---- the things */

static struct shape *add(struct desk_scene *scene, enum shape_kind kind, enum material material,
                         struct vec at, struct vec color) {
    assert(scene->shapes < DESK_SHAPES);
    struct shape *s = &scene->shape[scene->shapes++];
    *s = (struct shape){.kind = kind, .material = (int)material, .at = at, .color = color};
    s->cos_yaw = 1;
    s->casts = true;
    return s;
}

static void turn(struct shape *s, float yaw) {
    s->cos_yaw = cosf(yaw);
    s->sin_yaw = sinf(yaw);
}

/* at is the centre of its base, size its sides. */
static struct shape *add_box(struct desk_scene *scene, enum material material, struct vec at,
                             struct vec size, float yaw, struct vec color) {
    at.y += size.y / 2;
    struct shape *s = add(scene, SHAPE_BOX, material, at, color);
    s->a = vec_scale(size, 0.5f);
    turn(s, yaw);
    return s;
}

static void add_cone(struct desk_scene *scene, enum material material, struct vec from,
                     struct vec to, float from_radius, float to_radius, struct vec color) {
    struct shape *s = add(scene, SHAPE_CONE, material, from, color);
    struct vec way = vec_sub(to, from);
    s->height = sqrtf(vec_dot(way, way));
    s->a = vec_scale(way, 1 / s->height);
    s->radius = from_radius;
    s->slope = (to_radius - from_radius) / s->height;
}

static struct shape *add_cup(struct desk_scene *scene, enum material material, struct vec at,
                             float radius, float top_radius, float high, struct vec color) {
    struct shape *s = add(scene, SHAPE_CUP, material, at, color);
    s->radius = radius;
    s->slope = (top_radius - radius) / high;
    s->height = s->fill = high;
    s->wall = 0.004f;
    return s;
}

static void add_ball(struct desk_scene *scene, enum material material, struct vec at, float radius,
                     struct vec color) {
    add(scene, SHAPE_BALL, material, at, color)->radius = radius;
}

static void add_room(struct desk_scene *s) {
    struct vec wall = vec(0.70f, 0.66f, 0.57f), white = vec_grey(0.78f);
    add_box(s, MATERIAL_WOOD, vec(0, -0.04f, 0.85f), vec(5, 0.04f, 1.4f), 0, white)->casts = false;
    float left = -0.72f, right = 0.12f, low = 0.16f, top = 1.2f, z = BACK + 0.06f;
    add_box(s, MATERIAL_WALL, vec(left - 2, -1, z), vec(4, 4, 0.12f), 0, wall);
    add_box(s, MATERIAL_WALL, vec(right + 2, -1, z), vec(4, 4, 0.12f), 0, wall);
    add_box(s, MATERIAL_WALL, vec((left + right) / 2, -1, z), vec(right - left, low + 1, 0.12f), 0,
            wall);
    add_box(s, MATERIAL_PAINT, vec((left + right) / 2, low, z - 0.05f),
            vec(right - left + 0.1f, 0.022f, 0.2f), 0, white); /* the sill */
    const float bars[] = {left + 0.025f, (left + right) / 2, right - 0.025f};
    for (int i = 0; i < 3; i++)
        add_box(s, MATERIAL_PAINT, vec(bars[i], low, z), vec(0.05f, top - low, 0.05f), 0, white);
    add_box(s, MATERIAL_PAINT, vec((left + right) / 2, low + 0.022f, z),
            vec(right - left, 0.05f, 0.05f), 0, white);
    add_box(s, MATERIAL_PAINT, vec((left + right) / 2, 0.47f, z), vec(right - left, 0.03f, 0.03f),
            0, white);
}

static struct vec book_color(int i, uint32_t seed) {
    static const struct vec colors[] = {
        {0.75f, 0.10f, 0.07f}, {0.06f, 0.20f, 0.50f}, {0.10f, 0.38f, 0.16f}, {0.85f, 0.55f, 0.08f},
        {0.35f, 0.08f, 0.30f}, {0.60f, 0.50f, 0.36f}, {0.05f, 0.35f, 0.40f}, {0.18f, 0.15f, 0.14f}};
    return colors[(i + (int)(seed % 8)) % 8];
}

/* fill: the number of its spine. */
static void add_books(struct desk_scene *s) {
    float x = 0.19f;
    for (int i = 0; i < 6; i++) {
        float thick = 0.022f + 0.02f * noise_hash(i, 10, s->seed),
              high = 0.185f + 0.06f * noise_hash(i, 11, s->seed),
              deep = 0.13f + 0.03f * noise_hash(i, 12, s->seed);
        add_box(s, MATERIAL_STANDING, vec(x + thick / 2, 0, BACK - 0.03f - deep / 2),
                vec(thick, high, deep), 0, book_color(i, s->seed))
            ->fill = (float)i;
        x += thick + 0.0015f;
    }
    static const struct {
        float x, z, width, high, deep, yaw;
    } lying[] = {{-0.40f, 1.0f, 0.24f, 0.032f, 0.17f, 0.30f},
                 {-0.405f, 1.0f, 0.21f, 0.024f, 0.15f, 0.12f},
                 {0.78f, 0.98f, 0.25f, 0.038f, 0.18f, -0.35f},
                 {0.76f, 0.98f, 0.20f, 0.026f, 0.15f, -0.2f}};
    float base = 0;
    for (int i = 0; i < 4; i++) {
        base = i % 2 ? base : 0;
        add_box(s, MATERIAL_LYING, vec(lying[i].x, base, lying[i].z),
                vec(lying[i].width, lying[i].high, lying[i].deep), lying[i].yaw,
                book_color(i + 1, s->seed))
            ->fill = (float)(i + 4);
        base += lying[i].high;
    }
}

static void add_small_things(struct desk_scene *s) {
    struct vec white = vec_grey(0.85f);
    add_box(s, MATERIAL_SHEET, vec(0.0f, 0, 0.93f), vec(0.21f, 0.0006f, 0.297f), -0.22f, white);
    add_box(s, MATERIAL_SHEET, vec(0.02f, 0.0007f, 0.90f), vec(0.21f, 0.0006f, 0.297f), 0.10f,
            white);
    struct vec from = vec(0.07f, 0.0055f, 0.80f), to = vec(0.165f, 0.0055f, 0.92f);
    struct vec yellow = vec(0.80f, 0.50f, 0.04f);
    add_cone(s, MATERIAL_PAINT, from, to, 0.0042f, 0.0042f, yellow);
    struct vec way = vec_unit(vec_sub(from, to)), tip = vec_along(from, 0.016f, way);
    add_cone(s, MATERIAL_PAINT, from, tip, 0.0042f, 0.0010f, vec(0.62f, 0.42f, 0.24f));
    add_ball(s, MATERIAL_PAINT, to, 0.0046f, vec(0.7f, 0.25f, 0.25f));
    add_ball(s, MATERIAL_PEEL, vec(-0.22f, 0.038f, 0.83f), 0.038f, vec(0.95f, 0.38f, 0.03f));
    add_ball(s, MATERIAL_PEEL, vec(-0.42f, 0.089f, 1.0f), 0.033f, vec(0.55f, 0.75f, 0.08f));
    struct vec tin = vec(0.05f, 0.16f, 0.20f), holder = vec(0.03f, 0, 1.27f);
    struct shape *cup = add_cup(s, MATERIAL_PAINT, holder, 0.036f, 0.036f, 0.09f, tin);
    cup->fill = 0.01f;
    for (int i = 0; i < 4; i++) {
        float angle = TURN * (0.1f + (float)i / 4), x = cosf(angle), z = sinf(angle);
        struct vec low = vec_add(holder, vec(-0.02f * x, 0.01f, -0.02f * z));
        struct vec top = vec_add(holder, vec(0.05f * x, 0.15f + 0.012f * (float)i, 0.05f * z));
        add_cone(s, MATERIAL_PAINT, low, top, 0.004f, 0.004f, book_color(i, s->seed));
    }
    struct vec metal = vec_grey(0.10f), foot = lamp_at;
    foot.y = 0;
    add_cup(s, MATERIAL_PAINT, foot, 0.065f, 0.06f, 0.014f, metal);
    add_cone(s, MATERIAL_PAINT, foot, lamp_at, 0.008f, 0.008f, metal);
    add_cup(s, MATERIAL_SHADE, vec(lamp_at.x, 0.31f, lamp_at.z), 0.115f, 0.062f, 0.14f, white)
        ->casts = false;
}

/* A pot with stems that bend outwards, each with leaves. */
static void add_plant(struct desk_scene *s) {
    struct vec pot = vec(-0.60f, 0, 1.26f), green = vec(0.16f, 0.30f, 0.06f);
    struct shape *cup =
        add_cup(s, MATERIAL_POT, pot, 0.052f, 0.075f, 0.115f, vec(0.58f, 0.24f, 0.13f));
    cup->wall = 0.008f;
    cup->fill = 0.1f;
    for (int i = 0; i < STEMS; i++) {
        float angle = TURN * ((float)i + 0.7f * noise_hash(i, 20, s->seed)) / STEMS;
        float reach = 0.08f + 0.10f * noise_hash(i, 21, s->seed),
              high = 0.22f + 0.20f * noise_hash(i, 22, s->seed);
        struct vec out = vec(cosf(angle), 0, sinf(angle));
        struct vec last = vec_along(vec(pot.x, 0.09f, pot.z), 0.03f, out);
        for (int k = 1; k <= 3; k++) {
            float t = (float)k / 3;
            struct vec next =
                vec(pot.x + out.x * (0.03f + reach * t * t), 0.09f + high * (t - 0.25f * t * t),
                    pot.z + 0.8f * out.z * (0.03f + reach * t * t));
            add_cone(s, MATERIAL_STEM, last, next, 0.0034f - 0.0008f * (float)k,
                     0.0026f - 0.0008f * (float)k + 0.0008f, green);
            last = next;
            if (k == 1)
                continue;
            float length = 0.036f + 0.026f * noise_hash(i, 30 + k, s->seed),
                  side = k == 2 ? TURN * noise_hash(i, 33, s->seed) : angle;
            struct vec along = vec_unit(vec(cosf(side), 0.55f - 0.5f * t, sinf(side)));
            struct vec across = vec_unit(vec(-along.z, 0.25f, along.x));
            struct shape *leaf = add(
                s, SHAPE_LEAF, MATERIAL_LEAF, vec_along(next, length, along),
                vec_scale(vec(0.13f, 0.34f, 0.06f), 0.8f + 0.6f * noise_hash(i, 40 + k, s->seed)));
            leaf->n = vec_unit(vec(along.y * across.z - along.z * across.y,
                                   along.z * across.x - along.x * across.z,
                                   along.x * across.y - along.y * across.x));
            leaf->a = vec_scale(along, 1 / length);
            leaf->b = vec_scale(across, 1 / (0.42f * length));
        }
    }
}

static void add_mug(struct desk_scene *s) {
    struct vec white = vec_grey(0.78f);
    float radius = 0.043f, high = 0.098f;
    struct shape *cup = add_cup(s, MATERIAL_MUG, s->mug, radius - 0.003f, radius, high, white);
    cup->fill = 0.08f;
    turn(cup, s->mug_yaw);
    struct vec last = {0};
    for (int i = 0; i <= 10; i++) {
        float angle = TURN * ((float)i / 10 - 0.5f) * 0.46f;
        float out = radius - 0.004f + 0.031f * cosf(angle);
        struct vec at =
            vec(s->mug.x + out * cosf(s->mug_yaw), s->mug.y + 0.05f + 0.033f * sinf(angle),
                s->mug.z - out * sinf(s->mug_yaw));
        if (i > 0)
            add_cone(s, MATERIAL_PAINT, last, at, 0.0058f, 0.0058f, white);
        if (i > 0 && i < 10)
            add_ball(s, MATERIAL_PAINT, at, 0.0058f, white);
        last = at;
    }
}

void desk_scene_move_mug(struct desk_scene *scene, long index) {
    float angle = TURN * (float)(index % 480) / 480;
    scene->mug = vec(0.27f + 0.06f * sinf(angle), 0, 0.90f - 0.035f * cosf(angle));
    scene->mug_yaw = 0.75f + 0.7f * sinf(angle);
    scene->shapes = scene->moving;
    add_mug(scene);
    for (int i = scene->moving; i < scene->shapes; i++)
        shape_bound(&scene->shape[i]);
}

struct vec desk_scene_mug_point(const struct desk_scene *from, const struct desk_scene *to,
                                struct vec p) {
    float yaw = to->mug_yaw - from->mug_yaw, c = cosf(yaw), s = sinf(yaw);
    struct vec q = vec_sub(p, from->mug);
    return vec_add(to->mug, vec(c * q.x + s * q.z, q.y, c * q.z - s * q.x));
}

/* ---- the light */

/* How much of a square, 2 radius wide, at to and facing p, the shapes first to last let p see: of
 * side x side rays, by the shapes near the way alone. */
static float visible(const struct desk_scene *scene, int first, int last, struct vec p,
                     struct vec to, float radius, int side) {
    int near[DESK_SHAPES], count = 0, face;
    struct vec way = vec_sub(to, p);
    float length2 = vec_dot(way, way);
    for (int i = first; i < last; i++) {
        const struct shape *s = &scene->shape[i];
        struct vec half = vec_scale(vec_sub(s->box_high, s->box_low), 0.5f);
        struct vec q = vec_sub(vec_add(s->box_low, half), p);
        float t = clamped(vec_dot(q, way) / length2, 0, 1),
              reach = sqrtf(vec_dot(half, half)) + 1.5f * radius * t;
        struct vec off = vec_along(q, -t, way);
        if (s->casts && vec_dot(off, off) < reach * reach)
            near[count++] = i;
    }
    if (count == 0)
        return 1;
    struct vec across = vec_unit(vec(way.z, 0, -way.x)),
               up = vec_unit(vec(-way.x * way.y, way.x * way.x + way.z * way.z, -way.y * way.z));
    int seen = 0;
    for (int k = 0; k < side * side; k++) {
        int column = k % side, row = k / side;
        float u = 2 * ((float)column + 0.5f) / (float)side - 1,
              v = 2 * ((float)row + 0.5f) / (float)side - 1;
        struct vec d = vec_along(vec_along(way, radius * u, across), radius * v, up);
        bool blocked = false;
        for (int i = 0; i < count && !blocked; i++)
            blocked = shape_hit(&scene->shape[near[i]], p, d, &face) < 0.999f;
        seen += !blocked;
    }
    return (float)seen / (float)(side * side);
}

/* How much of the room a point sees, by rays in a hemisphere round n that end after reach. */
static float openness(const struct desk_scene *scene, struct vec p, struct vec n) {
    const float reach = 0.25f;
    int near[DESK_SHAPES], count = 0, face, rays = 32;
    for (int i = 0; i < scene->moving; i++) {
        const struct shape *s = &scene->shape[i];
        struct vec q = vec(clamped(p.x, s->box_low.x, s->box_high.x),
                           clamped(p.y, s->box_low.y, s->box_high.y),
                           clamped(p.z, s->box_low.z, s->box_high.z));
        q = vec_sub(q, p);
        if (s->casts && vec_dot(q, q) < reach * reach)
            near[count++] = i;
    }
    struct vec a = fabsf(n.y) > 0.5f ? vec(1, 0, 0) : vec(0, 1, 0);
    a = vec_unit(vec_along(a, -vec_dot(a, n), n));
    struct vec b = vec(n.y * a.z - n.z * a.y, n.z * a.x - n.x * a.z, n.x * a.y - n.y * a.x);
    float sum = 0;
    for (int k = 0; k < rays; k++) { /* a spiral of even shares of the cosine */
        float r2 = ((float)k + 0.5f) / (float)rays, r = sqrtf(r2), angle = 2.3999632f * (float)k;
        struct vec d = vec_along(vec_along(vec_scale(n, sqrtf(1 - r2)), r * cosf(angle), a),
                                 r * sinf(angle), b);
        float nearest = reach;
        for (int i = 0; i < count; i++) {
            float t = shape_hit(&scene->shape[near[i]], p, d, &face);
            nearest = t < nearest ? t : nearest;
        }
        sum += nearest / reach;
    }
    return sum / (float)rays;
}

/* Cosine and distance: the light that p with normal n gets of a source at to. soft lets light of an
 * area reach a little round the edge. */
static float falloff(struct vec p, struct vec n, struct vec to, float soft) {
    struct vec way = vec_sub(to, p);
    float d2 = vec_dot(way, way), cosine = vec_dot(way, n) / sqrtf(d2);
    cosine = (cosine + soft) / (1 + soft);
    return cosine > 0 ? cosine / d2 : 0;
}

/* Through the openings of the lamp's shade, upwards and downwards. */
static float lamp_falloff(struct vec p, struct vec n) {
    struct vec way = vec_sub(p, lamp_at);
    float side = sqrtf(way.x * way.x + way.z * way.z), slope = side / fabsf(way.y);
    float open =
        way.y > 0 ? 1 - smooth_step(0.55f, 1.1f, slope) : 1 - smooth_step(1.5f, 2.2f, slope);
    return open > 0 ? open * falloff(p, n, lamp_at, 0.1f) : 0;
}

static struct vec window_light(struct vec p, struct vec n) {
    float facing = clamped((window_at.z - p.z) / 0.5f, 0, 1);
    return vec_scale(window_color, 0.25f * facing * falloff(p, n, window_at, 0.3f));
}

struct lighting {
    const struct desk_scene *scene;
    struct light_map *map;
};

static void light_row(void *context, int y) {
    const struct lighting *l = context;
    const struct desk_scene *scene = l->scene;
    struct light_map *map = l->map;
    for (int x = 0; x < map->columns; x++) {
        struct vec p = vec_along(vec_along(map->from, (float)x, map->across), (float)y, map->up);
        int i = y * map->columns + x;
        map->key[i] = falloff(p, map->normal, key_at, 0) *
                      visible(scene, 0, scene->moving, p, key_at, KEY_RADIUS, 6);
        float sees = visible(scene, 0, scene->moving, p, window_at, WINDOW_RADIUS, 4);
        struct vec rest = vec_scale(window_light(p, map->normal), sees);
        rest = vec_along(rest, openness(scene, p, map->normal), room_color);
        map->rest[i] = vec_along(rest, lamp_falloff(p, map->normal), lamp_color);
    }
}

static int map_open(struct light_map *map) {
    size_t count = (size_t)(map->columns * map->rows);
    map->key = malloc(count * sizeof(*map->key));
    map->rest = malloc(count * sizeof(*map->rest));
    return map->key && map->rest ? 0 : -ENOMEM;
}

/* The light at p, shadow times the key's; bilinear. */
static struct vec light_at(const struct light_map *map, struct vec p, float shadow) {
    struct vec q = vec_sub(p, map->from);
    float x = vec_dot(q, map->across) / vec_dot(map->across, map->across),
          y = vec_dot(q, map->up) / vec_dot(map->up, map->up);
    x = clamped(x, 0, (float)map->columns - 1.001f);
    y = clamped(y, 0, (float)map->rows - 1.001f);
    int i = (int)y * map->columns + (int)x, j = i + map->columns;
    float fx = x - floorf(x), fy = y - floorf(y);
    float key =
        blend(blend(map->key[i], map->key[i + 1], fx), blend(map->key[j], map->key[j + 1], fx), fy);
    struct vec rest = vec_mix(vec_mix(map->rest[i], map->rest[i + 1], fx),
                              vec_mix(map->rest[j], map->rest[j + 1], fx), fy);
    return vec_along(rest, key * shadow, key_color);
}

static struct vec shadow_from(const struct desk_scene *scene) {
    return vec(scene->mug.x - 0.12f, 0.001f, scene->mug.z - 0.16f);
}

void desk_scene_shade_mug(struct desk_scene *scene) {
    struct vec from = shadow_from(scene);
    for (int i = 0; i < SHADOW_SIDE * SHADOW_SIDE; i++) {
        int column = i % SHADOW_SIDE, row = i / SHADOW_SIDE;
        struct vec p = from;
        p.x += (float)column * SHADOW_STEP;
        p.z += (float)row * SHADOW_STEP;
        scene->shadow[i] = visible(scene, scene->moving, scene->shapes, p, key_at, KEY_RADIUS, 4);
    }
}

/* The mug's shadow of the key light on the desk, *ambient: of the rest. */
static float mug_shadow(const struct desk_scene *scene, struct vec p, float *ambient) {
    struct vec q = vec_sub(p, shadow_from(scene)), m = vec_sub(p, scene->mug);
    float x = q.x / SHADOW_STEP, z = q.z / SHADOW_STEP, last = SHADOW_SIDE - 1.001f;
    *ambient = 1;
    if (x < 0 || z < 0 || x > last || z > last)
        return 1;
    float away = sqrtf(m.x * m.x + m.z * m.z) - 0.04f;
    *ambient = 1 - 0.6f * expf(-clamped(away, 0, 1) / 0.022f);
    int i = (int)z * SHADOW_SIDE + (int)x, j = i + SHADOW_SIDE;
    float fx = x - floorf(x), fz = z - floorf(z);
    return blend(blend(scene->shadow[i], scene->shadow[i + 1], fx),
                 blend(scene->shadow[j], scene->shadow[j + 1], fx), fz);
}

static struct vec desk_light(const struct desk_scene *scene, struct vec p) {
    float ambient, shadow = mug_shadow(scene, p, &ambient);
    return vec_scale(light_at(&scene->desk, p, shadow), ambient);
}

/* Elsewhere: without shadows, but darker near the desk. */
static struct vec free_light(struct vec p, struct vec n) {
    float open = (0.62f + 0.38f * n.y) * (1 - 0.5f * expf(-clamped(p.y, 0, 1) / 0.02f));
    struct vec sum = vec_add(vec_scale(room_color, open), window_light(p, n));
    sum = vec_along(sum, falloff(p, n, key_at, 0.15f) * (0.4f + 0.6f * open), key_color);
    return vec_along(sum, lamp_falloff(p, n), lamp_color);
}

/* ---- the materials */

static struct vec book(const struct desk_scene *scene, const struct shape *s, int face,
                       struct vec q, float width) {
    bool lying = s->material == MATERIAL_LYING;
    float along = lying ? q.x / (2 * s->a.x) : q.y / (2 * s->a.y),
          across = lying ? q.y / (2 * s->a.y) : q.x / (2 * s->a.x);
    const struct texture *spine = &scene->texture[SPINES], *cloth = &scene->texture[SPECKLE];
    if (face == 2) /* the spine */
        return vec_mul(s->color,
                       texture_at(spine, along + 0.5f, (s->fill + 0.5f + 0.96f * across) / 8,
                                  width / (2 * (lying ? s->a.x : s->a.y))));
    if (face == (lying ? 1 : 0)) { /* the cover */
        float u = q.x * 3, v = (lying ? q.z : q.y) * 3;
        return vec_mul(s->color, vec_scale(texture_at(cloth, u, v, 3 * width), 0.75f));
    }
    float pages = texture_at(cloth, q.z * 0.5f, (lying ? q.y : q.x) * 9, width * 4).x;
    return vec_scale(vec(0.80f, 0.74f, 0.60f), 0.5f + 0.75f * pages);
}

static struct vec cup(const struct desk_scene *scene, const struct shape *s, int face, struct vec q,
                      float width) {
    float u = atan2f(q.z, q.x) / TURN;
    if (s->material == MATERIAL_MUG) {
        if (face == FACE_FILL)
            return vec(0.035f, 0.016f, 0.008f);
        return face == FACE_OUTSIDE
                   ? texture_at(&scene->texture[GLAZE], u, q.y / s->height, 3.7f * width)
                   : s->color;
    }
    float grain = texture_at(&scene->texture[SPECKLE], 0.5f * u, 3 * q.y, 3 * width).x;
    if (face == FACE_FILL) {
        grain = texture_at(&scene->texture[SPECKLE], 4 * q.x, 4 * q.z, 4 * width).x;
        return vec_scale(vec(0.16f, 0.10f, 0.06f), grain * grain * 2.2f);
    }
    return vec_scale(s->color, 0.55f + 0.7f * grain);
}

/* The reflectance of a shape at p. */
static struct vec reflectance(const struct desk_scene *scene, const struct shape *s, int face,
                              struct vec p, float width) {
    struct vec q = shape_local(s, p);
    const struct texture *grain = &scene->texture[SPECKLE];
    switch ((enum material)s->material) {
    case MATERIAL_WOOD:
        return texture_at(&scene->texture[WOOD], p.x / 2.2f + 0.5f, (p.z - 0.3f) / 1.25f,
                          width / 1.6f);
    case MATERIAL_SHEET:
        return texture_at(&scene->texture[PRINT], q.x / 0.21f + 0.5f, 0.5f - q.z / 0.297f,
                          width / 0.25f);
    case MATERIAL_WALL:
        return vec_scale(s->color, 0.985f + 0.03f * texture_at(grain, p.x, p.y, width).x);
    case MATERIAL_STANDING:
    case MATERIAL_LYING:
        return book(scene, s, face, q, width);
    case MATERIAL_MUG:
    case MATERIAL_POT:
        return cup(scene, s, face, q, width);
    case MATERIAL_PEEL:
        return vec_scale(s->color,
                         0.5f + 0.8f * texture_at(grain, q.x * 5 + q.z, q.y * 5, 5 * width).x);
    case MATERIAL_STEM:
        return vec_scale(s->color, 0.4f + texture_at(grain, q.x * 3, q.y * 3, 3 * width).x);
    case MATERIAL_LEAF: {
        float u = vec_dot(q, s->a), v = fabsf(vec_dot(q, s->b));
        float vein =
            v < 0.06f ? 1.6f : 0.8f + 0.5f * texture_at(grain, u * 0.2f, v * 0.2f, 5 * width).x;
        return vec_scale(s->color, vein);
    }
    default:
        return s->color;
    }
}

struct vec desk_scene_color(const struct desk_scene *scene, int surface, struct vec p, struct vec d,
                            float width) {
    if (surface < 0)
        return vec_scale(
            texture_at(&scene->texture[OUTSIDE], (p.x + 14) / 22, (p.y + 7) / 12, width / 16),
            1.25f);
    const struct shape *s = &scene->shape[surface / FACES];
    int face = surface % FACES;
    struct vec n = shape_normal(s, face, p, d), gets;
    if (s->material == MATERIAL_SHADE) {
        float y = (p.y - s->at.y) / s->height, facing = -vec_dot(n, vec_unit(d));
        float weave = texture_at(&scene->texture[SPECKLE], 2 * p.x, 4 * p.y, 4 * width).x;
        float glow = (0.45f + 0.55f * facing) * (1.05f - 1.3f * (y - 0.42f) * (y - 0.42f));
        return vec_scale(vec(1.05f, 0.78f, 0.46f), glow * (0.88f + 0.2f * weave));
    }
    bool flat = s->material == MATERIAL_WOOD || s->material == MATERIAL_SHEET;
    /* a surface that is seen at a flat angle is sampled more coarsely */
    width /= sqrtf(clamped(-vec_dot(n, vec_unit(d)), 0.1f, 1));
    if (flat)
        gets = desk_light(scene, p);
    else if (s->material == MATERIAL_WALL && face == 2)
        gets = light_at(&scene->wall, p, 1);
    else
        gets = free_light(p, n);
    if (s->material == MATERIAL_LEAF) /* light from behind shines through */
        gets = vec_along(vec_scale(gets, 0.7f), 0.5f, free_light(p, vec_scale(n, -1)));
    return vec_mul(reflectance(scene, s, face, p, width), gets);
}

int desk_scene_make(struct desk_scene *scene, uint32_t seed, int threads) {
    *scene = (struct desk_scene){.seed = seed};
    scene->desk = (struct light_map){.from = {-1.1f, 0.0015f, 0.4f},
                                     .across = {0.0125f, 0, 0},
                                     .up = {0, 0, 0.0125f},
                                     .normal = {0, 1, 0},
                                     .columns = 177,
                                     .rows = 93};
    scene->wall = (struct light_map){.from = {-1.3f, 0, BACK - 0.0015f},
                                     .across = {0.02f, 0, 0},
                                     .up = {0, 0.02f, 0},
                                     .normal = {0, 0, -1},
                                     .columns = 131,
                                     .rows = 41};
    scene->shadow = malloc(sizeof(float) * SHADOW_SIDE * SHADOW_SIDE);
    if (!scene->shadow || map_open(&scene->desk) || map_open(&scene->wall) ||
        desk_scene_paint(scene, threads))
        return -ENOMEM;
    add_room(scene);
    add_books(scene);
    add_small_things(scene);
    add_plant(scene);
    scene->moving = scene->shapes;
    for (int i = 0; i < scene->shapes; i++)
        shape_bound(&scene->shape[i]);
    rows_run(scene->desk.rows, threads, light_row, &(struct lighting){scene, &scene->desk});
    rows_run(scene->wall.rows, threads, light_row, &(struct lighting){scene, &scene->wall});
    desk_scene_move_mug(scene, 0);
    return 0;
}

void desk_scene_free(struct desk_scene *scene) {
    free(scene->texels);
    free(scene->shadow);
    free(scene->desk.key);
    free(scene->desk.rest);
    free(scene->wall.key);
    free(scene->wall.rest);
}
