/*
 * How recordings keep the formats of cameras: JPEG as it came, all others as FFV1 (which loses
 * nothing) where GStreamer has it, else uncompressed. No state; the thread that gives the pairs.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/source.h"

#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdbool.h>

/* Whether pictures are stored without conversion. */
bool format_is_jpeg(uint32_t fourcc);

/* Whether GStreamer can make FFV1 here. */
bool format_have_ffv1(void);

/* GStreamer's format that stores a V4L2 format, GST_VIDEO_FORMAT_UNKNOWN where there is none; and
 * the V4L2 format of GStreamer's, 0 where there is none. Grey of 10 or 12 bits becomes Y16. */
GstVideoFormat format_stored(uint32_t fourcc, bool ffv1);
uint32_t format_fourcc(GstVideoFormat format);

/* The elements between appsrc and mux; NULL for none. */
const char *format_encoder(uint32_t fourcc, bool ffv1);

/* The caps of a track; rate 0: unknown. */
GstCaps *format_caps(const struct raw_picture *raw, double rate);

/* Fills in all of raw except its data (stride 0 for JPEG) from caps. 0, or -EBADMSG for a format
 * that recordings do not have. */
int format_of_caps(const GstCaps *caps, struct raw_picture *raw);

/* A copy in GStreamer's layout of rows; NULL if the picture has too few bytes. */
GstBuffer *format_buffer(const struct raw_picture *raw);
