/*
 * Cross-shaped averaging of all labels, and the costs of the next level: see cross.cuh.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/cross.cuh"
#include "gpu/fusion.h"

/* DOWNSAMPLE: also computes the costs of the next coarser level. */
template <bool DOWNSAMPLE>
static __global__ void __launch_bounds__(CROSS_THREADS, 1024 / CROSS_THREADS)
    cross_kernel(const __grid_constant__ cross_args a, const __grid_constant__ cross_plan p,
                 const __grid_constant__ downsample_cost_args h) {
    int top = (int)blockIdx.z * p.band, bottom = min(top + p.band, a.grid.height);
    int y = max(0, top - p.reach), y_out = y - p.reach, end = p.slots * SLOT_BYTES;
    int at = 0, at_out = (2 * p.slots - p.reach) % p.slots * SLOT_BYTES;
    const cross_source s = {a.grid, a.source, a.arms, 0, a.grid.width};
    cross_place t = place_of(s, p);
    cross_walk in = walk_from(a.grid, t.x - p.halo, y, t.label),
               out = walk_from(a.grid, t.x, top, t.label);
    const uint32_t *column =
                       reinterpret_cast<const uint32_t *>(a.arms) + min(t.x, a.grid.width - 1),
                   *from = column + (ptrdiff_t)y * a.grid.width,
                   *from_out = column + (ptrdiff_t)top * a.grid.width;
    cross_column c = {};
    uint2 words[2] = {}, upper = {}; /* the next row, being read from memory; see sum_rows */
    wait_for_previous_kernel();
    start_block(p, t);
    read_row(s, t, &in, words);
    uint32_t next = __ldg(from), next_out = __ldg(from_out);
    for (; y < bottom + p.reach; y++, y_out++) {
        uint32_t here = next, here_out = next_out;
        keep_row(t, words);
        __syncthreads();
        if (y + 1 < a.grid.height) {
            read_row(s, t, &in, words);
            next = __ldg(from += a.grid.width);
        }
        if (y_out >= top && y_out + 1 < bottom)
            next_out = __ldg(from_out += a.grid.width);
        run_sums(t);
        __syncthreads();
        add_row(t, here, &c);
        ring_put(t, at, c);
        __syncwarp();
        if (y_out >= top) {
            uint2 w = mean_of(t, here_out, at_out, end);
            if (t.exists)
                *reinterpret_cast<uint2 *>(a.out + out.at) = w;
            walk_on(a.grid, &out);
            if constexpr (DOWNSAMPLE) {
                uint4 sums;
                if (ends_node(t, y_out, h.fine.height, w, &upper, &sums))
                    *reinterpret_cast<uint4 *>(h.cost + grid_labels(&h.grid, t.x >> 1, y_out >> 1) +
                                               t.label) = sums;
            }
        }
        at = at + SLOT_BYTES == end ? 0 : at + SLOT_BYTES;
        at_out = at_out + SLOT_BYTES == end ? 0 : at_out + SLOT_BYTES;
    }
}

static cross_plan plan_of(const cross_args *a) {
    return cross_plan_of(a->longest_x, a->longest_y, 2);
}

/* As many bands as fill the multiprocessors once. Blocks that share lines of memory follow each
 * other. */
static dim3 cross_blocks(const backend_cuda *cuda, const cross_args *a, cross_plan *p) {
    unsigned strips = (unsigned)(a->grid.width + p->columns - 1) / (unsigned)p->columns,
             slices = (unsigned)(a->grid.padded + 4 * WORDS - 1) / (4 * WORDS);
    int fit =
        stage_clamp((int)(cuda->max_shared / (cross_shared(p) + 1024)), 1, 1024 / CROSS_THREADS);
    int bands = stage_max(1, fit * cuda->processors / (int)(strips * slices));
    p->band = stage_max((a->grid.height + bands - 1) / bands, 4 * p->reach + 8);
    p->band += p->band & 1;
    return dim3(slices, strips, (unsigned)((a->grid.height + p->band - 1) / p->band));
}

static int fused_length(const backend_cuda *cuda, const struct graph *g, int i) {
    if (!fusion_cross_pair(g, i))
        return 0;
    cross_plan p = plan_of(static_cast<const cross_args *>(graph_virtual_args(g, i)));
    if (!cross_fits(cuda, &p))
        return 0;
    const cross_args *columns = static_cast<const cross_args *>(graph_virtual_args(g, i + 1));
    if (!fusion_allows(g, i + 2, STAGE_downsample_cost))
        return 2;
    const downsample_cost_args *d =
        static_cast<const downsample_cost_args *>(graph_virtual_args(g, i + 2));
    return d->fine8 == columns->out && d->levels == 1 ? 3 : 2;
}

/* length 3: with the next level's costs. */
static void launch_fused(backend_cuda *cuda, const struct graph *g, int i, int length, int slot) {
    cross_args a = *static_cast<const cross_args *>(graph_args(g, i + 1, slot));
    a.source = static_cast<const cross_args *>(graph_args(g, i, slot))->source;
    downsample_cost_args d = {};
    if (length == 3)
        d = *static_cast<const downsample_cost_args *>(graph_args(g, i + 2, slot));
    cross_plan p = plan_of(&a);
    dim3 blocks = cross_blocks(cuda, &a, &p);
    void (*kernel)(cross_args, cross_plan, downsample_cost_args) =
        length == 3 ? cross_kernel<true> : cross_kernel<false>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)cross_shared(&p));
    launch_with_memory(cuda, kernel, blocks, dim3(CROSS_THREADS), cross_shared(&p), a, p, d);
}

extern const cuda_fusion cuda_fuse_cross = {fused_length, launch_fused};
