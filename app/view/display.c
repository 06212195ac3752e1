/*
 * The functions of app/view/display.h. SPDX-License-Identifier: MIT
 */
#include "app/view/display.h"

#include "app/save/visualize.h"
#include "base/quantile.h"
#include "config/params.h"
#include "render/points_view.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MOTION_CONFIDENCE 64 /* that is white; it has no fixed end */
#define FIRST_YAW 0.25       /* radians: points are seen slightly from the side and from above */
#define FIRST_PITCH 0.35
#define SAMPLES 10000 /* pixels of which a range of colours is made */
#define ZOOM_STEP 1.2
#define MIN_ZOOM 0.1
#define MAX_ZOOM 100.0

static const struct display_choice stereo_choices[] = {
    {DISPLAY_LEFT, "1", "Left picture", "left picture"},
    {DISPLAY_RIGHT, "2", "Right picture", "right picture"},
    {DISPLAY_DISPARITY, "3", "Disparity", "disparity"},
    {DISPLAY_DEPTH, "4", "Depth", "depth in metres"},
    {DISPLAY_CONFIDENCE, "5", "Confidence", "confidence"},
    {DISPLAY_BLEND, "6", "Blend", "left picture and disparity"},
    {DISPLAY_ANAGLYPH, "7", "Anaglyph", "anaglyph, for red and cyan glasses"},
    {DISPLAY_ROWS, "8", "Rows", "side by side with row lines"},
    {DISPLAY_POINTS, "9", "3D", "in space; left drag turns, right drag moves, the wheel nears"},
    {DISPLAY_ERROR, "E0", "Error", "error by the truth, or grey levels that differ"},
    {0}};
static const struct display_choice motion_choices[] = {
    {DISPLAY_LEFT, "1", "Picture", "picture"},
    {DISPLAY_RIGHT, "2", "Later picture", "the picture that motion leads to"},
    {DISPLAY_MOTION, "3", "Motion", "motion in colour"},
    {DISPLAY_ARROWS, "4", "Arrows", "motion as arrows"},
    {DISPLAY_CONFIDENCE, "5", "Confidence", "confidence"},
    {DISPLAY_MOTION_BLEND, "6", "Overlay", "motion in colour over the picture"},
    {DISPLAY_MOTION_ERROR, "E7", "Error", "error of the motion, or grey levels that differ"},
    {0}};

const struct display_choice *display_choices(const struct display *d) {
    return d->motion ? motion_choices : stereo_choices;
}

const struct display_choice *display_choice_of(const struct display *d, enum display_mode mode) {
    const struct display_choice *choice = display_choices(d);
    while (choice->mode != mode && choice[1].title)
        choice++;
    return choice;
}

const struct display_choice *display_choice_of_key(const struct display *d, char key) {
    const struct display_choice *choice = display_choices(d);
    while (choice->title && !strchr(choice->keys, key))
        choice++;
    return choice->title ? choice : NULL;
}

/* The one that is shown first: disparity or motion. */
static enum display_mode display_main_mode(const struct display *d) {
    return d->motion ? DISPLAY_MOTION : DISPLAY_DISPARITY;
}

void display_init(struct display *d, bool motion) {
    *d = (struct display){.motion = motion, .settings.blend = 0.5};
    d->settings.confidence_max = motion ? MOTION_CONFIDENCE : 255;
    d->settings.mode = d->more[0] = display_main_mode(d);
    d->more[1] = motion ? DISPLAY_ARROWS : DISPLAY_RIGHT;
    d->more[2] = DISPLAY_CONFIDENCE;
    display_reset(d);
}

void display_reset(struct display *d) {
    struct draw_settings *s = &d->settings;
    s->zoom = 1;
    s->center_x = s->center_y = 0.5;
    display_look(d, LOOK_FIRST);
}

void display_fit_range(struct display *d, const struct params *params) {
    if (d->motion) {
        d->range[0] = 0;
        d->range[1] = visualize_motion_range(params);
    } else if (d->range_from == RANGE_OPEN || d->range_from == RANGE_OF_SEARCH) {
        d->range[0] = params->min_disparity;
        d->range[1] = params->min_disparity + params->disparity_range;
    }
}

/* Disparities or lengths of motions of known pixels, px, of at most SAMPLES. How many. */
static int take_samples(const struct frame *frame, double px[SAMPLES]) {
    size_t count = (size_t)frame->rect_left.width * (size_t)frame->rect_left.height;
    bool motion = frame->params->mode == MODE_MOTION;
    const int16_t *map = motion ? frame->motion : frame->disparity;
    int known = 0;
    for (size_t i = 0; i < count; i += 1 + count / SAMPLES)
        if (map[i] != DISPARITY_UNKNOWN)
            px[known++] = (motion ? hypot(map[i], map[i + count]) : map[i]) / DISPARITY_ONE;
    return known;
}

int display_motion_length(const struct frame *frame) {
    double px[SAMPLES];
    int known = take_samples(frame, px);
    return known > 0 ? (int)fmax(1, ceil(quantile_of(px, known, 0.98))) : 0;
}

bool display_range_from_frame(struct display *d, const struct frame *frame, double scale) {
    double px[SAMPLES];
    int known = take_samples(frame, px);
    if (known == 0)
        return false;
    d->range[0] = floor(quantile_of(px, known, 0.02) / scale);
    d->range[1] = fmax(ceil(quantile_of(px, known, 0.98) / scale), d->range[0] + 1);
    d->range_from = RANGE_FITTED;
    return true;
}

/* ---- the views */

const char *const display_layout_names[LAYOUT_COUNT] = {"One view", "Two, stacked",
                                                        "Two, side by side", "Four views"};

void display_set_layout(struct display *d, enum display_layout layout) {
    struct draw_settings *s = &d->settings;
    if (d->layout == LAYOUT_ONE && layout != LAYOUT_ONE) {
        d->more[0] = s->mode == DISPLAY_LEFT ? display_main_mode(d) : s->mode;
        s->mode = DISPLAY_LEFT;
    } else if (d->layout != LAYOUT_ONE && layout == LAYOUT_ONE) {
        s->mode = d->more[0];
    }
    d->layout = layout;
    d->fits = false;
}

int display_views(const struct display *d) {
    static const int views[LAYOUT_COUNT] = {1, 2, 2, 4};
    return views[d->layout];
}

int display_columns(const struct display *d) {
    return d->layout == LAYOUT_BESIDE || d->layout == LAYOUT_FOUR ? 2 : 1;
}

enum display_mode *display_mode_of(struct display *d, int i) {
    return i == 0 ? &d->settings.mode : &d->more[i - 1];
}

struct draw_settings display_view(const struct display *d, int i) {
    struct draw_settings s = d->settings;
    int columns = display_columns(d), rows = display_views(d) / columns;
    int column = i % columns, row = i / columns;
    if (i > 0)
        s.mode = d->more[i - 1];
    s.x += column * (s.width + LAYOUT_GAP) / columns;
    s.y += row * (s.height + LAYOUT_GAP) / rows;
    s.width = (s.width - (columns - 1) * LAYOUT_GAP) / columns;
    s.height = (s.height - (rows - 1) * LAYOUT_GAP) / rows - d->heading;
    s.y += d->heading;
    return s;
}

bool display_shows(const struct display *d, enum display_mode mode) {
    for (int i = 0; i < display_views(d); i++)
        if (display_view(d, i).mode == mode)
            return true;
    return false;
}

int display_view_at(const struct display *d, double x, double y) {
    for (int i = 0; i < display_views(d); i++) {
        struct draw_settings s = display_view(d, i);
        if (x >= s.x && y >= s.y && x < s.x + s.width && y < s.y + s.height)
            return i;
    }
    return 0;
}

/* ---- where things are */

bool display_place(const struct draw_settings *view, const struct frame *frame, int x, int y,
                   double *window_x, double *window_y) {
    if (view->mode == DISPLAY_POINTS)
        return points_view_find(view, frame, x, y, window_x, window_y);
    draw_pixel_to_window(view, frame->rect_left.width, frame->rect_left.height, x, y, window_x,
                         window_y);
    return true;
}

const char *const length_unit_names[UNIT_COUNT] = {[UNIT_M] = "m", [UNIT_MM] = "mm"};

/* ---- by the mouse */

void display_pan(struct display *d, const struct frame *frame, int i, double dx, double dy) {
    struct draw_settings *s = &d->settings, view = display_view(d, i);
    double scale = draw_scale(&view, frame->rect_left.width, frame->rect_left.height);
    int pictures = view.mode == DISPLAY_ROWS ? 2 : 1;
    s->center_x = CLAMP(s->center_x - dx / (scale * frame->rect_left.width * pictures), 0, 1);
    s->center_y = CLAMP(s->center_y - dy / (scale * frame->rect_left.height), 0, 1);
}

void display_look(struct display *d, enum display_look look) {
    static const struct {
        double yaw, pitch, distance, shift_y; /* from above, what is near lies below */
    } looks[] = {[LOOK_CAMERA] = {0, 0, 1, 0},
                 [LOOK_TOP] = {0, 1.5, 4, 0.3},
                 [LOOK_SIDE] = {1.5, 0, 1.5, 0},
                 [LOOK_FIRST] = {FIRST_YAW, FIRST_PITCH, 1, 0}};
    struct draw_settings *s = &d->settings;
    d->look = look;
    s->yaw = looks[look].yaw;
    s->pitch = looks[look].pitch;
    s->distance = looks[look].distance;
    s->shift_x = 0;
    s->shift_y = looks[look].shift_y;
}

void display_zoom(struct display *d, const struct frame *frame, double steps, double x, double y) {
    struct draw_settings *s = &d->settings;
    int i = display_view_at(d, x, y);
    struct draw_settings view = display_view(d, i);
    double factor = pow(ZOOM_STEP, steps), before = s->zoom;
    if (view.mode == DISPLAY_POINTS) {
        s->distance = CLAMP(s->distance / factor, 0.05, 20);
        return;
    }
    s->zoom = CLAMP(s->zoom * factor, MIN_ZOOM, MAX_ZOOM);
    factor = s->zoom / before;
    double from_x = x - (view.x + view.width / 2.0), from_y = y - (view.y + view.height / 2.0);
    display_pan(d, frame, i, -from_x * (factor - 1), -from_y * (factor - 1));
}
