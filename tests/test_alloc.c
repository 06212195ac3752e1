/*
 * Failing allocations: allocation number N fails for every N until the operation succeeds; every
 * failure must be an error, leave nothing behind (AddressSanitizer's leak check watches) and be
 * said.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/live.h"
#include "capture/synth/desk.h"
#include "image/picture.h"
#include "base/log.h"
#include "tests/fail_alloc.h"
#include "tests/test.h"

#include <tiffio.h>

static int lines; /* logged. Atomic */

void __real_log_at(enum log_level level, const char *object, const char *format, ...);
void __wrap_log_at(enum log_level level, const char *object, const char *format, ...);
void __wrap_log_at(enum log_level level, const char *object G_GNUC_UNUSED,
                   const char *format G_GNUC_UNUSED, ...) {
    __atomic_add_fetch(&lines, level == LOG_ERROR, __ATOMIC_RELAXED);
}

/* Runs attempt with allocation 1, 2, 3 .. failing. attempt returns 0 or -errno, and says why but
 * where that is left to its caller. Returns how many threads it cannot do without. */
static int fail_each(int (*attempt)(void), int min_failures, bool says) {
    int failures = 0, threads = 0;
    for (int n = 1;; n++) {
        __atomic_store_n(&lines, 0, __ATOMIC_RELAXED);
        fail_alloc_begin(n);
        int error = attempt();
        if (!fail_alloc_end()) {
            g_assert_cmpint(error, ==, 0);
            break;
        }
        failures++;
        if (!error && fail_alloc_thread)
            continue;
        g_assert_true(error == -ENOMEM || error == -EAGAIN);
        g_assert_cmpint(__atomic_load_n(&lines, __ATOMIC_RELAXED), ==, says);
        threads += error == -EAGAIN;
    }
    g_assert_cmpint(failures, >=, min_failures);
    return threads;
}

static int attempt_pool(void) {
    OWN_POOL *pool = pool_open(3, 20, 10, 3, 1, NULL);
    int error = pool ? 0 : -ENOMEM;
    return error;
}

static int attempt_synth(void) {
    int error = 0;
    struct source_options options = {0};
    OWN_SOURCE *source =
        source_open(&(const char *){"synth:width=40,height=30,range=16"}, 1, &options, &error);
    return error;
}

/* On one thread: it does without others. */
static int attempt_desk(void) {
    struct desk *desk = desk_open(40, 30, 0, 16, 0, 1, 1);
    int error = desk ? 0 : -ENOMEM;
    desk_close(desk);
    return error;
}

static int attempt_live(void) {
    struct params p;
    struct source_options source_options = {0};
    struct live_options options = {.policy = QUEUE_WAIT, .frames = 2};
    int error = 0, paused = fail_alloc_pause();
    params_default(&p);
    p.backend = BACKEND_CPU;
    p.disparity_range = 16;
    struct source *source = source_open(&(const char *){"synth:width=40,height=30,range=16"}, 1,
                                        &source_options, &error);
    struct matcher *matcher = matcher_open(&p, "test", 40, 30, 3, NULL, NULL, false, &error);
    g_assert_true(source && matcher);
    for (int i = 0; i < 2; i++) { /* pairs that are drawn already need no threads */
        OWN_FRAME *frame = frame_alone(40, 30, 3, 1, NULL);
        g_assert_cmpint(source->read(source, frame), ==, 0);
    }
    g_assert_cmpint(source->seek(source, 0), ==, 0);
    fail_alloc_resume(paused);
    struct live *live = live_open(source, matcher, &p, &options, &error);
    live_close(&live);
    paused = fail_alloc_pause();
    matcher_close(&matcher);
    source_close(&source);
    fail_alloc_resume(paused);
    return error;
}

static int attempt_write(void) {
    uint8_t data[12 * 9 * 3] = {0};
    int16_t disparity[12 * 9] = {0};
    struct image image = {data, 12, 9, 3};
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "livestereo-alloc-test.png", NULL);
    int error = picture_write(path, &image);
    if (!error)
        error = picture_write_disp16(path, disparity, 12, 9);
    if (!error)
        error = picture_read(path, &image);
    if (!error)
        picture_free(&image);
    int paused = fail_alloc_pause();
    TIFF *tiff = TIFFOpen(path, "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 12);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFWriteScanline(tiff, data, 0, 0);
    TIFFClose(tiff);
    fail_alloc_resume(paused);
    if (!error)
        error = picture_read(path, &image);
    if (!error)
        picture_free(&image);
    g_autofree char *pfm = g_build_filename(g_get_tmp_dir(), "livestereo-alloc-test.pfm", NULL);
    if (!error)
        error = picture_write_pfm(pfm, disparity, 12, 9);
    remove(path);
    remove(pfm);
    return error;
}

TEST("/alloc/pool", test_pool) {
    fail_each(attempt_pool, 4, true);
}
TEST("/alloc/synth", test_synth) {
    fail_each(attempt_synth, 2, true);
}
TEST("/alloc/desk", test_desk) {
    fail_each(attempt_desk, 2, false);
}
TEST("/alloc/live", test_live) {
    g_assert_cmpint(fail_each(attempt_live, 5, true), ==, 2);
}
TEST("/alloc/write", test_write) {
    fail_each(attempt_write, 3, true);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    log_set_level(LOG_ERROR);
    return tests_run();
}
