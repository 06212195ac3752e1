/*
 * See render.h. A pixel's colour is that of the ray through its middle or, at edges, the mean of
 * four rays.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/render.h"

#include "capture/synth/cast.h"
#include "image/frame.h"

#include <pthread.h>

enum { TILE = 20, RIM = TILE + 2, MAX_THREADS = 16 };

/* The picture's place where the camera has p, and its Z. */
static float project(const struct scene *s, int side, vec p, float *x, float *y) {
    const float *r = s->turn;
    vec q = plus(p, eye_of(s, side), -1);
    float z = r[2] * q.x + r[5] * q.y + r[8] * q.z;
    *x = s->cx + s->f * (r[0] * q.x + r[3] * q.y + r[6] * q.z) / z - (side ? s->zero : 0);
    *y = s->cy + s->f * (r[1] * q.x + r[4] * q.y + r[7] * q.z) / z - (side ? s->rows_off : 0);
    return z;
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

static void list_solids(const struct scene *s, int solids, struct space *space) {
    space->count = 0;
    for (int i = 0; i < solids; i++)
        if (space_meets(space, &s->solid[i]))
            space->list[space->count++] = (uint8_t)i;
}

/* Finds the solids that may cast shadows on the places where the tile's rays end. */
static struct space find_casters(const struct scene *s, int side, int left, int top,
                                 const struct hit *hit) {
    vec sun = s->sun, u = unit(vec_of(sun.y, -sun.x, 0)), v = cross(sun, u);
    struct space space = {.planes = 5,
                          .normal = {sun, u, v, scaled(u, -1), scaled(v, -1)},
                          .least = {1e9f, 1e9f, 1e9f, 1e9f, 1e9f}};
    for (int i = 0; i < RIM * RIM; i += i % RIM == RIM - 2 ? RIM + 2 : 2) { /* each second one */
        int x = left - 1 + i % RIM, y = top - 1 + i / RIM;
        vec way = ray_of(s, side, (float)x, (float)y);
        vec p = plus(eye_of(s, side), way, hit[i].t);
        for (int k = 0; k < 5 && hit[i].solid >= 0; k++)
            space.least[k] = minf(space.least[k], dot(space.normal[k], p) - 2e-3f * hit[i].t);
    }
    list_solids(s, s->casting, &space);
    return space;
}

/* Writes a pixel's truth, and returns where its point is in the other picture, with its Z; Z is 0
 * outside. */
static vec tell(const struct render *r, int x, int y, const struct hit *hit) {
    const struct scene *s = r->scene;
    size_t i = (size_t)y * (size_t)s->width + (size_t)x, all = (size_t)s->width * (size_t)s->height;
    vec p = plus(eye_of(s, 0), ray_of(s, 0, (float)x, (float)y), hit->t), to;
    if (r->later) {
        if (hit->solid >= 0)
            p = carried(r->later, hit);
        to.z = project(r->later, 0, p, &to.x, &to.y);
        float u = to.x - (float)x, v = to.y - (float)y;
        int fits = hypotf(u, v) * DISPARITY_ONE <= INT16_MAX;
        r->truth[i] = fixed(u, fits);
        r->truth[i + all] = fixed(v, fits);
    } else {
        to.z = project(s, 1, p, &to.x, &to.y);
        r->truth[i] = fixed(s->zero + (hit->solid < 0 ? 0 : s->f * s->base / hit->t), 1);
    }
    int within = to.z > 0 && to.x >= 0 && to.y >= 0 && to.x <= (float)(s->width - 1) &&
                 to.y <= (float)(s->height - 1);
    return vec_of(to.x, to.y, within ? to.z : 0);
}

/* A point is seen where it is in the other picture, and nothing is in front of it. */
static void tell_tile(const struct render *r, int left, int top, const struct hit *hit) {
    const struct scene *s = r->scene, *to = r->later ? r->later : s;
    int side = !r->later, wide = s->width - left < TILE ? s->width - left : TILE;
    int high = s->height - top < TILE ? s->height - top : TILE;
    float x0 = (float)s->width, x1 = 0, y0 = (float)s->height, y1 = 0; /* where the points are */
    vec at[TILE * TILE], *p = at;
    for (int i = 0; i < wide * high; i++, p++) {
        int x = i % wide, y = i / wide;
        *p = tell(r, left + x, top + y, &hit[(y + 1) * RIM + x + 1]);
        if (p->z > 0) {
            x0 = minf(x0, p->x);
            x1 = maxf(x1, p->x);
            y0 = minf(y0, p->y);
            y1 = maxf(y1, p->y);
        }
    }
    struct space space =
        frustum(to, side, (int)x0, (int)y0, 1 + (int)x1 - (int)x0, 1 + (int)y1 - (int)y0);
    list_solids(to, to->solids, &space);
    p = at;
    for (int i = 0; i < wide * high; i++, p++) {
        vec way = ray_of(to, side, p->x, p->y);
        int seen = p->z > 0 && trace(to, r->pixels, space.list, space.count, eye_of(to, side), way,
                                     0.01f, 0.9985f * p->z, 1, -1)
                                       .solid < 0;
        r->mask[(top + i / wide) * s->width + left + i % wide] = seen ? 255 : 0;
    }
}

static void paint(const struct render *r, int side, int x, int y, const struct hit *hit,
                  const struct space *view, const struct space *casters) {
    const struct scene *s = r->scene;
    const struct image *image = r->image[side];
    uint8_t rgb[3];
    if (hit->solid == hit[-1].solid && hit->solid == hit[1].solid &&
        hit->solid == hit[-RIM].solid && hit->solid == hit[RIM].solid) {
        vec way = ray_of(s, side, (float)x, (float)y);
        vec c = hit->solid < 0 ? sky_at(s, r->pixels, way)
                               : shade(s, r->pixels, casters, eye_of(s, side), way, hit, 1 / s->f);
        rgb[0] = (uint8_t)minf(maxf(c.x + 0.5f, 0), 255);
        rgb[1] = (uint8_t)minf(maxf(c.y + 0.5f, 0), 255);
        rgb[2] = (uint8_t)minf(maxf(c.z + 0.5f, 0), 255);
    } else {
        cast_colour(s, r->pixels, view->list, view->count, casters, side, x, y, rgb);
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
    struct space view = frustum(s, side, left, top, TILE, TILE);
    list_solids(s, s->solids, &view);
    for (int i = 0; i < RIM * RIM; i++) { /* one pixel more at each side, which tells edges */
        int x = left - 1 + i % RIM, y = top - 1 + i / RIM;
        vec way = ray_of(s, side, (float)x, (float)y);
        hit[i] =
            trace(s, r->pixels, view.list, view.count, eye_of(s, side), way, 0.01f, 1e9f, 0, -1);
    }
    struct space casters = find_casters(s, side, left, top, hit);
    for (int y = top; y < top + TILE && y < s->height; y++)
        for (int x = left; x < left + TILE && x < s->width; x++) {
            const struct hit *h = &hit[(y - top + 1) * RIM + x - left + 1];
            paint(r, side, x, y, h, &view, &casters);
        }
    if (r->truth && side == 0)
        tell_tile(r, left, top, hit);
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
