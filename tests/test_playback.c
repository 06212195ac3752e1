/*
 * Recordings through GStreamer: every form gives its pairs in order and by seeking, with the
 * right picture on the right side; missing codecs and damaged files are named.
 * SPDX-License-Identifier: MIT
 */
#include "capture/source.h"
#include "tests/folder.h"
#include "tests/recording.h"
#include "tests/test.h"

#define GST_USE_UNSTABLE_API /* the hook that sees each element made */
#include <gst/gsttracer.h>

/* Under AddressSanitizer: GLib's table of names, once GStreamer's have outgrown it, counts as
 * leaked. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

#define FRAMES 60
#define RATE 25

/* Forms of recordings; @ is the folder. words are the files in it. */
static const struct form {
    const char *name, *launch, *words[2];
    int count;
} forms[] = {
    {"side-by-side-mjpeg",
     "appsrc format=time name=both ! jpegenc quality=95 ! matroskamux ! filesink "
     "location=@/sbs.mkv",
     {"sbs.mkv"},
     1},
    {"side-by-side-ffv1",
     "appsrc format=time name=both ! videoconvert ! avenc_ffv1 ! matroskamux ! filesink "
     "location=@/ffv1.mkv",
     {"ffv1.mkv"},
     1},
    {"side-by-side-quicktime",
     "appsrc format=time name=both ! jpegenc quality=95 ! qtmux ! filesink location=@/sbs.mov",
     {"sbs.mov"},
     1},
    {"side-by-side-vp8", /* frames that build on others: seeking starts at a key frame before */
     "appsrc format=time name=both ! videoconvert ! vp8enc deadline=1 target-bitrate=8000000 "
     "keyframe-max-dist=17 ! webmmux ! filesink location=@/sbs.webm",
     {"sbs.webm"},
     1},
    {"two-tracks",
     "matroskamux name=m ! filesink location=@/two.mkv appsrc format=time name=left ! jpegenc "
     "quality=95 ! "
     "queue ! m. "
     "appsrc format=time name=right ! jpegenc quality=95 ! queue ! m.",
     {"two.mkv"},
     1},
    {"two-tracks-titled",
     "matroskamux name=m timecodescale=10000 ! filesink location=@/titled.mkv "
     "appsrc format=time name=right ! jpegenc quality=95 ! taginject tags=title=right ! queue ! m. "
     "appsrc format=time name=left ! jpegenc quality=95 ! taginject tags=title=left ! queue ! m.",
     {"titled.mkv"},
     1},
    {"two-files",
     "appsrc format=time name=left ! jpegenc quality=95 ! avimux ! filesink location=@/l.avi "
     "appsrc format=time name=right ! jpegenc quality=95 ! avimux ! filesink location=@/r.avi",
     {"l.avi", "r.avi"},
     2},
};

/* NULL where this machine cannot write the form. */
static struct source *open_form(const struct form *form, const struct source_options *options) {
    char *words[2] = {path_in(form->words[0]), form->count == 2 ? path_in(form->words[1]) : NULL};
    struct source *source = NULL;
    int error = 0;
    char **parts = g_strsplit(form->launch, "@", -1), *launch = g_strjoinv(folder, parts);
    g_strfreev(parts);
    if (g_file_test(words[0], G_FILE_TEST_EXISTS) || recording_write(launch, FRAMES, RATE)) {
        source = source_open((const char *const *)words, form->count, options, &error);
        g_assert_nonnull(source);
    } else {
        g_test_skip("needs the encoders of gstreamer1.0-plugins-good and gstreamer1.0-libav");
    }
    g_free(launch);
    g_free(words[0]);
    g_free(words[1]);
    return source;
}

static struct source *open_named(const char *name, const struct source_options *options) {
    g_autofree char *path = path_in(name);
    int error;
    struct source *source = source_open((const char *const *)&path, 1, options, &error);
    g_assert_nonnull(source);
    return source;
}

static void check_pair(struct frame *frame, long index, int swapped) {
    int left, right;
    g_assert_cmpint(frame->index, ==, index);
    g_assert_cmpint(
        recording_number(frame->left.data, frame->left.width, frame->left.channels, &left), ==,
        index);
    g_assert_cmpint(
        recording_number(frame->right.data, frame->right.width, frame->right.channels, &right), ==,
        index);
    g_assert_cmpint(ABS(left - (swapped ? RIGHT_GRAY : LEFT_GRAY)), <, 12);
    g_assert_cmpint(ABS(right - (swapped ? LEFT_GRAY : RIGHT_GRAY)), <, 12);
    g_assert_cmpint(ABS(frame->left_ns - index * 1000000000 / RATE), <=, 1000000);
}

static struct frame *open_frame(const struct source *source) {
    g_assert_cmpint(source->width, ==, RECORDING_WIDTH);
    g_assert_cmpint(source->height, ==, RECORDING_HEIGHT);
    return frame_alone(source->width, source->height, source->channels, false, NULL);
}

TEST_ROWS("/playback/form", forms, test_form) {
    OWN_SOURCE *source = open_form(row, NULL);
    if (!source)
        return;
    OWN_FRAME *frame = open_frame(source);
    g_assert_cmpint(source->count, ==, FRAMES);
    g_assert_cmpfloat_with_epsilon(source->rate, RATE, 0.01);
    for (int i = 0; i < FRAMES; i++) {
        g_assert_cmpint(source->read(source, frame), ==, 0);
        check_pair(frame, i, 0);
    }
    g_assert_cmpint(source->read(source, frame), ==, SOURCE_END);
    g_assert_cmpint(source->read(source, frame), ==, SOURCE_END);

    /* back and forth, to the ends and onto the frame just read, also after the end */
    static const long stops[] = {30, 29, 28, 0, 59, 58, 1, 45, 45, 12};
    for (size_t i = 0; i < G_N_ELEMENTS(stops); i++) {
        g_assert_cmpint(source->seek(source, stops[i]), ==, 0);
        for (long n = stops[i]; n < MIN(stops[i] + 2, FRAMES); n++) {
            g_assert_cmpint(source->read(source, frame), ==, 0);
            check_pair(frame, n, 0);
        }
    }
    g_assert_cmpint(source->seek(source, -1), ==, -EINVAL);
    g_assert_cmpint(source->seek(source, FRAMES), ==, -EINVAL);
}

TEST_PLAIN("/playback/swap-and-loop", test_swap_and_loop) {
    struct source_options options = {.swap = 1, .loop = 1};
    OWN_SOURCE *source = open_form(&forms[0], &options);
    if (!source)
        return;
    OWN_FRAME *frame = open_frame(source);
    for (int i = 0; i < 2 * FRAMES + 3; i++) {
        g_assert_cmpint(source->read(source, frame), ==, 0);
        check_pair(frame, i % FRAMES, 1);
    }
}

/* A file cut in the middle plays up to there, says so once, and can be played again from the
 * start. */
TEST_PLAIN("/playback/damaged", test_damaged) {
    OWN_SOURCE *source = open_form(&forms[0], NULL);
    if (!source)
        return;
    source_close(&source);
    char *whole = path_in("sbs.mkv"), *cut = path_in("cut.mkv"), *bytes, *said;
    gsize length;
    g_assert_true(g_file_get_contents(whole, &bytes, &length, NULL));
    g_assert_true(g_file_set_contents(cut, bytes, (gssize)(length * 6 / 10), NULL));
    g_free(bytes);
    int status, frames = 0;
    source = open_named("cut.mkv", NULL);
    OWN_FRAME *frame = open_frame(source);
    struct stderr_of caught = stderr_begin();
    while ((status = source->read(source, frame)) == 0)
        check_pair(frame, frames++, 0);
    said = stderr_end(caught);
    g_assert_cmpint(status, ==, -EIO);
    g_assert_cmpint(frames, >, FRAMES / 4);
    g_assert_cmpint(frames, <, FRAMES);
    g_test_message("%d frames, then: %s", frames, said);
    g_assert_nonnull(strstr(said, "cut.mkv"));
    g_assert_nonnull(strstr(said, "damaged"));
    g_free(said);
    g_assert_cmpint(source->seek(source, 3), ==, 0);
    g_assert_cmpint(source->read(source, frame), ==, 0);
    check_pair(frame, 3, 0);
    g_free(whole);
    g_free(cut);
}

#define IRREGULAR 1000

static void expect_pair(struct source *source, struct frame *frame, long index,
                        const GstClockTime *times_ns) {
    int gray;
    g_assert_cmpint(source->read(source, frame), ==, 0);
    g_assert_cmpint(frame->index, ==, index);
    g_assert_cmpint(
        recording_number(frame->left.data, frame->left.width, frame->left.channels, &gray), ==,
        index);
    g_assert_cmpint(ABS(frame->left_ns - (int64_t)times_ns[index]), <=, 1000000);
}

/* A video that states no rate, with pictures at odd times: all come, in order, with their times,
 * and seeking goes to the same ones, whether they came before or not. */
static const char *const no_rate[] = {"no-rate.mkv", "mean-rate.mov"};

TEST_ROWS("/playback", no_rate, test_no_rate) {
    g_autofree char *path = path_in(*(const char *const *)row);
    g_autofree char *launch = g_strdup_printf(
        "appsrc format=time name=both ! jpegenc quality=95 ! %s ! filesink location=%s",
        g_str_has_suffix(path, ".mkv") ? "matroskamux" : "qtmux", path);
    GstClockTime times_ns[IRREGULAR + 1], time = 0;
    for (int i = 0; i <= IRREGULAR; i++) {
        times_ns[i] = time;
        time += (GstClockTime)(8 + i * 7 % 31 + (i % 100 == 50 ? 300 : 0)) * GST_MSECOND;
    }
    if (!recording_write_times(launch, IRREGULAR, 0, times_ns)) {
        g_test_skip("needs gstreamer1.0-plugins-good");
        return;
    }
    OWN_SOURCE *source = open_named(*(const char *const *)row, NULL);
    OWN_FRAME *frame = open_frame(source);
    bool stated = source->rate > 0; /* a mean, then seeking is by that */
    if (!stated) {
        g_assert_cmpint(source->count, ==, -1);
        g_assert_cmpint(source->seek(source, 100), ==, 0);
        expect_pair(source, frame, 100, times_ns);
        g_assert_cmpint(source->seek(source, 0), ==, 0);
    }
    int gray;
    for (long i = 0, before = -1; i < IRREGULAR; i++, before = frame->index) {
        g_assert_cmpint(source->read(source, frame), ==, 0);
        g_assert_cmpint(
            recording_number(frame->left.data, frame->left.width, frame->left.channels, &gray), ==,
            i);
        g_assert_cmpint(frame->index, >, before);
        g_assert_cmpint(ABS(frame->left_ns - (int64_t)times_ns[i]), <=, 1000000);
        if (!stated)
            g_assert_cmpint(frame->index, ==, i);
    }
    g_assert_cmpint(source->read(source, frame), ==, SOURCE_END);
    static const long stops[] = {500, 0, 999, 51, 50, 49, 998, 1, 300};
    for (size_t i = 0; i < G_N_ELEMENTS(stops) && !stated; i++) {
        g_assert_cmpint(source->seek(source, stops[i]), ==, 0);
        for (long n = stops[i]; n < MIN(stops[i] + 3, IRREGULAR); n++)
            expect_pair(source, frame, n, times_ns);
    }
    if (!stated) {
        g_assert_cmpint(source->seek(source, IRREGULAR), ==, 0);
        g_assert_cmpint(source->read(source, frame), ==, SOURCE_END);
    }
}

static void expect_refused(const char *name, const char *says) {
    g_autofree char *path = path_in(name), *said = NULL;
    const char *words[] = {path};
    int error = 0;
    struct stderr_of caught = stderr_begin();
    struct source *source = source_open(words, 1, NULL, &error);
    said = stderr_end(caught);
    g_test_message("%s", said);
    g_assert_null(source);
    g_assert_cmpint(error, <, 0);
    g_assert_nonnull(strstr(said, says));
    g_assert_nonnull(strstr(said, name));
    g_assert_true(strchr(said, '\n') == said + strlen(said) - 1); /* one line */
}

/* Run in a process of its own, whose GStreamer is told to forget a decoder. */
TEST_PLAIN("/playback/missing-codec", test_missing_codec) {
    if (g_test_subprocess()) {
        const char *path = g_getenv("LIVESTEREO_TEST_FILE");
        int error = 0;
        struct source *source = source_open(&path, 1, NULL, &error);
        g_assert_null(source);
        g_assert_cmpint(error, ==, -ENOSYS);
        return;
    }
    struct source *source = open_form(&forms[1], NULL);
    if (!source)
        return;
    source_close(&source);
    g_autofree char *path = path_in("ffv1.mkv");
    g_setenv("LIVESTEREO_TEST_FILE", path, TRUE);
    g_setenv("GST_PLUGIN_FEATURE_RANK", "avdec_ffv1:NONE", TRUE);
    g_test_trap_subprocess(NULL, 0, 0);
    g_unsetenv("GST_PLUGIN_FEATURE_RANK");
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("*ffv1.mkv*apt install gstreamer1.0-libav*");
}

TEST_PLAIN("/playback/refused", test_refused) {
    static const char *const texts[][3] = {
        {"text.mkv", "this is no video\n", "error"},
        {"empty.mp4", "", "it is empty"},
        {"costs.npy", "\x93NUMPY\x01", "convert pictures to PNG"}};
    static const char *const made_by[][3] = {
        {"odd.mkv",
         "videotestsrc num-buffers=3 ! video/x-raw,width=321,height=50 ! jpegenc ! matroskamux",
         "even width"},
        {"bare.mjpeg", "videotestsrc num-buffers=3 ! jpegenc", "without a container"},
        {"sound.mkv", "audiotestsrc num-buffers=3 ! audio/x-raw,format=S16LE ! matroskamux",
         "sound and no pictures"}};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *path = path_in(texts[i][0]);
        g_assert_true(g_file_set_contents(path, texts[i][1], -1, NULL));
        expect_refused(texts[i][0], texts[i][2]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(made_by); i++) {
        g_autofree char *path = path_in(made_by[i][0]),
                        *launch = g_strdup_printf("%s ! filesink location=%s", made_by[i][1], path);
        if (recording_write(launch, 0, RATE))
            expect_refused(made_by[i][0], made_by[i][2]);
        else
            g_test_skip("needs jpegenc of gstreamer1.0-plugins-good");
    }
}

/* The factories of elements that are made while the hook is set, some by threads of GStreamer. */
static GMutex made_lock;
static GString *made;

static void note_made(GObject *tracer G_GNUC_UNUSED, GstClockTime time G_GNUC_UNUSED,
                      GstElement *element) {
    GstElementFactory *factory = gst_element_get_factory(element);
    g_mutex_lock(&made_lock);
    if (made && factory)
        g_string_append_printf(made, "%s ", GST_OBJECT_NAME(factory));
    g_mutex_unlock(&made_lock);
}

/* Files that tell a player to open something else, or that the manual does not name, are refused
 * before any element but those that find out what they are is made: no network, no other file. */
TEST_PLAIN("/playback/strange", test_strange) {
    static const struct {
        const char *name, *text;
    } files[] = {{"hls.mkv", "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n"
                             "http://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n"},
                 {"list.pls", "[playlist]\nFile1=http://127.0.0.1:9/a.mkv\nNumberOfEntries=1\n"},
                 {"session.sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
                                 "m=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n"},
                 {"dash.mpd",
                  "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" "
                  "type=\"static\"><BaseURL>http://127.0.0.1:9/</BaseURL></MPD>\n"},
                 {"redirect.mov", "RTSPtext rtsp://127.0.0.1:9/a\n\n"},
                 {"film.mxf", "\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02\x04\x01"
                              "abcdefghijklmnopqrstuvwxyz"}};
    gst_init(NULL, NULL);
    GType type = g_type_register_static_simple(GST_TYPE_TRACER, "watcher", sizeof(GstTracerClass),
                                               NULL, sizeof(GstTracer), NULL, 0);
    GstTracer *tracer = g_object_new(type, NULL); /* the hook must belong to one */
    gst_tracing_register_hook(tracer, "element-new", G_CALLBACK(note_made));
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = path_in(files[i].name);
        g_assert_true(g_file_set_contents(path, files[i].text, -1, NULL));
        g_mutex_lock(&made_lock);
        made = g_string_new(NULL);
        g_mutex_unlock(&made_lock);
        expect_refused(files[i].name, "error");
        g_mutex_lock(&made_lock);
        g_auto(GStrv) names = g_strsplit(g_strchomp(made->str), " ", -1);
        g_string_free(made, TRUE);
        made = NULL;
        g_mutex_unlock(&made_lock);
        static const char *const allowed[] = {"pipeline", "filesrc", "decodebin", "typefind", NULL};
        g_assert_cmpint(g_strv_length(names), >=, 3);
        for (char **name = names; *name; name++)
            if (!g_strv_contains(allowed, *name))
                g_error("%s made a %s", files[i].name, *name);
    }
}

/* Puts bytes into a file, so far behind where these begin that it has once. */
static void patch(const char *name, const char *mark, size_t at, const uint8_t *bytes,
                  size_t count) {
    g_autofree char *path = path_in(name), *data = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(path, &data, &length, NULL));
    char *found = memmem(data, length, mark, strlen(mark));
    g_assert_nonnull(found);
    memcpy(found + at, bytes, count);
    g_assert_true(g_file_set_contents(path, data, (gssize)length, NULL));
}

/* A file of which the first half of each picture is black and the second white. */
static void make_halves(const char *name, bool below, const char *caps, const char *more) {
    g_autofree char *path = path_in(name);
    g_autofree char *text = g_strdup_printf(
        "%s compositor name=c sink_1::%s=64 ! jpegenc ! capssetter caps=%s ! %s name=m ! filesink "
        "location=%s "
        "videotestsrc pattern=black num-buffers=5 ! video/x-raw,width=64,height=64 ! c.sink_0 "
        "videotestsrc pattern=white num-buffers=5 ! video/x-raw,width=64,height=64 ! c.sink_1",
        more, below ? "ypos" : "xpos", caps,
        g_str_has_suffix(name, ".mkv") ? "matroskamux" : "qtmux", path);
    GError *error = NULL;
    gst_init(NULL, NULL);
    GstElement *pipeline = gst_parse_launch(text, &error);
    g_assert_no_error(error);
    GstBus *bus = gst_element_get_bus(pipeline);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gst_message_unref(gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS));
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
}

/* The left picture is white, where the file says so, and 64x64. */
static void expect_halves(const char *name, bool white) {
    OWN_SOURCE *source = open_named(name, NULL);
    g_assert_cmpint(source->width, ==, 64);
    g_assert_cmpint(source->height, ==, 64);
    OWN_FRAME *frame = frame_alone(64, 64, source->channels, false, NULL);
    g_assert_cmpint(source->read(source, frame), ==, 0);
    g_assert_true((frame->left.data[0] > 128) == white);
    g_assert_true((frame->right.data[0] > 128) != white);
}

/* A cover before the film is no picture of the pair. */
TEST_PLAIN("/playback/still", test_still) {
    make_halves("still.mkv", false, "image/jpeg,multiview-mode=side-by-side",
                "videotestsrc num-buffers=1 ! video/x-raw,width=48,height=32 ! jpegenc ! m.");
    expect_halves("still.mkv", false);
}

/* Matroska's StereoMode, the display matrix of QuickTime: which picture is left. */
TEST_PLAIN("/playback/said", test_said) {
    static const struct {
        uint8_t mode;
        bool below, white;
    } modes[] = {{1, false, false}, {11, false, true}, {3, true, false}, {2, true, true}};
    static const uint8_t turns[][28] = {
        {0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    static const uint8_t chessboard = 4;
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        make_halves("said.mkv", modes[i].below, "image/jpeg,multiview-mode=side-by-side", "");
        patch("said.mkv", "\x53\xb8\x81", 3, &modes[i].mode, 1);
        expect_halves("said.mkv", modes[i].white);
    }
    patch("said.mkv", "\x53\xb8\x81", 3, &chessboard, 1);
    expect_refused("said.mkv", "as a chessboard");
    const struct source_options options = {.pictures = PICTURES_TOP_BOTTOM};
    struct source *source = open_named("said.mkv", &options);
    source_close(&source);
    for (size_t i = 0; i < G_N_ELEMENTS(turns); i++) {
        make_halves("turned.mov", false, "image/jpeg", "");
        patch("turned.mov", "tkhd", 44, turns[i], 24);
        expect_halves("turned.mov", i != 1); /* turned by 180, 90 and -90 degrees */
    }
}

/* A JPEG picture that ends early is a damaged pair, as it is in a folder. */
TEST_PLAIN("/playback/cut-picture", test_cut_picture) {
    static const uint8_t zeros[64] = {0};
    make_halves("cut.mov", false, "image/jpeg", "");
    patch("cut.mov", "\xff\xd9\xff\xd8", 0, zeros, 2);
    OWN_SOURCE *source = open_named("cut.mov", NULL);
    OWN_FRAME *frame = frame_alone(64, 64, source->channels, false, NULL);
    for (int i = 0; i < 5; i++)
        g_assert_cmpint(source->read(source, frame), ==, i ? 0 : -EBADMSG);
    g_assert_cmpint(source->read(source, frame), ==, SOURCE_END);
}

/* One track of the shape of one picture is asked about; --eye left takes it for both sides. */
TEST_PLAIN("/playback/one-picture", test_one_picture) {
    static const struct {
        const char *size;
        int width, height; /* of a picture of the pair, by shape alone; 0: refused */
    } shapes[] = {{"width=64,height=48", 0, 0},
                  {"width=128,height=48", 64, 48},
                  {"width=64,height=96", 64, 48}};
    for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
        g_autofree char *path = path_in("one.mkv");
        g_autofree char *launch =
            g_strdup_printf("videotestsrc num-buffers=5 ! video/x-raw,%s ! jpegenc ! matroskamux ! "
                            "filesink location=%s",
                            shapes[i].size, path);
        const char *words[] = {path};
        struct source_options options = {0};
        int error = 0;
        g_assert_true(recording_write(launch, 0, RATE));
        struct stderr_of caught = stderr_begin();
        OWN_SOURCE *source = source_open(words, 1, &options, &error);
        g_autofree char *said = stderr_end(caught);
        if (shapes[i].width) {
            g_assert_nonnull(source);
            g_assert_cmpint(source->width, ==, shapes[i].width);
            g_assert_cmpint(source->height, ==, shapes[i].height);
            source_close(&source);
            continue;
        }
        g_assert_null(source);
        g_assert_nonnull(strstr(said, "--eye left"));
        g_assert_nonnull(strstr(said, "--pictures side-by-side"));
        options.pictures = PICTURES_ONE;
        source = source_open(words, 1, &options, &error);
        g_assert_nonnull(source);
        OWN_FRAME *frame = frame_alone(64, 48, source->channels, 0, NULL);
        g_assert_cmpint(source->read(source, frame), ==, 0);
        g_assert_cmpmem(frame->left.data, image_bytes(&frame->left), frame->right.data,
                        image_bytes(&frame->right));
    }
}
