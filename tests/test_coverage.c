/*
 * The rules of guided calibration: what a view is like, whether it is new, what is missing, when a
 * board is still. Boards are projected by two pinholes. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/coverage.h"
#include "tests/test.h"

enum { WIDTH = 640, HEIGHT = 480 };
#define near(a, b, max) g_assert_cmpfloat(fabs((a) - (b)), <=, max)

static const struct board board = {9, 6, 0.024, 1};

struct corners {
    float xy[2][2 * 54];
};

/* A board whose middle is at x, y, z metres, turned about the y and then the x axis, as cameras of
 * 576 px focal length and 5 cm distance see it. */
static void project(double x, double y, double z, double about_y, double about_x,
                    struct corners *c) {
    for (int j = 0; j < board.rows; j++)
        for (int i = 0; i < board.cols; i++) {
            double s = (i - 4) * board.square, t = (j - 2.5) * board.square;
            double X = x + s * cos(about_y), depth = -s * sin(about_y);
            double Y = y + t * cos(about_x);
            double Z = z + depth - t * sin(about_x);
            for (int v = 0; v < 2; v++) {
                c->xy[v][2 * (9 * j + i)] = (float)(319.5 + 576 * (X - 0.05 * v) / Z);
                c->xy[v][2 * (9 * j + i) + 1] = (float)(239.5 + 576 * Y / Z);
            }
        }
}

static struct coverage_view look(double x, double y, double z, double about_y, double about_x) {
    struct corners c;
    struct coverage_view view;
    project(x, y, z, about_y, about_x, &c);
    coverage_look(&board, WIDTH, HEIGHT, c.xy[0], c.xy[1], &view);
    return view;
}

TEST("/coverage/look", test_look) {
    struct coverage_view flat = look(0, 0, 0.5, 0, 0);
    near(flat.x, 0.5, 0.01);
    near(flat.y, 0.5, 0.01);
    near(flat.size, 576 / 0.5 * 0.024 * sqrt(8 * 5 / (640.0 * 480)), 1e-3);
    near(flat.tilt[0], 0, 0.01);
    near(flat.tilt[1], 0, 0.01);
    for (int k = -2; k <= 2; k++) { /* tilts are told within a fifth, and not mixed up */
        struct coverage_view aside = look(0.1, -0.05, 0.6, 0.3 * k, 0),
                             over = look(0, 0, 0.5, 0, 0.3 * k);
        near(aside.tilt[0], 0.3 * k, 0.02 + 0.06 * abs(k));
        near(aside.tilt[1], 0, 0.03);
        near(over.tilt[1], 0.3 * k, 0.02 + 0.06 * abs(k));
        near(over.tilt[0], 0, 0.03);
    }
    g_assert_cmpint(__builtin_popcountll(look(0, 0, 0.3, 0, 0).cell[0]), >,
                    __builtin_popcountll(look(0, 0, 0.6, 0, 0).cell[0]));
}

/* The same board turned by a half or a quarter in the picture's plane is the same view. */
TEST("/coverage/turned", test_turned) {
    struct corners c, turned;
    struct coverage_view a, b;
    project(0.05, 0.02, 0.5, 0.4, -0.2, &c);
    for (int v = 0; v < 2; v++)
        for (int i = 0; i < 54; i++)
            memcpy(turned.xy[v] + 2 * i, c.xy[v] + 2 * (53 - i), 2 * sizeof(float));
    coverage_look(&board, WIDTH, HEIGHT, c.xy[0], c.xy[1], &a);
    coverage_look(&board, WIDTH, HEIGHT, turned.xy[0], turned.xy[1], &b);
    near(a.size, b.size, 1e-6);
    near(a.tilt[0], b.tilt[0], 1e-6);
    near(a.tilt[1], b.tilt[1], 1e-6);
    g_assert_true(a.cell[0] == b.cell[0] && a.cell[1] == b.cell[1]);
}

TEST("/coverage/new", test_new) {
    struct coverage c = {.count = 0};
    struct coverage_view first = look(0, 0, 0.5, 0, 0);
    g_assert_true(coverage_is_new(&c, &first));
    g_assert_cmpint(coverage_add(&c, &first), ==, 0);
    const struct coverage_view same = look(0.005, 0, 0.51, 0.03, 0);
    const struct coverage_view others[] = {look(0.09, 0, 0.5, 0, 0), look(0, 0, 0.65, 0, 0),
                                           look(0, 0, 0.5, 0.35, 0), look(0, 0, 0.5, 0, -0.35)};
    g_assert_false(coverage_is_new(&c, &same));
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        g_assert_true(coverage_is_new(&c, &others[i]));
    g_assert_cmpint(coverage_add(&c, &others[0]), ==, 0);
    g_assert_false(coverage_is_new(&c, &others[0]));
    coverage_remove(&c, 0);
    g_assert_cmpint(c.count, ==, 1);
    g_assert_true(coverage_is_new(&c, &first));
    g_assert_false(coverage_is_new(&c, &others[0]));
    while (coverage_add(&c, &first) == 0)
        continue;
    g_assert_cmpint(c.count, ==, MAX_COVERAGE_VIEWS);
}

static void expect_missing(const struct coverage *c, const char *words) {
    char text[128];
    int done = coverage_missing(c, text, sizeof text);
    if (!strstr(text, words))
        g_error("\"%s\" instead of \"%s\"", text, words);
    g_assert_cmpint(done, ==, 0);
}

/* Places, sizes, tilts and number are asked for, one after the other, and each bar is full when it
 * is no longer asked for. */
TEST("/coverage/missing", test_missing) {
    struct coverage c = {.count = 0};
    struct coverage_shares shares;
    struct coverage_view view;
    char text[128];
    expect_missing(&c, "Show the board");
    for (int i = 0; i < 9; i++) { /* the right camera sees all of it 5 cm further left */
        if (i == 8)
            expect_missing(&c, "lower right corner");
        view = look(0.025 + (i % 3 - 1) * 0.11, (i / 3 - 1) * 0.105, 0.45, 0, 0);
        g_assert_cmpint(coverage_add(&c, &view), ==, 0);
    }
    coverage_measure(&c, &shares);
    near(shares.image, 1, 1e-9);
    near(shares.views, 9.0 / COVERAGE_VIEWS_WANTED, 1e-9);
    g_assert_cmpfloat(shares.distance, <, 0.1);
    expect_missing(&c, "nearer");
    view = look(0, 0, 0.38, 0, 0);
    g_assert_cmpint(coverage_add(&c, &view), ==, 0);
    expect_missing(&c, "farther");
    view = look(0, 0, 0.75, 0, 0);
    g_assert_cmpint(coverage_add(&c, &view), ==, 0);
    coverage_measure(&c, &shares);
    near(shares.distance, 1, 1e-9);
    g_assert_cmpfloat(shares.angle, <, 0.3);
    static const char *const sides[4] = {"right", "left", "lower", "upper"};
    for (int side = 0; side < 4; side++) {
        expect_missing(&c, sides[side]);
        view = look(0, 0, 0.5,
                    side == 0   ? 0.5
                    : side == 1 ? -0.5
                                : 0,
                    side == 2   ? 0.5
                    : side == 3 ? -0.5
                                : 0);
        g_assert_cmpint(coverage_add(&c, &view), ==, 0);
    }
    coverage_measure(&c, &shares);
    near(shares.angle, 1, 1e-9);
    g_assert_cmpint(c.count, ==, 15);
    g_assert_cmpint(coverage_missing(&c, text, sizeof text), ==, 1);
    coverage_remove(&c, 14);
    expect_missing(&c, "upper side");
    view = look(0, 0, 0.5, 0, -0.5);
    coverage_remove(&c, 4); /* the middle, which others have seen too */
    g_assert_cmpint(coverage_add(&c, &view), ==, 0);
    expect_missing(&c, "1 more view");
}

TEST("/coverage/still", test_still) {
    static struct stillness s;
    struct corners c;
    project(0, 0, 0.5, 0, 0, &c);
    for (int i = 0; i < 10; i++) /* trembles by 0.3 px, which is still */
        for (int k = 0; k < 108; k++)
            if (k == 0)
                g_assert_cmpint(stillness_look(&s, &board, c.xy[0], c.xy[1], 1000 + 100 * i, 1), ==,
                                100 * i);
            else
                c.xy[0][k] += i % 2 ? 0.3F : -0.3F;
    project(0.0005 * 5, 0, 0.5, 0, 0, &c); /* 2.9 px on */
    g_assert_cmpint(stillness_look(&s, &board, c.xy[0], c.xy[1], 2000, 1), ==, 0);
    g_assert_cmpint(stillness_look(&s, &board, c.xy[0], c.xy[1], 2500, 1), ==, 500);
    for (int i = 1; i <= 20; i++) { /* slowly on and on is not still: never long in one place */
        project(0.0025 + 0.0004 * i, 0, 0.5, 0, 0, &c);
        g_assert_cmpint(stillness_look(&s, &board, c.xy[0], c.xy[1], 2500 + 100 * i, 1), <=,
                        i < 3 ? 700 : 200);
    }
    stillness_lost(&s);
    g_assert_cmpint(stillness_look(&s, &board, c.xy[0], c.xy[1], 9000, 1), ==, 0);
    for (int k = 0; k < 108; k += 2)
        c.xy[1][k] += 4; /* seen to move by the right camera alone */
    g_assert_cmpint(stillness_look(&s, &board, c.xy[0], c.xy[1], 9500, 1), ==, 0);
    g_assert_cmpint(stillness_look(&s, &board, c.xy[0], c.xy[1], 100, 1), ==, 0); /* a new clock */
}
