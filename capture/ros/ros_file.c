/*
 * The functions of capture/ros/ros_file.h: channels, blocks and their compressions.
 * SPDX-License-Identifier: MIT
 */
#include "capture/ros/ros_file_private.h"
#include "capture/ros/ros_message.h"
#include "base/log.h"

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
    return log_fail(-EBADMSG, f->name, "is damaged: %s at byte %llu", what, (unsigned long long)at);
}

void ros_file_no_end(struct ros_file *f, bool within_record) {
    f->cut |= within_record;
    if (!within_record)
        log_warning(f->name, "has no end: the recorder was stopped");
}

bool ros_file_is_cut(const struct ros_file *f) {
    return f->cut;
}

static int no_memory(const struct ros_file *f) {
    return log_fail(-ENOMEM, f->name, "out of memory");
}

int ros_file_bytes(const struct ros_file *f, uint64_t at, uint64_t size, uint8_t *out) {
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pread(f->part->fd, out + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            int error = got < 0 ? errno : EIO;
            return log_fail(-error, f->name, "cannot be read: %s", strerror(error));
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
    if (channel->messages)
        g_array_free(channel->messages, TRUE);
}

struct ros_channel *ros_file_channel(struct ros_file *f, uint16_t id) {
    if (f->part->numbers[id])
        return channel_at(f, f->part->numbers[id] - 1);
    struct ros_channel channel = {.id = id,
                                  .messages = g_array_new(FALSE, FALSE, sizeof(struct ros_entry))};
    g_array_append_val(f->channels, channel);
    f->part->numbers[id] = f->channels->len;
    return channel_at(f, f->channels->len - 1);
}

bool ros_file_wants(const struct ros_file *f, uint16_t id) {
    guint number = f->part->numbers[id];
    const struct ros_channel *channel = number ? channel_at(f, number - 1) : NULL;
    const char *type = channel ? channel->type : NULL;
    if (channel && channel->topic && !type)
        type = g_hash_table_lookup(f->schemas, GUINT_TO_POINTER(channel->schema_id + 1U));
    return !type || ros_type_named(type) != ROS_OTHER;
}

void ros_file_add_message(struct ros_file *f, uint16_t id, uint64_t log_ns, guint block,
                          uint64_t offset) {
    struct ros_entry entry = {.log_ns = (int64_t)MIN(log_ns, INT64_MAX),
                              .offset = (uint32_t)MIN(offset, UINT32_MAX),
                              .block = block};
    if (f->messages++ < MAX_MESSAGES)
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
    if (i == G_N_ELEMENTS(names))
        return log_fail(-ENOTSUP, f->name,
                        "holds chunks of the compression \"%s\"; lz4, zstd and bz2 are read",
                        compression);
    chunk->part = f->part_number;
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
static int expand(struct ros_file *f, const struct block *block, uint8_t *data) {
    f->part = g_ptr_array_index(f->parts, block->part);
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

/* A message that was compressed by itself (rosbag2's compression_mode: message) begins as a frame
 * of zstd, which no other does. 0 or -errno after a log line. */
static int expand_message(struct ros_file *f, const struct block *block, const uint8_t **data,
                          size_t *size) {
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    if (*size < sizeof magic || memcmp(*data, magic, sizeof magic) != 0)
        return 0;
    unsigned long long whole = ZSTD_getFrameContentSize(*data, *size);
    if (whole > MAX_BLOCK) /* or not known */
        return ros_file_damaged(f, block->at, "a compressed message has no such size");
    free(f->message);
    f->message = malloc((size_t)whole + 1);
    if (!f->message)
        return no_memory(f);
    if (ZSTD_decompress(f->message, (size_t)whole, *data, *size) != whole)
        return ros_file_damaged(f, block->at, "a compressed message is not what was written");
    *data = f->message;
    *size = (size_t)whole;
    return 0;
}

int ros_file_read(struct ros_file *f, const struct ros_channel *channel, guint index,
                  const uint8_t **data, size_t *size) {
    const struct ros_entry *entry = &g_array_index(channel->messages, struct ros_entry, index);
    const uint8_t *bytes;
    uint16_t id = 0;
    int error = load(f, entry->block, &bytes);
    if (error)
        return error;
    const struct block *block = block_at(f, entry->block);
    const struct ros_part *part = g_ptr_array_index(f->parts, block->part);
    struct byte_reader r = {bytes, (size_t)block->size, 0, false};
    take_bytes(&r, entry->offset);
    *data = part->format->find(&r, &id, size);
    if (!*data || !part->numbers[id] || channel_at(f, part->numbers[id] - 1) != channel)
        return ros_file_damaged(f, block->at, "an index names what is no message, in a chunk");
    return expand_message(f, block, data, size);
}

/* ---- opening */

/* Whether all channels from this one on have their topics. */
static bool knows_all(const struct ros_file *f, guint first_channel) {
    for (guint i = first_channel; i < f->channels->len; i++)
        if (!channel_at(f, i)->topic)
            return false;
    return true;
}

/* Whether so much more may be unpacked to see what is in it. 0, or -EFBIG after a log line. */
static int may_look_into(struct ros_file *f, uint64_t bytes) {
    f->looked += bytes;
    if (f->looked <= MAX_LOOKED_INTO || f->looked / MAX_LOOKED_RATIO <= f->bytes)
        return 0;
    return log_fail(
        -EFBIG, f->name,
        "announces %llu MiB in chunks that must be unpacked to see what is in them, more "
        "than a file of its size holds",
        (unsigned long long)(f->looked >> 20));
}

/* Looks into the chunks of a part that have no index, or into all where they alone say what the
 * channels are. A damaged one is passed over. */
static int look_into_chunks(struct ros_file *f, guint first_block, guint first_channel) {
    bool known = knows_all(f, first_channel);
    uint64_t announced = 0;
    for (guint i = first_block; i < f->blocks->len; i++)
        announced +=
            block_at(f, i)->is_chunk && !block_at(f, i)->indexed ? block_at(f, i)->size : 0;
    int error = may_look_into(f, announced);
    for (guint i = first_block; i < f->blocks->len && !error; i++) {
        const uint8_t *data;
        const struct block *block = block_at(f, i);
        if (!block->is_chunk || (block->indexed && known))
            continue;
        error = block->indexed ? may_look_into(f, block->size) : 0;
        if (!error)
            error = load(f, i, &data);
        if (!error) {
            f->part->format->look_into(f, i, data);
            known = known ? known : knows_all(f, first_channel);
        }
        if (error == -EBADMSG)
            error = 0;
    }
    return error;
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
    const struct ros_channel *const *p = a, *const *q = b;
    return (*p)->id - (*q)->id;
}

/* Names the types of a part's channels; what an earlier part has is one channel with it. */
static void end_part(struct ros_file *f, guint first) {
    g_autoptr(GHashTable) earlier = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < f->channels->len; i++) {
        struct ros_channel *channel = channel_at(f, i);
        gpointer schema = GUINT_TO_POINTER(channel->schema_id + 1U);
        const char *name = g_hash_table_lookup(f->schemas, schema);
        if (!channel->type)
            channel->type = g_strdup(name ? name : "");
        if (!channel->topic)
            continue;
        g_autofree char *key = g_strjoin("\n", channel->topic, channel->type,
                                         channel->encoding ? channel->encoding : "", NULL);
        guint before = GPOINTER_TO_UINT(g_hash_table_lookup(earlier, key));
        if (!before) {
            g_hash_table_insert(earlier, g_steal_pointer(&key), GUINT_TO_POINTER(i + 1));
        } else if (i >= first) {
            g_array_append_vals(channel_at(f, before - 1)->messages, channel->messages->data,
                                channel->messages->len);
            g_array_set_size(channel->messages, 0);
            f->part->numbers[channel->id] = before;
        }
    }
    g_hash_table_remove_all(f->schemas);
}

/* Leaves out channels that nothing is known of, or that are empty, and sorts the others. */
static void finish(struct ros_file *f) {
    g_autofree guint *number = g_new0(guint, f->channels->len + 1); /* by the one before */
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    for (guint i = 0; i < f->channels->len; i++)
        if (channel_at(f, i)->topic && channel_at(f, i)->messages->len > 0)
            g_ptr_array_add(kept, channel_at(f, i));
    g_ptr_array_sort(kept, compare_channels);
    GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(struct ros_channel), kept->len);
    g_array_set_clear_func(sorted, clear_channel);
    for (guint i = 0; i < kept->len; i++) {
        struct ros_channel *channel = g_ptr_array_index(kept, i);
        g_array_sort(channel->messages, compare_entries);
        number[channel - channel_at(f, 0) + 1] = i + 1;
        g_array_append_vals(sorted, channel, 1);
        *channel = (struct ros_channel){0};
    }
    for (guint i = 0; i < f->parts->len; i++) {
        struct ros_part *part = g_ptr_array_index(f->parts, i);
        for (guint id = 0; id <= UINT16_MAX; id++)
            part->numbers[id] = number[part->numbers[id]];
    }
    g_array_free(f->channels, TRUE);
    f->channels = sorted;
}

/* Names another kind of file by its first bytes, and says what to do. */
static const char *other_file(const uint8_t *start, size_t size) {
    static const struct {
        const char *start, *what;
    } others[] = {{"\x28\xb5\x2f\xfd", "is compressed as a whole; unpack it: unzstd FILE"},
                  {"\x04\x22\x4d\x18", "is compressed as a whole; unpack it: unlz4 FILE"},
                  {"BZh", "is compressed as a whole; unpack it: bunzip2 FILE"},
                  {"\x1f\x8b", "is compressed as a whole; unpack it: gunzip FILE"},
                  {"SQLite format 3",
                   "is a bag of ROS 2 in SQLite; convert it to MCAP: ros2 bag convert "
                   "(with storage_id: mcap among the output options)"},
                  {"#ROSBAG V1", "is a bag of version 1; convert it: rosbag migrate"}};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (size >= strlen(others[i].start) &&
            memcmp(start, others[i].start, strlen(others[i].start)) == 0)
            return others[i].what;
    return "is neither an MCAP file nor a bag of ROS 1 (version 2.0)";
}

/* Opens a file as the part at hand and tells its form by its first bytes. */
static int open_part(struct ros_file *f, const char *path) {
    static const struct ros_format *const formats[] = {&mcap_format, &bag_format};
    struct stat about;
    uint8_t start[16] = {0};
    struct ros_part *part = f->part = g_new0(struct ros_part, 1);
    f->part_number = f->parts->len;
    g_ptr_array_add(f->parts, part);
    part->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
    bool known = part->fd >= 0 && fstat(part->fd, &about) == 0;
    if (!known || S_ISDIR(about.st_mode)) {
        int error = known ? EISDIR : errno;
        return log_fail(-error, path, "cannot be opened: %s", strerror(error));
    }
    part->bytes = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
    f->bytes += part->bytes;
    size_t head = (size_t)MIN(part->bytes, sizeof start);
    int error = ros_file_bytes(f, 0, head, start);
    for (size_t i = 0; i < G_N_ELEMENTS(formats) && !error; i++)
        if (head >= formats[i]->start_size &&
            memcmp(start, formats[i]->start, formats[i]->start_size) == 0)
            part->format = formats[i];
    if (error || part->format)
        return error;
    return log_fail(-EBADMSG, path, "%s", other_file(start, head));
}

static int read_part(struct ros_file *f, const char *path) {
    guint first_block = f->blocks->len, first_channel = f->channels->len;
    int error = open_part(f, path) ?: f->part->format->scan(f);
    if (!error)
        error = look_into_chunks(f, first_block, first_channel);
    if (!error && f->messages > MAX_MESSAGES)
        error = log_fail(-EFBIG, f->name,
                         "holds more than %d messages; split it: ros2 bag convert, rosbag filter",
                         MAX_MESSAGES);
    end_part(f, first_channel);
    return error;
}

static gint compare_names(gconstpointer a, gconstpointer b) {
    const char *const *p = a, *const *q = b;
    size_t n = strlen(*p), m = strlen(*q);
    return n == m ? strcmp(*p, *q) : (n > m) - (n < m); /* NAME_2.mcap before NAME_10.mcap */
}

char **ros_file_parts(const char *folder) {
    GPtrArray *parts = g_ptr_array_new_with_free_func(g_free);
    GPtrArray *others = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    bool about = false, alone = true;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        about |= strcmp(name, "metadata.yaml") == 0;
        if (g_str_has_suffix(name, ".mcap"))
            g_ptr_array_add(parts, g_build_filename(folder, name, NULL));
        else if (strstr(name, ".db3") || strstr(name, ".mcap."))
            g_ptr_array_add(others, g_build_filename(folder, name, NULL));
        else
            alone = alone && name[0] == '.';
    }
    if (!about && !alone)
        g_ptr_array_set_size(parts, 0);
    GPtrArray *taken = parts->len == 0 && about ? others : parts;
    g_ptr_array_sort(taken, compare_names);
    g_ptr_array_set_free_func(taken, NULL);
    g_ptr_array_add(taken, NULL);
    g_ptr_array_free(taken == parts ? others : parts, TRUE);
    return (char **)g_ptr_array_free(taken, FALSE);
}

bool ros_file_is_folder(const char *path) {
    g_auto(GStrv) parts = ros_file_parts(path);
    return parts[0] != NULL;
}

static void close_part(void *of) {
    g_autofree struct ros_part *part = of;
    if (part->fd >= 0)
        close(part->fd);
}

struct ros_file *ros_file_open(const char *path, int *error) {
    struct ros_file *f = g_new0(struct ros_file, 1);
    g_auto(GStrv) parts = ros_file_parts(path);
    const char *const alone[] = {path, NULL};
    f->name = g_strdup(path);
    f->parts = g_ptr_array_new_with_free_func(close_part);
    f->channels = g_array_new(FALSE, FALSE, sizeof(struct ros_channel));
    f->blocks = g_array_new(FALSE, FALSE, sizeof(struct block));
    f->schemas = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_array_set_clear_func(f->channels, clear_channel);
    *error = 0;
    for (const char *const *part = parts[0] ? (const char *const *)parts : alone; *part && !*error;
         part++)
        *error = read_part(f, *part);
    if (*error)
        ros_file_close(&f);
    else
        finish(f);
    return f;
}

void ros_file_close(struct ros_file **file) {
    struct ros_file *f = *file;
    *file = NULL;
    if (!f)
        return;
    for (int i = 0; i < BLOCKS_KEPT; i++)
        free(f->kept[i].data);
    free(f->message);
    g_ptr_array_free(f->parts, TRUE);
    g_array_free(f->channels, TRUE);
    g_array_free(f->blocks, TRUE);
    g_hash_table_destroy(f->schemas);
    g_free(f->name);
    g_free(f);
}
