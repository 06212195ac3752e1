/*
 * The writer of obj.h. SPDX-License-Identifier: MIT
 */
#include "image/obj.h"

#include "image/picture_private.h"

#include <glib.h>
#include <string.h>

/* Appends " value"; a decimal point, whatever the locale. */
static size_t put_number(char *out, const char *format, double value) {
    out[0] = ' ';
    g_ascii_formatd(out + 1, G_ASCII_DTOSTR_BUF_SIZE, format, value);
    return strlen(out);
}

int obj_write(const char *path, const struct ply_point *points, size_t count, const char *unit) {
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
    return save_end(&save);
}
