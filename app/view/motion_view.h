/*
 * What the window shows of motion beside the views: the wheel of colours, and the motion of a pixel
 * in words. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MOTION_VIEW_H
#define LIVESTEREO_MOTION_VIEW_H

#include "app/view/display.h"
#include "app/view/layout.h"
#include "render/ui.h"

/* The wheel, whose middle is no motion and whose rim is the length of full colour, in its strip of
 * the window, and how much longer than the motion arrows are drawn; between ui_begin and ui_end. */
void motion_wheel_draw(const struct display *display, const struct layout_rect *strip,
                       struct ui *ui);

/* What is needed for speeds. */
struct motion_speed {
    double seconds;          /* from the picture to the later one; 0: not known */
    double metres_per_pixel; /* of the pictures that are computed; 0: not known */
};

/* The motion of pixel x, y: u, v and length in px, px/s and m/s where they are known,
 * confidence. */
void motion_describe_pixel(const struct frame *frame, const struct motion_speed *speed, int x,
                           int y, char *text, size_t size);

#endif
