/*
 * Opening the cameras of v4l2_source.c: which they are, in which mode, grey or colour.
 * SPDX-License-Identifier: MIT
 */
#include "capture/v4l2/v4l2_source_private.h"

#include "image/pixel_format.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <glib.h>
#include <libv4l2.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_NS 5000000000LL /* a camera must have given a frame by then */
#define POLL_TIMEOUT_MS 50

static int identify(struct v4l2 *v4l2, const char *const words[2]) {
    struct device_list list;
    int error = device_list_read(&list);
    for (int i = 0; i < 2 && i < v4l2->streams && !error; i++) {
        char why[512];
        const struct device *device = device_list_find(&list, words[i], why, sizeof why);
        if (!device) {
            error = log_fail(-ENODEV, words[i], "%s", why);
        } else {
            v4l2->stream[i].identity = device->identity;
            if (device->error) /* opening it again explains why */
                snprintf(v4l2->stream[i].identity.bus, sizeof device->identity.bus, "%s",
                         device->node);
        }
    }
    if (!error && v4l2->streams == 2 &&
        strcmp(v4l2->stream[0].identity.bus, v4l2->stream[1].identity.bus) == 0)
        error = log_fail(-EINVAL, v4l2->name, "left and right are the same camera");
    device_list_free(&list);
    return error;
}

/* A first call may fail for passing reasons (a node that just came, a driver that was being
 * closed). */
static int open_camera(struct v4l2 *v4l2, int number) {
    struct v4l2_stream *stream = &v4l2->stream[number];
    int error = stream_open(v4l2, number);
    if (error == -EINVAL || error == -EIO || error == -ENODEV || error == -EPROTO) {
        log_debug(stream->status.name, "%s; once more", stream->camera.reason);
        g_usleep(100000);
        error = stream_open(v4l2, number);
    }
    if (error)
        return log_fail(error, stream->status.name[0] ? stream->status.name : stream->side, "%s",
                        stream->camera.reason);
    const struct camera_mode *mode = &stream->camera.mode;
    char text[64];
    log_info(stream->status.name, "%s", mode_print(mode, text, sizeof text));
    stream->wish = (struct mode_wish){mode->fourcc, mode->width, mode->height, mode->rate, 0};
    stream->slot_bytes = stream->camera.frame_bytes;
    for (int s = 0; s < PAIRING_SLOTS; s++) {
        stream->slot[s] = malloc(stream->slot_bytes);
        if (!stream->slot[s])
            return log_fail(-ENOMEM, stream->status.name, "out of memory");
    }
    const struct pixel_format *format = pixel_format_find(mode->fourcc);
    stream->channels = format ? format->channels : 3;
    return 0;
}

static int open_cameras(struct v4l2 *v4l2) {
    const struct source_options *options = &v4l2->options;
    struct mode_wish wish = {0, options->width, options->height, options->rate, 0};
    if (options->format[0]) {
        const struct pixel_format *format = pixel_format_named(options->format);
        if (!format)
            return log_fail(-EINVAL, "--format",
                            "there is no format %s; MJPG, YUYV, UYVY, NV12, GREY, Y10, Y12 and Y16"
                            " are known",
                            options->format);
        wish.fourcc = format->fourcc;
    }
    if (v4l2->streams == 1 && !v4l2->whole)
        wish.width *= 2;
    v4l2->stream[0].wish = wish;
    int error = open_camera(v4l2, 0);
    if (error || v4l2->streams == 1)
        return error;
    v4l2->stream[1].wish = v4l2->stream[0].wish; /* like the left one */
    v4l2->stream[1].wish.fourcc = wish.fourcc;
    return open_camera(v4l2, 1);
}

/* Grey or colour: JPEG frames say it themselves. */
static int learn_channels(struct v4l2 *v4l2) {
    int64_t until = clock_ns() + FIRST_NS;
    for (int i = 0; i < v4l2->streams; i++) {
        struct v4l2_stream *stream = &v4l2->stream[i];
        while (stream->channels == 0) {
            struct pollfd polled = {stream->camera.fd, POLLIN, 0};
            struct camera_frame frame;
            int width, height;
            poll(&polled, 1, POLL_TIMEOUT_MS);
            int error = v4l2_camera_take(&stream->camera, stream->slot[0], &frame);
            if (!error && mjpeg_look(v4l2->mjpeg, stream->slot[0], frame.bytes, &width, &height,
                                     &stream->channels))
                stream->channels = 0;
            if (error && error != -EAGAIN)
                return log_fail(error, stream->status.name, "%s", stream->camera.reason);
            if (stream->channels == 0 && clock_ns() > until)
                return log_fail(-ETIMEDOUT, stream->status.name,
                                "gave no picture in %d s; plug it in again",
                                (int)(FIRST_NS / 1000000000));
        }
    }
    return 0;
}

static int learn(struct v4l2 *v4l2) {
    struct source *source = &v4l2->source;
    const struct camera_mode *left = &v4l2->stream[0].camera.mode;
    int error = learn_channels(v4l2);
    if (error)
        return error;
    source->width = left->width;
    source->height = left->height;
    source->rate = left->rate;
    source->channels = v4l2->stream[0].channels;
    if (v4l2->streams == 2 && v4l2->stream[1].channels < source->channels)
        source->channels = v4l2->stream[1].channels;
    int64_t interval[2];
    for (int i = 0; i < 2; i++) {
        double rate = v4l2->stream[i < v4l2->streams ? i : 0].camera.mode.rate;
        interval[i] = rate > 0 ? (int64_t)(1e9 / rate) : 0;
    }
    pairing_init(&v4l2->pairing, (int64_t)(v4l2->options.sync_tolerance_ms * 1e6), interval);
    v4l2->pairing.single = v4l2->streams == 1;
    if (v4l2->streams == 2 || v4l2->whole)
        return 0;
    v4l2->wide = (struct image){
        malloc((size_t)left->width * (size_t)left->height * (size_t)source->channels), left->width,
        left->height, source->channels};
    source->width /= 2;
    if (!v4l2->wide.data || left->width % 2)
        return log_fail(-EINVAL, v4l2->name,
                        v4l2->wide.data ? "is of odd width, which cannot be split"
                                        : "out of memory");
    return 0;
}

int v4l2_parse_word(const char *word, bool motion, char ***words) {
    int side_by_side = strncmp(word, "sbs:", 4) == 0, whole = motion && !strchr(word, ',');
    int count = side_by_side || whole ? 1 : 2;
    *words = g_strsplit(strchr(word, ':') + 1, ",", count);
    if ((int)g_strv_length(*words) == count && (*words)[0][0] && (*words)[count - 1][0])
        return count;
    const char *wanted = "needs two cameras: v4l2:LEFT,RIGHT";
    if (side_by_side)
        wanted = "names no camera; write sbs:DEVICE";
    else if (whole)
        wanted = "names no camera; write v4l2:DEVICE";
    return log_fail(-EINVAL, word, "%s (livestereo list shows the names)", wanted);
}

struct source *source_v4l2_open(const char *word, const struct source_options *options,
                                int *error) {
    v4l2_log_file = NULL; /* what libv4l2 says is said in our own words */
    struct v4l2 *v4l2 = g_new0(struct v4l2, 1);
    v4l2->name = g_strdup(word);
    v4l2->options = *options;
    v4l2->source = (struct source){.name = v4l2->name,
                                   .live = 1,
                                   .count = -1,
                                   .read = streams_read,
                                   .get_status = streams_get_status,
                                   .set_tap = streams_set_tap,
                                   .close = streams_free};
    pthread_mutex_init(&v4l2->lock, NULL);
    for (int i = 0; i < 2; i++) {
        v4l2->stream[i].camera.fd = -1;
        v4l2->stream[i].side = i ? "right camera" : "left camera";
    }
    v4l2->source.controls = controls_open();
    v4l2->mjpeg = mjpeg_open();
    if (!v4l2->mjpeg || !v4l2->source.controls)
        log_error(word, "out of memory");
    g_auto(GStrv) words = NULL;
    int code = -ENOMEM;
    if (v4l2->mjpeg && v4l2->source.controls) {
        code = v4l2_parse_word(word, v4l2->options.motion_step > 0, &words);
        v4l2->streams = code > 0 ? code : 0;
        v4l2->whole = code == 1 && strncmp(word, "sbs:", 4) != 0;
        code = code > 0 ? 0 : code;
        if (!code && g_str_has_prefix(word, "sbs:") && options->pictures == PICTURES_TOP_BOTTOM)
            code = log_fail(-EINVAL, word,
                            "has its pictures side by side; a camera that has them below each "
                            "other is opened as \"gst:v4l2src device=DEVICE ! videoconvert ! "
                            "appsink name=both\"");
    }
    if (v4l2->streams == 1)
        v4l2->stream[0].side = "camera";
    if (!code) {
        bool swapped = v4l2->streams == 2 && v4l2->options.swap;
        const char *const ordered[2] = {words[swapped],
                                        v4l2->streams == 2 ? words[!swapped] : NULL};
        code = identify(v4l2, ordered);
    }
    if (!code)
        code = open_cameras(v4l2);
    if (!code)
        code = learn(v4l2);
    if (code) {
        streams_free(&v4l2->source);
        return source_failed(error, code);
    }
    status_publish(v4l2, 1);
    return &v4l2->source;
}
