/*
 * Another map beside ours, which is left of the mouse: the truth, or that of the other settings.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include <math.h>

const char *const wipe_names[WIPES] = {"off", "truth", "A and B"};

/* The frame of the pair on screen with the other settings, or NULL. */
static const struct frame *wipe_kept(const struct viewer *v) {
    const struct frame *shown = v->playback.shown, *kept = v->wipe.kept;
    bool same = shown && kept && kept != shown && kept->index == shown->index &&
                kept->exchanged == shown->exchanged && v->wipe.slot != v->slot_in_use &&
                kept->rect_left.width == shown->rect_left.width &&
                kept->rect_left.height == shown->rect_left.height;
    return same ? kept : NULL;
}

void wipe_keep(struct viewer *v) {
    if (!playback_is_stopped(&v->playback) || !viewer_is_current(v))
        return;
    frame_drop(&v->wipe.kept);
    v->wipe.kept = frame_ref(v->playback.shown);
    v->wipe.slot = v->slot_in_use;
}

void wipe_compare(struct viewer *v, const char *preset) {
    g_strlcpy(v->wipe.wanted, preset, sizeof(v->wipe.wanted));
    if (!playback_is_stopped(&v->playback))
        playback_pause(&v->playback, true);
    screen_notify(&v->screen, "Computing the whole picture, then by %s", preset);
}

/* The settings of now become those that are not in use, and the preset is loaded. */
static void begin_comparison(struct viewer *v) {
    struct wipe *w = &v->wipe;
    int now = v->slot_in_use;
    panel_describe_preset(v, w->name[now]);
    wipe_keep(v);
    v->other = viewer_slot(v);
    v->slot_in_use = !now;
    viewer_load_preset(v, w->wanted);
    panel_describe_preset(v, w->name[!now]);
    w->wanted[0] = '\0';
    w->with = WIPE_SETTINGS;
}

void wipe_update(struct viewer *v) {
    if (*v->wipe.wanted && still_rests(v))
        begin_comparison(v);
    struct frame *f = v->playback.shown;
    struct draw_settings *s = &v->display.settings;
    const struct frame *kept = wipe_kept(v);
    s->other = NULL;
    s->other_confidence = NULL;
    s->other_matched_from = 0;
    if (!f || v->display.motion)
        return;
    if (v->wipe.with == WIPE_TRUTH && f->has_truth)
        s->other = f->truth;
    else if (v->wipe.with == WIPE_SETTINGS && kept) {
        s->other = kept->disparity;
        s->other_confidence = kept->confidence;
        s->other_matched_from = v->now.asked.mark_filled ? params_matched_from(kept->params) : 0;
    }
    if (v->hovered.on && v->hovered.side == 0)
        s->wipe = v->hovered.x;
    else if (s->wipe <= 0 || s->wipe >= f->rect_left.width)
        s->wipe = f->rect_left.width / 2.0;
}

bool wipe_can(const struct viewer *v, enum wipe_with with) {
    const struct frame *f = v->playback.shown;
    return with != WIPE_TRUTH || (f && f->has_truth);
}

void wipe_set(struct viewer *v, enum wipe_with with) {
    v->wipe.with = with;
    if (!wipe_can(v, with))
        screen_notify(&v->screen, "No truth lies beside these pictures");
    else if (with == WIPE_SETTINGS && !wipe_kept(v))
        screen_notify(&v->screen, "Wipe between A and B: pause, change settings, key b");
    else
        screen_notify(&v->screen, "Wipe: %s", wipe_names[with]);
}

static const char *name_of(const struct viewer *v, int slot) {
    const char *name = v->wipe.name[slot], *letters[] = {"A", "B"};
    return *name ? name : letters[slot];
}

/* Names the maps left and right of the wipe, at the upper edge of each view that has it. */
void wipe_draw(const struct viewer *v) {
    struct ui *ui = v->screen.ui;
    const struct frame *f = v->playback.shown;
    double line = ui_text_height(ui), x, y;
    if (!v->display.settings.other)
        return;
    const char *left = "ours", *right = "truth";
    if (v->wipe.with == WIPE_SETTINGS) {
        left = name_of(v, v->slot_in_use);
        right = name_of(v, v->wipe.slot);
    }
    for (int i = 0; i < display_views(&v->display); i++) {
        struct draw_settings s = display_view(&v->display, i);
        if ((s.mode != DISPLAY_DISPARITY && s.mode != DISPLAY_DEPTH) ||
            !display_place(&s, f, (int)s.wipe, 0, &x, &y))
            continue;
        y = fmax(y, s.y) + line / 2;
        ui_tag(ui, x - line - ui_text_width(ui, left), y, left);
        ui_tag(ui, x + line, y, right);
    }
}
