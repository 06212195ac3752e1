/*
 * Draws a frame with OpenGL, in one of the display modes. Main thread, with the window's context.
 * The maps that a mode shows are copied to textures when a frame is drawn for the first time; it
 * stays the caller's and is not kept.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

#include <stdbool.h>
#include <stddef.h>

/* The display modes: enum display_mode, display_mode_names, the definitions that select a mode in
 * shaders/image.frag, and the textures of draw.c with what it shows of a frame. */
#define DISPLAY_MODES(MODE)                                                                        \
    MODE(LEFT, "left", BIT(LEFT))                                                                  \
    MODE(RIGHT, "right", BIT(RIGHT))                                                               \
    MODE(DISPARITY, "disparity",                                                                   \
         BIT(DISPARITY) | BIT(CONFIDENCE) | BIT(FILLED) | BIT(OTHER) | BIT(OTHER_CONFIDENCE))      \
    MODE(DEPTH, "depth",                                                                           \
         BIT(DISPARITY) | BIT(CONFIDENCE) | BIT(FILLED) | BIT(OTHER) | BIT(OTHER_CONFIDENCE))      \
    MODE(CONFIDENCE, "confidence", BIT(CONFIDENCE))                                                \
    MODE(BLEND, "blend", BIT(LEFT) | BIT(DISPARITY) | BIT(CONFIDENCE) | BIT(FILLED))               \
    MODE(ANAGLYPH, "anaglyph", BIT(LEFT) | BIT(RIGHT))                                             \
    MODE(ROWS, "rows", BIT(LEFT) | BIT(RIGHT))                                                     \
    MODE(MOTION, "motion", BIT(DISPARITY) | BIT(MOTION_V))                                         \
    MODE(ARROWS, "arrows", BIT(LEFT))                                                              \
    MODE(MOTION_BLEND, "overlay", BIT(LEFT) | BIT(DISPARITY) | BIT(MOTION_V))                      \
    MODE(MOTION_ERROR, "error",                                                                    \
         BIT(LEFT) | BIT(RIGHT) | BIT(DISPARITY) | BIT(MOTION_V) | BIT(TRUTH_U) | BIT(TRUTH_V))    \
    MODE(ERROR, "error", BIT(LEFT) | BIT(RIGHT) | BIT(DISPARITY) | BIT(CONFIDENCE) | BIT(TRUTH_U)) \
    MODE(POINTS, "points", BIT(LEFT) | BIT(DISPARITY) | BIT(CONFIDENCE))
#define DISPLAY_MODE_ENUM(id, name, textures) DISPLAY_##id,
enum display_mode { DISPLAY_MODES(DISPLAY_MODE_ENUM) DISPLAY_MODE_COUNT };
extern const char *const display_mode_names[DISPLAY_MODE_COUNT];

/* Those of motion: its colours (image/flow.h); arrows every 16 px on the picture, as long as 16 px
 * of it where the motion is as long as the range; the colours over the picture. Errors: how far a
 * map is off the truth, up to DRAW_ERROR_PX, or without a truth how far the grey levels differ, up
 * to DRAW_ERROR_LEVELS, of a pixel and of where its disparity or motion leads. */

enum { DRAW_ERROR_PX = 4, DRAW_ERROR_LEVELS = 64 }; /* as in shaders/image.frag */

#define DRAW_ARROW_PX 16   /* between arrows, and their length at the range, px of the picture */
#define DRAW_ROWS_GAP 0.01 /* between the two pictures of DISPLAY_ROWS, in widths of a picture */

/* How disparities become metres: Z = focal * baseline / (disparity + offset). focal is 0 where it
 * is not known. */
struct draw_rig {
    double focal_px, baseline_m, offset_px, center_x, center_y;
    double farthest_m; /* points beyond are not drawn; 0: all are */
};

/* Fields that change the picture stand before `held`, in order of alignment, so that two are
 * compared as bytes. */
struct draw_settings {
    double min, max;       /* range of colours, px; linear in disparity, so in inverse depth too; of
                              motion max is the length of full colour */
    double blend;          /* weight of the colours in DISPLAY_BLEND, 0..1 */
    double confidence_max; /* the confidence that is white, up to 255 */
    double wipe;           /* column from which DISPLAY_DISPARITY and _DEPTH show `other` */
    double zoom;           /* 1: all of the picture fits */
    double center_x;       /* point of the picture in the middle of the area, 0..1 of its width */
    double center_y;       /* and of its height */
    double yaw, pitch;     /* of the points, radians */
    double distance;       /* of the viewpoint from the middle of the points, 1: as the camera's */
    double shift_x, shift_y; /* of the points, in widths and heights of the area */
    const int16_t *other;    /* another method's disparities of the frame, as large; NULL: none */
    const uint8_t
        *other_confidence; /* those below other_matched_from are hatched; NULL and 0: none */
    int other_matched_from;
    enum display_mode mode;
    int colormap;   /* row of the table given to draw_open */
    int hide_below; /* disparities of less confidence look unknown */
    enum { POINTS_PICTURE, POINTS_DEPTH, POINTS_HEIGHT, POINTS_CONFIDENCE } points_color;
    int point_size;      /* 1 to 4; 0: a surface, neighbours are joined but over jumps */
    int width, height;   /* of the area of the window */
    unsigned background; /* 0xRRGGBB, around pictures and points */
    bool hatched;        /* regions of disparities that were filled in */
    bool row_lines;
    bool all_points; /* else a slow renderer draws fewer until the view is at rest */
    bool held;       /* by the mouse, which may go on to turn it: it is not at rest */
    struct draw_rig rig;
    int x, y; /* of the area, from its top left */
    int window_height;
};
#define DRAW_SEEN_BYTES offsetof(struct draw_settings, held)

struct draw;

/* tables: count colour maps of 256 RGB colours. NULL after a log line. */
struct draw *draw_open(const uint8_t (*tables)[256][3], int count);
void draw_close(struct draw **draw);

#define DRAW_VIEWS 4

/* Draws a frame in count views, each in its own area; NULL: the background of the first alone.
 * number tells frames apart: what was uploaded under the same number is not uploaded again. Returns
 * true when another call would draw more points. */
bool draw_frame(struct draw *draw, const struct draw_settings *views, int count,
                const struct frame *frame, long number);

/* Draws a frame in count views into a picture of width x height that is no part of the window, and
 * leaves it bound, so that more can be drawn over it and window_read_area reads it. */
void draw_film(struct draw *draw, const struct draw_settings *views, int count, int width,
               int height, const struct frame *frame, long number);

/* The pixel of the picture whose point is seen at a place of the window in this view, as it was
 * drawn last; false where none is. */
bool draw_pick(const struct draw *draw, int view, double x, double y, int *px, int *py);

/* Every how many'th row and column of points the first view was drawn with; 1: all of them. */
int draw_points_step(const struct draw *draw);

/* ---- draw_geometry.c: where the pixels of a picture of width x height are in the window */

/* Pixels of the window for one pixel of the picture. */
double draw_scale(const struct draw_settings *settings, int width, int height);

/* The top left corner of the left picture in the window. */
void draw_origin(const struct draw_settings *settings, int width, int height, double *x, double *y);

/* The pixel under a point of the window, in the left (*side 0) or right (1) picture; false outside
 * of both. */
bool draw_window_to_pixel(const struct draw_settings *settings, int width, int height, double x,
                          double y, int *px, int *py, int *side);

/* The middle of pixel x, y of the left picture in the window. */
void draw_pixel_to_window(const struct draw_settings *settings, int width, int height, double x,
                          double y, double *window_x, double *window_y);
