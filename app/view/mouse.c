/*
 * The functions of app/view/mouse.h. SPDX-License-Identifier: MIT
 */
#include "app/view/mouse.h"

#include <math.h>

#define CLICK_PX 4 /* a press that moves less is a click, not a drag */

/* True for a click. */
static bool handle_button(struct mouse *m, const struct window_event *event, bool on_picture) {
    bool click = false;
    if (event->down && on_picture && !m->pressed) {
        m->pressed = event->button + 1;
        m->press_x = event->x;
        m->press_y = event->y;
        m->dragging = false;
    } else if (!event->down && m->pressed == event->button + 1) {
        click = !m->dragging && event->button == 0;
        m->pressed = 0;
    }
    return click;
}

static void drag(const struct mouse *m, struct display *display, const struct frame *shown,
                 double dx, double dy) {
    int i = display_view_at(display, m->press_x, m->press_y);
    if (display_view(display, i).mode != DISPLAY_POINTS)
        display_pan(display, shown, i, dx, dy);
    else if (m->pressed == 1)
        display_orbit(display, dx, dy);
    else
        display_shift(display, dx, dy);
}

static void handle_move(struct mouse *m, struct display *display, const struct frame *shown,
                        double dx, double dy) {
    if (!m->pressed)
        return;
    if (!m->dragging) { /* the drag begins where the button went down */
        dx = m->x - m->press_x;
        dy = m->y - m->press_y;
        if (hypot(dx, dy) < CLICK_PX)
            return;
    }
    m->dragging = true;
    drag(m, display, shown, dx, dy);
}

bool mouse_handle(struct mouse *m, const struct window_event *event, struct display *display,
                  const struct frame *shown, bool on_picture) {
    double dx = event->x - m->x, dy = event->y - m->y;
    m->x = event->x;
    m->y = event->y;
    if (!shown)
        return false;
    switch (event->type) {
    case WINDOW_BUTTON:
        return handle_button(m, event, on_picture);
    case WINDOW_MOVE:
        handle_move(m, display, shown, dx, dy);
        return false;
    case WINDOW_SCROLL:
        if (on_picture)
            display_zoom(display, shown, event->dy, event->x, event->y);
        return false;
    default:
        return false;
    }
}
