/*
 * The elements of source_gst.c: a decodebin for each file (uridecodebin for a URI), and for each
 * video track it finds a queue, a colour converter and an appsink. Tracks are found in GStreamer's
 * threads while open waits. Files may come from strangers: GStreamer gets to see only the
 * containers and codecs listed here, because it would follow a playlist or a session description
 * into the network.
 * SPDX-License-Identifier: MIT
 */
#include "capture/eyes.h"
#include "capture/gst/gst_launch.h"
#include "capture/gst/source_gst_private.h"
#include "base/lock.h"
#include "base/log.h"

#include <gst/pbutils/pbutils.h>
#include <stdbool.h>
#include <string.h>

#define OPEN_S 20

/* Left or right by the title that recordings carry, once a picture has come. */
static enum eye side_of(GstAppSink *sink) {
    enum eye side = EYE_UNKNOWN;
    GstEvent *event;
    g_autoptr(GstPad) pad = gst_element_get_static_pad(GST_ELEMENT(sink), "sink");
    for (guint i = 0; (event = gst_pad_get_sticky_event(pad, GST_EVENT_TAG, i)) != NULL; i++) {
        GstTagList *tags = NULL;
        g_autofree char *title = NULL;
        gst_event_parse_tag(event, &tags);
        if (tags && gst_tag_list_get_string(tags, GST_TAG_TITLE, &title))
            side = eye_of_name(title);
        gst_event_unref(event);
    }
    return side;
}

/* Adds the elements behind a decoder's pad. NULL without videoconvert (plugins-base) or videoflip
 * (plugins-good). */
static GstAppSink *add_track(struct gst *gst, GstPad *pad, int file) {
    GstElement *track = gst_launch_bin(
        "queue ! videoconvert ! videoflip name=flip ! appsink name=sink max-buffers=2 sync=false "
        "caps=" GST_PAIR_CAPS);
    if (!track)
        return NULL;
    g_autoptr(GstElement) flip = gst_bin_get_by_name(GST_BIN(track), "flip");
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(track), "sink");
    g_object_set(flip, "video-direction", gst->about[file].turn, NULL);
    gst_bin_add(GST_BIN(gst->pipeline), track);
    gst_element_sync_state_with_parent(track);
    g_autoptr(GstPad) input = gst_element_get_static_pad(track, "sink");
    gst_pad_link(pad, input);
    return GST_APP_SINK(sink); /* the pipeline's */
}

static int file_of(GstElement *decoder) {
    return GPOINTER_TO_INT(g_object_get_data(G_OBJECT(decoder), "livestereo-file"));
}

static void on_pad(GstElement *decoder, GstPad *pad, gpointer context) {
    struct gst *gst = context;
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
    if (!caps)
        caps = gst_pad_query_caps(pad, NULL);
    const GstStructure *form = gst_caps_get_structure(caps, 0);
    int width = 0, height = 0;
    gst_structure_get(form, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, NULL);
    bool video = g_str_has_prefix(gst_structure_get_name(form), "video/x-raw") &&
                 !video_about_is_still(&gst->about[file_of(decoder)], width, height);
    LOCKED(&gst->lock);
    if (video && gst->found_count < 2) {
        struct gst_track *track = &gst->found[gst->found_count];
        *track = (struct gst_track){add_track(gst, pad, file_of(decoder)), file_of(decoder)};
        gst->found_count += track->sink != NULL;
    } else {
        gst->extra += video;
    }
}

static void on_no_more_pads(GstElement *decoder, gpointer context) {
    struct gst *gst = context;
    (void)decoder;
    LOCKED(&gst->lock);
    gst->complete++;
}

/* Containers and codecs that are played; the manual lists them. */
static const char *const played[] = {
    "video/x-matroska", "video/webm",   "video/quicktime", "application/x-3gp", "video/x-msvideo",
    "video/mpegts",     "video/x-raw",  "image/jpeg",      "image/png",         "video/x-h264",
    "video/x-h265",     "video/x-vp8",  "video/x-vp9",     "video/x-av1",       "video/mpeg",
    "video/x-divx",     "video/x-xvid", "video/x-ffv",     "video/x-huffyuv",   "video/x-prores",
    "video/x-dnxhd"};

/* Where a URI was named, its stream may be one of RTP. */
static bool is_played(const char *type, bool from_uri) {
    for (size_t i = 0; i < G_N_ELEMENTS(played); i++)
        if (strcmp(type, played[i]) == 0)
            return true;
    return from_uri && strcmp(type, "application/x-rtp") == 0;
}

/* Whether this is the first call for a decoder, which is about the file as a whole. */
static bool is_first_call(GstElement *decoder) {
    bool first = !g_object_get_data(G_OBJECT(decoder), "livestereo-called");
    g_object_set_data(G_OBJECT(decoder), "livestereo-called", decoder);
    return first;
}

/* Why a stream is not played, and what to do. g_free. */
static char *refusal(const GstCaps *caps, const char *type) {
    if (g_str_has_prefix(type, "audio/"))
        return g_strdup("holds sound and no pictures");
    if (strcmp(type, "image/jpeg") == 0 || strcmp(type, "image/png") == 0)
        return g_strdup("holds pictures one behind the other, without a container; put a stream "
                        "(MJPEG) into one, as with ffmpeg -i FILE -c copy FILE.mkv, and a pair "
                        "(MPO) into two files");
    if (g_str_has_prefix(type, "image/"))
        return g_strdup_printf("is a picture of a kind (%s) that is not read; PNG, JPEG, TIFF, PGM "
                               "and PPM are: convert it to PNG",
                               type + strlen("image/"));
    g_autofree char *what = gst_pb_utils_get_codec_description(caps);
    return g_strdup_printf(
        "holds %s, which is not played; convert it, to Matroska with H.264 for example", what);
}

/* Whether what a pad gives is decoded further. What is not, such as sound, comes out as it is and
 * is not linked. A file of pictures without a container would be cut anywhere. */
static gboolean wants_stream(GstElement *decoder, GstPad *pad, GstCaps *caps, gpointer context) {
    struct gst *gst = context;
    (void)pad;
    bool whole = is_first_call(decoder);
    const char *type = gst_structure_get_name(gst_caps_get_structure(caps, 0));
    bool from_uri = g_object_get_data(G_OBJECT(decoder), "livestereo-uri") != NULL;
    bool bare = whole && !from_uri && g_str_has_prefix(type, "image/");
    if (is_played(type, from_uri) && !bare)
        return TRUE;
    LOCKED(&gst->lock);
    if (!gst->refused && (g_str_has_prefix(type, "video/") || whole))
        gst->refused = refusal(caps, type);
    return FALSE;
}

/* ---- errors */

static int tell_missing(struct gst *gst, GstMessage *message) {
    g_autofree char *what = gst_missing_plugin_message_get_description(message);
    g_autofree char *detail = gst_missing_plugin_message_get_installer_detail(message);
    return log_fail(-ENOSYS, gst->name, "no %s here; as root: apt install %s", what,
                    gst_launch_package(detail ? detail : "") ?: "gstreamer1.0-libav");
}

/* A file without a video track that is played. */
static int tell_refused(struct gst *gst) {
    pthread_mutex_lock(&gst->lock);
    g_autofree char *refused = gst->found_count == 0 ? g_steal_pointer(&gst->refused) : NULL;
    pthread_mutex_unlock(&gst->lock);
    if (refused)
        log_error(gst->name, "%s", refused);
    return refused ? -EBADMSG : 0;
}

static int tell_error(struct gst *gst, GstMessage *message) {
    int refused = tell_refused(gst);
    if (refused)
        return refused;
    g_autoptr(GError) error = NULL;
    g_autofree char *debug = NULL;
    gst_message_parse_error(message, &error, &debug);
    const char *why = error->message;
    if (debug && strstr(debug, "not-negotiated"))
        why = "its decoder gives a form of pixels that GStreamer does not know; convert it to 8 "
              "bits, to H.264 for example";
    else if (g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND))
        why = "it is empty, or neither a video nor a picture of a kind that is known; convert "
              "pictures to PNG";
    else if (g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_DEMUX))
        why = "it holds no track: a recording that was cut off before its index was written (MP4, "
              "MOV), or a picture, to be converted to PNG";
    int code = -EIO;
    if (g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND))
        code = -ENOENT;
    if (gst->next > 0)
        log_error(gst->name, "is damaged after frame %ld (%.3f s), playing ends there: %s",
                  gst->next - 1, (double)gst->last_ns / 1e9, error->message);
    else
        log_error(gst->name, "cannot be played: %s", why);
    return code;
}

int gst_bus_look(struct gst *gst) {
    GstMessage *message;
    int code = 0;
    while (code == 0 && (message = gst_bus_pop_filtered(
                             gst->bus, GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT)) != NULL) {
        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
            code = tell_error(gst, message);
        else if (gst_is_missing_plugin_message(message))
            code = tell_missing(gst, message);
        gst_message_unref(message);
    }
    gst->failed = gst->failed || code != 0;
    return code;
}

/* ---- opening and closing */

/* The element that decodes a URI, or a file behind a filesrc. NULL where one is missing. */
static GstElement *add_decoder(struct gst *gst, const char *uri) {
    g_autofree char *path = g_filename_from_uri(uri, NULL, NULL);
    GstElement *decoder = gst_element_factory_make(path ? "decodebin" : "uridecodebin", NULL);
    GstElement *file = path ? gst_element_factory_make("filesrc", NULL) : NULL;
    if (!decoder || (path && !file)) {
        gst_clear_object(&decoder);
        gst_clear_object(&file);
        return NULL;
    }
    gst_bin_add(GST_BIN(gst->pipeline), decoder);
    if (path) {
        g_object_set(file, "location", path, NULL);
        gst_bin_add(GST_BIN(gst->pipeline), file);
        gst_element_link(file, decoder);
    } else {
        g_object_set(decoder, "uri", uri, NULL);
        g_object_set_data(G_OBJECT(decoder), "livestereo-uri", decoder);
    }
    return decoder;
}

static int add_file(struct gst *gst, const char *word, int file) {
    g_autoptr(GError) error = NULL;
    g_autofree char *uri =
        gst_uri_is_valid(word) ? g_strdup(word) : gst_filename_to_uri(word, &error);
    GstElement *decoder = uri ? add_decoder(gst, uri) : NULL;
    if (!decoder)
        return log_fail(-ENOSYS, word, "%s",
                        error ? error->message
                              : "no decodebin; as root: apt install gstreamer1.0-plugins-base");
    g_object_set_data(G_OBJECT(decoder), "livestereo-file", GINT_TO_POINTER(file));
    g_signal_connect(decoder, "autoplug-continue", G_CALLBACK(wants_stream), gst);
    g_signal_connect(decoder, "pad-added", G_CALLBACK(on_pad), gst);
    g_signal_connect(decoder, "no-more-pads", G_CALLBACK(on_no_more_pads), gst);
    return 0;
}

/* A JPEG picture that lacks its end; some cameras pad it with zeros. */
static GstPadProbeReturn on_jpeg(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    struct gst *gst = context;
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    GstMapInfo map;
    (void)pad;
    if (!gst_buffer_map(buffer, &map, GST_MAP_READ))
        return GST_PAD_PROBE_OK;
    gsize end = map.size;
    while (end > 0 && map.data[end - 1] == 0)
        end--;
    bool whole = end >= 2 && map.data[end - 2] == 0xff && map.data[end - 1] == 0xd9;
    gst_buffer_unmap(buffer, &map);
    GstClockTime time = GST_BUFFER_PTS(buffer);
    LOCKED(&gst->lock);
    if (!whole)
        g_array_append_val(gst->damaged, time);
    return GST_PAD_PROBE_OK;
}

/* Decoders of libav that write into GStreamer's buffers end the process where these do not know
 * their form of pixels (FFV1 of 10 bits); else they say so. */
static void on_element(GstBin *bin, GstBin *in, GstElement *element, gpointer context) {
    GstElementFactory *factory = gst_element_get_factory(element);
    (void)bin;
    (void)in;
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "direct-rendering"))
        g_object_set(element, "direct-rendering", FALSE, NULL);
    if (factory && strcmp(GST_OBJECT_NAME(factory), "jpegdec") == 0)
        gst_launch_probe_buffers(element, "sink", on_jpeg, context);
}

/* Waits until all tracks are known and each sink holds its first picture. */
static int wait_first(struct gst *gst) {
    gint64 end = g_get_monotonic_time() + OPEN_S * G_TIME_SPAN_SECOND;
    while (g_get_monotonic_time() < end) {
        int code = gst_bus_look(gst);
        if (code)
            return code;
        pthread_mutex_lock(&gst->lock);
        bool complete = gst->complete == gst->files;
        pthread_mutex_unlock(&gst->lock);
        if (gst_element_get_state(gst->pipeline, NULL, NULL, 20 * GST_MSECOND) ==
                GST_STATE_CHANGE_SUCCESS &&
            complete)
            return gst_bus_look(gst);
    }
    return log_fail(-ETIMEDOUT, gst->name, "no picture came within %d s; is it a video file?",
                    OPEN_S);
}

/* Puts left first: by file, by title, else in the order of the file. */
static int order_tracks(struct gst *gst) {
    struct gst_track *found = gst->found;
    if (gst->found_count < gst->files) {
        int refused = tell_refused(gst);
        if (!refused)
            log_error(gst->name, "holds no video");
        return refused ? refused : -EBADMSG;
    }
    if (gst->files == 2 && found[0].file == found[1].file)
        return log_fail(-EINVAL, gst->name, "each of two files must hold one video track");
    if (gst->extra)
        log_warning(gst->name, "has %d video tracks; the first two are taken", 2 + gst->extra);
    gst->tracks = gst->found_count;
    bool exchange = gst->files == 2 && found[0].file == 1;
    if (gst->files == 1 && gst->tracks == 2) {
        enum eye side[2] = {side_of(found[0].sink), side_of(found[1].sink)};
        exchange = side[0] != side[1] && (side[0] == EYE_RIGHT || side[1] == EYE_LEFT);
        const char *cause =
            side[0] == side[1] ? "since no title says it; --swap exchanges them" : "by its title";
        log_info(gst->name, "left is the %s track, %s", exchange ? "second" : "first", cause);
    }
    gst->sink[0] = found[gst->tracks == 2 && exchange].sink;
    gst->sink[1] = gst->tracks == 2 ? found[!exchange].sink : NULL;
    return 0;
}

int gst_graph_open(struct gst *gst) {
    g_autoptr(GError) error = NULL;
    if (!gst_init_check(NULL, NULL, &error))
        return log_fail(-ENOSYS, gst->name, "GStreamer does not start: %s",
                        error ? error->message : "no cause given");
    gst_pb_utils_init();
    gst->pipeline = gst_pipeline_new(NULL);
    g_signal_connect(gst->pipeline, "deep-element-added", G_CALLBACK(on_element), gst);
    gst->bus = gst_element_get_bus(gst->pipeline);
    gst->failed = false;
    pthread_mutex_lock(&gst->lock);
    gst->found_count = gst->complete = gst->extra = 0;
    g_clear_pointer(&gst->refused, g_free);
    pthread_mutex_unlock(&gst->lock);
    int code = 0;
    for (int i = 0; i < gst->files && code == 0; i++)
        code = add_file(gst, gst->words[i], i);
    if (code)
        return code;
    gst_element_set_state(gst->pipeline, GST_STATE_PAUSED);
    code = wait_first(gst) ?: order_tracks(gst);
    if (code == 0)
        gst_element_set_state(gst->pipeline, GST_STATE_PLAYING);
    return code;
}

void gst_graph_close(struct gst *gst) {
    if (gst->pipeline) {
        gst_element_set_state(gst->pipeline, GST_STATE_NULL);
        gst_object_unref(gst->bus);
        gst_object_unref(gst->pipeline);
    }
    gst->pipeline = NULL;
}
