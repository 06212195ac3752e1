/*
 * The function of app/view/layout.h. SPDX-License-Identifier: MIT
 */
#include "app/view/layout.h"

#include <math.h>

#define MIN_LINES 18        /* height of the panel below the picture, and of a dock */
#define COLOR_BAR_LINES 5.5 /* width of the strip for the colour bar */
#define SEEK_BAR_LINES 2.2
#define FOLDED_LINES 3
#define BAR_LINES 42      /* width of a window that has a strip for the colour bar */
#define LEAST_PANEL 0.3   /* of the window's width */
#define DOCK_LINES 27     /* width of a dock beside the panel */
#define LOW_DOCK_LINES 24 /* height of one below it */
#define HIGH_LINES 56     /* and of a window that has one */
#define MOST_COLUMNS 3

static int at_least(int min, double value) {
    return value > min ? (int)value : min;
}

/* Window pixels for one of the picture's, in an area of this size. */
static double fit(const struct layout_input *in, double width, double height) {
    return fmin(width / in->picture_width, height / in->picture_height);
}

/* The panel beside the picture, over the window's whole height. */
static struct layout beside(const struct layout_input *in) {
    int seek = in->seek_bar ? (int)(SEEK_BAR_LINES * in->line) : 0;
    bool bar = in->color_bar && in->width >= BAR_LINES * in->line;
    int strip = bar ? (int)(COLOR_BAR_LINES * in->line) : 0;
    double half = ceil(0.5 * in->width * in->height / at_least(1, in->height - seek));
    double most = fmax(in->width - strip - half, LEAST_PANEL * in->width);
    int panel = in->panel ? (int)fmin(in->panel_lines * in->line, most) : 0;
    if (in->panel && in->folded)
        panel = (int)(FOLDED_LINES * in->line);
    int left = in->width - panel, height = at_least(1, in->height - seek);
    struct layout l = {.picture = {0, 0, at_least(1, left - strip), height},
                       .color_bar = {left - strip, 0, strip, height},
                       .panel = {left, 0, panel, in->height},
                       .columns = 1,
                       .seek_bar = {0, height, left, seek}};
    double used = in->picture_height * fit(in, l.picture.width, height);
    l.docked = in->overlays && height - used >= MIN_LINES * in->line;
    if (in->tight)
        l.picture.height = at_least(1, fmin(height, ceil(used)));
    l.dock = l.picture;
    if (l.docked) {
        l.picture.height = at_least(1, ceil(used));
        l.dock =
            (struct layout_rect){0, l.picture.height, l.picture.width, height - l.picture.height};
    }
    if (in->overlays && !l.docked && panel > 0 && !in->folded &&
        in->height >= HIGH_LINES * in->line) {
        int dock = (int)(LOW_DOCK_LINES * in->line);
        l.docked = true;
        l.panel.height = in->height - dock;
        l.dock = (struct layout_rect){left, l.panel.height, panel, dock};
    }
    if (l.color_bar.height > l.picture.height) /* beside the picture, where that is high enough */
        l.color_bar.height = at_least(l.picture.height, fmin(height, MIN_LINES * in->line));
    return l;
}

/* How many columns fit. */
static int columns_in(double width, double column) {
    return (int)fmax(1, fmin(MOST_COLUMNS, floor(width / column)));
}

/* The panel below the picture in columns, over the whole width or, with a dock, in fewer ones. */
static struct layout below(const struct layout_input *in) {
    int seek = in->seek_bar ? (int)(SEEK_BAR_LINES * in->line) : 0;
    int strip = in->color_bar ? (int)(COLOR_BAR_LINES * in->line) : 0;
    int all = in->width - strip, columns = columns_in(all, in->panel_lines * in->line);
    int column = all / columns, panel = all;
    if (in->overlays) {
        columns = columns_in(all - DOCK_LINES * in->line, column);
        panel = (int)fmin(columns * column, all - DOCK_LINES * in->line);
    }
    double room = in->height - seek - MIN_LINES * in->line;
    int picture = at_least(1, ceil(in->picture_height * fit(in, in->width, room)));
    int top = picture + seek, rest = at_least(1, in->height - top);
    return (struct layout){.picture = {0, 0, in->width, picture},
                           .seek_bar = {0, picture, in->width, seek},
                           .color_bar = {0, top, strip, rest},
                           .panel = {strip, top, panel, rest},
                           .dock = {strip + panel, top, all - panel, rest},
                           .columns = columns,
                           .docked = in->overlays};
}

struct layout layout_window(const struct layout_input *in) {
    struct layout right = beside(in);
    double room = in->height - SEEK_BAR_LINES * in->line - MIN_LINES * in->line;
    if (!in->panel || in->folded || room < 1 || in->width < 2 * PANEL_LINES * in->line ||
        fit(in, in->width, room) <=
            LAYOUT_CLEARLY * fit(in, right.picture.width, right.picture.height))
        return right;
    return below(in);
}
