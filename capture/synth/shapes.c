/*
 * The synthetic scene: a slanted wall, a floor, moving flat shapes and a dome before them, each
 * with a texture fixed to it. Both views are evaluated from the same surfaces, nearest first, so
 * what one view hides is truly hidden. One thread at a time; see synth_private.h.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/synth_private.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SHAPES 7
#define SURFACES (SHAPES + 3) /* wall, floor, dome */
#define TILE 512      /* px a side of a texture, a power of two; it repeats without a seam */
#define TILE_COARSE 8 /* side of the coarsest noise: lumps of TILE / TILE_COARSE px */
#define MAX_SLOPE 0.3 /* px of disparity per px; the right view would fold over at 1 */

enum shape { SHAPE_ENDLESS, SHAPE_RECTANGLE, SHAPE_ELLIPSE };

/* Disparity at (x, y) of the left view, p = x - cx, q = y - cy:
 * a + b p + c q, and for the dome + bulge (1 - (p/rx)^2 - (q/ry)^2). */
struct surface {
    enum shape shape;
    double cx, cy, rx, ry;
    double a, b, c, bulge;
    /* its path: sines of the frame number */
    double home_x, home_y, home_a, swing_x, swing_y, swing_a, speed, phase;
    double drift;  /* endless surfaces: px a frame that the texture moves by */
    uint8_t *tile; /* TILE x TILE RGB */
};

struct shapes {
    int width, height;
    struct surface surface[SURFACES];
    uint8_t *tiles;
};

uint64_t synth_hash(uint64_t a, uint64_t b) {
    uint64_t h = a * 0x9E3779B97F4A7C15u + b + 0x632BE59BD9B4E019u;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
}

/* The number-th random value of this seed in [0, 1). */
static double chance(uint64_t seed, uint64_t number) {
    return (double)(synth_hash(seed, number) >> 11) * 0x1p-53;
}

/* Doubles the side of a seamless RGB field, linearly interpolated. */
static void upsample(const int16_t *from, int side, int16_t *to) {
    for (int y = 0; y < side * 2; y++)
        for (int x = 0; x < side * 2; x++) {
            int x0 = x / 2, y0 = y / 2;
            int x1 = (x0 + (x & 1)) % side, y1 = (y0 + (y & 1)) % side;
            for (int c = 0; c < 3; c++)
                to[(y * side * 2 + x) * 3 + c] =
                    (int16_t)((from[(y0 * side + x0) * 3 + c] + from[(y0 * side + x1) * 3 + c] +
                               from[(y1 * side + x0) * 3 + c] + from[(y1 * side + x1) * 3 + c]) /
                              4);
        }
}

/* Adds value noise: light common to the channels, and a smaller part of each channel's own. */
static void add_noise(int16_t *field, int side, int strength, uint64_t seed) {
    for (int i = 0; i < side * side; i++) {
        uint64_t h = synth_hash(seed, (uint64_t)i);
        int light = (int)(h & 255) - 128;
        for (int c = 0; c < 3; c++) {
            int own = (int)(h >> (8 * (c + 1)) & 255) - 128;
            field[i * 3 + c] = (int16_t)(field[i * 3 + c] + (2 * light + own) * strength / 256);
        }
    }
}

/* Noise at every scale from TILE / TILE_COARSE px down to one, round a base colour. a and b are
 * room for TILE x TILE x 3. */
static void make_tile(uint8_t *tile, const uint8_t base[3], uint64_t seed, int16_t *a, int16_t *b) {
    memset(a, 0, sizeof *a * TILE_COARSE * TILE_COARSE * 3);
    for (int side = TILE_COARSE; side <= TILE; side *= 2) {
        if (side > TILE_COARSE) {
            upsample(a, side / 2, b);
            int16_t *swap = a;
            a = b;
            b = swap;
        }
        /* the finest noise is weak, since sampling between pixels blurs it */
        int coarse = side == TILE / 2 ? 18 : 28;
        add_noise(a, side, side == TILE ? 8 : coarse, synth_hash(seed, (uint64_t)side));
    }
    for (int i = 0; i < TILE * TILE * 3; i++) {
        int value = base[i % 3] + a[i];
        value = value > 0 ? value : 0;
        tile[i] = (uint8_t)(value < 255 ? value : 255);
    }
}

static int make_tiles(struct shapes *scene, uint64_t seed) {
    static const uint8_t base[SURFACES][3] = {
        {120, 135, 150}, {110, 115, 90}, {200, 90, 80},  {90, 160, 90},  {90, 110, 200},
        {200, 170, 80},  {160, 90, 180}, {80, 170, 180}, {190, 130, 90}, {215, 120, 150},
    };
    size_t bytes = (size_t)TILE * TILE * 3;
    int16_t *room = malloc(2 * bytes * sizeof *room);
    scene->tiles = malloc(bytes * SURFACES);
    if (room && scene->tiles)
        for (int i = 0; i < SURFACES; i++) {
            scene->surface[i].tile = scene->tiles + bytes * (size_t)i;
            make_tile(scene->surface[i].tile, base[i], synth_hash(seed, 1000u + (uint64_t)i), room,
                      room + bytes);
        }
    int error = room && scene->tiles ? 0 : -1;
    free(room);
    return error;
}

/* A slope along a row that changes the disparity by rise over length, no steeper than the right
 * view can bear. */
static double slope(double rise, double length) {
    return fmax(-MAX_SLOPE, fmin(MAX_SLOPE, rise / length));
}

/* Wall from 0.03 to 0.16 of the disparities, left to right; floor from under the wall to 0.5 in
 * front. */
static void place_room(struct surface *wall, struct surface *floor_, double w, double h, double min,
                       double span) {
    *wall = (struct surface){.shape = SHAPE_ENDLESS, .cx = 0, .cy = 0, .drift = 0.4};
    wall->b = slope(0.13 * span, w);
    wall->home_a = min + 0.03 * span;
    *floor_ = (struct surface){.shape = SHAPE_ENDLESS, .cx = 0, .cy = h, .drift = 0.7};
    floor_->c = 0.4 * span / (0.45 * h);
    floor_->home_a = min + 0.5 * span;
}

/* Flat shapes, the farther the higher; centres at 0.25 to 0.85 of the disparities, with at most
 * 0.09 more or less from slant and motion. */
static void place_shape(struct surface *s, int i, double w, double h, double min, double span,
                        uint64_t seed) {
    double r[10];
    for (int k = 0; k < 10; k++)
        r[k] = chance(seed, (uint64_t)(i * 16 + k));
    *s = (struct surface){.shape = i % 3 == 2 ? SHAPE_ELLIPSE : SHAPE_RECTANGLE};
    s->rx = w * (0.05 + 0.06 * r[0]);
    s->ry = h * (0.08 + 0.08 * r[1]);
    s->home_x = w * (0.1 + 0.8 * ((i * 3) % SHAPES + r[2] * 0.6) / SHAPES);
    s->home_y = h * (0.15 + 0.6 * (i + r[3]) / SHAPES);
    s->home_a = min + span * (0.25 + 0.6 * i / (SHAPES - 1));
    s->swing_x = w * (0.03 + 0.07 * r[4]);
    s->swing_y = h * (0.02 + 0.05 * r[5]);
    s->swing_a = span * 0.03;
    s->speed = 2 * M_PI / (60 + 120 * r[6]);
    s->phase = 2 * M_PI * r[7];
    if (i % 2) { /* every other shape is slanted */
        s->b = slope((r[8] - 0.5) * 0.06 * span, s->rx);
        s->c = (r[9] - 0.5) * 0.06 * span / s->ry;
    }
}

static void place_dome(struct surface *s, double w, double h, double min, double span) {
    *s = (struct surface){.shape = SHAPE_ELLIPSE};
    s->rx = s->ry = 0.19 * fmin(w, h);
    s->home_x = 0.45 * w;
    s->home_y = 0.55 * h;
    s->home_a = min + 0.5 * span;
    s->bulge = fmin(0.22 * span, 0.5 * MAX_SLOPE * s->rx);
    s->swing_x = 0.12 * w;
    s->swing_y = 0.05 * h;
    s->swing_a = 0.04 * span;
    s->speed = 2 * M_PI / 150;
}

struct shapes *shapes_open(int width, int height, double min, double max, uint64_t seed) {
    struct shapes *scene = calloc(1, sizeof *scene);
    if (!scene)
        return NULL;
    double w = width, h = height, span = max - min;
    scene->width = width;
    scene->height = height;
    place_room(&scene->surface[0], &scene->surface[1], w, h, min, span);
    for (int i = 0; i < SHAPES; i++)
        place_shape(&scene->surface[2 + i], i, w, h, min, span, seed);
    place_dome(&scene->surface[SURFACES - 1], w, h, min, span);
    if (make_tiles(scene, seed)) {
        shapes_close(scene);
        return NULL;
    }
    shapes_move(scene, 0);
    return scene;
}

void shapes_close(struct shapes *scene) {
    if (scene)
        free(scene->tiles);
    free(scene);
}

/* Where a surface is in a frame; of an endless one, its texture, which moves along it. */
static void place_at(const struct surface *s, long index, double *x, double *y) {
    double angle = s->speed * (double)index + s->phase;
    bool endless = s->shape == SHAPE_ENDLESS;
    *x = endless ? s->drift * (double)index : s->home_x + s->swing_x * sin(angle);
    *y = endless ? s->cy : s->home_y + s->swing_y * cos(0.7 * angle);
}

void shapes_motion(const struct shapes *scene, int surface, long index, int step, double *u,
                   double *v) {
    double x[2], y[2];
    for (int i = 0; i < 2; i++)
        place_at(&scene->surface[surface], index + i * (long)step, &x[i], &y[i]);
    *u = x[1] - x[0];
    *v = y[1] - y[0];
}

void shapes_move(struct shapes *scene, long index) {
    for (int i = 0; i < SURFACES; i++) {
        struct surface *s = &scene->surface[i];
        double angle = s->speed * (double)index + s->phase;
        s->a = s->home_a + s->swing_a * sin(1.3 * angle);
        place_at(s, index, s->shape == SHAPE_ENDLESS ? &s->home_x : &s->cx, &s->cy);
        if (s->shape == SHAPE_ENDLESS)
            s->home_x = fmod(s->home_x, TILE);
    }
}

/* One surface along one row: its ends in left columns, and disparity = d - bend p^2 + b p. */
struct cut {
    double from, to, d, b, bend, cx;
};

static int cut_surface(const struct surface *s, double y, struct cut *cut) {
    double q = y - s->cy, half = s->rx;
    *cut = (struct cut){.d = s->a + s->c * q, .b = s->b, .cx = s->cx};
    if (s->shape == SHAPE_ENDLESS) {
        cut->from = -INFINITY;
        cut->to = INFINITY;
        return 1;
    }
    if (fabs(q) > s->ry)
        return 0;
    double v = q / s->ry;
    if (s->shape == SHAPE_ELLIPSE)
        half *= sqrt(1 - v * v);
    cut->d += s->bulge * (1 - v * v);
    cut->bend = s->bulge / (s->rx * s->rx);
    cut->from = s->cx - half;
    cut->to = s->cx + half;
    return 1;
}

static double disparity_at(const struct cut *cut, double column) {
    double p = column - cut->cx;
    return cut->d + (cut->b - cut->bend * p) * p;
}

/* The left column of the point that the right view sees at column x: solves
 * p + cx - disparity(p) = x for p; the root that grows with x is the one in front. */
static double left_column(const struct cut *cut, double x) {
    double k = x - cut->cx + cut->d, e = 1 - cut->b;
    return cut->cx + 2 * k / (e + sqrt(fmax(e * e + 4 * cut->bend * k, 0)));
}

void shapes_see(const struct shapes *scene, enum view view, double y, struct shapes_row *row) {
    for (int x = 0; x < scene->width; x++)
        row->disparity[x] = -INFINITY;
    for (int i = 0; i < SURFACES; i++) {
        struct cut cut;
        if (!cut_surface(&scene->surface[i], y, &cut))
            continue;
        double from = cut.from, to = cut.to;
        if (view == VIEW_RIGHT && scene->surface[i].shape != SHAPE_ENDLESS) {
            from -= disparity_at(&cut, from);
            to -= disparity_at(&cut, to);
        }
        int first = (int)ceil(fmax(from, 0)), last = (int)floor(fmin(to, scene->width - 1));
        for (int x = first; x <= last; x++) {
            double column = view == VIEW_RIGHT ? left_column(&cut, x) : x;
            float d = (float)(view == VIEW_RIGHT ? column - x : disparity_at(&cut, x));
            if (d > row->disparity[x]) {
                row->disparity[x] = d;
                row->column[x] = (float)column;
                row->surface[x] = (uint8_t)i;
            }
        }
    }
}

int shapes_surface(const struct shapes *scene, enum view view, double x, double y) {
    int nearest = 0;
    double max = -INFINITY;
    for (int i = 0; i < SURFACES; i++) {
        struct cut cut;
        if (!cut_surface(&scene->surface[i], y, &cut))
            continue;
        double column = view == VIEW_RIGHT ? left_column(&cut, x) : x;
        double disparity = view == VIEW_RIGHT ? column - x : disparity_at(&cut, x);
        if (column >= cut.from && column <= cut.to && disparity > max) {
            max = disparity;
            nearest = i;
        }
    }
    return nearest;
}

/* Linear interpolation in a tile at 1/256 px. line and below are two rows, fy between them. */
static inline void sample(const uint8_t *line, const uint8_t *below, int u, int fy, int out[3]) {
    int fx = u & 255, x0 = (u >> 8) & (TILE - 1), x1 = (x0 + 1) & (TILE - 1);
    for (int c = 0; c < 3; c++) {
        int upper = line[x0 * 3 + c] * (256 - fx) + line[x1 * 3 + c] * fx;
        int lower = below[x0 * 3 + c] * (256 - fx) + below[x1 * 3 + c] * fx;
        out[c] = (upper * (256 - fy) + lower * fy + 32768) >> 16;
    }
}

void shapes_paint(const struct shapes *scene, double y, const struct shapes_row *row, int channels,
                  uint8_t *out) {
    const uint8_t *line[SURFACES], *below[SURFACES];
    float origin[SURFACES];
    int fy[SURFACES];
    for (int i = 0; i < SURFACES; i++) {
        const struct surface *s = &scene->surface[i];
        int v = (int)floor((y - s->cy) * 256);
        line[i] = s->tile + (size_t)((v >> 8) & (TILE - 1)) * TILE * 3;
        below[i] = s->tile + (size_t)(((v >> 8) + 1) & (TILE - 1)) * TILE * 3;
        fy[i] = v & 255;
        origin[i] = (float)(s->shape == SHAPE_ENDLESS ? s->home_x : s->cx);
    }
    for (int x = 0; x < scene->width; x++) {
        int i = row->surface[x], rgb[3];
        sample(line[i], below[i], (int)((row->column[x] - origin[i]) * 256), fy[i], rgb);
        if (channels == 3)
            for (int c = 0; c < 3; c++)
                out[x * 3 + c] = (uint8_t)rgb[c];
        else
            out[x] = (uint8_t)((77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8);
    }
}
