/*
 * The functions of app/view/rig_page.h. SPDX-License-Identifier: MIT
 */
#include "app/view/rig_page.h"

#include <math.h>
#include <stdio.h>

enum { WARNING_COLOR = 0xff8070, NOTE_COLOR = 0xb0b0b0, CURVE_COLOR = 0x60c0ff };
#define ERROR_PX 0.25 /* of the disparity, for the plot of the depth error */
#define PLOT_POINTS 64
#define FARTHEST 30 /* times the nearest depth: the end of the plot */

void rig_page_update(struct rig_page *page, struct screen *screen, struct frame *shown) {
    struct row_watch_state before = page->rows;
    if (!page->watch || !shown)
        return;
    row_watch_offer(page->watch, shown);
    row_watch_get(page->watch, &page->rows);
    if (page->rows.count != before.count)
        screen_redraw(screen);
    if (page->rows.advice && page->rows.advice != before.advice)
        screen_notify(screen, "%s", page->rows.advice);
}

void rig_page_close(struct rig_page *page) {
    row_watch_close(&page->watch);
}

/* ---- the calibration */

static void draw_calibration(struct ui *ui, const struct rig_use *rig) {
    const struct depth_geometry *g = &rig->geometry;
    char text[128];
    if (!rig->known) {
        ui_text_color(ui, NOTE_COLOR,
                      "no calibration (--calib FILE); livestereo calibrate makes one");
        return;
    }
    snprintf(text, sizeof(text), "f %.1f px, baseline %.4g %s, doffs %.2f px", g->fx, g->baseline,
             g->metric ? "m" : "units", g->doffs);
    ui_text(ui, text);
    if (isfinite(rig->rig.rms)) {
        snprintf(text, sizeof(text), "calibrated with an error of %.2f px", rig->rig.rms);
        ui_text_color(ui, NOTE_COLOR, text);
    }
}

void rig_page_draw_depths(struct ui *ui, const struct rig_use *rig, const struct params *params) {
    double nearest, farthest;
    char text[96];
    if (!rig_use_is_metric(rig))
        return;
    depth_limits(&rig->geometry, params->min_disparity, params->disparity_range, &nearest,
                 &farthest);
    int used = snprintf(text, sizeof(text), "    nearest %.3g m", nearest);
    if (isfinite(farthest))
        snprintf(text + used, sizeof(text) - (size_t)used, ", farthest %.3g m", farthest);
    ui_text_color(ui, 0xffd080, text);
}

/* ---- the rows */

/* The offset that would bring the rows of the last pair together. */
static double wanted_offset(const struct row_watch_state *s, const struct rig_use *rig) {
    double offset = s->row_offset + row_error_offset(&s->rows) * rig->row_px;
    return round(offset * 100) / 100;
}

/* A button for the wanted offset where it helps and the last pair had the offset of now. True when
 * it was pressed. */
static bool draw_offset_button(struct ui *ui, const struct row_watch_state *s,
                               const struct rig_use *rig, struct params *params) {
    double offset = wanted_offset(s, rig);
    char text[64];
    if (s->row_offset != params->row_offset || fabs(offset - s->row_offset) < 0.05 ||
        !row_error_mendable(&s->rows))
        return false;
    snprintf(text, sizeof(text), "move rows by %+.2f px", offset - s->row_offset);
    if (!ui_button(
            ui, "row_offset_take", text,
            "sets row_offset so that the median becomes 0, from the next frame on; it belongs to "
            "the rig, so presets do not change it; --set row_offset=PX sets it at the next "
            "start"))
        return false;
    return param_put(params, param_find("row_offset"), offset) == 0;
}

/* True when the row offset was changed. */
static bool draw_rows(struct ui *ui, const struct row_watch_state *s, const struct rig_use *rig,
                      struct params *params) {
    char text[192];
    if (s->count == 0) {
        ui_text(ui, "measuring");
        return false;
    }
    if (s->error) {
        snprintf(text, sizeof(text), "only %d of %d features match: %s", s->rows.matches,
                 s->rows.features, row_error_too_few(&s->rows));
        ui_text_color(ui, NOTE_COLOR, text);
        return false;
    }
    snprintf(text, sizeof(text), "row error: median %+.2f px, 95 %% %.2f px", s->rows.median,
             s->rows.p95_abs);
    ui_text(ui, text);
    snprintf(text, sizeof(text), "of %d features; 95 %% %.2f px about the median", s->rows.matches,
             s->rows.scatter);
    ui_text_color(ui, NOTE_COLOR, text);
    if (s->advice)
        ui_text_color(ui, WARNING_COLOR, s->advice);
    return draw_offset_button(ui, s, rig, params);
}

/* ---- the depth error */

/* A text that begins at x, or ends at the right edge. */
static void draw_tick(struct ui *ui, double x, double y, double right, unsigned color,
                      const char *text) {
    ui_label(ui, fmin(x, right - ui_text_width(ui, text)), y, color, text);
}

static void draw_depth_error(struct ui *ui, const struct depth_geometry *g,
                             const struct params *params) {
    double x, y, nearest, farthest;
    double line = ui_text_height(ui), height = 6 * line;
    double width = fmin(22 * line, ui_available_width(ui));
    float xy[2 * PLOT_POINTS];
    char text[96];
    depth_limits(g, params->min_disparity, params->disparity_range, &nearest, &farthest);
    if (!isfinite(nearest))
        return;
    farthest = fmin(farthest, FARTHEST * nearest);
    double max_error = depth_error(g, farthest, ERROR_PX);
    snprintf(text, sizeof(text), "depth error where disparity is %g px off", ERROR_PX);
    ui_text(ui, text);
    ui_reserve(ui, "depth_error", width, height + 1.2 * line, &x, &y);
    ui_box(ui, x, y, width, height, 0, 0.5);
    for (int i = 0; i < PLOT_POINTS; i++) {
        double ratio = i / (PLOT_POINTS - 1.0), z = nearest + ratio * (farthest - nearest);
        xy[2 * i] = (float)(x + ratio * width);
        xy[2 * i + 1] = (float)(y + height * (1 - depth_error(g, z, ERROR_PX) / max_error));
    }
    ui_polyline(ui, xy, PLOT_POINTS, CURVE_COLOR);
    for (int i = 0; i <= 3; i++) { /* the values of the curve at four depths */
        double z = nearest + (farthest - nearest) * i / 3, at = x + width * i / 3;
        double error = depth_error(g, z, ERROR_PX);
        snprintf(text, sizeof(text), "%.*f m", z < 10 ? 2 : 0, z);
        draw_tick(ui, at, y + height, x + width, NOTE_COLOR, text);
        if (error < 0.1)
            snprintf(text, sizeof(text), "%.1f mm", 1000 * error);
        else
            snprintf(text, sizeof(text), "%.2f m", error);
        draw_tick(ui, at, fmax(y, y + height * (1 - error / max_error) - 1.3 * line), x + width,
                  CURVE_COLOR, text);
    }
}

bool rig_page_draw(struct rig_page *page, struct screen *screen, const struct rig_use *rig,
                   struct params *params, bool *row_lines) {
    bool changed = false, on = page->watch != NULL;
    draw_calibration(screen->ui, rig);
    if (ui_checkbox(screen->ui, "measure_rows", "measure rows",
                    "matches features of the pictures at hand, about once a second, and tells how "
                    "well their rows agree; costs some of a core",
                    &on)) {
        if (on)
            page->watch = row_watch_open(window_wake, screen->window);
        else
            row_watch_close(&page->watch);
        page->rows = (struct row_watch_state){0};
    }
    if (page->watch)
        changed = draw_rows(screen->ui, &page->rows, rig, params);
    ui_checkbox(
        screen->ui, "rig_row_lines", "row lines (g)",
        "lines along rows: a point must lie on the same one left and right (key 8 shows both)",
        row_lines);
    if (rig_use_is_metric(rig))
        draw_depth_error(screen->ui, &rig->geometry, params);
    return changed;
}
