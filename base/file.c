/*
 * The functions of base/file.h, on plain libc. SPDX-License-Identifier: MIT
 */
#include "base/file.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BOM_BYTES = 3 };

static int cannot_read(const char *path, int error) {
    return log_fail(-error, path, "cannot be read: %s", strerror(error));
}

/* Reads up to size bytes; a file that shrinks meanwhile ends early. */
static int read_all(int fd, char *text, size_t size, size_t *length) {
    *length = 0;
    while (*length < size) {
        ssize_t got = read(fd, text + *length, size - *length);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -errno;
        *length += got > 0 ? (size_t)got : 0;
    }
    text[*length] = 0;
    return 0;
}

static int load_open_file(int fd, const char *path, size_t max, char **text, size_t *length) {
    struct statx about; /* in place of fstat, whose name only glibc 2.33 and later have */
    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &about))
        return cannot_read(path, errno);
    if (S_ISDIR(about.stx_mode))
        return cannot_read(path, EISDIR);
    if (!S_ISREG(about.stx_mode))
        return log_fail(-ENOTSUP, path, "is no regular file; save what it gives to a file first");
    if (about.stx_size > max)
        return log_fail(-EFBIG, path, "is too large: %llu bytes, where at most %zu are read",
                        (unsigned long long)about.stx_size, max);
    *text = malloc((size_t)about.stx_size + 1);
    int error = *text ? read_all(fd, *text, (size_t)about.stx_size, length) : -ENOMEM;
    if (!error)
        return 0;
    free(*text);
    *text = NULL;
    return cannot_read(path, -error);
}

int file_load_bytes(const char *path, size_t max, char **bytes, size_t *length) {
    *bytes = NULL;
    *length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hold us up */
    if (fd < 0)
        return cannot_read(path, errno);
    int error = load_open_file(fd, path, max, bytes, length);
    close(fd);
    return error;
}

int file_load(const char *path, size_t max, char **text, size_t *length) {
    int error = file_load_bytes(path, max, text, length);
    if (*text && *length >= BOM_BYTES && memcmp(*text, "\xef\xbb\xbf", BOM_BYTES) == 0) {
        *length -= BOM_BYTES;
        memmove(*text, *text + BOM_BYTES, *length + 1);
    }
    return error;
}
