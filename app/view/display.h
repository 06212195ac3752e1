/*
 * How the viewer shows a frame: display modes, range of colours, zoom, pan and orbit, and the
 * legend of the colours. Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/view/layout.h"
#include "calibration/depth.h"
#include "render/draw.h"
#include "render/ui.h"

enum length_unit { UNIT_M, UNIT_MM, UNIT_COUNT };
extern const char *const length_unit_names[UNIT_COUNT];

/* Where the range of colours comes from: a map that is still to come, one that came, all that is
 * searched, the user. */
enum display_range { RANGE_OPEN, RANGE_FITTED, RANGE_OF_SEARCH, RANGE_MANUAL };

/* One view, two, or four. */
enum display_layout { LAYOUT_ONE, LAYOUT_STACKED, LAYOUT_BESIDE, LAYOUT_FOUR, LAYOUT_COUNT };
extern const char *const display_layout_names[LAYOUT_COUNT];

/* A view can show this. Each key has it, in the window or in --view. */
struct display_choice {
    enum display_mode mode;
    const char *keys, *title, *help;
};

struct display {
    bool motion;                   /* mode=motion */
    struct draw *draw;             /* NULL before the window is open */
    struct draw_settings settings; /* of the first view; its area is that of all */
    enum display_layout layout;
    bool fits; /* two views are stacked or side by side, as the window has more room for them */
    enum display_mode more[DRAW_VIEWS - 1]; /* modes of the other views */
    enum display_range range_from;
    double range[2]; /* of the colours: farthest and nearest, px of whole pictures; of motion 0 and
                        the length of full colour, px of the computed ones */
    int heading;     /* height of what stands over each view, px */
    enum display_look { LOOK_CAMERA, LOOK_TOP, LOOK_SIDE, LOOK_FIRST } look; /* of the points */
    struct {
        enum display_layout layout;
        enum display_mode mode, more;
        bool fits;
    } before; /* the points were shown alone */
};

/* Shows disparity or motion, the whole picture. */
void display_init(struct display *display, bool motion);

/* The views of stereo or of motion; the last one has no title. */
const struct display_choice *display_choices(const struct display *display);

/* The one that shows this mode, which must be among them; the one of a key, or NULL. */
const struct display_choice *display_choice_of(const struct display *display,
                                               enum display_mode mode);
const struct display_choice *display_choice_of_key(const struct display *display, char key);

/* Resets zoom, pan and orbit. */
void display_reset(struct display *display);

/* Sets the range of colours to the searched range, unless a map or the user has set it; with
 * motion, to motion_color_range. */
void display_fit_range(struct display *display, const struct params *params);

/* The length, in whole px, that 98 % of a frame's known motions do not exceed; 0: none is known. */
int display_motion_length(const struct frame *frame);

/* Sets the range of colours to whole px around the 2nd and 98th percentile of the known values of a
 * frame that was computed at this scale. False where there are none. */
bool display_range_from_frame(struct display *display, const struct frame *frame, double scale);

/* ---- the views */

/* Changes the number of views. The mode of the single view is kept, below or beside the left
 * picture. */
void display_set_layout(struct display *display, enum display_layout layout);

/* The number of views, and how many of them are side by side. */
int display_views(const struct display *display);
int display_columns(const struct display *display);

/* The settings to draw view i with, and its mode; its heading is above it. */
struct draw_settings display_view(const struct display *display, int i);
enum display_mode *display_mode_of(struct display *display, int i);

/* Whether any view is in this mode. */
bool display_shows(const struct display *display, enum display_mode mode);

/* The view at a position of the window; the first where none is. */
int display_view_at(const struct display *display, double x, double y);

/* ---- positions, in px of the window; the frame is the one shown */

/* Where pixel x, y of the left picture, or its point, is in the window. False where the pixel
 * has no point in the view. */
bool display_place(const struct draw_settings *view, const struct frame *frame, int x, int y,
                   double *window_x, double *window_y);

/* ---- changes by the mouse in view i, applied to all views. dx, dy in px of the window */

void display_pan(struct display *display, const struct frame *frame, int i, double dx, double dy);

/* Sees the points as the camera does, from above, from the side, or slightly from above. */
void display_look(struct display *display, enum display_look look);

/* Zooms around x, y. */
void display_zoom(struct display *display, const struct frame *frame, double steps, double x,
                  double y);
