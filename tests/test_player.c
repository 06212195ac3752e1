/*
 * The live threads as a player: pausing, stepping, seeking, loops, settings while standing still,
 * probes. Every frame is compared with one computed alone. SPDX-License-Identifier: MIT
 */
#include "app/live/live.h"
#include "base/clock.h"
#include "tests/test.h"

#include <stdatomic.h>

#define SPEC "synth:width=64,height=48,range=16,frames=40"
#define FRAMES 40
#define HANG_MS 600000 /* for what hangs */

/* For all tests: to draw their textures takes longest. */
static struct source *played, *compared;

struct fixture {
    struct matcher *matcher, *other_matcher;
    struct params params;
    struct live *live;
};

static void set_up(struct fixture *f, enum queue_policy policy) {
    const char *words[] = {SPEC};
    int error;
    params_default(&f->params);
    f->params.backend = BACKEND_CPU;
    f->params.threads = 2;
    f->params.disparity_range = 16;
    f->params.bp_iterations = 2;
    played = played ?: source_open(words, 1, NULL, &error);
    compared = compared ?: source_open(words, 1, NULL, &error);
    g_assert_true(played && compared && played->seek(played, 0) == 0);
    f->matcher = matcher_open(&f->params, "test", 64, 48, 3, NULL, NULL, false, &error);
    f->other_matcher = matcher_open(&f->params, "test", 64, 48, 3, NULL, NULL, false, &error);
    g_assert_true(f->matcher && f->other_matcher);
    struct live_options options = {.policy = policy, .player = true, .kept = 1, .rate = 0};
    f->live = live_open(played, f->matcher, &f->params, &options, &error);
    g_assert_nonnull(f->live);
}

static void tear_down(struct fixture *f) {
    live_close(&f->live);
    matcher_close(&f->matcher);
    matcher_close(&f->other_matcher);
}

static struct frame *take(struct fixture *f) {
    struct frame *frame;
    g_assert_cmpint(live_take(f->live, HANG_MS, &frame), ==, 0);
    return frame;
}

/* The frame is that pair, computed with these settings. Drops it. */
static void check(struct fixture *f, struct frame **frame, long index,
                  const struct params *params) {
    OWN_FRAME *alone = frame_alone(64, 48, 3, true, NULL);
    g_assert_cmpint((*frame)->index, ==, index);
    g_assert_cmpint(compared->seek(compared, index), ==, 0);
    g_assert_cmpint(compared->read(compared, alone), ==, 0);
    g_assert_cmpint(matcher_run(f->other_matcher, params, alone), ==, 0);
    g_assert_cmpmem((*frame)->left.data, 64 * 48 * 3, alone->left.data, 64 * 48 * 3);
    g_assert_cmpmem((*frame)->disparity, 64 * 48 * 2, alone->disparity, 64 * 48 * 2);
    frame_drop(frame);
}

static void expect(struct fixture *f, long index) {
    struct frame *frame = take(f);
    check(f, &frame, index, &f->params);
}

/* Playing stops, at this pair. */
static void pause_at(struct fixture *f, long index) {
    struct frame *frame = take(f);
    live_pause(f->live, frame);
    frame_drop(&frame);
    live_seek(f->live, index);
    expect(f, index);
}

static void nothing_more(struct fixture *f) {
    struct frame *frame;
    g_assert_cmpint(live_take(f->live, 100, &frame), ==, -ETIMEDOUT);
}

static void test_steps(struct fixture *f) {
    struct frame *frame = take(f);
    long at = frame->index;
    live_pause(f->live, frame);
    check(f, &frame, at, &f->params);
    nothing_more(f);
    static const long stops[] = {7, 8, 7, 6, 39, 0, 39, 20, 20};
    for (size_t i = 0; i < G_N_ELEMENTS(stops); i++) {
        g_assert_cmpint(live_seek(f->live, stops[i]), ==, stops[i]);
        expect(f, stops[i]);
        nothing_more(f);
    }
    for (long i = 0; i < 30; i++) /* the last of many in a row is the one that comes */
        live_seek(f->live, i);
    do
        frame = take(f);
    while (frame->index != 29 && (frame_drop(&frame), 1));
    check(f, &frame, 29, &f->params);
    nothing_more(f);
}

static void test_play_on(struct fixture *f) {
    pause_at(f, 10);
    live_play(f->live);
    expect(f, 11);
    for (long i = 12; i < FRAMES; i++)
        expect(f, i);
    nothing_more(f);
    struct live_state state;
    live_get_state(f->live, &state);
    g_assert_true(state.ended && !state.paused && state.error == 0);
    g_assert_true(g_str_has_prefix(state.backend, "cpu"));
    live_seek(f->live, 38); /* from the end back, and to the end again */
    expect(f, 38);
    expect(f, 39);
    nothing_more(f);
}

static void test_settings(struct fixture *f) {
    pause_at(f, 5);
    f->params.data_weight = 0.05;
    f->params.subpixel = SUBPIXEL_OFF;
    live_set_params(f->live, &f->params);
    expect(f, 5);
    nothing_more(f);
    live_seek(f->live, 6);
    expect(f, 6);
}

static void test_refused(struct fixture *f) {
    struct frame *frame = take(f);
    live_pause(f->live, frame);
    long index = frame->index;
    frame_drop(&frame);
    struct params bad = f->params;
    bad.disparity_range = 200; /* more than the picture is wide */
    struct stderr_of caught = stderr_begin();
    live_set_params(f->live, &bad);
    frame = take(f);
    g_autofree char *said = stderr_end(caught);
    g_assert_cmpint(strlen(said), >, 0);
    check(f, &frame, index, &f->params);
    struct live_state state;
    live_get_state(f->live, &state);
    g_assert_cmpint(state.refused, ==, 1);
    g_assert_cmpint(state.params.disparity_range, ==, 16);
}

static void test_loop(struct fixture *f) {
    pause_at(f, 20);
    live_set_loop(f->live, 18, 21);
    live_play(f->live);
    static const long order[] = {21, 18, 19, 20, 21, 18, 19};
    for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
        expect(f, order[i]);
    live_set_loop(f->live, 0, -1); /* the whole source */
    live_seek(f->live, 38);
    static const long round[] = {38, 39, 0, 1};
    for (size_t i = 0; i < G_N_ELEMENTS(round); i++)
        expect(f, round[i]);
}

static void test_swap(struct fixture *f) {
    OWN_FRAME *frame = take(f), *alone = frame_alone(64, 48, 3, true, NULL);
    live_pause(f->live, frame);
    frame_drop(&frame);
    live_set_swap(f->live, true);
    live_seek(f->live, 3);
    frame = take(f);
    compared->seek(compared, 3);
    compared->read(compared, alone);
    g_assert_cmpmem(frame->left.data, 64 * 48 * 3, alone->right.data, 64 * 48 * 3);
    g_assert_cmpmem(frame->right.data, 64 * 48 * 3, alone->left.data, 64 * 48 * 3);
    g_assert_false(frame->has_truth);
    g_assert_true(frame->exchanged);
}

static void test_probes(struct fixture *f) {
    pause_at(f, 4);
    OWN_FRAME *alone = frame_alone(64, 48, 3, true, NULL);
    struct live_probe probes[PROBES] = {{.x = 20, .y = 10}, {.x = 50, .y = 40}};
    live_set_probes(f->live, probes, 2);
    do {
        g_usleep(1000);
        g_assert_cmpint(live_get_probes(f->live, probes), ==, 2);
    } while (probes[1].index < 0);
    compared->seek(compared, 4);
    compared->read(compared, alone);
    g_assert_cmpint(matcher_run(f->other_matcher, &f->params, alone), ==, 0);
    for (int i = 0; i < 2; i++) {
        const struct livestereo_probe *found = &probes[i].found;
        struct livestereo_probe want = LIVESTEREO_PROBE;
        g_assert_cmpint(
            livestereo_get_probe(matcher_handle(f->other_matcher), probes[i].x, probes[i].y, &want),
            ==, 0);
        g_assert_cmpint(probes[i].index, ==, 4);
        g_assert_cmpint(found->u_count, ==, 16);
        g_assert_cmpint(found->v_count, ==, 1);
        g_assert_cmpfloat(found->u, ==, f->params.min_disparity);
        g_assert_cmpmem(found, sizeof *found, &want, sizeof want);
    }
}

/* Everything at once from this thread while the others run; the end finds nothing locked or
 * lost. */
static void test_hammer(struct fixture *f) {
    struct frame *frame, *shown = take(f);
    for (int i = 0; i < 200; i++) {
        switch (g_test_rand_int_range(0, 7)) {
        case 0:
            live_pause(f->live, shown);
            break;
        case 1:
            live_play(f->live);
            break;
        case 2:
            live_seek(f->live, g_test_rand_int_range(0, FRAMES));
            break;
        case 3:
            f->params.data_weight = g_test_rand_int_range(1, 100) / 100.0;
            live_set_params(f->live, &f->params);
            break;
        case 4:
            live_set_loop(f->live, g_test_rand_int_range(-1, 10),
                          g_test_rand_int_range(10, FRAMES));
            break;
        case 5:
            live_set_rate(f->live, g_test_rand_int_range(0, 3) * 500);
            break;
        default:
            if (live_take(f->live, g_test_rand_int_range(0, 5), &frame) == 0) {
                frame_drop(&shown);
                shown = frame;
            }
        }
    }
    live_pause(f->live, shown); /* or pair 9 may be dropped for the ones after it */
    live_seek(f->live, 9);
    do {
        frame_drop(&shown);
        shown = take(f);
    } while (shown->index != 9);
    frame_drop(&shown);
}

/* Begun at a pair, exchanged, and ended after one: none is read before it. */
static void test_start(struct fixture *f) {
    live_close(&f->live);
    struct live_options options = {
        .policy = QUEUE_WAIT, .player = true, .frames = 1, .kept = 1, .start = 17, .swap = true};
    int error;
    struct frame *alone = frame_alone(64, 48, 3, true, NULL);
    g_assert_cmpint(compared->seek(compared, 17), ==, 0);
    g_assert_cmpint(compared->read(compared, alone), ==, 0);
    for (int i = 0; i < 20; i++) {
        f->live = live_open(played, f->matcher, &f->params, &options, &error);
        struct frame *frame = take(f);
        g_assert_cmpint(frame->index, ==, 17);
        g_assert_cmpmem(frame->left.data, 64 * 48 * 3, alone->right.data, 64 * 48 * 3);
        frame_drop(&frame);
        g_assert_cmpint(live_take(f->live, -1, &frame), ==, LIVE_END);
        live_close(&f->live);
        g_assert_cmpint(played->seek(played, 0), ==, 0);
    }
    frame_drop(&alone);
    options.frames = 0;
    options.paused = true;
    options.start = 1000;
    f->live = live_open(played, f->matcher, &f->params, &options, &error);
    struct frame *frame = take(f);
    g_assert_cmpint(frame->index, ==, FRAMES - 1);
    frame_drop(&frame);
    nothing_more(f);
}

static void note_pair(void *context, const struct frame *frame) {
    atomic_long *next = context;
    g_assert_cmpint(frame->index, ==, atomic_load(next));
    g_assert_cmpint(frame->left.width, ==, 64);
    atomic_fetch_add(next, 1);
}

/* The tap gets every pair that is read, in order, though the queues drop what nobody takes. */
static void test_tap(struct fixture *f) {
    atomic_long next = 0;
    struct frame *frame = take(f);
    live_pause(f->live, frame);
    frame_drop(&frame);
    live_set_tap(f->live, note_pair, &next);
    live_seek(f->live, 0);
    expect(f, 0);
    live_play(f->live);
    while (atomic_load(&next) < FRAMES)
        g_usleep(1000);
    live_set_tap(f->live, NULL, NULL);
    live_pause(f->live, NULL);
    live_seek(f->live, 3);
    expect(f, 3);
    g_assert_cmpint(atomic_load(&next), ==, FRAMES);
}

/* Without a player the threads read at the source's pace: none sooner than the rate says, however
 * late a busy machine reads it. */
TEST("/player/pace", test_pace) {
    const char *words[] = {"synth:width=16,height=16,range=4,frames=6"};
    struct params params = default_params();
    int error;
    params.backend = BACKEND_CPU;
    params.threads = 1;
    params.disparity_range = 4;
    OWN_SOURCE *source = source_open(words, 1, &(struct source_options){.rate = 50}, &error);
    OWN_MATCHER *stereo = matcher_open(&params, "test", 16, 16, 3, NULL, NULL, false, &error);
    struct live_options options = {.policy = QUEUE_WAIT};
    int64_t begin_ns = clock_ns();
    OWN_LIVE *live = live_open(source, stereo, &params, &options, &error);
    struct frame *frame;
    for (int i = 0; i < 6; i++) {
        g_assert_cmpint(live_take(live, -1, &frame), ==, 0);
        g_assert_cmpint(frame->taken_ns - begin_ns, >=, i * 20000000LL);
        frame_drop(&frame);
    }
    g_assert_cmpint(live_take(live, -1, &frame), ==, LIVE_END);
}

static const struct {
    const char *name;
    void (*run)(struct fixture *f);
    enum queue_policy policy;
} tests[] = {
    {"steps", test_steps, QUEUE_WAIT},       {"play-on", test_play_on, QUEUE_WAIT},
    {"settings", test_settings, QUEUE_WAIT}, {"refused", test_refused, QUEUE_WAIT},
    {"loop", test_loop, QUEUE_WAIT},         {"swap", test_swap, QUEUE_WAIT},
    {"probes", test_probes, QUEUE_WAIT},     {"start", test_start, QUEUE_WAIT},
    {"hammer", test_hammer, QUEUE_WAIT},     {"hammer-dropping", test_hammer, QUEUE_DROP_OLDEST},
    {"tap", test_tap, QUEUE_DROP_OLDEST},
};

TEST_ROWS("/player", tests, test_row) {
    const __typeof__(tests[0]) *t = row;
    struct fixture f = {0};
    set_up(&f, t->policy);
    t->run(&f);
    tear_down(&f);
}
