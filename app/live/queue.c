/*
 * The bounded queue of app/live/queue.h: a ring under one mutex, with a condition for each side.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/queue.h"

#include "config/clock.h"
#include "config/lock.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    enum queue_policy policy;
    bool ended, interrupted;
    long dropped;
    int capacity, first, count;
    struct frame *ring[];
};

struct queue *queue_open(int capacity, enum queue_policy policy) {
    assert(capacity >= 1);
    struct queue *queue = calloc(1, sizeof *queue + (size_t)capacity * sizeof queue->ring[0]);
    if (!queue)
        return NULL;
    queue->capacity = capacity;
    queue->policy = policy;
    pthread_mutex_init(&queue->lock, NULL);
    clock_cond_init(&queue->not_empty);
    clock_cond_init(&queue->not_full);
    return queue;
}

static struct frame *pop(struct queue *queue) {
    struct frame *frame = queue->ring[queue->first];
    queue->ring[queue->first] = NULL;
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
    return frame;
}

int queue_give(struct queue *queue, struct frame **frame) {
    struct frame *oldest = NULL;
    pthread_mutex_lock(&queue->lock);
    while (queue->policy == QUEUE_WAIT && queue->count == queue->capacity && !queue->ended)
        pthread_cond_wait(&queue->not_full, &queue->lock);
    bool ended = queue->ended;
    if (!ended) {
        if (queue->count == queue->capacity) {
            oldest = pop(queue);
            queue->dropped++;
        }
        queue->ring[(queue->first + queue->count) % queue->capacity] = *frame;
        queue->count++;
        *frame = NULL;
        pthread_cond_signal(&queue->not_empty);
    }
    pthread_mutex_unlock(&queue->lock);

    if (ended)
        frame_drop(frame);
    if (oldest)
        frame_drop(&oldest);
    return ended ? -EPIPE : 0;
}

int queue_take(struct queue *queue, int timeout_ms, struct frame **frame) {
    struct timespec deadline = clock_after_ms(timeout_ms < 0 ? 0 : timeout_ms);
    int error = 0;
    *frame = NULL;
    LOCKED(&queue->lock);
    while (queue->count == 0 && !queue->ended && !queue->interrupted && error == 0) {
        if (timeout_ms < 0)
            pthread_cond_wait(&queue->not_empty, &queue->lock);
        else
            error = pthread_cond_timedwait(&queue->not_empty, &queue->lock, &deadline);
    }
    if (queue->count > 0) {
        *frame = pop(queue);
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
    free(*queue);
    *queue = NULL;
}
