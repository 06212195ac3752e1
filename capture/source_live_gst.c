/*
 * "gst:PIPELINE": live pairs out of anything that GStreamer reaches, written as for gst-launch with
 * appsinks named left and right, one named both for pictures side by side, or, for motion, one
 * named picture. Samples are offered to the pairing by GStreamer's threads under the lock; read
 * takes the newest pair. A pipeline that fails is started again. Opening: source_live_gst_open.c.
 * SPDX-License-Identifier: MIT
 */
#include "capture/source_live_gst_private.h"

#include "capture/controls.h"
#include "image/pixel_format.h"
#include "config/clock.h"
#include "config/log.h"

#include <errno.h>
#include <string.h>

#define READ_NS (NS_PER_S / 10)
#define SILENT_NS (5 * NS_PER_S)
#define RETRY_NS NS_PER_S

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
    const GstSegment *segment = gst_sample_get_segment(sample);
    GstClockTime running = segment->format == GST_FORMAT_TIME
                               ? gst_segment_to_running_time(segment, GST_FORMAT_TIME, pts)
                               : GST_CLOCK_TIME_NONE;
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

void live_gst_listen(struct live_gst *gst, struct stream *stream) {
    GstAppSinkCallbacks callbacks = {.new_sample = on_sample, .eos = on_end};
    atomic_store(&stream->owner, gst);
    gst_app_sink_set_callbacks(stream->sink, &callbacks, stream, NULL);
}

/* ---- the reader */

static int put_picture(const struct live_gst *gst, GstSample *sample, int part, struct image *to) {
    GstVideoInfo info;
    GstVideoFrame video;
    int parts = gst->whole ? 1 : 3 - gst->streams;
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
        int two = gst->streams == 2;
        int error =
            put_picture(gst, samples[two ? from : 0], two || gst->whole ? 0 : from, sides[i]);
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
        gst_clear_object(&gst->bus);
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
    int code = live_gst_begin(gst, strchr(word, ':') + 1);
    if (!code)
        return &gst->source;
    live_gst_close(&gst->source);
    return source_failed(error, code);
}
