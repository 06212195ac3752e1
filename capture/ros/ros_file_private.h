/*
 * Shared by the readers of the two forms of files that ROS records. SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/ros/byte_reader.h"
#include "capture/ros/ros_file.h"

enum {
    BLOCKS_KEPT = 4,
    BLOCKS_BYTES = 1 << 26, /* before a larger block all others are freed */
    MAX_BLOCK = 1 << 29,    /* bytes */
    MAX_RECORD = 1 << 28,   /* bytes of a record that is neither message nor chunk */
    MAX_MESSAGES = 1 << 24, /* of pictures and cameras, in a recording */
    MIN_MESSAGE = 24,       /* bytes: a shorter one holds neither */
    MAX_NAME = 255          /* bytes of a topic or a type */
};
/* Bytes that chunks without an index may hold in all, and as many more for each byte of the file:
 * they must be unpacked to see what is in them. */
#define MAX_LOOKED_INTO (1ULL << 28)
#define MAX_LOOKED_RATIO 256

enum compression { PLAIN, LZ4, ZSTD, BZ2, COMPRESSION_COUNT };

/* A block is read at once: the records of a chunk, or a record outside of chunks. */
struct block {
    uint64_t at, length, size; /* bytes: place and length in the file, length uncompressed */
    enum compression compression;
    uint32_t crc;                /* of what is in it; 0: not known */
    guint part;                  /* number of the file that has it */
    bool is_chunk, indexed, bad; /* bad: tried, and damaged */
};

struct kept_block {
    uint8_t *data; /* NULL: none */
    guint block;
    long used; /* when */
};

struct ros_file;

struct ros_format {
    const char *start; /* its first bytes */
    size_t start_size;
    /* Goes through the file's records, but not into its chunks. 0 or -errno after a log line. */
    int (*scan)(struct ros_file *file);
    /* Takes what the records in a chunk say of channels, and messages where it has no index. */
    void (*look_into)(struct ros_file *file, guint block, const uint8_t *data);
    /* The message that is next in a block, and its channel's id; NULL where that is none. */
    const uint8_t *(*find)(struct byte_reader *block, uint16_t *id, size_t *size);
};
extern const struct ros_format mcap_format, bag_format;

/* One of the files of a recording. */
struct ros_part {
    const struct ros_format *format;
    int fd;
    uint64_t bytes;
    guint numbers[UINT16_MAX + 1]; /* of the channel with this id here, + 1; 0: none */
};

struct ros_file {
    char *name;
    GPtrArray *parts;
    struct ros_part *part; /* the one at hand */
    guint part_number;
    GArray *channels, *blocks;
    GHashTable *schemas;    /* of this part, names by number + 1 */
    uint64_t bytes, looked; /* of all parts; unpacked to see what is in chunks */
    guint messages;
    bool cut;
    struct kept_block kept[BLOCKS_KEPT];
    uint8_t *message; /* one that was compressed by itself */
    long reads;
};

/* Logs what is damaged at a byte of the file. -EBADMSG. */
int ros_file_damaged(const struct ros_file *file, uint64_t at, const char *what);

/* Reads bytes that the file has, by its size. 0 or -errno after a log line. */
int ros_file_bytes(const struct ros_file *file, uint64_t at, uint64_t size, uint8_t *out);

/* The same into memory of its own, for free; at most MAX_RECORD. */
int ros_file_record(const struct ros_file *file, uint64_t at, uint64_t size, uint8_t **out);

/* Whether messages of this channel are listed: those of pictures and cameras, and of channels of
 * which nothing is known yet. */
bool ros_file_wants(const struct ros_file *file, uint16_t id);

/* The channel of this number. One that is not known yet gets its topic later. */
struct ros_channel *ros_file_channel(struct ros_file *file, uint16_t id);

/* Those beyond MAX_MESSAGES are counted alone. */
void ros_file_add_message(struct ros_file *file, uint16_t id, uint64_t log_ns, guint block,
                          uint64_t offset);

/* Adds a chunk, of this compression by its name. 0 or -errno after a log line. */
int ros_file_add_chunk(struct ros_file *file, struct block *chunk, const char *compression);

/* Says that the file has no end; within_record: it ends within a record. */
void ros_file_no_end(struct ros_file *file, bool within_record);
