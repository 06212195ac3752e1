/*
 * Pictures as they come, of any pixel format, to grey or RGB. Of colour from Y, U, V: BT.601 with Y
 * in 16..235, in 1/256, as image/pixel_format.c has it.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/stage.h"

/* Those of grey and RGB are their numbers of channels: these two are not converted. */
enum picture_format {
    PICTURE_GREY = 1,
    PICTURE_RGB = 3,
    PICTURE_BGR,
    PICTURE_RGBA,
    PICTURE_NV12, /* a plane Y, then one of U, V pairs for 2x2 pixels */
    PICTURE_YUYV
};

/* Bytes of a row, and the number of rows of all planes. */
STAGE size_t picture_row(enum picture_format format, int width) {
    switch (format) {
    case PICTURE_RGB:
    case PICTURE_BGR:
        return 3 * (size_t)width;
    case PICTURE_RGBA:
        return 4 * (size_t)width;
    case PICTURE_YUYV:
        return 2 * (size_t)width;
    default:
        return (size_t)width;
    }
}

STAGE int picture_rows(enum picture_format format, int height) {
    return format == PICTURE_NV12 ? height + height / 2 : height;
}

STAGE int picture_channels(enum picture_format format) {
    return format == PICTURE_GREY ? 1 : 3;
}

struct convert_args {
    const uint8_t *source; /* rows without gaps */
    uint8_t *out;          /* RGB */
    int width, height;
    int format; /* enum picture_format */
};

STAGE void convert_yuv(int y, int u, int v, uint8_t *rgb) {
    int luma = 298 * (y - 16) + 128, cb = u - 128, cr = v - 128;
    rgb[0] = (uint8_t)stage_clamp((luma + 409 * cr) >> 8, 0, 255);
    rgb[1] = (uint8_t)stage_clamp((luma - 100 * cb - 208 * cr) >> 8, 0, 255);
    rgb[2] = (uint8_t)stage_clamp((luma + 516 * cb) >> 8, 0, 255);
}

STAGE void stage_convert(const struct convert_args *a, int x, int y) {
    uint8_t *rgb = a->out + 3 * ((size_t)y * (size_t)a->width + (size_t)x);
    const uint8_t *row =
        a->source + (size_t)y * picture_row((enum picture_format)a->format, a->width);
    if (a->format == PICTURE_NV12) {
        const uint8_t *uv = a->source + (size_t)(a->height + y / 2) * (size_t)a->width + x / 2 * 2;
        convert_yuv(row[x], uv[0], uv[1], rgb);
    } else if (a->format == PICTURE_YUYV) {
        const uint8_t *pair = row + x / 2 * 4;
        convert_yuv(row[2 * x], pair[1], pair[3], rgb);
    } else {
        int blue_first = a->format == PICTURE_BGR;
        const uint8_t *pixel = row + x * (a->format == PICTURE_RGBA ? 4 : 3);
        rgb[0] = pixel[blue_first ? 2 : 0];
        rgb[1] = pixel[1];
        rgb[2] = pixel[blue_first ? 0 : 2];
    }
}
