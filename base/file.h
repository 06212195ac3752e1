/*
 * Loads a whole file. What is not a regular file, or too large, is rejected before it is read. Any
 * thread; no shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Reads path, at most max bytes, into *bytes, which the caller frees with free. A 0 follows them
 * and is not counted in *length. 0, or -errno after a log line: -ENOTSUP for a pipe, device or
 * socket, -EISDIR, -EFBIG. */
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
