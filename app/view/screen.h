/*
 * The screen of a command with a window: the window, its widgets, when it is drawn again, the
 * notice that tells the user what happened, and the map, a file that tells scripts where the
 * widgets are and what they hold. Main thread, with the window's context.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "render/ui.h"
#include "render/window.h"

#include <glib.h>
#include <stdatomic.h>

/* After so many redraws widgets do not change any further: for a press, its release, what it
 * opens, and room for a scroll bar. */
#define SCREEN_SETTLE_REDRAWS 4

struct screen { /* zero to begin with */
    struct window *window;
    struct ui *ui;
    double text_scale;                  /* of the display's usual size of text */
    bool text_scale_changed;            /* the widgets have it after the next screen_update */
    int redraws;                        /* that are due */
    char notice[512], notice_path[512]; /* what happened, and to which file, "": none */
    bool notice_fails;
    char blamed[64],
        notice_at[64];       /* the widget that the next error, and this one, come from, "" */
    bool notice_plays;       /* the file can be played */
    int64_t notice_until_ns; /* 0: there is no notice */
    int64_t wake_ns;         /* when the loop must go on at the latest, 0: no matter when */
    char *map;               /* that was written last */
};

struct screen_options {
    const char *title;
    const char *size; /* --window, "WxH"; NULL: 1600x900, or what the screen has room for */
    enum theme_name theme;
    double text_scale; /* clamped to 0.5..4; 0: 1 */
    bool hidden, fullscreen;
};

/* --theme; NULL leaves it as it is. GO_ON or EXIT_USAGE. */
int screen_parse_theme(const char *name, enum theme_name *theme);

/* Opens the window and its widgets. GO_ON, or the exit code after a log line. */
int screen_open(struct screen *screen, const struct screen_options *options);
void screen_close(struct screen *screen);

/* Requests that the window is drawn again. */
void screen_redraw(struct screen *screen);

/* Requests SCREEN_SETTLE_REDRAWS redraws, which widgets may need after an input. */
void screen_settle(struct screen *screen);

/* Shows a notice for a few seconds; an error until it is closed, at the widget of this name, which
 * gets the keys, where that is on screen; that a file was saved, with a button that shows its
 * folder. widget NULL: the one that screen_blame() has named. */
void screen_notify(struct screen *screen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void screen_notify_error(struct screen *screen, const char *widget, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void screen_notify_saved(struct screen *screen, const char *path, const char *text);

/* The next error that is logged comes from what the user did with this widget; "": from nothing. */
void screen_blame(struct screen *screen, const char *widget);

/* Opens the folder of a file with the desktop's program. */
void screen_show_folder(const char *path);

void screen_clear_notice(struct screen *screen);

/* Waits for events, and wakes often enough to notice signals. */
void screen_wait(struct screen *screen);

/* Removes an expired notice and applies a change of text size; not to be called while widgets are
 * drawn. */
void screen_update(struct screen *screen);

/* Whether a key is among names that are separated by blanks. */
bool screen_has_key(const char *names, const char *key);

/* Begins a map with what all windows have: the mouse, how many clicks and characters came, "state
 * typing" (1 when a line of text takes the keys), "state rest" (1 when no redraw is due, so that
 * all widgets have answered the input and stay where they are) and the places of the widgets. The
 * caller appends lines "state NAME VALUE". */
GString *screen_map_begin(const struct screen *screen);
#define map_state(map, what, ...) g_string_append_printf(map, "state " what "\n", __VA_ARGS__)

/* Writes the map if it differs from the last one, and frees it. */
void screen_map_end(struct screen *screen, GString *map, const char *path);

/* ---- work on a thread of its own, so that the window does not wait for a disk, an encoder or
 * another program */

struct background { /* zero: there is no work */
    int (*work)(void *context);
    void *context;
    struct window *window;
    GThread *thread; /* NULL: none could be made */
    int result;
    bool on;
    atomic_bool done;
};

/* Calls work on another thread, which wakes the window when it has returned; where no thread can
 * be made, at once on this one. Not before the last work's result was taken. */
void background_begin(struct background *background, int (*work)(void *context), void *context,
                      struct window *window);

/* Whether the result of work can be taken without waiting. */
bool background_is_done(const struct background *background);

/* Waits until work has returned, and returns its result. */
int background_take(struct background *background);
