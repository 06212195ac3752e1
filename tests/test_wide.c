/*
 * Rectification of wide lenses, from 60 to 200 degrees across the diagonal: where it looks, rows,
 * the share of the pictures that is used, and the squares of a board measured through it.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/rig.h"
#include "tests/test.h"

enum { WIDTH = 960, HEIGHT = 600 };
#define DEGREE (M_PI / 180)
#define SQUARE 0.02423 /* m */

/* The radius of a lens at an angle from its axis: an independent form, for all angles. */
static double radius(const struct camera *c, double angle) {
    const double *k = c->k, t = angle * angle, r = tan(angle), r2 = r * r;
    if (c->distortion == DISTORTION_FISHEYE)
        return angle * (1 + t * (k[0] + t * (k[1] + t * (k[2] + t * k[3]))));
    return r * (1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]))) /
           (1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7])));
}

static void see(const struct camera *c, const double point[3], double pixel[2]) {
    double across = hypot(point[0], point[1]), r = radius(c, atan2(across, point[2]));
    pixel[0] = c->cx + c->fx * r * point[0] / across;
    pixel[1] = c->cy + c->fy * r * point[1] / across;
}

/* Lenses that see `diagonal` degrees from corner to corner. */
static void make_rig(enum distortion model, double diagonal, struct rig *rig) {
    static const double lens[2][8] = {{0.01, -0.002},
                                      {0.66, 0.086, 0, 0, 0.0013, 1.03, 0.237, 0.0117}};
    const double turn[3] = {0.5 * DEGREE, -0.3 * DEGREE, 0.2 * DEGREE},
                 at[3] = {-0.11, -0.0006, 0.0037};
    rig_clear(rig);
    for (int v = 0; v < 2; v++) {
        struct camera *c = &rig->camera[v];
        *c = (struct camera){.width = WIDTH,
                             .height = HEIGHT,
                             .distortion = model,
                             .cx = v ? 478.5 : 471.5,
                             .cy = v ? 298 : 306};
        memcpy(c->k, lens[model == DISTORTION_RATIONAL], sizeof c->k);
        c->fx = hypot(WIDTH, HEIGHT) / 2 / radius(c, diagonal / 2 * DEGREE) * (v ? 1.01 : 1);
        c->fy = c->fx * 0.995;
    }
    rotation_from_vector(turn, rig->R);
    memcpy(rig->T, at, sizeof at);
    rig->metric = 1;
}

/* Point of the left rectified frame to the pixels of both cameras, and their rectified places;
 * false where one of these pictures does not show it. */
static bool show(const struct rig *rig, const struct rectification *to, const double point[3],
                 double at[2][2]) {
    double back[9], p[3], q[3], pixel[2][2];
    matrix_transpose(to->rotation[0], back);
    matrix_apply(back, point, p);
    matrix_apply(rig->R, p, q);
    for (int i = 0; i < 3; i++)
        q[i] += rig->T[i];
    see(&rig->camera[0], p, pixel[0]);
    see(&rig->camera[1], q, pixel[1]);
    for (int v = 0; v < 2; v++)
        if (pixel[v][0] < 0 || pixel[v][1] < 0 || pixel[v][0] > WIDTH - 1 ||
            pixel[v][1] > HEIGHT - 1 || rectify_apply(rig, to, v, pixel[v], at[v]) ||
            at[v][0] < 0 || at[v][1] < 0 || at[v][0] > WIDTH - 1 || at[v][1] > HEIGHT - 1)
            return false;
    return true;
}

/* Corners of boards 0.4 m away, in directions all over the rectified picture: the same rows, and
 * squares of the size they have. How many squares were measured. */
static int measure_boards(const struct rig *rig, const struct rectification *to) {
    int measured = 0;
    for (double py = 20; py < HEIGHT; py += 40)
        for (double px = 20; px < WIDTH; px += 40) {
            double corner[2][3];
            int shown = 0;
            for (int i = 0; i < 2; i++) {
                double at[2][2];
                const double point[3] = {0.4 * (px - to->cx[0]) / to->fx + i * SQUARE * 0.8,
                                         0.4 * (py - to->cy) / to->fy, 0.4 + i * SQUARE * 0.6};
                if (!show(rig, to, point, at))
                    continue;
                g_assert_cmpfloat(fabs(at[0][1] - at[1][1]), <, 1e-6);
                double depth = to->fx * to->baseline / (at[0][0] - at[1][0]);
                corner[i][0] = depth * (at[0][0] - to->cx[0]) / to->fx;
                corner[i][1] = depth * (at[0][1] - to->cy) / to->fy;
                corner[i][2] = depth;
                shown++;
            }
            if (shown < 2)
                continue;
            double square = 0;
            for (int i = 0; i < 3; i++)
                square += pow(corner[1][i] - corner[0][i], 2);
            g_assert_cmpfloat(fabs(sqrt(square) - SQUARE), <, 1e-7);
            measured++;
        }
    return measured;
}

/* Of the pixels of the left picture nearer to the axis than `angle` that the rectified one
 * shows. */
static double share_of(const struct rig *rig, const struct rectification *to, double angle) {
    int within = 0, shown = 0;
    for (double t = 0.5 * DEGREE; t < angle * DEGREE; t += DEGREE)
        for (double turn = 0; turn < 360; turn++) {
            const double x = sin(t) * cos(turn * DEGREE), y = sin(t) * sin(turn * DEGREE),
                         point[3] = {x, y, cos(t)};
            double pixel[2], at[2],
                ring = radius(&rig->camera[0], t + DEGREE / 2) -
                       radius(&rig->camera[0], t - DEGREE / 2);
            see(&rig->camera[0], point, pixel);
            if (pixel[0] < 0 || pixel[1] < 0 || pixel[0] > WIDTH - 1 || pixel[1] > HEIGHT - 1)
                continue;
            int weight = (int)(1e4 * ring * radius(&rig->camera[0], t)); /* pixels of the ring */
            within += weight;
            if (!rectify_apply(rig, to, 0, pixel, at) && at[0] > -1 && at[1] > -1 &&
                at[0] < WIDTH && at[1] < HEIGHT)
                shown += weight;
        }
    return (double)shown / within;
}

/* No pixel of the tables shows what another ray than its own leads to. */
static void check_tables(const struct rig *rig, const struct rectification *to) {
    struct rectify_map maps[2];
    g_assert_cmpint(rectify_tables(rig, to, maps), ==, 0);
    for (int v = 0; v < 2; v++)
        for (int y = 0; y < HEIGHT; y += 7)
            for (int x = 0; x < WIDTH; x += 7) {
                const struct rectify_point *p = &maps[v].point[y * WIDTH + x];
                const double ray[3] = {(x - to->cx[v]) / to->fx, (y - to->cy) / to->fy, 1};
                double back[9], seen[3], pixel[2];
                if (p->x < 0 || p->y < 0 || p->x > 32 * (WIDTH - 1) || p->y > 32 * (HEIGHT - 1))
                    continue;
                matrix_transpose(to->rotation[v], back);
                matrix_apply(back, ray, seen);
                see(&rig->camera[v], seen, pixel);
                g_assert_cmpfloat(fabs(p->x / 32.0 - pixel[0]), <, 0.02);
                g_assert_cmpfloat(fabs(p->y / 32.0 - pixel[1]), <, 0.02);
            }
    rectify_free(maps);
}

static void check_sweep(enum distortion model) {
    double last[2] = {INFINITY, INFINITY};
    for (double diagonal = 60; diagonal <= (model == DISTORTION_FISHEYE ? 200 : 160);
         diagonal += 10)
        for (int alpha = 0; alpha < 2; alpha++) {
            struct rig rig;
            struct rectification to;
            make_rig(model, diagonal, &rig);
            g_assert_cmpint(rectify_bouguet(&rig, alpha, 1, &to), ==, 0);
            int squares = measure_boards(&rig, &to);
            double share = share_of(&rig, &to, RECTIFIED_ANGLE_ALL - 1),
                   all = rectify_share(&rig, &to);
            g_test_message(
                "%g degrees, alpha %d: f %.1f (of %.1f), centre %.1f %.1f, %.0f %% of the "
                "pictures, %.0f %% within 79 degrees, %d squares",
                diagonal, alpha, to.fx, rig.camera[0].fx, to.cx[0], to.cy, 100 * all, 100 * share,
                squares);
            /* four corners decide, as in OpenCV, and this rig is turned by 2 degrees */
            g_assert_cmpfloat(fabs(to.cx[0] - WIDTH / 2.0), <, 60);
            g_assert_cmpfloat(fabs(to.cy - HEIGHT / 2.0), <, 60);
            g_assert_cmpfloat(to.fx, <, last[alpha]); /* less, the more they see */
            g_assert_cmpfloat(to.fx, >, alpha ? 80 : 200);
            g_assert_cmpfloat(share, >, alpha ? 0.97 : 0.6);
            g_assert_cmpint(squares, >, 60);
            check_tables(&rig, &to);
            last[alpha] = to.fx;
        }
}

TEST("/wide/sweep", test_sweep) {
    check_sweep(DISTORTION_FISHEYE);
    check_sweep(DISTORTION_RATIONAL);
}

/* A model that turns back inside the picture shows nothing twice. */
TEST("/wide/fold", test_fold) {
    struct rig rig;
    struct rectification to;
    make_rig(DISTORTION_NONE, 90, &rig);
    for (int v = 0; v < 2; v++) {
        rig.camera[v].distortion = DISTORTION_RADTAN;
        rig.camera[v].k[0] = -0.4; /* turns back at 42 degrees */
    }
    for (int alpha = 0; alpha < 2; alpha++) {
        g_assert_cmpint(rectify_bouguet(&rig, alpha, 1, &to), ==, 0);
        g_assert_cmpfloat(fabs(to.cx[0] - WIDTH / 2.0), <, 60);
        const double out[2] = {to.cx[0] + to.fx * tan(50 * DEGREE), to.cy};
        double source[2];
        rectify_source(&rig, &to, 0, out, source);
        g_assert_cmpfloat(source[0], >, 10 * WIDTH);
    }
}
