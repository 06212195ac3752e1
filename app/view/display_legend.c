/*
 * What the colours of app/view/display.h mean.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/display.h"

#include "image/flow.h"
#include "image/picture.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>

enum { STEPS = 96, BAR_PX = 8, TICK_GAP_PX = 30 };

const char *const length_unit_names[UNIT_COUNT] = {[UNIT_M] = "m", [UNIT_MM] = "mm"};

static unsigned rgb_of(const uint8_t c[3]) {
    return (unsigned)c[0] << 16 | (unsigned)c[1] << 8 | c[2];
}

/* The colour of a place of the scale, 0 at its left end; of errors as in shaders/image.frag. */
static unsigned color_at(const struct display *d, enum display_mode mode, double at) {
    if (mode == DISPLAY_CONFIDENCE)
        return 0x010101 * (unsigned)lround(255 * at);
    if (mode == DISPLAY_ERROR || mode == DISPLAY_MOTION_ERROR) {
        const double orange[3] = {242, 122, 26};
        uint8_t c[3];
        for (int k = 0; k < 3; k++)
            c[k] = (uint8_t)lround(at < 0.5 ? 2 * at * orange[k]
                                            : orange[k] + (2 * at - 1) * (255 - orange[k]));
        return rgb_of(c);
    }
    return rgb_of(colormap_table[d->settings.colormap][lround(255 * (1 - at))]);
}

/* A length or a number of px that is round: 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten. */
static double next_round(double value) {
    static const double rounds[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
    double power = pow(10, floor(log10(value) + 1e-9));
    for (size_t i = 0; i < G_N_ELEMENTS(rounds); i++)
        if (rounds[i] * power > value * (1 + 1e-9))
            return rounds[i] * power;
    return 15 * power;
}

static void draw_tick(struct ui *ui, double x, double y, double left, double right,
                      const char *text) {
    double width = ui_text_width(ui, text);
    x = fmax(left, fmin(x - width / 2, right - width));
    ui_label(ui, x, y, ui_theme(ui)->note, text);
}

/* Of depths: the near end, round lengths, the far end. */
static void draw_lengths(const struct draw_settings *s, const struct depth_geometry *g,
                         enum length_unit unit, double x, double y, double width, struct ui *ui) {
    double near = depth_of(g, s->max), far = s->min > 0 ? depth_of(g, s->min) : INFINITY;
    double factor = unit == UNIT_MM ? 1000 : 1, last = x, gap = ui_px(ui, TICK_GAP_PX);
    char text[32];
    snprintf(text, sizeof(text), "%.2g", near * factor);
    draw_tick(ui, x, y, x, x + width, text);
    double z = near;
    while ((z = next_round(z)) < fmin(far, 1e4)) {
        double at = x + width * (s->max - depth_disparity(g, z)) / (s->max - s->min);
        if (at - last < gap || x + width - at < 1.5 * gap)
            continue;
        last = at;
        snprintf(text, sizeof(text), "%g", z * factor);
        draw_tick(ui, at, y, x, x + width, text);
    }
    if (isfinite(far))
        snprintf(text, sizeof(text), "%.3g %s", far * factor, length_unit_names[unit]);
    else
        snprintf(text, sizeof(text), "\u221e %s", length_unit_names[unit]);
    draw_tick(ui, x + width, y, x, x + width, text);
}

/* Of a linear scale. */
static void draw_numbers(double from, double to, const char *unit, double x, double y, double width,
                         struct ui *ui) {
    enum { TICKS = 4 };
    char text[48];
    for (int i = 0; i < TICKS; i++) {
        double value = from + (to - from) * i / (TICKS - 1);
        snprintf(text, sizeof(text), "%.*f%s%s", fabs(to - from) < 8 && value != round(value),
                 value, i == TICKS - 1 ? " " : "", i == TICKS - 1 ? unit : "");
        draw_tick(ui, x + width * i / (TICKS - 1), y, x, x + width, text);
    }
}

/* ---- motion */

/* The wheel, whose middle is no motion and whose rim is the length of full colour. */
static void draw_wheel(const struct display *d, enum display_mode mode, double right, double y,
                       struct ui *ui) {
    enum { CELLS = 24 }; /* across */
    double radius = ui_px(ui, LAYOUT_HEADING) / 2 - 2, line = ui_text_height(ui);
    double cell = 2 * radius / CELLS, x = right - 2 * radius;
    char text[64];
    for (int i = 0; i < CELLS * CELLS; i++) {
        int column = i % CELLS, row = i / CELLS;
        double u = (column + 0.5) * 2 / CELLS - 1, w = (row + 0.5) * 2 / CELLS - 1;
        uint8_t c[3];
        if (u * u + w * w > 1)
            continue;
        flow_color_of(u, w, 1, c);
        ui_box(ui, x + column * cell, y + 2 + row * cell, cell, cell, rgb_of(c), 1);
    }
    int used = snprintf(text, sizeof(text), "rim: %g px", d->settings.max);
    if (mode == DISPLAY_ARROWS)
        snprintf(text + used, sizeof(text) - (size_t)used, ", arrows x%.3g",
                 DRAW_ARROW_PX / d->settings.max);
    double width = ui_text_width(ui, text);
    ui_label(ui, x - width - line / 2, y + radius + 2 - line / 2, ui_theme(ui)->note, text);
}

void display_draw_legend(const struct display *d, enum display_mode mode,
                         const struct depth_geometry *geometry, enum length_unit unit, double px,
                         bool truth, double right, double y, double width, struct ui *ui) {
    const struct draw_settings *s = &d->settings;
    bool error = mode == DISPLAY_ERROR || mode == DISPLAY_MOTION_ERROR;
    bool maps = mode == DISPLAY_DISPARITY || mode == DISPLAY_DEPTH || mode == DISPLAY_BLEND;
    if (mode == DISPLAY_MOTION || mode == DISPLAY_ARROWS || mode == DISPLAY_MOTION_BLEND)
        draw_wheel(d, mode, right, y, ui);
    if (!error && !maps && mode != DISPLAY_CONFIDENCE)
        return;
    double x = right - width, high = ui_px(ui, BAR_PX), below = y + high + ui_px(ui, 6);
    for (int i = 0; i < STEPS; i++)
        ui_box(ui, x + width * i / STEPS, y + ui_px(ui, 4), width / STEPS + 1, high,
               color_at(d, mode, i / (STEPS - 1.0)), 1);
    if (mode == DISPLAY_DEPTH)
        draw_lengths(s, geometry, unit, x, below, width, ui);
    else if (mode == DISPLAY_CONFIDENCE)
        draw_numbers(0, s->confidence_max / 2.55, "%", x, below, width, ui);
    else if (error)
        draw_numbers(0, truth ? DRAW_ERROR_PX : DRAW_ERROR_LEVELS, truth ? "px off" : "levels off",
                     x, below, width, ui);
    else
        draw_numbers(s->max * px, s->min * px, "px", x, below, width, ui);
}
