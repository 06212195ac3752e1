/*
 * MCAP for capture/ros/ros_file.c: a file is records of a byte (its kind), a length and contents; a
 * chunk holds records in its turn, compressed. SPDX-License-Identifier: MIT
 */
#include "capture/ros/ros_file_private.h"

#include <stdlib.h>

enum record_kind {
    RECORD_FOOTER = 2,
    RECORD_SCHEMA = 3,
    RECORD_CHANNEL = 4,
    RECORD_MESSAGE = 5,
    RECORD_CHUNK = 6,
    RECORD_MESSAGE_INDEX = 7
};
enum {
    RECORD_HEAD = 9,     /* bytes */
    MESSAGE_HEAD = 22,   /* bytes before what is in a message */
    CHUNK_HEAD_MAX = 128 /* bytes before the records of a chunk */
};

/* A name that is too long is none. */
static char *take_string(struct byte_reader *r) {
    uint64_t length = take_number(r, 4);
    const uint8_t *text = take_bytes(r, length);
    r->failed |= length > MAX_NAME;
    return r->failed ? NULL : g_strndup((const char *)text, length);
}

static void take_schema(struct ros_file *f, struct byte_reader *r) {
    gpointer id = GUINT_TO_POINTER((guint)take_number(r, 2) + 1);
    g_autofree char *name = take_string(r);
    if (name && !g_hash_table_contains(f->schemas, id))
        g_hash_table_insert(f->schemas, id, g_steal_pointer(&name));
}

static void take_channel(struct ros_file *f, struct byte_reader *r) {
    uint16_t id = (uint16_t)take_number(r, 2), schema = (uint16_t)take_number(r, 2);
    g_autofree char *topic = take_string(r);
    g_autofree char *encoding = take_string(r);
    if (r->failed)
        return;
    struct ros_channel *channel = ros_file_channel(f, id);
    if (channel->topic)
        return;
    channel->schema_id = schema;
    channel->topic = g_steal_pointer(&topic);
    channel->encoding = g_steal_pointer(&encoding);
}

static void take_index(struct ros_file *f, struct byte_reader *r, guint block) {
    uint16_t id = (uint16_t)take_number(r, 2);
    uint64_t count = take_number(r, 4) / 16;
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        uint64_t log_ns = take_number(r, 8), offset = take_number(r, 8);
        if (!r->failed)
            ros_file_add_message(f, id, log_ns, block, offset);
    }
    g_array_index(f->blocks, struct block, block).indexed = true;
}

/* Notes where the records of a chunk are, which begins at this byte. */
static int take_chunk(struct ros_file *f, uint64_t at, uint64_t length) {
    uint8_t head[CHUNK_HEAD_MAX];
    uint64_t size = MIN(length, sizeof head);
    int error = ros_file_bytes(f, at, size, head);
    if (error)
        return error;
    struct byte_reader r = {head, (size_t)size, 0, false};
    take_bytes(&r, 16); /* times of its first and last message */
    struct block chunk = {.size = take_number(&r, 8)};
    chunk.crc = (uint32_t)take_number(&r, 4);
    g_autofree char *compression = take_string(&r);
    chunk.length = take_number(&r, 8);
    chunk.at = at + r.at;
    if (r.failed || chunk.length > length - r.at)
        return ros_file_damaged(f, at, "a chunk is longer than its record");
    return ros_file_add_chunk(f, &chunk, compression);
}

/* A schema, a channel or an index of messages in the chunk before it. */
static int take_record(struct ros_file *f, enum record_kind kind, uint64_t at, uint64_t length) {
    uint8_t *bytes;
    int error = ros_file_record(f, at, length, &bytes);
    struct byte_reader r = {bytes, (size_t)length, 0, false};
    guint blocks = f->blocks->len;
    if (error)
        return error;
    if (kind == RECORD_SCHEMA)
        take_schema(f, &r);
    else if (kind == RECORD_CHANNEL)
        take_channel(f, &r);
    else if (blocks && g_array_index(f->blocks, struct block, blocks - 1).is_chunk)
        take_index(f, &r, blocks - 1);
    free(bytes);
    return r.failed ? ros_file_damaged(f, at, "a record is cut") : 0;
}

static int take_loose_message(struct ros_file *f, uint64_t at, uint64_t length) {
    uint8_t head[MESSAGE_HEAD];
    struct byte_reader r = {head, sizeof head, 0, false};
    if (length < sizeof head || length > MAX_BLOCK - RECORD_HEAD)
        return ros_file_damaged(f, at, "a message has no such length");
    int error = ros_file_bytes(f, at, sizeof head, head);
    if (error)
        return error;
    struct block block = {.at = at - RECORD_HEAD,
                          .length = length + RECORD_HEAD,
                          .size = length + RECORD_HEAD,
                          .part = f->part_number,
                          .compression = PLAIN};
    uint16_t id = (uint16_t)take_number(&r, 2);
    take_bytes(&r, 4);
    if (!ros_file_wants(f, id) || f->messages > MAX_MESSAGES)
        return 0;
    ros_file_add_message(f, id, take_number(&r, 8), f->blocks->len, 0);
    g_array_append_val(f->blocks, block);
    return 0;
}

static int scan(struct ros_file *f) {
    uint64_t at = mcap_format.start_size;
    int error = 0;
    uint8_t head[RECORD_HEAD];
    uint64_t bytes = f->part->bytes;
    while (!error && bytes - at >= sizeof head) {
        error = ros_file_bytes(f, at, sizeof head, head);
        struct byte_reader r = {head, sizeof head, 0, false};
        enum record_kind kind = (enum record_kind)take_number(&r, 1);
        uint64_t length = take_number(&r, 8);
        at += sizeof head;
        if (error || kind == RECORD_FOOTER)
            return error;
        if (length > bytes - at)
            break;
        if (kind == RECORD_CHUNK)
            error = take_chunk(f, at, length);
        else if (kind == RECORD_MESSAGE)
            error = take_loose_message(f, at, length);
        else if (kind == RECORD_SCHEMA || kind == RECORD_CHANNEL || kind == RECORD_MESSAGE_INDEX)
            error = take_record(f, kind, at, length);
        at += length;
    }
    if (!error)
        ros_file_no_end(f, at != bytes);
    return error;
}

static void look_into(struct ros_file *f, guint number, const uint8_t *data) {
    const struct block *block = &g_array_index(f->blocks, struct block, number);
    struct byte_reader all = {data, (size_t)block->size, 0, false};
    while (!all.failed && all.at < all.size) {
        uint64_t offset = all.at;
        enum record_kind kind = (enum record_kind)take_number(&all, 1);
        uint64_t length = take_number(&all, 8);
        struct byte_reader r = {take_bytes(&all, length), (size_t)length, 0, all.failed};
        if (kind == RECORD_SCHEMA)
            take_schema(f, &r);
        else if (kind == RECORD_CHANNEL)
            take_channel(f, &r);
        else if (kind == RECORD_MESSAGE && !block->indexed &&
                 length >= MESSAGE_HEAD + MIN_MESSAGE) {
            uint16_t id = (uint16_t)take_number(&r, 2);
            take_bytes(&r, 4);
            uint64_t log_ns = take_number(&r, 8);
            if (!r.failed && ros_file_wants(f, id))
                ros_file_add_message(f, id, log_ns, number, offset);
        }
    }
}

static const uint8_t *find(struct byte_reader *block, uint16_t *id, size_t *size) {
    uint64_t kind = take_number(block, 1), length = take_number(block, 8);
    struct byte_reader r = {take_bytes(block, length), (size_t)length, 0, block->failed};
    *id = (uint16_t)take_number(&r, 2);
    take_bytes(&r, MESSAGE_HEAD - 2);
    *size = r.size - r.at;
    return r.failed || kind != RECORD_MESSAGE ? NULL : r.bytes + r.at;
}

const struct ros_format mcap_format = {"\x89MCAP0\r\n", 8, scan, look_into, find};
