/*
 * TIFF files for picture.c, through libtiff from memory, which stays silent. Called on the reader's
 * thread. SPDX-License-Identifier: MIT
 */
#include "image/picture_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

struct memory {
    const uint8_t *bytes;
    toff_t length, at;
};

static tmsize_t on_read(thandle_t handle, void *out, tmsize_t count) {
    struct memory *m = handle;
    toff_t left = m->at < m->length ? m->length - m->at : 0;
    size_t taken = (toff_t)count < left ? (size_t)count : (size_t)left;
    memcpy(out, m->bytes + (taken ? m->at : 0), taken);
    m->at += taken;
    return (tmsize_t)taken;
}

static tmsize_t on_write(thandle_t handle, void *data, tmsize_t count) {
    (void)handle, (void)data, (void)count;
    return 0;
}

static toff_t on_seek(thandle_t handle, toff_t at, int from) {
    struct memory *m = handle;
    if (from == SEEK_END)
        at += m->length;
    m->at = from == SEEK_CUR ? m->at + at : at;
    return m->at;
}

static int on_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t on_size(thandle_t handle) {
    return ((struct memory *)handle)->length;
}

/* Rows, of whose pixels the first 1 or 3 samples are taken. 0, -EBADMSG or -ENOMEM. */
static int read_rows(TIFF *tiff, struct samples *s, size_t stored, size_t bytes) {
    size_t width = (size_t)s->width, pixel = (size_t)s->channels * bytes;
    size_t stride = (size_t)TIFFScanlineSize(tiff);
    bool whole = stride >= width * stored * bytes;
    uint8_t *row = malloc(stride), *out = s->data;
    if (!row)
        return -ENOMEM;
    for (int y = 0; whole && y < s->height; y++) {
        whole = TIFFReadScanline(tiff, row, (uint32_t)y, 0) == 1;
        for (size_t x = 0; whole && x < width; x++, out += pixel)
            memcpy(out, row + x * stored * bytes, pixel);
    }
    free(row);
    return whole ? 0 : -EBADMSG;
}

static int damaged(char *why, size_t size) {
    snprintf(why, size, "is a TIFF picture that is damaged or ends early");
    return -EBADMSG;
}

static int decode(TIFF *tiff, size_t length, struct samples *s, char *why, size_t size) {
    uint32_t width = 0, height = 0;
    uint16_t bits = 0, stored = 0, kind = 0, numbers = 0, planes = 0, turned = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &kind);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &stored);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &numbers);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &turned);
    int error = picture_check_sides(width, height, why, size);
    if (error)
        return error;
    int channels = kind == PHOTOMETRIC_RGB ? 3 : 1;
    if ((kind != PHOTOMETRIC_MINISBLACK && kind != PHOTOMETRIC_RGB) || (bits != 8 && bits != 16) ||
        numbers != SAMPLEFORMAT_UINT || TIFFIsTiled(tiff) || planes != PLANARCONFIG_CONTIG ||
        stored < channels) {
        snprintf(why, size,
                 "is a TIFF picture of a form that is not read; save it as grey or RGB of 8 or 16 "
                 "bits in rows, or as PNG");
        return -EBADMSG;
    }
    *s = (struct samples){.width = (int)width,
                          .height = (int)height,
                          .channels = channels,
                          .max = bits == 16 ? UINT16_MAX : UINT8_MAX,
                          .orientation = turned <= 8 ? turned : 0};
    size_t bytes = bits / 8U, all = (size_t)width * height * (size_t)channels * bytes;
    if (all / 1040 > length) /* deflate packs no better */
        return damaged(why, size);
    s->data = malloc(all);
    error = s->data ? read_rows(tiff, s, stored, bytes) : -ENOMEM;
    if (!error)
        return 0;
    free(s->data);
    s->data = NULL;
    if (error != -ENOMEM)
        return damaged(why, size);
    snprintf(why, size, "no memory for a picture of %ux%u pixels", width, height);
    return -ENOMEM;
}

int tiff_decode(const uint8_t *bytes, size_t length, struct samples *samples, char *why,
                size_t size) {
    struct memory memory = {bytes, length, 0};
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFF *tiff = TIFFClientOpen("", "rm", &memory, on_read, on_write, on_seek, on_close, on_size,
                                NULL, NULL);
    if (!tiff)
        return damaged(why, size);
    int error = decode(tiff, length, samples, why, size);
    TIFFClose(tiff);
    return error;
}
