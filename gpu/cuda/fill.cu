/*
 * Filling along rows optimised for CUDA, with or without the choice of a side: a warp has 32 pixels
 * of a row and looks at 32 at once.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"

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

/* SIDES: a hole takes one of its sides. What it took before is stored where a.out has memory. */
template <bool SIDES>
static __global__ void __launch_bounds__(THREADS)
    fill_kernel(const __grid_constant__ fill_args a, const __grid_constant__ fill_side_args s) {
    int lane = (int)threadIdx.x, first = (int)blockIdx.x * WARP_SIZE, x = first + lane,
        y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    wait_for_previous_kernel();
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
    if (x >= a.width)
        return;
    if (looks) {
        ptrdiff_t one = before < 0 ? -1 : row + before;
        from = fill_choose(&a.source, one, after < 0 ? -1 : row + after);
    }
    if (!SIDES || a.out.u)
        fill_put(&a, (size_t)(row + x), from);
    if (SIDES) {
        int d = from < 0 ? UNKNOWN : a.source.u[from];
        if (looks && before >= 0 && after >= 0)
            d = choose_side(&s, (size_t)row, x, before, after, d);
        s.out[row + x] = (int16_t)d;
    }
}

static void launch(backend_cuda *cuda, const fill_args *a, const fill_side_args *s) {
    enum { ROWS = THREADS / WARP_SIZE };
    launch_dependent(cuda, s ? fill_kernel<true> : fill_kernel<false>,
                     cuda_blocks(a->width, WARP_SIZE, a->height, ROWS), dim3(WARP_SIZE, ROWS), *a,
                     s ? *s : fill_side_args());
}

void cuda_launch_fill(backend_cuda *cuda, const void *args, int width, int height) {
    const fill_args *a = static_cast<const fill_args *>(args);
    if (a->dy)
        cuda->plain[STAGE_fill](cuda, args, width, height);
    else
        launch(cuda, a, nullptr);
}

int cuda_unit_sides(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    const fill_args *a = cuda_args<fill_args>(g, unit, STAGE_fill, slot);
    const fill_side_args *s = cuda_args<fill_side_args>(g, unit, STAGE_fill_side, slot);
    if (!a || !s)
        return 0;
    launch(cuda, a, s);
    return 2;
}
