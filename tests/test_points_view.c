/*
 * Where points are in their view, and which pixel is drawn at a place of it.
 * SPDX-License-Identifier: MIT
 */
#include "render/points_view.h"
#include "tests/test.h"

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

/* The depth that is drawn leads back to the pixel, however the points are turned and moved. */
TEST("/points-view/pixel", test_pixel) {
    static const double yaws[] = {0, 0.4, -0.8};
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        disparity[i] = (int16_t)(FAR + (NEAR - FAR) * (i % WIDTH) / WIDTH);
    for (size_t k = 0; k < G_N_ELEMENTS(yaws); k++) {
        struct draw_settings s = make_view(SCALE, yaws[k]);
        struct points_view view;
        int seen = 0;
        s.pitch = yaws[k] / 4;
        s.distance = 1.2;
        s.shift_x = 0.1;
        s.x = 30;
        s.y = 20;
        points_view_of(&s, WIDTH, HEIGHT, &view);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            int x = i % WIDTH, y = i / WIDTH, found_x, found_y;
            float z = (float)(WIDTH * DISPARITY_ONE) / disparity[i];
            vec4 clip, at = {((float)x - WIDTH / 2.0f) * z / WIDTH,
                             ((float)y - HEIGHT / 2.0f) * z / WIDTH, z, 1};
            double at_x, at_y;
            if (!points_view_find(&s, &frame, x, y, &at_x, &at_y))
                continue;
            glm_mat4_mulv(view.transform, at, clip);
            points_view_pixel(&s, WIDTH, HEIGHT, at_x, at_y, (1 + (double)(clip[2] / clip[3])) / 2,
                              &found_x, &found_y);
            g_assert_cmpint(found_x, ==, x);
            g_assert_cmpint(found_y, ==, y);
            seen++;
        }
        g_assert_cmpint(seen, >, WIDTH * HEIGHT / 2);
    }
}

/* A pixel between near and far has no point; beside an unknown one it has. */
TEST("/points-view/hanging", test_hanging) {
    struct draw_settings s = make_view(4 * SCALE, 0);
    double at_x, at_y, x, y;
    int16_t *at = &disparity[HEIGHT / 2 * WIDTH + WIDTH / 2];
    clear();
    at[0] = (NEAR + FAR) / 2;
    at[1] = FAR;
    g_assert_true(points_view_find(&s, &frame, WIDTH / 2, HEIGHT / 2, &at_x, &at_y));
    at[-1] = NEAR;
    g_assert_false(points_view_find(&s, &frame, WIDTH / 2, HEIGHT / 2, &x, &y));
}

static double spread(const struct draw_settings *s, double middle[2], double most[2]) {
    double count = 0, inside = 0;
    for (int k = 0; k < 2; k++)
        middle[k] = most[k] = 0;
    EACH_PIXEL(x, y, WIDTH, HEIGHT) {
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
