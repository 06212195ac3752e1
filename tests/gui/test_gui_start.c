/*
 * The start page, the file dialog, files dropped on the window and its log.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <glib/gstdio.h>
#include <signal.h>

/* A folder with left.png and right.png of 120x90 below the test's own. */
static char *make_pair(const struct gui_program *p, const char *name) {
    char *folder = g_build_filename(p->folder, name, NULL);
    uint8_t grey[120 * 90];
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    for (int side = 0; side < 2; side++) {
        g_autofree char *path = g_build_filename(folder, side ? "right.png" : "left.png", NULL);
        for (int i = 0; i < 120 * 90; i++)
            grey[i] = (uint8_t)(((unsigned)(i % 120 + 4 * side) * 2654435761u ^
                                 (unsigned)(i / 120) * 40503u * 65537u) >>
                                24);
        g_assert_cmpint(picture_write(path, &(struct image){grey, 120, 90, 1}), ==, 0);
    }
    return folder;
}

static void start_without_source(struct gui_program *p) {
    gui_prepare(p);
    char *line = g_strdup_printf(
        "%s view --quality fast --set backend=cpu --window 1000x700 --ui-map %s -o %s -q",
        g_getenv("LIVESTEREO_BIN"), p->map, p->output);
    gui_spawn(p, line);
    g_free(line);
}

static gboolean source_is(const struct gui_program *p, const char *name) {
    return gui_is(p, "state", "source", name);
}

static void type_path(const struct gui_program *p, const char *path) {
    gui_click(p, "start.path");
    gui_key(p, "Ctrl+a");
    gui_type(p, path);
    gui_wait_for(p, gui_is(p, "state", "path", path));
    gui_click(p, "start.open");
}

/* Text that comes with the Ctrl+A before it between two drawings is all taken. */
static void type_at_once(const struct gui_program *p, const char *text) {
    gui_click(p, "start.path");
    gui_wait_for(p, gui_is(p, "state", "typing", "1"));
    kill(p->pid, SIGSTOP);
    gui_key(p, "Ctrl+a");
    gui_give(p, "type %s", text);
    kill(p->pid, SIGCONT);
    gui_wait_for(p, gui_is(p, "state", "path", text));
}

static gboolean message_has(const struct gui_program *p, const char *text) {
    g_autofree char *message = gui_look(p, "state", "message");
    return message && strstr(message, text);
}

/* Different grey levels in the picture of a tile. */
static int tile_levels(const struct gui_program *p, const char *tile) {
    struct gui_rect at = gui_find(p, tile);
    struct image shot = gui_shot(p);
    gboolean seen[256] = {FALSE};
    int count = 0;
    for (int y = at.y + at.height / 4; y < at.y + at.height / 2; y++)
        for (int x = at.x + at.width / 4; x < at.x + at.width / 2; x++) {
            uint8_t level = shot.data[3 * ((size_t)y * (size_t)shot.width + (size_t)x)];
            count += !seen[level];
            seen[level] = TRUE;
        }
    picture_free(&shot);
    return count;
}

/* Opens the path again, whose error is shown for some seconds, and compares with the page before
 * it. */
static gboolean error_is_seen(const struct gui_program *p, const struct image *before) {
    gui_click(p, "start.open");
    struct image now = gui_shot(p);
    long changed = gui_changed(p, &now, before, GUI_MESSAGES);
    picture_free(&now);
    return changed > 1000;
}

static void test_error(void) {
    struct gui_program p = {0};
    start_without_source(&p);
    gui_wait_for(&p, gui_is(&p, "state", "parts", "start=1 log=0"));
    gui_settle(&p);
    struct image before = gui_shot(&p);
    type_path(&p, "/nowhere/at/all");
    gui_wait_for(&p, error_is_seen(&p, &before));
    picture_free(&before);
    gui_quit(&p);
}

/* The demonstration has its picture over another source, too. */
static void test_scene(void) {
    struct gui_program p = {0};
    gui_start(&p, "--paused", GUI_SOURCE);
    gui_settle(&p);
    gui_run_action(&p, "start");
    gui_wait_for(&p, gui_is_visible(&p, "start.synth"));
    g_assert_cmpint(tile_levels(&p, "start.synth"), >, 20);
    gui_quit(&p);
}

static void test_page(void) {
    struct gui_program p = {0};
    start_without_source(&p);
    g_autofree char *pair = make_pair(&p, "pair");
    gui_wait_for(&p, gui_is(&p, "state", "parts", "start=1 log=0"));
    g_assert_true(gui_is(&p, "state", "paused", "1")); /* the scene behind it costs nothing */
    type_path(&p, "/nowhere/at/all");
    gui_wait_for(&p, message_has(&p, "/nowhere/at/all"));
    g_assert_true(source_is(&p, "synth:scene=desk"));
    gui_run_action(&p, "log"); /* the same, and what was said before */
    gui_wait_for(&p, gui_is_visible(&p, "panel.log"));
    gui_run_action(&p, "log");
    gui_wait_for(&p, gui_is(&p, "state", "parts", "start=1 log=0"));

    type_at_once(&p, "abc");
    type_path(&p, pair);
    gui_wait_for(&p, source_is(&p, pair));
    gui_wait_for(&p, gui_is(&p, "state", "parts", "start=0 log=0"));
    gui_settle(&p);
    gui_run_action(&p, "start");
    gui_wait_for(&p, gui_is_visible(&p, "start.recent0"));
    gui_click(&p, "start.synth");
    gui_wait_for(&p, source_is(&p, "synth:scene=desk"));
    gui_settle(&p);
    gui_run_action(&p, "quit");
    gui_wait_end(&p);
    g_assert_cmpint(p.exit_code, ==, 0);
    gui_forget_names(&p);

    start_without_source(&p); /* which remembers what was opened */
    gui_wait_for(&p, gui_is_visible(&p, "start.recent0"));
    g_assert_cmpint(tile_levels(&p, "start.recent0"), >, 20);
    gui_click(&p, "start.recent0");
    gui_wait_for(&p, source_is(&p, pair));
    gui_settle(&p);
    gui_quit(&p);
}

/* Tab and the arrow keys reach all of the page and Enter presses; nothing behind it answers. */
static void test_keyboard(void) {
    static const char *const reached[] = {"start.look",      "start.board", "start.square",
                                          "start.calibrate", "start.open",  "start.path",
                                          "start.files",     "start.synth", "start.help"};
    struct gui_program p = {0};
    start_without_source(&p);
    gui_wait_for(&p, gui_is(&p, "state", "parts", "start=1 log=0"));
    for (size_t i = 0; i < G_N_ELEMENTS(reached); i++)
        gui_focus(&p, reached[i]);
    gui_focus(&p, "start.close");
    gui_key(&p, "ENTER");
    gui_wait_for(&p, gui_is(&p, "state", "parts", "start=0 log=0"));
    g_assert_true(gui_is(&p, "state", "frame", "0"));
    g_assert_true(gui_is(&p, "state", "paused", "1"));
    gui_quit(&p);
}

/* The desktop's dialog is a program that prints what was chosen. */
static void test_dialog(void) {
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *pair = make_pair(&p, "pair"), *bin = g_build_filename(p.folder, "bin", NULL),
                    *tool = g_build_filename(bin, "zenity", NULL),
                    *script = g_strdup_printf("#!/bin/sh\necho %s\n", pair);
    g_assert_cmpint(g_mkdir(bin, 0700), ==, 0);
    g_assert_true(g_file_set_contents(tool, script, -1, NULL));
    g_assert_cmpint(g_chmod(tool, 0755), ==, 0);
    gui_forget_names(&p);
    start_without_source(&p);
    gui_click(&p, "start.folder");
    gui_wait_for(&p, source_is(&p, pair));
    gui_settle(&p);
    gui_quit(&p);
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
    gui_wait_for(p, gui_is(p, "state", "parts", "start=1 log=0"));
}

/* A list that cannot be read is no reason to end; looking again says the same. */
static void test_no_list(void) {
    struct gui_program p = {0};
    start_with_cameras(&p, "-5");
    for (int i = 0; i < 2; i++) {
        gui_wait_for(&p, cameras_say(&p, "cameras could not be listed"));
        gui_wait_for(&p, message_has(&p, "cannot be listed: Input/output error"));
        g_assert_false(gui_is_visible(&p, "start.camera0"));
        gui_click(&p, "start.look");
    }
    gui_quit(&p);
}

/* Six have a tile, and say why they have no picture; the seventh is named. */
static void test_seven(void) {
    struct gui_program p = {0};
    start_with_cameras(&p, "7");
    gui_wait_for(&p, cameras_say(&p, "not shown: Camera 0 /dev/null"));
    for (int look = 0; look < 2; look++) {
        for (int i = 0; i < 6; i++) {
            g_autofree char *name = g_strdup_printf("camera%d", i), *about = NULL;
            gui_wait_for(&p, (about = gui_look(&p, "state", name)) && strcmp(about, "opening"));
            g_assert_false(g_ascii_isdigit(*about));
        }
        g_autofree char *seventh = gui_look(&p, "state", "camera6");
        g_assert_null(seventh);
        gui_click(&p, "start.look"); /* they are opened again */
    }
    g_assert_true(gui_is_visible(&p, "start.camera0"));
    g_assert_false(gui_is_visible(&p, "start.camera6"));
    gui_quit(&p);
}

/* ---- the list of files */

static void write_below(const char *folder, const char *name, const char *text) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* A dialog that does not answer, a pair, and below "in it" what is listed and what is not. */
static char *make_files(const struct gui_program *p) {
    g_autofree char *bin = g_build_filename(p->folder, "bin", NULL), *pair = make_pair(p, "in it"),
                    *tool = g_build_filename(bin, "zenity", NULL);
    char *folder = g_build_filename(p->folder, "in it", NULL);
    static const char *const folders[] = {"Sub 10", "Sub 2", "gone", ".hidden"};
    g_assert_cmpint(g_mkdir(bin, 0700), ==, 0);
    g_assert_true(g_file_set_contents(tool, "#!/bin/sh\nexit 255\n", -1, NULL));
    g_assert_cmpint(g_chmod(tool, 0755), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *path = g_build_filename(folder, folders[i], NULL);
        g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    }
    write_below(folder, "notes", "not listed");
    write_below(folder, "a##b%s.mkv", "no recording");
    write_below(folder, "n\n\xff.MKV", "no recording");
    write_below(folder, "right.txt", "not listed");
    write_below(folder, "my calib.txt", "focal_px=100\ncx=60\ncy=45\nbaseline_m=0.1\n");
    return folder;
}

/* Presses keys of the list, and waits for the selected name, behind the number of rows. */
static void list_key(const struct gui_program *p, const char *keys, const char *selected) {
    gui_key(p, keys);
    gui_wait_for(p, gui_is(p, "state", "file", selected) ||
                        (g_test_message("%s to %s", keys, selected), FALSE));
}

static void open_list(const struct gui_program *p, const char *folder, const char *selected) {
    gui_key(p, "Ctrl+o");
    gui_wait_for(p, gui_is(p, "state", "files", folder));
    gui_wait_for(p, gui_is(p, "state", "file", selected));
}

static gboolean is_shut(const struct gui_program *p) {
    g_autofree char *folder = gui_look(p, "state", "files");
    return !folder;
}

static gboolean has_metres(const struct gui_program *p) {
    g_autofree char *nearest = gui_look(p, "state", "nearest");
    return nearest != NULL;
}

/* Keys that seek do nothing behind the list. */
static void expect_no_seeking(const struct gui_program *p, const char *folder) {
    static const char *const keys[] = {"LEFT", "RIGHT", "Shift+LEFT", "Shift+RIGHT"};
    gui_run_action(p, "start");
    gui_wait_for(p, gui_is_visible(p, "start.path"));
    type_path(p, GUI_SOURCE ",rate=5");
    gui_wait_for(p, source_is(p, GUI_SOURCE ",rate=5"));
    gui_run_action(p, "step-forward"); /* which pauses */
    gui_wait_for(p, gui_is(p, "state", "paused", "1"));
    gui_settle(p);
    gui_key(p, "Shift+RIGHT"); /* without the list it seeks, to a second of twelve */
    gui_wait_for(p, gui_number(p, "state", "frame") >= 5);
    gui_settle(p);
    long frame = gui_number(p, "state", "frame");
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        gui_key(p, "Ctrl+o");
        gui_wait_for(p, gui_is(p, "state", "files", folder));
        gui_key(p, keys[i]);
        gui_key(p, "ESC");
        gui_wait_for(p, is_shut(p));
        gui_settle(p);
        g_assert_cmpint(gui_number(p, "state", "frame"), ==, frame);
    }
}

/* Opens the list from the start page, with the folder that is typed there. */
static void list_typed_folder(struct gui_program *p, const char *folder) {
    gui_forget_names(p);
    start_without_source(p);
    gui_click(p, "start.path");
    gui_give(p, "type %s", folder);
    gui_wait_for(p, gui_is(p, "state", "path", folder));
    gui_click(p, "start.files");
}

/* Folders first, then what can be opened; each key, and names of odd characters. */
static void test_files(void) {
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *folder = make_files(&p), *above = g_canonicalize_filename(p.folder, NULL),
                    *sub = g_build_filename(folder, "Sub 2", NULL),
                    *gone = g_build_filename(folder, "gone", NULL),
                    *both = g_strdup_printf("%s/left.png %s/right.png", folder, folder);
    list_typed_folder(&p, folder);
    gui_wait_for(&p, gui_is(&p, "state", "files", folder));
    gui_wait_for(&p, gui_is(&p, "state", "file", "10 ..")); /* neither notes nor what is hidden */
    static const char *const rows[] = {
        "10 .",        "10 gone",         "10 Sub 2",   "10 Sub 10",   "10 a##b%s.mkv",
        "10 left.png", "10 my calib.txt", "10 n??.MKV", "10 right.png"};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        list_key(&p, "DOWN", rows[i]);
    list_key(&p, "DOWN", "10 right.png");
    list_key(&p, "HOME", "10 ..");
    list_key(&p, "END", "10 right.png");
    list_key(&p, "Shift+TAB", "10 n??.MKV");
    list_key(&p, "PGUP", "10 ..");
    list_key(&p, "DOWN PGDN PGUP DOWN", "10 .");
    list_key(&p, "PGDN", "10 right.png");
    list_key(&p, "m", "10 my calib.txt"); /* letters, in either case; then the name goes on */
    list_key(&p, "s", "10 Sub 2");
    list_key(&p, "u b SPACE 1", "10 Sub 10");
    list_key(&p, "s", "10 Sub 2"); /* no name goes on so: the next one with it */
    gui_key(&p, "ENTER");
    gui_wait_for(&p, gui_is(&p, "state", "files", sub));
    list_key(&p, "BACKSPACE", "10 Sub 2"); /* where it came from */
    g_assert_true(gui_is(&p, "state", "parts", "start=1 log=0"));

    g_assert_cmpint(g_rmdir(gone), ==, 0); /* a folder that cannot be read */
    list_key(&p, "g", "10 gone");
    gui_key(&p, "ENTER");
    gui_wait_for(&p, message_has(&p, "cannot be listed"));
    g_assert_true(gui_is(&p, "state", "files", folder));
    for (int i = 0; i < 2; i++) { /* names of odd characters are those of the files */
        list_key(&p, i ? "n" : "a", i ? "9 n??.MKV" : "10 a##b%s.mkv");
        gui_key(&p, "ENTER");
        gui_wait_for(&p, is_shut(&p) && message_has(&p, i ? ".MKV" : "a##b%s.mkv"));
        g_assert_false(message_has(&p, "No such file"));
        open_list(&p, folder, "9 ..");
    }
    list_key(&p, "l", "9 left.png"); /* the first one is the left one */
    gui_key(&p, "ENTER");
    list_key(&p, "r", "9 right.png");
    gui_key(&p, "ENTER");
    gui_wait_for(&p, source_is(&p, both));
    gui_settle(&p);
    open_list(&p, folder, "9 ..");
    list_key(&p, "m", "9 my calib.txt"); /* for what is shown */
    gui_key(&p, "ENTER");
    gui_wait_for(&p, has_metres(&p));
    g_assert_true(source_is(&p, both));
    write_below(folder, "z calib.txt", "no calibration"); /* the one before stays */
    open_list(&p, folder, "10 ..");
    list_key(&p, "z", "10 z calib.txt");
    gui_key(&p, "ENTER");
    gui_wait_for(&p, is_shut(&p) && message_has(&p, "z calib.txt: "));
    gui_settle(&p);
    g_assert_true(has_metres(&p));
    open_list(&p, folder, "10 ..");
    gui_key(&p, "ESC");
    gui_wait_for(&p, is_shut(&p));
    g_assert_true(gui_is(&p, "state", "parts", "start=0 log=0"));
    open_list(&p, folder, "10 ..");
    gui_key(&p, "BACKSPACE");
    gui_wait_for(&p, gui_is(&p, "state", "files", above));
    gui_key(&p, "ESC");
    gui_wait_for(&p, is_shut(&p));
    expect_no_seeking(&p, above);
    gui_quit(&p);
}

static gboolean note_is(const struct gui_program *p, const char *pattern) {
    g_autofree char *note = gui_look(p, "state", "file-note");
    return note && g_pattern_match_simple(pattern, note);
}

/* The same by the mouse: a click selects, two open. */
static void test_files_mouse(void) {
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *folder = make_files(&p), *sub = g_build_filename(folder, "Sub 2", NULL);
    list_typed_folder(&p, folder);
    gui_click(&p, "file.3");
    gui_wait_for(&p, gui_is(&p, "state", "file", "10 Sub 2"));
    for (int i = 0; i < 2; i++) {
        gui_give(&p, "press 0");
        gui_give(&p, "release 0");
    }
    gui_wait_for(&p, gui_is(&p, "state", "files", sub));
    g_assert_true(gui_is(&p, "state", "file", "2 .."));
    gui_click(&p, "files.above");
    gui_wait_for(&p, gui_is(&p, "state", "file", "10 Sub 2"));
    gui_click(&p, "files.close");
    gui_wait_for(&p, is_shut(&p));
    gui_click(&p, "start.files");
    gui_click(&p, "file.6");
    gui_wait_for(&p, note_is(&p, "\"open\" takes left.png as the left picture; *"));
    gui_click(&p, "files.open");
    gui_wait_for(&p, note_is(&p, "left picture: left.png; \"open\" takes left.png as *"));
    gui_click(&p, "file.9");
    gui_wait_for(&p,
                 note_is(&p, "left picture: left.png; \"open\" takes right.png as the right one"));
    gui_click(&p, "files.close");
    gui_wait_for(&p, is_shut(&p));
    gui_click(&p, "start.files");
    gui_click(&p, "file.1"); /* the folder itself */
    gui_click(&p, "files.open");
    gui_wait_for(&p, source_is(&p, folder));
    gui_settle(&p);
    gui_quit(&p);
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
static void test_drop(void) {
    struct gui_program p = {0};
    start_without_source(&p);
    g_autofree char *pair = make_pair(&p, "a pair"), *uri = g_filename_to_uri(pair, NULL, NULL),
                    *folder = g_strdup_printf("%s\r\n", uri),
                    *files = g_strdup_printf("%s/right.png\r\n%s/left.png\r\n", uri, uri),
                    *calib = g_strdup_printf("%s/calib.txt\r\n", uri),
                    *both = g_strdup_printf("%s/left.png %s/right.png", pair, pair);
    drop(folder);
    gui_wait_for(&p, source_is(&p, pair));
    gui_settle(&p);
    drop(files);
    gui_wait_for(&p, source_is(&p, both));
    gui_settle(&p);
    write_below(pair, "calib.txt", "focal_px=100\ncx=60\ncy=45\nbaseline_m=0.1\n");
    drop(calib);
    gui_wait_for(&p, has_metres(&p));
    g_assert_true(source_is(&p, both));
    gui_quit(&p);
}

/* The program that files are dragged from ends before it is answered: the window stays. */
static void test_drag_gone(void) {
    struct gui_program p = {0};
    start_without_source(&p);
    Display *display = XOpenDisplay(NULL);
    g_assert_nonnull(display);
    Window to = gui_window(), from = enter(display, to);
    send(display, to, "XdndDrop", (const long[5]){(long)from, 0, CurrentTime, 0, 0});
    XDestroyWindow(display, from);
    XCloseDisplay(display);
    g_autofree char *pair = make_pair(&p, "a pair"), *uri = g_filename_to_uri(pair, NULL, NULL),
                    *folder = g_strdup_printf("%s\r\n", uri);
    drop(folder);
    gui_wait_for(&p, source_is(&p, pair));
    gui_settle(&p);
    gui_quit(&p);
}

int main(int argc, char **argv) {
    if (!gui_init(&argc, &argv))
        return 0;
    g_test_add_func("/gui/start/page", test_page);
    g_test_add_func("/gui/start/error", test_error);
    g_test_add_func("/gui/start/scene", test_scene);
    g_test_add_func("/gui/start/keyboard", test_keyboard);
    g_test_add_func("/gui/start/dialog", test_dialog);
    g_test_add_func("/gui/start/no-list", test_no_list);
    g_test_add_func("/gui/start/seven-cameras", test_seven);
    g_test_add_func("/gui/start/files", test_files);
    g_test_add_func("/gui/start/files-mouse", test_files_mouse);
    g_test_add_func("/gui/start/drop", test_drop);
    g_test_add_func("/gui/start/drag-gone", test_drag_gone);
    return g_test_run();
}
