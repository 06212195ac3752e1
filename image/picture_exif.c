/*
 * How Exif data say that a picture is to be turned, for picture.c. SPDX-License-Identifier: MIT
 */
#include "image/picture_private.h"

#include <errno.h>
#include <libexif/exif-data.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int exif_orientation(const uint8_t *bytes, size_t length) {
    ExifData *data = length <= UINT_MAX ? exif_data_new_from_data(bytes, (unsigned)length) : NULL;
    if (!data)
        return 0;
    const ExifEntry *entry = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
    int orientation = 0;
    if (entry && entry->format == EXIF_FORMAT_SHORT && entry->size >= 2)
        orientation = exif_get_short(entry->data, exif_data_get_byte_order(data));
    exif_data_unref(data);
    return orientation <= 8 ? orientation : 0;
}

/* Exif's orientations from 5 to 8 exchange rows and columns; 2, 3, 7 and 8 take columns of the file
 * from the right, 3, 4, 6 and 7 rows from the bottom. */
int samples_turn(struct samples *samples) {
    int from = samples->orientation, width = samples->width, height = samples->height;
    if (from < 2)
        return 0;
    int right = from == 2 || from == 3 || from == 7 || from == 8;
    int bottom = from == 3 || from == 4 || from == 6 || from == 7;
    size_t pixel = (size_t)samples->channels * (samples->max > 255 ? 2 : 1);
    uint8_t *out = malloc((size_t)width * (size_t)height * pixel), *to = out;
    if (!out)
        return -ENOMEM;
    samples->width = from >= 5 ? height : width;
    samples->height = from >= 5 ? width : height;
    for (int y = 0; y < samples->height; y++)
        for (int x = 0; x < samples->width; x++, to += pixel) {
            int place[] = {x, y}, u = place[from >= 5], v = place[from < 5];
            u = right ? width - 1 - u : u;
            v = bottom ? height - 1 - v : v;
            size_t at = (size_t)v * (size_t)width + (size_t)u;
            memcpy(to, (const uint8_t *)samples->data + at * pixel, pixel);
        }
    free(samples->data);
    samples->data = out;
    samples->orientation = 0;
    return 0;
}
