/*
 * Loads a file of the user's whole: what is no regular file, or larger than its kind can be, is
 * refused before a byte is read. Any thread; nothing is shared.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_FILE_H
#define LIVESTEREO_FILE_H

#include <stddef.h>

/* Reads path, at most `most` bytes, into malloc's *text with a 0 behind it, which *length (bytes)
 * does not count. 0 or -errno after a log line: -ENOTSUP for a pipe, device or socket, -EISDIR,
 * -EFBIG. */
int file_load(const char *path, size_t max, char **text, size_t *length);

#endif
