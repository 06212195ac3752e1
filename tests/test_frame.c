/*
 * The frame pool: buffers, references, order, outliving its close, threads, failing allocations.
 * SPDX-License-Identifier: MIT
 */
#include "image/frame.h"
#include "tests/stderr_of.h"
#include "tests/test.h"

#include <pthread.h>
#include <stdlib.h>

/* Counts allocations and fails number fail_at (from 0). */
struct ledger {
    int calls, held, fail_at;
};

static void *ledger_alloc(void *context, size_t bytes) {
    struct ledger *ledger = context;
    if (ledger->calls++ == ledger->fail_at)
        return NULL;
    ledger->held++;
    return malloc(bytes);
}

static void ledger_release(void *context, void *data) {
    struct ledger *ledger = context;
    g_assert_nonnull(data);
    ledger->held--;
    free(data);
}

static struct frame_alloc ledger_of(struct ledger *ledger) {
    return (struct frame_alloc){ledger_alloc, ledger_release, ledger};
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

TEST("/frame/without-truth", test_without_truth) {
    AUTO(pool_close) struct frame_pool *pool = pool_open(1, 8, 8, 1, 0, NULL);
    AUTO(frame_drop) struct frame *f = pool_take(pool);
    g_assert_null(f->truth);
    g_assert_null(f->non_occluded);
}

TEST("/frame/reset", test_reset) {
    AUTO(pool_close) struct frame_pool *pool = pool_open(1, 20, 10, 3, 1, NULL);
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

TEST("/frame/references", test_references) {
    struct frame_pool *pool = pool_open(2, 4, 4, 1, 0, NULL);
    struct frame *a = pool_take(pool), *b = pool_take(pool);
    g_assert_true(a != b);
    struct frame *second = frame_ref(a), *address = a;
    g_assert_true(second == a);
    frame_drop(&a);
    g_assert_null(a);
    g_assert_cmpint(second->references, ==, 1);
    frame_drop(&second); /* home now: the next take must give it, b being out */
    struct frame *again = pool_take(pool);
    g_assert_true(again == address);
    frame_drop(&again);
    frame_drop(&again); /* NULL inside is fine */
    frame_drop(&b);
    pool_close(&pool);
    pool_close(&pool);
}

TEST("/frame/all-different", test_all_different) {
    enum { COUNT = 16 };
    AUTO(pool_close) struct frame_pool *pool = pool_open(COUNT, 4, 4, 1, 0, NULL);
    struct frame *f[COUNT];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            f[i] = pool_take(pool);
            for (int k = 0; k < i; k++)
                g_assert_true(f[i] != f[k] && f[i]->left.data != f[k]->left.data);
        }
        for (int i = 0; i < COUNT; i++)
            frame_drop(&f[(i * 5 + round) % COUNT]);
    }
}

TEST("/frame/outlives-close", test_outlives_close) {
    struct ledger ledger = {.fail_at = -1};
    struct frame_alloc alloc = ledger_of(&ledger);
    struct frame_pool *pool = pool_open(3, 16, 16, 3, 1, &alloc);
    struct frame *a = pool_take(pool), *b = pool_take(pool), *c = frame_ref(b);
    pool_close(&pool);
    g_assert_cmpint(ledger.held, >, 0);
    memset(a->left.data, 1, image_bytes(&a->left));
    frame_drop(&a);
    frame_drop(&b);
    g_assert_cmpint(ledger.held, >, 0);
    memset(c->truth, 1, 16 * 16 * 2);
    frame_drop(&c);
    g_assert_cmpint(ledger.held, ==, 0);
}

TEST("/frame/failing-allocations", test_failing_allocations) {
    struct ledger whole = {.fail_at = -1};
    struct frame_alloc alloc = ledger_of(&whole);
    struct frame_pool *pool = pool_open(5, 32, 32, 3, 1, &alloc);
    pool_close(&pool);
    g_assert_cmpint(whole.calls, >=, 5);
    g_assert_cmpint(whole.held, ==, 0);
    for (int n = 0; n < whole.calls; n++) {
        struct ledger ledger = {.fail_at = n};
        alloc = ledger_of(&ledger);
        struct stderr_of caught = stderr_begin();
        pool = pool_open(5, 32, 32, 3, 1, &alloc);
        stderr_one_line(caught, "no memory", "32x32");
        g_assert_null(pool);
        g_assert_cmpint(ledger.held, ==, 0);
    }
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
        AUTO(frame_drop) struct frame *mine = frame_ref(me->shared);
        g_assert_cmpint(mine->index, ==, 77);
    }
    frame_drop(&me->shared);
    return NULL;
}

TEST("/frame/threads", test_threads) {
    struct ledger ledger = {.fail_at = -1};
    struct frame_alloc alloc = ledger_of(&ledger);
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
    g_assert_cmpint(ledger.held, ==, THREADS + 1);
    pool_close(&pool);
    g_assert_cmpint(ledger.held, ==, 0);
}

static void *drop_one(void *argument) {
    AUTO(frame_drop) struct frame *f = argument;
    return NULL;
}

/* Whoever is last frees, once, whether that is the closer or one of the droppers. */
TEST("/frame/close-against-drops", test_close_against_drops) {
    for (int round = 0; round < 200; round++) {
        struct ledger ledger = {.fail_at = -1};
        struct frame_alloc alloc = ledger_of(&ledger);
        struct frame_pool *pool = pool_open(THREADS, 4, 4, 1, 0, &alloc);
        pthread_t thread[THREADS];
        for (int i = 0; i < THREADS; i++)
            g_assert_cmpint(pthread_create(&thread[i], NULL, drop_one, pool_take(pool)), ==, 0);
        pool_close(&pool);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        g_assert_cmpint(ledger.held, ==, 0);
    }
}
