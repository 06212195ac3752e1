/*
 * What the colours of app/view/display.h mean.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/display.h"

#include "image/flow.h"
#include "image/picture.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 128, TICKS = 7 };

const char *const length_unit_names[UNIT_COUNT] = {[UNIT_M] = "m", [UNIT_MM] = "mm"};

static unsigned map_color(int colormap, double ratio) {
    int level = (int)lround(fmin(1, fmax(0, ratio)) * 255);
    const uint8_t *c = colormap_table[colormap][level];
    return (unsigned)c[0] << 16 | (unsigned)c[1] << 8 | c[2];
}

/* Values beside the bar, the largest disparity on top. Between them depth is not linear. */
static void draw_ticks(const struct draw_settings *s, const struct depth_geometry *metric,
                       enum length_unit unit, struct ui *ui, double x, double y, double height) {
    double line = ui_text_height(ui);
    for (int i = 0; i < TICKS; i++) {
        double at = y + height * i / (TICKS - 1);
        double px = s->max - (s->max - s->min) * i / (TICKS - 1), z = INFINITY;
        char text[32];
        if (metric)
            z = depth_of(metric, px);
        if (!metric)
            snprintf(text, sizeof(text), "%.*f", fabs(px) < 10 ? 1 : 0, px);
        else if (z < 1000 && unit == UNIT_MM)
            snprintf(text, sizeof(text), "%.0f", 1000 * z);
        else if (z < 1000)
            snprintf(text, sizeof(text), "%.*f", (z < 10) + (z < 100), z);
        else
            snprintf(text, sizeof(text), "far");
        ui_line(ui, x, at, x + 0.3 * line, at, ui_theme(ui)->text);
        ui_label(ui, x + line / 2, at - line / 2, ui_theme(ui)->text, text);
    }
}

/* A square of the bar's width with diagonal lines, and what it stands for. */
static void draw_hatched(struct ui *ui, double x, double y, double width, unsigned color,
                         unsigned lines, const char *label) {
    ui_box(ui, x, y, width, width, color, 1);
    for (double at = 0; at + 2 <= width; at += 6)
        ui_line(ui, x + at, y, fmin(x + at + width, x + width), y + width - at, lines);
    ui_label(ui, x + width * 1.5, y, ui_theme(ui)->text, label);
}

void display_draw_bar(const struct display *d, const struct layout_rect *strip,
                      const struct depth_geometry *geometry, enum length_unit unit, bool truth,
                      struct ui *ui) {
    struct draw_settings of_error = d->settings;
    bool metric = display_shows(d, DISPLAY_DEPTH), error = display_has_error(d),
         maps = metric || display_shows(d, DISPLAY_DISPARITY) || display_shows(d, DISPLAY_BLEND);
    const struct draw_settings *s = error && !maps ? &of_error : &d->settings;
    const char *of_errors = truth ? "px off" : "levels off";
    char text[32];
    of_error.min = of_error.matched_from = of_error.other_matched_from = 0;
    of_error.max = truth ? DRAW_ERROR_PX : DRAW_ERROR_LEVELS;
    if (!display_has_colors(d))
        return;
    bool filled = s->matched_from || s->other_matched_from, sparse = error && truth;
    double line = ui_text_height(ui), width = line, marks = (filled + sparse) * 1.3 * line;
    double height = fmax(line, fmin(strip->height - 5 * line - marks, 30 * line));
    double x = strip->x + line / 2,
           y = strip->y + (strip->height - height + 0.3 * line - marks) / 2;
    const char *of_maps = metric ? length_unit_names[unit] : "px";
    ui_label(ui, x, y - 1.6 * line, ui_theme(ui)->text, maps ? of_maps : of_errors);
    snprintf(text, sizeof(text), "0..%g %s", of_error.max, of_errors);
    if (error && maps)
        ui_label(ui, x, y - 2.8 * line, ui_theme(ui)->note, text);
    for (int i = 0; i < STEPS; i++)
        ui_box(ui, x, y + height * i / STEPS, width, height / STEPS + 1,
               map_color(s->colormap, 1 - i / (STEPS - 1.0)), 1);
    draw_ticks(s, metric ? geometry : NULL, unit, ui, x + width, y, height);
    for (int i = 0; i < 6; i++) /* the stripes of pixels without a disparity */
        ui_box(ui, x + width * i / 6, y + height + line, width / 6, width,
               i % 2 ? THEME_UNKNOWN_DARK : THEME_UNKNOWN, 1);
    ui_label(ui, x + width * 1.5, y + height + line, ui_theme(ui)->text, "none");
    y += height + 2.3 * line;
    if (sparse)
        draw_hatched(ui, x, y, width, 0, 0x404040, "no truth");
    if (filled)
        draw_hatched(ui, x, y + sparse * 1.3 * line, width, THEME_FILLED, 0, "filled");
}

/* ---- motion */

#define WHEEL_CELLS 48 /* across */

/* The wheel's middle and its radius in the window. */
static void wheel_place(const struct layout_rect *strip, double line, double *x, double *y,
                        double *radius) {
    *radius = fmax(line, fmin(strip->width, strip->height - 4 * line) / 2 - line / 2);
    *x = strip->x + strip->width / 2.0;
    *y = strip->y + strip->height / 2.0;
}

void display_draw_wheel(const struct display *d, const struct layout_rect *strip, struct ui *ui) {
    double x, y, radius, line = ui_text_height(ui), range = d->settings.max;
    char text[32];
    wheel_place(strip, line, &x, &y, &radius);
    double cell = 2 * radius / WHEEL_CELLS;
    for (int row = 0; row < WHEEL_CELLS; row++)
        for (int column = 0; column < WHEEL_CELLS; column++) {
            double u = (column + 0.5) * 2 / WHEEL_CELLS - 1, v = (row + 0.5) * 2 / WHEEL_CELLS - 1;
            uint8_t c[3];
            if (u * u + v * v > 1)
                continue;
            flow_color_of(u, v, 1, c);
            ui_box(ui, x + (u * radius) - cell / 2, y + (v * radius) - cell / 2, cell, cell,
                   (unsigned)c[0] << 16 | (unsigned)c[1] << 8 | c[2], 1);
        }
    snprintf(text, sizeof(text), "%g px", range);
    ui_label(ui, x - ui_text_width(ui, text) / 2, y - radius - 1.4 * line, ui_theme(ui)->text,
             text);
    ui_line(ui, x, y, x + radius, y, ui_theme(ui)->note);
    ui_box(ui, x - radius, y + radius + line / 2, line, line, 0, 1);
    ui_outline(ui, x - radius, y + radius + line / 2, line, line, ui_theme(ui)->frame);
    ui_label(ui, x - radius + 1.5 * line, y + radius + line / 2, ui_theme(ui)->text, "none");
    if (!display_shows(d, DISPLAY_ARROWS))
        return;
    snprintf(text, sizeof(text), "arrows x%.3g", DRAW_ARROW_PX / range);
    ui_label(ui, x - radius, y + radius + 2 * line, ui_theme(ui)->text, text);
}

void display_describe_motion(const struct frame *f, const struct motion_speed *speed, int x, int y,
                             char *text, size_t size) {
    size_t i = (size_t)y * (size_t)f->rect_left.width + (size_t)x;
    size_t count = (size_t)f->rect_left.width * (size_t)f->rect_left.height;
    int used = snprintf(text, size, "%d, %d", x, y);
    if (f->motion[i] == DISPARITY_UNKNOWN) {
        snprintf(text + used, size - (size_t)used, "   no motion known");
        return;
    }
    double u = f->motion[i] / (double)DISPARITY_ONE,
           v = f->motion[i + count] / (double)DISPARITY_ONE;
    double length = hypot(u, v);
    used +=
        snprintf(text + used, size - (size_t)used, "   u %+.2f v %+.2f   %.2f px", u, v, length);
    if (f->has_truth && f->truth[i] != DISPARITY_UNKNOWN)
        used += snprintf(
            text + used, size - (size_t)used, "   truth %+.2f %+.2f px   error %.2f px",
            f->truth[i] / (double)DISPARITY_ONE, f->truth[i + count] / (double)DISPARITY_ONE,
            hypot(f->motion[i] - f->truth[i], f->motion[i + count] - f->truth[i + count]) /
                (double)DISPARITY_ONE);
    if (speed->seconds > 0)
        used += snprintf(text + used, size - (size_t)used, "   %.4g px/s", length / speed->seconds);
    if (speed->seconds > 0 && speed->metres_per_pixel > 0)
        used += snprintf(text + used, size - (size_t)used, "   %.4g m/s",
                         length / speed->seconds * speed->metres_per_pixel);
    snprintf(text + used, size - (size_t)used, "   confidence %d of 255", f->confidence[i]);
}
