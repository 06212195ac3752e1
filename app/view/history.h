/*
 * The settings as they were, for undo and redo. Plain values; main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_HISTORY_H
#define LIVESTEREO_HISTORY_H

#include "config/params.h"

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_STEPS 64

struct history {
    struct params step[HISTORY_STEPS];
    int count, at;    /* steps that are kept; the one in effect */
    int changed;      /* the one parameter in which the last step differs from that before, or -1 */
    int64_t noted_ns; /* when the last step was noted */
};

/* These settings alone. */
void history_begin(struct history *history, const struct params *params);

/* Settings that the user has changed: a new step, and what was undone is forgotten. One parameter
 * that is changed on within a second, as a slider is dragged, stays one step. */
void history_note(struct history *history, const struct params *params, int64_t now_ns);

/* Settings that the program has changed by itself: no step. */
void history_replace(struct history *history, const struct params *params);

/* One step back (-1) or on (1). False where there is none. */
bool history_move(struct history *history, int step, struct params *params);

#endif
