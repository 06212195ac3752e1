/*
 * The probes of app/view/tools.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/tools.h"

#include "app/view/viewer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void remove_probe(struct probes *p, int i) {
    memmove(&p->place[i], &p->place[i + 1], sizeof(p->place[0]) * (size_t)(p->count - 1 - i));
    p->count--;
}

void probes_send(const struct probes *p, struct live *live, const struct rig_use *rig) {
    struct live_probe probes[PROBES] = {0};
    for (int i = 0; i < p->count; i++)
        place_find_pixel(&p->place[i], rig, &probes[i].x, &probes[i].y);
    live_set_probes(live, probes, p->count);
}

void probes_toggle(struct probes *p, struct live *live, const struct rig_use *rig, int x, int y,
                   double radius) {
    struct place at = place_of_pixel(rig, x, y);
    int i = 0;
    while (i < p->count && hypot(p->place[i].x - at.x, p->place[i].y - at.y) * rig->scale > radius)
        i++;
    bool removes = i < p->count;
    if (removes || p->count == PROBES)
        remove_probe(p, removes ? i : 0);
    if (!removes)
        p->place[p->count++] = at;
    probes_send(p, live, rig);
}

/* ---- drawing */

static void draw_pin(struct ui *ui, double x, double y, double radius, unsigned color) {
    ui_line(ui, x - radius, y, x + radius, y, color);
    ui_line(ui, x, y - radius, x, y + radius, color);
    ui_outline(ui, x - radius / 2, y - radius / 2, radius, radius, color);
}

void probes_draw_pins(const struct probes *p, const struct rig_use *rig, struct ui *ui,
                      const struct draw_settings *settings, const struct frame *frame) {
    double x, y, radius = ui_text_height(ui) / 2;
    if (settings->mode == DISPLAY_RIGHT)
        return;
    for (int i = 0; i < p->count; i++) {
        int column, row;
        place_find_pixel(&p->place[i], rig, &column, &row);
        if (!display_place(settings, frame, column, row, &x, &y))
            continue;
        draw_pin(ui, x + 1, y + 1, radius, 0); /* its shadow */
        draw_pin(ui, x, y, radius, ui_theme(ui)->pin[i]);
    }
}

/* One curve over the labels that were not pruned, scaled to its own largest value. */
static void draw_curve(struct ui *ui, const struct ui_rect *r, const double *value, int count,
                       unsigned color) {
    float xy[2 * LIVESTEREO_MAX_LABELS];
    double min = INFINITY, max = -INFINITY;
    for (int i = 0; i < count; i++) {
        min = fmin(min, value[i]);
        max = isfinite(value[i]) ? fmax(max, value[i]) : max;
    }
    double span = max > min ? max - min : 1;
    for (int i = 0, n = 0; i < count; i++) {
        xy[2 * n] = (float)(r->x + r->width * (i + 0.5) / count);
        xy[2 * n + 1] = (float)(r->y + r->height * (1 - (value[i] - min) / span));
        n += isfinite(value[i]);
        if (i + 1 < count && isfinite(value[i + 1]))
            continue;
        ui_polyline(ui, xy, n, color);
        n = 0;
    }
}

/* Curves over the labels: disparities, or motions, of each v all u. */
static void draw_plot(struct ui *ui, const struct live_probe *p, int number, double width,
                      double height) {
    struct ui_rect r = {.width = width, .height = height};
    int count = p->found.u_count * p->found.v_count;
    snprintf(r.name, sizeof(r.name), "probe.%d", number);
    ui_reserve(ui, r.name, width, height, &r.x, &r.y);
    ui_box(ui, r.x, r.y, width, height, ui_theme(ui)->canvas, 1);
    double label_x = r.x + width * (p->found.label + 0.5) / count;
    ui_line(ui, label_x, r.y, label_x, r.y + height, ui_theme(ui)->text);
    draw_curve(ui, &r, p->found.cost, count, ui_theme(ui)->hint);
    draw_curve(ui, &r, p->found.belief, count, ui_theme(ui)->pin[number]);
}

void probe_place(const struct live_probe *p, int label, double *u, double *v) {
    *u = p->found.u + label % p->found.u_count * p->found.step;
    int row = label / p->found.u_count;
    *v = p->found.v + row * p->found.step;
}

static void draw_answer(struct ui *ui, const struct live_probe *p, bool motion, unsigned rgb) {
    double u, v;
    char label[64];
    if (p->index < 0 || p->found.label < 0) {
        ui_text_color(ui, rgb, "%d, %d: %s", p->x, p->y, p->index < 0 ? "waiting" : "no answer");
        return;
    }
    probe_place(p, p->found.label, &u, &v);
    if (motion)
        snprintf(label, sizeof(label), "u %+.4g v %+.4g", u, v);
    else
        snprintf(label, sizeof(label), "label %g", u);
    ui_text_color(ui, rgb, "%d, %d: %s, cost %.3f, belief %.3f", p->x, p->y, label,
                  p->found.cost[p->found.label], p->found.belief[p->found.label]);
}

void probes_draw_plots(const struct viewer *v) {
    struct live_probe probes[PROBES];
    struct ui *ui = v->screen.ui;
    bool motion = v->display.motion;
    int count = live_get_probes(v->playback.live, probes);
    double line = ui_text_height(ui), width = ui_available_width(ui), xyz[3], error;
    ui_note(ui, "Data cost (grey) and belief (colour) over the labels; a line: chosen");
    for (int i = 0; i < count; i++) {
        const struct live_probe *p = &probes[i];
        const struct livestereo_probe *f = &p->found;
        bool answered = p->index >= 0 && f->label >= 0;
        char depth[96];
        if (v->layout.columns > 1)
            ui_table_next(ui);
        draw_answer(ui, p, motion, ui_theme(ui)->pin[i]);
        if (!motion && v->playback.shown &&
            measure_point(v->playback.shown, &v->rig, p->x, p->y, xyz, &error)) {
            measure_print(xyz[2], error, v->unit, 2, depth, sizeof(depth));
            ui_text_color(ui, ui_theme(ui)->pin[i], "%s", depth);
        }
        if (!answered)
            continue;
        draw_plot(ui, p, i, width, 5 * line);
        if (motion)
            ui_note(ui, "u %g to %g, v %g to %g px", f->u, f->u + (f->u_count - 1) * f->step, f->v,
                    f->v + (f->v_count - 1) * f->step);
        else
            ui_note(ui, "%g to %g px", f->u, f->u + (f->u_count - 1) * f->step);
    }
}
