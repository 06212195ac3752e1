/*
 * The views that calibration takes, refuses and forgets, and how the threads that look for the
 * board end. Boards are drawn as corners alone, by a source that is a stand-in.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate/solution.h"
#include "app/commands.h"
#include "tests/test.h"

#include <signal.h>
#include <stdatomic.h>

enum { WIDTH = 640, HEIGHT = 480, CORNERS = 54, LARGER = -1 };

static const struct board board = {9, 6, 0.024, 1};

static void close_nothing(struct source *source G_GNUC_UNUSED) {
}

static struct source camera(void) {
    return (struct source){.name = "stand-in",
                           .width = WIDTH,
                           .height = HEIGHT,
                           .channels = 1,
                           .live = 1,
                           .close = close_nothing};
}

static void begin(struct views *v, struct source *source) {
    *source = camera();
    views_init(v, source, &board);
}

/* A flat board, by hand; the left corners begin at x, y. That of pair LARGER goes on in the right
 * picture. */
static enum verdict take(struct views *v, long index, double x, double y) {
    float xy[2][2 * CORNERS];
    struct frame frame = {.index = index, .left_ns = index};
    struct detection d = {.frame = &frame,
                          .found = {true, true},
                          .xy = {xy[0], xy[1]},
                          .larger = {false, index == LARGER}};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < CORNERS; i++) {
            xy[side][2 * i] = (float)(x + 20 * (i % 9) - 30 * side);
            xy[side][2 * i + 1] = (float)(y + 20 * (i / 9));
        }
    return views_consider(v, &d, true);
}

/* A view is taken once, by the same pair and by the next one of a board at rest; again when it was
 * forgotten. */
TEST("/calibrate/taken-once", test_taken_once) {
    AUTO(views_free) struct views v = {0};
    struct source source;
    begin(&v, &source);
    g_assert_cmpint(take(&v, 0, 100, 100), ==, TAKEN);
    g_assert_cmpint(take(&v, 0, 100, 100), ==, TAKEN_BEFORE);
    g_assert_cmpint(take(&v, 1, 100.5, 100.5), ==, TAKEN_BEFORE);
    g_assert_cmpint(take(&v, 2, 104, 100), ==, TAKEN);
    g_assert_cmpint(take(&v, 3, 100, 100), ==, TAKEN_BEFORE); /* the one before the last */
    g_assert_cmpint(take(&v, LARGER, 200, 200), ==, LARGER_BOARD);
    g_assert_cmpint(views_count(&v), ==, 2);
    views_forget(&v, 0);
    g_assert_cmpint(take(&v, 4, 100, 100), ==, TAKEN);
}

/* The first signal says at once what it does, the second ends the program. */
TEST("/calibrate/quit", test_quit) {
    if (g_test_subprocess()) {
        quit_catch();
        quit_announce("ends later\n");
        raise(SIGINT);
        g_assert_true(quit_asked());
        g_printerr("goes on\n");
        raise(SIGINT);
        g_printerr("not reached\n");
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("ends later\ngoes on\n");
}

/* Those of a solution are found after others were forgotten, and not once they are themselves. */
TEST("/calibrate/find", test_find) {
    AUTO(views_free) struct views v = {0};
    struct source source;
    begin(&v, &source);
    for (int i = 0; i < 4; i++)
        g_assert_cmpint(take(&v, 10 * i, 100 + 20 * i, 100), ==, TAKEN);
    AUTO(solution_free) struct solution *s = solution_new(&v, DISTORTION_RADTAN, 0.5);
    views_forget(&v, 1);
    static const int places[] = {0, -1, 1, 2};
    for (int i = 0; i < 4; i++)
        g_assert_cmpint(views_find(&v, views_get(&s->views, i)->pair), ==, places[i]);
    g_assert_cmpstr(views_get(&v, 1)->name, ==, views_get(&s->views, 2)->name);
}

TEST("/calibrate/too-many", test_too_many) {
    AUTO(views_free) struct views v = {0};
    struct source source;
    begin(&v, &source);
    for (int i = 0; i < MAX_COVERAGE_VIEWS; i++)
        g_assert_cmpint(take(&v, i, 50 + 5 * (i % 64), 50 + 5 * (i / 64)), ==, TAKEN);
    g_assert_cmpint(take(&v, 1000, 60, 300), ==, TOO_MANY);
    g_assert_cmpint(views_count(&v), ==, MAX_COVERAGE_VIEWS);
    views_forget(&v, 7);
    g_assert_cmpint(take(&v, 1001, 60, 300), ==, TAKEN);
}

/* ---- how the threads end */

static atomic_int pairs_read, may_end;

/* One grey pair; then nothing until the test lets it end. */
static int read_one(struct source *source G_GNUC_UNUSED, struct frame *frame) {
    if (atomic_fetch_add(&pairs_read, 1) > 0) {
        while (!atomic_load(&may_end))
            g_usleep(1000);
        return SOURCE_END;
    }
    struct image *const pictures[2] = {&frame->left, &frame->right};
    for (int side = 0; side < 2; side++)
        memset(pictures[side]->data, 128, image_bytes(pictures[side]));
    return 0;
}

static void notify_nobody(void *context G_GNUC_UNUSED) {
}

/* What the finder could not do is said, and stays so when the source ends after it. */
TEST("/calibrate/finder-error", test_finder_error) {
    static const struct board none = {1, 1, 1, 0}; /* no board at all: the finder refuses it */
    struct source source = camera();
    struct detection detection;
    int status = -ETIMEDOUT;
    source.read = read_one;
    struct stderr_of log = stderr_begin();
    struct collector *c = collector_open(&source, &none, false, notify_nobody, NULL);
    while (status == -ETIMEDOUT)
        status = collector_take(c, 100, &detection);
    atomic_store(&may_end, 1);
    g_usleep(200000); /* the capture thread ends */
    int later = collector_take(c, 0, &detection);
    collector_close(&c);
    g_free(stderr_end(log));
    g_assert_cmpint(status, <, 0);
    g_assert_cmpint(later, ==, status);
}

/* OpenCV's threads hand memory to each other under locks that ThreadSanitizer does not see. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
    return "called_from_lib:libopencv_core.so\n"
           "called_from_lib:libopencv_imgproc.so\n"
           "called_from_lib:libopencv_calib3d.so\n";
}

/* A picture too small for a board, or that is when it is made smaller, has none; that is no
 * error. */
TEST("/calibrate/small", test_small) {
    static const int sizes[][2] = {{9, 1}, {1, 9}, {14, 200}, {200, 15}, {4000, 20}, {20, 20}};
    static const struct board five = {5, 4, 1, 0};
    float xy[2 * 5 * 4];
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (int thorough = 0; thorough < 2; thorough++) {
            g_autofree uint8_t *grey = g_malloc0((gsize)sizes[i][0] * (gsize)sizes[i][1]);
            for (int k = 0; k < sizes[i][0] * sizes[i][1]; k++)
                grey[k] = (uint8_t)(k * 37);
            g_assert_cmpint(chessboard_find(grey, sizes[i][0], sizes[i][1], &five, thorough, xy),
                            ==, 0);
        }
}
