/*
 * Cross-shaped averaging of all labels, and the costs of the next level: see cross.cuh.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/cross.cuh"

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

bool cuda_leaves_out(void *context, const struct graph *g, int i) {
    if (g->passes[i].stage != STAGE_cross_x)
        return false;
    cross_plan p = plan_of(static_cast<const cross_args *>(graph_virtual_args(g, i)));
    return cross_fits(static_cast<const backend_cuda *>(context), &p);
}

/* Both passes, with the next level's costs where they follow. */
int cuda_unit_averages(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    const cross_args *rows = cuda_args<cross_args>(g, unit, STAGE_cross_x, slot);
    if (!rows)
        return 0;
    cross_args a = *cuda_args<cross_args>(g, unit, STAGE_cross_y, slot);
    const downsample_cost_args *next =
        cuda_args<downsample_cost_args>(g, unit, STAGE_downsample_cost, slot);
    bool sums = next && next->levels == 1;
    cross_plan p = plan_of(&a);
    if (!cross_fits(cuda, &p))
        return 0;
    a.source = rows->source;
    dim3 blocks = cross_blocks(cuda, &a, &p);
    void (*kernel)(cross_args, cross_plan, downsample_cost_args) =
        sums ? cross_kernel<true> : cross_kernel<false>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)cross_shared(&p));
    launch_with_memory(cuda, kernel, blocks, dim3(CROSS_THREADS), cross_shared(&p), a, p,
                       sums ? *next : downsample_cost_args());
    return sums ? 3 : 2;
}
