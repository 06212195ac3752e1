/* capture/record/recorder_format.h. videoconvert only moves samples to other places here: each
 * pair of formats holds the same ones. SPDX-License-Identifier: MIT */
#include "capture/record/recorder_format.h"

#include "image/pixel_format.h"
#include "capture/source_private.h"

#include <stdbool.h>
#include <string.h>

/* Every picture is a key picture, so seeking and a file that was cut off lose nothing. */
#define FFV1(format)                                                                          \
    "videoconvert matrix-mode=none chroma-mode=none dither=none ! video/x-raw,format=" format \
    " ! avenc_ffv1 gop-size=1"

static const struct {
    uint32_t fourcc;
    GstVideoFormat format;
    bool matroska;       /* can hold it uncompressed */
    const char *encoder; /* to what has the same samples and FFV1 takes */
} formats[] = {{PIXEL_YUYV, GST_VIDEO_FORMAT_YUY2, 1, FFV1("Y42B")},
               {PIXEL_UYVY, GST_VIDEO_FORMAT_UYVY, 1, FFV1("Y42B")},
               {PIXEL_NV12, GST_VIDEO_FORMAT_NV12, 0, FFV1("I420")},
               {PIXEL_GREY, GST_VIDEO_FORMAT_GRAY8, 1, FFV1("GRAY8")},
               {PIXEL_Y16, GST_VIDEO_FORMAT_GRAY16_LE, 0, FFV1("GRAY16_LE")},
               {PIXEL_Y10, GST_VIDEO_FORMAT_GRAY16_LE, 0, FFV1("GRAY16_LE")},
               {PIXEL_Y12, GST_VIDEO_FORMAT_GRAY16_LE, 0, FFV1("GRAY16_LE")},
               {PIXEL_RGB24, GST_VIDEO_FORMAT_RGB, 1, FFV1("BGRx")}};

bool format_is_jpeg(uint32_t fourcc) {
    return fourcc == PIXEL_MJPG || fourcc == PIXEL_JPEG;
}

/* By making them, so that the first pair need not wait until the libraries are loaded. */
bool format_have_ffv1(void) {
    GstElement *encoder = gst_element_factory_make("avenc_ffv1", NULL);
    GstElement *convert = gst_element_factory_make("videoconvert", NULL);
    bool have = encoder && convert;
    if (encoder)
        gst_object_unref(gst_object_ref_sink(encoder));
    if (convert)
        gst_object_unref(gst_object_ref_sink(convert));
    return have;
}

static int find(uint32_t fourcc) {
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        if (formats[i].fourcc == fourcc)
            return (int)i;
    return -1;
}

GstVideoFormat format_stored(uint32_t fourcc, bool ffv1) {
    int i = find(fourcc);
    return i >= 0 && (ffv1 || formats[i].matroska) ? formats[i].format : GST_VIDEO_FORMAT_UNKNOWN;
}

uint32_t format_fourcc(GstVideoFormat format) {
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        if (formats[i].format == format)
            return formats[i].fourcc;
    return 0;
}

const char *format_encoder(uint32_t fourcc, bool ffv1) {
    int i = ffv1 ? find(fourcc) : -1;
    return i >= 0 ? formats[i].encoder : NULL;
}

GstCaps *format_caps(const struct raw_picture *raw, double rate) {
    bool jpeg = format_is_jpeg(raw->fourcc);
    if (rate <= 0 && !jpeg)
        rate = RATE_ASSUMED; /* an encoder wants one; what counts are the times of the pictures */
    int rate_n = rate > 0 ? (int)(rate * 1000 + 0.5) : 0; /* 0 is any */
    GstCaps *caps = gst_caps_new_simple(jpeg ? "image/jpeg" : "video/x-raw", "width", G_TYPE_INT,
                                        raw->width, "height", G_TYPE_INT, raw->height, "framerate",
                                        GST_TYPE_FRACTION, rate_n, 1000, NULL);
    if (!jpeg)
        gst_caps_set_simple(caps, "format", G_TYPE_STRING,
                            gst_video_format_to_string(format_stored(raw->fourcc, 1)), NULL);
    return caps;
}

static void copy_plane(const struct raw_picture *raw, const GstVideoInfo *info, int plane,
                       size_t bytes, guint8 *data) {
    size_t from_stride = raw->stride > 0 ? (size_t)raw->stride : bytes;
    size_t to_stride = (size_t)info->stride[plane];
    const uint8_t *from = raw->data + (plane ? from_stride * (size_t)raw->height : 0);
    int rows = plane ? (raw->height + 1) / 2 : raw->height;
    for (int y = 0; y < rows; y++)
        memcpy(data + info->offset[plane] + (size_t)y * to_stride, from + (size_t)y * from_stride,
               bytes);
}

GstBuffer *format_buffer(const struct raw_picture *raw) {
    GstVideoInfo info;
    if (format_is_jpeg(raw->fourcc))
        return gst_buffer_new_memdup(raw->data, raw->bytes);
    gst_video_info_set_format(&info, format_stored(raw->fourcc, 1), (guint)raw->width,
                              (guint)raw->height);
    struct raw_picture row = *raw;
    row.height = 1;
    row.stride = 0;
    size_t bytes = raw->fourcc == PIXEL_NV12 ? (size_t)raw->width : pixels_bytes(&row);
    if (raw->bytes < pixels_bytes(raw))
        return NULL;
    guint8 *data = g_malloc0(info.size);
    for (int plane = 0; plane < (int)GST_VIDEO_INFO_N_PLANES(&info); plane++)
        copy_plane(raw, &info, plane, bytes, data);
    return gst_buffer_new_wrapped(data, info.size);
}

int format_of_caps(const GstCaps *caps, struct raw_picture *raw) {
    *raw = (struct raw_picture){0};
    const GstStructure *structure = caps ? gst_caps_get_structure(caps, 0) : NULL;
    GstVideoInfo info;
    if (!structure)
        return -EBADMSG;
    if (gst_structure_has_name(structure, "image/jpeg")) {
        raw->fourcc = PIXEL_MJPG;
        gst_structure_get_int(structure, "width", &raw->width);
        gst_structure_get_int(structure, "height", &raw->height);
    } else if (gst_video_info_from_caps(&info, caps)) {
        raw->fourcc = format_fourcc(GST_VIDEO_INFO_FORMAT(&info));
        raw->width = GST_VIDEO_INFO_WIDTH(&info);
        raw->height = GST_VIDEO_INFO_HEIGHT(&info);
        raw->stride = GST_VIDEO_INFO_PLANE_STRIDE(&info, 0);
    }
    return raw->fourcc && raw->width > 0 && raw->height > 0 ? 0 : -EBADMSG;
}
