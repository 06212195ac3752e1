/*
 * The functions of app/view/panel.h that have no file of their own.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/panel.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"
#include "app/visualize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the line that is always there: frames a second, time of a frame */

static void describe_status(const struct viewer *v, char *text, size_t size) {
    const struct frame *shown = v->playback.shown;
    int used = snprintf(text, size, "%.1f frames/s", v->statistics.rates.computed);
    if (shown)
        used += snprintf(text + used, size - (size_t)used, "  %.*f ms",
                         shown->compute_ms < 10 ? 1 : 0, shown->compute_ms);
    if (!v->display.motion && v->quality.search.on)
        snprintf(text + used, size - (size_t)used, "  searching");
}

static void draw_status(struct viewer *v) {
    char text[96], shorter[32];
    describe_status(v, text, sizeof(text));
    g_snprintf(shorter, sizeof(shorter), "%.0f frames/s", v->statistics.rates.computed);
    ui_text_line_or(v->screen.ui, ui_theme(v->screen.ui)->text, text, shorter, NULL);
}

void panel_draw_status(struct viewer *v) {
    const struct draw_settings *area = &v->display.settings;
    struct ui *ui = v->screen.ui;
    char text[96], all[320];
    describe_status(v, text, sizeof(text));
    int used = snprintf(all, sizeof(all), "%s   ", text);
    if (!v->display.motion)
        used += snprintf(all + used, sizeof(all) - (size_t)used, "quality %s%s   ",
                         quality_names[viewer_quality(v)], v->quality.automatic ? " (auto)" : "");
    snprintf(all + used, sizeof(all) - (size_t)used, "%s", v->playback.state.backend);
    ui_panel_begin(ui, "status", area->x, area->y, 0, 0, UI_AUTO_SIZE | UI_TRANSLUCENT);
    ui_text(ui, all);
    row_watch_draw(&v->row_watch, ui, v->rig.known && !v->display.motion);
    ui_panel_end(ui);
}

/* ---- the panel from top to bottom */

/* The rows of a group of parameters. */
static void draw_params(struct viewer *v, const char *group) {
    bool changed = false;
    for (int i = 0; i < param_count; i++)
        if (strcmp(param_table[i].group, group) == 0)
            changed |= param_row_draw(&param_table[i], &v->settings, v->rig.width, v->screen.ui);
    if (changed)
        viewer_apply_settings(v);
}

static void draw_quality(struct viewer *v) {
    int quality = v->quality.automatic ? QUALITY_AUTO : viewer_quality(v), before = quality;
    struct ui_row combo = {
        .name = "quality",
        .label = "quality",
        .help =
            "fast (preset live), best (default) or between; auto takes the best that reaches "
            "15 frames a second on this machine, fast on smaller pictures if none does, until you "
            "choose; custom: settings of your own",
        .choices = quality == QUALITY_CUSTOM ? "fast|balanced|best|auto|custom"
                                             : "fast|balanced|best|auto",
        .def = QUALITY_AUTO};
    if (v->quality.known && ui_combo(v->screen.ui, &combo, &quality) && quality != before)
        viewer_set_quality(v, quality);
}

/* Suggests that the pictures are exchanged, or a range that fits the frame better. The line exists
 * even without a suggestion, so that nothing below it moves. */
static void draw_hint(struct viewer *v) {
    char text[64];
    if (v->display.motion) {
        struct params p = v->settings.params;
        p.motion_color_range = 0; /* what the coarsest level searches, and 3 px at each other one */
        snprintf(text, sizeof(text), "finds motions of up to %g px",
                 visualize_motion_range(&p) + 3 * ((1 << (p.motion_levels - 1)) - 1));
        ui_text_line_or(v->screen.ui, ui_theme(v->screen.ui)->note, text, strstr(text, "up to"),
                        NULL);
        return;
    }
    const struct frame *shown = v->playback.shown;
    if (swap_watch_hint(&v->swap_watch)) {
        action_button(v, "swap_take", "left and right look exchanged: exchange them", ACTION_SWAP);
        return;
    }
    int better = shown ? hints_range(shown, MIN(512, v->rig.width - 1)) : 0;
    if (better == 0 || shown->params.disparity_range != v->settings.params.disparity_range) {
        ui_text_line_or(v->screen.ui, ui_theme(v->screen.ui)->note, "range: fits the picture",
                        "range fits", NULL);
        return;
    }
    snprintf(text, sizeof(text), "range: %d fits better", better);
    if (ui_button(v->screen.ui, "range_take", text,
                  better > v->settings.params.disparity_range
                      ? "much of the picture has the largest disparity: what is nearer is cut off"
                      : "the picture uses less than a quarter of the range, which costs time") &&
        param_put(&v->settings.params, param_find("disparity_range"), better) == 0)
        viewer_apply_settings(v);
}

/* A narrow panel has shorter lines. */
static void draw_head(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    const struct source *source = v->playback.source;
    const char *backend = v->playback.state.backend;
    char text[128], shorter[128];
    int used = snprintf(text, sizeof(text), "%s  %dx%d", backend, v->rig.width, v->rig.height);
    if (v->rig.width != source->width || v->rig.height != source->height)
        snprintf(text + used, sizeof(text) - (size_t)used, " of %dx%d", source->width,
                 source->height);
    snprintf(shorter, sizeof(shorter), "%.*s %dx%d", (int)strcspn(backend, " ("), backend,
             v->rig.width, v->rig.height);
    ui_text_line_or(ui, ui_theme(ui)->text, text, shorter, NULL);
    draw_status(v);
    row_watch_draw(&v->row_watch, ui, v->rig.known && !v->display.motion);
    if (g_str_has_prefix(source->name, "synth"))
        ui_text_line_or(ui, ui_theme(ui)->note, "a demonstration: the built-in scene",
                        "a demonstration", "n opens something else");
    else if (v->display.motion && v->rig.known)
        ui_text_line_or(ui, ui_theme(ui)->note, "undistorted by the calibration", "undistorted",
                        NULL);
    else if (!rig_use_is_metric(&v->rig) && !v->display.motion)
        ui_text_line_or(ui, ui_theme(ui)->note, "no calibration: disparities in pixels",
                        "no calibration", NULL);
}

/* One line of short words. */
static void draw_toolbar(struct viewer *v) {
    static const struct {
        const char *name, *label;
        enum action action;
    } tools[] = {{"tool.open", "open", ACTION_START_PAGE},
                 {"tool.record", "rec", ACTION_RECORD},
                 {"tool.snapshot", "save", ACTION_SAVE_PAIR},
                 {"tool.points", "3D", ACTION_SHOW_POINTS},
                 {"tool.measure", "measure", ACTION_MEASURE},
                 {"tool.compare", "A/B: A", ACTION_COMPARE},
                 {"tool.fold", ">>", ACTION_FOLD}};
    const bool on[G_N_ELEMENTS(tools)] = {[1] = v->recording.recorder != NULL,
                                          [3] = display_shows(&v->display, DISPLAY_POINTS),
                                          [4] = v->measure.on,
                                          [5] = v->settings.slot_in_use != 0};
    bool first = true;
    for (size_t i = 0; i < G_N_ELEMENTS(tools); i++) {
        const char *label = tools[i].action == ACTION_COMPARE && on[i] ? "A/B: B" : tools[i].label;
        if (!action_fits(&v->display, tools[i].action))
            continue;
        if (!first)
            ui_same_line_for(v->screen.ui, label);
        first = false;
        ui_mark_next(v->screen.ui, on[i]);
        action_button(v, tools[i].name, label, tools[i].action);
    }
}

static void draw_cameras_group(struct viewer *v) {
    struct source *source = v->playback.source;
    if (!ui_group(v->screen.ui, "cameras", NULL, source->live))
        return;
    if (source->get_status)
        cameras_draw_names(&v->cameras, v->screen.ui);
    if (!v->display.motion)
        action_button(v, "camera_swap", "exchange left and right", ACTION_SWAP);
    cameras_draw_controls(&v->cameras, &v->screen, source);
    if (!v->display.motion)
        draw_params(v, PANEL_CAMERAS);
    if (v->playback.shown)
        exposure_draw(v->playback.shown, v->screen.ui);
}

static void draw_rig_group(struct viewer *v) {
    if (v->display.motion || !ui_group(v->screen.ui, "rig", NULL, false))
        return;
    if (panel_rig_draw(&v->row_watch, &v->screen, &v->rig, &v->settings.params,
                       &v->display.settings.row_lines))
        viewer_apply_settings(v);
    if (v->rig.known)
        refine_watch_draw(v);
}

/* A check of the calibration by one point whose distance the user knows. */
static void draw_known_distance(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    struct measure *m = &v->measure;
    const double focal = v->rig.geometry.fx;
    char text[192];
    if (ui_text_input(ui, "known_distance", "known distance, as 1.20 m", 0.97, m->known,
                      sizeof(m->known))) {
        measure_know(m);
        screen_notify(&v->screen, m->known_m > 0
                                      ? "click a point that is so far in front of the left camera"
                                      : "type a distance, such as 1.20 m or 120 cm");
    }
    if (m->focal == 0)
        return;
    bool agrees = fabs(m->focal - focal) <= 2 * m->focal_error;
    snprintf(text, sizeof(text),
             "%g m there says f %.1f \u00b1 %.1f px; the calibration has %.1f, %s%.1f %% off",
             m->known_m, m->focal, m->focal_error, focal,
             agrees ? "which agrees: " : "so f or the baseline is ",
             100 * fabs(m->focal / focal - 1));
    ui_text_color(ui, agrees ? ui_theme(ui)->good : ui_theme(ui)->bad, text);
}

static void draw_measuring_group(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    if (!ui_group(ui, "measuring", NULL, false))
        return;
    if (!v->display.motion) {
        action_button(v, "measure", v->measure.on ? "end measuring" : "measure", ACTION_MEASURE);
        ui_same_line_for(ui, "whole picture");
    }
    action_button(v, "region", v->rig_options.roi ? "whole picture" : "part of it", ACTION_REGION);
    ui_same_line_for(ui, "remove probes");
    action_button(v, "unpin", "remove probes", ACTION_CLEAR_PROBES);
    struct ui_row combo = {.name = "unit",
                           .label = "unit",
                           .help = "of depths and distances",
                           .choices = "m|mm",
                           .def = UNIT_M};
    int unit = (int)v->unit;
    if (rig_use_is_metric(&v->rig) && ui_combo(ui, &combo, &unit))
        v->unit = (enum length_unit)unit;
    if (rig_use_is_metric(&v->rig) && !v->display.motion)
        draw_known_distance(v);
}

static void draw_recording_group(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    if (!ui_group(ui, "recording", NULL, false))
        return;
    action_button(v, "record", v->recording.recorder ? "end recording" : "record", ACTION_RECORD);
    ui_same_line_for(ui, "save as video");
    action_button(v, "save_video", "save as video", ACTION_SAVE_VIDEO);
    action_button(v, "save_pair", "save pair", ACTION_SAVE_PAIR);
    ui_same_line_for(ui, "save points");
    if (!v->display.motion)
        action_button(v, "save_points", "save points", ACTION_SAVE_POINTS);
    ui_same_line_for(ui, "save window");
    action_button(v, "save_window", "save window", ACTION_SAVE_WINDOW);
}

static void draw_advanced_group(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    if (!ui_group(ui, "advanced", NULL, false))
        return;
    action_button(v, "undo", "undo", ACTION_UNDO);
    ui_same_line_for(ui, "redo");
    action_button(v, "redo", "redo", ACTION_REDO);
    ui_same_line_for(ui, "all defaults");
    action_button(v, "defaults", "all defaults", ACTION_RESET_SETTINGS);
    ui_same_line_for(ui, "copy as --set");
    action_button(v, "copy_settings", "copy as --set", ACTION_COPY_SETTINGS);
    if (!v->display.motion)
        estimate_watch_draw(v);
    panel_advanced_draw(v);
}

/* The strip that is left of a folded panel. */
static void draw_folded(struct viewer *v, const struct layout_rect *r) {
    ui_panel_begin(v->screen.ui, "settings", r->x, r->y, r->width, r->height, UI_NO_BACKGROUND);
    action_button(v, "tool.unfold", "<<", ACTION_FOLD);
    ui_panel_end(v->screen.ui);
}

/* Dragging the edge of a panel beside the picture makes it wider or narrower. */
static void draw_edge(struct viewer *v, const struct layout_rect *r) {
    double moved, before = v->panel_lines;
    double line = ui_text_height(v->screen.ui);
    if (!ui_splitter(v->screen.ui, "panel_edge", r->x, r->y, r->height, &moved) || fabs(moved) < 1)
        return;
    v->panel_lines = fmax(PANEL_LEAST_LINES, fmin(PANEL_MOST_LINES, (r->width - moved) / line));
    if (v->panel_lines != before)
        screen_settle(&v->screen);
}

void panel_draw(struct viewer *v) {
    const struct layout_rect *r = &v->layout.panel;
    if (v->folded) {
        draw_folded(v, r);
        return;
    }
    ui_panel_begin(v->screen.ui, "settings", r->x, r->y, r->width, r->height,
                   UI_SCROLL | UI_NO_BACKGROUND | (v->panel_keys ? UI_KEYBOARD : 0));
    ui_table_begin(v->screen.ui, "settings.columns", v->layout.columns);
    ui_table_next(v->screen.ui);
    draw_toolbar(v);
    draw_head(v);
    draw_quality(v);
    panel_first_params_draw(v);
    draw_hint(v);
    if (v->layout.columns > 1)
        ui_table_next(v->screen.ui);
    panel_presets_draw(v);
    panel_picture_draw(v);
    if (v->layout.columns > 2)
        ui_table_next(v->screen.ui);
    draw_measuring_group(v);
    draw_cameras_group(v);
    draw_rig_group(v);
    draw_recording_group(v);
    draw_advanced_group(v);
    ui_table_end(v->screen.ui);
    ui_panel_end(v->screen.ui);
    if (r->y == 0)
        draw_edge(v, r);
}
