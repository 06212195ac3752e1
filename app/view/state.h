/*
 * What is computed, derived from what the user has set: the settings themselves stay as they are,
 * in pixels of whole pictures, whatever is found, dragged or played. Pure functions.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/quality.h"
#include "app/view/settings.h"

/* What is known beside the settings. */
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

/* What is asked for where params, in px of the computed pictures, come from elsewhere: what is as
 * computed now stays as it was asked for. */
struct params state_asked(const struct effective *now, const struct params *params);

/* Sets what the user wants now, which ends the automatic quality where that differs. */
void state_change(struct settings *settings, const struct situation *in,
                  const struct params *wanted);
