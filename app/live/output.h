/*
 * --out: a server of what is computed. foxglove:PORT is on this machine alone,
 * foxglove:ADDRESS:PORT there: Foxglove's WebSocket protocol (subprotocols foxglove.websocket.v1
 * and foxglove.sdk.v1, github.com/foxglove/ws-protocol) and, on the same port, a page that shows
 * pictures, depth and settings in a browser. A thread of its own serves all clients: topics that
 * nobody has subscribed to are not computed, and of each topic a client gets the newest message
 * that its connection has room for. Whoever gives frames never waits.
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
    const struct depth_geometry *geometry; /* NULL or not metric: depth is refused */
    const struct params *params;           /* of the first frame; of motion only colours go out */
    const char *source;                    /* its name; lives as long as the output */
    bool live;                             /* cameras: capture times are CLOCK_MONOTONIC */
};

struct output_status {
    long given, sent; /* frames; sent: they were offered to the clients. The rest was overtaken */
};

struct output;

/* Without --out: NULL and *code EXIT_DONE. Else NULL and the exit code after a log line. */
struct output *output_open(const struct output_options *options, const struct output_about *about,
                           int *code);

/* Takes a reference of its own. One thread; NULL is fine. */
void output_give(struct output *output, struct frame *frame);

void output_get_status(struct output *output, struct output_status *status);

/* Takes into *params what a client has set since the last call; false: nothing. The caller
 * applies it to later frames. NULL is fine. */
bool output_take_params(struct output *output, struct params *params);

/* Tells the client that set parameters last why they were refused, and all which ones are in
 * force. NULL is fine. */
void output_refuse_params(struct output *output, const char *why, const struct params *in_force);

/* A line for the report of a run, to stdout; NULL prints nothing. */
void output_print(struct output *output);

/* Clears the pointer; NULL inside is fine. */
void output_close(struct output **output);
