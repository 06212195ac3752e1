/*
 * The rows of app/view/rows.def, the range of colours and the presets, of app/view/panel.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"
#include "config/presets.h"
#include "image/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values */

static bool is_in_pixels(const struct viewer *v) {
    return !v->display.motion && !rig_use_is_metric(&v->rig);
}

double panel_largest_range(const struct viewer *v) {
    return fmin(param_find("disparity_range")->max, round(v->rig.width / v->rig.scale) - 1);
}

static void set_range(struct viewer *v, double range) {
    viewer_put(v, param_find("disparity_range"),
               fmin(panel_largest_range(v), fmax(2, round(range))));
}

/* The depth of a disparity of whole pictures. */
static double depth_at(const struct viewer *v, double px) {
    return depth_of(&v->rig.geometry, px * v->rig.scale);
}

/* The nearest depth that a range reaches. */
static double nearest_of(const struct viewer *v, double range) {
    return depth_at(v, v->now.asked.min_disparity + range - 1);
}

/* By one px of the search at least, where that is more than a step. */
static void set_nearest(struct viewer *v, double metres) {
    int now = v->now.asked.disparity_range;
    double range =
        depth_disparity(&v->rig.geometry, metres) / v->rig.scale - v->now.asked.min_disparity + 1;
    int next = metres < nearest_of(v, now) ? now + 1 : now - 1;
    set_range(v, (int)lround(range) != now ? range : next);
}

static void fit_nearest(const struct viewer *v, struct ui_row *row) {
    double largest = panel_largest_range(v);
    row->min = nearest_of(v, largest);
    row->max = fmin(50, nearest_of(v, fmax(2, largest / 64)));
    row->def = nearest_of(v, v->settings.base.disparity_range);
    row->step = row->def < 1 ? 0.01 : 0.1;
    row->unit = "m";
}

static void fit_hidden(const struct viewer *v, struct ui_row *row) {
    row->min = 0;
    row->max = 100;
    row->step = 1;
    row->integer = true;
    row->unit = "%";
    row->low = "off";
    row->def = round(v->settings.base.hide_below / 2.55);
}

/* "Turbo|Cividis|..." */
static const char *colormap_choices(void) {
    static char joined[128];
    for (int i = 0, used = 0; i < COLORMAP_COUNT && (i > 0 || !*joined); i++)
        used += snprintf(joined + used, sizeof(joined) - (size_t)used, "%s%c%s", i ? "|" : "",
                         g_ascii_toupper(colormap_names[i][0]), colormap_names[i] + 1);
    return joined;
}

/* The end of the range of colours that is far (0) or near (1), px of whole pictures. */
static void set_color(struct viewer *v, int end, double px) {
    double *range = v->display.range;
    range[end] = end ? fmax(px, range[0] + 0.5) : fmin(px, range[1] - 0.5);
    v->display.range_from = RANGE_MANUAL;
}

static void fit_color(const struct viewer *v, struct ui_row *row, int end) {
    const struct params *p = &v->now.asked;
    row->min = p->min_disparity;
    row->max = p->min_disparity + p->disparity_range;
    row->step = 0.5;
    row->unit = "px";
    row->def = end ? row->max : row->min;
    row->changed = v->display.range_from == RANGE_MANUAL;
}

static double get_size(const struct viewer *v) {
    int size = 0;
    while (size < QUALITY_SIZES && fabs(v->rig.scale - quality_sizes[size]) > 1e-6)
        size++;
    return size;
}

/* Takes effect after the drawing. */
static void set_size(struct viewer *v, double size) {
    if (v->recording.recorder || v->output)
        screen_notify(&v->screen, "The size stays while pairs are recorded or sent");
    v->quality.search.size = 0; /* the user has chosen */
    v->quality.search.sizes = 1;
    v->scale = quality_sizes[(int)size];
}

/* ---- the table */

enum row {
#define ROW(id, tab, name, label, kind, help, get, set, fit, when) ROW_##id,
#include "app/view/rows.def"
#undef ROW
    ROWS
};

static const struct {
    enum tab tab;
    const char *name, *label;
    enum ui_row_kind kind;
    const char *help;
} rows[ROWS] = {
#define ROW(id, tab, name, label, kind, help, get, set, fit, when) \
    {TAB_##tab, name, label, kind, help},
#include "app/view/rows.def"
#undef ROW
};

static bool is_shown(const struct viewer *v, int i, enum tab tab) {
    const bool shown[ROWS] = {
#define ROW(id, tab, name, label, kind, help, get, set, fit, when) when,
#include "app/view/rows.def"
#undef ROW
    };
    return rows[i].tab == tab && shown[i];
}

bool panel_has_row(const struct viewer *v, enum tab tab, const char *name) {
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0 && is_shown(v, i, tab))
            return true;
    return false;
}

#define GET param_get(&v->now.asked, info)
#define SET viewer_put(v, info, value)
#define FIT (void)0

static void draw_row(struct viewer *v, enum row i) {
    const struct param_info *info = param_find(rows[i].name);
    struct ui_row fitted = {.name = rows[i].name, .label = rows[i].label, .kind = rows[i].kind},
                  *row = &fitted;
    double value = 0;
    if (info)
        param_row_fit(info, v, row);
    if (rows[i].help)
        row->help = rows[i].help;
    switch (i) {
#define ROW(id, tab, name, label, kind, help, get, set, fit, when) \
    case ROW_##id:                                                 \
        value = get;                                               \
        fit;                                                       \
        if (ui_row_draw(v->screen.ui, row, &value))                \
            set;                                                   \
        break;
#include "app/view/rows.def"
#undef ROW
    case ROWS:
        break;
    }
}

/* ---- presets */

bool panel_is_paper(const char *preset) {
    return preset_find(preset) && strpbrk(preset, "0123456789"); /* it has its year */
}

void panel_title_preset(const char *preset, char title[64]) {
    g_strlcpy(title, preset, 64);
    if (preset_find(preset) && !panel_is_paper(preset))
        title[0] = g_ascii_toupper(title[0]);
}

void panel_describe_preset(const struct viewer *v, char title[64]) {
    bool changed = viewer_differs_from_preset(v);
    panel_title_preset(viewer_preset(v), title);
    g_strlcat(title, changed ? ", changed" : "", 64);
    if (!*title)
        g_strlcpy(title, "Custom", 64);
}

static void draw_presets(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    const char *chosen = NULL, *now = viewer_preset(v);
    char **saved = v->presets; /* read anew where one was saved */
    char title[64], shown[64];
    panel_describe_preset(v, shown);
    const struct ui_row row = {.name = "preset",
                               .label = "Preset",
                               .help = "settings for a use, of a paper, or of your own; the search "
                                       "and the calibration stay"};
    if (!ui_row_list_begin(ui, &row, shown))
        return;
    for (int papers = 0; papers < 2 && (!papers || ui_group(ui, "papers", false)); papers++)
        for (char **preset = v->presets; preset && *preset; preset++) {
            panel_title_preset(*preset, title);
            if (panel_is_paper(*preset) == papers &&
                ui_item(ui, *preset, title, "", NULL, strcmp(*preset, now) == 0, NULL))
                chosen = *preset;
        }
    ui_separator(ui);
    ui_text_input(ui, "preset_name", "name", 0.6, v->settings.preset, sizeof(v->settings.preset));
    ui_same_line(ui);
    action_button(v, "preset_save", "Save as", ACTION_SAVE_PRESET);
    if (saved != v->presets)
        ui_list_close(ui);
    ui_list_end(ui);
    if (chosen)
        viewer_load_preset(v, chosen);
}

/* ---- all of a tab */

void panel_rows_draw(struct viewer *v, enum tab tab) {
    int count = 0, drawn = 0;
    bool depth = tab == TAB_DEPTH;
    for (int i = 0; i < ROWS; i++)
        count += is_shown(v, i, tab);
    count += depth;
    for (int i = 0; i < ROWS; i++) {
        if (!is_shown(v, i, tab))
            continue;
        if (depth && v->layout.columns > 1 && drawn == (count + 1) / 2)
            ui_table_next(v->screen.ui);
        draw_row(v, (enum row)i);
        drawn++;
    }
    if (depth)
        draw_presets(v);
}
