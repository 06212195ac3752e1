/*
 * Filling along rows optimised for CUDA: a warp has 32 pixels of a row and looks at 32 at once.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"
#include "gpu/stages/stages.h"

enum { THREADS = 256 };

/* The nearest known pixel of a row from x on in steps of 32 px (step 32 or -32), or none: -1. x is
 * the first of 32 px that a warp looks at at once. */
DEVICE int known_from(const int16_t *row, int width, int x, int step) {
    for (; x > -WARP_SIZE && x < width; x += step) {
        int at = x + (int)threadIdx.x;
        unsigned known = __ballot_sync(ALL_LANES, at >= 0 && at < width && row[at] != UNKNOWN);
        if (known)
            return x + (step > 0 ? __ffs((int)known) - 1 : 31 - __clz((int)known));
    }
    return -1;
}

/* A warp has 32 pixels of a row. */
static __global__ void __launch_bounds__(THREADS) fill_kernel(const __grid_constant__ fill_args a) {
    int lane = (int)threadIdx.x, first = (int)blockIdx.x * WARP_SIZE, x = first + lane,
        y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (y >= a.height)
        return;
    ptrdiff_t row = (ptrdiff_t)y * a.width, from = row + x;
    bool looks = x < a.width && a.source.u[from] == UNKNOWN;
    unsigned known = __ballot_sync(ALL_LANES, x < a.width && !looks),
             below = known & ((1u << lane) - 1), above = known & ~((2u << lane) - 1);
    int before = -1, after = -1;
    if (__any_sync(ALL_LANES, looks && !below))
        before = known_from(a.source.u + row, a.width, first - WARP_SIZE, -WARP_SIZE);
    if (__any_sync(ALL_LANES, looks && !above))
        after = known_from(a.source.u + row, a.width, first + WARP_SIZE, WARP_SIZE);
    before = below ? first + 31 - __clz((int)below) : before;
    after = above ? first + __ffs((int)above) - 1 : after;
    if (looks) {
        ptrdiff_t one = before < 0 ? -1 : row + before;
        from = fill_choose(&a.source, one, after < 0 ? -1 : row + after);
    }
    if (x < a.width)
        fill_put(&a, (size_t)(row + x), from);
}

void cuda_launch_fill(backend_cuda *cuda, const void *args, int width, int height) {
    const fill_args *a = static_cast<const fill_args *>(args);
    enum { ROWS = THREADS / WARP_SIZE };
    if (a->dy) {
        cuda->plain[STAGE_fill](cuda, args, width, height);
        return;
    }
    dim3 blocks = cuda_blocks(width, WARP_SIZE, height, ROWS);
    fill_kernel<<<blocks, dim3(WARP_SIZE, ROWS), 0, cuda->stream>>>(*a);
}
