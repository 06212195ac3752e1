/*
 * The screen of a command with a window: the window, its widgets, when it is drawn again, the
 * notice that tells the user what happened, and the map, a file that tells scripts where the
 * widgets are and what they hold. Main thread, with the window's context.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SCREEN_H
#define LIVESTEREO_SCREEN_H

#include "render/ui.h"
#include "render/window.h"

#include <glib.h>

#define SCREEN_SETTLE_REDRAWS 3 /* after which widgets are at rest */

struct screen { /* zero to begin with */
    struct window *window;
    struct ui *ui;
    double text_scale;       /* of the display's usual size of text */
    bool text_scale_changed; /* the widgets have another one still */
    int redraws;             /* that are due */
    char notice[256];
    int64_t notice_until_ns; /* 0: it is not shown any more */
    char *map;               /* that was written last */
};

struct screen_options {
    const char *title;
    const char *size;  /* --window, "WxH"; NULL: 1600x900 */
    double text_scale; /* brought into 0.5..4; 0: 1 */
    bool hidden, fullscreen;
};

/* Opens the window and its widgets. GO_ON, or the exit code after a log line. */
int screen_open(struct screen *screen, const struct screen_options *options);
void screen_close(struct screen *screen);

/* The window will be drawn once more. */
void screen_redraw(struct screen *screen);

/* The window will be drawn as often as widgets need to come to rest after an input. */
void screen_settle(struct screen *screen);

/* Shows a notice for a few seconds. */
void screen_notify(struct screen *screen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void screen_clear_notice(struct screen *screen);

/* Acts from the next screen_update on. */
void screen_set_text_scale(struct screen *screen, double text_scale);

/* Sleeps until there is something to do, but not so long that a signal would go unnoticed. */
void screen_wait(struct screen *screen);

/* Ends the notice when its time is over, sets the widgets' size when that of text changed; not
 * while they are drawn. */
void screen_update(struct screen *screen);

/* Whether a key is among names that are separated by blanks. */
bool screen_has_key(const char *names, const char *key);

/* Begins a map with what all windows have: the mouse, "state rest" (1 when no redraw is due, so
 * that all widgets stay where they are) and the places of the widgets. The caller appends lines
 * "state NAME VALUE". */
GString *screen_map_begin(const struct screen *screen);

/* Writes the map if it differs from the last one, and frees it. */
void screen_map_end(struct screen *screen, GString *map, const char *path);

#endif
