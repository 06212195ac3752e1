/*
 * How recordings keep the formats of cameras: JPEG as it came, all others as FFV1 (which loses
 * nothing) where GStreamer has it, else uncompressed. No state; the thread that gives the pairs.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RECORDER_FORMAT_H
#define LIVESTEREO_RECORDER_FORMAT_H

#include "capture/source.h"

#include <gst/gst.h>
#include <gst/video/video.h>

/* 1: as they are. */
int format_is_jpeg(uint32_t fourcc);

/* Whether GStreamer can make FFV1 here. */
int format_have_ffv1(void);

/* GStreamer's name for one of ours, GST_VIDEO_FORMAT_UNKNOWN where a file cannot hold it as it
 * is. And back, 0 for others; deeper grey comes back as Y16. */
GstVideoFormat format_stored(uint32_t fourcc, int ffv1);
uint32_t format_fourcc(GstVideoFormat format);

/* The elements between appsrc and mux; NULL for none. */
const char *format_encoder(uint32_t fourcc, int ffv1);

/* Of a track; rate 0 unknown. */
GstCaps *format_caps(const struct raw_picture *raw, double rate);

/* And back: all but the data of raw (stride 0 of a JPEG). 0, or -EBADMSG where it is none of our
 * formats. */
int format_of_caps(const GstCaps *caps, struct raw_picture *raw);

/* A copy in GStreamer's layout of rows. NULL where the picture is short. */
GstBuffer *format_buffer(const struct raw_picture *raw);

#endif
