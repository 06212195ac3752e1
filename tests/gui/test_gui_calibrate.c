/*
 * Guided calibration in its window, from the recorded boards of the OpenCV set: the program finds
 * the corners, takes the views, solves and writes the rig by itself; then views are forgotten by
 * mouse and key and the rest is solved again. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"
#include "calibration/rig_read.h"
#include "tests/gui/gui.h"

static char *rig_path, *set;

/* before: what runs the program. */
static void start(struct gui_program *p, const char *before) {
    rig_path = g_build_filename(p->folder, "rig.yml", NULL);
    g_autofree char *line = g_strdup_printf(
        "%s%s calibrate --board 9x6 --square 25mm --ui-map %s --window 1000x700 -o %s %s", before,
        g_getenv("LIVESTEREO_BIN"), p->map, rig_path, set);
    gui_spawn(p, line);
}

/* What preloads a library that was built beside this program. */
static char *preloading(const char *library, const char *variable, const char *value) {
    g_autofree char *preload = gui_preload(library);
    return g_strdup_printf("/usr/bin/env %s %s=%s ", preload, variable, value);
}

/* The rig on disk is the one on screen, and a good one. */
static void check_rig(const struct gui_program *p) {
    static const double focal[2] = {533.562, 536.893}; /* reference.yml */
    double rms[3];
    struct rig rig;
    g_autofree char *text = gui_look(p, "state", "rms");
    g_assert_nonnull(text);
    g_assert_cmpint(sscanf(text, "%lf %lf %lf", &rms[0], &rms[1], &rms[2]), ==, 3);
    g_test_message("rms %s px", text);
    const char *const paths[] = {rig_path};
    g_assert_cmpint(rig_load(paths, 1, NULL, &rig), ==, 0);
    for (int i = 0; i < 3; i++)
        g_assert_cmpfloat(rms[i], <=, 0.22);
    g_assert_cmpfloat(fabs(rig.rms - rms[2]), <, 1e-3);
    for (int v = 0; v < 2; v++)
        g_assert_cmpfloat(fabs(rig.camera[v].fx / focal[v] - 1), <, 0.005);
    g_assert_cmpfloat(fabs(rig_baseline(&rig) - 0.0832), <, 0.0005);
}

/* The set, or FALSE after a skip. */
static gboolean begin(void) {
    if (chessboard_available())
        return (set = gui_links("calibration/opencv", "left", "right", ".jpg", 1, 14)) != NULL;
    g_test_skip("needs libopencv-calib3d-dev and libopencv-video-dev");
    return FALSE;
}

static void end(struct gui_program *p) {
    gui_forget(p);
    g_free(set);
    g_free(rig_path);
}

/* Backspace forgets the last view. */
static void forget_by_keys(const struct gui_program *p) {
    gui_key(p, "BACKSPACE");
    gui_wait_for(p, gui_number(p, "state", "used") == 10);
    check_rig(p);
    gui_key(p, "BACKSPACE");
    gui_wait_for(p, gui_number(p, "state", "used") == 9);
}

GUI_TEST("/gui/calibrate", test_guided) {
    struct gui_program p = {0};
    if (!begin())
        return;
    gui_prepare(&p);
    g_autofree char *held = g_build_filename(p.folder, "held", NULL);
    g_autofree char *before = preloading("held_solver.so", "HELD_SOLVER", held);
    start(&p, before);
    gui_until(&p, "state", "written", "1");
    g_assert_true(gui_is(&p, "state", "found", "1 1"));
    g_assert_cmpint(gui_number(&p, "state", "views"), ==, 13);
    g_assert_cmpint(gui_number(&p, "state", "used"), ==, 13);
    check_rig(&p);

    g_remove(rig_path);
    gui_key(&p, "BACKSPACE"); /* the result has that view no longer, nor has the file */
    gui_wait_for(&p, gui_number(&p, "state", "used") == 12);
    check_rig(&p);
    g_remove(rig_path);
    gui_click_until(&p, "view.7.drop", "state", "used", "11"); /* the worst of them */
    check_rig(&p);
    g_assert_cmpint(gui_number(&p, "state", "views"), ==, 11);
    /* the pair on screen is the last one, which was just forgotten */
    gui_click_until(&p, "take", "state", "views", "12");
    gui_click(&p, "take");
    gui_until(&p, "state", "message", "This view is taken already; move or tilt the board");
    g_assert_cmpint(gui_number(&p, "state", "views"), ==, 12);
    g_remove(rig_path);
    gui_key(&p, "ENTER");
    gui_wait_for(&p, gui_number(&p, "state", "used") == 12);
    gui_until(&p, "state", "solving", "0");
    check_rig(&p);
    g_assert_true(g_file_set_contents(held, "", 0, NULL));
    gui_click(&p, "view.10.drop"); /* those after the first that was forgotten */
    gui_key(&p, "o");              /* never the rig with that view */
    gui_until(&p, "state", "message", "The rig is not solved yet");
    g_remove(held);
    gui_wait_for(&p, gui_number(&p, "state", "used") == 11);
    g_assert_cmpint(gui_number(&p, "state", "views"), ==, 11);
    check_rig(&p);
    gui_click_until(&p, "automatic", "state", "automatic", "0");

    forget_by_keys(&p);
    gui_key(&p, "q");
    gui_wait_end(&p, 0);
    end(&p);
}

/* The context is lost (lost_context.c) while the solver works: it is waited for, and its rig is
 * written. */
GUI_TEST("/gui/calibrate/lost-context", test_lost_context) {
    struct gui_program p = {0};
    if (!begin())
        return;
    gui_prepare(&p);
    g_autofree char *before = preloading("lost_context.so", "LOST_CONTEXT_MAP", p.map);
    start(&p, before);
    gui_wait_end(&p, 1);
    g_assert_true(g_file_test(rig_path, G_FILE_TEST_EXISTS));
    end(&p);
}

static void assert_said_at(const struct gui_program *p, const char *line) {
    struct gui_rect at = gui_find(p, line), said = gui_find(p, "panel.toast");
    g_assert_cmpint(said.x, <, at.x + at.width);
    g_assert_cmpint(said.x + said.width, >, at.x);
    g_assert_cmpint(abs(said.y - at.y - at.height), <, at.height);
}

/* What calibrate cannot use is said at the line that has it, in the window, which stays; two words
 * are a left and a right file. */
GUI_TEST("/gui/calibrate/refused", test_refused) {
    struct gui_program p = {0};
    if (!begin())
        return;
    g_autofree char *two = g_strdup_printf("%s/left/01.jpg %s/right/01.jpg", set, set);
    gui_launch(&p, "view --quality low --set backend=cpu --window 1000x800");
    gui_type_into(&p, "start.path", "/nowhere/at/all");
    gui_click(&p, "start.calibrate");
    gui_wait_for(&p, gui_says(&p, "/nowhere/at/all"));
    assert_said_at(&p, "start.path");
    gui_type_into(&p, "start.path", two);
    gui_until(&p, "state", "path", two);
    gui_type_into(&p, "start.board", "9");
    gui_click(&p, "start.calibrate");
    gui_wait_for(&p, gui_says(&p, "--board"));
    assert_said_at(&p, "start.board");
    gui_type_into(&p, "start.board", "9x6");
    gui_type_into(&p, "start.square", "24");
    gui_click(&p, "start.calibrate");
    gui_wait_for(&p, gui_says(&p, "--square"));
    assert_said_at(&p, "start.square");
    gui_type_into(&p, "start.square", "24mm");
    gui_click_leaving(&p, "start.calibrate");
    gui_until(&p, "state", "views", "1");
    gui_key(&p, "q");
    gui_wait_end(&p, 4); /* no rig was written */
    gui_forget(&p);
    g_free(set);
}
