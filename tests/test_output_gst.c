/*
 * --out: the bytes of each kind, a receiver that takes nothing, one that fails and is started
 * again, one that ends, what is refused. The pool holds just what the giver and the output may, so
 * a frame kept back would end the test.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "app/live/output.h"
#include "image/picture.h"
#include "tests/gst_sanitizers.h"
#include "tests/stderr_of.h"
#include "tests/test.h"

#include <fcntl.h>
#include <gst/gst.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#define W 30 /* rows of RGB and of 16 bits end with a gap */
#define H 7

static const struct depth_geometry metres = {100, 100, 15, 3, 0.5, 0, 1};

static struct output *open_out(const char *pipeline, const char *what, int *code) {
    struct output_options options = {(char *)(gpointer)pipeline, (char *)(gpointer)what};
    static struct params params;
    params_default(&params);
    struct output_about about = {W, H, 3, 30, &metres, &params, "test", false};
    return output_open(&options, &about, code);
}

static struct output *must_open(const char *pipeline, const char *what) {
    int code;
    struct output *output = open_out(pipeline, what, &code);
    g_assert_nonnull(output);
    g_assert_cmpint(code, ==, EXIT_DONE);
    return output;
}

/* Pair number: disparities, among them one unknown and one of 0, and a left picture that say which
 * it is. */
static struct frame *make_frame(struct frame_pool *pool, int number) {
    struct frame *frame = pool_take(pool);
    frame->index = number;
    params_default(frame->params);
    for (int i = 0; i < W * H; i++)
        frame->disparity[i] = (int16_t)(16 * (i % 40) + number % 16);
    frame->disparity[1] = DISPARITY_UNKNOWN;
    for (int i = 0; i < W * H * 3; i++)
        frame->rect_left.data[i] = (uint8_t)(i + number);
    return frame;
}

static struct frame_pool *open_pool(void) {
    return pool_open(1 + OUTPUT_FRAMES, W, H, 3, 0, NULL);
}

static void give(struct output *output, struct frame_pool *pool, int number) {
    AUTO(frame_drop) struct frame *frame = make_frame(pool, number);
    output_give(output, frame);
}

/* Gives frames until the receiver has failed. */
static void give_until_failed(struct output *output, struct frame_pool *pool) {
    struct output_status status = {0};
    while (!status.failed) {
        give(output, pool, 0);
        g_usleep(1000);
        output_get_status(output, &status);
    }
}

static void wait_sent(struct output *output, long count) {
    struct output_status status;
    do {
        g_usleep(1000);
        output_get_status(output, &status);
    } while (status.sent < count);
}

/* Gives count frames; each waits until it has gone out. */
static void give_all(struct output *output, struct frame_pool *pool, int count) {
    for (int i = 0; i < count; i++) {
        give(output, pool, i);
        wait_sent(output, i + 1);
    }
}

static size_t expected_row(const char *what, const struct frame *frame, int y, uint8_t *row) {
    const int16_t *d = frame->disparity + (size_t)y * W;
    uint16_t wide[W];
    if (strcmp(what, "left") == 0) {
        memcpy(row, frame->rect_left.data + (size_t)y * W * 3, W * 3);
        return W * 3;
    }
    if (strcmp(what, "color") == 0) {
        colormap_disparity(d, W, 1, frame->params->min_disparity,
                           frame->params->min_disparity + frame->params->disparity_range - 1,
                           COLORMAP_TURBO, row);
        return W * 3;
    }
    for (int x = 0; x < W; x++) {
        int known = d[x] != DISPARITY_UNKNOWN;
        double z = 1000.0 * 100 * 0.5 / (d[x] / 16.0);
        if (strcmp(what, "depth") == 0)
            wide[x] = known && d[x] > 0 && z < 65535.5 ? (uint16_t)lrint(z) : 0;
        else
            wide[x] = (uint16_t)(!known ? 0 : d[x] > 0 ? d[x] * 16 : 1);
    }
    memcpy(row, wide, sizeof wide);
    return sizeof wide;
}

static void test_bytes(void) {
    static const char *const kinds[] = {"color", "disparity", "depth", "left"};
    g_autofree char *folder = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_autofree char *path = g_build_filename(folder, "raw", NULL), *bytes = NULL;
        g_autofree char *pipeline = g_strdup_printf("gst:filesink location=%s", path);
        AUTO(pool_close) struct frame_pool *pool = open_pool();
        struct output *output = must_open(pipeline, kinds[k]);
        give_all(output, pool, 5);
        output_close(&output);
        g_assert_null(output);
        gsize length;
        g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
        const char *at = bytes;
        g_test_message("%s, %d bytes", kinds[k], (int)length);
        for (int i = 0; i < 5; i++) {
            AUTO(frame_drop) struct frame *frame = make_frame(pool, i);
            for (int y = 0; y < H; y++) {
                uint8_t row[W * 3];
                size_t size = expected_row(kinds[k], frame, y, row);
                g_assert_cmpint(at - bytes + (long)size, <=, (long)length);
                g_assert_cmpmem(at, size, row, size);
                at += (size + 3) / 4 * 4;
            }
        }
        g_assert_cmpint(at - bytes, ==, (long)length);
        g_unlink(path);
    }
    g_rmdir(folder);
}

/* The receiver takes nothing, not even at the end: giving never waits (else this would hang), the
 * newest frames stay few. */
static void test_blocks(void) {
    g_autofree char *folder = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "fifo", NULL);
    g_autofree char *pipeline = g_strdup_printf("gst:filesink location=%s buffer-mode=2", path);
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    int fd = open(path, O_RDWR);
    g_assert_cmpint(fcntl(fd, F_SETPIPE_SZ, 4096), >=, 4096);
    AUTO(pool_close) struct frame_pool *pool = open_pool();
    struct output *output = must_open(pipeline, "color");
    wait_sent(output, 0);
    for (int i = 0; i < 2000; i++) {
        give(output, pool, i);
        g_usleep(200);
    }
    struct output_status status;
    output_get_status(output, &status);
    g_assert_cmpint(status.given, ==, 2000);
    g_assert_cmpint(status.sent, <=, 4096 / (H * 92) + 2); /* what the pipe holds, one on its way */
    stderr_says("--out", "left behind", output_close(&output));
    int reader = open(path, O_RDONLY | O_NONBLOCK), flags = fcntl(reader, F_GETFL);
    fcntl(reader, F_SETFL, flags & ~O_NONBLOCK);
    close(fd);
    char buf[4096];
    while (read(reader, buf, sizeof buf) > 0) /* until the receiver's side has closed */
        continue;
    close(reader);
    g_unlink(path);
    g_rmdir(folder);
}

/* Slow, not dead: frames are left out, the last one given goes out. */
static void test_slow(void) {
    AUTO(pool_close) struct frame_pool *pool = open_pool();
    AUTO(output_close)
    struct output *output =
        must_open("gst:identity sleep-time=20000 ! fakesink sync=false", "disparity");
    struct output_status status = {0};
    for (int i = 0; status.sent < 9 || status.given == status.sent; i++) {
        give(output, pool, i);
        g_usleep(1000);
        output_get_status(output, &status);
    }
    g_test_message("%ld given, %ld sent", status.given, status.sent);
}

static void test_fails(void) {
    AUTO(pool_close) struct frame_pool *pool = open_pool();
    struct stderr_of caught = stderr_begin();
    struct output *output = must_open("gst:identity error-after=4 ! fakesink sync=false", NULL);
    struct output_status status = {0};
    for (int i = 0; status.sent < 9; i++) { /* each round sends four */
        give(output, pool, i);
        g_usleep(5000);
        output_get_status(output, &status);
    }
    output_close(&output);
    char *text = stderr_end(caught), *line = strstr(text, "--out");
    g_assert_nonnull(line);
    g_assert_nonnull(strstr(line, "it is tried again"));
    g_free(text);
}

/* A receiver that ends; one that is not there when it starts, and never comes. */
static void test_ends(void) {
    static const char *const receivers[][2] = {
        {"gst:identity eos-after=3 ! fakesink sync=false", "ended by itself"},
        {"gst:filesink location=/dev/null/file", "tried again"}};
    AUTO(pool_close) struct frame_pool *pool = open_pool();
    for (size_t i = 0; i < G_N_ELEMENTS(receivers); i++) {
        struct stderr_of caught = stderr_begin();
        struct output *output = must_open(receivers[i][0], "left");
        give_until_failed(output, pool);
        output_close(&output);
        stderr_one_line(caught, "--out", receivers[i][1]);
    }
}

/* The cause is said once, however long it is. */
static void test_long_cause(void) {
    g_autofree char *name = g_strnfill(200, 'x');
    g_autofree char *pipeline =
        g_strdup_printf("gst:filesink location=/dev/null/%s/%s", name, name);
    AUTO(pool_close) struct frame_pool *pool = open_pool();
    struct stderr_of caught = stderr_begin();
    struct output *output = must_open(pipeline, "left");
    struct output_status status = {0};
    while (!status.failed) {
        g_usleep(1000);
        output_get_status(output, &status);
    }
    g_usleep(2600000); /* another round; on a busy machine it may not come to it */
    output_close(&output);
    stderr_one_line(caught, "--out", "tried again");
}

/* A receiver that the end does not come to, as with one that waits for something. */
static void test_late(void) {
    AUTO(pool_close) struct frame_pool *pool = open_pool();
    struct stderr_of caught = stderr_begin();
    struct output *output = must_open("gst:valve drop=true ! fakesink async=false", "left");
    give(output, pool, 0);
    g_assert_false(output_close(&output));
    stderr_one_line(caught, "--out", "may lack the end");
}

/* A receiver that fails and, started again, hangs: no frame stays with what is left behind. */
static void test_hangs(void) {
    g_autofree char *folder = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    g_autofree char *below = g_build_filename(folder, "later", NULL);
    g_autofree char *path = g_build_filename(below, "fifo", NULL);
    g_autofree char *pipeline = g_strdup_printf("gst:filesink location=%s", path);
    struct frame_pool *pool = open_pool();
    struct stderr_of caught = stderr_begin();
    struct output *output = must_open(pipeline, "left");
    struct output_status status = {0};
    while (!status.failed) {
        g_usleep(1000);
        output_get_status(output, &status);
    }
    g_assert_cmpint(g_mkdir(below, 0700), ==, 0);
    g_assert_cmpint(mkfifo(path, 0600), ==, 0); /* without a reader, opening it waits */
    while (status.failed) {
        give(output, pool, 0);
        g_usleep(1000);
        output_get_status(output, &status);
    }
    struct frame *frame[1 + OUTPUT_FRAMES];
    give(output, pool, 1);
    output_close(&output);
    g_autofree char *text = stderr_end(caught);
    g_assert_nonnull(strstr(text, "left behind"));
    for (int i = 0; i < 1 + OUTPUT_FRAMES; i++) /* all are here again: running out would assert */
        frame[i] = pool_take(pool);
    for (int i = 0; i < 1 + OUTPUT_FRAMES; i++)
        frame_drop(&frame[i]);
    pool_close(&pool);
    /* A reader, to the end of the test program, lets it go on. */
    g_assert_cmpint(open(path, O_RDONLY | O_NONBLOCK), >=, 0);
    g_unlink(path);
    g_rmdir(below);
    g_rmdir(folder);
}

static void refuse(const char *pipeline, const char *what, int expected, const char *text) {
    int code = -1;
    stderr_says("--out", text, g_assert_null(open_out(pipeline, what, &code)));
    g_assert_cmpint(code, ==, expected);
}

static void test_refused(void) {
    gst_init(NULL, NULL); /* where no other test ran before */
    GstPluginFeature *encoder = gst_registry_lookup_feature(gst_registry_get(), "vp8enc");
    if (encoder)
        gst_registry_remove_feature(gst_registry_get(), encoder);
    gst_clear_object(&encoder);
    refuse("gst:videoconvert ! vp8enc ! fakesink", NULL, EXIT_USAGE,
           "no element \"vp8enc\"; as root: apt install gstreamer1.0-plugins-good");
    refuse("gst:nosuchelement", NULL, EXIT_USAGE, "nosuchelement");
    refuse("gst:", NULL, EXIT_USAGE, "gst-launch");
    refuse("out.mkv", NULL, EXIT_USAGE, "no pipeline");
    refuse("gst:fakesink", "colour", EXIT_USAGE, "not one of color, disparity, depth, left");
    refuse(NULL, "color", EXIT_USAGE, "add --out");
    static struct params params;
    params_default(&params);
    struct output_options options = {(char *)(gpointer) "gst:fakesink", (char *)(gpointer) "depth"};
    struct output_about about = {W, H, 3, 0, NULL, &params, "test", false};
    int code = -1;
    stderr_says("--out-what", "--calib", g_assert_null(output_open(&options, &about, &code)));
    g_assert_cmpint(code, ==, EXIT_CALIBRATION);
    options = (struct output_options){NULL, NULL};
    g_assert_null(output_open(&options, &about, &code));
    g_assert_cmpint(code, ==, EXIT_DONE);
    output_give(NULL, NULL);
    struct output *none = NULL;
    output_close(&none);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    /* What these two leave behind has freed itself when the leak checker looks, at the end. */
    g_test_add_func("/output/blocks", test_blocks);
    g_test_add_func("/output/hangs", test_hangs);
    g_test_add_func("/output/late", test_late);
    g_test_add_func("/output/bytes", test_bytes);
    g_test_add_func("/output/slow", test_slow);
    g_test_add_func("/output/fails", test_fails);
    g_test_add_func("/output/ends", test_ends);
    g_test_add_func("/output/long-cause", test_long_cause);
    g_test_add_func("/output/refused", test_refused);
    return g_test_run();
}
