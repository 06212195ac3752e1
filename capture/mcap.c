/*
 * The functions of capture/mcap.h. A file is records of a byte (its kind), a length and contents; a
 * chunk holds records in its turn, compressed. SPDX-License-Identifier: MIT
 */
#include "capture/mcap.h"

#include "capture/byte_reader.h"
#include "config/log.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum record_kind {
    RECORD_FOOTER = 2,
    RECORD_SCHEMA = 3,
    RECORD_CHANNEL = 4,
    RECORD_MESSAGE = 5,
    RECORD_CHUNK = 6,
    RECORD_MESSAGE_INDEX = 7
};
enum {
    RECORD_HEAD = 9,      /* bytes */
    MESSAGE_HEAD = 22,    /* bytes before what is in a message */
    CHUNK_HEAD_MAX = 128, /* bytes before the records of a chunk */
    BLOCKS_KEPT = 4,
    BLOCKS_BYTES = 1 << 26, /* a block of more is kept alone */
    MAX_BLOCK = 1 << 29,    /* bytes */
    MAX_INDEX = 1 << 28     /* bytes of a record that is neither message nor chunk */
};
static const uint8_t magic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

enum compression { PLAIN, LZ4, ZSTD, COMPRESSION_COUNT };
static const char *const compression_names[COMPRESSION_COUNT] = {"", "lz4", "zstd"};

/* What is read at once: the records of a chunk, or a record outside of chunks. */
struct block {
    uint64_t at, length, size; /* bytes: place and length in the file, length uncompressed */
    enum compression compression;
    uint32_t crc;                /* of what is in it; 0: not known */
    bool is_chunk, indexed, bad; /* bad: tried, and damaged */
};

struct kept_block {
    uint8_t *data; /* NULL: none */
    guint block;
    long used; /* when */
};

struct mcap {
    char *name;
    int fd;
    uint64_t bytes;
    GArray *channels, *blocks;
    GHashTable *schemas;           /* names by number + 1 */
    guint numbers[UINT16_MAX + 1]; /* of the channel with this id, + 1; 0: none */
    struct kept_block kept[BLOCKS_KEPT];
    long reads;
};

static struct mcap_channel *channel_at(const struct mcap *m, guint i) {
    return &g_array_index(m->channels, struct mcap_channel, i);
}

static const struct block *block_at(const struct mcap *m, guint i) {
    return &g_array_index(m->blocks, struct block, i);
}

static int damaged(const struct mcap *m, uint64_t at, const char *what) {
    log_error(m->name, "is damaged: %s at byte %llu", what, (unsigned long long)at);
    return -EBADMSG;
}

/* Reads bytes that the file has, by its size. 0 or -errno after a log line. */
static int read_at(const struct mcap *m, uint64_t at, uint64_t size, uint8_t *out) {
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pread(m->fd, out + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            int error = got < 0 ? errno : EIO;
            log_error(m->name, "cannot be read: %s", strerror(error));
            return -error;
        }
        done += (uint64_t)got;
    }
    return 0;
}

/* ---- what records say */

static char *take_string(struct byte_reader *r) {
    uint64_t length = take_number(r, 4);
    const uint8_t *text = take_bytes(r, length);
    return text ? g_strndup((const char *)text, length) : NULL;
}

static void clear_channel(void *of) {
    struct mcap_channel *channel = of;
    g_free(channel->topic);
    g_free(channel->encoding);
    g_free(channel->schema);
    g_array_free(channel->messages, TRUE);
}

/* The channel of this number. One that is not known yet gets its topic later. */
static struct mcap_channel *find_channel(struct mcap *m, uint16_t id) {
    if (m->numbers[id])
        return channel_at(m, m->numbers[id] - 1);
    struct mcap_channel channel = {
        .id = id, .messages = g_array_new(FALSE, FALSE, sizeof(struct mcap_message))};
    g_array_append_val(m->channels, channel);
    m->numbers[id] = m->channels->len;
    return channel_at(m, m->channels->len - 1);
}

static void take_schema(struct mcap *m, struct byte_reader *r) {
    gpointer id = GUINT_TO_POINTER((guint)take_number(r, 2) + 1);
    char *name = take_string(r);
    if (name && !g_hash_table_contains(m->schemas, id))
        g_hash_table_insert(m->schemas, id, name);
    else
        g_free(name);
}

static void take_channel(struct mcap *m, struct byte_reader *r) {
    uint16_t id = (uint16_t)take_number(r, 2), schema = (uint16_t)take_number(r, 2);
    g_autofree char *topic = take_string(r);
    g_autofree char *encoding = take_string(r);
    if (r->failed)
        return;
    struct mcap_channel *channel = find_channel(m, id);
    if (channel->topic)
        return;
    channel->schema_id = schema;
    channel->topic = g_steal_pointer(&topic);
    channel->encoding = g_steal_pointer(&encoding);
}

static void add_message(struct mcap *m, uint16_t id, uint64_t log_ns, guint block,
                        uint64_t offset) {
    struct mcap_message message = {
        .log_ns = (int64_t)MIN(log_ns, INT64_MAX), .offset = offset, .block = block};
    g_array_append_val(find_channel(m, id)->messages, message);
}

static void take_index(struct mcap *m, struct byte_reader *r, guint block) {
    uint16_t id = (uint16_t)take_number(r, 2);
    uint64_t count = take_number(r, 4) / 16;
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        uint64_t log_ns = take_number(r, 8), offset = take_number(r, 8);
        if (!r->failed)
            add_message(m, id, log_ns, block, offset);
    }
    g_array_index(m->blocks, struct block, block).indexed = true;
}

/* ---- blocks */

static bool expand_lz4(const uint8_t *from, size_t length, uint8_t *to, size_t size) {
    LZ4F_dctx *context;
    size_t done = 0, taken = 0, wanted = 1;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return false;
    while (wanted && taken < length) {
        size_t in = length - taken, out = size - done;
        wanted = LZ4F_decompress(context, to + done, &out, from + taken, &in, NULL);
        if (LZ4F_isError(wanted) || (in == 0 && out == 0))
            break;
        taken += in;
        done += out;
    }
    LZ4F_freeDecompressionContext(context);
    return wanted == 0 && done == size;
}

/* data has room for the block's size. 0 or -errno after a log line. */
static int expand(const struct mcap *m, const struct block *block, uint8_t *data) {
    uint8_t *packed = block->compression == PLAIN ? data : malloc(block->length + 1);
    if (!packed) {
        log_error(m->name, "out of memory");
        return -ENOMEM;
    }
    int error = read_at(m, block->at, block->length, packed);
    bool whole = !error;
    if (whole && block->compression == LZ4)
        whole = expand_lz4(packed, block->length, data, block->size);
    else if (whole && block->compression == ZSTD)
        whole = ZSTD_decompress(data, block->size, packed, block->length) == block->size;
    if (packed != data)
        free(packed);
    if (whole && block->crc)
        whole = crc32_z(0, data, block->size) == block->crc;
    return error || whole ? error : damaged(m, block->at, "a chunk is not what was written");
}

/* The bytes of a block, until the next call. 0 or -errno after a log line, of a damaged block after
 * its first one. */
static int load(struct mcap *m, guint number, const uint8_t **data) {
    struct kept_block *oldest = &m->kept[0];
    for (int i = 0; i < BLOCKS_KEPT; i++) {
        struct kept_block *kept = &m->kept[i];
        if (kept->data && kept->block == number) {
            kept->used = ++m->reads;
            *data = kept->data;
            return 0;
        }
        if (kept->used < oldest->used)
            oldest = kept;
    }
    struct block *block = &g_array_index(m->blocks, struct block, number);
    if (block->bad)
        return -EBADMSG;
    for (int i = 0; i < BLOCKS_KEPT && block->size > BLOCKS_BYTES; i++)
        g_clear_pointer(&m->kept[i].data, free);
    free(oldest->data);
    *oldest = (struct kept_block){malloc(block->size + 1), number, ++m->reads};
    if (!oldest->data)
        log_error(m->name, "out of memory");
    int error = oldest->data ? expand(m, block, oldest->data) : -ENOMEM;
    if (error) {
        free(oldest->data);
        *oldest = (struct kept_block){0};
        block->bad = error == -EBADMSG;
    }
    *data = oldest->data;
    return error;
}

/* Notes where the records of a chunk are, which begins at this byte. */
static int take_chunk(struct mcap *m, uint64_t at, uint64_t length) {
    uint8_t head[CHUNK_HEAD_MAX];
    uint64_t size = MIN(length, sizeof head);
    int error = read_at(m, at, size, head);
    if (error)
        return error;
    struct byte_reader r = {head, (size_t)size, 0, false};
    take_bytes(&r, 16); /* times of its first and last message */
    struct block block = {.size = take_number(&r, 8), .is_chunk = true};
    block.crc = (uint32_t)take_number(&r, 4);
    g_autofree char *name = take_string(&r);
    block.length = take_number(&r, 8);
    block.at = at + r.at;
    if (r.failed || block.length > length - r.at)
        return damaged(m, at, "a chunk is longer than its record");
    int kind = 0;
    while (kind < COMPRESSION_COUNT && strcmp(name, compression_names[kind]) != 0)
        kind++;
    block.compression = (enum compression)kind;
    if (kind == COMPRESSION_COUNT) {
        log_error(m->name, "holds chunks of the compression \"%s\"; lz4 and zstd are read", name);
        return -ENOTSUP;
    }
    if (block.size > MAX_BLOCK || (kind == PLAIN && block.size != block.length))
        return damaged(m, at, "a chunk is too large");
    g_array_append_val(m->blocks, block);
    return 0;
}

/* A schema, a channel or an index of messages in the chunk before it. */
static int take_record(struct mcap *m, enum record_kind kind, uint64_t at, uint64_t length) {
    if (length > MAX_INDEX)
        return damaged(m, at, "a record is too large");
    uint8_t *bytes = malloc(length + 1);
    if (!bytes) {
        log_error(m->name, "out of memory");
        return -ENOMEM;
    }
    int error = read_at(m, at, length, bytes);
    struct byte_reader r = {bytes, (size_t)length, 0, false};
    guint blocks = m->blocks->len;
    if (!error && kind == RECORD_SCHEMA)
        take_schema(m, &r);
    else if (!error && kind == RECORD_CHANNEL)
        take_channel(m, &r);
    else if (!error && blocks && block_at(m, blocks - 1)->is_chunk)
        take_index(m, &r, blocks - 1);
    free(bytes);
    return !error && r.failed ? damaged(m, at, "a record is cut") : error;
}

static int take_loose_message(struct mcap *m, uint64_t at, uint64_t length) {
    uint8_t head[MESSAGE_HEAD];
    struct byte_reader r = {head, sizeof head, 0, false};
    if (length < sizeof head || length > MAX_BLOCK)
        return damaged(m, at, "a message has no such length");
    int error = read_at(m, at, sizeof head, head);
    if (error)
        return error;
    struct block block = {.at = at - RECORD_HEAD,
                          .length = length + RECORD_HEAD,
                          .size = length + RECORD_HEAD,
                          .compression = PLAIN};
    uint16_t id = (uint16_t)take_number(&r, 2);
    take_bytes(&r, 4);
    add_message(m, id, take_number(&r, 8), m->blocks->len, 0);
    g_array_append_val(m->blocks, block);
    return 0;
}

/* Goes through the file's records, but not into its chunks. */
static int scan(struct mcap *m) {
    uint64_t at = sizeof magic;
    int error = 0;
    uint8_t head[RECORD_HEAD];
    while (!error && m->bytes - at >= sizeof head) {
        error = read_at(m, at, sizeof head, head);
        struct byte_reader r = {head, sizeof head, 0, false};
        enum record_kind kind = (enum record_kind)take_number(&r, 1);
        uint64_t length = take_number(&r, 8);
        at += sizeof head;
        if (error || kind == RECORD_FOOTER)
            return error;
        if (length > m->bytes - at)
            break;
        if (kind == RECORD_CHUNK)
            error = take_chunk(m, at, length);
        else if (kind == RECORD_MESSAGE)
            error = take_loose_message(m, at, length);
        else if (kind == RECORD_SCHEMA || kind == RECORD_CHANNEL || kind == RECORD_MESSAGE_INDEX)
            error = take_record(m, kind, at, length);
        at += length;
    }
    if (!error)
        log_warning(m->name, "has no end: the recorder was stopped, or the file is cut off");
    return error;
}

/* The records in a chunk, as far as they are whole. */
static void take_contents(struct mcap *m, guint number, const uint8_t *data) {
    struct byte_reader all = {data, (size_t)block_at(m, number)->size, 0, false};
    bool indexed = block_at(m, number)->indexed;
    while (!all.failed && all.at < all.size) {
        uint64_t offset = all.at;
        enum record_kind kind = (enum record_kind)take_number(&all, 1);
        uint64_t length = take_number(&all, 8);
        struct byte_reader r = {take_bytes(&all, length), (size_t)length, 0, all.failed};
        if (kind == RECORD_SCHEMA)
            take_schema(m, &r);
        else if (kind == RECORD_CHANNEL)
            take_channel(m, &r);
        else if (kind == RECORD_MESSAGE && !indexed) {
            uint16_t id = (uint16_t)take_number(&r, 2);
            take_bytes(&r, 4);
            uint64_t log_ns = take_number(&r, 8);
            if (!r.failed)
                add_message(m, id, log_ns, number, offset);
        }
    }
}

static bool knows_all(const struct mcap *m) {
    for (guint i = 0; i < m->channels->len; i++)
        if (!channel_at(m, i)->topic)
            return false;
    return true;
}

/* Looks into the chunks that have no index, or into all where they alone say what the channels are.
 * A damaged one is passed over. */
static int look_into_chunks(struct mcap *m) {
    for (guint i = 0; i < m->blocks->len; i++) {
        const uint8_t *data;
        if (!block_at(m, i)->is_chunk || (block_at(m, i)->indexed && knows_all(m)))
            continue;
        int error = load(m, i, &data);
        if (!error)
            take_contents(m, i, data);
        else if (error != -EBADMSG)
            return error;
    }
    return 0;
}

static gint compare_messages(gconstpointer a, gconstpointer b) {
    const struct mcap_message *p = a, *q = b;
    if (p->log_ns != q->log_ns)
        return p->log_ns < q->log_ns ? -1 : 1;
    if (p->block != q->block)
        return p->block < q->block ? -1 : 1;
    return p->offset < q->offset ? -1 : p->offset > q->offset;
}

static gint compare_channels(gconstpointer a, gconstpointer b) {
    const struct mcap_channel *p = a, *q = b;
    return p->id - q->id;
}

/* Leaves out channels that nothing is known of, or that are empty. */
static void finish(struct mcap *m) {
    for (guint i = m->channels->len; i > 0; i--) {
        struct mcap_channel *channel = channel_at(m, i - 1);
        const char *schema =
            g_hash_table_lookup(m->schemas, GUINT_TO_POINTER(channel->schema_id + 1U));
        channel->schema = g_strdup(schema ? schema : "");
        g_array_sort(channel->messages, compare_messages);
        if (!channel->topic || channel->messages->len == 0)
            g_array_remove_index(m->channels, i - 1);
    }
    g_array_sort(m->channels, compare_channels);
}

/* The file, if it begins as one of these does. */
static int open_file(struct mcap *m, const char *path) {
    struct stat about;
    uint8_t start[sizeof magic];
    m->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
    if (m->fd < 0 || fstat(m->fd, &about) != 0 || S_ISDIR(about.st_mode)) {
        int error = m->fd < 0 ? errno : EISDIR;
        log_error(path, "cannot be opened: %s", strerror(error));
        return -error;
    }
    m->bytes = (uint64_t)about.st_size;
    if (S_ISREG(about.st_mode) && m->bytes >= sizeof magic) {
        int error = read_at(m, 0, sizeof start, start);
        if (error || memcmp(start, magic, sizeof magic) == 0)
            return error;
    }
    log_error(path, "is no MCAP file");
    return -EBADMSG;
}

struct mcap *mcap_open(const char *path, int *error) {
    struct mcap *m = g_new0(struct mcap, 1);
    m->name = g_strdup(path);
    m->channels = g_array_new(FALSE, FALSE, sizeof(struct mcap_channel));
    m->blocks = g_array_new(FALSE, FALSE, sizeof(struct block));
    m->schemas = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_array_set_clear_func(m->channels, clear_channel);
    int code = open_file(m, path);
    if (!code)
        code = scan(m);
    if (!code)
        code = look_into_chunks(m);
    if (code)
        mcap_close(&m);
    else
        finish(m);
    *error = code;
    return m;
}

void mcap_close(struct mcap **mcap) {
    struct mcap *m = *mcap;
    *mcap = NULL;
    if (!m)
        return;
    for (int i = 0; i < BLOCKS_KEPT; i++)
        free(m->kept[i].data);
    if (m->fd >= 0)
        close(m->fd);
    g_array_free(m->channels, TRUE);
    g_array_free(m->blocks, TRUE);
    g_hash_table_destroy(m->schemas);
    g_free(m->name);
    g_free(m);
}

const GArray *mcap_channels(const struct mcap *mcap) {
    return mcap->channels;
}

int mcap_read(struct mcap *m, const struct mcap_channel *channel, guint index, const uint8_t **data,
              size_t *size) {
    const struct mcap_message *message =
        &g_array_index(channel->messages, struct mcap_message, index);
    const uint8_t *bytes;
    int error = load(m, message->block, &bytes);
    if (error)
        return error;
    const struct block *block = block_at(m, message->block);
    struct byte_reader all = {bytes, (size_t)block->size, 0, false};
    take_bytes(&all, message->offset);
    uint64_t kind = take_number(&all, 1), length = take_number(&all, 8);
    struct byte_reader r = {take_bytes(&all, length), (size_t)length, 0, all.failed};
    uint64_t id = take_number(&r, 2);
    take_bytes(&r, MESSAGE_HEAD - 2);
    if (r.failed || kind != RECORD_MESSAGE || id != channel->id)
        return damaged(m, block->at, "an index names what is no message, in a chunk");
    *data = r.bytes + r.at;
    *size = r.size - r.at;
    return 0;
}
