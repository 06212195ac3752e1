/*
 * Writes pictures to a video file through GStreamer: H.264 in MP4 where x264enc is installed, else
 * VP8 in WebM. Used by one thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

struct video_writer;

/* Begins the file base + ".mp4" or ".webm", which is not there yet, of RGB pictures of width x
 * height, both even and at least 16, with rate pictures per second. NULL after a log line. */
struct video_writer *video_writer_open(const char *base, int width, int height, double rate);

/* The file's path; the writer's. */
const char *video_writer_path(const struct video_writer *writer);

/* Adds a picture; waits while the encoder is behind. 0, or after a log line -EINVAL where it has
 * another size, or -EIO. */
int video_writer_add(struct video_writer *writer, const struct image *picture);

/* Writes what is left and frees the writer; without a picture, or where keep is 0, the file is
 * removed. 0, or -EIO after a log line. */
int video_writer_close(struct video_writer **writer, int keep);
