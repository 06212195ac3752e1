/*
 * The texts of Foxglove's WebSocket protocol (github.com/foxglove/ws-protocol, docs/spec.md), and
 * those that the page reads beside it. Pure functions; texts are JSON and given back with g_free.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/save/ros_frame.h"

#include <json-glib/json-glib.h>

/* Channels are the topics of app/save/ros_frame.h and, behind them, statistics in JSON. A
 * channel's id is its number and 1. */
enum { FOXGLOVE_STATISTICS = ROS_TOPICS, FOXGLOVE_CHANNELS };

bool foxglove_has_channel(int channel, int mode, bool metric);

/* ---- what the server says */

char *foxglove_welcome(void);
char *foxglove_channels(int mode, bool metric);
char *foxglove_status(int level, const char *text); /* level: 0 information, 1 warning, 2 error */

/* The parameters that act on the next frame: those named, or all where names is NULL or empty. id
 * may be NULL. */
char *foxglove_params(const struct params *params, JsonArray *names, const char *id);

/* Prints for the page, beside the topics: geometry, errors by confidence, colours, presets, and the
 * settings that it shows. */
char *foxglove_about(const struct params *params, const struct depth_geometry *geometry,
                     const char *source);

/* frame_ms: mean time between frames, 0 unknown. */
GBytes *foxglove_statistics(const struct frame *frame, double frame_ms, int clients);

/* ---- what a client says, which may be anything */

/* The object that the text is, which belongs to the parser; NULL where it is none. */
JsonObject *foxglove_parse(JsonParser *parser, const char *text);

/* NULL or false where it is missing or of another type. */
JsonArray *foxglove_array(JsonObject *object, const char *name);
JsonObject *foxglove_object(JsonArray *array, guint i);
const char *foxglove_string(JsonObject *object, const char *name);
bool foxglove_whole(JsonNode *node, uint32_t *value);

/* Sets what an element of setParameters (NULL: no object) says: a parameter, or "preset", which
 * sets all but the range searched and the rig. 0 or -errno; why says what is wrong with it. */
int foxglove_set_param(struct params *params, JsonObject *object, char *why, size_t size);
