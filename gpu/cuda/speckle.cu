/*
 * Speckles optimised for CUDA: joined run by run and counted warp by warp.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"

enum { BLOCK_WIDTH = WARP_SIZE, BLOCK_HEIGHT = 8 };

/* Rows first become runs within a warp, so that few pixels are left to join. */

template <bool MOTION> DEVICE bool linked(const speckle_args &a, uint32_t i, uint32_t j) {
    const speckle_args map = {
        {a.source.u, MOTION ? a.source.v : nullptr}, {}, {}, {}, 0, 0, a.range};
    return speckle_linked(&map, i, j);
}

/* The first pixel of the run that ends with this one, or the warp's first. */
template <bool MOTION> static __global__ void run_kernel(const __grid_constant__ speckle_args a) {
    int x = (int)(blockIdx.x * BLOCK_WIDTH + threadIdx.x),
        y = (int)(blockIdx.y * BLOCK_HEIGHT + threadIdx.y);
    bool exists = x < a.width && y < a.height;
    uint32_t i = (uint32_t)y * (uint32_t)a.width + (uint32_t)x, lane = threadIdx.x;
    bool starts = lane == 0 || !exists || !linked<MOTION>(a, i - 1, i);
    uint32_t before = __ballot_sync(ALL_LANES, starts) & (ALL_LANES >> (31 - lane));
    if (exists)
        a.parent[i] = i - (lane - (31 - (uint32_t)__clz((int)before)));
}

/* The root of i. It also shortens the path for the next search. join_roots gives a new parent to
 * roots alone, so a link that is written late still leads to an ancestor. */
static __device__ uint32_t find_root(uint32_t *parent, uint32_t i) {
    volatile uint32_t *link = parent;
    uint32_t here = i, up;
    while ((up = link[here]) != here) {
        uint32_t above = link[up];
        if (above != up)
            link[here] = above;
        here = up;
    }
    return here;
}

static __device__ void join_roots(uint32_t *parent, uint32_t a, uint32_t b) {
    for (;;) {
        a = find_root(parent, a);
        b = find_root(parent, b);
        if (a == b)
            return;
        uint32_t high = max(a, b), low = min(a, b);
        if (atomicCAS(parent + high, high, low) == high)
            return;
    }
}

/* Runs of one row where a warp ended, and runs above each other, once for each stretch they
 * share. */
template <bool MOTION> static __global__ void join_kernel(const __grid_constant__ speckle_args a) {
    int x = (int)(blockIdx.x * BLOCK_WIDTH + threadIdx.x),
        y = (int)(blockIdx.y * BLOCK_HEIGHT + threadIdx.y);
    if (x >= a.width || y >= a.height)
        return;
    uint32_t i = (uint32_t)y * (uint32_t)a.width + (uint32_t)x, below = i + (uint32_t)a.width;
    bool left = x > 0 && linked<MOTION>(a, i - 1, i);
    if (threadIdx.x == 0 && left)
        join_roots(a.parent, i - 1, i);
    if (y + 1 >= a.height || !linked<MOTION>(a, i, below))
        return;
    if (left && linked<MOTION>(a, below - 1, below) && linked<MOTION>(a, i - 1, below - 1))
        return; /* the pixels to the left join the same two */
    join_roots(a.parent, i, below);
}

/* Every step-th pixel hangs from its root. Of all pixels, most are then two links from it. */
static __global__ void flatten_kernel(const __grid_constant__ speckle_args a, uint32_t step) {
    uint32_t i = step * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < (uint32_t)a.width * (uint32_t)a.height)
        a.parent[i] = speckle_root(a.parent, i);
}

/* A warp counts this many times 32 pixels, and adds once for those in a row with the same root. */
enum { COUNTED = 8 };

static __global__ void count_kernel(const __grid_constant__ speckle_args a) {
    uint32_t lane = threadIdx.x % WARP_SIZE, pixels = (uint32_t)a.width * (uint32_t)a.height,
             first = COUNTED * (blockIdx.x * blockDim.x + threadIdx.x - lane), last = 0, sum = 0;
    for (uint32_t i = first + lane; i - lane < min(pixels, first + COUNTED * WARP_SIZE);
         i += WARP_SIZE) {
        uint32_t root = i < pixels ? speckle_root(a.parent, i) : 0;
        unsigned left = __ballot_sync(ALL_LANES, i < pixels);
        while (left) { /* most warps see one root or two */
            uint32_t next = __shfl_sync(ALL_LANES, root, __ffs((int)left) - 1);
            unsigned same = left & __ballot_sync(ALL_LANES, root == next);
            if (next != last && lane == 0 && sum)
                atomicAdd(a.count + last, sum);
            sum = (next == last ? sum : 0) + (uint32_t)__popc(same);
            last = next;
            left &= ~same;
        }
    }
    if (lane == 0 && sum)
        atomicAdd(a.count + last, sum);
}

static unsigned blocks_of(int width, int height, unsigned step) {
    return (unsigned)(((size_t)width * (size_t)height + 256 * step - 1) / (256 * step));
}

void cuda_launch_speckle_join(backend_cuda *cuda, const void *args, int width, int height) {
    const speckle_args *a = static_cast<const speckle_args *>(args);
    auto run = a->source.v ? run_kernel<true> : run_kernel<false>;
    auto join = a->source.v ? join_kernel<true> : join_kernel<false>;
    run<<<cuda_blocks(width, BLOCK_WIDTH, height, BLOCK_HEIGHT), dim3(BLOCK_WIDTH, BLOCK_HEIGHT), 0,
          cuda->stream>>>(*a);
    join<<<cuda_blocks(width, BLOCK_WIDTH, height, BLOCK_HEIGHT), dim3(BLOCK_WIDTH, BLOCK_HEIGHT),
           0, cuda->stream>>>(*a);
    for (unsigned step : {(unsigned)WARP_SIZE, 1u})
        flatten_kernel<<<blocks_of(width, height, step), 256, 0, cuda->stream>>>(*a, step);
}

void cuda_launch_speckle_count(backend_cuda *cuda, const void *args, int width, int height) {
    count_kernel<<<blocks_of(width, height, COUNTED), 256, 0, cuda->stream>>>(
        *static_cast<const speckle_args *>(args));
}
