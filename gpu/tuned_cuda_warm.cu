/*
 * The warm start's look at the pictures tuned for CUDA: a warp a tile.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend_cuda.h"

/* Blocks of a tile, over threads; each takes all channels of its block. */
enum { CHANGE_THREADS = HEAT_WIDTH / CHANGE_BLOCK * (HEAT_HEIGHT / CHANGE_BLOCK) };
static_assert(CHANGE_THREADS == 32, "a warp a tile");

static __global__ void __launch_bounds__(CHANGE_THREADS)
    change_kernel(const __grid_constant__ change_args a) {
    int across = HEAT_WIDTH / CHANGE_BLOCK, thread = (int)threadIdx.x;
    int x = (int)blockIdx.x * HEAT_WIDTH + thread % across * CHANGE_BLOCK,
        y = (int)blockIdx.y * HEAT_HEIGHT + thread / across * CHANGE_BLOCK;
    uint32_t sum[2] = {0, 0};
    for (int c = 0; c < a.channels; c++)
        change_block(&a, x * a.channels + c, y, sum);
    for (int step = 16; step; step /= 2)
        for (int k = 0; k < 2; k++)
            sum[k] += __shfl_xor_sync(0xffffffffu, sum[k], step);
    if (thread < 2)
        a.change[2 * (blockIdx.y * gridDim.x + blockIdx.x) + (unsigned)thread] = sum[thread];
}

static void launch_change(backend_cuda *cuda, const void *args, int columns, int rows) {
    change_kernel<<<dim3((unsigned)columns, (unsigned)rows), CHANGE_THREADS, 0, cuda->stream>>>(
        *static_cast<const change_args *>(args));
}

void cuda_tune_warm(backend_cuda *cuda) {
    cuda->launches[STAGE_change] = launch_change;
}
