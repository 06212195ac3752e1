/*
 * Draws over the pictures, for app/view/pages.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"
#include "base/clock.h"
#include "image/flow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_ARROW_PX 10 /* between arrows, in the window */

/* ---- the read-out */

/* Says all that is known of pixel x, y of the left picture, in px of the source. */
static void describe_pixel(const struct viewer *v, int x, int y, GString *text) {
    const struct frame *f = v->playback.shown;
    const int16_t *other = v->display.settings.other;
    size_t i = (size_t)y * (size_t)f->rect_left.width + (size_t)x;
    double xyz[3], error, px = 1 / (v->rig.scale * DISPARITY_ONE);
    char depth[64];
    g_string_printf(text, "x %.0f y %.0f", v->rig.left + x / v->rig.scale,
                    v->rig.top + y / v->rig.scale);
    if (f->disparity[i] == DISPARITY_UNKNOWN) {
        g_string_append(text, "   no disparity");
        return;
    }
    bool metric = measure_point(v, x, y, xyz, &error);
    if (metric) {
        measure_print(xyz[2], error, v->unit, 2, depth, sizeof(depth));
        g_string_append_printf(text, "   %s", depth);
    }
    g_string_append_printf(text, "   disparity %.2f px   confidence %.0f %%%s",
                           f->disparity[i] * px, f->confidence[i] / 2.55,
                           f->confidence[i] < params_matched_from(f->params) ? ", filled in" : "");
    if (f->has_truth && f->truth[i] != DISPARITY_UNKNOWN)
        g_string_append_printf(text, "   truth %.2f px, off by %.2f", f->truth[i] * px,
                               abs(f->disparity[i] - f->truth[i]) * px);
    if (other && v->wipe.with != WIPE_TRUTH && other[i] != DISPARITY_UNKNOWN)
        g_string_append_printf(text, "   other %.2f px", other[i] * px);
    if (!metric)
        return;
    double factor = v->unit == UNIT_MM ? 1000 : 1;
    int digits = measure_digits(error, v->unit);
    g_string_append_printf(text, "   X %.*f Y %.*f Z %.*f", digits, xyz[0] * factor, digits,
                           xyz[1] * factor, digits, xyz[2] * factor);
}

/* From the picture to the later one, by cameras and recordings, or by --rate where pictures have no
 * times; 0: not known. */
static double seconds_of(const struct viewer *v, const struct frame *f) {
    const struct source *source = v->playback.source;
    if (source->live || source->rate > 0)
        return (double)(f->right_ns - f->left_ns) / 1e9;
    return v->options->rate > 0 ? v->running.motion_step / v->options->rate : 0;
}

/* The motion of pixel x, y: u, v and length in px, px/s and m/s where they are known,
 * confidence. */
static void describe_motion(const struct viewer *v, int x, int y, GString *text) {
    const struct frame *f = v->playback.shown;
    size_t i = (size_t)y * (size_t)f->rect_left.width + (size_t)x;
    size_t k = i + (size_t)f->rect_left.width * (size_t)f->rect_left.height; /* of v */
    const double one = DISPARITY_ONE, seconds = seconds_of(v, f);
    double length = hypot(f->motion[i], f->motion[k]) / one;
    g_string_printf(text, "x %d y %d", x, y);
    if (f->motion[i] == DISPARITY_UNKNOWN) {
        g_string_append(text, "   no motion known");
        return;
    }
    g_string_append_printf(text, "   u %+.2f v %+.2f   %.2f px", f->motion[i] / one,
                           f->motion[k] / one, length);
    if (f->has_truth && f->truth[i] != DISPARITY_UNKNOWN)
        g_string_append_printf(text, "   truth %+.2f %+.2f px   error %.2f px", f->truth[i] / one,
                               f->truth[k] / one,
                               hypot(f->motion[i] - f->truth[i], f->motion[k] - f->truth[k]) / one);
    if (seconds > 0)
        g_string_append_printf(text, "   %.4g px/s", length / seconds);
    if (seconds > 0 && v->options->metres_per_pixel > 0)
        g_string_append_printf(text, "   %.4g m/s",
                               length / seconds * v->options->metres_per_pixel / v->rig.scale);
    g_string_append_printf(text, "   confidence %.0f %%", f->confidence[i] / 2.55);
}

char *read_out(const struct viewer *v) {
    int x = v->hovered.x, y = v->hovered.y;
    if (!v->hovered.on)
        return NULL;
    GString *text = g_string_new(NULL);
    if (v->hovered.side != 0)
        g_string_printf(text, "%s %d, %d", v->display.motion ? "later" : "right", x, y);
    else if (v->display.motion)
        describe_motion(v, x, y, text);
    else
        describe_pixel(v, x, y, text);
    return g_string_free(text, FALSE);
}

/* The depth alone, with its error in one digit; else the disparity or the motion. */
static void draw_value(const struct viewer *v, double at_x, double at_y) {
    const struct frame *f = v->playback.shown;
    struct draw_settings s =
        display_view(&v->display, display_view_at(&v->display, v->mouse.x, v->mouse.y));
    int x = v->hovered.x, y = v->hovered.y;
    double xyz[3], error;
    char text[64];
    size_t i = (size_t)y * (size_t)f->rect_left.width + (size_t)x;
    if (f->disparity[i] == DISPARITY_UNKNOWN)
        return;
    if (v->display.motion)
        snprintf(text, sizeof(text), "%.1f px",
                 hypot(f->motion[i],
                       f->motion[i + (size_t)f->rect_left.width * (size_t)f->rect_left.height]) /
                     DISPARITY_ONE);
    else if (measure_point(v, x, y, xyz, &error))
        measure_print(xyz[2], error, v->unit, 1, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "%.1f px", f->disparity[i] / (v->rig.scale * DISPARITY_ONE));
    ui_tag_inside(v->screen.ui, "value", at_x, at_y, s.x, s.y, s.width, s.height, text);
}

/* The motions of every 16th pixel as arrows, of fewer where those are too close in the window. */
static void draw_arrows(const struct viewer *v, const struct draw_settings *s,
                        const struct frame *f) {
    const int width = f->rect_left.width, height = f->rect_left.height;
    const size_t count = (size_t)width * (size_t)height;
    const double scale = draw_scale(s, width, height), full = s->max * DISPARITY_ONE;
    const double long_px = DRAW_ARROW_PX * scale; /* of full colour */
    int step = DRAW_ARROW_PX * (int)fmax(1, ceil(MIN_ARROW_PX / long_px));
    for (size_t i = 0; i < count; i++) {
        int at_x = (int)i % width, at_y = (int)i / width, column = at_x - step / 2,
            row = at_y - step / 2;
        double x, y, u = f->motion[i] / full, w = f->motion[count + i] / full;
        uint8_t c[3];
        draw_pixel_to_window(s, width, height, at_x, at_y, &x, &y);
        if (column % step || row % step || f->motion[i] == DISPARITY_UNKNOWN || x < s->x ||
            y < s->y || x >= s->x + s->width || y >= s->y + s->height)
            continue;
        flow_color_of(u, w, 1, c);
        for (int edge = 1; edge >= 0; edge--) { /* a dark one below it */
            unsigned rgb = edge ? 0 : (unsigned)c[0] << 16 | (unsigned)c[1] << 8 | c[2];
            double to_x = x + u * long_px + edge, to_y = y + w * long_px + edge;
            ui_line(v->screen.ui, x + edge, y + edge, to_x, to_y, rgb);
            for (int side = -1; side <= 1; side += 2)
                ui_line(v->screen.ui, to_x, to_y, to_x - (0.3 * u + 0.2 * side * w) * long_px,
                        to_y - (0.3 * w - 0.2 * side * u) * long_px, rgb);
        }
    }
}

/* The pins, and where the pixel under the mouse is in the other views. */
static void draw_marks(const struct viewer *v, const struct frame *shown) {
    int under = display_view_at(&v->display, v->mouse.x, v->mouse.y);
    double at_x, at_y, arm = ui_text_height(v->screen.ui) / 2;
    bool hovered = !v->video_export.on && !ui_wants_mouse(v->screen.ui) && v->hovered.on &&
                   v->hovered.side == 0;
    for (int i = 0; i < display_views(&v->display); i++) {
        struct draw_settings s = display_view(&v->display, i);
        if (s.mode == DISPLAY_ARROWS)
            draw_arrows(v, &s, shown);
        probes_draw_pins(v, &s);
        measure_draw(v, &s);
        if (!hovered || i == under ||
            !display_place(&s, shown, v->hovered.x, v->hovered.y, &at_x, &at_y))
            continue;
        if (at_x < s.x || at_y < s.y || at_x >= s.x + s.width || at_y >= s.y + s.height)
            continue;
        ui_line(v->screen.ui, at_x - arm, at_y, at_x + arm, at_y, THEME_CROSS);
        ui_line(v->screen.ui, at_x, at_y - arm, at_x, at_y + arm, THEME_CROSS);
    }
    if (hovered && !v->mouse.pressed && !v->visible[PART_HELP])
        draw_value(v, v->mouse.x, v->mouse.y);
}

/* Over the place of a map that is computed for the first time: how long that has taken. */
static void draw_wait(const struct viewer *v) {
    struct ui *ui = v->screen.ui;
    struct draw_settings s = display_view(&v->display, display_views(&v->display) - 1);
    char text[48];
    snprintf(text, sizeof(text), "Computing, %.0f s",
             ceil((double)(clock_ns() - v->opened_ns) / 1e9));
    ui_tag_inside(ui, "wait", s.x + (s.width - ui_text_width(ui, text)) / 2, s.y + s.height / 2.0,
                  s.x, s.y, s.width, s.height, text);
}

void overlay_draw(struct viewer *v) {
    const struct frame *shown = v->playback.shown;
    if (!shown) {
        draw_wait(v);
        return;
    }
    draw_marks(v, shown);
    wipe_draw(v);
}
