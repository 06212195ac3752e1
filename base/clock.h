/*
 * CLOCK_MONOTONIC in ns and ms. Any thread; no state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_S 1000000000

static inline int64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * CLOCK_NS_PER_S + now.tv_nsec;
}

static inline double clock_ms(void) {
    return (double)clock_ns() / 1e6;
}

/* A time of this clock as a timespec. */
static inline struct timespec clock_time(int64_t ns) {
    struct timespec t = {ns / CLOCK_NS_PER_S, ns % CLOCK_NS_PER_S};
    return t;
}

/* The time in so many ms. */
static inline struct timespec clock_after_ms(int64_t ms) {
    return clock_time(clock_ns() + ms * (CLOCK_NS_PER_S / 1000));
}

/* Initialises a condition whose timed waits use this clock. */
static inline void clock_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}
