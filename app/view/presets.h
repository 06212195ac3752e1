/*
 * The presets that the viewer offers: the user's own, the installed ones and those beside the
 * program. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PRESETS_H
#define LIVESTEREO_PRESETS_H

#include "app/view/screen.h"
#include "app/view/settings.h"

struct presets {   /* zero to begin with */
    char name[64]; /* that the user typed, or loaded last */
    char **names;  /* of all that there are, sorted, NULL-terminated */
};

/* Looks which presets of a mode (MODE_...) there are. */
void presets_update(struct presets *presets, int mode);

/* Writes the parameters under presets->name into the user's folder; tells how that went. */
void presets_save(struct presets *presets, const struct params *params, struct screen *screen);

/* Reads a preset over the settings. Parameters that it does not name get their default; those of
 * START, which are the machine's in most cases, and of the rig stay. False, after a notice, where
 * there is none of this name, or one of another mode. */
bool presets_load(struct presets *presets, const char *name, struct settings *settings,
                  struct screen *screen);

void presets_free(struct presets *presets);

#endif
