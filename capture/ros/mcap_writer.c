/* The functions of capture/ros/mcap_writer.h. Records are put together in memory, a chunk at a
 * time. SPDX-License-Identifier: MIT */
#include "capture/ros/mcap_writer.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { CHUNK_BYTES = 1 << 22, LEVEL = 1 /* of zstd */ };

struct mcap_writer {
    char *path;
    FILE *file;
    uint64_t at; /* bytes written */
    const struct mcap_topic *topics;
    int count;
    GByteArray *chunk, *chunk_index; /* the records at hand; ChunkIndex records so far */
    GByteArray **index;              /* of each topic's messages in the chunk: time, offset */
    int64_t first_ns, last_ns, chunk_first_ns, chunk_last_ns;
    uint64_t *messages; /* of each topic */
    uint32_t chunks;
    int error; /* the first, after which nothing is written */
};

static void put(GByteArray *to, uint64_t number, int size) {
    for (int i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)(number >> 8 * i);
        g_byte_array_append(to, &byte, 1);
    }
}

static void put_text(GByteArray *to, const char *text) {
    put(to, strlen(text), 4);
    g_byte_array_append(to, (const uint8_t *)text, (guint)strlen(text));
}

static void put_record(GByteArray *to, int kind, const GByteArray *content) {
    put(to, (uint64_t)kind, 1);
    put(to, content->len, 8);
    g_byte_array_append(to, content->data, content->len);
}

/* Adds a record and empties its content. */
static void move_record(GByteArray *to, int kind, GByteArray *content) {
    put_record(to, kind, content);
    g_byte_array_set_size(content, 0);
}

static int write_out(struct mcap_writer *w, const GByteArray *bytes) {
    if (bytes->len && fwrite(bytes->data, 1, bytes->len, w->file) != bytes->len) {
        int error = errno ? errno : EIO;
        log_error(w->path, "cannot be written: %s", strerror(error));
        return w->error = -error;
    }
    w->at += bytes->len;
    return 0;
}

static void put_topics(const struct mcap_writer *w, GByteArray *to) {
    g_autoptr(GByteArray) content = g_byte_array_new();
    for (int i = 0; i < w->count; i++) {
        put(content, (uint64_t)i + 1, 2);
        put_text(content, w->topics[i].type);
        put_text(content, "ros2msg");
        put_text(content, w->topics[i].definition);
        move_record(to, 3, content);
        put(content, (uint64_t)i + 1, 2);
        put(content, (uint64_t)i + 1, 2);
        put_text(content, w->topics[i].topic);
        put_text(content, "cdr");
        put(content, 0, 4); /* no metadata */
        move_record(to, 4, content);
    }
}

struct mcap_writer *mcap_writer_open(const char *path, const struct mcap_topic *topics, int count) {
    FILE *file;
    if (file_begin(path, &file) != 0)
        return NULL;
    struct mcap_writer *w = g_new0(struct mcap_writer, 1);
    *w = (struct mcap_writer){.path = g_strdup(path),
                              .file = file,
                              .topics = topics,
                              .count = count,
                              .chunk = g_byte_array_new(),
                              .chunk_index = g_byte_array_new(),
                              .index = g_new(GByteArray *, count),
                              .first_ns = INT64_MAX,
                              .messages = g_new0(uint64_t, count)};
    for (int i = 0; i < count; i++)
        w->index[i] = g_byte_array_new();
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(GByteArray) content = g_byte_array_new();
    g_byte_array_append(out, (const uint8_t *)"\x89MCAP0\r\n", 8);
    put_text(content, "ros2");
    put_text(content, "livestereo " LIVESTEREO_VERSION);
    put_record(out, 1, content);
    put_topics(w, out);
    if (write_out(w, out) == 0)
        return w;
    mcap_writer_close(&w, false);
    return NULL;
}

/* The chunk's record. */
static int put_chunk(struct mcap_writer *w, GByteArray *to, uint64_t *packed_bytes) {
    const GByteArray *records = w->chunk;
    g_autoptr(GByteArray) packed = g_byte_array_new();
    g_autoptr(GByteArray) content = g_byte_array_new();
    g_byte_array_set_size(packed, (guint)ZSTD_compressBound(records->len));
    size_t size = ZSTD_compress(packed->data, packed->len, records->data, records->len, LEVEL);
    if (ZSTD_isError(size)) {
        log_error(w->path, "cannot be compressed: %s", ZSTD_getErrorName(size));
        return w->error = -ENOMEM;
    }
    g_byte_array_set_size(packed, (guint)size);
    put(content, (uint64_t)w->chunk_first_ns, 8);
    put(content, (uint64_t)w->chunk_last_ns, 8);
    put(content, records->len, 8);
    put(content, crc32_z(0, records->data, records->len), 4);
    put_text(content, "zstd");
    put(content, size, 8);
    g_byte_array_append(content, packed->data, packed->len);
    put_record(to, 6, content);
    *packed_bytes = size;
    return 0;
}

/* Writes the chunk at hand, with the indices of its messages behind it. */
static int flush_chunk(struct mcap_writer *w) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(GByteArray) content = g_byte_array_new();
    g_autoptr(GByteArray) offsets = g_byte_array_new();
    uint64_t packed_bytes;
    if (w->error || w->chunk->len == 0)
        return w->error;
    int error = put_chunk(w, out, &packed_bytes);
    if (error)
        return error;
    uint64_t chunk_bytes = out->len;
    for (int i = 0; i < w->count; i++) {
        put(offsets, (uint64_t)i + 1, 2);
        put(offsets, w->at + out->len, 8);
        put(content, (uint64_t)i + 1, 2);
        put(content, w->index[i]->len, 4);
        g_byte_array_append(content, w->index[i]->data, w->index[i]->len);
        move_record(out, 7, content);
        g_byte_array_set_size(w->index[i], 0);
    }
    put(content, (uint64_t)w->chunk_first_ns, 8);
    put(content, (uint64_t)w->chunk_last_ns, 8);
    put(content, w->at, 8);
    put(content, chunk_bytes, 8);
    put(content, offsets->len, 4);
    g_byte_array_append(content, offsets->data, offsets->len);
    put(content, out->len - chunk_bytes, 8);
    put_text(content, "zstd");
    put(content, packed_bytes, 8);
    put(content, w->chunk->len, 8);
    put_record(w->chunk_index, 8, content);
    g_byte_array_set_size(w->chunk, 0);
    w->chunks++;
    return write_out(w, out);
}

int mcap_writer_add(struct mcap_writer *w, int topic, int64_t ns, const GByteArray *message) {
    g_autoptr(GByteArray) head = g_byte_array_new();
    bool first = w->chunk->len == 0;
    w->chunk_first_ns = first ? ns : MIN(w->chunk_first_ns, ns);
    w->chunk_last_ns = first ? ns : MAX(w->chunk_last_ns, ns);
    w->first_ns = MIN(w->first_ns, ns);
    w->last_ns = MAX(w->last_ns, ns);
    put(w->index[topic], (uint64_t)ns, 8);
    put(w->index[topic], w->chunk->len, 8);
    put(head, 5, 1);
    put(head, 22 + (uint64_t)message->len, 8);
    put(head, (uint64_t)topic + 1, 2);
    put(head, w->messages[topic]++, 4);
    put(head, (uint64_t)ns, 8);
    put(head, (uint64_t)ns, 8);
    g_byte_array_append(w->chunk, head->data, head->len);
    g_byte_array_append(w->chunk, message->data, message->len);
    return w->chunk->len < CHUNK_BYTES ? 0 : flush_chunk(w);
}

static void put_statistics(const struct mcap_writer *w, GByteArray *to) {
    g_autoptr(GByteArray) content = g_byte_array_new();
    uint64_t all = 0;
    for (int i = 0; i < w->count; i++)
        all += w->messages[i];
    put(content, all, 8);
    put(content, (uint64_t)w->count, 2); /* schemas, channels, attachments, metadata, chunks */
    put(content, (uint64_t)w->count, 4);
    put(content, 0, 8);
    put(content, w->chunks, 4);
    put(content, all ? (uint64_t)w->first_ns : 0, 8);
    put(content, (uint64_t)w->last_ns, 8);
    put(content, 10 * (uint64_t)w->count, 4);
    for (int i = 0; i < w->count; i++) {
        put(content, (uint64_t)i + 1, 2);
        put(content, w->messages[i], 8);
    }
    put_record(to, 11, content);
}

/* The end of the data, the summary and the footer. */
static int write_end(struct mcap_writer *w) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(GByteArray) content = g_byte_array_new();
    put(content, 0, 4); /* no checksum */
    move_record(out, 15, content);
    uint64_t summary = w->at + out->len;
    put_topics(w, out);
    put_statistics(w, out);
    g_byte_array_append(out, w->chunk_index->data, w->chunk_index->len);
    put(content, summary, 8);
    put(content, 0, 8); /* no offsets of groups */
    put(content, 0, 4); /* no checksum */
    put_record(out, 2, content);
    g_byte_array_append(out, (const uint8_t *)"\x89MCAP0\r\n", 8);
    return write_out(w, out);
}

int mcap_writer_close(struct mcap_writer **writer, int keep) {
    struct mcap_writer *w = *writer;
    *writer = NULL;
    if (!w)
        return 0;
    int error = w->error;
    if (keep)
        error = flush_chunk(w) ?: write_end(w);
    else
        file_remove(w->path, w->file);
    if (fclose(w->file) != 0 && !error) {
        error = -errno;
        log_error(w->path, "cannot be written: %s", strerror(errno));
    }
    for (int i = 0; i < w->count; i++)
        g_byte_array_unref(w->index[i]);
    g_byte_array_unref(w->chunk);
    g_byte_array_unref(w->chunk_index);
    g_free(w->index);
    g_free(w->messages);
    g_free(w->path);
    g_free(w);
    return error;
}
