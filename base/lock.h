/*
 * Holds a mutex until the end of the block. Any thread. SPDX-License-Identifier: MIT
 */
#pragma once

#include <pthread.h>

static inline pthread_mutex_t *lock_begin(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    return mutex;
}

static inline void lock_end(pthread_mutex_t *const *mutex) {
    pthread_mutex_unlock(*mutex);
}

/* From here to the end of the block; once in a block. */
#define LOCKED(mutex) \
    __attribute__((cleanup(lock_end), unused)) pthread_mutex_t *const lock_held = lock_begin(mutex)
