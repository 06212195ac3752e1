/*
 * The functions of app/view/viewer.h. SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "config/clock.h"

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
    bool may = v->options->rig.scale == 0 && !v->output && !v->recording.recorder;
    return may && (v->rig.scale == 1 || v->quality.search.size > 0) ? QUALITY_SIZES : 1;
}

void viewer_begin_search(struct viewer *v) {
    int sizes = sizes_to_try(v);
    take_back_size(v);
    v->quality.automatic = true;
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
        q->automatic = false;
        q->search = (struct quality_search){0};
    }
    quality_apply(&q->all, q->automatic ? QUALITY_BEST : (enum quality)quality,
                  &v->settings.params);
    viewer_apply_settings(v);
}

void viewer_search_quality(struct viewer *v, const struct frame *frame) {
    struct viewer_quality *q = &v->quality;
    int size = q->search.size;
    if (v->rig.scale != quality_sizes[size] && !v->wanted_part.on)
        q->search.on = false; /* it was refused, or the user has chosen */
    if (!q->search.on || v->wanted_part.on ||
        quality_of(&q->all, &frame->params) != (int)q->search.at ||
        !quality_search_frame(&q->search, frame->compute_ms))
        return;
    quality_apply(&q->all, q->search.at, &v->settings.params);
    viewer_apply_settings(v);
    if (q->search.size != size)
        viewer_want_part(v, v->rig_options.roi, quality_sizes[q->search.size]);
    if (!q->search.on)
        screen_notify(&v->screen, "quality %s%s: %.0f ms a frame on this machine",
                      quality_names[q->search.at],
                      (const char *const[]){"", ", size 1/2", ", size 1/3"}[size],
                      q->search.settled_ms);
}

void viewer_apply_settings(struct viewer *v) {
    struct params *params = &v->settings.params;
    if (v->quality.automatic && viewer_quality(v) != (int)v->quality.search.at)
        v->quality.automatic = v->quality.search.on = false; /* the user has chosen */
    if (params->disparity_range >= v->rig.width)
        params->disparity_range = v->rig.width - 1;
    if (v->quality.automatic)
        history_replace(&v->history, params);
    else
        history_note(&v->history, params, clock_ns());
    struct params effective = settings_effective(&v->settings);
    live_set_params(v->playback.live, &effective);
    display_fit_range(&v->display, params);
    screen_settle(&v->screen);
}

void viewer_load_preset(struct viewer *v, const char *name) {
    if (presets_load(&v->presets, name, &v->settings, &v->screen))
        viewer_apply_settings(v);
}

void viewer_seek(struct viewer *v, long index) {
    if (playback_seek(&v->playback, index) != 0)
        screen_notify(&v->screen, "a live source cannot go back or forth");
}

void viewer_set_mode(struct viewer *v, int i, enum display_mode mode) {
    enum display_mode *now = display_mode_of(&v->display, i);
    if (mode == DISPLAY_DEPTH && !rig_use_is_metric(&v->rig)) {
        screen_notify(&v->screen,
                      "depth needs a calibration (--calib FILE); disparities are in pixels");
        return;
    }
    if (mode == DISPLAY_POINTS && *now != DISPLAY_POINTS)
        screen_notify(&v->screen, "points: drag orbits, right drag pans, wheel zooms, 0 goes back");
    *now = mode;
}

void viewer_want_part(struct viewer *v, const char *roi, double scale) {
    g_free(v->wanted_part.roi);
    v->wanted_part.on = true;
    v->wanted_part.roi = g_strdup(roi);
    v->wanted_part.scale = scale;
    screen_settle(&v->screen);
}

struct motion_speed viewer_motion_speed(const struct viewer *v) {
    const struct view_options *o = v->options;
    const struct source *source = v->playback.source;
    const struct frame *shown = v->playback.shown;
    struct motion_speed speed = {.metres_per_pixel = o->metres_per_pixel / v->rig.scale};
    if (shown && (source->live || source->rate > 0))
        speed.seconds = (double)(shown->right_ns - shown->left_ns) / 1e9;
    else if (o->rate > 0)
        speed.seconds = v->settings.running.motion_step / o->rate;
    return speed;
}

bool viewer_hovered_pixel(const struct viewer *v, int *x, int *y, int *side) {
    return v->playback.shown &&
           display_pixel_at(&v->display, v->playback.shown, v->mouse.x, v->mouse.y, x, y, side);
}
