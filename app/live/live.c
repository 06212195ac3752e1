/*
 * The functions of app/live/live.h. live_threads.c has the two threads and live_take. Each holds
 * one frame at a time, the compute thread two, so the pool is as large as the places a frame can be
 * and taking from it never waits. The lock guards settings and counts, never work.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/live_private.h"

#include "app/commands.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/quantile.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#define QUEUE_DEPTH 2
#define NICE 5 /* drawing and input come first, other programs share the processor */

void live_lower_priority(void) {
    setpriority(PRIO_PROCESS, 0, NICE); /* 0 is this thread, on Linux; a refusal changes nothing */
}

/* The initial state of a player; no thread runs yet. */
static void begin_player(struct live *live) {
    const struct live_options *options = &live->options;
    long last = live->source->count > 0 ? live->source->count - 1 : LONG_MAX;
    live->state.paused = options->paused;
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
    int error = pthread_create(&live->capture, NULL, live_capture_thread, live);
    live->threads += error == 0;
    if (error == 0) {
        error = pthread_create(&live->compute, NULL, live_compute_thread, live);
        live->threads += error == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        log_error(live->source->name, "cannot start a thread: %s", strerror(error));
    return -error;
}

struct live *live_open(struct source *source, struct matcher *matcher, const struct params *params,
                       const struct live_options *options, int *error) {
    struct live *live = g_new0(struct live, 1);
    live->source = source;
    live->matcher = matcher;
    live->options = *options;
    live->state.params = live->last_good = *params;
    live->state.backend = matcher ? matcher_info(matcher).backend : "";
    live->rate = options->player ? options->rate : source->pace;
    live->seek_to = live->loop_first = live->last_run = -1;
    live->loop_last = -1;
    live->opened_ns = clock_ns();
    if (options->player)
        begin_player(live);
    atomic_init(&live->stop, false);
    pthread_mutex_init(&live->lock, NULL);
    pthread_mutex_init(&live->tap_lock, NULL);
    live->tap = options->tap;
    live->tap_context = options->context;
    clock_cond_init(&live->changed);

    /* One frame for each of the two threads, a second one in flight, the caller's, those that it
     * keeps, and both queues; for a player the paused frame, and the one before it while a thread
     * still has it. */
    int places = matcher ? 4 + options->kept + 2 * QUEUE_DEPTH + 2 * options->player : 1;
    bool one_ahead = options->player && options->policy == QUEUE_WAIT;
    live->pairs = queue_open(one_ahead ? 1 : QUEUE_DEPTH, options->policy);
    live->shown = queue_open(QUEUE_DEPTH, options->policy);
    live->pool = pool_open(places, source->width, source->height, source->channels,
                           source->has_truth, matcher ? matcher_frame_alloc(matcher) : NULL);
    *error = live->pool ? start_threads(live) : -ENOMEM;
    if (*error)
        live_close(&live);
    return live;
}

void live_set_params(struct live *live, const struct params *params) {
    LOCKED(&live->lock);
    live->settings_changed |= !params_same_method(&live->state.params, params);
    live->state.params = *params;
    if (live->options.player)
        queue_interrupt(live->pairs);
}

void live_set_tap(struct live *live, void (*tap)(void *context, const struct frame *frame),
                  void *context) {
    LOCKED(&live->tap_lock);
    live->tap = tap;
    live->tap_context = context;
}

void live_stop(struct live *live) {
    atomic_store(&live->stop, true);
    LOCKED(&live->lock);
    pthread_cond_broadcast(&live->changed);
}

int live_error(struct live *live, bool *in_compute) {
    LOCKED(&live->lock);
    int error = live->state.error;
    *in_compute = live->in_compute;
    return error;
}

int live_exit_code(struct live *live) {
    bool in_compute;
    if (live_error(live, &in_compute) == 0)
        return EXIT_DONE;
    return in_compute ? EXIT_RUN_FAILED : EXIT_SOURCE;
}

static double rate(long frames, int64_t first_ns, int64_t last_ns) {
    if (frames < 2 || last_ns <= first_ns)
        return 0;
    return (double)(frames - 1) * 1e9 / (double)(last_ns - first_ns);
}

void live_get_stats(struct live *live, struct live_stats *stats) {
    double age_ms[AGES];
    long dropped = queue_dropped(live->pairs) + queue_dropped(live->shown);

    pthread_mutex_lock(&live->lock);
    *stats = live->stats;
    stats->dropped = dropped;
    stats->capture_rate = rate(stats->captured, live->first_captured_ns, live->last_captured_ns);
    stats->show_rate = rate(stats->shown, live->first_shown_ns, live->last_shown_ns);
    if (stats->shown)
        stats->seconds = (double)(live->last_shown_ns - live->opened_ns) / 1e9;
    double computed = (double)MAX(1, stats->computed);
    stats->compute_ms /= computed;
    for (int i = 0; i < FRAME_STAGES; i++)
        stats->stage_ms[i] /= computed;
    int ages = (int)MIN(stats->shown, AGES);
    memcpy(age_ms, live->age_ms, (size_t)ages * sizeof age_ms[0]);
    pthread_mutex_unlock(&live->lock);

    if (ages) {
        stats->age_median_ms = quantile_between(age_ms, ages, 0.5);
        stats->age_95_ms = quantile_between(age_ms, ages, 0.95);
    }
}

void live_close(struct live **live_pointer) {
    struct live *live = g_steal_pointer(live_pointer);
    if (!live)
        return;
    live_stop(live);
    queue_abort(live->pairs);
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
    g_free(live);
}

/* ---- of a player. A pause or a seek makes all frames taken before it stale: both threads and
 * live_take drop them as they meet them */

void live_pause(struct live *live, struct frame *frame) {
    AUTO(frame_drop) struct frame *before = NULL;
    LOCKED(&live->lock);
    live->state.paused = true;
    live->seek_to = -1;
    live->discard_before_ns = clock_ns();
    if (frame) {
        before = live->held;
        live->held = frame_ref(frame);
    }
    pthread_cond_broadcast(&live->changed);
    queue_interrupt(live->pairs); /* settings may have changed since the last pair was begun */
}

void live_hold(struct live *live, struct frame *pair) {
    live_pause(live, pair);
    LOCKED(&live->lock);
    live->settings_changed = true;
    queue_interrupt(live->pairs);
}

void live_play(struct live *live) {
    LOCKED(&live->lock);
    if (live->state.paused) {
        live->state.paused = false;
        live->next_due_ns = 0;
        if (live->held && live->source->seek && !live->state.ended) {
            long next = live->held->index + 1;
            bool loops = live->loop_first >= 0 && live->loop_last >= 0;
            live->seek_to = loops && next > live->loop_last ? live->loop_first : next;
            live->discard_before_ns = INT64_MAX;
        }
        pthread_cond_broadcast(&live->changed);
    }
}

long live_seek(struct live *live, long index) {
    if (!live->source->seek)
        return -ENOTSUP;
    LOCKED(&live->lock);
    live->seek_to = index < 0 ? 0 : index;
    if (live->source->count > 0 && live->seek_to >= live->source->count)
        live->seek_to = live->source->count - 1;
    live->state.ended = false;
    live->discard_before_ns = INT64_MAX;
    pthread_cond_broadcast(&live->changed);
    return live->seek_to;
}

void live_set_rate(struct live *live, double rate) {
    LOCKED(&live->lock);
    live->rate = rate;
    live->next_due_ns = 0;
    pthread_cond_broadcast(&live->changed);
}

void live_set_loop(struct live *live, long first, long last) {
    LOCKED(&live->lock);
    live->loop_first = live->source->seek ? first : -1;
    live->loop_last = last;
}

void live_set_swap(struct live *live, bool swap) {
    LOCKED(&live->lock);
    live->swap = swap;
}

void live_get_state(struct live *live, struct live_state *state) {
    LOCKED(&live->lock);
    *state = live->state;
}

void live_set_probes(struct live *live, const struct live_probe *probes, int count) {
    LOCKED(&live->lock);
    live->probe_count = count;
    for (int i = 0; i < count; i++) {
        live->probes[i].x = probes[i].x;
        live->probes[i].y = probes[i].y;
        live->probes[i].index = -1;
    }
    live->probes_asked = count > 0;
    queue_interrupt(live->pairs);
}

int live_get_probes(struct live *live, struct live_probe probes[PROBES]) {
    LOCKED(&live->lock);
    memcpy(probes, live->probes, sizeof(live->probes));
    return live->probe_count;
}
