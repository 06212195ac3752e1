/*
 * How the viewer shows a frame: the display mode, the range of colours, zoom, pan and orbit. Main
 * thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_DISPLAY_H
#define LIVESTEREO_DISPLAY_H

#include "calibration/depth.h"
#include "render/draw.h"

/* Where the range of colours comes from. */
enum display_range { RANGE_OF_FIRST_FRAMES, RANGE_OF_SEARCH, RANGE_MANUAL };

struct display {
    struct draw *draw; /* NULL before the window is open */
    struct draw_settings settings;
    enum display_range range_from;
    double seen_min, seen_max; /* of the first frames, px */
    int seen_frames;           /* that were asked for it */
    int seen_range;            /* disparities that were searched then */
    long seen_index;           /* the last one; a pair that is computed again does not count */
};

/* The disparity, all of it. */
void display_init(struct display *display);

/* Zoom, pan and orbit back to the beginning. */
void display_reset(struct display *display);

/* Widens the range seen by the 1st to the 99th percentile of one of the first frames, which begin
 * anew when another range is searched. True when it changed. */
bool display_see_frame(struct display *display, const struct frame *frame);

/* The next frame is the first one. */
void display_forget_range(struct display *display);

/* Sets the range of colours to the disparities that the first frames had or, before them or where
 * the user wants it, to those that are searched; of DISPLAY_DEPTH to their depths by geometry. Not
 * where it was set by hand. */
void display_fit_range(struct display *display, const struct params *params,
                       const struct depth_geometry *geometry);

/* Sets it from the 2nd to the 98th percentile of what is known in the frame. False where nothing
 * is, or without memory. */
bool display_range_from_frame(struct display *display, const struct frame *frame,
                              const struct depth_geometry *geometry);

/* ---- where things are; the frame is the one shown, positions are the window's */

/* Pixels of the window for one pixel of the frame. */
double display_scale(const struct display *display, const struct frame *frame);

/* The pixel at a position and its side: 0 left, 1 right. False where none is. */
bool display_pixel_at(const struct display *display, const struct frame *frame, double x, double y,
                      int *px, int *py, int *side);

/* ---- by the mouse; dx, dy in pixels of the window */

void display_pan(struct display *display, const struct frame *frame, double dx, double dy);

/* Of DISPLAY_POINTS: turns the points, moves them. */
void display_orbit(struct display *display, double dx, double dy);
void display_shift(struct display *display, double dx, double dy);

/* What lies at x, y stays there. */
void display_zoom(struct display *display, const struct frame *frame, double steps, double x,
                  double y);

#endif
