/*
 * Check and fill tuned for CUDA. Instead of looking for whoever hides a pixel, a row writes down
 * what the right view sees in each 1/16 px; filling walks a row once forward and once back with a
 * warp.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend_cuda.h"

enum { CHECK_THREADS = 1024, FILL_THREADS = 128 };
enum { NEAR = 8 }; /* 1/16 px: how far apart two pixels may land and still hide each other */

/* Columns of the right view in 1/16 px that a row's pixels may ask for, a px more on both sides.
 * The same sixteenth of neighbouring px lies side by side. */
static __host__ __device__ __forceinline__ int columns_of(int width) {
    return 16 * ((width + 2 + 3) / 4 * 4);
}

static __device__ __forceinline__ int place_of(int column, int stride) {
    return column % 16 * stride + column / 16;
}

/* Largest disparity that lands on a column, over 0: none. A nearer pixel further right than range
 * would have to be nearer by more than all labels. */
static __device__ void land(const check_args &a, const int16_t *row, uint32_t *seen) {
    uint4 *clear = reinterpret_cast<uint4 *>(seen);
    for (int i = (int)threadIdx.x; i < columns_of(a.width) / 4; i += CHECK_THREADS)
        clear[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    for (int x = (int)threadIdx.x; x < a.width; x += CHECK_THREADS) {
        int d = row[x], column = 16 * (x + 1) - d;
        if (d != UNKNOWN && column >= 0 && column < columns_of(a.width))
            atomicMax(seen + place_of(column, columns_of(a.width) / 16), (uint32_t)(d - UNKNOWN));
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(CHECK_THREADS)
    check_kernel(const __grid_constant__ check_args a) {
    extern __shared__ uint4 memory[];
    uint32_t *seen = reinterpret_cast<uint32_t *>(memory);
    size_t at = (size_t)blockIdx.x * (size_t)a.width;
    const int16_t *row = a.left + at;
    land(a, row, seen);
    for (int x = (int)threadIdx.x; x < a.width; x += CHECK_THREADS) {
        int d = row[x], xr = x - ((d + 8) >> 4);
        bool keep = a.confidence[at + x] >= a.min_confidence && xr >= 0 && xr < a.width;
        if (keep) {
            int column = 16 * (x + 1) - d;
            uint32_t nearest = 0;
#pragma unroll
            for (int k = -NEAR; k <= NEAR; k++)
                nearest = max(nearest, seen[place_of(column + k, columns_of(a.width) / 16)]);
            keep = (int)nearest + UNKNOWN <= d + a.tolerance;
        }
        a.out[at + x] = (int16_t)(keep ? d : UNKNOWN);
    }
}

static void launch_check(backend_cuda *cuda, const void *args, int width, int height) {
    const check_args *a = static_cast<const check_args *>(args);
    size_t shared = sizeof(uint32_t) * (size_t)columns_of(a->width);
    if (a->right || a->tolerance < 0 || shared > cuda->shared_most) {
        cuda->plain[STAGE_check](cuda, args, width, height);
        return;
    }
    cudaFuncSetAttribute(check_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    check_kernel<<<(unsigned)height, CHECK_THREADS, shared, cuda->stream>>>(*a);
}

/* A block a row. Its first warp hands known values on, forward and then back, from lane to lane and
 * from 32 pixels to the next; the row lies in shared memory so that none of this waits for more. */
static __device__ void hand_on(int16_t *row, int16_t *filled, int width) {
    int lane = (int)threadIdx.x, last = UNKNOWN, start = 0;
    for (; start < width; start += 32) {
        int d = row[start + lane];
        uint32_t known = __ballot_sync(0xffffffffu, d != UNKNOWN);
        uint32_t before = known & (0xffffffffu >> (31 - lane));
        int value = __shfl_sync(0xffffffffu, d, before ? 31 - __clz((int)before) : 0);
        filled[start + lane] = (int16_t)(before ? value : last);
        value = __shfl_sync(0xffffffffu, d, known ? 31 - __clz((int)known) : 0);
        last = known ? value : last;
    }
    last = UNKNOWN;
    for (start -= 32; start >= 0; start -= 32) {
        int d = row[start + lane];
        uint32_t known = __ballot_sync(0xffffffffu, d != UNKNOWN);
        uint32_t after = known & (0xffffffffu << lane);
        int value = __shfl_sync(0xffffffffu, d, after ? __ffs((int)after) - 1 : 0);
        value = after ? value : last;
        int before = filled[start + lane];
        if (before == UNKNOWN || (value != UNKNOWN && value < before))
            filled[start + lane] = (int16_t)value;
        value = __shfl_sync(0xffffffffu, d, known ? __ffs((int)known) - 1 : 0);
        last = known ? value : last;
    }
}

static __global__ void __launch_bounds__(FILL_THREADS)
    fill_kernel(const __grid_constant__ fill_args a) {
    extern __shared__ int16_t rows[];
    int padded = (a.width + 31) / 32 * 32;
    size_t at = (size_t)blockIdx.x * (size_t)a.width;
    for (int x = (int)threadIdx.x; x < padded; x += FILL_THREADS)
        rows[x] = x < a.width ? a.source[at + x] : (int16_t)UNKNOWN;
    __syncthreads();
    if (threadIdx.x < 32)
        hand_on(rows, rows + padded, a.width);
    __syncthreads();
    for (int x = (int)threadIdx.x; x < a.width; x += FILL_THREADS)
        a.out[at + x] = rows[padded + x];
}

/* Along columns only whole rows are left to fill, so the plain form is fast enough. */
static void launch_fill(backend_cuda *cuda, const void *args, int width, int height) {
    const fill_args *a = static_cast<const fill_args *>(args);
    size_t shared = sizeof(int16_t) * 2 * (size_t)((width + 31) / 32 * 32);
    if (a->dy || shared > cuda->shared_most) {
        cuda->plain[STAGE_fill](cuda, args, width, height);
        return;
    }
    if (shared > 48 * 1024)
        cudaFuncSetAttribute(fill_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    fill_kernel<<<(unsigned)height, FILL_THREADS, shared, cuda->stream>>>(*a);
}

void cuda_tune_refine(backend_cuda *cuda) {
    cuda->launches[STAGE_check] = launch_check;
    cuda->launches[STAGE_fill] = launch_fill;
}
