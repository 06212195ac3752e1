/*
 * The command that runs after the present one in the same process: calibrate after the viewer, and
 * the viewer after calibrate. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_NEXT_COMMAND_H
#define LIVESTEREO_NEXT_COMMAND_H

/* Sets the command that main runs next: its name and arguments, which are copied. NULL: none. */
void next_command_set(const char *const *words);

/* Returns these words and clears them, or NULL. Free them with g_strfreev. */
char **next_command_take(void);

/* Stores and returns the folder for results that an earlier command was given; NULL: none. */
void next_command_keep_folder(const char *folder);
const char *next_command_folder(void);

#endif
