/*
 * The pipeline of app/save/video_writer.h. SPDX-License-Identifier: MIT
 */
#include "app/save/video_writer.h"

#include "capture/gst/gst_launch.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define END_S 30      /* for the last pictures */
#define MAX_WAITING 8 /* pictures, for the encoder */
#define SMALLEST 16   /* px a side, of the encoders */

static const struct {
    const char *element, *ending, *chain;
} encoders[] = {
    {"x264enc", ".mp4", "x264enc speed-preset=fast quantizer=18 pass=quant ! mp4mux"},
    {"vp8enc", ".webm",
     "vp8enc deadline=100000 cpu-used=4 threads=2 end-usage=cq cq-level=10 min-quantizer=4 "
     "max-quantizer=20 target-bitrate=20000000 ! webmmux"},
};

struct video_writer {
    char *path;
    FILE *file; /* is the writer's own; filesink opens it anew */
    struct gst_writer writer;
    GstVideoInfo info;
    double rate;
    long pictures;
};

static void free_writer(struct video_writer *w, int keep) {
    gst_writer_close(&w->writer);
    if (w->file && !keep)
        file_remove(w->path, w->file);
    if (w->file)
        fclose(w->file);
    g_free(w->path);
    g_free(w);
}

/* 0 or -EIO after a log line; waits so long for the end of the stream where wanted. */
static int look(const struct video_writer *w, GstClockTime timeout, bool end) {
    g_autoptr(GError) cause = NULL;
    enum gst_writer_state state = gst_writer_look(&w->writer, timeout, &cause);
    if (state == GST_WRITER_FAILED)
        return log_fail(-EIO, w->path, "cannot be written: %s", cause->message);
    if (end && state == GST_WRITER_GOES_ON)
        return log_fail(-EIO, w->path, "could not be finished within %d s", END_S);
    return 0;
}

/* appsrc ! videoconvert ! encoder ! muxer ! filesink. 0 or -errno after a log line. */
static int make_pipeline(struct video_writer *w, const char *chain, int width, int height) {
    g_autoptr(GError) error = NULL;
    int numerator, denominator;
    g_autofree char *launch =
        g_strdup_printf("appsrc name=livestereo0 ! videoconvert ! video/x-raw,format=I420 ! %s ! "
                        "filesink name=file",
                        chain);
    if (!gst_writer_open(&w->writer, launch, w->path, &error))
        return log_fail(-ENOSYS, w->path, "cannot be encoded: %s", error->message);
    gst_util_double_to_fraction(w->rate, &numerator, &denominator);
    gst_video_info_set_format(&w->info, GST_VIDEO_FORMAT_RGB, (guint)width, (guint)height);
    GST_VIDEO_INFO_FPS_N(&w->info) = numerator;
    GST_VIDEO_INFO_FPS_D(&w->info) = denominator;
    g_autoptr(GstCaps) caps = gst_video_info_to_caps(&w->info);
    gst_app_src_set_caps(w->writer.head[0], caps);
    gst_element_set_state(w->writer.pipeline, GST_STATE_PLAYING);
    return look(w, 0, false);
}

struct video_writer *video_writer_open(const char *base, int width, int height, double rate) {
    size_t i = 0;
    g_autoptr(GError) error = NULL;
    if (width < SMALLEST || height < SMALLEST || width % 2 || height % 2)
        return log_fail(NULL, base, "no video has %dx%d pixels; make the window larger", width,
                        height);
    if (!gst_init_check(NULL, NULL, &error))
        return log_fail(NULL, base, "GStreamer does not start: %s", error ? error->message : "");
    for (; i + 1 < G_N_ELEMENTS(encoders); i++) {
        g_autoptr(GstElementFactory) found = gst_element_factory_find(encoders[i].element);
        if (found)
            break;
    }
    struct video_writer *w = g_new0(struct video_writer, 1);
    w->path = g_strconcat(base, encoders[i].ending, NULL);
    w->rate = rate;
    if (file_begin(w->path, &w->file) == 0 &&
        make_pipeline(w, encoders[i].chain, width, height) == 0)
        return w;
    free_writer(w, false);
    return NULL;
}

const char *video_writer_path(const struct video_writer *w) {
    return w->path;
}

int video_writer_add(struct video_writer *w, const struct image *picture) {
    if (picture->width != w->info.width || picture->height != w->info.height)
        return log_fail(-EINVAL, w->path, "has pictures of %dx%d, not of %dx%d", w->info.width,
                        w->info.height, picture->width, picture->height);
    while (gst_app_src_get_current_level_bytes(w->writer.head[0]) >= MAX_WAITING * w->info.size)
        if (look(w, GST_MSECOND, false) != 0) /* a push that waits would not end after an error */
            return -EIO;
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, w->info.size, NULL);
    GstMapInfo map;
    size_t stride = (size_t)GST_VIDEO_INFO_PLANE_STRIDE(&w->info, 0),
           bytes = 3 * (size_t)w->info.width;
    if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_WRITE)) {
        log_error(w->path, "out of memory");
        gst_clear_buffer(&buffer);
        return -EIO;
    }
    for (int y = 0; y < w->info.height; y++)
        memcpy(map.data + (size_t)y * stride, picture->data + (size_t)y * bytes, bytes);
    gst_buffer_unmap(buffer, &map);
    GST_BUFFER_PTS(buffer) = (GstClockTime)((double)w->pictures * 1e9 / w->rate);
    GST_BUFFER_DURATION(buffer) = (GstClockTime)(1e9 / w->rate);
    if (gst_app_src_push_buffer(w->writer.head[0], buffer) == GST_FLOW_OK)
        w->pictures++;
    return look(w, 0, false);
}

int video_writer_close(struct video_writer **writer, int keep) {
    struct video_writer *w = *writer;
    int error = 0;
    *writer = NULL;
    if (!w)
        return 0;
    keep = keep && w->pictures > 0;
    if (keep) {
        gst_writer_end(&w->writer);
        error = look(w, END_S * GST_SECOND, true);
    }
    free_writer(w, keep && !error);
    return error;
}
