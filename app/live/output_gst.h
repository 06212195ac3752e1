/*
 * --out: what is computed, into a GStreamer pipeline of the user's (a network stream, shared
 * memory, a file) or into a V4L2 device, where other programs see it as a camera. A thread of its
 * own takes the newest frame, converts it and hands it to an appsrc that keeps one; a receiver that
 * is slow costs frames, one that fails is started again, one that hangs is left behind at the end.
 * Whoever gives frames never waits.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_OUTPUT_GST_H
#define LIVESTEREO_OUTPUT_GST_H

#include "calibration/depth.h"
#include "image/frame.h"

#include <glib.h>
#include <stdbool.h>

/* Zero to begin with. */
struct output_options {
    char *pipeline; /* --out, "gst:..." or "v4l2:..." */
    char *what;     /* --out-what */
};

enum { OUTPUT_ENTRIES = 2 };

/* OUTPUT_ENTRIES entries of a command's option table, before its end. */
#define OUTPUT_OPTION_ENTRIES(o)                                                                  \
    {"out",                                                                                       \
     0,                                                                                           \
     0,                                                                                           \
     G_OPTION_ARG_STRING,                                                                         \
     &(o)->pipeline,                                                                              \
     "Send what is computed on, into a GStreamer pipeline or a V4L2 device (newest frame first)", \
     "gst:PIPELINE|v4l2:DEVICE"},                                                                 \
    {                                                                                             \
        "out-what", 0, 0, G_OPTION_ARG_STRING, &(o)->what,                                        \
            "What --out sends: color (the default), disparity (16 bit, px * 256), depth (16 bit," \
            " mm), left",                                                                         \
            "WHAT"                                                                                \
    }

#define OUTPUT_FRAMES 2 /* of the pool that it may hold: one waits, one is converted */

struct output_about {
    int width, height, channels;           /* of the frames */
    double rate;                           /* 0 unknown */
    const struct depth_geometry *geometry; /* NULL or not metric: depth is refused */
    int mode;                              /* MODE_*: motion has colours alone */
};

struct output_status {
    long given, sent; /* frames; sent: the pipeline has taken them. The rest was overtaken */
    bool failed;      /* it stands still after an error and will be started again, or has ended */
};

struct output;

/* Without --out: NULL and *code EXIT_DONE. Else NULL and the exit code after a log line. */
struct output *output_open(const struct output_options *options, const struct output_about *about,
                           int *code);

/* Takes a reference of its own. One thread; NULL is fine. */
void output_give(struct output *output, struct frame *frame);

void output_get_status(struct output *output, struct output_status *status);

/* A line for the report of a run, to stdout; NULL prints nothing. */
void output_print(struct output *output);

/* Lets the receiver finish its file for a few seconds. Clears the pointer; NULL inside is fine. */
void output_close(struct output **output);

#endif
