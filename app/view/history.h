/*
 * Undo and redo of settings. Plain values; main thread.
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
    int count, at;    /* steps that are stored; the one in effect */
    int changed;      /* the parameter that the last step changed; -1 if it changed several */
    int64_t noted_ns; /* when the last step was noted */
};

/* Starts with these settings. */
void history_begin(struct history *history, const struct params *params);

/* Adds settings that the user has changed as a step and drops the undone ones. Changes of one
 * parameter less than a second apart, as when a slider is dragged, are one step. */
void history_note(struct history *history, const struct params *params, int64_t now_ns);

/* Replaces the present step with settings that the program has changed. */
void history_replace(struct history *history, const struct params *params);

/* Goes one step back (-1) or forward (1). False where there is none. */
bool history_move(struct history *history, int step, struct params *params);

#endif
