/*
 * The functions of calibration/workshop/refine.h. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/refine.h"

#include "calibration/rectify.h"
#include "calibration/workshop/refine_fit.h"
#include "base/log.h"
#include "base/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (M_PI / 180)

enum {
    MIN_CELLS = 16, /* that have points */
    MIN_POINTS = 200,
    MIN_COUPLES = 4, /* whose points are seen again */
    MIN_MOVED = 40   /* points of a couple in the later picture, below which it is not used */
};
#define RANSAC_PX 2.0
#define MIN_AGREE 0.6  /* share of the points that one pose explains */
#define MAX_SCALE 1.0  /* px, the usual residual of a usable fit */
#define MIN_SPREAD 5.0 /* px of disparities: matching's own errors, alike in all, are small by it */
#define MOVED 0.02     /* of the width, how far points should move within a couple */
#define SEEN_AGAIN 0.3 /* share of the points that should be seen again */

/* ---- features */

bool refine_available(void) {
    return matches_available() && fit_available();
}

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
            const struct feature_match m = matches[i];
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
    double by = 1;
    if (seen < SEEN_AGAIN * count)
        by = 0.5;
    else if (moved && seen > 0 && quantile_of(moved, seen, 0.5) < MOVED * width)
        by = 2;
    free(moved);
    return by;
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
static int judge(struct refinement *r, const struct fit *f, int rays) {
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
    if (f->cells < MIN_CELLS)
        return refuse(r,
                      "features cover too small a part of the pictures; show texture everywhere, "
                      "in the corners too");
    double spread = disparity_spread(f);
    if (spread < MIN_SPREAD)
        return refuse(r,
                      "disparities differ by %.1f px only, for what is seen lies too far away or "
                      "at one distance; show near things as well",
                      spread);
    if (is_behind(f))
        return refuse(r, "most of what is seen would lie behind the cameras: left and right are "
                         "exchanged, or the pictures are mirrored or upside down");
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

static void fill_result(const struct fit *f, struct refinement *r) {
    for (int k = 0; k < 5; k++) {
        *(k < 3 ? &r->turn[k] : &r->shift[k - 3]) = f->pose[k] / DEGREE;
        *(k < 3 ? &r->turn_sd[k] : &r->shift_sd[k - 3]) = f->sd[k] / DEGREE;
    }
    r->used = f->count;
    for (int i = 0; i < f->count; i++)
        r->moved += f->point[i].later;
    r->rig.rectified = r->rig.has_rectification = 0;
    r->rig.rms = NAN;
    memcpy(r->rig.R, f->R, sizeof f->R);
    memcpy(r->rig.T, f->T, sizeof f->T);
}

/* 0 or as refine_rig. */
static int fit_points(const struct rig *rig, const struct refine_point *points, int count,
                      struct fit *f, struct refinement *r) {
    int rays = make_rays(rig, points, count, f->point);
    f->count = rays;
    if (rays >= MIN_POINTS)
        f->count = leave_out(f->point, rays, f->focal);
    if (f->count < 0)
        return f->count;
    if (f->count < MIN_POINTS)
        return refuse(r, "too few features match; show the cameras more texture, or more pairs");
    memcpy(f->R, rig->R, sizeof f->R);
    memcpy(f->T, rig->T, sizeof f->T);
    int error = fit_pose(f);
    if (error)
        return error == -EDOM ? refuse(r, "the matches do not determine the pose") : error;
    fill_result(f, r);
    error = judge(r, f, rays);
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
    int error = -ENOMEM;
    *result = (struct refinement){.rig = *rig, .points = count};
    f.point = calloc((size_t)count + 1, sizeof *f.point);
    f.values = malloc(((size_t)count + 1) * sizeof *f.values);
    if (f.point && f.values)
        error = fit_points(rig, points, count, &f, result);
    else
        log_error("calib refine", "no memory for %d points", count);
    free(f.point);
    free(f.values);
    return error;
}
