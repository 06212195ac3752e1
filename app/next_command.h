/*
 * The command that follows the one at hand in the same program: the viewer goes on to calibrate,
 * and calibrate to the viewer. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_NEXT_COMMAND_H
#define LIVESTEREO_NEXT_COMMAND_H

/* What main runs when the command at hand has ended: its words, the command's name first. They are
 * copied; NULL: nothing. */
void next_command_set(const char *const *words);

/* The words, for g_strfreev, and nothing is to follow any more; NULL: nothing. */
char **next_command_take(void);

/* The folder for results that the user named to an earlier command; NULL: none. */
void next_command_keep_folder(const char *folder);
const char *next_command_folder(void);

#endif
