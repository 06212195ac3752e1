/*
 * The function of app/view/color_bar.h. SPDX-License-Identifier: MIT
 */
#include "app/view/color_bar.h"

#include "image/picture.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 128, TICKS = 7, ERROR_LEVELS = 64 /* as in shaders/image.frag */ };

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
            snprintf(text, sizeof(text), "%.*f", z < 10 ? 2 : (z < 100 ? 1 : 0), z);
        else
            snprintf(text, sizeof(text), "far");
        ui_line(ui, x, at, x + 0.3 * line, at, 0xffffff);
        ui_label(ui, x + line / 2, at - line / 2, 0xffffff, text);
    }
}

void color_bar_draw(const struct display *d, const struct layout_rect *strip,
                    const struct depth_geometry *geometry, enum length_unit unit, struct ui *ui) {
    struct draw_settings of_error = d->settings;
    const struct draw_settings *s = d->motion ? &of_error : &d->settings;
    bool metric = display_shows(d, DISPLAY_DEPTH);
    of_error.min = 0;
    of_error.max = ERROR_LEVELS;
    if (!display_has_colors(d))
        return;
    double line = ui_text_height(ui), width = line;
    double height = fmax(line, fmin(strip->height - 5 * line, 30 * line));
    double x = strip->x + line / 2, y = strip->y + (strip->height - height) / 2 - line / 2;
    ui_label(ui, x, y - 1.6 * line, 0xffffff,
             d->motion ? "grey levels"
             : metric  ? length_unit_names[unit]
                       : "px");
    for (int i = 0; i < STEPS; i++)
        ui_box(ui, x, y + height * i / STEPS, width, height / STEPS + 1,
               map_color(s->colormap, 1 - i / (STEPS - 1.0)), 1);
    draw_ticks(s, metric ? geometry : NULL, unit, ui, x + width, y, height);
    for (int i = 0; i < 6; i++) /* the stripes of pixels without a disparity */
        ui_box(ui, x + width * i / 6, y + height + line, width / 6, width,
               i % 2 ? 0x1a001a : 0xbf00a6, 1);
    ui_label(ui, x + width * 1.5, y + height + line, 0xffffff, "none");
}
