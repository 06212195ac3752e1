/*
 * The functions of app/view/playback.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/playback.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void playback_init(struct playback *p, struct source *source, double rate) {
    *p = (struct playback){
        .source = source, .target = -1, .loop = {-1, -1}, .rate = rate, .speed = 1};
}

bool playback_update(struct playback *p) {
    struct live_state before = p->state;
    live_get_state(p->live, &p->state);
    if (before.ended == p->state.ended && before.paused == p->state.paused)
        return false;
    if (p->state.ended && p->shown) /* else the last pair is on its way */
        p->target = -1;
    return true;
}

long playback_index(const struct playback *p) {
    if (p->target >= 0)
        return p->target;
    return p->shown ? p->shown->index : -1;
}

double playback_source_rate(const struct playback *p) {
    return p->source->rate > 0 ? p->source->rate : p->rate;
}

bool playback_is_stopped(const struct playback *p) {
    return p->state.paused || p->state.ended;
}

void playback_pause(struct playback *p, bool paused) {
    live_get_state(p->live, &p->state);
    if (paused && !p->state.paused)
        live_pause(p->live, p->shown);
    else if (!paused)
        live_play(p->live);
    live_get_state(p->live, &p->state);
}

int playback_seek(struct playback *p, long index) {
    if (p->source->count > 0 && index >= p->source->count)
        index = p->source->count - 1;
    if (index < 0)
        index = 0;
    int error = live_seek(p->live, index);
    if (!error)
        p->target = index;
    live_get_state(p->live, &p->state);
    return error;
}

void playback_set_speed(struct playback *p, double speed) {
    p->speed = fmin(16, fmax(1.0 / 16, speed));
    live_set_rate(p->live, p->rate * p->speed);
}

void playback_apply_loop(struct playback *p) {
    if (p->loop[0] >= 0 && p->loop[1] >= 0)
        live_set_loop(p->live, p->loop[0], p->loop[1]);
    else
        live_set_loop(p->live, p->loop_all ? 0 : -1, -1);
}

/* ---- the seek bar */

static void describe_position(const struct playback *p, char *text, size_t size) {
    long index = playback_index(p) < 0 ? 0 : playback_index(p);
    int used = snprintf(text, size, "frame %ld", index);
    if (p->source->count > 0)
        used += snprintf(text + used, size - (size_t)used, " of 0..%ld", p->source->count - 1);
    used += snprintf(text + used, size - (size_t)used, "   %.3f s",
                     (double)index / playback_source_rate(p));
    if (p->speed != 1)
        used += snprintf(text + used, size - (size_t)used, "   x%g", p->speed);
    if (p->loop[0] >= 0 && p->loop[1] < 0)
        snprintf(text + used, size - (size_t)used, "   A %ld", p->loop[0]);
    else if (p->loop[0] >= 0)
        snprintf(text + used, size - (size_t)used, "   A %ld B %ld", p->loop[0], p->loop[1]);
    else if (p->state.ended)
        snprintf(text + used, size - (size_t)used, p->state.error ? "   damaged here" : "   end");
}

/* A and B of the loop, on the seek bar. */
static void draw_loop(const struct playback *p, struct ui *ui) {
    const struct ui_rect *bar = ui_find_rect(ui, "seek");
    for (int i = 0; bar && i < 2 && p->loop[i] >= 0; i++) {
        double x = bar->x + bar->width * ((double)p->loop[i] + 0.5) / (double)p->source->count;
        ui_line(ui, x, bar->y, x, bar->y + bar->height, ui_theme(ui)->changed);
    }
}

static void draw_seek_bar(struct viewer *v) {
    struct playback *p = &v->playback;
    char text[160];
    describe_position(p, text, sizeof(text));
    if (!p->source->seek || p->source->count <= 0) {
        ui_text(v->screen.ui, text);
        return;
    }
    char *rest = strstr(text, "   ");
    if (rest && ui_text_width(v->screen.ui, text) > ui_available_width(v->screen.ui))
        *rest = '\0'; /* the frame alone */
    double index = (double)playback_index(p);
    if (ui_seek_bar(v->screen.ui, "seek",
                    "frames are counted from 0, as in the frames.csv of batch", 0,
                    (double)(p->source->count - 1), text, &index))
        viewer_seek(v, lround(index));
    draw_loop(p, v->screen.ui);
}

void playback_bar_draw(struct viewer *v) {
    const struct layout_rect *r = &v->layout.seek_bar;
    struct ui *ui = v->screen.ui;
    ui_panel_begin(ui, "playback", r->x, r->y, r->width, r->height, UI_NO_BACKGROUND);
    if (v->video_export.on) {
        video_export_draw(v);
        ui_panel_end(ui);
        return;
    }
    action_button(v, "pause", playback_is_stopped(&v->playback) ? "play " : "pause", ACTION_PAUSE);
    if (v->playback.source->seek) {
        ui_same_line(ui);
        action_button(v, "step_back", "<", ACTION_STEP_BACK);
        ui_same_line(ui);
        action_button(v, "step_forward", ">", ACTION_STEP_FORWARD);
    }
    ui_same_line(ui);
    draw_seek_bar(v);
    ui_panel_end(ui);
}
