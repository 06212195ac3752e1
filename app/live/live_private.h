/*
 * What live.c (the threads) and live_player.c (pause, seek, probes) share.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_LIVE_PRIVATE_H
#define LIVESTEREO_LIVE_PRIVATE_H

#include "app/live/live.h"

#include <pthread.h>
#include <stdatomic.h>

#define AGES 1024

struct live {
    struct source *source;
    struct stereo *stereo;
    struct live_options options;
    struct frame_pool *pool;
    struct queue *pairs, *shown;
    pthread_t capture, compute;
    int threads; /* how many of the two were started */
    atomic_bool stop;

    pthread_mutex_t tap_lock; /* held during a call of tap; guards the next two */
    void (*tap)(void *context, const struct frame *frame);
    void *tap_context;

    pthread_mutex_t lock;   /* guards the rest */
    pthread_cond_t changed; /* what the capture thread waits for: stop, paused, seek_to, rate */
    struct params params, last_good;
    const char *backend;
    int error, in_compute;
    long captured, computed, shown_count, damaged;
    int64_t opened_ns, first_captured_ns, last_captured_ns, first_shown_ns, last_shown_ns;
    double compute_ms, stage_ms[TIME_COUNT]; /* sums */
    double age_ms[AGES];                     /* ring, by shown_count */

    bool swap;
    bool paused, ended, again; /* again: the pair held is to be computed with new settings */
    long seek_to;              /* the target of a seek, -1: none */
    int64_t discard_before_ns; /* frames taken before this are stale */
    int64_t next_due_ns;
    double rate;
    long loop_first, loop_last;
    long refused, answered;
    struct frame *held; /* the frame at which a player is paused, or the last one computed */
    long last_run;      /* number of the pair the pipeline ran last, -1 for none */
    bool probes_asked;
    int probe_count;
    struct live_probe probes[PROBES];
};

void live_notify(struct live *live);

/* Capture thread: sleeps until the next pair is due or something changed. The lock is held. True
 * when it is due. */
bool live_pair_due(struct live *live);

/* Capture thread: waits until a pair is to be read, and seeks where that is due. 0: read one,
 * -errno of a seek, or SOURCE_END when the stream is to stop. *next is the index of the pair that
 * the source would give next. */
int player_wait(struct live *live, long *next, bool *single);

/* Capture thread: whether the pair just read is still wanted; exchanges its pictures with swap. */
bool player_wants(struct live *live, struct frame *frame, bool single);

/* Capture thread: the source ended with status; stops there, or starts the loop again. fruitless:
 * no pair came since the last seek. */
void player_stands(struct live *live, int status, bool fruitless);

/* Compute thread: whether this frame is obsolete because of a pause or a seek. */
bool player_stale(struct live *live, const struct frame *frame);

/* Compute thread: the held pair in a new frame when it is to be computed again, else NULL. */
struct frame *player_again(struct live *live);

/* Compute thread, after a run: remembers the frame and answers the probes. */
void player_computed(struct live *live, struct frame *frame);

/* Compute thread: probes of the last run. */
void player_probe(struct live *live);

#endif
