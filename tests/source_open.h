/*
 * For tests of sources: opening one with a pool of its size, reading one pair, what must be
 * refused. The caller closes what it opened. Single-threaded tests only.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/source.h"
#include "tests/gst_sanitizers.h"
#include "tests/stderr_of.h"

struct opened {
    struct source *source;
    struct frame_pool *pool;
};

static inline struct opened open_words(const char *first, const char *second,
                                       const struct source_options *options) {
    const char *const words[] = {first, second};
    int error = 1;
    struct opened o = {source_open(words, second ? 2 : 1, options, &error), NULL};
    if (!o.source)
        g_error("%s does not open: %d", first, error);
    g_assert_cmpint(error, ==, 1); /* untouched on success */
    o.pool = pool_open(3, o.source->width, o.source->height, o.source->channels, 1, NULL);
    return o;
}

static inline struct opened open_one(const char *word) {
    return open_words(word, NULL, NULL);
}

static inline void opened_close(struct opened *o) {
    source_close(&o->source);
    g_assert_null(o->source);
    pool_close(&o->pool);
}

static inline struct frame *read_one(struct opened *o) {
    struct frame *f = pool_take(o->pool);
    g_assert_cmpint(o->source->read(o->source, f), ==, 0);
    g_assert_cmpint(f->left.width, ==, o->source->width);
    g_assert_cmpint(f->right.height, ==, o->source->height);
    g_assert_cmpint(f->left.channels, ==, o->source->channels);
    g_assert_cmpint(f->right.channels, ==, o->source->channels);
    return f;
}

static inline void expect_read(struct opened *o, int expected) {
    struct frame *f = pool_take(o->pool);
    g_assert_cmpint(o->source->read(o->source, f), ==, expected);
    frame_drop(&f);
}

/* The words must not open: that code, one line with both texts. */
static inline void expect_refused(const char *first, const char *second, int code, const char *text,
                                  const char *more) {
    const char *const words[] = {first, second};
    int error = 0;
    struct stderr_of caught = stderr_begin();
    struct source *source = source_open(words, second ? 2 : 1, NULL, &error);
    stderr_one_line(caught, text, more);
    g_assert_null(source);
    g_assert_cmpint(error, ==, code);
}

static inline int same_pixels(const struct image *a, const struct image *b) {
    return memcmp(a->data, b->data, image_bytes(a)) == 0;
}
