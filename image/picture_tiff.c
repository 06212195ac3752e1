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
    m->at = from == SEEK_END ? m->length + at : from == SEEK_CUR ? m->at + at : at;
    return m->at;
}

static int on_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t on_size(thandle_t handle) {
    return ((struct memory *)handle)->length;
}

/* Rows of 16 bits, of which the first 1 or 3 samples of a pixel are taken. */
static bool read_wide(TIFF *tiff, struct samples *s, int stored) {
    size_t width = (size_t)s->width;
    uint16_t *row = malloc((size_t)TIFFScanlineSize(tiff));
    bool whole = row && (size_t)TIFFScanlineSize(tiff) >= 2 * width * (size_t)stored;
    for (int y = 0; whole && y < s->height; y++) {
        uint16_t *out = (uint16_t *)s->data + (size_t)y * width * (size_t)s->channels;
        whole = TIFFReadScanline(tiff, row, (uint32_t)y, 0) == 1;
        for (size_t i = 0; whole && i < width * (size_t)s->channels; i++)
            out[i] = row[i / (size_t)s->channels * (size_t)stored + i % (size_t)s->channels];
    }
    free(row);
    return whole;
}

/* All other forms, as libtiff makes RGBA of them. */
static bool read_narrow(TIFF *tiff, struct samples *s) {
    size_t pixels = (size_t)s->width * (size_t)s->height;
    uint32_t *rgba = malloc(pixels * sizeof *rgba);
    bool whole = rgba && TIFFReadRGBAImageOriented(tiff, (uint32_t)s->width, (uint32_t)s->height,
                                                   rgba, ORIENTATION_TOPLEFT, 1);
    uint8_t *out = s->data;
    for (size_t i = 0; whole && i < pixels; i++)
        for (int c = 0; c < s->channels; c++)
            *out++ = (uint8_t)(rgba[i] >> 8 * c);
    free(rgba);
    return whole;
}

static int decode(TIFF *tiff, size_t length, struct samples *s, char *why, size_t size) {
    uint32_t width = 0, height = 0;
    uint16_t bits = 0, stored = 0, kind = 0, numbers = 0, planes = 0, turned = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &stored);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &numbers);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &turned);
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &kind);
    int error = picture_check_sides(width, height, why, size);
    bool wide = bits == 16, grey = kind == PHOTOMETRIC_MINISBLACK || kind == PHOTOMETRIC_MINISWHITE;
    if (error)
        return error;
    if (bits > 16 || numbers != SAMPLEFORMAT_UINT ||
        (wide && (TIFFIsTiled(tiff) || planes != PLANARCONFIG_CONTIG || stored == 2 ||
                  (!grey && kind != PHOTOMETRIC_RGB)))) {
        snprintf(why, size,
                 "is a TIFF picture of a form that is not read; save it as 8 or 16 bits "
                 "in rows, or as PNG");
        return -EBADMSG;
    }
    *s = (struct samples){.width = (int)width,
                          .height = (int)height,
                          .channels = grey ? 1 : 3,
                          .max = wide ? UINT16_MAX : UINT8_MAX,
                          .orientation = wide && turned <= 8 ? turned : 0};
    size_t count = (size_t)width * height * (size_t)s->channels;
    bool whole = (size_t)width * height / 8 / 1040 <= length; /* deflate packs no better */
    s->data = whole ? calloc(count, wide ? 2 : 1) : NULL;
    whole = s->data && (wide ? read_wide(tiff, s, stored) : read_narrow(tiff, s));
    if (wide && whole && kind == PHOTOMETRIC_MINISWHITE)
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)s->data)[i] = (uint16_t) ~((uint16_t *)s->data)[i];
    if (whole)
        return 0;
    snprintf(why, size, "is a TIFF picture that is damaged or ends early");
    free(s->data);
    s->data = NULL;
    return -EBADMSG;
}

int tiff_decode(const uint8_t *bytes, size_t length, struct samples *samples, char *why,
                size_t size) {
    struct memory memory = {bytes, length, 0};
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFF *tiff = TIFFClientOpen("", "rm", &memory, on_read, on_write, on_seek, on_close, on_size,
                                NULL, NULL);
    if (!tiff) {
        snprintf(why, size, "is a TIFF picture that is damaged or ends early");
        return -EBADMSG;
    }
    int error = decode(tiff, length, samples, why, size);
    TIFFClose(tiff);
    return error;
}
