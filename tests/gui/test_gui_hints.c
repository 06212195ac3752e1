/*
 * What the window notices by itself: exchanged pictures, the range of colours, a folder's range and
 * calibration; and what it says at rest. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

GUI_TEST("/gui/hints/swap", test_swap) {
    GUI_PROGRAM p =
        gui_open("--paused --swap", "synth:row_offset=0.01,width=320,height=240,range=16");
    g_assert_true(gui_is(&p, "state", "swap", "1"));
    gui_click_until(&p, "swap_take", "state", "swap", "0");
    gui_settle(&p);
    gui_wait_for(&p, !gui_is_visible(&p, "swap_take"));
}

/* Colours fit the first map and are held, whatever is searched or changed, until they are fitted
 * to the map of now or to the whole search. */
GUI_TEST("/gui/hints/first-range", test_first_range) {
    GUI_PROGRAM p = gui_open("--paused --set disparity_range=64",
                             "synth:row_offset=0.01,width=160,height=120,range=16");
    g_autofree char *fitted = gui_look(&p, "state", "range");
    double min, max;
    g_assert_cmpint(sscanf(fitted, "%lf %lf", &min, &max), ==, 2);
    g_assert_cmpfloat(min, >=, 0);
    g_assert_cmpfloat(max, <=, 16);
    g_assert_cmpfloat(max - min, >, 8);
    gui_set(&p, "disparity_range", "40");
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "range", fitted));
    gui_run_until(&p, "range-fixed", "range", "0.00 40.00");
    gui_set(&p, "disparity_range", "64");
    gui_until(&p, "state", "range", "0.00 64.00");
    gui_settle(&p);
    gui_click_until(&p, "fit0", "state", "range", fitted);
}

/* What the program set has no mark; of a picture at rest nothing is searched, and the line of
 * status says how long it took. */
GUI_TEST("/gui/hints/rest", test_rest) {
    GUI_PROGRAM p = {0};
    gui_launch(&p, "view --set backend=cpu --paused " GUI_SOURCE);
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "searching", "0"));
    g_autofree char *rate = gui_look(&p, "state", "status");
    g_assert_true(g_str_has_prefix(rate, "Still picture, computed in "));
    g_assert_false(gui_is_visible(&p, "discontinuity_weight.reset"));
    gui_set(&p, "discontinuity_weight", "0.4");
    gui_wait_for(&p, gui_is_visible(&p, "discontinuity_weight.reset"));
}

/* A folder that says its range and its calibration is shown in metres without any option. */
GUI_TEST("/gui/hints/folder", test_folder) {
    GUI_PROGRAM p = {0};
    g_autofree char *pair = gui_pair(&p, "pair", 160, 120);
    g_free(gui_write(&p, "pair/pair.ini", "[pair]\ndisparities=24\n"));
    g_free(gui_write(&p, "pair/calib.txt", "focal_px=200\ncx=80\ncy=60\nbaseline_m=0.1\n"));
    gui_launch(&p, "view --view 3 --quality low --set backend=cpu %s", pair);
    gui_settle(&p);
    g_assert_true(gui_is(&p, "value", "disparity_range", "24"));
    g_autofree char *nearest = gui_look(&p, "state", "nearest");
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(nearest, NULL), 200 * 0.1 / 23, 1e-3);
    gui_run_until(&p, "view-depth", "view", "depth");
}
