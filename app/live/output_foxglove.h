/*
 * --out foxglove: a server on the network, of Foxglove's WebSocket protocol (subprotocols
 * foxglove.websocket.v1 and foxglove.sdk.v1, github.com/foxglove/ws-protocol) and, on the same
 * port, of a page that shows pictures, depth and settings in a browser. A thread of its own serves
 * all clients: topics that nobody has subscribed to are not computed, and of each topic a client
 * gets the newest message that its connection has room for.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/output.h"

#define OUTPUT_FOXGLOVE_PREFIX "foxglove:"

struct output_foxglove;

/* Listens at "foxglove:PORT" on this machine alone, at "foxglove:ADDRESS:PORT" there. NULL and the
 * exit code after a log line. */
struct output_foxglove *output_foxglove_open(const struct output_options *options,
                                             const struct output_about *about, int *code);

/* Takes the reference. One thread. */
void output_foxglove_give(struct output_foxglove *server, struct frame *frame);

/* sent: frames that were offered to the clients. */
void output_foxglove_get_status(struct output_foxglove *server, struct output_status *status);

/* As output_take_params. */
bool output_foxglove_take_params(struct output_foxglove *server, struct params *params);

/* Closes all connections and frees all. */
void output_foxglove_close(struct output_foxglove *server);
