/*
 * The functions of app/view/tools.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/eval/metrics.h"
#include "app/view/viewer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLICK_PX 4 /* a press that moves less is a click, not a drag */

/* True for a click. */
static bool handle_button(struct mouse *m, const struct window_event *event, bool on_picture) {
    bool click = false;
    if (event->down && on_picture && !m->pressed) {
        m->pressed = event->button + 1;
        m->press_x = event->x;
        m->press_y = event->y;
        m->dragging = false;
    } else if (!event->down && m->pressed == event->button + 1) {
        click = !m->dragging && event->button == 0;
        m->pressed = 0;
    }
    return click;
}

static void drag(const struct mouse *m, struct display *display, const struct frame *shown,
                 double dx, double dy) {
    int i = display_view_at(display, m->press_x, m->press_y);
    struct draw_settings *s = &display->settings;
    if (display_view(display, i).mode != DISPLAY_POINTS) {
        display_pan(display, shown, i, dx, dy);
    } else if (m->pressed == 1) {
        s->yaw += dx * 3 / s->width;
        s->pitch = CLAMP(s->pitch - dy * 3 / s->height, -1.5, 1.5);
    } else {
        s->shift_x += dx / s->width;
        s->shift_y += dy / s->height;
    }
}

static void handle_move(struct mouse *m, struct display *display, const struct frame *shown,
                        double dx, double dy) {
    if (!m->pressed)
        return;
    if (!m->dragging) { /* the drag begins where the button went down */
        dx = m->x - m->press_x;
        dy = m->y - m->press_y;
        if (hypot(dx, dy) < CLICK_PX)
            return;
    }
    m->dragging = true;
    drag(m, display, shown, dx, dy);
}

bool mouse_handle(struct mouse *m, const struct window_event *event, struct display *display,
                  const struct frame *shown, bool on_picture) {
    double dx = event->x - m->x, dy = event->y - m->y;
    m->x = event->x;
    m->y = event->y;
    if (!shown)
        return false;
    if (event->type == WINDOW_SCROLL && on_picture)
        display_zoom(display, shown, event->dy, event->x, event->y);
    if (event->type == WINDOW_MOVE || /* a release: where no move came after the press */
        (event->type == WINDOW_BUTTON && !event->down))
        handle_move(m, display, shown, dx, dy);
    return event->type == WINDOW_BUTTON && handle_button(m, event, on_picture);
}

/* ---- places */

struct place place_of_pixel(const struct viewer *v, int x, int y) {
    const struct rig_use *rig = &v->rig;
    return (struct place){rig->left + (x + 0.5) / rig->scale, rig->top + (y + 0.5) / rig->scale};
}

void place_find_pixel(const struct viewer *v, const struct place *p, int *x, int *y) {
    const struct rig_use *rig = &v->rig;
    *x = CLAMP((int)((p->x - rig->left) * rig->scale), 0, rig->width - 1);
    *y = CLAMP((int)((p->y - rig->top) * rig->scale), 0, rig->height - 1);
}

/* ---- measuring */

bool measure_point(const struct viewer *v, int x, int y, double xyz[3], double *error) {
    const struct depth_geometry *g = &v->rig.geometry;
    const struct frame *frame = v->playback.shown;
    size_t i = (size_t)y * (size_t)frame->rect_left.width + (size_t)x;
    int16_t disparity = frame->disparity[i];
    float point[3];
    if (!rig_use_is_metric(&v->rig) || disparity == DISPARITY_UNKNOWN ||
        depth_point(g, x, y, disparity, INFINITY, point) != 0)
        return false;
    for (int c = 0; c < 3; c++)
        xyz[c] = (double)point[c];
    *error = depth_error(g, xyz[2], metrics_sigma(frame->params, frame->confidence[i]));
    return true;
}

/* The error of a point moves it along its line of sight; this is the part along direction. */
static double error_along(const double xyz[3], double error, const double direction[3]) {
    double along = 0;
    for (int i = 0; i < 3; i++)
        along += direction[i] * xyz[i] / xyz[2];
    return fabs(along) * error;
}

bool measure_distance(const struct viewer *v, double *distance, double *error) {
    double point[2][3], depth_error[2], direction[3], sum = 0;
    if (v->measure.count < 2)
        return false;
    for (int i = 0; i < 2; i++) {
        int x, y;
        place_find_pixel(v, &v->measure.place[i], &x, &y);
        if (!measure_point(v, x, y, point[i], &depth_error[i]))
            return false;
    }
    for (int i = 0; i < 3; i++) {
        direction[i] = point[1][i] - point[0][i];
        sum += direction[i] * direction[i];
    }
    *distance = sqrt(sum);
    *error = 0;
    for (int i = 0; i < 3 && *distance > 0; i++)
        direction[i] /= *distance;
    for (int i = 0; i < 2; i++)
        *error = hypot(*error, error_along(point[i], depth_error[i], direction));
    return true;
}

int measure_digits(double error, enum length_unit unit) {
    double factor = unit == UNIT_MM ? 1000 : 1;
    if (!(error > 0))
        return unit == UNIT_MM ? 1 : 3;
    return (int)fmin(unit == UNIT_MM ? 1 : 4, fmax(0, 1 - floor(log10(error * factor))));
}

void measure_print(double metres, double error, enum length_unit unit, int error_digits, char *text,
                   size_t size) {
    double factor = unit == UNIT_MM ? 1000 : 1;
    int digits = MAX(0, measure_digits(error, unit) + error_digits - 2);
    if (error > 0)
        snprintf(text, size, "%.*f \u00b1 %.*f %s", digits, metres * factor, digits, error * factor,
                 length_unit_names[unit]);
    else
        snprintf(text, size, "%.*f %s", digits, metres * factor, length_unit_names[unit]);
}

void measure_draw(const struct viewer *v, const struct draw_settings *view) {
    const struct measure *m = &v->measure;
    struct ui *ui = v->screen.ui;
    double x[2], y[2], distance, error, arm = ui_text_height(ui) / 2;
    char text[64] = "No depth at one of the points";
    if (view->mode == DISPLAY_RIGHT)
        return;
    for (int i = 0; i < m->count; i++) {
        int column, row;
        place_find_pixel(v, &m->place[i], &column, &row);
        if (!display_place(view, v->playback.shown, column, row, &x[i], &y[i]))
            return;
        ui_line(ui, x[i] - arm, y[i], x[i] + arm, y[i], ui_theme(ui)->mark);
        ui_line(ui, x[i], y[i] - arm, x[i], y[i] + arm, ui_theme(ui)->mark);
    }
    if (m->count < 2)
        return;
    ui_line(ui, x[0], y[0], x[1], y[1], ui_theme(ui)->mark);
    if (measure_distance(v, &distance, &error))
        measure_print(distance, error, v->unit, 2, text, sizeof(text));
    ui_tag(ui, (x[0] + x[1] - ui_text_width(ui, text)) / 2, (y[0] + y[1]) / 2 + arm, text);
}

/* ---- probes */

static void remove_probe(struct probes *p, int i) {
    memmove(&p->place[i], &p->place[i + 1], sizeof(p->place[0]) * (size_t)(p->count - 1 - i));
    p->count--;
}

void probes_send(const struct viewer *v) {
    struct live_probe probes[PROBES] = {0};
    for (int i = 0; i < v->probes.count; i++)
        place_find_pixel(v, &v->probes.place[i], &probes[i].x, &probes[i].y);
    live_set_probes(v->playback.live, probes, v->probes.count);
}

void probes_toggle(struct viewer *v, int x, int y, double radius) {
    struct probes *p = &v->probes;
    struct place at = place_of_pixel(v, x, y);
    int i = 0;
    while (i < p->count &&
           hypot(p->place[i].x - at.x, p->place[i].y - at.y) * v->rig.scale > radius)
        i++;
    bool removes = i < p->count;
    if (removes || p->count == PROBES)
        remove_probe(p, removes ? i : 0);
    if (!removes)
        p->place[p->count++] = at;
    probes_send(v);
}

/* ---- drawing */

static void draw_pin(struct ui *ui, double x, double y, double radius, unsigned color) {
    ui_line(ui, x - radius, y, x + radius, y, color);
    ui_line(ui, x, y - radius, x, y + radius, color);
    ui_outline(ui, x - radius / 2, y - radius / 2, radius, radius, color);
}

void probes_draw_pins(const struct viewer *v, const struct draw_settings *view) {
    struct ui *ui = v->screen.ui;
    double x, y, radius = ui_text_height(ui) / 2;
    for (int i = 0; i < v->probes.count && view->mode != DISPLAY_RIGHT; i++) {
        int column, row;
        place_find_pixel(v, &v->probes.place[i], &column, &row);
        if (!display_place(view, v->playback.shown, column, row, &x, &y))
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
        if (!motion && v->playback.shown && measure_point(v, p->x, p->y, xyz, &error)) {
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
