/*
 * The functions of app/next_command.h. SPDX-License-Identifier: MIT
 */
#include "app/next_command.h"

#include <glib.h>

static char **next, *folder;

void next_command_set(const char *const *words) {
    g_strfreev(next);
    next = g_strdupv((char **)(gpointer)words);
}

char **next_command_take(void) {
    return g_steal_pointer(&next);
}

void next_command_keep_folder(const char *named) {
    g_free(folder);
    folder = g_strdup(named);
}

const char *next_command_folder(void) {
    return folder;
}
