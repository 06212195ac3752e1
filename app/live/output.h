/*
 * --out: what is computed goes to programs that connect over the network
 * (app/live/output_foxglove.c). A receiver that is slow costs it frames; whoever gives frames never
 * waits.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/depth.h"
#include "image/frame.h"

#include <glib.h>
#include <stdbool.h>

/* Zero to begin with. */
struct output_options {
    char *place; /* --out, "foxglove:..." */
};

/* clang-format off */
/* Entries of a command's option table. */
#define OUTPUT_OPTION_ENTRIES(o) \
    {"out", 0, 0, G_OPTION_ARG_STRING, &(o)->place, \
     "Send what is computed on, newest frame first, to browsers and Foxglove on this machine " \
     "(ADDRESS:PORT: on others, too)", \
     "foxglove:PORT"}
/* clang-format on */

#define OUTPUT_FRAMES 2 /* of the pool that it may hold: one waits, one is converted */

struct output_about {
    int width, height, channels;           /* of the frames */
    double rate;                           /* 0 unknown */
    const struct depth_geometry *geometry; /* NULL or not metric: depth is refused */
    const struct params *params;           /* of the first frame; of motion only colours go out */
    const char *source;                    /* its name; lives as long as the output */
    bool live;                             /* cameras: capture times are CLOCK_MONOTONIC */
};

struct output_status {
    long given, sent; /* frames; sent: the receiver has taken them. The rest was overtaken */
};

struct output;

/* Without --out: NULL and *code EXIT_DONE. Else NULL and the exit code after a log line. */
struct output *output_open(const struct output_options *options, const struct output_about *about,
                           int *code);

/* Takes a reference of its own. One thread; NULL is fine. */
void output_give(struct output *output, struct frame *frame);

void output_get_status(struct output *output, struct output_status *status);

/* Takes into *params what a receiver has set since the last call; false: nothing. The caller
 * applies it to later frames. NULL is fine. */
bool output_take_params(struct output *output, struct params *params);

/* Tells the receiver that set parameters last why they were refused, and all which ones are in
 * force. NULL is fine. */
void output_refuse_params(struct output *output, const char *why, const struct params *in_force);

/* A line for the report of a run, to stdout; NULL prints nothing. */
void output_print(struct output *output);

/* Lets the receiver finish its file for a few seconds. Clears the pointer; NULL inside is fine.
 * False, after a log line, where what it got may lack its end. */
bool output_close(struct output **output);
