/*
 * The rig's group of the panel: what the calibration says, how well the rows agree in the pictures
 * at hand and what to do about it, how sure depths are. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include <math.h>
#include <stdio.h>

enum { WARNING = 0xff8070, PALE = 0xb0b0b0, CURVE = 0x60c0ff };
#define ERROR_PX 0.25 /* of the disparity, for the plot */
#define POINTS 64
#define FARTHEST 30 /* times the nearest depth, end of the plot */

void view_rig_watch(struct viewer *v) {
    struct row_watch_state before = v->rows;
    if (!v->watch || !v->shown)
        return;
    row_watch_offer(v->watch, v->shown);
    row_watch_get(v->watch, &v->rows);
    if (v->rows.count != before.count)
        view_redraw(v);
    if (v->rows.advice && v->rows.advice != before.advice)
        view_say(v, "%s", v->rows.advice);
}

static void draw_depth_error(struct viewer *v) {
    const struct depth_geometry *g = &v->rig.geometry;
    double x, y, nearest, farthest, line = ui_text_height(v->ui), wide = 22 * line, high = 6 * line;
    float xy[2 * POINTS];
    char text[96];
    depth_limits(g, v->params.min_disparity, v->params.disparity_range, &nearest, &farthest);
    if (!isfinite(nearest))
        return;
    farthest = fmin(farthest, FARTHEST * nearest);
    double most = depth_error(g, farthest, ERROR_PX);
    snprintf(text, sizeof text, "depth error where disparity is %g px off", ERROR_PX);
    ui_text(v->ui, text);
    ui_room(v->ui, "depth_error", wide, high + 1.2 * line, &x, &y);
    ui_box(v->ui, x, y, wide, high, 0, 0.5);
    for (int i = 0; i < POINTS; i++) {
        double share = i / (POINTS - 1.0), z = nearest + share * (farthest - nearest);
        xy[2 * i] = (float)(x + share * wide);
        xy[2 * i + 1] = (float)(y + high * (1 - depth_error(g, z, ERROR_PX) / most));
    }
    ui_lines(v->ui, xy, POINTS, CURVE);
    for (int i = 0; i <= 3; i++) { /* what the curve says at four depths */
        double z = nearest + (farthest - nearest) * i / 3, at = x + wide * i / 3;
        double error = depth_error(g, z, ERROR_PX);
        snprintf(text, sizeof text, "%.*f m", z < 10 ? 2 : 0, z);
        double place = fmin(at, x + wide - ui_text_width(v->ui, text));
        ui_label(v->ui, place, y + high, PALE, text);
        snprintf(text, sizeof text, error < 0.1 ? "%.1f mm" : "%.2f m",
                 error < 0.1 ? 1000 * error : error);
        place = fmin(at, x + wide - ui_text_width(v->ui, text));
        ui_label(v->ui, place, fmax(y, y + high * (1 - error / most) - 1.3 * line), CURVE, text);
    }
}

/* The offset that would bring the rows of the last pair together. */
static double wanted_offset(const struct viewer *v, const struct row_watch_state *s) {
    double offset = s->row_offset + row_error_offset(&s->rows) * v->rig.row_px;
    return round(offset * 100) / 100;
}

static void draw_rows(struct viewer *v) {
    const struct row_watch_state s = v->rows;
    char text[192];
    if (s.count == 0) {
        ui_text(v->ui, "measuring");
        return;
    }
    if (s.error) {
        snprintf(text, sizeof text, "only %d of %d features match: %s", s.rows.matches,
                 s.rows.features, row_error_too_few(&s.rows));
        ui_text_color(v->ui, PALE, text);
        return;
    }
    snprintf(text, sizeof text, "row error: median %+.2f px, 95 %% %.2f px", s.rows.median,
             s.rows.p95_abs);
    ui_text(v->ui, text);
    snprintf(text, sizeof text, "of %d features; 95 %% %.2f px about the median", s.rows.matches,
             s.rows.scatter);
    ui_text_color(v->ui, PALE, text);
    if (s.advice)
        ui_text_color(v->ui, WARNING, s.advice);
    double offset = wanted_offset(v, &s);
    if (s.row_offset != v->params.row_offset || fabs(offset - s.row_offset) < 0.05 ||
        !row_error_mendable(&s.rows))
        return;
    snprintf(text, sizeof text, "move rows by %+.2f px", offset - s.row_offset);
    if (ui_button(v->ui, "row_offset_take", text,
                  "sets row_offset so that the median becomes 0, from the next frame on; it is the "
                  "rig's, so presets keep it, and --set row_offset=PX gives it the next time")) {
        param_put(&v->params, param_find("row_offset"), offset);
        view_apply(v);
    }
}

static void draw_about(struct viewer *v) {
    const struct depth_geometry *g = &v->rig.geometry;
    char text[128];
    if (!v->rig.known) {
        ui_text_color(v->ui, PALE, "no calibration (--calib FILE); livestereo calibrate makes one");
        return;
    }
    snprintf(text, sizeof text, "f %.1f px, baseline %.4g %s, doffs %.2f px", g->fx, g->baseline,
             g->metric ? "m" : "units", g->doffs);
    ui_text(v->ui, text);
    if (isfinite(v->rig.rig.rms)) {
        snprintf(text, sizeof text, "calibrated with an error of %.2f px", v->rig.rig.rms);
        ui_text_color(v->ui, PALE, text);
    }
}

void view_rig_draw(struct viewer *v) {
    if (!ui_group(v->ui, "rig", false))
        return;
    draw_about(v);
    bool on = v->watch != NULL;
    if (ui_check(v->ui, "measure_rows", "measure rows",
                 "match features of the pictures at hand, about once a second, and tell how well "
                 "their rows agree; costs some of a core",
                 &on)) {
        if (on)
            v->watch = row_watch_open(window_wake, v->window);
        else
            row_watch_close(&v->watch);
        v->rows = (struct row_watch_state){0};
    }
    if (v->watch)
        draw_rows(v);
    ui_check(v->ui, "rig_row_lines", "row lines (g)",
             "lines along rows: a point must lie on the same one left and right (key 8 shows both)",
             &v->draw_settings.rows);
    if (view_has_rig(v))
        draw_depth_error(v);
}

void view_nearest_draw(struct viewer *v) {
    double nearest, farthest;
    char text[96];
    if (!view_has_rig(v))
        return;
    depth_limits(&v->rig.geometry, v->params.min_disparity, v->params.disparity_range, &nearest,
                 &farthest);
    int used = snprintf(text, sizeof text, "    nearest %.3g m", nearest);
    if (isfinite(farthest))
        snprintf(text + used, sizeof text - (size_t)used, ", farthest %.3g m", farthest);
    ui_text_color(v->ui, 0xffd080, text);
}
