/*
 * The mouse and the region of app/view/tools.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/tools.h"

#include <glib.h>
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
    struct draw_settings *s = &display->settings;
    if (display_view(display, i).mode != DISPLAY_POINTS) {
        display_pan(display, shown, i, dx, dy);
    } else if (m->pressed == 1) {
        s->yaw += dx * 3 / s->width;
        s->pitch = CLAMP(s->pitch - dy * 3 / s->height, -1.5, 1.5);
    } else {
        s->shift_x += dx / s->width;
        s->shift_y += dy / s->height;
    }
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
    if (event->type == WINDOW_SCROLL && on_picture)
        display_zoom(display, shown, event->dy, event->x, event->y);
    if (event->type == WINDOW_MOVE || /* a release: where no move came after the press */
        (event->type == WINDOW_BUTTON && !event->down))
        handle_move(m, display, shown, dx, dy);
    return event->type == WINDOW_BUTTON && handle_button(m, event, on_picture);
}

/* ---- places */

struct place place_of_pixel(const struct rig_use *rig, int x, int y) {
    return (struct place){rig->left + (x + 0.5) / rig->scale, rig->top + (y + 0.5) / rig->scale};
}

void place_find_pixel(const struct place *p, const struct rig_use *rig, int *x, int *y) {
    *x = CLAMP((int)((p->x - rig->left) * rig->scale), 0, rig->width - 1);
    *y = CLAMP((int)((p->y - rig->top) * rig->scale), 0, rig->height - 1);
}

/* ---- the region */

bool region_handle(struct region *r, const struct window_event *event, bool on_picture) {
    bool complete = false;
    if (event->type == WINDOW_BUTTON && event->button == 0) {
        complete = r->down && !event->down;
        r->down = event->down && on_picture;
        if (r->down) {
            r->from_x = event->x;
            r->from_y = event->y;
        }
    }
    if (r->down || complete) {
        r->to_x = event->x;
        r->to_y = event->y;
    }
    return complete;
}

char *region_print(const struct region *r, const struct display *d, const struct frame *shown,
                   const struct rig_use *rig) {
    int x[2], y[2], side[2];
    if (!display_pixel_at(d, shown, r->from_x, r->from_y, &x[0], &y[0], &side[0]) ||
        !display_pixel_at(d, shown, r->to_x, r->to_y, &x[1], &y[1], &side[1]) || side[0] != side[1])
        return NULL;
    int left = rig->left + (int)floor(MIN(x[0], x[1]) / rig->scale),
        top = rig->top + (int)floor(MIN(y[0], y[1]) / rig->scale),
        width = (int)floor((abs(x[1] - x[0]) + 1) / rig->scale),
        height = (int)floor((abs(y[1] - y[0]) + 1) / rig->scale);
    if (width * rig->scale < MIN_REGION || height * rig->scale < MIN_REGION)
        return NULL;
    return g_strdup_printf("%d,%d,%d,%d", left, top, width, height);
}

void region_draw(const struct region *r, struct ui *ui) {
    if (r->down)
        ui_outline(ui, fmin(r->from_x, r->to_x), fmin(r->from_y, r->to_y),
                   fabs(r->to_x - r->from_x), fabs(r->to_y - r->from_y), ui_theme(ui)->mark);
}
