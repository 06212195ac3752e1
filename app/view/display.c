/*
 * The functions of app/view/display.h. SPDX-License-Identifier: MIT
 */
#include "app/view/display.h"

#include <math.h>
#include <string.h>

#define ZOOM_STEP 1.2
#define MIN_ZOOM 0.1
#define MAX_ZOOM 100.0
#define DEPTH_RANGE 8 /* DISPLAY_DEPTH ends at so many times the nearest depth, without offset */

static double clamp(double value, double min, double max) {
    return fmin(max, fmax(min, value));
}

void display_init(struct display *d) {
    *d = (struct display){.settings = {.mode = DISPLAY_DISPARITY, .blend = 0.5}};
    display_reset(d);
}

void display_reset(struct display *d) {
    struct draw_settings *s = &d->settings;
    s->zoom = s->distance = 1;
    s->center_x = s->center_y = 0.5;
    s->yaw = s->pitch = s->shift_x = s->shift_y = 0;
}

#define FIRST_FRAMES 5

void display_fit_range(struct display *d, const struct params *params,
                       const struct depth_geometry *geometry) {
    struct draw_settings *s = &d->settings;
    double min = params->min_disparity, max = min + params->disparity_range - 1;
    bool seen = d->range_from == RANGE_OF_FIRST_FRAMES && d->seen_frames > 0;
    if (d->range_from == RANGE_MANUAL)
        return;
    if (seen) {
        min = d->seen_min;
        max = d->seen_max;
    }
    if (s->mode == DISPLAY_DEPTH) {
        max = fmax(1, max);
        s->min = depth_of(geometry, max);
        s->max = depth_of(geometry, fmax(max / DEPTH_RANGE, min));
    } else {
        s->min = min;
        s->max = max;
    }
}

/* The ratio'th smallest known disparity and the ratio'th largest, px. False where none is known. */
static bool percentiles(const struct frame *frame, double ratio, double *min, double *max) {
    static long histogram[1 << 16]; /* the main thread's */
    size_t count = (size_t)frame->rect_left.width * (size_t)frame->rect_left.height;
    long known = 0, below = 0, above = 0;
    int low = 0, high = (1 << 16) - 1;
    memset(histogram, 0, sizeof(histogram));
    for (size_t i = 0; i < count; i++)
        histogram[frame->disparity[i] - INT16_MIN]++;
    for (int i = 1; i < 1 << 16; i++) /* 0 is DISPARITY_UNKNOWN's */
        known += histogram[i];
    if (known == 0)
        return false;
    histogram[0] = 0;
    while ((double)(below += histogram[low]) <= ratio * (double)known)
        low++;
    while ((double)(above += histogram[high]) <= ratio * (double)known)
        high--;
    *min = (low + INT16_MIN) / (double)DISPARITY_ONE;
    *max = (high + INT16_MIN) / (double)DISPARITY_ONE;
    return true;
}

void display_forget_range(struct display *d) {
    d->range_from = RANGE_OF_FIRST_FRAMES;
    d->seen_frames = 0;
}

bool display_see_frame(struct display *d, const struct frame *frame) {
    double min, max;
    int range = frame->params.disparity_range;
    if (range != d->seen_range)
        d->seen_frames = 0;
    d->seen_range = range;
    bool again = d->seen_frames > 0 && frame->index == d->seen_index;
    if (d->range_from != RANGE_OF_FIRST_FRAMES || d->seen_frames == FIRST_FRAMES || again ||
        !percentiles(frame, 0.01, &min, &max))
        return false;
    min = floor(min);
    max = fmax(ceil(max), min + 1);
    d->seen_min = d->seen_frames > 0 ? fmin(d->seen_min, min) : min;
    d->seen_max = d->seen_frames > 0 ? fmax(d->seen_max, max) : max;
    d->seen_frames++;
    d->seen_index = frame->index;
    return true;
}

bool display_range_from_frame(struct display *d, const struct frame *frame,
                              const struct depth_geometry *geometry) {
    struct draw_settings *s = &d->settings;
    bool depth = s->mode == DISPLAY_DEPTH;
    double min, max;
    if (!percentiles(frame, 0.02, &min, &max))
        return false;
    s->min = depth ? depth_of(geometry, fmax(max, 0.5)) : min;
    s->max = depth ? depth_of(geometry, fmax(min, 0.25)) : fmax(max, min + 1);
    d->range_from = RANGE_MANUAL;
    return true;
}

/* ---- where things are */

double display_scale(const struct display *d, const struct frame *frame) {
    return draw_scale(&d->settings, frame->rect_left.width, frame->rect_left.height);
}

bool display_pixel_at(const struct display *d, const struct frame *frame, double x, double y,
                      int *px, int *py, int *side) {
    return draw_window_to_pixel(&d->settings, frame->rect_left.width, frame->rect_left.height, x, y,
                                px, py, side);
}

/* ---- by the mouse */

void display_pan(struct display *d, const struct frame *frame, double dx, double dy) {
    struct draw_settings *s = &d->settings;
    double scale = display_scale(d, frame);
    int pictures = s->mode == DISPLAY_ROWS ? 2 : 1;
    s->center_x = clamp(s->center_x - dx / (scale * frame->rect_left.width * pictures), 0, 1);
    s->center_y = clamp(s->center_y - dy / (scale * frame->rect_left.height), 0, 1);
}

void display_orbit(struct display *d, double dx, double dy) {
    struct draw_settings *s = &d->settings;
    s->yaw += dx * 3 / s->width;
    s->pitch = clamp(s->pitch - dy * 3 / s->height, -1.5, 1.5);
}

void display_shift(struct display *d, double dx, double dy) {
    d->settings.shift_x += dx / d->settings.width;
    d->settings.shift_y += dy / d->settings.height;
}

void display_zoom(struct display *d, const struct frame *frame, double steps, double x, double y) {
    struct draw_settings *s = &d->settings;
    double factor = pow(ZOOM_STEP, steps), before = s->zoom;
    if (s->mode == DISPLAY_POINTS) {
        s->distance = clamp(s->distance / factor, 0.05, 20);
        return;
    }
    s->zoom = clamp(s->zoom * factor, MIN_ZOOM, MAX_ZOOM);
    factor = s->zoom / before;
    double from_x = x - (s->x + s->width / 2.0), from_y = y - (s->y + s->height / 2.0);
    display_pan(d, frame, -from_x * (factor - 1), -from_y * (factor - 1));
}
