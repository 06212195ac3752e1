/*
 * The pose of a rig from features, against rigs whose cameras were turned by known angles: points
 * made up, pictures rendered; and points that do not determine it, which are to be refused, with
 * -m thorough 200 of them. A real drive is refined in test_cli_calibrate.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/workshop/refine.h"
#include "calibration/rig_read.h"
#define RAYS 2 /* features are found as well as with more */
#include "tests/rig_render.h"
#include "tests/rig_scene.h"
#include "tests/test.h"

#define DEGREE (M_PI / 180)
#define near(a, b, max) g_assert_cmpfloat(fabs((a) - (b)), <=, max)

static uint32_t seed = 1;

static double uniform(double from, double to) {
    seed = seed * 1664525u + 1013904223u;
    return from + (to - from) * (seed >> 8) / 16777216.0;
}

static double noise(double sd) {
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += uniform(-0.5, 0.5);
    return sd * sum;
}

/* The rig whose right camera is turned about its own centre, degrees. */
static struct rig turned(const struct rig *rig, double x, double y, double z) {
    struct rig out = *rig;
    const double by[3] = {x * DEGREE, y * DEGREE, z * DEGREE};
    double turn[9];
    rotation_from_vector(by, turn);
    matrix_multiply(turn, rig->R, out.R);
    matrix_apply(turn, rig->T, out.T);
    out.rectified = out.has_rectification = 0;
    return out;
}

/* The angle between two rigs' poses, degrees. */
static double angle_between(const struct rig *a, const struct rig *b) {
    double back[9], between[9], v[3];
    matrix_transpose(a->R, back);
    matrix_multiply(b->R, back, between);
    rotation_to_vector(between, v);
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / DEGREE;
}

/* The largest share by which the depth of points at z metres is wrong with a rig, seen by the true
 * one. */
static double depth_error(const struct rig *truth, const struct rig *rig, double z) {
    struct rectification to[2];
    double worst = 0;
    const struct rig *of[2] = {truth, rig};
    for (int k = 0; k < 2; k++)
        g_assert_cmpint(rectify_bouguet(of[k], 0, 1, &to[k]), ==, 0);
    for (int i = 0; i < 25; i++) {
        double depth[2], pixel[2][2];
        const double ray[2] = {0.4 * (i % 5 - 2) / 2.0, 0.3 * (i / 5 - 2) / 2.0};
        double at[3] = {z * ray[0], z * ray[1], z}, right[3], there[2];
        matrix_apply(truth->R, at, right);
        for (int j = 0; j < 3; j++)
            right[j] += truth->T[j];
        there[0] = right[0] / right[2];
        there[1] = right[1] / right[2];
        camera_project(&truth->camera[0], ray, pixel[0]);
        camera_project(&truth->camera[1], there, pixel[1]);
        for (int k = 0; k < 2; k++) {
            double straight[2][2];
            for (int v = 0; v < 2; v++)
                g_assert_cmpint(rectify_apply(of[k], &to[k], v, pixel[v], straight[v]), ==, 0);
            depth[k] = to[k].fx * to[k].baseline / (straight[0][0] - straight[1][0]);
        }
        worst = fmax(worst, fabs(depth[1] / depth[0] - 1));
    }
    return worst;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of |row difference| of points. */
static double rows(const struct rig *rig, const struct refine_point *points, int count) {
    struct rectification to;
    g_autofree double *values = g_new(double, count);
    int n = 0;
    g_assert_cmpint(rectify_bouguet(rig, -1, 1, &to), ==, 0);
    for (int i = 0; i < count; i++) {
        double at[2][2];
        if (rectify_apply(rig, &to, 0, points[i].at[0], at[0]) == 0 &&
            rectify_apply(rig, &to, 1, points[i].at[1], at[1]) == 0)
            values[n++] = fabs(at[1][1] - at[0][1]);
    }
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}

static void say(const char *name, const struct rig *truth, int error, const struct refinement *r) {
    g_test_message(
        "%s: %d of %d points, %d later; %.4f degrees off, +- %.4f %.4f %.4f, baseline +- "
        "%.3f %.3f; rows %.3f -> %.3f; %s",
        name, r->used, r->points, r->moved, angle_between(truth, &r->rig), r->turn_sd[0],
        r->turn_sd[1], r->turn_sd[2], r->shift_sd[0], r->shift_sd[1], r->rows_before, r->rows_after,
        error ? r->why : "taken");
}

/* Holds a result against the truth. */
static void hold(const char *name, const struct rig *truth, const struct refine_point *points,
                 int count, int error, const struct refinement *r, double far) {
    say(name, truth, error, r);
    g_assert_cmpint(error, ==, 0);
    double ratio = rows(&r->rig, points, count) / rows(truth, points, count);
    double depth = depth_error(truth, &r->rig, far);
    g_test_message("rows %.3f times the true rig's, depth of %g m %.2f %% off", ratio, far,
                   100 * depth);
    g_assert_cmpfloat(angle_between(truth, &r->rig), <=, 0.02);
    g_assert_cmpfloat(ratio, <=, 1.1);
    g_assert_cmpfloat(depth, <=, 0.02);
    near(rig_baseline(&r->rig), rig_baseline(truth), 1e-9);
}

/* ---- points */

struct made {
    int couples, each;        /* points of a couple */
    double nearest, farthest; /* m */
    double step;              /* m that the rig moves within a couple */
    double noise, wrong;      /* px; share of mismatches */
    double part;              /* of the picture's sides that has points */
};

static const struct made good = {8, 400, 0.7, 8, 0.1, 0.15, 0.05, 1};

/* Points as a rig sees them that moves. */
static int make_points(const struct rig *rig, const struct made *m, struct refine_point *out) {
    int n = 0, w = rig->camera[0].width, h = rig->camera[0].height;
    for (int c = 0; c < m->couples; c++) {
        double by[3] = {noise(0.02), noise(0.02), noise(0.02)}, R[9];
        double go[3] = {m->step * uniform(-1, 1), m->step * uniform(-1, 1), m->step};
        rotation_from_vector(by, R);
        for (int tried = 0, i = 0; i < m->each && tried < 20 * m->each; tried++) {
            double pixel[2] = {floor(uniform(0, m->part * w)), floor(uniform(0, m->part * h))},
                   ray[2];
            struct refine_point p = {.couple = c, .later = m->step > 0};
            if (camera_unproject(&rig->camera[0], pixel, ray))
                continue;
            double z = 1 / uniform(1 / m->farthest, 1 / m->nearest);
            double at[3] = {z * ray[0], z * ray[1], z}, seen[2][3];
            matrix_apply(rig->R, at, seen[0]);
            matrix_apply(R, at, seen[1]);
            memcpy(p.at[0], pixel, sizeof pixel);
            int outside = 0;
            for (int k = 0; k < 2; k++) {
                for (int j = 0; j < 3; j++)
                    seen[k][j] += k ? go[j] : rig->T[j];
                double there[2] = {seen[k][0] / seen[k][2], seen[k][1] / seen[k][2]};
                camera_project(&rig->camera[!k], there, p.at[1 + k]);
                p.at[1 + k][0] += noise(m->noise);
                p.at[1 + k][1] += noise(m->noise);
                outside |= p.at[1 + k][0] < 0 || p.at[1 + k][0] >= w || p.at[1 + k][1] < 0 ||
                           p.at[1 + k][1] >= h;
                if (uniform(0, 1) < m->wrong)
                    p.at[1 + k][1] += uniform(-60, 60);
            }
            if (outside)
                continue;
            out[n++] = p;
            i++;
        }
    }
    return n;
}

/* Whether this build can; else the test is skipped. */
static gboolean can_find(void) {
    if (refine_available())
        return TRUE;
    g_test_skip("needs libopencv-video-dev and libceres-dev");
    return FALSE;
}

/* Mirrored and upside-down pictures have rows that agree, and disparities of the wrong sign, which
 * those of a far plane may have by chance: that it is far is said first. */
TEST("/refine/behind", test_behind) {
    static const struct made far = {8, 400, 60, 90, 0.02, 0.15, 0.05, 1};
    if (!can_find())
        return;
    g_autofree struct refine_point *points = g_new(struct refine_point, 4000);
    for (int kind = 0; kind < 3; kind++) {
        struct rig rig;
        struct refinement r;
        rig_made_up(DISTORTION_NONE, &rig);
        rig.camera[1] = rig.camera[0];
        int count = make_points(&rig, kind == 2 ? &far : &good, points);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                points[i].at[k][0] = 2 * rig.camera[0].cx - points[i].at[k][0];
                if (kind == 1)
                    points[i].at[k][1] = 2 * rig.camera[0].cy - points[i].at[k][1];
            }
        int error = refine_rig(&rig, points, count, &r);
        g_test_message("%s", r.why);
        g_assert_cmpint(error, ==, -ENODATA);
        g_assert_nonnull(strstr(r.why, kind == 2 ? "too far away" : "behind the cameras"));
    }
}

/* All lens models, turned about each axis and all at once. */
TEST("/refine/points", test_points) {
    static const double turns[][3] = {{0, 0, 0}, {1, 0, 0},  {0, 1, 0},
                                      {0, 0, 1}, {0, -1, 0}, {-0.7, 0.8, -1}};
    if (!can_find())
        return;
    g_autofree struct refine_point *points = g_new(struct refine_point, 4000);
    for (int model = 0; model < DISTORTION_COUNT; model++)
        for (size_t i = 0; i < G_N_ELEMENTS(turns); i++) {
            struct rig rig;
            struct refinement r;
            g_autofree char *name = g_strdup_printf("%s, turn %d", distortion_names[model], (int)i);
            rig_made_up((enum distortion)model, &rig);
            const struct rig truth = turned(&rig, turns[i][0], turns[i][1], turns[i][2]);
            int count = make_points(&truth, &good, points);
            int error = refine_rig(&rig, points, count, &r);
            hold(name, &truth, points, count, error, &r, 10);
            for (int k = 0; k < 3; k++)
                near(r.turn[k], turns[i][k], 0.02);
        }
}

/* What does not determine a pose: none of them may be taken. */
TEST("/refine/undetermined-points", test_undetermined_points) {
    static const struct {
        struct made made;
        const char *why;
    } kinds[] = {
        {{8, 400, 60, 90, 0.02, 0.15, 0.05, 1}, "too far away"},   /* one far plane */
        {{8, 400, 0.7, 8, 0, 0.15, 0.05, 1}, "move the rig"},      /* at rest */
        {{8, 20, 0.7, 8, 0.1, 0.15, 0.05, 1}, "too few features"}, /* little texture */
        {{8, 400, 0.7, 8, 0.1, 0.15, 0.05, 0.3}, "small a part"},  /* in a corner alone */
        {{8, 400, 0.7, 8, 0.1, 0.15, 0.9, 1}, NULL},               /* mismatches */
        {{8, 400, 3, 3.01, 0.001, 0.15, 0.05, 1}, NULL},           /* a wall, hardly moved */
        {{1, 400, 0.7, 8, 0, 0.15, 0.05, 1}, NULL},                /* one pair */
        {{2, 150, 5, 40, 0.05, 0.4, 0.1, 1}, NULL},                /* a dull street */
    };
    if (!can_find())
        return;
    g_autofree struct refine_point *points = g_new(struct refine_point, 4000);
    const int count = g_test_thorough() ? 200 : 16;
    int taken = 0;
    for (int i = 0; i < count; i++) {
        int kind = i % (int)G_N_ELEMENTS(kinds);
        struct rig rig;
        struct refinement r;
        rig_made_up((enum distortion)((i + i / 8) % DISTORTION_COUNT), &rig);
        const double by[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        const struct rig truth = turned(&rig, by[0], by[1], by[2]);
        int error = refine_rig(&rig, points, make_points(&truth, &kinds[kind].made, points), &r);
        if (i < 8 || error == 0)
            say("undetermined", &truth, error, &r);
        taken += error == 0;
        g_assert_true(error == 0 || error == -ENODATA);
        if (error && kinds[kind].why && !strstr(r.why, kinds[kind].why))
            g_error("\"%s\" instead of \"%s\"", r.why, kinds[kind].why);
    }
    g_assert_cmpint(taken, ==, 0);
}

/* ---- pictures */

/* A picture's only feature matches nothing: there is no other one that it could be told from. */
TEST("/refine/single-feature", test_single_feature) {
    enum { SIDE = 80 };
    static uint8_t picture[2][SIDE * SIDE];
    static struct feature_match matches[MAX_FEATURES];
    if (!can_find())
        return;
    for (int i = 0; i < SIDE * SIDE; i++) {
        picture[0][i] = i / SIDE >= 40 && i % SIDE >= 40 ? 200 : 50; /* one corner */
        picture[1][i] = (uint8_t)hash_grey(i % SIDE / 8, i / SIDE / 8);
    }
    for (int k = 0; k < 4; k++) {
        int found = matches_find(picture[k & 1], picture[k >> 1], SIDE, SIDE, matches);
        g_assert_true(k < 3 ? found == 0 : found > 10); /* the last one: many with themselves */
    }
}

/* The scene as the rig sees it from a place; later: its left picture alone. */
static void render_at(const struct rig *rig, const struct plane *scene, int planes,
                      const double at[3], const double by[3], uint8_t *picture[2], int later) {
    struct view eye[2];
    double turn[9], back[9];
    eyes_of(rig, eye);
    rotation_from_vector(by, turn);
    matrix_transpose(turn, back);
    for (int v = 0; v < 2 - later; v++) {
        matrix_multiply(eye[v].R, turn, eye[v].R);
        matrix_apply(back, eye[v].at, eye[v].at);
        for (int i = 0; i < 3; i++)
            eye[v].at[i] += at[i];
        picture[v] = render(&eye[v], scene, planes, 2, (uint32_t)uniform(1, 1e6), NULL);
    }
    eyes_free(eye);
}

/* Couples of pictures of a scene, moved by step (m) each; their points. */
static int picture_points(const struct rig *rig, const struct plane *scene, int planes, int couples,
                          double step, struct refine_point *points) {
    int count = 0;
    for (int c = 0; c < couples; c++) {
        double at[3] = {0.15 * (c % 3 - 1), 0.1 * (c / 3 % 3 - 1), 0}, by[3] = {0, 0, 0};
        uint8_t *picture[2], *later[2];
        render_at(rig, scene, planes, at, by, picture, 0);
        for (int i = 0; i < 3; i++) {
            at[i] += step * (i == 2 ? 1 : uniform(-1, 1));
            by[i] = step > 0 ? noise(0.01) : 0;
        }
        render_at(rig, scene, planes, at, by, later, 1);
        int found = refine_find(picture[0], picture[1], later[0], rig->camera[0].width,
                                rig->camera[0].height, c, points + count);
        g_assert_cmpint(found, >=, 0);
        count += found;
        free(picture[0]);
        free(picture[1]);
        free(later[0]);
    }
    return count;
}

TEST("/refine/pictures", test_pictures) {
    static const double turns[][3] = {{0, 1, 0}, {-0.6, -0.9, 0.7}}; /* test_points() has more */
    if (!can_find())
        return;
    g_autofree struct refine_point *points = g_new(struct refine_point, 8 * MAX_FEATURES);
    for (int i = 0; i < (int)G_N_ELEMENTS(turns); i++) {
        struct rig rig;
        struct refinement r;
        struct plane scene[3];
        g_autofree char *name = g_strdup_printf("pictures, turn %d", i);
        rig_made_up(DISTORTION_RADTAN, &rig);
        wall_and_box(scene);
        scene[2] = (struct plane){.origin = {-2, 0.55, 0.3}, /* a floor */
                                  .u = {1, 0, 0},
                                  .v = {0, -0.1, 0.995},
                                  .texture = noise_texture,
                                  .square = 0.06};
        scene[0].origin[2] = 2.5;
        scene[0].square = 0.2;
        const struct rig truth = turned(&rig, turns[i][0], turns[i][1], turns[i][2]);
        int count = picture_points(&truth, scene, 3, 6, 0.08, points);
        int error = refine_rig(&rig, points, count, &r);
        hold(name, &truth, points, count, error, &r, 10);
    }
}
