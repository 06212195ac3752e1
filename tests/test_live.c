/*
 * The live threads over the CPU backend: every frame once and in order, drops, quitting at any
 * moment, faults of source and pipeline. The source is made here, and its pairs tell their number.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/live_private.h"
#include "tests/test.h"

#include <stdatomic.h>
#include <time.h>

enum { WIDTH = 24, HEIGHT = 10, RANGE = 8 };

struct fake {
    struct source source;
    long next;
    long damaged_each;     /* every n-th pair cannot be read; 0 none */
    long fails_at;         /* this pair is -EIO; -1 none */
    long odd_at;           /* this pair has another size, which the pipeline refuses; -1 none */
    atomic_bool *may_read; /* waits for it; NULL: at once */
};

static int fake_read(struct source *source, struct frame *frame) {
    struct fake *fake = (struct fake *)source;
    if (fake->next == source->count && source->count >= 0)
        return SOURCE_END;
    long n = fake->next++;
    if (n == fake->fails_at)
        return -EIO;
    if (fake->damaged_each && n % fake->damaged_each == 0)
        return -EBADMSG;
    while (fake->may_read && !atomic_load(fake->may_read))
        g_usleep(1000);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    frame->index = n;
    frame->taken_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        frame->left.data[i] = (uint8_t)((i % WIDTH) * 37 + n);
        frame->right.data[i] = (uint8_t)((i % WIDTH + 2) * 37 + n);
    }
    if (n == fake->odd_at)
        frame->left.width = WIDTH - 1;
    return 0;
}

static struct fake fake_of(long count) {
    return (struct fake){
        .source = {.name = "fake",
                   .width = WIDTH,
                   .height = HEIGHT,
                   .channels = 1,
                   .count = count,
                   .read = fake_read},
        .fails_at = -1,
        .odd_at = -1,
    };
}

static struct matcher *open_stereo(struct params *params) {
    int error;
    params_default(params);
    params->backend = BACKEND_CPU;
    params->threads = 1;
    params->disparity_range = RANGE;
    params->bp_levels = 2;
    params->bp_iterations = 2;
    params->lr_check = LR_CHECK_OFF;
    struct matcher *stereo =
        matcher_open(params, "test", WIDTH, HEIGHT, 1, NULL, NULL, false, &error);
    g_assert_nonnull(stereo);
    return stereo;
}

static struct live *open_live(struct fake *fake, struct matcher *stereo,
                              const struct params *params, struct live_options options) {
    int error;
    struct live *live = live_open(&fake->source, stereo, params, &options, &error);
    g_assert_nonnull(live);
    return live;
}

/* Takes to the end; the reader sleeps. Every index is larger than the one before; returns how
 * many. */
static long take_all(struct live *live, int sleep_us) {
    long count = 0, last = -1;
    struct frame *frame;
    while (live_take(live, -1, &frame) == 0) {
        g_assert_cmpint(frame->index, >, last);
        last = frame->index;
        count++;
        frame_drop(&frame);
        if (sleep_us)
            g_usleep((gulong)sleep_us);
    }
    return count;
}

/* Sources that end, go on for ever, have damaged pairs, fail, or give what cannot be computed: the
 * pairs that come, in order, and what is said in the end. */
TEST("/live/ends", test_ends) {
    static const struct {
        struct fake fake;
        long count, frames; /* of the source, that are asked for */
        long taken, damaged;
        int error;
        bool in_compute;
    } rows[] = {
        {{.fails_at = -1, .odd_at = -1}, 60, 0, 60, 0, 0, false},
        {{.fails_at = -1, .odd_at = -1}, -1, 7, 7, 0, 0, false},
        {{.damaged_each = 5, .fails_at = -1, .odd_at = -1}, 30, 0, 24, 6, 0, false},
        {{.fails_at = 9, .odd_at = -1}, -1, 0, 9, 0, -EIO, false},
        {{.fails_at = -1, .odd_at = 5}, -1, 0, 5, 0, -EINVAL, true},
    };
    struct params params;
    OWN_MATCHER *stereo = open_stereo(&params);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct fake fake = rows[i].fake;
        struct live_stats stats;
        bool in_compute = false;
        fake.source = fake_of(rows[i].count).source;
        OWN_LIVE *live =
            open_live(&fake, stereo, &params,
                      (struct live_options){.policy = QUEUE_WAIT, .frames = rows[i].frames});
        g_assert_cmpint(take_all(live, i == 0 ? 1000 : 0), ==, rows[i].taken);
        g_assert_cmpint(live_error(live, &in_compute), ==, rows[i].error);
        g_assert_cmpint(in_compute, ==, rows[i].in_compute);
        live_get_stats(live, &stats);
        g_assert_cmpint(stats.shown, ==, rows[i].taken);
        g_assert_cmpint(stats.damaged, ==, rows[i].damaged);
        g_assert_cmpint(stats.dropped, ==, 0);
        g_assert_cmpfloat(stats.age_95_ms, >=, stats.age_median_ms);
        if (rows[i].error)
            continue;
        g_assert_cmpint(stats.captured, ==, rows[i].taken);
        g_assert_cmpint(stats.computed, ==, rows[i].taken);
        g_assert_cmpint(fake.next, ==, rows[i].taken + rows[i].damaged);
    }
}

/* A slow reader: each frame is shown, dropped by a queue, or the two add up wrongly. */
TEST("/live/drops", test_drops) {
    struct params params;
    OWN_MATCHER *stereo = open_stereo(&params);
    struct fake fake = fake_of(300);
    OWN_LIVE *live =
        open_live(&fake, stereo, &params, (struct live_options){.policy = QUEUE_DROP_OLDEST});
    struct frame *held;
    g_assert_cmpint(live_take(live, -1, &held), ==, 0);
    struct live_stats stats;
    do { /* the source runs dry while nobody takes: all but what the last queue holds is dropped */
        g_usleep(1000);
        live_get_stats(live, &stats);
    } while (stats.dropped < 300 - 1 - 2);
    long shown = 1 + take_all(live, 0);
    frame_drop(&held);
    live_get_stats(live, &stats);
    g_assert_cmpint(stats.captured, ==, 300);
    g_assert_cmpint(stats.shown, ==, shown);
    g_assert_cmpint(stats.shown + stats.dropped, ==, 300);
    g_assert_cmpint(shown, >=, 2); /* the last queue has one where the first frame came last */
}

TEST("/live/quit-anywhere", test_quit_anywhere) {
    struct params params;
    OWN_MATCHER *stereo = open_stereo(&params);
    for (int round = 0; round < 60; round++) {
        struct fake fake = fake_of(-1);
        enum queue_policy policy = g_test_rand_int_range(0, 2) ? QUEUE_WAIT : QUEUE_DROP_OLDEST;
        struct live *live =
            open_live(&fake, stereo, &params, (struct live_options){.policy = policy, .kept = 1});
        struct frame *kept = NULL, *frame;
        for (int n = g_test_rand_int_range(0, 4); n > 0; n--) {
            g_assert_cmpint(live_take(live, -1, &frame), ==, 0);
            frame_drop(&kept);
            kept = frame;
        }
        if (g_test_rand_int_range(0, 2))
            g_usleep((gulong)g_test_rand_int_range(0, 3000));
        if (g_test_rand_int_range(0, 3) == 0) {
            live_stop(live);
            take_all(live, 0);
        }
        live_close(&live);
        g_assert_true(!kept || kept->left.width == WIDTH); /* a held frame outlives the threads */
        frame_drop(&kept);
    }
}

/* The Makefile links this program with --wrap for it. */
int __real_matcher_start(struct matcher *matcher, const struct params *params, struct frame *frame);
int __wrap_matcher_start(struct matcher *matcher, const struct params *params, struct frame *frame);
/* While a frame is started the lock must be free, and few pairs have been read ahead of it. */
static struct live *_Atomic watched;

int __wrap_matcher_start(struct matcher *matcher, const struct params *params,
                         struct frame *frame) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 10; /* a lock that this thread holds is never free */
    struct live *live = watched;
    if (live) {
        g_assert_cmpint(pthread_mutex_timedlock(&live->lock, &end), ==, 0);
        long ahead = live->stats.captured - 1 - frame->index;
        pthread_mutex_unlock(&live->lock);
        g_assert_cmpint(ahead, <=, live->options.player ? 1 : 2);
    }
    return __real_matcher_start(matcher, params, frame);
}

/* Settings that do not fit the pictures are refused with a sentence, and those before stay in
 * force; the frame is computed with them, and nobody waits for that to learn the state. */
static void refuse_settings(struct live_options options) {
    struct params params;
    OWN_MATCHER *stereo = open_stereo(&params);
    struct fake fake = fake_of(-1);
    OWN_LIVE *live = open_live(&fake, stereo, &params, options);
    struct live_state state = {0};
    struct frame *frame;
    g_assert_cmpint(live_take(live, -1, &frame), ==, 0);
    frame_drop(&frame);
    watched = live;
    params.disparity_range = WIDTH;
    struct stderr_of caught = stderr_begin();
    live_set_params(live, &params);
    while (state.refused == 0) {
        g_assert_cmpint(live_take(live, -1, &frame), ==, 0);
        g_assert_cmpint(frame->params->disparity_range, ==, RANGE);
        frame_drop(&frame);
        live_get_state(live, &state);
    }
    stderr_one_line(caught, state.why, NULL);
    g_assert_cmpint(state.refused, ==, 1);
    g_assert_cmpint(state.params.disparity_range, ==, RANGE);
    g_assert_nonnull(strstr(state.why, "disparity_range"));
    params = state.params;
    params.median_radius = 1; /* what comes later is taken */
    live_set_params(live, &params);
    for (int seen = 0; !seen;) {
        g_assert_cmpint(live_take(live, -1, &frame), ==, 0);
        seen = frame->params->median_radius == 1;
        frame_drop(&frame);
    }
    watched = NULL;
}

TEST("/live/refused", test_refused) {
    refuse_settings((struct live_options){.policy = QUEUE_WAIT});
    refuse_settings((struct live_options){.policy = QUEUE_WAIT, .player = true});
}

TEST("/live/time-out", test_time_out) {
    struct params params;
    OWN_MATCHER *stereo = open_stereo(&params);
    struct fake fake = fake_of(1);
    atomic_bool may_read = false;
    fake.may_read = &may_read;
    OWN_LIVE *live = open_live(&fake, stereo, &params, (struct live_options){.policy = QUEUE_WAIT});
    struct frame *frame;
    g_assert_cmpint(live_take(live, 0, &frame), ==, -ETIMEDOUT);
    g_assert_null(frame);
    atomic_store(&may_read, true);
    g_assert_cmpint(take_all(live, 0), ==, 1);
}
