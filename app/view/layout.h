/*
 * The layout of the window: the picture (one view or several), the colour bar, the panel, the seek
 * bar, and the dock, a place beside the picture for panels with statistics. Pure functions.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_LAYOUT_H
#define LIVESTEREO_LAYOUT_H

#include <stdbool.h>

/* Width of the panel, in lines of text: by itself, and as far as the user may change it. */
#define PANEL_LINES 27
#define PANEL_LEAST_LINES 12
#define PANEL_MOST_LINES 60

#define LAYOUT_CLEARLY 1.1 /* so much larger pictures must become for a panel below them */

struct layout_rect {
    int x, y, width, height; /* px of the window, from its top left */
};

struct layout_input {
    int width, height; /* of the window */
    double line;       /* height of a line of text, px */
    bool panel, seek_bar, color_bar;
    bool folded;                          /* a strip is left of the panel */
    double panel_lines;                   /* the panel's width, in lines of text */
    bool overlays;                        /* the dock is needed */
    bool tight;                           /* the picture gets no empty space above and below */
    double picture_width, picture_height; /* of all views together, px of the picture */
};

struct layout {
    struct layout_rect picture, color_bar, panel, seek_bar, dock;
    int columns; /* of the panel */
    bool docked; /* the dock does not overlap the picture */
};

/* The panel is to the right of the picture, to which it leaves half of the window where it can, or
 * below it, in as many columns as there is room for, where that makes the picture clearly larger.
 * The dock is below the picture, to the right of the panel there, or else below the panel; what
 * stands left of it stays where it is without it. A narrow window has no colour bar. */
struct layout layout_window(const struct layout_input *input);

#endif
