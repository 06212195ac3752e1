/*
 * Guided calibration in its window, from the recorded boards of the OpenCV set: the program finds
 * the corners, takes the views, solves and writes the rig by itself; then views are forgotten by
 * mouse and key and the rest is solved again. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"
#include "calibration/rig_read.h"
#include "tests/gui/gui.h"

static char *rig_path, *set;

/* A folder of the shape that a source has, of links into the set; NULL after a skip. */
static char *link_set(void) {
    const char *data = g_getenv("LIVESTEREO_DATA");
    g_autofree char *from = g_canonicalize_filename(data ? data : "../shared/data", NULL);
    char *folder = g_dir_make_tmp("livestereo-boards-XXXXXX", NULL);
    int count = 0;
    for (int v = 0; v < 2; v++) {
        const char *side = v ? "right" : "left";
        g_autofree char *below = g_build_filename(folder, side, NULL);
        g_mkdir(below, 0777);
        for (int i = 1; i <= 14; i++) {
            g_autofree char *old =
                g_strdup_printf("%s/calibration/opencv/%s%02d.jpg", from, side, i);
            g_autofree char *new = g_strdup_printf("%s/%02d.jpg", below, i);
            if (g_file_test(old, G_FILE_TEST_EXISTS))
                count += symlink(old, new) == 0;
        }
    }
    if (count == 26)
        return folder;
    g_test_skip("needs ../shared/data/calibration/opencv");
    remove_tree(folder);
    g_free(folder);
    return NULL;
}

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
        return (set = link_set()) != NULL;
    g_test_skip("needs libopencv-calib3d-dev and libopencv-video-dev");
    return FALSE;
}

static void end(struct gui_program *p) {
    gui_forget(p);
    remove_tree(set);
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
    gui_wait_for(&p, gui_is(&p, "state", "written", "1"));
    g_assert_true(gui_is(&p, "state", "found", "1 1"));
    g_assert_cmpint(gui_number(&p, "state", "views"), ==, 13);
    g_assert_cmpint(gui_number(&p, "state", "used"), ==, 13);
    check_rig(&p);

    g_remove(rig_path);
    gui_key(&p, "BACKSPACE"); /* the result has that view no longer, nor has the file */
    gui_wait_for(&p, gui_number(&p, "state", "used") == 12);
    check_rig(&p);
    g_remove(rig_path);
    gui_click(&p, "view.7.drop"); /* the worst of them */
    gui_wait_for(&p, gui_number(&p, "state", "used") == 11);
    check_rig(&p);
    g_assert_cmpint(gui_number(&p, "state", "views"), ==, 11);
    gui_click(&p, "take"); /* the pair on screen is the last one, which was just forgotten */
    gui_wait_for(&p, gui_number(&p, "state", "views") == 12);
    gui_click(&p, "take");
    gui_wait_for(
        &p, gui_is(&p, "state", "message", "This view is taken already; move or tilt the board"));
    g_assert_cmpint(gui_number(&p, "state", "views"), ==, 12);
    g_remove(rig_path);
    gui_key(&p, "ENTER");
    gui_wait_for(&p, gui_number(&p, "state", "used") == 12);
    gui_wait_for(&p, gui_is(&p, "state", "solving", "0"));
    check_rig(&p);
    g_assert_true(g_file_set_contents(held, "", 0, NULL));
    gui_click(&p, "view.10.drop"); /* those after the first that was forgotten */
    gui_key(&p, "o");              /* never the rig with that view */
    gui_wait_for(&p, gui_is(&p, "state", "message", "The rig is not solved yet"));
    g_remove(held);
    gui_wait_for(&p, gui_number(&p, "state", "used") == 11);
    g_assert_cmpint(gui_number(&p, "state", "views"), ==, 11);
    check_rig(&p);
    gui_click(&p, "automatic");
    gui_wait_for(&p, gui_is(&p, "state", "automatic", "0"));

    forget_by_keys(&p);
    gui_key(&p, "q");
    gui_wait_end(&p);
    g_assert_cmpint(p.exit_code, ==, 0);
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
    gui_wait_end(&p);
    g_assert_cmpint(p.exit_code, ==, 1);
    g_assert_true(g_file_test(rig_path, G_FILE_TEST_EXISTS));
    end(&p);
}

static gboolean has_metres(const struct gui_program *p) {
    g_autofree char *nearest = gui_look(p, "state", "nearest");
    return nearest != NULL;
}

static void type_into(const struct gui_program *p, const char *name, const char *text) {
    gui_click(p, name);
    gui_key(p, "Ctrl+a");
    gui_type(p, text);
}

static char *newest_recording(const struct gui_program *p) {
    g_autoptr(GDir) dir = g_dir_open(p->output, 0, NULL);
    const char *name;
    char *path = NULL;
    while (dir && !path && (name = g_dir_read_name(dir)) != NULL)
        if (g_str_has_suffix(name, ".mkv"))
            path = g_build_filename(p->output, name, NULL);
    return path;
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
    static const char *const boards[] = {"9", "9x6"}, *const squares[] = {"24", "24mm"};
    struct gui_program p = {0};
    if (!begin())
        return;
    gui_prepare(&p);
    g_autofree char *line = g_strdup_printf(
        "%s view --quality low --set backend=cpu --window 1000x800 --ui-map %s -o %s -q",
        g_getenv("LIVESTEREO_BIN"), p.map, p.output);
    g_autofree char *two = g_strdup_printf("%s/left/01.jpg %s/right/01.jpg", set, set);
    gui_spawn(&p, line);
    type_into(&p, "start.path", "/nowhere/at/all");
    gui_click(&p, "start.calibrate");
    gui_wait_for(&p, gui_says(&p, "/nowhere/at/all"));
    assert_said_at(&p, "start.path");
    gui_click(&p, "start.path");
    gui_key(&p, "Ctrl+a");
    gui_give(&p, "type %s", two);
    gui_wait_for(&p, gui_is(&p, "state", "path", two));
    type_into(&p, "start.board", boards[0]);
    gui_click(&p, "start.calibrate");
    gui_wait_for(&p, gui_says(&p, "--board"));
    assert_said_at(&p, "start.board");
    type_into(&p, "start.board", boards[1]);
    type_into(&p, "start.square", squares[0]);
    gui_click(&p, "start.calibrate");
    gui_wait_for(&p, gui_says(&p, "--square"));
    assert_said_at(&p, "start.square");
    type_into(&p, "start.square", squares[1]);
    gui_click_leaving(&p, "start.calibrate");
    gui_wait_for(&p, gui_is(&p, "state", "views", "1"));
    gui_key(&p, "q");
    gui_wait_end(&p);
    gui_forget(&p);
    remove_tree(set);
    g_free(set);
}

/* From the start page to the guide, from it to the viewer on rectified rows, a recording there, and
 * its replay with the calibration that lies beside it: no command line but the first one. */
GUI_TEST("/gui/calibrate/loop", test_loop) {
    struct gui_program p = {0};
    if (!begin())
        return;
    gui_prepare(&p);
    g_autofree char *line = g_strdup_printf(
        "%s view --quality low --set backend=cpu --window 1000x800 --ui-map %s -o %s -q",
        g_getenv("LIVESTEREO_BIN"), p.map, p.output);
    gui_spawn(&p, line);
    gui_wait_for(&p, gui_is(&p, "state", "parts", "start=1 log=0"));
    type_into(&p, "start.path", set);
    gui_wait_for(&p, gui_is(&p, "state", "path", set));
    type_into(&p, "start.square", "25mm");
    gui_click_leaving(&p, "start.calibrate");
    gui_wait_for(&p, gui_is(&p, "state", "written", "1"));
    g_assert_cmpint(gui_number(&p, "state", "used"), ==, 13);

    gui_click_leaving(&p, "open");
    gui_wait_for(&p, gui_is(&p, "state", "view", "left depth"));
    gui_wait_for(&p, gui_is(&p, "state", "ended", "1")); /* all pairs were shown */
    gui_settle(&p);
    g_assert_true(has_metres(&p));
    gui_run_action(&p, "step-back"); /* which pauses */
    gui_wait_for(&p, gui_is(&p, "state", "paused", "1"));
    gui_run_until(&p, "first", "frame", "0");
    gui_settle(&p);
    gui_run_until(&p, "record", "recording", "1");
    gui_run_until(&p, "pause", "ended", "1");
    gui_run_until(&p, "record", "recording", "0");
    gui_run_action(&p, "quit");
    gui_wait_end(&p);
    g_assert_cmpint(p.exit_code, ==, 0);

    g_autofree char *recording = newest_recording(&p);
    g_test_message("%s", recording ? recording : "no recording");
    g_assert_nonnull(recording);
    gui_forget_names(&p);
    gui_prepare(&p);
    g_autofree char *again = g_strdup_printf(
        "%s view --quality low --set backend=cpu --window 1000x800 --ui-map %s -o %s -q",
        g_getenv("LIVESTEREO_BIN"), p.map, p.output);
    gui_spawn(&p, again);
    gui_wait_for(&p, gui_is(&p, "state", "parts", "start=1 log=0"));
    type_into(&p, "start.path", recording);
    gui_wait_for(&p, gui_is(&p, "state", "path", recording));
    gui_click(&p, "start.open");
    gui_wait_for(&p, gui_is(&p, "state", "source", recording));
    gui_settle(&p);
    g_assert_true(has_metres(&p));
    gui_run_action(&p, "quit");
    gui_wait_end(&p);
    gui_forget(&p);
    remove_tree(set);
    g_free(set);
}
