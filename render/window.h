/*
 * A window with an OpenGL 3.3 core context, and a queue of its events. All functions belong to the
 * main thread, except window_wake. Positions are in pixels of the frame buffer, from its top left.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

#include <stdbool.h>

struct window;

struct window_options {
    const char *title;
    int width, height;
    bool hidden; /* never shown; window_read gives what was drawn */
    bool fits;   /* made smaller where the screen is */
};

enum window_event_type {
    WINDOW_KEY,    /* a key went down; its name is like "p", "?", "SPACE", "Shift+LEFT", "Ctrl+z" */
    WINDOW_BUTTON, /* a mouse button at x, y went down or up */
    WINDOW_MOVE,   /* the mouse is at x, y */
    WINDOW_SCROLL, /* the wheel turned by dy at x, y */
    WINDOW_DROP,   /* files were dropped on the window, see window_dropped */
    WINDOW_OTHER   /* anything else that requires a redraw: size, focus, exposure */
};

struct window_event {
    enum window_event_type type;
    char key[24];
    int button; /* 0 left, 1 right, 2 middle */
    bool down;
    double x, y, dy;
};

/* NULL after one log line; *error gets -ENOMEM, -ENODEV (there is no display) or -ENOTSUP (OpenGL
 * is too old). */
struct window *window_open(const struct window_options *options, int *error);
void window_close(struct window **window);

/* The GLFWwindow, for the library of widgets. */
void *window_handle(struct window *window);

/* Sleeps until an event comes or window_wake is called, at most timeout_s (< 0: no limit). */
void window_wait(struct window *window, double timeout_s);

/* Ends a window_wait. Any thread. context is the window; the type is that of a callback. */
void window_wake(void *context);

/* Takes the oldest event; false: there is none. */
bool window_next_event(struct window *window, struct window_event *event);

/* The last position of the mouse, how often a button went down or up or the wheel was turned, and
 * how many characters came. */
struct window_input {
    double x, y;
    long clicks, characters;
};
struct window_input window_input(const struct window *window);

/* The paths that were dropped last; they are valid until the next drop. */
const char *const *window_dropped(const struct window *window, int *count);

void window_set_title(struct window *window, const char *title);

bool window_closing(const struct window *window);
void window_size(const struct window *window, int *width, int *height);

/* How many pixels the display's settings, or the size of its pixels, want for one pixel of text
 * size. */
double window_scale(const struct window *window);

void window_set_fullscreen(struct window *window, bool on);
bool window_is_fullscreen(const struct window *window);

/* Shows what was drawn. Returns 0, or -EIO after a log line when the context is lost. */
int window_show(struct window *window);

/* Reads what was drawn, before window_show, as RGB; free it with picture_free. */
struct image window_read(const struct window *window);

/* The same of the lower left part of the framebuffer that is bound, which is no longer so then. */
struct image window_read_area(int width, int height);
