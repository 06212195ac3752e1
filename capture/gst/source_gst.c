/*
 * Recordings through GStreamer: one file with two video tracks or one side-by-side track, or two
 * files. Every track is decoded to an appsink, and pairs are made by time. Where the file states
 * its rate, a pair's number is its time times the rate, so that seeking gives exact pairs. Where it
 * does not, pairs are counted, and the times of those that came are kept for seeking. Owned and
 * read by one thread at a time; GStreamer decodes in threads of its own.
 * SPDX-License-Identifier: MIT
 */
#include "image/pixel_format.h"
#include "capture/gst/source_gst_private.h"

#include "base/lock.h"
#include "base/log.h"

#include <math.h>
#include <stdbool.h>

#define PULL_NS (100 * GST_MSECOND) /* between looks at the bus while waiting for a picture */
#define STALL_S 20                  /* a decoder that gives nothing for so long hangs */
#define INTO_FRAME_NS GST_MSECOND /* seeks aim this far into a frame; times in files are rounded */

/* The pair number of a time by the rate. */
static long index_of(const struct gst *gst, GstClockTime time) {
    return (long)llround((double)time * gst->source.rate / GST_SECOND);
}

static int64_t known_time(const struct gst *gst, long index) {
    return g_array_index(gst->times, int64_t, index);
}

/* The number of a pair that came before, or the number after all of them. */
static long find_time(const struct gst *gst, int64_t time) {
    long low = 0, high = (long)gst->times->len;
    while (low < high) {
        long middle = (low + high) / 2;
        if (known_time(gst, middle) + gst->shortest_ns / 2 < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of the pair of that time, which the decoders gave. One follows the other: of an
 * irregular file none is lost, though two may come in the time of one. */
static long number_of(struct gst *gst, GstClockTime time) {
    if (gst->times) {
        if (gst->given < 0)
            gst->given = find_time(gst, (int64_t)time);
        if (gst->given == (long)gst->times->len)
            g_array_append_val(gst->times, time);
    } else {
        gst->given = MAX(gst->given, index_of(gst, time));
    }
    return gst->given++;
}

/* The next picture of a track: 0, SOURCE_END, or -errno after a log line. */
static int pull(struct gst *gst, int track, GstSample **sample, GstClockTime *time) {
    for (int waited = 0; waited < STALL_S * 10; waited++) {
        *sample = gst_app_sink_try_pull_sample(gst->sink[track], PULL_NS);
        if (*sample) {
            GstClockTime pts = GST_BUFFER_PTS(gst_sample_get_buffer(*sample));
            *time =
                gst_segment_to_stream_time(gst_sample_get_segment(*sample), GST_FORMAT_TIME, pts);
            if (!GST_CLOCK_TIME_IS_VALID(*time))
                *time = (GstClockTime)pair_time_ns(gst->next, gst->source.rate);
            *time += (GstClockTime)(gst->start_ns[track] - gst->start_ns[0]);
            return 0;
        }
        if (gst_app_sink_is_eos(gst->sink[track]))
            return SOURCE_END;
        int error = gst_bus_look(gst);
        if (error)
            return error;
    }
    return log_fail(-EIO, gst->name,
                    "the decoder gave nothing for %d s after frame %ld; is the file damaged?",
                    STALL_S, gst->next - 1);
}

/* One picture of each track, of the same time to half a frame; what has no partner is passed
 * over. */
static int pull_pair(struct gst *gst, GstSample *sample[2], GstClockTime time[2]) {
    int status = pull(gst, 0, &sample[0], &time[0]);
    if (status == 0 && gst->tracks == 2)
        status = pull(gst, 1, &sample[1], &time[1]);
    while (status == 0 && gst->tracks == 2) {
        int64_t gap = (int64_t)time[1] - (int64_t)time[0];
        if (ABS(gap) <= gst->shortest_ns / 2)
            return 0;
        int late = gap > 0 ? 0 : 1;
        g_clear_pointer(&sample[late], gst_sample_unref);
        status = pull(gst, late, &sample[late], &time[late]);
    }
    if (gst->tracks == 1)
        time[1] = time[0];
    return status;
}

/* Whether a picture was cut before it was decoded. */
static bool is_damaged(struct gst *gst, GstSample *sample) {
    bool damaged = false;
    if (!sample)
        return false;
    LOCKED(&gst->lock);
    for (guint i = 0; i < gst->damaged->len; i++)
        damaged |= g_array_index(gst->damaged, GstClockTime, i) ==
                   GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    return damaged;
}

static void drop_pair(GstSample *sample[2]) {
    g_clear_pointer(&sample[0], gst_sample_unref);
    g_clear_pointer(&sample[1], gst_sample_unref);
}

/* Starts anew a pipeline that met an error or cannot seek; read skips the pictures before
 * index. */
static int start_afresh(struct gst *gst) {
    gst->given = 0;
    gst_graph_close(gst);
    return gst_graph_open(gst);
}

/* Where to seek to for a pair. A time into the picture makes up for rounding, if pictures have a
 * duration; where times are known the pair before it is meant, or the last one known. */
static GstClockTime seek_time(const struct gst *gst, long index) {
    if (!gst->times)
        return (GstClockTime)(pair_time_ns(index, gst->source.rate) +
                              MIN(INTO_FRAME_NS, gst->shortest_ns / 4));
    long before = MIN(index, (long)gst->times->len) - 1;
    return before >= 0 ? (GstClockTime)known_time(gst, before) : 0;
}

static int rewind_to(struct gst *gst, long index) {
    /* a right file that begins later has its pictures earlier on its own clock */
    GstClockTime time = seek_time(gst, index),
                 later = (GstClockTime)MAX(0, gst->start_ns[1] - gst->start_ns[0]);
    time -= MIN(time, later);
    bool sought = !gst->failed && gst_element_seek_simple(
                                      gst->pipeline, GST_FORMAT_TIME,
                                      GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, (gint64)time);
    int error = 0;
    gst->given = -1;
    gst->last_ns = (int64_t)time;
    if (sought)
        gst_element_get_state(gst->pipeline, NULL, NULL, STALL_S * GST_SECOND);
    else
        error = start_afresh(gst);
    gst->next = index;
    return error;
}

static int gst_source_seek(struct source *source, long index) {
    struct gst *gst = (struct gst *)source;
    if (index < 0 || (source->count > 0 && index >= source->count))
        return -EINVAL;
    return rewind_to(gst, index);
}

/* The end, or that of a file cut off before what its header promises. */
static int at_end(struct gst *gst) {
    int error = gst_bus_look(gst);
    if (error)
        return error;
    if (gst->last_ns + 2 * gst->longest_ns < gst->duration_ns - gst->duration_ns / 100) {
        log_error(gst->name,
                  "ends after frame %ld (%.3f s) though its header promises %.3f s; the file is"
                  " damaged or was cut off",
                  gst->next - 1, (double)gst->last_ns / 1e9, (double)gst->duration_ns / 1e9);
        gst->failed = true;
        return -EIO;
    }
    return SOURCE_END;
}

/* Learns how far pairs are apart where no rate says it. */
static void note_time(struct gst *gst, int64_t time, bool follows) {
    int64_t step = time - gst->last_ns;
    if (gst->times && follows && step > 0) {
        gst->shortest_ns = MIN(gst->shortest_ns, step);
        gst->longest_ns = MAX(gst->longest_ns, step);
    }
    gst->last_ns = time;
}

static int gst_source_read(struct source *source, struct frame *frame) {
    struct gst *gst = (struct gst *)source;
    GstSample *sample[2] = {NULL, NULL};
    GstClockTime time[2] = {0, 0};
    int status;
    long index;
    do { /* a decoder may start a frame before the one sought */
        drop_pair(sample);
        status = pull_pair(gst, sample, time);
        bool follows = gst->given > 0;
        index = status == 0 ? number_of(gst, time[0]) : -1;
        if (status == 0)
            note_time(gst, (int64_t)time[0], follows);
    } while (status == 0 && index < gst->next);

    if (status == SOURCE_END) {
        drop_pair(sample);
        status = at_end(gst);
        if (status == SOURCE_END && gst->options.loop && gst->next > 0 && rewind_to(gst, 0) == 0)
            return gst_source_read(source, frame);
        return status;
    }
    bool damaged = status == 0 && (is_damaged(gst, sample[0]) || is_damaged(gst, sample[1]));
    if (status == 0 &&
        gst_pair_put(&gst->pair, source, &gst->options, sample, gst->tracks, frame) != 0)
        status = log_fail(-EIO, gst->name,
                          "the size of the pictures changes at frame %ld; livestereo plays files "
                          "of one size",
                          gst->next);
    drop_pair(sample);
    if (status)
        return status;
    gst->next = index + 1;
    frame->index = index;
    if (damaged)
        return log_fail(-EBADMSG, gst->name, "frame %ld (%.3f s) is a JPEG picture that ends early",
                        index, (double)time[0] / 1e9);
    frame->left_ns = gst->start_ns[0] + (int64_t)time[gst->options.swap];
    frame->right_ns = gst->start_ns[0] + (int64_t)time[!gst->options.swap];
    return 0;
}

static void gst_source_describe(struct source *source, long index, char *buf, size_t size) {
    const struct gst *gst = (const struct gst *)source;
    if (source->rate > 0)
        g_snprintf(buf, size, "%s frame %ld (%.3f s)", gst->name, index,
                   (double)(gst->start_ns[0] + pair_time_ns(index, source->rate)) / 1e9);
    else
        g_snprintf(buf, size, "%s frame %ld", gst->name, index);
}

static void gst_source_close(struct source *source) {
    struct gst *gst = (struct gst *)source;
    gst_graph_close(gst);
    if (gst->times)
        g_array_free(gst->times, TRUE);
    g_array_free(gst->damaged, TRUE);
    g_free(gst->refused);
    pthread_mutex_destroy(&gst->lock);
    g_free(gst->words[0]);
    g_free(gst->words[1]);
    g_free(gst->name);
    g_free(gst);
}

/* How much later than GStreamer says the pictures of a track are, on the clock of its file:
 * demuxers count from the first picture where a Matroska file begins late. */
static int64_t find_start(const struct gst *gst, int track) {
    int64_t start = gst->about[gst->files == 2 ? track : 0].start_ns;
    g_autoptr(GstPad) pad = gst_element_get_static_pad(GST_ELEMENT(gst->sink[track]), "sink");
    GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
    const GstSegment *segment = NULL;
    int64_t late = 0;
    if (event)
        gst_event_parse_segment(event, &segment);
    if (segment && segment->start > segment->time)
        late = (int64_t)(segment->start - segment->time);
    g_clear_pointer(&event, gst_event_unref);
    return start >= 0 && ABS(late - start) <= gst->shortest_ns / 2 ? late : 0;
}

/* The time up to which a track promises pictures, ns; of two the shorter one's, for pairs end with
 * it. 0: none. */
static int64_t find_duration(const struct gst *gst) {
    int64_t duration[2] = {0, 0};
    for (int i = 0; i < gst->tracks; i++)
        if (!gst_element_query_duration(GST_ELEMENT(gst->sink[i]), GST_FORMAT_TIME, &duration[i]) ||
            duration[i] < 0)
            duration[i] = 0;
    if (gst->tracks == 1)
        return MAX(0, duration[0] - gst->start_ns[0]);
    int64_t shorter = MIN(duration[0], duration[1]);
    if (shorter > 0 && MAX(duration[0], duration[1]) - shorter > gst->longest_ns / 2)
        log_warning(gst->name, "left lasts %.3f s, right %.3f s; pairs end with the shorter",
                    (double)duration[0] / 1e9, (double)duration[1] / 1e9);
    return MAX(0, shorter - gst->start_ns[0]);
}

/* Size, colour, rate and count from the first pictures, which the sinks hold already. */
static int learn(struct gst *gst) {
    struct source *source = &gst->source;
    gst->pair.pictures = gst->tracks == 1 ? PICTURES_AUTO : PICTURES_ONE;
    int error = gst_pair_learn(&gst->pair, source, &gst->options, gst->sink, gst->tracks,
                               &gst->about[0], PICTURES_AUTO);
    if (error)
        return error;
    double rate = source->rate > 0 ? source->rate : RATE_ASSUMED;
    gst->shortest_ns = gst->longest_ns = (int64_t)(GST_SECOND / rate);
    if (source->rate == 0)
        gst->times = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int i = 0; i < 2; i++)
        gst->start_ns[i] = find_start(gst, gst->tracks == 2 ? i : 0);
    gst->duration_ns = find_duration(gst);
    source->count = gst->duration_ns > 0 && source->rate > 0
                        ? MAX(1, index_of(gst, (GstClockTime)gst->duration_ns))
                        : -1;
    return 0;
}

struct source *source_gst_open(const char *const *words, int count,
                               const struct source_options *options, int *error) {
    struct gst *gst = g_new0(struct gst, 1);
    gst->name = count == 2 ? g_strdup_printf("%s %s", words[0], words[1]) : g_strdup(words[0]);
    gst->options = *options;
    gst->source = (struct source){
        .name = gst->name,
        .read = gst_source_read,
        .seek = gst_source_seek,
        .describe = gst_source_describe,
        .close = gst_source_close,
    };
    gst->files = count;
    for (int i = 0; i < count; i++) {
        g_autofree char *of_uri = g_filename_from_uri(words[i], NULL, NULL);
        gst->words[i] = g_strdup(words[i]);
        video_about_read(of_uri ? of_uri : words[i], &gst->about[i]);
    }
    gst->damaged = g_array_new(FALSE, FALSE, sizeof(GstClockTime));
    pthread_mutex_init(&gst->lock, NULL);
    int code = gst_graph_open(gst) ?: learn(gst);
    if (code) {
        gst_source_close(&gst->source);
        return source_failed(error, code);
    }
    return &gst->source;
}
