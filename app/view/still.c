/*
 * Pictures that stand still, of app/view/viewer.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "base/clock.h"

#define REST_NS INT64_C(300000000)
#define SLOW_MS 150 /* a frame that takes longer is computed in low quality while a slider moves */

/* Whether what is computed may change: its size stays while it is recorded, sent or filmed. */
static bool may_change(const struct viewer *v) {
    return v->playback.shown && v->playback.target < 0 && !v->wanted_part.on &&
           !v->recording.recorder && !v->output;
}

static bool is_small(const struct viewer *v) {
    return v->quality.search.size > 0 && v->rig.scale < 1;
}

void still_begin_preview(struct viewer *v) {
    const struct frame *shown = v->playback.shown;
    bool slow = shown && (v->still.preview_ns || shown->compute_ms > SLOW_MS);
    v->still.since_ns = clock_ns();
    v->still.preview_ns =
        slow && v->quality.known && playback_is_stopped(&v->playback) ? v->still.since_ns : 0;
}

bool viewer_is_current(const struct viewer *v) {
    const struct playback *p = &v->playback;
    return p->shown && !p->fresh && p->target < 0 && !v->still.preview_ns &&
           settings_equal_live(p->shown->params, &v->now.params);
}

/* Whether it is a video of what can be read again in high quality. */
static bool wants_high(const struct viewer *v, enum action action) {
    const struct viewer_quality *q = &v->quality;
    return action == ACTION_SAVE_VIDEO && v->playback.source->seek && may_change(v) && q->known &&
           v->settings.automatic && !q->still;
}

bool still_is_whole(struct viewer *v, enum action action) {
    struct playback *p = &v->playback;
    if (p->shown && !v->still.preview_ns && (!is_small(v) || !may_change(v)) &&
        !wants_high(v, action))
        return true;
    v->still.waiting = (int)action;
    v->still.resumes = p->shown && !playback_is_stopped(p);
    if (v->still.resumes)
        playback_pause(p, true);
    screen_notify(&v->screen, "Computing the whole picture first; then it is saved");
    return false;
}

bool still_rests(const struct viewer *v) {
    return playback_is_stopped(&v->playback) && viewer_is_current(v) && !is_small(v) &&
           (v->quality.still || !v->settings.automatic);
}

/* Runs the action that waited for whole pictures; one that waited for the first map may wait again,
 * for those. */
static void go_on(struct viewer *v) {
    enum action action = (enum action)v->still.waiting;
    bool stopped = playback_is_stopped(&v->playback);
    if (!viewer_is_current(v) || (stopped && (is_small(v) || wants_high(v, action))))
        return;
    v->still.waiting = -1;
    action_run(v, action);
    if (v->still.resumes && v->still.waiting < 0 && !v->video_export.on)
        playback_pause(&v->playback, false);
}

/* The settings themselves again, once the slider rests. They change no size, so this happens even
 * while the pairs are recorded, sent or filmed. */
static void end_preview(struct viewer *v, int64_t now_ns) {
    if (!v->still.preview_ns)
        return;
    v->screen.wake_ns = v->still.preview_ns + REST_NS;
    if (now_ns < v->screen.wake_ns)
        return;
    v->screen.wake_ns = v->still.preview_ns = 0;
}

void still_update(struct viewer *v) {
    struct viewer_quality *q = &v->quality;
    int64_t now_ns = clock_ns();
    v->screen.wake_ns = 0;
    end_preview(v, now_ns);
    if (v->still.waiting >= 0)
        go_on(v);
    bool stopped = playback_is_stopped(&v->playback);
    if (!may_change(v) || v->video_export.on || v->covered)
        return;
    if (!stopped) {
        v->still.since_ns = 0;
        q->still = false;
        return;
    }
    if (!v->still.since_ns || v->still.index != v->playback.shown->index)
        v->still.since_ns = now_ns;
    v->still.index = v->playback.shown->index;
    if (now_ns - v->still.since_ns < REST_NS) {
        v->screen.wake_ns = v->still.since_ns + REST_NS;
        return;
    }
    q->still = q->known && (v->settings.automatic || q->search.size > 0);
}
