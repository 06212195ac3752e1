/*
 * JPEG files for picture.c, through the decoder of the cameras: a saved camera frame reads as
 * the same pixels.
 * SPDX-License-Identifier: MIT
 */
#include "image/mjpeg.h"
#include "image/picture_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int decode(struct mjpeg *mjpeg, const uint8_t *bytes, size_t length, struct samples *samples,
                  char *why, size_t size) {
    struct image image = {0};
    int error = mjpeg_look(mjpeg, bytes, length, &image.width, &image.height, &image.channels);
    if (!error) {
        error =
            picture_check_sides((unsigned long)image.width, (unsigned long)image.height, why, size);
        if (error)
            return error;
        image.data = malloc(image_bytes(&image));
        if (!image.data) {
            snprintf(why, size, "no memory for %dx%d pixels", image.width, image.height);
            return -ENOMEM;
        }
        error = mjpeg_decode(mjpeg, bytes, length, &image);
    }
    if (error) {
        snprintf(why, size, "is a JPEG picture that cannot be decoded: %s", mjpeg_reason(mjpeg));
        free(image.data);
        return error;
    }
    *samples = (struct samples){.data = image.data,
                                .width = image.width,
                                .height = image.height,
                                .channels = image.channels,
                                .max = 255,
                                .orientation = exif_orientation(bytes, length)};
    return 0;
}

int jpeg_decode(const uint8_t *bytes, size_t length, struct samples *samples, char *why,
                size_t size) {
    struct mjpeg *mjpeg = mjpeg_open();
    if (!mjpeg) {
        snprintf(why, size, "no memory for a JPEG decoder");
        return -ENOMEM;
    }
    int error = decode(mjpeg, bytes, length, samples, why, size);
    mjpeg_close(&mjpeg);
    return error;
}
