/*
 * "gst:PIPELINE": live pairs out of anything that GStreamer reaches, written as for gst-launch with
 * appsinks named left and right, one named both for pictures side by side, or, for motion, one
 * named picture. Samples are offered to the pairing by GStreamer's threads under the lock; read
 * takes the newest pair. A pipeline that fails is started again. Opening: source_live_gst_open.c.
 * SPDX-License-Identifier: MIT
 */
#include "capture/gst/source_live_gst_private.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>
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

/* A pair replaces the one before it, whose samples go back to the pipeline. */
static void keep_pair(struct live_gst *gst, const struct pair_of_slots *pair) {
    for (int i = 0; i < gst->streams; i++) {
        struct stream *stream = &gst->stream[i];
        keep(&stream->newest, g_steal_pointer(&stream->slot[pair->slot[i]]));
    }
    gst->passed += gst->have_newest;
    gst->newest = *pair;
    gst->have_newest = true;
}

/* The capture time on CLOCK_MONOTONIC, which is what GStreamer's usual clock counts. */
static struct frame_stamp stamp_of(struct stream *stream, GstSample *sample) {
    GstClockTime base = gst_element_get_base_time(GST_ELEMENT(stream->sink));
    GstClockTime pts = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    const GstSegment *segment = gst_sample_get_segment(sample);
    GstClockTime running = segment->format == GST_FORMAT_TIME
                               ? gst_segment_to_running_time(segment, GST_FORMAT_TIME, pts)
                               : GST_CLOCK_TIME_NONE;
    return (struct frame_stamp){.capture_ns = (int64_t)(base + running),
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
    LOCKED(&gst->lock);
    struct frame_stamp stamp = stamp_of(stream, sample);
    gst->seen_ns = stamp.arrived_ns;
    camera_came(&stream->status, stamp.arrived_ns);
    stream->status.state = CAMERA_STREAMING;
    struct pair_of_slots pair;
    keep(&stream->slot[pairing_slot(&gst->pairing, stream->side)], sample);
    if (pairing_offer(&gst->pairing, stream->side, &stamp, &pair))
        keep_pair(gst, &pair);
    pthread_cond_signal(&gst->came);
    return GST_FLOW_OK;
}

static void on_end(GstAppSink *sink, gpointer context) {
    struct stream *stream = context;
    (void)sink;
    struct live_gst *gst = atomic_load(&stream->owner);
    LOCKED(&gst->lock);
    gst->ended = true;
    pthread_cond_signal(&gst->came);
}

void live_gst_listen(struct live_gst *gst, struct stream *stream) {
    GstAppSinkCallbacks callbacks = {.new_sample = on_sample, .eos = on_end};
    atomic_store(&stream->owner, gst);
    gst_app_sink_set_callbacks(stream->sink, &callbacks, stream, NULL);
}

/* ---- the reader */

static void warn_once(struct live_gst *gst, const char *text) {
    if (strcmp(gst->last_warning, text) != 0)
        log_warning(gst->name, "%s", text);
    g_strlcpy(gst->last_warning, text, sizeof gst->last_warning);
}

static void fail(struct live_gst *gst, const char *cause) {
    char text[256];
    g_snprintf(text, sizeof text, "%s; it will be started again", cause);
    warn_once(gst, text);
    gst_element_set_state(gst->pipeline, GST_STATE_NULL);
    gst->failed = true;
    gst->retry_ns = clock_ns() + RETRY_NS;
    LOCKED(&gst->lock);
    gst->ended = false;
    for (int i = 0; i < gst->streams; i++) {
        gst->stream[i].status.state = CAMERA_AWAY;
        gst->stream[i].status.losses++;
    }
}

static void restart(struct live_gst *gst) {
    gst_bus_set_flushing(gst->bus, TRUE);
    gst_bus_set_flushing(gst->bus, FALSE);
    pthread_mutex_lock(&gst->lock);
    pairing_restart(&gst->pairing);
    gst->seen_ns = clock_ns();
    pthread_mutex_unlock(&gst->lock);
    gst->failed = false;
    gst_element_set_state(gst->pipeline, GST_STATE_PLAYING);
}

/* Looks for what has gone wrong, and after a failure starts again. */
static void watch(struct live_gst *gst) {
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(gst->bus, GST_MESSAGE_ERROR);
    g_autoptr(GError) error = NULL;
    pthread_mutex_lock(&gst->lock);
    int64_t silent = clock_ns() - gst->seen_ns;
    source_tell_arrival(&gst->pairing, gst->stream[gst->pairing.unusable].status.name);
    pthread_mutex_unlock(&gst->lock);
    if (message) {
        gst_message_parse_error(message, &error, NULL);
        if (!gst->failed)
            fail(gst, error->message);
    } else if (!gst->failed && silent > SILENT_NS) {
        fail(gst, "gives no frames");
    } else if (gst->failed && clock_ns() >= gst->retry_ns) {
        restart(gst);
    } else if (!gst->failed && gst->last_warning[0] && silent < NS_PER_S / 2) {
        log_info(gst->name, "gives frames again");
        gst->last_warning[0] = '\0';
    }
}

/* Waits for a pair: 0, SOURCE_END or -EAGAIN. The samples are the caller's. */
static int wait_for_pair(struct live_gst *gst, GstSample *samples[2], struct frame *frame) {
    struct timespec due = clock_time(clock_ns() + READ_NS);
    int status = 0;
    LOCKED(&gst->lock);
    while (!gst->have_newest && !gst->ended && status == 0)
        status = pthread_cond_timedwait(&gst->came, &gst->lock, &due);
    if (gst->have_newest) {
        gst->have_newest = false;
        for (int i = 0; i < gst->streams; i++)
            samples[i] = g_steal_pointer(&gst->stream[i].newest);
        frame->index = gst->pairing.pairs - 1;
        frame->left_ns = gst->newest.stamp[gst->options.swap].capture_ns;
        frame->right_ns = gst->newest.stamp[!gst->options.swap].capture_ns;
        status = 0;
    } else {
        status = gst->ended ? SOURCE_END : -EAGAIN;
    }
    return status;
}

static int live_gst_read(struct source *source, struct frame *frame) {
    struct live_gst *gst = (struct live_gst *)source;
    GstSample *samples[2] = {NULL, NULL};
    watch(gst);
    int status = wait_for_pair(gst, samples, frame);
    if (status == SOURCE_END) { /* of its own, or after an error, which is returned first */
        watch(gst);
        status = gst->failed ? -EAGAIN : SOURCE_END;
    }
    if (status)
        return status;
    status = gst_pair_put(&gst->pair, source, &gst->options, samples, gst->streams, frame);
    for (int i = 0; i < 2 && samples[i]; i++)
        gst_sample_unref(samples[i]);
    if (status && !gst->told_size)
        log_error(gst->name,
                  "gives pictures that are not %dx%d any more, which are left out; open it again, "
                  "or put videoscale and caps of this size before the appsink",
                  source->width, source->height);
    gst->told_size = status != 0;
    return status;
}

static void live_gst_status(struct source *source, struct source_status *status) {
    struct live_gst *gst = (struct live_gst *)source;
    LOCKED(&gst->lock);
    source_status_fill(status, &gst->pairing, &gst->stream[0].status,
                       gst->streams == 2 ? &gst->stream[1].status : NULL, gst->passed, clock_ns());
    if (gst->stream[0].status.state == CAMERA_AWAY)
        g_snprintf(status->banner, sizeof status->banner, "%.32s... gives no frames, for %.0f s",
                   gst->name, (double)(clock_ns() - gst->seen_ns) / 1e9);
}

static void live_gst_close(struct source *source) {
    struct live_gst *gst = (struct live_gst *)source;
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
    gst->options = *options;
    gst->source = (struct source){.name = gst->name,
                                  .live = true,
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
