/*
 * A bounded queue of frames between two threads; any number of threads may give and take. A
 * frame given is the queue's, a frame taken is the taker's; what is dropped goes back to its pool.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

enum queue_policy {
    QUEUE_DROP_OLDEST, /* a full queue drops its oldest frame: latency is bounded */
    QUEUE_WAIT         /* giving to a full queue waits: nothing is lost */
};

#define QUEUE_END 1 /* take: the stream is over and the queue is empty */

struct queue;

/* capacity in frames, at least 1. */
struct queue *queue_open(int capacity, enum queue_policy policy);

/* Hands over *frame and clears it. -EPIPE when the queue was ended or aborted: the frame is
 * dropped. */
int queue_give(struct queue *queue, struct frame **frame);

/* Waits until a frame could be given without waiting. */
void queue_wait_for_room(struct queue *queue);

/* Waits up to timeout_ms (-1: for ever) for a frame. 0, QUEUE_END, -ETIMEDOUT, or -EINTR after
 * queue_interrupt. */
int queue_take(struct queue *queue, int timeout_ms, struct frame **frame);

/* The taker that waits, or the next one that would have to, returns -EINTR. */
void queue_interrupt(struct queue *queue);

/* End of stream: what is queued can still be taken, then takers get QUEUE_END. */
void queue_end(struct queue *queue);

/* Ends the stream at once: drops what is queued (without counting it) and wakes all who wait. */
void queue_abort(struct queue *queue);

/* Frames that QUEUE_DROP_OLDEST has dropped so far. */
long queue_dropped(struct queue *queue);

/* Drops what is left. No thread may be inside. Clears the pointer; NULL inside is fine. */
void queue_close(struct queue **queue);
