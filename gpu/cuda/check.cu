/*
 * The check of a map against itself optimised for CUDA. It does not search for the pixel that
 * hides another one: for each row it stores what the right camera sees in each 1/16 px.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"
#include "gpu/cuda/launch.cuh"

enum { THREADS = 1024 };
enum { NEAR = 8 }; /* 1/16 px: how far apart two pixels may land and still hide each other */

/* Columns of the right view in 1/16 px that a row's pixels may ask for, a px more on both sides.
 * The same sixteenth of neighbouring px lies side by side. */
static __host__ __device__ __forceinline__ int columns_of(int width) {
    return 16 * ((width + 2 + 3) / 4 * 4);
}

DEVICE int place_of(int column, int stride) {
    return column % 16 * stride + column / 16;
}

/* Largest disparity that lands on a column, over 0: none. A nearer pixel further right than range
 * would have to be nearer by more than all labels. */
static __device__ void land(const check_args &a, const int16_t *row, uint32_t *seen) {
    uint4 *clear = reinterpret_cast<uint4 *>(seen);
    for (int i = (int)threadIdx.x; i < columns_of(a.width) / 4; i += THREADS)
        clear[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    for (int x = (int)threadIdx.x; x < a.width; x += THREADS) {
        int d = row[x], column = 16 * (x + 1) - d;
        if (d != UNKNOWN && column >= 0 && column < columns_of(a.width))
            atomicMax(seen + place_of(column, columns_of(a.width) / 16), (uint32_t)(d - UNKNOWN));
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(THREADS)
    check_kernel(const __grid_constant__ check_args a) {
    extern __shared__ uint4 memory[];
    uint32_t *seen = reinterpret_cast<uint32_t *>(memory);
    size_t at = (size_t)blockIdx.x * (size_t)a.width;
    const int16_t *row = a.left + at;
    land(a, row, seen);
    for (int x = (int)threadIdx.x; x < a.width; x += THREADS) {
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

void cuda_launch_check(backend_cuda *cuda, const void *args, int width, int height) {
    const check_args *a = static_cast<const check_args *>(args);
    size_t shared = sizeof(uint32_t) * (size_t)columns_of(a->width);
    if (a->right || a->tolerance < 0 || shared > cuda->max_shared) {
        cuda->plain[STAGE_check](cuda, args, width, height);
        return;
    }
    allow_shared(cuda, check_kernel);
    check_kernel<<<(unsigned)height, THREADS, shared, cuda->stream>>>(*a);
}
