/*
 * The settings of the viewer: the parameters that the user changes, and two sets of them to
 * compare. Plain values; main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SETTINGS_H
#define LIVESTEREO_SETTINGS_H

#include "config/params.h"

#include <stdbool.h>

/* Parameters of this group were measured on a rig and stay with it: no preset, no saved settings
 * and no other settings of a comparison change them. */
#define SETTINGS_RIG_GROUP "rectification"

struct settings {
    struct params params;  /* as the user wants them; those of START act at the next start */
    struct params running; /* as the pipeline was opened with */
    struct params slot[2]; /* A and B of the comparison */
    int slot_in_use;       /* the one that params belongs to; its own copy is out of date */
};

/* Sets all four to the parameters that the pipeline was opened with. */
void settings_init(struct settings *settings, const struct params *params);

/* The parameters to compute with: START parameters keep the values that the pipeline was opened
 * with. */
struct params settings_effective(const struct settings *settings);

/* Whether a changed parameter takes effect at the next start only. */
bool settings_is_pending(const struct settings *settings, const struct param_info *info);

/* Changes to the other slot of the comparison. */
void settings_compare(struct settings *settings);

/* Sets all LIVE parameters to their defaults. */
void settings_reset(struct settings *settings);

/* Whether two sets agree in all LIVE parameters. */
bool settings_equal_live(const struct params *a, const struct params *b);

/* Copies the parameters with this value of when. */
void settings_copy(struct params *to, const struct params *from, enum param_when when);

/* Copies the parameters of the rig. */
void settings_keep_rig(struct params *to, const struct params *from);

#endif
