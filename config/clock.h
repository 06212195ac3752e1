/*
 * The clock that nobody sets, CLOCK_MONOTONIC, as numbers. Any thread; nothing is owned.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CLOCK_H
#define LIVESTEREO_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline double clock_ms(void) {
    return (double)clock_ns() / 1e6;
}

#endif
