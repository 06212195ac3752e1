/*
 * A window with an OpenGL 3.3 core context, and what happens in it as a list of events. All
 * functions belong to the main thread, except window_wake. Places are in pixels of the frame
 * buffer, from its top left.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_WINDOW_H
#define LIVESTEREO_WINDOW_H

#include "capture/frame.h"

#include <stdbool.h>

struct window;

struct window_options {
    const char *title;
    int width, height;
    bool hidden; /* drawn for window_read alone */
};

enum window_event_type {
    WINDOW_KEY,    /* a key or character by its name: "p", "?", "SPACE", "Shift+LEFT", "F1" */
    WINDOW_BUTTON, /* a mouse button at x, y went down or up */
    WINDOW_MOVE,   /* the mouse is at x, y */
    WINDOW_SCROLL, /* the wheel turned by dy at x, y */
    WINDOW_OTHER   /* anything else that asks for drawing again: size, focus, exposure */
};

struct window_event {
    enum window_event_type type;
    char key[24];
    int button; /* 0 left, 1 right, 2 middle */
    bool down, shift, control;
    double x, y, dy;
};

/* NULL after one log line; *error gets -ENODEV (no display), -ENOTSUP (OpenGL is too old). */
struct window *window_open(const struct window_options *options, int *error);
void window_close(struct window **window);

/* The GLFWwindow, for the library of widgets. */
void *window_handle(struct window *window);

/* Sleeps until something happens or window_wake, at most timeout_s (< 0: for ever). */
void window_wait(struct window *window, double timeout_s);

/* Ends a window_wait; any thread. context is the window. */
void window_wake(void *context);

/* The oldest event that was not taken yet; false: there is none. */
bool window_next_event(struct window *window, struct window_event *event);

/* Where the mouse was last seen, and how often a button went down or up or the wheel turned. */
struct window_mouse {
    double x, y;
    long count;
};
struct window_mouse window_mouse(const struct window *window);

bool window_closing(const struct window *window);
void window_size(const struct window *window, int *width, int *height);

/* Pixels for one of the pixels that text sizes are given in, by the display's settings. */
double window_scale(const struct window *window);

void window_set_title(struct window *window, const char *title);
void window_set_fullscreen(struct window *window, bool on);
bool window_is_fullscreen(const struct window *window);

/* Shows what was drawn. 0, or -EIO after a log line when the context is lost. */
int window_show(struct window *window);

/* What was drawn, before window_show, as RGB. malloc's image->data; 0 or -ENOMEM (logged). */
int window_read(const struct window *window, struct image *image);

#endif
