/*
 * Pictures that stand still, of app/view/viewer.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "app/view/actions.h"
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

static void set_quality(struct viewer *v, enum quality quality, int size) {
    struct viewer_quality *q = &v->quality;
    if (q->automatic)
        quality_apply(&q->all, quality, &v->settings.params);
    viewer_adjust_settings(v);
    if (q->search.size > 0 && v->rig.scale != quality_sizes[size])
        viewer_want_part(v, v->rig_options.roi, quality_sizes[size]);
}

static void begin(struct viewer *v) {
    v->quality.still = true;
    set_quality(v, QUALITY_HIGH, 0);
}

static void end(struct viewer *v) {
    struct viewer_quality *q = &v->quality;
    q->still = false;
    if (q->automatic && q->search.on)
        viewer_begin_search(v);
    else
        set_quality(v, q->search.at, q->search.size);
}

void still_begin_preview(struct viewer *v) {
    const struct frame *shown = v->playback.shown;
    bool slow = shown && (v->still.preview_ns || shown->compute_ms > SLOW_MS);
    v->still.since_ns = clock_ns();
    v->still.preview_ns =
        slow && v->quality.known && playback_is_stopped(&v->playback) ? v->still.since_ns : 0;
}

void still_preview(const struct viewer *v, struct params *params) {
    const struct params *of = v->quality.all.params;
    for (int i = 0; i < param_count && v->still.preview_ns; i++) {
        const struct param_info *info = &param_table[i];
        if (param_get(params, info) == param_get(&of[QUALITY_HIGH], info))
            param_put(params, info, param_get(&of[QUALITY_LOW], info));
    }
}

bool viewer_is_current(const struct viewer *v) {
    const struct playback *p = &v->playback;
    return p->shown && !p->fresh && p->target < 0 && !v->still.preview_ns &&
           settings_equal_live(p->shown->params, &v->settings.params);
}

/* Whether it is a video of what can be read again in high quality. */
static bool wants_high(const struct viewer *v, enum action action) {
    const struct viewer_quality *q = &v->quality;
    return action == ACTION_SAVE_VIDEO && v->playback.source->seek && may_change(v) && q->known &&
           q->automatic && !q->still;
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

/* What waited for whole pictures; what waited for the first map may wait again, for those. */
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
    viewer_adjust_settings(v);
}

void still_update(struct viewer *v) {
    struct viewer_quality *q = &v->quality;
    int64_t now_ns = clock_ns();
    v->screen.wake_ns = 0;
    end_preview(v, now_ns);
    if (v->still.waiting >= 0)
        go_on(v);
    bool stopped = playback_is_stopped(&v->playback);
    if (!may_change(v) || v->video_export.on)
        return;
    if (!stopped) {
        v->still.since_ns = 0;
        if (q->still)
            end(v);
        return;
    }
    if (!v->still.since_ns || v->still.index != v->playback.shown->index)
        v->still.since_ns = now_ns;
    v->still.index = v->playback.shown->index;
    if (now_ns - v->still.since_ns < REST_NS) {
        v->screen.wake_ns = v->still.since_ns + REST_NS;
        return;
    }
    if (!q->still && q->known && (q->automatic || q->search.size > 0))
        begin(v);
}
