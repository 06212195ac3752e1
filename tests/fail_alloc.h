/*
 * Lets the n-th allocation, or start of a thread, of a program fail. The Makefile links programs
 * that include this with --wrap for the functions below. Any thread may allocate.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Both are atomic. */
static int fail_alloc_at; /* the one that fails, counted from 1; 0: none, and none is counted */
static int fail_alloc_count;
static bool fail_alloc_thread; /* what failed was the start of a thread; pools do with fewer */

/* From now on allocation n fails. */
static inline void fail_alloc_begin(int n) {
    __atomic_store_n(&fail_alloc_count, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&fail_alloc_thread, false, __ATOMIC_RELAXED);
    __atomic_store_n(&fail_alloc_at, n, __ATOMIC_RELAXED);
}

/* None fails any more. Whether one did. */
static inline bool fail_alloc_end(void) {
    int n = __atomic_exchange_n(&fail_alloc_at, 0, __ATOMIC_RELAXED);
    return __atomic_load_n(&fail_alloc_count, __ATOMIC_RELAXED) >= n;
}

/* In between none fails; resume takes what pause returned. */
static inline int fail_alloc_pause(void) {
    return __atomic_exchange_n(&fail_alloc_at, 0, __ATOMIC_RELAXED);
}

static inline void fail_alloc_resume(int paused) {
    __atomic_store_n(&fail_alloc_at, paused, __ATOMIC_RELAXED);
}

static inline bool fail_alloc_now(void) {
    int n = __atomic_load_n(&fail_alloc_at, __ATOMIC_RELAXED);
    return n > 0 && __atomic_add_fetch(&fail_alloc_count, 1, __ATOMIC_RELAXED) == n;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) {
    return fail_alloc_now() ? NULL : __real_malloc(bytes);
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes) {
    return fail_alloc_now() ? NULL : __real_calloc(count, bytes);
}

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes) {
    return fail_alloc_now() ? NULL : __real_realloc(memory, bytes);
}

void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return fail_alloc_now() ? NULL : __real_aligned_alloc(alignment, bytes);
}

int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes) {
    return fail_alloc_now() ? ENOMEM : __real_posix_memalign(memory, alignment, bytes);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument) {
    if (!fail_alloc_now())
        return __real_pthread_create(thread, attributes, start, argument);
    __atomic_store_n(&fail_alloc_thread, true, __ATOMIC_RELAXED);
    return EAGAIN;
}
