/*
 * What the viewer remembers from one start to the next, in the user's folder of states: the
 * settings in last.ini, the look of the window in view.ini. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SESSION_H
#define LIVESTEREO_SESSION_H

#include "app/commands.h"

struct session {
    int colormap;
    double text_scale;
    bool statistics;
    int unit;        /* enum length_unit */
    char preset[64]; /* the name in the entry of the presets */
    int quality;     /* that was chosen: an enum quality, QUALITY_AUTO or QUALITY_CUSTOM */
    struct params params;
};

/* Reads what is remembered; where nothing is, the look is the usual one and the settings are the
 * user's own or, with a preset or a file of settings named, the built-in ones. True when the
 * settings are those of the last time, which is not so where the user's own file is newer. */
bool session_load(struct session *session, const struct common_options *options);

/* Sets the look by the text of a view.ini; what is missing or out of range stays. */
void session_parse_look(struct session *session, const char *text, size_t length);

/* Puts the remembered settings over *params, then those of --quality and --set. Does nothing and
 * returns false where the options name other settings. */
bool session_take_params(const struct session *remembered, struct params *params,
                         const struct common_options *options);

/* Remembers how a session ended. What is still as it was when it started stays as it was remembered
 * before: the command line set it for once. Without a home folder nothing is written. */
void session_save(const struct session *end, const struct session *start,
                  const struct session *remembered);

#endif
