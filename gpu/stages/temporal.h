/*
 * Maps of a sequence: the last frame's map, moved with the camera, is averaged with the new one
 * where both agree. How the camera has moved is the pose that moves patches of the last picture, by
 * their disparities, to where block matching finds them in this one.
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
    int32_t state;
};

/* state: nothing is taken over; the rig stands still; it has moved. */
enum { MOTION_UNKNOWN, MOTION_NONE, MOTION_FOUND };

/* A pixel of the map that is kept for the next frame. */
struct estimate {
    int32_t disparity; /* 1/256 px */
    uint16_t variance; /* 1/1024 px^2 */
    uint8_t state;     /* 0: nothing is known; n: n - 1 frames in a row did not agree */
    uint8_t fits;      /* of a moved one, see grey_fits(); else 0 */
};

STAGE float float_abs(float a) {
    return a < 0 ? -a : a;
}

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

/* Patches of 8x8 pixels of a shrunk picture, in rows and columns of so many pixels. */
enum { PATCH_SIDE = 8, PATCH_MIDDLE = 4, MOST_REACH = 5, SURE_VARIANCE = 512 }; /* 1/1024 px^2 */

/* Where a patch is. */
struct patch_match {
    float x, y;       /* its middle in this picture, px; x is negative where it is not known */
    float disparity;  /* in the last map, px */
    uint16_t was, is; /* sums of its grey levels, before and now */
};

struct find_patch_args {
    const uint8_t *before, *now;     /* shrunk pictures */
    const struct estimate *last;     /* of the last frame, map_width wide */
    const struct rig_motion *motion; /* looked for around the place where this moves a patch */
    struct patch_match *out;         /* columns wide */
    struct pinhole camera;
    int width, height, map_width; /* width, height: of before and now */
    int size;                     /* px of the map in a pixel of before, along a side */
    int spacing;                  /* pixels from a patch to the next one */
    int reach;                    /* likewise: how far it is looked for, at most MOST_REACH */
    int columns;
    int fine; /* the place is known but for a pixel or so, and motion has the gain */
};

STAGE int patches_along(int side, int spacing) {
    return side < PATCH_SIDE ? 0 : (side - PATCH_SIDE) / spacing + 1;
}

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

/* Whether a patch has texture along both x and y. */
STAGE int patch_is_textured(const uint8_t *p, int width) {
    enum { LEAST = 2 * PATCH_SIDE * (PATCH_SIDE - 1) };
    int along = 0, down = 0;
    for (int i = 0; i < PATCH_SIDE; i++)
        for (int k = 0; k + 1 < PATCH_SIDE; k++) {
            along += stage_abs(p[i * width + k + 1] - p[i * width + k]);
            down += stage_abs(p[(k + 1) * width + i] - p[k * width + i]);
        }
    return along >= LEAST && down >= LEAST;
}

/* Where patch (column, row) begins in before, and where it is looked for in now. Its disparity is
 * the mean of the two pixels at its middle, where they are known, sure and agree. 0: it is left
 * out. */
STAGE int patch_begins(const struct find_patch_args *a, int column, int row, int begin[2],
                       int around[2], float *disparity) {
    struct aligned_point p;
    for (int i = 0; i < 2; i++)
        begin[i] = (i ? row : column) * a->spacing;
    int x = (begin[0] + PATCH_MIDDLE) * a->size, y = (begin[1] + PATCH_MIDDLE) * a->size;
    const struct estimate *after = a->last + (size_t)y * a->map_width + x,
                          *before = after - a->map_width - 1;
    *disparity = (float)(before->disparity + after->disparity) / 512;
    if (before->state == 0 || after->state == 0 || before->variance > SURE_VARIANCE ||
        after->variance > SURE_VARIANCE || stage_abs(before->disparity - after->disparity) > 256 ||
        !patch_is_textured(a->before + (size_t)begin[1] * a->width + begin[0], a->width) ||
        !move_point(a->motion->turn, a->motion->shift, &a->camera, (float)x - 0.5f, (float)y - 0.5f,
                    *disparity, &p))
        return 0;
    float u = (p.x + 0.5f) / (float)a->size, v = (p.y + 0.5f) / (float)a->size;
    if (!(u > 0 && v > 0 && u < (float)a->width && v < (float)a->height))
        return 0;
    around[0] = (int)(u + 0.5f) - PATCH_MIDDLE;
    around[1] = (int)(v + 0.5f) - PATCH_MIDDLE;
    return around[0] >= a->reach && around[1] >= a->reach &&
           around[0] + PATCH_SIDE + a->reach <= a->width &&
           around[1] + PATCH_SIDE + a->reach <= a->height;
}

/* A patch of before, brought to the gain that is known: 8 a row. */
STAGE void patch_read(const struct find_patch_args *a, const int begin[2],
                      uint8_t patch[PATCH_SIDE * PATCH_SIDE]) {
    const uint8_t *p = a->before + (size_t)begin[1] * a->width + begin[0];
    float gain = a->fine ? a->motion->gain : 1;
    for (int y = 0; y < PATCH_SIDE; y++)
        for (int x = 0; x < PATCH_SIDE; x++)
            patch[y * PATCH_SIDE + x] =
                (uint8_t)stage_min((int)(gain * (float)p[y * a->width + x] + 0.5f), 255);
}

STAGE int patch_sum(const uint8_t *p, int width) {
    int sum = 0;
    for (int y = 0; y < PATCH_SIDE; y++)
        for (int x = 0; x < PATCH_SIDE; x++)
            sum += p[y * width + x];
    return sum;
}

/* The sum of squared differences of a patch, whose sum is was, from one of now, once the difference
 * of their means is taken out: exposure changes. */
STAGE int patch_cost(const uint8_t *patch, int was, const uint8_t *now, int width) {
    int brighter = (patch_sum(now, width) - was) / (PATCH_SIDE * PATCH_SIDE), cost = 0;
    for (int y = 0; y < PATCH_SIDE; y++)
        for (int x = 0; x < PATCH_SIDE; x++) {
            int off = now[y * width + x] - patch[y * PATCH_SIDE + x] - brighter;
            cost += off * off;
        }
    return cost;
}

enum { PATCH_PLACES = (2 * MOST_REACH + 1) * (2 * MOST_REACH + 1) };

/* The place of the least cost, between pixels by the quadratic function through the costs around,
 * where it is inside and, unless fine, no place apart from it costs less than 16/9 of it. cost:
 * 2 reach + 1 places a row. */
STAGE int patch_place(const struct find_patch_args *a, const int *cost, int *best, float off[2]) {
    int side = 2 * a->reach + 1, second = 1 << 30;
    *best = 0;
    for (int i = 1; i < side * side; i++)
        if (cost[i] < cost[*best])
            *best = i;
    int x = *best % side, y = *best / side;
    for (int i = 0; i < side * side; i++)
        if (stage_abs(i % side - x) > 1 || stage_abs(i / side - y) > 1)
            second = stage_min(second, cost[i]);
    if (x == 0 || y == 0 || x == side - 1 || y == side - 1 ||
        (!a->fine && 16 * cost[*best] / 9 > second))
        return 0;
    const int *c = cost + *best;
    float xx = (float)(c[1] + c[-1] - 2 * c[0]), yy = (float)(c[side] + c[-side] - 2 * c[0]),
          xy = 0.25f * (float)(c[side + 1] + c[-side - 1] - c[side - 1] - c[1 - side]);
    float gx = 0.5f * (float)(c[1] - c[-1]), gy = 0.5f * (float)(c[side] - c[-side]);
    float det = xx * yy - xy * xy;
    if (!(det > 0.05f * xx * yy))
        return 0;
    off[0] = (xy * gy - yy * gx) / det;
    off[1] = (xy * gx - xx * gy) / det;
    return off[0] > -1 && off[0] < 1 && off[1] > -1 && off[1] < 1;
}

/* Finds the place of a patch of this disparity by the costs of the places around. */
STAGE struct patch_match patch_found(const struct find_patch_args *a, const int begin[2],
                                     const int around[2], float disparity, const int *cost) {
    struct patch_match m = {-1, 0, disparity, 0, 0};
    int best, side = 2 * a->reach + 1;
    float off[2];
    if (!patch_place(a, cost, &best, off))
        return m;
    int x = around[0] + best % side - a->reach, y = around[1] + best / side - a->reach;
    m.x = ((float)(x + PATCH_MIDDLE) + off[0]) * (float)a->size - 0.5f;
    m.y = ((float)(y + PATCH_MIDDLE) + off[1]) * (float)a->size - 0.5f;
    m.was = (uint16_t)patch_sum(a->before + (size_t)begin[1] * a->width + begin[0], a->width);
    m.is = (uint16_t)patch_sum(a->now + (size_t)y * a->width + x, a->width);
    return m;
}

STAGE void stage_find_patch(const struct find_patch_args *a, int column, int row) {
    int begin[2], around[2], cost[PATCH_PLACES] = {0}, side = 2 * a->reach + 1;
    uint8_t patch[PATCH_SIDE * PATCH_SIDE];
    struct patch_match m = {-1, 0, 0, 0, 0};
    float disparity;
    if (patch_begins(a, column, row, begin, around, &disparity)) {
        const uint8_t *now =
            a->now + (size_t)(around[1] - a->reach) * a->width + around[0] - a->reach;
        patch_read(a, begin, patch);
        int was = patch_sum(patch, PATCH_SIDE);
        for (int i = 0; i < side * side; i++)
            cost[i] =
                patch_cost(patch, was, now + (size_t)(i / side) * a->width + i % side, a->width);
        m = patch_found(a, begin, around, disparity, cost);
    }
    a->out[(size_t)row * a->columns + column] = m;
}

/* Solves a x = b for six unknowns, a positive definite, its upper half row by row. */
STAGE void pose_solve(const double *upper, const double *vector, double x[6]) {
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
    struct rig_motion small = {{a[0], a[1], a[2]}, {0}, {0}, 0, 0};
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

/* The pose by Gauss-Newton steps on the distances of moved patches from where they are, with
 * weights of Geman and McClure whose scale is halved from step to step (graduated non-convexity:
 * Blake, Zisserman 1987). */
struct pose_args {
    const struct patch_match *matches;
    struct rig_motion *motion;
    struct pinhole camera;
    int columns, count;
    float first, spacing;    /* middle of the first patch, and from one to the next, px */
    float widest, narrowest; /* scale of the weights, px */
    int steps;
    int last; /* judges, too */
};

/* Sums of a step, in 1/256: the upper half of J^T W J row by row, J^T W r; then weighted grey
 * levels, ways in px, weights; and how many points there are, and how many fit within 1 px. */
enum {
    SUM_VECTOR = 21,
    SUM_WAS = 27,
    SUM_IS,
    SUM_WAY,
    SUM_WEIGHT,
    SUM_POINTS,
    SUM_FITTING,
    POSE_SUMS
};

/* Adds a residual of weight w, along x or y, of a point that is at p. */
STAGE void pose_add_residual(const struct pose_args *a, const struct aligned_point *p, int down,
                             float r, float w, float sum[POSE_SUMS]) {
    float f = a->camera.focal, at = down ? p->py : p->px, across = at * p->px, along = at * p->py;
    float jacobian[6] = {-f * along, f * (across + 1), -f * p->py, f * p->rho, 0, -f * at * p->rho};
    if (down) {
        jacobian[0] = -f * (along + 1);
        jacobian[1] = f * across;
        jacobian[2] = f * p->px;
        jacobian[3] = 0;
        jacobian[4] = f * p->rho;
    }
    for (int i = 0, k = 0; i < 6; i++) {
        float wj = w * jacobian[i];
        for (int m = i; m < 6; m++)
            sum[k++] += wj * jacobian[m];
        sum[SUM_VECTOR + i] += wj * r;
    }
}

/* Adds patch number i to the sums, of which each is rounded by itself. */
STAGE void pose_add(const struct pose_args *a, const struct rig_motion *m, int i, float scale,
                    int64_t sums[POSE_SUMS]) {
    struct patch_match q = a->matches[i];
    int column = i % a->columns, row = i / a->columns;
    float x = a->first + a->spacing * (float)column, y = a->first + a->spacing * (float)row;
    float sum[POSE_SUMS] = {0};
    struct aligned_point p;
    if (q.x < 0 || !move_point(m->turn, m->shift, &a->camera, x, y, q.disparity, &p))
        return;
    float ex = p.x - q.x, ey = p.y - q.y, square = ex * ex + ey * ey;
    float root = scale * scale / (scale * scale + square), w = root * root;
    pose_add_residual(a, &p, 0, ex, w, sum);
    pose_add_residual(a, &p, 1, ey, w, sum);
    float wx = q.x - x, wy = q.y - y;
    sum[SUM_WAS] = w * (float)q.was;
    sum[SUM_IS] = w * (float)q.is;
    sum[SUM_WAY] = w * (float_abs(wx) + float_abs(wy));
    sum[SUM_WEIGHT] = w;
    sum[SUM_POINTS] = 1;
    sum[SUM_FITTING] = square < 1 ? 1 : 0;
    for (int k = 0; k < POSE_SUMS; k++)
        sums[k] += (int64_t)(256 * sum[k]);
}

enum { LEAST_PATCHES = 12 };

STAGE void pose_step(struct rig_motion *m, const int64_t sums[POSE_SUMS]) {
    double upper[SUM_VECTOR], vector[6], step[6];
    for (int i = 0; i < SUM_VECTOR; i++)
        upper[i] = (double)sums[i] / 256;
    for (int i = 0; i < 6; i++)
        vector[i] = -(double)sums[SUM_VECTOR + i] / 256;
    pose_solve(upper, vector, step);
    motion_apply(m, step);
}

/* The gain; with the last pass whether the pose is known: at least half of the patches fit. */
STAGE void pose_judge(const struct pose_args *a, const int64_t sums[POSE_SUMS],
                      struct rig_motion *m) {
    const double still = 0.3; /* px */
    float gain = sums[SUM_WAS] > 0 ? (float)((double)sums[SUM_IS] / (double)sums[SUM_WAS]) : 1;
    int known =
        sums[SUM_POINTS] >= 256 * LEAST_PATCHES && 2 * sums[SUM_FITTING] >= sums[SUM_POINTS];
    m->gain = gain > 0.5f ? gain : 0.5f;
    if (!a->last)
        return;
    m->state = MOTION_UNKNOWN;
    if (known && (double)sums[SUM_WAY] < still * (double)sums[SUM_WEIGHT])
        m->state = MOTION_NONE;
    else if (known && a->camera.known)
        m->state = MOTION_FOUND;
    if (m->state != MOTION_FOUND)
        motion_clear(m);
}

/* The scale of the next step. */
STAGE float pose_scale(const struct pose_args *a, float scale) {
    return scale > 2 * a->narrowest ? scale / 2 : a->narrowest;
}

/* One element. */
STAGE void stage_pose(const struct pose_args *a, int x, int y) {
    struct rig_motion m = *a->motion;
    int64_t sums[POSE_SUMS] = {0};
    float scale = a->widest;
    (void)x, (void)y;
    for (int step = 0; step < a->steps; step++) {
        for (int k = 0; k < POSE_SUMS; k++)
            sums[k] = 0;
        for (int i = 0; i < a->count; i++)
            pose_add(a, &m, i, scale, sums);
        if (sums[SUM_POINTS] >= 256 * LEAST_PATCHES)
            pose_step(&m, sums);
        scale = pose_scale(a, scale);
    }
    pose_judge(a, sums, &m);
    *a->motion = m;
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
    const struct estimate *last;  /* of the last frame */
    const uint16_t *before, *now; /* stage_sum_around's of both pictures */
    const struct rig_motion *motion;
    uint64_t *vote; /* disparity + doffs in 1/256 px, + 1, in its upper half, then the pixel */
    struct estimate *moved;
    struct pinhole camera;
    int width, height;
};

enum { FITS_NOTHING, FITS, FITS_TEXTURED, FITS_NOT };

STAGE void stage_move_start(const struct move_args *a, int x, int y) {
    a->vote[(size_t)y * a->width + x] = 0;
}

STAGE void stage_move_vote(const struct move_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    struct aligned_point p;
    if (a->motion->state != MOTION_FOUND || a->last[i].state == 0 ||
        !move_point(a->motion->turn, a->motion->shift, &a->camera, (float)x, (float)y,
                    (float)a->last[i].disparity / 256, &p))
        return;
    float u = p.x + 0.5f, v = p.y + 0.5f;
    if (!(u >= 0 && v >= 0 && u < (float)a->width && v < (float)a->height))
        return;
    uint64_t value = (uint64_t)(256 * p.rho * a->camera.focal + 1.5f) << 32 | i;
    stage_raise64(a->vote + (size_t)(int)v * a->width + (int)u, value);
}

/* 1 + (disparity + doffs) of a vote, in 1/256 px; 0 where there is none. */
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
        const struct estimate *e = a->last +
                                   (size_t)stage_min(iv + (n >> 1), a->height - 1) * a->width +
                                   stage_min(iu + (n & 1), a->width - 1);
        float across = n & 1 ? fx : 1 - fx;
        float w = across * (n >> 1 ? fy : 1 - fy);
        float was = (float)e->disparity / 256, off = was - d;
        if (e->state == 0 || !(w > 0) || off > 1 || off < -1)
            continue;
        weight += w;
        *disparity += w * was;
        *variance += w * (float)e->variance;
        if (w > most) {
            most = w;
            *state = e->state;
        }
    }
    if (!(weight > 0.01f))
        return 0;
    *disparity /= weight;
    *variance /= weight;
    return 1;
}

/* In 1/9 of a grey level, the latter across 2 px. */
enum { MISFIT_LEVELS = 20, TEXTURE = 64 };

/* Whether the pixel's grey is that of the place that it came from: within some 2 levels and what
 * half a px changes. Where there is texture, a fit says that nothing moves by itself. */
STAGE uint8_t grey_fits(const struct move_args *a, int x, int y, float u, float v) {
    int iu = stage_clamp((int)u, 0, a->width - 1), iv = stage_clamp((int)v, 0, a->height - 1);
    const uint16_t *now = a->now + (size_t)y * a->width + x;
    int left = x > 0, right = x + 1 < a->width, up = a->width * (y > 0),
        down = a->width * (y + 1 < a->height);
    int slope = stage_abs(now[right] - now[-left]) + stage_abs(now[down] - now[-up]);
    float off =
        a->motion->gain * grey_around(a, iu, iv, u - (float)iu, v - (float)iv) - (float)now[0];
    if (float_abs(off) > (float)MISFIT_LEVELS + 0.25f * (float)slope)
        return FITS_NOT;
    return slope >= TEXTURE ? FITS_TEXTURED : FITS;
}

STAGE struct estimate move_found(const struct move_args *a, int x, int y) {
    const float *t = a->motion->turn, *s = a->motion->shift;
    const struct pinhole *c = &a->camera;
    struct estimate e = {0, 0, 0, FITS_NOTHING};
    int own = vote_at(a, x, y), state = 0;
    own = close_gap(own, vote_at(a, x - 1, y), vote_at(a, x + 1, y));
    own = close_gap(own, vote_at(a, x, y - 1), vote_at(a, x, y + 1));
    if (own == 0)
        return e;
    /* back: the transpose of turn, of the point less shift */
    float near = (float)(own - 1) / (256 * c->focal), d, variance;
    float px = ((float)x - c->cx) / c->focal - s[0] * near,
          py = ((float)y - c->cy) / c->focal - s[1] * near, pz = 1 - s[2] * near;
    float z = t[2] * px + t[5] * py + t[8] * pz;
    float u = c->cx + c->focal * (t[0] * px + t[3] * py + t[6] * pz) / z;
    float v = c->cy + c->focal * (t[1] * px + t[4] * py + t[7] * pz) / z;
    struct aligned_point p;
    if (!(z > 0.05f && u >= 0 && v >= 0 && u <= (float)(a->width - 1) &&
          v <= (float)(a->height - 1)) ||
        !read_old(a, u, v, near * c->focal / z - c->doffs, &d, &variance, &state) ||
        !move_point(t, s, c, u, v, d, &p))
        return e;
    float moved = p.rho * c->focal, was = d + c->doffs;
    float ratio = was > 0.1f ? moved / was : 1, square = ratio * ratio;
    float spread = variance * square * square;
    e.disparity = (int32_t)(256 * (moved - c->doffs + 4096) + 0.5f) - (4096 << 8);
    e.variance = (uint16_t)(spread < 65535 ? spread : 65535);
    e.state = (uint8_t)state;
    e.fits = grey_fits(a, x, y, u, v);
    return e;
}

STAGE void stage_move_take(const struct move_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    struct estimate e = {0, 0, 0, FITS_NOTHING};
    if (a->motion->state == MOTION_FOUND) {
        e = move_found(a, x, y);
    } else if (a->motion->state == MOTION_NONE && a->last[i].state > 0) {
        e = a->last[i];
        e.fits = grey_fits(a, x, y, (float)x, (float)y);
    }
    a->moved[i] = e;
}

/* Cells of 8x8 px: how many pixels do not fit, how many tell (have texture, or do not fit), and how
 * many sure ones are elsewhere by now. */
enum { CELL = 8, CLASH = 256, CLASH_SURE = 216 }; /* CLASH: 1/256 px; CLASH_SURE: confidence */

struct cell_counts {
    uint8_t misfits, telling, clashes;
};

struct count_cells_args {
    const struct estimate *moved;
    const int16_t *source;
    const uint8_t *confidence;
    struct cell_counts *out; /* cells wide */
    int width, height, cells;
};

/* Adds a pixel to misfits, telling, clashes. */
STAGE void pixel_counts(struct estimate moved, int source, int confidence, int counts[3]) {
    counts[0] += moved.fits == FITS_NOT;
    counts[1] += moved.fits >= FITS_TEXTURED;
    counts[2] += moved.fits != FITS_NOTHING && confidence >= CLASH_SURE &&
                 stage_abs(16 * source - moved.disparity) > CLASH;
}

STAGE void stage_count_cells(const struct count_cells_args *a, int cx, int cy) {
    int n[3] = {0, 0, 0};
    for (int y = CELL * cy; y < stage_min(CELL * (cy + 1), a->height); y++)
        for (int x = CELL * cx; x < stage_min(CELL * (cx + 1), a->width); x++) {
            size_t i = (size_t)y * a->width + x;
            pixel_counts(a->moved[i], a->source[i], a->confidence[i], n);
        }
    struct cell_counts counts = {(uint8_t)n[0], (uint8_t)n[1], (uint8_t)n[2]};
    a->out[(size_t)cy * a->cells + cx] = counts;
}

/* Whether a cell shows things that move by themselves. Of the 3x3 cells around, or the 7x7
 * where those tell too little, more than a third of the telling pixels do not fit: it moves. A
 * tenth of the 3x3 cells are sure and elsewhere by now: it clashes. */
enum { CELL_MOVES = 1, CELL_CLASHES = 2 };

struct judge_cells_args {
    const struct cell_counts *counts;
    uint8_t *out;
    int cells, rows;
};

STAGE void stage_judge_cells(const struct judge_cells_args *a, int cx, int cy) {
    enum { MOVING_SHARE = 90, CLASH_SHARE = 24, WIDEST = 3 }; /* shares of 256 */
    int judged = 0;
    for (int reach = 1, told = 0; reach <= WIDEST && !told; reach += 2) {
        int misfits = 0, telling = 0, clashes = 0, pixels = 0;
        for (int y = stage_max(cy - reach, 0); y <= stage_min(cy + reach, a->rows - 1); y++)
            for (int x = stage_max(cx - reach, 0); x <= stage_min(cx + reach, a->cells - 1); x++) {
                const struct cell_counts *c = &a->counts[(size_t)y * a->cells + x];
                misfits += c->misfits;
                telling += c->telling;
                clashes += c->clashes;
                pixels += CELL * CELL;
            }
        told = 10 * telling >= pixels;
        if (told && 256 * misfits > MOVING_SHARE * telling)
            judged |= CELL_MOVES;
        if (reach == 1 && 256 * clashes > CLASH_SHARE * pixels)
            judged |= CELL_CLASHES;
    }
    a->out[(size_t)cy * a->cells + cx] = (uint8_t)judged;
}

/* Temporal filter of a map. Where the moved map and the new one agree, the mean weighted by inverse
 * variances; where they do not, the moved one for KEPT_FRAMES frames, unless the new one's variance
 * is SURER times less. What moves by itself has to agree more closely, and nothing is kept there
 * nor in cells that clash. */
enum {
    LEAST_VARIANCE = 23,  /* 1/1024 px^2: 0.15 px */
    AGREEING_LEAST = 256, /* likewise: 0.5, 0.7 and 2.8 px */
    AGREEING_MOVING = 512,
    AGREEING_MOST = 8192,
    KEPT_FRAMES = 2,
    SURER = 4,
    MIN_NEW_SHARE = 8 /* of 256 */
};

struct temporal_args {
    const int16_t *source;
    const uint8_t *confidence;
    const struct estimate *moved;
    const uint8_t *judged; /* stage_judge_cells' */
    const struct rig_motion *motion;
    struct estimate *out; /* for the next frame */
    int16_t *shown;
    uint8_t *confidence_out;
    int width, height, cells;
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
    struct estimate moved = a->moved[i];
    int judged = a->judged[(size_t)(y / CELL) * a->cells + x / CELL];
    int most = judged & CELL_MOVES ? AGREEING_MOVING : AGREEING_MOST;
    int d = 16 * a->source[i], own = a->spread[a->confidence[i] >> 3], variance = own, state = 1;
    int known = a->source[i] != UNKNOWN, shown = d, shown_variance = own;
    if (known && (moved.fits == FITS || moved.fits == FITS_TEXTURED)) {
        int drift = a->motion->state == MOTION_FOUND ? a->drift : 0;
        int before = stage_min(moved.variance + drift, 65535);
        int off = stage_clamp(d - moved.disparity, -4096, 4096), sum = before + own;
        if (off * off >> 6 <= stage_clamp(4 * sum, AGREEING_LEAST, most)) {
            int share = stage_max(256 * before / stage_max(sum, 1), MIN_NEW_SHARE);
            shown = d = moved.disparity + ((share * off + 128) >> 8);
            shown_variance = variance = stage_max(before - (before * share >> 8), LEAST_VARIANCE);
        } else if (moved.state <= KEPT_FRAMES && !judged) {
            state = moved.state + 1;
            if (before < SURER * own) {
                shown = moved.disparity;
                shown_variance = before;
            }
            d = moved.disparity;
            variance = before;
        }
    }
    struct estimate e = {d, (uint16_t)variance, (uint8_t)(known ? state : 0), FITS_NOTHING};
    a->out[i] = e;
    a->shown[i] = (int16_t)(known ? (shown + 8) >> 4 : UNKNOWN);
    a->confidence_out[i] =
        shown == 16 * a->source[i] ? a->confidence[i] : (uint8_t)confidence_of(a, shown_variance);
}
