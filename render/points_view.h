/*
 * Where the points of a frame are in a view of DISPLAY_POINTS. Pure functions.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "render/draw.h"

#include <cglm/cglm.h>

struct points_view {
    mat4 transform; /* from the camera's axes (x right, y down, z forward) to the clip space */
    struct draw_rig rig;
    float middle, cut; /* depths: of the range of colours; the farthest that is drawn */
    float cell;        /* side of the grid's cells: 1, 2 or 5 times a power of ten */
    float size;        /* of a pixel at distance 1, in pixels of the window */
};

/* Gives the view of pictures of width x height. */
void points_view_of(const struct draw_settings *settings, int width, int height,
                    struct points_view *view);

/* Where pixel x, y of the left picture is in the window; false where it has no point in the
 * view. */
bool points_view_find(const struct draw_settings *settings, const struct frame *frame, int x, int y,
                      double *window_x, double *window_y);

/* Sets distance and shift so that the points fill the view from where they are seen: 1.8 standard
 * deviations around their mean do, which is all of a surface of one depth seen from the front. */
void points_view_fit(struct draw_settings *settings, const struct frame *frame);

/* The pixel whose point is drawn at a place of the window, at this depth there, 0 to 1. */
void points_view_pixel(const struct draw_settings *settings, int width, int height, double window_x,
                       double window_y, double depth, int *x, int *y);
