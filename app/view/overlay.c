/*
 * The function of app/view/overlay.h. SPDX-License-Identifier: MIT
 */
#include "app/view/overlay.h"

#include "app/view/viewer.h"
#include "image/picture.h"

#include <math.h>
#include <stdio.h>

#define BAR_STEPS 128

static unsigned map_color(int colormap, double ratio) {
    int level = (int)lround(fmin(1, fmax(0, ratio)) * 255);
    const uint8_t *c = colormap_table[colormap][level];
    return (unsigned)c[0] << 16 | (unsigned)c[1] << 8 | c[2];
}

/* Five values beside the colour bar. */
static void draw_ticks(const struct draw_settings *s, struct ui *ui, double x, double y,
                       double width, double height) {
    double line = ui_text_height(ui), span = s->max - s->min;
    bool depth = s->mode == DISPLAY_DEPTH;
    for (int i = 0; i <= 4; i++) {
        char text[32];
        double ratio = 1 - i / 4.0, at = y + height * i / 4;
        double value = depth ? s->max - ratio * span : s->min + ratio * span;
        snprintf(text, sizeof(text), "%.*f", fabs(value) < 10 ? 1 : 0, value);
        ui_line(ui, x + width, at, x + width * 1.3, at, 0xffffff);
        ui_label(ui, x + width * 1.5, at - line / 2, 0xffffff, text);
    }
}

static void draw_color_bar(const struct draw_settings *s, struct ui *ui) {
    if (s->mode != DISPLAY_DISPARITY && s->mode != DISPLAY_DEPTH && s->mode != DISPLAY_BLEND)
        return;
    double line = ui_text_height(ui), width = line, height = fmin(s->height * 0.6, 22 * line);
    double x = s->x + s->width - width - 5 * line, y = s->y + (s->height - height) / 2;
    ui_box(ui, x - line / 2, y - 1.6 * line, width + 5 * line, height + 4.4 * line, 0, 0.55);
    ui_label(ui, x, y - 1.4 * line, 0xffffff, s->mode == DISPLAY_DEPTH ? "m" : "px");
    for (int i = 0; i < BAR_STEPS; i++)
        ui_box(ui, x, y + height * i / BAR_STEPS, width, height / BAR_STEPS + 1,
               map_color(s->colormap, 1 - i / (BAR_STEPS - 1.0)), 1);
    draw_ticks(s, ui, x, y, width, height);
    for (int i = 0; i < 6; i++) /* the stripes of pixels without a disparity */
        ui_box(ui, x + width * i / 6, y + height + line, width / 6, width,
               i % 2 ? 0x1a001a : 0xbf00a6, 1);
    ui_label(ui, x + width * 1.5, y + height + line, 0xffffff, "none");
}

/* ---- the read-out */

/* What is known of pixel x, y of the left picture. */
static void describe_pixel(const struct frame *f, const struct rig_use *rig, int x, int y,
                           char *text, size_t size) {
    size_t i = (size_t)y * (size_t)f->rect_left.width + (size_t)x;
    float xyz[3];
    int used = snprintf(text, size, "%d, %d", x, y);
    if (f->disparity[i] == DISPARITY_UNKNOWN) {
        snprintf(text + used, size - (size_t)used, "   no disparity");
        return;
    }
    used += snprintf(text + used, size - (size_t)used, "   %.2f px   confidence %d",
                     f->disparity[i] / (double)DISPARITY_ONE, f->confidence[i]);
    if (f->has_truth && f->truth[i] != DISPARITY_UNKNOWN)
        used += snprintf(text + used, size - (size_t)used, "   truth %.2f px",
                         f->truth[i] / (double)DISPARITY_ONE);
    if (rig_use_is_metric(rig) &&
        depth_point(&rig->geometry, x, y, f->disparity[i], INFINITY, xyz) == 0)
        snprintf(text + used, size - (size_t)used, "   %.3f m   X %.3f Y %.3f Z %.3f",
                 (double)xyz[2], (double)xyz[0], (double)xyz[1], (double)xyz[2]);
}

static void draw_read_out(const struct viewer *v) {
    const struct draw_settings *s = &v->display.settings;
    struct ui *ui = v->screen.ui;
    int x, y, side;
    char text[192];
    if (v->mouse.pressed || v->visible[PART_HELP] || ui_wants_mouse(ui) ||
        !viewer_hovered_pixel(v, &x, &y, &side))
        return;
    if (side == 0)
        describe_pixel(v->playback.shown, &v->rig, x, y, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "right %d, %d", x, y);
    double line = ui_text_height(ui), width = ui_text_width(ui, text);
    double text_x = fmin(v->mouse.x + line, s->x + s->width - width - line);
    double text_y = fmin(v->mouse.y + line, s->y + s->height - 2 * line);
    ui_box(ui, text_x - 4, text_y - 2, width + 8, line + 4, 0, 0.7);
    ui_label(ui, text_x, text_y, 0xffffff, text);
}

static void draw_notice(const struct screen *screen, const struct draw_settings *area) {
    struct ui *ui = screen->ui;
    if (screen->notice_until_ns == 0)
        return;
    double line = ui_text_height(ui), width = ui_text_width(ui, screen->notice);
    double x = area->x + (area->width - width) / 2, y = area->y + area->height - 3 * line;
    ui_box(ui, x - line / 2, y - line / 4, width + line, 1.5 * line, 0, 0.75);
    ui_label(ui, x, y, 0xffffff, screen->notice);
}

void overlay_draw(struct viewer *v) {
    const struct draw_settings *area = &v->display.settings;
    const struct frame *shown = v->playback.shown;
    struct ui *ui = v->screen.ui;
    if (shown) {
        draw_color_bar(area, ui);
        probes_draw_pins(&v->probes, ui, area, shown->rect_left.width, shown->rect_left.height);
        draw_read_out(v);
    } else {
        ui_label(ui, area->x + 20, area->y + 20, 0xffffff, "waiting for the first frame");
    }
    cameras_draw_banner(&v->cameras, ui, area);
    recording_draw(&v->recording, ui, area);
    draw_notice(&v->screen, area);
}
