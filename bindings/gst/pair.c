/*
 * The element livestereo: pairs the buffers of two pads by running time and computes a map of each
 * pair. The oldest buffers of both are a pair if they are within the tolerance; if not, the older
 * one can get no partner and is dropped. This is a largest matching of points on a line.
 * SPDX-License-Identifier: MIT
 */
#include "bindings/gst/engine.h"

#include <gst/base/gstaggregator.h>
#include <stdlib.h>

/* Where the caps do not say how long a frame lasts: less than half of one at 25 frames/s. */
#define TOLERANCE_ASSUMED (16 * GST_MSECOND)

/* Pairs in a row of different pictures, which are left out: both sides may change their caps some
 * frames apart. */
enum { MISMATCHES = 8 };

static const char *const side_name[] = {"left", "right"};
static GstAggregatorClass *parent_class;

struct pair {
    GstAggregator parent;
    struct engine *engine;
    GstAggregatorPad *pad[2]; /* left, right */
    GstVideoInfo info[2];
    /* Under the object's lock: pairs up to this running time would come too late. */
    GstClockTime late_until;
    guint64 computed, skipped;
    int mismatches; /* in a row */
};

static GstClockTime running_time(struct pair *self, int side, GstBuffer *buffer) {
    const GstSegment *segment = &self->pad[side]->segment;
    if (segment->format != GST_FORMAT_TIME)
        return GST_CLOCK_TIME_NONE;
    return gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
}

static GstClockTime frame_interval(const GstVideoInfo *info) {
    if (info->fps_n <= 0)
        return GST_CLOCK_TIME_NONE;
    return gst_util_uint64_scale_int(GST_SECOND, info->fps_d, info->fps_n);
}

/* Half a frame would do if times were exact; a sixteenth more lets clocks drift and times vary. */
static GstClockTime tolerance(struct pair *self) {
    GstClockTime interval = MIN(frame_interval(&self->info[0]), frame_interval(&self->info[1]));
    g_auto(GValue) given = G_VALUE_INIT;
    engine_get(self->engine, ENGINE_TOLERANCE, &given);
    if (g_value_get_uint64(&given))
        return g_value_get_uint64(&given);
    return interval == GST_CLOCK_TIME_NONE ? TOLERANCE_ASSUMED : interval * 9 / 16;
}

/* The side of the buffer that gets no partner, or -1. Without times they are paired as they come.
 */
static int unpaired(struct pair *self, GstBuffer *const buffer[2]) {
    GstClockTime left = running_time(self, 0, buffer[0]), right = running_time(self, 1, buffer[1]);
    for (int side = 0; side < 2; side++)
        if (gst_buffer_get_size(buffer[side]) == 0) /* a gap event */
            return side;
    if (left == GST_CLOCK_TIME_NONE || right == GST_CLOCK_TIME_NONE ||
        (GstClockTime)llabs(GST_CLOCK_DIFF(left, right)) <= tolerance(self))
        return -1;
    return left < right ? 0 : 1;
}

/* Whether downstream would drop the pair, which a QoS message says then. */
static bool is_late(struct pair *self, GstBuffer *left) {
    GstClockTime time = running_time(self, 0, left);
    GST_OBJECT_LOCK(self);
    bool late = time != GST_CLOCK_TIME_NONE && self->late_until != GST_CLOCK_TIME_NONE &&
                time <= self->late_until;
    if (late)
        self->skipped++;
    else
        self->computed++;
    GstClockTimeDiff jitter = late ? GST_CLOCK_DIFF(time, self->late_until) : 0;
    GST_OBJECT_UNLOCK(self);
    if (!late)
        return false;
    GstMessage *message = gst_message_new_qos(
        GST_OBJECT(self), FALSE, time,
        gst_segment_to_stream_time(&self->pad[0]->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(left)),
        GST_BUFFER_PTS(left), GST_BUFFER_DURATION(left));
    gst_message_set_qos_values(message, jitter, 1, 1000000);
    gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, self->computed, self->skipped);
    gst_element_post_message(GST_ELEMENT(self), message);
    return true;
}

static bool is_mismatch(const struct pair *self) {
    const GstVideoInfo *left = &self->info[0], *right = &self->info[1];
    return GST_VIDEO_INFO_FORMAT(left) != GST_VIDEO_INFO_FORMAT(right) ||
           left->width != right->width || left->height != right->height;
}

/* Opens the library for these pictures and tells downstream what comes. */
static GstFlowReturn prepare(struct pair *self) {
    const GstVideoInfo *left = &self->info[0], *right = &self->info[1];
    unsigned before = self->engine->openings;
    if (is_mismatch(self)) {
        GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE,
                          ("the left pictures are %s %dx%d and the right ones %s %dx%d; convert "
                           "one of them",
                           GST_VIDEO_INFO_NAME(left), left->width, left->height,
                           GST_VIDEO_INFO_NAME(right), right->width, right->height),
                          (NULL));
        return GST_FLOW_ERROR;
    }
    if (!engine_open(self->engine, left))
        return GST_FLOW_ERROR;
    if (self->engine->openings != before) {
        g_autoptr(GstCaps) caps = gst_video_info_to_caps(&self->engine->out);
        gst_aggregator_set_src_caps(&self->parent, caps);
    }
    return GST_FLOW_OK;
}

static GstFlowReturn compute(struct pair *self, GstBuffer *const buffer[2]) {
    GstFlowReturn result = prepare(self);
    GstClockTime left = running_time(self, 0, buffer[0]), right = running_time(self, 1, buffer[1]);
    GstVideoFrame frame[3];
    bool timed = GST_CLOCK_TIME_IS_VALID(left) && GST_CLOCK_TIME_IS_VALID(right);
    GstClockTimeDiff gap = timed ? GST_CLOCK_DIFF(left, right) : 0;
    int mapped = 0;
    if (result != GST_FLOW_OK)
        return result;
    gst_aggregator_selected_samples(&self->parent, GST_BUFFER_PTS(buffer[0]), GST_CLOCK_TIME_NONE,
                                    GST_BUFFER_DURATION(buffer[0]), NULL);
    GstBuffer *map = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&self->engine->out), NULL);
    gst_buffer_copy_into(map, buffer[0], GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize)-1);
    if (gst_video_frame_map(&frame[0], &self->info[0], buffer[0], GST_MAP_READ) && ++mapped &&
        gst_video_frame_map(&frame[1], &self->info[1], buffer[1], GST_MAP_READ) && ++mapped &&
        gst_video_frame_map(&frame[2], &self->engine->out, map,
                            GST_MAP_WRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF) &&
        ++mapped)
        result = engine_compute(self->engine, &frame[0], &frame[1], gap, &frame[2])
                     ? GST_FLOW_OK
                     : GST_FLOW_ERROR;
    else
        GST_ELEMENT_ERROR(self, STREAM, FAILED,
                          ("a picture of the %s pad is too short", side_name[mapped & 1]), (NULL));
    for (int i = 0; i < mapped; i++)
        gst_video_frame_unmap(&frame[i]);
    if (mapped == 3 && result == GST_FLOW_OK) {
        result = gst_aggregator_finish_buffer(&self->parent, map);
        GstFlowReturn others = engine_push(self->engine);
        return result == GST_FLOW_OK ? others : result;
    }
    gst_buffer_unref(map);
    return GST_FLOW_ERROR;
}

/* Called when both pads have a buffer or one has ended. */
static GstFlowReturn aggregate(GstAggregator *aggregator, gboolean timeout) {
    struct pair *self = (struct pair *)aggregator;
    GstBuffer *buffer[2];
    GstFlowReturn result = GST_AGGREGATOR_FLOW_NEED_DATA;
    (void)timeout;
    for (int side = 0; side < 2; side++) {
        buffer[side] = gst_aggregator_pad_peek_buffer(self->pad[side]);
        if (!buffer[side] && gst_aggregator_pad_is_eos(self->pad[side]))
            result = GST_FLOW_EOS;
    }
    if (result == GST_FLOW_EOS && self->mismatches)
        result = prepare(self); /* says so */
    if (buffer[0] && buffer[1]) {
        int drop = unpaired(self, buffer);
        if (drop < 0)
            self->mismatches = is_mismatch(self) ? self->mismatches + 1 : 0;
        bool left_out = self->mismatches > 0 && self->mismatches <= MISMATCHES;
        if (drop < 0 && !left_out && !is_late(self, buffer[0]))
            result = compute(self, buffer);
        for (int side = 0; side < 2; side++)
            if (drop < 0 || drop == side)
                gst_aggregator_pad_drop_buffer(self->pad[side]);
        if (drop >= 0)
            GST_DEBUG_OBJECT(self->pad[drop], "without partner: %" GST_PTR_FORMAT, buffer[drop]);
    }
    gst_clear_buffer(&buffer[0]);
    gst_clear_buffer(&buffer[1]);
    return result;
}

/* Drops buffers outside of the segment, such as those before the place of a seek. */
static GstBuffer *clip(GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer) {
    struct pair *self = (struct pair *)aggregator;
    if (!GST_BUFFER_PTS_IS_VALID(buffer) || pad->segment.format != GST_FORMAT_TIME ||
        running_time(self, pad == self->pad[1], buffer) != GST_CLOCK_TIME_NONE)
        return buffer;
    gst_buffer_unref(buffer);
    return NULL;
}

/* Times of the source pad are those of the left one. */
static gboolean sink_event(GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event) {
    struct pair *self = (struct pair *)aggregator;
    int side = pad == self->pad[1];
    const GstSegment *segment;
    GstCaps *caps;
    if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
        gst_event_parse_caps(event, &caps);
        if (!gst_video_info_from_caps(&self->info[side], caps)) {
            gst_event_unref(event);
            return FALSE;
        }
        /* A buffer waits for its partner, and is computed while the next one comes. */
        GstClockTime interval = frame_interval(&self->info[side]);
        if (interval != GST_CLOCK_TIME_NONE)
            gst_aggregator_set_latency(aggregator, interval, interval);
    } else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT && side == 0) {
        gst_event_parse_segment(event, &segment);
        if (segment->format == GST_FORMAT_TIME)
            gst_aggregator_update_segment(aggregator, segment);
    }
    return parent_class->sink_event(aggregator, pad, event);
}

static gboolean src_event(GstAggregator *aggregator, GstEvent *event) {
    struct pair *self = (struct pair *)aggregator;
    if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
        GstClockTimeDiff jitter;
        GstClockTime time;
        gst_event_parse_qos(event, NULL, NULL, &jitter, &time);
        GST_OBJECT_LOCK(self);
        jitter = CLAMP(jitter, -G_MAXINT64, G_MAXINT64 / 2);
        if (time == GST_CLOCK_TIME_NONE || (jitter < 0 && (GstClockTime)-jitter > time))
            self->late_until = GST_CLOCK_TIME_NONE;
        else /* what is late is caught up with by twice that, as in other elements */
            self->late_until = time + (GstClockTime)(jitter > 0 ? 2 * jitter : jitter);
        GST_OBJECT_UNLOCK(self);
    }
    return parent_class->src_event(aggregator, event);
}

/* Both can be sought in if the left one can. */
static gboolean src_query(GstAggregator *aggregator, GstQuery *query) {
    struct pair *self = (struct pair *)aggregator;
    if (GST_QUERY_TYPE(query) == GST_QUERY_SEEKING)
        return gst_pad_peer_query(GST_PAD(self->pad[0]), query);
    return parent_class->src_query(aggregator, query);
}

static GstFlowReturn flush(GstAggregator *aggregator) {
    struct pair *self = (struct pair *)aggregator;
    GST_OBJECT_LOCK(self);
    self->late_until = GST_CLOCK_TIME_NONE;
    GST_OBJECT_UNLOCK(self);
    engine_forget(self->engine);
    return GST_FLOW_OK;
}

static gboolean start(GstAggregator *aggregator) {
    struct pair *self = (struct pair *)aggregator;
    gst_segment_init(&GST_AGGREGATOR_PAD(aggregator->srcpad)->segment, GST_FORMAT_TIME);
    self->computed = self->skipped = 0;
    self->mismatches = 0;
    flush(aggregator);
    return TRUE;
}

static gboolean stop(GstAggregator *aggregator) {
    engine_close(((struct pair *)aggregator)->engine);
    return TRUE;
}

static void class_init(gpointer class, gpointer data) {
    static GstStaticPadTemplate left = GST_STATIC_PAD_TEMPLATE("sink_left", GST_PAD_SINK,
                                                               GST_PAD_ALWAYS,
                                                               GST_STATIC_CAPS(ENGINE_SINK_CAPS)),
                                right = GST_STATIC_PAD_TEMPLATE("sink_right", GST_PAD_SINK,
                                                                GST_PAD_ALWAYS,
                                                                GST_STATIC_CAPS(ENGINE_SINK_CAPS)),
                                src = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                                                              GST_STATIC_CAPS(ENGINE_SRC_CAPS));
    GstAggregatorClass *aggregator = class;
    (void)data;
    parent_class = g_type_class_peek_parent(class);
    aggregator->aggregate = aggregate;
    aggregator->clip = clip;
    aggregator->sink_event = sink_event;
    aggregator->src_event = src_event;
    aggregator->src_query = src_query;
    aggregator->flush = flush;
    aggregator->start = start;
    aggregator->stop = stop;
    aggregator->negotiate = NULL; /* the caps follow from the pictures and output */
    GType pad = GST_TYPE_AGGREGATOR_PAD;
    gst_element_class_add_static_pad_template_with_gtype(class, &left, pad);
    gst_element_class_add_static_pad_template_with_gtype(class, &right, pad);
    gst_element_class_add_static_pad_template_with_gtype(class, &src, pad);
    engine_class_init(class);
}

static void init(GTypeInstance *instance, gpointer class) {
    struct pair *self = (struct pair *)instance;
    self->engine = engine_new(GST_ELEMENT(self));
    for (int side = 0; side < 2; side++) {
        g_autofree char *name = g_strconcat("sink_", side_name[side], NULL);
        self->pad[side] =
            g_object_new(GST_TYPE_AGGREGATOR_PAD, "name", name, "direction", GST_PAD_SINK,
                         "template", gst_element_class_get_pad_template(class, name), NULL);
        gst_element_add_pad(GST_ELEMENT(self), GST_PAD(self->pad[side]));
        gst_video_info_init(&self->info[side]);
    }
}

GType pair_register(void) {
    return g_type_register_static_simple(GST_TYPE_AGGREGATOR, "GstLivestereo",
                                         sizeof(GstAggregatorClass), class_init,
                                         sizeof(struct pair), init, 0);
}
