/*
 * Census and speckles tuned for CUDA: census from a tile in shared memory; speckles joined run by
 * run and counted warp by warp.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend_cuda.h"

enum { TILE_WIDTH = 32, TILE_HEIGHT = 8, REACH_X = 4, REACH_Y = 3 };

static __global__ void census_kernel(const __grid_constant__ census_args a) {
    __shared__ uint8_t tile[TILE_HEIGHT + 2 * REACH_Y][TILE_WIDTH + 2 * REACH_X];
    int left = (int)blockIdx.x * TILE_WIDTH - REACH_X,
        top = (int)blockIdx.y * TILE_HEIGHT - REACH_Y;
    int column = (int)threadIdx.x, row = (int)threadIdx.y;
    for (int y = row; y < TILE_HEIGHT + 2 * REACH_Y; y += TILE_HEIGHT)
        for (int x = column; x < TILE_WIDTH + 2 * REACH_X; x += TILE_WIDTH)
            tile[y][x] = a.grey[(size_t)stage_clamp(top + y, 0, a.height - 1) * a.width +
                                stage_clamp(left + x, 0, a.width - 1)];
    __syncthreads();
    int x = left + REACH_X + column, y = top + REACH_Y + row;
    if (x >= a.width || y >= a.height)
        return;
    uint32_t centre = tile[row + REACH_Y][column + REACH_X], bits[2] = {0, 0};
    int place = 62;
#pragma unroll
    for (int dy = 0; dy <= 2 * REACH_Y; dy++)
#pragma unroll
        for (int dx = 0; dx <= 2 * REACH_X; dx++) {
            if (dx == REACH_X && dy == REACH_Y)
                continue;
            place--;
            if (tile[row + dy][column + dx] < centre)
                bits[place / 32] |= 1u << place % 32;
        }
    a.out[(size_t)y * a.width + x] = (uint64_t)bits[1] << 32 | bits[0];
}

static dim3 tiles(int width, int height) {
    return dim3((unsigned)(width + TILE_WIDTH - 1) / TILE_WIDTH,
                (unsigned)(height + TILE_HEIGHT - 1) / TILE_HEIGHT);
}

static void launch_census(backend_cuda *cuda, const void *args, int width, int height) {
    census_kernel<<<tiles(width, height), dim3(TILE_WIDTH, TILE_HEIGHT), 0, cuda->stream>>>(
        *static_cast<const census_args *>(args));
}

/* ---- speckles: rows first become runs within a warp, so that few pixels are left to join */

static __device__ __forceinline__ bool linked(const speckle_args &a, uint32_t i, uint32_t j) {
    int d = a.source[i], e = a.source[j];
    return d != UNKNOWN && e != UNKNOWN && stage_abs(d - e) <= a.range;
}

/* The first pixel of the run that ends with this one, or the warp's first. */
static __global__ void run_kernel(const __grid_constant__ speckle_args a) {
    int x = (int)(blockIdx.x * TILE_WIDTH + threadIdx.x),
        y = (int)(blockIdx.y * TILE_HEIGHT + threadIdx.y);
    bool exists = x < a.width && y < a.height;
    uint32_t i = (uint32_t)y * (uint32_t)a.width + (uint32_t)x, lane = threadIdx.x;
    bool starts = lane == 0 || !exists || !linked(a, i - 1, i);
    uint32_t before = __ballot_sync(0xffffffffu, starts) & (0xffffffffu >> (31 - lane));
    if (exists)
        a.parent[i] = i - (lane - (31 - (uint32_t)__clz((int)before)));
}

/* The root of i; whoever walks there shortens the way for the next. Only roots are ever given a
 * new parent by join_roots, so a link written late is still one to an ancestor. */
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
static __global__ void join_kernel(const __grid_constant__ speckle_args a) {
    int x = (int)(blockIdx.x * TILE_WIDTH + threadIdx.x),
        y = (int)(blockIdx.y * TILE_HEIGHT + threadIdx.y);
    if (x >= a.width || y >= a.height)
        return;
    uint32_t i = (uint32_t)y * (uint32_t)a.width + (uint32_t)x, below = i + (uint32_t)a.width;
    bool left = x > 0 && linked(a, i - 1, i);
    if (threadIdx.x == 0 && left)
        join_roots(a.parent, i - 1, i);
    if (y + 1 >= a.height || !linked(a, i, below))
        return;
    if (left && linked(a, below - 1, below) && linked(a, i - 1, below - 1))
        return; /* the pixels to the left join the same two */
    join_roots(a.parent, i, below);
}

static __global__ void flatten_kernel(const __grid_constant__ speckle_args a) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (uint32_t)a.width * (uint32_t)a.height)
        a.parent[i] = find_root(a.parent, i);
}

/* One addition for all pixels of a warp that have the same root. */
static __global__ void count_kernel(const __grid_constant__ speckle_args a) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (uint32_t)a.width * (uint32_t)a.height)
        return;
    uint32_t root = speckle_root(a.parent, i), left = __activemask();
    for (;;) { /* most warps see one root or two */
        uint32_t first = __shfl_sync(left, root, __ffs((int)left) - 1);
        uint32_t same = __ballot_sync(left, root == first);
        if (root == first) {
            if ((int)(threadIdx.x & 31) == __ffs((int)same) - 1)
                atomicAdd(a.count + root, (uint32_t)__popc(same));
            return;
        }
        left &= ~same;
    }
}

static void launch_speckle_join(backend_cuda *cuda, const void *args, int width, int height) {
    const speckle_args *a = static_cast<const speckle_args *>(args);
    unsigned blocks = (unsigned)(((size_t)width * (size_t)height + 255) / 256);
    run_kernel<<<tiles(width, height), dim3(TILE_WIDTH, TILE_HEIGHT), 0, cuda->stream>>>(*a);
    join_kernel<<<tiles(width, height), dim3(TILE_WIDTH, TILE_HEIGHT), 0, cuda->stream>>>(*a);
    flatten_kernel<<<blocks, 256, 0, cuda->stream>>>(*a);
}

static void launch_speckle_count(backend_cuda *cuda, const void *args, int width, int height) {
    unsigned blocks = (unsigned)(((size_t)width * (size_t)height + 255) / 256);
    count_kernel<<<blocks, 256, 0, cuda->stream>>>(*static_cast<const speckle_args *>(args));
}

void cuda_tune_image(backend_cuda *cuda) {
    cuda->launches[STAGE_census] = launch_census;
    cuda->launches[STAGE_speckle_join] = launch_speckle_join;
    cuda->launches[STAGE_speckle_count] = launch_speckle_count;
}
