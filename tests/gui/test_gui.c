/*
 * Sliders, mouse, size, end and memory of the window. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <signal.h>
#include <time.h>
#include <utime.h>

/* A slider dragged by the mouse changes the value and, on the frame that stands still, the
 * picture. */
GUI_TEST("/gui/slider", test_slider) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    OWN_IMAGE before = gui_shot(&p);
    long value = gui_number(&p, "value", "bp_iterations");
    g_autofree char *weight = gui_look(&p, "value", "discontinuity_weight");
    gui_drag(&p, "discontinuity_weight", 0.1, 0.9, 1);
    gui_wait_for(&p, !gui_is(&p, "value", "discontinuity_weight", weight));
    gui_settle(&p);
    g_assert_cmpint(gui_number(&p, "state", "frame"), ==, 0);
    OWN_IMAGE after = gui_shot(&p);
    long pixels = gui_changed(&p, &before, &after);
    g_test_message("discontinuity_weight from %s, %ld pixels changed", weight, pixels);
    g_assert_cmpint(pixels, >, 1000);
    struct gui_rect label = gui_find(&p, "discontinuity_weight.reset"); /* the mark is beside it */
    int pixel = (label.y + label.height / 2) * after.width + label.x - 6;
    const uint8_t *mark = after.data + (ptrdiff_t)pixel * after.channels;
    g_assert_cmphex((unsigned)(mark[0] << 16 | mark[1] << 8 | mark[2]), ==, 0x6aa6ff);

    gui_click_until(&p, "discontinuity_weight.reset", "value", "discontinuity_weight", weight);
    struct gui_rect panel = gui_find(&p, "panel.settings"); /* no help lies over the picture */
    gui_move(&p, panel.x + panel.width / 2.0, panel.y + panel.height - 5);
    gui_settle(&p);
    OWN_IMAGE again = gui_shot(&p);
    g_assert_cmpint(gui_changed(&p, &before, &again), ==,
                    0); /* the same settings, the same picture */

    struct gui_rect at = gui_find(&p, "disparity_range.value"); /* the wheel turns it by steps */
    gui_move(&p, at.x + at.width / 2.0, at.y + at.height / 2.0);
    gui_button(&p, "click", 4);
    gui_wait_for(&p, gui_number(&p, "value", "disparity_range") == 17);
    gui_button(&p, "click", 5);
    gui_wait_for(&p, gui_number(&p, "value", "disparity_range") == 16);
    gui_tab(&p, "all");
    gui_click(&p, "group.belief propagation");
    gui_set(&p, "bp_iterations", "4");
    gui_wait_for(&p, gui_number(&p, "value", "bp_iterations") == value + 1);
    gui_click(&p, "bp_iterations.value");
    gui_type(&p, "7");
    gui_key(&p, "ESC"); /* leaves what was there */
    gui_until(&p, "state", "typing", "0");
    g_assert_cmpint(gui_number(&p, "value", "bp_iterations"), ==, value + 1);
    gui_click(&p, "bp_iterations.value");
    gui_type(&p, "7");
    kill(p.pid, SIGSTOP); /* all of these come between two drawings */
    gui_give(&p, "type 3");
    gui_key(&p, "Ctrl+a");
    gui_give(&p, "type 12");
    gui_key(&p, "ENTER");
    kill(p.pid, SIGCONT);
    gui_until(&p, "state", "typing", "0");
    g_assert_cmpint(gui_number(&p, "value", "bp_iterations"), ==, 12);
}

/* A row's value is typed, be it beyond the slider's end, which is ten times the default; the mark
 * that resets it is there while the user has changed it; the size of speckles has small steps at
 * its beginning. */
GUI_TEST("/gui/row", test_row) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    gui_set(&p, "discontinuity_weight", "50");
    gui_drag(&p, "discontinuity_weight", 0.5, 1.2, 1);
    gui_until(&p, "value", "discontinuity_weight", "2");
    gui_set(&p, "discontinuity_weight", "0.35");
    gui_tab(&p, "all");
    gui_click(&p, "group.check");
    g_assert_false(gui_is_visible(&p, "speckle_size.reset"));
    gui_set(&p, "speckle_size", "37");
    gui_wait_for(&p, gui_is_visible(&p, "speckle_size.reset"));
    gui_drag(&p, "speckle_size", 0.3, 0.22, 1);
    gui_wait_for(&p, !gui_is(&p, "value", "speckle_size", "37"));
    long value = gui_number(&p, "value", "speckle_size");
    g_test_message("speckle_size at a fifth: %ld of 10000", value);
    g_assert_cmpint(value, >, 5);
    g_assert_cmpint(value, <, 200);
    gui_click_until(&p, "speckle_size.reset", "value", "speckle_size", "50");
    gui_wait_for(&p, !gui_is_visible(&p, "speckle_size.reset"));
}

/* Without the mouse: Tab and the arrow keys go through the panel instead of the pictures, and
 * change a value. */
GUI_TEST("/gui/panel-keys", test_panel_keys) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    gui_focus(&p, "quality.low");
    gui_focus(&p, "disparity_range");
    long before = gui_number(&p, "value", "disparity_range");
    gui_key(&p, "SPACE");
    gui_key(&p, "RIGHT");
    gui_wait_for(&p, gui_number(&p, "value", "disparity_range") > before);
    gui_key(&p, "SPACE");
    gui_key(&p, "TAB");
    gui_wait_for(&p, !gui_is(&p, "state", "focus", "disparity_range"));
    gui_key(&p, "Shift+TAB");
    gui_until(&p, "state", "focus", "disparity_range");
    g_assert_true(gui_is(&p, "state", "frame", "0")); /* nothing was sought */
    gui_run_until(&p, "panel-keys", "focus", "");
    gui_run_action(&p, "panels");
    gui_wait_for(&p, !gui_is_visible(&p, "quality.low"));
    gui_focus(&p, "quality.low"); /* shows what was hidden */
    gui_key(&p, "ESC");
    gui_until(&p, "state", "focus", "");
}

/* Words typed above the parameters leave those that have them, in name or help. */
GUI_TEST("/gui/search", test_search) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    gui_tab(&p, "all");
    gui_click(&p, "param_search");
    gui_type(&p, "lambda");
    gui_wait_for(&p, gui_is_visible(&p, "data_weight"));
    g_assert_false(gui_is_visible(&p, "group.belief propagation"));
    g_assert_false(gui_is_visible(&p, "bp_iterations"));
    gui_key(&p, "ENTER");
    gui_until(&p, "state", "typing", "0");
}

/* The help of a row lies beside the panel: it covers no other row's value. */
GUI_TEST("/gui/help-beside", test_help_beside) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    struct gui_rect row = gui_find(&p, "discontinuity_weight"), picture = gui_find(&p, "picture");
    gui_move(&p, picture.x + 5, picture.y + 5);
    OWN_IMAGE without = gui_part(&p, "picture", 0, 1), value = gui_part(&p, "hide_below", 0, 1);
    gui_move(&p, row.x + row.width / 2.0, row.y + row.height / 2.0);
    OWN_IMAGE with = gui_part(&p, "picture", 0, 1), now = gui_part(&p, "hide_below", 0, 1);
    g_assert_cmpint(gui_differing(&without, &with, 0), >, 20);
    g_assert_cmpint(gui_differing(&value, &now, 0), ==, 0);
}

/* The mean grey level of the panel's upper part. */
static double panel_level(const struct gui_program *p) {
    OWN_IMAGE part = gui_part(p, "panel.settings", 0, 0.2);
    double level = gui_level(&part);
    return level;
}

/* The window is dark, light by a switch and by --theme; the switch is remembered. */
GUI_TEST("/gui/theme", test_theme) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    g_assert_cmpfloat(panel_level(&p), <, 80);
    gui_choose(&p, "tool.more", "theme");
    gui_until(&p, "state", "theme", "light");
    g_assert_cmpfloat(panel_level(&p), >, 180);
    gui_run_until(&p, "view-points", "view", "points");
    gui_settle(&p);
    OWN_IMAGE part = gui_part(&p, "picture", 0, 1);
    long dark = 0;
    for (int i = 0; i < part.width * part.height; i++)
        dark += memcmp(part.data + 3 * i, "\x0e\x0f\x11", 3) == 0;
    g_assert_cmpint(dark, <, part.width); /* behind the points it is light, too */
    gui_quit_once(&p);

    gui_start(&p, "--paused", GUI_SOURCE);
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "theme", "light"));
    gui_quit_once(&p);

    gui_start(&p, "--paused --theme dark", GUI_SOURCE);
    gui_settle(&p);
    g_assert_cmpfloat(panel_level(&p), <, 80);
}

/* Wheel, drag, click and orbit on the picture; the view stays while frames pass. */
GUI_TEST("/gui/mouse", test_mouse) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    struct gui_rect at = gui_find(&p, "picture");
    double x = at.x + at.width * 0.4, y = at.y + at.height * 0.3;
    gui_move(&p, x, y);
    gui_button(&p, "click", 4);
    gui_button(&p, "click", 4);
    gui_wait_for(&p, !gui_is(&p, "state", "zoom", "1.000 0.5000 0.5000"));
    g_autofree char *zoom = gui_look(&p, "state", "zoom");
    g_assert_true(g_str_has_prefix(zoom, "1.440 "));
    gui_run_until(&p, "step-forward", "frame", "1");
    g_assert_true(gui_is(&p, "state", "zoom", zoom));
    gui_drag(&p, "picture", 0.5, 0.3, 1);
    gui_wait_for(&p, !gui_is(&p, "state", "zoom", zoom));
    g_assert_true(gui_is(&p, "state", "probes", "0")); /* a drag is no click */
    gui_move(&p, x, y);
    gui_button(&p, "click", 1);
    gui_until(&p, "state", "probes", "1");
    gui_tab(&p, "probes");
    gui_wait_for(&p, gui_look(&p, "place", "probe.0") != NULL); /* answered, with its plot */
    gui_run_until(&p, "unpin", "probes", "0");
    gui_run_until(&p, "view-points", "view", "points");
    gui_drag(&p, "picture", 0.5, 0.6, 1);
    gui_wait_for(&p, !gui_is(&p, "state", "orbit", "0.250 0.350"));
    gui_run_until(&p, "reset-view", "orbit", "0.250 0.350");
    g_assert_true(gui_is(&p, "state", "zoom", "1.000 0.5000 0.5000"));
}

GUI_TEST("/gui/resize", test_resize) {
    GUI_PROGRAM p = gui_begin("", GUI_SOURCE ",rate=30");
    struct gui_rect before = gui_find(&p, "picture");
    gui_give(&p, "size 1300 850");
    gui_wait_for(&p, gui_find(&p, "picture").width > before.width + 200);
    gui_settle(&p);
    struct image picture = gui_shot(&p);
    g_assert_cmpint(picture.width, ==, 1300);
    g_assert_cmpint(picture.height, ==, 850);
    picture_free(&picture);
    gui_give(&p, "size 300 200");
    gui_wait_for(&p, gui_find(&p, "picture").width <= 300);
}

/* A signal closes the window as q does. */
GUI_TEST("/gui/close", test_close) {
    struct gui_program p = gui_begin("", GUI_SOURCE ",rate=30");
    kill(p.pid, SIGTERM);
    gui_wait_end(&p, 0);
    gui_forget(&p);
}

static void save_preset(const struct gui_program *p, const char *name) {
    gui_tab(p, "depth");
    gui_click(p, "preset");
    gui_wait_for(p, gui_is_visible(p, "preset_name"));
    gui_click(p, "preset_name");
    gui_type(p, name);
    gui_click(p, "preset_save");
    gui_key(p, "ESC");
    gui_wait_for(p, !gui_is_visible(p, "preset_name"));
}

/* Settings and presets outlive the program. */
GUI_TEST("/gui/remembered", test_remembered) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    gui_tab(&p, "all");
    gui_click(&p, "group.smooth");
    gui_set(&p, "smooth_sigma", "0.1");
    save_preset(&p, "mine");
    gui_tab(&p, "all");
    gui_set(&p, "smooth_sigma", "0.2");
    gui_quit_once(&p);

    gui_start(&p, "--paused", GUI_SOURCE);
    gui_settle(&p);
    g_assert_true(gui_is(&p, "value", "smooth_sigma", "0.2"));
    gui_choose(&p, "preset", "mine");
    gui_until(&p, "value", "smooth_sigma", "0.1");
    gui_run_action(&p, "compare");
    gui_until(&p, "value", "smooth_sigma", "0.2");
    gui_run_action(&p, "compare");
    gui_until(&p, "value", "smooth_sigma", "0.1");
    gui_settle(&p);
}

/* A and B have each their own preset and quality. */
GUI_TEST("/gui/compare-presets", test_compare_presets) {
    GUI_PROGRAM p = {0};
    gui_launch(&p, "view --paused --set backend=cpu %s", GUI_SOURCE);
    gui_settle(&p);
    gui_until(&p, "state", "quality", "high auto");
    gui_choose(&p, "preset", "felzenszwalb2006");
    gui_until(&p, "state", "preset", "felzenszwalb2006");
    g_autofree char *quality = gui_look(&p, "state", "quality");
    g_assert_false(g_str_has_suffix(quality, "auto"));
    for (int i = 0; i < 2; i++) {
        gui_run_until(&p, "compare", "settings", i ? "A" : "B");
        gui_settle(&p);
        g_assert_true(gui_is(&p, "state", "preset", i ? "felzenszwalb2006" : ""));
        g_assert_true(gui_is(&p, "state", "quality", i ? quality : "high auto"));
    }
}

/* None is saved over a built-in one. */
GUI_TEST("/gui/preset-names", test_preset_names) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    save_preset(&p, "live");
    gui_wait_for(&p, gui_says(&p, "live is a built-in preset"));
}

/* Undo, redo, and the settings as words for a command line. */
GUI_TEST("/gui/undo", test_undo) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    gui_click_until(&p, "fill", "value", "fill", "false");
    gui_set(&p, "disparity_range", "20");
    gui_run_action(&p, "undo");
    gui_until(&p, "value", "disparity_range", "16");
    gui_run_action(&p, "undo");
    gui_until(&p, "value", "fill", "true");
    gui_run_until(&p, "undo", "message", "Nothing to undo");
    gui_run_action(&p, "redo");
    gui_until(&p, "value", "fill", "false");
    g_assert_true(gui_is(&p, "value", "disparity_range", "16"));
    gui_settle(&p);
}

/* The first change is undone while the quality is found automatically. */
GUI_TEST("/gui/undo-auto", test_undo_auto) {
    GUI_PROGRAM p = {0};
    gui_launch(&p, "view --set backend=cpu synth:row_offset=0.01,width=160,height=120 --paused");
    gui_until(&p, "state", "quality", "high auto"); /* what stands still */
    gui_settle(&p);
    g_assert_cmpint(gui_number(&p, "value", "disparity_range"), ==, 64);
    gui_set(&p, "disparity_range", "65");
    gui_run_action(&p, "undo");
    gui_wait_for(&p, gui_number(&p, "value", "disparity_range") == 64);
    g_assert_true(gui_is(&p, "state", "quality", "high auto"));
    gui_run_until(&p, "undo", "message", "Nothing to undo");
}

static char *read_out(const struct gui_program *p) {
    gui_settle(p);
    return gui_look(p, "state", "read-out");
}

/* A preset keeps the disparities that are searched, and the confidence its unit. */
GUI_TEST("/gui/preset-keeps", test_preset_keeps) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    static const char *const presets[] = {"plain", "driving", "default"};
    for (size_t i = 0; i < G_N_ELEMENTS(presets); i++) {
        g_autofree char *said = g_strdup_printf("Preset %s", presets[i]);
        gui_choose(&p, "preset", presets[i]);
        gui_until(&p, "state", "message", said);
        g_assert_cmpint(gui_number(&p, "value", "disparity_range"), ==, 16);
        gui_settle(&p);
        struct gui_rect at = gui_find(&p, "picture");
        gui_move(&p, at.x + at.width * 0.5, at.y + at.height * 0.5);
        g_autofree char *text = read_out(&p);
        g_test_message("%s: %s", presets[i], text);
        g_assert_nonnull(strstr(text, " %"));
        g_assert_true(gui_is(&p, "state", "preset", presets[i]));
    }
    gui_click_until(
        &p, "fill", "state", "preset",
        "default changed"); /* the list says that it is not the preset any more, until it is */
    gui_click_until(&p, "fill", "state", "preset", "default");
}

/* A range that is too large is noticed, and the better one taken by a click. */
GUI_TEST("/gui/range-hint", test_range_hint) {
    GUI_PROGRAM p = gui_open("--paused --set disparity_range=120", GUI_SOURCE);
    gui_click(&p, "range_take");
    gui_wait_for(&p, gui_number(&p, "value", "disparity_range") < 40);
    gui_settle(&p);
    g_assert_false(gui_is_visible(&p, "range_take"));
}

/* The size of the pictures that are computed. */
static double scale_of(const struct gui_program *p) {
    g_autofree char *part = gui_look(p, "state", "part");
    double scale = 0;
    g_assert_true(part && sscanf(part, "%*d %*d %*dx%*d %lf", &scale) == 1);
    return scale;
}

/* One thread and a large picture: the search ends at fast on smaller pictures, and the user's
 * choice stays, on whole ones. */
static void start_slow(struct gui_program *p, const char *options) {
    gui_launch(p,
               "view --set threads=1 --set backend=cpu --set disparity_range=128 --view 3 %s "
               "synth:row_offset=0.01,width=1280,height=720,range=64",
               options);
}

GUI_TEST("/gui/quality", test_quality) {
    GUI_PROGRAM p = {0};
    start_slow(&p, "");
    gui_until(&p, "state", "quality", "low auto");
    gui_until(&p, "state", "searching", "0");
    g_assert_true(gui_is(&p, "value", "lr_check", "warp"));
    g_assert_cmpfloat(scale_of(&p), <=, 0.5); /* fast on whole pictures is too slow */
    gui_click(&p, "quality.high");
    gui_wait_for(&p, gui_is(&p, "state", "quality", "high") && scale_of(&p) == 1);
    g_assert_cmpint(gui_number(&p, "value", "disparity_range"), ==, 128);
    long computed = gui_number(&p, "state", "computed");
    gui_wait_for(&p, gui_number(&p, "state", "computed") > computed + 1);
    g_assert_true(gui_is(&p, "state", "quality", "high"));
    gui_quit_once(&p);

    start_slow(&p, ""); /* as it was left */
    g_assert_true(gui_is(&p, "state", "quality", "high"));
    gui_quit_once(&p);

    start_slow(&p, "--quality mid");
    g_assert_true(gui_is(&p, "state", "quality", "mid"));
    gui_tab(&p, "all");
    gui_click(&p, "group.belief propagation");
    gui_set(&p, "bp_iterations", "9");
    gui_until(&p, "state", "quality", "custom");
}

static gboolean shows(const struct gui_program *p, const char *shown) {
    return gui_is(p, "state", "shown", shown) && gui_is(p, "state", "current", "1");
}

/* What stands still is whole and high, low while a slider moves; what is saved while it plays
 * is whole, and zoom and pins stay. */
GUI_TEST("/gui/still", test_still) {
    GUI_PROGRAM p = {0};
    start_slow(&p, "--loop");
    gui_until(&p, "state", "quality", "low auto");
    gui_until(&p, "state", "searching", "0");
    g_assert_cmpfloat(scale_of(&p), <=, 0.5);
    g_autofree char *small = gui_look(&p, "state", "part");
    gui_run_action(&p, "pause");
    gui_wait_for(&p, shows(&p, "1280x720 high"));
    g_assert_true(gui_is(&p, "state", "quality", "high auto"));

    struct gui_rect at = gui_find(&p, "picture");
    gui_move(&p, at.x + at.width / 2.0, at.y + at.height / 2.0);
    gui_button(&p, "click", 1);
    gui_until(&p, "state", "probes", "1");
    gui_button(&p, "click", 4);
    gui_wait_for(&p, !gui_is(&p, "state", "zoom", "1.000 0.5000 0.5000"));
    g_autofree char *zoom = gui_look(&p, "state", "zoom");

    struct gui_rect slider = gui_find(&p, "discontinuity_weight");
    double x = slider.x + slider.width * 0.6, y = slider.y + slider.height / 2.0;
    gui_move(&p, x, y);
    gui_button(&p, "mousedown", 1);
    g_autofree char *right = gui_look(&p, "value", "lr_check");
    for (int i = 0; !gui_is(&p, "state", "preview", "1"); i++) {
        g_assert_cmpint(i, <, 1000);
        gui_move(&p, x + i % 8, y);
    }
    gui_button(&p, "mouseup", 1);
    g_assert_true(gui_is(&p, "value", "lr_check", right));
    gui_wait_for(&p, shows(&p, "1280x720 custom"));
    g_assert_true(gui_is(&p, "state", "preview", "0"));

    gui_run_action(&p, "pause"); /* it plays again as before */
    gui_wait_for(&p, gui_is(&p, "state", "part", small) && gui_is(&p, "state", "current", "1"));
    g_assert_true(gui_is(&p, "state", "probes", "1"));
    g_assert_true(gui_is(&p, "state", "zoom", zoom));
    g_autofree char *path = gui_new_file(&p, "export", "-disp.pfm"), *pfm = NULL;
    g_assert_true(g_file_get_contents(path, &pfm, NULL, NULL));
    g_assert_true(g_str_has_prefix(pfm, "Pf\n1280 720\n"));
    gui_until(&p, "state", "part", small);
}

/* What is saved before there is a map is saved once it is there. */
GUI_TEST("/gui/save-early", test_save_early) {
    GUI_PROGRAM p = gui_open("--paused --set threads=1 --set bp_iterations=1000",
                             "synth:row_offset=0.01,width=480,height=360,range=16,frames=1");
    gui_tab(&p, "all");
    gui_click_leaving(&p, "scale.1/2");
    gui_until(&p, "state", "frame", "-1");
    gui_give(&p, "key P");
    g_autofree char *said = NULL;
    gui_wait_for(&p, (g_free(said), said = gui_look(&p, "state", "message")) &&
                         g_str_has_prefix(said, "Saved "));
    g_assert_nonnull(strstr(said, ".ply, 240x180"));
}

/* A parameter of START is moved, kept in a preset, and acts when the program is started again. */
GUI_TEST("/gui/next-start", test_next_start) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    gui_tab(&p, "rig");
    gui_set(&p, "sync_tolerance_ms", "0.5");
    g_assert_true(gui_is(&p, "state", "next", "sync_tolerance_ms"));
    gui_settle(&p); /* nothing waits for it now */
    save_preset(&p, "mine");
    gui_tab(&p, "rig");
    gui_click_until(&p, "sync_tolerance_ms.reset", "state", "next", "");
    gui_tab(&p, "depth");
    gui_choose(&p, "preset", "mine");
    gui_until(&p, "value", "sync_tolerance_ms", "0.5");
    gui_quit_once(&p);

    gui_start(&p, "--paused", GUI_SOURCE);
    g_assert_true(gui_is(&p, "value", "sync_tolerance_ms", "0.5"));
    g_assert_true(gui_is(&p, "state", "next", ""));
}

/* What the user writes down himself comes before what was remembered, if it is newer. */
GUI_TEST("/gui/own-settings", test_own_settings) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    g_assert_true(gui_is(&p, "value", "smooth_sigma", "0"));
    gui_quit_once(&p);

    g_autofree char *own =
        g_build_filename(p.folder, "state", "livestereo", "livestereo.ini", NULL);
    struct utimbuf later = {time(NULL) + 2, time(NULL) + 2};
    g_assert_true(g_file_set_contents(own, "[livestereo]\nsmooth_sigma=0.3\n", -1, NULL));
    g_assert_cmpint(g_utime(own, &later), ==, 0);
    gui_start(&p, "--paused", GUI_SOURCE);
    g_assert_true(gui_is(&p, "value", "smooth_sigma", "0.3"));
}
