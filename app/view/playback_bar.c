/*
 * The function of app/view/playback_bar.h. SPDX-License-Identifier: MIT
 */
#include "app/view/playback_bar.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"

#include <math.h>
#include <stdio.h>

static void describe(const struct playback *p, char *text, size_t size) {
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
        ui_line(ui, x, bar->y, x, bar->y + bar->height, 0xffd080);
    }
}

static void draw_seek_bar(struct viewer *v) {
    struct playback *p = &v->playback;
    char text[160];
    describe(p, text, sizeof(text));
    if (!p->source->seek || p->source->count <= 0) {
        ui_text(v->screen.ui, text);
        return;
    }
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
