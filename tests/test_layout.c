/*
 * Where the parts of the window are: nothing overlaps, and the pictures have most of it.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/layout.h"
#include "tests/test.h"

static void is_inside(struct layout_rect r, const struct layout_input *in) {
    g_assert_cmpint(r.x, >=, 0);
    g_assert_cmpint(r.y, >=, 0);
    g_assert_cmpint(r.x + r.width, <=, in->width);
    g_assert_cmpint(r.y + r.height, <=, in->height);
}

static void are_apart(struct layout_rect a, struct layout_rect b) {
    bool apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y ||
                 b.y + b.height <= a.y;
    if (a.width * a.height > 0 && b.width * b.height > 0)
        g_assert_true(apart);
}

/* Every window from 800x600 to 3840x2160, every part, text of three sizes; over a narrow window's
 * views the panel may lie. */
TEST("/layout/apart", test_apart) {
    static const int sizes[][2] = {{800, 600}, {1280, 800}, {1920, 1080}, {3840, 2160}};
    static const double pictures[][2] = {{640, 480}, {1242, 375}, {1242, 750}, {320, 960}};
    for (int i = 0; i < 4 * 4 * 3 * 16; i++) {
        int s = i % 4, p = i / 4 % 4, text = i / 16 % 3, parts = i / 48;
        struct layout_input in = {.width = sizes[s][0],
                                  .height = sizes[s][1],
                                  .scale = 1 + text / 2.0,
                                  .bars = parts & 1,
                                  .panel = parts & 2,
                                  .seek_bar = parts & 4,
                                  .filled = parts & 8,
                                  .rows = 1 + (p > 1),
                                  .picture_width = pictures[p][0],
                                  .picture_height = pictures[p][1]};
        struct layout l = layout_window(&in);
        const struct layout_rect all[] = {l.top, l.status, l.views, l.seek_bar, l.panel};
        int count = l.narrow ? 4 : 5;
        for (int a = 0; a < 5; a++) {
            is_inside(all[a], &in);
            for (int b = 0; b < a && a < count; b++)
                are_apart(all[a], all[b]);
        }
    }
}

/* The share of the window that the pictures have, in percent. */
static double share(int width, int height, double scale, int rows, bool seek, double picture_width,
                    double picture_height, struct layout *l) {
    struct layout_input in = {.width = width,
                              .height = height,
                              .scale = scale,
                              .bars = true,
                              .panel = true,
                              .seek_bar = seek,
                              .rows = rows,
                              .picture_width = picture_width,
                              .picture_height = picture_height};
    *l = layout_window(&in);
    return 100 * l->scale * l->scale * picture_width * picture_height / width / height;
}

/* Two pictures of a drive are stacked, two of 4:3 are side by side over a panel in columns. */
TEST("/layout/share", test_share) {
    struct layout l;
    g_assert_cmpfloat(share(1280, 800, 1, 2, true, 1226, 740, &l), >=, 57);
    g_assert_cmpint(l.panel.width, ==, 280);
    g_assert_cmpfloat(share(1920, 1080, 1, 2, true, 1226, 740, &l), >=, 66);
    g_assert_cmpint(l.panel.width, ==, 320);
    g_assert_cmpfloat(share(3840, 2160, 2, 2, true, 1226, 740, &l), >=, 66);
    g_assert_cmpfloat(share(1280, 800, 1, 1, false, 900, 375, &l), >=, 66);
    g_assert_cmpint(l.panel.y, >=, l.views.y + l.views.height);
    g_assert_cmpint(l.panel.width, ==, 1280);
    g_assert_cmpint(l.columns, ==, 3);
    g_assert_cmpfloat(share(1280, 800, 1, 1, false, 640, 480, &l), >=, 50);
    g_assert_cmpint(l.panel.x, ==, 1000); /* one picture of 4:3 keeps the panel beside it */
    g_assert_cmpint(l.columns, ==, 1);
}

/* What fills its place leaves none below it. */
TEST("/layout/filled", test_filled) {
    struct layout_input in = {.width = 1280,
                              .height = 800,
                              .scale = 1,
                              .bars = true,
                              .panel = true,
                              .rows = 1,
                              .filled = true,
                              .picture_width = 1,
                              .picture_height = 1};
    struct layout l = layout_window(&in);
    g_assert_cmpint(l.views.width, ==, 1000);
    g_assert_cmpint(l.views.y + l.views.height, ==, l.status.y);
}
