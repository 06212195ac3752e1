/*
 * Occlusion masks optimised for CUDA: 16 labels a thread, so that a pixel's costs are read and
 * written in whole words.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/bp.cuh"
#include "gpu/cuda/launch.cuh"

enum { MASK_ROWS = 8 };

/* The threads of a pixel lie in one warp; all of them have read its mask before the first one
 * writes it. */
static __global__ void mask_cost_kernel(const __grid_constant__ mask_cost_args a, int group) {
    int pixels = WARP_SIZE / group, pixel = (int)threadIdx.x / group,
        in_group = (int)threadIdx.x - pixel * group;
    int i = (int)blockIdx.x * pixels + pixel, y = (int)(blockIdx.y * MASK_ROWS + threadIdx.y),
        x = grid_column(a.parity, i, y);
    bool exists = pixel < pixels && x < a.grid.width && y < a.grid.height;
    size_t at = (size_t)y * (size_t)a.grid.width + (size_t)x;
    int masked = exists ? is_masked(&a, x, y) : 0;
    bool changes = exists && (a.first || a.mask[at] != masked);
    __syncwarp();
    if (!changes)
        return;
    if (in_group == 0)
        a.mask[at] = (uint8_t)masked;
    size_t own = grid_labels(&a.grid, x, y) + (size_t)(LABEL_BLOCK * in_group);
    uint4 zero = make_uint4(0, 0, 0, 0);
    for (int half = 0; half < (a.cost16 ? 2 : 1); half++) {
        const void *from = a.cost16 ? static_cast<const void *>(a.cost16 + own + 8 * half)
                                    : static_cast<const void *>(a.cost8 + own);
        void *to = a.cost16 ? static_cast<void *>(a.masked16 + own + 8 * half)
                            : static_cast<void *>(a.masked8 + own);
        *static_cast<uint4 *>(to) = masked ? zero : *static_cast<const uint4 *>(from);
    }
}

void cuda_launch_mask_cost(backend_cuda *cuda, const void *args, int, int) {
    const mask_cost_args *a = static_cast<const mask_cost_args *>(args);
    int group = a->grid.padded / LABEL_BLOCK, pixels = WARP_SIZE / group;
    dim3 blocks = cuda_blocks(a->grid.half, pixels, a->grid.height, MASK_ROWS);
    mask_cost_kernel<<<blocks, dim3(WARP_SIZE, MASK_ROWS), 0, cuda->stream>>>(*a, group);
}
