/*
 * What lies on the picture: colour bar, read-out under the mouse, pins and the plots of their
 * costs, messages. Main thread. SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include "capture/picture.h"
#include "config/clock.h"

#include <math.h>
#include <stdio.h>

static const unsigned probe_colors[PROBES] = {0xff6060, 0x60ff60, 0x60a0ff, 0xffe060};

static unsigned map_color(int map, double share) {
    int i = (int)lround(fmin(1, fmax(0, share)) * 255);
    const uint8_t *c = colormap_table[map][i];
    return (unsigned)c[0] << 16 | (unsigned)c[1] << 8 | c[2];
}

static void draw_color_bar(struct viewer *v) {
    const struct draw_settings *s = &v->draw_settings;
    if (s->view != DRAW_DISPARITY && s->view != DRAW_DEPTH && s->view != DRAW_BLEND)
        return;
    double line = ui_text_height(v->ui), high = fmin(s->height * 0.6, 22 * line), wide = line;
    double x = s->x + s->width - wide - 5 * line, y = s->y + (s->height - high) / 2;
    ui_box(v->ui, x - line / 2, y - 1.6 * line, wide + 5 * line, high + 4.4 * line, 0, 0.55);
    bool depth = s->view == DRAW_DEPTH;
    ui_label(v->ui, x, y - 1.4 * line, 0xffffff, depth ? "m" : "px");
    for (int i = 0; i < 128; i++)
        ui_box(v->ui, x, y + high * i / 128, wide, high / 128 + 1,
               map_color(s->colormap, 1 - i / 127.0), 1);
    for (int i = 0; i <= 4; i++) {
        char text[32];
        double share = 1 - i / 4.0;
        double value = depth ? s->most - share * (s->most - s->least)
                             : s->least + share * (s->most - s->least);
        snprintf(text, sizeof text, "%.*f", fabs(value) < 10 ? 1 : 0, value);
        ui_line(v->ui, x + wide, y + high * i / 4, x + wide * 1.3, y + high * i / 4, 0xffffff);
        ui_label(v->ui, x + wide * 1.5, y + high * i / 4 - line / 2, 0xffffff, text);
    }
    for (int i = 0; i < 6; i++)
        ui_box(v->ui, x + wide * i / 6, y + high + line, wide / 6, wide,
               i % 2 ? 0x1a001a : 0xbf00a6, 1);
    ui_label(v->ui, x + wide * 1.5, y + high + line, 0xffffff, "none");
}

static void read_out(const struct viewer *v, int x, int y, int side, char *text, size_t size) {
    const struct frame *f = v->shown;
    int used = snprintf(text, size, "%s%d, %d", side ? "right " : "", x, y);
    if (side)
        return;
    size_t at = (size_t)y * (size_t)f->rect_left.width + (size_t)x;
    if (f->disparity[at] == DISPARITY_UNKNOWN) {
        snprintf(text + used, size - (size_t)used, "   no disparity");
        return;
    }
    double d = f->disparity[at] / (double)DISPARITY_ONE;
    used += snprintf(text + used, size - (size_t)used, "   %.2f px   confidence %d", d,
                     f->confidence[at]);
    if (f->has_truth && f->truth[at] != DISPARITY_UNKNOWN)
        used += snprintf(text + used, size - (size_t)used, "   truth %.2f px",
                         f->truth[at] / (double)DISPARITY_ONE);
    if (view_has_rig(v)) {
        float xyz[3];
        if (depth_point(&v->rig.geometry, x, y, f->disparity[at], INFINITY, xyz) == 0)
            snprintf(text + used, size - (size_t)used, "   %.3f m   X %.3f Y %.3f Z %.3f",
                     (double)xyz[2], (double)xyz[0], (double)xyz[1], (double)xyz[2]);
    }
}

static void draw_read_out(struct viewer *v) {
    int x, y, side;
    char text[192];
    if (v->dragging || v->help || ui_has_mouse(v->ui) || !view_hover(v, &x, &y, &side))
        return;
    read_out(v, x, y, side, text, sizeof text);
    const struct draw_settings *s = &v->draw_settings;
    double line = ui_text_height(v->ui), wide = ui_text_width(v->ui, text);
    double at_x = fmin(v->mouse_x + line, s->x + s->width - wide - line);
    double at_y = fmin(v->mouse_y + line, s->y + s->height - 2 * line);
    ui_box(v->ui, at_x - 4, at_y - 2, wide + 8, line + 4, 0, 0.7);
    ui_label(v->ui, at_x, at_y, 0xffffff, text);
}

static void draw_pins(struct viewer *v) {
    if (v->draw_settings.view == DRAW_POINTS || v->draw_settings.view == DRAW_RIGHT)
        return;
    for (int i = 0; i < v->probe_count; i++) {
        double x, y, r = ui_text_height(v->ui) / 2;
        draw_place(&v->draw_settings, v->shown->rect_left.width, v->shown->rect_left.height,
                   v->probes[i].x, v->probes[i].y, &x, &y);
        for (int dark = 1; dark >= 0; dark--) {
            unsigned color = dark ? 0 : probe_colors[i];
            ui_line(v->ui, x - r + dark, y + dark, x + r + dark, y + dark, color);
            ui_line(v->ui, x + dark, y - r + dark, x + dark, y + r + dark, color);
            ui_frame(v->ui, x - r / 2 + dark, y - r / 2 + dark, r, r, color);
        }
    }
}

/* One curve over the labels, scaled to its own largest value. */
static void draw_curve(struct viewer *v, const double *value, int count, double x, double y,
                       double wide, double high, unsigned color) {
    float xy[2 * PROBE_LABELS];
    double least = value[0], most = value[0];
    for (int i = 1; i < count; i++) {
        least = fmin(least, value[i]);
        most = fmax(most, value[i]);
    }
    double span = most > least ? most - least : 1;
    for (int i = 0; i < count; i++) {
        xy[2 * i] = (float)(x + wide * (i + 0.5) / count);
        xy[2 * i + 1] = (float)(y + high * (1 - (value[i] - least) / span));
    }
    ui_lines(v->ui, xy, count, color);
}

void view_probes_draw(struct viewer *v) {
    struct live_probe probes[PROBES];
    int count = live_get_probes(v->live, probes);
    if (count == 0)
        return;
    const struct draw_settings *s = &v->draw_settings;
    double line = ui_text_height(v->ui), wide = 18 * line, high = 5 * line;
    double all = count * (high + 2.9 * line) + 2.5 * line;
    ui_panel_begin(v->ui, "probes", s->x + line / 2, fmax(s->y, s->y + s->height - all - line / 2),
                   0, 0, UI_FIT | UI_SEE_THROUGH);
    ui_text(v->ui, "data cost (grey), belief (colour), label (line)");
    for (int i = 0; i < count; i++) {
        const struct live_probe *p = &probes[i];
        char text[96], name[32];
        if (p->index < 0 || p->label < 0) {
            snprintf(text, sizeof text, "%d, %d: %s", p->x, p->y,
                     p->index < 0 ? "waiting" : "not told");
            ui_text_color(v->ui, probe_colors[i], text);
            continue;
        }
        snprintf(text, sizeof text, "%d, %d: label %d, cost %.3f, belief %.3f", p->x, p->y,
                 p->min_disparity + p->label, p->cost[p->label], p->belief[p->label]);
        ui_text_color(v->ui, probe_colors[i], text);
        double x, y;
        snprintf(name, sizeof name, "probe.%d", i);
        ui_room(v->ui, name, wide, high, &x, &y);
        ui_box(v->ui, x, y, wide, high, 0, 0.5);
        double at = x + wide * (p->label + 0.5) / p->count;
        ui_line(v->ui, at, y, at, y + high, 0xffffff);
        draw_curve(v, p->cost, p->count, x, y, wide, high, 0x909090);
        draw_curve(v, p->belief, p->count, x, y, wide, high, probe_colors[i]);
    }
    ui_panel_end(v->ui);
}

static void draw_message(struct viewer *v) {
    if (clock_ns() >= v->message_until_ns)
        return;
    const struct draw_settings *s = &v->draw_settings;
    double line = ui_text_height(v->ui), wide = ui_text_width(v->ui, v->message);
    double x = s->x + (s->width - wide) / 2, y = s->y + s->height - 3 * line;
    ui_box(v->ui, x - line / 2, y - line / 4, wide + line, 1.5 * line, 0, 0.75);
    ui_label(v->ui, x, y, 0xffffff, v->message);
}

void view_overlay_draw(struct viewer *v) {
    if (v->shown) {
        draw_color_bar(v);
        draw_pins(v);
        draw_read_out(v);
    } else {
        ui_label(v->ui, v->draw_settings.x + 20, v->draw_settings.y + 20, 0xffffff,
                 "waiting for the first frame");
    }
    view_banner_draw(v);
    view_record_draw(v);
    draw_message(v);
}
