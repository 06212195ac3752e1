/*
 * The panels of the viewer: sliders made from the table of parameters, presets, the seek bar, the
 * list of keys. Main thread. SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include "capture/picture.h"
#include "config/params_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What stands beside a row, and what pointing at it says. One that acts at the next start also
 * tells what acts now. */
static void describe_param(const struct viewer *v, const struct param_info *info, char text[96],
                           char help[512]) {
    char now[64] = "";
    snprintf(help, 512, "%s%s%s\n--set %s", info->help, *info->unit ? "\nUnit: " : "", info->unit,
             info->name);
    if (info->when == PARAM_LIVE) {
        snprintf(text, 96, "%s", info->name);
        return;
    }
    param_print(&v->running, info, now, sizeof now);
    snprintf(text, 96, "%s (at next start)", info->name);
    snprintf(help + strlen(help), 512 - strlen(help),
             "\nActs when livestereo is started the next time; now it is %s.", now);
}

/* One parameter's row; true when it changed. */
static bool draw_param(struct viewer *v, const struct param_info *info) {
    char text[96], help[512];
    describe_param(v, info, text, help);
    double value = param_get(&v->params, info), before = value;
    if (info->type == PARAM_TYPE_ENUM) {
        int choice = (int)value;
        ui_choice(v->ui, info->name, text, help, info->choices, (int)info->def, false, &choice);
        value = choice;
    } else if (info->type == PARAM_TYPE_BOOL) {
        bool on = value != 0;
        ui_check(v->ui, info->name, text, help, &on);
        value = on;
    } else {
        struct ui_knob knob = {info->name,  text,       help,       info->def,
                               info->least, info->most, info->step, info->type == PARAM_TYPE_INT,
                               false};
        if (strcmp(info->name, "disparity_range") == 0)
            knob.most = fmin(knob.most, v->rig.width - 1);
        ui_number(v->ui, &knob, &value);
    }
    if (view_is_next(v, info)) {
        char now[64];
        snprintf(text, sizeof text, "   now %s; start livestereo again for the other",
                 param_print(&v->running, info, now, sizeof now));
        ui_text_color(v->ui, 0xffd080, text);
    }
    return value != before && param_put(&v->params, info, value) == 0;
}

void view_params_draw(struct viewer *v, const char *group) {
    bool changed = false;
    for (int i = 0; i < param_count; i++)
        if (strcmp(param_table[i].group, group) == 0)
            changed |= draw_param(v, &param_table[i]);
    if (changed)
        view_apply(v);
}

/* All groups but the cameras', which is view_controls_draw's. */
static void draw_params(struct viewer *v) {
    bool changed = false, open = false;
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        if (strcmp(info->group, "cameras") == 0)
            continue;
        if (i == 0 || strcmp(info->group, param_table[i - 1].group) != 0)
            open = ui_group(v->ui, info->group, info->when == PARAM_LIVE);
        if (open)
            changed |= draw_param(v, info);
        if (open && strcmp(info->name, "disparity_range") == 0)
            view_nearest_draw(v);
    }
    if (changed)
        view_apply(v);
}

static void draw_picture_group(struct viewer *v) {
    struct draw_settings *s = &v->draw_settings;
    if (!ui_group(v->ui, "picture", true))
        return;
    int view = (int)s->view;
    if (ui_choice(v->ui, "view", "view", "what is shown (keys 1 to 9)",
                  "left|right|disparity|depth|confidence|blend|anaglyph|rows|points",
                  DRAW_DISPARITY, false, &view)) {
        char key[2] = {(char)('1' + view), '\0'};
        view_key_press(v, key);
    }
    ui_choice(v->ui, "colormap", "colours", "colour map (keys c and C)", "turbo|viridis|gray",
              COLORMAP_TURBO, false, &s->colormap);
    bool depth = s->view == DRAW_DEPTH;
    double from = depth ? 0 : v->params.min_disparity - 64;
    double to = depth ? 200 : v->params.min_disparity + v->params.disparity_range + 64;
    struct ui_knob least = {
        "range_least",
        depth ? "near (m)" : "range from (px)",
        "colour of the far end of the bar; key a takes the range of this frame, A that "
        "of the search",
        v->params.min_disparity,
        from,
        to,
        0.5,
        false,
        false};
    struct ui_knob most = {"range_most", depth ? "far (m)" : "range to (px)",
                           least.help,   v->params.min_disparity + v->params.disparity_range - 1,
                           from,         to,
                           0.5,          false,
                           false};
    bool changed = ui_number(v->ui, &least, &s->least);
    changed |= ui_number(v->ui, &most, &s->most);
    if (changed) {
        v->range_own = true;
        s->most = fmax(s->most, s->least + 0.1);
    }
    struct ui_knob blend = {"blend", "blend", "share of colour in the view of left and disparity",
                            0.5,     0,       1,
                            0.05,    false,   false};
    ui_number(v->ui, &blend, &s->blend);
    ui_check(v->ui, "row_lines", "row lines (g)",
             "lines along rows: a point must lie on the same one left and "
             "right",
             &s->rows);
}

static void draw_preset_group(struct viewer *v) {
    if (!ui_group(v->ui, "presets", true))
        return;
    ui_entry(v->ui, "preset_name", "name", v->preset_name, sizeof v->preset_name);
    ui_same_line(v->ui);
    if (ui_button(v->ui, "preset_save", "save", "save all settings under this name (F5)"))
        view_preset_save(v);
    ui_same_line(v->ui);
    if (ui_button(v->ui, "preset_load", "load", "load the settings of this name (F9)"))
        view_preset_load(v, v->preset_name);
    for (char **name = v->preset_names; name && *name; name++) {
        char place[96];
        snprintf(place, sizeof place, "preset.%s", *name);
        if (name != v->preset_names && (name - v->preset_names) % 3 != 0)
            ui_same_line(v->ui);
        if (ui_button(v->ui, place, *name, "load this preset"))
            view_preset_load(v, *name);
    }
    ui_line_apart(v->ui);
    char text[64];
    snprintf(text, sizeof text, "compare: now %c", "AB"[v->slot_now]);
    if (ui_button(v->ui, "compare", text, "go to the other settings (b)"))
        view_key_press(v, "b");
    ui_same_line(v->ui);
    if (ui_button(v->ui, "defaults", "all defaults",
                  "back to the built-in settings; row_offset, which is the rig's, stays")) {
        struct params fresh;
        params_default(&fresh);
        view_keep_rig(&fresh, &v->params);
        view_take(&v->params, &fresh, PARAM_LIVE);
        view_apply(v);
    }
}

void view_panel_draw(struct viewer *v, int width, int height) {
    ui_panel_begin(v->ui, "settings", v->draw_settings.x + v->draw_settings.width, 0,
                   width - v->draw_settings.x - v->draw_settings.width, height,
                   UI_SCROLL | UI_BARE);
    char text[128];
    int used =
        snprintf(text, sizeof text, "%s  %dx%d", v->state.backend, v->rig.width, v->rig.height);
    if (v->rig.width != v->source->width || v->rig.height != v->source->height)
        snprintf(text + used, sizeof text - (size_t)used, " of %dx%d", v->source->width,
                 v->source->height);
    ui_text(v->ui, text);
    if (!view_has_rig(v))
        ui_text_color(v->ui, 0xb0b0b0, "no calibration: disparities in pixels");
    view_controls_draw(v);
    draw_picture_group(v);
    view_rig_draw(v);
    draw_preset_group(v);
    draw_params(v);
    ui_panel_end(v->ui);
}

static void bar_text(const struct viewer *v, char *text, size_t size) {
    double rate = v->source->rate > 0 ? v->source->rate : v->rate;
    long index = view_index(v) < 0 ? 0 : view_index(v);
    int used = snprintf(text, size, "frame %ld", index);
    if (v->source->count > 0)
        used += snprintf(text + used, size - (size_t)used, " of 0..%ld", v->source->count - 1);
    used += snprintf(text + used, size - (size_t)used, "   %.3f s", (double)index / rate);
    if (v->speed != 1)
        used += snprintf(text + used, size - (size_t)used, "   x%g", v->speed);
    if (v->mark[0] >= 0 && v->mark[1] < 0)
        snprintf(text + used, size - (size_t)used, "   A %ld", v->mark[0]);
    else if (v->mark[0] >= 0)
        snprintf(text + used, size - (size_t)used, "   A %ld B %ld", v->mark[0], v->mark[1]);
    else if (v->state.ended)
        snprintf(text + used, size - (size_t)used, v->state.error ? "   damaged here" : "   end");
}

/* A and B of the loop, on the seek bar. */
static void draw_marks(struct viewer *v) {
    int count;
    const struct ui_place *place = ui_places(v->ui, &count);
    for (int i = 0; i < count; i++) {
        if (strcmp(place[i].name, "seek") != 0)
            continue;
        for (int m = 0; m < 2 && v->mark[m] >= 0; m++) {
            double x =
                place[i].x + place[i].width * ((double)v->mark[m] + 0.5) / (double)v->source->count;
            ui_line(v->ui, x, place[i].y, x, place[i].y + place[i].height, 0xffd080);
        }
    }
}

void view_bar_draw(struct viewer *v, int width, int height) {
    (void)width;
    const struct draw_settings *s = &v->draw_settings;
    char text[160];
    ui_panel_begin(v->ui, "playback", s->x, s->y + s->height, s->width, height - s->y - s->height,
                   UI_BARE);
    bool still = v->state.paused || v->state.ended;
    if (ui_button(v->ui, "pause", still ? "play " : "pause", "space"))
        view_key_press(v, "SPACE");
    if (v->source->seek) {
        ui_same_line(v->ui);
        if (ui_button(v->ui, "step_back", "<", "one frame back (,)"))
            view_key_press(v, ",");
        ui_same_line(v->ui);
        if (ui_button(v->ui, "step_forward", ">", "one frame forward (.)"))
            view_key_press(v, ".");
    }
    ui_same_line(v->ui);
    bar_text(v, text, sizeof text);
    if (v->source->seek && v->source->count > 0) {
        double at = (double)view_index(v);
        if (ui_seek(v->ui, "seek", "frames are counted from 0, as in the frames.csv of batch", 0,
                    (double)(v->source->count - 1), text, &at))
            view_seek(v, lround(at));
        draw_marks(v);
    } else {
        ui_text(v->ui, text);
    }
    ui_panel_end(v->ui);
}

void view_help_draw(struct viewer *v, int width, int height) {
    double column = 0;
    for (int i = 0; i < view_key_count; i++)
        column = fmax(column, ui_text_width(v->ui, view_keys[i].help));
    column += ui_text_width(v->ui, "leave-fullscreen") * 1.2;
    double line = ui_text_height(v->ui) * 1.15;
    int rows = (view_key_count + 1) / 2;
    double wide = 2 * column + 2 * line, high = (rows + 4) * line;
    ui_panel_begin(v->ui, "keys", fmax(0, (width - wide) / 2), fmax(0, (height - high) / 2), 0, 0,
                   UI_FIT | UI_IN_FRONT);
    ui_text(
        v->ui,
        "Keys (F1 closes).  Mouse: wheel zooms, drag pans or orbits, right drag pans the points,"
        " click pins a probe.");
    ui_line_apart(v->ui);
    double x, y;
    ui_room(v->ui, "key_list", wide, rows * line, &x, &y);
    for (int i = 0; i < view_key_count; i++) {
        int second = i / rows;
        double at_x = x + second * column, at_y = y + (i % rows) * line;
        ui_label(v->ui, at_x, at_y, 0xffd080, view_keys[i].keys);
        ui_label(v->ui, at_x + ui_text_width(v->ui, "Shift+RIGHT "), at_y, 0xe0e0e0,
                 view_keys[i].help);
    }
    ui_panel_end(v->ui);
}
