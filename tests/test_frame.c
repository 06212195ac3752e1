/*
 * The frame pool: buffers, references, outliving its close, threads.
 * SPDX-License-Identifier: MIT
 */
#include "image/frame.h"
#include "tests/test.h"

#include <pthread.h>

/* Counts what is held. */
static void *count_alloc(void *held, size_t bytes) {
    g_atomic_int_inc((int *)held);
    return malloc(bytes);
}

static void count_release(void *held, void *data) {
    g_assert_nonnull(data);
    g_atomic_int_add((int *)held, -1);
    free(data);
}

TEST("/frame/buffers", test_buffers) {
    static const struct {
        int width, height, channels;
    } sizes[] = {
        {1, 1, 1}, {2, 2, 3}, {7, 5, 3}, {65, 33, 1}, {640, 480, 3},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        int w = sizes[i].width, h = sizes[i].height, c = sizes[i].channels;
        size_t pixels = (size_t)w * (size_t)h, bytes = pixels * (size_t)c;
        struct frame_pool *pool = pool_open(2, w, h, c, 1, NULL);
        struct frame *f = pool_take(pool);
        void *part[] = {f->left.data, f->right.data, f->rect_left.data, f->rect_right.data,
                        f->disparity, f->confidence, f->truth,          f->non_occluded};
        size_t size[] = {bytes, bytes, bytes, bytes, pixels * 2, pixels, pixels * 2, pixels};
        for (size_t k = 0; k < G_N_ELEMENTS(part); k++) { /* whole and apart from one another */
            g_assert_cmpuint((size_t)part[k] % 64, ==, 0);
            memset(part[k], (int)k + 1, size[k]);
        }
        for (size_t k = 0; k < G_N_ELEMENTS(part); k++)
            for (size_t j = 0; j < size[k]; j++)
                g_assert_cmpint(((uint8_t *)part[k])[j], ==, (int)k + 1);
        frame_drop(&f);
        pool_close(&pool);
        g_assert_null(pool);
    }
}

TEST("/frame/reset", test_reset) {
    OWN_POOL *pool = pool_open(1, 20, 10, 3, 1, NULL);
    struct frame *f = pool_take(pool), *first = f;
    uint8_t *left = f->left.data;
    f->left.width = f->right.height = f->rect_left.channels = f->rect_right.width = 1;
    f->index = 9;
    f->has_truth = 1;
    f->updated_count = 3;
    frame_drop(&f);
    f = pool_take(pool);
    g_assert_true(f == first && f->left.data == left && f->pool == pool);
    const struct image *images[] = {&f->left, &f->right, &f->rect_left, &f->rect_right};
    for (size_t i = 0; i < G_N_ELEMENTS(images); i++) {
        g_assert_cmpint(images[i]->width, ==, 20);
        g_assert_cmpint(images[i]->height, ==, 10);
        g_assert_cmpint(images[i]->channels, ==, 3);
    }
    g_assert_cmpint(f->index, ==, 0);
    g_assert_cmpint(f->has_truth, ==, 0);
    g_assert_cmpint(f->updated_count, ==, 0);
    frame_drop(&f);
}

TEST("/frame/running-out", test_running_out) {
    if (g_test_subprocess()) {
        struct frame_pool *pool = pool_open(1, 4, 4, 1, 0, NULL);
        pool_take(pool);
        pool_take(pool);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

enum { THREADS = 4, ROUNDS = 5000 };

struct crowd {
    struct frame_pool *pool;
    struct frame *shared;
    int number;
};

/* Each thread has one frame at a time; a frame that two held at once would show another's
 * number. */
static void *take_and_drop(void *argument) {
    struct crowd *me = argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct frame *f = pool_take(me->pool);
        memset(f->disparity, me->number, 16 * sizeof *f->disparity);
        f->index = me->number;
        struct frame *twice = frame_ref(f);
        frame_drop(&f);
        for (int k = 0; k < 16; k++)
            g_assert_cmpint(twice->disparity[k], ==, me->number * 0x101);
        g_assert_cmpint(twice->index, ==, me->number);
        frame_drop(&twice);
        OWN_FRAME *mine = frame_ref(me->shared);
        g_assert_cmpint(mine->index, ==, 77);
    }
    frame_drop(&me->shared);
    return NULL;
}

TEST("/frame/threads", test_threads) {
    int held = 0;
    const struct frame_alloc alloc = {count_alloc, count_release, &held};
    struct frame_pool *pool = pool_open(THREADS + 1, 4, 4, 1, 0, &alloc);
    struct frame *shared = pool_take(pool);
    pthread_t thread[THREADS];
    struct crowd crowd[THREADS];
    shared->index = 77;
    for (int i = 0; i < THREADS; i++) {
        crowd[i] = (struct crowd){pool, frame_ref(shared), i + 1};
        g_assert_cmpint(pthread_create(&thread[i], NULL, take_and_drop, &crowd[i]), ==, 0);
    }
    frame_drop(&shared);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    g_assert_cmpint(held, ==, THREADS + 1);
    pool_close(&pool);
    g_assert_cmpint(held, ==, 0);
}

static void *drop_one(void *argument) {
    OWN_FRAME *f = argument;
    return NULL;
}

/* Whoever is last frees, once, whether that is the closer or one of the droppers. */
TEST("/frame/close-against-drops", test_close_against_drops) {
    for (int round = 0; round < 200; round++) {
        int held = 0;
        const struct frame_alloc alloc = {count_alloc, count_release, &held};
        struct frame_pool *pool = pool_open(THREADS, 4, 4, 1, 0, &alloc);
        pthread_t thread[THREADS];
        for (int i = 0; i < THREADS; i++)
            g_assert_cmpint(pthread_create(&thread[i], NULL, drop_one, pool_take(pool)), ==, 0);
        pool_close(&pool);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        g_assert_cmpint(held, ==, 0);
    }
}
