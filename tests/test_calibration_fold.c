/*
 * Lens models that fold: what the views do not determine is no reason to refuse them.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"
#include "tests/test.h"

enum { COLS = 11, ROWS = 8, VIEWS = 16, CORNERS = COLS * ROWS };

static const struct board board = {COLS, ROWS, 0.03, 1};

/* Two cameras of 1280x720 with this lens, 12 cm apart. */
static void make_rig(double k1, double k2, struct rig *rig) {
    rig_clear(rig);
    for (int v = 0; v < 2; v++)
        rig->camera[v] = (struct camera){.width = 1280,
                                         .height = 720,
                                         .fx = 700,
                                         .fy = 700,
                                         .cx = 640,
                                         .cy = 360,
                                         .distortion = DISTORTION_RADTAN,
                                         .k = {k1, k2}};
    for (int i = 0; i < 3; i++)
        rig->R[4 * i] = 1;
    rig->T[0] = -0.12;
    rig->metric = 1;
}

/* Corners of a board that is tilted and moved from view to view, this far off the middle and away;
 * noise in px. */
static void make_views(const struct rig *rig, double spread, double away, double noise,
                       struct board_view views[VIEWS]) {
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    for (int n = 0; n < VIEWS; n++) {
        const double tilt[3] = {0.5 * sin(1.9 * n), 0.5 * cos(1.3 * n), 0.2 * sin(0.7 * n)};
        const double at[3] = {spread * cos(2.4 * n) + 0.06, 0.5 * spread * sin(2.4 * n),
                              away * (1 + 0.3 * sin(1.1 * n))};
        double R[9];
        rotation_from_vector(tilt, R);
        for (int v = 0; v < 2; v++) {
            views[n].xy[v] = g_new(float, 2 * CORNERS);
            for (int i = 0; i < CORNERS; i++) {
                double p[3] = {(i % COLS - (COLS - 1) / 2.0) * board.square,
                               (i / COLS - (ROWS - 1) / 2.0) * board.square, 0},
                       q[3], pixel[2];
                matrix_apply(R, p, q);
                double z = q[2] + at[2],
                       xy[2] = {(q[0] + at[0] + v * rig->T[0]) / z, (q[1] + at[1]) / z};
                camera_project(&rig->camera[v], xy, pixel);
                for (int k = 0; k < 2; k++)
                    views[n].xy[v][2 * i + k] =
                        (float)(pixel[k] + noise * g_rand_double_range(random, -1, 1));
            }
        }
    }
}

/* Solves such views; what was logged, to g_free. */
static char *solve(double k1, double k2, double spread, double away, double noise,
                   struct board_result *result, int *error) {
    struct board_view views[VIEWS] = {0};
    struct rig rig;
    make_rig(k1, k2, &rig);
    make_views(&rig, spread, away, noise, views);
    struct stderr_of caught = stderr_begin();
    *error = chessboard_solve(&board, 1280, 720, DISTORTION_RADTAN, 0.5, views, VIEWS, result);
    char *text = stderr_end(caught);
    for (int n = 0; n < VIEWS; n++)
        for (int v = 0; v < 2; v++)
            g_free(views[n].xy[v]);
    return text;
}

/* The lens itself folds near the corners of the picture: the result holds where the views are. */
TEST_OF("/calibration/fold/outside", test_outside, chessboard_available()) {
    struct board_result result;
    int error;
    g_autofree char *text = solve(-0.35, 0, 0.1, 0.7, 0.05, &result, &error);
    g_test_message("%s", text);
    g_assert_cmpint(error, ==, 0);
    g_assert_nonnull(strstr(text, "outside of what the views cover"));
    g_assert_cmpint(result.used, ==, VIEWS);
    g_assert_cmpfloat(fabs(result.rig.camera[0].fx - 700), <, 5);
    g_assert_cmpfloat(fabs(rig_baseline(&result.rig) - 0.12), <, 0.001);
}

/* Views in the middle alone leave k2 to chance: where it makes the model fold it is kept 0. */
TEST_OF("/calibration/fold/fewer-terms", test_fewer_terms, chessboard_available()) {
    struct board_result result;
    int error;
    g_autofree char *text = solve(0.02, 0, 0.02, 1.4, 0.3, &result, &error);
    g_test_message("%s", text);
    g_assert_cmpint(error, ==, 0);
    g_assert_nonnull(strstr(text, "k2 = 0 is taken"));
    g_assert_cmpfloat(result.rig.camera[0].k[1], ==, 0);
    for (int corner = 0; corner < 4; corner++) {
        const double pixel[2] = {corner % 2 * 1279, corner / 2 * 719};
        double xy[2];
        g_assert_cmpint(camera_unproject(&result.rig.camera[0], pixel, xy), ==, 0);
    }
}
