/*
 * Cost volumes tuned for CUDA: cross-shaped averaging and pyramid with 16 labels a thread, so that
 * volumes are read and written 16 bytes at a time.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/lanes.h"
#include "gpu/tuned_cuda_launch.cuh"

enum { THREADS = 256 };

static dim3
label_blocks(const struct grid *g) { /* a thread each 16 labels of a pixel, row by row */
    int blocks = g->width * (g->padded / LABEL_BLOCK);
    return dim3((unsigned)((blocks + THREADS - 1) / THREADS), (unsigned)g->height);
}

/* A thread's 16 labels. */
struct label_block {
    int x, y, first;
    bool exists;
};

static __device__ __forceinline__ label_block block_of(const grid &g) {
    int group = g.padded / LABEL_BLOCK, i = (int)(blockIdx.x * THREADS + threadIdx.x);
    label_block b = {i / group, (int)blockIdx.y, i % group * LABEL_BLOCK, false};
    b.exists = b.x < g.width;
    return b;
}

/* Neighbouring threads take every second pixel, then the others: pixels of one colour lie side
 * by side. */
static __device__ __forceinline__ label_block block_by_colour(const grid &g) {
    label_block b = block_of(g);
    b.x = b.x < g.half ? 2 * b.x : 2 * (b.x - g.half) + 1;
    return b;
}

static __device__ __forceinline__ label_words load_words(const void *from) {
    uint4 w = __ldg(static_cast<const uint4 *>(from));
    return {{w.x, w.y, w.z, w.w}};
}

static __device__ __forceinline__ void store_words(void *to, uint32_t a, uint32_t b, uint32_t c,
                                                   uint32_t d) {
    *static_cast<uint4 *>(to) = make_uint4(a, b, c, d);
}

/* ---- cross-shaped averaging */

static __global__ void __launch_bounds__(THREADS)
    cross_x_kernel(const __grid_constant__ cross_args a) {
    label_block b = block_by_colour(a.grid);
    if (b.x >= a.grid.width)
        return;
    const arms *own = a.arms + (size_t)b.y * a.grid.width + b.x;
    int from = b.x - own->length[LEFT], to = b.x + own->length[RIGHT];
    label_sums sums = {};
    for (int x = from; x <= to; x++) {
        label_words w = load_words(a.source + grid_labels(&a.grid, x, b.y) + b.first);
        sums_add(&sums, &w);
    }
    lanes out;
    uint32_t w[8];
    sums_lanes(&sums, &out);
    lanes_shorts(&out, w);
    uint16_t *place = a.between + grid_labels(&a.grid, b.x, b.y) + b.first;
    store_words(place, w[0], w[1], w[2], w[3]);
    store_words(place + 8, w[4], w[5], w[6], w[7]);
}

/* sum / count for sum < 2^24: the float quotient is off by one at most. */
static __device__ __forceinline__ uint32_t divide(uint32_t sum, uint32_t count, float inverse) {
    uint32_t q = (uint32_t)((float)sum * inverse);
    int rest = (int)(sum - q * count);
    return rest < 0 ? q - 1 : rest >= (int)count ? q + 1 : q;
}

/* Sums of at most four rows fit 16 bits. */
static __global__ void __launch_bounds__(THREADS)
    cross_y_kernel(const __grid_constant__ cross_args a) {
    label_block b = block_by_colour(a.grid);
    if (b.x >= a.grid.width)
        return;
    const arms *column = a.arms + b.x, *own = column + (size_t)b.y * a.grid.width;
    int top = b.y - own->length[UP], bottom = b.y + own->length[DOWN];
    uint32_t sum[LABEL_BLOCK] = {}, count = 0;
    for (int y = top; y <= bottom; y += 4) {
        uint32_t some[8] = {};
        for (int k = y; k <= min(y + 3, bottom); k++) {
            const uint16_t *from = a.between + grid_labels(&a.grid, b.x, k) + b.first;
            label_words low = load_words(from), high = load_words(from + 8);
            const arms *here = column + (size_t)k * a.grid.width;
            count += here->length[LEFT] + here->length[RIGHT] + 1u;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                some[i] += low.w[i];
                some[i + 4] += high.w[i];
            }
        }
#pragma unroll
        for (int i = 0; i < 8; i++) {
            sum[2 * i] += some[i] & 0xffff;
            sum[2 * i + 1] += some[i] >> 16;
        }
    }
    float inverse = 1.0f / (float)count;
    uint32_t w[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < LABEL_BLOCK; i++)
        w[i / 4] |= divide(sum[i] + count / 2, count, inverse) << 8 * (i % 4);
    store_words(a.out + grid_labels(&a.grid, b.x, b.y) + b.first, w[0], w[1], w[2], w[3]);
}

static void launch_cross_x(backend_cuda *cuda, const void *args, int, int) {
    const cross_args *a = static_cast<const cross_args *>(args);
    cross_x_kernel<<<label_blocks(&a->grid), THREADS, 0, cuda->stream>>>(*a);
}

static void launch_cross_y(backend_cuda *cuda, const void *args, int, int) {
    const cross_args *a = static_cast<const cross_args *>(args);
    cross_y_kernel<<<label_blocks(&a->grid), THREADS, 0, cuda->stream>>>(*a);
}

/* ---- pyramid */

static __device__ __forceinline__ uint32_t add_saturated(uint32_t a, uint32_t b) {
    return lanes_min(a + b, lanes_both(COST_SATURATION)); /* two of at most 30720 fit a lane */
}

/* Children of a node: 0 and 3 are of colour 0, 1 and 2 of colour 1, all number x of their rows. */
static __global__ void __launch_bounds__(THREADS)
    halve_kernel(const __grid_constant__ halve_args a) {
    cuda_follow();
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
        lanes l;
        sums_lanes(&sums, &l);
        lanes_shorts(&l, total);
    }
    store_words(out, total[0], total[1], total[2], total[3]);
    store_words(out + 8, total[4], total[5], total[6], total[7]);
}

static void launch_halve(backend_cuda *cuda, const void *args, int, int) {
    const halve_args *a = static_cast<const halve_args *>(args);
    cuda_launch_early(cuda, halve_kernel, label_blocks(&a->grid), dim3(THREADS), *a);
}

void cuda_tune_cost(backend_cuda *cuda) {
    cuda->launches[STAGE_cross_x] = launch_cross_x;
    cuda->launches[STAGE_cross_y] = launch_cross_y;
    cuda->launches[STAGE_halve] = launch_halve;
}
