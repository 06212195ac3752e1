/*
 * Video files: what has another size, or one too small for an encoder, is refused.
 * SPDX-License-Identifier: MIT
 */
#include "app/save/video_writer.h"
#include "tests/folder.h"
#include "tests/gst_sanitizers.h"
#include "tests/test.h"

#include <signal.h>
#include <sys/resource.h>

TEST_PLAIN("/video-writer/other", test_other) {
    g_autofree char *base = path_in("video");
    enum { WIDTH = 66, HEIGHT = 50 }; /* whose rows are no multiples of 4 bytes */
    static uint8_t grey[3 * WIDTH * HEIGHT];
    static const int others[][2] = {{WIDTH - 2, HEIGHT}, {WIDTH, HEIGHT - 2}, {32, 32}};
    struct image picture = {grey, WIDTH, HEIGHT, 3};
    memset(grey, 128, sizeof(grey));
    struct video_writer *writer = video_writer_open(base, WIDTH, HEIGHT, 10);
    if (!writer) {
        g_test_skip("needs an encoder of gstreamer1.0-plugins-good");
        return;
    }
    g_autofree char *path = g_strdup(video_writer_path(writer));
    g_assert_cmpint(video_writer_add(writer, &picture), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        struct image other = {grey, others[i][0], others[i][1], 3};
        g_assert_cmpint(video_writer_add(writer, &other), ==, -EINVAL);
    }
    g_assert_cmpint(video_writer_close(&writer, 1), ==, 0);
    g_assert_cmpint(g_unlink(path), ==, 0);
}

TEST_PLAIN("/video-writer/size", test_size) {
    g_autofree char *base = path_in("video");
    static const int sizes[][2] = {{0, 48}, {64, 0}, {-2, 48}, {2, 2}, {63, 48}, {64, 47}};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        g_assert_null(video_writer_open(base, sizes[i][0], sizes[i][1], 10));
}

/* A file that cannot grow, as on a full disk: a picture is refused sooner or later, whatever still
 * waits for the encoder, and nothing is left. */
TEST_PLAIN("/video-writer/full", test_full) {
    g_autofree char *base = path_in("video");
    enum { WIDTH = 320, HEIGHT = 240, MOST = 2000 };
    struct image picture = {g_malloc(3 * WIDTH * HEIGHT), WIDTH, HEIGHT, 3};
    struct rlimit before, small = {.rlim_cur = 20000};
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
    struct video_writer *writer = video_writer_open(base, WIDTH, HEIGHT, 10);
    int error = 0;
    g_autofree char *path = writer ? g_strdup(video_writer_path(writer)) : NULL;
    for (uint32_t n = 1, i = 0; writer && !error && i < MOST; i++) {
        for (size_t k = 0; k < 3 * WIDTH * HEIGHT; k++)
            picture.data[k] = (uint8_t)((n = n * 1664525 + 1013904223) >> 24);
        error = video_writer_add(writer, &picture);
    }
    video_writer_close(&writer, 0);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_free(picture.data);
    if (!path) {
        g_test_skip("needs an encoder of gstreamer1.0-plugins-good");
        return;
    }
    g_assert_cmpint(error, ==, -EIO);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}
