/*
 * A GPU that has no room and one that is lost, on a real one: an error and a line, or the CPU
 * backend with backend=auto; never a picture. The last case ends the GPU's use for this process.
 * usage: parity_gpu_faults [--tap]
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "gpu/handle.h"
#include "tests/parity.h"
#include "tests/scene.h"

#include <errno.h>

enum { W = 320, H = 240, LABELS = 32, LARGER = 8, HOGS = 4096 };

static struct livestereo *open_with(int backend, int scale, int *error) {
    struct params p = scene_params(0, scale * LABELS);
    p.backend = backend;
    return handle_open(NULL, &p, scale * W, scale * H, 3, NULL, error);
}

/* Leaves less than 256 MiB, where several GiB are asked for. */
static void check_no_room(struct parity *t) {
    int error, count = 0;
    void *hogs[HOGS];
    struct backend *b = backend_cuda_open(0, VARIANT_OPTIMISED, false, &error);
    for (size_t bytes = (size_t)1 << 30; bytes >= (size_t)1 << 28; bytes /= 4)
        while (count < HOGS && (hogs[count] = b->alloc(b, MEMORY_STAGES, bytes)))
            count++;
    struct livestereo *s = open_with(BACKEND_CUDA, LARGER, &error);
    parity_ok(t, !s && error == -ENOMEM, "no room: backend=cuda says so");
    livestereo_close(&s);
    s = open_with(BACKEND_AUTO, LARGER, &error);
    parity_ok(t, s && !strncmp(handle_info(s).backend, "cpu", 3),
              "no room: backend=auto takes the CPU");
    livestereo_close(&s);
    while (count > 0)
        b->release(b, MEMORY_STAGES, hogs[--count]);
    b->close(&b);
}

/* A kernel that reads where nothing is ends every context of the process. */
static void lose(struct parity *t) {
    int error;
    struct backend *b = backend_cuda_open(0, VARIANT_PLAIN, false, &error);
    struct grey_args a = {(const uint8_t *)16, (uint8_t *)16, W, 3};
    parity_ok(t, backend_run_stage(b, STAGE_grey, &a, W, H) == -EIO, "lost: the fault is seen");
    b->close(&b);
}

static void check_lost(struct parity *t) {
    int error;
    struct params p = scene_params(0, LABELS);
    struct livestereo *going = open_with(BACKEND_AUTO, 1, &error),
                      *ending = open_with(BACKEND_CUDA, 1, &error);
    struct livestereo *plain = frame_open(0, VARIANT_PLAIN, W, H, 3);
    struct frame *a = scene_frame(W, H, 3, LABELS, 1), *b = scene_frame(W, H, 3, LABELS, 1);
    parity_ok(t, going && ending && !frame_run(going, &p, a) && !frame_run(ending, &p, a),
              "before: frames are computed");
    lose(t);
    parity_ok(t, frame_run(ending, &p, a) == -EIO, "lost: backend=cuda ends with an error");
    memset(a->disparity, 0, sizeof(*a->disparity) * W * H);
    int error_after = frame_run(going, &p, a) | frame_run(plain, &p, b);
    parity_ok(t, !error_after && !memcmp(a->disparity, b->disparity, sizeof(*a->disparity) * W * H),
              "lost: backend=auto goes on with the CPU, same bytes");
    frame_drop(&a);
    frame_drop(&b);
    livestereo_close(&going);
    livestereo_close(&ending);
    livestereo_close(&plain);
}

int main(int argc, char **argv) {
    struct parity t = parity_begin(argc, argv);
    int error;
    struct backend *b = backend_cuda_open(0, VARIANT_OPTIMISED, true, &error);
    if (b) {
        b->close(&b);
        check_no_room(&t);
        check_lost(&t);
    } else {
        parity_skip(&t, "a GPU's faults");
    }
    return parity_end(&t);
}
