/*
 * How samples of GStreamer hold the pictures of a pair, in files and live: two, or one that holds
 * both. Owned by the thread that reads.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/gst/video_about.h"
#include "capture/source_private.h"

#include <gst/app/gstappsink.h>

/* The caps that the sinks accept. */
#define GST_PAIR_CAPS "video/x-raw,format=(string){RGB,GRAY8,GRAY16_LE}"

struct gst_pair {
    enum source_pictures pictures; /* of one sample; of two PICTURES_ONE */
    bool right_first;              /* it holds the right picture left or above */
    struct pair_bits bits;
};

/* Size and channels of the source, by the first samples of its count sinks, and how one holds both:
 * as the options say, else as about (of its file, may be NULL) or the caps do, else otherwise. 0,
 * or -errno after a log line. */
int gst_pair_learn(struct gst_pair *pair, struct source *source,
                   const struct source_options *options, GstAppSink *const *sinks, int count,
                   const struct video_about *about, enum source_pictures otherwise);

/* Copies the pictures, of one sample or two, to the frame, and hands it over. 0, or -EBADMSG
 * without a log line where they are of another size. */
int gst_pair_put(struct gst_pair *pair, struct source *source, const struct source_options *options,
                 GstSample *const *samples, int count, struct frame *frame);
