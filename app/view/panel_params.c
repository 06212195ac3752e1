/*
 * The rows of parameters, of app/view/panel.h: plain names first, the parameter's own name and the
 * papers' symbols in the tooltip. SPDX-License-Identifier: MIT
 */
#include "app/view/panel.h"

#include "app/view/viewer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the panel calls a parameter where its name without underscores is not plain enough, and what
 * the papers of the presets call it. */
static const struct plain_name {
    const char *name, *label, *symbol;
} plain_names[] = {
    {"backend", "compute on", NULL},
    {"threads", "processor threads", NULL},
    {"gpu", "number of the GPU", NULL},
    {"memory", "most memory", NULL},
    {"row_offset", "move rows by", NULL},
    {"row_alignment", "align rows in each pair", NULL},
    {"disparity_range", "range (nearness)", "k (Felzenszwalb), L (Liang)"},
    {"smooth_sigma", "smoothing of pictures", "sigma (Felzenszwalb)"},
    {"matching_input", "what is compared", NULL},
    {"data_cost", "cost of a match", "D (Felzenszwalb)"},
    {"cost_color", "compare colours", NULL},
    {"data_curve", "curve of differences", NULL},
    {"data_weight", "weight of differences", "lambda (Felzenszwalb), eta (Yang)"},
    {"data_truncation", "cut of differences", "tau (Felzenszwalb), T_data (Grauer-Gray, Xu)"},
    {"census_weight", "weight of census", NULL},
    {"census_truncation", "cut of census", NULL},
    {"cost_adapts", "adapt to noise", NULL},
    {"outside_match", "beyond the border", NULL},
    {"cost_smoothing", "average the costs", NULL},
    {"cross_length", "window along the row", NULL},
    {"cross_height", "window along the column", NULL},
    {"cross_step", "colour step that ends it", NULL},
    {"bp_levels", "levels", NULL},
    {"bp_iterations", "half-steps a level", NULL},
    {"bp_iterations_0", "half-steps, finest level", NULL},
    {"bp_iterations_1", "half-steps, second level", NULL},
    {"discontinuity_weight", "smoothness", "rho (Brunton, Yang)"},
    {"discontinuity_truncation", "cost of an edge",
     "d (Felzenszwalb), T_disc (Grauer-Gray, Xu), d_pq (Brunton)"},
    {"truncation_by_range", "more with the range", NULL},
    {"bp_fast_converging", "skip what has settled", NULL},
    {"bp_convergence_threshold", "change that counts", NULL},
    {"pruning", "few labels at the end", NULL},
    {"bp_schedule", "order of messages", NULL},
    {"bp_damping", "damping", NULL},
    {"tile_size", "size of a tile", "B (Liang)"},
    {"tile_inner", "iterations in a tile", "T_I (Liang)"},
    {"tile_outer", "rounds of all tiles", "T_O (Liang)"},
    {"smoothness", "form of smoothness", "V (Liang)"},
    {"edge_difference", "colour step", NULL},
    {"edge_step_1", "weak edges from", NULL},
    {"edge_factor_1", "smoothness across them", NULL},
    {"edge_step_2", "strong edges from", NULL},
    {"edge_factor_2", "smoothness across those", NULL},
    {"edge_weakens", "edges weaken", "d_pq (Brunton)"},
    {"occlusion_masks", "mask occluded pixels", NULL},
    {"occlusion_levels", "levels with masks", NULL},
    {"subpixel", "sub-pixel curve", NULL},
    {"subpixel_from", "curve through", NULL},
    {"lr_check", "left-right check", NULL},
    {"right_iterations", "half-steps of the check", NULL},
    {"min_confidence", "unknown below", NULL},
    {"hide_below", "hide below confidence", NULL},
    {"mark_filled", "hatch filled (H)", NULL},
    {"speckle_size", "remove speckles", NULL},
    {"fill", "fill holes", NULL},
    {"hole_radius", "radius of their median", NULL},
    {"surface_length", "planes up to", NULL},
    {"surface_step", "step within a plane", NULL},
    {"temporal_mode", "steady over time", NULL},
    {"temporal_filter", "steadiness", NULL},
    {"motion_u_min", "least motion right", NULL},
    {"motion_u_range", "range of it", "u (Grauer-Gray)"},
    {"motion_v_min", "least motion down", NULL},
    {"motion_v_range", "range of that", "v (Grauer-Gray)"},
    {"motion_levels", "picture levels", NULL},
    {"motion_fraction", "labels in a pixel", NULL},
    {"motion_color_range", "full colour at (px)", NULL},
    {"temporal_weight", "weight of the last motion", NULL},
    {"sync_tolerance_ms", "pairs apart at most (ms)", NULL},
};

static void name_row(const struct param_info *info, char label[64], const char **symbol) {
    *symbol = NULL;
    g_strlcpy(label, info->name, 64);
    g_strdelimit(label, "_", ' ');
    for (size_t i = 0; i < G_N_ELEMENTS(plain_names); i++)
        if (strcmp(plain_names[i].name, info->name) == 0) {
            g_strlcpy(label, plain_names[i].label, 64);
            *symbol = plain_names[i].symbol;
        }
}

/* g_free. A parameter that takes effect at the next start also shows its present value. */
static char *describe_row(const struct param_info *info, const struct settings *settings,
                          const char *symbol) {
    GString *help = g_string_new(info->help);
    char now[64];
    if (*info->unit)
        g_string_append_printf(help, "\nUnit: %s", info->unit);
    if (symbol)
        g_string_append_printf(help, "\nIn papers: %s", symbol);
    g_string_append_printf(help, "\n--set %s", info->name);
    if (info->when == PARAM_START)
        g_string_append_printf(help, "\nA change acts at the next start; now it is %s.",
                               param_print(&settings->running, info, now, sizeof(now)));
    return g_string_free(help, FALSE);
}

bool param_row_draw(const struct param_info *info, struct settings *settings, int width,
                    struct ui *ui) {
    static const enum ui_row_kind kinds[] = {[PARAM_TYPE_ENUM] = UI_COMBO,
                                             [PARAM_TYPE_BOOL] = UI_CHECKBOX,
                                             [PARAM_TYPE_REAL] = UI_SLIDER};
    const char *symbol;
    char label[64];
    name_row(info, label, &symbol);
    g_autofree char *help = describe_row(info, settings, symbol);
    bool limited = strcmp(info->name, "disparity_range") == 0;
    double before = param_get(&settings->params, info), value = before;
    ui_row_draw(ui,
                &(struct ui_row){.name = info->name,
                                 .label = label,
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
        ui_text_color(ui, ui_theme(ui)->changed, text);
    }
    return value != before && param_put(&settings->params, info, value) == 0;
}

/* ---- what everybody turns */

static const char *const first_params[2][8] = {
    [MODE_STEREO] = {"disparity_range", "discontinuity_weight", "hide_below", "fill",
                     "speckle_size"},
    [MODE_MOTION] = {"motion_levels", "motion_fraction", "discontinuity_weight", "fill",
                     "speckle_size"}};

static bool is_first(int mode, const char *name) {
    return g_strv_contains(first_params[mode], name);
}

void panel_first_params_draw(struct viewer *v) {
    bool changed = false;
    const char *const *first = first_params[v->display.motion];
    for (const char *const *name = first; *name; name++) {
        changed |= param_row_draw(param_find(*name), &v->settings, v->rig.width, v->screen.ui);
        if (name == first)
            panel_rig_draw_depths(v->screen.ui, &v->rig, &v->settings.params);
    }
    if (changed)
        viewer_apply_settings(v);
}

/* ---- all others, by stage */

/* Those that other groups of the panel have. */
static bool is_elsewhere(const struct viewer *v, const struct param_info *info) {
    return info->part == PARAM_DISPLAY || is_first(v->settings.running.mode, info->name) ||
           strcmp(info->name, "mode") == 0 || strcmp(info->name, "motion_step") == 0;
}

/* Whether a group has an effect in the window's mode. */
static bool group_acts(const struct display *display, const char *group) {
    static const char *const of_stereo[] = {"rectification", "search",    "cost smoothing",
                                            "schedule",      "occlusion", NULL};
    if (g_strv_contains(of_stereo, group))
        return !display->motion;
    return strcmp(group, PANEL_CAMERAS) != 0 && (strcmp(group, "motion") != 0 || display->motion);
}

/* Whether a parameter's names or its help have what was typed. */
static bool is_found(const struct param_info *info, const char *typed) {
    const char *symbol;
    char label[64];
    name_row(info, label, &symbol);
    g_autofree char *all = g_strjoin(" ", label, info->name, info->help, symbol, NULL),
                    *lower = g_ascii_strdown(all, -1), *word = g_ascii_strdown(typed, -1);
    return strstr(lower, word) != NULL;
}

void panel_advanced_draw(struct viewer *v) {
    bool changed = false, open = false;
    ui_text_input(v->screen.ui, "param_search", "search parameters", 0.97, v->param_search,
                  sizeof(v->param_search));
    bool searched = v->param_search[0] != '\0';
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        if (!group_acts(&v->display, info->group))
            continue;
        if (searched)
            open = is_found(info, v->param_search);
        else if (i == 0 || strcmp(info->group, param_table[i - 1].group) != 0)
            open = ui_group(v->screen.ui, info->group, NULL, false);
        if (open && !is_elsewhere(v, info))
            changed |= param_row_draw(info, &v->settings, v->rig.width, v->screen.ui);
    }
    if (changed)
        viewer_apply_settings(v);
}
