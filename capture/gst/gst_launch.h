/*
 * GStreamer pipelines from their text, and what all of them need. No state; any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <gst/app/gstappsink.h>
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

/* What the pictures that come to a sink are like; false before the first has come. */
bool gst_launch_sink_info(GstAppSink *sink, GstVideoInfo *info);
