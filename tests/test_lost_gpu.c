/*
 * A device that is lost, by a backend that says so: the shuffled backend stands for the GPU.
 * With backend=auto the CPU backend takes over and no frame is wrong; else the frame ends with an
 * error. A device with too little memory: the CPU takes its place, with one line.
 * SPDX-License-Identifier: MIT
 */
#include "config/log.h"
#include "gpu/stereo_private.h"
#include "tests/scene.h"
#include "tests/shuffled_backend.h"
#include "tests/stderr_of.h"
#include "tests/test.h"

#include <errno.h>
#include <glib.h>

enum { W = 60, H = 40, LABELS = 16, FRAMES = 6 };

static int frames_left; /* before the device is lost */
static int (*real_wait)(struct backend *b, int slot);

static struct frame *in_flight; /* issued after the frame that is waited for, or NULL */

/* What was in flight is lost too: nothing of it arrives. */
static int wait_or_be_lost(struct backend *b, int slot) {
    if (frames_left-- > 0)
        return real_wait(b, slot);
    char from = 0, to;
    b->copy(b, &to, &from, 1); /* waits for all, so that none of it comes later, either */
    if (in_flight)
        memset(in_flight->disparity, 0x55, W * H * sizeof(*in_flight->disparity));
    return -EIO;
}

/* A map that moves nothing but rows, so that pictures are rectified on the way. */
static void make_maps(struct rectify_map maps[2]) {
    for (int v = 0; v < 2; v++) {
        maps[v] = (struct rectify_map){.width = W, .height = H};
        maps[v].point = g_new(struct rectify_point, W * H);
        for (int i = 0; i < W * H; i++)
            maps[v].point[i] = (struct rectify_point){32 * (i % W), 32 * (i / W) + 8};
    }
}

static struct stereo *open_doomed(int maps_wanted, int after) {
    int error;
    struct rectify_map maps[2] = {{0}};
    if (maps_wanted)
        make_maps(maps);
    struct backend *b = shuffled_backend_open(3);
    b->own_memory = true;
    real_wait = b->wait;
    b->wait = wait_or_be_lost;
    frames_left = after;
    struct stereo *s = stereo_open_on(b, W, H, 3, maps_wanted ? maps : NULL, &error);
    g_assert_nonnull(s);
    rectify_free(maps);
    return s;
}

/* Two frames in flight at a time; the device goes while both are. */
static void check_falls_back(int maps_wanted, int after) {
    struct rectify_map maps[2] = {{0}};
    if (maps_wanted)
        make_maps(maps);
    int error;
    AUTO(stereo_close)
    struct stereo *plain = stereo_open_on(backend_cpu_open(1, VARIANT_PLAIN, &error), W, H, 3,
                                          maps_wanted ? maps : NULL, &error);
    AUTO(stereo_close) struct stereo *s = open_doomed(maps_wanted, after);
    struct params p = scene_params(0, LABELS);
    struct frame_pool *pool[FRAMES], *pool_plain;
    struct frame *f[FRAMES];
    s->may_fall_back = true;
    log_set_level(LOG_ERROR);
    int finished = 0;
    for (int i = 0; i < FRAMES; i++) {
        f[i] = scene_frame(&pool[i], W, H, 3, LABELS, (uint32_t)i);
        g_assert_cmpint(frame_start(s, &p, f[i]), ==, 0);
        in_flight = f[i];
        while (finished < i || (finished == i && stereo_info(s).frames_in_flight == 1)) {
            g_assert_cmpint(frame_finish(s, f[finished]), ==, 0);
            finished++;
        }
    }
    in_flight = NULL;
    for (; finished < FRAMES; finished++)
        g_assert_cmpint(frame_finish(s, f[finished]), ==, 0);
    g_assert_cmpint(stereo_info(s).frames_in_flight, ==, 1);
    for (int i = 0; i < FRAMES; i++) {
        struct frame *want = scene_frame(&pool_plain, W, H, 3, LABELS, (uint32_t)i);
        g_assert_cmpint(frame_run(plain, &p, want), ==, 0);
        g_assert_cmpmem(want->disparity, W * H * sizeof(*want->disparity), f[i]->disparity,
                        W * H * sizeof(*want->disparity));
        g_assert_cmpmem(want->rect_right.data, 3 * W * H, f[i]->rect_right.data, 3 * W * H);
        frame_drop(&want);
        pool_close(&pool_plain);
        frame_drop(&f[i]);
        pool_close(&pool[i]);
    }
    log_set_level(LOG_INFO);
    rectify_free(maps);
}

TEST("/lost-gpu/auto-goes-on", test_auto_goes_on) {
    for (int after = 0; after < 4; after++)
        check_falls_back(0, after);
    check_falls_back(1, 2);
}

TEST("/lost-gpu/cuda-ends", test_cuda_ends) {
    AUTO(stereo_close) struct stereo *s = open_doomed(0, 1);
    struct params p = scene_params(0, LABELS);
    AUTO(pool_close) struct frame_pool *pool = NULL;
    AUTO(frame_drop) struct frame *f = scene_frame(&pool, W, H, 3, LABELS, 1);
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    g_assert_cmpint(frame_run(s, &p, f), ==, -EIO);
    g_assert_cmpint(frame_run(s, &p, f), ==, -EIO);
}

/* A backend that has no room for large requests. */
static void *(*real_alloc)(struct backend *b, enum memory_kind kind, size_t bytes);

static void *alloc_some(struct backend *b, enum memory_kind kind, size_t bytes) {
    return bytes > (size_t)3 * W * H * DIRECTIONS * LABELS ? NULL : real_alloc(b, kind, bytes);
}

/* Settings that do not fit are refused; then those before them hold again, and what lay in the old
 * buffers does not. */
TEST("/lost-gpu/refused-settings", test_refused_settings) {
    int error;
    struct backend *b = backend_cpu_open(1, VARIANT_OPTIMISED, &error);
    real_alloc = b->alloc;
    b->alloc = alloc_some;
    struct params p = scene_params(1, LABELS), large = scene_params(1, W - 1);
    AUTO(stereo_close)
    struct stereo *s = stereo_open_on(b, W, H, 3, NULL, &error),
                  *plain = stereo_open_on(backend_cpu_open(1, VARIANT_PLAIN, &error), W, H, 3, NULL,
                                          &error);
    g_assert_nonnull(s);
    struct frame_pool *pools[2];
    AUTO(frame_drop)
    struct frame *a = scene_frame(&pools[0], W, H, 3, LABELS, 1),
                 *want = scene_frame(&pools[1], W, H, 3, LABELS, 1);
    g_assert_cmpint(frame_run(s, &p, a), ==, 0);
    g_assert_cmpint(frame_run(s, &large, a), ==, -ENOMEM);
    g_assert_cmpint(frame_run(s, &p, a), ==, 0);
    g_assert_cmpint(frame_run(plain, &p, want), ==, 0);
    g_assert_cmpmem(a->disparity, W * H * sizeof(*a->disparity), want->disparity,
                    W * H * sizeof(*a->disparity));
    pool_close(&pools[0]);
    pool_close(&pools[1]);
}

/* ---- backend=auto, with backends of little memory in place of both */

static bool replaced;                   /* both backends */
static size_t room_of_gpu, room_of_cpu; /* bytes that one request may take */
static size_t room;

struct backend *__wrap_backend_cuda_open(int gpu, enum backend_variant variant, bool quiet,
                                         int *error);
struct backend *__wrap_backend_cpu_open(int threads, enum backend_variant variant, int *error);
struct backend *__real_backend_cuda_open(int gpu, enum backend_variant variant, bool quiet,
                                         int *error);
struct backend *__real_backend_cpu_open(int threads, enum backend_variant variant, int *error);

static void *alloc_in_room(struct backend *b, enum memory_kind kind, size_t bytes) {
    return bytes > room ? NULL : real_alloc(b, kind, bytes);
}

static struct backend *open_small(size_t bytes, bool own_memory) {
    struct backend *b = shuffled_backend_open(1);
    real_alloc = b->alloc;
    b->alloc = alloc_in_room;
    b->own_memory = own_memory;
    room = bytes;
    return b;
}

struct backend *__wrap_backend_cuda_open(int gpu, enum backend_variant variant, bool quiet,
                                         int *error) {
    return replaced ? open_small(room_of_gpu, true)
                    : __real_backend_cuda_open(gpu, variant, quiet, error);
}

struct backend *__wrap_backend_cpu_open(int threads, enum backend_variant variant, int *error) {
    return replaced ? open_small(room_of_cpu, false)
                    : __real_backend_cpu_open(threads, variant, error);
}

/* The frames (the tables) do not fit the GPU: the CPU computes, and a warning says so. Nor do they
 * fit the CPU: one line says that. */
TEST("/lost-gpu/little-memory", test_little_memory) {
    static const size_t rooms[] = {1000, 600000}; /* for nothing; for tables, not for frames */
    struct params p = scene_params(0, LABELS);
    int error;
    p.backend = BACKEND_AUTO;
    replaced = true;
    for (size_t i = 0; i < G_N_ELEMENTS(rooms); i++) {
        room_of_gpu = rooms[i];
        room_of_cpu = SIZE_MAX;
        struct stderr_of log = stderr_begin();
        struct stereo *s = stereo_open(&p, 16 * W, 16 * H, 3, NULL, &error);
        stderr_one_line(log, "warning", "the GPU has too little memory for 960x640");
        g_assert_nonnull(s);
        stereo_close(&s);
        room_of_cpu = rooms[i];
        log = stderr_begin();
        g_assert_null(stereo_open(&p, 16 * W, 16 * H, 3, NULL, &error));
        stderr_one_line(log, "error", "not enough memory for ");
        g_assert_cmpint(error, ==, -ENOMEM);
    }
    replaced = false;
}
