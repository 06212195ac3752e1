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

/* Reads the names of the presets of a mode (MODE_...). */
void presets_update(struct presets *presets, int mode);

/* Saves the parameters as presets->name in the user's folder and shows the result. */
void presets_save(struct presets *presets, const struct params *params, struct screen *screen);

/* Loads a preset. Parameters that it does not name get their default, but START parameters and
 * those of the rig are kept. False, after a notice, if there is no such preset or it has another
 * mode. */
bool presets_load(struct presets *presets, const char *name, struct settings *settings,
                  struct screen *screen);

void presets_free(struct presets *presets);

#endif
