/*
 * The functions of image/pfm.h. SPDX-License-Identifier: MIT
 */
#include "image/pfm.h"

#include "image/frame.h"
#include "base/file.h"
#include "base/log.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)MAX_FRAME_SIDE * MAX_FRAME_SIDE * 4 + 64)

int pfm_parse(const char *bytes, size_t length, const char *name, float **data, int *width,
              int *height) {
    double scale;
    int begin = 0;
    char blank = 0;
    *data = NULL;
    if (sscanf(bytes, "Pf %5d %5d %31lf%c%n", width, height, &scale, &blank, &begin) != 4 ||
        blank != '\n' || *width < 1 || *height < 1)
        return log_fail(-EBADMSG, name, "is no PFM file with one channel");
    if (*width > MAX_FRAME_SIDE || *height > MAX_FRAME_SIDE)
        return log_fail(-EFBIG, name, "is over %d px a side", MAX_FRAME_SIDE);
    size_t row = (size_t)*width, count = row * (size_t)*height;
    if (length - (size_t)begin < 4 * count)
        return log_fail(-EBADMSG, name, "ends early: it is damaged");
    *data = malloc(count * sizeof(float));
    if (!*data)
        return log_fail(-ENOMEM, name, "out of memory");
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        size_t from = (size_t)*height - 1 - i / row;
        memcpy(&word, bytes + begin + 4 * (from * row + i % row), 4);
        word = scale < 0 ? le32toh(word) : be32toh(word);
        memcpy(&(*data)[i], &word, 4);
    }
    return 0;
}

int pfm_read(const char *path, float **data, int *width, int *height) {
    char *bytes;
    size_t length;
    *data = NULL;
    int error = file_load_bytes(path, MAX_BYTES, &bytes, &length)
                    ?: pfm_parse(bytes, length, path, data, width, height);
    free(bytes);
    return error;
}
