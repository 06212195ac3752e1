/*
 * Whole files or none: writing under a temporary name in the target's folder, then renaming. And
 * the disparity forms that are made from it: KITTI's 16-bit PNG, PFM. Each call belongs to its
 * thread.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture_private.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_TRIES 1000

enum { READER_TRIES = 200, READER_US = 10000 }; /* 2 s */

static int cannot_write(const char *path, int error) {
    return log_fail(-error, path, "cannot be written: %s",
                    error == ENXIO ? "nobody reads this pipe" : strerror(error));
}

/* Creates folder/.livestereo-PID-N.tmp; the name is short whatever the target's is, and no other
 * thread or process has it. NULL with errno. */
static FILE *open_temporary(const char *path, char **name) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;
    FILE *file = NULL;
    errno = EEXIST;
    for (int i = 0; i < TEMPORARY_TRIES && !file && errno == EEXIST; i++) {
        free(*name);
        if (asprintf(name, "%.*s.livestereo-%ld-%d.tmp", folder, path, (long)getpid(), i) < 0)
            *name = NULL;
        file = *name ? file_create(*name) : NULL;
    }
    return file;
}

/* Opens a device or a pipe, and never replaces it by a file. A pipe's reader may be about to come,
 * but is not waited for without end. NULL with errno. */
static FILE *open_special(const char *path) {
    int fd = -1;
    errno = ENXIO;
    for (int i = 0; i < READER_TRIES && fd < 0 && errno == ENXIO; i++) {
        if (i > 0)
            usleep(READER_US);
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    }
    /* writes may wait for the reader */
    FILE *file = fd >= 0 && fcntl(fd, F_SETFL, 0) == 0 ? fdopen(fd, "wb") : NULL;
    if (!file && fd >= 0)
        close(fd);
    return file;
}

int save_begin(struct save *save, const char *path) {
    struct stat about;
    *save = (struct save){.path = path};
    if (file_spare_input(path))
        return -EEXIST;
    bool there = stat(path, &about) == 0;
    if (there && S_ISDIR(about.st_mode))
        return cannot_write(path, EISDIR);
    save->file = there && !S_ISREG(about.st_mode) ? open_special(path)
                                                  : open_temporary(path, &save->temporary);
    if (save->file)
        return 0;
    int error = errno;
    free(save->temporary);
    return cannot_write(path, error);
}

void save_write(struct save *save, const void *data, size_t bytes) {
    if (save->error || bytes == 0)
        return;
    errno = 0;
    if (fwrite(data, 1, bytes, save->file) != bytes)
        save->error = errno ? -errno : -EIO;
}

int save_end(struct save *save) {
    if (save->file && fclose(save->file) && !save->error)
        save->error = errno ? -errno : -EIO;
    if (!save->error && save->temporary && rename(save->temporary, save->path))
        save->error = -errno;
    if (save->error) {
        if (save->temporary)
            unlink(save->temporary);
        cannot_write(save->path, -save->error);
    }
    free(save->temporary);
    return save->error;
}

bool disp16_holds(int min_disparity, int disparity_range) {
    return min_disparity >= 0 && min_disparity + disparity_range <= DISP16_END;
}

size_t disp16_of(const int16_t *disparity, size_t count, uint16_t *out) {
    size_t misfits = 0;
    for (size_t i = 0; i < count; i++) {
        int d = disparity[i];
        /* refined, a disparity of 0 may be a bit less */
        bool fits = d > -DISPARITY_ONE && d < DISP16_END * DISPARITY_ONE;
        misfits += !fits && d != DISPARITY_UNKNOWN;
        out[i] = (uint16_t)(d <= 0 ? fits : fits * d * (256 / DISPARITY_ONE));
    }
    return misfits;
}

int picture_write_disp16(const char *path, const int16_t *disparity, int width, int height) {
    size_t count = (size_t)width * (size_t)height;
    uint16_t *out = malloc(count * sizeof *out);
    if (!out)
        return cannot_write(path, ENOMEM);
    size_t misfits = disp16_of(disparity, count, out);
    if (misfits)
        log_warning(path,
                    "has 0, unknown, at %zu pixels whose disparity is below 0 or %d px and more; "
                    "pfm holds them",
                    misfits, DISP16_END);
    int error = picture_write16(path, out, width, height);
    free(out);
    return error;
}

/* A float's bytes, least significant first, on any machine. */
static void put_float(uint8_t *out, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(bits >> (8 * i));
}

int picture_write_floats(const char *path, const float *data, int width, int height) {
    struct save save;
    uint8_t *row = malloc((size_t)width * 4);
    if (!row)
        return cannot_write(path, ENOMEM);
    int error = save_begin(&save, path);
    if (error) {
        free(row);
        return error;
    }
    char header[64];
    int length = snprintf(header, sizeof header, "Pf\n%d %d\n-1.0\n", width, height);
    save_write(&save, header, (size_t)length);
    for (int y = height - 1; y >= 0; y--) {
        for (int x = 0; x < width; x++)
            put_float(row + (size_t)x * 4, data[(size_t)y * (size_t)width + (size_t)x]);
        save_write(&save, row, (size_t)width * 4);
    }
    free(row);
    return save_end(&save);
}

int picture_write_pfm(const char *path, const int16_t *disparity, int width, int height) {
    size_t count = (size_t)width * (size_t)height;
    float *data = malloc(count * sizeof(*data));
    if (!data)
        return cannot_write(path, ENOMEM);
    for (size_t i = 0; i < count; i++)
        data[i] =
            disparity[i] == DISPARITY_UNKNOWN ? INFINITY : (float)disparity[i] / DISPARITY_ONE;
    int error = picture_write_floats(path, data, width, height);
    free(data);
    return error;
}
