/*
 * The writers of cloud.h. SPDX-License-Identifier: MIT
 */
#include "image/cloud.h"

#include "image/picture_private.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINT_BYTES = 16, BATCH = 256 };

static size_t put_point(uint8_t *out, const struct ply_point *p) {
    for (int i = 0; i < 3; i++) {
        uint32_t bits;
        memcpy(&bits, &p->xyz[i], sizeof bits);
        for (int b = 0; b < 4; b++)
            *out++ = (uint8_t)(bits >> (8 * b));
    }
    memcpy(out, p->rgb, 3);
    out[3] = p->confidence;
    return POINT_BYTES;
}

int ply_write(const char *path, const struct ply_point *points, size_t count, const char *unit) {
    struct save save;
    char header[512];
    uint8_t batch[BATCH * POINT_BYTES];
    int error = save_begin(&save, path);
    if (error)
        return error;
    int length = snprintf(header, sizeof header,
                          "ply\nformat binary_little_endian 1.0\n"
                          "comment left camera: x right, y down, z forward, in %s\n"
                          "element vertex %zu\nproperty float x\nproperty float y\n"
                          "property float z\nproperty uchar red\nproperty uchar green\n"
                          "property uchar blue\nproperty uchar confidence\nend_header\n",
                          unit, count);
    save_write(&save, header, (size_t)length);
    for (size_t i = 0; i < count;) {
        size_t used = 0;
        for (int n = 0; n < BATCH && i < count; n++, i++)
            used += put_point(batch + used, &points[i]);
        save_write(&save, batch, used);
    }
    return save_end(&save);
}

/* Appends " value"; a decimal point, whatever the locale. */
static size_t put_number(char *out, const char *format, double value) {
    out[0] = ' ';
    g_ascii_formatd(out + 1, G_ASCII_DTOSTR_BUF_SIZE, format, value);
    return strlen(out);
}

#define MOST_STEP 16 /* between the corners of a triangle, 1/16 px: beyond it is an edge */

/* Appends the triangle of three pixels, where they have points of one surface. */
static size_t put_triangle(char *out, const uint32_t *number, const int16_t *disparity,
                           const size_t at[3]) {
    for (int i = 0; i < 3; i++)
        if (!number[at[i]] || abs(disparity[at[i]] - disparity[at[(i + 1) % 3]]) > MOST_STEP)
            return 0;
    return (size_t)sprintf(out, "f %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", number[at[0]],
                           number[at[1]], number[at[2]]);
}

int obj_write(const char *path, const struct ply_point *points, size_t count,
              const uint32_t *number, const int16_t *disparity, int width, int height,
              const char *unit) {
    struct save save;
    char line[8 * (G_ASCII_DTOSTR_BUF_SIZE + 1)];
    int error = save_begin(&save, path);
    if (error)
        return error;
    int length = snprintf(line, sizeof line,
                          "# left camera: x right, y down, z forward, in %s; then red, green, "
                          "blue\n",
                          unit);
    save_write(&save, line, (size_t)length);
    for (size_t i = 0; i < count; i++) {
        size_t used = 1;
        line[0] = 'v';
        for (int c = 0; c < 3; c++)
            used += put_number(line + used, "%.5f", (double)points[i].xyz[c]);
        for (int c = 0; c < 3; c++)
            used += put_number(line + used, "%.4f", points[i].rgb[c] / 255.0);
        line[used++] = '\n';
        save_write(&save, line, used);
    }
    for (int y = 0; y + 1 < height; y++)
        for (int x = 0; x + 1 < width; x++) {
            const size_t a = (size_t)y * (size_t)width + (size_t)x, below = a + (size_t)width;
            size_t used = put_triangle(line, number, disparity, (size_t[]){a, below, a + 1});
            used +=
                put_triangle(line + used, number, disparity, (size_t[]){a + 1, below, below + 1});
            if (used > 0)
                save_write(&save, line, used);
        }
    return save_end(&save);
}
