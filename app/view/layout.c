/*
 * The functions of app/view/layout.h. SPDX-License-Identifier: MIT
 */
#include "app/view/layout.h"

#include <math.h>

/* At scale 1, px. */
enum { TOP = 40, STATUS = 26, SEEK_BAR = 40, LOW_PANEL = 152, NARROW = 720 };

static double panel_width(const struct layout_input *in) {
    double width = in->width / in->scale;
    return in->scale * (280 + 40 * (width >= 1600) + 40 * (width >= 3000));
}

/* The views in an area from x, y on, and the seek bar below them. */
static void place_views(const struct layout_input *in, struct layout *l, int width, int height) {
    int seek = in->seek_bar ? (int)(SEEK_BAR * in->scale) : 0, top = l->top.height;
    double headings = in->bars ? in->rows * round(LAYOUT_HEADING * in->scale) : 0;
    headings += (in->rows - 1) * LAYOUT_GAP;
    double room = (int)fmax(1, height - seek - headings);
    l->scale = fmin(width / in->picture_width, room / in->picture_height);
    double used =
        in->filled ? room : fmin(room, in->rows * ceil(in->picture_height / in->rows * l->scale));
    l->views = (struct layout_rect){0, top, width, (int)fmax(1, used + headings)};
    l->seek_bar = (struct layout_rect){0, top + height - seek, width, seek};
}

struct layout layout_window(const struct layout_input *in) {
    int top = in->bars ? (int)(TOP * in->scale) : 0;
    int status = in->bars ? (int)(STATUS * in->scale) : 0;
    int height = (int)fmax(1, in->height - top - status), low = (int)(LOW_PANEL * in->scale);
    bool narrow = in->width < NARROW * in->scale;
    struct layout l = {.narrow = narrow,
                       .top = {0, 0, in->width, top},
                       .status = {0, in->height - status, in->width, status},
                       .columns = 1};
    int panel = in->panel ? (int)fmin(panel_width(in), in->width) : 0;
    l.panel = (struct layout_rect){in->width - panel, top, panel, height};
    place_views(in, &l, narrow ? in->width : in->width - panel, height);
    if (!in->panel || narrow || height < 3 * low)
        return l;
    struct layout below = l;
    place_views(in, &below, in->width, height - low);
    if (below.scale <= LAYOUT_CLEARLY * l.scale)
        return l;
    below.panel = (struct layout_rect){0, top + height - low, in->width, low};
    below.columns = 3;
    return below;
}
