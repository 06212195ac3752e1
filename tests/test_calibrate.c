/*
 * The views that calibration takes, refuses and forgets, and how the threads that look for the
 * board end. Boards are drawn as corners alone, by a source that is a stand-in.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate.h"
#include "tests/stderr_of.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

enum { WIDTH = 640, HEIGHT = 480, CORNERS = 54, LARGER = -1 };

static const struct board board = {9, 6, 0.024, 1};

static void close_nothing(struct source *source) {
    (void)source;
}

static struct source camera(void) {
    return (struct source){.name = "stand-in",
                           .width = WIDTH,
                           .height = HEIGHT,
                           .channels = 1,
                           .live = 1,
                           .close = close_nothing};
}

static void begin(struct calibrate *c, struct source *source) {
    *source = camera();
    *c = (struct calibrate){.board = board, .source = source};
    calibrate_init(c);
}

/* A flat board, by hand; the left corners begin at x, y. That of pair LARGER goes on in the right
 * picture. */
static enum verdict take(struct calibrate *c, long index, double x, double y) {
    float xy[2][2 * CORNERS];
    struct frame frame = {.index = index, .left_ns = index};
    struct sight s = {&frame, {1, 1}, {xy[0], xy[1]}, {0, index == LARGER}};
    for (int v = 0; v < 2; v++)
        for (int i = 0; i < CORNERS; i++) {
            xy[v][2 * i] = (float)(x + 20 * (i % 9) - 30 * v);
            xy[v][2 * i + 1] = (float)(y + 20 * (i / 9));
        }
    return calibrate_consider(c, &s, true);
}

/* A view is taken once, by the same pair and by the next one of a board at rest; again when it was
 * forgotten. */
static void test_taken_once(void) {
    struct calibrate c;
    struct source source;
    begin(&c, &source);
    g_assert_cmpint(take(&c, 0, 100, 100), ==, TAKEN);
    g_assert_cmpint(take(&c, 0, 100, 100), ==, TAKEN_BEFORE);
    g_assert_cmpint(take(&c, 1, 100.5, 100.5), ==, TAKEN_BEFORE);
    g_assert_cmpint(take(&c, 2, 104, 100), ==, TAKEN);
    g_assert_cmpint(take(&c, 3, 100, 100), ==, TAKEN_BEFORE); /* the one before the last */
    g_assert_cmpint(take(&c, LARGER, 200, 200), ==, LARGER_BOARD);
    g_assert_cmpuint(c.views->len, ==, 2);
    calibrate_forget(&c, 0);
    g_assert_cmpint(take(&c, 4, 100, 100), ==, TAKEN);
    calibrate_close(&c);
}

/* The first signal says at once what it does, the second ends the program. */
static void test_quit(void) {
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
static void test_find(void) {
    struct calibrate c;
    struct source source;
    begin(&c, &source);
    for (int i = 0; i < 4; i++)
        g_assert_cmpint(take(&c, 10 * i, 100 + 20 * i, 100), ==, TAKEN);
    struct calibration *s = calibration_begin(&c);
    calibrate_forget(&c, 1);
    static const int places[] = {0, -1, 1, 2};
    for (int i = 0; i < 4; i++)
        g_assert_cmpint(calibrate_find(&c, s->pair[i]), ==, places[i]);
    g_assert_cmpstr(c.names->pdata[1], ==, s->name[2]);
    calibration_free(&s);
    calibrate_close(&c);
}

static void test_too_many(void) {
    struct calibrate c;
    struct source source;
    begin(&c, &source);
    for (int i = 0; i < COVERAGE_VIEWS_MOST; i++)
        g_assert_cmpint(take(&c, i, 50 + 5 * (i % 64), 50 + 5 * (i / 64)), ==, TAKEN);
    g_assert_cmpint(take(&c, 1000, 60, 300), ==, TOO_MANY);
    g_assert_cmpuint(c.views->len, ==, COVERAGE_VIEWS_MOST);
    calibrate_forget(&c, 7);
    g_assert_cmpint(take(&c, 1001, 60, 300), ==, TAKEN);
    calibrate_close(&c);
}

/* ---- how the threads end */

static atomic_int pairs_read, may_end;

/* One grey pair; then nothing until the test lets it end. */
static int read_one(struct source *source, struct frame *frame) {
    (void)source;
    if (atomic_fetch_add(&pairs_read, 1) > 0) {
        while (!atomic_load(&may_end))
            g_usleep(1000);
        return SOURCE_END;
    }
    struct image *const pictures[2] = {&frame->left, &frame->right};
    for (int v = 0; v < 2; v++)
        memset(pictures[v]->data, 128, image_bytes(pictures[v]));
    return 0;
}

static void notify_nobody(void *context) {
    (void)context;
}

/* What the finder could not do is said, and stays so when the source ends after it. */
static void test_finder_error(void) {
    static const struct board none = {1, 1, 1, 0}; /* no board at all: the finder refuses it */
    struct source source = camera();
    struct sight sight;
    int status = -ETIMEDOUT;
    source.read = read_one;
    struct stderr_of log = stderr_begin();
    struct gather *g = gather_open(&source, &none, 0, notify_nobody, NULL);
    while (status == -ETIMEDOUT)
        status = gather_take(g, 100, &sight);
    atomic_store(&may_end, 1);
    g_usleep(200000); /* the capture thread ends */
    int later = gather_take(g, 0, &sight);
    gather_close(&g);
    g_free(stderr_end(log));
    g_assert_cmpint(status, <, 0);
    g_assert_cmpint(later, ==, status);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/calibrate/quit", test_quit);
    g_test_add_func("/calibrate/taken-once", test_taken_once);
    g_test_add_func("/calibrate/find", test_find);
    g_test_add_func("/calibrate/too-many", test_too_many);
    g_test_add_func("/calibrate/finder-error", test_finder_error);
    return g_test_run();
}
