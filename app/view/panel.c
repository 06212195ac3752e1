/*
 * The functions of app/view/panel.h that have no file of their own.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/panel.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"
#include "app/visualize.h"
#include "config/presets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a row for a parameter */

/* A parameter that takes effect at the next start also shows its present value. */
static void describe_row(const struct param_info *info, const struct settings *settings,
                         char label[96], char help[512]) {
    char now[64];
    int used = snprintf(help, 512, "%s%s%s\n--set %s", info->help, *info->unit ? "\nUnit: " : "",
                        info->unit, info->name);
    if (info->when == PARAM_LIVE) {
        snprintf(label, 96, "%s", info->name);
        return;
    }
    param_print(&settings->running, info, now, sizeof(now));
    snprintf(label, 96, "%s (at next start)", info->name);
    snprintf(help + used, 512 - (size_t)used, "\nA change acts at the next start; now it is %s.",
             now);
}

bool param_row_draw(const struct param_info *info, const char *label, struct settings *settings,
                    int width, struct ui *ui) {
    static const enum ui_row_kind kinds[] = {[PARAM_TYPE_ENUM] = UI_COMBO,
                                             [PARAM_TYPE_BOOL] = UI_CHECKBOX,
                                             [PARAM_TYPE_REAL] = UI_SLIDER};
    char own_label[96], help[512];
    bool limited = strcmp(info->name, "disparity_range") == 0;
    double before = param_get(&settings->params, info), value = before;
    describe_row(info, settings, own_label, help);
    ui_row_draw(ui,
                &(struct ui_row){.name = info->name,
                                 .label = label ? label : own_label,
                                 .help = help,
                                 .kind = kinds[info->type],
                                 .choices = info->choices,
                                 .def = info->def,
                                 .min = info->min,
                                 .max = limited ? fmin(info->max, width - 1) : info->max,
                                 .step = info->step,
                                 .integer = info->type == PARAM_TYPE_INT},
                &value);
    if (settings_is_pending(settings, info)) {
        char now[64], text[128];
        snprintf(text, sizeof(text), "   now %s; the new value acts at the next start",
                 param_print(&settings->running, info, now, sizeof(now)));
        ui_text_color(ui, 0xffd080, text);
    }
    return value != before && param_put(&settings->params, info, value) == 0;
}

/* ---- the line that is always there: frames a second, time of a frame, backend, quality */

static void describe_status(const struct viewer *v, char *text, size_t size) {
    const struct frame *shown = v->playback.shown;
    const struct viewer_quality *q = &v->quality;
    int used = snprintf(text, size, "%.1f frames/s   ", v->statistics.rates.computed);
    if (shown)
        used += snprintf(text + used, size - (size_t)used, "%.*f ms   ",
                         shown->compute_ms < 10 ? 1 : 0, shown->compute_ms);
    if (v->display.motion)
        return;
    snprintf(text + used, size - (size_t)used, "quality %s%s", quality_names[viewer_quality(v)],
             q->search.on ? ", searching" : (q->automatic ? " (auto)" : ""));
}

static void draw_status(struct viewer *v) {
    char text[192];
    describe_status(v, text, sizeof(text));
    ui_text(v->screen.ui, text);
}

void panel_draw_status(struct viewer *v) {
    const struct draw_settings *area = &v->display.settings;
    struct ui *ui = v->screen.ui;
    char text[192], all[320];
    describe_status(v, text, sizeof(text));
    snprintf(all, sizeof(all), "%s   %s", text, v->playback.state.backend);
    ui_panel_begin(ui, "status", area->x, area->y, 0, 0, UI_AUTO_SIZE | UI_TRANSLUCENT);
    ui_text(ui, all);
    row_watch_draw(&v->row_watch, ui, v->rig.known && !v->display.motion);
    ui_panel_end(ui);
}

/* ---- the panel from top to bottom */

#define CAMERAS_GROUP "cameras" /* of parameters, drawn with the cameras' controls */

/* The rows of a group of parameters. */
static void draw_params(struct viewer *v, const char *group) {
    bool changed = false;
    for (int i = 0; i < param_count; i++)
        if (strcmp(param_table[i].group, group) == 0)
            changed |=
                param_row_draw(&param_table[i], NULL, &v->settings, v->rig.width, v->screen.ui);
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

/* The size of the pictures that are computed. A change takes effect after the drawing. */
static void draw_size(struct viewer *v) {
    int size = 0;
    while (size < QUALITY_SIZES && fabs(v->rig.scale - quality_sizes[size]) > 1e-6)
        size++;
    bool other = size == QUALITY_SIZES;
    struct ui_row combo = {.name = "scale",
                           .label = "size",
                           .help = "pictures are computed whole, or smaller and so faster; "
                                   "the range goes along",
                           .choices = other ? "1|1/2|1/3|custom" : quality_size_names,
                           .def = 0};
    if (!ui_combo(v->screen.ui, &combo, &size) || size == QUALITY_SIZES)
        return;
    v->quality.search.on = false; /* the user has chosen */
    v->quality.search.size = 0;
    viewer_want_part(v, v->rig_options.roi, quality_sizes[size]);
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
        ui_text_color(v->screen.ui, 0xb0b0b0, text);
        return;
    }
    const struct frame *shown = v->playback.shown;
    if (swap_watch_hint(&v->swap_watch)) {
        action_button(v, "swap_take", "left and right look exchanged: exchange them", ACTION_SWAP);
        return;
    }
    int better = shown ? hints_range(shown, MIN(512, v->rig.width - 1)) : 0;
    if (better == 0 || shown->params.disparity_range != v->settings.params.disparity_range) {
        ui_text_color(v->screen.ui, 0xb0b0b0, "range: fits the picture");
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

static void draw_head(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    const struct source *source = v->playback.source;
    char text[128];
    int used = snprintf(text, sizeof(text), "%s  %dx%d", v->playback.state.backend, v->rig.width,
                        v->rig.height);
    if (v->rig.width != source->width || v->rig.height != source->height)
        snprintf(text + used, sizeof(text) - (size_t)used, " of %dx%d", source->width,
                 source->height);
    ui_text(ui, text);
    draw_status(v);
    row_watch_draw(&v->row_watch, ui, v->rig.known && !v->display.motion);
    if (g_str_has_prefix(source->name, "synth"))
        ui_text_color(ui, 0xb0b0b0, "a demonstration: the built-in scene (n opens something else)");
    else if (v->display.motion && v->rig.known)
        ui_text_color(ui, 0xb0b0b0, "undistorted by the calibration");
    else if (!rig_use_is_metric(&v->rig) && !v->display.motion)
        ui_text_color(ui, 0xb0b0b0, "no calibration: disparities in pixels");
    draw_quality(v);
    draw_size(v);
}

static void draw_cameras_group(struct viewer *v) {
    struct source *source = v->playback.source;
    if (!ui_group(v->screen.ui, "cameras", source->live))
        return;
    if (source->get_status)
        cameras_draw_names(&v->cameras, v->screen.ui);
    if (!v->display.motion)
        action_button(v, "camera_swap", "exchange left and right", ACTION_SWAP);
    cameras_draw_controls(&v->cameras, &v->screen, source);
    if (!v->display.motion)
        draw_params(v, CAMERAS_GROUP);
    if (v->playback.shown)
        exposure_draw(v->playback.shown, v->screen.ui);
}

/* ---- settings */

/* The presets' groups: by what a name begins with, a paper's; any other that is built in; own. */
static const struct preset_group {
    const char *begin, *title;
} preset_groups[] = {
    {NULL, "for use"},
    {"brunton2006",
     "Brunton, Shu, Roth: Belief Propagation on the GPU for Stereo Vision. CRV 2006"},
    {"felzenszwalb2006",
     "Felzenszwalb, Huttenlocher: Efficient Belief Propagation for Early Vision. IJCV 2006"},
    {"grauergray2008", "Grauer-Gray, Kambhamettu, Palaniappan: GPU Implementation of Belief "
                       "Propagation Using CUDA. PRRS 2008"},
    {"liang2011",
     "Liang, Cheng, Lai, Chen, Chen: Hardware-Efficient Belief Propagation. TCSVT 2011"},
    {"xu2009",
     "Xu, Chen, Klette, Liu, Vaudrey: Belief Propagation Implementation Using CUDA. AusAI 2009"},
    {"yang2006", "Yang, Wang, Yang, Wang, Liao, Nister: Real-time Global Stereo Matching Using "
                 "Hierarchical Belief Propagation. BMVC 2006"},
    {"", "own"}};

/* A row of preset_groups. */
static size_t preset_group(const char *name) {
    if (!preset_find(name))
        return G_N_ELEMENTS(preset_groups) - 1;
    for (size_t i = 1; i + 1 < G_N_ELEMENTS(preset_groups); i++)
        if (g_str_has_prefix(name, preset_groups[i].begin))
            return i;
    return 0;
}

/* Draws the presets of a group; the one that was loaded last says so. The one clicked, or NULL. */
static const char *draw_preset_buttons(struct viewer *v, size_t group, bool changed) {
    struct ui *ui = v->screen.ui;
    const char *chosen = NULL;
    bool first = true;
    for (char **preset = v->presets.names; preset && *preset; preset++) {
        char name[96], label[96];
        if (preset_group(*preset) != group)
            continue;
        bool active = strcmp(*preset, v->presets.name) == 0;
        snprintf(name, sizeof(name), "preset.%s", *preset);
        snprintf(label, sizeof(label), "%s%s%s", active ? "> " : "", *preset,
                 active && changed ? ", changed" : "");
        if (first)
            ui_text_color(ui, 0xb0b0b0, preset_groups[group].title);
        else
            ui_same_line_for(ui, label);
        first = false;
        if (ui_button(ui, name, label, "load this preset; range and calibration stay"))
            chosen = *preset;
    }
    return chosen;
}

static void draw_presets(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    const char *chosen = NULL;
    bool changed = presets_are_changed(&v->presets, &v->settings);
    for (size_t i = 0; i < G_N_ELEMENTS(preset_groups); i++) {
        const char *clicked = draw_preset_buttons(v, i, changed);
        chosen = clicked ? clicked : chosen;
    }
    ui_text_input(ui, "preset_name", "name", v->presets.name, sizeof(v->presets.name));
    ui_same_line_for(ui, "save");
    action_button(v, "preset_save", "save", ACTION_SAVE_PRESET);
    ui_same_line_for(ui, "load");
    action_button(v, "preset_load", "load", ACTION_LOAD_PRESET);
    if (chosen)
        viewer_load_preset(v, chosen);
}

static void draw_presets_group(struct viewer *v) {
    char label[64];
    if (!ui_group(v->screen.ui, "presets", true))
        return;
    draw_presets(v);
    ui_separator(v->screen.ui);
    snprintf(label, sizeof(label), "compare: now %c", "AB"[v->settings.slot_in_use]);
    action_button(v, "compare", label, ACTION_COMPARE);
    ui_same_line_for(v->screen.ui, "all defaults");
    action_button(v, "defaults", "all defaults", ACTION_RESET_SETTINGS);
    action_button(v, "undo", "undo", ACTION_UNDO);
    ui_same_line_for(v->screen.ui, "redo");
    action_button(v, "redo", "redo", ACTION_REDO);
    ui_same_line_for(v->screen.ui, "copy as --set");
    action_button(v, "copy_settings", "copy as --set", ACTION_COPY_SETTINGS);
}

static void draw_rig_group(struct viewer *v) {
    if (v->display.motion || !ui_group(v->screen.ui, "rig", false))
        return;
    if (panel_rig_draw(&v->row_watch, &v->screen, &v->rig, &v->settings.params,
                       &v->display.settings.row_lines))
        viewer_apply_settings(v);
    if (v->rig.known)
        refine_watch_draw(v);
}

/* The parameters that are changed most often, under plain names; a tooltip has the parameter's own
 * name. */
static const struct first_param {
    const char *name, *label;
} first_params[2][8] = {[MODE_STEREO] = {{"disparity_range", "range (nearness)"},
                                         {"discontinuity_weight", "smoothness"},
                                         {"hide_below", "hide below confidence"},
                                         {"fill", "fill holes"},
                                         {"mark_filled", "hatch filled (H)"},
                                         {"speckle_size", "remove speckles"}},
                        [MODE_MOTION] = {{"motion_levels", "picture levels"},
                                         {"motion_fraction", "labels in a pixel"},
                                         {"discontinuity_weight", "smoothness"},
                                         {"fill", "fill holes"},
                                         {"speckle_size", "remove speckles"}}};

static bool is_first(int mode, const char *name) {
    for (const struct first_param *p = first_params[mode]; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return true;
    return false;
}

static void draw_first_params(struct viewer *v) {
    bool changed = false;
    const struct first_param *first = first_params[v->display.motion];
    for (const struct first_param *p = first; p->name; p++) {
        changed |=
            param_row_draw(param_find(p->name), p->label, &v->settings, v->rig.width, v->screen.ui);
        if (p == first)
            panel_rig_draw_depths(v->screen.ui, &v->rig, &v->settings.params);
    }
    draw_hint(v);
    if (changed)
        viewer_apply_settings(v);
}

/* Whether a group has an effect in the window's mode. */
static bool group_acts(const struct display *display, const char *group) {
    static const char *const of_stereo[] = {"rectification", "search", "cost smoothing", "schedule",
                                            "occlusion"};
    for (size_t i = 0; i < G_N_ELEMENTS(of_stereo); i++)
        if (strcmp(group, of_stereo[i]) == 0)
            return !display->motion;
    return strcmp(group, CAMERAS_GROUP) != 0 && (strcmp(group, "motion") != 0 || display->motion);
}

/* All groups of parameters except the cameras', without the parameters above. */
static void draw_param_groups(struct viewer *v) {
    bool changed = false, open = false;
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        if (!group_acts(&v->display, info->group))
            continue;
        if (i == 0 || strcmp(info->group, param_table[i - 1].group) != 0)
            open = ui_group(v->screen.ui, info->group, info->when == PARAM_LIVE);
        bool of_opening = strcmp(info->name, "mode") == 0 || strcmp(info->name, "motion_step") == 0,
             of_stereo = v->display.motion && is_first(MODE_STEREO, info->name) &&
                         info->part == PARAM_DISPLAY;
        if (open && !of_opening && !of_stereo && !is_first(v->settings.running.mode, info->name))
            changed |= param_row_draw(info, NULL, &v->settings, v->rig.width, v->screen.ui);
    }
    if (changed)
        viewer_apply_settings(v);
}

void panel_draw(struct viewer *v) {
    const struct layout_rect *r = &v->layout.panel;
    ui_panel_begin(v->screen.ui, "settings", r->x, r->y, r->width, r->height,
                   UI_SCROLL | UI_NO_BACKGROUND);
    draw_head(v);
    draw_first_params(v);
    draw_cameras_group(v);
    panel_picture_draw(v);
    draw_rig_group(v);
    draw_presets_group(v);
    if (ui_group(v->screen.ui, "advanced", false))
        draw_param_groups(v);
    ui_panel_end(v->screen.ui);
}
