/*
 * The mouse on the picture: hover, zoom, pan, orbit, pins. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include <math.h>
#include <string.h>

#define CLICK_PX 4 /* a press that moves less is a click, not a drag */
#define ZOOM_STEP 1.2
#define ZOOM_LEAST 0.1
#define ZOOM_MOST 100.0

bool view_hover(const struct viewer *v, int *x, int *y, int *side) {
    return v->shown && draw_pick(&v->draw_settings, v->shown->rect_left.width,
                                 v->shown->rect_left.height, v->mouse_x, v->mouse_y, x, y, side);
}

/* Whether a panel lies there: by the last layout, as the library of widgets may not have seen the
 * move yet. */
static bool over_panel(const struct viewer *v, double x, double y) {
    int count;
    const struct ui_place *places = ui_places(v->ui, &count);
    for (int i = 0; i < count; i++) {
        const struct ui_place *p = &places[i];
        if (strncmp(p->name, "panel.", 6) == 0 && x >= p->x && y >= p->y && x < p->x + p->width &&
            y < p->y + p->height)
            return true;
    }
    return false;
}

static void pan(struct viewer *v, double dx, double dy) {
    struct draw_settings *s = &v->draw_settings;
    if (!v->shown)
        return;
    double scale = draw_scale(s, v->shown->rect_left.width, v->shown->rect_left.height);
    double share = s->view == DRAW_ROWS ? 2 : 1;
    s->center_x -= dx / (scale * v->shown->rect_left.width * share);
    s->center_y -= dy / (scale * v->shown->rect_left.height);
    s->center_x = fmin(1, fmax(0, s->center_x));
    s->center_y = fmin(1, fmax(0, s->center_y));
}

static void drag(struct viewer *v, double dx, double dy) {
    struct draw_settings *s = &v->draw_settings;
    if (s->view != DRAW_POINTS) {
        pan(v, dx, dy);
    } else if (v->dragging == 1) {
        s->yaw += dx * 3 / s->width;
        s->pitch = fmin(1.5, fmax(-1.5, s->pitch - dy * 3 / s->height));
    } else {
        s->shift_x += dx / s->width;
        s->shift_y += dy / s->height;
    }
}

/* What lies under the mouse stays there. */
static void zoom(struct viewer *v, double steps) {
    struct draw_settings *s = &v->draw_settings;
    double factor = pow(ZOOM_STEP, steps);
    if (s->view == DRAW_POINTS) {
        s->distance = fmin(20, fmax(0.05, s->distance / factor));
        return;
    }
    double before = s->zoom;
    s->zoom = fmin(ZOOM_MOST, fmax(ZOOM_LEAST, s->zoom * factor));
    factor = s->zoom / before;
    double from_x = v->mouse_x - (s->x + s->width / 2.0),
           from_y = v->mouse_y - (s->y + s->height / 2.0);
    pan(v, -from_x * (factor - 1), -from_y * (factor - 1));
}

/* Adds a probe, or removes the one that is there. */
static void click(struct viewer *v) {
    int x, y, side;
    if (!view_hover(v, &x, &y, &side) || side != 0)
        return;
    double near = fmax(3, 8 / draw_scale(&v->draw_settings, v->shown->rect_left.width,
                                         v->shown->rect_left.height));
    int i = 0;
    while (i < v->probe_count && hypot(v->probes[i].x - x, v->probes[i].y - y) > near)
        i++;
    if (i < v->probe_count) {
        memmove(&v->probes[i], &v->probes[i + 1],
                sizeof v->probes[0] * (size_t)(v->probe_count - 1 - i));
        v->probe_count--;
    } else {
        if (v->probe_count == PROBES) { /* the oldest makes room */
            memmove(&v->probes[0], &v->probes[1], sizeof v->probes[0] * (PROBES - 1));
            v->probe_count--;
        }
        v->probes[v->probe_count].x = x;
        v->probes[v->probe_count].y = y;
        v->probes[v->probe_count++].index = -1;
    }
    live_set_probes(v->live, v->probes, v->probe_count);
}

void view_mouse(struct viewer *v, const struct window_event *event) {
    double dx = event->x - v->mouse_x, dy = event->y - v->mouse_y;
    v->mouse_x = event->x;
    v->mouse_y = event->y;
    bool free = v->shown && !over_panel(v, event->x, event->y) && !ui_has_mouse(v->ui);
    switch (event->type) {
    case WINDOW_BUTTON:
        if (event->down && free && !v->dragging) {
            v->dragging = event->button + 1;
            v->press_x = event->x;
            v->press_y = event->y;
            v->moved = false;
        } else if (!event->down && v->dragging == event->button + 1) {
            if (!v->moved && event->button == 0)
                click(v);
            v->dragging = 0;
        }
        break;
    case WINDOW_MOVE:
        if (!v->dragging)
            break;
        if (!v->moved && hypot(event->x - v->press_x, event->y - v->press_y) < CLICK_PX)
            break;
        if (!v->moved) {
            dx = event->x - v->press_x;
            dy = event->y - v->press_y;
        }
        v->moved = true;
        drag(v, dx, dy);
        break;
    case WINDOW_SCROLL:
        if (free)
            zoom(v, event->dy);
        break;
    default:
        break;
    }
}
