/*
 * Data costs of the labels that tiles keep, see gpu/stages/pruning.h, with those of the next level.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_u16x2.h"

enum { COPY_THREADS = 256 };

/* A thread each block that a node of the next level keeps: of its four pixels. */
static __global__ void __launch_bounds__(COPY_THREADS)
    kept_copy_kernel(const __grid_constant__ pruned_cost_args a,
                     const __grid_constant__ pruned_downsample_args h) {
    int i = (int)(blockIdx.x * COPY_THREADS + threadIdx.x), k = i % KEPT_MOST, x = i / KEPT_MOST,
        y = (int)blockIdx.y;
    wait_for_previous_kernel();
    if (2 * x >= a.grid.width)
        return;
    int block = __ldg(kept_at(&a.pruning, 2 * x, 2 * y) + k);
    if (block == NOT_KEPT)
        return;
    label_sums sums = {};
#pragma unroll
    for (int child = 0; child < 4; child++) {
        int px = 2 * x + (child & 1), py = 2 * y + (child >> 1);
        if (px >= a.grid.width || py >= a.grid.height)
            continue;
        const uint8_t *from =
            a.source + grid_labels(&a.grid, px, py) + (size_t)(block * LABEL_BLOCK);
        uint4 w = __ldg(reinterpret_cast<const uint4 *>(from));
        *reinterpret_cast<uint4 *>(a.out + pruned_labels(&a.grid, k, grid_pixel(&a.grid, px, py))) =
            w;
        label_words labels = {{w.x, w.y, w.z, w.w}};
        sums_add(&sums, &labels);
    }
    if (!h.out)
        return;
    packed_labels packed;
    uint32_t w[8];
    sums_to_packed(&sums, &packed);
    packed_to_u16(&packed, w);
    uint4 *to =
        reinterpret_cast<uint4 *>(h.out + pruned_labels(&h.grid, k, grid_pixel(&h.grid, x, y)));
    to[0] = make_uint4(w[0], w[1], w[2], w[3]);
    to[1] = make_uint4(w[4], w[5], w[6], w[7]);
}

/* h: null where the next level's costs are not wanted. */
static void launch_kept(backend_cuda *cuda, const pruned_cost_args *a,
                        const pruned_downsample_args *h) {
    const pruned_downsample_args next = h ? *h : pruned_downsample_args();
    int nodes = (a->grid.width + 1) / 2;
    launch_dependent(cuda, kept_copy_kernel,
                     cuda_blocks(nodes * KEPT_MOST, COPY_THREADS, a->grid.height, 2),
                     dim3(COPY_THREADS), *a, next);
}

void cuda_launch_pruned_cost(backend_cuda *cuda, const void *args, int, int) {
    launch_kept(cuda, static_cast<const pruned_cost_args *>(args), nullptr);
}

int cuda_unit_kept_costs(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    const pruned_cost_args *a = cuda_args<pruned_cost_args>(g, unit, STAGE_pruned_cost, slot);
    const pruned_downsample_args *next =
        cuda_args<pruned_downsample_args>(g, unit, STAGE_pruned_downsample, slot);
    launch_kept(cuda, a, next);
    return 2;
}
