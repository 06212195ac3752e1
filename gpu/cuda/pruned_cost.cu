/*
 * Data costs of the labels that tiles keep, see gpu/stages/pruning.h: copied or averaged, with
 * those of the next level.
 * SPDX-License-Identifier: MIT
 */
/* As many labels as a tile keeps together, though a line of memory has twice as many. */
#define CROSS_WORDS 4
#include "gpu/cuda/cross.cuh"

/* Rows of a block, which averages a slice of labels from the first tile that keeps one of them to
 * the last one; and threads of one that copies. */
enum { BAND = 4 * PRUNING_TILE, COPY_THREADS = 256 };

DEVICE uint32_t kept_word(const pruning &p, int tile_x, int tile_y) {
    return __ldg(reinterpret_cast<const uint32_t *>(p.kept) + (size_t)tile_y * (size_t)p.columns +
                 tile_x);
}

/* Bits of the bytes in which a block is kept. */
DEVICE uint32_t kept_bits(uint32_t kept, int block) {
    return __vcmpeq4(kept, 0x01010101u * (uint32_t)block);
}

/* ---- averaged */

/* The rows of tiles from the first to the last one that keeps a block, among those of a strip and
 * band; none: last < first. */
struct tile_rows {
    int first, last;
};
static_assert(sizeof(tile_rows) <= OWN_SHARED, "cross_fits() counts it");

DEVICE tile_rows rows_that_keep(const pruned_cost_args &a, const cross_plan &p, int block) {
    __shared__ tile_rows rows;
    int left = (int)blockIdx.y * p.columns / PRUNING_TILE,
        top = (int)blockIdx.z * p.band / PRUNING_TILE,
        across =
            min(p.columns, a.grid.width - PRUNING_TILE * left + PRUNING_TILE - 1) / PRUNING_TILE,
        down = min(p.band, a.grid.height - PRUNING_TILE * top + PRUNING_TILE - 1) / PRUNING_TILE;
    if (threadIdx.x == 0)
        rows = {a.grid.height, -1};
    __syncthreads();
    for (int i = (int)threadIdx.x; i < across * down; i += CROSS_THREADS) {
        uint32_t kept = kept_word(a.pruning, left + i % across, top + i / across);
        if (!kept_bits(kept, block))
            continue;
        atomicMin(&rows.first, top + i / across);
        atomicMax(&rows.last, top + i / across);
    }
    __syncthreads();
    return rows;
}

/* See cross_kernel(). h.out is null where the next level's costs are not wanted. */
static __global__ void __launch_bounds__(CROSS_THREADS, 1024 / CROSS_THREADS)
    kept_cross_kernel(const __grid_constant__ pruned_cost_args a,
                      const __grid_constant__ cross_plan p,
                      const __grid_constant__ pruned_downsample_args h) {
    wait_for_previous_kernel();
    static_assert(4 * WORDS == LABEL_BLOCK, "a block of threads has one of labels");
    const int block = (int)blockIdx.x;
    const tile_rows rows = rows_that_keep(a, p, block);
    if (rows.last < rows.first)
        return;
    int top = PRUNING_TILE * rows.first,
        bottom = min(PRUNING_TILE * rows.last + PRUNING_TILE, a.grid.height);
    int y = max(0, a.y + top - p.reach), y_out = y - p.reach - a.y, end = p.slots * SLOT_BYTES;
    int at = 0, at_out = (2 * p.slots - p.reach) % p.slots * SLOT_BYTES;
    const cross_source s = {a.source_grid, a.source, a.arms, a.x, a.grid.width};
    const grid kept_grid = {a.grid.width, a.grid.height, a.grid.half, {}, LABEL_BLOCK, LABEL_BLOCK};
    cross_place t = place_of(s, p);
    int within = t.label % LABEL_BLOCK, column_x = min(t.x, a.grid.width - 1);
    cross_walk in = walk_from(a.source_grid, a.x + t.x - p.halo, y, t.label),
               out = walk_from(kept_grid, t.x, top, within);
    const uint32_t *column = reinterpret_cast<const uint32_t *>(a.arms) + a.x + column_x,
                   *from = column + (ptrdiff_t)y * a.source_grid.width,
                   *from_out = column + (ptrdiff_t)(a.y + top) * a.source_grid.width;
    cross_column c = {};
    uint2 words[2] = {}, upper = {};
    uint32_t kept = 0;
    start_block(p, t);
    read_row(s, t, &in, words);
    uint32_t next = __ldg(from), next_out = __ldg(from_out);
    for (; y < a.y + bottom + p.reach; y++, y_out++) {
        uint32_t here = next, here_out = next_out;
        keep_row(t, words);
        __syncthreads();
        if (y + 1 < a.source_grid.height) {
            read_row(s, t, &in, words);
            next = __ldg(from += a.source_grid.width);
        }
        if (y_out >= top && y_out + 1 < bottom)
            next_out = __ldg(from_out += a.source_grid.width);
        run_sums(t);
        __syncthreads();
        add_row(t, here, &c);
        ring_put(t, at, c);
        __syncwarp();
        if (y_out >= top) {
            if (y_out % PRUNING_TILE == 0)
                kept = kept_bits(
                    kept_word(a.pruning, column_x / PRUNING_TILE, y_out / PRUNING_TILE), block);
            int k = kept ? (__ffs((int)kept) - 1) >> 3 : 0;
            uint2 w = mean_of(t, here_out, at_out, end);
            uint4 sums;
            if (t.exists && kept)
                *reinterpret_cast<uint2 *>(a.out + pruned_volume(&kept_grid, k) + out.at) = w;
            walk_on(kept_grid, &out);
            if (ends_node(t, y_out, a.grid.height, w, &upper, &sums) && kept && h.out)
                *reinterpret_cast<uint4 *>(
                    h.out + pruned_labels(&h.grid, k, grid_pixel(&h.grid, t.x >> 1, y_out >> 1)) +
                    within) = sums;
        }
        at = at + SLOT_BYTES == end ? 0 : at + SLOT_BYTES;
        at_out = at_out + SLOT_BYTES == end ? 0 : at_out + SLOT_BYTES;
    }
}

/* ---- copied */

/* A thread each block that a node of the next level keeps: of its four pixels. */
static __global__ void __launch_bounds__(COPY_THREADS)
    kept_copy_kernel(const __grid_constant__ pruned_cost_args a,
                     const __grid_constant__ pruned_downsample_args h) {
    int i = (int)(blockIdx.x * COPY_THREADS + threadIdx.x), k = i % KEPT_MOST, x = i / KEPT_MOST,
        y = (int)blockIdx.y;
    wait_for_previous_kernel();
    if (2 * x >= a.grid.width)
        return;
    int block =
        (int)(kept_word(a.pruning, 2 * x / PRUNING_TILE, 2 * y / PRUNING_TILE) >> 8 * k & 255);
    if (block == NOT_KEPT)
        return;
    label_sums sums = {};
#pragma unroll
    for (int child = 0; child < 4; child++) {
        int px = 2 * x + (child & 1), py = 2 * y + (child >> 1);
        if (px >= a.grid.width || py >= a.grid.height)
            continue;
        const uint8_t *from = a.source + grid_labels(&a.source_grid, a.x + px, a.y + py) +
                              (size_t)(block * LABEL_BLOCK);
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
    if (!a->arms) {
        int nodes = (a->grid.width + 1) / 2;
        launch_dependent(cuda, kept_copy_kernel,
                         cuda_blocks(nodes * KEPT_MOST, COPY_THREADS, a->grid.height, 2),
                         dim3(COPY_THREADS), *a, next);
        return;
    }
    cross_plan p = cross_plan_of(a->longest_x, a->longest_y, PRUNING_TILE);
    p.band = BAND;
    if (!cross_fits(cuda, &p)) {
        cuda->plain[STAGE_pruned_cost](cuda, a, a->grid.width, a->grid.height);
        if (h)
            cuda->plain[STAGE_pruned_downsample](cuda, h, h->grid.width, h->grid.height);
        return;
    }
    int labels = 4 * WORDS;
    dim3 blocks((unsigned)((a->grid.padded + labels - 1) / labels),
                (unsigned)((a->grid.width + p.columns - 1) / p.columns),
                (unsigned)((a->grid.height + BAND - 1) / BAND));
    cudaFuncSetAttribute(kept_cross_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)cross_shared(&p));
    launch_with_memory(cuda, kept_cross_kernel, blocks, dim3(CROSS_THREADS), cross_shared(&p), *a,
                       p, next);
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
