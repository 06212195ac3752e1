/*
 * Cameras on the start page: a rig by two clicks. For a machine with two cameras, such as that of
 * tests/vm/window.sh, with this order of nodes. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

static gboolean source_is_rig(const struct gui_program *p) {
    g_autofree char *source = gui_look(p, "state", "source");
    return source && g_str_has_prefix(source, "v4l2:");
}

GUI_TEST("/gui/cameras/two-clicks", test_two_clicks) {
    if (!g_getenv("LIVESTEREO_TEST_CAMERAS") || access("/dev/video1", R_OK) != 0) {
        g_test_skip("needs LIVESTEREO_TEST_CAMERAS and two cameras");
        return;
    }
    GUI_PROGRAM p = gui_begin("--paused", GUI_SOURCE);
    gui_run_action(&p, "start");
    gui_click(&p, "start.look");
    gui_click(&p, "start.camera0");
    gui_click(&p, "start.camera1");
    gui_wait_for(&p, source_is_rig(&p));
    gui_until(&p, "state", "parts", "start=0 log=0");
}
