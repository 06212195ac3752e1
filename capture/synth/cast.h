/*
 * Scenes of simple solids, ray-cast from two cameras side by side: pictures, the exact disparity of
 * each left pixel, and whether the right camera sees it. C that nvcc compiles, too: the desk
 * (desk.c), the scenes by lot of training/ and of the accuracy score (training/scene_lot.h).
 *
 * Axes of the left camera: x to the right, y down, z forwards. A disparity is f * base / z + zero.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define CAST static inline __host__ __device__
#else
#define CAST static inline
#endif

enum { SOLIDS = 200, SIDE = 512, LEVELS = 8, TEXTURE_PIXELS = (4 * SIDE * SIDE - 1) / 3 };
enum shape { QUAD, DISC, BOX, BALL, CYLINDER };
enum cut { WHOLE, RAGGED, BARS, GRID, FRAME };

/* Not fminf and fmaxf, which compilers call for the sake of NaN. */
CAST float minf(float a, float b) {
    return a < b ? a : b;
}
CAST float maxf(float a, float b) {
    return a > b ? a : b;
}

typedef struct {
    float x, y, z;
} vec;

CAST vec vec_of(float x, float y, float z) {
    vec v = {x, y, z};
    return v;
}
CAST vec plus(vec a, vec b, float k) { /* a + k b */
    return vec_of(a.x + k * b.x, a.y + k * b.y, a.z + k * b.z);
}
CAST float dot(vec a, vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
CAST vec cross(vec a, vec b) {
    return vec_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
CAST vec scaled(vec a, float k) {
    return vec_of(a.x * k, a.y * k, a.z * k);
}
CAST vec unit(vec a) {
    return scaled(a, 1 / sqrtf(dot(a, a) + 1e-20f));
}

/* In its own coordinates each solid reaches from -1 to 1 along each axis; a cylinder's axis is y,
 * flat ones lie in z = 0. */
struct solid {
    int shape, texture, cut, cut_texture;
    float local[12]; /* world to local, three rows */
    vec centre;      /* and radius of a ball around it; 0: none */
    float radius;
    float texels[3], per_length; /* of the texture: for each local unit, for a unit of length */
    float u, v, cos, sin;        /* where the texture begins, and how it is turned */
    float contrast, grain, colour[3];
    float mirror, clear, gloss, gloss_power; /* clear: share of what lies behind */
    float cut_at, cut_scale;
};

struct scene {
    int solids, width, height, sky_texture;
    float f, cx, cy, base, zero, rows_off;
    float turn[9]; /* camera to world */
    vec sun;
    float ambient, shadow, sky[2][3], clouds;
    float largest; /* disparity */
    int casting;   /* the first ones cast shadows */
    struct solid solid[SOLIDS];
};

/* Textures: of each one SIDE * SIDE pixels of 4 bytes, then levels of half the size. */
struct textures {
    const uint8_t *pixels;
    int photographs, drawn, waves; /* how many of each kind, in this order */
};

struct hit {
    float t; /* along the ray */
    int solid;
    vec local;
};

CAST vec to_local(const struct solid *s, vec a, float w) {
    const float *m = s->local;
    return vec_of(m[0] * a.x + m[1] * a.y + m[2] * a.z + w * m[3],
                  m[4] * a.x + m[5] * a.y + m[6] * a.z + w * m[7],
                  m[8] * a.x + m[9] * a.y + m[10] * a.z + w * m[11]);
}

/* Yaw about y, then pitch about x, then roll about z. */
CAST void rotation(float m[9], float yaw, float pitch, float roll) {
    float a = cosf(yaw), b = sinf(yaw), c = cosf(pitch), d = sinf(pitch), e = cosf(roll),
          f = sinf(roll);
    float out[9] = {a * e + b * d * f, b * d * e - a * f, b * c, c * f, c * e, -d,
                    a * d * f - b * e, a * d * e + b * f, a * c};
    for (int i = 0; i < 9; i++)
        m[i] = out[i];
}

/* Adds a solid of half sizes `size`; m turns its axes to the world's. texels: for a unit of
 * length. */
CAST struct solid *solid_add(struct scene *scene, int shape, vec at, const float m[9], vec size,
                             float texels) {
    struct solid none = {0},
                 *s = &scene->solid[scene->solids < SOLIDS ? scene->solids++ : SOLIDS - 1];
    float half[3] = {size.x, size.y, size.z}, flat = shape == QUAD || shape == DISC;
    *s = none;
    s->shape = shape;
    for (int i = 0; i < 3; i++) {
        float *row = s->local + 4 * i;
        for (int j = 0; j < 3; j++)
            row[j] = m[3 * j + i] / half[i];
        row[3] = -dot(vec_of(row[0], row[1], row[2]), at);
        s->texels[i] = half[i] * texels;
    }
    s->centre = at;
    s->radius = 1.001f * sqrtf(dot(size, size) - (flat ? size.z * size.z : 0));
    s->radius = s->radius < 30 ? s->radius : 0;
    s->per_length = texels;
    s->cos = 1;
    return s;
}

CAST int mirrored(int i, int n) { /* n: a power of two */
    i &= 2 * n - 1;
    return i < n ? i : 2 * n - 1 - i;
}

/* Bilinear, of one level. */
CAST vec texel(const uint8_t *pixels, int texture, float u, float v, int level) {
    const uint8_t *p = pixels + (size_t)texture * 4 * TEXTURE_PIXELS;
    int n = SIDE;
    for (int l = 0; l < level; l++, n /= 2)
        p += (size_t)4 * n * n;
    u = (u - 2 * SIDE * floorf(u / (2 * SIDE))) * n / SIDE - 0.5f;
    v = (v - 2 * SIDE * floorf(v / (2 * SIDE))) * n / SIDE - 0.5f;
    int left = (int)u - (u < 0), top = (int)v - (v < 0);
    float sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4; k++) {
        float across = k & 1 ? u - left : 1 - u + left;
        float w = across * (k & 2 ? v - top : 1 - v + top);
        const uint8_t *q =
            p + 4 * ((size_t)mirrored(top + k / 2, n) * n + mirrored(left + k % 2, n));
        for (int c = 0; c < 4; c++)
            sum[c] += w * q[c];
    }
    return vec_of(sum[0], sum[1], sum[2]);
}

/* size: texels that a pixel covers. Minus 128: signed. */
CAST vec textured(const uint8_t *pixels, int texture, float u, float v, float size) {
    float level = minf(log2f(maxf(size, 1)), LEVELS - 1), part = level - (int)level;
    vec a = texel(pixels, texture, u, v, (int)level);
    if (part > 0.05f)
        a = plus(scaled(a, 1 - part), texel(pixels, texture, u, v, (int)level + 1), part);
    return vec_of(a.x - 128, a.y - 128, a.z - 128);
}

CAST void texture_place(const struct solid *s, vec l, float *u, float *v) {
    float a = l.x * s->texels[0], b = l.y * s->texels[1];
    float x = fabsf(l.x), y = fabsf(l.y), z = fabsf(l.z);
    if (s->shape == CYLINDER && y < 0.9999f) {
        a = atan2f(l.z, l.x) * s->texels[0];
    } else if ((s->shape == BOX || s->shape == BALL) && x >= y && x >= z) {
        a = l.z * s->texels[2] + 100;
    } else if (s->shape == CYLINDER || ((s->shape == BOX || s->shape == BALL) && y >= z)) {
        b = l.z * s->texels[2] + 77;
    }
    *u = a * s->cos - b * s->sin + s->u;
    *v = a * s->sin + b * s->cos + s->v;
}

CAST int is_cut(const struct solid *s, const uint8_t *pixels, vec l) {
    float u, v, across = l.x * s->cut_scale, along = across;
    if (s->cut == RAGGED) {
        texture_place(s, l, &u, &v);
        float edge = s->shape == QUAD ? 90 * (l.x * l.x + l.y * l.y) : 0;
        vec wave = texel(pixels, s->cut_texture, u * s->cut_scale, v * s->cut_scale, 0);
        return wave.x < s->cut_at + edge;
    }
    if (s->cut == GRID)
        along = l.y * s->cut_scale * s->texels[1] / s->texels[0];
    if (s->cut == FRAME)
        return fabsf(l.x) < s->cut_at && fabsf(l.y) < s->cut_at;
    return across - floorf(across) > s->cut_at && along - floorf(along) > s->cut_at;
}

/* Where the ray a + t d, in local coordinates, may meet the surface: at most four t. */
CAST int crossings(const struct solid *s, vec a, vec d, float t[4]) {
    if (s->shape == QUAD || s->shape == DISC) {
        t[0] = -a.z / d.z;
        return 1;
    }
    if (s->shape == BOX) {
        float x0 = (-1 - a.x) / d.x, x1 = (1 - a.x) / d.x, y0 = (-1 - a.y) / d.y;
        float y1 = (1 - a.y) / d.y, z0 = (-1 - a.z) / d.z, z1 = (1 - a.z) / d.z;
        t[0] = maxf(maxf(minf(x0, x1), minf(y0, y1)), minf(z0, z1));
        t[1] = minf(minf(maxf(x0, x1), maxf(y0, y1)), maxf(z0, z1));
        return t[0] <= t[1] ? 2 : 0;
    }
    float keep = s->shape == BALL; /* a cylinder's side is a ball without its y */
    float aa = d.x * d.x + d.z * d.z + keep * d.y * d.y;
    float b = a.x * d.x + a.z * d.z + keep * a.y * d.y;
    float c = a.x * a.x + a.z * a.z + keep * a.y * a.y - 1, root = b * b - aa * c;
    root = root > 0 ? sqrtf(root) : -1;
    t[0] = root < 0 ? -1 : (-b - root) / aa;
    t[1] = root < 0 ? -1 : (-b + root) / aa;
    t[2] = (-1 - a.y) / d.y;
    t[3] = (1 - a.y) / d.y;
    return s->shape == BALL ? 2 : 4;
}

CAST int is_within(const struct solid *s, int crossing, vec l) {
    if (s->shape == QUAD)
        return fabsf(l.x) <= 1 && fabsf(l.y) <= 1;
    if (s->shape == DISC)
        return l.x * l.x + l.y * l.y <= 1;
    if (s->shape == CYLINDER)
        return crossing < 2 ? fabsf(l.y) <= 1 : l.x * l.x + l.z * l.z <= 1;
    return 1;
}

/* The first solid along the ray from + t way with least < t < most, or with `any` one of them.
 * list: count of the solids; NULL: the first count. `without` is not met. */
CAST struct hit trace(const struct scene *s, const uint8_t *pixels, const uint8_t *list, int count,
                      vec from, vec way, float least, float most, int any, int without) {
    struct hit hit = {most, -1, {0, 0, 0}};
    float per_length2 = 1 / dot(way, way);
    for (int i = 0; i < count && !(any && hit.solid >= 0); i++) {
        int k = list ? list[i] : i;
        if (k == without)
            continue;
        const struct solid *p = &s->solid[k];
        vec to = plus(p->centre, from, -1);
        float along = dot(to, way);
        if (p->radius > 0 && dot(to, to) - along * along * per_length2 > p->radius * p->radius)
            continue;
        vec a = to_local(p, from, 1), d = to_local(p, way, 0);
        float t[4];
        int n = crossings(p, a, d, t);
        for (int j = 0; j < n; j++) {
            vec l = plus(a, d, t[j]);
            if (t[j] > least && t[j] < hit.t && is_within(p, j, l) &&
                !(p->cut && is_cut(p, pixels, l))) {
                hit.t = t[j];
                hit.solid = k;
                hit.local = l;
            }
        }
    }
    return hit;
}

/* The space between planes: of p with dot(normal[i], p) >= least[i]; and a list of solids. */
struct space {
    int planes, count;
    vec normal[5];
    float least[5];
    uint8_t list[SOLIDS];
};

/* How far the solid reaches along a direction. */
CAST float reach(const struct solid *s, vec n) {
    float far = dot(s->centre, n);
    for (int i = 0; i < (s->shape == QUAD || s->shape == DISC ? 2 : 3); i++) {
        vec row = vec_of(s->local[4 * i], s->local[4 * i + 1], s->local[4 * i + 2]);
        far += fabsf(dot(row, n)) / dot(row, row);
    }
    return far;
}

/* Whether the solid may reach into the space; 0 is sure. */
CAST int space_meets(const struct space *space, const struct solid *s) {
    for (int i = 0; i < space->planes; i++)
        if (reach(s, space->normal[i]) < space->least[i])
            return 0;
    return 1;
}

CAST vec normal_at(const struct solid *s, vec l) {
    const float *m = s->local;
    float x = fabsf(l.x), y = fabsf(l.y), z = fabsf(l.z);
    vec n = l; /* of a ball */
    if (s->shape == QUAD || s->shape == DISC)
        n = vec_of(0, 0, 1);
    else if (s->shape == CYLINDER)
        n = y > 0.9999f ? vec_of(0, l.y, 0) : vec_of(l.x, 0, l.z);
    else if (s->shape == BOX)
        n = vec_of(x >= y && x >= z ? l.x : 0, y > x && y >= z ? l.y : 0, z > x && z > y ? l.z : 0);
    return unit(vec_of(m[0] * n.x + m[4] * n.y + m[8] * n.z, m[1] * n.x + m[5] * n.y + m[9] * n.z,
                       m[2] * n.x + m[6] * n.y + m[10] * n.z));
}

CAST vec sky_at(const struct scene *s, const uint8_t *pixels, vec way) {
    vec u = unit(way), t = textured(pixels, s->sky_texture, u.x * 500 + 300, u.y * 700, 2);
    float k = minf(maxf(-u.y * 1.5f + 0.1f, 0), 1), out[3];
    for (int c = 0; c < 3; c++)
        out[c] = s->sky[0][c] * (1 - k) + s->sky[1][c] * k;
    return plus(vec_of(out[0], out[1], out[2]), t, s->clouds);
}

/* The surface's own colour. Every surface has some fine grain. */
CAST vec paint_at(const struct solid *s, const uint8_t *pixels, vec local, float size) {
    float u, v;
    texture_place(s, local, &u, &v);
    vec paint = plus(vec_of(s->colour[0], s->colour[1], s->colour[2]),
                     textured(pixels, s->texture, u, v, size), s->contrast);
    if (s->grain > 0)
        paint = plus(paint, textured(pixels, s->cut_texture, 2.3f * u, 2.3f * v, 2.3f * size),
                     s->grain);
    return paint;
}

CAST vec lit(vec paint, float ambient, float light) {
    return scaled(paint, ambient + (1 - ambient) * light);
}

/* The colour that a ray from a hit's place meets, without shadows, mirrors and glass. */
CAST vec glimpse(const struct scene *s, const uint8_t *pixels, vec at, vec way,
                 const struct hit *hit, float pixel) {
    struct hit far = trace(s, pixels, NULL, s->solids, at, way, 1e-3f, 1e9f, 0, hit->solid);
    if (far.solid < 0)
        return sky_at(s, pixels, way);
    const struct solid *q = &s->solid[far.solid];
    float size = (hit->t + far.t) * pixel * q->per_length;
    return lit(paint_at(q, pixels, far.local, size), s->ambient,
               fabsf(dot(normal_at(q, far.local), s->sun)));
}

/* pixel: of what size one is at distance 1. casters: what may cast shadows
 * into a space, or NULL. */
CAST vec shade(const struct scene *s, const uint8_t *pixels, const struct space *casters, vec from,
               vec way, const struct hit *hit, float pixel) {
    const struct solid *p = &s->solid[hit->solid];
    vec n = normal_at(p, hit->local), e = unit(way);
    float facing = dot(n, e);
    if (facing > 0) {
        n = scaled(n, -1);
        facing = -facing;
    }
    vec at = plus(plus(from, way, hit->t), n, 1e-3f * hit->t), back = plus(e, n, -2 * facing);
    float size = hit->t * pixel * p->per_length / sqrtf(maxf(-facing, 0.05f));
    float light = maxf(dot(n, s->sun), 0);
    int known = casters != NULL;
    for (int i = 0; known && i < casters->planes; i++)
        known = dot(casters->normal[i], at) >= casters->least[i];
    if (light > 0 && s->shadow > 0 &&
        trace(s, pixels, known ? casters->list : NULL, known ? casters->count : s->casting, at,
              s->sun, 1e-3f, 1e9f, 1, hit->solid)
                .solid >= 0)
        light *= 1 - s->shadow;
    vec out = lit(paint_at(p, pixels, hit->local, size), s->ambient, light);
    if (p->gloss > 0 && light > 0) {
        float shine = 255 * p->gloss * powf(maxf(dot(back, s->sun), 0), p->gloss_power);
        out = plus(out, vec_of(1, 1, 1), shine);
    }
    if (p->clear > 0)
        out = plus(scaled(out, 1 - p->clear),
                   glimpse(s, pixels, plus(from, way, hit->t), e, hit, pixel), p->clear);
    if (p->mirror > 0) {
        float glance = 1 + facing, share = p->mirror * (0.4f + 0.6f * glance * glance);
        out = plus(scaled(out, 1 - share), glimpse(s, pixels, at, back, hit, pixel), share);
    }
    return out;
}

CAST vec turned(const struct scene *s, vec v) {
    const float *r = s->turn;
    return vec_of(r[0] * v.x + r[1] * v.y + r[2] * v.z, r[3] * v.x + r[4] * v.y + r[5] * v.z,
                  r[6] * v.x + r[7] * v.y + r[8] * v.z);
}

CAST vec eye_of(const struct scene *s, int side) {
    return turned(s, vec_of(side ? s->base : 0, 0, 0));
}

CAST vec ray_of(const struct scene *s, int side, float x, float y) {
    x += side ? s->zero : 0;
    y += side ? s->rows_off : 0;
    return turned(s, vec_of((x - s->cx) / s->f, (y - s->cy) / s->f, 1));
}

/* Where rays through a tile of a camera's picture go, and through two pixels beside it. */
CAST struct space frustum(const struct scene *s, int side, int x, int y, int width, int height) {
    struct space space;
    space.planes = 4;
    float x0 = x - 2.0f, x1 = x + width + 1.0f, y0 = y - 2.0f, y1 = y + height + 1.0f;
    vec corner[4] = {ray_of(s, side, x0, y0), ray_of(s, side, x1, y0), ray_of(s, side, x1, y1),
                     ray_of(s, side, x0, y1)};
    for (int i = 0; i < 4; i++) {
        space.normal[i] = unit(cross(corner[i], corner[(i + 1) % 4]));
        space.least[i] = dot(space.normal[i], eye_of(s, side));
    }
    return space;
}

/* A pixel's colour: the mean of 2 x 2 rays. */
CAST void cast_colour(const struct scene *s, const uint8_t *pixels, const uint8_t *list, int count,
                      const struct space *casters, int side, int x, int y, uint8_t rgb[3]) {
    float sum[3] = {0.5f, 0.5f, 0.5f};
    vec from = eye_of(s, side);
    for (int k = 0; k < 4; k++) {
        vec way = ray_of(s, side, x + (k % 2) * 0.5f - 0.25f, y + (k >> 1) * 0.5f - 0.25f);
        struct hit hit = trace(s, pixels, list, count, from, way, 0.01f, 1e9f, 0, -1);
        vec c = hit.solid < 0 ? sky_at(s, pixels, way)
                              : shade(s, pixels, casters, from, way, &hit, 0.6f / s->f);
        sum[0] += minf(maxf(c.x, 0), 255) / 4;
        sum[1] += minf(maxf(c.y, 0), 255) / 4;
        sum[2] += minf(maxf(c.z, 0), 255) / 4;
    }
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)sum[c];
}

/* The disparity at a left pixel's middle, and whether the right camera sees that place. */
CAST float cast_disparity(const struct scene *s, const uint8_t *pixels, const uint8_t *list,
                          int count, int x, int y, uint8_t *seen) {
    vec way = ray_of(s, 0, (float)x, (float)y);
    struct hit hit = trace(s, pixels, list, count, eye_of(s, 0), way, 0.01f, 1e9f, 0, -1);
    float d = s->zero + (hit.solid < 0 ? 0 : s->f * s->base / hit.t), there = x - d;
    vec back = ray_of(s, 1, there, y - s->rows_off);
    struct hit other = trace(s, pixels, NULL, s->solids, eye_of(s, 1), back, 0.01f, 1e9f, 0, -1);
    *seen = there >= 0 && other.t > hit.t * (1 - 0.6f / maxf(d, 0.7f));
    return d;
}
