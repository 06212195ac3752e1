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
    gui_wait_for(p, gui_is(p, "state", "cut-line", "none")); /* of the panel's first ones */
    expect_whole_part(p, "stats", "panel.statistics");
    expect_whole_part(p, "help", "panel.keys");
    expect_whole_part(p, "log", "panel.log");
    gui_click(p, "group.advanced");
    gui_click(p, "group.belief propagation");
    expect_whole(p, "all settings");
}

static const struct {
    const char *name, *size;
    double text_scale;
} sizes[] = {{"800x600", "800x600", 1},
             {"800x600 text 2", "800x600", 2},
             {"3840x2160", "3840x2160", 1},
             {"3840x2160 text 2", "3840x2160", 2}};

static void test_view(gconstpointer data) {
    size_t i = GPOINTER_TO_SIZE(data);
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *calib = g_build_filename(p.folder, "calib.txt", NULL),
                    *options = g_strdup_printf("--paused --window %s --ui-scale %g --calib %s",
                                               sizes[i].size, sizes[i].text_scale, calib);
    const char *rig = "focal_px=150\ncx=80\ncy=60\nbaseline_m=0.1\n";
    g_assert_true(g_file_set_contents(calib, rig, -1, NULL));
    gui_start(&p, options, GUI_SOURCE);
    expect_whole_panels(&p);
    gui_click(&p, "group.rig");
    expect_whole(&p, "the rig");
    expect_whole_part(&p, "start", "panel.start");
    struct gui_rect picture = gui_find(&p, "picture");
    gui_move(&p, picture.x + picture.width / 2.0, picture.y + picture.height / 2.0);
    gui_wait_for(&p, gui_is_visible(&p, "read-out"));
    expect_whole(&p, "the read-out");
    gui_button(&p, "click", 1);
    gui_wait_for(&p, gui_is_visible(&p, "panel.probes"));
    expect_whole(&p, "a pinned probe");
    gui_quit(&p);
}

static void test_motion(gconstpointer data) {
    size_t i = GPOINTER_TO_SIZE(data);
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *line = g_strdup_printf(
        "%s motion --preset flow --set bp_iterations=2 --set threads=2 --window %s --ui-scale %g "
        "--paused --ui-map %s -o %s -q synth:width=96,height=72,frames=4",
        g_getenv("LIVESTEREO_BIN"), sizes[i].size, sizes[i].text_scale, p.map, p.output);
    gui_spawn(&p, line);
    expect_whole_panels(&p);
    gui_quit(&p);
}

/* The statistics in the lowest dock, below the pictures, with all stages. */
static void test_statistics(void) {
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *line =
        g_strdup_printf("%s view --set threads=2 --quality balanced --stats --window 1280x800 "
                        "--ui-map %s -o %s -q synth:width=160,height=134,range=16,frames=60",
                        g_getenv("LIVESTEREO_BIN"), p.map, p.output);
    gui_spawn(&p, line);
    gui_wait_for(&p, gui_number(&p, "state", "frame") > 3); /* so that they have the flicker */
    gui_run_action(&p, "pause");
    gui_wait_for(&p, gui_number(&p, "state", "energy") > 0);
    expect_whole(&p, "the statistics");
    struct gui_rect panel = gui_find(&p, "panel.statistics");
    g_test_message("%d px of them at %d", panel.height, panel.y);
    g_assert_cmpint(panel.y, >, 500);
    g_assert_cmpint(panel.y + panel.height, <=, 800);
    gui_quit(&p);
}

/* On a small screen the first window is no larger than that. */
static void test_small_screen(void) {
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

int main(int argc, char **argv) {
    if (!gui_init(&argc, &argv))
        return 0;
    g_test_add_func("/gui/sizes/small-screen", test_small_screen);
    g_test_add_func("/gui/sizes/statistics", test_statistics);
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *view = g_strdup_printf("/gui/sizes/view %s", sizes[i].name),
                        *motion = g_strdup_printf("/gui/sizes/motion %s", sizes[i].name);
        g_test_add_data_func(view, GSIZE_TO_POINTER(i), test_view);
        g_test_add_data_func(motion, GSIZE_TO_POINTER(i), test_motion);
    }
    return g_test_run();
}
