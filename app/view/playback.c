/*
 * The functions of app/view/playback.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include <math.h>
#include <stdio.h>

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

static void describe_seconds(const struct playback *p, long index, char *text, size_t size) {
    double s = (double)MAX(0, index) / fmax(1e-3, playback_source_rate(p));
    if (s < 60)
        snprintf(text, size, "%.1f s", s);
    else
        snprintf(text, size, "%d:%04.1f", (int)s / 60, fmod(s, 60));
}

/* A and B of the loop. */
static void draw_marks(struct playback *p, struct ui *ui) {
    const struct ui_rect *bar = ui_find_rect(ui, "seek");
    if (!bar)
        return;
    p->bar_x = bar->x + ui_px(ui, 7);
    p->bar_width = bar->width - 2 * ui_px(ui, 7);
    for (int i = 0; i < 2 && p->loop[i] >= 0; i++) {
        double x =
            p->bar_x + p->bar_width * (double)p->loop[i] / fmax(1, (double)(p->source->count - 1));
        ui_line(ui, x, bar->y, x, bar->y + bar->height, ui_theme(ui)->changed);
        ui_label(ui, x + 2, bar->y - 2, ui_theme(ui)->changed, i ? "B" : "A");
    }
}

/* The pair that the place of the mouse on the bar stands for, as it was drawn last. */
static long index_under_mouse(const struct viewer *v) {
    const struct playback *p = &v->playback;
    double at = p->bar_width > 0 ? (v->mouse.x - p->bar_x) / p->bar_width : 0;
    return lround((double)(p->source->count - 1) * fmin(1, fmax(0, at)));
}

static void draw_speeds(struct viewer *v, const char *shown) {
    static const double speeds[] = {0.25, 0.5, 1, 2, 4, 8};
    struct playback *p = &v->playback;
    struct ui *ui = v->screen.ui;
    if (!ui_menu_begin(ui, "speed", UI_VALUE, p->loop_all ? ICON_LOOP : NULL, shown,
                       "speed ([ and ], Backspace), and what comes after the end"))
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++) {
        char text[16];
        snprintf(text, sizeof(text), "%g\u00d7", speeds[i]);
        if (ui_item(ui, text, text, "", NULL, p->speed == speeds[i], NULL))
            playback_set_speed(p, speeds[i]);
    }
    ui_separator(ui);
    if (ui_item(ui, "loop", "Start again at the end", "L", NULL, p->loop_all, NULL))
        action_run(v, ACTION_LOOP_ALL);
    ui_list_end(ui);
}

static void draw_seek_bar(struct viewer *v) {
    struct playback *p = &v->playback;
    struct ui *ui = v->screen.ui;
    char text[48], end[48] = "", speed[16], help[96], under[48];
    long index = MAX(0, playback_index(p));
    bool bar = p->source->seek && p->source->count > 0;
    describe_seconds(p, index, text, sizeof(text));
    if (bar)
        describe_seconds(p, p->source->count - 1, end, sizeof(end));
    if (p->state.error)
        snprintf(end, sizeof(end), "Damaged here");
    snprintf(speed, sizeof(speed), "%g\u00d7", p->speed);
    double speed_width = ui_tool_width(ui, ICON_LOOP, speed) + 2 * ui_text_height(ui);
    ui_text_line(ui, ui_theme(ui)->text, text, text, NULL);
    ui_same_line(ui);
    if (bar) {
        double at = (double)index, width = ui_available_width(ui) - ui_text_width(ui, end) -
                                           speed_width - ui_px(ui, 24);
        long there = index_under_mouse(v);
        describe_seconds(p, there, under, sizeof(under));
        snprintf(help, sizeof(help), "%s, frame %ld", under, there);
        if (ui_seek_bar(ui, "seek", help, width, (double)(p->source->count - 1), &at) &&
            lround(at) != index) /* between two frames it is changed as long as it is held */
            viewer_seek(v, lround(at));
        ui_same_line(ui);
    }
    ui_text_line(ui, ui_theme(ui)->note, end, end, NULL);
    ui_same_line(ui);
    draw_speeds(v, speed);
    if (bar)
        draw_marks(p, ui);
}

void playback_bar_draw(struct viewer *v) {
    const struct layout_rect *r = &v->layout.seek_bar;
    ui_panel_begin(v->screen.ui, "playback", r->x, r->y, r->width, r->height, UI_BAR);
    if (v->playback.source->seek)
        action_tool(v, "step_back", ICON_BACK, NULL, ACTION_STEP_BACK, false, 0);
    action_tool(v, "pause", playback_is_stopped(&v->playback) ? ICON_PLAY : ICON_PAUSE, NULL,
                ACTION_PAUSE, false, 0);
    if (v->playback.source->seek)
        action_tool(v, "step_forward", ICON_FORWARD, NULL, ACTION_STEP_FORWARD, false, 0);
    draw_seek_bar(v);
    ui_panel_end(v->screen.ui);
}
