/*
 * Where the pixels of a picture are in the window. SPDX-License-Identifier: MIT
 */
#include "render/draw.h"

#include <math.h>

static double picture_share(const struct draw_settings *settings) {
    return settings->view == DRAW_ROWS ? 2 + DRAW_ROWS_GAP : 1;
}

double draw_scale(const struct draw_settings *settings, int width, int height) {
    double wide = settings->width / (width * picture_share(settings));
    double high = (double)settings->height / height;
    return fmin(wide, high) * settings->zoom;
}

void draw_origin(const struct draw_settings *settings, int width, int height, double *x,
                 double *y) {
    double scale = draw_scale(settings, width, height);
    *x = settings->x + settings->width / 2.0 -
         settings->center_x * width * picture_share(settings) * scale;
    *y = settings->y + settings->height / 2.0 - settings->center_y * height * scale;
}

void draw_place(const struct draw_settings *settings, int width, int height, double x, double y,
                double *at_x, double *at_y) {
    double scale = draw_scale(settings, width, height);
    draw_origin(settings, width, height, at_x, at_y);
    *at_x += (x + 0.5) * scale;
    *at_y += (y + 0.5) * scale;
}

bool draw_pick(const struct draw_settings *settings, int width, int height, double x, double y,
               int *px, int *py, int *side) {
    if (x < settings->x || y < settings->y || x >= settings->x + settings->width ||
        y >= settings->y + settings->height || settings->view == DRAW_POINTS)
        return false;
    double left, top, scale = draw_scale(settings, width, height);
    draw_origin(settings, width, height, &left, &top);
    double column = (x - left) / scale, row = (y - top) / scale;
    *side = settings->view == DRAW_RIGHT;
    if (settings->view == DRAW_ROWS && column >= width) {
        column -= width * (1 + DRAW_ROWS_GAP);
        *side = 1;
    }
    *px = (int)floor(column);
    *py = (int)floor(row);
    return *px >= 0 && *py >= 0 && *px < width && *py < height;
}
