/*
 * The way of a frame through app/live/live.h: the capture thread waits until a pair is due, seeks
 * where a player asks for it, and reads the pair; the compute thread runs the pipeline with the
 * newest settings and answers the probes; live_take hands the frame out.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/live_private.h"

#include "base/auto.h"
#include "base/clock.h"
#include "base/lock.h"

#include <glib.h>
#include <string.h>

#define LATE_NS 500000000 /* later than this is a pause, not jitter to catch up with */

/* ---- all */

static void notify(struct live *live) {
    if (live->options.notify)
        live->options.notify(live->options.context);
}

/* The stream ends with this error, unless it has one already. */
static void fail(struct live *live, int error, bool in_compute) {
    LOCKED(&live->lock);
    if (!live->state.error) {
        live->state.error = error;
        live->in_compute = in_compute;
    }
}

/* Whether a frame is obsolete because of a pause or a seek. */
static bool is_stale(struct live *live, const struct frame *frame) {
    LOCKED(&live->lock);
    return frame->taken_ns < live->discard_before_ns;
}

/* ---- capture */

static bool is_stopped(struct live *live) {
    return atomic_load(&live->stop);
}

/* Sleeps until the next pair is due or something changed; true when it is due. Holds the lock. */
static bool wait_until_due(struct live *live) {
    if (live->rate <= 0)
        return true;
    int64_t now = clock_ns();
    if (live->next_due_ns == 0 || now - live->next_due_ns > LATE_NS)
        live->next_due_ns = now;
    if (now < live->next_due_ns) {
        struct timespec due = clock_time(live->next_due_ns);
        pthread_cond_timedwait(&live->changed, &live->lock, &due);
        return false;
    }
    live->next_due_ns += (int64_t)(1e9 / live->rate);
    return true;
}

/* 0, SOURCE_END or -errno. A source that starts over is given up once a whole round was damaged. */
static int read_pair(struct live *live, struct frame *frame) {
    long in_a_row = 0;
    while (!is_stopped(live)) {
        int status = live->source->read(live->source, frame);
        if (status == 0 || status == -EBADMSG)
            live->next = frame->index + 1;
        if (status == -EAGAIN) /* a silent camera; it may come back */
            continue;
        if (status != -EBADMSG)
            return status;
        LOCKED(&live->lock);
        live->stats.damaged++;
        if (live->source->count > 0 && ++in_a_row > live->source->count)
            return status;
    }
    return SOURCE_END;
}

/* Waits until a pair is to be read, and seeks where a player asks for it. *sought: a seek asked for
 * this pair, which is read even in a pause. 0: read it, -errno of a seek, or SOURCE_END when the
 * stream is to stop. */
static int wait_for_turn(struct live *live, bool *sought) {
    int status = 0;
    long seek_to = -1;
    pthread_mutex_lock(&live->lock);
    while (!is_stopped(live) && live->seek_to < 0) {
        if (live->loop_first >= 0 && live->loop_last >= 0 && live->next > live->loop_last &&
            !live->state.paused && !live->state.ended) {
            seek_to = live->loop_first; /* without discarding: what comes before it is shown */
            break;
        }
        if (live->state.paused || live->state.ended)
            pthread_cond_wait(&live->changed, &live->lock);
        else if (wait_until_due(live))
            break;
    }
    *sought = live->seek_to >= 0;
    if (*sought)
        seek_to = live->seek_to;
    live->seek_to = -1;
    bool discarding = live->discard_before_ns == INT64_MAX;
    pthread_mutex_unlock(&live->lock);

    if (is_stopped(live))
        return SOURCE_END;
    if (*sought)
        live->since_seek = 0;
    if (seek_to >= 0 && seek_to != live->next) {
        live->since_seek = 0;
        status = live->source->seek(live->source, seek_to);
        if (status == 0)
            live->next = seek_to;
    }
    if (*sought && discarding) {
        LOCKED(&live->lock);
        if (live->seek_to < 0)
            live->discard_before_ns = clock_ns();
    }
    return status;
}

/* Whether the pair just read is still wanted; exchanges its pictures where they are to be. */
static bool is_still_wanted(struct live *live, struct frame *frame, bool sought) {
    LOCKED(&live->lock);
    bool wanted = live->seek_to < 0 && (!live->state.paused || sought);
    frame->exchanged = live->swap;
    if (wanted && frame->exchanged) {
        struct image left = frame->left;
        frame->left = frame->right;
        frame->right = left;
        frame->has_truth = 0;
    }
    return wanted;
}

/* A player's source ended with status: stops there, or starts the loop again unless no pair of it
 * came. */
static void end_or_loop(struct live *live, int status) {
    pthread_mutex_lock(&live->lock);
    bool looping = status == SOURCE_END && live->loop_first >= 0 && live->since_seek > 0 &&
                   !live->state.paused;
    if (looping && live->seek_to < 0)
        live->seek_to = live->loop_first;
    else if (live->seek_to < 0)
        live->state.ended = true;
    if (status < 0 && !live->state.error)
        live->state.error = status;
    if (live->discard_before_ns == INT64_MAX && live->seek_to < 0)
        live->discard_before_ns = clock_ns();
    pthread_mutex_unlock(&live->lock);
    queue_interrupt(live->pairs); /* settings may have changed since the last pair was begun */
    notify(live);
}

/* Counts a pair that was read, and shows it to the tap. */
static void note_captured(struct live *live, const struct frame *frame) {
    pthread_mutex_lock(&live->lock);
    live->last_captured_ns = clock_ns();
    if (live->stats.captured++ == 0)
        live->first_captured_ns = live->last_captured_ns;
    pthread_mutex_unlock(&live->lock);
    LOCKED(&live->tap_lock);
    if (live->tap)
        live->tap(live->tap_context, frame);
}

void *live_capture_thread(void *context) {
    struct live *live = context;
    long limit = live->options.frames;
    struct frame *frame = NULL;
    if (live->options.player && !live->source->live)
        live_lower_priority();
    for (long n = 0; limit == 0 || n < limit;) {
        bool sought;
        int status = wait_for_turn(live, &sought);
        if (!frame)
            frame = pool_take(live->pool);
        if (status == 0)
            status = read_pair(live, frame);
        if (status < 0 && !live->options.player)
            fail(live, status, false);
        if (is_stopped(live) || (status != 0 && !live->options.player))
            break;
        if (status != 0) {
            end_or_loop(live, status);
            continue;
        }
        live->since_seek++;
        if (!is_still_wanted(live, frame, sought))
            continue;
        n++;
        note_captured(live, frame);
        if (live->matcher && queue_give(live->pairs, &frame) != 0)
            break;
        queue_wait_for_room(live->pairs); /* a pair read too early is shown late */
    }
    frame_drop(&frame);
    queue_end(live->pairs);
    return NULL;
}

/* ---- compute */

void live_copy_pair(const struct frame *from, struct frame *to) {
    size_t pixels = (size_t)from->left.width * (size_t)from->left.height;
    to->index = from->index;
    to->left_ns = from->left_ns;
    to->right_ns = from->right_ns;
    to->taken_ns = clock_ns(); /* its age is that of the question */
    to->exchanged = from->exchanged;
    to->has_truth = from->has_truth;
    memcpy(to->left.data, from->left.data, image_bytes(&from->left));
    memcpy(to->right.data, from->right.data, image_bytes(&from->right));
    if (from->has_truth) {
        memcpy(to->truth, from->truth, 2 * pixels * sizeof *to->truth);
        memcpy(to->non_occluded, from->non_occluded, pixels);
    }
}

/* The pair that a player holds, in a new frame, where it is to be computed again; else NULL. */
static struct frame *take_held_pair(struct live *live) {
    pthread_mutex_lock(&live->lock);
    bool at_rest = live->state.paused || live->state.ended;
    bool asked = live->probes_asked && live->held && live->last_run != live->held->index;
    bool wanted = live->held && at_rest && live->seek_to < 0 && (live->settings_changed || asked);
    AUTO(frame_drop) struct frame *held = wanted ? frame_ref(live->held) : NULL;
    if (wanted)
        live->settings_changed = false;
    pthread_mutex_unlock(&live->lock);
    if (!held)
        return NULL;
    struct frame *frame = pool_take(live->pool);
    live_copy_pair(held, frame);
    return frame;
}

/* Answers the probes from the last run. */
static void answer_probes(struct live *live) {
    struct live_probe answers[PROBES];
    pthread_mutex_lock(&live->lock);
    int count = live->probes_asked ? live->probe_count : 0;
    long index = live->last_run;
    memcpy(answers, live->probes, sizeof(answers));
    pthread_mutex_unlock(&live->lock);
    if (count == 0 || index < 0)
        return;

    for (int i = 0; i < count; i++) {
        struct live_probe *answer = &answers[i];
        answer->index = index;
        answer->found = (struct livestereo_probe)LIVESTEREO_PROBE;
        if (livestereo_get_probe(matcher_handle(live->matcher), answer->x, answer->y,
                                 &answer->found))
            answer->found.label = -1;
    }
    pthread_mutex_lock(&live->lock);
    for (int i = 0; i < count && i < live->probe_count; i++)
        if (live->probes[i].x == answers[i].x && live->probes[i].y == answers[i].y)
            live->probes[i] = answers[i];
    live->state.answered++;
    pthread_mutex_unlock(&live->lock);
    notify(live);
}

/* Notes a frame that was computed, for a player the one to stop at, and gives it on. False when the
 * stream is over. */
static bool give_computed(struct live *live, struct frame *frame, int status) {
    struct frame *before = NULL;
    if (status != 0) {
        fail(live, status, true);
        frame_drop(&frame);
        return false;
    }
    pthread_mutex_lock(&live->lock);
    live->stats.computed++;
    live->state.backend = matcher_info(live->matcher).backend; /* which the run may have replaced */
    live->stats.compute_ms += frame->compute_ms;
    for (int i = 0; i < FRAME_STAGES; i++)
        live->stats.stage_ms[i] += frame->stage_ms[i];
    live->last_good = *frame->params;
    live->last_run = frame->index;
    if (live->options.player && frame->taken_ns >= live->discard_before_ns) {
        before = live->held;
        live->held = frame_ref(frame);
    }
    pthread_mutex_unlock(&live->lock);
    frame_drop(&before);
    if (live->options.player)
        answer_probes(live);
    bool given = queue_give(live->shown, &frame) == 0;
    notify(live);
    return given;
}

static struct params newest_settings(struct live *live) {
    LOCKED(&live->lock);
    live->settings_changed = false;
    return live->state.params;
}

/* Puts the last settings that a frame was computed with in the place of refused ones, unless others
 * were set meanwhile. */
static struct params take_back_settings(struct live *live, const struct params *refused) {
    LOCKED(&live->lock);
    if (params_equal(&live->state.params, refused))
        live->state.params = live->last_good;
    live->state.refused++;
    g_strlcpy(live->state.why, livestereo_error(matcher_handle(live->matcher)),
              sizeof(live->state.why));
    return live->last_good;
}

/* Starts a frame with the newest settings. Where those do not fit the picture or this machine they
 * are refused: the ones before stay. */
static int start_or_refuse(struct live *live, struct frame *frame) {
    struct params params = newest_settings(live);
    int status = matcher_start(live->matcher, &params, frame);
    if (status == 0 || params_same_method(&params, &live->last_good))
        return status;
    params = take_back_settings(live, &params);
    return matcher_start(live->matcher, &params, frame);
}

static bool finish(struct live *live, struct frame *frame) {
    return give_computed(live, frame, matcher_finish(live->matcher, frame));
}

/* Whether a pair that is waiting is started before the one in flight is finished. A player shows
 * each frame before the next one is begun. */
static bool works_ahead(struct live *live) {
    return !live->options.player && matcher_info(live->matcher).frames_in_flight > 1;
}

void *live_compute_thread(void *context) {
    struct live *live = context;
    struct frame *in_flight = NULL, *frame;
    bool going = true;
    if (live->options.player)
        live_lower_priority();
    while (going) {
        int status = queue_take(live->pairs, in_flight ? 0 : -1, &frame);
        if (status == -EINTR && (frame = take_held_pair(live)) == NULL) {
            answer_probes(live);
            continue;
        }
        if (!frame && !in_flight)
            break;
        if (frame && is_stale(live, frame)) {
            frame_drop(&frame);
            continue;
        }
        status = frame ? start_or_refuse(live, frame) : 0;
        if (status != 0) {
            going = give_computed(live, frame, status);
            frame = NULL;
        }
        if (in_flight)
            going = finish(live, in_flight) && going;
        in_flight = frame;
        if (in_flight && !(going && works_ahead(live))) {
            going = finish(live, in_flight) && going;
            in_flight = NULL;
        }
    }
    live_stop(live); /* the capture thread may be waiting */
    queue_abort(live->pairs);
    queue_end(live->shown);
    notify(live);
    return NULL;
}

/* ---- the caller's thread */

int live_take(struct live *live, int timeout_ms, struct frame **frame) {
    for (;;) {
        int status = queue_take(live->shown, timeout_ms, frame);
        if (status != 0)
            return status;
        if (!is_stale(live, *frame))
            break;
        frame_drop(frame);
    }
    LOCKED(&live->lock);
    live->last_shown_ns = clock_ns();
    if (live->stats.shown == 0)
        live->first_shown_ns = live->last_shown_ns;
    live->age_ms[live->stats.shown++ % AGES] =
        (double)(live->last_shown_ns - (*frame)->taken_ns) / 1e6;
    return 0;
}
