/*
 * The pool of frames: all memory is taken when it opens, a free list under a mutex hands frames
 * out, an atomic count per frame brings them home. Any thread may take, ref and drop; the pool's
 * memory goes with whoever comes last, pool_close or the last frame_drop.
 * SPDX-License-Identifier: MIT
 */
#include "image/frame.h"

#include "base/log.h"
#include "config/params.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64 /* bytes: a cache line, and the widest vector register */

struct frame_pool {
    pthread_mutex_t lock;
    struct frame_alloc alloc;
    int count, width, height, channels;
    int closed, free_count;
    struct frame **free_frames; /* a stack: the frame that came home last is the warmest */
    struct frame *frames;
    void **blocks; /* what alloc gave, one per frame */
};

static void *plain_alloc(void *context, size_t bytes) {
    (void)context;
    return malloc(bytes);
}

static void plain_release(void *context, void *data) {
    (void)context;
    free(data);
}

static size_t aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Cuts the next part of bytes off the block; with base NULL only counts. */
static void *part(uint8_t *base, size_t *used, size_t bytes) {
    void *data = base ? base + *used : NULL;
    *used += aligned(bytes);
    return data;
}

/* Lays a frame's buffers out in the block at base and returns the bytes they take. */
static size_t lay_out(struct frame *frame, uint8_t *base, const struct frame_pool *pool,
                      bool with_truth) {
    size_t pixels = (size_t)pool->width * (size_t)pool->height;
    size_t bytes = pixels * (size_t)pool->channels;
    size_t used = 0;
    frame->left.data = part(base, &used, bytes);
    frame->right.data = part(base, &used, bytes);
    for (int v = 0; v < 2; v++)
        frame->rectified[v] = part(base, &used, bytes);
    frame->params = part(base, &used, sizeof(struct params));
    frame->disparity = part(base, &used, pixels * sizeof *frame->disparity);
    frame->motion = part(base, &used, 2 * pixels * sizeof *frame->motion);
    frame->confidence = part(base, &used, pixels);
    if (with_truth) {
        frame->truth = part(base, &used, 2 * pixels * sizeof *frame->truth);
        frame->non_occluded = part(base, &used, pixels);
    }
    return used;
}

static void pool_free(struct frame_pool *pool) {
    if (pool->blocks)
        for (int i = 0; i < pool->count; i++)
            if (pool->blocks[i])
                pool->alloc.release(pool->alloc.context, pool->blocks[i]);
    free(pool->blocks);
    free(pool->frames);
    free(pool->free_frames);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static int fill_pool(struct frame_pool *pool, bool with_truth) {
    size_t count = (size_t)pool->count;
    pool->blocks = calloc(count, sizeof *pool->blocks);
    pool->frames = calloc(count, sizeof *pool->frames);
    pool->free_frames = calloc(count, sizeof *pool->free_frames);
    if (!pool->blocks || !pool->frames || !pool->free_frames)
        return -1;
    for (int i = 0; i < pool->count; i++) {
        struct frame *frame = &pool->frames[i];
        size_t bytes = lay_out(frame, NULL, pool, with_truth);
        pool->blocks[i] = pool->alloc.alloc(pool->alloc.context, bytes + ALIGNMENT - 1);
        if (!pool->blocks[i])
            return -1;
        uint8_t *base = (uint8_t *)aligned((size_t)pool->blocks[i]);
        memset(base, 0, bytes); /* the pages are there before the first frame needs them */
        lay_out(frame, base, pool, with_truth);
        frame->pool = pool;
        pool->free_frames[pool->free_count++] = frame;
    }
    return 0;
}

struct frame_pool *pool_open(int count, int width, int height, int channels, bool with_truth,
                             const struct frame_alloc *alloc) {
    static const struct frame_alloc plain = {plain_alloc, plain_release, NULL};
    assert(count > 0 && (channels == 1 || channels == 3));
    assert(width > 0 && width <= MAX_FRAME_SIDE && height > 0 && height <= MAX_FRAME_SIDE);

    struct frame_pool *pool = calloc(1, sizeof *pool);
    if (pool) {
        pool->alloc = alloc ? *alloc : plain;
        pool->count = count;
        pool->width = width;
        pool->height = height;
        pool->channels = channels;
        pthread_mutex_init(&pool->lock, NULL);
        if (fill_pool(pool, with_truth) == 0)
            return pool;
        pool_free(pool);
    }
    return log_fail(NULL, "frames",
                    "no memory for %d frames of %dx%d; use smaller pictures (--scale)", count,
                    width, height);
}

static void size_image(struct image *image, const struct frame_pool *pool) {
    image->width = pool->width;
    image->height = pool->height;
    image->channels = pool->channels;
}

/* Clears all but the buffers and the home of a frame. */
static void frame_reset(struct frame *frame) {
    struct frame clean = {
        .left.data = frame->left.data,
        .right.data = frame->right.data,
        .rect_left.data = frame->rectified[0],
        .rect_right.data = frame->rectified[1],
        .rectified = {frame->rectified[0], frame->rectified[1]},
        .disparity = frame->disparity,
        .motion = frame->motion,
        .confidence = frame->confidence,
        .truth = frame->truth,
        .non_occluded = frame->non_occluded,
        .params = frame->params,
        .pool = frame->pool,
        .references = 1,
    };
    memset(clean.params, 0, sizeof(struct params));
    size_image(&clean.left, frame->pool);
    size_image(&clean.right, frame->pool);
    size_image(&clean.rect_left, frame->pool);
    size_image(&clean.rect_right, frame->pool);
    *frame = clean;
}

struct frame *pool_take(struct frame_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    assert(!pool->closed);
    assert(pool->free_count > 0);
    struct frame *frame = pool->free_frames[--pool->free_count];
    pthread_mutex_unlock(&pool->lock);
    frame_reset(frame);
    return frame;
}

void pool_close(struct frame_pool **pool) {
    struct frame_pool *p = *pool;
    *pool = NULL;
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    assert(!p->closed);
    p->closed = 1;
    int all_home = p->free_count == p->count;
    pthread_mutex_unlock(&p->lock);
    if (all_home)
        pool_free(p);
}

struct frame *frame_alone(int width, int height, int channels, bool with_truth,
                          const struct frame_alloc *alloc) {
    struct frame_pool *pool = pool_open(1, width, height, channels, with_truth, alloc);
    struct frame *frame = pool ? pool_take(pool) : NULL;
    pool_close(&pool);
    return frame;
}

struct frame *frame_ref(struct frame *frame) {
    int before = __atomic_fetch_add(&frame->references, 1, __ATOMIC_RELAXED);
    assert(before > 0);
    (void)before;
    return frame;
}

void frame_drop(struct frame **frame) {
    struct frame *f = *frame;
    *frame = NULL;
    if (!f)
        return;
    int left = __atomic_sub_fetch(&f->references, 1, __ATOMIC_ACQ_REL);
    assert(left >= 0);
    if (left > 0)
        return;
    struct frame_pool *pool = f->pool;
    pthread_mutex_lock(&pool->lock);
    pool->free_frames[pool->free_count++] = f;
    int last = pool->closed && pool->free_count == pool->count;
    pthread_mutex_unlock(&pool->lock);
    if (last)
        pool_free(pool);
}
