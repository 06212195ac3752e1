/*
 * See thread_pool.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/thread_pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct member {
    struct thread_pool *pool;
    pthread_t thread; /* not of the caller, number 0 */
    void *scratch;
};

struct thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    struct member *members;
    int threads;       /* the caller's included */
    int started;       /* threads that exist besides the caller's */
    uint64_t job;      /* goes up by one a job; guarded by lock, as are the rest of the job, but
                          that spin_while() reads this and the next one without it */
    uint64_t finished; /* the last one that all threads that took part are done with */
    bool is_open;      /* rows may be left: who wakes later than that has no part in the job */
    int busy;          /* threads that take part, but for the caller */
    int spins;         /* see spin_while() */
    bool quit;
    unsigned forks; /* the number of fork() in this process that it knows of */
    thread_pool_work *work;
    void *context;
    int rows, block;
    int next; /* atomic: first row not dealt out */
};

/* Waits while another thread leaves a number at old, for 20 to 70 us at most on processors of 2024:
 * mostly that takes less time than to sleep and wake, where each thread has a core. Numbers are
 * read again under the lock. */
enum { SPINS = 2000 };

static void spin_while(const struct thread_pool *pool, const uint64_t *number, uint64_t old) {
    for (int i = 0; i < pool->spins && __atomic_load_n(number, __ATOMIC_RELAXED) == old; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}

static void deal(struct thread_pool *pool, void *scratch) {
    for (;;) {
        int first = __atomic_fetch_add(&pool->next, pool->block, __ATOMIC_RELAXED);
        if (first >= pool->rows)
            return;
        int last = first + pool->block < pool->rows ? first + pool->block : pool->rows;
        pool->work(pool->context, first, last, scratch);
    }
}

/* With the lock, and while it is open, in a job. */
static void take_part(struct member *member) {
    struct thread_pool *pool = member->pool;
    pool->busy++;
    pthread_mutex_unlock(&pool->lock);
    deal(pool, member->scratch);
    pthread_mutex_lock(&pool->lock);
    pool->is_open = false; /* no rows are left */
    if (--pool->busy == 0) {
        __atomic_store_n(&pool->finished, pool->job, __ATOMIC_RELAXED);
        pthread_cond_signal(&pool->done);
    }
}

static void *run_member(void *argument) {
    struct member *member = argument;
    struct thread_pool *pool = member->pool;
    uint64_t seen = 0;
    for (;;) {
        spin_while(pool, &pool->job, seen);
        pthread_mutex_lock(&pool->lock);
        while (!pool->quit && pool->job == seen)
            pthread_cond_wait(&pool->start, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->job;
        if (pool->is_open)
            take_part(member);
        pthread_mutex_unlock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Returns an error number. */
static int start_member(struct thread_pool *pool, int i) {
    struct member *member = &pool->members[i];
    int code = pthread_create(&member->thread, NULL, run_member, member);
    if (code)
        return code;
    pthread_setname_np(member->thread, "stages");
    pool->started++;
    return 0;
}

static int take_scratch(struct thread_pool *pool, int i, size_t bytes) {
    struct member *member = &pool->members[i];
    member->pool = pool;
    int code = posix_memalign(&member->scratch, 64, bytes ? bytes : 1);
    if (code)
        member->scratch = NULL;
    return code;
}

static void make_locks(struct thread_pool *pool) {
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
}

static unsigned forks; /* of this process and those that it comes from */

static void count_fork(void) {
    forks++;
}

static void notice_forks(void) {
    pthread_atfork(NULL, NULL, count_fork);
}

/* A child process has the memory of the pool and none of its threads, and neither has a new pool.
 * restarts: it gets its own; where they cannot be started, the caller works with fewer or alone. */
static void follow_fork(struct thread_pool *pool, bool restarts) {
    if (pool->forks == forks)
        return;
    make_locks(pool);
    pool->forks = forks;
    pool->started = pool->busy = 0;
    pool->job = pool->finished = 0;
    for (int i = 1; i < pool->threads && restarts && !start_member(pool, i);)
        i++;
}

/* Those that this process may run on. */
static int usable_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return CPU_COUNT(&set);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

struct thread_pool *thread_pool_open(int threads, size_t scratch_bytes, int *error) {
    struct thread_pool *pool = calloc(1, sizeof(*pool));
    if (!pool) {
        *error = -ENOMEM;
        return NULL;
    }
    int cores = usable_cores();
    pool->threads = threads > 0 ? threads : cores;
    pool->spins = pool->threads <= cores ? SPINS : 0;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, notice_forks);
    pool->forks = forks - 1; /* its threads start with the first job, by whose thread's priority */
    pool->members = calloc((size_t)pool->threads, sizeof(*pool->members));
    int code = pool->members ? 0 : ENOMEM;
    for (int i = 0; i < pool->threads && !code; i++)
        code = take_scratch(pool, i, scratch_bytes);
    if (code) {
        *error = -code;
        thread_pool_close(&pool);
    }
    return pool;
}

int thread_pool_threads(const struct thread_pool *pool) {
    return pool->threads;
}

void thread_pool_run(struct thread_pool *pool, int rows, int block, thread_pool_work *work,
                     void *context) {
    follow_fork(pool, true);
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->context = context;
    pool->rows = rows;
    pool->block = block > 0 ? block : 1;
    __atomic_store_n(&pool->next, 0, __ATOMIC_RELAXED);
    bool alone = rows <= pool->block || pool->started == 0;
    if (!alone) {
        pool->is_open = true;
        __atomic_store_n(&pool->job, pool->job + 1, __ATOMIC_RELAXED);
        pthread_cond_broadcast(&pool->start);
    }
    pthread_mutex_unlock(&pool->lock);
    deal(pool, pool->members[0].scratch);
    if (alone)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_open = false;
    bool waits = pool->busy > 0;
    pthread_mutex_unlock(&pool->lock);
    if (!waits)
        return;
    spin_while(pool, &pool->finished, pool->job - 1);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void thread_pool_close(struct thread_pool **closed) {
    struct thread_pool *pool = *closed;
    *closed = NULL;
    if (!pool)
        return;
    follow_fork(pool, false);
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->members[i + 1].thread, NULL);
    for (int i = 0; i < pool->threads && pool->members; i++)
        free(pool->members[i].scratch);
    pthread_cond_destroy(&pool->start);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    free(pool->members);
    free(pool);
}
