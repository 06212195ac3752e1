/*
 * With a camera a detection that was not taken is dropped for a newer one, and the source drops the
 * pairs that come meanwhile; with files every pair is examined.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate/collector.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "image/pixel_format.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* In the thread's hands, in the detection that waits, and two of the taker's. */
#define FRAMES (1 + 1 + 2)

struct collector {
    struct source *source;
    struct board board;
    bool stills;
    void (*notify)(void *context);
    void *context;
    struct frame_pool *pool;
    pthread_t thread;
    bool started;
    atomic_bool stop;
    uint8_t *grey[2]; /* the thread's */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    struct detection detection;
    bool waiting; /* the detection has not been taken */
    bool ended;   /* no more will come after that one */
    int status;   /* SOURCE_END or -errno */
};

/* 0 or -errno (logged). */
static int find_board(struct collector *c, struct detection *d) {
    const struct image *in[2] = {&d->frame->left, &d->frame->right};
    int width = in[0]->width, height = in[0]->height;
    for (int side = 0; side < 2; side++) {
        struct image grey = {c->grey[side], width, height, 1};
        image_convert(in[side], &grey);
        int found = chessboard_find(grey.data, width, height, &c->board, c->stills, d->xy[side]);
        if (found < 0)
            return found;
        d->found[side] = found;
        d->larger[side] =
            found && chessboard_goes_on(grey.data, width, height, &c->board, d->xy[side]);
    }
    if (d->found[0] && d->found[1])
        chessboard_order_pair(c->grey[0], c->grey[1], width, height, &c->board, d->xy[0], d->xy[1]);
    return 0;
}

/* Takes the detection over. */
static void hand_over(struct collector *c, struct detection *d) {
    pthread_mutex_lock(&c->lock);
    while (c->waiting && !c->source->live && !atomic_load(&c->stop))
        pthread_cond_wait(&c->changed, &c->lock);
    if (c->waiting)
        detection_free(&c->detection);
    c->detection = *d;
    c->waiting = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (c->notify)
        c->notify(c->context);
}

/* 0, SOURCE_END or -errno (logged). */
static int take_pair(struct collector *c) {
    struct frame *frame = pool_take(c->pool);
    size_t numbers = 2 * (size_t)c->board.cols * (size_t)c->board.rows;
    int status;
    do
        status = c->source->read(c->source, frame);
    while ((status == -EAGAIN || status == -EBADMSG) && !atomic_load(&c->stop));
    struct detection d = {.frame = frame};
    if (status == 0) {
        frame->rect_left = frame->left; /* what is drawn are the rectified pictures */
        frame->rect_right = frame->right;
        d.xy[0] = g_new0(float, numbers);
        d.xy[1] = g_new0(float, numbers);
        status = find_board(c, &d);
    }
    if (status)
        detection_free(&d);
    else
        hand_over(c, &d);
    return status;
}

static void *collect(void *context) {
    struct collector *c = context;
    int status = 0;
    while (status == 0 && !atomic_load(&c->stop))
        status = take_pair(c);
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    c->status = status;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (c->notify)
        c->notify(c->context);
    return NULL;
}

struct collector *collector_open(struct source *source, const struct board *board, bool stills,
                                 void (*notify)(void *context), void *context) {
    struct collector *c = g_new0(struct collector, 1);
    size_t pixels = (size_t)source->width * (size_t)source->height;
    c->source = source;
    c->board = *board;
    c->stills = stills;
    c->notify = notify;
    c->context = context;
    atomic_init(&c->stop, false);
    pthread_mutex_init(&c->lock, NULL);
    clock_cond_init(&c->changed);
    for (int side = 0; side < 2; side++)
        c->grey[side] = g_new(uint8_t, pixels);
    c->pool =
        pool_open(FRAMES, source->width, source->height, source->channels, source->has_truth, NULL);
    int error = c->pool ? pthread_create(&c->thread, NULL, collect, c) : 0;
    if (error)
        log_error("calibrate", "no thread to look for the board: %s", strerror(error));
    c->started = c->pool && !error;
    if (!c->started)
        collector_close(&c);
    return c;
}

int collector_take(struct collector *c, int timeout_ms, struct detection *detection) {
    struct timespec end = clock_after_ms(timeout_ms);
    int status = 0;
    LOCKED(&c->lock);
    while (!c->waiting && !c->ended && status == 0)
        status = pthread_cond_timedwait(&c->changed, &c->lock, &end);
    if (c->waiting) {
        *detection = c->detection;
        c->detection = (struct detection){0};
        c->waiting = false;
        pthread_cond_broadcast(&c->changed);
        status = 0;
    } else {
        status = c->ended ? c->status : -ETIMEDOUT;
    }
    return status;
}

void detection_free(struct detection *d) {
    frame_drop(&d->frame);
    for (int side = 0; side < 2; side++)
        g_clear_pointer(&d->xy[side], g_free);
}

void collector_close(struct collector **collector) {
    struct collector *c = *collector;
    *collector = NULL;
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->stop, true);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (c->started)
        pthread_join(c->thread, NULL);
    detection_free(&c->detection);
    pool_close(&c->pool);
    for (int side = 0; side < 2; side++)
        g_free(c->grey[side]);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    g_free(c);
}
