/*
 * Derives what is computed from what the user has set: the settings themselves stay as they are, in
 * pixels of whole pictures, whatever is found, dragged or played. Pure functions.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/quality.h"
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

/* Whether two sets agree in all LIVE parameters but those of pictures of the map (DISPLAY). */
bool settings_equal_live(const struct params *a, const struct params *b);

/* All that is known beside the settings. */
struct situation {
    const struct qualities *qualities; /* NULL: their presets were not found */
    const struct quality_search *search;
    const struct params *running; /* START parameters, as the pipeline was opened with */
    double scale;                 /* of the pictures to compute, 1: whole, as the user wants it */
    double held_scale;            /* of those that are recorded or sent now; 0: none are */
    double width;                 /* of the whole pictures or of the part that is computed, px */
    bool still;                   /* the pictures stand still: whole, and of quality high */
    bool preview;                 /* a slider moves: what quality high has is that of low */
};

struct effective {
    struct params asked;  /* the settings with the quality that was found; px of whole pictures */
    struct params params; /* to compute with; px of pictures of this scale */
    double scale;
};

struct effective state_effective(const struct settings *settings, const struct situation *in);

/* The settings to ask for where params, in px of the computed pictures, come from elsewhere: those
 * that are as computed now stay as they were asked for. */
struct params state_asked(const struct effective *now, const struct params *params);

/* Sets what the user wants now, which ends the automatic quality where that differs. */
void state_change(struct settings *settings, const struct situation *in,
                  const struct params *wanted);

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
