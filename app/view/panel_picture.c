/*
 * The group "picture" of app/view/panel.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/panel.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"
#include "image/picture.h"

#include <math.h>
#include <stdio.h>

#define FARTHEST_M 1000 /* of the slider */

/* "a|b|c" of the views. g_free. */
static char *join_choices(const struct display *display) {
    int count;
    const struct display_choice *choices = display_choices(display, &count);
    GString *joined = g_string_new(choices[0].name);
    for (int i = 1; i < count; i++)
        g_string_append_printf(joined, "|%s", choices[i].name);
    return g_string_free(joined, FALSE);
}

/* "a|b|c" of a table of names. g_free. */
static char *join_names(const char *const *names, int count) {
    GString *joined = g_string_new(names[0]);
    for (int i = 1; i < count; i++)
        g_string_append_printf(joined, "|%s", names[i]);
    return g_string_free(joined, FALSE);
}

static void draw_layout(struct viewer *v) {
    g_autofree char *names = join_names(display_layout_names, LAYOUT_COUNT);
    struct ui_row combo = {.name = "layout",
                           .label = "views",
                           .help = "one view, two or four (key v)",
                           .choices = names,
                           .def = v->display.fits ? (int)v->display.layout : LAYOUT_ONE};
    int layout = (int)v->display.layout;
    if (ui_combo(v->screen.ui, &combo, &layout))
        display_set_layout(&v->display, (enum display_layout)layout);
}

/* The mode of each view. */
static void draw_modes(struct viewer *v) {
    static const char *const places[LAYOUT_COUNT][DRAW_VIEWS] = {
        {"view"},
        {"upper view", "lower view"},
        {"left view", "right view"},
        {"upper left", "upper right", "lower left", "lower right"}};
    g_autofree char *names = join_choices(&v->display);
    int count;
    const struct display_choice *choices = display_choices(&v->display, &count);
    for (int i = 0; i < display_views(&v->display); i++) {
        char name[16] = "view";
        if (i > 0)
            snprintf(name, sizeof(name), "view%d", i + 1);
        struct ui_row combo = {
            .name = name,
            .label = places[v->display.layout][i],
            .help = v->display.motion ? "what is shown (keys 1 to 7, where the mouse is)"
                                      : "what is shown (keys 1 to 9, where the mouse is)",
            .choices = names,
            .def = display_choice_of(&v->display, i == 0 && v->display.layout != LAYOUT_ONE
                                                      ? DISPLAY_LEFT
                                                      : display_main_mode(&v->display))};
        int choice = display_choice_of(&v->display, *display_mode_of(&v->display, i));
        if (ui_combo(v->screen.ui, &combo, &choice))
            viewer_set_mode(v, i, choices[choice].mode);
    }
}

static void draw_wipe(struct viewer *v) {
    g_autofree char *names = join_names(wipe_names, WIPES);
    struct ui_row combo = {.name = "wipe",
                           .label = "wipe (T)",
                           .help = "another map from the mouse on: the truth beside the pictures, "
                                   "that of the other settings (A or B) of pictures that stand "
                                   "still, or those of --maps",
                           .choices = names,
                           .def = v->options->maps ? WIPE_MAPS : WIPE_OFF};
    int with = (int)v->wipe.with;
    if (ui_combo(v->screen.ui, &combo, &with))
        wipe_set(v, (enum wipe_with)with);
}

static void draw_theme(struct viewer *v) {
    g_autofree char *names = join_names(theme_names, THEMES);
    struct ui_row combo = {.name = "theme",
                           .label = "theme",
                           .help = "colours of the window",
                           .choices = names,
                           .def = THEME_DARK};
    int theme = (int)v->theme;
    if (!ui_combo(v->screen.ui, &combo, &theme))
        return;
    v->theme = (enum theme_name)theme;
    ui_set_theme(v->screen.ui, v->theme);
    screen_settle(&v->screen);
}

static void draw_colormap(struct viewer *v) {
    g_autofree char *names = join_names(colormap_names, COLORMAP_COUNT);
    struct ui_row combo = {.name = "colormap",
                           .label = "colours",
                           .help = "colour map (keys c and C); cividis and viridis also for the "
                                   "colour-blind",
                           .choices = names,
                           .def = COLORMAP_TURBO};
    ui_combo(v->screen.ui, &combo, &v->display.settings.colormap);
}

/* The ends of the range as disparities. True when one changed. */
static bool draw_range_px(struct viewer *v) {
    const struct params *params = &v->settings.params;
    struct draw_settings *s = &v->display.settings;
    struct ui_row min = {
        .name = "range_min",
        .label = "range from (px)",
        .help = "an end of the colour bar; key a fits both to this frame, A to the whole search",
        .def = params->min_disparity,
        .min = params->min_disparity - 64,
        .max = params->min_disparity + params->disparity_range + 64,
        .step = 0.5};
    struct ui_row max = min;
    max.name = "range_max";
    max.label = "range to (px)";
    max.def = params->min_disparity + params->disparity_range - 1;
    bool changed = ui_row_draw(v->screen.ui, &min, &s->min);
    return ui_row_draw(v->screen.ui, &max, &s->max) || changed;
}

/* The same as depths; the largest disparity belongs to the nearest. */
static bool draw_range_m(struct viewer *v) {
    const struct depth_geometry *g = &v->rig.geometry;
    struct draw_settings *s = &v->display.settings;
    double near = fmin(FARTHEST_M, depth_of(g, s->max)),
           far = fmin(FARTHEST_M, depth_of(g, s->min));
    struct ui_row spec = {
        .name = "range_near",
        .label = "near (m)",
        .help = "an end of the colour bar; key a fits both to this frame, A to the whole search",
        .def = near,
        .min = 0.01,
        .max = FARTHEST_M,
        .step = near < 10 ? 0.1 : 1};
    bool changed = ui_row_draw(v->screen.ui, &spec, &near);
    if (changed)
        s->max = depth_disparity(g, near);
    spec.name = "range_far";
    spec.label = "far (m)";
    spec.def = far;
    spec.step = far < 10 ? 0.1 : 1;
    if (!ui_row_draw(v->screen.ui, &spec, &far))
        return changed;
    s->min = depth_disparity(g, far);
    return true;
}

/* The size of the pictures that are computed. A change takes effect after the drawing. */
static void draw_size(struct viewer *v) {
    int size = 0;
    while (size < QUALITY_SIZES && fabs(v->rig.scale - quality_sizes[size]) > 1e-6)
        size++;
    bool other = size == QUALITY_SIZES;
    struct ui_row combo = {.name = "scale",
                           .label = "computed size",
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

static void draw_range(struct viewer *v) {
    struct draw_settings *s = &v->display.settings;
    if (v->display.motion) {
        if (param_row_draw(param_find("motion_color_range"), &v->settings, v->rig.width,
                           v->screen.ui))
            viewer_apply_settings(v);
        return;
    }
    if (!(display_shows(&v->display, DISPLAY_DEPTH) ? draw_range_m(v) : draw_range_px(v)))
        return;
    v->display.range_from = RANGE_MANUAL;
    s->max = fmax(s->max, s->min + 0.1);
}

void panel_picture_draw(struct viewer *v) {
    struct draw_settings *s = &v->display.settings;
    if (!ui_group(v->screen.ui, "picture", NULL, true))
        return;
    draw_layout(v);
    draw_modes(v);
    draw_colormap(v);
    draw_range(v);
    struct ui_row blend = {.name = "blend",
                           .label = "blend",
                           .help = "weight of the colours over the picture",
                           .def = 0.5,
                           .max = 1,
                           .step = 0.05};
    if (display_shows(&v->display, DISPLAY_BLEND) ||
        display_shows(&v->display, DISPLAY_MOTION_BLEND))
        ui_row_draw(v->screen.ui, &blend, &s->blend);
    draw_theme(v);
    if (v->display.motion)
        return;
    if (param_row_draw(param_find("mark_filled"), &v->settings, v->rig.width, v->screen.ui))
        viewer_apply_settings(v);
    draw_wipe(v);
    double lines = s->row_lines;
    struct ui_row rows = {.name = "row_lines",
                          .label = "row lines (g)",
                          .help = "lines along rows: a point must lie on the same one left and "
                                  "right",
                          .kind = UI_CHECKBOX};
    if (ui_row_draw(v->screen.ui, &rows, &lines))
        s->row_lines = lines != 0;
    draw_size(v);
}
