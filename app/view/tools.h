/*
 * The mouse on a picture drags and zooms, pins probes and measures. Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/live.h"
#include "app/view/display.h"
#include "render/window.h"

struct viewer;

/* ---- the mouse */

struct mouse { /* zero to begin with */
    double x, y;
    double press_x, press_y; /* where the button went down */
    int pressed;             /* button + 1 that went down on the picture, 0: none */
    bool dragging;           /* it has moved since then */
};

/* Moves the display by an event other than a key's. shown: the frame on screen, or NULL.
 * on_picture: no widget is in the way. True for a click on the picture: the left button went down
 * and up without a drag. */
bool mouse_handle(struct mouse *mouse, const struct window_event *event, struct display *display,
                  const struct frame *shown, bool on_picture);

/* A pixel of the left picture, whatever is computed: px of the whole rectified pictures. */
struct place {
    double x, y;
};
struct place place_of_pixel(const struct viewer *v, int x, int y);
void place_find_pixel(const struct viewer *v, const struct place *place, int *x, int *y);

/* ---- pixels whose costs are shown */

struct probes { /* zero to begin with */
    struct place place[PROBES];
    int count;
};

/* Pins a probe at pixel x, y of the left picture, or removes one that is nearer than radius (px).
 * If there are PROBES already, the oldest is removed. */
void probes_toggle(struct viewer *v, int x, int y, double radius);

/* Asks for the answers of all. */
void probes_send(const struct viewer *v);

/* The pins on a view of the frame on screen. */
void probes_draw_pins(const struct viewer *v, const struct draw_settings *view);

/* The disparity (v is 0) or the motion, in px, that a label stands for. */
void probe_place(const struct live_probe *probe, int label, double *u, double *v);

/* Draws the last answers, in the panel. */
void probes_draw_plots(const struct viewer *v);

/* ---- the depth of a pixel and the distance of two, with the error that 68 %
 * of such measurements do not exceed */

struct measure { /* zero to begin with */
    bool on;     /* clicks place points instead of pins */
    int count;   /* points that are placed, 0 to 2 */
    struct place place[2];
};

/* The point of a pixel of the frame on screen (x right, y down, z forward, metres), and how far off
 * its depth is: that of metrics_sigma() (the first-order rule Z^2 sigma / (f B)). False where the
 * pixel has no disparity, or without metres. */
bool measure_point(const struct viewer *v, int x, int y, double xyz[3], double *error);

/* Metres between both points, and how far off they are where the errors of both depths are
 * independent. False where one has no depth. */
bool measure_distance(const struct viewer *v, double *distance, double *error);

/* How many digits after the point a length with this error has: two of the error's. */
int measure_digits(double error, enum length_unit unit);

/* A length, "1.234 m"; with an error above 0 "12.93 ± 0.31 m", or with one digit of the error in
 * place of two "12.9 ± 0.3 m". */
void measure_print(double metres, double error, enum length_unit unit, int error_digits, char *text,
                   size_t size);

/* Points, line and length on a view. */
void measure_draw(const struct viewer *v, const struct draw_settings *view);
