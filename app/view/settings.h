/*
 * The settings of the viewer: the parameters that the user changes, and undo. Plain values; main
 * thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/params.h"

#include <stdbool.h>
#include <stdint.h>

/* Parameters of this group were measured on a rig and stay with it: no preset, no saved settings
 * and no other settings of a comparison change them. */
#define SETTINGS_RIG_GROUP "rectification"

/* Parameters of this group, the disparities searched, depend on the source: no preset changes
 * them, and another source starts without them. */
#define SETTINGS_SEARCH_GROUP "search"

/* In px of the whole pictures of the source. */
struct settings {
    struct params params; /* as the user wants them; those of START act at the next start */
    struct params base;   /* as the program set them: what differs, the user has changed */
    char preset[64];      /* that was loaded last, or is typed */
    bool automatic;       /* the quality is found by itself; params and base have high, then */
};

/* Whether a changed parameter takes effect at the next start only; running: as the pipeline was
 * opened with. */
bool settings_is_pending(const struct settings *settings, const struct params *running,
                         const struct param_info *info);

/* Sets all LIVE parameters to their defaults. */
void settings_reset(struct settings *settings);

/* Whether two sets agree in all LIVE parameters but those of pictures of the map (DISPLAY). */
bool settings_equal_live(const struct params *a, const struct params *b);

/* ---- undo and redo */

#define HISTORY_STEPS 64

struct history {
    struct settings step[HISTORY_STEPS];
    int count, at;    /* steps that are stored; the one in effect */
    int changed;      /* the parameter that the last step changed; -1 if it changed several */
    int64_t noted_ns; /* when the last step was noted */
};

/* Starts with these settings. */
void history_begin(struct history *history, const struct settings *settings);

/* Adds settings that the user has changed as a step and drops the undone ones. Changes of one
 * parameter less than a second apart, as when a slider is dragged, are one step. */
void history_note(struct history *history, const struct settings *settings, int64_t now_ns);

/* Sets *settings to the next step back (-1) or forward (1) that differs from them. False where
 * there is none. */
bool history_move(struct history *history, int direction, struct settings *settings);
