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

struct settings {
    struct params params;  /* as the user wants them; those of START act at the next start */
    struct params base;    /* as the program set them: what differs, the user has changed */
    struct params running; /* as the pipeline was opened with */
};

/* The parameters to compute with: START parameters keep the values that the pipeline was opened
 * with. */
struct params settings_effective(const struct settings *settings);

/* Whether a changed parameter takes effect at the next start only. */
bool settings_is_pending(const struct settings *settings, const struct param_info *info);

/* Sets all LIVE parameters to their defaults. */
void settings_reset(struct settings *settings);

/* Whether two sets agree in all LIVE parameters but those of pictures of the map (DISPLAY). */
bool settings_equal_live(const struct params *a, const struct params *b);

/* Copies the parameters with this value of when. */
void settings_copy(struct params *to, const struct params *from, enum param_when when);

/* Copies those of pictures of the map (DISPLAY). */
void settings_copy_display(struct params *to, const struct params *from);

/* Copies the parameters of a group. */
void settings_copy_group(struct params *to, const struct params *from, const char *group);

/* Multiplies the disparities searched, for pictures that are computed at another scale. */
void settings_scale_search(struct params *params, double ratio);

/* ---- undo and redo */

#define HISTORY_STEPS 64

struct history_step {
    struct params params, base; /* of struct settings */
    char preset[64];            /* that was loaded last */
    bool automatic;             /* the quality was searched */
};

struct history {
    struct history_step step[HISTORY_STEPS];
    int count, at;    /* steps that are stored; the one in effect */
    int changed;      /* the parameter that the last step changed; -1 if it changed several */
    int64_t noted_ns; /* when the last step was noted */
};

/* Starts with these settings. */
void history_begin(struct history *history, const struct history_step *step);

/* Adds settings that the user has changed as a step and drops the undone ones. Changes of one
 * parameter less than a second apart, as when a slider is dragged, are one step. */
void history_note(struct history *history, const struct history_step *step, int64_t now_ns);

/* Notes settings that the program has changed, which makes no step: every step that had a
 * parameter's old value gets the new one. */
void history_adjust(struct history *history, const struct params *params);

/* Multiplies the disparities that each step searches, for pictures that are computed at another
 * scale. */
void history_scale_search(struct history *history, double ratio);

/* Sets *step to the next one back (-1) or forward (1) that differs from its parameters. False where
 * there is none. */
bool history_move(struct history *history, int direction, struct history_step *step);
