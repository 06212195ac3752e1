/*
 * The thread of app/view/row_watch.h. SPDX-License-Identifier: MIT
 */
#include "app/view/row_watch.h"

#include "app/live/live.h"
#include "config/log.h"
#include "image/pixel_format.h"

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define INTERVAL_US G_TIME_SPAN_SECOND
#define MARGIN_PX 8 /* searched below the smallest disparity: a rig also drifts along rows */
#define MIN_AGREE 3 /* pairs in a row must give the same advice, but for the first */

struct row_watch {
    void (*notify)(void *context);
    void *context;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    bool stop, busy;
    struct frame *frame; /* to be measured next */
    int64_t due_us;
    int64_t last_ns; /* taken_ns of the last one: a frame that stays on screen is measured once */
    struct row_watch_state state;
    const char *advice; /* of the last pair */
    int agree;          /* pairs in a row that gave it */
};

static int measure(const struct frame *f, struct row_error *rows) {
    const struct image *in[2] = {&f->rect_left, &f->rect_right};
    int width = in[0]->width, height = in[0]->height, min = f->params.min_disparity;
    size_t pixels = (size_t)width * (size_t)height;
    g_autofree uint8_t *grey = g_malloc(2 * pixels);
    for (int side = 0; side < 2; side++) {
        struct image out = {grey + (size_t)side * pixels, width, height, 1};
        image_convert(in[side], &out);
    }
    int max = MAX(min + f->params.disparity_range - 1, row_error_reach(width));
    return row_error_measure(grey, grey + pixels, width, height, min - MARGIN_PX, max, rows, NULL,
                             0);
}

/* Takes over the result of a pair. Holds the lock. */
static void store(struct row_watch *w, const struct frame *f, int error,
                  const struct row_error *rows) {
    const char *advice = error ? NULL : row_error_advice(rows);
    w->agree = advice == w->advice ? w->agree + 1 : 1;
    w->advice = advice;
    w->state.count++;
    w->state.error = error;
    w->state.rows = *rows;
    w->state.row_offset = f->params.row_offset;
    if (!advice || w->state.count == 1 || w->agree >= MIN_AGREE)
        w->state.advice = advice;
}

static void *run(void *context) {
    struct row_watch *w = context;
    live_give_way();
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->frame && !w->stop)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->stop)
            break;
        struct frame *frame = w->frame;
        struct row_error rows;
        w->frame = NULL;
        pthread_mutex_unlock(&w->lock);
        int error = measure(frame, &rows);
        pthread_mutex_lock(&w->lock);
        store(w, frame, error, &rows);
        w->busy = false;
        w->due_us = g_get_monotonic_time() + INTERVAL_US;
        frame_drop(&frame);
        if (!w->stop)
            w->notify(w->context);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void free_watch(struct row_watch *w) {
    frame_drop(&w->frame);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    g_free(w);
}

struct row_watch *row_watch_open(void (*notify)(void *context), void *context) {
    struct row_watch *w = g_new0(struct row_watch, 1);
    w->notify = notify;
    w->context = context;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    int error = pthread_create(&w->thread, NULL, run, w);
    if (error) {
        log_error("rows", "no thread to measure them: %s", strerror(error));
        free_watch(w);
        return NULL;
    }
    return w;
}

void row_watch_offer(struct row_watch *w, struct frame *frame) {
    pthread_mutex_lock(&w->lock);
    if (!w->busy && frame->taken_ns != w->last_ns && g_get_monotonic_time() >= w->due_us) {
        w->busy = true;
        w->frame = frame_ref(frame);
        w->last_ns = frame->taken_ns;
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
}

void row_watch_get(struct row_watch *w, struct row_watch_state *state) {
    pthread_mutex_lock(&w->lock);
    *state = w->state;
    pthread_mutex_unlock(&w->lock);
}

void row_watch_close(struct row_watch **watch) {
    struct row_watch *w = *watch;
    *watch = NULL;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    free_watch(w);
}
