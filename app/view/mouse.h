/*
 * The mouse on the picture: it drags, zooms and clicks. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MOUSE_H
#define LIVESTEREO_MOUSE_H

#include "app/view/display.h"
#include "render/window.h"

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

#endif
