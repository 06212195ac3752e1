/* capture/record/recorder.h on GStreamer: appsrc ! taginject ! matroskamux ! filesink, twice
 * into one mux; an encoder comes in front of taginject when the first pair shows the format. The
 * row of a pair in the CSV file is written by the thread that writes the left picture. What lies
 * beside the file: recording_files.c. SPDX-License-Identifier: MIT */
#include "capture/record/recorder.h"

#include "image/pixel_format.h"
#include "capture/gst/gst_launch.h"
#include "capture/record/recorder_format.h"
#include "capture/record/recording_files.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define MAX_WAITING (64u << 20) /* bytes of one track that may wait for the disk */
#define END_S 20

struct recorder {
    char *path;
    GstElement *pipeline;
    GstBus *bus;
    GstAppSrc *track[2];
    int tracks; /* 1: both pictures side by side */
    struct recording_files beside;
    bool ffv1;                 /* GStreamer can make it */
    uint32_t fourcc;           /* of the pictures, from the first pair on */
    struct image converted[2]; /* for formats that the file cannot hold */
    int64_t first_ns;
    double rate;
    atomic_int given, written;  /* hand rows over to GStreamer's thread, and the file back */
    atomic_long rows, whole[2]; /* in the CSV file; pictures of each track that are in the file */
    atomic_int beside_error;    /* of a file beside it, logged */
    atomic_int failed;          /* errors that GStreamer has met */
    /* Track of the picture being written, -1 none; the muxer's. Its first value hands the new
     * recorder over to GStreamer's threads. */
    atomic_int in_write;
    atomic_int header;    /* track of the block whose header came, -1 none; the same */
    pthread_mutex_t lock; /* guards status */
    struct recorder_status status;
};

char *recorder_default_path(void) {
    const char *folder = g_get_user_special_dir(G_USER_DIRECTORY_VIDEOS);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *name = g_date_time_format(now, "livestereo-%Y%m%d-%H%M%S.mkv");
    return g_build_filename(folder ? folder : ".", name, NULL);
}

/* ---- opening */

static GQuark row_quark(void) {
    return g_quark_from_static_string("livestereo-row");
}

static GstPadProbeReturn write_row(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    struct recorder *recorder = context;
    (void)pad;
    atomic_load(&recorder->given);
    int error = atomic_load(&recorder->beside_error);
    if (!error && atomic_load(&recorder->written) == 0)
        error = recording_files_write_note(&recorder->beside, recorder->fourcc);
    const char *row = gst_mini_object_get_qdata(
        GST_MINI_OBJECT_CAST(gst_pad_probe_info_get_buffer(info)), row_quark());
    if (!error && row) {
        error = recording_files_add_row(&recorder->beside, row);
        atomic_fetch_add(&recorder->rows, !error);
    }
    atomic_store(&recorder->beside_error, error);
    atomic_fetch_add(&recorder->written, 1);
    return GST_PAD_PROBE_OK;
}

/* Bytes of the EBML number that begins with this one. */
static int ebml_length(uint8_t first) {
    return first ? __builtin_clz(first) - 23 : 9;
}

/* The track of the Matroska block (a SimpleBlock, or the Block in a BlockGroup) whose header these
 * bytes are; -1 for anything else. */
static int block_track(const uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (at + 2 < count) {
        uint8_t id = bytes[at];
        size_t body = at + 1 + (size_t)ebml_length(bytes[at + 1]);
        if ((id == 0xa3 || id == 0xa1) && body < count)
            return bytes[body] == 0x81 || bytes[body] == 0x82 ? bytes[body] - 0x81 : -1;
        if (id == 0xa0) /* a group: what is in it follows */
            at = body;
        else if (id == 0x9b && at > 0) /* its duration */
            at = body + (bytes[at + 1] & 0x0f);
        else
            return -1;
    }
    return -1;
}

/* In the thread that met it, before anything more is written. Several threads may meet one: an
 * addition, unlike a store, hands over what each of them did before. */
static GstBusSyncReply note_failure(GstBus *bus, GstMessage *message, gpointer context) {
    struct recorder *recorder = context;
    (void)bus;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        atomic_load(&recorder->in_write);
        atomic_fetch_add(&recorder->failed, 1);
    }
    return GST_BUS_PASS;
}

/* Each buffer on the way to the file. matroskamux gives a block as its header and its picture. When
 * the next buffer comes and nothing has failed, the one before is written, since nothing holds
 * bytes back. */
static GstPadProbeReturn count_written(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    struct recorder *recorder = context;
    uint8_t start[32];
    (void)pad;
    GstBuffer *buffer = gst_pad_probe_info_get_buffer(info);
    int written = atomic_load(&recorder->in_write), begun = atomic_exchange(&recorder->header, -1);
    if (written >= 0 && !atomic_load(&recorder->failed))
        atomic_fetch_add(&recorder->whole[written], 1);
    atomic_store(&recorder->in_write, begun);
    if (begun < 0)
        atomic_store(&recorder->header,
                     block_track(start, gst_buffer_extract(buffer, 0, start, sizeof start)));
    return GST_PAD_PROBE_OK;
}

/* Pairs that can be played again. */
static long whole_pairs(struct recorder *recorder) {
    long pairs = atomic_load(&recorder->rows);
    for (int i = 0; i < recorder->tracks; i++) {
        long whole = atomic_load(&recorder->whole[i]);
        pairs = MIN(pairs, whole);
    }
    return pairs;
}

static int open_pipeline(struct recorder *recorder) {
    g_autoptr(GError) error = NULL;
    /* The default time scale rounds to a millisecond, which is coarser than pairs are apart. */
    const char *two = "matroskamux name=mux timecodescale=10000 ! filesink name=file "
                      "appsrc name=left ! taginject name=tag0 tags=title=left ! mux.video_0 "
                      "appsrc name=right ! taginject name=tag1 tags=title=right ! mux.video_1";
    const char *one = "matroskamux name=mux timecodescale=10000 ! filesink name=file "
                      "appsrc name=left ! taginject name=tag0 tags=title=sbs ! mux.video_0";
    recorder->pipeline = gst_launch(recorder->tracks == 2 ? two : one, &error);
    if (!recorder->pipeline)
        return log_fail(-ENOSYS, recorder->path, "cannot be recorded: %s", error->message);
    gst_launch_set_location(recorder->pipeline, recorder->path);
    g_autoptr(GstElement) file = gst_bin_get_by_name(GST_BIN(recorder->pipeline), "file");
    gst_util_set_object_arg(G_OBJECT(file), "buffer-mode", "unbuffered");
    gst_launch_probe_buffers(file, "sink", count_written, recorder);
    recorder->bus = gst_element_get_bus(recorder->pipeline);
    gst_bus_set_sync_handler(recorder->bus, note_failure, recorder, NULL);
    recorder->ffv1 = format_have_ffv1();
    const char *const names[2] = {"left", "right"};
    for (int i = 0; i < 2 && i < recorder->tracks; i++) {
        recorder->track[i] =
            GST_APP_SRC(gst_bin_get_by_name(GST_BIN(recorder->pipeline), names[i]));
        g_object_set(recorder->track[i], "format", GST_FORMAT_TIME, "max-bytes", (guint64)0, NULL);
        gst_element_set_locked_state(GST_ELEMENT(recorder->track[i]), TRUE); /* for start_track() */
    }
    gst_launch_probe_buffers(GST_ELEMENT(recorder->track[0]), "src", write_row, recorder);
    atomic_store(&recorder->header, -1);
    atomic_store(&recorder->in_write, -1);
    if (gst_element_set_state(recorder->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
        return log_fail(-EACCES, recorder->path,
                        "cannot be written; is there such a folder, and may you write there?");
    return 0;
}

static void release(struct recorder *recorder, bool keep) {
    if (recorder->pipeline) {
        gst_element_set_state(recorder->pipeline, GST_STATE_NULL);
        for (int i = 0; i < 2; i++)
            gst_clear_object(&recorder->track[i]);
        gst_clear_object(&recorder->bus);
        gst_object_unref(recorder->pipeline);
    }
    /* What GStreamer's threads did last; they have ended. */
    atomic_load(&recorder->written);
    atomic_load(&recorder->failed);
    atomic_load(&recorder->in_write);
    atomic_load(&recorder->header);
    recording_files_close(&recorder->beside, keep);
    for (int i = 0; i < 2; i++)
        g_free(recorder->converted[i].data);
    pthread_mutex_destroy(&recorder->lock);
    g_free(recorder->path);
    g_free(recorder);
}

struct recorder *recorder_open(const char *path, const struct recorder_about *about, int *error) {
    struct recorder *recorder = g_new0(struct recorder, 1);
    recorder->path = g_strdup(path);
    recorder->rate = about->source->rate;
    recorder->tracks = g_str_has_prefix(about->source->name, "sbs:") ? 1 : 2;
    pthread_mutex_init(&recorder->lock, NULL);
    int code = g_str_has_suffix(path, ".mkv") ? 0 : -EINVAL;
    if (code)
        log_error(path, "recordings are Matroska files; end the name in .mkv");
    if (!code)
        code = recording_files_make(&recorder->beside, path, about, recorder->tracks);
    if (!code)
        code = open_pipeline(recorder);
    if (!code)
        return recorder;
    release(recorder, false);
    *error = code;
    return NULL;
}

/* ---- pairs */

static void end_with(struct recorder *recorder, int error) {
    LOCKED(&recorder->lock);
    recorder->status.error = error;
}

/* Looks whether writing has failed meanwhile. */
static int check_bus(struct recorder *recorder) {
    if (recorder->status.error) /* one error brings others after it */
        return recorder->status.error;
    int beside = atomic_load(&recorder->beside_error);
    if (beside) {
        end_with(recorder, beside);
        return beside;
    }
    g_autoptr(GError) cause = NULL;
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(recorder->bus, GST_MESSAGE_ERROR);
    if (!message)
        return 0;
    gst_message_parse_error(message, &cause, NULL);
    bool full = g_error_matches(cause, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
    log_error(recorder->path, "%s; the %ld pairs before can be played",
              full ? "the disk is full" : cause->message, whole_pairs(recorder));
    end_with(recorder, full ? -ENOSPC : -EIO);
    return recorder->status.error;
}

static struct raw_picture raw_of_image(const struct image *image) {
    return (struct raw_picture){.fourcc = image->channels == 1 ? PIXEL_GREY : PIXEL_RGB24,
                                .width = image->width,
                                .height = image->height,
                                .data = image->data,
                                .bytes = image_bytes(image)};
}

/* What the file holds: as it is, or as the pipeline sees it. */
static int make_storable(struct recorder *recorder, int side, struct raw_picture *raw) {
    if (format_is_jpeg(raw->fourcc) ||
        format_stored(raw->fourcc, recorder->ffv1) != GST_VIDEO_FORMAT_UNKNOWN)
        return 0;
    const struct pixel_format *format = pixel_format_find(raw->fourcc);
    struct image *image = &recorder->converted[side];
    if (!format)
        return -ENOTSUP;
    if (!image->data) {
        *image = (struct image){NULL, raw->width, raw->height, format->channels};
        image->data = g_malloc(image_bytes(image));
    }
    int error = pixels_decode(raw, NULL, image);
    *raw = raw_of_image(image);
    return error;
}

static void push(struct recorder *recorder, const struct raw_pair *pair, int side,
                 struct raw_picture *raw) {
    GstBuffer *buffer = format_buffer(raw);
    if (!buffer)
        return;
    int64_t time_ns = pair->time_ns[side] - recorder->first_ns;
    GST_BUFFER_PTS(buffer) = (GstClockTime)MAX(time_ns, 0);
    if (side == 0) {
        char *row = recording_row_print(pair, recorder->first_ns);
        gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(buffer), row_quark(), row, g_free);
    }
    atomic_fetch_add(&recorder->given, 1);
    gst_app_src_push_buffer(recorder->track[side], buffer); /* does not wait: block is off */
}

/* Puts the encoder between a track's source and its tags. */
static void add_encoder(struct recorder *recorder, int side, const char *encoder) {
    GstElement *bin = gst_parse_bin_from_description(encoder, TRUE, NULL);
    GstElement *source = GST_ELEMENT(recorder->track[side]);
    g_autoptr(GstElement) tag =
        gst_bin_get_by_name(GST_BIN(recorder->pipeline), side ? "tag1" : "tag0");
    gst_element_unlink(source, tag);
    gst_bin_add(GST_BIN(recorder->pipeline), bin);
    gst_element_link_many(source, bin, tag, NULL);
    gst_element_sync_state_with_parent(bin);
}

/* A source whose stream began before an encoder was put in would not tell the encoder so: it begins
 * here. */
static void start_track(GstElement *source) {
    gst_element_set_locked_state(source, FALSE);
    gst_element_sync_state_with_parent(source);
}

/* The first pair shows what the tracks hold. */
static void begin_tracks(struct recorder *recorder, const struct raw_pair *pair,
                         const struct raw_picture raw[2]) {
    recorder->fourcc = pair->picture[0].fourcc;
    for (int i = 0; i < recorder->tracks; i++) {
        const char *encoder = format_encoder(raw[i].fourcc, recorder->ffv1);
        if (encoder)
            add_encoder(recorder, i, encoder);
        else if (i == 0 && !format_is_jpeg(raw[i].fourcc))
            log_warning(recorder->path,
                        "is kept uncompressed (%.0f MB a second): no FFV1 encoder here; as root: "
                        "apt install gstreamer1.0-libav",
                        (double)raw[i].bytes * recorder->tracks * recorder->rate / 1e6);
        start_track(GST_ELEMENT(recorder->track[i]));
        g_autoptr(GstCaps) caps = format_caps(&raw[i], recorder->rate);
        gst_app_src_set_caps(recorder->track[i], caps);
    }
}

bool recorder_full(struct recorder *recorder) {
    bool full = false;
    if (check_bus(recorder) != 0)
        return false;
    for (int i = 0; i < recorder->tracks; i++)
        full |= gst_app_src_get_current_level_bytes(recorder->track[i]) > MAX_WAITING;
    return full;
}

void recorder_give(struct recorder *recorder, const struct raw_pair *pair) {
    bool full = recorder_full(recorder);
    int error = recorder->status.error;
    if (error)
        return;
    struct raw_picture raw[2] = {pair->picture[0], pair->picture[1]};
    if (recorder->status.pairs == 0)
        recorder->first_ns = MIN(pair->time_ns[0], pair->time_ns[1]);
    int sides = recorder->tracks;
    for (int i = 0; i < sides && !error && !full; i++)
        error = make_storable(recorder, i, &raw[i]);
    if (!error && !full) {
        if (recorder->status.pairs == 0)
            begin_tracks(recorder, pair, raw);
        for (int i = 0; i < sides; i++)
            push(recorder, pair, i, &raw[i]);
    }
    LOCKED(&recorder->lock);
    recorder->status.pairs += !error && !full;
    recorder->status.dropped += full || error;
}

void recorder_give_frame(struct recorder *recorder, const struct frame *frame) {
    struct raw_pair pair = {.index = frame->index,
                            .capture_ns = {frame->left_ns, frame->right_ns},
                            .time_ns = {frame->left_ns, frame->right_ns}};
    const struct image *images[2] = {&frame->left, &frame->right};
    for (int i = 0; i < 2; i++)
        pair.picture[i] = raw_of_image(images[i]);
    recorder_give(recorder, &pair);
}

void recorder_tap(void *context, const struct raw_pair *pair) {
    recorder_give(context, pair);
}

void recorder_get_status(struct recorder *recorder, struct recorder_status *status) {
    LOCKED(&recorder->lock);
    *status = recorder->status;
}

/* The end, or an error; NULL when nothing has moved for END_S. What waits is encoded first, which
 * may take longer than that. */
static GstMessage *wait_for_end(struct recorder *recorder) {
    int written = atomic_load(&recorder->written);
    for (int idle_s = 0; idle_s < END_S; idle_s++) {
        GstMessage *message = gst_bus_timed_pop_filtered(recorder->bus, GST_SECOND,
                                                         GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
        if (message)
            return message;
        int now = atomic_load(&recorder->written);
        if (now != written)
            idle_s = 0;
        written = now;
    }
    return NULL;
}

int recorder_close(struct recorder **pointer, struct recorder_status *end) {
    struct recorder *recorder = *pointer;
    *pointer = NULL;
    if (!recorder)
        return 0;
    bool ended = false;
    if (check_bus(recorder) == 0 && recorder->status.pairs > 0) {
        for (int i = 0; i < recorder->tracks; i++)
            gst_app_src_end_of_stream(recorder->track[i]);
        GstMessage *message = wait_for_end(recorder);
        if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
            gst_bus_post(recorder->bus, message); /* for check_bus */
            check_bus(recorder);
        } else if (message) {
            gst_message_unref(message);
            ended = check_bus(recorder) == 0;
        } else {
            log_error(recorder->path, "the disk does not take the rest; it may end early");
            end_with(recorder, -ETIMEDOUT);
        }
    }
    int last = atomic_load(&recorder->in_write);
    if (ended && last >= 0) /* nothing follows it in what is no file on a disk */
        atomic_fetch_add(&recorder->whole[last], 1);
    struct recorder_status status = recorder->status;
    long whole = whole_pairs(recorder), kept = MIN(status.pairs, whole);
    if (ended && kept < status.pairs) { /* avenc_ffv1 goes on without a picture */
        status.error = log_fail(-EIO, recorder->path,
                                "lacks %ld of %ld pairs: encoding failed; has memory run out?",
                                status.pairs - kept, status.pairs);
    }
    status.dropped += status.pairs - kept;
    status.pairs = kept;
    if (kept > 0 && !ended)
        recording_files_keep_rows(&recorder->beside, kept);
    if (kept == 0)
        log_warning(recorder->path, "no pair came %s, so no file is kept",
                    status.error ? "to the disk" : "from the source");
    release(recorder, kept > 0);
    if (end)
        *end = status;
    return status.error;
}
