/*
 * The functions of app/view/viewer.h that have no file of their own.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "base/clock.h"
#include "config/params_file.h"
#include "config/presets.h"

#include <math.h>
#include <string.h>

int viewer_quality(const struct viewer *v) {
    return v->quality.known ? quality_of(&v->quality.all, &v->now.asked) : QUALITY_CUSTOM;
}

/* ---- what is computed */

static bool is_sent(const struct viewer *v) {
    return v->recording.recorder || v->output;
}

static struct situation situation_of(const struct viewer *v) {
    bool open = v->rig.scale > 0;
    return (struct situation){.qualities = v->quality.known ? &v->quality.all : NULL,
                              .search = &v->quality.search,
                              .running = &v->running,
                              .scale = v->scale,
                              .held_scale = is_sent(v) ? v->rig.scale : 0,
                              .width =
                                  open ? v->rig.width / v->rig.scale : v->playback.source->width,
                              .still = v->quality.still,
                              .preview = v->still.preview_ns != 0};
}

void viewer_derive(struct viewer *v) {
    struct situation in = situation_of(v);
    v->now = state_effective(&v->settings, &in);
}

/* A part of the pictures is opened again, too, where its margins are too narrow for the disparities
 * that are searched now. */
void viewer_update(struct viewer *v) {
    viewer_derive(v);
    if (!is_sent(v) && (v->now.scale != v->rig.scale || !rig_use_reaches(&v->rig, &v->now.params)))
        viewer_want_part(v);
    if (v->wanted_part.on || params_equal(&v->passed, &v->now.params))
        return;
    v->passed = v->now.params;
    live_set_params(v->playback.live, &v->passed);
    display_fit_range(&v->display, &v->now.asked);
    screen_settle(&v->screen);
}

void viewer_note(struct viewer *v) {
    still_begin_preview(v);
    history_note(&v->history, &v->settings, clock_ns());
    viewer_derive(v);
    screen_settle(&v->screen);
}

static void set(struct viewer *v, const struct params *wanted) {
    struct situation in = situation_of(v);
    state_change(&v->settings, &in, wanted);
    v->quality.search.on &= v->settings.automatic;
}

void viewer_take(struct viewer *v, const struct params *computed) {
    struct params asked = state_asked(&v->now, computed);
    set(v, &asked);
}

void viewer_put(struct viewer *v, const struct param_info *info, double value) {
    struct params wanted = v->now.asked;
    if (param_put(&wanted, info, value) != 0)
        return;
    set(v, &wanted);
    viewer_note(v);
}

/* ---- the quality */

/* Recordings and outputs keep their size, and what the user has chosen stays. */
void viewer_begin_search(struct viewer *v) {
    const struct playback *p = &v->playback;
    bool may = v->scale == 1 && v->options->rig.scale == 0 && !is_sent(v) && !v->measure.on;
    double rate = p->source->rate > 0 || p->source->live ? p->source->rate : p->rate * p->speed;
    int threads = v->settings.params.threads;
    bool gpu = v->matcher && !g_str_has_prefix(p->state.backend, "cpu");
    double pixels = gpu ? 0 : (double)p->source->width * p->source->height;
    threads = threads > 0 ? threads : (int)g_get_num_processors();
    quality_search_begin(&v->quality.search, may ? QUALITY_SIZES : 1, pixels, threads, rate);
    v->quality.still = false;
}

void viewer_set_quality(struct viewer *v, int quality) {
    struct viewer_quality *q = &v->quality;
    bool automatic = quality == QUALITY_AUTO;
    if (!q->known || quality == QUALITY_CUSTOM)
        return;
    q->still = false;
    q->search = (struct quality_search){0};
    if (automatic)
        viewer_begin_search(v);
    v->settings.params = v->now.asked;
    v->settings.automatic = automatic;
    quality_apply(&q->all, automatic ? QUALITY_HIGH : (enum quality)quality, &v->settings.params);
    quality_apply(&q->all, automatic ? QUALITY_HIGH : (enum quality)quality, &v->settings.base);
    viewer_note(v);
}

struct slot viewer_slot(const struct viewer *v) {
    return (struct slot){v->settings, v->quality.search};
}

void viewer_search_quality(struct viewer *v, const struct frame *frame) {
    struct viewer_quality *q = &v->quality;
    int64_t now_ns = clock_ns(), since_ns = q->taken_ns;
    q->taken_ns = now_ns;
    if (playback_is_stopped(&v->playback) || q->still || v->wanted_part.on ||
        frame->rect_left.width != v->rig.width ||
        quality_of(&q->all, frame->params) != (int)q->search.at)
        return;
    double waited_ms = fmax(0, (double)(now_ns - since_ns) / 1e6 - frame->compute_ms);
    if (quality_search_frame(&q->search, frame->compute_ms, since_ns ? waited_ms : 0))
        screen_settle(&v->screen);
}

void viewer_seek(struct viewer *v, long index) {
    struct playback *p = &v->playback;
    long target = live_seek(p->live, index);
    if (target >= 0)
        p->target = target;
    else
        screen_notify(&v->screen, "A live source cannot go back or forth");
    live_get_state(p->live, &p->state);
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

const struct frame *viewer_seen(const struct viewer *v) {
    const struct frame *before = v->kept.frame ? v->kept.frame : v->first;
    return v->playback.shown ? v->playback.shown : before;
}

void viewer_want_part(struct viewer *v) {
    v->wanted_part.on = true;
    screen_settle(&v->screen);
}

void viewer_find_hovered(struct viewer *v) {
    const struct frame *shown = v->playback.shown;
    const struct mouse *m = &v->mouse;
    int view = display_view_at(&v->display, m->x, m->y);
    struct draw_settings s = display_view(&v->display, view);
    v->hovered.side = 0;
    if (!shown)
        v->hovered.on = false;
    else if (s.mode == DISPLAY_POINTS)
        v->hovered.on =
            !(m->pressed && m->dragging) &&
            draw_pick(v->display.draw, view, m->x, m->y, &v->hovered.x, &v->hovered.y) &&
            v->hovered.x < shown->rect_left.width && v->hovered.y < shown->rect_left.height;
    else
        v->hovered.on =
            draw_window_to_pixel(&s, shown->rect_left.width, shown->rect_left.height, m->x, m->y,
                                 &v->hovered.x, &v->hovered.y, &v->hovered.side);
}

/* ---- presets */

void viewer_find_presets(struct viewer *v) {
    int kept = 0;
    struct params params;
    g_strfreev(v->presets);
    v->presets = preset_names();
    for (int i = 0; v->presets[i]; i++) {
        char *name = g_steal_pointer(&v->presets[i]);
        if (preset_load(&params, name) == 0 && params.mode == v->settings.params.mode)
            v->presets[kept++] = name;
        else
            g_free(name);
    }
}

void viewer_save_preset(struct viewer *v) {
    const char *name = v->settings.preset;
    if (!*name || strchr(name, '/')) {
        screen_notify_error(&v->screen, "preset_name", "Type a name for the preset first");
        return;
    }
    if (preset_find(name)) {
        screen_notify_error(&v->screen, "preset_name", "%s is a built-in preset; type another name",
                            name);
        return;
    }
    g_autofree char *folder = preset_user_folder();
    g_autofree char *file = g_strconcat(name, ".ini", NULL);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    if (g_mkdir_with_parents(folder, 0700) != 0 ||
        params_save(&v->now.asked, path, SETTINGS_RIG_GROUP) != 0) {
        screen_notify_error(&v->screen, "preset_name", "The preset could not be saved in %s",
                            folder);
        return;
    }
    viewer_find_presets(v);
    screen_notify(&v->screen, "Saved %s", path);
}

/* The settings with a preset in place of all that it may change; false where there is none. */
static bool with_preset(const char *name, const struct params *params, struct params *loaded) {
    params_default(loaded);
    params_copy(loaded, params, PARAM_START);
    if (!*name || preset_load_over(loaded, name) != 0)
        return false;
    params_copy_group(loaded, params, SETTINGS_RIG_GROUP);
    params_copy_group(loaded, params, SETTINGS_SEARCH_GROUP);
    return true;
}

static bool is_known(const struct viewer *v, const char *preset) {
    return v->presets && g_strv_contains((const char *const *)v->presets, preset);
}

static bool is_as_preset(const struct viewer *v, const char *name) {
    struct params loaded;
    return with_preset(name, &v->now.asked, &loaded) && settings_equal_live(&loaded, &v->now.asked);
}

bool viewer_differs_from_preset(const struct viewer *v) {
    return is_known(v, v->settings.preset) && !is_as_preset(v, v->settings.preset);
}

void viewer_load_preset(struct viewer *v, const char *name) {
    struct params loaded;
    if (!with_preset(name, &v->now.asked, &loaded))
        return; /* the notice says why */
    params_copy_display(&loaded, &v->now.asked);
    v->settings = (struct settings){.params = loaded, .base = loaded};
    v->quality.search.on = false;
    g_strlcpy(v->settings.preset, name, sizeof(v->settings.preset));
    screen_notify(&v->screen, "Preset %s", name);
    viewer_note(v);
}

const char *viewer_preset(const struct viewer *v) {
    int quality = viewer_quality(v);
    if (is_known(v, v->settings.preset))
        return v->settings.preset;
    if (quality < QUALITIES)
        return quality_presets[quality];
    return !v->display.motion && is_as_preset(v, "default") ? "default" : "";
}
