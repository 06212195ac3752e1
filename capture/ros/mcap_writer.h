/*
 * Writes MCAP files (mcap.dev/spec, version 0) of messages of ROS 2, in chunks compressed by zstd,
 * with indices. Used by one thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <glib.h>
#include <stdint.h>

struct mcap_writer;

/* A topic and the type of its messages: name, and text as .msg files define it with all that they
 * contain. */
struct mcap_topic {
    const char *topic, *type, *definition;
};

/* Begins a file of these topics, which is not there yet. NULL after a log line. */
struct mcap_writer *mcap_writer_open(const char *path, const struct mcap_topic *topics, int count);

/* Adds a message of a topic, by its number, in CDR. 0 or -errno after a log line. */
int mcap_writer_add(struct mcap_writer *writer, int topic, int64_t ns, const GByteArray *message);

/* Writes what is left and the index, unless an earlier write failed, and frees the writer; where
 * keep is 0 the file is removed. 0 or the first error, -errno, of which there was a log line. */
int mcap_writer_close(struct mcap_writer **writer, int keep);
