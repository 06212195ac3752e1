/*
 * Playback in the viewer: the pair on screen, pause, seek, speed and loop. Main thread; controls
 * the threads of app/live/live.h.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/live.h"

struct viewer;

struct playback {
    struct source *source;   /* this and the next are opened and closed by cmd_view.c */
    struct live *live;       /* NULL before it is open */
    struct live_state state; /* as of the last playback_update */
    struct frame *shown;     /* the frame on screen, one reference; NULL before the first */
    bool fresh;              /* it is not drawn yet */
    long target;             /* pair of a seek that is not shown yet, -1: none */
    long loop[2];            /* first and last pair of the loop from A to B, -1: not set */
    bool loop_all;           /* without such a loop: after the end comes the first pair */
    bool swap;               /* left and right are exchanged */
    double rate;             /* pairs per second at normal speed; 0: without limit */
    double speed;            /* 1 is normal */
    double bar_x, bar_width; /* of the seek bar's track, in the window */
};

/* Reads the state of the threads. True when playback has paused, ended or resumed since the last
 * call. */
bool playback_update(struct playback *playback);

/* The pair on screen, or the target of a seek; -1 before the first. */
long playback_index(const struct playback *playback);

/* Pairs per second of the source. */
double playback_source_rate(const struct playback *playback);

/* Paused, or at the end. */
bool playback_is_stopped(const struct playback *playback);

void playback_pause(struct playback *playback, bool paused);

/* Sets the speed, clamped to 1/16..16. */
void playback_set_speed(struct playback *playback, double speed);

/* Passes changes of loop and loop_all to the threads. */
void playback_apply_loop(struct playback *playback);

/* The bar below the picture. Between ui_begin and ui_end. */
void playback_bar_draw(struct viewer *v);
