/*
 * The functions of app/view/motion_view.h. SPDX-License-Identifier: MIT
 */
#include "app/view/motion_view.h"

#include "image/flow.h"

#include <math.h>
#include <stdio.h>

#define WHEEL_CELLS 48 /* across */

/* The wheel's middle and its radius in the window. */
static void wheel_place(const struct layout_rect *strip, double line, double *x, double *y,
                        double *radius) {
    *radius = fmax(line, fmin(strip->width, strip->height - 4 * line) / 2 - line / 2);
    *x = strip->x + strip->width / 2.0;
    *y = strip->y + strip->height / 2.0;
}

void motion_wheel_draw(const struct display *d, const struct layout_rect *strip, struct ui *ui) {
    double x, y, radius, line = ui_text_height(ui), range = d->settings.max;
    char text[32];
    wheel_place(strip, line, &x, &y, &radius);
    double cell = 2 * radius / WHEEL_CELLS;
    for (int row = 0; row < WHEEL_CELLS; row++)
        for (int column = 0; column < WHEEL_CELLS; column++) {
            double u = (column + 0.5) * 2 / WHEEL_CELLS - 1, v = (row + 0.5) * 2 / WHEEL_CELLS - 1;
            uint8_t c[3];
            if (u * u + v * v > 1)
                continue;
            flow_color_of(u, v, 1, c);
            ui_box(ui, x + (u * radius) - cell / 2, y + (v * radius) - cell / 2, cell, cell,
                   (unsigned)c[0] << 16 | (unsigned)c[1] << 8 | c[2], 1);
        }
    snprintf(text, sizeof(text), "%g px", range);
    ui_label(ui, x - ui_text_width(ui, text) / 2, y - radius - 1.4 * line, 0xffffff, text);
    ui_line(ui, x, y, x + radius, y, 0x404040);
    ui_box(ui, x - radius, y + radius + line / 2, line, line, 0, 1);
    ui_outline(ui, x - radius, y + radius + line / 2, line, line, 0x808080);
    ui_label(ui, x - radius + 1.5 * line, y + radius + line / 2, 0xffffff, "none");
    if (!display_shows(d, DISPLAY_ARROWS))
        return;
    snprintf(text, sizeof(text), "arrows x%.3g", DRAW_ARROW_PX / range);
    ui_label(ui, x - radius, y + radius + 2 * line, 0xffffff, text);
}

void motion_describe_pixel(const struct frame *f, const struct motion_speed *speed, int x, int y,
                           char *text, size_t size) {
    size_t i = (size_t)y * (size_t)f->rect_left.width + (size_t)x;
    size_t count = (size_t)f->rect_left.width * (size_t)f->rect_left.height;
    int used = snprintf(text, size, "%d, %d", x, y);
    if (f->motion[i] == DISPARITY_UNKNOWN) {
        snprintf(text + used, size - (size_t)used, "   no motion known");
        return;
    }
    double u = f->motion[i] / (double)DISPARITY_ONE,
           v = f->motion[i + count] / (double)DISPARITY_ONE;
    double length = hypot(u, v);
    used +=
        snprintf(text + used, size - (size_t)used, "   u %+.2f v %+.2f   %.2f px", u, v, length);
    if (f->has_truth && f->truth[i] != DISPARITY_UNKNOWN)
        used += snprintf(text + used, size - (size_t)used, "   truth %+.2f %+.2f px",
                         f->truth[i] / (double)DISPARITY_ONE,
                         f->truth[i + count] / (double)DISPARITY_ONE);
    if (speed->seconds > 0)
        used += snprintf(text + used, size - (size_t)used, "   %.4g px/s", length / speed->seconds);
    if (speed->seconds > 0 && speed->metres_per_pixel > 0)
        used += snprintf(text + used, size - (size_t)used, "   %.4g m/s",
                         length / speed->seconds * speed->metres_per_pixel);
    snprintf(text + used, size - (size_t)used, "   confidence %d", f->confidence[i]);
}
