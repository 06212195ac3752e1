/*
 * What the viewer remembers from one start to the next, in the user's folder of states: the
 * settings in last.ini, the look of the window in view.ini. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SESSION_H
#define LIVESTEREO_SESSION_H

#include "app/commands.h"

/* The look of the window. */
struct session {
    int colormap;
    double text_scale;
    bool statistics;
    char preset[64]; /* the name in the entry of the presets */
};

/* Sets those fields that a file remembers and leaves the others alone. */
void session_load(struct session *session);

/* Puts the settings of the last time over *params, then those of --set. Does nothing and returns
 * false where the options name other settings, where the user's own file is newer, and where none
 * are remembered. */
bool session_load_params(struct params *params, const struct common_options *options);

/* Remembers all of it. Without a home folder nothing is written. */
void session_save(const struct session *session, const struct params *params);

#endif
