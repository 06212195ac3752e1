/*
 * --out gst: and v4l2: what is computed, into a GStreamer pipeline of the user's (a network
 * stream, shared memory, a file) or into a V4L2 device, where other programs see it as a camera. A
 * thread of its own takes the newest frame, converts it and hands it to an appsrc that keeps one; a
 * receiver that is slow costs frames, one that fails is started again, one that hangs is left
 * behind at the end. Whoever gives frames never waits.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/output.h"

struct output_gst;

/* NULL and the exit code after a log line. */
struct output_gst *output_gst_open(const struct output_options *options,
                                   const struct output_about *about, int *code);

/* Takes the reference. One thread. */
void output_gst_give(struct output_gst *output, struct frame *frame);

void output_gst_get_status(struct output_gst *output, struct output_status *status);

/* Lets the receiver finish its file for a few seconds and frees all. False, after a log line, where
 * what it got may lack its end. */
bool output_gst_close(struct output_gst *output);
