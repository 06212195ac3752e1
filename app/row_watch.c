/*
 * The thread of app/row_watch.h. SPDX-License-Identifier: MIT
 */
#include "app/row_watch.h"

#include "app/live.h"
#include "capture/pixel_format.h"

#include <glib.h>
#include <pthread.h>

#define REST_US G_TIME_SPAN_SECOND
#define BELOW 8    /* px, searched below the smallest disparity: drift also goes along rows */
#define IN_A_ROW 3 /* pairs after the first that say the same before it is believed */

struct row_watch {
    void (*notify)(void *context);
    void *context;
    GThread *thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    gboolean stop, busy;
    struct frame *frame; /* to be measured next */
    gint64 due_us;
    int64_t last_ns; /* taken_ns of the last one: a picture at rest is measured once */
    struct row_watch_state state;
    const char *advice; /* of the last pair */
    int alike;          /* pairs in a row that gave it */
};

static int measure(const struct frame *f, struct row_error *rows) {
    const struct image *in[2] = {&f->rect_left, &f->rect_right};
    int width = in[0]->width, height = in[0]->height, least = f->params.min_disparity;
    g_autofree uint8_t *grey = g_malloc(2 * (gsize)width * (gsize)height);
    struct image out[2];
    for (int v = 0; v < 2; v++) {
        out[v] = (struct image){grey + (gsize)v * (gsize)width * (gsize)height, width, height, 1};
        image_convert(in[v], &out[v]);
    }
    int most = MAX(least + f->params.disparity_range - 1, row_error_reach(width));
    return row_error_measure(out[0].data, out[1].data, width, height, least - BELOW, most, rows,
                             NULL, 0);
}

static void keep(struct row_watch *w, const struct frame *f, int error,
                 const struct row_error *rows) {
    const char *advice = error ? NULL : row_error_advice(rows);
    w->alike = advice == w->advice ? w->alike + 1 : 1;
    w->advice = advice;
    w->state.count++;
    w->state.error = error;
    w->state.rows = *rows;
    w->state.row_offset = f->params.row_offset;
    if (!advice || w->state.count == 1 || w->alike >= IN_A_ROW)
        w->state.advice = advice;
}

static gpointer run(gpointer context) {
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
        keep(w, frame, error, &rows);
        w->busy = FALSE;
        w->due_us = g_get_monotonic_time() + REST_US;
        frame_drop(&frame);
        if (!w->stop)
            w->notify(w->context);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct row_watch *row_watch_open(void (*notify)(void *context), void *context) {
    struct row_watch *w = g_new0(struct row_watch, 1);
    w->notify = notify;
    w->context = context;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->thread = g_thread_new("rows", run, w);
    return w;
}

void row_watch_offer(struct row_watch *w, struct frame *frame) {
    pthread_mutex_lock(&w->lock);
    if (!w->busy && frame->taken_ns != w->last_ns && g_get_monotonic_time() >= w->due_us) {
        w->busy = TRUE;
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
    w->stop = TRUE;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    g_thread_join(w->thread);
    frame_drop(&w->frame);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    g_free(w);
}
