/*
 * GStreamer pipelines from their text. No state; any thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_GST_LAUNCH_H
#define LIVESTEREO_GST_LAUNCH_H

#include <gst/gst.h>

/* Starts GStreamer, loads the plugins of all elements and makes the pipeline. NULL, with *error and
 * no log line, where GStreamer does not start, an element is missing or the text is wrong. */
GstElement *gst_launch(const char *text, GError **error);

/* Makes a bin with the pads that the text leaves open, where GStreamer has been started. NULL,
 * without a log line, where an element is missing. */
GstElement *gst_launch_bin(const char *text);

#endif
