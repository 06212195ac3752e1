/*
 * Bouguet's rectification and the remap tables. The conventions (which corners and border points
 * count, what the focal length starts from) are those of OpenCV's stereoRectify, so that files
 * exchanged with it give the same pictures. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"

#include "calibration/rig.h"
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SAMPLES 8 /* a side of a pixel: for pictures of an eighth of the size */

struct rectangle {
    double left, top, right, bottom;
};

/* The two rotations, and T as the rectified frames see it, into t. */
static void rotations(const struct rig *rig, struct rectification *out, double t[3]) {
    double om[3], half[9], half_back[9], turn[9], w[3];
    rotation_to_vector(rig->R, om);
    for (int i = 0; i < 3; i++)
        om[i] *= -0.5;
    rotation_from_vector(om, half);
    matrix_apply(half, rig->T, t);
    /* then turn t onto the x axis, about the axis square to both */
    double length = rig_baseline(rig), side = t[0] > 0 ? 1 : -1;
    w[0] = 0;
    w[1] = t[2] * side;
    w[2] = -t[1] * side;
    double n = hypot(w[1], w[2]);
    for (int i = 0; i < 3 && n > 0; i++)
        w[i] *= acos(fmin(fabs(t[0]) / length, 1)) / n;
    rotation_from_vector(w, turn);
    matrix_transpose(half, half_back);
    matrix_multiply(turn, half_back, out->rotation[0]);
    matrix_multiply(turn, half, out->rotation[1]);
    matrix_apply(out->rotation[1], rig->T, t);
}

/* The pixels of a source picture that may bound the rectified one: those that the lens's model has
 * a ray for, this near to the rectified axis. */
struct view {
    const struct rig *rig;
    struct rectification *to;
    double reach[2];  /* of the lenses */
    double max_slope; /* tangent of the angle */
};

/* Where a ray of camera v lies; -EDOM, in front of the rectified camera, for one behind it. */
static int apply_ray(const struct rectification *to, int v, const double xy[2],
                     double rectified[2]) {
    double ray[3] = {xy[0], xy[1], 1}, p[3];
    int error = 0;
    matrix_apply(to->rotation[v], ray, p);
    if (p[2] < 1e-3) {
        p[2] = 1e-3;
        error = -EDOM;
    }
    rectified[0] = to->fx * p[0] / p[2] + to->cx[v];
    rectified[1] = to->fy * p[1] / p[2] + to->cy;
    return error;
}

static bool is_seen(const struct view *view, int v, const double source[2], double rectified[2]) {
    const struct rectification *to = view->to;
    double xy[2];
    return camera_unproject(&view->rig->camera[v], source, xy) == 0 &&
           hypot(xy[0], xy[1]) <= view->reach[v] && apply_ray(to, v, xy, rectified) == 0 &&
           hypot((rectified[0] - to->cx[v]) / to->fx, (rectified[1] - to->cy) / to->fy) <=
               view->max_slope;
}

/* Rectified position of a source pixel or, where that may not bound the picture, of the last one
 * that may on the way there from the principal point. */
static void rectified_point(const struct view *view, int v, double x, double y, double out[2]) {
    const struct camera *c = &view->rig->camera[v];
    double source[2] = {x, y}, seen = 0, unseen = 1, at[2];
    if (is_seen(view, v, source, out))
        return;
    view->to->bounded = 1;
    out[0] = view->to->cx[v];
    out[1] = view->to->cy;
    for (int i = 0; i < 24; i++) {
        double middle = (seen + unseen) / 2;
        source[0] = c->cx + middle * (x - c->cx);
        source[1] = c->cy + middle * (y - c->cy);
        if (is_seen(view, v, source, at)) {
            seen = middle;
            memcpy(out, at, sizeof at);
        } else {
            unseen = middle;
        }
    }
}

/* The largest rectangle inside the rectified source picture and the one around it, from a 9 x
 * 9 grid. */
static void rectangles(const struct view *view, int v, struct rectangle *inner,
                       struct rectangle *outer) {
    enum { N = 9 };
    const struct rectification *to = view->to;
    *inner = (struct rectangle){-INFINITY, -INFINITY, INFINITY, INFINITY};
    *outer = (struct rectangle){INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double p[2];
            rectified_point(view, v, (double)i * to->width / (N - 1),
                            (double)j * to->height / (N - 1), p);
            outer->left = fmin(outer->left, p[0]);
            outer->right = fmax(outer->right, p[0]);
            outer->top = fmin(outer->top, p[1]);
            outer->bottom = fmax(outer->bottom, p[1]);
            if (i == 0)
                inner->left = fmax(inner->left, p[0]);
            if (i == N - 1)
                inner->right = fmin(inner->right, p[0]);
            if (j == 0)
                inner->top = fmax(inner->top, p[1]);
            if (j == N - 1)
                inner->bottom = fmin(inner->bottom, p[1]);
        }
}

/* Principal points that bring the middle of the four source corners to the middle of the
 * picture. */
static void centre(const struct view *view, int zero_disparity) {
    struct rectification *to = view->to;
    double cy[2];
    to->cx[0] = to->cx[1] = to->cy = 0;
    for (int v = 0; v < 2; v++) {
        double sum[2] = {0, 0};
        for (int i = 0; i < 4; i++) {
            double p[2];
            rectified_point(view, v, (i & 1) * (to->width - 1), (i >> 1) * (to->height - 1), p);
            sum[0] += p[0] / 4;
            sum[1] += p[1] / 4;
        }
        to->cx[v] = (to->width - 1) / 2.0 - sum[0];
        cy[v] = (to->height - 1) / 2.0 - sum[1];
    }
    if (zero_disparity)
        to->cx[0] = to->cx[1] = (to->cx[0] + to->cx[1]) / 2;
    to->cy = (cy[0] + cy[1]) / 2;
}

/* Factors on the focal length at which rectangle r just fills the picture: its most and least
 * demanding side. */
static void fit(const struct rectification *to, int v, const struct rectangle *r, double *max,
                double *min) {
    double cx = to->cx[v], cy = to->cy;
    double side[4] = {cx / (cx - r->left), cy / (cy - r->top),
                      (to->width - 1 - cx) / (r->right - cx),
                      (to->height - 1 - cy) / (r->bottom - cy)};
    for (int i = 0; i < 4; i++) {
        *max = fmax(*max, side[i]);
        *min = fmin(*min, side[i]);
    }
}

/* The largest ratios of the focal lengths of rectified pictures and cameras, and the reverse:
 * beyond them the pictures show less than a sixteenth of what the cameras see, or all tiny. */
#define MAX_LONGER 4.0
#define MAX_SHORTER 20.0

int rectify_bouguet(const struct rig *rig, double alpha, int zero_disparity,
                    struct rectification *out) {
    double t[3], focal = (rig->camera[0].fy + rig->camera[1].fy) / 2;
    struct view view = {rig,
                        out,
                        {camera_reach(&rig->camera[0]), camera_reach(&rig->camera[1])},
                        tan(RECTIFIED_ANGLE / 180 * M_PI)};
    *out = (struct rectification){.width = rig->camera[0].width, .height = rig->camera[0].height};
    rotations(rig, out, t);
    out->baseline = -t[0];
    out->fx = out->fy = focal;
    centre(&view, zero_disparity);
    if (alpha >= 0) {
        double max_inner = 0, min_outer = INFINITY, max_unused = 0, min_unused = INFINITY;
        for (int v = 0; v < 2; v++) {
            struct rectangle inner, outer, unused;
            view.max_slope = tan(RECTIFIED_ANGLE / 180 * M_PI);
            rectangles(&view, v, &inner, &unused);
            view.max_slope = tan(RECTIFIED_ANGLE_ALL / 180 * M_PI);
            rectangles(&view, v, &unused, &outer);
            fit(out, v, &inner, &max_inner, &min_unused);
            fit(out, v, &outer, &max_unused, &min_outer);
        }
        double a = fmin(alpha, 1);
        out->fx *= max_inner * (1 - a) + min_outer * a;
        out->fy = out->fx;
    }
    if (!(out->fx > fmax(focal / MAX_SHORTER, 1) && out->fx < MAX_LONGER * focal) ||
        !(out->baseline > 0))
        return log_fail(-EINVAL, "rectification",
                        "these cameras see too little in common (focal length would be "
                        "%g px); calibrate the rig again",
                        out->fx);
    return 0;
}

double rectify_share(const struct rig *rig, const struct rectification *to) {
    enum { N = 64 };
    struct rectification whole = *to;
    const struct view view = {
        rig, &whole, {camera_reach(&rig->camera[0]), camera_reach(&rig->camera[1])}, INFINITY};
    int shown = 0;
    for (int i = 0; i < 2 * N * N; i++) {
        int v = i / (N * N);
        const double source[2] = {(i % N + 0.5) / N * rig->camera[v].width - 0.5,
                                  (i / N % N + 0.5) / N * rig->camera[v].height - 0.5};
        double at[2];
        shown += is_seen(&view, v, source, at) && at[0] > -0.5 && at[0] < to->width - 0.5 &&
                 at[1] > -0.5 && at[1] < to->height - 0.5;
    }
    return shown / (2.0 * N * N);
}

/* Pictures that are rectified already keep what the cameras are. */
static void as_it_is(const struct rig *rig, struct rectification *out) {
    const struct camera *l = &rig->camera[0], *r = &rig->camera[1];
    *out = (struct rectification){.width = l->width,
                                  .height = l->height,
                                  .fx = l->fx,
                                  .fy = l->fy,
                                  .cx = {l->cx, r->cx},
                                  .cy = l->cy,
                                  .baseline = rig_baseline(rig)};
    for (int v = 0; v < 2; v++)
        out->rotation[v][0] = out->rotation[v][4] = out->rotation[v][8] = 1;
}

int rectify_of_rig(const struct rig *rig, double alpha, struct rectification *out) {
    if (!rig->has_rectification && rig->rectified) {
        as_it_is(rig, out);
        return 0;
    }
    if (!rig->has_rectification || (alpha > 0 && !rig->rectified))
        return rectify_bouguet(rig, alpha, 1, out);
    const double *l = rig->projection[0], *r = rig->projection[1];
    *out = (struct rectification){.width = rig->camera[0].width,
                                  .height = rig->camera[0].height,
                                  .fx = l[0],
                                  .fy = l[5],
                                  .cx = {l[2], r[2]},
                                  .cy = l[6]};
    out->baseline = l[3] / l[0] - r[3] / r[0];
    memcpy(out->rotation, rig->rotation, sizeof out->rotation);
    return 0;
}

static void source_within(const struct rig *rig, const struct rectification *to, int v,
                          double reach, const double rectified[2], double source[2]) {
    const double outside = 1e6; /* px */
    double ray[3] = {(rectified[0] - to->cx[v]) / to->fx, (rectified[1] - to->cy) / to->fy, 1};
    double back[9], p[3];
    matrix_transpose(to->rotation[v], back);
    matrix_apply(back, ray, p);
    if (p[2] < 1e-6)
        p[2] = 1e-6; /* behind the camera: far outside the picture */
    double xy[2] = {p[0] / p[2], p[1] / p[2]}, slope = hypot(xy[0], xy[1]);
    if (slope <= reach) {
        camera_project(&rig->camera[v], xy, source);
        return;
    }
    for (int i = 0; i < 2; i++) /* the model would fold it into the picture again */
        source[i] = xy[i] / slope * outside;
}

void rectify_source(const struct rig *rig, const struct rectification *to, int v,
                    const double rectified[2], double source[2]) {
    source_within(rig, to, v, camera_reach(&rig->camera[v]), rectified, source);
}

int rectify_apply(const struct rig *rig, const struct rectification *to, int v,
                  const double source[2], double rectified[2]) {
    double xy[2];
    int error = camera_unproject(&rig->camera[v], source, xy);
    return apply_ray(to, v, xy, rectified) ? -EDOM : error;
}

/* Beyond this the remap stage repeats the border anyway; NaN lands here too. */
static int32_t to_32nds(double x) {
    const double max = 32767;
    if (!(x > -max))
        x = -max;
    return (int32_t)lrint(fmin(x, max) * 32);
}

void rectify_part(struct rectification *to, int left, int top, int width, int height,
                  double scale) {
    to->width = (int)floor(width * scale + 1e-9);
    to->height = (int)floor(height * scale + 1e-9);
    to->fx *= scale;
    to->fy *= scale;
    for (int v = 0; v < 2; v++)
        to->cx[v] = (to->cx[v] - left + 0.5) * scale - 0.5;
    to->cy = (to->cy - top + 0.5) * scale - 0.5;
}

void rectify_add_margins(struct rectification *to, const int margin[2]) {
    for (int i = 0; i < 2; i++) {
        to->cx[i] += margin[0];
        to->width += margin[i];
        to->margin[i] += margin[i];
    }
}

int rectify_tables(const struct rig *rig, const struct rectification *to,
                   struct rectify_map maps[2]) {
    /* one for both, so that both are blurred alike */
    double step = (rig->camera[0].fx + rig->camera[1].fx) / 2 / to->fx;
    int samples = (int)fmin(fmax(round(step), 1), MAX_SAMPLES);
    for (int v = 0; v < 2; v++)
        maps[v] = (struct rectify_map){
            .width = to->width,
            .height = to->height,
            .margin = {to->margin[0], to->margin[1]},
            .samples = samples,
            .step = samples > 1 ? (int)lround(32 * step) : 0,
        };
    for (int v = 0; v < 2; v++) {
        struct rectify_point *p = malloc((size_t)to->width * (size_t)to->height * sizeof *p);
        if (!p) {
            log_error("rectification", "no memory for tables of %dx%d", to->width, to->height);
            rectify_free(maps);
            return -ENOMEM;
        }
        maps[v].point = p;
        double reach = camera_reach(&rig->camera[v]);
        for (int y = 0; y < to->height; y++)
            for (int x = 0; x < to->width; x++, p++) {
                double at[2] = {x, y}, source[2];
                source_within(rig, to, v, reach, at, source);
                p->x = to_32nds(source[0]);
                p->y = to_32nds(source[1]);
            }
    }
    return 0;
}

void rectify_free(struct rectify_map maps[2]) {
    for (int v = 0; v < 2; v++) {
        free(maps[v].point);
        maps[v].point = NULL;
    }
}
