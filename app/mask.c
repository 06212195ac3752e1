/*
 * See mask.h. SPDX-License-Identifier: MIT
 */
#include "app/mask.h"

#include "config/log.h"
#include "image/picture.h"

#include <stdlib.h>

static int read_mask(const char *path, const struct params *params, int width, int height,
                     uint8_t **mask) {
    int mask_width, mask_height;
    uint16_t *values;
    *mask = NULL;
    if (!path)
        return EXIT_DONE;
    if (params->mode != MODE_MOTION) {
        log_error("--mask", "needs mode=motion; preset flow has it");
        return EXIT_USAGE;
    }
    if (picture_read16(path, &values, &mask_width, &mask_height) != 0)
        return EXIT_SOURCE;
    int code = EXIT_DONE;
    if (mask_width != width || mask_height != height) {
        log_error(path, "is %dx%d, but the pictures are %dx%d", mask_width, mask_height, width,
                  height);
        code = EXIT_SOURCE;
    }
    size_t count = (size_t)width * (size_t)height;
    if (code == EXIT_DONE && !(*mask = malloc(count))) {
        log_error(path, "out of memory");
        code = EXIT_RUN_FAILED;
    }
    for (size_t i = 0; *mask && i < count; i++)
        (*mask)[i] = values[i] == 255 ? 255 : 0;
    free(values);
    return code;
}

int mask_use(const char *path, const struct params *params, int width, int height,
             struct stereo *stereo, uint8_t **mask) {
    int code = read_mask(path, params, width, height, mask);
    if (code == EXIT_DONE && *mask && stereo_set_mask(stereo, *mask) != 0)
        code = EXIT_RUN_FAILED;
    if (code != EXIT_DONE) {
        free(*mask);
        *mask = NULL;
    }
    return code;
}
