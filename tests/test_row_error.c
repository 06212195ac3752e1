/*
 * Row errors: mismatches of single features are left out, whatever a rig, a lens or a moving thing
 * does to rows is not. SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "calibration/workshop/row_error.h"
#include "image/picture.h"
#include "gpu/stages/image.h"
#include "tests/rig_render.h"
#include "tests/test.h"

enum { W = 640, H = 480 };
#define near(a, b, max) g_assert_cmpfloat(fabs((double)(a) - (double)(b)), <=, max)

/* Whether this build can; else it says what is missing, and the test is skipped. */
static gboolean can_measure(void) {
    const struct row_error none = {0};
    g_assert_true(!matches_missing() || strstr(row_error_too_few(&none), matches_missing()));
    if (matches_missing())
        g_test_skip(matches_missing());
    return !matches_missing();
}

/* A wall and a box before it, seen by two pinholes that look the same way but for the turn (rad)
 * and rise (m) of the right one. */
static void make_pair(const double turn[3], double rise, uint8_t *picture[2]) {
    struct plane scene[2];
    const double place[3] = {0.12, rise, 0};
    struct rig rig;
    struct view eye[2];
    wall_and_box(scene);
    rig_clear(&rig);
    for (int v = 0; v < 2; v++)
        rig.camera[v] = (struct camera){
            .width = W, .height = H, .fx = 520, .fy = 520, .cx = 319.5, .cy = 239.5};
    rotation_from_vector(turn, rig.R);
    matrix_apply(rig.R, place, rig.T);
    for (int i = 0; i < 3; i++)
        rig.T[i] = -rig.T[i];
    eyes_of(&rig, eye);
    for (int v = 0; v < 2; v++)
        picture[v] = render(&eye[v], scene, 2, 2, 11 + (uint32_t)v, NULL);
    eyes_free(eye);
}

static struct row_error measure(uint8_t *const picture[2]) {
    struct row_error e;
    g_assert_cmpint(row_error_measure(picture[0], picture[1], W, H, -8, 64, &e, NULL, 0), ==, 0);
    g_test_message("%d features, %d left out; median %+.3f, 95 %% %.3f, about the median %.3f px",
                   e.matches, e.left_out, e.median, e.p95_abs, e.scatter);
    return e;
}

static void free_pair(uint8_t *picture[2]) {
    free(picture[0]);
    free(picture[1]);
}

/* What is turned, raised or both is said to be. */
TEST("/row_error/drift", test_drift) {
    static const double deg = M_PI / 180;
    const struct {
        double turn[3], rise, median, min_scatter, max_scatter;
        const char *advice;
    } cases[] = {
        {{0, 0, 0}, 0, 0, 0, 0.3, NULL},
        {{0.2 * deg, 0, 0}, 0, 1.82, 0, 0.4, "a row offset mends it"}, /* 520 tan(0.2) */
        {{0, 0, 0.4 * deg}, 0, 0, 1.7, 2.5, "no offset mends it"},     /* 320 * 0.007 */
        {{-0.15 * deg, 0, 0.5 * deg}, 0, -1.36, 2, 3, "no offset mends it"},
        {{0, 0, 0}, 0.01, -2.45, 0.3, 2.5, "mends it"}, /* 520 * 0.01 / depth */
    };
    for (size_t i = WATCHED ? 3 : 0; can_measure() && i < G_N_ELEMENTS(cases); i++) {
        uint8_t *picture[2];
        make_pair(cases[i].turn, cases[i].rise, picture);
        struct row_error e = measure(picture);
        const char *advice = row_error_advice(&e);
        g_assert_cmpint(e.matches, >, 400);
        near(fabs(e.median), fabs(cases[i].median), 0.25);
        g_assert_cmpfloat(e.scatter, >=, cases[i].min_scatter);
        g_assert_cmpfloat(e.scatter, <=, cases[i].max_scatter);
        g_assert_true(!advice == !cases[i].advice);
        if (advice && !strstr(advice, cases[i].advice))
            g_error("\"%s\" instead of \"%s\"", advice, cases[i].advice);
        g_assert_cmpint(e.left_out, <, e.matches / 50);
        free_pair(picture);
    }
}

/* Moves a block of the right picture by rows down. */
static void move_block(uint8_t *right, int x, int y, int width, int height, int rows) {
    g_autofree uint8_t *before = g_memdup2(right, W * H);
    for (int v = y; v < y + height; v++)
        memcpy(right + v * W + x, before + (v - rows) * W + x, (size_t)width);
}

/* Small things that stand alone are mismatches (glints, crossings of edges); a part of the picture
 * that moves as one is not. */
TEST("/row_error/alone", test_alone) {
    static const double still[3] = {0, 0, 0};
    uint8_t *picture[2];
    if (!can_measure())
        return;
    make_pair(still, 0, picture);
    struct row_error before = measure(picture);
    for (int i = 0; i < 24; i++)
        move_block(picture[1], 40 + i % 6 * 96, 40 + i / 6 * 104, 28, 28, i % 2 ? 3 : -3);
    struct row_error alone = measure(picture);
    g_assert_cmpint(alone.left_out, >, before.left_out + 10);
    g_assert_cmpfloat(alone.p95_abs, <, before.p95_abs + 0.15);
    g_assert_null(row_error_advice(&alone));
    free_pair(picture);

    make_pair(still, 0, picture);
    move_block(picture[1], 20, 250, 400, 220, 3);
    struct row_error part = measure(picture);
    g_assert_cmpfloat(part.p95_abs, >, 2.5);
    g_assert_nonnull(row_error_advice(&part));
    free_pair(picture);
}

/* Of several pairs each figure is the median: one bad pair of three says nothing. */
TEST("/row_error/combine", test_combine) {
    const struct row_error pairs[3] = {
        {.matches = 50, .median = 0.1, .p95_abs = 0.5, .scatter = 0.6, .spread = 0.2},
        {.matches = 60, .median = -2, .p95_abs = 5, .scatter = 6, .spread = 2},
        {.matches = 70, .median = 0.2, .p95_abs = 0.6, .scatter = 1.7, .spread = 0.3}};
    struct row_error all;
    row_error_combine(pairs, 3, &all);
    g_assert_cmpint(all.matches, ==, 180);
    g_assert_cmpfloat(fabs(all.median - 0.1), <, 1e-6);
    g_assert_cmpfloat(fabs(all.scatter - 2.9 * 0.3), <, 1e-6);
    g_assert_null(row_error_advice(&all)); /* few mismatches far off are not the rig's */
    g_assert_nonnull(row_error_advice(&pairs[1]));
}

/* One number, how sure and how old, and what to do. */
TEST("/row_error/health", test_health) {
    const struct row_error pairs[3] = {
        {.matches = 100, .median_abs = 0.2, .p95_abs = 0.5, .scatter = 0.6, .spread = 0.1},
        {.matches = 100, .median_abs = 0.3, .p95_abs = 0.5, .scatter = 0.6, .spread = 0.1},
        {.matches = 100, .median_abs = 0.22, .p95_abs = 0.5, .scatter = 0.6, .spread = 0.1}};
    const struct row_error off = {
        .matches = 100, .median = 1.8, .median_abs = 1.8, .p95_abs = 2, .scatter = 0.5};
    const struct row_error bad = {
        .matches = 100, .median = 0, .median_abs = 1.2, .p95_abs = 4, .scatter = 4, .spread = 1};
    char text[96];
    struct row_health health = row_error_health(pairs, 3);
    row_health_print(&health, 3.2, text, sizeof text);
    g_assert_cmpstr(text, ==, "rows 0.22 \u00b1 0.05 px, 3 s old: good");
    g_assert_null(health.advice);
    health = row_error_health(pairs, 1);
    near(health.sd, 1.25 * 1.48 * 0.1 / 10, 1e-6);
    health = row_error_health(&off, 1);
    row_health_print(&health, NAN, text, sizeof text);
    g_assert_cmpstr(text, ==, "rows 1.80 \u00b1 0.01 px: off");
    g_assert_nonnull(strstr(health.advice, "a row offset mends it"));
    health = row_error_health(&bad, 1);
    g_assert_cmpint(health.level, ==, ROWS_BAD);
    g_assert_nonnull(strstr(health.advice, "calibrate again"));
}
