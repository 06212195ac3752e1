/*
 * The functions of app/view/playback.h. SPDX-License-Identifier: MIT
 */
#include "app/view/playback.h"

#include <math.h>

void playback_init(struct playback *p, struct source *source, double rate) {
    *p = (struct playback){
        .source = source, .target = -1, .loop = {-1, -1}, .rate = rate, .speed = 1};
}

void playback_show(struct playback *p, struct frame **frame) {
    frame_drop(&p->shown);
    p->shown = *frame;
    *frame = NULL;
    p->fresh = true;
    p->target = -1; /* the first frame after a seek is the one that was asked for */
}

bool playback_update(struct playback *p) {
    struct live_state before = p->state;
    live_get_state(p->live, &p->state);
    if (before.ended == p->state.ended && before.paused == p->state.paused)
        return false;
    if (p->state.ended)
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

void playback_apply_swap(struct playback *p) {
    live_set_swap(p->live, p->swap);
}
