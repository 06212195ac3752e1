/*
 * Watches how well the rows of the pictures on screen agree. The matching has a thread of its own,
 * which lets all others go first and rests a second between two pairs; all functions belong to the
 * main thread. A frame in its hand is one reference.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_ROW_WATCH_H
#define LIVESTEREO_ROW_WATCH_H

#include "calibration/row_error.h"
#include "capture/frame.h"

struct row_watch;

struct row_watch_state {
    long count;            /* pairs measured, 0 before the first */
    int error;             /* of the last one: 0, -ENODATA (too few features) or -ENOMEM */
    struct row_error rows; /* of the last one */
    double row_offset;     /* that it was computed with */
    const char *advice;    /* what several pairs in a row say is to be done, or NULL */
};

/* notify is called, by the thread, when there is something new. */
struct row_watch *row_watch_open(void (*notify)(void *context), void *context);

/* Measures this one if it is time for another. */
void row_watch_offer(struct row_watch *watch, struct frame *frame);

void row_watch_get(struct row_watch *watch, struct row_watch_state *state);

void row_watch_close(struct row_watch **watch);

#endif
