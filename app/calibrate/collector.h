/*
 * Reads pairs from a source and finds the board in them, in a thread of its own. The functions
 * belong to the main thread. The source is the caller's, who must not use it meanwhile.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/workshop/chessboard.h"
#include "capture/source.h"

#include <stdbool.h>

struct collector;

/* A pair, and the board in its pictures; [0] is the left one. */
struct detection {
    struct frame *frame; /* one reference; rect_left and rect_right are its pictures */
    bool found[2];
    float *xy[2];   /* its corners where it was found, in one order in both pictures */
    bool larger[2]; /* it has more corners than it should have */
};

/* stills: the pairs are picture files, all of which are searched, thoroughly (chessboard_find).
 * The thread calls notify, which must not wait (NULL: none), when there is something to take.
 * NULL after a log line. */
struct collector *collector_open(struct source *source, const struct board *board, bool stills,
                                 void (*notify)(void *context), void *context);

/* The next detection, of a camera the newest; detection_free it. 0, -ETIMEDOUT, SOURCE_END, or the
 * -errno that ended it (logged). */
int collector_take(struct collector *collector, int timeout_ms, struct detection *detection);

void collector_close(struct collector **collector);

void detection_free(struct detection *detection);
