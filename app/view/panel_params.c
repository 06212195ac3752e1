/*
 * The rows of all parameters by stage, of app/view/panel.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include <stdio.h>
#include <string.h>

/* Static until the next call. */
static const char *describe(const struct param_info *info) {
    static char help[1024];
    snprintf(help, sizeof(help), *info->unit ? "%s\n--set %s, %s" : "%s\n--set %s", info->help,
             info->name, info->unit);
    if (info->when == PARAM_START)
        g_strlcat(help, "\nA change acts at the next start.", sizeof(help));
    return help;
}

void param_row_fit(const struct param_info *info, const struct viewer *v, struct ui_row *row) {
    static const enum ui_row_kind kinds[] = {
        [PARAM_TYPE_ENUM] = UI_COMBO, [PARAM_TYPE_BOOL] = UI_SWITCH, [PARAM_TYPE_REAL] = UI_SLIDER};
    bool found = v->settings.automatic && quality_covers(&v->quality.all, info);
    double now = param_get(&v->now.asked, info);
    bool limited = strcmp(info->name, "disparity_range") == 0;
    row->help = describe(info);
    row->kind = kinds[info->type];
    row->choices = info->choices;
    row->def = found ? now : param_get(&v->settings.base, info);
    row->min = info->min;
    row->max = limited ? panel_largest_range(v) : info->max;
    row->step = info->step;
    row->integer = info->type == PARAM_TYPE_INT;
    row->changed = now != row->def;
    row->automatic = found;
}

void param_row_draw(const struct param_info *info, struct viewer *v) {
    char label[64];
    struct ui_row row = {.name = info->name, .label = label};
    double value = param_get(&v->now.asked, info);
    g_strlcpy(label, info->name, sizeof(label));
    g_strdelimit(label, "_", ' ');
    label[0] = g_ascii_toupper(label[0]);
    param_row_fit(info, v, &row);
    if (ui_row_draw(v->screen.ui, &row, &value))
        viewer_put(v, info, value);
    if (settings_is_pending(&v->settings, &v->running, info)) {
        char now[64];
        ui_text_color(v->screen.ui, ui_theme(v->screen.ui)->changed,
                      "Now %s; the new value acts at the next start",
                      param_print(&v->running, info, now, sizeof(now)));
    }
}

/* Those that other tabs have. */
static bool is_elsewhere(const struct viewer *v, const struct param_info *info) {
    return info->part == PARAM_DISPLAY || strcmp(info->name, "mode") == 0 ||
           strcmp(info->name, "motion_step") == 0 || panel_has_row(v, TAB_DEPTH, info->name);
}

/* Whether a group has an effect in the window's mode. */
static bool group_acts(const struct display *display, const char *group) {
    static const char *const of_stereo[] = {"rectification", "search",    "cost smoothing",
                                            "schedule",      "occlusion", NULL};
    if (g_strv_contains(of_stereo, group))
        return !display->motion;
    return strcmp(group, PANEL_CAMERAS) != 0 && (strcmp(group, "motion") != 0 || display->motion);
}

/* Whether a parameter's name or its help have what was typed. */
static bool is_found(const struct param_info *info, const char *typed) {
    g_autofree char *all = g_strjoin(" ", info->name, info->help, NULL),
                    *lower = g_ascii_strdown(g_strdelimit(all, "_", ' '), -1),
                    *word = g_ascii_strdown(typed, -1);
    return strstr(lower, g_strdelimit(word, "_", ' ')) != NULL;
}

/* Groups that act, which the columns of the panel share. */
static int count_groups(const struct viewer *v) {
    int count = 0;
    for (int i = 0; i < param_count; i++)
        count += (i == 0 || strcmp(param_table[i].group, param_table[i - 1].group) != 0) &&
                 group_acts(&v->display, param_table[i].group);
    return count;
}

void panel_params_draw(struct viewer *v) {
    int groups = count_groups(v), drawn = 0, columns = v->layout.columns;
    bool open = false;
    action_button(v, "defaults", "All defaults", ACTION_RESET_SETTINGS);
    ui_text_input(v->screen.ui, "param_search", "Search parameters", 1, v->param_search,
                  sizeof(v->param_search));
    bool searched = v->param_search[0] != '\0';
    if (!searched)
        panel_rows_draw(v, TAB_ALL);
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        if (!group_acts(&v->display, info->group))
            continue;
        if (searched)
            open = is_found(info, v->param_search);
        else if (i == 0 || strcmp(info->group, param_table[i - 1].group) != 0) {
            /* the first column has the rows, too */
            if (columns > 1 && (drawn == groups / 6 || drawn == groups * 7 / 12))
                ui_table_next(v->screen.ui);
            drawn++;
            open = ui_group(v->screen.ui, info->group, false);
        }
        if (open && (searched || !is_elsewhere(v, info)))
            param_row_draw(info, v);
    }
}
