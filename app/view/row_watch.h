/*
 * Measures the row error of the pictures on screen. A separate thread of lower priority matches
 * features in one frame per second and holds a reference to it meanwhile; all functions belong to
 * the main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_ROW_WATCH_H
#define LIVESTEREO_ROW_WATCH_H

#include "calibration/row_error.h"
#include "image/frame.h"

struct row_watch;

struct row_watch_state {
    long count;            /* pairs measured, 0 before the first */
    int error;             /* of the last one: 0, -ENODATA (too few features) or -ENOMEM */
    struct row_error rows; /* of the last one */
    double row_offset;     /* the parameter that the last one was computed with */
    const char *advice;    /* what the user should do, by several consecutive pairs, or NULL */
};

/* The thread calls notify when there is something new. NULL after a log line. */
struct row_watch *row_watch_open(void (*notify)(void *context), void *context);

/* Measures this frame, if it is time for another one. */
void row_watch_offer(struct row_watch *watch, struct frame *frame);

void row_watch_get(struct row_watch *watch, struct row_watch_state *state);

void row_watch_close(struct row_watch **watch);

#endif
