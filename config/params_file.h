/*
 * Parameters in GKeyFile files and presets: group [livestereo], one key per parameter. A preset is
 * such a file; parameters that it does not name keep their value (preset_load() begins with
 * params_default()). The key include names a built-in preset that is read first.
 * No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/params.h"

#include <stdbool.h>
#include <stdio.h>

/* Sets the parameters of *p that the file names. 0, or -errno after one log line with file and key;
 * then *p is unchanged. */
int params_load(struct params *p, const char *path);

/* The same of a file that the program wrote: names and values that this version does not know are
 * left out, with a warning the first time. */
int params_load_known(struct params *p, const char *path);

/* params_load() from memory (length bytes, not terminated); name is for messages. */
int params_parse(struct params *p, const char *text, size_t length, const char *name);

/* Writes all parameters, with their help as comments, to path; without: a group that is left out,
 * or NULL. 0 or -errno; then the file is unchanged. */
int params_save(const struct params *p, const char *path, const char *without);

/* The same text to a stream (--dump-config). */
int params_dump(const struct params *p, FILE *out);

/* Sets *p to a preset over params_default(), by name ("yang2006": of the user's folder or, where it
 * has none, of the program) or by path (anything with a '/' or ending in .ini). 0 or -errno after a
 * log line, which for an unknown name lists the known ones. */
int preset_load(struct params *p, const char *name_or_path);

/* The same over *p, which keeps what the preset does not name. */
int preset_load_over(struct params *p, const char *name_or_path);

/* "; did you mean NAME?" of the nearest name, two letters away at most, in a table of rows that
 * begin with theirs; else a copy of otherwise. The caller frees it with g_free. */
char *name_hint(const char *typed, const void *table, size_t count, size_t stride,
                const char *otherwise);
#define NAME_HINT(typed, table, count, otherwise) \
    name_hint(typed, table, (size_t)(count), sizeof(*(table)), otherwise)

/* The names of all presets, sorted, NULL-terminated; the caller frees them with g_strfreev. */
char **preset_names(void);

/* The folder of the user's own presets; the caller frees it with g_free. */
char *preset_user_folder(void);

/* Path of the user's own settings, $XDG_CONFIG_HOME/livestereo/livestereo.ini; the caller frees it
 * with g_free. */
char *params_user_path(void);

/* Reads them over *p. 0 also where there are none. */
int params_load_user(struct params *p);

/* Reads a file of weights (config/feature_network.h) into *network, whose file the caller frees
 * with free, and sets p->network. What *network had before is freed. 0 or -errno after a log
 * line. */
int params_load_network(struct params *p, struct feature_network *network, const char *path);

/* Prints the reference page (--help-params): group by group, range, default, unit, LIVE/START,
 * help. */
void params_help(FILE *out);
