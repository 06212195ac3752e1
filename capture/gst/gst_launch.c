/*
 * The functions of capture/gst/gst_launch.h. SPDX-License-Identifier: MIT
 */
#include "capture/gst/gst_launch.h"

#include <string.h>

const char *gst_launch_package(const char *message) {
    static const char *const packages[][9] = {
        {"gstreamer1.0-plugins-base", "appsink", "appsrc", "decodebin", "oggmux", "theoraenc",
         "videoconvert", "videorate", "videoscale"},
        {"gstreamer1.0-plugins-good", "image/jpeg", "image/png", "matroska", "quicktime",
         "video/webm", "video/x-msvideo", "vp8", "vp9"},
        {"gstreamer1.0-plugins-good", "jpegenc", "mp4mux", "qtmux", "rtp", "taginject", "udpsink",
         "v4l2", "webmmux"},
        {"gstreamer1.0-plugins-ugly", "x264enc"},
        {"gstreamer1.0-plugins-bad", "h264parse", "h265parse", "hlssink", "mpegts", "nvh", "rtmp",
         "srt", "x265enc"},
        {"gstreamer1.0-libav", "avdec_", "avenc_"}};
    for (size_t i = 0; i < G_N_ELEMENTS(packages); i++)
        for (int k = 1; k < 9 && packages[i][k]; k++)
            if (strstr(message, packages[i][k]))
                return packages[i][0];
    return NULL;
}

/* GStreamer's parser goes on with NULL where a plugin that its registry lists cannot be loaded. */
static bool load_plugins(const char *text, GError **error) {
    g_auto(GStrv) words = g_strsplit_set(text, " \t\n!().", -1);
    for (char **word = words; *word; word++) {
        g_autoptr(GstElementFactory) listed = **word ? gst_element_factory_find(*word) : NULL;
        g_autoptr(GstPluginFeature) loaded =
            listed ? gst_plugin_feature_load(GST_PLUGIN_FEATURE(listed)) : NULL;
        if (loaded || !listed)
            continue;
        g_set_error(error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT,
                    "the plugin of element \"%s\" cannot be loaded", *word);
        return false;
    }
    return true;
}

GstElement *gst_launch(const char *text, GError **error) {
    GError *cause = NULL;
    GstElement *pipeline = NULL;
    if (gst_init_check(NULL, NULL, &cause) && load_plugins(text, &cause))
        pipeline = gst_parse_launch_full(text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &cause);
    if (pipeline && !cause)
        return pipeline;
    gst_clear_object(&pipeline);
    if (!cause)
        g_set_error(&cause, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "GStreamer does not start");
    const char *package = g_error_matches(cause, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT)
                              ? gst_launch_package(cause->message)
                              : NULL;
    g_set_error(error, cause->domain, cause->code, "%s%s%s", cause->message,
                package ? "; as root: apt install " : "", package ? package : "");
    g_error_free(cause);
    return NULL;
}

GstElement *gst_launch_bin(const char *text) {
    return load_plugins(text, NULL) ? gst_parse_bin_from_description_full(
                                          text, TRUE, NULL, GST_PARSE_FLAG_FATAL_ERRORS, NULL)
                                    : NULL;
}

bool gst_launch_sink_info(GstAppSink *sink, GstVideoInfo *info) {
    g_autoptr(GstPad) pad = gst_element_get_static_pad(GST_ELEMENT(sink), "sink");
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
    return caps && gst_video_info_from_caps(info, caps);
}

void gst_launch_set_location(GstElement *pipeline, const char *path) {
    g_autoptr(GstElement) file = gst_bin_get_by_name(GST_BIN(pipeline), "file");
    g_object_set(file, "location", path, NULL);
}

void gst_launch_probe_buffers(GstElement *element, const char *name, GstPadProbeCallback probe,
                              void *context) {
    g_autoptr(GstPad) pad = gst_element_get_static_pad(element, name);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, probe, context, NULL);
}

/* ---- writing */

bool gst_writer_open(struct gst_writer *writer, const char *text, const char *path,
                     GError **error) {
    static const char *const names[2] = {"livestereo0", "livestereo1"};
    writer->pipeline = gst_launch(text, error);
    if (!writer->pipeline)
        return false;
    writer->bus = gst_element_get_bus(writer->pipeline);
    if (path)
        gst_launch_set_location(writer->pipeline, path);
    for (int i = 0; i < 2; i++) {
        writer->head[i] = (GstAppSrc *)gst_bin_get_by_name(GST_BIN(writer->pipeline), names[i]);
        if (writer->head[i])
            g_object_set(writer->head[i], "format", GST_FORMAT_TIME, "max-bytes", (guint64)0, NULL);
    }
    return true;
}

enum gst_writer_state gst_writer_look(const struct gst_writer *writer, GstClockTime wait,
                                      GError **error) {
    g_autoptr(GstMessage) message =
        gst_bus_timed_pop_filtered(writer->bus, wait, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    if (!message)
        return GST_WRITER_GOES_ON;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS)
        return GST_WRITER_ENDED;
    gst_message_parse_error(message, error, NULL);
    return GST_WRITER_FAILED;
}

void gst_writer_end(struct gst_writer *writer) {
    for (int i = 0; i < 2 && writer->head[i]; i++)
        gst_app_src_end_of_stream(writer->head[i]);
}

void gst_writer_close(struct gst_writer *writer) {
    if (writer->pipeline)
        gst_element_set_state(writer->pipeline, GST_STATE_NULL);
    for (int i = 0; i < 2; i++)
        gst_clear_object(&writer->head[i]);
    gst_clear_object(&writer->bus);
    gst_clear_object(&writer->pipeline);
}
