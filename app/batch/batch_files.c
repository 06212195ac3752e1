/*
 * The functions of app/batch/batch_files.h. SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_files.h"

#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int batch_may_replace(const char *path, const char *start) {
    char head[64] = "";
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return 0;
    FILE *file = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? fopen(path, "re") : NULL;
    size_t length = file ? fread(head, 1, MIN(strlen(start), sizeof head), file) : 1;
    bool ours = file && !ferror(file) && memcmp(head, start, length) == 0;
    if (file)
        fclose(file);
    if (ours)
        return 0;
    return log_fail(-EEXIST, path,
                    "was not written by batch, which would write over it; name another folder");
}

int batch_text_write(const char *path, const char *text) {
    g_autoptr(GError) error = NULL;
    if (g_file_set_contents(path, text, -1, &error))
        return 0;
    return log_fail(-EIO, path, "cannot be written: %s", error->message);
}
