/*
 * Reads MCAP files (mcap.dev/spec, version 0): the messages of each channel by number. Chunks may
 * be plain, lz4 or zstd; a file without a summary or without indices, as a recorder leaves it that
 * was stopped, is read to its end. Used by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MCAP_H
#define LIVESTEREO_MCAP_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

struct mcap;

struct mcap_message {
    int64_t log_ns;
    uint64_t offset; /* of its record in the block */
    guint block;     /* number of a chunk, or of a message outside of chunks */
};

struct mcap_channel {
    uint16_t id, schema_id;
    char *topic, *encoding, *schema; /* schema: the name of the messages' type */
    GArray *messages;                /* struct mcap_message, by log_ns */
};

/* Opens a file and lists its messages. NULL after a log line; *error gets -errno. */
struct mcap *mcap_open(const char *path, int *error);
void mcap_close(struct mcap **mcap);

/* Those that have messages, in the order of their numbers; struct mcap_channel. */
const GArray *mcap_channels(const struct mcap *mcap);

/* The bytes of a message of a channel; they are mcap's, until the next call. 0, or -errno after a
 * log line: -EBADMSG where it is damaged; of a damaged chunk there is one line. */
int mcap_read(struct mcap *mcap, const struct mcap_channel *channel, guint index,
              const uint8_t **data, size_t *size);

#endif
