/*
 * What the GUI tests share: the real program in a real window. Its keys and its mouse are the
 * test's (given_input.c), widgets are found by their names in the map, the file of --ui-map, and
 * pictures come from the program's own screenshots. Needs a display (tests/gui/display.sh makes
 * one) and LIVESTEREO_BIN. The variable GUI_OPTIONS adds options, such as "--set backend=cuda". One
 * thread; the caller frees each returned char * with g_free.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/picture.h"
#include "tests/folder.h"
#include "tests/test.h"

#define GUI_WAIT_S 600 /* for what hangs; how long a wait takes depends on the machine */
#define GUI_POLL_US 2000
/* Its rows are off by so little that only the calibration knows: it has none. */
#define GUI_SOURCE "synth:row_offset=0.01,width=160,height=120,range=16,frames=60"
#define GUI_SETTINGS                                                                              \
    "--set disparity_range=16 --set bp_iterations=3 --set cost_smoothing=off --set lr_check=off " \
    "--set threads=2"

struct gui_program {
    char *folder, *map, *output, *input;
    GPid pid;
};

struct gui_rect {
    int x, y, width, height;
};

/* GUI_PROGRAM p = gui_open(...); quits at the end of its block. */
#define GUI_PROGRAM AUTO(gui_quit) struct gui_program

/* GUI_TEST("/path", name) { ... } is a TEST() of the program; all are skipped without a display. */
#define GUI_TEST TEST

/* What a command prints, without blanks at its ends. */
char *gui_run_tool(const char *format, ...) G_GNUC_PRINTF(1, 2);
#define gui_tool(...) g_free(gui_run_tool(__VA_ARGS__))

/* ---- the map */

/* The rest of the line "KIND NAME ...", or NULL. Reading two of them reads two moments. */
char *gui_look(const struct gui_program *p, const char *kind, const char *name);
gboolean gui_is(const struct gui_program *p, const char *kind, const char *name, const char *value);
/* Whether there is such a line; whether the notice has this text. */
gboolean gui_has(const struct gui_program *p, const char *kind, const char *name);
gboolean gui_says(const struct gui_program *p, const char *text);
/* -1 where there is none. */
long gui_number(const struct gui_program *p, const char *kind, const char *name);

void gui_pause(void);

/* Fails where the program was ended by a signal, so that nobody waits for it. */
void gui_assert_alive(const struct gui_program *p);

#define gui_wait_for(p, condition)                                                    \
    do {                                                                              \
        gint64 end = g_get_monotonic_time() + GUI_WAIT_S * G_TIME_SPAN_SECOND;        \
        while (!(condition)) {                                                        \
            if (g_get_monotonic_time() > end) {                                       \
                char *map = NULL;                                                     \
                g_file_get_contents((p)->map, &map, NULL, NULL);                      \
                g_error("never came true: %s\n%s", #condition, map ? map : "no map"); \
            }                                                                         \
            gui_assert_alive(p);                                                      \
            gui_pause();                                                              \
        }                                                                             \
    } while (0)

/* Waits until the frame on screen is the one asked for, computed with the settings of now. */
void gui_settle(const struct gui_program *p);

/* ---- the program */

/* Names the files of a test, once, and gives it remembered settings of its own. If p->folder is
 * set, the test goes on with what was remembered there. */
void gui_prepare(struct gui_program *p);

/* A file of a test's folder; g_free. A calibration whose principal point is the middle, 0.1 m. */
char *gui_write(struct gui_program *p, const char *name, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
char *gui_calibration(struct gui_program *p, int width, int height, int focal);

/* A script in place of the desktop's dialog. */
void gui_dialog(struct gui_program *p, const char *script);

/* A folder of the test's with left.png and right.png of noise, 4 px apart. g_free. */
char *gui_pair(struct gui_program *p, const char *name, int width, int height);

/* "LD_PRELOAD=..." for a command line whose window has given_input.so and one more library. */
char *gui_preload(const char *library);

/* The display's number for the window. */
unsigned long gui_window(void);

/* For g_spawn_async and the like: the window dies with a test that fails, so that the next test
 * finds only its own. */
void gui_die_with_test(gpointer unused);

/* Starts a command line that writes p->map, and waits for its first
 * frame. What the program remembers lies in p->folder/state; programs in p->folder/bin stand in for
 * those of their names. It finds as many cameras as the variable LISTED_CAMERAS says, none without
 * it (listed_cameras.c); with LIVESTEREO_TEST_CAMERAS, and where the line sets LD_PRELOAD itself,
 * those of the machine. */
void gui_spawn(struct gui_program *p, const char *line);

/* Does both with a line that begins with the program, and ends with what it writes for tests. */
void gui_launch(struct gui_program *p, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Does both with `livestereo view GUI_SETTINGS GUI_OPTIONS options ... source`. */
void gui_start(struct gui_program *p, const char *options, const char *source);

/* A new program that was started so; gui_open: and has settled. */
struct gui_program gui_begin(const char *options, const char *source);
struct gui_program gui_open(const char *options, const char *source);

/* Waits until the program has ended by itself, with this exit code. */
void gui_wait_end(const struct gui_program *p, int exit_code);

/* Frees all; gui_forget_names: all but the folder, in which another start
 * finds what was remembered. */
void gui_forget(struct gui_program *p);
void gui_forget_names(struct gui_program *p);

/* Quits, waits for the end without an error, and forgets all; gui_quit_once: but the folder. */
void gui_quit(struct gui_program *p);
void gui_quit_once(struct gui_program *p);

/* ---- mouse and keys */

/* One line of given_input.c. The caller waits for what it does. */
void gui_give(const struct gui_program *p, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Presses keys, named as the program names them ("TAB", "Ctrl+a", "?"), with blanks between them.
 * The caller waits for what they do. */
void gui_key(const struct gui_program *p, const char *names);

/* Presses Tab and then the arrow keys that lead to a widget, until it has the keys. */
void gui_focus(const struct gui_program *p, const char *name);

/* Presses the first of the keys that the map names for an action, once the window is at rest; the
 * caller waits for what it does. */
void gui_run_action(const struct gui_program *p, const char *name);

/* These wait until the map has this state, or at all. */
void gui_run_until(const struct gui_program *p, const char *name, const char *state,
                   const char *value);
void gui_until(const struct gui_program *p, const char *kind, const char *name, const char *value);

/* Where the widget is once the window is at rest: before, a widget that changes its size still
 * moves those below it. */
struct gui_rect gui_find(const struct gui_program *p, const char *name);

/* These wait until the window is at rest again, so that its widgets have done what they do; what:
 * "mousedown", "mouseup" or "click"; text: ASCII characters into the line that was clicked. */
void gui_move(const struct gui_program *p, double x, double y);
void gui_button(const struct gui_program *p, const char *what, int which);
void gui_type(const struct gui_program *p, const char *text);

gboolean gui_is_visible(const struct gui_program *p, const char *name);

/* Turns the wheel over the panel of settings until the widget is visible. */
void gui_scroll_to(const struct gui_program *p, const char *name);
void gui_click(const struct gui_program *p, const char *name);
void gui_click_until(const struct gui_program *p, const char *name, const char *kind,
                     const char *what, const char *value);

/* Types a row's value, in its field, and waits for it; types a text in place of another; chooses
 * from a list or a menu of that name, as they are named in the map; shows a tab of the panel. */
void gui_set(const struct gui_program *p, const char *name, const char *value);
void gui_type_into(const struct gui_program *p, const char *name, const char *text);
void gui_choose(const struct gui_program *p, const char *name, const char *choice);
void gui_tab(const struct gui_program *p, const char *name);

/* Clicks what closes the window, and does not wait for anything. */
void gui_click_leaving(const struct gui_program *p, const char *name);

/* Drags across a widget; from and to are in widths of it. */
void gui_drag(const struct gui_program *p, const char *name, double from, double to, int which);

/* Calls test with a recording of 40 side-by-side pairs of noise, 160x120 each, 20 a second; skips
 * the test where it cannot be made. */
void gui_on_recording(void (*test)(const char *path));

/* A folder of links to count numbered files of each side, as a source has them, from the data.
 * g_free; NULL after a skip. */
char *gui_links(const char *data, const char *left, const char *right, const char *ending,
                int first, int count);

/* ---- pictures */

/* Presses the key of an action and waits for a file with that ending, which is then moved to where
 * the program does not see it. */
char *gui_new_file(const struct gui_program *p, const char *key, const char *ending);
/* The window; picture_free it. */
struct image gui_shot(const struct gui_program *p);

/* A widget's part of the window, between two shares of its height. */
struct image gui_part(const struct gui_program *p, const char *name, double from, double to);
/* Pixels from a column on that differ, of two parts of one size; of one, the mean grey level. */
long gui_differing(const struct image *a, const struct image *b, int column);
double gui_level(const struct image *part);

/* The one file with that ending that the program wrote; NULL where there is none. g_free. */
char *gui_written(const struct gui_program *p, const char *ending);

/* Pixels of the upper three quarters of the picture's area, below which messages are written, that
 * differ between two shots of one size. */
long gui_changed(const struct gui_program *p, const struct image *a, const struct image *b);
