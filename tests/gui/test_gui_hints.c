/*
 * What the window notices by itself: exchanged pictures, the range of colours, a folder's range and
 * calibration; and the status line that stays. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

static void test_swap(void) {
    struct gui_program p = {0};
    gui_start(&p, "--paused --swap", "synth:width=320,height=240,range=16");
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "swap", "1"));
    gui_click(&p, "swap_take");
    gui_wait_for(&p, gui_is(&p, "state", "swap", "0"));
    gui_settle(&p);
    gui_wait_for(&p, !gui_is_visible(&p, "swap_take"));
    gui_quit(&p);
}

static gboolean has_panel(const struct gui_program *p, const char *name) {
    g_autofree char *place = gui_look(p, "place", name);
    return place != NULL;
}

static void test_status_line(void) {
    struct gui_program p = {0};
    gui_start(&p, "--paused", GUI_SOURCE);
    gui_settle(&p);
    g_assert_false(has_panel(&p, "panel.status"));
    gui_run_action(&p, "panels");
    gui_wait_for(&p, has_panel(&p, "panel.status"));
    g_assert_false(has_panel(&p, "panel.settings"));
    gui_run_action(&p, "panels");
    gui_wait_for(&p, !has_panel(&p, "panel.status"));
    gui_quit(&p);
}

static double range_end(const struct gui_program *p, int which) {
    g_autofree char *range = gui_look(p, "state", "range");
    char *second;
    double first = g_ascii_strtod(range, &second);
    return which ? g_ascii_strtod(second, NULL) : first;
}

/* Colours span what the first pair has, and stay when that pair is computed with other settings. */
static void test_first_range(void) {
    struct gui_program p = {0};
    gui_start(&p, "--paused --set disparity_range=64", "synth:width=160,height=120,range=16");
    gui_settle(&p);
    g_assert_cmpfloat(range_end(&p, 1), <=, 20);
    g_assert_cmpfloat(range_end(&p, 1), >=, 8);
    g_autofree char *range = gui_look(&p, "state", "range");
    g_autofree char *weight = gui_look(&p, "value", "discontinuity_weight");
    gui_click(&p, "discontinuity_weight.more");
    gui_wait_for(&p, !gui_is(&p, "value", "discontinuity_weight", weight));
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "range", range));
    gui_run_action(&p, "range-fixed");
    gui_wait_for(&p, gui_is(&p, "state", "range", "0.00 63.00"));
    gui_quit(&p);
}

/* A folder that says its range and its calibration is shown in metres without any option. */
static void test_folder(void) {
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *folder = g_build_filename(p.folder, "pair", NULL),
                    *ini = g_build_filename(folder, "pair.ini", NULL),
                    *calib = g_build_filename(folder, "calib.txt", NULL);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    for (int side = 0; side < 2; side++) { /* noise, moved by 8 px */
        uint8_t gray[160 * 120];
        g_autofree char *path = g_strdup_printf("%s/%s.png", folder, side ? "right" : "left");
        for (unsigned i = 0; i < sizeof(gray); i++)
            gray[i] = (uint8_t)(((i % 160 + 8 * (unsigned)side) * 2654435761u ^
                                 (i / 160) * 40503u * 65537u) >>
                                24);
        g_assert_cmpint(picture_write(path, &(struct image){gray, 160, 120, 1}), ==, 0);
    }
    g_assert_true(g_file_set_contents(ini, "[pair]\ndisparities=24\n", -1, NULL));
    g_assert_true(
        g_file_set_contents(calib, "focal_px=200\ncx=80\ncy=60\nbaseline_m=0.1\n", -1, NULL));
    g_autofree char *line = g_strdup_printf("%s view --view 3 --quality fast --set backend=cpu "
                                            "--window 1000x700 --ui-map %s -o %s -q %s",
                                            g_getenv("LIVESTEREO_BIN"), p.map, p.output, folder);
    gui_spawn(&p, line);
    gui_settle(&p);
    g_assert_true(gui_is(&p, "value", "disparity_range", "24"));
    g_autofree char *nearest = gui_look(&p, "state", "nearest");
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(nearest, NULL), 200 * 0.1 / 23, 1e-3);
    gui_run_action(&p, "view-depth");
    gui_wait_for(&p, gui_is(&p, "state", "view", "depth"));
    gui_quit(&p);
}

int main(int argc, char **argv) {
    if (!gui_init(&argc, &argv))
        return 0;
    g_test_add_func("/gui/hints/swap", test_swap);
    g_test_add_func("/gui/hints/status-line", test_status_line);
    g_test_add_func("/gui/hints/first-range", test_first_range);
    g_test_add_func("/gui/hints/folder", test_folder);
    return g_test_run();
}
