/*
 * Removes what a test has written. SPDX-License-Identifier: MIT
 */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>

/* A file, or a folder with all that is in it; links are not followed. */
static inline void remove_tree(const char *path) {
    g_autoptr(GDir) dir =
        g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *below = g_build_filename(path, name, NULL);
        remove_tree(below);
    }
    g_remove(path);
}
