/*
 * See synth_ray.h. The intersections are textbook ones: slabs for boxes, quadratics for the rest.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/synth_ray.h"

#include <pthread.h>

#define NEAREST 1e-4f /* a ray that starts on a surface does not hit it */
#define MAX_THREADS 16

static inline float least(float a, float b) {
    return a < b ? a : b;
}
static inline float most(float a, float b) {
    return a > b ? a : b;
}

static struct vec turned_back(const struct shape *s, struct vec v) {
    return vec(s->cos_yaw * v.x - s->sin_yaw * v.z, v.y, s->sin_yaw * v.x + s->cos_yaw * v.z);
}

static struct vec turned(const struct shape *s, struct vec v) {
    return vec(s->cos_yaw * v.x + s->sin_yaw * v.z, v.y, s->cos_yaw * v.z - s->sin_yaw * v.x);
}

struct vec shape_local(const struct shape *s, struct vec p) {
    return turned_back(s, vec_sub(p, s->at));
}

static float hit_box(const struct shape *s, struct vec o, struct vec d, int *face) {
    float x = 1 / d.x, y = 1 / d.y, z = 1 / d.z;
    float x0 = (-s->a.x - o.x) * x, x1 = (s->a.x - o.x) * x;
    float y0 = (-s->a.y - o.y) * y, y1 = (s->a.y - o.y) * y;
    float z0 = (-s->a.z - o.z) * z, z1 = (s->a.z - o.z) * z;
    float nx = least(x0, x1), ny = least(y0, y1), nz = least(z0, z1);
    float t = most(nx, most(ny, nz)), end = least(most(x0, x1), least(most(y0, y1), most(z0, z1)));
    *face = t == nx ? 0 : t == ny ? 1 : 2;
    return t > NEAREST && t <= end ? t : INFINITY;
}

/* Both t at which o + t d is radius + slope y away from the axis y; false if there are none. */
static bool cone_roots(float radius, float slope, struct vec o, struct vec d, float t[2]) {
    float r = radius + slope * o.y, k = slope * d.y;
    float a = d.x * d.x + d.z * d.z - k * k, b = o.x * d.x + o.z * d.z - r * k,
          c = o.x * o.x + o.z * o.z - r * r;
    float inside = b * b - a * c;
    if (inside < 0 || a == 0)
        return false;
    float root = sqrtf(inside) / a, middle = -b / a;
    t[0] = middle - fabsf(root);
    t[1] = middle + fabsf(root);
    return true;
}

static float hit_cup(const struct shape *s, struct vec o, struct vec d, int *face) {
    float t[2], best = INFINITY;
    if (cone_roots(s->radius, s->slope, o, d, t)) {
        float y = o.y + t[0] * d.y;
        if (t[0] > NEAREST && y >= 0 && y <= s->height) {
            *face = FACE_OUTSIDE;
            best = t[0];
        }
    }
    if (s->fill < s->height && cone_roots(s->radius - s->wall, s->slope, o, d, t)) {
        float y = o.y + t[1] * d.y;
        if (t[1] > NEAREST && t[1] < best && y >= s->fill && y <= s->height) {
            *face = FACE_INSIDE;
            best = t[1];
        }
    }
    for (int i = FACE_RIM; i <= FACE_FILL; i++) {
        float y = i == FACE_RIM ? s->height : s->fill, at = (y - o.y) / d.y;
        if (!(at > NEAREST && at < best))
            continue;
        float x = o.x + at * d.x, z = o.z + at * d.z, rr = x * x + z * z;
        float outer = s->radius + s->slope * y, inner = outer - s->wall;
        if (i == FACE_RIM ? rr <= outer * outer && rr > inner * inner : rr <= inner * inner) {
            *face = i;
            best = at;
        }
    }
    return best;
}

static float hit_cone(const struct shape *s, struct vec o, struct vec d) {
    struct vec m = vec_sub(o, s->at);
    float along = vec_dot(m, s->a), turn = vec_dot(d, s->a);
    float r = s->radius + s->slope * along, k = s->slope * turn;
    float a = vec_dot(d, d) - turn * turn - k * k, b = vec_dot(m, d) - along * turn - r * k,
          c = vec_dot(m, m) - along * along - r * r;
    float inside = b * b - a * c;
    if (inside < 0)
        return INFINITY;
    float t = (-b - sqrtf(inside)) / a, y = along + t * turn;
    return t > NEAREST && y >= 0 && y <= s->height ? t : INFINITY;
}

static float hit_ball(const struct shape *s, struct vec o, struct vec d) {
    struct vec m = vec_sub(o, s->at);
    float a = vec_dot(d, d), b = vec_dot(m, d), c = vec_dot(m, m) - s->radius * s->radius;
    float inside = b * b - a * c, t = (-b - sqrtf(inside)) / a;
    return inside >= 0 && t > NEAREST ? t : INFINITY;
}

static float hit_leaf(const struct shape *s, struct vec o, struct vec d) {
    float t = vec_dot(vec_sub(s->at, o), s->n) / vec_dot(d, s->n);
    if (!(t > NEAREST))
        return INFINITY;
    struct vec m = vec_sub(vec_along(o, t, d), s->at);
    float u = vec_dot(m, s->a), v = vec_dot(m, s->b);
    return fabsf(v) <= 1 - u * u ? t : INFINITY;
}

float shape_hit(const struct shape *s, struct vec o, struct vec d, int *face) {
    *face = 0;
    switch (s->kind) {
    case SHAPE_BOX:
        return hit_box(s, shape_local(s, o), turned_back(s, d), face);
    case SHAPE_CUP:
        return hit_cup(s, shape_local(s, o), turned_back(s, d), face);
    case SHAPE_CONE:
        return hit_cone(s, o, d);
    case SHAPE_BALL:
        return hit_ball(s, o, d);
    case SHAPE_LEAF:
        return hit_leaf(s, o, d);
    }
    return INFINITY;
}

static struct vec outward(const struct shape *s, int face, struct vec p) {
    struct vec q = vec_sub(p, s->at);
    if (s->kind == SHAPE_BOX)
        return turned(s, vec(face == 0, face == 1, face == 2));
    if (s->kind == SHAPE_CUP)
        return face >= FACE_RIM ? vec(0, 1, 0)
                                : vec(q.x, -s->slope * (s->radius + s->slope * q.y), q.z);
    if (s->kind == SHAPE_CONE) {
        float along = vec_dot(q, s->a);
        return vec_along(q, -along - s->slope * (s->radius + s->slope * along), s->a);
    }
    return s->kind == SHAPE_BALL ? q : s->n;
}

struct vec shape_normal(const struct shape *s, int face, struct vec p, struct vec d) {
    struct vec n = vec_unit(outward(s, face, p));
    return vec_dot(n, d) > 0 ? vec_scale(n, -1) : n;
}

void shape_bound(struct shape *s) {
    struct vec middle = s->at, half = vec(s->radius, s->radius, s->radius);
    if (s->kind == SHAPE_BOX) {
        float c = fabsf(s->cos_yaw), k = fabsf(s->sin_yaw);
        half = vec(c * s->a.x + k * s->a.z, s->a.y, k * s->a.x + c * s->a.z);
    } else if (s->kind == SHAPE_CUP) {
        float r = most(s->radius, s->radius + s->slope * s->height);
        middle.y += s->height / 2;
        half = vec(r, s->height / 2, r);
    } else if (s->kind == SHAPE_CONE) {
        float r = most(s->radius, s->radius + s->slope * s->height), h = s->height / 2;
        middle = vec_along(middle, h, s->a);
        half = vec(fabsf(s->a.x) * h + r, fabsf(s->a.y) * h + r, fabsf(s->a.z) * h + r);
    } else if (s->kind == SHAPE_LEAF) {
        float a = 1 / sqrtf(vec_dot(s->a, s->a)), b = 1 / sqrtf(vec_dot(s->b, s->b));
        half = vec(a + b, a + b, a + b);
    }
    s->box_low = vec_sub(middle, half);
    s->box_high = vec_add(middle, half);
}

void texture_halve(struct texture *texture) {
    uint8_t *from = texture->texel;
    for (int side = texture->side; side > 1; side /= 2) {
        uint8_t *to = from + 4 * side * side;
        for (int y = 0; y < side / 2; y++)
            for (int x = 0; x < side / 2 * 4; x++) {
                const uint8_t *at = from + 2 * y * side * 4 + x / 4 * 8 + x % 4;
                to[y * side * 2 + x] =
                    (uint8_t)((at[0] + at[4] + at[side * 4] + at[side * 4 + 4] + 2) / 4);
            }
        from = to;
    }
}

static struct vec bilinear(const uint8_t *texel, int side, float u, float v) {
    float x = u * (float)side - 0.5f, y = v * (float)side - 0.5f;
    int x0 = (int)x - (x < 0), y0 = (int)y - (y < 0);
    float fx = x - (float)x0, fy = y - (float)y0;
    const uint8_t *above = texel + (y0 & (side - 1)) * side * 4,
                  *below = texel + ((y0 + 1) & (side - 1)) * side * 4;
    int left = (x0 & (side - 1)) * 4, right = ((x0 + 1) & (side - 1)) * 4;
    float w[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy}, c[3];
    for (int i = 0; i < 3; i++)
        c[i] = w[0] * above[left + i] + w[1] * above[right + i] + w[2] * below[left + i] +
               w[3] * below[right + i];
    return vec(c[0], c[1], c[2]);
}

struct vec texture_at(const struct texture *texture, float u, float v, float width) {
    float level = log2f(most(width * (float)texture->side, 1));
    int side = texture->side;
    const uint8_t *texel = texture->texel;
    for (; level >= 1 && side > 2; level -= 1, side /= 2)
        texel += 4 * side * side;
    struct vec fine = bilinear(texel, side, u, v);
    if (level > 0) {
        struct vec coarse = bilinear(texel + 4 * side * side, side / 2, u, v);
        fine = vec_along(fine, least(level, 1), vec_sub(coarse, fine));
    }
    fine = vec_scale(fine, 1.0f / 255);
    return vec_mul(fine, fine);
}

float noise_hash(int x, int y, uint32_t seed) {
    uint32_t h = (uint32_t)x * 0x9E3779B1u ^ (uint32_t)y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h = (h ^ (h >> 12)) * 0x297A2D39u;
    return (float)((h ^ (h >> 15)) >> 8) * 0x1p-24f;
}

float noise_at(float x, float y, int period, uint32_t seed) {
    int x0 = (int)floorf(x), y0 = (int)floorf(y);
    float fx = x - (float)x0, fy = y - (float)y0;
    fx = fx * fx * (3 - 2 * fx);
    fy = fy * fy * (3 - 2 * fy);
    int mask = period - 1; /* a power of two */
    float a = noise_hash(x0 & mask, y0 & mask, seed),
          b = noise_hash((x0 + 1) & mask, y0 & mask, seed),
          c = noise_hash(x0 & mask, (y0 + 1) & mask, seed),
          d = noise_hash((x0 + 1) & mask, (y0 + 1) & mask, seed);
    return (a + (b - a) * fx) * (1 - fy) + (c + (d - c) * fx) * fy;
}

float noise_sum(float x, float y, int period, int octaves, uint32_t seed) {
    float sum = 0, weight = 0.5f;
    for (int i = 0; i < octaves; i++) {
        sum += weight * noise_at(x, y, period, seed + (uint32_t)i);
        x *= 2;
        y *= 2;
        period *= 2;
        weight /= 2;
    }
    return sum / (1 - 2 * weight);
}

struct rows {
    void (*row)(void *context, int i);
    void *context;
    int count, next; /* next atomic */
};

static void *work(void *argument) {
    struct rows *rows = argument;
    int i;
    while ((i = __atomic_fetch_add(&rows->next, 1, __ATOMIC_RELAXED)) < rows->count)
        rows->row(rows->context, i);
    return NULL;
}

void rows_run(int count, int threads, void (*row)(void *context, int i), void *context) {
    struct rows rows = {row, context, count, 0};
    pthread_t thread[MAX_THREADS];
    int started = 0;
    while (started < threads - 1 && started < MAX_THREADS &&
           pthread_create(&thread[started], NULL, work, &rows) == 0)
        started++;
    work(&rows);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}
