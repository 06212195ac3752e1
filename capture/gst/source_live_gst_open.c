/*
 * Opening a "gst:" source: the pipeline, its appsinks, and what their first pictures are like. On
 * the thread that opens the source; samples come on those of GStreamer meanwhile.
 * SPDX-License-Identifier: MIT
 */
#include "capture/gst/source_live_gst_private.h"

#include "capture/gst/gst_launch.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>

#define FIRST_NS (20 * NS_PER_S) /* network cameras take their time */

static GstAppSink *find_sink(struct live_gst *gst, const char *name) {
    GstElement *element = gst_bin_get_by_name(GST_BIN(gst->pipeline), name);
    if (element && GST_IS_APP_SINK(element))
        return GST_APP_SINK(element);
    gst_clear_object(&element);
    return NULL;
}

static int find_sinks(struct live_gst *gst) {
    if (gst->options.motion_step > 0)
        gst->stream[0].sink = find_sink(gst, "picture");
    gst->pair.pictures = PICTURES_ONE;
    if (!gst->stream[0].sink && (gst->stream[0].sink = find_sink(gst, "both")) != NULL)
        gst->pair.pictures = PICTURES_AUTO;
    gst->pairing.single = gst->stream[0].sink != NULL;
    gst->streams = gst->pairing.single ? 1 : 2;
    if (gst->streams == 2) {
        gst->stream[0].sink = find_sink(gst, "left");
        gst->stream[1].sink = find_sink(gst, "right");
    }
    if (!gst->stream[0].sink || (gst->streams == 2 && !gst->stream[1].sink))
        return log_fail(-EINVAL, gst->name,
                        "has no sinks for us; end it in \"! videoconvert ! appsink name=left\" and "
                        "name=right, or in one appsink name=both%s",
                        gst->options.motion_step > 0 ? ", or in one name=picture of one camera"
                                                     : "");
    g_autoptr(GstCaps) caps = gst_caps_from_string(GST_PAIR_CAPS);
    static const char *const sides[2] = {"left camera", "right camera"};
    for (int i = 0; i < 2 && i < gst->streams; i++) {
        struct stream *stream = &gst->stream[i];
        stream->side = i;
        g_snprintf(stream->status.name, sizeof stream->status.name, "%s: %.32s",
                   gst->streams == 1 ? "camera" : sides[i], gst->name);
        g_object_set(stream->sink, "caps", caps, "max-buffers", 2, "drop", TRUE, NULL);
        live_gst_listen(gst, stream);
    }
    return 0;
}

static int open_pipeline(struct live_gst *gst, const char *text) {
    g_autoptr(GError) error = NULL;
    gst->pipeline = gst_launch(text, &error);
    if (!gst->pipeline)
        return log_fail(-EINVAL, gst->name, "%s", error->message);
    gst->bus = gst_element_get_bus(gst->pipeline);
    if (!GST_IS_BIN(gst->pipeline))
        return log_fail(-EINVAL, gst->name, "is one element, not a pipeline");
    return find_sinks(gst);
}

/* Whether a stream gives pictures, or what else it is, without caps of a video before them. */
static bool gives_no_video(struct live_gst *gst, int i, GstVideoInfo *info) {
    LOCKED(&gst->lock);
    return gst->stream[i].status.came > 0 && !gst_launch_sink_info(gst->stream[i].sink, info);
}

static int wait_for_first(struct live_gst *gst, GstVideoInfo info[2]) {
    int64_t until = clock_ns() + FIRST_NS;
    while (clock_ns() < until) {
        bool known = true;
        for (int i = 0; i < gst->streams; i++)
            known &= gst_launch_sink_info(gst->stream[i].sink, &info[i]);
        if (known)
            return 0;
        g_autoptr(GError) error = NULL;
        g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
            gst->bus, 20 * GST_MSECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
        bool other = gives_no_video(gst, 0, &info[0]) ||
                     (gst->streams == 2 && gives_no_video(gst, 1, &info[1]));
        if (!message && !other)
            continue;
        if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
            gst_message_parse_error(message, &error, NULL);
        const char *cause = other ? "gives no video" : "ends before its first picture";
        return log_fail(-EIO, gst->name,
                        "%s (RGB or GRAY8 is taken; put videoconvert before the appsink)",
                        error ? error->message : cause);
    }
    return log_fail(-ETIMEDOUT, gst->name, "gave no picture in %d s", (int)(FIRST_NS / NS_PER_S));
}

static int learn(struct live_gst *gst) {
    GstVideoInfo info[2] = {{0}};
    struct source *source = &gst->source;
    gst_element_set_state(gst->pipeline, GST_STATE_PLAYING);
    int error = wait_for_first(gst, info);
    if (error)
        return error;
    GstAppSink *const sinks[2] = {gst->stream[0].sink, gst->stream[1].sink};
    struct source_options how = gst->options;
    how.motion_step = 0; /* of what holds both it takes the left ones */
    error =
        gst_pair_learn(&gst->pair, source, &how, sinks, gst->streams, NULL, PICTURES_SIDE_BY_SIDE);
    if (error)
        return error;
    int64_t interval[2] = {0, 0};
    for (int i = 0; i < gst->streams; i++)
        if (info[i].fps_n > 0 && rate_of_fraction(info[i].fps_n, info[i].fps_d) > 0)
            interval[i] = NS_PER_S * info[i].fps_d / info[i].fps_n;
    if (gst->streams == 1)
        interval[1] = interval[0];
    pthread_mutex_lock(&gst->lock); /* samples have come since: from here on they are paired */
    pairing_restart(&gst->pairing);
    long pairs = gst->pairing.pairs;
    pairing_init(&gst->pairing, (int64_t)(gst->options.sync_tolerance_ms * 1e6), interval);
    gst->pairing.pairs = pairs;
    gst->pairing.single = gst->streams == 1;
    pthread_mutex_unlock(&gst->lock);
    return 0;
}

int live_gst_begin(struct live_gst *gst, const char *text) {
    return open_pipeline(gst, text) ?: learn(gst);
}
