/*
 * The pipeline of --out gst: and v4l2: (app/live/output_private.h). Everything that may hang (a
 * state change, a last picture that nobody takes) happens in the worker; output_close waits for it
 * so long and no longer.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/output_private.h"

#include "app/commands.h"
#include "app/save/visualize.h"
#include "capture/gst/gst_launch.h"
#include "image/flow.h"
#include "image/picture.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

#include <gst/gst.h>
#include <gst/video/video.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000LL
#define POLL_MS 100
#define RETRY_S 2 /* and RETRY_TEXT says so */
#define RETRY_TEXT "it is tried again every 2 s, the picture goes on without it"
#define FILE_TEXT                                                                               \
    "it is not started again, since that would empty its file, which is kept as far as it was " \
    "written; the picture goes on without it"
#define END_S 3   /* for the receiver's last words */
#define CLOSE_S 5 /* for all of the end */
#define GRAY16 \
    (G_BYTE_ORDER == G_LITTLE_ENDIAN ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY16_BE)

#define DEVICE_PREFIX "v4l2:"

enum what { WHAT_COLOR, WHAT_DISPARITY, WHAT_DEPTH, WHAT_LEFT, WHAT_COUNT };
static const char *const what_names[WHAT_COUNT] = {"color", "disparity", "depth", "left"};

enum state { OUT_RUNNING, OUT_FAILED, OUT_ENDED, OUT_FILE_FAILED };

struct output_gst {
    struct output base; /* first; its state is an enum state */
    struct depth_geometry geometry;
    enum what what;
    GstVideoInfo info;
    struct gst_writer writer;
    pthread_t thread;

    /* the worker's */
    char *last_warning; /* NULL when all is well */
    int64_t retry_ns;
    long sent_before; /* when it was started last */
    bool has_said_misfits;

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    bool done, left_behind;
    bool is_late, is_whole; /* is_late: it has not ended within END_S */
};

/* ---- pictures */

/* Returns how many pixels do not fit 16 bits. */
static long convert_row(const struct output_gst *output, const struct frame *frame, int y,
                        uint8_t *to) {
    const struct params *p = frame->params;
    int width = frame->rect_left.width;
    const int16_t *disparity = frame->disparity + (size_t)y * (size_t)width;
    size_t bytes = (size_t)width * (size_t)frame->rect_left.channels;
    switch (output->what) {
    case WHAT_DISPARITY:
        return (long)disp16_of(disparity, (size_t)width, (uint16_t *)(void *)to);
    case WHAT_DEPTH:
        return depth_map_16(&output->geometry, disparity, width, 1, 1000, (uint16_t *)(void *)to);
    case WHAT_LEFT:
        memcpy(to, frame->rect_left.data + (size_t)y * bytes, bytes);
        break;
    default:
        if (p->mode == MODE_MOTION) {
            const int16_t *u = frame->motion + (size_t)y * (size_t)width;
            flow_color(u, u + (size_t)width * (size_t)frame->rect_left.height, (size_t)width,
                       visualize_motion_range(p), to);
            break;
        }
        colormap_disparity(disparity, width, 1, p->min_disparity,
                           p->min_disparity + p->disparity_range - 1, COLORMAP_TURBO, to);
    }
    return 0;
}

/* NULL where GStreamer has no memory. */
static GstBuffer *make_buffer(struct output_gst *output, const struct frame *frame) {
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, output->info.size, NULL);
    GstMapInfo map;
    if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_WRITE)) {
        gst_clear_buffer(&buffer);
        return NULL;
    }
    size_t stride = (size_t)GST_VIDEO_INFO_PLANE_STRIDE(&output->info, 0);
    memset(map.data, 0, map.size); /* the gaps behind rows too */
    long misfits = 0;
    for (int y = 0; y < frame->rect_left.height; y++)
        misfits += convert_row(output, frame, y, map.data + (size_t)y * stride);
    if (misfits > 0 && !output->has_said_misfits)
        log_warning("--out-what", "%s: %.3g %% of a frame",
                    output->what == WHAT_DEPTH
                        ? "depth has 0 where it is beyond 65.5 m"
                        : "disparity has 0 where it is below 0 or from 256 px on",
                    100.0 * (double)misfits / frame->rect_left.width / frame->rect_left.height);
    output->has_said_misfits |= misfits > 0;
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

static GstPadProbeReturn count_sent(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    struct output_gst *output = context;
    (void)pad, (void)info;
    atomic_fetch_add(&output->base.sent, 1);
    return GST_PAD_PROBE_OK;
}

/* ---- the worker */

static void start(struct output_gst *output) {
    gst_bus_set_flushing(output->writer.bus, TRUE); /* what the last run left there */
    gst_bus_set_flushing(output->writer.bus, FALSE);
    output->sent_before = atomic_load(&output->base.sent);
    atomic_store(&output->base.state, OUT_RUNNING);
    gst_element_set_state(output->writer.pipeline, GST_STATE_PLAYING); /* a refusal is a message */
}

/* Calls look with each file that the pipeline writes, or the pattern of its names, until it is not
 * 0. */
static int look_at_files(const struct output_gst *output, int (*look)(const char *path)) {
    g_autoptr(GstIterator) elements = gst_bin_iterate_sinks(GST_BIN(output->writer.pipeline));
    g_auto(GValue) item = G_VALUE_INIT;
    int found = 0;
    while (!found && gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
        GObject *sink = g_value_get_object(&item);
        g_autofree char *path = NULL;
        if (g_object_class_find_property(G_OBJECT_GET_CLASS(sink), "location"))
            g_object_get(sink, "location", &path, NULL);
        if (path && !gst_uri_is_valid(path))
            found = look(path);
        g_value_reset(&item);
    }
    return found;
}

/* Whether a second start would empty it. */
static int has_data(const char *path) {
    return strchr(path, '%') || g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

/* The cause, once. */
static void warn_once(struct output_gst *output, const GError *cause, const char *next) {
    if (g_strcmp0(output->last_warning, cause->message) != 0)
        log_warning("--out", "%s; %s", cause->message, next);
    g_free(output->last_warning);
    output->last_warning = g_strdup(cause->message);
}

static void fail(struct output_gst *output, const GError *cause) {
    bool again = !look_at_files(output, has_data);
    warn_once(output, cause, again ? RETRY_TEXT : FILE_TEXT);
    atomic_store(&output->base.state, again ? OUT_FAILED : OUT_FILE_FAILED);
    gst_element_set_state(output->writer.pipeline, GST_STATE_NULL);
    output->retry_ns = clock_ns() + RETRY_S * NS_PER_S;
}

static void watch(struct output_gst *output) {
    int state = atomic_load(&output->base.state);
    if (state == OUT_FAILED && clock_ns() >= output->retry_ns)
        start(output);
    if (state != OUT_RUNNING)
        return;
    g_autoptr(GError) cause = NULL;
    switch (gst_writer_look(&output->writer, 0, &cause)) {
    case GST_WRITER_GOES_ON:
        if (output->last_warning && atomic_load(&output->base.sent) > output->sent_before + 1) {
            log_info("--out", "takes frames again");
            g_clear_pointer(&output->last_warning, g_free);
        }
        break;
    case GST_WRITER_FAILED:
        fail(output, cause);
        break;
    case GST_WRITER_ENDED:
        log_warning("--out", "the pipeline has ended by itself; nothing more goes out");
        atomic_store(&output->base.state, OUT_ENDED);
    }
}

/* A file gets its end, where the receiver still takes something. */
static void finish(struct output_gst *output) {
    int state = atomic_load(&output->base.state);
    output->is_whole = state == OUT_ENDED;
    if (state == OUT_RUNNING) {
        g_autoptr(GError) cause = NULL;
        gst_writer_end(&output->writer);
        enum gst_writer_state end = gst_writer_look(&output->writer, END_S * GST_SECOND, &cause);
        output->is_late = end == GST_WRITER_GOES_ON;
        output->is_whole = end == GST_WRITER_ENDED;
        if (end == GST_WRITER_FAILED)
            warn_once(output, cause, "the end of what was sent may be missing");
    }
    gst_element_set_state(output->writer.pipeline, GST_STATE_NULL);
}

static void release(struct output_gst *output) {
    atomic_load(&output->base.sent); /* what GStreamer's thread did is seen */
    gst_writer_close(&output->writer);
    queue_close(&output->base.queue);
    g_free(output->last_warning);
    pthread_cond_destroy(&output->changed);
    pthread_mutex_destroy(&output->lock);
    g_free(output);
}

static void *work(void *context) {
    struct output_gst *output = context;
    int status;
    start(output);
    do {
        struct frame *frame = NULL;
        watch(output); /* which may hang, so no frame is in hand yet */
        status = queue_take(output->base.queue, POLL_MS, &frame);
        if (status != 0)
            continue;
        GstBuffer *buffer = NULL;
        if (atomic_load(&output->base.state) == OUT_RUNNING)
            buffer = make_buffer(output, frame);
        frame_drop(&frame);
        if (buffer)
            gst_app_src_push_buffer(output->writer.head[0],
                                    buffer); /* drops the one before, never waits */
    } while (status != QUEUE_END);
    finish(output);
    pthread_mutex_lock(&output->lock);
    output->done = true;
    bool left_behind = output->left_behind;
    pthread_cond_signal(&output->changed);
    pthread_mutex_unlock(&output->lock);
    if (left_behind)
        release(output);
    return NULL;
}

/* ---- opening and closing */

static int choose(struct output_gst *output, const struct output_options *options,
                  const struct output_about *about) {
    int what = WHAT_COLOR;
    if (option_choice("--out-what", options->what, what_names, WHAT_COUNT, &what) != GO_ON)
        return EXIT_USAGE;
    output->what = (enum what)what;
    if (about->params->mode == MODE_MOTION &&
        (output->what == WHAT_DISPARITY || output->what == WHAT_DEPTH))
        return log_fail(EXIT_USAGE, "--out-what", "%s needs mode=stereo; motion goes out as color",
                        what_names[what]);
    if (!options->pipeline)
        return log_fail(EXIT_USAGE, "--out-what",
                        "says what --out sends; add --out gst:PIPELINE or v4l2:DEVICE");
    if (!g_str_has_prefix(options->pipeline, "gst:") &&
        !g_str_has_prefix(options->pipeline, DEVICE_PREFIX))
        return log_fail(
            EXIT_USAGE, "--out",
            "\"%s\" is no pipeline; write it as 'gst:videoconvert ! ... ! sink', or a device "
            "as v4l2:/dev/videoN",
            options->pipeline);
    if (about->geometry)
        output->geometry = *about->geometry;
    if (output->what != WHAT_DEPTH || output->geometry.metric)
        return GO_ON;
    return log_fail(EXIT_CALIBRATION, "--out-what",
                    "depth needs the cameras' calibration in metres: --calib FILE");
}

static void set_head(struct output_gst *output, const struct output_about *about) {
    GstVideoFormat format = output->what == WHAT_COLOR ? GST_VIDEO_FORMAT_RGB : GRAY16;
    if (output->what == WHAT_LEFT)
        format = about->channels == 3 ? GST_VIDEO_FORMAT_RGB : GST_VIDEO_FORMAT_GRAY8;
    gst_video_info_set_format(&output->info, format, (guint)about->width, (guint)about->height);
    if (about->rate > 0)
        gst_util_double_to_fraction(about->rate, &output->info.fps_n, &output->info.fps_d);
    g_autoptr(GstCaps) caps = gst_video_info_to_caps(&output->info);
    GstElement *head = GST_ELEMENT(output->writer.head[0]);
    g_object_set(head, "caps", caps, "is-live", TRUE, "do-timestamp", TRUE, "max-buffers",
                 (guint64)1, NULL);
    gst_util_set_object_arg(G_OBJECT(head), "leaky-type", "downstream");
    gst_launch_probe_buffers(head, "src", count_sent, output);
}

/* What --out says behind "gst:", or the pipeline for a device (g_free): of colours YUYV, which all
 * programs that show cameras know; grey stays as it is, whatever colours the device asks for.
 * Devices of v4l2loopback take copies alone. */
static char *pipeline_text(const struct output_gst *output, const char *text,
                           const struct output_about *about) {
    bool colors = output->what == WHAT_COLOR || (output->what == WHAT_LEFT && about->channels == 3);
    GstVideoFormat grey = output->what == WHAT_LEFT ? GST_VIDEO_FORMAT_GRAY8 : GRAY16;
    if (!g_str_has_prefix(text, DEVICE_PREFIX))
        return g_strdup(text + strlen("gst:"));
    g_autofree char *device = g_strescape(text + strlen(DEVICE_PREFIX), NULL);
    return g_strdup_printf("videoconvert %s ! video/x-raw,format=%s ! identity "
                           "drop-allocation=true ! v4l2sink sync=false device=\"%s\"",
                           colors ? "" : "matrix-mode=none chroma-mode=none dither=none",
                           gst_video_format_to_string(colors ? GST_VIDEO_FORMAT_YUY2 : grey),
                           device);
}

static int make_pipeline(struct output_gst *output, const char *text,
                         const struct output_about *about) {
    g_autoptr(GError) error = NULL;
    g_autofree char *launch = g_strconcat("appsrc name=livestereo0 ! ", text, NULL);
    if (!gst_writer_open(&output->writer, launch, NULL, &error))
        return log_fail(EXIT_USAGE, "--out",
                        "%s; try the pipeline with gst-launch-1.0 videotestsrc ! ...",
                        error->message);
    set_head(output, about);
    return look_at_files(output, file_spare_input) ? EXIT_USAGE : GO_ON;
}

/* Lets the receiver finish its file for a few seconds. */
static bool close_output(struct output *base) {
    struct output_gst *output = (struct output_gst *)base;
    queue_end(output->base.queue);
    struct timespec until = clock_after_ms(1000 * CLOSE_S);
    pthread_mutex_lock(&output->lock);
    int status = 0;
    while (!output->done && status == 0)
        status = pthread_cond_timedwait(&output->changed, &output->lock, &until);
    bool done = output->done, is_whole = done && output->is_whole,
         is_late = done && output->is_late;
    output->left_behind = !done;
    if (!done)
        queue_abort(output->base.queue); /* a frame must not outlive the backend of its memory */
    pthread_t thread = output->thread;   /* the worker may free the rest once the lock is open */
    pthread_mutex_unlock(&output->lock);
    if (is_late)
        log_warning("--out", "the receiver has not ended within %d s, its file may lack the end",
                    END_S);
    if (done) {
        pthread_join(thread, NULL);
        release(output);
    } else {
        log_warning("--out", "the receiver hangs; it is left behind, its file may lack the end");
        pthread_detach(thread);
    }
    return is_whole;
}

struct output *output_gst_open(const struct output_options *options,
                               const struct output_about *about, int *code) {
    struct output_gst *output = g_new0(struct output_gst, 1);
    output->base.close = close_output;
    clock_cond_init(&output->changed);
    pthread_mutex_init(&output->lock, NULL);
    *code = choose(output, options, about);
    if (*code == GO_ON) {
        g_autofree char *text = pipeline_text(output, options->pipeline, about);
        *code = make_pipeline(output, text, about);
    }
    if (*code == GO_ON) {
        output->base.queue = queue_open(1, QUEUE_DROP_OLDEST);
        int error = pthread_create(&output->thread, NULL, work, output);
        if (!error) {
            *code = EXIT_DONE;
            return &output->base;
        }
        log_error("--out", "cannot be started: %s", strerror(error));
        *code = EXIT_RUN_FAILED;
    }
    release(output);
    return NULL;
}
