/*
 * The functions of calibration/refine.h. SPDX-License-Identifier: MIT
 */
#include "calibration/refine.h"

#include "calibration/rectify.h"
#include "calibration/row_error.h"
#include "config/log.h"
#include "config/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (M_PI / 180)

enum {
    POSE = 6,   /* turn of the right camera about x, y, z; baseline down, forward; rows by x y */
    MOTION = 6, /* of a couple: turn and shift, in baselines */
    ALL = POSE + MOTION,
    PLACES = 4,  /* x, y in the right and in the later picture */
    CELLS_X = 8, /* parts of the left picture whose errors are independent */
    CELLS_Y = 6,
    CELLS = CELLS_X * CELLS_Y,
    MIN_CELLS = 16, /* that have points */
    MIN_POINTS = 200,
    MIN_COUPLES = 4, /* whose points are seen again */
    MIN_MOVED = 40,  /* points of a couple in the later picture, below which it is not used */
    MAX_ROUNDS = 50
};
#define RANSAC_PX 2.0
#define MIN_AGREE 0.6  /* share of the points that one pose explains */
#define MAX_SCALE 1.0  /* px, the usual residual of a usable fit */
#define MIN_SCALE 0.05 /* px, of residuals: matching is no better */
#define LENS_SD 5.0    /* px of the rows at x y = 1 that lenses may be wrong */
#define MIN_SPREAD 5.0 /* px of disparities: matching's own errors, alike in all, are small by it */
#define MOVED 0.02     /* of the width, how far points should move within a couple */
#define SEEN_AGAIN 0.3 /* share of the points that should be seen again */
#define MOTION_SD 10.0 /* rad and baselines: keeps what nothing determines finite */

/* ---- features */

int refine_find(const uint8_t *left, const uint8_t *right, const uint8_t *later, int width,
                int height, int couple, struct refine_point *points) {
    const uint8_t *const other[2] = {right, later};
    struct feature_match *matches = malloc(MAX_FEATURES * sizeof *matches);
    int *point_of = malloc((size_t)width * (size_t)height * sizeof *point_of);
    int count = 0, found = 0;
    if (!matches || !point_of) {
        found = log_fail(-ENOMEM, "calib refine", "no memory to match features");
    } else {
        memset(point_of, 0xff, (size_t)width * (size_t)height * sizeof *point_of);
    }
    for (int k = 0; k < 2 && other[k] && found >= 0; k++) {
        found = matches_find(left, other[k], width, height, matches);
        for (int i = 0; i < found; i++) {
            struct feature_match m = matches[i];
            if (row_error_refine(left, other[k], width, height, &m))
                continue;
            int *at = &point_of[(int)m.y[0] * width + (int)m.x[0]];
            if (k == 0) {
                *at = count;
                points[count++] = (struct refine_point){
                    couple,
                    0,
                    {{(double)m.x[0], (double)m.y[0]}, {(double)m.x[1], (double)m.y[1]}}};
            } else if (*at >= 0) {
                points[*at].later = 1;
                points[*at].at[2][0] = (double)m.x[1];
                points[*at].at[2][1] = (double)m.y[1];
            }
        }
    }
    free(matches);
    free(point_of);
    return found < 0 ? found : count;
}

double refine_adapt(const struct refine_point *points, int count, int width) {
    double *moved = malloc(((size_t)count + 1) * sizeof *moved);
    int seen = 0;
    for (int i = 0; moved && i < count; i++)
        if (points[i].later)
            moved[seen++] = hypot(points[i].at[2][0] - points[i].at[0][0],
                                  points[i].at[2][1] - points[i].at[0][1]);
    double by = seen < SEEN_AGAIN * count                                            ? 0.5
                : moved && seen > 0 && quantile_of(moved, seen, 0.5) < MOVED * width ? 2
                                                                                     : 1;
    free(moved);
    return by;
}

/* ---- the model */

struct ray_point {
    double ray[3][2]; /* x/z, y/z */
    double depth;     /* its inverse, in baselines */
    int later, couple, cell, point;
    double residual[PLACES], weight[PLACES]; /* px */
    double slope[PLACES][ALL];               /* the depth eliminated */
};

/* What is fitted. */
struct pose {
    double R[9];
    double at[3]; /* direction of the right camera, seen from the left one */
    double rows;  /* rows of the right camera by x y */
};

struct motion {
    double R[9], shift[3]; /* a point X is R X + shift later */
    int points;            /* 0: not used */
};

/* Unit vectors at right angles to the baseline: down, and forward. */
static void tangents(const double at[3], double down[3], double on[3]) {
    double length = hypot(at[0], at[1]);
    down[0] = -at[1] / length;
    down[1] = at[0] / length;
    down[2] = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        on[i] = at[j] * down[k] - at[k] * down[j];
    }
}

static void turn(const double R[9], const double by[3], double out[9]) {
    double by_matrix[9];
    rotation_from_vector(by, by_matrix);
    matrix_multiply(by_matrix, R, out);
}

static void move_pose(const struct pose *from, const double by[POSE], struct pose *to) {
    double down[3], on[3], length = 0;
    struct pose moved = {.rows = from->rows + by[5]};
    turn(from->R, by, moved.R);
    tangents(from->at, down, on);
    for (int i = 0; i < 3; i++) {
        moved.at[i] = from->at[i] + by[3] * down[i] + by[4] * on[i];
        length += moved.at[i] * moved.at[i];
    }
    for (int i = 0; i < 3; i++)
        moved.at[i] /= sqrt(length);
    *to = moved;
}

static void move_motion(const struct motion *from, const double by[MOTION], struct motion *to) {
    struct motion moved = {.points = from->points};
    turn(from->R, by, moved.R);
    for (int i = 0; i < 3; i++)
        moved.shift[i] = from->shift[i] + by[3 + i];
    *to = moved;
}

/* The places of a point, x/z, y/z, at an inverse depth. */
static void project(const struct pose *pose, const struct motion *motion, const struct ray_point *p,
                    double depth, double place[PLACES]) {
    const double x = p->ray[0][0], y = p->ray[0][1];
    double seen[3] = {x - depth * pose->at[0], y - depth * pose->at[1], 1 - depth * pose->at[2]};
    matrix_apply(pose->R, seen, seen);
    place[0] = seen[0] / seen[2];
    place[1] = seen[1] / seen[2] + pose->rows * x * y;
    place[2] = place[3] = 0;
    if (!p->later)
        return;
    const double ray[3] = {x, y, 1};
    matrix_apply(motion->R, ray, seen);
    for (int i = 0; i < 3; i++)
        seen[i] += depth * motion->shift[i];
    place[2] = seen[0] / seen[2];
    place[3] = seen[1] / seen[2];
}

#define STEP 1e-6 /* of derivatives by differences */

/* Residuals at the best depth, and the depth's part of the derivatives. Gives the sum over places
 * that divides them. */
static double solve_depth(const struct pose *pose, const struct motion *motion, double focal,
                          struct ray_point *p, double place[PLACES], double by_depth[PLACES]) {
    double square = 0;
    for (int round = 0; round < 4; round++) {
        double nearer[PLACES], step = 0;
        square = 0;
        project(pose, motion, p, p->depth, place);
        project(pose, motion, p, p->depth + STEP, nearer);
        for (int k = 0; k < PLACES; k++) {
            by_depth[k] = focal * (nearer[k] - place[k]) / STEP;
            p->residual[k] = k < 2 || p->later ? focal * (place[k] - p->ray[1 + k / 2][k % 2]) : 0;
            square += p->weight[k] * by_depth[k] * by_depth[k];
            step += p->weight[k] * by_depth[k] * p->residual[k];
        }
        if (!(square > 1e-9) || round == 3)
            break;
        p->depth = fmin(fmax(p->depth - step / square, -0.1), 10);
    }
    return square;
}

/* Residuals and their derivatives, the depth taken out. */
static void linearise(const struct pose *pose, const struct motion *motion, double focal,
                      struct ray_point *p, int derivatives) {
    double place[PLACES], moved[PLACES], by_depth[PLACES];
    double square = solve_depth(pose, motion, focal, p, place, by_depth);
    for (int j = 0; j < ALL && derivatives; j++) {
        double by[ALL] = {0}, common = 0;
        by[j] = STEP;
        struct pose other_pose = *pose;
        struct motion other_motion = *motion;
        memset(moved, 0, sizeof moved);
        if (j < POSE)
            move_pose(pose, by, &other_pose);
        else if (p->later)
            move_motion(motion, by + POSE, &other_motion);
        project(&other_pose, &other_motion, p, p->depth, moved);
        for (int k = 0; k < PLACES; k++) {
            p->slope[k][j] = focal * (moved[k] - place[k]) / STEP;
            common += p->weight[k] * by_depth[k] * p->slope[k][j];
        }
        for (int k = 0; k < PLACES && square > 1e-9; k++)
            p->slope[k][j] -= by_depth[k] * common / square;
    }
}

/* ---- the fit */

struct fit {
    struct ray_point *point;
    int count, couples;
    double focal, scale[2]; /* px, of residuals in the right and in the later pictures */
    struct pose pose;
    struct motion *motion;
    double moved[POSE];               /* from the old pose */
    double inverse[POSE][POSE];       /* of the reduced normal equations */
    double (*coupling)[MOTION][POSE]; /* of each couple: how its motion follows the pose */
    double (*own)[MOTION];            /* what its motion would move by itself */
    double *values;
};

/* Residuals' usual size without mismatches, and the weights that follow from it. */
static void weigh(struct fit *f) {
    for (int picture = 0; picture < 2; picture++) {
        int n = 0;
        for (int i = 0; i < f->count; i++)
            if (picture == 0 || f->point[i].later)
                f->values[n++] =
                    hypot(f->point[i].residual[2 * picture], f->point[i].residual[2 * picture + 1]);
        f->scale[picture] = fmax(n ? quantile_of(f->values, n, 0.5) : 0, MIN_SCALE);
    }
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < PLACES; k++) {
            struct ray_point *p = &f->point[i];
            double scale = f->scale[k / 2];
            double r = hypot(p->residual[k / 2 * 2], p->residual[k / 2 * 2 + 1]) / (3 * scale);
            double w = 1 / (1 + r * r);
            p->weight[k] = k < 2 || p->later ? w * w / (scale * scale) : 0;
        }
}

/* Inverse of a symmetric positive n x n matrix by Gauss and Jordan, in place. 0, or -EDOM. */
static int invert(double *m, int n) {
    for (int i = 0; i < n; i++) {
        double pivot = m[i * n + i];
        if (!(pivot > 1e-300) || !isfinite(pivot))
            return -EDOM;
        m[i * n + i] = 1;
        for (int k = 0; k < n; k++)
            m[i * n + k] /= pivot;
        for (int j = 0; j < n; j++) {
            double factor = m[j * n + i];
            if (j == i)
                continue;
            m[j * n + i] = 0;
            for (int k = 0; k < n; k++)
                m[j * n + k] -= factor * m[i * n + k];
        }
    }
    return 0;
}

/* Adds a couple's points to the normal equations, its motion eliminated. 0, or -EDOM. */
static int add_couple(struct fit *f, int couple, double A[POSE][POSE], double right[POSE]) {
    double H[ALL][ALL] = {{0}}, g[ALL] = {0}, M[MOTION][MOTION];
    for (int i = 0; i < f->count; i++) {
        const struct ray_point *p = &f->point[i];
        for (int k = 0; p->couple == couple && k < PLACES; k++)
            for (int a = 0; a < ALL; a++) {
                double weighted = p->weight[k] * p->slope[k][a];
                for (int b = 0; b < ALL; b++)
                    H[a][b] += weighted * p->slope[k][b];
                g[a] -= weighted * p->residual[k];
            }
    }
    for (int a = 0; a < MOTION; a++)
        for (int b = 0; b < MOTION; b++)
            M[a][b] = H[POSE + a][POSE + b] + (a == b ? 1 / (MOTION_SD * MOTION_SD) : 0);
    if (invert(M[0], MOTION))
        return -EDOM;
    for (int a = 0; a < MOTION; a++) {
        f->own[couple][a] = 0;
        for (int b = 0; b < MOTION; b++)
            f->own[couple][a] += M[a][b] * g[POSE + b];
        for (int b = 0; b < POSE; b++) {
            f->coupling[couple][a][b] = 0;
            for (int c = 0; c < MOTION; c++)
                f->coupling[couple][a][b] += M[a][c] * H[POSE + c][b];
        }
    }
    for (int a = 0; a < POSE; a++) {
        right[a] += g[a];
        for (int c = 0; c < MOTION; c++)
            right[a] -= H[a][POSE + c] * f->own[couple][c];
        for (int b = 0; b < POSE; b++) {
            A[a][b] += H[a][b];
            for (int c = 0; c < MOTION; c++)
                A[a][b] -= H[a][POSE + c] * f->coupling[couple][c][b];
        }
    }
    return 0;
}

/* One step of Gauss and Newton. Its length, or -1. */
static double step(struct fit *f) {
    double right[POSE], by[POSE] = {0}, longest = 0;
    for (int k = 0; k < POSE; k++) {
        double sd = k < 5 ? MAX_REFINE_TURN * DEGREE : LENS_SD / f->focal;
        memset(f->inverse[k], 0, sizeof f->inverse[k]);
        f->inverse[k][k] = 1 / (sd * sd);
        right[k] = -f->moved[k] / (sd * sd);
    }
    for (int c = 0; c < f->couples; c++)
        if (add_couple(f, c, f->inverse, right))
            return -1;
    if (invert(f->inverse[0], POSE))
        return -1;
    for (int a = 0; a < POSE; a++) {
        for (int b = 0; b < POSE; b++)
            by[a] += f->inverse[a][b] * right[b];
        f->moved[a] += by[a];
        longest = fmax(longest, fabs(by[a]));
    }
    move_pose(&f->pose, by, &f->pose);
    for (int c = 0; c < f->couples; c++) {
        double motion[MOTION];
        for (int a = 0; a < MOTION; a++) {
            motion[a] = f->own[c][a];
            for (int b = 0; b < POSE; b++)
                motion[a] -= f->coupling[c][a][b] * by[b];
        }
        move_motion(&f->motion[c], motion, &f->motion[c]);
    }
    return longest;
}

static void linearise_all(struct fit *f) {
    for (int i = 0; i < f->count; i++)
        linearise(&f->pose, &f->motion[f->point[i].couple], f->focal, &f->point[i], 1);
}

/* 0, or -EDOM. */
static int iterate(struct fit *f) {
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < PLACES; k++)
            f->point[i].weight[k] = k < 2 || f->point[i].later;
    linearise_all(f);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        weigh(f);
        linearise_all(f);
        double length = step(f);
        if (length < 0)
            return -EDOM;
        if (length < 1e-7)
            break;
    }
    weigh(f);
    linearise_all(f);
    return 0;
}

/* Standard deviations of the pose, in radians: the larger one of what independent residuals and
 * what residuals that are the same in a cell leave. The number of cells with points. */
static int deviations(const struct fit *f, double sd[POSE]) {
    double sum[CELLS][POSE] = {{0}};
    int in[CELLS] = {0}, cells = 0;
    for (int i = 0; i < f->count; i++) {
        const struct ray_point *p = &f->point[i];
        in[p->cell]++;
        for (int k = 0; k < PLACES; k++)
            for (int a = 0; a < POSE; a++) {
                double slope = p->slope[k][a];
                for (int b = 0; b < MOTION; b++)
                    slope -= p->slope[k][POSE + b] * f->coupling[p->couple][b][a];
                sum[p->cell][a] += p->weight[k] * slope * p->residual[k];
            }
    }
    for (int c = 0; c < CELLS; c++)
        cells += in[c] > 0;
    for (int a = 0; a < POSE; a++) {
        double square = 0;
        for (int c = 0; c < CELLS; c++) {
            double part = 0;
            for (int b = 0; b < POSE; b++)
                part += f->inverse[a][b] * sum[c][b];
            square += part * part;
        }
        square *= cells > POSE ? (double)cells / (cells - POSE) : INFINITY;
        sd[a] = sqrt(fmax(square, f->inverse[a][a]));
    }
    return cells;
}

/* ---- from pixels to rays and back */

/* Points that have rays. How many. */
static int make_rays(const struct rig *rig, const struct refine_point *points, int count,
                     struct ray_point *out) {
    static const int camera[3] = {0, 1, 0};
    int n = 0;
    for (int i = 0; i < count; i++) {
        int bad = 0;
        struct ray_point p = {.later = points[i].later, .couple = points[i].couple, .point = i};
        for (int k = 0; k < (p.later ? 3 : 2); k++)
            bad |= camera_unproject(&rig->camera[camera[k]], points[i].at[k], p.ray[k]);
        int column = (int)(points[i].at[0][0] * CELLS_X / rig->camera[0].width);
        int row = (int)(points[i].at[0][1] * CELLS_Y / rig->camera[0].height);
        p.cell = row * CELLS_X + column;
        if (!bad && column >= 0 && column < CELLS_X && row >= 0 && row < CELLS_Y)
            out[n++] = p;
    }
    return n;
}

/* Marks, of the points from..to, those whose rays in the left and another picture have one
 * essential matrix in common. How many, or -errno. */
static int find_common(const struct ray_point *p, int from, int to, int picture, double focal,
                       double (*rays)[4], uint8_t *in) {
    int n = 0, agree;
    for (int i = from; i < to; i++)
        if (picture == 1 || p[i].later) {
            memcpy(rays[n], p[i].ray[0], sizeof p[i].ray[0]);
            memcpy(rays[n++] + 2, p[i].ray[picture], sizeof p[i].ray[picture]);
        }
    if (n < 5)
        return 0;
    agree = matches_agree((const double(*)[4])rays, n, RANSAC_PX / focal, in);
    for (int i = to - 1; i >= from && agree >= 0; i--) /* back to the places of the points */
        in[i - from] = (picture == 1 || p[i].later) ? in[--n] : 0;
    return agree;
}

/* Leaves out what no single pose explains. What is left of count, or -errno after a log line. */
static int leave_out(struct ray_point *p, int count, double focal) {
    double(*rays)[4] = malloc((size_t)count * sizeof *rays);
    uint8_t *in = malloc((size_t)count);
    int kept = 0, agree = -ENOMEM;
    if (rays && in)
        agree = find_common(p, 0, count, 1, focal, rays, in);
    else
        log_error("calib refine", "no memory for %d points", count);
    for (int i = 0; i < count && agree >= 0; i++)
        if (in[i])
            p[kept++] = p[i];
    for (int from = 0, to; from < kept && agree >= 0; from = to) {
        for (to = from; to < kept && p[to].couple == p[from].couple;)
            to++;
        agree = find_common(p, from, to, 2, focal, rays, in);
        for (int i = from; i < to && agree >= 0; i++)
            p[i].later = p[i].later && agree >= MIN_MOVED && in[i - from];
    }
    free(rays);
    free(in);
    return agree < 0 ? agree : kept;
}

static void rig_of_pose(const struct rig *old, const struct pose *pose, struct rig *rig) {
    double baseline = rig_baseline(old);
    *rig = *old;
    rig->rectified = rig->has_rectification = 0;
    rig->rms = NAN;
    memcpy(rig->R, pose->R, sizeof rig->R);
    matrix_apply(rig->R, pose->at, rig->T);
    for (int i = 0; i < 3; i++)
        rig->T[i] *= -baseline;
}

/* Median of |row difference| after rectification, NaN where the rig cannot be rectified. */
static double row_difference(const struct rig *rig, const struct refine_point *points,
                             const struct fit *f) {
    struct rectification to;
    int n = 0;
    if (rectify_bouguet(rig, -1, 1, &to))
        return NAN;
    for (int i = 0; i < f->count; i++) {
        const struct refine_point *p = &points[f->point[i].point];
        double at[2][2];
        if (rectify_apply(rig, &to, 0, p->at[0], at[0]) == 0 &&
            rectify_apply(rig, &to, 1, p->at[1], at[1]) == 0)
            f->values[n++] = fabs(at[1][1] - at[0][1]);
    }
    return n ? quantile_of(f->values, n, 0.5) : NAN;
}

/* ---- the judgement */

__attribute__((format(printf, 2, 3))) static int refuse(struct refinement *r, const char *why,
                                                        ...) {
    va_list values;
    va_start(values, why);
    vsnprintf(r->why, sizeof r->why, why, values);
    va_end(values);
    return -ENODATA;
}

/* By how much the disparities of nine tenths and one tenth of the points differ, px. */
static double disparity_spread(const struct fit *f) {
    for (int i = 0; i < f->count; i++)
        f->values[i] = f->focal * f->point[i].depth;
    return quantile_of(f->values, f->count, 0.9) - quantile_of(f->values, f->count, 0.1);
}

/* Whether most of the points lie behind the cameras. */
static int is_behind(const struct fit *f) {
    int behind = 0;
    for (int i = 0; i < f->count; i++)
        behind += f->point[i].depth < 0;
    return 2 * behind > f->count;
}

/* 0, or -ENODATA with the first of these reasons that holds. */
static int judge(struct refinement *r, const struct fit *f, int rays, int cells) {
    int seen_again = 0; /* couples that are */
    double turned = 0, shift_sd = fmax(r->shift_sd[0], r->shift_sd[1]);
    double turn_sd = fmax(r->turn_sd[0], r->turn_sd[2]);
    for (int k = 0; k < 3; k++)
        turned = fmax(turned, fabs(r->turn[k]));
    for (int k = 0; k < 2; k++)
        turned = fmax(turned, fabs(r->shift[k]));
    if (f->count < MIN_AGREE * rays || f->scale[0] > MAX_SCALE)
        return refuse(r,
                      "the matches contradict each other: the lenses differ from the "
                      "calibration, the cameras are not synchronous, or most of the scene moves");
    if (is_behind(f))
        return refuse(r, "most of what is seen would lie behind the cameras: left and right are "
                         "exchanged, or the pictures are mirrored or upside down");
    if (cells < MIN_CELLS)
        return refuse(r,
                      "features cover too small a part of the pictures; show texture everywhere, "
                      "in the corners too");
    double spread = disparity_spread(f);
    if (spread < MIN_SPREAD)
        return refuse(r,
                      "disparities differ by %.1f px only, for what is seen lies too far away or "
                      "at one distance; show near things as well",
                      spread);
    if (turned > MAX_REFINE_TURN)
        return refuse(r, "the pose found is more than 5 degrees from the old one; calibrate with a "
                         "board");
    if (!(turn_sd <= MAX_TURN_SD))
        return refuse(r,
                      "the turn is known to \u00b1 %.3f degrees only, for too few features match; "
                      "show more texture, or more pairs",
                      turn_sd);
    if (!(shift_sd <= MAX_SHIFT_SD))
        return refuse(
            r,
            "the direction of the baseline is known to \u00b1 %.2f degrees only, for what "
            "is seen lies too far away or at one distance; show near things as well",
            shift_sd);
    for (int i = 0, last = -1; i < f->count; i++)
        if (f->point[i].later && f->point[i].couple != last) {
            last = f->point[i].couple;
            seen_again++;
        }
    if (seen_again == 0 || (seen_again >= MIN_COUPLES && !(r->turn_sd[1] <= MAX_TURN_SD)))
        return refuse(
            r,
            "the turn towards each other is known to \u00b1 %.3f degrees only; move the rig "
            "past near and far things while the pictures are taken",
            r->turn_sd[1]);
    if (seen_again < MIN_COUPLES)
        return refuse(r,
                      "of couples of pairs taken one after the other only %d showed the same "
                      "things; %d or more are wanted, since in one of them most of what is seen "
                      "may move by itself",
                      seen_again, MIN_COUPLES);
    return 0;
}

static void fill_result(const struct rig *rig, const struct fit *f, const double sd[POSE],
                        struct refinement *r) {
    for (int k = 0; k < 5; k++) {
        *(k < 3 ? &r->turn[k] : &r->shift[k - 3]) = f->moved[k] / DEGREE;
        *(k < 3 ? &r->turn_sd[k] : &r->shift_sd[k - 3]) = sd[k] / DEGREE;
    }
    r->used = f->count;
    for (int i = 0; i < f->count; i++)
        r->moved += f->point[i].later;
    rig_of_pose(rig, &f->pose, &r->rig);
}

static void start(const struct rig *rig, struct fit *f) {
    double back[9];
    memcpy(f->pose.R, rig->R, sizeof f->pose.R);
    matrix_transpose(rig->R, back);
    matrix_apply(back, rig->T, f->pose.at);
    for (int i = 0; i < 3; i++)
        f->pose.at[i] /= -rig_baseline(rig);
    for (int c = 0; c < f->couples; c++)
        f->motion[c] = (struct motion){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* 0 or as refine_rig. */
static int fit_points(const struct rig *rig, const struct refine_point *points, int count,
                      struct fit *f, struct refinement *r) {
    double sd[POSE];
    int rays = make_rays(rig, points, count, f->point);
    f->count = rays;
    if (rays >= MIN_POINTS)
        f->count = leave_out(f->point, rays, f->focal);
    if (f->count < 0)
        return f->count;
    if (f->count < MIN_POINTS)
        return refuse(r, "too few features match; show the cameras more texture, or more pairs");
    start(rig, f);
    if (iterate(f))
        return refuse(r, "the matches do not determine the pose");
    int cells = deviations(f, sd);
    fill_result(rig, f, sd, r);
    int error = judge(r, f, rays, cells);
    if (!error) {
        r->rows_before = row_difference(rig, points, f);
        r->rows_after = row_difference(&r->rig, points, f);
    }
    return error;
}

int refine_rig(const struct rig *rig, const struct refine_point *points, int count,
               struct refinement *result) {
    struct fit f = {.focal = sqrt(rig->camera[0].fx * rig->camera[1].fx),
                    .couples = count ? points[count - 1].couple + 1 : 0};
    size_t couples = (size_t)f.couples + 1;
    int error = -ENOMEM;
    *result = (struct refinement){.rig = *rig, .points = count};
    f.point = calloc((size_t)count + 1, sizeof *f.point);
    f.values = malloc(((size_t)count + 1) * sizeof *f.values);
    f.motion = malloc(couples * sizeof *f.motion);
    f.coupling = malloc(couples * sizeof *f.coupling);
    f.own = malloc(couples * sizeof *f.own);
    if (f.point && f.values && f.motion && f.coupling && f.own)
        error = fit_points(rig, points, count, &f, result);
    else
        log_error("calib refine", "no memory for %d points", count);
    free(f.point);
    free(f.values);
    free(f.motion);
    free(f.coupling);
    free(f.own);
    return error;
}
