/*
 * The functions of app/view/background.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/background.h"

static void *run(void *context) {
    struct background *b = context;
    b->result = b->work(b->context);
    atomic_store(&b->done, true);
    window_wake(b->window);
    return NULL;
}

void background_begin(struct background *b, int (*work)(void *context), void *context,
                      struct window *window) {
    *b = (struct background){.work = work, .context = context, .window = window, .on = true};
    b->threaded = pthread_create(&b->thread, NULL, run, b) == 0;
    if (!b->threaded)
        run(b);
}

bool background_is_done(const struct background *b) {
    return b->on && atomic_load(&b->done);
}

int background_take(struct background *b) {
    if (b->threaded)
        pthread_join(b->thread, NULL);
    b->on = false;
    return b->result;
}
