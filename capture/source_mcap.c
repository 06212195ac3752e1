/*
 * Pairs of pictures in an MCAP file or a bag, as ROS 2 and ROS 1 record them: two topics of
 * sensor_msgs Image or CompressedImage. The pictures of a pair are those whose times of capture are
 * nearest to each other, both ways, and within a tolerance; pair n has the left topic's n-th
 * picture. Owned and read by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#include "capture/ros_file.h"
#include "capture/ros_message.h"
#include "capture/source_private.h"
#include "image/picture.h"
#include "config/clock.h"
#include "config/log.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOT_READ INT64_MIN

/* One of the two topics. */
struct topic {
    const struct ros_channel *channel;
    enum ros_type type;
    bool ros1;
    int64_t *times; /* of capture, ns, or NOT_READ */
};

struct mcap_pairs {
    struct source source; /* first */
    char *name, *calibration[2];
    struct ros_file *file;
    struct topic side[2]; /* left, right */
    struct source_options options;
    int64_t tolerance_ns;
    long next;
    bool told; /* that a picture has no partner */
};

static guint count_of(const struct topic *topic) {
    return topic->channel->messages->len;
}

static int64_t log_time(const struct topic *topic, guint i) {
    return g_array_index(topic->channel->messages, struct ros_entry, i).log_ns;
}

/* The bytes are the file's, until the next call. 0 or -errno after a log line. */
static int read_message(struct mcap_pairs *s, const struct topic *topic, guint i,
                        struct ros_image *image) {
    const uint8_t *data;
    size_t size;
    int error = ros_file_read(s->file, topic->channel, i, &data, &size);
    if (error)
        return error;
    error = ros_image_parse(topic->type, topic->ros1, data, size, image);
    if (error)
        log_error(s->name, "message %u of %s is damaged", i, topic->channel->topic);
    return error;
}

/* When picture i was taken: by its message, or where that does not say it when it was recorded. */
static int64_t time_of(struct mcap_pairs *s, const struct topic *topic, guint i) {
    struct ros_image image;
    const uint8_t *data;
    size_t size;
    if (topic->times[i] == NOT_READ) {
        bool known = ros_file_read(s->file, topic->channel, i, &data, &size) == 0 &&
                     ros_image_parse(topic->type, topic->ros1, data, size, &image) == 0 &&
                     image.stamp_ns > 0;
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
    if (right->channel == left->channel)
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
    int error = read_message(s, topic, i, &image);
    if (error)
        return error;
    g_autofree char *name =
        g_strdup_printf("%s: picture %u of %s", s->name, i, topic->channel->topic);
    return ros_image_decode(&image, name, out);
}

static int read_side(struct mcap_pairs *s, int side, guint i, struct image *to) {
    const struct source *source = &s->source;
    struct image picture;
    int error = decode(s, side, i, &picture);
    if (error)
        return -EBADMSG;
    if (picture.width != source->width || picture.height != source->height) {
        log_error(s->name, "picture %u of %s is %dx%d, but the first pair is %dx%d", i,
                  s->side[side].channel->topic, picture.width, picture.height, source->width,
                  source->height);
        error = -EBADMSG;
    } else {
        *to = (struct image){to->data, source->width, source->height, source->channels};
        image_convert(&picture, to);
    }
    picture_free(&picture);
    return error;
}

static int mcap_pairs_read(struct source *source, struct frame *frame) {
    struct mcap_pairs *s = (struct mcap_pairs *)source;
    guint partner = 0;
    for (bool may_wrap = s->options.loop;; s->next++) {
        if (s->next >= source->count && may_wrap) {
            s->next = 0;
            may_wrap = false;
        }
        if (s->next >= source->count)
            return SOURCE_END;
        if (find_partner(s, (guint)s->next, &partner))
            break;
        if (!s->told)
            log_warning(s->name,
                        "picture %ld of %s has no partner within %.3g ms; such are left out",
                        s->next, s->side[0].channel->topic, (double)s->tolerance_ns / 1e6);
        s->told = true;
    }
    guint number[2] = {(guint)s->next++, partner};
    struct image *sides[2] = {&frame->left, &frame->right};
    frame->index = (long)number[0];
    for (int i = 0; i < 2; i++) {
        int from = i ^ (s->options.swap != 0);
        int error = read_side(s, from, number[from], sides[i]);
        if (error)
            return error;
    }
    frame_turn(&s->options, frame);
    frame->has_truth = false;
    frame->left_ns = time_of(s, &s->side[s->options.swap != 0], number[s->options.swap != 0]);
    frame->right_ns = time_of(s, &s->side[!s->options.swap], number[!s->options.swap]);
    frame->taken_ns = clock_ns();
    return 0;
}

static int mcap_pairs_seek(struct source *source, long index) {
    struct mcap_pairs *s = (struct mcap_pairs *)source;
    if (index < 0 || index >= source->count)
        return -EINVAL;
    s->next = index;
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

static bool has_pictures(const struct topic *topic) {
    return topic->type == ROS_IMAGE || topic->type == ROS_COMPRESSED_IMAGE;
}

static bool is_rectified(const struct topic *topic) {
    return strstr(topic->channel->topic, "/rect") || strstr(topic->channel->topic, "_rect");
}

/* Whether a topic's name is the other's, with what names the left one in place of the right. */
static bool names_pair(const char *left, const char *right) {
    static const char *const words[][2] = {{"left", "right"}, {"infra1", "infra2"}, {"0", "1"}};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        g_auto(GStrv) parts = g_strsplit(left, words[i][0], -1);
        g_autofree char *exchanged = g_strjoinv(words[i][1], parts);
        if (strcmp(left, right) != 0 && strcmp(exchanged, right) == 0)
            return true;
    }
    return false;
}

/* The topics of a pair by their names, rectified ones first, then those that are not compressed; or
 * the file's only two topics with pictures. */
static bool choose_topics(const GArray *channels, struct topic side[2]) {
    int best = 0, count = 0;
    struct topic only[2];
    for (guint i = 0; i < channels->len; i++) {
        struct topic left = topic_at(channels, i);
        if (!has_pictures(&left))
            continue;
        if (count < 2)
            only[count] = left;
        count++;
        for (guint k = 0; k < channels->len; k++) {
            struct topic right = topic_at(channels, k);
            int rank = 1 + 2 * is_rectified(&left) + (left.type == ROS_IMAGE);
            if (right.type == left.type && rank > best &&
                names_pair(left.channel->topic, right.channel->topic)) {
                side[0] = left;
                side[1] = right;
                best = rank;
            }
        }
    }
    if (!best && count == 2)
        memcpy(side, only, sizeof only);
    return best || count == 2;
}

static bool find_topic(const GArray *channels, const char *name, struct topic *topic) {
    for (guint i = 0; i < channels->len; i++) {
        *topic = topic_at(channels, i);
        if (has_pictures(topic) && strcmp(topic->channel->topic, name) == 0)
            return true;
    }
    return false;
}

/* Names of all topics with pictures; g_free. *count: how many. */
static char *list_topics(const GArray *channels, int *count) {
    GString *known = g_string_new(NULL);
    *count = 0;
    for (guint i = 0; i < channels->len; i++) {
        struct topic topic = topic_at(channels, i);
        if (has_pictures(&topic))
            g_string_append_printf(known, "%s%s", (*count)++ ? ", " : "", topic.channel->topic);
    }
    return g_string_free(known, FALSE);
}

/* names: of the topics, NULL: by their names in the file. Motion needs one. */
static int find_topics(struct mcap_pairs *s, char **names) {
    const GArray *channels = ros_file_channels(s->file);
    struct topic *side = s->side;
    bool one = s->options.motion_step > 0, found;
    int count;
    g_autofree char *known = list_topics(channels, &count);
    if (names)
        found = g_strv_length(names) == (one ? 1 : 2) && find_topic(channels, names[0], &side[0]) &&
                (one || find_topic(channels, names[1], &side[1]));
    else
        found = choose_topics(channels, side) || (one && find_topic(channels, known, &side[0]));
    if (one)
        side[1] = side[0];
    if (found && !names)
        log_info(s->name, "left is %s, right %s", side[0].channel->topic, side[1].channel->topic);
    if (found)
        return 0;
    if (count == 0)
        log_error(s->name, "holds no pictures: no topic has messages of the type "
                           "sensor_msgs Image or CompressedImage");
    else
        log_error(s->name, "%s; pictures are in %s: write mcap:FILE,%s",
                  names ? "has no such topics" : "has no two topics named left and right", known,
                  one ? "/TOPIC" : "/LEFT,/RIGHT");
    return -EINVAL;
}

static int open_topics(struct mcap_pairs *s, char **names) {
    int error = find_topics(s, names);
    for (int i = 0; i < 2 && !error; i++) {
        s->side[i].times = g_new(int64_t, count_of(&s->side[i]));
        for (guint k = 0; k < count_of(&s->side[i]); k++)
            s->side[i].times[k] = NOT_READ;
    }
    return error;
}

/* ---- opening */

/* What the first message of CameraInfo beside the pictures says. False where there is none, or,
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
            why = "it is damaged or has more than 14 distortion coefficients";
        else if (camera->k[0] > 0 && camera->p[0] > 0)
            return true;
        else
            why = "its K or P has no focal length: the camera was not calibrated";
    }
    if (why)
        log_warning(s->name, "%s cannot be used (%s); --calib FILE names a calibration", info, why);
    return false;
}

/* Of motion the one camera's. */
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
    for (int i = 0; i < cameras; i++)
        s->source.calibration_text[i] = s->calibration[i] = ros_camera_print(&camera[i]);
}

/* Size and channels, from the first pair that is whole. */
static int learn_size(struct mcap_pairs *s) {
    struct source *source = &s->source;
    guint partner, pairs = 0;
    int error = -EBADMSG;
    for (guint i = 0; i < count_of(&s->side[0]) && error == -EBADMSG; i++) {
        struct image picture[2] = {{0}, {0}};
        if (!find_partner(s, i, &partner))
            continue;
        pairs++;
        error = decode(s, 0, i, &picture[0]);
        if (!error)
            error = decode(s, 1, partner, &picture[1]);
        if (!error &&
            (picture[0].width != picture[1].width || picture[0].height != picture[1].height)) {
            log_error(s->name, "has pictures of two sizes: %dx%d and %dx%d", picture[0].width,
                      picture[0].height, picture[1].width, picture[1].height);
            error = -EINVAL;
        }
        source->width = picture[0].width;
        source->height = picture[0].height;
        source->channels = MIN(picture[0].channels, picture[1].channels);
        picture_free(&picture[0]);
        picture_free(&picture[1]);
    }
    if (!pairs)
        log_error(s->name, "has no pair: no pictures of %s and %s were taken within %.3g ms",
                  s->side[0].channel->topic, s->side[1].channel->topic,
                  (double)s->tolerance_ns / 1e6);
    return error;
}

static void learn_rate(struct mcap_pairs *s) {
    const struct topic *left = &s->side[0];
    guint last = count_of(left) - 1;
    double seconds = (double)(log_time(left, last) - log_time(left, 0)) / 1e9;
    s->source.count = (long)last + 1;
    s->source.rate = rate_of_fraction(last, seconds);
    double half_ms = 500 / (s->source.rate > 0 ? s->source.rate : RATE_ASSUMED);
    double ms = s->options.sync_tolerance_ms > 0 ? s->options.sync_tolerance_ms : half_ms;
    s->tolerance_ns = (int64_t)(fmin(ms, 1e6) * 1e6);
}

char *source_mcap_path(const char *word) {
    if (g_str_has_prefix(word, "mcap:"))
        word += strlen("mcap:");
    else if (!g_str_has_suffix(word, ".mcap") && !g_str_has_suffix(word, ".bag"))
        return NULL;
    const char *topics = strstr(word, ",/");
    return topics ? g_strndup(word, (size_t)(topics - word)) : g_strdup(word);
}

struct source *source_mcap_open(const char *word, const struct source_options *options,
                                int *error) {
    struct mcap_pairs *s = g_new0(struct mcap_pairs, 1);
    g_autofree char *path = source_mcap_path(word);
    const char *behind = strstr(word, ",/");
    g_auto(GStrv) topics = behind ? g_strsplit(behind + 1, ",", -1) : NULL;
    int code;
    if (options)
        s->options = *options;
    s->name = g_strdup(word);
    s->source = (struct source){.name = s->name,
                                .pace = options ? options->rate : 0,
                                .read = mcap_pairs_read,
                                .seek = mcap_pairs_seek,
                                .describe = mcap_pairs_describe,
                                .close = mcap_pairs_close};
    s->file = ros_file_open(path, &code);
    if (!code)
        code = open_topics(s, topics);
    if (!code) {
        learn_rate(s);
        code = learn_size(s);
    }
    if (code) {
        mcap_pairs_close(&s->source);
        return source_failed(error, code);
    }
    s->source.rectified = is_rectified(&s->side[0]) && is_rectified(&s->side[1]);
    find_calibration(s);
    return &s->source;
}
