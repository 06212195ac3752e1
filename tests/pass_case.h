/*
 * Lists of passes with random but repeatable arguments, to be run on one backend after the other:
 * their buffers, between guard bytes, and how results are compared. What the arguments of each
 * stage are is in stage_cases.h. No GLib: this builds where only gcc and make are. Used by one
 * thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/backend.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define GUARDS_POISONED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARDS_POISONED 1
#endif
#endif
#ifdef GUARDS_POISONED
#include <sanitizer/asan_interface.h>
#endif

enum fill { FILL_ZERO, FILL_MAX, FILL_RANDOM, FILL_COUNT };
enum { GUARD = 256, GUARD_BYTE = 0xa5, CASE_BUFFERS = 48, CASE_PASSES = 64, CASE_ARGS = 384 };

/* What of a buffer is compared: the pixels of each parity, the bytes that belong to no pixel. */
enum { COMPARE_NOTHING = 0, COMPARE_PIXELS = 1 | 2, COMPARE_ALL = 1 | 2 | 4 };

/* Where a buffer's pixels lie. */
enum layout { LAYOUT_TABLE, LAYOUT_ROWS, LAYOUT_VOLUME }; /* no pixels; row by row; by a grid */

struct case_buffer {
    uint8_t *memory; /* of the host, guards included */
    size_t bytes;    /* without guards */
    enum layout layout;
    struct grid grid;   /* width and height alone where the layout is rows */
    size_t pixel_bytes; /* of a pixel, all its labels or channels */
    int planes;         /* parts of the buffer one after the other, each with bytes of all pixels */
    int compared;
};

struct case_pass {
    enum stage stage;
    int width, height;
    enum unit_kind of; /* what unit it is part of */
    bool begins;       /* that unit, though the pass before is of the same kind */
    _Alignas(max_align_t) uint8_t args[CASE_ARGS]; /* pointers are into the buffers' memory */
};

/* What a case is made from. */
struct case_shape {
    int width, height, labels, channels;
    enum fill fill;
    uint64_t seed;
};

struct pass_case {
    struct case_shape shape;
    uint64_t random, random_contents; /* of arguments, of what buffers hold */
    enum unit_kind unit;              /* of the passes added next */
    struct case_buffer buffers[CASE_BUFFERS];
    struct case_pass passes[CASE_PASSES];
    int buffer_count, pass_count;
};

/* The buffers as a backend left them, guards included. */
struct case_result {
    uint8_t *memory[CASE_BUFFERS];
    int fused; /* passes that the backend ran together with the one before */
};

static inline uint32_t draw(uint64_t *state) { /* xorshift64* (Vigna 2016) */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * 0x2545f4914f6cdd1du >> 32);
}

/* Where a generator starts, from any seed. */
static inline uint64_t draw_start(uint64_t seed) {
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    for (int i = 0; i < 4; i++)
        draw(&state);
    return state;
}

static inline int case_between(struct pass_case *c, int minimum, int maximum) {
    return minimum + (int)(draw(&c->random) % (uint32_t)(maximum - minimum + 1));
}

/* One of count numbers. */
static inline int case_one_of(struct pass_case *c, const int *numbers, int count) {
    return numbers[case_between(c, 0, count - 1)];
}

/* 0 to maximum, which may be 2^32 - 1. */
static inline uint32_t case_value(struct pass_case *c, uint32_t maximum) {
    uint32_t drawn = draw(&c->random_contents);
    if (c->shape.fill != FILL_RANDOM)
        return c->shape.fill == FILL_ZERO ? 0 : maximum;
    return maximum == UINT32_MAX ? drawn : drawn % (maximum + 1);
}

/* ---- buffers */

static inline void *case_memory(size_t bytes) {
    void *memory = NULL;
    int error = posix_memalign(&memory, 256, bytes + 2 * GUARD);
    assert(!error);
    memset(memory, GUARD_BYTE, bytes + 2 * GUARD);
    return memory;
}

static inline struct case_buffer *case_add_buffer(struct pass_case *c, size_t bytes) {
    assert(c->buffer_count < CASE_BUFFERS);
    struct case_buffer *b = &c->buffers[c->buffer_count++];
    *b = (struct case_buffer){
        .memory = case_memory(bytes), .bytes = bytes, .planes = 1, .compared = COMPARE_ALL};
    return b;
}

static inline void *case_start(struct case_buffer *b) {
    return b->memory + GUARD;
}

static inline void *case_add_table(struct pass_case *c, size_t bytes) {
    return case_start(case_add_buffer(c, bytes));
}

static inline void *case_add_rows(struct pass_case *c, int width, int height, size_t pixel_bytes) {
    struct case_buffer *b = case_add_buffer(c, (size_t)width * (size_t)height * pixel_bytes);
    b->layout = LAYOUT_ROWS;
    b->grid = (struct grid){.width = width, .height = height};
    b->pixel_bytes = pixel_bytes;
    return case_start(b);
}

static inline void *case_add_volume(struct pass_case *c, const struct grid *g, size_t label_bytes) {
    struct case_buffer *b = case_add_buffer(c, grid_volume(g) * label_bytes);
    b->layout = LAYOUT_VOLUME;
    b->grid = *g;
    b->pixel_bytes = (size_t)g->padded * label_bytes;
    return case_start(b);
}

/* Messages or costs of pruned labels. */
static inline void *case_add_pruned(struct pass_case *c, const struct grid *g, int blocks,
                                    size_t label_bytes) {
    struct case_buffer *b = case_add_buffer(c, pruned_volume(g, blocks) * label_bytes);
    b->layout = LAYOUT_VOLUME;
    b->grid = *g;
    b->pixel_bytes = LABEL_BLOCK * label_bytes;
    b->planes = blocks;
    return case_start(b);
}

/* The buffer that a pointer points into, or NULL. */
static inline struct case_buffer *case_find(const struct pass_case *c, const void *pointer) {
    uintptr_t address = (uintptr_t)pointer;
    for (int i = 0; i < c->buffer_count; i++) {
        uintptr_t start = (uintptr_t)c->buffers[i].memory + GUARD;
        if (address >= start && address - start < c->buffers[i].bytes)
            return (struct case_buffer *)&c->buffers[i];
    }
    return NULL;
}

static inline void case_compare_only(struct pass_case *c, const void *pointer, int compared) {
    struct case_buffer *b = case_find(c, pointer);
    assert(b);
    b->compared = compared;
}

/* Fills a buffer, to which data points, with numbers from 0 to maximum of size bytes each. */
static inline void *case_randomise(struct pass_case *c, void *data, size_t size, uint32_t maximum) {
    size_t count = case_find(c, data)->bytes / size;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = case_value(c, maximum); /* little endian, as all that we run on */
        memcpy((uint8_t *)data + i * size, &value, size);
    }
    return data;
}

static inline uint8_t *case_bytes(struct pass_case *c, int width, int height, int channels,
                                  uint32_t maximum) {
    return case_randomise(c, case_add_rows(c, width, height, (size_t)channels), 1, maximum);
}

static inline uint16_t *case_shorts(struct pass_case *c, int width, int height, int channels,
                                    uint32_t maximum) {
    return case_randomise(c, case_add_rows(c, width, height, 2 * (size_t)channels), 2, maximum);
}

static inline uint8_t *case_volume8(struct pass_case *c, const struct grid *g, uint32_t maximum) {
    return case_randomise(c, case_add_volume(c, g, 1), 1, maximum);
}

static inline uint16_t *case_volume16(struct pass_case *c, const struct grid *g, uint32_t maximum) {
    return case_randomise(c, case_add_volume(c, g, 2), 2, maximum);
}

/* ---- passes */

static inline void case_begin(struct pass_case *c, const struct case_shape *shape) {
    memset(c, 0, sizeof(*c));
    c->shape = *shape;
    c->random = draw_start(shape->seed);
    c->random_contents = draw_start(~shape->seed);
}

static inline void case_add_pass(struct pass_case *c, enum stage stage, const void *args, int width,
                                 int height) {
    assert(c->pass_count < CASE_PASSES && stage_info(stage)->args_size <= CASE_ARGS);
    struct case_pass *p = &c->passes[c->pass_count++];
    *p = (struct case_pass){.stage = stage, .width = width, .height = height, .of = c->unit};
    memcpy(p->args, args, stage_info(stage)->args_size);
}

static inline void case_free(struct pass_case *c) {
    for (int i = 0; i < c->buffer_count; i++)
        free(c->buffers[i].memory);
    c->buffer_count = 0;
}

static inline void case_result_free(struct case_result *r) {
    for (int i = 0; i < CASE_BUFFERS; i++)
        free(r->memory[i]);
    memset(r, 0, sizeof(*r));
}

/* ---- on a backend */

/* A read outside of a buffer is seen where AddressSanitizer watches. */
static inline void case_poison(const struct backend *b, const struct case_buffer *buffer,
                               uint8_t *memory, bool poison) {
#ifdef GUARDS_POISONED
    if (b->own_memory)
        return;
    uint8_t *guards[2] = {memory, memory + GUARD + buffer->bytes};
    for (int i = 0; i < 2; i++)
        if (poison)
            ASAN_POISON_MEMORY_REGION(guards[i], GUARD);
        else
            ASAN_UNPOISON_MEMORY_REGION(guards[i], GUARD);
#else
    (void)b;
    (void)buffer;
    (void)memory;
    (void)poison;
#endif
}

/* A pass whose arguments point into memory instead of the case's buffers. */
static inline struct case_pass case_rebase(const struct pass_case *c, const struct case_pass *p,
                                           uint8_t *const *memory) {
    struct case_pass there = *p;
    for (const struct stage_buffer *f = stage_info(p->stage)->buffers; f->count; f++)
        for (int i = 0; i < f->count; i++) {
            uint8_t *place = there.args + f->offset + (size_t)i * sizeof(void *), *pointer;
            memcpy(&pointer, place, sizeof(pointer));
            const struct case_buffer *b = pointer ? case_find(c, pointer) : NULL;
            assert(!pointer || b);
            pointer = b ? memory[b - c->buffers] + (pointer - b->memory) : NULL;
            memcpy(place, &pointer, sizeof(pointer));
        }
    return there;
}

/* Runs the list of a case. 0 or -errno; the result is the caller's to free. */
static inline int case_run(const struct pass_case *c, struct backend *b, struct case_result *r) {
    uint8_t *memory[CASE_BUFFERS];
    struct graph *g = graph_open();
    int error = 0;
    assert(g);
    memset(r, 0, sizeof(*r));
    for (int i = 0; i < c->buffer_count; i++) {
        size_t bytes = c->buffers[i].bytes + 2 * GUARD;
        memory[i] = b->alloc(b, MEMORY_STAGES, bytes);
        assert(memory[i]);
        error = error ? error : b->copy(b, memory[i], c->buffers[i].memory, bytes);
        graph_import(g, memory[i] + GUARD, c->buffers[i].bytes);
        case_poison(b, &c->buffers[i], memory[i], true);
    }
    for (int i = 0; i < c->pass_count; i++) {
        struct case_pass p = case_rebase(c, &c->passes[i], memory);
        if (p.begins || p.of == UNIT_PASS)
            graph_end(g);
        if (p.of != UNIT_PASS)
            graph_begin(g, p.of);
        graph_stage(g, p.stage, p.args, p.width, p.height);
    }
    long fused = b->fused;
    error = error ? error : backend_run_graph(b, g, NULL);
    r->fused = (int)(b->fused - fused);
    for (int i = 0; i < c->buffer_count; i++) {
        case_poison(b, &c->buffers[i], memory[i], false);
        r->memory[i] = case_memory(c->buffers[i].bytes);
        error =
            error ? error : b->copy(b, r->memory[i], memory[i], c->buffers[i].bytes + 2 * GUARD);
        b->release(b, MEMORY_STAGES, memory[i]);
    }
    graph_close(&g);
    return error;
}

/* ---- what came out */

/* The first byte of pixel (x, y) in a plane of a buffer with pixels. */
static inline size_t case_pixel(const struct case_buffer *b, int plane, int x, int y) {
    size_t number = b->layout == LAYOUT_VOLUME ? grid_pixel(&b->grid, x, y)
                                               : (size_t)y * (size_t)b->grid.width + (size_t)x;
    return (size_t)plane * (b->bytes / (size_t)b->planes) + number * b->pixel_bytes;
}

/* Of two memories, both without guards. */
static inline bool case_pixel_same(const struct case_buffer *b, const uint8_t *one,
                                   const uint8_t *two, int x, int y) {
    for (int plane = 0; plane < b->planes; plane++) {
        size_t at = case_pixel(b, plane, x, y);
        if (memcmp(one + at, two + at, b->pixel_bytes))
            return false;
    }
    return true;
}

static inline void case_pixel_copy(const struct case_buffer *b, uint8_t *to, const uint8_t *from,
                                   int x, int y) {
    for (int plane = 0; plane < b->planes; plane++) {
        size_t at = case_pixel(b, plane, x, y);
        memcpy(to + at, from + at, b->pixel_bytes);
    }
}

static inline bool case_guards_intact(const struct case_buffer *b, const uint8_t *memory) {
    for (size_t i = 0; i < GUARD; i++)
        if (memory[i] != GUARD_BYTE || memory[GUARD + b->bytes + i] != GUARD_BYTE)
            return false;
    return true;
}

/* Whether two results agree in what is compared of a buffer; one and two are without guards. */
static inline bool case_buffer_same(const struct case_buffer *b, const uint8_t *one,
                                    const uint8_t *two) {
    if (b->compared == COMPARE_ALL)
        return !memcmp(one, two, b->bytes);
    for (int y = 0; y < b->grid.height && b->compared; y++)
        for (int x = 0; x < b->grid.width; x++)
            if (b->compared & 1 << ((x + y) & 1) && !case_pixel_same(b, one, two, x, y))
                return false;
    return true;
}

/* Number of the first buffer that differs or whose guards were written to, or -1. */
static inline int case_compare(const struct pass_case *c, const struct case_result *want,
                               const struct case_result *got) {
    for (int i = 0; i < c->buffer_count; i++)
        if (!case_guards_intact(&c->buffers[i], got->memory[i]) ||
            !case_buffer_same(&c->buffers[i], want->memory[i] + GUARD, got->memory[i] + GUARD))
            return i;
    return -1;
}

/* How to see a difference again. */
static inline void case_say(const struct pass_case *c, int buffer, const char *variant,
                            uint64_t seed, int number) {
    const struct case_shape *s = &c->shape;
    static const char *const fills[FILL_COUNT] = {"zero", "maximum", "random"};
    printf(
        "# %s: buffer %d (-1: none, an error) differs at %dx%d, %d labels, %d channels, fill %s; "
        "repeat with --seed %llu (case %d); passes",
        variant, buffer, s->width, s->height, s->labels, s->channels, fills[s->fill],
        (unsigned long long)seed, number);
    for (int i = 0; i < c->pass_count; i++)
        printf("%s %s", c->passes[i].begins ? " |" : "", stage_info(c->passes[i].stage)->name);
    printf("\n");
}
