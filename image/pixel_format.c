/*
 * The conversions of capture/pixel_format.h. SPDX-License-Identifier: MIT
 */
#include "image/pixel_format.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

const struct pixel_format *pixel_format_find(uint32_t fourcc) {
    for (int i = 0; i < pixel_format_count; i++)
        if (pixel_formats[i].fourcc == fourcc)
            return &pixel_formats[i];
    return NULL;
}

const struct pixel_format *pixel_format_named(const char *name) {
    for (int i = 0; i < pixel_format_count; i++)
        if (strcasecmp(pixel_formats[i].name, name) == 0)
            return &pixel_formats[i];
    return strcasecmp(name, "MJPEG") == 0 ? &pixel_formats[0] : NULL;
}

const char *pixel_fourcc_name(uint32_t fourcc, char name[5]) {
    for (int i = 0; i < 4; i++) {
        char c = (char)(fourcc >> (8 * i) & 0x7f);
        name[i] = c >= ' ' && c < 0x7f ? c : '?';
    }
    name[4] = '\0';
    for (int i = 3; i > 0 && name[i] == ' '; i--)
        name[i] = '\0';
    return name;
}

static size_t row_bytes(const struct raw_picture *raw) {
    const struct pixel_format *format = pixel_format_find(raw->fourcc);
    int bits = format ? format->bits : 0;
    if (raw->fourcc == PIXEL_NV12) /* of the first plane */
        bits = 8;
    size_t width = (size_t)raw->width;
    if (raw->fourcc == PIXEL_YUYV || raw->fourcc == PIXEL_UYVY || raw->fourcc == PIXEL_NV12)
        width = (width + 1) / 2 * 2; /* colours come in twos */
    return width * (size_t)bits / 8;
}

static size_t stride_of(const struct raw_picture *raw) {
    return raw->stride > 0 ? (size_t)raw->stride : row_bytes(raw);
}

size_t pixels_bytes(const struct raw_picture *raw) {
    size_t rows = (size_t)raw->height;
    if (raw->fourcc == PIXEL_NV12)
        return stride_of(raw) * (rows + (rows + 1) / 2);
    return rows ? stride_of(raw) * (rows - 1) + row_bytes(raw)
                : 0; /* the last gap may be left out */
}

static uint8_t clamp(int value) {
    if (value < 0)
        return 0;
    return (uint8_t)(value < 255 ? value : 255);
}

/* BT.601 in 1/256, rounded. */
static void put_yuv(int y, int u, int v, int channels, uint8_t *out) {
    int luma = 298 * (y - 16) + 128, cb = u - 128, cr = v - 128;
    if (channels == 1) {
        out[0] = clamp(luma >> 8);
        return;
    }
    out[0] = clamp((luma + 409 * cr) >> 8);
    out[1] = clamp((luma - 100 * cb - 208 * cr) >> 8);
    out[2] = clamp((luma + 516 * cb) >> 8);
}

static const uint8_t *row_of(const struct raw_picture *raw, int y) {
    return raw->data + (size_t)y * stride_of(raw);
}

static void packed_row(const struct raw_picture *raw, int y, int channels, uint8_t *out) {
    int y0 = raw->fourcc == PIXEL_UYVY, u0 = !y0;
    const uint8_t *row = row_of(raw, y);
    for (int x = 0; x < raw->width; x++) {
        const uint8_t *two = row + (x / 2) * 4;
        put_yuv(two[y0 + 2 * (x % 2)], two[u0], two[u0 + 2], channels, out + x * channels);
    }
}

static void nv12_row(const struct raw_picture *raw, int y, int channels, uint8_t *out) {
    const uint8_t *luma = row_of(raw, y), *chroma = row_of(raw, raw->height + y / 2);
    for (int x = 0; x < raw->width; x++)
        put_yuv(luma[x], chroma[x / 2 * 2], chroma[x / 2 * 2 + 1], channels, out + x * channels);
}

static void deep_row(const struct raw_picture *raw, int y, int channels, uint8_t *out) {
    int max = pixel_format_find(raw->fourcc)->max;
    const uint8_t *row = row_of(raw, y);
    for (int x = 0; x < raw->width; x++) {
        int value = row[2 * x] | row[2 * x + 1] << 8;
        value = value > max ? max : value;
        memset(out + x * channels, (value * 255 + max / 2) / max, (size_t)channels);
    }
}

static void grey_row(const struct raw_picture *raw, int y, int channels, uint8_t *out) {
    const uint8_t *row = row_of(raw, y);
    for (int x = 0; x < raw->width; x++)
        memset(out + x * channels, row[x], (size_t)channels);
}

static uint8_t grey_of(const uint8_t *rgb) {
    return (uint8_t)((77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8);
}

static void rgb_row(const struct raw_picture *raw, int y, int channels, uint8_t *out) {
    const uint8_t *row = row_of(raw, y);
    for (int x = 0; x < raw->width; x++) {
        if (channels == 1)
            out[x] = grey_of(row + 3 * x);
        else
            memcpy(out + 3 * x, row + 3 * x, 3);
    }
}

const struct pixel_format pixel_formats[] = {
    {PIXEL_MJPG, "MJPG", 0, 0, 255, NULL},        {PIXEL_JPEG, "JPEG", 0, 0, 255, NULL},
    {PIXEL_YUYV, "YUYV", 3, 16, 255, packed_row}, {PIXEL_UYVY, "UYVY", 3, 16, 255, packed_row},
    {PIXEL_NV12, "NV12", 3, 12, 255, nv12_row},   {PIXEL_GREY, "GREY", 1, 8, 255, grey_row},
    {PIXEL_Y10, "Y10", 1, 16, 1023, deep_row},    {PIXEL_Y12, "Y12", 1, 16, 4095, deep_row},
    {PIXEL_Y16, "Y16", 1, 16, 65535, deep_row},   {PIXEL_RGB24, "RGB3", 3, 24, 255, rgb_row},
};
const int pixel_format_count = sizeof pixel_formats / sizeof pixel_formats[0];

int pixels_decode(const struct raw_picture *raw, struct mjpeg *mjpeg, struct image *image) {
    if (raw->width != image->width || raw->height != image->height)
        return -EBADMSG;
    const struct pixel_format *format = pixel_format_find(raw->fourcc);
    if (!format)
        return -ENOTSUP;
    if (!format->decode_row)
        return mjpeg_decode(mjpeg, raw->data, raw->bytes, image);
    if (raw->bytes < pixels_bytes(raw) || stride_of(raw) < row_bytes(raw))
        return -EBADMSG;
    size_t row = (size_t)image->width * (size_t)image->channels;
    for (int y = 0; y < image->height; y++)
        format->decode_row(raw, y, image->channels, image->data + (size_t)y * row);
    return 0;
}

static void swap_pixels(uint8_t *a, uint8_t *b, int channels) {
    for (int c = 0; c < channels; c++) {
        uint8_t kept = a[c];
        a[c] = b[c];
        b[c] = kept;
    }
}

static void reverse(uint8_t *pixels, size_t count, int channels) {
    for (size_t i = 0; i < count / 2; i++)
        swap_pixels(pixels + i * (size_t)channels, pixels + (count - 1 - i) * (size_t)channels,
                    channels);
}

void image_flip(struct image *image) {
    size_t row = (size_t)image->width * (size_t)image->channels;
    for (int y = 0; y < image->height; y++)
        reverse(image->data + (size_t)y * row, (size_t)image->width, image->channels);
}

void image_rotate180(struct image *image) {
    reverse(image->data, (size_t)image->width * (size_t)image->height, image->channels);
}

void image_convert(const struct image *from, struct image *to) {
    size_t pixels = (size_t)from->width * (size_t)from->height;
    if (from->channels == to->channels)
        memcpy(to->data, from->data, image_bytes(from));
    else if (to->channels == 3)
        for (size_t i = 0; i < pixels; i++)
            memset(to->data + 3 * i, from->data[i], 3);
    else
        for (size_t i = 0; i < pixels; i++)
            to->data[i] = grey_of(from->data + 3 * i);
}

void image_part(const struct image *from, int column, int row, struct image *to) {
    struct image one = {NULL, to->width, 1, from->channels}, line = *to;
    line.height = 1;
    for (int y = 0; y < to->height; y++, line.data += image_bytes(&line)) {
        one.data = from->data + ((size_t)(row + y) * (size_t)from->width + (size_t)column) *
                                    (size_t)from->channels;
        image_convert(&one, &line);
    }
}
