/*
 * No panel is cut, in small and in large windows and with small and large text: the map names the
 * first panel that does not show all of its contents. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

/* What has just opened is cut until the next frames have made room for it. */
static void expect_whole(const struct gui_program *p, const char *what) {
    gui_settle(p);
    gui_wait_for(p, gui_is(p, "state", "cut", "none") ||
                        (g_test_message("waiting for all of %s", what), FALSE));
}

static void expect_whole_part(const struct gui_program *p, const char *action, const char *panel) {
    gui_run_action(p, action);
    gui_wait_for(p, gui_is_visible(p, panel));
    expect_whole(p, action);
    gui_run_action(p, action);
    gui_wait_for(p, !gui_is_visible(p, panel));
}

static void expect_whole_panels(const struct gui_program *p) {
    expect_whole(p, "the window");
    gui_until(p, "state", "cut-line", "none"); /* of the panel's first ones */
    gui_run_action(p, "stats");                /* which opens the panel of a narrow window */
    gui_wait_for(p, gui_look(p, "place", "card.rate") != NULL);
    expect_whole(p, "the statistics");
    gui_tab(p, "all");
    gui_click(p, "group.belief propagation");
    expect_whole(p, "all settings");
    expect_whole_part(p, "help", "panel.keys");
    expect_whole_part(p, "log", "panel.log");
}

static const struct {
    const char *name, *size;
    double text_scale;
} sizes[] = {{"800x600", "800x600", 1},
             {"800x600 text 2", "800x600", 2},
             {"3840x2160", "3840x2160", 1},
             {"3840x2160 text 2", "3840x2160", 2}};

TEST_ROWS("/gui/sizes/view", sizes, test_view) {
    const __typeof__(sizes[0]) *s = row;
    GUI_PROGRAM p = {0};
    g_autofree char *calib = gui_calibration(&p, 160, 120, 150),
                    *options = g_strdup_printf("--paused --window %s --ui-scale %g --calib %s",
                                               s->size, s->text_scale, calib);
    gui_start(&p, options, GUI_SOURCE);
    expect_whole_panels(&p);
    gui_tab(&p, "rig");
    expect_whole(&p, "the rig");
    expect_whole_part(&p, "start", "panel.start");
    gui_key(&p, "ESC"); /* closes the panel that lies over the picture of a narrow window */
    struct gui_rect picture = gui_find(&p, "picture");
    gui_move(&p, picture.x + picture.width / 2.0, picture.y + picture.height / 2.0);
    gui_wait_for(&p, gui_is_visible(&p, "read-out"));
    expect_whole(&p, "the read-out");
    gui_button(&p, "click", 1);
    gui_until(&p, "state", "probes", "1");
    if (!gui_is_visible(&p, "tab.probes"))
        gui_run_action(&p, "panels");
    gui_wait_for(&p, gui_is_visible(&p, "tab.probes"));
    gui_tab(&p, "probes");
    gui_wait_for(&p, gui_is_visible(&p, "unpin"));
    expect_whole(&p, "a pinned probe");
}

TEST_ROWS("/gui/sizes/motion", sizes, test_motion) {
    const __typeof__(sizes[0]) *s = row;
    GUI_PROGRAM p = {0};
    gui_launch(&p,
               "motion --preset flow --set bp_iterations=2 --set threads=2 --window %s --ui-scale "
               "%g --paused synth:width=96,height=72,frames=4",
               s->size, s->text_scale);
    expect_whole_panels(&p);
}

/* The pictures' share of the window, and its controls. */
GUI_TEST("/gui/sizes/share", test_share) {
    static const struct {
        const char *window, *source;
        double least;
    } cases[] = {{"1280x800", "width=1226,height=370,frames=60", 57},
                 {"1920x1080", "width=1226,height=370,frames=60", 66},
                 {"1280x800", "width=450,height=375,frames=1", 66}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GUI_PROGRAM p = {0};
        gui_prepare(&p);
        int width, height, controls = 0;
        double area = 0;
        gui_launch(&p, "view --set threads=2 --quality low --paused --window %s synth:range=16,%s",
                   cases[i].window, cases[i].source);
        gui_settle(&p);
        sscanf(cases[i].window, "%dx%d", &width, &height);
        g_autofree char *map = NULL;
        g_assert_true(g_file_get_contents(p.map, &map, NULL, NULL));
        g_auto(GStrv) lines = g_strsplit(map, "\n", -1);
        for (char **at = lines; *at; at++) {
            int w, h;
            if (sscanf(*at, "shown %d %d", &w, &h) == 2) {
                area += (double)w * h;
                if (i == 0) /* nothing is left beside them, some below */
                    g_assert_cmpint(w, >=, gui_find(&p, "picture").width - 1);
            }
            controls += g_str_has_prefix(*at, "place ") && !strstr(*at, "panel.") &&
                        !strstr(*at, "card.") && !strstr(*at, "status.") &&
                        !strstr(*at, "calibrated") && !strstr(*at, "place hint") &&
                        !strstr(*at, "picture") && !strstr(*at, "read-out");
        }
        g_test_message("%s of %s: %.1f %%, %d controls", cases[i].source, cases[i].window,
                       100 * area / width / height, controls);
        g_assert_cmpfloat(100 * area / width / height, >=, cases[i].least);
        g_assert_cmpint(controls, <=, 36);
    }
}

/* On a small screen the first window is no larger than that. */
GUI_TEST("/gui/sizes/small-screen", test_small_screen) {
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *script = g_build_filename(p.folder, "start", NULL);
    g_autofree char *text = g_strdup_printf(
        "%s view %s --paused --ui-map %s -q %s & p=$!\n"
        "until grep -q '^state current 1' %s && grep -q '^state rest 1' %s; do sleep 0.1; done\n"
        "kill $p\nwait $p\n",
        g_getenv("LIVESTEREO_BIN"), GUI_SETTINGS, p.map, GUI_SOURCE, p.map, p.map);
    g_assert_true(g_file_set_contents(script, text, -1, NULL));
    gui_tool("xvfb-run -a -s '-screen 0 1024x640x24' sh %s", script);
    struct gui_rect panel = gui_find(&p, "panel.settings");
    g_test_message("to %d, %d of 1024x640", panel.x + panel.width, panel.height);
    g_assert_cmpint(panel.x + panel.width, <=, 1024);
    g_assert_cmpint(panel.height, <=, 640);
    gui_forget(&p);
}
