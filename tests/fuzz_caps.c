/*
 * The caps of a recording's tracks, of any content, and the bytes of a picture behind them: what is
 * taken for a format of ours is decoded within its bounds. SPDX-License-Identifier: MIT
 */
#include "capture/record/recorder_format.h"
#include "image/mjpeg.h"
#include "image/pixel_format.h"
#include "tests/fuzz.h"

enum { SIDE = 64 };

static void decode(struct raw_picture *raw, const uint8_t *data, size_t size) {
    static struct mjpeg *mjpeg;
    const struct pixel_format *format = pixel_format_find(raw->fourcc);
    struct image image = {NULL, raw->width, raw->height, format && format->channels == 1 ? 1 : 3};
    if (!mjpeg)
        mjpeg = mjpeg_open();
    if (raw->width > SIDE || raw->height > SIDE)
        return;
    image.data = malloc(image_bytes(&image));
    raw->data = data;
    raw->bytes = size;
    int error = pixels_decode(raw, mjpeg, &image);
    assert(error <= 0);
    free(image.data);
}

/* "FORMAT;WIDTH;HEIGHT", where the format "jpeg" is JPEG's, up to the first 0; the picture follows.
 * Caps as text are GStreamer's to parse. */
static GstCaps *make_caps(const char *text) {
    g_auto(GStrv) part = g_strsplit(text, ";", 3);
    if (g_strv_length(part) < 3 || !g_utf8_validate(text, -1, NULL))
        return NULL;
    int width = (int)g_ascii_strtoll(part[1], NULL, 10);
    int height = (int)g_ascii_strtoll(part[2], NULL, 10);
    if (strcmp(part[0], "jpeg") == 0)
        return gst_caps_new_simple("image/jpeg", "width", G_TYPE_INT, width, "height", G_TYPE_INT,
                                   height, NULL);
    return gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, part[0], "width", G_TYPE_INT,
                               width, "height", G_TYPE_INT, height, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = memchr(data, 0, size);
    struct raw_picture raw;
    fuzz_quietly();
    if (!gst_is_initialized())
        gst_init(NULL, NULL);
    size_t length = end ? (size_t)(end - data) : size, rest = end ? size - length - 1 : 0;
    g_autofree char *text = g_strndup((const char *)data, length);
    GstCaps *caps = make_caps(text);
    if (caps && format_of_caps(caps, &raw) == 0) {
        assert(raw.width > 0 && raw.height > 0 && raw.fourcc);
        uint8_t *picture = fuzz_copy(data, size, length + 1);
        decode(&raw, picture, rest);
        free(picture);
    }
    gst_clear_caps(&caps);
    return 0;
}
