/*
 * The pyramids of costs and messages optimised for CUDA: 16 labels a thread, so that volumes are
 * read and written 16 bytes at a time.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/packed_u16x2.h"
#include "gpu/cuda/launch.cuh"

enum { THREADS = 256 };

/* A thread's 16 labels. */
struct label_block {
    int x, y, first;
    bool exists;
};

DEVICE label_block block_of(const grid &g) {
    int group = g.padded / LABEL_BLOCK, i = (int)(blockIdx.x * THREADS + threadIdx.x);
    label_block b = {i / group, (int)blockIdx.y, i % group * LABEL_BLOCK, false};
    b.exists = b.x < g.width;
    return b;
}

/* The same of the pixels of one parity. */
DEVICE label_block block_of_parity(const grid &g, int parity) {
    label_block b = block_of(g);
    b.x = grid_column(parity, b.x, b.y);
    b.exists = b.x < g.width;
    return b;
}

DEVICE label_words load_words(const void *from) {
    uint4 w = __ldg(static_cast<const uint4 *>(from));
    return {{w.x, w.y, w.z, w.w}};
}

DEVICE void store_words(void *to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    *static_cast<uint4 *>(to) = make_uint4(a, b, c, d);
}

DEVICE uint32_t add_saturated(uint32_t a, uint32_t b) {
    return u16x2_min(a + b, u16x2_broadcast(COST_SATURATION)); /* two of at most 30720 fit a lane */
}

/* Children of a node: 0 and 3 have parity 0, 1 and 2 parity 1; all are number x of their rows. */
static __global__ void __launch_bounds__(THREADS)
    downsample_kernel(const __grid_constant__ downsample_cost_args a) {
    wait_for_previous_kernel();
    label_block b = block_of(a.grid);
    if (!b.exists)
        return;
    uint16_t *out = a.cost + grid_labels(&a.grid, b.x, b.y) + b.first;
    uint32_t total[8] = {};
    label_sums sums = {};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int x = 2 * b.x + (k & 1), y = 2 * b.y + (k >> 1);
        if (x >= a.fine.width || y >= a.fine.height)
            continue;
        size_t at = grid_labels(&a.fine, x, y) + (size_t)b.first;
        if (a.fine8) {
            label_words w = load_words(a.fine8 + at);
            sums_add(&sums, &w);
            continue;
        }
        label_words low = load_words(a.fine16 + at), high = load_words(a.fine16 + at + 8);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            total[i] = add_saturated(total[i], low.w[i]);
            total[i + 4] = add_saturated(total[i + 4], high.w[i]);
        }
    }
    if (a.fine8) {
        packed_labels l;
        sums_to_packed(&sums, &l);
        packed_to_u16(&l, total);
    }
    store_words(out, total[0], total[1], total[2], total[3]);
    store_words(out + 8, total[4], total[5], total[6], total[7]);
}

void cuda_launch_downsample_cost(backend_cuda *cuda, const void *args, int, int) {
    const downsample_cost_args *a = static_cast<const downsample_cost_args *>(args);
    int threads = a->grid.width * (a->grid.padded / LABEL_BLOCK);
    launch_dependent(cuda, downsample_kernel, cuda_blocks(threads, THREADS, a->grid.height, 1),
                     dim3(THREADS), *a);
}

/* A thread each 16 labels of a pixel of one parity. */
template <bool ZERO>
static __global__ void __launch_bounds__(THREADS)
    start_kernel(const __grid_constant__ start_messages_args a) {
    wait_for_previous_kernel();
    label_block b = block_of_parity(a.grid, a.parity);
    if (!b.exists)
        return;
    size_t from = ZERO ? 0 : grid_labels(&a.coarse, b.x / 2, b.y / 2) + (size_t)b.first,
           to = grid_labels(&a.grid, b.x, b.y) + (size_t)b.first;
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++) {
        label_words w = {};
        if (!ZERO)
            w = load_words(a.parent[r] + from);
        store_words(a.message[r] + to, w.w[0], w.w[1], w.w[2], w.w[3]);
    }
}

void cuda_launch_start_messages(backend_cuda *cuda, const void *args, int, int) {
    const start_messages_args *a = static_cast<const start_messages_args *>(args);
    int threads = a->grid.half * (a->grid.padded / LABEL_BLOCK);
    launch_dependent(cuda, a->parent[0] ? start_kernel<false> : start_kernel<true>,
                     cuda_blocks(threads, THREADS, a->grid.height, 1), dim3(THREADS), *a);
}
