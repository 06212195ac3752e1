/*
 * Which pixel's point is under the mouse in the view of points. SPDX-License-Identifier: MIT
 */
#include "render/points_view.h"
#include "tests/test.h"

#include <glib.h>
#include <math.h>

enum { WIDTH = 48, HEIGHT = 24, SCALE = 8, NEAR = 8 * DISPARITY_ONE, FAR = 4 * DISPARITY_ONE };

static int16_t disparity[WIDTH * HEIGHT];
static uint8_t confidence[WIDTH * HEIGHT];
static const struct frame frame = {
    .disparity = disparity, .confidence = confidence, .rect_left = {NULL, WIDTH, HEIGHT, 1}};

/* A window in which a pixel of the picture is `scale` wide. */
static struct draw_settings make_view(int scale, double yaw) {
    return (struct draw_settings){.mode = DISPLAY_POINTS,
                                  .min = 1,
                                  .max = 8,
                                  .yaw = yaw,
                                  .distance = 1,
                                  .width = scale * WIDTH,
                                  .height = scale * HEIGHT};
}

static void clear(void) {
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        disparity[i] = DISPARITY_UNKNOWN;
}

/* Turned, a near surface covers one side of the far one behind it, and the near one is taken,
 * whichever comes first in a row. */
TEST("/points-view/nearer", test_nearer) {
    static const double yaws[] = {0, 0.4, -0.4};
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            disparity[y * WIDTH + x] = x >= 18 && x < 30 ? NEAR : FAR;
    for (size_t k = 0; k < G_N_ELEMENTS(yaws); k++) {
        struct draw_settings s = make_view(SCALE, yaws[k]);
        s.pitch = yaws[k] / 4;          /* rows are not level */
        int covered[2] = {0}, seen = 0; /* left and right of the near surface */
        for (int x = 0; x < WIDTH; x++) {
            int found_x, found_y, y = HEIGHT / 2;
            double at_x, at_y;
            if (!points_view_find(&s, &frame, x, y, &at_x, &at_y))
                continue;
            g_assert_true(points_view_pick(&s, &frame, at_x, at_y, &found_x, &found_y));
            int before = disparity[y * WIDTH + x], found = disparity[found_y * WIDTH + found_x];
            g_assert_cmpint(found, >=, before); /* never what lies behind */
            seen++;
            if (found > before)
                covered[x >= 30]++;
        }
        g_test_message("turned by %.1f: %d seen, %d and %d covered", yaws[k], seen, covered[0],
                       covered[1]);
        g_assert_cmpint(seen, >, WIDTH / 2);
        g_assert_true((covered[0] > 3) == (yaws[k] > 0));
        g_assert_true((covered[1] > 3) == (yaws[k] < 0));
    }
}

/* A pixel between near and far has no point; beside an unknown one it has. */
TEST("/points-view/hanging", test_hanging) {
    struct draw_settings s = make_view(4 * SCALE, 0);
    double at_x, at_y, x, y;
    int found_x, found_y;
    int16_t *at = &disparity[HEIGHT / 2 * WIDTH + WIDTH / 2];
    clear();
    at[0] = (NEAR + FAR) / 2;
    at[1] = FAR;
    g_assert_true(points_view_find(&s, &frame, WIDTH / 2, HEIGHT / 2, &at_x, &at_y));
    g_assert_true(points_view_pick(&s, &frame, at_x, at_y, &found_x, &found_y));
    g_assert_cmpint(found_x, ==, WIDTH / 2);
    g_assert_cmpint(found_y, ==, HEIGHT / 2);
    at[-1] = NEAR;
    g_assert_false(points_view_find(&s, &frame, WIDTH / 2, HEIGHT / 2, &x, &y));
    g_assert_false(points_view_pick(&s, &frame, at_x, at_y, &found_x, &found_y));
}

static double spread(const struct draw_settings *s, double middle[2], double most[2]) {
    double count = 0, inside = 0;
    for (int k = 0; k < 2; k++)
        middle[k] = most[k] = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            double at[2];
            count++;
            if (!points_view_find(s, &frame, x, y, &at[0], &at[1]))
                continue;
            inside++;
            for (int k = 0; k < 2; k++) {
                double off = at[k] / (k ? s->height : s->width) - 0.5;
                middle[k] += off / (WIDTH * HEIGHT);
                most[k] = fmax(most[k], fabs(off));
            }
        }
    return inside / count;
}

/* From wherever they are seen, and however they were moved. */
TEST("/points-view/fit", test_fit) {
    static const double looks[][2] = {{0, 0}, {0.25, 0.35}, {0, 1.5}, {1.5, 0}, {-2, -0.7}};
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        disparity[i] = (int16_t)(FAR + (NEAR - FAR) * (i / WIDTH) / HEIGHT);
    for (size_t k = 0; k < G_N_ELEMENTS(looks); k++) {
        struct draw_settings s = make_view(SCALE, looks[k][0]);
        s.pitch = looks[k][1];
        s.shift_x = 3;
        s.distance = 0.1;
        points_view_fit(&s, &frame);
        double middle[2], most[2], seen = spread(&s, middle, most);
        g_test_message("%g %g: %.2f are seen, middle %.2f %.2f, most %.2f %.2f", s.yaw, s.pitch,
                       seen, middle[0], middle[1], most[0], most[1]);
        g_assert_cmpfloat(s.yaw, ==, looks[k][0]);
        g_assert_cmpfloat(s.pitch, ==, looks[k][1]);
        g_assert_cmpfloat(seen, >, 0.9);
        g_assert_cmpfloat(fmax(most[0], most[1]), >, 0.42);
        g_assert_cmpfloat(fmax(fabs(middle[0]), fabs(middle[1])), <, 0.05);
    }
}

/* A point is taken from up to 8 px away. */
TEST("/points-view/reach", test_reach) {
    struct draw_settings s = make_view(4, 0);
    double at_x, at_y;
    clear();
    disparity[10 * WIDTH + 20] = NEAR;
    g_assert_true(points_view_find(&s, &frame, 20, 10, &at_x, &at_y));
    g_assert_cmpfloat(fabs(at_x - 4 * 20), <, 0.01);
    g_assert_cmpfloat(fabs(at_y - 4 * 10), <, 0.01);
    for (int side = 0; side < 4; side++) {
        const double dx = side < 2 ? side * 2 - 1 : 0, dy = side < 2 ? 0 : side * 2 - 5;
        int x, y;
        g_assert_true(points_view_pick(&s, &frame, at_x + 7 * dx, at_y + 7 * dy, &x, &y));
        g_assert_cmpint(x, ==, 20);
        g_assert_cmpint(y, ==, 10);
        g_assert_false(points_view_pick(&s, &frame, at_x + 9 * dx, at_y + 9 * dy, &x, &y));
    }
}
