/*
 * See mask.h. SPDX-License-Identifier: MIT
 */
#include "app/run/mask.h"

#include "base/log.h"
#include "image/picture.h"

#include <stdbool.h>

static bool is_white(const struct image *picture, size_t i) {
    const uint8_t *pixel = picture->data + i * (size_t)picture->channels;
    for (int c = 0; c < picture->channels; c++)
        if (pixel[c] != 255)
            return false;
    return true;
}

int mask_read(const char *path, int width, int height, uint8_t **mask) {
    struct image picture;
    *mask = NULL;
    if (picture_read(path, &picture) != 0)
        return EXIT_SOURCE;
    int code = EXIT_SOURCE;
    if (picture.width != width || picture.height != height) {
        log_error(path, "is %dx%d, but the pictures are %dx%d", picture.width, picture.height,
                  width, height);
    } else {
        size_t count = (size_t)width * (size_t)height;
        *mask = g_malloc(count);
        for (size_t i = 0; i < count; i++)
            (*mask)[i] = is_white(&picture, i) ? 255 : 0;
        code = EXIT_DONE;
    }
    picture_free(&picture);
    return code;
}
