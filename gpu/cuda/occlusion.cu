/*
 * Occlusion masks optimised for CUDA: 16 labels a thread, so that a pixel's beliefs and costs are
 * read and written in whole words.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/wta.cuh"

template <int GROUP>
__global__ void BP_BOUNDS best_label_kernel(const __grid_constant__ bp_level a, uint16_t *label) {
    if constexpr (!LEFT_OUT(GROUP)) {
        wait_for_previous_kernel();
        work_item p = work_item_of<GROUP>(a, a.parity);
        if (p.y >= a.grid.height)
            return;
        packed_labels belief = belief_in_memory<false>(a, p, a.parity);
        uint32_t key = minimum_belief<GROUP>(a.grid, p, &belief);
        if (p.exists && p.in_group == 0)
            label[(size_t)p.y * (size_t)a.grid.width + (size_t)p.x] = (uint16_t)key;
    }
}

void cuda_launch_best_label(backend_cuda *cuda, const void *args, int width, int height) {
    static void (*const kernels[BP_KERNELS])(bp_level, uint16_t *) = BY_GROUP(best_label_kernel);
    const best_label_args *b = static_cast<const best_label_args *>(args);
    if (b->cost16) { /* beliefs of coarse levels do not fit into twelve bits */
        cuda->plain[STAGE_best_label](cuda, args, width, height);
        return;
    }
    bp_level a = bp_level_of_grid(&b->grid);
    a.cost8 = b->cost8;
    a.parity = b->parity;
    for (int r = 0; r < DIRECTIONS; r++)
        a.in[r] = b->message[r] + (size_t)!a.parity * a.plane;
    launch_dependent(cuda, kernels[bp_kernel_for(cuda, &a)], bp_grid(&a), bp_block(), a, b->label);
}

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
