/*
 * A device with too little memory, for which the shuffled backend stands: with backend=auto the CPU
 * takes its place, with one line. A device that is lost is in test_library_lost.c.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/handle.h"
#include "tests/scene.h"
#include "tests/shuffled_backend.h"
#include "tests/test.h"

enum { W = 60, H = 40, LABELS = 16 };

static void *(*real_alloc)(struct backend *b, enum memory_kind kind, size_t bytes);
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
        struct livestereo *s = handle_open(NULL, &p, 16 * W, 16 * H, 3, NULL, &error);
        stderr_one_line(log, "warning", "the GPU has too little memory for 960x640");
        g_assert_nonnull(s);
        livestereo_close(&s);
        room_of_cpu = rooms[i];
        stderr_says("error", "not enough memory for ",
                    g_assert_null(handle_open(NULL, &p, 16 * W, 16 * H, 3, NULL, &error)));
        g_assert_cmpint(error, ==, -ENOMEM);
    }
    replaced = false;
}
