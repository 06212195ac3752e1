/*
 * What the receivers of --out are to app/live/output.c, whose functions call theirs.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/output.h"
#include "app/live/queue.h"

#include <stdatomic.h>

#define OUTPUT_FOXGLOVE_PREFIX "foxglove:"

struct output {          /* the first member of a receiver's own struct */
    struct queue *queue; /* of one frame, the newest */
    atomic_long given, sent;
    void (*wake)(struct output *); /* after a frame was queued; these three may be NULL */
    bool (*take_params)(struct output *, struct params *);
    void (*refuse_params)(struct output *, const char *why, const struct params *in_force);
    bool (*close)(struct output *); /* and free */
};

/* foxglove:PORT on this machine alone, foxglove:ADDRESS:PORT there: a server of Foxglove's
 * WebSocket protocol (subprotocols foxglove.websocket.v1 and foxglove.sdk.v1,
 * github.com/foxglove/ws-protocol) and, on the same port, of a page that shows pictures, depth and
 * settings in a browser. A thread of its own serves all clients: topics that nobody has subscribed
 * to are not computed, and of each topic a client gets the newest message that its connection has
 * room for. sent counts the frames that were offered to the clients. */
struct output *output_foxglove_open(const struct output_options *options,
                                    const struct output_about *about, int *code);
