/*
 * Cameras on the start page: a rig by two clicks; their panel with a real mouse. For a machine with
 * two cameras, such as that of tests/vm/window.sh, with this order of nodes.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

static gboolean source_is_rig(const struct gui_program *p) {
    g_autofree char *source = gui_look(p, "state", "source");
    return source && g_str_has_prefix(source, "v4l2:");
}

static bool has_cameras(void) {
    bool has = g_getenv("LIVESTEREO_TEST_CAMERAS") && access("/dev/video1", R_OK) == 0;
    if (!has)
        g_test_skip("needs LIVESTEREO_TEST_CAMERAS and two cameras");
    return has;
}

GUI_TEST("/gui/cameras/two-clicks", test_two_clicks) {
    if (!has_cameras())
        return;
    GUI_PROGRAM p = gui_begin("--paused", GUI_SOURCE);
    gui_run_action(&p, "start");
    gui_click(&p, "start.look");
    gui_click(&p, "start.camera0");
    gui_click(&p, "start.camera1");
    gui_wait_for(&p, source_is_rig(&p));
    gui_until(&p, "state", "parts", "start=0 log=0");
}

static void values(const struct gui_program *p, const char *name, int value[2]) {
    g_autofree char *text = gui_look(p, "control", name);
    value[0] = value[1] = -99999;
    if (text)
        sscanf(text, "%d %d", &value[0], &value[1]);
}

static gboolean below(const struct gui_program *p, int side, int max) {
    int value[2];
    values(p, "camera.brightness", value);
    return value[side] > -99999 && value[side] < max;
}

static gboolean both_below(const struct gui_program *p, int max) {
    int value[2];
    values(p, "camera.brightness", value);
    return value[0] > -99999 && value[0] < max && value[0] == value[1];
}

/* The driver's brightness is 0 to 255, first 128. */
GUI_TEST("/gui/cameras/controls", test_controls) {
    if (!has_cameras())
        return;
    GUI_PROGRAM p = gui_begin("--view 1", "v4l2:/dev/video0,/dev/video1");
    gui_tab(&p, "rig"); /* which reads the controls */
    gui_wait_for(&p, gui_look(&p, "control", "camera.brightness") != NULL);
    gui_scroll_to(&p, "camera.brightness");
    gui_drag(&p, "camera.brightness", 0.5, 0.2, 1);
    gui_wait_for(&p, both_below(&p, 100)); /* linked */
    gui_click_until(&p, "camera.brightness.reset", "control", "camera.brightness", "128 128");

    gui_click(&p, "camera_link");
    gui_scroll_to(&p, "camera.left.brightness");
    gui_drag(&p, "camera.left.brightness", 0.5, 0.3, 1);
    gui_wait_for(&p, below(&p, 0, 110));
    g_assert_false(below(&p, 1, 128));
    gui_click_until(&p, "camera_lock", "state", "locked", "1"); /* right as left */
    gui_wait_for(&p, both_below(&p, 110));
    gui_click_until(&p, "camera_lock", "state", "locked", "0");
}
