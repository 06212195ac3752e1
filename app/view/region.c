/*
 * The functions of app/view/region.h. SPDX-License-Identifier: MIT
 */
#include "app/view/region.h"

#include <glib.h>
#include <math.h>

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
                   fabs(r->to_x - r->from_x), fabs(r->to_y - r->from_y), 0xffe060);
}
