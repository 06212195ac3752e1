/*
 * Shared by source_gst.c (the source) and gst_graph.c (its GStreamer elements). Owned by the
 * thread that reads, except for what the lock guards.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/gst/gst_pair.h"

#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <pthread.h>
#include <stdbool.h>

struct gst {
    struct source source; /* first: a struct source pointer is a struct gst pointer */
    char *name, *words[2];
    GstElement *pipeline;
    GstBus *bus;
    GstAppSink *sink[2]; /* left and right, or one that holds both */
    int tracks;
    struct gst_pair pair;
    struct video_about about[2]; /* of each file */
    struct source_options options;
    bool failed; /* an error has ended playback; seeking starts it again */
    long next;   /* the pair to read next; what comes before it is passed over */
    long given; /* number of the pair that the decoders give next; -1 after a seek: its time says */
    int64_t start_ns[2]; /* of each track: times here count from the left one's, files say more */
    int64_t last_ns, duration_ns;    /* time of the last pair; what the header promises, 0 none */
    int64_t shortest_ns, longest_ns; /* time from pair to pair; that of the rate where stated */
    GArray *times;                   /* where no rate is stated: int64_t, of each pair known */

    pthread_mutex_t lock; /* guards what decoder threads add while the files are opened */
    int complete;         /* files whose tracks are all known */
    char *refused;        /* what a file holds that is not played, NULL nothing */
    GArray *damaged;      /* GstClockTime, of JPEG pictures that are cut */
    int files, extra;
    struct gst_track {
        GstAppSink *sink;
        int file;
    } found[2];
    int found_count;
};

/* Opens the files and waits for their first pictures. 0, or -errno after one log line. */
int gst_graph_open(struct gst *gst);

/* Checks the bus for errors. 0, or -errno after one log line. */
int gst_bus_look(struct gst *gst);

/* Frees what gst_graph_open() made, even if that failed; it may be opened again. */
void gst_graph_close(struct gst *gst);
