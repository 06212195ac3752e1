/*
 * What the GUI tests share: the real program in a real window. xdotool moves the mouse and presses
 * keys, widgets are found by their names in the file that --ui-map keeps, pictures come from the
 * program's own screenshots. Needs a display (tests/gui/display.sh makes one), xdotool, and
 * LIVESTEREO_BIN. GUI_OPTIONS adds options, such as "--set backend=cuda". One thread; what is
 * returned as char * is the caller's to g_free.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_GUI_H
#define LIVESTEREO_GUI_H

#include "capture/picture.h"

#include <glib.h>

#define GUI_WAIT_S 30
#define GUI_LOOK_US 20000
#define GUI_SOURCE "synth:width=160,height=120,range=16,frames=60"
#define GUI_SETTINGS                                                                              \
    "--set disparity_range=16 --set bp_iterations=3 --set cost_smoothing=off --set lr_check=off " \
    "--set threads=2"

struct gui_program {
    char *folder, *map, *output, *window;
    GPid pid;
    int exit_code;
};

struct gui_place {
    int x, y, width, height;
};

/* g_test_init; FALSE after a TAP line that skips everything where a need is missing. */
gboolean gui_init(int *argc, char ***argv);

/* What a command prints, without blanks at its ends. */
char *gui_run_tool(const char *format, ...) G_GNUC_PRINTF(1, 2);
#define gui_tool(...) g_free(gui_run_tool(__VA_ARGS__))

/* ---- the map */

/* The rest of the line "KIND NAME ...", or NULL. */
char *gui_look(const struct gui_program *p, const char *kind, const char *name);
gboolean gui_is(const struct gui_program *p, const char *kind, const char *name, const char *value);
/* -1 where there is none. */
long gui_number(const struct gui_program *p, const char *kind, const char *name);

void gui_pause(void);
#define gui_wait_for(p, condition)                                             \
    do {                                                                       \
        gint64 end = g_get_monotonic_time() + GUI_WAIT_S * G_TIME_SPAN_SECOND; \
        while (!(condition)) {                                                 \
            if (g_get_monotonic_time() > end) {                                \
                char *map = NULL;                                              \
                g_file_get_contents((p)->map, &map, NULL, NULL);               \
                g_error("in vain: %s\n%s", #condition, map ? map : "no map");  \
            }                                                                  \
            gui_pause();                                                       \
        }                                                                      \
    } while (0)

/* Until the frame on screen is that of the settings and of the place asked for. */
void gui_settle(const struct gui_program *p);

/* ---- the program */

/* Names of the files of a test, and a state of its own. A p->folder that is there is used again,
 * with what was remembered in it. */
void gui_prepare(struct gui_program *p);

/* Starts a command line, which keeps p->map, in a window that gets the keys; waits for its first
 * frame. */
void gui_spawn(struct gui_program *p, const char *line);

/* Both of it: starts `livestereo view GUI_SETTINGS GUI_OPTIONS options ... source`. */
void gui_start(struct gui_program *p, const char *options, const char *source);

/* Until the program has ended by itself, which sets p->exit_code. */
void gui_wait_end(struct gui_program *p);

/* Frees all but the folder, in which another start finds what was remembered. */
void gui_forget_names(struct gui_program *p);
void gui_forget(struct gui_program *p);

/* By the key q; all of the above. */
void gui_quit(struct gui_program *p);
void gui_remove_all(const char *path);

/* ---- mouse and keys */

/* Presses the first of the keys that the program names for an action. */
void gui_act(const struct gui_program *p, const char *name);

/* Where the widget is once the window is at rest: what a drawing changes moves those below it in
 * the next. */
struct gui_place gui_find(const struct gui_program *p, const char *name);
/* These two wait until the program has seen it; what: "mousedown", "mouseup" or "click". */
void gui_move(const struct gui_program *p, double x, double y);
void gui_button(const struct gui_program *p, const char *what, int which);
gboolean gui_in_sight(const struct gui_program *p, const char *name);
/* Turns the wheel over the panel of settings until the widget is there. */
void gui_reveal(const struct gui_program *p, const char *name);
void gui_click(const struct gui_program *p, const char *name);
/* Drags across a widget from one share of its width to another. */
void gui_drag(const struct gui_program *p, const char *name, double from, double to, int which);

/* Calls test with a recording of 40 side-by-side pairs of noise, 160x120 each, 20 a second, that is
 * gone afterwards; skips where it cannot be made. */
void gui_on_recording(void (*test)(const char *path));

/* ---- pictures */

/* Presses the key and waits for a file with that ending, which is then out of the program's
 * sight. */
char *gui_new_file(const struct gui_program *p, const char *key, const char *ending);
/* The window; picture_free it. */
struct image gui_shot(const struct gui_program *p);
/* Pixels of the picture's area that differ between two shots of one size. */
long gui_changed(const struct gui_program *p, const struct image *a, const struct image *b);

#endif
