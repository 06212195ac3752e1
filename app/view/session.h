/*
 * Keeps from one start to the next, in the user's folder of states: the
 * settings in last.ini, the look of the window in view.ini. Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/commands.h"
#include "render/theme.h"

#define SESSION_SOURCE 512

struct session {
    char source[SESSION_SOURCE]; /* what the disparities searched are of: session_name_source() */
    int colormap;
    enum theme_name theme;
    double text_scale;
    bool statistics;
    int unit;        /* enum length_unit */
    char preset[64]; /* the name in the entry of the presets */
    int quality;     /* that was chosen: an enum quality, QUALITY_AUTO or QUALITY_CUSTOM */
    struct params params;
};

/* Reads what is remembered. Otherwise the look is the default one, and the settings are the user's
 * own or, if the options name a preset or a settings file, the built-in ones. True when the
 * settings are those of the last session, unless the user's own file is newer. */
bool session_load(struct session *session, const struct common_options *options);

/* The words of a source with whole paths for files, so that these are found from other folders.
 * g_strfreev. */
char **session_whole_words(const char *const *words, int count);

/* Writes the name that a source is remembered by: its words, with whole paths. */
void session_name_source(char name[SESSION_SOURCE], const char *const *words, int count);

/* Sets the disparities searched to the user's own or, without them, to the defaults. */
void session_forget_search(struct params *params);

/* Sets the look from the text of a view.ini; missing or invalid values are not changed. */
void session_parse_look(struct session *session, const char *text, size_t length);

/* Sets *params to the remembered settings, with --quality but for those of the method, then applies
 * --set. Does nothing and returns false where the options name other settings. */
bool session_take_params(const struct session *remembered, struct params *params,
                         const struct common_options *options);

/* Saves the session. What has not changed since the start keeps its remembered value, because the
 * command line may have set it for this session only. The disparities searched are remembered for
 * the source of the end. Without a home folder nothing is written. */
void session_save(const struct session *end, const struct session *start,
                  const struct session *remembered);
