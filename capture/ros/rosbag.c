/*
 * Bags of ROS 1, version 2.0 (wiki.ros.org/Bags/Format/2.0), for capture/ros/ros_file.c: a file is
 * records of a head, which is fields "name=value", and data. SPDX-License-Identifier: MIT
 */
#include "capture/ros/ros_file_private.h"

#include <stdlib.h>

enum record_kind { RECORD_MESSAGE = 2, RECORD_INDEX = 4, RECORD_CHUNK = 5, RECORD_CONNECTION = 7 };
enum { HEAD_MAX = 65536 /* bytes */, INDEX_ENTRY = 12 };

/* The fields of a head, 0 where they are missing. */
struct head {
    enum record_kind kind;
    uint64_t connection, size, time_ns;
    char topic[1024], type[256], compression[16];
};

static void copy_text(char *out, size_t size, const uint8_t *text, uint64_t length) {
    size_t cut = (size_t)MIN(length, size - 1);
    memcpy(out, text, cut);
    out[cut] = '\0';
}

/* Seconds and nanoseconds, of 4 bytes each. */
static uint64_t take_time(struct byte_reader *r) {
    uint64_t seconds = take_number(r, 4);
    return seconds * 1000000000 + take_number(r, 4);
}

/* Adds what fields say, in a head or in the data of a connection. */
static void take_fields(struct byte_reader *r, struct head *head) {
    while (!r->failed && r->at < r->size) {
        uint64_t length = take_number(r, 4);
        const uint8_t *field = take_bytes(r, length);
        const uint8_t *equals = field ? memchr(field, '=', (size_t)length) : NULL;
        if (!equals)
            continue;
        size_t name = (size_t)(equals - field), size = (size_t)length - name - 1;
        struct byte_reader value = {equals + 1, size, 0, false};
        if (name == 2 && memcmp(field, "op", 2) == 0)
            head->kind = (enum record_kind)take_number(&value, 1);
        else if (name == 4 && memcmp(field, "conn", 4) == 0)
            head->connection = take_number(&value, 4);
        else if (name == 4 && memcmp(field, "size", 4) == 0)
            head->size = take_number(&value, 4);
        else if (name == 4 && memcmp(field, "time", 4) == 0)
            head->time_ns = take_time(&value);
        else if (name == 5 && memcmp(field, "topic", 5) == 0)
            copy_text(head->topic, sizeof head->topic, value.bytes, size);
        else if (name == 4 && memcmp(field, "type", 4) == 0)
            copy_text(head->type, sizeof head->type, value.bytes, size);
        else if (name == 11 && memcmp(field, "compression", 11) == 0)
            copy_text(head->compression, sizeof head->compression, value.bytes, size);
        r->failed |= value.failed;
    }
}

/* The next record of a block: its head and its data. */
static struct byte_reader take_record(struct byte_reader *all, struct head *head) {
    *head = (struct head){0};
    uint64_t length = take_number(all, 4);
    struct byte_reader fields = {take_bytes(all, length), (size_t)length, 0, all->failed};
    take_fields(&fields, head);
    uint64_t size = take_number(all, 4);
    const uint8_t *data = take_bytes(all, size);
    return (struct byte_reader){data, (size_t)size, 0, all->failed || fields.failed};
}

static void take_connection(struct ros_file *f, struct head *head, struct byte_reader *data) {
    g_autofree char *topic = g_strdup(head->topic); /* its data has the publisher's name for it */
    take_fields(data, head);
    if (data->failed || head->connection > UINT16_MAX)
        return;
    struct ros_channel *channel = ros_file_channel(f, (uint16_t)head->connection);
    if (channel->topic)
        return;
    channel->topic = g_steal_pointer(&topic);
    channel->type = g_strdup(head->type);
    channel->encoding = g_strdup("ros1");
}

static void take_index(struct ros_file *f, const struct head *head, struct byte_reader *data,
                       guint block) {
    while (data->size - data->at >= INDEX_ENTRY && head->connection <= UINT16_MAX) {
        uint64_t time_ns = take_time(data), offset = take_number(data, 4);
        ros_file_add_message(f, (uint16_t)head->connection, time_ns, block, offset);
    }
    g_array_index(f->blocks, struct block, block).indexed = true;
}

/* An index of messages in the chunk before it, or a connection, whose data begin at this byte. */
static int take_outer(struct ros_file *f, struct head *head, uint64_t at, uint64_t size) {
    uint8_t *bytes;
    int error = ros_file_record(f, at, size, &bytes);
    struct byte_reader data = {bytes, (size_t)size, 0, false};
    if (error)
        return error;
    if (head->kind == RECORD_CONNECTION)
        take_connection(f, head, &data);
    else if (f->blocks->len)
        take_index(f, head, &data, f->blocks->len - 1);
    free(bytes);
    return data.failed ? ros_file_damaged(f, at, "a record is cut") : 0;
}

/* The record at *at, which then is the one behind it. 1 where the file ends within it. */
static int scan_record(struct ros_file *f, uint64_t *at) {
    uint8_t number[4], *bytes;
    struct head head = {0};
    int error = ros_file_bytes(f, *at, sizeof number, number);
    struct byte_reader r = {number, sizeof number, 0, false};
    uint64_t length = take_number(&r, 4);
    *at += sizeof number;
    if (error)
        return error;
    if (length > HEAD_MAX)
        return ros_file_damaged(f, *at, "a record has no such head");
    if (length + sizeof number > f->part->bytes - *at)
        return 1;
    error = ros_file_record(f, *at, length + sizeof number, &bytes);
    if (error)
        return error;
    struct byte_reader fields = {bytes, (size_t)length, 0, false};
    take_fields(&fields, &head);
    r = (struct byte_reader){bytes + length, sizeof number, 0, false};
    uint64_t size = take_number(&r, 4);
    free(bytes);
    *at += length + sizeof number;
    if (fields.failed)
        return ros_file_damaged(f, *at, "a record's head is cut");
    if (size > f->part->bytes - *at)
        return 1;
    struct block chunk = {.at = *at, .length = size, .size = head.size};
    if (head.kind == RECORD_CHUNK)
        error = ros_file_add_chunk(f, &chunk, head.compression);
    else if (head.kind == RECORD_INDEX || head.kind == RECORD_CONNECTION)
        error = take_outer(f, &head, *at, size);
    *at += size;
    return error;
}

static int scan(struct ros_file *f) {
    uint64_t at = bag_format.start_size;
    int error = 0;
    while (!error && f->part->bytes - at >= 4)
        error = scan_record(f, &at);
    if (error == 1 || (!error && f->part->bytes != at))
        ros_file_no_end(f, true);
    return MIN(error, 0);
}

static void look_into(struct ros_file *f, guint number, const uint8_t *bytes) {
    const struct block *block = &g_array_index(f->blocks, struct block, number);
    struct byte_reader all = {bytes, (size_t)block->size, 0, false};
    while (!all.failed && all.at < all.size) {
        struct head head;
        uint64_t offset = all.at;
        struct byte_reader data = take_record(&all, &head);
        if (data.failed)
            return;
        if (head.kind == RECORD_CONNECTION)
            take_connection(f, &head, &data);
        else if (head.kind == RECORD_MESSAGE && !block->indexed && head.connection <= UINT16_MAX &&
                 data.size >= MIN_MESSAGE && ros_file_wants(f, (uint16_t)head.connection))
            ros_file_add_message(f, (uint16_t)head.connection, head.time_ns, number, offset);
    }
}

static const uint8_t *find(struct byte_reader *block, uint16_t *id, size_t *size) {
    struct head head;
    struct byte_reader data = take_record(block, &head);
    *size = data.size;
    *id = (uint16_t)MIN(head.connection, UINT16_MAX);
    return data.failed || head.kind != RECORD_MESSAGE ? NULL : data.bytes;
}

const struct ros_format bag_format = {"#ROSBAG V2.0\n", 13, scan, look_into, find};
