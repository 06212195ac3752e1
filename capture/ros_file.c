/*
 * The functions of capture/ros_file.h: channels, blocks and their compressions.
 * SPDX-License-Identifier: MIT
 */
#include "capture/ros_file_private.h"
#include "config/log.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static struct ros_channel *channel_at(const struct ros_file *f, guint i) {
    return &g_array_index(f->channels, struct ros_channel, i);
}

static struct block *block_at(const struct ros_file *f, guint i) {
    return &g_array_index(f->blocks, struct block, i);
}

int ros_file_damaged(const struct ros_file *f, uint64_t at, const char *what) {
    log_error(f->name, "is damaged: %s at byte %llu", what, (unsigned long long)at);
    return -EBADMSG;
}

void ros_file_cut(const struct ros_file *f) {
    log_warning(f->name, "has no end: the recorder was stopped, or the file is cut off");
}

static int no_memory(const struct ros_file *f) {
    log_error(f->name, "out of memory");
    return -ENOMEM;
}

int ros_file_bytes(const struct ros_file *f, uint64_t at, uint64_t size, uint8_t *out) {
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pread(f->fd, out + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            int error = got < 0 ? errno : EIO;
            log_error(f->name, "cannot be read: %s", strerror(error));
            return -error;
        }
        done += (uint64_t)got;
    }
    return 0;
}

int ros_file_record(const struct ros_file *f, uint64_t at, uint64_t size, uint8_t **out) {
    *out = NULL;
    if (size > MAX_RECORD)
        return ros_file_damaged(f, at, "a record is too large");
    *out = malloc(size + 1);
    int error = *out ? ros_file_bytes(f, at, size, *out) : no_memory(f);
    if (error)
        g_clear_pointer(out, free);
    return error;
}

/* ---- channels */

static void clear_channel(void *of) {
    struct ros_channel *channel = of;
    g_free(channel->topic);
    g_free(channel->encoding);
    g_free(channel->type);
    g_array_free(channel->messages, TRUE);
}

struct ros_channel *ros_file_channel(struct ros_file *f, uint16_t id) {
    if (f->numbers[id])
        return channel_at(f, f->numbers[id] - 1);
    struct ros_channel channel = {.id = id,
                                  .messages = g_array_new(FALSE, FALSE, sizeof(struct ros_entry))};
    g_array_append_val(f->channels, channel);
    f->numbers[id] = f->channels->len;
    return channel_at(f, f->channels->len - 1);
}

void ros_file_add_message(struct ros_file *f, uint16_t id, uint64_t log_ns, guint block,
                          uint64_t offset) {
    struct ros_entry entry = {
        .log_ns = (int64_t)MIN(log_ns, INT64_MAX), .offset = offset, .block = block};
    g_array_append_val(ros_file_channel(f, id)->messages, entry);
}

const GArray *ros_file_channels(const struct ros_file *f) {
    return f->channels;
}

/* ---- blocks */

int ros_file_add_chunk(struct ros_file *f, struct block *chunk, const char *compression) {
    static const char *const names[] = {"", "none", "lz4", "zstd", "bz2"};
    static const enum compression kinds[] = {PLAIN, PLAIN, LZ4, ZSTD, BZ2};
    size_t i = 0;
    while (i < G_N_ELEMENTS(names) && strcmp(compression, names[i]) != 0)
        i++;
    if (i == G_N_ELEMENTS(names)) {
        log_error(f->name, "holds chunks of the compression \"%s\"; lz4, zstd and bz2 are read",
                  compression);
        return -ENOTSUP;
    }
    chunk->compression = kinds[i];
    chunk->is_chunk = true;
    if (chunk->size > MAX_BLOCK || chunk->length > MAX_BLOCK ||
        (chunk->compression == PLAIN && chunk->size != chunk->length))
        return ros_file_damaged(f, chunk->at, "a chunk is too large");
    g_array_append_val(f->blocks, *chunk);
    return 0;
}

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

static bool expand_bz2(uint8_t *from, size_t length, uint8_t *to, size_t size) {
    unsigned done = (unsigned)size;
    return BZ2_bzBuffToBuffDecompress((char *)to, &done, (char *)from, (unsigned)length, 0, 0) ==
               BZ_OK &&
           done == size;
}

/* data has room for the block's size. 0 or -errno after a log line. */
static int expand(const struct ros_file *f, const struct block *block, uint8_t *data) {
    uint8_t *packed = block->compression == PLAIN ? data : malloc(block->length + 1);
    if (!packed)
        return no_memory(f);
    int error = ros_file_bytes(f, block->at, block->length, packed);
    bool whole = !error;
    if (whole && block->compression == LZ4)
        whole = expand_lz4(packed, block->length, data, block->size);
    else if (whole && block->compression == ZSTD)
        whole = ZSTD_decompress(data, block->size, packed, block->length) == block->size;
    else if (whole && block->compression == BZ2)
        whole = expand_bz2(packed, block->length, data, block->size);
    if (packed != data)
        free(packed);
    if (whole && block->crc)
        whole = crc32_z(0, data, block->size) == block->crc;
    return error || whole ? error
                          : ros_file_damaged(f, block->at, "a chunk is not what was written");
}

/* The bytes of a block, until the next call. 0 or -errno after a log line; of a damaged block there
 * is one log line, at its first use. */
static int load(struct ros_file *f, guint number, const uint8_t **data) {
    struct kept_block *oldest = &f->kept[0];
    for (int i = 0; i < BLOCKS_KEPT; i++) {
        struct kept_block *kept = &f->kept[i];
        if (kept->data && kept->block == number) {
            kept->used = ++f->reads;
            *data = kept->data;
            return 0;
        }
        if (kept->used < oldest->used)
            oldest = kept;
    }
    struct block *block = block_at(f, number);
    if (block->bad)
        return -EBADMSG;
    for (int i = 0; i < BLOCKS_KEPT && block->size > BLOCKS_BYTES; i++)
        g_clear_pointer(&f->kept[i].data, free);
    free(oldest->data);
    *oldest = (struct kept_block){malloc(block->size + 1), number, ++f->reads};
    int error = oldest->data ? expand(f, block, oldest->data) : no_memory(f);
    if (error) {
        free(oldest->data);
        *oldest = (struct kept_block){0};
        block->bad = error == -EBADMSG;
    }
    *data = oldest->data;
    return error;
}

int ros_file_read(struct ros_file *f, const struct ros_channel *channel, guint index,
                  const uint8_t **data, size_t *size) {
    const struct ros_entry *entry = &g_array_index(channel->messages, struct ros_entry, index);
    const uint8_t *bytes;
    int error = load(f, entry->block, &bytes);
    if (error)
        return error;
    const struct block *block = block_at(f, entry->block);
    struct byte_reader r = {bytes, (size_t)block->size, 0, false};
    take_bytes(&r, entry->offset);
    *data = f->format->find(&r, channel->id, size);
    return *data ? 0
                 : ros_file_damaged(f, block->at, "an index names what is no message, in a chunk");
}

/* ---- opening */

static bool knows_all(const struct ros_file *f) {
    for (guint i = 0; i < f->channels->len; i++)
        if (!channel_at(f, i)->topic)
            return false;
    return true;
}

/* Looks into the chunks that have no index, or into all where they alone say what the channels are.
 * A damaged one is passed over. */
static int look_into_chunks(struct ros_file *f) {
    for (guint i = 0; i < f->blocks->len; i++) {
        const uint8_t *data;
        if (!block_at(f, i)->is_chunk || (block_at(f, i)->indexed && knows_all(f)))
            continue;
        int error = load(f, i, &data);
        if (!error)
            f->format->look_into(f, i, data);
        else if (error != -EBADMSG)
            return error;
    }
    return 0;
}

static gint compare_entries(gconstpointer a, gconstpointer b) {
    const struct ros_entry *p = a, *q = b;
    if (p->log_ns != q->log_ns)
        return p->log_ns < q->log_ns ? -1 : 1;
    if (p->block != q->block)
        return p->block < q->block ? -1 : 1;
    return p->offset < q->offset ? -1 : p->offset > q->offset;
}

static gint compare_channels(gconstpointer a, gconstpointer b) {
    const struct ros_channel *p = a, *q = b;
    return p->id - q->id;
}

/* Leaves out channels that nothing is known of, or that are empty. */
static void finish(struct ros_file *f) {
    for (guint i = f->channels->len; i > 0; i--) {
        struct ros_channel *channel = channel_at(f, i - 1);
        gpointer schema = GUINT_TO_POINTER(channel->schema_id + 1U);
        const char *name = g_hash_table_lookup(f->schemas, schema);
        if (!channel->type)
            channel->type = g_strdup(name ? name : "");
        g_array_sort(channel->messages, compare_entries);
        if (!channel->topic || channel->messages->len == 0)
            g_array_remove_index(f->channels, i - 1);
    }
    g_array_sort(f->channels, compare_channels);
}

/* Opens the file and tells its form by its first bytes. */
static int open_file(struct ros_file *f, const char *path) {
    static const struct ros_format *const formats[] = {&mcap_format, &bag_format};
    struct stat about;
    uint8_t start[16] = {0};
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
    bool known = f->fd >= 0 && fstat(f->fd, &about) == 0;
    if (!known || S_ISDIR(about.st_mode)) {
        int error = known ? EISDIR : errno;
        log_error(path, "cannot be opened: %s", strerror(error));
        return -error;
    }
    f->bytes = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
    int error = ros_file_bytes(f, 0, MIN(f->bytes, sizeof start), start);
    for (size_t i = 0; i < G_N_ELEMENTS(formats) && !error; i++)
        if (f->bytes >= formats[i]->start_size &&
            memcmp(start, formats[i]->start, formats[i]->start_size) == 0)
            f->format = formats[i];
    if (error || f->format)
        return error;
    log_error(path, "is neither an MCAP file nor a bag of ROS 1 (version 2.0)");
    return -EBADMSG;
}

struct ros_file *ros_file_open(const char *path, int *error) {
    struct ros_file *f = g_new0(struct ros_file, 1);
    f->name = g_strdup(path);
    f->channels = g_array_new(FALSE, FALSE, sizeof(struct ros_channel));
    f->blocks = g_array_new(FALSE, FALSE, sizeof(struct block));
    f->schemas = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_array_set_clear_func(f->channels, clear_channel);
    int code = open_file(f, path);
    if (f->format)
        code = f->format->scan(f);
    if (f->format && !code)
        code = look_into_chunks(f);
    if (code)
        ros_file_close(&f);
    else
        finish(f);
    *error = code;
    return f;
}

void ros_file_close(struct ros_file **file) {
    struct ros_file *f = *file;
    *file = NULL;
    if (!f)
        return;
    for (int i = 0; i < BLOCKS_KEPT; i++)
        free(f->kept[i].data);
    if (f->fd >= 0)
        close(f->fd);
    g_array_free(f->channels, TRUE);
    g_array_free(f->blocks, TRUE);
    g_hash_table_destroy(f->schemas);
    g_free(f->name);
    g_free(f);
}
