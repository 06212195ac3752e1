/*
 * "gst:PIPELINE": live pairs out of anything that GStreamer reaches, written as for gst-launch with
 * appsinks named left and right, or one named both for pictures side by side. Samples are offered
 * to the pairing by GStreamer's threads under the lock; read takes the newest pair. A pipeline that
 * fails is started again.
 * SPDX-License-Identifier: MIT
 */
#include "capture/controls_gst.h"
#include "capture/pairing.h"
#include "capture/pixel_format.h"
#include "capture/source_private.h"
#include "capture/source_status.h"
#include "config/clock.h"
#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define NS_PER_S 1000000000LL
#define READ_NS (NS_PER_S / 10)
#define FIRST_NS (20 * NS_PER_S) /* network cameras take their time */
#define SILENT_NS (5 * NS_PER_S)
#define RETRY_NS NS_PER_S
#define RATE_TIMES 32

struct stream {
    _Atomic(struct live_gst *) owner; /* set last: hands the rest over to GStreamer's thread */
    int side;
    GstAppSink *sink;
    GstSample *slot[PAIRING_SLOTS], *newest;
    uint32_t sequence;
    int64_t times[RATE_TIMES];
    long came;
    struct camera_status status;
};

struct live_gst {
    struct source source; /* first */
    char *name;
    struct source_options options;
    GstElement *pipeline;
    GstBus *bus;
    int streams, failed;
    int64_t retry_ns;
    char said[256];

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t came;
    struct stream stream[2];
    struct pairing pairing;
    struct pair_of_slots newest;
    int have_newest, ended, told_arrival;
    long passed;
    int64_t seen_ns;
};

/* ---- GStreamer's threads */

static void keep(GstSample **place, GstSample *sample) {
    if (*place)
        gst_sample_unref(*place);
    *place = sample;
}

static void take_pairs(struct live_gst *gst) {
    struct pair_of_slots pair;
    while (pairing_take(&gst->pairing, &pair)) {
        for (int i = 0; i < 2; i++) {
            struct stream *stream = &gst->stream[i];
            keep(&stream->newest, stream->slot[pair.slot[i]]);
            stream->slot[pair.slot[i]] = NULL;
        }
        gst->passed += gst->have_newest;
        gst->newest = pair;
        gst->have_newest = 1;
    }
}

static void take_single(struct live_gst *gst, GstSample *sample, const struct frame_stamp *stamp) {
    keep(&gst->stream[0].newest, sample);
    gst->newest = (struct pair_of_slots){{0, 0}, {*stamp, *stamp}};
    gst->pairing.pairs++;
    gst->passed += gst->have_newest;
    gst->have_newest = 1;
}

/* The capture time on CLOCK_MONOTONIC, which is what GStreamer's usual clock counts. */
static struct frame_stamp stamp_of(struct stream *stream, GstSample *sample) {
    GstClockTime base = gst_element_get_base_time(GST_ELEMENT(stream->sink));
    GstClockTime pts = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    GstClockTime running =
        gst_segment_to_running_time(gst_sample_get_segment(sample), GST_FORMAT_TIME, pts);
    return (struct frame_stamp){.taken_ns = (int64_t)(base + running),
                                .arrived_ns = clock_ns(),
                                .sequence = stream->sequence++,
                                .monotonic = GST_CLOCK_TIME_IS_VALID(running) &&
                                             GST_CLOCK_TIME_IS_VALID(base),
                                .prompt = 1};
}

static GstFlowReturn on_sample(GstAppSink *sink, gpointer context) {
    struct stream *stream = context;
    struct live_gst *gst = atomic_load(&stream->owner);
    GstSample *sample = gst_app_sink_pull_sample(sink);
    if (!sample)
        return GST_FLOW_EOS;
    pthread_mutex_lock(&gst->lock);
    struct frame_stamp stamp = stamp_of(stream, sample);
    gst->seen_ns = stamp.arrived_ns;
    stream->times[stream->came++ % RATE_TIMES] = stamp.arrived_ns;
    stream->status.frames++;
    stream->status.state = CAMERA_STREAMING;
    if (gst->streams == 1) {
        take_single(gst, sample, &stamp);
    } else {
        keep(&stream->slot[pairing_slot(&gst->pairing, stream->side)], sample);
        pairing_offer(&gst->pairing, stream->side, &stamp);
        take_pairs(gst);
    }
    pthread_cond_signal(&gst->came);
    pthread_mutex_unlock(&gst->lock);
    return GST_FLOW_OK;
}

static void on_end(GstAppSink *sink, gpointer context) {
    struct stream *stream = context;
    (void)sink;
    struct live_gst *gst = atomic_load(&stream->owner);
    pthread_mutex_lock(&gst->lock);
    gst->ended = 1;
    pthread_cond_signal(&gst->came);
    pthread_mutex_unlock(&gst->lock);
}

/* ---- the reader */

static int put_picture(const struct live_gst *gst, GstSample *sample, int part, struct image *to) {
    GstVideoInfo info;
    GstVideoFrame video;
    int parts = 3 - gst->streams;
    if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
        GST_VIDEO_INFO_WIDTH(&info) / parts != to->width ||
        GST_VIDEO_INFO_HEIGHT(&info) != to->height ||
        !gst_video_frame_map(&video, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
        return -EBADMSG;
    int channels = GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_GRAY8 ? 1 : 3;
    struct image from = {NULL, to->width, 1, channels}, row = {NULL, to->width, 1, to->channels};
    size_t row_bytes = (size_t)to->width * (size_t)to->channels;
    for (int y = 0; y < to->height; y++) {
        from.data = (uint8_t *)GST_VIDEO_FRAME_PLANE_DATA(&video, 0) +
                    (size_t)y * (size_t)GST_VIDEO_FRAME_PLANE_STRIDE(&video, 0) +
                    (size_t)(part * to->width * channels);
        row.data = to->data + (size_t)y * row_bytes;
        image_convert(&from, &row);
    }
    gst_video_frame_unmap(&video);
    return 0;
}

static void say(struct live_gst *gst, const char *text) {
    if (strcmp(gst->said, text) != 0)
        log_warning(gst->name, "%s", text);
    g_strlcpy(gst->said, text, sizeof gst->said);
}

static void fail(struct live_gst *gst, const char *cause) {
    char text[256];
    g_snprintf(text, sizeof text, "%s; it will be started again", cause);
    say(gst, text);
    gst_element_set_state(gst->pipeline, GST_STATE_NULL);
    gst->failed = 1;
    gst->retry_ns = clock_ns() + RETRY_NS;
    pthread_mutex_lock(&gst->lock);
    gst->ended = 0;
    for (int i = 0; i < gst->streams; i++) {
        gst->stream[i].status.state = CAMERA_AWAY;
        gst->stream[i].status.losses++;
    }
    pthread_mutex_unlock(&gst->lock);
}

static void restart(struct live_gst *gst) {
    gst_bus_set_flushing(gst->bus, TRUE);
    gst_bus_set_flushing(gst->bus, FALSE);
    pthread_mutex_lock(&gst->lock);
    pairing_restart(&gst->pairing);
    gst->seen_ns = clock_ns();
    gst->told_arrival = 0;
    pthread_mutex_unlock(&gst->lock);
    gst->failed = 0;
    gst_element_set_state(gst->pipeline, GST_STATE_PLAYING);
}

/* Looks for what has gone wrong, and after a failure starts again. */
static void watch(struct live_gst *gst) {
    GstMessage *message = gst_bus_pop_filtered(gst->bus, GST_MESSAGE_ERROR);
    pthread_mutex_lock(&gst->lock);
    int64_t silent = clock_ns() - gst->seen_ns;
    int tell = gst->pairing.mode == PAIR_BY_ARRIVAL && !gst->told_arrival;
    gst->told_arrival |= tell;
    int culprit = gst->pairing.culprit;
    const char *reason = gst->pairing.reason;
    pthread_mutex_unlock(&gst->lock);
    if (tell)
        log_warning(gst->stream[culprit].status.name,
                    "%s; the cameras are paired by arrival, "
                    "which is less exact",
                    reason);
    if (message) {
        GError *error = NULL;
        gst_message_parse_error(message, &error, NULL);
        if (!gst->failed)
            fail(gst, error->message);
        g_error_free(error);
        gst_message_unref(message);
    } else if (!gst->failed && silent > SILENT_NS) {
        fail(gst, "gives no frames");
    } else if (gst->failed && clock_ns() >= gst->retry_ns) {
        restart(gst);
    } else if (!gst->failed && gst->said[0] && silent < NS_PER_S / 2) {
        log_info(gst->name, "gives frames again");
        gst->said[0] = '\0';
    }
}

/* Waits for a pair: 0, SOURCE_END or -EAGAIN. The samples are the caller's. */
static int wait_for_pair(struct live_gst *gst, GstSample *samples[2], struct frame *frame) {
    struct timespec due = clock_time(clock_ns() + READ_NS);
    int status = 0;
    pthread_mutex_lock(&gst->lock);
    while (!gst->have_newest && !gst->ended && status == 0)
        status = pthread_cond_timedwait(&gst->came, &gst->lock, &due);
    if (gst->have_newest) {
        gst->have_newest = 0;
        for (int i = 0; i < gst->streams; i++)
            samples[i] = g_steal_pointer(&gst->stream[i].newest);
        frame->index = gst->pairing.pairs - 1;
        frame->left_ns = gst->newest.stamp[gst->options.swap].taken_ns;
        frame->right_ns = gst->newest.stamp[!gst->options.swap].taken_ns;
        status = 0;
    } else {
        status = gst->ended ? SOURCE_END : -EAGAIN;
    }
    pthread_mutex_unlock(&gst->lock);
    return status;
}

static int live_gst_read(struct source *source, struct frame *frame) {
    struct live_gst *gst = (struct live_gst *)source;
    GstSample *samples[2] = {NULL, NULL};
    watch(gst);
    int status = wait_for_pair(gst, samples, frame);
    if (status == SOURCE_END) { /* of its own, or after an error, which is told first */
        watch(gst);
        status = gst->failed ? -EAGAIN : SOURCE_END;
    }
    if (status)
        return status;
    struct image *sides[2] = {&frame->left, &frame->right};
    for (int i = 0; i < 2; i++) {
        int from = i ^ gst->options.swap;
        *sides[i] = (struct image){sides[i]->data, source->width, source->height, source->channels};
        int error = gst->streams == 2 ? put_picture(gst, samples[from], 0, sides[i])
                                      : put_picture(gst, samples[0], from, sides[i]);
        status = status ? status : error;
    }
    frame_turn(&gst->options, frame);
    for (int i = 0; i < 2 && samples[i]; i++)
        gst_sample_unref(samples[i]);
    if (status)
        log_error(gst->name, "a picture is not %dx%d any more", source->width, source->height);
    frame->has_truth = 0;
    frame->taken_ns = clock_ns();
    return status;
}

static double rate_of(const struct stream *stream) {
    int count = stream->came < RATE_TIMES ? (int)stream->came : RATE_TIMES;
    if (count < 2)
        return 0;
    int64_t last = stream->times[(stream->came - 1) % RATE_TIMES];
    int64_t first = stream->times[(stream->came - count) % RATE_TIMES];
    return last > first ? (count - 1) * 1e9 / (double)(last - first) : 0;
}

static void live_gst_status(struct source *source, struct source_status *status) {
    struct live_gst *gst = (struct live_gst *)source;
    *status = (struct source_status){0};
    pthread_mutex_lock(&gst->lock);
    status->pairs = gst->pairing.pairs;
    status->passed = gst->passed;
    status->by_arrival = gst->pairing.mode == PAIR_BY_ARRIVAL;
    pairing_get_gaps(&gst->pairing, &status->gaps);
    for (int i = 0; i < 2; i++) {
        const struct stream *stream = &gst->stream[i < gst->streams ? i : 0];
        status->camera[i] = stream->status;
        status->camera[i].rate = rate_of(stream);
        status->camera[i].unpaired = gst->pairing.side[i].unpaired;
    }
    if (gst->stream[0].status.state == CAMERA_AWAY)
        g_snprintf(status->banner, sizeof status->banner, "%.32s... gives no frames, for %.0f s",
                   gst->name, (double)(clock_ns() - gst->seen_ns) / 1e9);
    pthread_mutex_unlock(&gst->lock);
}

static void live_gst_close(struct source *source) {
    struct live_gst *gst = (struct live_gst *)source;
    for (int i = 0; i < 2; i++)
        controls_restore(source->controls, i);
    controls_close(&source->controls);
    if (gst->pipeline) {
        gst_element_set_state(gst->pipeline, GST_STATE_NULL);
        gst_object_unref(gst->bus);
    }
    pthread_mutex_lock(&gst->lock); /* no callback is under way any more; what they did is seen */
    for (int i = 0; i < 2; i++) {
        struct stream *stream = &gst->stream[i];
        for (int s = 0; s < PAIRING_SLOTS; s++)
            g_clear_pointer(&stream->slot[s], gst_sample_unref);
        g_clear_pointer(&stream->newest, gst_sample_unref);
        gst_clear_object(&stream->sink);
    }
    pthread_mutex_unlock(&gst->lock);
    gst_clear_object(&gst->pipeline);
    pthread_cond_destroy(&gst->came);
    pthread_mutex_destroy(&gst->lock);
    g_free(gst->name);
    g_free(gst);
}

/* ---- opening */

static GstAppSink *find_sink(struct live_gst *gst, const char *name) {
    GstElement *element = gst_bin_get_by_name(GST_BIN(gst->pipeline), name);
    if (element && GST_IS_APP_SINK(element))
        return GST_APP_SINK(element);
    gst_clear_object(&element);
    return NULL;
}

static int find_sinks(struct live_gst *gst) {
    gst->stream[0].sink = find_sink(gst, "both");
    gst->streams = gst->stream[0].sink ? 1 : 2;
    if (gst->streams == 2) {
        gst->stream[0].sink = find_sink(gst, "left");
        gst->stream[1].sink = find_sink(gst, "right");
    }
    if (!gst->stream[0].sink || (gst->streams == 2 && !gst->stream[1].sink)) {
        log_error(gst->name,
                  "has no sinks for us; end it in \"! videoconvert ! appsink name=left\" and "
                  "name=right, or in one appsink name=both");
        return -EINVAL;
    }
    GstCaps *caps = gst_caps_from_string("video/x-raw,format=(string){RGB,GRAY8}");
    for (int i = 0; i < gst->streams; i++) {
        struct stream *stream = &gst->stream[i];
        GstAppSinkCallbacks callbacks = {.new_sample = on_sample, .eos = on_end};
        stream->side = i;
        g_snprintf(stream->status.name, sizeof stream->status.name, "%s: %.32s",
                   gst->streams == 1 ? "camera"
                   : i               ? "right camera"
                                     : "left camera",
                   gst->name);
        g_object_set(stream->sink, "caps", caps, "max-buffers", 2, "drop", TRUE, NULL);
        atomic_store(&stream->owner, gst);
        gst_app_sink_set_callbacks(stream->sink, &callbacks, stream, NULL);
    }
    gst_caps_unref(caps);
    return 0;
}

static int open_pipeline(struct live_gst *gst, const char *text) {
    GError *error = NULL;
    if (gst_init_check(NULL, NULL, &error))
        gst->pipeline = gst_parse_launch(text, &error);
    if (!gst->pipeline || error) {
        log_error(gst->name, "%s", error ? error->message : "GStreamer does not start");
        g_clear_error(&error);
        gst_clear_object(&gst->pipeline);
        return -EINVAL;
    }
    gst->bus = gst_element_get_bus(gst->pipeline);
    if (!GST_IS_BIN(gst->pipeline)) {
        log_error(gst->name, "is one element, not a pipeline");
        return -EINVAL;
    }
    return find_sinks(gst);
}

/* Where the pipeline has elements that offer some. */
static void find_controls(struct live_gst *gst) {
    struct controls *controls = gst->source.controls = controls_open();
    int found = 0;
    for (int i = 0; controls && i < gst->streams; i++)
        found += controls_gst_attach(controls, i, GST_ELEMENT(gst->stream[i].sink)) == 0;
    if (!found)
        controls_close(&gst->source.controls);
}

/* Size, colour and rate of one stream from its caps; 0, or -EAGAIN as long as it has none. */
static int learn_stream(struct live_gst *gst, int i, GstVideoInfo *info) {
    GstPad *pad = gst_element_get_static_pad(GST_ELEMENT(gst->stream[i].sink), "sink");
    GstCaps *caps = gst_pad_get_current_caps(pad);
    int known = caps && gst_video_info_from_caps(info, caps);
    gst_clear_caps(&caps);
    gst_object_unref(pad);
    return known ? 0 : -EAGAIN;
}

static int wait_for_first(struct live_gst *gst, GstVideoInfo info[2]) {
    int64_t until = clock_ns() + FIRST_NS;
    while (clock_ns() < until) {
        int status = 0;
        for (int i = 0; i < gst->streams; i++)
            status |= learn_stream(gst, i, &info[i]);
        if (!status)
            return 0;
        GstMessage *message =
            gst_bus_timed_pop_filtered(gst->bus, 20 * GST_MSECOND, GST_MESSAGE_ERROR);
        if (!message)
            continue;
        GError *error = NULL;
        gst_message_parse_error(message, &error, NULL);
        log_error(gst->name, "%s (RGB or GRAY8 is taken; put videoconvert before the appsink)",
                  error->message);
        g_error_free(error);
        gst_message_unref(message);
        return -EIO;
    }
    log_error(gst->name, "gave no picture in %d s", (int)(FIRST_NS / NS_PER_S));
    return -ETIMEDOUT;
}

static int learn(struct live_gst *gst) {
    GstVideoInfo info[2];
    struct source *source = &gst->source;
    gst_video_info_init(&info[0]);
    gst_video_info_init(&info[1]);
    gst_element_set_state(gst->pipeline, GST_STATE_PLAYING);
    int error = wait_for_first(gst, info);
    if (error)
        return error;
    if (gst->streams == 1)
        info[1] = info[0];
    if (info[0].width != info[1].width || info[0].height != info[1].height) {
        log_error(gst->name, "left is %dx%d but right is %dx%d; both must be of one size",
                  info[0].width, info[0].height, info[1].width, info[1].height);
        return -EINVAL;
    }
    int64_t interval[2] = {0, 0};
    source->channels = 3;
    for (int i = 0; i < 2; i++) {
        if (GST_VIDEO_INFO_FORMAT(&info[i]) == GST_VIDEO_FORMAT_GRAY8)
            source->channels = 1;
        if (info[i].fps_n > 0 && info[i].fps_d > 0)
            interval[i] = NS_PER_S * info[i].fps_d / info[i].fps_n;
    }
    source->width = gst->streams == 2 ? info[0].width : info[0].width / 2;
    source->height = info[0].height;
    source->rate = interval[0] ? 1e9 / (double)interval[0] : 0;
    pthread_mutex_lock(&gst->lock); /* samples have come since: from here on they are paired */
    pairing_restart(&gst->pairing);
    long pairs = gst->pairing.pairs;
    pairing_init(&gst->pairing, (int64_t)(gst->options.sync_tolerance_ms * 1e6), interval);
    gst->pairing.pairs = pairs;
    pthread_mutex_unlock(&gst->lock);
    return 0;
}

struct source *source_live_gst_open(const char *word, const struct source_options *options,
                                    int *error) {
    struct live_gst *gst = g_new0(struct live_gst, 1);
    gst->name = g_strdup(word);
    if (options)
        gst->options = *options;
    gst->options.swap = gst->options.swap != 0;
    gst->source = (struct source){.name = gst->name,
                                  .live = 1,
                                  .count = -1,
                                  .read = live_gst_read,
                                  .get_status = live_gst_status,
                                  .close = live_gst_close};
    clock_cond_init(&gst->came);
    pthread_mutex_init(&gst->lock, NULL);
    pairing_init(&gst->pairing, 0, (const int64_t[]){0, 0});
    gst->seen_ns = clock_ns();
    int code = open_pipeline(gst, strchr(word, ':') + 1);
    if (!code)
        code = learn(gst);
    if (!code)
        find_controls(gst);
    if (!code)
        return &gst->source;
    live_gst_close(&gst->source);
    return source_failed(error, code);
}
