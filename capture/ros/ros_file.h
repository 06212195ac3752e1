/*
 * Reads files that ROS records, by content: MCAP (mcap.dev/spec, version 0), also a folder of such
 * files, which is one recording, and the bags of ROS 1 (version 2.0); the messages of each channel
 * by number. Chunks may be plain, lz4, zstd or bz2, messages zstd; a file without a summary or
 * without indices, as a recorder leaves it that was stopped, is read to its end. What a file
 * announces is bounded: messages of pictures and cameras by number, chunks by size. Used by one
 * thread at a time.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ros_file;

/* Where a message is. */
struct ros_entry {
    int64_t log_ns;
    uint32_t offset; /* of its record in the block */
    guint block;     /* number of a chunk, or of a message outside of chunks */
};

struct ros_channel {
    uint16_t id, schema_id;        /* in the first file that has it */
    char *topic, *encoding, *type; /* encoding: "cdr" or "ros1"; type: of its messages */
    GArray *messages;              /* struct ros_entry, by log_ns */
};

/* The files of a folder that ROS 2 recorded: MCAP files with metadata.yaml or alone, as a
 * recorder leaves them that was stopped; or else what it has beside metadata.yaml. g_strfreev,
 * empty where it is no such folder. */
char **ros_file_parts(const char *folder);

/* Whether a folder is a recording of ROS 2: MCAP files alone, or metadata.yaml beside them. */
bool ros_file_is_folder(const char *path);

/* Opens a file, or such a folder, and lists its messages. NULL after a log line; *error gets
 * -errno. */
struct ros_file *ros_file_open(const char *path, int *error);
void ros_file_close(struct ros_file **file);

/* Those that have messages, in the order of their numbers; struct ros_channel. */
const GArray *ros_file_channels(const struct ros_file *file);

/* Whether a file ends within a record: after what was read, something is missing. */
bool ros_file_is_cut(const struct ros_file *file);

/* The bytes of a message of a channel; they are the file's, until the next call. 0, or -errno after
 * a log line: -EBADMSG where it is damaged; of a damaged chunk there is one line. */
int ros_file_read(struct ros_file *file, const struct ros_channel *channel, guint index,
                  const uint8_t **data, size_t *size);
