/*
 * Where the parts of the window are: nothing overlaps, wide pictures get the window's width.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/layout.h"

#include <glib.h>

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

/* Every window from 800x600 to 3840x2160, every part, text of three sizes. */
static void test_apart(void) {
    static const int sizes[][2] = {{800, 600}, {1280, 800}, {1920, 1080}, {3840, 2160}};
    static const double pictures[][2] = {{640, 480}, {1242, 375}, {1242, 750}, {320, 960}};
    for (int i = 0; i < 4 * 4 * 3 * 16; i++) {
        int s = i % 4, p = i / 4 % 4, text = i / 16 % 3, parts = i / 48;
        struct layout_input in = {.width = sizes[s][0],
                                  .height = sizes[s][1],
                                  .line = 14 * (1 + text),
                                  .panel = parts & 1,
                                  .panel_lines = PANEL_LINES,
                                  .seek_bar = parts & 2,
                                  .color_bar = parts & 4,
                                  .overlays = parts & 8,
                                  .picture_width = pictures[p][0],
                                  .picture_height = pictures[p][1]};
        struct layout l = layout_window(&in);
        const struct layout_rect all[] = {l.picture, l.color_bar, l.panel, l.seek_bar, l.dock};
        int count = l.docked ? 5 : 4;
        for (int a = 0; a < count; a++) {
            is_inside(all[a], &in);
            for (int b = 0; b < a; b++)
                are_apart(all[a], all[b]);
        }
    }
}

/* At all sizes of the window, and of text, the pictures have half of it. */
static void test_half(void) {
    static const int sizes[][2] = {
        {800, 600}, {1000, 700}, {1280, 800}, {1920, 1080}, {3840, 2160}};
    for (size_t s = 0; s < 2 * G_N_ELEMENTS(sizes); s++) {
        struct layout_input in = {.width = sizes[s / 2][0],
                                  .height = sizes[s / 2][1],
                                  .line = s % 2 ? 36 : 18,
                                  .panel = true,
                                  .panel_lines = PANEL_LINES,
                                  .seek_bar = true,
                                  .color_bar = true,
                                  .picture_width = 640,
                                  .picture_height = 480};
        struct layout l = layout_window(&in);
        g_assert_cmpint(2 * l.picture.width * l.picture.height, >=, in.width * in.height);
        g_assert_cmpint(l.panel.width, >=, MIN(27 * (int)in.line, in.width / 10 * 3));
    }
}

static void test_wide(void) {
    struct layout_input in = {.width = 1280,
                              .height = 800,
                              .line = 14,
                              .panel = true,
                              .panel_lines = PANEL_LINES,
                              .seek_bar = true,
                              .color_bar = true,
                              .overlays = true,
                              .picture_width = 1242,
                              .picture_height = 375};
    struct layout l = layout_window(&in);
    g_assert_cmpint(l.picture.width, ==, 1280);
    g_assert_cmpint(l.picture.height, ==, 387);
    g_assert_true(l.docked);
    in.picture_width = 640; /* a picture of 4:3 keeps the panel beside it */
    in.picture_height = 480;
    in.overlays = false;
    l = layout_window(&in);
    g_assert_cmpint(l.panel.y, ==, 0);
    g_assert_cmpint(l.panel.height, ==, in.height);
    in.overlays = true; /* what covers no picture lies below the panel, */
    l = layout_window(&in);
    g_assert_true(l.docked);
    g_assert_cmpint(l.dock.x, ==, l.panel.x);
    g_assert_cmpint(l.dock.y, ==, l.panel.height);
    in.height = 1400; /* or below the picture */
    l = layout_window(&in);
    g_assert_true(l.docked);
    g_assert_cmpint(l.dock.y, >=, l.picture.height);
    in.height = 600;
    g_assert_false(layout_window(&in).docked);
}

/* A panel below the pictures has columns over the whole width; with a dock at its right there are
 * fewer, which stay where they are. */
static void test_columns(void) {
    static const struct {
        int width, height, columns, docked;
    } windows[] = {{1920, 1080, 3, 2}, {1280, 720, 3, 2}, {1000, 600, 2, 1}};
    for (size_t i = 0; i < G_N_ELEMENTS(windows); i++) {
        struct layout_input in = {.width = windows[i].width,
                                  .height = windows[i].height,
                                  .line = 14,
                                  .panel = true,
                                  .panel_lines = PANEL_LINES,
                                  .color_bar = true,
                                  .picture_width = 1242,
                                  .picture_height = 375};
        struct layout l = layout_window(&in);
        int column = l.panel.width / l.columns;
        g_assert_cmpint(l.panel.y, >, 0);
        g_assert_cmpint(l.columns, ==, windows[i].columns);
        g_assert_cmpint(l.panel.x, ==, l.color_bar.width);
        g_assert_cmpint(l.panel.x + l.panel.width, ==, in.width);
        g_assert_cmpint(column, >=, PANEL_LINES * 14);
        g_assert_false(l.docked);
        in.overlays = true;
        struct layout with = layout_window(&in);
        g_assert_cmpint(with.panel.x, ==, l.panel.x);
        g_assert_cmpint(with.panel.y, ==, l.panel.y);
        g_assert_cmpint(with.columns, ==, windows[i].docked);
        g_assert_cmpint(with.panel.width, ==, with.columns * column);
        g_assert_cmpint(with.dock.x, ==, with.panel.x + with.panel.width);
        g_assert_cmpint(with.dock.width, >=, 27 * 14);
    }
}

/* Two pictures side by side and the panel below them, where that is clearly larger than stacked. */
static void test_below(void) {
    struct layout_input in = {.width = 1280,
                              .height = 800,
                              .line = 14,
                              .panel = true,
                              .panel_lines = PANEL_LINES,
                              .seek_bar = true,
                              .color_bar = true,
                              .picture_width = 2 * 640,
                              .picture_height = 480};
    struct layout l = layout_window(&in);
    g_assert_cmpint(l.picture.width, ==, 1280);
    g_assert_cmpint(l.picture.height, ==, 480);
    in.width = 3840;
    in.height = 2160;
    g_assert_cmpint(layout_window(&in).picture.width, ==, 3840);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/layout/apart", test_apart);
    g_test_add_func("/layout/half", test_half);
    g_test_add_func("/layout/wide", test_wide);
    g_test_add_func("/layout/columns", test_columns);
    g_test_add_func("/layout/below", test_below);
    return g_test_run();
}
