/*
 * A "gst:" source, between its reader (source_live_gst.c) and its opening (source_live_gst_open.c).
 * Owned by the thread that reads; what the lock guards, GStreamer's threads share.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/pairing.h"
#include "capture/gst/gst_pair.h"
#include "capture/source_status.h"

#include <glib.h>
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define NS_PER_S 1000000000LL

struct stream {
    _Atomic(struct live_gst *) owner; /* set last: hands the rest over to GStreamer's thread */
    int side;
    GstAppSink *sink;
    GstSample *slot[PAIRING_SLOTS], *newest;
    uint32_t sequence;
    struct camera_status status;
};

struct live_gst {
    struct source source; /* first */
    char *name;
    struct source_options options;
    GstElement *pipeline;
    GstBus *bus;
    int streams;
    bool failed;
    struct gst_pair pair;
    int64_t retry_ns;
    char last_warning[256]; /* "" since all is well */
    bool told_size;         /* the last picture had another size, and that is logged */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t came;
    struct stream stream[2];
    struct pairing pairing;
    struct pair_of_slots newest;
    bool have_newest, ended;
    long passed;
    int64_t seen_ns;
};

/* Starts the pipeline and waits for its first pictures. 0 or -errno after a log line. */
int live_gst_begin(struct live_gst *gst, const char *text);

/* From now on the stream's samples are paired. */
void live_gst_listen(struct live_gst *gst, struct stream *stream);
