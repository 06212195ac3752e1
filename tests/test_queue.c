/*
 * The frame queue: order, both policies, end of stream, time-outs, many threads at once.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/queue.h"
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>

static struct frame *take_numbered(struct frame_pool *pool, long index) {
    struct frame *frame = pool_take(pool);
    frame->index = index;
    return frame;
}

/* Every frame is home again: a pool that is not whole would run out here, which is an assert. */
static void close_whole(struct frame_pool *pool, int count) {
    struct frame *frames[64];
    for (int i = 0; i < count; i++)
        frames[i] = pool_take(pool);
    for (int i = 0; i < count; i++)
        frame_drop(&frames[i]);
    pool_close(&pool);
}

static void give(struct queue *queue, struct frame_pool *pool, long index) {
    struct frame *frame = take_numbered(pool, index);
    g_assert_cmpint(queue_give(queue, &frame), ==, 0);
    g_assert_null(frame);
}

static long take(struct queue *queue) {
    OWN_FRAME *frame = NULL;
    g_assert_cmpint(queue_take(queue, -1, &frame), ==, 0);
    long index = frame->index;
    return index;
}

TEST("/queue/drop-oldest", test_drop_oldest) {
    struct frame_pool *pool = pool_open(4, 1, 1, 1, 0, NULL);
    struct queue *queue = queue_open(3, QUEUE_DROP_OLDEST);
    for (long i = 0; i < 10; i++)
        give(queue, pool, i);
    g_assert_cmpint(queue_dropped(queue), ==, 7);
    for (long i = 7; i < 10; i++)
        g_assert_cmpint(take(queue), ==, i);
    struct frame *frame;
    g_assert_cmpint(queue_take(queue, 0, &frame), ==, -ETIMEDOUT);
    g_assert_cmpint(queue_take(queue, 5, &frame), ==, -ETIMEDOUT);
    queue_close(&queue);
    close_whole(pool, 4);
}

TEST("/queue/after-end", test_after_end) {
    struct frame_pool *pool = pool_open(3, 1, 1, 1, 0, NULL);
    struct queue *queue = queue_open(2, QUEUE_WAIT);
    give(queue, pool, 1);
    queue_end(queue);
    struct frame *late = take_numbered(pool, 2);
    g_assert_cmpint(queue_give(queue, &late), ==, -EPIPE);
    g_assert_null(late);
    g_assert_cmpint(take(queue), ==, 1);
    queue_close(&queue);

    queue = queue_open(2, QUEUE_WAIT);
    give(queue, pool, 3);
    queue_abort(queue);
    struct frame *frame;
    g_assert_cmpint(queue_take(queue, -1, &frame), ==, QUEUE_END);
    queue_close(&queue);

    queue = queue_open(2, QUEUE_WAIT);
    give(queue, pool, 4); /* close drops what is left */
    queue_close(&queue);
    queue_close(&queue);
    close_whole(pool, 3);
}

struct blocked {
    struct queue *queue;
    struct frame *frame;
    int result;
};

static void *blocked_give(void *context) {
    struct blocked *blocked = context;
    blocked->result = queue_give(blocked->queue, &blocked->frame);
    return NULL;
}

static void *blocked_take(void *context) {
    struct blocked *blocked = context;
    blocked->result = queue_take(blocked->queue, -1, &blocked->frame);
    return NULL;
}

/* A giver at a full queue and a taker at an empty one come back when the queue is aborted. */
TEST("/queue/abort-wakes", test_abort_wakes) {
    struct frame_pool *pool = pool_open(2, 1, 1, 1, 0, NULL);
    struct blocked blocked = {.queue = queue_open(1, QUEUE_WAIT)};
    pthread_t thread;
    give(blocked.queue, pool, 0);
    blocked.frame = take_numbered(pool, 1);
    g_assert_cmpint(pthread_create(&thread, NULL, blocked_give, &blocked), ==, 0);
    g_usleep(5000);
    queue_abort(blocked.queue);
    pthread_join(thread, NULL);
    g_assert_cmpint(blocked.result, ==, -EPIPE);
    queue_close(&blocked.queue);

    blocked.queue = queue_open(1, QUEUE_WAIT);
    g_assert_cmpint(pthread_create(&thread, NULL, blocked_take, &blocked), ==, 0);
    g_usleep(5000);
    queue_abort(blocked.queue);
    pthread_join(thread, NULL);
    g_assert_cmpint(blocked.result, ==, QUEUE_END);
    queue_close(&blocked.queue);
    close_whole(pool, 2);
}

enum { GIVERS = 4, TAKERS = 3, EACH = 500, ALL = GIVERS * EACH };

struct crowd {
    struct queue *queue;
    struct frame_pool *pool;
    atomic_int next_giver;
    atomic_int seen[ALL];
    atomic_int disorder;
};

static void *crowd_give(void *context) {
    struct crowd *crowd = context;
    long giver = atomic_fetch_add(&crowd->next_giver, 1);
    for (long i = 0; i < EACH; i++)
        give(crowd->queue, crowd->pool, giver * EACH + i);
    return NULL;
}

static void *crowd_take(void *context) {
    struct crowd *crowd = context;
    long last[GIVERS] = {-1, -1, -1, -1};
    struct frame *frame;
    while (queue_take(crowd->queue, -1, &frame) == 0) {
        long giver = frame->index / EACH;
        if (frame->index <= last[giver])
            atomic_fetch_add(&crowd->disorder, 1);
        last[giver] = frame->index;
        atomic_fetch_add(&crowd->seen[frame->index], 1);
        frame_drop(&frame);
    }
    return NULL;
}

static void run_crowd(enum queue_policy policy) {
    enum { CAPACITY = 5, PLACES = CAPACITY + GIVERS + TAKERS };
    g_autofree struct crowd *crowd = g_new0(struct crowd, 1);
    crowd->queue = queue_open(CAPACITY, policy);
    crowd->pool = pool_open(PLACES, 1, 1, 1, 0, NULL);
    pthread_t givers[GIVERS], takers[TAKERS];
    for (int i = 0; i < GIVERS; i++)
        g_assert_cmpint(pthread_create(&givers[i], NULL, crowd_give, crowd), ==, 0);
    for (int i = 0; i < TAKERS; i++)
        g_assert_cmpint(pthread_create(&takers[i], NULL, crowd_take, crowd), ==, 0);
    for (int i = 0; i < GIVERS; i++)
        pthread_join(givers[i], NULL);
    queue_end(crowd->queue);
    for (int i = 0; i < TAKERS; i++)
        pthread_join(takers[i], NULL);

    long seen = 0;
    for (int i = 0; i < ALL; i++) {
        g_assert_cmpint(crowd->seen[i], <=, 1);
        seen += crowd->seen[i];
    }
    g_assert_cmpint(crowd->disorder, ==, 0);
    g_assert_cmpint(seen + queue_dropped(crowd->queue), ==, ALL);
    if (policy == QUEUE_WAIT)
        g_assert_cmpint(seen, ==, ALL);
    queue_close(&crowd->queue);
    close_whole(crowd->pool, PLACES);
}

TEST("/queue/crowd-waits", test_crowd_waits) {
    run_crowd(QUEUE_WAIT);
}

TEST("/queue/crowd-drops", test_crowd_drops) {
    run_crowd(QUEUE_DROP_OLDEST);
}
