/*
 * The bounded queue of app/live/queue.h: a GQueue under one mutex, with a condition for each
 * side.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/queue.h"

#include "base/clock.h"
#include "base/lock.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <stdbool.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    enum queue_policy policy;
    bool ended, interrupted;
    long dropped;
    guint capacity;
    GQueue frames;
};

struct queue *queue_open(int capacity, enum queue_policy policy) {
    assert(capacity >= 1);
    struct queue *queue = g_new0(struct queue, 1);
    queue->capacity = (guint)capacity;
    queue->policy = policy;
    pthread_mutex_init(&queue->lock, NULL);
    clock_cond_init(&queue->not_empty);
    clock_cond_init(&queue->not_full);
    return queue;
}

/* Holds the lock. */
static void wait_for_room(struct queue *queue) {
    while (queue->policy == QUEUE_WAIT && queue->frames.length == queue->capacity && !queue->ended)
        pthread_cond_wait(&queue->not_full, &queue->lock);
}

void queue_wait_for_room(struct queue *queue) {
    LOCKED(&queue->lock);
    wait_for_room(queue);
}

int queue_give(struct queue *queue, struct frame **frame) {
    struct frame *oldest = NULL;
    pthread_mutex_lock(&queue->lock);
    wait_for_room(queue);
    bool ended = queue->ended;
    if (!ended) {
        if (queue->frames.length == queue->capacity) {
            oldest = g_queue_pop_head(&queue->frames);
            queue->dropped++;
        }
        g_queue_push_tail(&queue->frames, g_steal_pointer(frame));
        pthread_cond_signal(&queue->not_empty);
    }
    pthread_mutex_unlock(&queue->lock);
    frame_drop(frame); /* unless it was handed over */
    frame_drop(&oldest);
    return ended ? -EPIPE : 0;
}

int queue_take(struct queue *queue, int timeout_ms, struct frame **frame) {
    struct timespec deadline = clock_after_ms(timeout_ms < 0 ? 0 : timeout_ms);
    int error = 0;
    *frame = NULL;
    LOCKED(&queue->lock);
    while (!queue->frames.length && !queue->ended && !queue->interrupted && error == 0) {
        if (timeout_ms < 0)
            pthread_cond_wait(&queue->not_empty, &queue->lock);
        else
            error = pthread_cond_timedwait(&queue->not_empty, &queue->lock, &deadline);
    }
    if (queue->frames.length) {
        *frame = g_queue_pop_head(&queue->frames);
        pthread_cond_signal(&queue->not_full);
        return 0;
    }
    if (queue->ended)
        return QUEUE_END;
    if (!queue->interrupted)
        return -ETIMEDOUT;
    queue->interrupted = false;
    return -EINTR;
}

void queue_interrupt(struct queue *queue) {
    LOCKED(&queue->lock);
    queue->interrupted = true;
    pthread_cond_broadcast(&queue->not_empty);
}

void queue_end(struct queue *queue) {
    LOCKED(&queue->lock);
    queue->ended = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_cond_broadcast(&queue->not_full);
}

void queue_abort(struct queue *queue) {
    queue_end(queue);
    struct frame *frame;
    while (queue_take(queue, 0, &frame) == 0)
        frame_drop(&frame);
}

long queue_dropped(struct queue *queue) {
    LOCKED(&queue->lock);
    return queue->dropped;
}

void queue_close(struct queue **queue) {
    if (!*queue)
        return;
    queue_abort(*queue);
    pthread_mutex_destroy(&(*queue)->lock);
    pthread_cond_destroy(&(*queue)->not_empty);
    pthread_cond_destroy(&(*queue)->not_full);
    g_clear_pointer(queue, g_free);
}
