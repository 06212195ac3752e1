/*
 * The part of the pictures that is computed, drawn with the mouse as a rectangle. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_REGION_H
#define LIVESTEREO_REGION_H

#include "app/rig_options.h"
#include "app/view/display.h"
#include "render/ui.h"
#include "render/window.h"

#define MIN_REGION 16 /* px a side */

struct region {    /* zero to begin with */
    bool choosing; /* the next drag draws it */
    bool down;
    double from_x, from_y, to_x, to_y; /* corners, in the window */
};

/* Follows the mouse while a region is chosen; on_picture: no widget is in the way. True when the
 * rectangle is complete. */
bool region_handle(struct region *region, const struct window_event *event, bool on_picture);

/* The rectangle as "X,Y,W,H" in px of the whole rectified pictures, for rig_options.roi. NULL where
 * it is too small or the corners are not in one view. Free it with g_free. */
char *region_print(const struct region *region, const struct display *display,
                   const struct frame *shown, const struct rig_use *rig);

void region_draw(const struct region *region, struct ui *ui);

#endif
