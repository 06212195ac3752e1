/*
 * GStreamer pipelines from their text, and what all of them need. No state; any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdbool.h>

/* Debian's package for an element or a media type that a message names; NULL: not known. */
const char *gst_launch_package(const char *message);

/* Starts GStreamer, loads the plugins of all elements and makes the pipeline. NULL, with *error and
 * no log line, where GStreamer does not start, an element is missing (*error names its package) or
 * the text is wrong. */
GstElement *gst_launch(const char *text, GError **error);

/* Makes a bin with the pads that the text leaves open, where GStreamer has been started. NULL,
 * without a log line, where an element is missing. */
GstElement *gst_launch_bin(const char *text);

/* The file of the element that is named file. */
void gst_launch_set_location(GstElement *pipeline, const char *path);

/* From now on calls probe with each buffer that passes the pad of that name. */
void gst_launch_probe_buffers(GstElement *element, const char *name, GstPadProbeCallback probe,
                              void *context);

/* Gives size and format of the pictures that come to a sink; false before the first has come. */
bool gst_launch_sink_info(GstAppSink *sink, GstVideoInfo *info);

/* ---- writing: recordings, videos, --out. One thread. */

struct gst_writer { /* zero to begin with */
    GstElement *pipeline;
    GstBus *bus;
    GstAppSrc *head[2]; /* called livestereo0 and livestereo1 in the text; a push never waits */
};

/* Makes the pipeline, and path (or NULL) the file of the element called file. False with the cause
 * in *error, without a log line. gst_writer_close() frees it in any case. */
bool gst_writer_open(struct gst_writer *writer, const char *text, const char *path, GError **error);

enum gst_writer_state { GST_WRITER_GOES_ON, GST_WRITER_ENDED, GST_WRITER_FAILED };

/* The next thing that happens to it within that time; *error gets the cause of a failure. */
enum gst_writer_state gst_writer_look(const struct gst_writer *writer, GstClockTime wait,
                                      GError **error);

/* Nothing more is pushed; gst_writer_look() tells when all is written. */
void gst_writer_end(struct gst_writer *writer);

void gst_writer_close(struct gst_writer *writer);
