/*
 * The bar above, the headings of the views and the line of status, of app/view/pages.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"
#include "image/flow.h"
#include "image/picture.h"
#include "render/points_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A line of an open list that runs an action. */
static void item(struct viewer *v, const char *name, const char *label, enum action action,
                 bool on) {
    char key[24];
    action_key(action, key);
    if (action_fits(&v->display, action) &&
        ui_item(v->screen.ui, name, label, key, action_help(&v->display, action), on, NULL))
        action_run(v, action);
}

/* ---- above */

static void draw_save(struct viewer *v, const char *label) {
    if (ui_menu_begin(v->screen.ui, "tool.save", UI_LABEL, ICON_SAVE, label, "save")) {
        item(v, "pair", "Pair and map", ACTION_SAVE_PAIR, false);
        item(v, "points", "Points", ACTION_SAVE_POINTS, false);
        item(v, "video", v->video_export.on ? "End the video" : "Video", ACTION_SAVE_VIDEO, false);
        item(v, "window", "Window", ACTION_SAVE_WINDOW, false);
        ui_list_end(v->screen.ui);
    }
    ui_same_line(v->screen.ui);
}

static void draw_compare(struct viewer *v, const char *label) {
    static const char *const labels[WIPES] = {"Nothing", "Truth", "Settings of before"};
    struct ui *ui = v->screen.ui;
    bool b = v->slot_in_use != 0;
    const char *own = v->settings.automatic ? quality_presets[QUALITY_HIGH] : viewer_preset(v);
    ui_mark_next(ui, b || v->wipe.with != WIPE_OFF);
    if (ui_menu_begin(ui, "tool.compare", UI_LABEL, ICON_COMPARE, b && label ? "Compare: B" : label,
                      "with other settings or the truth")) {
        if (b)
            item(v, "slots", "Back to settings A", ACTION_COMPARE, false);
        ui_note(ui, "Compare with");
        for (char **preset = v->presets; preset && *preset; preset++) {
            char title[64];
            panel_title_preset(*preset, title);
            if (!panel_is_paper(*preset) && strcmp(*preset, own) != 0 &&
                ui_item(ui, *preset, title, "", "computes this pair by it, too", false, NULL))
                wipe_compare(v, *preset);
        }
        for (int i = WIPES - 1; i >= 0; i--)
            if (wipe_can(v, (enum wipe_with)i) &&
                ui_item(ui, wipe_names[i], labels[i], i ? "" : "T", NULL, (int)v->wipe.with == i,
                        NULL))
                wipe_set(v, (enum wipe_with)i);
        ui_list_end(ui);
    }
    ui_same_line(ui);
}

static void draw_more(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    if (!ui_menu_begin(ui, "tool.more", UI_LABEL, ICON_MORE, NULL,
                       "theme, unit, size of text, and more"))
        return;
    if (ui_item(ui, "theme", "Light theme", "", NULL, v->theme == THEME_LIGHT, NULL))
        ui_set_theme(ui, v->theme = v->theme == THEME_LIGHT ? THEME_DARK : THEME_LIGHT);
    if (rig_use_is_metric(&v->rig) &&
        ui_item(ui, "unit", "Millimetres", "", NULL, v->unit == UNIT_MM, NULL))
        v->unit = v->unit == UNIT_MM ? UNIT_M : UNIT_MM;
    item(v, "larger", "Larger text", ACTION_LARGER_TEXT, false);
    item(v, "smaller", "Smaller text", ACTION_SMALLER_TEXT, false);
    item(v, "fullscreen", "Full screen", ACTION_FULLSCREEN, window_is_fullscreen(v->screen.window));
    item(v, "panel", "Panel", ACTION_PANELS, v->visible[PART_PANELS]);
    item(v, "seek_bar", "Seek bar", ACTION_SEEK_BAR, v->visible[PART_SEEK_BAR]);
    item(v, "log", "Messages", ACTION_LOG, v->visible[PART_LOG]);
    item(v, "quit", "Quit", ACTION_QUIT, false);
    ui_list_end(ui);
}

void bars_draw_top(struct viewer *v) {
    const struct layout_rect *r = &v->layout.top;
    const struct theme *theme = ui_theme(v->screen.ui);
    struct ui *ui = v->screen.ui;
    bool words = r->width >= ui_px(ui, 900), recording = v->recording.recorder != NULL;
    bool start = v->visible[PART_START];
    ui_panel_begin(ui, "top", r->x, r->y, r->width, r->height, UI_BAR | UI_EDGED);
    action_tool(v, "tool.open", ICON_OPEN, words ? "Open" : NULL, ACTION_START_PAGE, false, 0);
    if (v->visible[PART_START] && !start) /* what is typed after this click is a path */
        ui_focus(ui, "start.path");
    action_tool(v, "tool.record", ICON_RECORD, words ? "Record" : NULL, ACTION_RECORD, recording,
                theme->recording);
    draw_save(v, words ? "Save" : NULL);
    action_tool(v, "tool.measure", ICON_MEASURE, words ? "Measure" : NULL, ACTION_MEASURE,
                v->measure.on, 0);
    action_tool(v, "tool.points", ICON_POINTS, words ? "3D" : NULL, ACTION_POINTS_ALONE,
                display_shows(&v->display, DISPLAY_POINTS), 0);
    if (!v->display.motion)
        draw_compare(v, words ? "Compare" : NULL);
    bool redo = v->history.at + 1 < v->history.count;
    double right = (3 + redo) * (ui_tool_width(ui, ICON_UNDO, NULL) + ui_px(ui, 8));
    double left = ui_available_width(ui) - right;
    g_autofree char *name = g_path_get_basename(v->playback.source->name);
    ui_push_font(ui, UI_HEADING);
    double width = ui_text_width(ui, name);
    if (width + ui_px(ui, 20) < left) {
        ui_text_line(ui, theme->text, name, name, v->playback.source->name);
        ui_same_line(ui);
    }
    ui_pop_font(ui);
    if (!v->display.motion && width + ui_px(ui, 200) < left)
        row_watch_draw(v);
    ui_align_right(ui, right - ui_px(ui, 8));
    action_tool(v, "undo", ICON_UNDO, NULL, ACTION_UNDO, false, 0);
    if (redo)
        action_tool(v, "redo", ICON_REDO, NULL, ACTION_REDO, false, 0);
    action_tool(v, "help", ICON_HELP, NULL, ACTION_HELP, false, 0);
    draw_more(v);
    ui_panel_end(ui);
}

/* ---- over the views */

static const char *title_of(const struct viewer *v, int i) {
    return display_choice_of(&v->display, display_view(&v->display, i).mode)->title;
}

/* The list of what a view shows, and how many there are. */
static void draw_view_menu(struct viewer *v, int i, const char *name) {
    struct ui *ui = v->screen.ui;
    if (!ui_menu_begin(ui, name, UI_HEADING, NULL, title_of(v, i),
                       "what is shown here, and in how many views"))
        return;
    for (const struct display_choice *c = display_choices(&v->display); c->title; c++) {
        const char key[] = {c->keys[0], '\0'};
        if (ui_item(ui, display_mode_names[c->mode], c->title, key, c->help,
                    c->mode == *display_mode_of(&v->display, i), NULL))
            viewer_set_mode(v, i, c->mode);
    }
    ui_separator(ui);
    for (int k = 0; k < LAYOUT_COUNT; k++)
        if (ui_item(ui, display_layout_names[k], display_layout_names[k], k ? "" : "v", NULL,
                    (int)v->display.layout == k, NULL))
            display_set_layout(&v->display, (enum display_layout)k);
    ui_list_end(ui);
}

/* Moves and scales the points so that they fill view i, seen from where they are. */
static void fit_points(struct viewer *v, int i) {
    struct draw_settings *s = &v->display.settings, view = display_view(&v->display, i);
    points_view_fit(&view, v->playback.shown);
    s->distance = view.distance;
    s->shift_x = view.shift_x;
    s->shift_y = view.shift_y;
}

/* Standard views of the points, and what they look like. */
static void draw_points_tools(struct viewer *v, int view) {
    struct ui *ui = v->screen.ui;
    struct draw_settings *s = &v->display.settings;
    static const char *const views[] = {"Fit", "Camera", "Top", "Side"};
    static const char *const colors[] = {"Picture", "Depth", "Height", "Confidence"};
    for (int i = 0; i < 4; i++) {
        char name[24];
        g_snprintf(name, sizeof(name), "points.%s", views[i]);
        ui_same_line(ui);
        if (!ui_tool(ui, name, NULL, views[i], NULL, 0))
            continue;
        if (i > 0)
            display_look(&v->display, (enum display_look)(i - 1));
        else if (v->playback.shown)
            fit_points(v, view);
    }
    struct draw_settings drawn = display_view(&v->display, view);
    struct points_view space;
    points_view_of(&drawn, v->rig.width, v->rig.height, &space);
    ui_same_line(ui);
    ui_note(ui, "grid %g %s", (double)space.cell, rig_use_is_metric(&v->rig) ? "m" : "baselines");
    ui_same_line(ui);
    if (!ui_menu_begin(ui, "points.look", UI_LABEL, NULL, colors[s->points_color],
                       "surface or points, and their colours"))
        return;
    for (int i = 0; i < 4; i++)
        if (ui_item(ui, colors[i], colors[i], "", NULL, (int)s->points_color == i, NULL))
            s->points_color = (unsigned)i;
    ui_separator(ui);
    for (int i = 0; i <= 4; i++) {
        char text[24];
        g_snprintf(text, sizeof(text), i ? "Points, size %d" : "Surface", i);
        if (ui_item(ui, text, text, "", NULL, s->point_size == i, NULL))
            s->point_size = i;
    }
    ui_list_end(ui);
}

/* ---- what the colours mean */

enum { STEPS = 96, BAR_PX = 8, TICK_GAP_PX = 30 };

struct legend { /* its bar, below which the numbers stand */
    struct ui *ui;
    double x, y, width;
};

static unsigned rgb_of(const uint8_t c[3]) {
    return (unsigned)c[0] << 16 | (unsigned)c[1] << 8 | c[2];
}

static bool is_error(enum display_mode mode) {
    return mode == DISPLAY_ERROR || mode == DISPLAY_MOTION_ERROR;
}

static bool is_map(enum display_mode mode) {
    return mode == DISPLAY_DISPARITY || mode == DISPLAY_DEPTH || mode == DISPLAY_BLEND;
}

/* The colour of a place of the scale, 0 at its left end; of errors as in shaders/image.frag. */
static unsigned color_at(const struct display *d, enum display_mode mode, double at) {
    const double orange[3] = {242, 122, 26};
    uint8_t c[3];
    if (mode == DISPLAY_CONFIDENCE)
        return 0x010101 * (unsigned)lround(255 * at);
    if (!is_error(mode))
        return rgb_of(colormap_table[d->settings.colormap][lround(255 * (1 - at))]);
    for (int k = 0; k < 3; k++)
        c[k] = (uint8_t)lround(at < 0.5 ? 2 * at * orange[k]
                                        : orange[k] + (2 * at - 1) * (255 - orange[k]));
    return rgb_of(c);
}

/* A length or a number of px that is round: 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten. */
static double next_round(double value) {
    static const double rounds[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
    double power = pow(10, floor(log10(value) + 1e-9));
    for (size_t i = 0; i < G_N_ELEMENTS(rounds); i++)
        if (rounds[i] * power > value * (1 + 1e-9))
            return rounds[i] * power;
    return 15 * power;
}

/* at: 0 at the left end, 1 at the right. */
static void draw_tick(const struct legend *l, double at, const char *text) {
    double width = ui_text_width(l->ui, text), x = l->x + l->width * at - width / 2;
    x = fmax(l->x, fmin(x, l->x + l->width - width));
    ui_label(l->ui, x, l->y + ui_px(l->ui, BAR_PX + 2), ui_theme(l->ui)->note, text);
}

/* The near end, round lengths, the far end. */
static void draw_lengths(const struct legend *l, const struct viewer *v) {
    const struct draw_settings *s = &v->display.settings;
    const struct depth_geometry *g = &v->rig.geometry;
    double near = depth_of(g, s->max), far = s->min > 0 ? depth_of(g, s->min) : INFINITY;
    double factor = v->unit == UNIT_MM ? 1000 : 1, last = 0;
    double gap = ui_px(l->ui, TICK_GAP_PX) / l->width;
    const char *unit = length_unit_names[v->unit];
    char text[32];
    snprintf(text, sizeof(text), "%.2g", near * factor);
    draw_tick(l, 0, text);
    for (double z = near; (z = next_round(z)) < fmin(far, 1e4);) {
        double at = (s->max - depth_disparity(g, z)) / (s->max - s->min);
        if (at - last < gap || 1 - at < 1.5 * gap)
            continue;
        last = at;
        snprintf(text, sizeof(text), "%g", z * factor);
        draw_tick(l, at, text);
    }
    snprintf(text, sizeof(text), "%.3g %s", far * factor, unit);
    if (!isfinite(far))
        snprintf(text, sizeof(text), "\u221e %s", unit);
    draw_tick(l, 1, text);
}

static void draw_numbers(const struct legend *l, double from, double to, const char *unit) {
    enum { TICKS = 4 };
    char text[48];
    for (int i = 0; i < TICKS; i++) {
        double value = from + (to - from) * i / (TICKS - 1);
        bool last = i == TICKS - 1;
        snprintf(text, sizeof(text), "%.*f%s", fabs(to - from) < 8 && value != round(value), value,
                 last ? unit : "");
        draw_tick(l, i / (TICKS - 1.0), text);
    }
}

/* The wheel of motion, whose middle is no motion and whose rim is the length of full colour. */
static void draw_wheel(const struct legend *l, double full, enum display_mode mode) {
    enum { CELLS = 24 }; /* across */
    struct ui *ui = l->ui;
    double radius = ui_px(ui, LAYOUT_HEADING) / 2 - 2, line = ui_text_height(ui);
    double cell = 2 * radius / CELLS, x = l->x + l->width - 2 * radius, y = l->y - ui_px(ui, 4);
    char text[64];
    for (int i = 0; i < CELLS * CELLS; i++) {
        int column = i % CELLS, row = i / CELLS;
        double u = (column + 0.5) * 2 / CELLS - 1, w = (row + 0.5) * 2 / CELLS - 1;
        uint8_t c[3];
        if (u * u + w * w > 1)
            continue;
        flow_color_of(u, w, 1, c);
        ui_box(ui, x + column * cell, y + 2 + row * cell, cell, cell, rgb_of(c), 1);
    }
    int used = snprintf(text, sizeof(text), "rim: %g px", full);
    if (mode == DISPLAY_ARROWS)
        snprintf(text + used, sizeof(text) - (size_t)used, ", arrows x%.3g", DRAW_ARROW_PX / full);
    ui_label(ui, x - ui_text_width(ui, text) - line / 2, y + radius + 2 - line / 2,
             ui_theme(ui)->note, text);
}

static double legend_width(const struct ui *ui, const struct draw_settings *s) {
    return fmin(ui_px(ui, 250), fmax(ui_px(ui, 60), s->width - ui_px(ui, 210)));
}

/* Fits the colours, beside the legend. */
static void draw_fit(struct viewer *v, int i, const struct draw_settings *s) {
    struct ui *ui = v->screen.ui;
    char name[16];
    if (!is_map(s->mode) || s->width < ui_px(ui, 330))
        return;
    g_snprintf(name, sizeof(name), "fit%d", i);
    ui_same_line(ui);
    ui_align_right(ui, legend_width(ui, s) + ui_tool_width(ui, NULL, "Fit") + ui_px(ui, 12));
    action_tool(v, name, NULL, "Fit", ACTION_RANGE_FROM_FRAME, false, 0);
}

/* The scale of the colours, where there is one: of depths with lengths, else in px of the
 * source. */
static void draw_scale_of(const struct viewer *v, enum display_mode mode, const struct legend *l) {
    const struct draw_settings *s = &v->display.settings;
    bool truth = v->playback.shown && v->playback.shown->has_truth;
    if (mode == DISPLAY_MOTION || mode == DISPLAY_ARROWS || mode == DISPLAY_MOTION_BLEND)
        draw_wheel(l, s->max, mode);
    if (!is_error(mode) && !is_map(mode) && mode != DISPLAY_CONFIDENCE)
        return;
    for (int i = 0; i < STEPS; i++)
        ui_box(l->ui, l->x + l->width * i / STEPS, l->y, l->width / STEPS + 1, ui_px(l->ui, BAR_PX),
               color_at(&v->display, mode, i / (STEPS - 1.0)), 1);
    if (mode == DISPLAY_DEPTH)
        draw_lengths(l, v);
    else if (mode == DISPLAY_CONFIDENCE)
        draw_numbers(l, 0, s->confidence_max / 2.55, " %");
    else if (!is_error(mode))
        draw_numbers(l, s->max / v->rig.scale, s->min / v->rig.scale, " px");
    else if (truth)
        draw_numbers(l, 0, DRAW_ERROR_PX, " px off");
    else
        draw_numbers(l, 0, DRAW_ERROR_LEVELS, " levels off");
}

void bars_draw_legend(const struct viewer *v, int i, bool title) {
    struct draw_settings s = display_view(&v->display, i);
    struct ui *ui = v->screen.ui;
    double y = s.y - v->display.heading, width = legend_width(ui, &s);
    struct legend legend = {ui, s.x + s.width - ui_px(ui, 12) - width, y + ui_px(ui, 4), width};
    if (title)
        ui_label(ui, s.x + ui_px(ui, 12), y + (v->display.heading - ui_text_height(ui)) / 2,
                 ui_theme(ui)->text, title_of(v, i));
    ui_push_font(ui, UI_NOTE);
    draw_scale_of(v, s.mode, &legend);
    ui_pop_font(ui);
}

static void draw_heading(struct viewer *v, int i) {
    struct ui *ui = v->screen.ui;
    struct draw_settings s = display_view(&v->display, i);
    const struct frame *shown = v->playback.shown;
    bool map = s.mode != DISPLAY_LEFT && s.mode != DISPLAY_RIGHT;
    double y = s.y - v->display.heading;
    char panel[24], name[16];
    g_snprintf(panel, sizeof(panel), "heading%d", i);
    g_snprintf(name, sizeof(name), i > 0 ? "view%d" : "view", i + 1);
    ui_panel_begin(ui, panel, s.x, y, s.width, v->display.heading, UI_BAR);
    draw_view_menu(v, i, name);
    bars_draw_legend(v, i, false);
    if (s.mode == DISPLAY_POINTS && s.width > ui_px(ui, 480)) {
        draw_points_tools(v, i);
    } else if (v->still.preview_ns && map) {
        ui_same_line(ui);
        ui_chip(ui, "preview", NULL, 0, "preview",
                "the map in full quality follows when the slider rests");
    } else if (!map && s.width > ui_px(ui, 480) && shown) {
        ui_same_line(ui);
        ui_note(ui, "%d \u00d7 %d", shown->left.width, shown->left.height);
    }
    draw_fit(v, i, &s);
    if (display_views(&v->display) > 1 && display_view_at(&v->display, v->mouse.x, v->mouse.y) == i)
        ui_box(ui, s.x, s.y - ui_px(ui, 2), s.width, ui_px(ui, 2), ui_theme(ui)->accent, 1);
    ui_panel_end(ui);
}

void bars_draw_headings(struct viewer *v) {
    for (int i = 0; i < display_views(&v->display) && v->display.heading > 0; i++)
        draw_heading(v, i);
}

/* ---- below */

static void describe_quality(const struct viewer *v, char *text, size_t size) {
    static const char *const names[QUALITIES] = {"Low quality", "Mid quality", "High quality"};
    int quality = viewer_quality(v);
    char preset[64];
    panel_describe_preset(v, preset);
    g_strlcpy(text, quality < QUALITIES ? names[quality] : preset, size);
    if (v->rig.scale < 1)
        g_strlcat(text, v->rig.scale < 0.5 ? ", 1/3 size" : ", \u00bd size", size);
    if (v->settings.automatic)
        g_strlcat(text, " (auto)", size);
}

/* Says what is being done, or is wrong. False where nothing is. */
static bool describe_work(const struct viewer *v, char *text, size_t size) {
    if (v->cameras.status.banner[0])
        snprintf(text, size, "%s", v->cameras.status.banner);
    else if (v->video_export.on || v->video_export.background.on)
        video_export_describe(v, text, size);
    else if (v->recording.recorder)
        recording_describe(&v->recording, text, size);
    else
        return false;
    return true;
}

/* At the left what is done, or known of the pixel under the mouse; at the right how it is computed,
 * without what there is no room for. */
void bars_draw_status(struct viewer *v) {
    const struct layout_rect *r = &v->layout.status;
    const struct theme *theme = ui_theme(v->screen.ui);
    struct ui *ui = v->screen.ui;
    char part[4][256] = {"", "", "", ""}, work[256], right[1024] = "";
    statistics_describe(v, part[0], sizeof(part[0]));
    if (!v->display.motion)
        describe_quality(v, part[1], sizeof(part[1]));
    if (v->playback.shown && !g_str_has_prefix(part[0], "Still"))
        g_snprintf(part[2], sizeof(part[2]), "%.0f ms", v->playback.shown->compute_ms);
    g_strlcpy(part[3], v->playback.state.backend, sizeof(part[3]));
    ui_panel_begin(ui, "status", r->x, r->y, r->width, r->height, UI_BAR | UI_EDGED);
    ui_push_font(ui, UI_VALUE);
    for (int i = 0; i < 4; i++) {
        g_autofree char *longer =
            g_strconcat(part[i], *part[i] && *right ? "     " : "", right, NULL);
        if (ui_text_width(ui, longer) < r->width * 0.55)
            g_strlcpy(right, longer, sizeof(right));
    }
    g_autofree char *values = read_out(v);
    double room = ui_available_width(ui) - ui_text_width(ui, right) - ui_px(ui, 18);
    for (char *end; values && ui_text_width(ui, values) > room && (end = g_strrstr(values, "   "));)
        *end = '\0';
    bool works = describe_work(v, work, sizeof(work));
    const char *left = values ? values : "";
    if (!values && !v->playback.shown)
        left = viewer_seen(v) ? "Computing the map" : "Waiting for the first picture";
    if (works) {
        ui_text_line(ui, v->cameras.status.banner[0] ? theme->bad : theme->changed, work, work,
                     NULL);
        ui_note_rect(ui, "status.work", r->x, r->y, 1, 1);
        ui_same_line(ui);
    }
    ui_text_line(ui, theme->text, left, left, NULL);
    if (values)
        ui_note_rect(ui, "read-out", r->x, r->y, 1, 1);
    ui_align_right(ui, ui_text_width(ui, right));
    ui_text_line(ui, theme->note, right, right, NULL);
    ui_pop_font(ui);
    ui_panel_end(ui);
}

static void draw_toast_buttons(struct viewer *v) {
    struct screen *screen = &v->screen;
    if (screen->notice_plays && ui_button(screen->ui, "toast.play", "Play", "opens the recording"))
        opening_take_files(v, (const char *const[]){screen->notice_path}, 1);
    if (screen->notice_plays)
        ui_same_line(screen->ui);
    if (*screen->notice_path) {
        if (ui_button(screen->ui, "toast.show", "Show", "opens the folder"))
            screen_show_folder(screen->notice_path);
        ui_same_line(screen->ui);
    }
    if (screen->notice_fails || *screen->notice_path)
        if (ui_button(screen->ui, "toast.close", "Close", NULL))
            screen_clear_notice(screen);
}

/* An error stands below the widget that it comes from, until the next click; what else happened at
 * the lower right of the views, so that it covers no value, or of the start page. */
void bars_draw_toast(struct viewer *v) {
    const struct layout_rect *r = v->visible[PART_START] ? &v->layout.status : &v->layout.seek_bar;
    struct screen *screen = &v->screen;
    struct ui *ui = screen->ui;
    unsigned rgb = screen->notice_fails ? ui_theme(ui)->bad : ui_theme(ui)->text;
    const struct ui_rect *at = ui_find_rect(ui, screen->notice_at);
    double gap = ui_px(ui, 12), wide = fmin(ui_px(ui, 380), r->width - 2 * gap);
    if (!screen->notice_until_ns)
        return;
    if (at) {
        double below = at->y + at->height + gap / 3;
        bool high = below + ui_px(ui, 80) < v->layout.status.y;
        ui_frame(ui, at, rgb);
        ui_panel_begin(ui, "toast", fmin(at->x, v->layout.top.width - wide - gap),
                       high ? below : at->y - ui_px(ui, 80), wide, 0,
                       UI_AUTO_SIZE | UI_ON_TOP | UI_DOCKED | UI_FRONT);
    } else {
        ui_panel_begin(ui, "toast", r->x + r->width - gap, r->y - gap, wide, 0,
                       UI_AUTO_SIZE | UI_ON_TOP | UI_DOCKED | UI_CORNER | UI_FRONT);
    }
    ui_text_color(ui, rgb, "%s", screen->notice);
    if (!at)
        draw_toast_buttons(v);
    ui_panel_end(ui);
    if (at && ui_was_clicked(ui))
        screen_clear_notice(screen);
}
