/*
 * Converts camera pixel formats to RGB or grey pictures. Pure functions, except for the JPEG
 * decoder that callers pass in. A format is named by its V4L2 four-character code.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"
#include "image/mjpeg.h"

#define FOURCC(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define PIXEL_MJPG FOURCC('M', 'J', 'P', 'G')
#define PIXEL_JPEG FOURCC('J', 'P', 'E', 'G')
#define PIXEL_YUYV FOURCC('Y', 'U', 'Y', 'V')
#define PIXEL_UYVY FOURCC('U', 'Y', 'V', 'Y')
#define PIXEL_NV12 FOURCC('N', 'V', '1', '2')
#define PIXEL_GREY FOURCC('G', 'R', 'E', 'Y')
#define PIXEL_Y10 FOURCC('Y', '1', '0', ' ')
#define PIXEL_Y12 FOURCC('Y', '1', '2', ' ')
#define PIXEL_Y16 FOURCC('Y', '1', '6', ' ')
#define PIXEL_RGB24 FOURCC('R', 'G', 'B', '3')

struct raw_picture;

/* The formats that cameras and recordings have. */
struct pixel_format {
    uint32_t fourcc;
    char name[5];
    int channels; /* 1 or 3; 0: it depends on the frame */
    int bits;     /* per pixel on the wire; 0 for compressed formats */
    int max;      /* the number that means white */
    /* Converts row y to channels (1 or 3) of 8 bits; NULL for compressed formats. */
    void (*decode_row)(const struct raw_picture *raw, int y, int channels, uint8_t *out);
};

/* In the order in which a camera's formats are preferred. */
extern const struct pixel_format pixel_formats[];
extern const int pixel_format_count;

/* NULL when it is not in pixel_formats (then libv4l2 converts). */
const struct pixel_format *pixel_format_find(uint32_t fourcc);

/* By name, without regard to case ("mjpg", "YUYV"). */
const struct pixel_format *pixel_format_named(const char *name);

/* "YUYV"; blanks at the end are cut, odd characters become '?'. */
const char *pixel_fourcc_name(uint32_t fourcc, char name[5]);

/* A picture as a camera gave it, before decoding. */
struct raw_picture {
    uint32_t fourcc; /* V4L2's code of the format */
    int width, height;
    int stride; /* bytes from row to row of the first plane; 0: no gaps */
    const uint8_t *data;
    size_t bytes;
};

/* Converts into image, whose size is that of raw and whose channels (1 or 3) the caller chose.
 * Colour is BT.601 with Y in 16..235, as USB cameras send it; grey from colour takes Y over the
 * same range. Deeper grey keeps its eight highest bits, rounded. -EBADMSG for a short or
 * damaged frame, -ENOTSUP for other formats, without a log line. */
int pixels_decode(const struct raw_picture *raw, struct mjpeg *mjpeg, struct image *image);

/* Bytes that a whole frame of an uncompressed format has at least. */
size_t pixels_bytes(const struct raw_picture *raw);

/* Mirrors left to right, or turns by 180 degrees, in place. */
void image_flip(struct image *image);
void image_rotate180(struct image *image);

/* The part of a picture of to's size that begins at column, row, in to's channels. */
void image_part(const struct image *from, int column, int row, struct image *to);

/* Converts between grey and RGB pictures of equal size: grey is the luma (ITU-R BT.601) that
 * picture readers use, RGB repeats the grey value. */
void image_convert(const struct image *from, struct image *to);
