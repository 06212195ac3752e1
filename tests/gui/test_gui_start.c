/*
 * The start page, the file dialog, files dropped on the window and its log.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <signal.h>

static void start_without_source(struct gui_program *p) {
    gui_launch(p, "view --quality low --set backend=cpu");
}

static gboolean source_is(const struct gui_program *p, const char *name) {
    return gui_is(p, "state", "source", name);
}

static void type_path(const struct gui_program *p, const char *path) {
    gui_type_into(p, "start.path", path);
    gui_until(p, "state", "path", path);
    gui_click(p, "start.open");
}

/* The same over another source, with Enter. */
static void open_over(const struct gui_program *p, const char *path) {
    gui_run_action(p, "start");
    gui_click(p, "start.path");
    gui_type(p, path);
    gui_key(p, "ENTER");
}

/* Text that comes between two drawings, with the Ctrl+A before it and the click behind it, is all
 * taken. */
static void open_at_once(const struct gui_program *p, const char *text) {
    gui_click_until(p, "start.path", "state", "typing", "1");
    struct gui_rect at = gui_find(p, "start.open");
    kill(p->pid, SIGSTOP);
    gui_key(p, "Ctrl+a");
    gui_give(p, "type %s", text);
    gui_give(p, "move %d %d", at.x + at.width / 2, at.y + at.height / 2);
    gui_give(p, "press 0");
    gui_give(p, "release 0");
    kill(p->pid, SIGCONT);
}

/* Different grey levels in the picture of a tile. */
static int tile_levels(const struct gui_program *p, const char *tile) {
    OWN_IMAGE part = gui_part(p, tile, 0.25, 0.5);
    gboolean seen[256] = {FALSE};
    int count = 0;
    for (int i = 0; i < part.width * part.height; i++) {
        count += i % part.width > part.width / 4 && !seen[part.data[3 * i]];
        seen[part.data[3 * i]] |= i % part.width > part.width / 4;
    }
    return count;
}

/* An error stands below the line that it comes from, over the page, and the keys go there; the next
 * click takes it away. */
GUI_TEST("/gui/start/error", test_error) {
    GUI_PROGRAM p = {0};
    start_without_source(&p);
    gui_until(&p, "state", "parts", "start=1 log=0");
    gui_settle(&p);
    OWN_IMAGE before = gui_shot(&p);
    type_path(&p, "/nowhere/at/all");
    gui_click(&p, "start.open");
    gui_wait_for(&p, gui_is_visible(&p, "panel.toast"));
    gui_until(&p, "state", "typing", "1");
    struct gui_rect at = gui_find(&p, "panel.toast"), line = gui_find(&p, "start.path");
    g_assert_cmpint(at.x, ==, line.x);
    g_assert_cmpint(at.y, >=, line.y + line.height);
    g_assert_cmpint(at.y, <, line.y + 2 * line.height);
    gui_key(&p, "ESC");
    gui_until(&p, "state", "typing", "0");
    OWN_IMAGE now = gui_shot(&p);
    g_assert_cmpint(gui_differing(&now, &before, 0), >, 1000);
    gui_click(&p, "start.look");
    gui_wait_for(&p, !gui_is_visible(&p, "panel.toast"));
}

/* The demonstration has its picture over another source, too. */
GUI_TEST("/gui/start/scene", test_scene) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    gui_run_action(&p, "start");
    gui_wait_for(&p, gui_is_visible(&p, "start.synth"));
    g_assert_cmpint(tile_levels(&p, "start.synth"), >, 20);
}

GUI_TEST("/gui/start/page", test_page) {
    GUI_PROGRAM p = {0};
    start_without_source(&p);
    g_autofree char *pair = gui_pair(&p, "pair", 120, 90);
    gui_until(&p, "state", "parts", "start=1 log=0");
    gui_settle(&p); /* the scene behind it costs nothing */
    g_assert_true(gui_is(&p, "state", "paused", "1") && gui_is(&p, "state", "computed", "0"));
    type_path(&p, "/nowhere/at/all");
    gui_wait_for(&p, gui_has(&p, "state", "message /nowhere/at/all: Cannot be opened:"));
    g_assert_true(source_is(&p, "synth:"));
    gui_key(&p, "ESC");
    gui_wait_for(&p, gui_is(&p, "state", "typing", "0"));
    gui_run_action(&p, "log"); /* the same, and what was said before */
    gui_wait_for(&p, gui_is_visible(&p, "panel.log"));
    struct gui_rect heading = gui_find(&p, "panel.heading0"), lines = gui_find(&p, "panel.log");
    g_assert_cmpint(lines.y, >=, heading.y + heading.height); /* which would lie over the newest */
    gui_run_until(&p, "log", "parts", "start=1 log=0");
    struct gui_rect open = gui_find(&p, "start.open"), close = gui_find(&p, "start.close");
    g_assert_cmpint(abs(open.x + open.width - close.x - close.width), <=, 1);

    type_path(&p, "abc");
    open_at_once(&p, pair);
    gui_wait_for(&p, source_is(&p, pair));
    gui_until(&p, "state", "parts", "start=0 log=0");
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "view", "left disparity")); /* there are no metres */
    gui_run_action(&p, "start");
    gui_wait_for(&p, gui_is_visible(&p, "start.recent0"));
    gui_click(&p, "start.synth");
    gui_wait_for(&p, source_is(&p, "synth:"));
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "view", "left depth"));
    gui_quit_once(&p);

    start_without_source(&p); /* which remembers what was opened */
    gui_wait_for(&p, gui_is_visible(&p, "start.recent0"));
    g_assert_cmpint(tile_levels(&p, "start.recent0"), >, 20);
    gui_click(&p, "start.recent0");
    gui_wait_for(&p, source_is(&p, pair));
    gui_settle(&p);
}

/* After a click on Open a path is typed at once: its letters are no keys, q does not quit. */
GUI_TEST("/gui/start/typed", test_typed) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    gui_click_until(&p, "tool.open", "state", "typing", "1");
    gui_type(&p, "/a/q");
    gui_until(&p, "state", "path", "/a/q");
    gui_key(&p, "ESC");
    gui_until(&p, "state", "typing", "0");
}

/* What was opened with a calibration opens with it again; Tab completes a path. */
GUI_TEST("/gui/start/calibrated", test_calibrated) {
    GUI_PROGRAM p = {0};
    g_autofree char *pair = gui_pair(&p, "pair", 120, 90),
                    *calib = gui_calibration(&p, 120, 90, 200),
                    *options = g_strdup_printf("--paused --calib %s", calib),
                    *begun = g_strndup(pair, strlen(pair) - 2),
                    *whole = g_strconcat(pair, "/", NULL);
    gui_start(&p, options, pair);
    g_assert_true(gui_has(&p, "state", "nearest"));
    gui_quit_once(&p);
    start_without_source(&p);
    gui_click(&p, "start.recent0");
    gui_wait_for(&p, source_is(&p, pair));
    gui_settle(&p);
    g_assert_true(gui_has(&p, "state", "nearest"));

    gui_run_action(&p, "start");
    gui_click(&p, "start.path");
    gui_type(&p, begun);
    gui_until(&p, "state", "path", begun);
    gui_key(&p, "TAB");
    gui_until(&p, "state", "path", whole);
    gui_click(&p, "start.close");
}

/* Tab and the arrow keys reach all of the page and Enter presses; nothing behind it answers. */
GUI_TEST("/gui/start/keyboard", test_keyboard) {
    static const char *const reached[] = {"start.look",      "start.board", "start.square",
                                          "start.calibrate", "start.open",  "start.path",
                                          "start.synth",     "start.help"};
    GUI_PROGRAM p = {0};
    start_without_source(&p);
    gui_until(&p, "state", "parts", "start=1 log=0");
    gui_key(&p, "r x m"); /* the last of which is the window's */
    gui_until(&p, "state", "parts", "start=1 log=1");
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "recording", "0") && gui_is(&p, "state", "swap", "0"));
    for (size_t i = 0; i < G_N_ELEMENTS(reached); i++)
        gui_focus(&p, reached[i]);
    gui_move(&p, 5, 600);
    gui_button(&p, "click", 1); /* beside the page, which stays over what it covers */
    gui_settle(&p);
    gui_click_until(&p, "start.close", "state", "parts", "start=0 log=1");
    gui_wait_for(&p, gui_number(&p, "state", "frame") > 0); /* the scene plays */
    g_assert_true(gui_is(&p, "state", "paused", "0"));
}

/* The desktop's dialog is a program that prints what was chosen. */
GUI_TEST("/gui/start/dialog", test_dialog) {
    GUI_PROGRAM p = {0};
    g_autofree char *pair = gui_pair(&p, "pair", 120, 90),
                    *script = g_strdup_printf("echo %s", pair);
    gui_dialog(&p, script);
    start_without_source(&p);
    gui_click(&p, "start.folder");
    gui_wait_for(&p, source_is(&p, pair));
    gui_settle(&p);
}

/* ---- cameras, of which listed_cameras.c makes the list */

static gboolean cameras_say(const struct gui_program *p, const char *text) {
    g_autofree char *said = gui_look(p, "state", "cameras");
    return said && strstr(said, text);
}

static void start_with_cameras(struct gui_program *p, const char *count) {
    g_setenv("LISTED_CAMERAS", count, TRUE);
    start_without_source(p);
    g_unsetenv("LISTED_CAMERAS");
    gui_until(p, "state", "parts", "start=1 log=0");
}

/* A list that cannot be read is no reason to end; looking again says the same. */
GUI_TEST("/gui/start/no-list", test_no_list) {
    GUI_PROGRAM p = {0};
    start_with_cameras(&p, "-5");
    for (int i = 0; i < 2; i++) {
        gui_wait_for(&p, cameras_say(&p, "They could not be listed"));
        gui_wait_for(&p, gui_says(&p, "cameras: Cannot be listed: Input/output error"));
        g_assert_false(gui_is_visible(&p, "start.camera0"));
        gui_click(&p, "start.look");
    }
}

/* Each has a line; the first click names the left one, the second the right one. */
GUI_TEST("/gui/start/seven-cameras", test_seven) {
    GUI_PROGRAM p = {0};
    start_with_cameras(&p, "7");
    gui_wait_for(&p, gui_is_visible(&p, "start.camera6"));
    g_assert_false(gui_is_visible(&p, "start.camera7"));
    gui_click(&p, "start.look");
    gui_click(&p, "start.camera1");
    g_assert_false(gui_says(&p, "left camera"));
    gui_click(&p, "start.camera0");
    gui_wait_for(&p, gui_says(&p, "left camera")); /* which cannot be opened */
}

/* Where no dialog answers, the page says what else opens files. */
GUI_TEST("/gui/start/no-dialog", test_no_dialog) {
    GUI_PROGRAM p = {0};
    gui_dialog(&p, "exit 255");
    start_without_source(&p);
    gui_click(&p, "start.files");
    gui_wait_for(&p, gui_says(&p, "install zenity, type a path, or drop the files"));
}

/* ---- a drag, as the file manager's side of the XDND protocol */

static void send(Display *display, Window to, const char *type, const long data[5]) {
    XEvent event = {.xclient = {.type = ClientMessage,
                                .window = to,
                                .message_type = XInternAtom(display, type, False),
                                .format = 32}};
    memcpy(event.xclient.data.l, data, 5 * sizeof(long));
    XSendEvent(display, to, False, NoEventMask, &event);
    XFlush(display);
}

/* Waits for a message of this type and hands out the list when it is asked for. */
static void wait_for_message(Display *display, const char *type, const char *list) {
    Atom wanted = XInternAtom(display, type, False);
    gint64 end = g_get_monotonic_time() + GUI_WAIT_S * G_TIME_SPAN_SECOND;
    for (;;) {
        XEvent event;
        if (g_get_monotonic_time() > end)
            g_error("no %s came", type);
        if (!XPending(display)) {
            gui_pause();
            continue;
        }
        XNextEvent(display, &event);
        if (event.type == ClientMessage && event.xclient.message_type == wanted)
            return;
        if (event.type != SelectionRequest)
            continue;
        const XSelectionRequestEvent *ask = &event.xselectionrequest;
        XChangeProperty(display, ask->requestor, ask->property, ask->target, 8, PropModeReplace,
                        (const unsigned char *)list, (int)strlen(list));
        XEvent answer = {.xselection = {.type = SelectionNotify,
                                        .requestor = ask->requestor,
                                        .selection = ask->selection,
                                        .target = ask->target,
                                        .property = ask->property,
                                        .time = ask->time}};
        XSendEvent(display, ask->requestor, False, NoEventMask, &answer);
        XFlush(display);
    }
}

/* A drag over the window that begins. */
static Window enter(Display *display, Window to) {
    Window from = XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 1, 1, 0, 0, 0);
    long source = (long)from, uris = (long)XInternAtom(display, "text/uri-list", False),
         copy = (long)XInternAtom(display, "XdndActionCopy", False);
    XSetSelectionOwner(display, XInternAtom(display, "XdndSelection", False), from, CurrentTime);
    send(display, to, "XdndEnter", (const long[5]){source, 5L << 24, uris, 0, 0});
    send(display, to, "XdndPosition",
         (const long[5]){source, 0, 200L << 16 | 200, CurrentTime, copy});
    return from;
}

static void drop(const char *list) {
    Display *display = XOpenDisplay(NULL);
    g_assert_nonnull(display);
    Window to = gui_window(), from = enter(display, to);
    wait_for_message(display, "XdndStatus", list);
    send(display, to, "XdndDrop", (const long[5]){(long)from, 0, CurrentTime, 0, 0});
    wait_for_message(display, "XdndFinished", list);
    XCloseDisplay(display);
}

/* A folder; then two pictures, whose names say which is left whatever their order is; then a
 * calibration for them. */
GUI_TEST("/gui/start/drop", test_drop) {
    GUI_PROGRAM p = {0};
    start_without_source(&p);
    g_autofree char *pair = gui_pair(&p, "a pair", 120, 90),
                    *uri = g_filename_to_uri(pair, NULL, NULL),
                    *dropped = g_strdup_printf("%s\r\n", uri),
                    *files = g_strdup_printf("%s/right.png\r\n%s/left.png\r\n", uri, uri),
                    *calib = g_strdup_printf("%s/calib.txt\r\n", uri),
                    *both = g_strdup_printf("%s/left.png %s/right.png", pair, pair);
    drop(dropped);
    gui_wait_for(&p, source_is(&p, pair));
    gui_settle(&p);
    drop(files);
    gui_wait_for(&p, source_is(&p, both));
    gui_settle(&p);
    g_free(gui_write(&p, "a pair/calib.txt", "focal_px=100\ncx=60\ncy=45\nbaseline_m=0.1\n"));
    drop(calib);
    gui_wait_for(&p, gui_has(&p, "state", "nearest"));
    g_assert_true(source_is(&p, both));
}

/* The program that files are dragged from ends before it is answered: the window stays. */
GUI_TEST("/gui/start/drag-gone", test_drag_gone) {
    GUI_PROGRAM p = {0};
    start_without_source(&p);
    Display *display = XOpenDisplay(NULL);
    g_assert_nonnull(display);
    Window to = gui_window(), from = enter(display, to);
    send(display, to, "XdndDrop", (const long[5]){(long)from, 0, CurrentTime, 0, 0});
    XDestroyWindow(display, from);
    XCloseDisplay(display);
    g_autofree char *pair = gui_pair(&p, "a pair", 120, 90),
                    *uri = g_filename_to_uri(pair, NULL, NULL),
                    *dropped = g_strdup_printf("%s\r\n", uri);
    drop(dropped);
    gui_wait_for(&p, source_is(&p, pair));
    gui_settle(&p);
}

/* While the pipeline is opened anew and computes, the points of before are there, and turn. */
GUI_TEST("/gui/start/kept", test_kept) {
    GUI_PROGRAM p = {0};
    gui_start(&p,
              "--paused --set threads=1 --set bp_levels=1 --set bp_iterations=1000 --set "
              "disparity_range=128", /* which takes seconds */
              "synth:row_offset=0.01,width=320,height=240,range=16");
    gui_settle(&p);
    gui_run_until(&p, "space", "view", "points");
    g_autofree char *calib = gui_calibration(&p, 320, 240, 200);
    open_over(&p, calib);
    gui_wait_for(&p, gui_has(&p, "state", "nearest"));
    gui_drag(&p, "picture", 0.4, 0.6, 1);
    g_assert_false(gui_is(&p, "state", "orbit", "0.250 0.350"));
    g_assert_cmpint(tile_levels(&p, "picture"), >, 20);
    g_assert_cmpint(gui_number(&p, "state", "frame"), ==, -1); /* not computed yet */
}

/* While the first map is computed its left picture is shown, and how long that takes. */
GUI_TEST("/gui/start/first", test_first) {
    enum { W = 160, H = 120 }; /* as the source before: nothing of that stays */
    GUI_PROGRAM p = {0};
    static uint8_t grey[2][W * H];
    gui_start(
        &p, "--paused --view 13 --set threads=1 --set bp_iterations=1000 --set disparity_range=64",
        GUI_SOURCE);
    gui_settle(&p);
    g_autofree char *pair = path_in("first"), *left = path_in("first/left.png"),
                    *right = path_in("first/right.png"), *calib = gui_calibration(&p, W, H, 100);
    memset(grey[0], 170, W * H);
    memset(grey[1], 90, W * H);
    g_assert_cmpint(picture_write(left, &(struct image){grey[0], W, H, 1}), ==, 0);
    g_assert_cmpint(picture_write(right, &(struct image){grey[1], W, H, 1}), ==, 0);
    open_over(&p, pair);
    gui_until(&p, "state", "source", pair);
    for (int i = 0; i < 2; i++) { /* also where it is computed anew, before that was shown */
        if (i == 1) {
            open_over(&p, calib);
            gui_wait_for(&p, gui_has(&p, "state", "nearest"));
        }
        OWN_IMAGE part = gui_part(&p, "picture", 0.24, 0.26);
        g_assert_cmpint(gui_number(&p, "state", "frame"), ==, -1); /* not computed yet */
        const uint8_t *pixel = part.data + 3 * (part.width / 2);
        g_assert_true(pixel[0] == 170 && pixel[2] == 170);
        g_assert_true(gui_is_visible(&p, "wait"));
    }
    gui_wait_for(&p, gui_number(&p, "state", "frame") == 0);
    g_assert_false(gui_is_visible(&p, "wait"));
}
