/*
 * Maps of a sequence: the last frame's map, moved with the camera, is averaged with the new one
 * where both agree. How the camera has moved is found by direct alignment (Comport, Malis, Rives
 * 2007; Kerl, Sturm, Cremers 2013): the motion that makes the last picture, moved by its own
 * disparities, most like the new one, by Gauss-Newton steps from coarse to fine.
 *
 * These stages compute with floats: with +, -, *, / alone, rounded one by one in a fixed order, so
 * that all backends give the same bytes; sums of elements are whole numbers.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/depth.h"

/* The left rectified camera. Depths are in baselines: focal / (disparity + doffs). */
struct pinhole {
    float focal, cx, cy, doffs; /* px */
    int known; /* 0: the others are a guess, by which a rig that moves is noticed */
};

/* How points move from the last frame's camera to this one's: p -> turn p + shift. */
struct rig_motion {
    float gibbs[3]; /* the rotation: the tangent of half its angle times its axis */
    float turn[9];  /* the same as a matrix */
    float shift[3]; /* baselines */
    float gain;     /* grey levels of this frame over those of the last one */
    float error;    /* mean difference that is left, grey levels */
    float way;      /* mean way of the points, px */
    int32_t state;
};

/* state: nothing is taken over; the rig stands still; it has moved. */
enum { MOTION_UNKNOWN, MOTION_NONE, MOTION_FOUND };

/* Levels of the pictures for alignment: level 0 has a quarter of the width and the height. */
enum { ALIGN_LEVELS = 5, ALIGN_SHIFT = 2, ALIGN_TILE_WIDTH = 8, ALIGN_TILE_HEIGHT = 4 };

/* Mean of size x size pixels. */
struct shrink_args {
    const uint8_t *source;
    uint8_t *out;
    int source_width, width, size;
};

STAGE void stage_shrink(const struct shrink_args *a, int x, int y) {
    int sum = 0, n = a->size;
    const uint8_t *p = a->source + (size_t)(n * y) * a->source_width + n * x;
    for (int dy = 0; dy < n; dy++, p += a->source_width)
        for (int dx = 0; dx < n; dx++)
            sum += p[dx];
    a->out[(size_t)y * a->width + x] = (uint8_t)((sum + n * n / 2) / (n * n));
}

/* The sums of one Gauss-Newton step, in 1/256: the upper half of J^T W J row by row, J^T W r; then
 * the grey levels of both frames, the absolute differences, the ways, and how many points. */
enum { SUM_VECTOR = 21, SUM_BEFORE = 27, SUM_NOW, SUM_ERROR, SUM_WAY, SUM_POINTS, ALIGN_SUMS };

struct align_args {
    const uint8_t *before, *now; /* this level, width*height */
    const int32_t *running;      /* stage_temporal's of the last frame, map_width wide */
    const uint16_t *variance;
    const uint8_t *state;
    struct rig_motion *motion;
    int64_t *sums; /* hypotheses * ALIGN_SUMS, 0 before the first step */
    struct pinhole camera;
    int width, height, map_width, map_height;
    int level;
    int hypotheses;            /* 2: the last motion, and none; 1: what the last step has found */
    int last;                  /* the last step by grey levels: judges, too */
    const int16_t *map;        /* of this frame, 1/16 px: in place of grey levels; or NULL */
    const uint8_t *confidence; /* likewise */
};

enum { ALIGN_VARIANCE = 512 }; /* 1/1024 px^2: points with more are not used */

struct aligned_point {
    float x, y;        /* in the new picture, px of the map */
    float px, py, rho; /* X/Z, Y/Z, baselines / Z there */
};

/* Where a point of the last frame is in the new one; 0: it is behind the camera, or d, its
 * disparity in px, lies beyond infinity. */
STAGE int move_point(const float *turn, const float *shift, const struct pinhole *c, float x,
                     float y, float d, struct aligned_point *to) {
    float across = (x - c->cx) / c->focal, down = (y - c->cy) / c->focal;
    float near = (d + c->doffs) / c->focal;
    float z = turn[6] * across + turn[7] * down + turn[8] + shift[2] * near;
    if (!(z > 0.05f && near >= 0))
        return 0;
    to->px = (turn[0] * across + turn[1] * down + turn[2] + shift[0] * near) / z;
    to->py = (turn[3] * across + turn[4] * down + turn[5] + shift[1] * near) / z;
    to->rho = near / z;
    to->x = c->focal * to->px + c->cx;
    to->y = c->focal * to->py + c->cy;
    return 1;
}

STAGE void stage_add64(int64_t *sum, int64_t value) {
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)sum, (unsigned long long)value);
#else
    __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
#endif
}

/* What a residual r is differentiated by: along x and y of the picture (per px of the map), and by
 * the change of depth (per share of it). */
struct slope {
    float x, y, depth;
};

/* Adds a residual of weight w to the sums of a step. */
STAGE void align_add(const struct align_args *a, const struct aligned_point *p, struct slope s,
                     float r, float w, float sum[ALIGN_SUMS]) {
    float gx = a->camera.focal * s.x, gy = a->camera.focal * s.y;
    float along = gx * p->px + gy * p->py - s.depth;
    float jacobian[6] = {-(gy + along * p->py), gx + along * p->px, gy * p->px - gx * p->py,
                         gx * p->rho,           gy * p->rho,        -along * p->rho};
    for (int i = 0, k = 0; i < 6; i++) {
        float wj = w * jacobian[i];
        for (int m = i; m < 6; m++)
            sum[k++] += wj * jacobian[m];
        sum[SUM_VECTOR + i] += wj * r;
    }
}

/* A point of the last frame by its grey level. */
STAGE void align_grey(const struct align_args *a, const struct aligned_point *p, int x, int y,
                      float sum[ALIGN_SUMS]) {
    const float huber = 6, most = 32; /* grey levels */
    float step = (float)(1 << (a->level + ALIGN_SHIFT)), half = 0.5f * (step - 1);
    float u = (p->x - half) / step, v = (p->y - half) / step;
    if (!(u >= 0 && v >= 0 && u < (float)(a->width - 1) && v < (float)(a->height - 1)))
        return;
    int iu = (int)u, iv = (int)v;
    float du = u - (float)iu, dv = v - (float)iv;
    const uint8_t *n = a->now + (size_t)iv * a->width + iu;
    float n00 = n[0], n01 = n[1], n10 = n[a->width], n11 = n[a->width + 1];
    float top = n00 + du * (n01 - n00), bottom = n10 + du * (n11 - n10);
    float grey = top + dv * (bottom - top), was = a->before[(size_t)y * a->width + x];
    float r = grey - a->motion->gain * was, size = r < 0 ? -r : r;
    float w = size > huber ? huber / size : 1;
    struct slope s = {((n01 - n00) + dv * ((n11 - n10) - (n01 - n00))) / step,
                      (bottom - top) / step, 0};
    align_add(a, p, s, r, w, sum);
    float wx = p->x - ((float)x * step + half), wy = p->y - ((float)y * step + half);
    sum[SUM_BEFORE] += w * was;
    sum[SUM_NOW] += w * grey;
    sum[SUM_ERROR] += size < most ? size : most;
    sum[SUM_WAY] += (wx < 0 ? -wx : wx) + (wy < 0 ? -wy : wy);
    sum[SUM_POINTS] += 1;
}

/* A point of the last map by the new one, where that is sure and flat. */
STAGE void align_disparity(const struct align_args *a, const struct aligned_point *p,
                           float sum[ALIGN_SUMS]) {
    enum { REACH = 2, SURE = 160 };
    const float steepest = 0.5f, largest = 1.5f, huber = 0.2f;
    if (!(p->x >= REACH && p->y >= REACH && p->x < (float)(a->map_width - REACH - 1) &&
          p->y < (float)(a->map_height - REACH - 1)))
        return;
    int x = (int)(p->x + 0.5f), y = (int)(p->y + 0.5f);
    size_t i = (size_t)y * a->map_width + x, down = (size_t)REACH * a->map_width;
    const int16_t *m = a->map + i;
    if (a->confidence[i] < SURE || m[0] == UNKNOWN || m[-REACH] == UNKNOWN || m[REACH] == UNKNOWN ||
        a->map[i - down] == UNKNOWN || m[down] == UNKNOWN)
        return;
    struct slope s = {(float)(m[REACH] - m[-REACH]) / (32 * REACH),
                      (float)(m[down] - a->map[i - down]) / (32 * REACH), 0};
    s.depth = p->rho * a->camera.focal;
    float r = (float)m[0] / 16 + s.x * (p->x - (float)x) + s.y * (p->y - (float)y) -
              (s.depth - a->camera.doffs);
    float size = r < 0 ? -r : r;
    if (!(s.x < steepest && s.x > -steepest && s.y < steepest && s.y > -steepest && size < largest))
        return;
    align_add(a, p, s, r, size > huber ? huber / size : 1, sum);
    sum[SUM_POINTS] += 1;
}

/* Adds one point of the last frame. Its disparity is the mean of the two pixels at its middle,
 * where they are known, sure and agree. */
STAGE void align_point(const struct align_args *a, const float *turn, const float *shift, int x,
                       int y, float sum[ALIGN_SUMS]) {
    int step = 1 << (a->level + ALIGN_SHIFT);
    size_t j = (size_t)(y * step + step / 2) * a->map_width + x * step + step / 2,
           i = j - a->map_width - 1;
    struct aligned_point p;
    float half = 0.5f * (float)(step - 1);
    if (a->state[i] == 0 || a->state[j] == 0 || a->variance[i] > ALIGN_VARIANCE ||
        a->variance[j] > ALIGN_VARIANCE || stage_abs(a->running[i] - a->running[j]) > 256 ||
        !move_point(turn, shift, &a->camera, (float)(x * step) + half, (float)(y * step) + half,
                    (float)(a->running[i] + a->running[j]) / 512, &p))
        return;
    if (a->map)
        align_disparity(a, &p, sum);
    else
        align_grey(a, &p, x, y, sum);
}

/* An element is a tile; with two hypotheses those of the second one come below. */
STAGE void stage_align_sum(const struct align_args *a, int tx, int ty) {
    int tiles = (a->height + ALIGN_TILE_HEIGHT - 1) / ALIGN_TILE_HEIGHT, second = ty >= tiles;
    const float none[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    const float *turn = second ? none : a->motion->turn,
                *shift = second ? none + 9 : a->motion->shift;
    float sum[ALIGN_SUMS] = {0};
    int left = tx * ALIGN_TILE_WIDTH, top = (ty - (second ? tiles : 0)) * ALIGN_TILE_HEIGHT;
    for (int y = top; y < stage_min(top + ALIGN_TILE_HEIGHT, a->height); y++)
        for (int x = left; x < stage_min(left + ALIGN_TILE_WIDTH, a->width); x++)
            align_point(a, turn, shift, x, y, sum);
    if (sum[SUM_POINTS] > 0)
        for (int i = 0; i < ALIGN_SUMS; i++)
            stage_add64(a->sums + second * ALIGN_SUMS + i, (int64_t)(256 * sum[i]));
}

STAGE float align_clamp(float v, float minimum, float maximum) {
    float least = v > minimum ? v : minimum;
    return least < maximum ? least : maximum;
}

/* Solves a x = b for six unknowns, a positive definite, its upper half row by row. */
STAGE void align_solve(const double *upper, const double *vector, double x[6]) {
    double m[6][7];
    for (int i = 0, k = 0; i < 6; i++) {
        for (int j = i; j < 6; j++, k++)
            m[i][j] = m[j][i] = upper[k];
        m[i][6] = vector[i];
        m[i][i] += 1e-4 * m[i][i] + 1;
    }
    for (int i = 0; i < 6; i++)
        for (int j = i + 1; j < 6; j++) {
            double factor = m[j][i] / m[i][i];
            for (int k = i; k < 7; k++)
                m[j][k] -= factor * m[i][k];
        }
    for (int i = 5; i >= 0; i--) {
        x[i] = m[i][6];
        for (int j = i + 1; j < 6; j++)
            x[i] -= m[i][j] * x[j];
        x[i] /= m[i][i];
    }
}

STAGE void motion_turn(struct rig_motion *m) {
    const float *g = m->gibbs;
    float square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2], over = 1 / (1 + square);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m->turn[3 * i + j] = 2 * g[i] * g[j] * over + (i == j ? (1 - square) * over : 0);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        m->turn[3 * k + j] += 2 * g[i] * over;
        m->turn[3 * j + k] -= 2 * g[i] * over;
    }
}

/* m after a small turn (angles) and shift. */
STAGE void motion_apply(struct rig_motion *m, const double step[6]) {
    float a[3] = {(float)(step[0] / 2), (float)(step[1] / 2), (float)(step[2] / 2)};
    struct rig_motion small = {{a[0], a[1], a[2]}, {0}, {0}, 0, 0, 0, 0};
    const float *b = m->gibbs, *t = m->shift;
    motion_turn(&small);
    float over = 1 / (1 - (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])), gibbs[3], shift[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        gibbs[i] = (a[i] + b[i] + (a[j] * b[k] - a[k] * b[j])) * over;
        shift[i] = small.turn[3 * i] * t[0] + small.turn[3 * i + 1] * t[1] +
                   small.turn[3 * i + 2] * t[2] + (float)step[3 + i];
    }
    for (int i = 0; i < 3; i++) {
        m->gibbs[i] = gibbs[i];
        m->shift[i] = shift[i];
    }
    motion_turn(m);
}

STAGE void motion_clear(struct rig_motion *m) {
    for (int i = 0; i < 3; i++)
        m->gibbs[i] = m->shift[i] = 0;
    motion_turn(m);
}

/* Before the first step of a frame. */
STAGE void stage_align_start(const struct align_args *a, int x, int y) {
    (void)x, (void)y;
    if (a->motion->state != MOTION_FOUND)
        motion_clear(a->motion);
    a->motion->gain = 1;
    for (int i = 0; i < 2 * ALIGN_SUMS; i++)
        a->sums[i] = 0;
}

enum { MIN_ALIGNED = 30, GREY_SIGMA = 6 };

STAGE void stage_align_step(const struct align_args *a, int x, int y) {
    struct rig_motion *m = a->motion;
    int64_t *sums = a->sums, *other = a->sums + ALIGN_SUMS;
    (void)x, (void)y;
    if (a->hypotheses == 2 &&
        (sums[SUM_POINTS] < other[SUM_POINTS] / 2 ||
         sums[SUM_ERROR] * other[SUM_POINTS] >= other[SUM_ERROR] * sums[SUM_POINTS])) {
        motion_clear(m);
        sums = other;
    }
    double points = (double)sums[SUM_POINTS] / 256, upper[SUM_VECTOR], vector[6], step[6];
    m->state = points >= MIN_ALIGNED >> a->level ? MOTION_FOUND : MOTION_UNKNOWN;
    if (m->state == MOTION_FOUND) {
        for (int i = 0; i < SUM_VECTOR; i++)
            upper[i] = (double)sums[i] / 256;
        for (int i = 0; i < 6; i++)
            vector[i] = -(double)sums[SUM_VECTOR + i] / 256;
        align_solve(upper, vector, step);
        motion_apply(m, step);
        float gain = (float)((double)sums[SUM_NOW] / (double)(sums[SUM_BEFORE] + 1));
        m->gain = align_clamp(gain, 0.5f, 2);
        m->error = (float)((double)sums[SUM_ERROR] / 256 / points);
        m->way = (float)((double)sums[SUM_WAY] / 256 / points);
    }
    for (int i = 0; i < ALIGN_SUMS; i++) {
        other[i] = a->last ? sums[i] : 0; /* for stage_align_maps */
        a->sums[i] = 0;
    }
    if (a->last && m->state == MOTION_FOUND) {
        const float still = 0.3f, largest_error = 8;
        m->state = m->way < still                                ? MOTION_NONE
                   : m->error < largest_error && a->camera.known ? MOTION_FOUND
                                                                 : MOTION_UNKNOWN;
    }
}

/* One more step, by the maps, which keeps what the grey levels told as far as they told it: a
 * running mean lags behind a motion that is a little off in each frame. */
STAGE void stage_align_maps(const struct align_args *a, int x, int y) {
    const double grey = 1.0 / (GREY_SIGMA * GREY_SIGMA), disparity = 1 / 0.09;
    struct rig_motion *m = a->motion;
    const int64_t *sums = a->sums, *before = a->sums + ALIGN_SUMS;
    (void)x, (void)y;
    double points = (double)sums[SUM_POINTS] / 256, upper[SUM_VECTOR], vector[6], step[6];
    if (m->state != MOTION_FOUND || points < MIN_ALIGNED)
        return;
    for (int i = 0; i < SUM_VECTOR; i++)
        upper[i] = ((double)before[i] * grey + (double)sums[i] * disparity) / 256;
    for (int i = 0; i < 6; i++)
        vector[i] = -(double)sums[SUM_VECTOR + i] * disparity / 256;
    align_solve(upper, vector, step);
    motion_apply(m, step);
}

/* The sum of the 3x3 pixels around; at the border the outermost ones count again. */
struct sum_around_args {
    const uint8_t *source;
    uint16_t *out;
    int width, height;
};

STAGE void stage_sum_around(const struct sum_around_args *a, int x, int y) {
    int left = stage_max(x - 1, 0), right = stage_min(x + 1, a->width - 1), sum = 0;
    for (int dy = -1; dy <= 1; dy++) {
        const uint8_t *row = a->source + (size_t)stage_clamp(y + dy, 0, a->height - 1) * a->width;
        sum += row[left] + row[x] + row[right];
    }
    a->out[(size_t)y * a->width + x] = (uint16_t)sum;
}

/* The last map moved into this frame. Of points that fall on one pixel the nearest is taken; gaps
 * of one pixel between neighbours that agree are closed; then each pixel reads the old map between
 * its pixels at the place where it came from, so that rounding does not add up. */
struct move_args {
    const int32_t *running; /* of the last frame, 1/256 px */
    const uint16_t *variance;
    const uint8_t *state;
    const uint16_t *before, *now; /* stage_sum_around's of both pictures */
    const struct rig_motion *motion;
    uint64_t *vote; /* disparity + doffs in 1/256 px, + 1, in its upper half, then the pixel */
    int32_t *moved; /* 1/256 px, NOT_MOVED where nothing is known */
    uint16_t *moved_variance;
    uint8_t *moved_state, *fits; /* fits: FITS_NOTHING and so on */
    struct pinhole camera;
    int width, height;
};

enum { NOT_MOVED = -(1 << 30) };
enum { FITS_NOTHING, FITS, FITS_NOT };

STAGE void stage_move_start(const struct move_args *a, int x, int y) {
    a->vote[(size_t)y * a->width + x] = 0;
}

STAGE void stage_move_vote(const struct move_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    struct aligned_point p;
    if (a->motion->state != MOTION_FOUND || a->state[i] == 0 ||
        !move_point(a->motion->turn, a->motion->shift, &a->camera, (float)x, (float)y,
                    (float)a->running[i] / 256, &p))
        return;
    float u = p.x + 0.5f, v = p.y + 0.5f;
    if (!(u >= 0 && v >= 0 && u < (float)a->width && v < (float)a->height))
        return;
    uint64_t value = (uint64_t)(256 * p.rho * a->camera.focal + 1.5f) << 32 | i;
    stage_raise64(a->vote + (size_t)(int)v * a->width + (int)u, value);
}

/* What a vote says, in 1/256 px; 0: nothing. */
STAGE int vote_at(const struct move_args *a, int x, int y) {
    int inside = x >= 0 && y >= 0 && x < a->width && y < a->height;
    return inside ? (int)(a->vote[(size_t)y * a->width + x] >> 32) : 0;
}

/* own, or the mean of two neighbours that agree within 1 px where own is farther by more. */
STAGE int close_gap(int own, int first, int second) {
    int mean = (first + second) / 2;
    return first && second && stage_abs(first - second) <= 256 &&
                   own < stage_min(first, second) - 256
               ? mean
               : own;
}

/* 9 times the mean grey of the 3x3 pixels around, at a place that may lie between pixels. */
STAGE float grey_around(const struct move_args *a, int x, int y, float fx, float fy) {
    int right = x + 1 < a->width, down = y + 1 < a->height ? a->width : 0;
    const uint16_t *p = a->before + (size_t)y * a->width + x;
    float top = (float)p[0] + fx * ((float)p[right] - (float)p[0]);
    float bottom = (float)p[down] + fx * ((float)p[down + right] - (float)p[down]);
    return top + fy * (bottom - top);
}

/* Reads the old map at the place (u, v), with a disparity near d: the mean of the neighbours within
 * 1 px of it. 0 where there is none. */
STAGE int read_old(const struct move_args *a, float u, float v, float d, float *disparity,
                   float *variance, int *state) {
    int iu = stage_clamp((int)u, 0, a->width - 1), iv = stage_clamp((int)v, 0, a->height - 1);
    float fx = u - (float)iu, fy = v - (float)iv, weight = 0, most = 0;
    *disparity = *variance = 0;
    for (int n = 0; n < 4; n++) {
        size_t i = (size_t)stage_min(iv + (n >> 1), a->height - 1) * a->width +
                   stage_min(iu + (n & 1), a->width - 1);
        float w = (n & 1 ? fx : 1 - fx) * (n >> 1 ? fy : 1 - fy), was = (float)a->running[i] / 256;
        float off = was - d;
        if (a->state[i] == 0 || !(w > 0) || off > 1 || off < -1)
            continue;
        weight += w;
        *disparity += w * was;
        *variance += w * (float)a->variance[i];
        if (w > most) {
            most = w;
            *state = a->state[i];
        }
    }
    if (!(weight > 0.01f))
        return 0;
    *disparity /= weight;
    *variance /= weight;
    return 1;
}

/* Whether the pixel's grey is that of the place that it came from. */
STAGE uint8_t grey_fits(const struct move_args *a, int x, int y, float u, float v) {
    const float largest = 9 * 6; /* 6 grey levels */
    int iu = stage_clamp((int)u, 0, a->width - 1), iv = stage_clamp((int)v, 0, a->height - 1);
    float off = a->motion->gain * grey_around(a, iu, iv, u - (float)iu, v - (float)iv) -
                (float)a->now[(size_t)y * a->width + x];
    return off > largest || off < -largest ? FITS_NOT : FITS;
}

STAGE void move_found(const struct move_args *a, int x, int y, size_t i) {
    const float *t = a->motion->turn, *s = a->motion->shift;
    const struct pinhole *c = &a->camera;
    int own = vote_at(a, x, y);
    own = close_gap(own, vote_at(a, x - 1, y), vote_at(a, x + 1, y));
    own = close_gap(own, vote_at(a, x, y - 1), vote_at(a, x, y + 1));
    if (own == 0)
        return;
    /* back: the transpose of turn, of the point less shift */
    float near = (float)(own - 1) / (256 * c->focal),
          px = ((float)x - c->cx) / c->focal - s[0] * near,
          py = ((float)y - c->cy) / c->focal - s[1] * near, pz = 1 - s[2] * near;
    float z = t[2] * px + t[5] * py + t[8] * pz;
    float u = c->cx + c->focal * (t[0] * px + t[3] * py + t[6] * pz) / z;
    float v = c->cy + c->focal * (t[1] * px + t[4] * py + t[7] * pz) / z;
    float d, variance;
    int state = 0;
    struct aligned_point p;
    if (!(z > 0.05f && u >= 0 && v >= 0 && u <= (float)(a->width - 1) &&
          v <= (float)(a->height - 1)) ||
        !read_old(a, u, v, near * c->focal / z - c->doffs, &d, &variance, &state) ||
        !move_point(t, s, c, u, v, d, &p))
        return;
    float moved = p.rho * c->focal, was = d + c->doffs;
    float ratio = was > 0.1f ? moved / was : 1, square = ratio * ratio;
    float spread = variance * square * square;
    a->moved[i] = (int32_t)(256 * (moved - c->doffs + 4096) + 0.5f) - (4096 << 8);
    a->moved_variance[i] = (uint16_t)(spread < 65535 ? spread : 65535);
    a->moved_state[i] = (uint8_t)state;
    a->fits[i] = grey_fits(a, x, y, u, v);
}

STAGE void stage_move_take(const struct move_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    a->moved[i] = NOT_MOVED;
    a->fits[i] = FITS_NOTHING;
    a->moved_state[i] = 0;
    a->moved_variance[i] = 0;
    if (a->motion->state == MOTION_FOUND) {
        move_found(a, x, y, i);
    } else if (a->motion->state == MOTION_NONE && a->state[i] > 0) {
        a->moved[i] = a->running[i];
        a->moved_variance[i] = a->variance[i];
        a->moved_state[i] = a->state[i];
        a->fits[i] = grey_fits(a, x, y, (float)x, (float)y);
    }
}

/* Temporal filter of a map. Where the moved map and the new one agree, the mean weighted by inverse
 * variances; where they do not, the moved one for KEPT_FRAMES frames, unless the new one's variance
 * is SURER times less. Nothing is taken over where the moved picture does not fit the new one,
 * there or at a fifth of the 16x16 pixels around, nor where a tenth of these are sure and
 * elsewhere by now: things that move by themselves, and what they uncover. */
enum {
    FIT_BLOCK = 4,       /* px */
    FIT_SHARE = 51,      /* of 256 */
    LEAST_VARIANCE = 23, /* 1/1024 px^2: 0.15 px */
    AGREEING_LEAST = 256,
    AGREEING_MOST = 4096, /* likewise: 0.5 and 2 px */
    KEPT_FRAMES = 2,
    SURER = 4,
    MIN_NEW_SHARE = 8 /* of 256 */
};

/* How many pixels of a block do not fit, and how many sure ones are elsewhere by now. */
struct count_misfits_args {
    const uint8_t *fits, *confidence;
    const int32_t *moved;
    const int16_t *source;
    uint8_t *misfits, *clashes; /* a block each */
    int width, height, blocks;
};

enum { CLASH = 256, CLASH_SURE = 216, CLASH_SHARE = 24 }; /* 1/256 px; confidence; of 256 */

STAGE void stage_count_misfits(const struct count_misfits_args *a, int bx, int by) {
    int misfits = 0, clashes = 0;
    for (int y = FIT_BLOCK * by; y < stage_min(FIT_BLOCK * (by + 1), a->height); y++)
        for (int x = FIT_BLOCK * bx; x < stage_min(FIT_BLOCK * (bx + 1), a->width); x++) {
            size_t i = (size_t)y * a->width + x;
            misfits += a->fits[i] == FITS_NOT;
            clashes += a->fits[i] != FITS_NOTHING && a->confidence[i] >= CLASH_SURE &&
                       stage_abs(16 * a->source[i] - a->moved[i]) > CLASH;
        }
    a->misfits[(size_t)by * a->blocks + bx] = (uint8_t)misfits;
    a->clashes[(size_t)by * a->blocks + bx] = (uint8_t)clashes;
}

/* Sums of 4x4 blocks from (bx - 2, by - 2) on: of the 16x16 pixels around those whose x and y, two
 * more and divided by FIT_BLOCK, are bx and by. */
struct gather_args {
    const uint8_t *misfits, *clashes;
    uint16_t *misfits_around, *clashes_around; /* (blocks + 1) * (rows + 1) */
    int blocks, rows;
};

STAGE void stage_gather(const struct gather_args *a, int bx, int by) {
    size_t i = (size_t)by * (a->blocks + 1) + bx;
    int misfits = 0, clashes = 0;
    for (int y = stage_max(by - 2, 0); y < stage_min(by + 2, a->rows); y++)
        for (int x = stage_max(bx - 2, 0); x < stage_min(bx + 2, a->blocks); x++) {
            misfits += a->misfits[(size_t)y * a->blocks + x];
            clashes += a->clashes[(size_t)y * a->blocks + x];
        }
    a->misfits_around[i] = (uint16_t)misfits;
    a->clashes_around[i] = (uint16_t)clashes;
}

struct temporal_args {
    const int16_t *source;
    const uint8_t *confidence;
    const int32_t *moved; /* struct move_args's */
    const uint16_t *moved_variance;
    const uint8_t *moved_state, *fits;
    const uint16_t *misfits, *clashes; /* struct gather_args's */
    const struct rig_motion *motion;
    int32_t *running;   /* 1/256 px */
    uint16_t *variance; /* 1/1024 px^2 */
    uint8_t *state;     /* 0: nothing is known; n: n - 1 frames in a row did not agree */
    int16_t *out;
    uint8_t *confidence_out;
    int width, height, blocks;
    int drift;           /* 1/1024 px^2: what a moving rig adds to the variance in a frame */
    uint16_t spread[32]; /* likewise: the variance of a disparity by its confidence / 8 */
};

/* The highest confidence whose variance is not less. */
STAGE int confidence_of(const struct temporal_args *a, int variance) {
    int row = 8;
    while (row < 31 && a->spread[row + 1] >= variance)
        row++;
    return 8 * row + 4;
}

STAGE void stage_temporal(const struct temporal_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    size_t around = (size_t)((y + 2) / FIT_BLOCK) * (a->blocks + 1) + (x + 2) / FIT_BLOCK;
    int d = 16 * a->source[i], own = a->spread[a->confidence[i] >> 3], variance = own, state = 1;
    int known = a->source[i] != UNKNOWN, shown = d, shown_variance = own, moved = a->moved[i];
    if (moved != NOT_MOVED && a->fits[i] == FITS && known && a->misfits[around] <= FIT_SHARE) {
        int before = stage_min(
            a->moved_variance[i] + (a->motion->state == MOTION_FOUND ? a->drift : 0), 65535);
        int off = stage_clamp(d - moved, -4096, 4096), sum = before + own;
        if (off * off >> 6 <= stage_clamp(4 * sum, AGREEING_LEAST, AGREEING_MOST)) {
            int share = stage_max(256 * before / stage_max(sum, 1), MIN_NEW_SHARE);
            shown = d = moved + ((share * off + 128) >> 8);
            shown_variance = variance = stage_max(before - (before * share >> 8), LEAST_VARIANCE);
        } else if (a->moved_state[i] <= KEPT_FRAMES && a->clashes[around] <= CLASH_SHARE) {
            state = a->moved_state[i] + 1;
            if (before < SURER * own) {
                shown = moved;
                shown_variance = before;
            }
            d = moved;
            variance = before;
        }
    }
    a->running[i] = d;
    a->variance[i] = (uint16_t)variance;
    a->state[i] = (uint8_t)(known ? state : 0);
    a->out[i] = (int16_t)(known ? (shown + 8) >> 4 : UNKNOWN);
    a->confidence_out[i] =
        shown == 16 * a->source[i] ? a->confidence[i] : (uint8_t)confidence_of(a, shown_variance);
}
