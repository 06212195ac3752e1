/*
 * Loads a whole file; makes, removes and spares files. Any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/* Reads path, at most max bytes, into *bytes, which the caller frees with free. A 0 follows them
 * and is not counted in *length. What is not a regular file, or too large, is refused before it is
 * read. 0, or -errno after a log line: -ENOTSUP for a pipe, device or socket, -EISDIR, -EFBIG. */
int file_load_bytes(const char *path, size_t max, char **bytes, size_t *length);

/* The same for text: a byte order mark before it (UTF-8) is left out. */
int file_load(const char *path, size_t max, char **text, size_t *length);

/* Whether both paths lead to one file or folder that is there. Here, so that the library does not
 * have stat(), whose name only glibc 2.33 and later have. */
static inline bool file_is_same(const char *a, const char *b) {
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

/* ---- writing */

/* Makes a file of a name that nothing has yet. NULL, with errno, without a log line. */
FILE *file_create(const char *path);

/* The same for a file that the user names; a device or a pipe is opened. 0, or -errno after a log
 * line. */
int file_begin(const char *path, FILE **file);

/* Removes a file that this process has made and has open, unless its name leads to another one by
 * now. */
void file_remove(const char *path, FILE *file);

/* From now on, before there are threads, the files that are loaded, and those named by
 * file_note_input, are inputs of the program; before, nothing is. */
void file_remember_inputs(void);
void file_note_input(const char *path);

/* 0, or -EEXIST after a log line where path leads to an input, which must not be written over. */
int file_spare_input(const char *path);
