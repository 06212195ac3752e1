/*
 * See workers.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    pthread_t *thread;
    int threads;  /* the caller's included */
    int started;  /* threads that exist */
    uint64_t job; /* goes up by one a job; guarded by lock, as are the rest of the job */
    int busy, quit;
    void (*work)(void *, int, int);
    void *context;
    int rows, block;
    int next; /* atomic: first row not dealt out */
};

static void deal(struct workers *w) {
    for (;;) {
        int first = __atomic_fetch_add(&w->next, w->block, __ATOMIC_RELAXED);
        if (first >= w->rows)
            return;
        int last = first + w->block < w->rows ? first + w->block : w->rows;
        w->work(w->context, first, last);
    }
}

static void *worker(void *argument) {
    struct workers *w = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->quit && w->job == seen)
            pthread_cond_wait(&w->start, &w->lock);
        if (w->quit)
            break;
        seen = w->job;
        pthread_mutex_unlock(&w->lock);
        deal(w);
        pthread_mutex_lock(&w->lock);
        if (--w->busy == 0)
            pthread_cond_signal(&w->done);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct workers *workers_open(int threads, int *error) {
    struct workers *w = calloc(1, sizeof(*w));
    if (!w) {
        *error = -ENOMEM;
        return NULL;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    w->threads = threads > 0 ? threads : cores > 0 ? (int)cores : 1;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->start, NULL);
    pthread_cond_init(&w->done, NULL);
    w->thread = calloc((size_t)w->threads, sizeof(*w->thread));
    int code = w->thread ? 0 : ENOMEM;
    for (int i = 0; i < w->threads - 1 && !code; i++) {
        code = pthread_create(&w->thread[i], NULL, worker, w);
        if (!code) {
            pthread_setname_np(w->thread[i], "stages");
            w->started++;
        }
    }
    if (code) {
        *error = -code;
        workers_close(&w);
    }
    return w;
}

int workers_count(const struct workers *w) {
    return w->threads;
}

void workers_run(struct workers *w, int rows, int block, void (*work)(void *, int, int),
                 void *context) {
    pthread_mutex_lock(&w->lock);
    w->work = work;
    w->context = context;
    w->rows = rows;
    w->block = block > 0 ? block : 1;
    __atomic_store_n(&w->next, 0, __ATOMIC_RELAXED);
    int alone = rows <= w->block || w->started == 0;
    if (!alone) {
        w->busy = w->started;
        w->job++;
        pthread_cond_broadcast(&w->start);
    }
    pthread_mutex_unlock(&w->lock);
    deal(w);
    if (alone)
        return;
    pthread_mutex_lock(&w->lock);
    while (w->busy)
        pthread_cond_wait(&w->done, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void workers_close(struct workers **workers) {
    struct workers *w = *workers;
    *workers = NULL;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->quit = 1;
    pthread_cond_broadcast(&w->start);
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->started; i++)
        pthread_join(w->thread[i], NULL);
    pthread_cond_destroy(&w->start);
    pthread_cond_destroy(&w->done);
    pthread_mutex_destroy(&w->lock);
    free(w->thread);
    free(w);
}
