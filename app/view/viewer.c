/*
 * The functions of app/view/viewer.h that have no file of their own.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "base/clock.h"
#include "config/params_file.h"
#include "config/presets.h"
#include "render/points_view.h"

#include <math.h>
#include <string.h>

int viewer_quality(const struct viewer *v) {
    return v->quality.known ? quality_of(&v->quality.all, &v->settings.params) : QUALITY_CUSTOM;
}

/* Pictures are whole again that the search has made smaller. */
static void take_back_size(struct viewer *v) {
    if (v->quality.search.size > 0 && v->rig.scale < 1)
        viewer_want_part(v, v->rig_options.roi, 1);
}

/* Recordings and outputs keep their size, and what the command line says stays. */
static int sizes_to_try(const struct viewer *v) {
    bool may = v->options->rig.scale == 0 && !v->output && !v->recording.recorder && !v->measure.on;
    return may && (v->rig.scale == 1 || v->quality.search.size > 0) ? QUALITY_SIZES : 1;
}

void viewer_begin_search(struct viewer *v) {
    int sizes = sizes_to_try(v);
    take_back_size(v);
    v->quality.automatic = true;
    v->quality.still = false;
    quality_search_begin(&v->quality.search, sizes);
}

void viewer_set_quality(struct viewer *v, int quality) {
    struct viewer_quality *q = &v->quality;
    if (!q->known || quality == QUALITY_CUSTOM)
        return;
    if (quality == QUALITY_AUTO) {
        viewer_begin_search(v);
    } else {
        take_back_size(v);
        q->automatic = q->still = false;
        q->search = (struct quality_search){0};
    }
    quality_apply(&q->all, q->automatic ? QUALITY_HIGH : (enum quality)quality,
                  &v->settings.params);
    quality_apply(&q->all, q->automatic ? QUALITY_HIGH : (enum quality)quality, &v->settings.base);
    viewer_apply_settings(v);
}

struct history_step viewer_step(const struct viewer *v) {
    struct history_step step = {
        .params = v->settings.params, .base = v->settings.base, .automatic = v->quality.automatic};
    g_strlcpy(step.preset, v->presets.name, sizeof(step.preset));
    return step;
}

void viewer_begin_history(struct viewer *v) {
    struct history_step step = viewer_step(v);
    history_begin(&v->history, &step);
}

struct slot viewer_slot(const struct viewer *v) {
    return (struct slot){viewer_step(v), v->quality.search};
}

void viewer_search_quality(struct viewer *v, const struct frame *frame) {
    struct viewer_quality *q = &v->quality;
    int size = q->search.size;
    if (playback_is_stopped(&v->playback))
        return;
    if (v->rig.scale != quality_sizes[size] && !v->wanted_part.on)
        q->search.on = false; /* it was refused, or the user has chosen */
    if (!q->search.on || v->wanted_part.on ||
        quality_of(&q->all, frame->params) != (int)q->search.at ||
        !quality_search_frame(&q->search, frame->compute_ms))
        return;
    quality_apply(&q->all, q->search.at, &v->settings.params);
    viewer_adjust_settings(v);
    if (q->search.size != size)
        viewer_want_part(v, v->rig_options.roi, quality_sizes[q->search.size]);
    if (!q->search.on)
        screen_notify(&v->screen, "Quality %s%s: %.0f ms a frame on this machine",
                      quality_names[q->search.at],
                      (const char *const[]){"", ", size 1/2", ", size 1/3"}[size],
                      q->search.settled_ms);
}

static void limit_range(struct viewer *v) {
    int *range = &v->settings.params.disparity_range;
    *range = MIN(*range, v->rig.width - 1);
}

/* A part of the pictures is opened again where its margins are too narrow for the disparities that
 * are searched now; not while its size is recorded or sent. */
static void pass_settings(struct viewer *v) {
    struct params effective = settings_effective(&v->settings);
    still_preview(v, &effective);
    if (v->recording.recorder || v->output || rig_use_reaches(&v->rig, &v->settings.params))
        live_set_params(v->playback.live, &effective);
    else if (!v->wanted_part.on)
        viewer_want_part(v, v->rig_options.roi, v->rig.scale);
    display_fit_range(&v->display, &v->settings.params);
    screen_settle(&v->screen);
}

void viewer_apply_settings(struct viewer *v) {
    int automatic = (int)(v->quality.still ? QUALITY_HIGH : v->quality.search.at);
    if (v->quality.automatic && viewer_quality(v) != automatic)
        v->quality.automatic = v->quality.search.on = false; /* the user has chosen */
    still_begin_preview(v);
    limit_range(v);
    struct history_step step = viewer_step(v);
    history_note(&v->history, &step, clock_ns());
    pass_settings(v);
}

void viewer_adjust_settings(struct viewer *v) {
    const struct params *before = &v->history.step[v->history.at].params;
    limit_range(v);
    for (int i = 0; i < param_count; i++) {
        double now = param_get(&v->settings.params, &param_table[i]);
        if (now != param_get(before, &param_table[i]))
            param_put(&v->settings.base, &param_table[i], now);
    }
    history_adjust(&v->history, &v->settings.params);
    pass_settings(v);
}

struct params viewer_params_at(const struct viewer *v, double from, double to) {
    struct params params = v->settings.params;
    settings_scale_search(&params, to / from);
    if (v->wanted_part.range == v->settings.params.disparity_range) /* not changed since */
        param_put(&params, param_find("disparity_range"),
                  fmax(2, round(v->wanted_part.whole_range * to)));
    return params;
}

void viewer_seek(struct viewer *v, long index) {
    if (playback_seek(&v->playback, index) != 0)
        screen_notify(&v->screen, "A live source cannot go back or forth");
}

void viewer_set_mode(struct viewer *v, int i, enum display_mode mode) {
    enum display_mode *now = display_mode_of(&v->display, i);
    if (mode == DISPLAY_DEPTH && !rig_use_is_metric(&v->rig)) {
        screen_notify(&v->screen,
                      "Depth needs a calibration, disparities are in pixels: " CALIBRATION_WAYS);
        return;
    }
    if (mode == DISPLAY_POINTS && *now != DISPLAY_POINTS)
        screen_notify(&v->screen, "Points: left drag turns, right drag moves, the wheel nears");
    if ((mode == DISPLAY_ROWS) != (*now == DISPLAY_ROWS)) /* which has them at first */
        v->display.settings.row_lines = mode == DISPLAY_ROWS;
    *now = mode;
}

void viewer_want_part(struct viewer *v, const char *roi, double scale) {
    g_free(v->wanted_part.roi);
    v->wanted_part.on = true;
    v->wanted_part.roi = g_strdup(roi);
    v->wanted_part.scale = scale;
    screen_settle(&v->screen);
}

void viewer_find_hovered(struct viewer *v) {
    const struct frame *shown = v->playback.shown;
    const struct mouse *m = &v->mouse;
    struct draw_settings view = display_view(&v->display, display_view_at(&v->display, m->x, m->y));
    v->hovered.side = 0;
    if (!shown)
        v->hovered.on = false;
    else if (view.mode == DISPLAY_POINTS)
        v->hovered.on = !(m->pressed && m->dragging) &&
                        points_view_pick(&view, shown, m->x, m->y, &v->hovered.x, &v->hovered.y);
    else
        v->hovered.on = display_pixel_at(&v->display, shown, m->x, m->y, &v->hovered.x,
                                         &v->hovered.y, &v->hovered.side);
}

/* ---- presets */

void presets_update(struct presets *p, int mode) {
    int kept = 0;
    struct params params;
    g_strfreev(p->names);
    p->names = preset_names();
    for (int i = 0; p->names[i]; i++) {
        char *name = g_steal_pointer(&p->names[i]);
        if (preset_load(&params, name) == 0 && params.mode == mode)
            p->names[kept++] = name;
        else
            g_free(name);
    }
}

void presets_save(struct presets *p, const struct params *params, struct screen *screen) {
    if (!*p->name || strchr(p->name, '/')) {
        screen_notify(screen, "Type a name for the preset first");
        return;
    }
    if (preset_find(p->name)) {
        screen_notify(screen, "%s is a built-in preset; type another name", p->name);
        return;
    }
    g_autofree char *folder = preset_user_folder();
    g_autofree char *file = g_strconcat(p->name, ".ini", NULL);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    if (g_mkdir_with_parents(folder, 0700) != 0 ||
        params_save(params, path, SETTINGS_RIG_GROUP) != 0) {
        screen_notify(screen, "The preset could not be saved in %s", folder);
        return;
    }
    presets_update(p, params->mode);
    screen_notify(screen, "Saved %s", path);
}

/* The settings with a preset in place of all that it may change; false where there is none. */
static bool with_preset(const char *name, const struct params *params, struct params *loaded) {
    params_default(loaded);
    settings_copy(loaded, params, PARAM_START);
    if (!*name || preset_load_over(loaded, name) != 0)
        return false;
    settings_copy_group(loaded, params, SETTINGS_RIG_GROUP);
    settings_copy_group(loaded, params, SETTINGS_SEARCH_GROUP);
    return true;
}

bool presets_are_changed(const struct presets *p, const struct settings *settings) {
    struct params loaded;
    bool known = p->names && g_strv_contains((const char *const *)p->names, p->name);
    return known && with_preset(p->name, &settings->params, &loaded) &&
           !settings_equal_live(&loaded, &settings->params);
}

void viewer_load_preset(struct viewer *v, const char *name) {
    struct settings *settings = &v->settings;
    struct params loaded, alone;
    char **names = v->presets.names;
    if (!with_preset(name, &settings->params, &loaded)) {
        g_autofree char *known = names ? g_strjoinv(", ", names) : g_strdup("none");
        screen_notify(&v->screen, "There is no preset \"%s\"; there are %s", name, known);
    } else if (preset_load(&alone, name) == 0 && alone.mode != settings->running.mode) {
        screen_notify(&v->screen, "Preset %s is for mode=%s, which the window is not opened in",
                      name, alone.mode == MODE_MOTION ? "motion" : "stereo");
    } else {
        settings_copy_display(&loaded, &settings->params);
        settings->params = settings->base = loaded;
        g_strlcpy(v->presets.name, name, sizeof(v->presets.name));
        screen_notify(&v->screen, "Preset %s", name);
        viewer_apply_settings(v);
    }
}

const char *viewer_preset(const struct viewer *v) {
    const struct presets *p = &v->presets;
    int quality = viewer_quality(v);
    struct params loaded;
    if (p->names && g_strv_contains((const char *const *)p->names, p->name))
        return p->name;
    if (quality < QUALITIES)
        return quality_presets[quality];
    bool is_default = !v->display.motion && with_preset("default", &v->settings.params, &loaded) &&
                      settings_equal_live(&loaded, &v->settings.params);
    return is_default ? "default" : "";
}
