/*
 * The threads of app/live/live.h. Each holds one frame at a time, the compute thread two, so the
 * pool is as large as the places a frame can be and taking from it never waits. The lock guards
 * settings and counts, never work.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/live_private.h"

#include "app/metrics.h"
#include "config/clock.h"
#include "config/log.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUEUE_DEPTH 2
#define LATE_NS 500000000 /* later than this is a pause, not jitter to catch up with */

void live_notify(struct live *live) {
    if (live->options.notify)
        live->options.notify(live->options.context);
}

static void end_with(struct live *live, int error, int in_compute) {
    pthread_mutex_lock(&live->lock);
    if (!live->error) {
        live->error = error;
        live->in_compute = in_compute;
    }
    pthread_mutex_unlock(&live->lock);
}

static void count_captured(struct live *live) {
    pthread_mutex_lock(&live->lock);
    live->last_captured_ns = clock_ns();
    if (live->captured++ == 0)
        live->first_captured_ns = live->last_captured_ns;
    pthread_mutex_unlock(&live->lock);
}

static void count_computed(struct live *live, const struct frame *frame) {
    pthread_mutex_lock(&live->lock);
    live->computed++;
    live->backend = stereo_backend(live->stereo); /* which the run may have replaced */
    live->compute_ms += frame->compute_ms;
    for (int i = 0; i < TIME_COUNT; i++)
        live->stage_ms[i] += frame->stage_ms[i];
    pthread_mutex_unlock(&live->lock);
}

static void count_shown(struct live *live, const struct frame *frame) {
    pthread_mutex_lock(&live->lock);
    live->last_shown_ns = clock_ns();
    if (live->shown_count == 0)
        live->first_shown_ns = live->last_shown_ns;
    live->age_ms[live->shown_count++ % AGES] =
        (double)(live->last_shown_ns - frame->taken_ns) / 1e6;
    pthread_mutex_unlock(&live->lock);
}

bool live_pair_due(struct live *live) {
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

/* Sleeps until the next pair is due or the stream is to stop. */
static void wait_until_due(struct live *live) {
    pthread_mutex_lock(&live->lock);
    while (!atomic_load(&live->stop) && !live_pair_due(live))
        continue;
    pthread_mutex_unlock(&live->lock);
}

/* Before a read: goes to the next pair that is wanted, where each pair has files of its own. False
 * where there is none. Other sources read all pairs, and those not wanted are dropped. */
static bool go_to_wanted(struct live *live, long next) {
    struct source *source = live->source;
    if (!live->options.wants || !source->files)
        return true;
    long index = next;
    while (index < source->count && !live->options.wants(live->options.context, index))
        index++;
    return index < source->count && (index == next || source->seek(source, index) == 0);
}

static bool is_wanted(const struct live *live, const struct frame *frame) {
    return !live->options.wants || live->options.wants(live->options.context, frame->index);
}

/* 0, SOURCE_END or -errno. A source that starts over is given up once a whole round was
 * damaged. */
static int read_pair(struct live *live, struct frame *frame, long *next) {
    long in_a_row = 0;
    int status = -EBADMSG;
    if (!live->options.player)
        wait_until_due(live);
    while (!atomic_load(&live->stop) && go_to_wanted(live, *next)) {
        status = live->source->read(live->source, frame);
        if (status == 0 || status == -EBADMSG)
            *next = frame->index + 1;
        if (status == 0 && !is_wanted(live, frame))
            continue;
        if (status == -EAGAIN) /* a silent camera; it may come back */
            continue;
        if (status != -EBADMSG)
            return status;
        pthread_mutex_lock(&live->lock);
        live->damaged++;
        pthread_mutex_unlock(&live->lock);
        if (live->source->count > 0 && ++in_a_row > live->source->count)
            return status;
    }
    return SOURCE_END;
}

/* One pair for a player, which may have to be waited for or sought first. 0, SOURCE_END or
 * -errno. */
static int read_for_player(struct live *live, struct frame *frame, long *next, long *since_seek) {
    for (;;) {
        bool single;
        long before = *next;
        int status = player_wait(live, next, &single);
        if (atomic_load(&live->stop))
            return SOURCE_END;
        if (single || *next != before)
            *since_seek = 0;
        if (status == 0)
            status = read_pair(live, frame, next);
        if (status == 0) {
            ++*since_seek;
            if (player_wants(live, frame, single))
                return 0;
        } else {
            player_stands(live, status, *since_seek == 0);
        }
    }
}

static void show_to_tap(struct live *live, const struct frame *frame) {
    pthread_mutex_lock(&live->tap_lock);
    if (live->tap)
        live->tap(live->tap_context, frame);
    pthread_mutex_unlock(&live->tap_lock);
}

static void *capture_thread(void *context) {
    struct live *live = context;
    long limit = live->options.frames, next = 0, since_seek = 0;
    if (live->options.player && !live->source->live)
        live_give_way();
    for (long n = 0; limit == 0 || n < limit; n++) {
        struct frame *frame = pool_take(live->pool);
        int status = live->options.player ? read_for_player(live, frame, &next, &since_seek)
                                          : read_pair(live, frame, &next);
        if (status < 0)
            end_with(live, status, 0);
        if (status != 0 || atomic_load(&live->stop)) {
            frame_drop(&frame);
            break;
        }
        count_captured(live);
        show_to_tap(live, frame);
        if (queue_give(live->pairs, &frame) != 0)
            break;
    }
    queue_end(live->pairs);
    return NULL;
}

/* The settings of the next frame. */
static struct params settings_of(struct live *live) {
    pthread_mutex_lock(&live->lock);
    struct params params = live->params;
    pthread_mutex_unlock(&live->lock);
    return params;
}

/* Gives a computed frame on. False when the stream is over. */
static bool pass_on(struct live *live, struct frame *frame, int status) {
    if (status != 0) {
        end_with(live, status, 1);
        frame_drop(&frame);
        return false;
    }
    count_computed(live, frame);
    if (live->options.player)
        player_computed(live, frame);
    bool given = queue_give(live->shown, &frame) == 0;
    live_notify(live);
    return given;
}

/* Runs the pipeline for a player, which shows each frame before the next one is begun. */
static bool compute(struct live *live, struct frame *frame) {
    struct params params = settings_of(live);
    int status = stereo_run(live->stereo, &params, frame);
    if (status != 0 && live->computed > 0) {
        /* settings that do not fit this picture or machine: the previous ones stay */
        pthread_mutex_lock(&live->lock);
        live->params = live->last_good;
        live->refused++;
        pthread_mutex_unlock(&live->lock);
        params = live->last_good;
        status = stereo_run(live->stereo, &params, frame);
    }
    return pass_on(live, frame, status);
}

static void compute_for_player(struct live *live) {
    struct frame *frame;
    bool going = true;
    live_give_way();
    while (going) {
        int status = queue_take(live->pairs, -1, &frame);
        if (status == QUEUE_END)
            break;
        if (status == -EINTR && (frame = player_again(live)) == NULL)
            player_probe(live);
        else if (player_stale(live, frame))
            frame_drop(&frame);
        else
            going = compute(live, frame);
    }
}

/* Without a player, a frame that is waiting is started before the one in flight is finished, where
 * the backend can do that. */
static void compute_ahead(struct live *live) {
    struct frame *under_way = NULL, *frame;
    bool going = true;
    while (going) {
        int taken = queue_take(live->pairs, under_way ? 0 : -1, &frame), status = 0;
        if (taken != 0 && !under_way)
            break;
        if (taken == 0) {
            struct params params = settings_of(live);
            status = stereo_start(live->stereo, &params, frame);
            if (status != 0)
                going = pass_on(live, frame, status);
        }
        if (under_way) {
            bool given = pass_on(live, under_way, stereo_finish(live->stereo, under_way));
            going = going && given;
        }
        under_way = taken == 0 && status == 0 ? frame : NULL;
        if (under_way && (!going || !stereo_overlaps(live->stereo))) {
            bool given = pass_on(live, under_way, stereo_finish(live->stereo, under_way));
            going = going && given;
            under_way = NULL;
        }
    }
}

static void *compute_thread(void *context) {
    struct live *live = context;
    if (live->options.player)
        compute_for_player(live);
    else
        compute_ahead(live);
    live_stop(live); /* the capture thread may be waiting */
    queue_abort(live->pairs);
    queue_end(live->shown);
    live_notify(live);
    return NULL;
}

/* The initial state of a player; no thread runs yet. */
static void begin_player(struct live *live) {
    const struct live_options *options = &live->options;
    long last = live->source->count > 0 ? live->source->count - 1 : LONG_MAX;
    live->paused = options->paused;
    live->swap = options->swap;
    if (!live->source->seek)
        return;
    if (options->loop)
        live->loop_first = 0;
    if (options->paused || options->start > 0)
        live->seek_to = options->start < last ? options->start : last;
}

/* Signals are for the caller's thread: these two start with all of them blocked. */
static int start_threads(struct live *live) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&live->capture, NULL, capture_thread, live);
    live->threads += error == 0;
    if (error == 0) {
        error = pthread_create(&live->compute, NULL, compute_thread, live);
        live->threads += error == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        log_error(live->source->name, "cannot start a thread: %s", strerror(error));
    return -error;
}

struct live *live_open(struct source *source, struct stereo *stereo, const struct params *params,
                       const struct live_options *options, int *error) {
    struct live *live = calloc(1, sizeof *live);
    if (!live) {
        log_error(source->name, "out of memory");
        *error = -ENOMEM;
        return NULL;
    }
    live->source = source;
    live->stereo = stereo;
    live->options = *options;
    live->params = live->last_good = *params;
    live->backend = stereo_backend(stereo);
    live->rate = options->player ? options->rate : source->pace;
    live->seek_to = live->loop_first = live->last_run = -1;
    live->loop_last = -1;
    live->opened_ns = clock_ns();
    if (options->player)
        begin_player(live);
    atomic_init(&live->stop, false);
    pthread_mutex_init(&live->lock, NULL);
    pthread_mutex_init(&live->tap_lock, NULL);
    clock_cond_init(&live->changed);

    /* One frame for each of the two threads, a second one in flight, the caller's, those that it
     * keeps, and both queues; for a player the paused frame, and the one before it while a thread
     * still has it. */
    int places = 4 + options->kept + 2 * QUEUE_DEPTH + (options->player ? 2 : 0);
    live->pairs = queue_open(QUEUE_DEPTH, options->policy);
    live->shown = queue_open(QUEUE_DEPTH, options->policy);
    live->pool = pool_open(places, source->width, source->height, source->channels,
                           source->has_truth, stereo_frame_alloc(stereo));
    if (!live->pairs || !live->shown)
        log_error(source->name, "out of memory");
    *error = live->pairs && live->shown && live->pool ? start_threads(live) : -ENOMEM;
    if (*error)
        live_close(&live);
    return live;
}

int live_take(struct live *live, int timeout_ms, struct frame **frame) {
    for (;;) {
        int status = queue_take(live->shown, timeout_ms, frame);
        if (status != 0)
            return status;
        if (!live->options.player || !player_stale(live, *frame)) {
            count_shown(live, *frame);
            return 0;
        }
        frame_drop(frame);
    }
}

void live_set_params(struct live *live, const struct params *params) {
    pthread_mutex_lock(&live->lock);
    live->params = *params;
    live->again = true;
    pthread_mutex_unlock(&live->lock);
    if (live->options.player)
        queue_nudge(live->pairs);
}

void live_set_tap(struct live *live, void (*tap)(void *context, const struct frame *frame),
                  void *context) {
    pthread_mutex_lock(&live->tap_lock);
    live->tap = tap;
    live->tap_context = context;
    pthread_mutex_unlock(&live->tap_lock);
}

void live_stop(struct live *live) {
    atomic_store(&live->stop, true);
    pthread_mutex_lock(&live->lock);
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->lock);
}

int live_error(struct live *live, int *in_compute) {
    pthread_mutex_lock(&live->lock);
    int error = live->error;
    *in_compute = live->in_compute;
    pthread_mutex_unlock(&live->lock);
    return error;
}

static double rate(long frames, int64_t first_ns, int64_t last_ns) {
    if (frames < 2 || last_ns <= first_ns)
        return 0;
    return (double)(frames - 1) * 1e9 / (double)(last_ns - first_ns);
}

void live_get_stats(struct live *live, struct live_stats *stats) {
    double age_ms[AGES];
    memset(stats, 0, sizeof *stats);
    stats->dropped = queue_dropped(live->pairs) + queue_dropped(live->shown);

    pthread_mutex_lock(&live->lock);
    stats->captured = live->captured;
    stats->computed = live->computed;
    stats->shown = live->shown_count;
    stats->damaged = live->damaged;
    stats->capture_rate = rate(live->captured, live->first_captured_ns, live->last_captured_ns);
    stats->show_rate = rate(live->shown_count, live->first_shown_ns, live->last_shown_ns);
    if (live->shown_count)
        stats->seconds = (double)(live->last_shown_ns - live->opened_ns) / 1e9;
    if (live->computed) {
        stats->compute_ms = live->compute_ms / (double)live->computed;
        for (int i = 0; i < TIME_COUNT; i++)
            stats->stage_ms[i] = live->stage_ms[i] / (double)live->computed;
    }
    int ages = live->shown_count < AGES ? (int)live->shown_count : AGES;
    memcpy(age_ms, live->age_ms, (size_t)ages * sizeof age_ms[0]);
    pthread_mutex_unlock(&live->lock);

    if (ages) {
        stats->age_median_ms = quantile(age_ms, ages, 0.5);
        stats->age_95_ms = quantile(age_ms, ages, 0.95);
    }
}

void live_close(struct live **live_pointer) {
    struct live *live = *live_pointer;
    if (!live)
        return;
    live_stop(live);
    if (live->pairs)
        queue_abort(live->pairs);
    if (live->shown)
        queue_abort(live->shown);
    if (live->threads > 0)
        pthread_join(live->capture, NULL);
    if (live->threads > 1)
        pthread_join(live->compute, NULL);
    queue_close(&live->pairs);
    queue_close(&live->shown);
    frame_drop(&live->held);
    pool_close(&live->pool);
    pthread_cond_destroy(&live->changed);
    pthread_mutex_destroy(&live->lock);
    pthread_mutex_destroy(&live->tap_lock);
    free(live);
    *live_pointer = NULL;
}
