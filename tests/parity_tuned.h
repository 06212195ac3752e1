/*
 * Part of parity_tuned.c, for it and the list of its cases, parity_tuned_cases.h: a trial is one
 * stage on one set of random arguments, its buffers between guard bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PARITY_TUNED_H
#define LIVESTEREO_PARITY_TUNED_H

#include "gpu/stages.h"

#include <stdlib.h>
#include <string.h>

enum { FILL_ZERO, FILL_MAX, FILL_RANDOM, FILLS };
enum { TRIAL_BUFFERS = 16, TRIAL_GUARD = 256 };

struct trial_buffer {
    uint8_t *live, *start, *plain; /* guards included */
    size_t bytes, whole;
};

struct trial {
    int fill;
    uint64_t seed;
    struct grid grid;
    int width, height; /* what the stage runs over */
    int steps;
    struct trial_buffer buffer[TRIAL_BUFFERS];
    int buffers;
    void *args;
};

struct trial_case {
    const char *name;
    enum stage stage;
    void (*make)(struct trial *t); /* fills args, width, height, steps */
    int labels;                    /* 1: over all label counts */
    int steps;                     /* 1: by half_steps where the backend has them */
};

static uint32_t trial_draw(struct trial *t) {
    t->seed ^= t->seed << 13;
    t->seed ^= t->seed >> 7;
    t->seed ^= t->seed << 17;
    return (uint32_t)(t->seed >> 16);
}

static int trial_between(struct trial *t, int least, int most) {
    return least + (int)(trial_draw(t) % (uint32_t)(most - least + 1));
}

static void *trial_add(struct trial *t, size_t bytes) {
    struct trial_buffer *b = &t->buffer[t->buffers++];
    if (t->buffers > TRIAL_BUFFERS)
        abort();
    b->bytes = bytes;
    size_t whole = (bytes + 2 * TRIAL_GUARD + 255) / 256 * 256;
    b->live = aligned_alloc(256, whole);
    b->start = malloc(whole);
    b->plain = malloc(whole);
    if (!b->live || !b->start || !b->plain)
        abort();
    b->whole = whole;
    memset(b->start, 0xa5, whole);
    return b->live + TRIAL_GUARD;
}

/* Start contents of the buffer taken last. */
static void *trial_last(struct trial *t) {
    return t->buffer[t->buffers - 1].start + TRIAL_GUARD;
}

static uint8_t *trial_bytes(struct trial *t, size_t count, int most) {
    uint8_t *live = trial_add(t, count), *v = trial_last(t);
    for (size_t i = 0; i < count; i++)
        v[i] = (uint8_t)(t->fill == FILL_ZERO  ? 0
                         : t->fill == FILL_MAX ? most
                                               : trial_between(t, 0, most));
    return live;
}

static uint16_t *trial_words(struct trial *t, size_t count, int most) {
    uint16_t *live = trial_add(t, count * 2), *v = (uint16_t *)trial_last(t);
    for (size_t i = 0; i < count; i++)
        v[i] = (uint16_t)(t->fill == FILL_ZERO  ? 0
                          : t->fill == FILL_MAX ? most
                                                : trial_between(t, 0, most));
    return live;
}

static void trial_args(struct trial *t, const void *args, size_t bytes) {
    t->args = malloc(bytes);
    if (!t->args)
        abort();
    memcpy(t->args, args, bytes);
}

#endif
