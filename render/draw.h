/*
 * Draws a frame with OpenGL: the views of the pictures and maps, and the points in space. Main
 * thread, with the window's context. What a view shows of a frame is copied to textures when it is
 * drawn for the first time; the frame is not kept.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_DRAW_H
#define LIVESTEREO_DRAW_H

#include "capture/frame.h"

#include <stdbool.h>

enum draw_view {
    DRAW_LEFT,
    DRAW_RIGHT,
    DRAW_DISPARITY,
    DRAW_DEPTH,
    DRAW_CONFIDENCE,
    DRAW_BLEND,
    DRAW_ANAGLYPH,
    DRAW_ROWS,
    DRAW_POINTS,
    DRAW_VIEWS
};

#define DRAW_ROWS_GAP 0.01 /* between the pictures of DRAW_ROWS, share of their width */

/* How disparities become metres: Z = focal * baseline / (disparity + offset). focal 0: not
 * known. */
struct draw_rig {
    double focal_px, baseline_m, offset_px, center_x, center_y;
};

struct draw_settings {
    enum draw_view view;
    int colormap;       /* row of the table given to draw_open */
    double least, most; /* range of colours in px; in the depth view near and far in metres */
    double blend;       /* share of colour in DRAW_BLEND, 0..1 */
    bool rows;          /* row lines also in the other pictures */
    bool no_rows;       /* none in DRAW_ROWS, whose pictures are not rectified */
    double zoom;        /* 1: all of the picture fits */
    double center_x,
        center_y;            /* what stands in the middle of the area, shares of the picture 0..1 */
    double yaw, pitch;       /* of the points, radians */
    double distance;         /* from the middle of the points, 1 as the camera saw them */
    double shift_x, shift_y; /* of the points, shares of the area */
    bool all_points;         /* else, on slow renderers, as many as keep the window moving */
    struct draw_rig rig;
    int x, y, width, height; /* area of the window, from its top left */
    int window_height;
};

struct draw;

/* tables: count colour maps of 256 RGB. NULL after a log line. */
struct draw *draw_open(const uint8_t (*tables)[256][3], int count);
void draw_close(struct draw **draw);

/* Draws a frame (NULL: there is none yet). number tells frames apart: what was copied to textures
 * under the number of before is not copied again. True when drawing again would show more. */
bool draw_frame(struct draw *draw, const struct draw_settings *settings, const struct frame *frame,
                long number);

/* The window's place of column 0, row 0. */
void draw_origin(const struct draw_settings *settings, int width, int height, double *x, double *y);

/* The pixel of the left (*side 0) or right (1) picture at a place of the window; false outside. */
bool draw_pick(const struct draw_settings *settings, int width, int height, double x, double y,
               int *px, int *py, int *side);

/* The place in the window of the middle of pixel x, y of the left picture. */
void draw_place(const struct draw_settings *settings, int width, int height, double x, double y,
                double *at_x, double *at_y);

/* Pixels of the window for one pixel of the picture. */
double draw_scale(const struct draw_settings *settings, int width, int height);

#endif
