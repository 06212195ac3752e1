/*
 * The GStreamer plugin: its maps with those of the library, pairs of random cameras with a largest
 * matching, the end, flushes, seeks, caps and parameters that change, late pairs, memory, and the
 * pipelines of docs/GSTREAMER.md with livestereo batch.
 * SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"
#include "tests/library_pair.h"
#include "tests/shots.h"

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#define W 64
#define H 48
#define MS ((int64_t)GST_MSECOND)
#define FAST "backend=cpu threads=1 bp-levels=2 bp-iterations=2"
#define FAST_WORDS "backend=cpu threads=1 bp_levels=2 bp_iterations=2"

static const char rig_text[] =
    "%YAML:1.0\n"
    "M1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
    "   data: [ 70., 0., 31., 0., 71., 24., 0., 0., 1. ]\n"
    "D1: !!opencv-matrix\n   rows: 1\n   cols: 4\n   dt: d\n   data: [ -0.02, 0., 1e-3, 0. ]\n"
    "M2: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
    "   data: [ 70.5, 0., 32., 0., 71., 23., 0., 0., 1. ]\n"
    "D2: !!opencv-matrix\n   rows: 1\n   cols: 4\n   dt: d\n   data: [ 0., 0.01, 0., 0. ]\n"
    "R: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
    "   data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ]\n"
    "T: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: d\n   data: [ -60., 0.5, 0.25 ]\n"
    "image_width: 64\nimage_height: 48\nbaseline_unit: mm\n";

static const struct {
    const char *name;
    enum livestereo_format format;
} formats[] = {{"GRAY8", LIVESTEREO_GRAY8}, {"RGB", LIVESTEREO_RGB8},  {"BGR", LIVESTEREO_BGR8},
               {"RGBA", LIVESTEREO_RGBA8},  {"NV12", LIVESTEREO_NV12}, {"YUY2", LIVESTEREO_YUYV}};

static char *plugin_path(void) {
    g_autofree char *build = g_path_get_dirname(binary());
    g_autofree char *path = g_build_filename(build, "gst", "libgstlivestereo.so", NULL);
    return g_canonicalize_filename(path, NULL);
}

/* ---- an element between pads of the test's */

struct run {
    GstElement *element;
    GstHarness *left, *right;
    GstBus *bus;
};

static struct run begin(const char *words) {
    GError *error = NULL;
    struct run r = {.bus = gst_bus_new()};
    r.element = gst_parse_launch(words, &error);
    g_assert_no_error(error);
    gst_element_set_bus(r.element, r.bus);
    r.left = gst_harness_new_with_element(r.element, "sink_left", "src");
    r.right = gst_harness_new_with_element(r.element, "sink_right", NULL);
    return r;
}

static void end(struct run *r) {
    gst_element_set_bus(r->element, NULL);
    gst_harness_teardown(r->right);
    gst_harness_teardown(r->left);
    gst_object_unref(r->bus);
    gst_object_unref(r->element);
}

static void set_caps(struct run *r, const char *format, int width, int height) {
    g_autofree char *caps = g_strdup_printf(
        "video/x-raw,format=%s,width=%d,height=%d,framerate=30/1", format, width, height);
    gst_harness_set_src_caps_str(r->left, caps);
    gst_harness_set_src_caps_str(r->right, caps);
}

static GstBuffer *at(GstBuffer *buffer, GstClockTime time) {
    GST_BUFFER_PTS(buffer) = time;
    return buffer;
}

/* The picture with rows and planes as they lie in its memory. */
static GstBuffer *buffer_of(const struct livestereo_image *image, const char *name) {
    gsize apart = 32, /* bytes between the planes */
        offset[GST_VIDEO_MAX_PLANES] = {0, (gsize)(image->row_bytes * image->height) + apart};
    int stride[GST_VIDEO_MAX_PLANES] = {(int)image->row_bytes, (int)image->row_bytes};
    gsize bytes = (gsize)image->row_bytes * (gsize)pair_rows(image->format, image->height) + apart;
    uint8_t *copy = g_malloc0(bytes);
    for (int y = 0; y < pair_rows(image->format, image->height); y++)
        memcpy(copy + y * image->row_bytes + (y < image->height ? 0 : apart), pair_row(image, y),
               (size_t)(image->width * pair_pixel_bytes(image->format)));
    GstBuffer *buffer = gst_buffer_new_wrapped(copy, bytes);
    gst_buffer_add_video_meta_full(
        buffer, GST_VIDEO_FRAME_FLAG_NONE, gst_video_format_from_string(name), (guint)image->width,
        (guint)image->height, image->format == LIVESTEREO_NV12 ? 2 : 1, offset, stride);
    return buffer;
}

static void push_pair(struct run *r, const struct pair *p, const char *name, int64_t ns) {
    gst_harness_push(r->left, at(buffer_of(&p->picture[0], name), (GstClockTime)ns));
    gst_harness_push(r->right, at(buffer_of(&p->picture[1], name), (GstClockTime)ns));
}

/* Gives a pair and takes its map. */
static GstBuffer *one_map(struct run *r, const struct pair *p, const char *name, int64_t ns) {
    push_pair(r, p, name, ns);
    return gst_harness_pull(r->left);
}

/* The next map is of this time. */
static void expect_time(struct run *r, int64_t ns) {
    GstBuffer *map = gst_harness_pull(r->left);
    g_assert_cmpint((int64_t)GST_BUFFER_PTS(map), ==, ns);
    gst_buffer_unref(map);
}

/* A buffer of a source pad holds these rows without gaps; it is freed. */
static void expect_map(GstHarness *h, GstBuffer *buffer, const char *format, const void *want,
                       int width, int height) {
    GstVideoInfo info;
    GstVideoFrame frame;
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    g_assert_true(gst_video_info_from_caps(&info, caps));
    g_assert_cmpstr(GST_VIDEO_INFO_NAME(&info), ==, format);
    g_assert_cmpint(info.width, ==, width);
    g_assert_cmpint(info.height, ==, height);
    g_assert_cmpint(info.fps_n, ==, 30);
    g_assert_true(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
    size_t row = (size_t)(width * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0));
    for (int y = 0; y < height; y++)
        g_assert_cmpmem((uint8_t *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                            y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0),
                        row, (const uint8_t *)want + (size_t)y * row, row);
    gst_video_frame_unmap(&frame);
    gst_buffer_unref(buffer);
}

static char *next_message(struct run *r, GstMessageType type) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(r->bus, 60 * GST_SECOND, type);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(message);
    if (type == GST_MESSAGE_ERROR)
        gst_message_parse_error(message, &error, NULL);
    else
        gst_message_parse_warning(message, &error, NULL);
    return g_strdup(error->message);
}

/* What the library makes of the pair. */
static int16_t *disparity_of(const struct pair *p, const char *words) {
    OWN_SETTINGS *s = pair_settings(NULL, words);
    OWN_HANDLE *h = pair_open(s, p->width, p->height, p->picture[0].format, NULL);
    AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, p, false, 0, 0);
    pair_run(h, &f);
    int16_t *packed = pair_packed(&f.disparity);
    return packed;
}

/* ---- maps */

CLI_TEST("/gst/formats", test_formats) {
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        const char *name = formats[i].name;
        AUTO(pair_free) struct pair p = pair_make(W, H, formats[i].format, 5, (uint32_t)i);
        g_autofree int16_t *want = disparity_of(&p, FAST_WORDS " disparity_range=16");
        struct run r = begin("livestereo " FAST " disparity-range=16");
        set_caps(&r, name, W, H);
        expect_map(r.left, one_map(&r, &p, name, 0), "GRAY16_LE", want, W, H);
        end(&r);
    }
}

static void expect_meta(GstBuffer *map, const struct livestereo_geometry *g, int64_t gap) {
    GstCustomMeta *meta = gst_buffer_get_custom_meta(map, "LivestereoMeta");
    g_assert_nonnull(meta);
    GstStructure *fields = gst_custom_meta_get_structure(meta);
    gint64 ns;
    double focal, baseline, cx, cy, doffs;
    g_assert_true(gst_structure_get_int64(fields, "gap", &ns));
    g_assert_cmpint(ns, ==, gap);
    g_assert_true(gst_structure_has_field(fields, "baseline") == (g != NULL));
    if (!g)
        return;
    g_assert_true(gst_structure_get(fields, "focal-length", G_TYPE_DOUBLE, &focal, "baseline",
                                    G_TYPE_DOUBLE, &baseline, "cx", G_TYPE_DOUBLE, &cx, "cy",
                                    G_TYPE_DOUBLE, &cy, "doffs", G_TYPE_DOUBLE, &doffs, NULL));
    g_assert_cmpfloat(focal, ==, g->fx);
    g_assert_cmpfloat(baseline, ==, g->baseline);
    g_assert_cmpfloat(cx, ==, g->cx);
    g_assert_cmpfloat(cy, ==, g->cy);
    g_assert_cmpfloat(doffs, ==, g->doffs);
    g_assert_cmpstr(gst_structure_get_string(fields, "unit"), ==, "m");
}

/* Each output of a rig whose pictures are resampled, from the pad src and from request pads. */
CLI_TEST("/gst/outputs", test_outputs) {
    static const char *const outputs[][2] = {{"disparity", "GRAY16_LE"},
                                             {"depth", "GRAY16_LE"},
                                             {"confidence", "GRAY8"},
                                             {"color", "RGB"},
                                             {"left", "RGB"}};
    struct livestereo_rig rig;
    struct livestereo_options options = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_RGB8);
    struct livestereo_info info = LIVESTEREO_INFO;
    write_text("rig.yml", rig_text);
    g_autofree char *path = path_in("rig.yml");
    const char *file = path;
    g_assert_cmpint(livestereo_rig_read(&rig, &file, 1, W, H, 0), ==, 0);
    options.rig = &rig;
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_RGB8, 3, 1);
    OWN_SETTINGS *s = pair_settings(NULL, FAST_WORDS " disparity_range=16");
    OWN_HANDLE *h = pair_open(s, W, H, LIVESTEREO_RGB8, &options);
    AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 0, 0);
    pair_run(h, &f);
    livestereo_get_info(h, &info);
    int w = info.width, height = info.height;
    struct livestereo_image depth = pair_image(w, height, LIVESTEREO_MM16, 0);
    g_assert_cmpint(livestereo_depth(&info.geometry, &f.disparity, &depth), ==, 0);
    g_autofree uint8_t *color = g_malloc((gsize)(3 * w * height));
    colormap_disparity(f.disparity.data, w, height, 0, 15, COLORMAP_TURBO, color);
    const void *want[] = {f.disparity.data, depth.data, f.confidence.data, color,
                          f.rectified[0].data};
    for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++) {
        g_autofree char *words = g_strdup_printf(
            "livestereo output=%s calibration=%s disparity-range=16 " FAST, outputs[i][0], path);
        AUTO(end) struct run r = begin(words);
        GstHarness *requested[G_N_ELEMENTS(outputs)];
        for (size_t k = 0; k < G_N_ELEMENTS(outputs); k++)
            requested[k] = gst_harness_new_with_element(r.element, NULL, outputs[k][0]);
        set_caps(&r, "RGB", W, H);
        GstBuffer *map = one_map(&r, &p, "RGB", (int64_t)GST_SECOND);
        expect_meta(map, &info.geometry, 0);
        expect_map(r.left, map, outputs[i][1], want[i], w, height);
        gst_harness_push_event(r.left, gst_event_new_eos());
        gst_harness_push_event(r.right, gst_event_new_eos());
        for (size_t k = 0; k < G_N_ELEMENTS(outputs); k++) {
            map = gst_harness_pull(requested[k]);
            g_assert_cmpuint(GST_BUFFER_PTS(map), ==, GST_SECOND);
            expect_meta(map, &info.geometry, 0);
            expect_map(requested[k], map, outputs[k][1], want[k], w, height);
            static const GstEventType order[] = {GST_EVENT_STREAM_START, GST_EVENT_CAPS,
                                                 GST_EVENT_SEGMENT, GST_EVENT_EOS};
            for (size_t j = 0; j < G_N_ELEMENTS(order); j++) {
                g_autoptr(GstEvent) event = gst_harness_pull_event(requested[k]);
                g_assert_cmpint(GST_EVENT_TYPE(event), ==, order[j]);
            }
            gst_harness_teardown(requested[k]);
        }
    }
    g_free(depth.data);
}

CLI_TEST("/gst/refused", test_refused) {
    static const char *const cases[][2] = {
        {"livestereo disparity-range=16 output=depth", "needs a calibration"},
        {"livestereo disparity-range=16 calibration=/nowhere/rig.yml", "rig.yml"},
        {"livestereo disparity-range=16 calibration=a,b,c", "one file or two"},
        {"livestereo disparity-range=64", "disparity_range"},
        {"livestereo disparity-range=16 smoothness=quadratic", "smoothness"},
    };
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_GRAY8, 0, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        AUTO(end) struct run r = begin(cases[i][0]);
        set_caps(&r, "GRAY8", W, H);
        push_pair(&r, &p, "GRAY8", 0);
        g_autofree char *text = next_message(&r, GST_MESSAGE_ERROR);
        if (!strstr(text, cases[i][1]))
            g_error("%s: \"%s\" has no \"%s\"", cases[i][0], text, cases[i][1]);
    }
    AUTO(end) struct run r = begin("livestereo " FAST);
    gst_harness_set_src_caps_str(r.left,
                                 "video/x-raw,format=GRAY8,width=64,height=48,framerate=1/1");
    gst_harness_set_src_caps_str(r.right,
                                 "video/x-raw,format=GRAY8,width=64,height=24,framerate=1/1");
    for (int i = 0; i < 9; i++) /* for some pairs caps may differ */
        push_pair(&r, &p, "GRAY8", 1000 * i * MS);
    g_autofree char *unlike = next_message(&r, GST_MESSAGE_ERROR);
    g_assert_nonnull(strstr(unlike, "GRAY8 64x48 and the right ones GRAY8 64x24"));
}

/* ---- pairing */

static GstBuffer *small(GstClockTime time) {
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, 8 * 4, NULL);
    gst_buffer_memset(buffer, 0, (guint8)(time / 1000), 8 * 4);
    return at(buffer, time);
}

struct feed {
    GstHarness *to;
    const struct shot *shots;
    int count;
};

/* A pad keeps a buffer until its partner has come: each side has a thread. */
static gpointer feed(gpointer data) {
    const struct feed *f = data;
    for (int i = 0; i < f->count; i++)
        if (gst_harness_push(f->to, small((GstClockTime)f->shots[i].true_ns)) != GST_FLOW_OK)
            return NULL; /* the other side has ended */
    gst_harness_push_event(f->to, gst_event_new_eos());
    return NULL;
}

static void wait_for_eos(GstHarness *h) {
    GstEvent *event;
    do {
        event = gst_harness_pull_event(h);
        g_assert_nonnull(event);
        if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
            break;
        gst_event_unref(event);
    } while (true);
    gst_event_unref(event);
}

static int number_at(const struct shot *shots, int count, int64_t ns) {
    for (int i = 0; i < count; i++)
        if (shots[i].true_ns == ns)
            return i;
    g_error("no picture was taken at %" G_GINT64_FORMAT, ns);
}

/* As many pairs as can be made of these times, each buffer once and in order. */
static int pairing_case(guint32 seed) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    double interval = 1e9 / uniform(rand, 5, 120);
    struct camera cameras[2] = {random_camera(rand, interval), random_camera(rand, interval)};
    if (g_rand_int_range(rand, 0, 4) == 0) /* two unlike cameras */
        cameras[1] = random_camera(rand, 1e9 / uniform(rand, 5, 120));
    struct shot shots[2][MOST];
    int count[2], last[2] = {-1, -1}, pairs = 0;
    for (int side = 0; side < 2; side++)
        count[side] = shoot(rand, &cameras[side], side, shots[side]);
    int64_t tolerance = (int64_t)(uniform(rand, 0.02, 1.2) * interval);
    g_autofree char *words = g_strdup_printf("livestereo tolerance=%" G_GINT64_FORMAT
                                             " disparity-range=2 bp-levels=1 bp-iterations=0 "
                                             "lr-check=off backend=cpu threads=1",
                                             tolerance);
    struct run r = begin(words);
    set_caps(&r, "GRAY8", 8, 4);
    struct feed feeds[2] = {{r.left, shots[0], count[0]}, {r.right, shots[1], count[1]}};
    GThread *threads[2];
    for (int side = 0; side < 2; side++)
        threads[side] = g_thread_new("feed", feed, &feeds[side]);
    wait_for_eos(r.left);
    for (int side = 0; side < 2; side++)
        g_thread_join(threads[side]);
    for (GstBuffer *map; (map = gst_harness_try_pull(r.left)); pairs++) {
        gint64 gap;
        GstStructure *fields =
            gst_custom_meta_get_structure(gst_buffer_get_custom_meta(map, "LivestereoMeta"));
        g_assert_true(gst_structure_get_int64(fields, "gap", &gap));
        g_assert_cmpint(llabs(gap), <=, tolerance);
        int64_t left = (int64_t)GST_BUFFER_PTS(map);
        int number[2] = {number_at(shots[0], count[0], left),
                         number_at(shots[1], count[1], left + gap)};
        for (int side = 0; side < 2; side++) {
            g_assert_cmpint(number[side], >, last[side]);
            last[side] = number[side];
        }
        gst_buffer_unref(map);
    }
    g_assert_cmpint(pairs, ==, largest_matching(shots[0], count[0], shots[1], count[1], tolerance));
    end(&r);
    return pairs;
}

CLI_TEST("/gst/pairing", test_pairing) {
    guint32 first = g_test_rand_int();
    int pairs = 0;
    g_test_message("seeds from %u", first);
    for (guint32 i = 0; i < (WATCHED ? 10 : 100); i++)
        pairs += pairing_case(first + i);
    g_assert_cmpint(pairs, >, 0);
}

/* A gap event stands for no picture. */
CLI_TEST("/gst/gap-event", test_gap_event) {
    AUTO(end) struct run r = begin("livestereo disparity-range=2 " FAST);
    set_caps(&r, "GRAY8", 8, 4);
    gst_harness_push_event(r.left, gst_event_new_gap(0, 33 * GST_MSECOND));
    gst_harness_push(r.right, small(0));
    gst_harness_push(r.left, small(33 * GST_MSECOND));
    gst_harness_push(r.right, small(33 * GST_MSECOND));
    expect_time(&r, 33 * MS);
}

/* ---- flush, seek, caps, parameters */

/* After a flush nothing of earlier frames is left, in the queues and in the average over frames,
 * which a buffer that follows a gap begins anew, too. */
CLI_TEST("/gst/flush", test_flush) {
    enum { WIDE = 4 * W, HIGH = 4 * H }; /* large enough for a pose */
    AUTO(pair_free)
    struct pair p = pair_make(WIDE, HIGH, LIVESTEREO_GRAY8, 0, 1),
                other = pair_make(WIDE, HIGH, LIVESTEREO_GRAY8, 0, 1);
    for (int side = 0; side < 2; side++) /* so little that the average goes on */
        for (int i = 0; i < WIDE * HIGH; i++)
            ((uint8_t *)other.picture[side].data)[i] ^=
                (uint8_t)(scene_hash((uint32_t)i, (uint32_t)side, 1) & 3);
    g_autofree int16_t *want = disparity_of(&other, FAST_WORDS " disparity_range=16");
    AUTO(end) struct run r = begin("livestereo disparity-range=16 " FAST);
    GstSegment segment;
    set_caps(&r, "GRAY8", WIDE, HIGH);
    for (int i = 0; i < 3; i++)
        gst_buffer_unref(one_map(&r, &p, "GRAY8", i * 33 * MS));
    GstBuffer *map = one_map(&r, &other, "GRAY8", 99 * MS);
    g_assert_cmpint(gst_buffer_memcmp(map, 0, want, 2 * WIDE * HIGH), !=, 0); /* an average */
    gst_buffer_unref(map);
    GstBuffer *cut = at(buffer_of(&other.picture[0], "GRAY8"), 120 * GST_MSECOND);
    GST_BUFFER_FLAG_SET(cut, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push(r.left, cut);
    gst_harness_push(r.right, at(buffer_of(&other.picture[1], "GRAY8"), 120 * GST_MSECOND));
    expect_map(r.left, gst_harness_pull(r.left), "GRAY16_LE", want, WIDE, HIGH);
    gst_harness_push(r.left, at(buffer_of(&p.picture[0], "GRAY8"), 133 * GST_MSECOND));
    GstEvent *start = gst_event_new_flush_start(), *stop = gst_event_new_flush_stop(TRUE);
    gst_event_set_seqnum(stop, gst_event_get_seqnum(start));
    for (int side = 0; side < 2; side++)
        gst_harness_push_event(side ? r.right : r.left, gst_event_ref(start));
    for (int side = 0; side < 2; side++)
        gst_harness_push_event(side ? r.right : r.left, gst_event_ref(stop));
    gst_event_unref(start);
    gst_event_unref(stop);
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = GST_SECOND;
    for (int side = 0; side < 2; side++)
        gst_harness_push_event(side ? r.right : r.left, gst_event_new_segment(&segment));
    map = one_map(&r, &other, "GRAY8", GST_SECOND + 5 * MS);
    g_assert_cmpint((int64_t)GST_BUFFER_PTS(map), ==, (int64_t)GST_SECOND + 5 * MS);
    expect_map(r.left, map, "GRAY16_LE", want, WIDE, HIGH);
    GstEvent *event = gst_pad_get_sticky_event(r.left->sinkpad, GST_EVENT_SEGMENT, 0);
    gst_event_copy_segment(event, &segment);
    g_assert_cmpint((int64_t)segment.start, ==, (int64_t)GST_SECOND);
    gst_event_unref(event);
    /* what lies before the segment is not shown */
    push_pair(&r, &p, "GRAY8", 900 * MS);
    push_pair(&r, &p, "GRAY8", 1100 * MS);
    expect_time(&r, 1100 * MS);
}

static GstClockTime first_time(GstElement *sink) {
    GstSample *sample = NULL;
    g_signal_emit_by_name(sink, "pull-preroll", &sample);
    g_assert_nonnull(sample);
    GstClockTime time = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
    return time;
}

CLI_TEST("/gst/seek", test_seek) {
    static const char line[] =
        "videotestsrc num-buffers=90 ! video/x-raw,format=RGB,width=32,height=16,framerate=30/1 ! "
        "s.sink_left videotestsrc pattern=snow num-buffers=90 ! "
        "video/x-raw,format=RGB,width=32,height=16,framerate=30/1 ! s.sink_right "
        "livestereo name=s disparity-range=8 " FAST " ! appsink name=sink";
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch(line, &error);
    g_assert_no_error(error);
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    GstQuery *query = gst_query_new_seeking(GST_FORMAT_TIME);
    gboolean seekable = FALSE;
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    g_assert_cmpint((int64_t)first_time(sink), ==, 0);
    g_assert_true(gst_element_query(sink, query));
    gst_query_parse_seeking(query, NULL, &seekable, NULL, NULL);
    gst_query_unref(query);
    g_assert_true(seekable);
    g_assert_true(gst_element_seek_simple(
        pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, 2 * GST_SECOND));
    g_assert_cmpint(gst_element_get_state(pipeline, NULL, NULL, 60 * GST_SECOND), ==,
                    GST_STATE_CHANGE_SUCCESS);
    g_assert_cmpint((int64_t)first_time(sink), ==, 2 * (int64_t)GST_SECOND);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(sink);
    gst_object_unref(pipeline);
}

/* Sides whose caps change two frames apart, there and back: the pairs between are left out. */
CLI_TEST("/gst/caps-apart", test_caps_apart) {
    struct run r = begin("livestereo disparity-range=16 " FAST);
    struct pair p[2] = {pair_make(W, H, LIVESTEREO_GRAY8, 0, 1),
                        pair_make(W + 8, H, LIVESTEREO_GRAY8, 0, 2)};
    set_caps(&r, "GRAY8", W, H);
    for (int i = 0; i < 12; i++) {
        int size[2] = {i >= 3 && i < 8, i >= 5 && i < 10};
        for (int side = 0; side < 2; side++) {
            GstHarness *to = side ? r.right : r.left;
            g_autofree char *caps =
                g_strdup_printf("video/x-raw,format=GRAY8,width=%d,height=%d,framerate=30/1",
                                p[size[side]].width, H);
            gst_harness_set_src_caps_str(to, caps);
            gst_harness_push(to, at(buffer_of(&p[size[side]].picture[side], "GRAY8"),
                                    (GstClockTime)i * 33 * GST_MSECOND));
        }
        if (size[0] != size[1])
            continue;
        g_autofree int16_t *want = disparity_of(&p[size[0]], FAST_WORDS " disparity_range=16");
        GstBuffer *map = gst_harness_pull(r.left);
        g_assert_cmpuint(GST_BUFFER_PTS(map), ==, (GstClockTime)i * 33 * GST_MSECOND);
        expect_map(r.left, map, "GRAY16_LE", want, p[size[0]].width, H);
    }
    end(&r);
    pair_free(&p[0]);
    pair_free(&p[1]);
}

CLI_TEST("/gst/changes", test_changes) {
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_GRAY8, 0, 1);
    g_autofree int16_t *before = disparity_of(&p, FAST_WORDS " disparity_range=4");
    g_autofree int16_t *after = disparity_of(&p, FAST_WORDS " disparity_range=16 speckle_size=0");
    AUTO(end) struct run r = begin("livestereo disparity-range=4 " FAST);
    int range;
    set_caps(&r, "GRAY8", W, H);
    expect_map(r.left, one_map(&r, &p, "GRAY8", 0), "GRAY16_LE", before, W, H);
    g_object_set(r.element, "disparity-range", 16, "speckle-size", 0, NULL);
    expect_map(r.left, one_map(&r, &p, "GRAY8", 33 * MS), "GRAY16_LE", after, W, H);
    /* what does not fit the pictures is a warning, and what was before goes on */
    g_object_set(r.element, "disparity-range", W, NULL);
    expect_map(r.left, one_map(&r, &p, "GRAY8", 66 * MS), "GRAY16_LE", after, W, H);
    g_autofree char *text = next_message(&r, GST_MESSAGE_WARNING);
    g_assert_nonnull(strstr(text, "disparity_range"));
    g_object_get(r.element, "disparity-range", &range, NULL);
    g_assert_cmpint(range, ==, 16);
    g_object_set(r.element, "speckle-size", 5, NULL); /* nor does it harm what comes later */
    gst_util_set_object_arg(G_OBJECT(r.element), "preset", "default");
    gst_buffer_unref(one_map(&r, &p, "GRAY8", 80 * MS));
    g_assert_null(gst_bus_pop_filtered(r.bus, GST_MESSAGE_WARNING));
    /* a preset leaves what was set by itself */
    struct livestereo_settings *live = pair_settings("live", "");
    char radius[32];
    livestereo_settings_get(live, "hole_radius", radius, sizeof(radius));
    livestereo_settings_close(&live);
    gst_util_set_object_arg(G_OBJECT(r.element), "preset", "live");
    int radius_now;
    g_object_get(r.element, "disparity-range", &range, "hole-radius", &radius_now, NULL);
    g_assert_cmpint(range, ==, 16);
    g_assert_cmpint(radius_now, ==, atoi(radius));
    gst_buffer_unref(one_map(&r, &p, "GRAY8", 99 * MS));
}

/* ---- live */

CLI_TEST("/gst/late", test_late) {
    AUTO(end) struct run r = begin("livestereo disparity-range=2 " FAST);
    guint64 computed, skipped;
    set_caps(&r, "GRAY8", 8, 4);
    for (int i = 0; i < 4; i++) {
        gst_harness_push(r.left, small((GstClockTime)(i * 33 * MS)));
        gst_harness_push(r.right, small((GstClockTime)(i * 33 * MS)));
        if (i == 0) { /* late by 20 ms at 0: what is before 40 ms would be, too */
            gst_buffer_unref(gst_harness_pull(r.left));
            gst_harness_push_upstream_event(
                r.left, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, 20 * MS, 0));
        }
    }
    for (int i = 2; i < 4; i++)
        expect_time(&r, i * 33 * MS);
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(r.bus, GST_MESSAGE_QOS);
    g_assert_nonnull(message);
    gst_message_parse_qos_stats(message, NULL, &computed, &skipped);
    g_assert_cmpint(computed, ==, 1);
    g_assert_cmpint(skipped, ==, 1);
    /* both sources hear of it */
    for (int side = 0; side < 2; side++) {
        GstEvent *event;
        bool seen = false;
        while ((event = gst_harness_try_pull_upstream_event(side ? r.right : r.left))) {
            seen |= GST_EVENT_TYPE(event) == GST_EVENT_QOS;
            gst_event_unref(event);
        }
        g_assert_true(seen);
    }
}

CLI_TEST("/gst/latency", test_latency) {
    AUTO(end) struct run r = begin("livestereo disparity-range=2 " FAST);
    for (int side = 0; side < 2; side++) {
        gst_harness_set_live(side ? r.right : r.left, TRUE);
        gst_harness_set_upstream_latency(side ? r.right : r.left, (side ? 7 : 5) * GST_MSECOND);
    }
    set_caps(&r, "GRAY8", 8, 4);
    gst_harness_push(r.left, small(0));
    gst_harness_push(r.right, small(0));
    gst_buffer_unref(gst_harness_pull(r.left));
    g_assert_cmpint((int64_t)gst_harness_query_latency(r.left), ==,
                    7 * MS + (int64_t)GST_SECOND / 30);
    /* QoS of any time is taken */
    gst_harness_push_upstream_event(r.left,
                                    gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, G_MAXINT64, 0));
    gst_harness_push_upstream_event(
        r.left, gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, 2, G_MININT64, (GstClockTime)1 << 63));
}

CLI_TEST("/gst/memory", test_memory) {
    const int frames = WATCHED ? 100 : 1000;
    long early = 0;
    AUTO(end) struct run r = begin("livestereo output=color disparity-range=16 " FAST);
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_NV12, 5, 1);
    set_caps(&r, "NV12", W, H);
    for (int i = 0; i < frames; i++) {
        if (i == frames / 5)
            early = resident_kb();
        gst_buffer_unref(one_map(&r, &p, "NV12", i * 33 * MS));
    }
    g_test_message("grew by %ld KiB", resident_kb() - early);
    if (!WATCHED) /* which keep freed memory for a while */
        g_assert_cmpint(resident_kb() - early, <, 512);
}

/* ---- what gst-inspect-1.0 shows */

static int has_property(void *context, const struct livestereo_parameter *p) {
    g_autofree char *name = g_strdelimit(g_strdup(p->name), "_", '-');
    GParamSpec *spec = g_object_class_find_property(context, name);
    if (!strcmp(p->group, "motion")) {
        g_assert_null(spec);
        return 0;
    }
    g_assert_nonnull(spec);
    g_assert_true(g_str_has_prefix(g_param_spec_get_blurb(spec), p->help));
    g_assert_true(!p->unit || strstr(g_param_spec_get_blurb(spec), p->unit));
    g_assert_true(spec->flags & (p->at_open ? GST_PARAM_MUTABLE_READY : GST_PARAM_MUTABLE_PLAYING));
    if (p->type == LIVESTEREO_INT) {
        GParamSpecInt *of_int = G_PARAM_SPEC_INT(spec);
        g_assert_true(of_int->minimum == p->min && of_int->maximum == p->max &&
                      of_int->default_value == p->def);
    } else if (p->type == LIVESTEREO_REAL) {
        GParamSpecDouble *real = G_PARAM_SPEC_DOUBLE(spec);
        g_assert_true(real->minimum == p->min && real->maximum == p->max &&
                      real->default_value == p->def);
    } else if (p->type == LIVESTEREO_CHOICE) {
        g_autoptr(GString) choices = g_string_new(NULL);
        GEnumClass *class = G_PARAM_SPEC_ENUM(spec)->enum_class;
        for (guint i = 0; i < class->n_values; i++)
            g_string_append_printf(choices, "%s%s", i ? "|" : "", class->values[i].value_nick);
        g_assert_cmpstr(choices->str, ==, p->choices);
    }
    return 0;
}

CLI_TEST("/gst/properties", test_properties) {
    GstElement *element = gst_element_factory_make("livestereo", NULL);
    GObjectClass *class = G_OBJECT_GET_CLASS(element);
    guint count;
    g_autofree GParamSpec **specs = g_object_class_list_properties(class, &count);
    g_assert_cmpint(livestereo_parameters(has_property, class), ==, 0);
    for (guint k = 0; k < count; k++) { /* each can be written as it is read */
        GValue value = G_VALUE_INIT;
        if (specs[k]->owner_type != G_OBJECT_TYPE(element))
            continue;
        g_value_init(&value, specs[k]->value_type);
        g_object_get_property(G_OBJECT(element), specs[k]->name, &value);
        g_assert_true(g_param_value_defaults(specs[k], &value));
        g_object_set_property(G_OBJECT(element), specs[k]->name, &value);
        g_value_unset(&value);
    }
    gst_object_unref(element);
}

/* ---- the pipelines of the manual */

enum { PAIRS = 3, WIDE = 2 * W, HIGH = 2 * H }; /* wider than the default's disparities */

/* The lines of the manual that begin with gst-launch-1.0, each with those that continue it. */
static char **manual_pipelines(void) {
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents("docs/GSTREAMER.md", &text, NULL, NULL));
    GPtrArray *found = g_ptr_array_new();
    for (char *at_line = text; (at_line = strstr(at_line, "\n    gst-launch-1.0 "));) {
        char *line_end = strchr(++at_line, '\n');
        while (line_end[-1] == '\\')
            line_end = strchr(line_end + 1, '\n');
        g_ptr_array_add(found, g_strndup(at_line, (gsize)(line_end - at_line)));
    }
    g_ptr_array_add(found, NULL);
    return (char **)g_ptr_array_free(found, FALSE);
}

static void run_line(const char *line) {
    g_autofree char *path = plugin_path(), *plugins = g_path_get_dirname(path);
    g_autofree char *all = g_strdup_printf(
        "export GST_PLUGIN_PATH=%s GST_REGISTRY=$D/registry.bin; cd $D && %s", plugins, line);
    expect_shell(0, "", "", all);
}

/* The frames of a video without loss, as raw bytes. */
static void expect_depths(const char *name, int count) {
    g_autofree char *path = path_in(name), *raw = NULL;
    gsize length, frame = 2 * WIDE * HIGH;
    g_assert_true(g_file_get_contents(path, &raw, &length, NULL));
    g_assert_cmpint((int64_t)length, ==, (int64_t)frame * count);
    for (int i = 0; i < count; i++) {
        g_autofree char *png = g_strdup_printf("batch/%03d_depth16.png", i + 1);
        g_autofree char *batch = path_in(png);
        g_autofree uint16_t *depth = NULL;
        int width, height;
        g_assert_cmpint(picture_read16(batch, &depth, &width, &height), ==, 0);
        g_assert_cmpmem(raw + (gsize)i * frame, frame, depth, frame);
    }
}

static void write_numbered(const char *below, int number, const struct image *picture) {
    g_autofree char *name = g_strdup_printf("%s/%03d.png", below, number), *path = path_in(name);
    g_assert_cmpint(picture_write(path, picture), ==, 0);
}

CLI_TEST("/gst/manual", test_manual) {
    g_autofree char *launch = g_find_program_in_path("gst-launch-1.0");
    if (WATCHED || !launch) {
        g_test_skip(WATCHED ? "gst-launch-1.0 has no sanitizer to watch the plugin with"
                            : "needs gst-launch-1.0 (gstreamer1.0-tools)");
        return;
    }
    write_text("rig.yml", rig_text);
    for (int i = 0; i < PAIRS; i++) {
        AUTO(pair_free) struct pair p = pair_make(WIDE, HIGH, LIVESTEREO_RGB8, 0, (uint32_t)i);
        uint8_t beside[HIGH][2][WIDE * 3];
        for (int y = 0; y < 2 * HIGH; y++)
            memcpy(beside[y / 2][y % 2], p.plain[y % 2].data + y / 2 * 3 * WIDE,
                   (size_t)(3 * WIDE));
        write_numbered("left", i + 1, &p.plain[0]);
        write_numbered("right", i + 1, &p.plain[1]);
        write_numbered("both", i + 1, &(struct image){beside[0][0], 2 * WIDE, HIGH, 3});
    }
    run_line("cp left/001.png left.png && cp right/001.png right.png && "
             "gst-launch-1.0 -q multifilesrc location=both/%03d.png start-index=1 "
             "caps=image/png,framerate=10/1 ! pngdec ! videoconvert ! "
             "video/x-raw,format=BGRA ! avenc_ffv1 ! matroskamux ! filesink location=both.mkv");
    must("batch $D -o $D/batch --save depth16 --calib $D/rig.yml --set temporal_mode=on");
    g_auto(GStrv) pipelines = manual_pipelines();
    g_assert_cmpint(g_strv_length(pipelines), ==, 4); /* the last one is of cameras */
    g_autofree char *half = g_strdup_printf("=%d", WIDE);
    g_auto(GStrv) halves = g_strsplit(pipelines[2], "=640", -1); /* the manual's pictures */
    g_autofree char *halved = g_strjoinv(half, halves);
    run_line(pipelines[0]);
    run_line(pipelines[1]);
    run_line(halved);
    expect_depths("depth.raw", PAIRS);
    run_line("gst-launch-1.0 -q filesrc location=depth.mkv ! matroskademux ! avdec_ffv1 ! "
             "video/x-raw,format=GRAY16_LE ! filesink location=video.raw");
    expect_depths("video.raw", PAIRS);
    run_line("gst-launch-1.0 -q filesrc location=depth.png ! pngdec ! videoconvert ! "
             "video/x-raw,format=GRAY16_LE ! filesink location=picture.raw");
    expect_depths("picture.raw", 1);
}

__attribute__((constructor)) static void load_plugin(void) {
    g_autofree char *path = plugin_path();
    gst_init(NULL, NULL);
    g_autoptr(GstPlugin) plugin = gst_plugin_load_file(path, NULL);
    g_assert_nonnull(plugin);
}
