/*
 * Plays what recorder.c wrote. The tracks come undecoded out of the demuxer and go through the same
 * conversion as a camera's frames, so a replay has the pixels that the live picture had. Times are
 * those of the CSV file; the row that a picture belongs to follows from its time in the file, so
 * seeking and damaged places keep the numbers right. Owned and read by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#include "image/pixel_format.h"
#include "capture/gst/gst_launch.h"
#include "capture/record/recorder_format.h"
#include "capture/record/recording_files.h"
#include "capture/source_private.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <glib.h>
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PULL_NS (5 * GST_MSECOND)
#define AFTER_ERROR_NS CLOCK_NS_PER_S    /* what was read before it has come by then */
#define STUCK_NS CLOCK_NS_PER_S          /* a track without pictures while the other's wait */
#define STALL_NS (20LL * CLOCK_NS_PER_S) /* a file that gives nothing for so long is damaged */
#define SCALE_NS 10000                   /* times in the file are rounded to this */

struct recording {
    struct source source; /* first */
    char *name, *calibration[2], *settings;
    GArray *rows;
    struct source_options options; /* flips as recorded, turned once more by the user's */
    GstElement *pipeline;
    GstBus *bus;
    GstElement *queue[2];
    GstAppSink *sink[2];
    GError *failure; /* what GStreamer said of the file, NULL nothing yet */
    int tracks;
    uint32_t deep;        /* what 16-bit grey is: Y10, Y12 or Y16 */
    GstSample *sample[2]; /* the next of each track, NULL not pulled yet */
    long row[2];          /* which row they belong to */
    long next;
    long gap_end; /* the pair after the gap that was logged last */
    struct mjpeg *mjpeg;
    struct image wide;
};

static const struct recording_row *row_at(const struct recording *r, long index) {
    return &g_array_index(r->rows, struct recording_row, index);
}

/* The row whose picture of this track has that time. Rows are in order of time. */
static long row_of(const struct recording *r, int track, int64_t pts) {
    long low = 0, high = (long)r->rows->len - 1;
    while (low < high) {
        long middle = (low + high) / 2;
        if (row_at(r, middle)->pts_ns[track] + SCALE_NS < pts)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void drop_sample(struct recording *r, int track) {
    g_clear_pointer(&r->sample[track], gst_sample_unref);
}

/* Takes the next picture of a track if it comes within wait_ns. */
static bool pull(struct recording *r, int track, GstClockTime wait_ns) {
    r->sample[track] = gst_app_sink_try_pull_sample(r->sink[track], wait_ns);
    if (!r->sample[track])
        return false;
    r->row[track] =
        row_of(r, track, (int64_t)GST_BUFFER_PTS(gst_sample_get_buffer(r->sample[track])));
    return true;
}

/* Keeps what GStreamer says of the file; what it gave before is still to be taken. */
static void check_bus(struct recording *r) {
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(r->bus, GST_MESSAGE_ERROR);
    if (!message)
        return;
    g_clear_error(&r->failure);
    gst_message_parse_error(message, &r->failure, NULL);
}

/* A file that ends before the pairs that its CSV file lists was cut off. */
static int tell_cut(struct recording *r) {
    const char *cause = r->failure ? r->failure->message : "the file was cut off";
    if (r->next == 0)
        log_error(r->name, "cannot be played: %s", cause);
    else
        log_error(r->name, "ends after pair %ld though %ld were recorded: %s", r->next - 1,
                  r->source.count, cause);
    return -EIO;
}

/* The demuxer waits until this track's pictures are taken. */
static bool is_full(const struct recording *r, int track) {
    guint level = 0, max = 0;
    g_object_get(r->queue[track], "current-level-buffers", &level, "max-size-buffers", &max, NULL);
    return level >= max;
}

/* Moves on where that can be done without waiting: takes pictures, and passes over those before the
 * next pair and those without a partner. Both tracks get on at once, because the demuxer gives to
 * neither while the other's pictures wait to be taken. */
static bool move_on(struct recording *r) {
    bool moved = false;
    for (int i = 0; i < r->tracks; i++) {
        if (!r->sample[i])
            moved |= pull(r, i, 0);
        if (r->sample[i] && r->row[i] < r->next) {
            drop_sample(r, i);
            moved = true;
        }
    }
    if (r->sample[0] && r->sample[1] && r->row[0] != r->row[1]) {
        drop_sample(r, r->row[0] < r->row[1] ? 0 : 1);
        moved = true;
    }
    return moved;
}

/* Waits for pictures of the same row, which is next or later, of the first tracks. 0 or -errno.
 * The time in which the program is stopped, or gets no processor, is not idle time. */
static int pull_row(struct recording *r, int tracks) {
    int64_t idle_ns = 0;
    for (;;) {
        if (move_on(r)) {
            idle_ns = 0;
            continue;
        }
        int missing = r->sample[0] ? 1 + (r->sample[1] != NULL) : 0;
        if (missing >= tracks)
            return 0;
        check_bus(r);
        if (gst_app_sink_is_eos(r->sink[missing]) || (r->failure && idle_ns > AFTER_ERROR_NS))
            return tell_cut(r);
        if (idle_ns > STUCK_NS && r->tracks == 2 && r->sample[!missing] && is_full(r, !missing))
            drop_sample(r, !missing); /* its partner is further on than the tracks' buffers reach */
        if (idle_ns > STALL_NS)
            break;
        int64_t asked_ns = clock_ns();
        pull(r, missing, PULL_NS);
        int64_t waited_ns = clock_ns() - asked_ns;
        idle_ns += MIN(waited_ns, 2 * PULL_NS);
    }
    return log_fail(-EIO, r->name, "nothing came for %d s after pair %ld; is the file damaged?",
                    (int)(STALL_NS / CLOCK_NS_PER_S), r->next - 1);
}

static int decode(struct recording *r, int track, struct image *image) {
    struct raw_picture raw;
    GstMapInfo map;
    if (format_of_caps(gst_sample_get_caps(r->sample[track]), &raw) ||
        !gst_buffer_map(gst_sample_get_buffer(r->sample[track]), &map, GST_MAP_READ))
        return -EBADMSG;
    raw.fourcc = raw.fourcc == PIXEL_Y16 ? r->deep : raw.fourcc;
    raw.data = map.data;
    raw.bytes = map.size;
    int error = pixels_decode(&raw, r->mjpeg, image);
    gst_buffer_unmap(gst_sample_get_buffer(r->sample[track]), &map);
    return error;
}

static int decode_pair(struct recording *r, struct frame *frame) {
    struct image *sides[2] = {&frame->left, &frame->right};
    int error = r->tracks == 1 ? decode(r, 0, &r->wide) : 0;
    for (int i = 0; i < 2 && r->tracks == 2 && !error; i++)
        error = decode(r, i ^ r->options.swap, sides[i]);
    if (!error && r->tracks == 1)
        source_put_pair((const struct image[2]){r->wide}, PICTURES_SIDE_BY_SIDE, r->options.swap,
                        frame);
    if (!error)
        source_hand_over(&r->options, frame);
    return error;
}

static int recording_seek(struct source *source, long index) {
    struct recording *r = (struct recording *)source;
    if (index < 0 || index >= source->count)
        return -EINVAL;
    for (int i = 0; i < r->tracks; i++)
        drop_sample(r, i);
    /* from a little before: pictures are named by their times, those before are passed over */
    int64_t to = MAX(0, row_at(r, index)->pts_ns[0] - 50 * (int64_t)GST_MSECOND);
    r->next = index;
    g_clear_error(&r->failure);
    if (!gst_element_seek_simple(r->pipeline, GST_FORMAT_TIME,
                                 GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, to))
        return log_fail(-ESPIPE, r->name, "cannot go to pair %ld", index);
    gst_element_get_state(r->pipeline, NULL, NULL, STALL_NS);
    return 0;
}

/* The next pair is not in the file, which goes on with pair index: counts as a damaged one. */
static int pass_missing(struct recording *r, long index, struct frame *frame) {
    if (r->gap_end != index)
        log_error(r->name, "is damaged: pair %ld follows pair %ld", index, r->next - 1);
    r->gap_end = index;
    frame->index = r->next++;
    return -EBADMSG;
}

static int recording_read(struct source *source, struct frame *frame) {
    struct recording *r = (struct recording *)source;
    if (r->next >= source->count && (!r->options.loop || recording_seek(source, 0) != 0))
        return SOURCE_END;
    int status = pull_row(r, r->tracks);
    if (status)
        return status;
    long index = r->row[0];
    if (index > r->next)
        return pass_missing(r, index, frame);
    status = decode_pair(r, frame);
    for (int i = 0; i < r->tracks; i++)
        drop_sample(r, i);
    r->next = index + 1;
    frame->index = index;
    if (status)
        return log_fail(-EBADMSG, r->name, "pair %ld is damaged", index);
    frame->left_ns = row_at(r, index)->capture_ns[r->options.swap];
    frame->right_ns = row_at(r, index)->capture_ns[!r->options.swap];
    return 0;
}

static void recording_describe(struct source *source, long index, char *buf, size_t size) {
    const struct recording *r = (const struct recording *)source;
    g_snprintf(buf, size, "%s pair %ld (live pair %ld)", r->name, index, row_at(r, index)->index);
}

static void recording_close(struct source *source) {
    struct recording *r = (struct recording *)source;
    for (int i = 0; i < 2; i++)
        drop_sample(r, i);
    if (r->pipeline) {
        gst_element_set_state(r->pipeline, GST_STATE_NULL);
        for (int i = 0; i < 2; i++) {
            gst_clear_object(&r->queue[i]);
            gst_clear_object(&r->sink[i]);
        }
        gst_clear_object(&r->bus);
        gst_object_unref(r->pipeline);
    }
    if (r->rows)
        g_array_free(r->rows, TRUE);
    g_clear_error(&r->failure);
    mjpeg_close(&r->mjpeg);
    free(r->wide.data);
    for (int i = 0; i < 2; i++)
        g_free(r->calibration[i]);
    g_free(r->settings);
    g_free(r->name);
    g_free(r);
}

/* ---- opening */

/* Reads the files beside it. 0 or -errno. */
static int read_beside(struct recording *r, const char *path) {
    struct recording_note note;
    int error = recording_note_read(path, &note);
    if (error)
        return error;
    const struct pixel_format *format = pixel_format_find(note.fourcc);
    for (int i = 0; i < 2; i++) {
        r->options.flip[i] ^= note.flip[i];
        r->options.rotate180[i] ^= note.rotate180[i];
    }
    r->options.swap ^= note.swap;
    r->tracks = note.tracks;
    r->deep = format && format->bits == 16 && format->channels == 1 ? format->fourcc : PIXEL_Y16;
    r->source.channels = note.channels;
    r->source.rectified = note.rectified;
    r->source.rate = note.rate;
    for (int i = 0; i < 2 && (r->calibration[i] = recording_calibration(path, i)) != NULL; i++)
        r->source.calibration[i] = r->calibration[i];
    r->settings = recording_beside(path, ".ini");
    if (g_file_test(r->settings, G_FILE_TEST_EXISTS))
        r->source.settings = r->settings;
    r->rows = recording_rows_read(path);
    if (!r->rows)
        return -EIO;
    r->source.count = (long)r->rows->len;
    if (r->rows->len)
        return 0;
    return log_fail(-EBADMSG, r->name, "holds no pair");
}

/* FFV1 comes back in the format it was made of. NULL for what needs no decoder, or where there is
 * none (then the pipeline says so). */
static GstElement *decoder_for(GstPad *pad) {
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
    bool ffv1 = caps && gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-ffv");
    return ffv1 ? gst_launch_bin(
                      "avdec_ffv1 ! videoconvert matrix-mode=none chroma-mode=none dither=none ! "
                      "capsfilter caps=video/x-raw,format=(string){YUY2,NV12,GRAY8,GRAY16_LE,RGB}")
                : NULL;
}

static void on_pad(GstElement *demux, GstPad *pad, gpointer context) {
    g_autofree char *name = gst_pad_get_name(pad);
    bool second = strcmp(name, "video_1") == 0;
    (void)context;
    if (!second && strcmp(name, "video_0") != 0)
        return;
    g_autoptr(GstObject) pipeline = gst_object_get_parent(GST_OBJECT(demux));
    g_autoptr(GstElement) queue =
        gst_bin_get_by_name(GST_BIN(pipeline), second ? "queue1" : "queue0");
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), second ? "sink1" : "sink0");
    GstElement *decoder = queue && sink ? decoder_for(pad) : NULL;
    if (decoder) {
        gst_element_unlink(queue, sink);
        gst_bin_add(GST_BIN(pipeline), decoder);
        gst_element_link_many(queue, decoder, sink, NULL);
        gst_element_sync_state_with_parent(decoder);
    }
    if (queue && sink) { /* not of a track more than NAME.recording.ini says */
        g_autoptr(GstPad) input = gst_element_get_static_pad(queue, "sink");
        gst_pad_link(pad, input);
    }
}

static int open_pipeline(struct recording *r, const char *path) {
    g_autoptr(GError) error = NULL;
    const char *track = "queue name=queue%d max-size-buffers=4 ! appsink name=sink%d sync=false"
                        " max-buffers=4 ";
    g_autoptr(GString) text = g_string_new("filesrc name=file ! matroskademux name=demux ");
    for (int i = 0; i < r->tracks; i++)
        g_string_append_printf(text, track, i, i);
    r->pipeline = gst_launch(text->str, &error);
    if (!r->pipeline)
        return log_fail(-ENOSYS, r->name, "cannot be played: %s", error->message);
    gst_launch_set_location(r->pipeline, path);
    g_autoptr(GstElement) demux = gst_bin_get_by_name(GST_BIN(r->pipeline), "demux");
    g_signal_connect(demux, "pad-added", G_CALLBACK(on_pad), NULL);
    r->bus = gst_element_get_bus(r->pipeline);
    for (int i = 0; i < r->tracks; i++) {
        r->queue[i] = gst_bin_get_by_name(GST_BIN(r->pipeline), i ? "queue1" : "queue0");
        r->sink[i] = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(r->pipeline), i ? "sink1" : "sink0"));
    }
    gst_element_set_state(r->pipeline, GST_STATE_PLAYING);
    return 0;
}

/* Sizes from the first picture. */
static int learn(struct recording *r) {
    int status = pull_row(r, 1);
    struct raw_picture raw;
    if (status)
        return status;
    if (format_of_caps(gst_sample_get_caps(r->sample[0]), &raw))
        return log_fail(-EBADMSG, r->name,
                        "holds pictures of a kind that livestereo does not write");
    r->source.width = r->tracks == 1 ? raw.width / 2 : raw.width;
    r->source.height = raw.height;
    if (r->tracks == 1) {
        r->wide = (struct image){NULL, raw.width, raw.height, r->source.channels};
        r->wide.data = malloc(image_bytes(&r->wide));
    }
    return r->tracks == 1 && !r->wide.data ? -ENOMEM : 0;
}

struct source *source_recording_open(const char *path, const struct source_options *options,
                                     int *error) {
    struct recording *r = g_new0(struct recording, 1);
    r->name = g_strdup(path);
    r->options = *options;
    r->source = (struct source){.name = r->name,
                                .read = recording_read,
                                .seek = recording_seek,
                                .describe = recording_describe,
                                .close = recording_close};
    r->mjpeg = mjpeg_open();
    if (!r->mjpeg)
        log_error(path, "out of memory");
    int code = r->mjpeg ? read_beside(r, path) : -ENOMEM;
    if (!code)
        code = open_pipeline(r, path);
    if (!code)
        code = learn(r);
    if (code) {
        recording_close(&r->source);
        return source_failed(error, code);
    }
    return &r->source;
}
