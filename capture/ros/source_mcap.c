/*
 * Pairs of pictures in an MCAP file or a bag, as ROS 2 and ROS 1 record them: two topics of
 * sensor_msgs Image or CompressedImage. The pictures of a pair are those whose times of capture are
 * nearest to each other, both ways, and within a tolerance; pair n has the left topic's n-th
 * picture. Owned and read by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#include "capture/eyes.h"
#include "capture/ros/ros_file.h"
#include "capture/ros/ros_message.h"
#include "capture/source_private.h"
#include "base/log.h"
#include "base/quantile.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INTERVALS = 64, MAX_DAMAGED = 256 }; /* from which the usual one is taken; pairs in a row */

/* One of the two topics. */
struct topic {
    const struct ros_channel *channel;
    enum ros_type type;
    bool ros1;
    int64_t *times; /* of capture, ns; 0: not read */
};

struct mcap_pairs {
    struct source source; /* first */
    char *name, *calibration[2], *frame_id[2];
    struct ros_file *file;
    struct topic side[2];          /* left, right; of one topic both are it */
    enum source_pictures pictures; /* how one topic holds both; of two PICTURES_ONE */
    struct pair_bits bits;
    struct source_options options;
    int64_t tolerance_ns;
    int damaged;         /* pairs in a row */
    bool told, told_cut; /* logged: that a picture has no partner; that the file is cut */
};

static guint count_of(const struct topic *topic) {
    return topic->channel->messages->len;
}

static int64_t log_time(const struct topic *topic, guint i) {
    return g_array_index(topic->channel->messages, struct ros_entry, i).log_ns;
}

/* The bytes are the file's, until the next call. 0 or -errno, after a log line where the file is
 * damaged; of a damaged message -EBADMSG, after one where tell is set. */
static int read_message(struct mcap_pairs *s, const struct topic *topic, guint i, bool tell,
                        struct ros_image *image) {
    const uint8_t *data;
    size_t size;
    int error = ros_file_read(s->file, topic->channel, i, &data, &size);
    if (error)
        return error;
    error = ros_image_parse(topic->type, topic->ros1, data, size, image);
    if (error && tell)
        log_error(s->name, "message %u of %s is damaged", i, topic->channel->topic);
    return error;
}

/* When picture i was taken: by its message, or where that does not say it when it was recorded. */
static int64_t time_of(struct mcap_pairs *s, const struct topic *topic, guint i) {
    struct ros_image image;
    if (topic->times[i] == 0) {
        bool known = read_message(s, topic, i, false, &image) == 0 && image.stamp_ns > 0;
        topic->times[i] = known ? image.stamp_ns : log_time(topic, i);
    }
    return topic->times[i];
}

/* The picture of a topic that was taken nearest to a time; the search begins with the one that was
 * recorded nearest to when. */
static guint nearest(struct mcap_pairs *s, const struct topic *topic, int64_t ns, int64_t when) {
    guint low = 0, high = count_of(topic) - 1;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (log_time(topic, middle) < when)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + 1 < count_of(topic) &&
           llabs(time_of(s, topic, low + 1) - ns) < llabs(time_of(s, topic, low) - ns))
        low++;
    while (low > 0 && llabs(time_of(s, topic, low - 1) - ns) < llabs(time_of(s, topic, low) - ns))
        low--;
    return low;
}

/* Whether left picture i has a partner. */
static bool find_partner(struct mcap_pairs *s, guint i, guint *partner) {
    const struct topic *left = &s->side[0], *right = &s->side[1];
    *partner = i;
    if (right->channel == left->channel) /* one holds both, or motion */
        return true;
    int64_t ns = time_of(s, left, i);
    *partner = nearest(s, right, ns, log_time(left, i));
    int64_t other = time_of(s, right, *partner);
    return llabs(other - ns) <= s->tolerance_ns &&
           nearest(s, left, other, log_time(right, *partner)) == i;
}

static int decode(struct mcap_pairs *s, int side, guint i, struct image *out) {
    const struct topic *topic = &s->side[side];
    struct ros_image image;
    int error = read_message(s, topic, i, true, &image);
    if (error)
        return error;
    g_autofree char *name =
        g_strdup_printf("%s: picture %u of %s", s->name, i, topic->channel->topic);
    return ros_image_decode(&image, name, &s->bits.side[side], out);
}

/* Both pictures of a pair, or the one that holds both or is both: see source_free_pair. 0 or -errno
 * after a log line. */
static int read_pair(struct mcap_pairs *s, const guint number[2], struct image pair[2]) {
    memset(pair, 0, 2 * sizeof *pair);
    int error = decode(s, 0, number[0], &pair[0]);
    if (!error && s->side[1].channel != s->side[0].channel)
        error = decode(s, 1, number[1], &pair[1]);
    if (error)
        source_free_pair(pair);
    return error;
}

static int fill_frame(struct mcap_pairs *s, const guint number[2], struct frame *frame) {
    const struct source *source = &s->source;
    struct image pair[2];
    if (read_pair(s, number, pair) != 0)
        return -EBADMSG;
    int error = 0, other = source_put_pair(pair, s->pictures, s->options.swap, frame);
    if (other >= 0) {
        source_halve(s->pictures, &pair[other].width, &pair[other].height);
        error = log_fail(-EBADMSG, s->name,
                         "picture %u of %s is %dx%d, but those of the first pair are %dx%d",
                         number[other], s->side[other].channel->topic, pair[other].width,
                         pair[other].height, source->width, source->height);
    }
    source_free_pair(pair);
    source_check_bits(s->name, &s->bits);
    return error;
}

/* The end, or that of a file that was cut off. */
static int at_end(struct mcap_pairs *s) {
    if (!ros_file_is_cut(s->file))
        return SOURCE_END;
    if (!s->told_cut)
        log_error(s->name, "ends within a record: it was cut off, and what followed is missing");
    s->told_cut = true;
    return -EIO;
}

/* One more damaged pair. After many in a row reading ends: a small file can announce millions. */
static int count_damaged(struct mcap_pairs *s, int error) {
    if (++s->damaged < MAX_DAMAGED)
        return error;
    return log_fail(-EIO, s->name, "has %d damaged pairs in a row; the others are not read",
                    MAX_DAMAGED);
}

static int mcap_pairs_read(struct source *source, struct frame *frame) {
    struct mcap_pairs *s = (struct mcap_pairs *)source;
    guint partner = 0;
    for (bool may_wrap = s->options.loop;; source->next++) {
        if (source->next >= source->count && may_wrap) {
            source->next = 0;
            may_wrap = false;
        }
        if (source->next >= source->count)
            return at_end(s);
        if (find_partner(s, (guint)source->next, &partner))
            break;
        if (!s->told)
            log_warning(s->name,
                        "picture %ld of %s has no partner within %.3g ms; such are left out",
                        source->next, s->side[0].channel->topic, (double)s->tolerance_ns / 1e6);
        s->told = true;
    }
    guint number[2] = {(guint)source->next++, partner};
    frame->index = (long)number[0];
    int error = fill_frame(s, number, frame);
    if (error)
        return count_damaged(s, error);
    s->damaged = 0;
    frame->left_ns = time_of(s, &s->side[s->options.swap], number[s->options.swap]);
    frame->right_ns = time_of(s, &s->side[!s->options.swap], number[!s->options.swap]);
    source_hand_over(&s->options, frame);
    return 0;
}

static void mcap_pairs_describe(struct source *source, long index, char *buf, size_t size) {
    g_snprintf(buf, size, "%s pair %ld", source->name, index);
}

static void mcap_pairs_close(struct source *source) {
    struct mcap_pairs *s = (struct mcap_pairs *)source;
    ros_file_close(&s->file);
    for (int i = 0; i < 2; i++) {
        g_free(s->side[i].times);
        g_free(s->calibration[i]);
        g_free(s->frame_id[i]);
    }
    g_free(s->name);
    g_free(s);
}

/* ---- which topics */

static struct topic topic_at(const GArray *channels, guint i) {
    const struct ros_channel *channel = &g_array_index(channels, struct ros_channel, i);
    bool cdr = strcmp(channel->encoding, "cdr") == 0, ros1 = strcmp(channel->encoding, "ros1") == 0;
    enum ros_type type = cdr || ros1 ? ros_type_named(channel->type) : ROS_OTHER;
    return (struct topic){.channel = channel, .type = type, .ros1 = ros1};
}

static bool is_rectified(const struct topic *topic) {
    return strstr(topic->channel->topic, "/rect") || strstr(topic->channel->topic, "_rect");
}

/* Whether a topic has no whole pictures: depths, films and differences, by image_transport or by
 * name. */
static bool is_no_picture(const char *topic) {
    static const char *const endings[] = {"/compressedDepth", "/theora", "/ffmpeg", "/h264"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(topic, endings[i]))
            return true;
    return strstr(topic, "/depth/");
}

/* A topic of a film, by its name or as Foxglove's CompressedVideo; NULL: none. */
static const char *film_of(const GArray *channels) {
    for (guint i = 0; i < channels->len; i++) {
        const struct ros_channel *channel = topic_at(channels, i).channel;
        if ((is_no_picture(channel->topic) && !strstr(channel->topic, "epth")) ||
            g_str_has_suffix(channel->type, "CompressedVideo"))
            return channel->topic;
    }
    return NULL;
}

static bool has_pictures(const struct topic *topic) {
    return (topic->type == ROS_IMAGE || topic->type == ROS_COMPRESSED_IMAGE) &&
           !is_no_picture(topic->channel->topic);
}

/* The search for the best pair of names. */
struct search {
    GHashTable *named[2]; /* by key: number of the left, of the right topic + 1 */
    const GArray *channels;
    guint at;
    int best;
    struct topic side[2];
};

/* Rectified topics first, then those that are not compressed, then those that say left and right.
 * The order of the file decides among equals. */
static void take_key(void *context, const char *key, enum eye eye, int rank) {
    struct search *s = context;
    struct topic here = topic_at(s->channels, s->at);
    guint other = GPOINTER_TO_UINT(g_hash_table_lookup(s->named[!eye], key));
    if (!g_hash_table_contains(s->named[eye], key))
        g_hash_table_insert(s->named[eye], g_strdup(key), GUINT_TO_POINTER(s->at + 1));
    if (!other)
        return;
    struct topic partner = topic_at(s->channels, other - 1);
    int score = 16 * is_rectified(&here) + 8 * (here.type == ROS_IMAGE) + 4 - rank;
    if (partner.type != here.type || score <= s->best)
        return;
    s->best = score;
    s->side[eye] = here;
    s->side[!eye] = partner;
}

/* The topics of a pair by their names; or the file's only two topics with pictures, by what their
 * names say, else in the order of the file, which is said. */
static bool choose_topics(const char *name, const GArray *channels, struct topic side[2]) {
    int count = 0;
    struct search search = {.channels = channels};
    for (int i = 0; i < 2; i++)
        search.named[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < channels->len; i++) {
        struct topic topic = topic_at(channels, i);
        if (!has_pictures(&topic))
            continue;
        if (count < 2)
            side[count] = topic;
        count++;
        search.at = i;
        eye_pair_keys(topic.channel->topic, take_key, &search);
    }
    for (int i = 0; i < 2; i++)
        g_hash_table_destroy(search.named[i]);
    if (search.best) {
        memcpy(side, search.side, sizeof search.side);
        return true;
    }
    if (count != 2)
        return false;
    enum eye eye[2] = {eye_of_name(side[0].channel->topic), eye_of_name(side[1].channel->topic)};
    if (eye[0] == eye[1])
        log_warning(name, "no name says which topic is left: %s is taken, --swap exchanges them",
                    side[0].channel->topic);
    else if (eye[0] == EYE_RIGHT || eye[1] == EYE_LEFT) {
        struct topic first = side[0];
        side[0] = side[1];
        side[1] = first;
    }
    return true;
}

static bool find_topic(const GArray *channels, const char *name, struct topic *topic) {
    for (guint i = 0; i < channels->len; i++) {
        *topic = topic_at(channels, i);
        if (has_pictures(topic) && strcmp(topic->channel->topic, name) == 0)
            return true;
    }
    return false;
}

enum { MAX_LISTED = 12 }; /* topics that a message names */

/* Names of topics with pictures; g_free. *only: the last one, *count: how many. */
static char *list_topics(const GArray *channels, struct topic *only, int *count) {
    GString *known = g_string_new(NULL);
    *count = 0;
    for (guint i = 0; i < channels->len; i++) {
        struct topic topic = topic_at(channels, i);
        if (!has_pictures(&topic))
            continue;
        if (*count < MAX_LISTED)
            g_string_append_printf(known, "%s%s", *count ? ", " : "", topic.channel->topic);
        *only = topic;
        ++*count;
    }
    if (*count > MAX_LISTED)
        g_string_append_printf(known, " and %d more", *count - MAX_LISTED);
    return g_string_free(known, FALSE);
}

/* names: of the topics, NULL: by their names in the file. Motion needs one, and so do pictures that
 * hold both. */
static int find_topics(struct mcap_pairs *s, char **names) {
    const GArray *channels = ros_file_channels(s->file);
    struct topic *side = s->side, only = {0};
    bool motion = s->options.motion_step > 0, found;
    bool both =
        s->options.pictures == PICTURES_SIDE_BY_SIDE || s->options.pictures == PICTURES_TOP_BOTTOM;
    int count;
    g_autofree char *known = list_topics(channels, &only, &count);
    bool one = motion || both || (names ? g_strv_length(names) == 1 : count == 1);
    if (names)
        found = g_strv_length(names) == (one ? 1 : 2) && find_topic(channels, names[0], &side[0]) &&
                (one || find_topic(channels, names[1], &side[1]));
    else
        found = (!both && choose_topics(s->name, channels, side)) || (one && count == 1);
    if (found && !names && one && count == 1)
        side[0] = only;
    if (one)
        side[1] = side[0];
    s->pictures = one && !motion ? PICTURES_AUTO : PICTURES_ONE;
    if (found && !names)
        log_info(s->name, one ? "pictures are those of %s" : "left is %s, right %s",
                 side[0].channel->topic, side[1].channel->topic);
    if (found)
        return 0;
    const char *film = film_of(channels);
    if (count == 0 && film)
        log_error(s->name,
                  "holds pictures as a film alone (%s), which is not read; record raw or JPEG "
                  "pictures, or write each topic to a video file and name both",
                  film);
    else if (count == 0)
        log_error(s->name, "holds no pictures: no topic has messages of the type "
                           "sensor_msgs Image or CompressedImage");
    else
        log_error(s->name, "%s; pictures are in %s: write mcap:FILE,%s",
                  names  ? "has no such topics"
                  : both ? "has several topics"
                         : "has no two topics named left and right",
                  known, motion || both ? "/TOPIC" : "/LEFT,/RIGHT");
    return -EINVAL;
}

static int open_topics(struct mcap_pairs *s, char **names) {
    int error = find_topics(s, names);
    for (int i = 0; i < 2 && !error; i++)
        s->side[i].times = g_new0(int64_t, count_of(&s->side[i]));
    return error;
}

/* ---- opening */

/* Reads the first message of CameraInfo beside the pictures. False where there is none, or,
 * after a log line, one that cannot be used. */
static bool find_camera(struct mcap_pairs *s, const struct topic *of, struct ros_camera *camera) {
    const GArray *channels = ros_file_channels(s->file);
    g_autofree char *topic = g_strdup(of->channel->topic);
    if (g_str_has_suffix(topic, "/compressed"))
        topic[strlen(topic) - strlen("/compressed")] = '\0';
    const char *slash = strrchr(topic, '/');
    g_autofree char *info =
        g_strdup_printf("%.*s/camera_info", slash ? (int)(slash - topic) : 0, topic);
    const char *why = NULL;
    for (guint i = 0; i < channels->len; i++) {
        struct topic t = topic_at(channels, i);
        const uint8_t *data;
        size_t size;
        if (t.type != ROS_CAMERA_INFO || strcmp(t.channel->topic, info) != 0)
            continue;
        if (ros_file_read(s->file, t.channel, 0, &data, &size) != 0 ||
            ros_camera_parse(t.ros1, data, size, camera) != 0)
            why = "it is damaged";
        else if (camera->p[0] > 0 && (s->source.rectified || camera->k[0] > 0))
            return true;
        else
            why = "its K or P has no focal length: the camera was not calibrated";
    }
    if (why)
        log_warning(s->name, "%s cannot be used (%s); --calib FILE names a calibration", info, why);
    return false;
}

/* Finds the calibration of both cameras, for motion that of the one. */
static void find_calibration(struct mcap_pairs *s) {
    int cameras = s->options.motion_step > 0 ? 1 : 2;
    struct ros_camera camera[2];
    for (int i = 0; i < cameras; i++)
        if (!find_camera(s, &s->side[i], &camera[i]))
            return;
    if (cameras == 2 && camera[1].p[3] == 0) {
        log_warning(s->name,
                    "the cameras were not calibrated as a pair: P of the right camera_info "
                    "has no baseline; --calib FILE names a calibration");
        return;
    }
    for (int i = 0; i < cameras; i++) {
        if (s->source.rectified)
            ros_camera_rectified(&camera[i]);
        if (camera[i].width == 0 || camera[i].height == 0) {
            camera[i].width = (uint32_t)s->source.width;
            camera[i].height = (uint32_t)s->source.height;
        }
        s->source.calibration_text[i] = s->calibration[i] = ros_camera_print(&camera[i]);
    }
}

/* Size and channels of a pair. -EBADMSG where it is damaged. */
static int learn_pair(struct mcap_pairs *s, const guint number[2]) {
    struct image pair[2];
    int error = read_pair(s, number, pair);
    if (error)
        return error;
    if (pair[1].data && (pair[0].width != pair[1].width || pair[0].height != pair[1].height))
        error = log_fail(-EINVAL, s->name, "has pictures of two sizes: %dx%d and %dx%d",
                         pair[0].width, pair[0].height, pair[1].width, pair[1].height);
    else
        error = source_learn_pair(&s->source, &s->options, pair, &s->pictures);
    source_free_pair(pair);
    return error;
}

/* By the first messages, for what is written of the pairs. Of a damaged one nothing is known. */
static void learn_frame_ids(struct mcap_pairs *s) {
    for (int i = 0; i < 2; i++) {
        struct ros_image image;
        if (read_message(s, &s->side[i ^ s->options.swap], 0, false, &image) == 0 &&
            *image.frame_id)
            s->frame_id[i] = g_strdup(image.frame_id);
    }
    for (int i = 0; i < 2 && s->frame_id[0] && s->frame_id[1]; i++)
        s->source.frame_ids[i] = s->frame_id[i];
}

static void look_at_pair(struct source *source, long index) {
    struct mcap_pairs *s = (struct mcap_pairs *)source;
    struct image pair[2];
    guint number[2] = {(guint)index, 0};
    find_partner(s, number[0], &number[1]);
    if (read_pair(s, number, pair) == 0)
        source_free_pair(pair);
}

/* Size and channels, from the first pair that is whole. */
static int learn_size(struct mcap_pairs *s) {
    guint partner, pairs = 0;
    int error = -EBADMSG;
    for (guint i = 0; i < count_of(&s->side[0]) && error == -EBADMSG && pairs < MAX_DAMAGED; i++) {
        if (!find_partner(s, i, &partner))
            continue;
        pairs++;
        error = learn_pair(s, (const guint[]){i, partner});
    }
    if (!pairs)
        log_error(s->name,
                  "has no pair: no pictures of %s and %s were taken within %.3g ms "
                  "(--sync-tolerance)",
                  s->side[0].channel->topic, s->side[1].channel->topic,
                  (double)s->tolerance_ns / 1e6);
    return error;
}

/* The median time from one of the first pictures of a topic to the next; 0: not known. */
static int64_t interval_of(struct mcap_pairs *s, const struct topic *topic) {
    double steps[INTERVALS];
    int count = 0;
    for (guint i = 1; i < count_of(topic) && count < INTERVALS; i++) {
        int64_t step = time_of(s, topic, i) - time_of(s, topic, i - 1);
        if (step > 0)
            steps[count++] = (double)step;
    }
    return count ? (int64_t)quantile_of(steps, count, 0.5) : 0;
}

/* By when pictures were taken: they may have been recorded with pauses, or played faster. */
static void learn_rate(struct mcap_pairs *s) {
    int64_t left = interval_of(s, &s->side[0]), right = interval_of(s, &s->side[1]);
    int64_t shorter = left && right ? MIN(left, right) : MAX(left, right);
    s->source.count = (long)count_of(&s->side[0]);
    s->source.rate = left ? rate_of_fraction(1e9, (double)left) : 0;
    double half_ms = shorter ? (double)shorter / 2e6 : 500 / RATE_ASSUMED;
    double ms = s->options.sync_tolerance_ms > 0 ? s->options.sync_tolerance_ms : half_ms;
    s->tolerance_ns = (int64_t)(fmin(ms, 1e6) * 1e6);
}

/* Takes FILE,/TOPIC,... apart: at the last comma in front of which is a file or folder. *topics
 * gets what is behind it, NULL: nothing. g_free. */
static char *split_word(const char *word, const char **topics) {
    *topics = NULL;
    if (g_file_test(word, G_FILE_TEST_EXISTS))
        return g_strdup(word);
    const char *first = strstr(word, ",/");
    for (const char *at = first; at; at = strstr(at + 1, ",/")) {
        g_autofree char *path = g_strndup(word, (size_t)(at - word));
        if (at == first || g_file_test(path, G_FILE_TEST_EXISTS))
            *topics = at + 1;
    }
    return *topics ? g_strndup(word, (size_t)(*topics - 1 - word)) : g_strdup(word);
}

static bool is_ros_name(const char *word) {
    static const char *const endings[] = {".mcap",     ".bag", ".bag.active", ".mcap.zstd",
                                          ".mcap.lz4", ".db3", ".db3.zstd"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(word, endings[i]))
            return true;
    return false;
}

char *source_mcap_path(const char *word) {
    const char *topics;
    if (g_str_has_prefix(word, "mcap:"))
        return split_word(word + strlen("mcap:"), &topics);
    return !strstr(word, "://") && (is_ros_name(word) || ros_file_is_folder(word)) ? g_strdup(word)
                                                                                   : NULL;
}

struct source *source_mcap_open(const char *word, const struct source_options *options,
                                int *error) {
    struct mcap_pairs *s = g_new0(struct mcap_pairs, 1);
    const char *behind = NULL;
    g_autofree char *path = g_str_has_prefix(word, "mcap:")
                                ? split_word(word + strlen("mcap:"), &behind)
                                : g_strdup(word);
    g_auto(GStrv) topics = behind ? g_strsplit(behind, ",", -1) : NULL;
    int code;
    s->options = *options;
    s->name = g_strdup(word);
    s->source = (struct source){.name = s->name,
                                .read = mcap_pairs_read,
                                .seek = source_seek_number,
                                .describe = mcap_pairs_describe,
                                .close = mcap_pairs_close};
    s->file = ros_file_open(path, &code);
    if (!code)
        code = open_topics(s, topics);
    if (!code) {
        learn_rate(s);
        code = learn_size(s);
    }
    if (!code) {
        source_learn_bits(&s->source, &s->options, look_at_pair, &s->bits);
        learn_frame_ids(s);
    }
    if (code) {
        mcap_pairs_close(&s->source);
        return source_failed(error, code);
    }
    s->source.rectified = is_rectified(&s->side[0]) && is_rectified(&s->side[1]);
    find_calibration(s);
    return &s->source;
}
