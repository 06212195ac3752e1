/* capture/record/recorder.h on GStreamer: appsrc ! taginject ! matroskamux ! filesink, twice
 * into one mux; an encoder comes in front of taginject when the first pair shows the format. Each
 * buffer carries the number of its pair as a GstReferenceTimestampMeta, which encoders and the mux
 * hand on; the row of a pair is written when both pictures have gone into the file. What lies
 * beside the file: recording_files.c. SPDX-License-Identifier: MIT */
#include "capture/record/recorder.h"

#include "image/pixel_format.h"
#include "capture/gst/gst_launch.h"
#include "capture/record/recorder_format.h"
#include "capture/record/recording_files.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <pthread.h>
#include <stdbool.h>

#define MAX_WAITING (64u << 20) /* bytes of one track that may wait for the disk */
#define END_S 20

/* A pair that has been given and is not in the file yet, as far as is known. */
struct given_pair {
    long number;
    bool in_file[2];
    char row[RECORDING_ROW];
};

struct recorder {
    char *path;
    struct gst_writer writer; /* its heads are the tracks */
    GstCaps *mark; /* of the numbers that buffers carry: of pair n 2 n, in track 1 one more */
    int tracks;    /* 1: both pictures side by side */
    struct recording_files beside;
    bool ffv1;                 /* GStreamer can make it */
    uint32_t fourcc;           /* of the pictures, from the first pair on */
    struct image converted[2]; /* for formats that the file cannot hold */
    int64_t first_ns;
    double rate;
    pthread_mutex_t lock; /* guards the rest, also against GStreamer's threads */
    struct recorder_status status;
    GQueue given;     /* struct given_pair, in order */
    long rows;        /* of pairs that are in the file */
    int beside_error; /* of a file beside it, logged */
    bool failed;      /* GStreamer has met an error */
    long writing;     /* number of the picture on its way into the file, -1 none */
};

char *recorder_default_path(void) {
    const char *folder = g_get_user_special_dir(G_USER_DIRECTORY_VIDEOS);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *name = g_date_time_format(now, "livestereo-%Y%m%d-%H%M%S.mkv");
    return g_build_filename(folder ? folder : ".", name, NULL);
}

/* ---- opening */

/* The picture that the last buffer held is in the file. A track's pictures come in order: what it
 * passes over an encoder has lost. */
static void note_in_file(struct recorder *recorder) {
    long number = recorder->writing / 2, track = recorder->writing % 2;
    struct given_pair *pair;
    if (recorder->writing < 0)
        return;
    while ((pair = g_queue_peek_head(&recorder->given)) && pair->number < number &&
           !pair->in_file[track])
        g_free(g_queue_pop_head(&recorder->given));
    for (GList *at = recorder->given.head; at && pair && pair->number < number; at = at->next)
        pair = at->data;
    if (pair && pair->number == number)
        pair->in_file[track] = true;
}

/* The next pair that is whole in the file, or NULL. */
static struct given_pair *take_whole(struct recorder *recorder) {
    LOCKED(&recorder->lock);
    const struct given_pair *pair = g_queue_peek_head(&recorder->given);
    bool whole = pair && pair->in_file[0] && pair->in_file[recorder->tracks - 1];
    return whole && !recorder->beside_error ? g_queue_pop_head(&recorder->given) : NULL;
}

/* Without the lock, for recorder_give never waits for a disk. */
static void write_rows(struct recorder *recorder) {
    for (struct given_pair *pair; (pair = take_whole(recorder));) {
        int error = recorder->rows > 0
                        ? 0
                        : recording_files_write_note(&recorder->beside, recorder->fourcc);
        error = error ?: recording_files_add_row(&recorder->beside, pair->row);
        g_free(pair);
        LOCKED(&recorder->lock);
        recorder->beside_error = error;
        recorder->rows += !error;
    }
}

/* In the thread that met it, before anything more is written. */
static GstBusSyncReply note_failure(GstBus *bus, GstMessage *message, gpointer context) {
    struct recorder *recorder = context;
    (void)bus;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        LOCKED(&recorder->lock);
        recorder->failed = true;
    }
    return GST_BUS_PASS;
}

/* Each buffer on the way to the file, in the mux's thread. When the next one comes and nothing has
 * failed, the one before is written, since nothing holds bytes back. */
static GstPadProbeReturn look_at_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    struct recorder *recorder = context;
    GstBuffer *buffer = gst_pad_probe_info_get_buffer(info);
    const GstReferenceTimestampMeta *mark =
        gst_buffer_get_reference_timestamp_meta(buffer, recorder->mark);
    (void)pad;
    pthread_mutex_lock(&recorder->lock);
    if (!recorder->failed)
        note_in_file(recorder);
    recorder->writing = mark ? (long)mark->timestamp : -1;
    pthread_mutex_unlock(&recorder->lock);
    write_rows(recorder);
    return GST_PAD_PROBE_OK;
}

static int open_pipeline(struct recorder *recorder) {
    g_autoptr(GError) error = NULL;
    /* The default time scale rounds to a millisecond, which is coarser than pairs are apart. */
    const char *two =
        "matroskamux name=mux timecodescale=10000 ! filesink name=file "
        "appsrc name=livestereo0 ! taginject name=tag0 tags=title=left ! mux.video_0 "
        "appsrc name=livestereo1 ! taginject name=tag1 tags=title=right ! mux.video_1";
    const char *one = "matroskamux name=mux timecodescale=10000 ! filesink name=file "
                      "appsrc name=livestereo0 ! taginject name=tag0 tags=title=sbs ! mux.video_0";
    if (!gst_writer_open(&recorder->writer, recorder->tracks == 2 ? two : one, recorder->path,
                         &error))
        return log_fail(-ENOSYS, recorder->path, "cannot be recorded: %s", error->message);
    g_autoptr(GstElement) file = gst_bin_get_by_name(GST_BIN(recorder->writer.pipeline), "file");
    gst_util_set_object_arg(G_OBJECT(file), "buffer-mode", "unbuffered");
    gst_launch_probe_buffers(file, "sink", look_at_buffer, recorder);
    gst_bus_set_sync_handler(recorder->writer.bus, note_failure, recorder, NULL);
    recorder->ffv1 = format_have_ffv1();
    recorder->mark = gst_caps_new_empty_simple("timestamp/x-livestereo-picture");
    for (int i = 0; i < recorder->tracks; i++) /* for start_track() */
        gst_element_set_locked_state(GST_ELEMENT(recorder->writer.head[i]), TRUE);
    if (gst_element_set_state(recorder->writer.pipeline, GST_STATE_PLAYING) ==
        GST_STATE_CHANGE_FAILURE)
        return log_fail(-EACCES, recorder->path,
                        "cannot be written; is there such a folder, and may you write there?");
    return 0;
}

static void release(struct recorder *recorder, bool keep) {
    gst_writer_close(&recorder->writer);
    gst_clear_caps(&recorder->mark);
    g_queue_clear_full(&recorder->given, g_free);
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
    recorder->writing = -1;
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

static int end_with(struct recorder *recorder, int error) {
    LOCKED(&recorder->lock);
    return recorder->status.error = error;
}

/* The number of pairs in the file, and the error of a file beside it. */
static long count_rows(struct recorder *recorder, int *error) {
    LOCKED(&recorder->lock);
    *error = recorder->beside_error;
    return recorder->rows;
}

static int fail(struct recorder *recorder, const GError *cause) {
    int beside;
    bool full = g_error_matches(cause, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
    log_error(recorder->path, "%s; the %ld pairs before can be played",
              full ? "the disk is full" : cause->message, count_rows(recorder, &beside));
    return end_with(recorder, full ? -ENOSPC : -EIO);
}

/* Looks whether writing has failed meanwhile. */
static int check_bus(struct recorder *recorder) {
    if (recorder->status.error) /* one error brings others after it */
        return recorder->status.error;
    int beside;
    count_rows(recorder, &beside);
    if (beside)
        return end_with(recorder, beside);
    g_autoptr(GError) cause = NULL;
    bool failed = gst_writer_look(&recorder->writer, 0, &cause) == GST_WRITER_FAILED;
    return failed ? fail(recorder, cause) : 0;
}

static struct raw_picture raw_of_image(const struct image *image) {
    return (struct raw_picture){.fourcc = image->channels == 1 ? PIXEL_GREY : PIXEL_RGB24,
                                .width = image->width,
                                .height = image->height,
                                .data = image->data,
                                .bytes = image_bytes(image)};
}

/* Makes a picture as the file holds it: as it is, or as the pipeline sees it. */
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

static void note_given(struct recorder *recorder, const struct raw_pair *pair) {
    struct given_pair *given = g_new0(struct given_pair, 1);
    given->number = recorder->status.pairs;
    recording_row_print(pair, recorder->first_ns, given->row);
    LOCKED(&recorder->lock);
    g_queue_push_tail(&recorder->given, given);
}

static void push(struct recorder *recorder, const struct raw_pair *pair, int side,
                 struct raw_picture *raw) {
    GstBuffer *buffer = format_buffer(raw);
    if (!buffer)
        return;
    int64_t time_ns = pair->time_ns[side] - recorder->first_ns;
    GST_BUFFER_PTS(buffer) = (GstClockTime)MAX(time_ns, 0);
    GstClockTime number = 2 * (GstClockTime)recorder->status.pairs + (GstClockTime)side;
    gst_buffer_add_reference_timestamp_meta(buffer, recorder->mark, number, GST_CLOCK_TIME_NONE);
    gst_app_src_push_buffer(recorder->writer.head[side], buffer); /* does not wait: block is off */
}

/* Puts the encoder between a track's source and its tags. */
static void add_encoder(struct recorder *recorder, int side, const char *encoder) {
    GstElement *bin = gst_parse_bin_from_description(encoder, TRUE, NULL);
    GstElement *source = GST_ELEMENT(recorder->writer.head[side]);
    g_autoptr(GstElement) tag =
        gst_bin_get_by_name(GST_BIN(recorder->writer.pipeline), side ? "tag1" : "tag0");
    gst_element_unlink(source, tag);
    gst_bin_add(GST_BIN(recorder->writer.pipeline), bin);
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
        start_track(GST_ELEMENT(recorder->writer.head[i]));
        g_autoptr(GstCaps) caps = format_caps(&raw[i], recorder->rate);
        gst_app_src_set_caps(recorder->writer.head[i], caps);
    }
}

bool recorder_full(struct recorder *recorder) {
    bool full = false;
    if (check_bus(recorder) != 0)
        return false;
    for (int i = 0; i < recorder->tracks; i++)
        full |= gst_app_src_get_current_level_bytes(recorder->writer.head[i]) > MAX_WAITING;
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
        note_given(recorder, pair);
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

/* Ends the tracks. Whether all that they were given has gone on to the file: what waits is encoded
 * first, and something must come into the file each END_S. */
static bool end_tracks(struct recorder *recorder) {
    enum gst_writer_state state = GST_WRITER_GOES_ON;
    g_autoptr(GError) cause = NULL;
    int beside;
    gst_writer_end(&recorder->writer);
    for (int idle_s = 0; idle_s < END_S && state == GST_WRITER_GOES_ON; idle_s++) {
        long rows = count_rows(recorder, &beside);
        state = gst_writer_look(&recorder->writer, GST_SECOND, &cause);
        if (count_rows(recorder, &beside) != rows)
            idle_s = 0;
    }
    if (state == GST_WRITER_FAILED)
        fail(recorder, cause);
    if (state == GST_WRITER_GOES_ON)
        end_with(recorder, log_fail(-ETIMEDOUT, recorder->path,
                                    "the disk does not take the rest; it may end early"));
    if (state != GST_WRITER_ENDED)
        return false;
    pthread_mutex_lock(&recorder->lock);
    note_in_file(recorder); /* nothing follows the last one in what is no file on a disk */
    pthread_mutex_unlock(&recorder->lock);
    write_rows(recorder);
    return check_bus(recorder) == 0;
}

int recorder_close(struct recorder **pointer, struct recorder_status *end) {
    struct recorder *recorder = *pointer;
    *pointer = NULL;
    if (!recorder)
        return 0;
    bool ended = check_bus(recorder) == 0 && recorder->status.pairs > 0 && end_tracks(recorder);
    struct recorder_status status = recorder->status;
    int error;
    long kept = count_rows(recorder, &error);
    if (ended && kept < status.pairs) /* avenc_ffv1 goes on without a picture */
        status.error = log_fail(-EIO, recorder->path,
                                "lacks %ld of %ld pairs: encoding failed; has memory run out?",
                                status.pairs - kept, status.pairs);
    status.dropped += status.pairs - kept;
    status.pairs = kept;
    if (kept == 0 && !ended)
        log_warning(recorder->path, "no pair came %s, so no file is kept",
                    status.error ? "to the disk" : "from the source");
    release(recorder, kept > 0 || ended);
    if (end)
        *end = status;
    return status.error;
}
