/*
 * Where the pixels of a picture are in the window, for render/draw.h. Pure functions.
 * SPDX-License-Identifier: MIT
 */
#include "render/draw.h"

#include <math.h>

/* Width of what is shown, in widths of a picture. */
static double pictures_across(const struct draw_settings *s) {
    return s->mode == DISPLAY_ROWS ? 2 + DRAW_ROWS_GAP : 1;
}

double draw_scale(const struct draw_settings *s, int width, int height) {
    double horizontal = s->width / (width * pictures_across(s));
    double vertical = (double)s->height / height;
    return fmin(horizontal, vertical) * s->zoom;
}

void draw_origin(const struct draw_settings *s, int width, int height, double *x, double *y) {
    double scale = draw_scale(s, width, height);
    *x = s->x + s->width / 2.0 - s->center_x * width * pictures_across(s) * scale;
    *y = s->y + s->height / 2.0 - s->center_y * height * scale;
}

void draw_pixel_to_window(const struct draw_settings *s, int width, int height, double x, double y,
                          double *window_x, double *window_y) {
    double scale = draw_scale(s, width, height);
    draw_origin(s, width, height, window_x, window_y);
    *window_x += (x + 0.5) * scale;
    *window_y += (y + 0.5) * scale;
}

bool draw_window_to_pixel(const struct draw_settings *s, int width, int height, double x, double y,
                          int *px, int *py, int *side) {
    if (x < s->x || y < s->y || x >= s->x + s->width || y >= s->y + s->height ||
        s->mode == DISPLAY_POINTS)
        return false;
    double left, top, scale = draw_scale(s, width, height);
    draw_origin(s, width, height, &left, &top);
    double column = (x - left) / scale, row = (y - top) / scale;
    *side = s->mode == DISPLAY_RIGHT;
    if (s->mode == DISPLAY_ROWS && column >= width) {
        column -= width * (1 + DRAW_ROWS_GAP);
        *side = 1;
    }
    *px = (int)floor(column);
    *py = (int)floor(row);
    return *px >= 0 && *py >= 0 && *px < width && *py < height;
}
