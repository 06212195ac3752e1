/*
 * See render.h. A pixel's colour is that of the ray through its middle or, at edges, the mean of
 * four rays.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/render.h"

#include "capture/synth/cast.h"
#include "image/frame.h"

#include <pthread.h>

enum { TILE = 16, RIM = TILE + 2, MAX_THREADS = 16 };

/* The picture's place where the camera has p, and its Z. */
static float project(const struct scene *s, int side, vec p, float *x, float *y) {
    const float *r = s->turn;
    vec q = plus(p, eye_of(s, side), -1);
    float z = r[2] * q.x + r[5] * q.y + r[8] * q.z;
    *x = s->cx + s->f * (r[0] * q.x + r[3] * q.y + r[6] * q.z) / z - (side ? s->zero : 0);
    *y = s->cy + s->f * (r[1] * q.x + r[4] * q.y + r[7] * q.z) / z - (side ? s->rows_off : 0);
    return z;
}

/* Whether p is in that camera's picture, at (*x, *y), and nothing is in front of it. */
static int sees(const struct scene *s, const uint8_t *pixels, int side, vec p, float *x, float *y) {
    float z = project(s, side, p, x, y);
    if (!(z > 0 && *x >= 0 && *y >= 0 && *x <= (float)(s->width - 1) &&
          *y <= (float)(s->height - 1)))
        return 0;
    vec way = ray_of(s, side, *x, *y);
    return trace(s, pixels, NULL, s->solids, eye_of(s, side), way, 0.01f, -1).t > 0.9985f * z;
}

/* Where the point of a solid is in another scene. */
static vec carried(const struct scene *to, const struct hit *hit) {
    const struct solid *s = &to->solid[hit->solid];
    const float local[] = {hit->local.x, hit->local.y, hit->local.z};
    vec p = s->centre;
    for (int i = 0; i < 3; i++) {
        vec row = vec_of(s->local[4 * i], s->local[4 * i + 1], s->local[4 * i + 2]);
        p = plus(p, row, local[i] / dot(row, row));
    }
    return p;
}

static int16_t fixed(float px, int fits) {
    return (int16_t)(fits ? lrintf(px * DISPARITY_ONE) : DISPARITY_UNKNOWN);
}

static void tell(const struct render *r, int x, int y, const struct hit *hit) {
    const struct scene *s = r->scene;
    size_t i = (size_t)y * (size_t)s->width + (size_t)x, all = (size_t)s->width * (size_t)s->height;
    float to_x, to_y;
    vec p = plus(eye_of(s, 0), ray_of(s, 0, (float)x, (float)y), hit->t);
    if (r->later) {
        if (hit->solid >= 0)
            p = carried(r->later, hit);
        r->mask[i] = sees(r->later, r->pixels, 0, p, &to_x, &to_y) ? 255 : 0;
        float u = to_x - (float)x, v = to_y - (float)y;
        int fits = hypotf(u, v) * DISPARITY_ONE <= INT16_MAX;
        r->truth[i] = fixed(u, fits);
        r->truth[i + all] = fixed(v, fits);
    } else {
        r->mask[i] = sees(s, r->pixels, 1, p, &to_x, &to_y) ? 255 : 0;
        r->truth[i] = fixed(s->zero + (hit->solid < 0 ? 0 : s->f * s->base / hit->t), 1);
    }
}

static void paint(const struct render *r, int side, int x, int y, const struct hit *hit,
                  const uint8_t *list, int count) {
    const struct scene *s = r->scene;
    const struct image *image = r->image[side];
    uint8_t rgb[3];
    if (hit->solid == hit[-1].solid && hit->solid == hit[1].solid &&
        hit->solid == hit[-RIM].solid && hit->solid == hit[RIM].solid) {
        vec way = ray_of(s, side, (float)x, (float)y);
        vec c = hit->solid < 0 ? sky_at(s, r->pixels, way)
                               : shade(s, r->pixels, eye_of(s, side), way, hit, 1 / s->f);
        rgb[0] = (uint8_t)fminf(fmaxf(c.x + 0.5f, 0), 255);
        rgb[1] = (uint8_t)fminf(fmaxf(c.y + 0.5f, 0), 255);
        rgb[2] = (uint8_t)fminf(fmaxf(c.z + 0.5f, 0), 255);
    } else {
        cast_colour(s, r->pixels, list, count, side, x, y, rgb);
    }
    uint8_t *out =
        image->data + ((size_t)y * (size_t)s->width + (size_t)x) * (size_t)image->channels;
    if (image->channels == 3)
        for (int c = 0; c < 3; c++)
            out[c] = rgb[c];
    else
        out[0] = (uint8_t)((77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8);
}

static void render_tile(const struct render *r, int side, int left, int top) {
    const struct scene *s = r->scene;
    struct hit hit[RIM * RIM];
    uint8_t list[SOLIDS];
    int count = 0;
    struct cone cone = cone_of(s, side, left, top, TILE, TILE);
    for (int i = 0; i < s->solids; i++)
        if (cone_meets(&cone, &s->solid[i]))
            list[count++] = (uint8_t)i;
    for (int i = 0; i < RIM * RIM; i++) { /* one pixel more at each side, which tells edges */
        int x = left - 1 + i % RIM, y = top - 1 + i / RIM;
        vec way = ray_of(s, side, (float)x, (float)y);
        hit[i] = trace(s, r->pixels, list, count, eye_of(s, side), way, 0.01f, -1);
    }
    for (int y = top; y < top + TILE && y < s->height; y++)
        for (int x = left; x < left + TILE && x < s->width; x++) {
            const struct hit *h = &hit[(y - top + 1) * RIM + x - left + 1];
            paint(r, side, x, y, h, list, count);
            if (r->truth && side == 0)
                tell(r, x, y, h);
        }
}

static void render_tiles(void *context, int i) {
    const struct render *r = context;
    for (int x = 0; x < r->scene->width; x += TILE)
        render_tile(r, i % 2, x, i / 2 * TILE);
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

void scene_render(const struct render *render, int threads) {
    rows_run(2 * ((render->scene->height + TILE - 1) / TILE), threads, render_tiles,
             (void *)render);
}
