/*
 * source -> [capture] -> pairs -> [finder] -> sight -> the main thread. A camera's older pairs give
 * way to newer ones at both hand-overs; of files every pair is looked at.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate.h"
#include "app/queue.h"
#include "capture/pixel_format.h"
#include "config/clock.h"
#include "config/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define QUEUE_DEPTH 1
/* In the hands of both threads, queued, in the sight that waits, and two of the taker's. */
#define FRAMES (2 + QUEUE_DEPTH + 1 + 2)

struct gather {
    struct source *source;
    struct board board;
    int stills;
    void (*notify)(void *context);
    void *context;
    struct frame_pool *pool;
    struct queue *pairs;
    GThread *capture, *finder;
    atomic_bool stop;
    uint8_t *grey[2]; /* the finder's */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    struct sight sight;
    int waiting; /* sight holds one */
    int ended;   /* no more sights after that one */
    int status;  /* SOURCE_END or -errno */
};

/* An error stays, for the end that follows it is its effect. Holds the lock. */
static void note_end(struct gather *g, int status) {
    if (g->status >= 0)
        g->status = status;
}

static gpointer capture_thread(gpointer context) {
    struct gather *g = context;
    int status = 0;
    while (!atomic_load(&g->stop) && status == 0) {
        struct frame *frame = pool_take(g->pool);
        do
            status = g->source->read(g->source, frame);
        while ((status == -EAGAIN || status == -EBADMSG) && !atomic_load(&g->stop));
        if (status == 0)
            queue_give(g->pairs, &frame);
        else
            frame_drop(&frame);
    }
    pthread_mutex_lock(&g->lock);
    note_end(g, status ? status : SOURCE_END);
    pthread_mutex_unlock(&g->lock);
    queue_end(g->pairs);
    return NULL;
}

/* 0 or -errno (logged). */
static int look(struct gather *g, struct sight *s) {
    const struct image *in[2] = {&s->frame->left, &s->frame->right};
    int width = in[0]->width, height = in[0]->height;
    for (int v = 0; v < 2; v++) {
        struct image grey = {g->grey[v], width, height, 1};
        image_convert(in[v], &grey);
        s->found[v] = chessboard_find(g->grey[v], width, height, &g->board, g->stills, s->xy[v]);
        if (s->found[v] < 0)
            return s->found[v];
        s->goes_on[v] =
            s->found[v] && chessboard_goes_on(g->grey[v], width, height, &g->board, s->xy[v]);
    }
    if (s->found[0] && s->found[1])
        chessboard_order_pair(g->grey[0], g->grey[1], width, height, &g->board, s->xy[0], s->xy[1]);
    return 0;
}

/* Takes the sight over. */
static void hand_over(struct gather *g, struct sight *s) {
    pthread_mutex_lock(&g->lock);
    while (g->waiting && !g->source->live && !atomic_load(&g->stop))
        pthread_cond_wait(&g->changed, &g->lock);
    if (g->waiting)
        sight_free(&g->sight);
    g->sight = *s;
    g->waiting = 1;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    g->notify(g->context);
}

static gpointer finder_thread(gpointer context) {
    struct gather *g = context;
    size_t numbers = 2 * (size_t)g->board.cols * (size_t)g->board.rows;
    struct frame *frame;
    int error = 0;
    while (!error && queue_take(g->pairs, -1, &frame) == 0) {
        struct sight s = {frame, {0, 0}, {g_new0(float, numbers), g_new0(float, numbers)}, {0, 0}};
        frame->rect_left = frame->left; /* the pictures as drawing wants them */
        frame->rect_right = frame->right;
        error = look(g, &s);
        if (error)
            sight_free(&s);
        else
            hand_over(g, &s);
    }
    atomic_store(&g->stop, true);
    queue_abort(g->pairs); /* the capture thread may be waiting */
    pthread_mutex_lock(&g->lock);
    g->ended = 1;
    if (error)
        note_end(g, error);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    g->notify(g->context);
    return NULL;
}

struct gather *gather_open(struct source *source, const struct board *board, int stills,
                           void (*notify)(void *context), void *context) {
    struct gather *g = g_new0(struct gather, 1);
    size_t pixels = (size_t)source->width * (size_t)source->height;
    g->source = source;
    g->board = *board;
    g->stills = stills;
    g->notify = notify;
    g->context = context;
    atomic_init(&g->stop, false);
    pthread_mutex_init(&g->lock, NULL);
    clock_cond_init(&g->changed);
    for (int v = 0; v < 2; v++)
        g->grey[v] = g_new(uint8_t, pixels);
    g->pairs = queue_open(QUEUE_DEPTH, source->live ? QUEUE_DROP_OLDEST : QUEUE_WAIT);
    g->pool =
        pool_open(FRAMES, source->width, source->height, source->channels, source->has_truth, NULL);
    if (!g->pairs || !g->pool) {
        gather_close(&g);
        return NULL;
    }
    g->capture = g_thread_new("capture", capture_thread, g);
    g->finder = g_thread_new("finder", finder_thread, g);
    return g;
}

int gather_take(struct gather *g, int timeout_ms, struct sight *sight) {
    struct timespec end = clock_after_ms(timeout_ms);
    int status = 0;
    pthread_mutex_lock(&g->lock);
    while (!g->waiting && !g->ended && status == 0)
        status = pthread_cond_timedwait(&g->changed, &g->lock, &end);
    status = 0;
    if (g->waiting) {
        *sight = g->sight;
        g->sight = (struct sight){0};
        g->waiting = 0;
        pthread_cond_broadcast(&g->changed);
    } else {
        status = g->ended ? g->status : -ETIMEDOUT;
    }
    pthread_mutex_unlock(&g->lock);
    return status;
}

void sight_free(struct sight *sight) {
    frame_drop(&sight->frame);
    for (int v = 0; v < 2; v++) {
        g_free(sight->xy[v]);
        sight->xy[v] = NULL;
    }
}

void gather_close(struct gather **gather) {
    struct gather *g = *gather;
    *gather = NULL;
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    atomic_store(&g->stop, true);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    if (g->pairs)
        queue_abort(g->pairs);
    if (g->capture)
        g_thread_join(g->capture);
    if (g->finder)
        g_thread_join(g->finder);
    sight_free(&g->sight);
    queue_close(&g->pairs);
    pool_close(&g->pool);
    for (int v = 0; v < 2; v++)
        g_free(g->grey[v]);
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
    g_free(g);
}
