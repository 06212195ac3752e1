/*
 * Shared by live.c and the threads in live_threads.c.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/live.h"

#include <pthread.h>
#include <stdatomic.h>

#define AGES 1024

struct live {
    struct source *source;
    struct matcher *matcher;
    struct live_options options;
    struct frame_pool *pool;
    struct queue *pairs, *shown;
    pthread_t capture, compute;
    int threads; /* how many of the two were started */
    atomic_bool stop;
    /* The capture thread's: the pair that the source gives next, and pairs read since a seek. */
    long next, since_seek;

    pthread_mutex_t tap_lock; /* held during a call of tap; guards the next two */
    void (*tap)(void *context, const struct frame *frame);
    void *tap_context;

    pthread_mutex_t lock;   /* guards the rest */
    pthread_cond_t changed; /* what the capture thread waits for: stop, paused, seek_to, rate */
    struct live_state state;
    struct live_stats stats; /* counts; of computed frames sums */
    struct params last_good;
    bool in_compute; /* state.error is the pipeline's */
    int64_t opened_ns, first_captured_ns, last_captured_ns, first_shown_ns, last_shown_ns;
    double age_ms[AGES]; /* ring, by stats.shown */

    bool swap;
    bool settings_changed;     /* the pair held is to be computed with them */
    long seek_to;              /* the target of a seek, -1: none */
    int64_t discard_before_ns; /* frames taken before this are stale */
    int64_t next_due_ns;
    double rate;
    long loop_first, loop_last;
    struct frame *held; /* the frame at which a player is paused, or the last one computed */
    long last_run;      /* number of the pair the pipeline ran last, -1 for none */
    bool probes_asked;
    int probe_count;
    struct live_probe probes[PROBES];
};

void *live_capture_thread(void *live);
void *live_compute_thread(void *live);
