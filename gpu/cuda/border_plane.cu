/*
 * Holes at the borders optimised for CUDA. Planes: a warp a row of the picture, whose lanes share
 * the rows of the region. Filling: a block a row, which finds its first and last known pixel.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"

enum { WARPS = 4 };

/* The first known pixel of a row, or width. */
DEVICE int first_known(const int16_t *row, int width) {
    for (int x = 0; x < width; x += WARP_SIZE) {
        int at = x + (int)threadIdx.x;
        unsigned known = __ballot_sync(ALL_LANES, at < width && row[at] != UNKNOWN);
        if (known)
            return x + __ffs((int)known) - 1;
    }
    return width;
}

static __global__ void __launch_bounds__(WARPS *WARP_SIZE)
    border_plane_kernel(const __grid_constant__ border_plane_args a) {
    wait_for_previous_kernel();
    int y = (int)(blockIdx.x * WARPS + threadIdx.y);
    if (y >= a.height)
        return;
    const int16_t *row = a.source + (size_t)y * (size_t)a.width;
    int x = first_known(row, a.width);
    plane_sums s = {};
    if (x > 0 && x < a.width) {
        surface_args map = border_region(&a);
        int up = surface_arm(&map, x, y, 0, -1), down = surface_arm(&map, x, y, 0, 1);
        for (int dy = (int)threadIdx.x - up; dy <= down; dy += WARP_SIZE)
            plane_add_arms(&map, x, y, dy, row[x], &s);
    }
    s = {warp_sum(s.n),  warp_sum(s.x), warp_sum(s.y),  warp_sum(s.xx), warp_sum(s.xy),
         warp_sum(s.yy), warp_sum(s.d), warp_sum(s.xd), warp_sum(s.yd)};
    if (threadIdx.x == 0)
        a.out[y] = border_plane_of(&s);
}

void cuda_launch_border_plane(backend_cuda *cuda, const void *args, int, int height) {
    launch_dependent(cuda, border_plane_kernel, dim3((unsigned)(height + WARPS - 1) / WARPS),
                     dim3(WARP_SIZE, WARPS), *static_cast<const border_plane_args *>(args));
}

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    extend_kernel(const __grid_constant__ extend_args a) {
    __shared__ int ends[2]; /* width - 1 - the first known column, and the last one; -1: none */
    wait_for_previous_kernel();
    const int16_t *row = a.source + (size_t)blockIdx.x * (size_t)a.width;
    if (threadIdx.x < 2)
        ends[threadIdx.x] = -1;
    __syncthreads();
    int first = a.width, last = -1;
    for (int x = (int)threadIdx.x; x < a.width; x += THREADS)
        if (row[x] != UNKNOWN) {
            first = min(first, x);
            last = x;
        }
    if (last >= 0) {
        atomicMax(ends, a.width - 1 - first);
        atomicMax(ends + 1, last);
    }
    __syncthreads();
    first = a.width - 1 - ends[0];
    last = ends[1];
    for (int x = (int)threadIdx.x; x < a.width; x += THREADS) {
        int d = x > last && last >= 0 ? row[last] : row[x];
        if (x < first && first < a.width)
            d = plane_at_border(&a.plane[blockIdx.x], row[first], first - x, a.minimum);
        a.out[(size_t)blockIdx.x * (size_t)a.width + (size_t)x] = (int16_t)d;
    }
}

void cuda_launch_extend(backend_cuda *cuda, const void *args, int width, int height) {
    const extend_args *a = static_cast<const extend_args *>(args);
    if (width != a->width)
        cuda->plain[STAGE_extend](cuda, args, width, height);
    else
        launch_dependent(cuda, extend_kernel, dim3((unsigned)height), dim3(THREADS), *a);
}
