/*
 * The writers of cloud.h. SPDX-License-Identifier: MIT
 */
#include "image/cloud.h"

#include "image/picture_private.h"

#include <stdio.h>
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
