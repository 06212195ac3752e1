/*
 * Where the viewer stands in its source: the pair on screen, pause, seek, speed and loop. Main
 * thread; it tells the threads of app/live/live.h what to do.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PLAYBACK_H
#define LIVESTEREO_PLAYBACK_H

#include "app/live/live.h"

struct playback {
    struct source *source;   /* this and the next are opened and closed by cmd_view.c */
    struct live *live;       /* NULL before it is open */
    struct live_state state; /* as of the last look */
    struct frame *shown;     /* the frame on screen, one reference; NULL before the first */
    bool fresh;              /* it is not drawn yet */
    long target;             /* pair that was asked for and is not shown yet, -1: none */
    long loop[2];            /* first and last pair of the loop from A to B, -1: not set */
    bool loop_all;           /* without such a loop: starts again at the end */
    bool swap;               /* left and right are exchanged */
    double rate;             /* pairs a second at normal speed; 0: as they come */
    double speed;            /* 1 is normal */
};

/* At the beginning of the source, which it does not own, with these pairs a second. */
void playback_init(struct playback *playback, struct source *source, double rate);

/* Takes over a frame as the one to show. */
void playback_show(struct playback *playback, struct frame **frame);

/* Looks what the threads say. True when playback has paused, ended or gone on since the last
 * look. */
bool playback_update(struct playback *playback);

/* The pair on screen, or the one that was asked for; -1 before the first. */
long playback_index(const struct playback *playback);

/* Pairs in a second of the source. */
double playback_source_rate(const struct playback *playback);

/* Paused, or at the end. */
bool playback_is_stopped(const struct playback *playback);

void playback_pause(struct playback *playback, bool paused);

/* Goes to a pair, or to the nearest that there is. -ENOTSUP where the source cannot seek. */
int playback_seek(struct playback *playback, long index);

/* Speeds from 1/16 to 16. */
void playback_set_speed(struct playback *playback, double speed);

/* Tells the threads of a change in loop and loop_all, or in swap. */
void playback_apply_loop(struct playback *playback);
void playback_apply_swap(struct playback *playback);

#endif
