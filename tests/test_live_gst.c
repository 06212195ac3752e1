/*
 * The live source gst: 10,000 frames of test sources with a slow reader (memory and age bounded),
 * side by side, swap and flip, a pipeline that fails and one that ends, pipelines refused.
 * SPDX-License-Identifier: MIT
 */
#include "capture/source_status.h"
#include "tests/source_open.h"
#include "tests/test.h"

#define FRAMES 10000

static char *two(const char *format, int rate, const char *more) {
    return g_strdup_printf(
        "gst:videotestsrc is-live=true pattern=%s ! video/x-raw,format=%s,width=64,height=48,"
        "framerate=%d/1 ! appsink name=left videotestsrc is-live=true pattern=snow %s ! "
        "video/x-raw,format=%s,width=64,height=48,framerate=%d/1 ! appsink name=right",
        "ball", format, rate, more, format, rate);
}

/* 0 and a frame to drop, or the end. Skips what is not there yet. */
static int next(struct opened *o, struct frame **frame) {
    for (;;) {
        *frame = pool_take(o->pool);
        int status = o->source->read(o->source, *frame);
        if (status == 0)
            return 0;
        frame_drop(frame);
        if (status != -EAGAIN)
            return status;
    }
}

TEST("/live-gst/slow-reader", test_slow_reader) {
    g_autofree char *word = two("RGB", 1000, "");
    OWN_OPENED o = open_one(word);
    g_assert_cmpint(o.source->live, ==, 1);
    struct source_status status, before;
    long last = -1, read = 0, early_kb = 0;
    do {
        struct frame *frame;
        o.source->get_status(o.source, &before);
        g_assert_cmpint(next(&o, &frame), ==, 0);
        /* the newest pair there is, never one from a backlog */
        g_assert_cmpint(frame->index, >=, before.pairs - 1);
        g_assert_cmpint(frame->index, >, last);
        last = frame->index;
        read++;
        frame_drop(&frame);
        do { /* slower than the cameras, whatever the machine gives them */
            g_usleep(8000);
            o.source->get_status(o.source, &status);
        } while (status.pairs < before.pairs + 4);
        if (early_kb == 0 && status.camera[0].frames > FRAMES / 10)
            early_kb = resident_kb();
    } while (status.camera[0].frames < FRAMES);
    g_test_message("%ld frames, %ld pairs, %ld read, %ld overtaken, gap %.3f ms, grew by %ld KiB",
                   status.camera[0].frames, status.pairs, read, status.passed,
                   status.gaps.median_ms, resident_kb() - early_kb);
    g_assert_cmpint(status.passed + read, >=, status.pairs - 2);
    g_assert_cmpint(status.passed, >, read);
    if (!WATCHED) /* which keep freed memory for a while */
        g_assert_cmpint(resident_kb() - early_kb, <, 4096);
}

TEST("/live-gst/both", test_both) {
    struct source_options options = {.swap = 1, .flip = {1, 0}};
    const char *word = "gst:videotestsrc is-live=true pattern=smpte horizontal-speed=1 ! "
                       "video/x-raw,format=GRAY8,width=64,height=48,framerate=100/1 ! tee name=t ! "
                       "queue ! appsink name=both";
    OWN_OPENED o = open_words(word, NULL, NULL), p = open_words(word, NULL, &options);
    g_assert_cmpint(o.source->width, ==, 32);
    g_assert_cmpint(o.source->channels, ==, 1);
    OWN_FRAME *frame = NULL, *other = NULL;
    g_assert_cmpint(next(&o, &frame), ==, 0);
    g_assert_cmpint(next(&p, &other), ==, 0);
    g_assert_cmpint(frame->left_ns, ==, frame->right_ns);
    g_assert_false(same_pixels(&frame->left, &frame->right));
}

#define TURNED_OVER(format, more)                                              \
    "gst:videotestsrc is-live=true pattern=smpte ! video/x-raw,format=" format \
    ",width=64,height=48 ! " more " appsink name=both"
#define SAYS(mode, flags)                                        \
    "capssetter caps=\"video/x-raw,multiview-mode=(string)" mode \
    ",multiview-flags=(GstVideoMultiviewFlagsSet)" flags ":ffffffff\" !"

/* Both pictures as the caps say, which is first and in 16 bits, too. */
TEST("/live-gst/said", test_said) {
    struct source_options options = {.pictures = PICTURES_TOP_BOTTOM, .swap = 1};
    OWN_OPENED o = open_words(TURNED_OVER("GRAY8", ""), NULL, &options),
               p = open_one(TURNED_OVER("GRAY16_LE", SAYS("top-bottom", "1")));
    g_assert_cmpint(p.source->width, ==, 64);
    g_assert_cmpint(p.source->height, ==, 24);
    g_assert_cmpint(p.source->channels, ==, 1);
    OWN_FRAME *frame = NULL, *other = NULL;
    g_assert_cmpint(next(&o, &frame), ==, 0);
    g_assert_cmpint(next(&p, &other), ==, 0);
    for (int i = 0; i < 64 * 24; i++)
        g_assert_cmpint(abs(frame->left.data[i] - other->left.data[i]), <=, 1);
    expect_refused(TURNED_OVER("GRAY8", SAYS("checkerboard", "0")), NULL, -EINVAL,
                   "both pictures as a chessboard", NULL);
}

/* One camera's pictures, whole: each is the later one of the pair before. */
TEST("/live-gst/picture", test_picture) {
    struct source_options options = {.motion_step = 1};
    const char *word = "gst:videotestsrc is-live=true pattern=smpte horizontal-speed=3 ! "
                       "video/x-raw,format=RGB,width=64,height=48,framerate=100/1 ! "
                       "appsink name=picture";
    OWN_OPENED o = open_words(word, NULL, &options);
    g_assert_cmpint(o.source->width, ==, 64);
    g_assert_cmpint(o.source->height, ==, 48);
    OWN_FRAME *before = NULL;
    for (int n = 0; n < 4; n++) {
        struct frame *frame;
        g_assert_cmpint(next(&o, &frame), ==, 0);
        g_assert_cmpint(frame->right_ns, >, frame->left_ns);
        g_assert_false(same_pixels(&frame->left, &frame->right));
        if (before)
            g_assert_true(same_pixels(&before->right, &frame->left));
        frame_drop(&before);
        before = frame;
    }
}

TEST("/live-gst/ends", test_ends) {
    g_autofree char *word = two("GRAY8", 200, "num-buffers=40");
    OWN_OPENED o = open_one(word);
    struct frame *frame;
    int status, count = 0;
    while ((status = next(&o, &frame)) == 0) {
        frame_drop(&frame);
        count++;
    }
    g_assert_cmpint(status, ==, SOURCE_END);
    g_assert_cmpint(count, >, 0);
}

TEST("/live-gst/fails", test_fails) {
    g_autofree char *word = two("RGB", 200, "! identity error-after=60");
    struct stderr_of caught = stderr_begin();
    struct opened o = open_one(word);
    struct frame *frame;
    struct source_status status = {0};
    while (status.camera[0].losses < 1 || status.camera[0].frames < 400) { /* twice round */
        frame = pool_take(o.pool);
        int result = o.source->read(o.source, frame);
        g_assert_true(result == 0 || result == -EAGAIN);
        frame_drop(&frame);
        o.source->get_status(o.source, &status);
        if (status.camera[0].state == CAMERA_AWAY)
            g_assert_nonnull(strstr(status.banner, "gives no frames"));
        if (status.camera[0].losses >= 2)
            break;
    }
    opened_close(&o);
    g_autofree char *text = stderr_end(caught);
    g_assert_nonnull(strstr(text, "it will be started again"));
    g_assert_cmpint(status.camera[0].losses, >=, 1);
}

/* Pictures of another size are left out, with one line for all of them. */
TEST("/live-gst/other-size", test_other_size) {
    const char *word =
        "gst:concat name=c ! appsink name=both "
        "videotestsrc num-buffers=5 ! video/x-raw,format=RGB,width=64,height=48 ! c. "
        "videotestsrc ! video/x-raw,format=RGB,width=32,height=48 ! c.";
    struct stderr_of caught = stderr_begin();
    struct opened o = open_one(word);
    for (int others = 0; others < 10;) {
        OWN_FRAME *frame = pool_take(o.pool);
        int status = o.source->read(o.source, frame);
        g_assert_true(status == 0 || status == -EAGAIN || status == -EBADMSG);
        others += status == -EBADMSG;
    }
    opened_close(&o);
    stderr_one_line(caught, "not 32x48 any more", word);
}

TEST("/live-gst/refused", test_refused) {
    expect_refused("gst:videotestsrc ! appsink name=links", NULL, -EINVAL, "appsink name=left",
                   NULL);
    expect_refused("gst:nosuchelement ! appsink name=both", NULL, -EINVAL, "nosuchelement", NULL);
    expect_refused("gst:videotestsrc ! video/x-raw,format=I420 ! appsink name=both", NULL, -EIO,
                   "videoconvert", NULL);
    expect_refused("gst:fakesrc num-buffers=9 ! appsink name=both", NULL, -EIO, "no video", NULL);
    expect_refused("gst:fakesrc is-live=true ! appsink name=left fakesrc ! appsink name=right",
                   NULL, -EIO, "no video", NULL);
    expect_refused("gst:fakesrc num-buffers=0 ! appsink name=both", NULL, -EIO, "ends before",
                   NULL);
    expect_refused("gst:appsink name=both", NULL, -EINVAL, "one element", NULL);
    expect_refused("gst:", NULL, -EINVAL, "gst:", NULL);
    expect_refused("gst:videotestsrc ! video/x-raw,format=RGB,width=64 ! appsink name=left "
                   "videotestsrc ! video/x-raw,format=RGB,width=32 ! appsink name=right",
                   NULL, -EINVAL, "both must be of one size", NULL);
    expect_refused("gst:videotestsrc ! video/x-raw,format=RGB,width=65 ! appsink name=both", NULL,
                   -EINVAL, "even width", NULL);
}
