/*
 * Work on a thread of its own, so that the window does not wait for a disk, an encoder or another
 * program. The functions belong to the main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "render/window.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct background { /* zero: there is no work */
    int (*work)(void *context);
    void *context;
    struct window *window;
    int result;
    bool on, threaded;
    atomic_bool done;
    pthread_t thread;
};

/* Calls work on another thread, which wakes the window when it has returned; where no thread can
 * be made, at once on this one. Not before the last work's result was taken. */
void background_begin(struct background *background, int (*work)(void *context), void *context,
                      struct window *window);

/* Whether the result of work can be taken without waiting. */
bool background_is_done(const struct background *background);

/* Waits until work has returned, and returns its result. */
int background_take(struct background *background);
