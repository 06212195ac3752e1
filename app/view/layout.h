/*
 * The layout of the window: a bar above, one line of status below, between them the views, each
 * under a heading, the panel beside or below them, and the seek bar. Pure functions.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>

#define LAYOUT_CLEARLY 1.1 /* so much larger pictures must become for a panel below them */
#define LAYOUT_HEADING 28  /* height of a view's heading at scale 1, px */
#define LAYOUT_GAP 2       /* between views, px */

struct layout_rect {
    int x, y, width, height; /* px of the window, from its top left */
};

struct layout_input {
    int width, height;                    /* of the window */
    double scale;                         /* of text */
    bool bars, panel, seek_bar;           /* bars: above and below, and headings */
    bool filled;                          /* the views take all the place there is */
    int rows;                             /* of views, each under headings */
    double picture_width, picture_height; /* of all views together, px of the picture */
};

struct layout {
    struct layout_rect top, views, panel, seek_bar, status;
    int columns;  /* of the panel */
    bool narrow;  /* the panel lies over the views */
    double scale; /* pixels of the window for one of the picture's */
};

/* The panel is beside the views, or below them in three columns where that makes the pictures
 * clearly larger; in a narrow window it lies over the views. */
struct layout layout_window(const struct layout_input *input);
