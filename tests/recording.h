/*
 * Recordings for tests, made with GStreamer: every picture carries its number as bits in blocks and
 * its side as a grey level, so that what comes out says what it is. SPDX-License-Identifier: MIT
 */
#pragma once

#include <glib.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <string.h>

#define BLOCK 16
#define BITS 10
#define RECORDING_WIDTH (BLOCK * BITS)
#define RECORDING_HEIGHT (2 * BLOCK)
#define LEFT_GRAY 64
#define RIGHT_GRAY 192

static inline void recording_paint(guint8 *data, int stride, int column, int number, int gray) {
    for (int y = 0; y < RECORDING_HEIGHT; y++)
        for (int x = 0; x < RECORDING_WIDTH; x++) {
            int bit = number >> (x / BLOCK) & 1;
            memset(data + y * stride + 3 * (column + x), y < BLOCK ? 255 * bit : gray, 3);
        }
}

/* The number and side (grey level) in a picture of channels samples a pixel. */
static inline int recording_number(const guint8 *data, int width, int channels, int *gray) {
    int number = 0;
    for (int i = 0; i < BITS; i++)
        number |= (data[(BLOCK / 2 * width + i * BLOCK + BLOCK / 2) * channels] > 127) << i;
    *gray = data[((BLOCK + BLOCK / 2) * width + width / 2) * channels];
    return number;
}

/* A picture of that number; columns: left alone, right alone or both. */
static inline GstBuffer *recording_picture(int number, gboolean left, gboolean right) {
    int width = RECORDING_WIDTH * (left && right ? 2 : 1), stride = (3 * width + 3) / 4 * 4;
    gsize bytes = (gsize)stride * RECORDING_HEIGHT;
    guint8 *data = g_malloc0(bytes);
    if (left)
        recording_paint(data, stride, 0, number, LEFT_GRAY);
    if (right)
        recording_paint(data, stride, left ? RECORDING_WIDTH : 0, number, RIGHT_GRAY);
    return gst_buffer_new_wrapped(data, bytes);
}

/* Pushes frames pictures of number first, first + 1, ... to an appsrc. Rate 0: none is stated, and
 * times_ns are their times and that of the end. */
static inline void recording_push(GstElement *pipeline, const char *name, int frames, int rate,
                                  const GstClockTime *times_ns, gboolean left, gboolean right) {
    GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), name);
    g_autofree char *text =
        g_strdup_printf("video/x-raw,format=RGB,width=%d,height=%d,framerate=%d/1",
                        RECORDING_WIDTH * (left && right ? 2 : 1), RECORDING_HEIGHT, rate);
    GstCaps *caps = gst_caps_from_string(text);
    g_object_set(source, "caps", caps, "max-bytes", (guint64)0, NULL);
    for (int i = 0; i < frames; i++) {
        GstBuffer *buffer = recording_picture(i, left, right);
        if (rate > 0) {
            GST_BUFFER_PTS(buffer) = gst_util_uint64_scale((guint64)i, GST_SECOND, (guint64)rate);
            GST_BUFFER_DURATION(buffer) = GST_SECOND / (guint64)rate;
        } else {
            GST_BUFFER_PTS(buffer) = times_ns[i];
            GST_BUFFER_DURATION(buffer) = times_ns[i + 1] - times_ns[i];
        }
        gst_app_src_push_buffer(GST_APP_SRC(source), buffer);
    }
    gst_app_src_end_of_stream(GST_APP_SRC(source));
    gst_caps_unref(caps);
    gst_object_unref(source);
}

/* Runs a pipeline whose appsrc elements (format=time) are called both, left or right; FALSE where
 * an element is missing. */
static inline gboolean recording_write_times(const char *launch, int frames, int rate,
                                             const GstClockTime *times_ns) {
    GError *error = NULL;
    gst_init(NULL, NULL);
    GstElement *pipeline = gst_parse_launch(launch, &error);
    if (error) {
        g_test_message("%s", error->message);
        g_clear_error(&error);
        if (pipeline)
            gst_object_unref(pipeline);
        return FALSE;
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    static const char *const names[] = {"both", "left", "right"};
    for (int i = 0; i < 3; i++) {
        GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), names[i]);
        if (!source)
            continue;
        gst_object_unref(source);
        recording_push(pipeline, names[i], frames, rate, times_ns, i != 2, i != 1);
    }
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, 600 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    gboolean good = message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (message)
        gst_message_unref(message);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
    return good;
}

static inline gboolean recording_write(const char *launch, int frames, int rate) {
    return recording_write_times(launch, frames, rate, NULL);
}
