/*
 * The functions of base/file.h, on plain libc. SPDX-License-Identifier: MIT
 */
#include "base/file.h"

#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BOM_BYTES = 3 };

/* The identity of a file, whatever names lead to it. */
struct file_id {
    uint32_t major, minor;
    uint64_t inode;
};

static bool remembers;                                   /* set before there are threads */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next one */
static void *inputs;                                     /* a tree of struct file_id, by tsearch */

/* In place of stat and fstat, whose names only glibc 2.33 and later have. 0 or -errno. */
static int look_at(int fd, const char *path, struct statx *about) {
    unsigned wanted = STATX_TYPE | STATX_SIZE | STATX_INO;
    int failed = path ? statx(AT_FDCWD, path, 0, wanted, about)
                      : statx(fd, "", AT_EMPTY_PATH, wanted, about);
    return -(failed ? errno : 0);
}

static struct file_id id_of(const struct statx *about) {
    return (struct file_id){about->stx_dev_major, about->stx_dev_minor, about->stx_ino};
}

static int compare_ids(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct file_id));
}

static void remember(const struct statx *about) {
    struct file_id *id = remembers ? malloc(sizeof *id) : NULL;
    if (!id)
        return;
    *id = id_of(about);
    LOCKED(&lock);
    struct file_id **kept = tsearch(id, &inputs, compare_ids);
    if (!kept || *kept != id)
        free(id);
}

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
    struct statx about;
    int error = look_at(fd, NULL, &about);
    if (error)
        return cannot_read(path, -error);
    if (S_ISDIR(about.stx_mode))
        return cannot_read(path, EISDIR);
    if (!S_ISREG(about.stx_mode))
        return log_fail(-ENOTSUP, path, "is no regular file; save what it gives to a file first");
    if (about.stx_size > max)
        return log_fail(-EFBIG, path, "is too large: %llu bytes, where at most %zu are read",
                        (unsigned long long)about.stx_size, max);
    remember(&about);
    *text = malloc((size_t)about.stx_size + 1);
    error = *text ? read_all(fd, *text, (size_t)about.stx_size, length) : -ENOMEM;
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

/* ---- writing */

FILE *file_create(const char *path) {
    return fopen(path, "wbxe");
}

int file_begin(const char *path, FILE **file) {
    struct statx about;
    *file = file_create(path);
    int error = *file ? 0 : errno;
    if (error == EEXIST && look_at(-1, path, &about) == 0 &&
        (S_ISFIFO(about.stx_mode) || S_ISCHR(about.stx_mode)))
        *file = fopen(path, "wbe");
    if (*file)
        return 0;
    return log_fail(-error, path,
                    error == EEXIST
                        ? "exists already and is not overwritten; choose another name, or remove it"
                        : "cannot be written: %s; is there such a folder, and may you write there?",
                    strerror(error));
}

void file_remove(const char *path, FILE *file) {
    struct statx made, there;
    if (look_at(fileno(file), NULL, &made) || look_at(-1, path, &there) || !S_ISREG(made.stx_mode))
        return;
    struct file_id ids[2] = {id_of(&made), id_of(&there)};
    if (compare_ids(&ids[0], &ids[1]) == 0)
        unlink(path);
}

void file_remember_inputs(void) {
    remembers = true;
}

void file_note_input(const char *path) {
    struct statx about;
    if (look_at(-1, path, &about) == 0 && S_ISREG(about.stx_mode))
        remember(&about);
}

int file_spare_input(const char *path) {
    struct statx about;
    if (look_at(-1, path, &about))
        return 0;
    struct file_id id = id_of(&about);
    LOCKED(&lock);
    if (!tfind(&id, &inputs, compare_ids))
        return 0;
    return log_fail(-EEXIST, path, "is an input and is not written over; choose another name");
}
