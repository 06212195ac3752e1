/*
 * The function of app/view/param_row.h. SPDX-License-Identifier: MIT
 */
#include "app/view/param_row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct row {
    const struct param_info *info;
    char label[96], help[512];
};

/* A parameter that takes effect at the next start also shows its present value. */
static void describe(struct row *row, const struct settings *settings) {
    const struct param_info *info = row->info;
    char now[64];
    int used = snprintf(row->help, sizeof(row->help), "%s%s%s\n--set %s", info->help,
                        *info->unit ? "\nUnit: " : "", info->unit, info->name);
    if (info->when == PARAM_LIVE) {
        snprintf(row->label, sizeof(row->label), "%s", info->name);
        return;
    }
    param_print(&settings->running, info, now, sizeof(now));
    snprintf(row->label, sizeof(row->label), "%s (at next start)", info->name);
    snprintf(row->help + used, sizeof(row->help) - (size_t)used,
             "\nA change acts at the next start; now it is %s.", now);
}

static double draw_combo(const struct row *row, struct ui *ui, double value) {
    const struct param_info *info = row->info;
    struct ui_combo_spec combo = {.name = info->name,
                                  .label = row->label,
                                  .help = row->help,
                                  .choices = info->choices,
                                  .def = (int)info->def};
    int choice = (int)value;
    ui_combo(ui, &combo, &choice);
    return choice;
}

static double draw_checkbox(const struct row *row, struct ui *ui, double value) {
    bool on = value != 0;
    ui_checkbox(ui, row->info->name, row->label, row->help, &on);
    return on;
}

static double draw_slider(const struct row *row, struct ui *ui, int width, double value) {
    const struct param_info *info = row->info;
    bool limited = strcmp(info->name, "disparity_range") == 0;
    struct ui_slider_spec slider = {.name = info->name,
                                    .label = row->label,
                                    .help = row->help,
                                    .def = info->def,
                                    .min = info->min,
                                    .max = limited ? fmin(info->max, width - 1) : info->max,
                                    .step = info->step,
                                    .integer = info->type == PARAM_TYPE_INT};
    ui_slider(ui, &slider, &value);
    return value;
}

bool param_row_draw(const struct param_info *info, const char *label, struct settings *settings,
                    int width, struct ui *ui) {
    struct row row = {.info = info};
    double before = param_get(&settings->params, info), value;
    describe(&row, settings);
    if (label)
        snprintf(row.label, sizeof(row.label), "%s", label);
    if (info->type == PARAM_TYPE_ENUM)
        value = draw_combo(&row, ui, before);
    else if (info->type == PARAM_TYPE_BOOL)
        value = draw_checkbox(&row, ui, before);
    else
        value = draw_slider(&row, ui, width, before);
    if (settings_is_pending(settings, info)) {
        char now[64], text[128];
        snprintf(text, sizeof(text), "   now %s; the new value acts at the next start",
                 param_print(&settings->running, info, now, sizeof(now)));
        ui_text_color(ui, 0xffd080, text);
    }
    return value != before && param_put(&settings->params, info, value) == 0;
}
