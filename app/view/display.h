/*
 * How the viewer shows a frame: display modes, range of colours, zoom, pan and orbit, and the
 * legend of the colours. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_DISPLAY_H
#define LIVESTEREO_DISPLAY_H

#include "app/view/layout.h"
#include "calibration/depth.h"
#include "render/draw.h"
#include "render/ui.h"

enum length_unit { UNIT_M, UNIT_MM, UNIT_COUNT };
extern const char *const length_unit_names[UNIT_COUNT];

/* Where the range of colours comes from. */
enum display_range { RANGE_OF_FIRST_FRAMES, RANGE_OF_SEARCH, RANGE_MANUAL };

/* One view, two, or four. */
enum display_layout { LAYOUT_ONE, LAYOUT_STACKED, LAYOUT_BESIDE, LAYOUT_FOUR, LAYOUT_COUNT };
extern const char *const display_layout_names[LAYOUT_COUNT];

/* What a view can show, by the number of its key, 1 and up; the tenth has 0 in --view. */
struct display_choice {
    enum display_mode mode;
    const char *name, *help;
};

struct display {
    bool motion;                   /* mode=motion */
    struct draw *draw;             /* NULL before the window is open */
    struct draw_settings settings; /* of the first view; its area is that of all */
    enum display_layout layout;
    bool fits; /* two views are stacked or side by side, as the window has more room for them */
    enum display_mode more[DRAW_VIEWS - 1]; /* modes of the other views */
    enum display_range range_from;
    double seen_min, seen_max; /* of the first frames, px */
    int seen_frames;           /* number of frames that this range is from */
    int seen_range;            /* disparity_range of these frames */
    long seen_index;           /* of the last one; a pair that is computed again does not count */
};

/* Shows disparity or motion, the whole picture. */
void display_init(struct display *display, bool motion);

/* The views of stereo or of motion; *count gets their number. */
const struct display_choice *display_choices(const struct display *display, int *count);

/* The one that shows this mode; the first where none does. */
int display_choice_of(const struct display *display, enum display_mode mode);

/* The one that is shown first: disparity or motion. */
enum display_mode display_main_mode(const struct display *display);

/* Resets zoom, pan and orbit. */
void display_reset(struct display *display);

/* Extends seen_min and seen_max to the 1st and 99th percentile of one of the first frames; starts
 * again when the searched range has changed. True when they changed. */
bool display_see_frame(struct display *display, const struct frame *frame);

/* Treats the next frame as the first one. */
void display_forget_range(struct display *display);

/* Sets the range of colours to that of the first frames or, before them or where range_from says
 * so, to the searched range; with motion, to motion_color_range. Does not change RANGE_MANUAL. */
void display_fit_range(struct display *display, const struct params *params);

/* The length, in whole px, that 98 % of a frame's known motions do not exceed; 0: none is known. */
int display_motion_length(const struct frame *frame);

/* Sets the range of colours to the 2nd and 98th percentile of the frame's known values. False where
 * there are none. */
bool display_range_from_frame(struct display *display, const struct frame *frame);

/* ---- the views */

/* Changes the number of views. The mode of the single view is kept, below or beside the left
 * picture. */
void display_set_layout(struct display *display, enum display_layout layout);

/* The number of views, and how many of them are side by side. */
int display_views(const struct display *display);
int display_columns(const struct display *display);

/* The settings to draw view i with, and its mode. */
struct draw_settings display_view(const struct display *display, int i);
enum display_mode *display_mode_of(struct display *display, int i);

/* Whether any view is in this mode. */
bool display_shows(const struct display *display, enum display_mode mode);

/* Whether any view has the colours of the colour bar, or of the wheel of motion. */
bool display_has_colors(const struct display *display);
bool display_has_wheel(const struct display *display);

/* Whether any view is one of errors. */
bool display_has_error(const struct display *display);

/* The view at a position of the window; the first where none is. */
int display_view_at(const struct display *display, double x, double y);

/* ---- positions, in px of the window; the frame is the one shown */

/* Pixels of the window per pixel of the frame, in the first view. */
double display_scale(const struct display *display, const struct frame *frame);

/* Where pixel x, y of the left picture, or its point, is in the window. False where the pixel
 * has no point in the view. */
bool display_place(const struct draw_settings *view, const struct frame *frame, int x, int y,
                   double *window_x, double *window_y);

/* The pixel at a position and its side: 0 left, 1 right. False where none is. */
bool display_pixel_at(const struct display *display, const struct frame *frame, double x, double y,
                      int *px, int *py, int *side);

/* ---- changes by the mouse in view i, applied to all views. dx, dy in px of the window */

void display_pan(struct display *display, const struct frame *frame, int i, double dx, double dy);

/* Rotates and moves the points of DISPLAY_POINTS. */
void display_orbit(struct display *display, double dx, double dy);
void display_shift(struct display *display, double dx, double dy);

/* Zooms around x, y. */
void display_zoom(struct display *display, const struct frame *frame, double steps, double x,
                  double y);

/* ---- display_legend.c: what the colours mean; between ui_begin and ui_end */

/* The colour bar in its strip of the window; where a view shows depth, with lengths by geometry.
 * Where errors alone have colours they are its values, else a line above it tells their range;
 * truth: they are against it. */
void display_draw_bar(const struct display *display, const struct layout_rect *strip,
                      const struct depth_geometry *geometry, enum length_unit unit, bool truth,
                      struct ui *ui);

/* The wheel, whose middle is no motion and whose rim is the length of full colour, in its strip of
 * the window, and how much longer than the motion arrows are drawn; between ui_begin and ui_end. */
void display_draw_wheel(const struct display *display, const struct layout_rect *strip,
                        struct ui *ui);

/* What is needed for speeds. */
struct motion_speed {
    double seconds;          /* from the picture to the later one; 0: not known */
    double metres_per_pixel; /* of the pictures that are computed; 0: not known */
};

/* The motion of pixel x, y: u, v and length in px, px/s and m/s where they are known,
 * confidence. */
void display_describe_motion(const struct frame *frame, const struct motion_speed *speed, int x,
                             int y, char *text, size_t size);

#endif
