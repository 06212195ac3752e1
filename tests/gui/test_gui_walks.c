/*
 * Three people's first ways through the window, with the number of their actions: a key, a click,
 * or a line that is typed is one; resting the mouse is none. Recorded boards stand for webcams.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

static int actions;

/* Counts an action and says it. */
static void act(const char *what) {
    g_test_message("%d. %s", ++actions, what);
}

static void click(const struct gui_program *p, const char *name) {
    act(name);
    gui_click(p, name);
}

/* What closes the window. */
static void click_leaving(const struct gui_program *p, const char *name) {
    act(name);
    gui_click_leaving(p, name);
}

static void press(const struct gui_program *p, const char *action) {
    act(action);
    gui_run_action(p, action);
}

/* A line in place of what stands there. */
static void type_into(const struct gui_program *p, const char *name, const char *text) {
    act(name);
    gui_type_into(p, name, text);
}

/* The same with Enter: it is opened. */
static void open_path(const struct gui_program *p, const char *path) {
    type_into(p, "start.path", path);
    gui_key(p, "ENTER");
    gui_until(p, "state", "source", path);
}

/* The window as it is started by its icon, but for a quality that is fast without a GPU. */
static void begin(struct gui_program *p) {
    actions = 0;
    gui_launch(p, "view --quality low --set backend=cpu --window 1280x800");
    gui_until(p, "state", "parts", "start=1 log=0");
}

static void end(struct gui_program *p, const char *who, int most) {
    g_test_message("%s: %d actions, %d at most", who, actions, most);
    g_assert_cmpint(actions, <=, most);
    gui_quit(p);
}

/* Rests the mouse at places of the picture until one has metres. */
static void find_metres(const struct gui_program *p) {
    struct gui_rect at = gui_find(p, "picture");
    for (int i = 1; i < 64; i++) {
        gui_move(p, at.x + at.width * (i % 8 + 0.5) / 16, at.y + at.height * (i / 8 + 0.5) / 8);
        g_autofree char *text = gui_look(p, "state", "read-out");
        if (text && strstr(text, " m ") && strstr(text, " Z ")) {
            g_test_message("%s", text);
            return;
        }
    }
    g_error("no metres under the mouse");
}

/* A new pair of cameras that are not calibrated. With webcams the first action is opening the start
 * page, which names them. */
GUI_TEST("/gui/walks/rig-maker", test_rig_maker) {
    struct gui_program p = {0};
    g_autofree char *set = gui_links("calibration/opencv", "left", "right", ".jpg", 1, 14);
    if (!set)
        return;
    begin(&p);
    type_into(&p, "start.path", set);
    type_into(&p, "start.square", "25mm");
    click_leaving(&p, "start.calibrate");
    gui_until(&p, "state", "written", "1");
    click_leaving(&p, "open");
    gui_until(&p, "state", "view", "left depth");
    gui_until(&p, "state", "ended", "1");
    gui_settle(&p);
    find_metres(&p);
    end(&p, "rig maker", 4);
}

/* The same with webcams, before which boards are held: those of tests/vm/walk.sh. The form's own
 * square is the board's. */
GUI_TEST("/gui/walks/webcams", test_webcams) {
    struct gui_program p = {0};
    if (!g_getenv("LIVESTEREO_TEST_CAMERAS") || access("/dev/video2", F_OK) != 0) {
        g_test_skip("needs LIVESTEREO_TEST_CAMERAS and two webcams that see boards");
        return;
    }
    actions = 0;
    gui_launch(&p, "view --quality low --set backend=cpu");
    press(&p, "start");
    click_leaving(&p, "start.calibrate");
    gui_wait_for(&p, gui_number(&p, "state", "views") >= 8);
    act("solve");
    gui_key(&p, "ENTER");
    gui_until(&p, "state", "written", "1");
    click_leaving(&p, "open");
    gui_until(&p, "state", "view", "left depth");
    gui_wait_for(&p, gui_number(&p, "state", "computed") > 0);
    find_metres(&p);
    end(&p, "webcams", 4);
}

/* From a folder of a drive to a video with metres. */
GUI_TEST("/gui/walks/driver", test_driver) {
    struct gui_program p = {0};
    g_autofree char *drive = gui_links("driving/kitti_seq1", "left/", "right/", ".png", 0, 4),
                    *from = drive ? data_path("driving/kitti_seq1") : NULL;
    if (!drive)
        return;
    const char *const about[] = {"calib.txt", "camera.txt"};
    for (size_t i = 0; i < G_N_ELEMENTS(about); i++) {
        g_autofree char *old = g_strconcat(from, "/", about[i], NULL),
                        *whole = g_canonicalize_filename(old, NULL),
                        *new = g_build_filename(drive, about[i], NULL);
        g_assert_cmpint(symlink(whole, new), ==, 0);
    }
    begin(&p);
    open_path(&p, drive);
    gui_until(&p, "state", "view", "left depth");
    gui_settle(&p);
    press(&p, "save-video");
    gui_wait_for(&p, gui_says(&p, "Saved ") && (gui_says(&p, ".webm") || gui_says(&p, ".mp4")));
    end(&p, "driver", 2);
}

/* g_free; of the picture on screen, once it is computed. */
static char *error_of(const struct gui_program *p) {
    char *error = NULL;
    gui_settle(p);
    gui_wait_for(p, (error = gui_look(p, "state", "error")) != NULL);
    return error;
}

/* The street from above: one action from where it is seen, the mouse saves its points in two. */
GUI_TEST("/gui/walks/street", test_street) {
    struct gui_program p = {0};
    g_autofree char *drive = data_path("driving/kitti_seq1");
    if (!drive)
        return;
    begin(&p);
    open_path(&p, drive);
    gui_until(&p, "state", "view", "left depth");
    gui_settle(&p);
    actions = 0;
    press(&p, "from-above");
    gui_until(&p, "state", "orbit", "0.000 1.500");
    g_assert_cmpint(actions, ==, 1);
    actions = 0;
    click(&p, "tool.save");
    gui_wait_for(&p, gui_is_visible(&p, "tool.save.points"));
    click(&p, "tool.save.points");
    g_autofree char *message = NULL;
    gui_wait_for(&p, (g_free(message), message = gui_look(&p, "state", "message")) &&
                         g_str_has_prefix(message, "Saved /"));
    end(&p, "street", 2);
}

/* A paper's settings and one's own on a pair with truth, and both in numbers. */
GUI_TEST("/gui/walks/researcher", test_researcher) {
    struct gui_program p = {0};
    g_autofree char *pair = data_path("middlebury/teddy");
    if (!pair)
        return;
    begin(&p);
    open_path(&p, pair);
    g_autofree char *own = error_of(&p);
    click(&p, "preset");
    gui_wait_for(&p, gui_is_visible(&p, "group.papers"));
    click(&p, "group.papers");
    gui_wait_for(&p, gui_is_visible(&p, "preset.felzenszwalb2006"));
    click(&p, "preset.felzenszwalb2006");
    gui_until(&p, "state", "preset", "felzenszwalb2006");
    g_autofree char *paper = error_of(&p);
    press(&p, "compare");
    gui_until(&p, "state", "settings", "B");
    g_autofree char *again = error_of(&p);
    g_test_message("errors: own %s, the paper's %s, own again %s", own, paper, again);
    g_assert_nonnull(own);
    g_assert_nonnull(paper);
    g_assert_cmpstr(own, !=, paper);
    end(&p, "researcher", 5);
}
