/*
 * The stages that look for the match of one pixel of each 8x8, optimised for CUDA: the lanes of a
 * warp share a pixel's labels, whose targets lie side by side.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"

enum { WARPS = 8 };

/* ---- row offsets: a warp for each pixel */

enum { CELL_ROW_SUMS = ROW_CELLS * ROW_TRIED }; /* of a block's pixels, in one row */

/* Lane number i gets the least number of differing bits in the row tried as number i. */
DEVICE uint32_t least_bits(const row_offset_args &a, int x, int y) {
    int lane = (int)threadIdx.x, width = a.grid.width, own_row = 0;
    uint64_t own = a.census_reference[(size_t)y * (size_t)width + (size_t)x];
    int first = stage_max(x - a.grid.space.u_min - a.grid.labels + 1, 0),
        last = stage_min(x - a.grid.space.u_min, width - 1);
#pragma unroll
    for (int tried = 0; tried < ROW_TRIED; tried++) {
        const uint64_t *row = a.census_target + (size_t)(y + tried - ROW_REACH) * (size_t)width;
        int least = 64;
        for (int xo = first + lane; xo <= last; xo += WARP_SIZE)
            least = min(least, hamming64(own, __ldg(row + xo)));
        least = warp_min(least);
        own_row = lane == tried ? least : own_row;
    }
    return (uint32_t)own_row;
}

static __global__ void __launch_bounds__(WARPS *WARP_SIZE)
    row_offset_kernel(const __grid_constant__ row_offset_args a, int pixels) {
    __shared__ uint32_t sums[CELL_ROW_SUMS];
    wait_for_previous_kernel();
    int thread = (int)(threadIdx.y * WARP_SIZE + threadIdx.x),
        y = (int)blockIdx.y * ROW_STEP + ROW_STEP / 2;
    if (y < ROW_REACH || y + ROW_REACH >= a.grid.height)
        return;
    if (thread < CELL_ROW_SUMS)
        sums[thread] = 0;
    __syncthreads();
    for (int i = (int)threadIdx.y; i < pixels; i += WARPS) {
        int x = ((int)blockIdx.x * pixels + i) * ROW_STEP + ROW_STEP / 2;
        if (x >= a.grid.width)
            break;
        uint32_t least = least_bits(a, x, y);
        if (threadIdx.x < ROW_TRIED)
            stage_add(sums + x * ROW_CELLS / a.grid.width * ROW_TRIED + (int)threadIdx.x, least);
    }
    __syncthreads();
    if (thread < CELL_ROW_SUMS && sums[thread])
        stage_add(a.sums + y * ROW_CELLS / a.grid.height * CELL_ROW_SUMS + thread, sums[thread]);
}

void cuda_launch_row_offset_sum(backend_cuda *cuda, const void *args, int width, int height) {
    int pixels = WARPS * (width * height / ROW_TRIED < 32 * WARPS * cuda->processors ? 1 : 4);
    launch_dependent(cuda, row_offset_kernel, cuda_blocks(width, pixels, height / ROW_TRIED, 1),
                     dim3(WARP_SIZE, WARPS), *static_cast<const row_offset_args *>(args), pixels);
}

/* ---- agreement: bits of all labels of a block's pixels, then a lane for each pixel */

/* FINDERS: warps of a block. All find bits; then one looks at them while the others wait. */
enum { FINDERS = 4, FOUR = 4 };

/* The bytes of a pixel's bits, an odd number of words: neither a row nor a column is in one
 * bank. */
static __host__ __device__ __forceinline__ int bits_row(int labels) {
    return FOUR * ((labels + FOUR - 1) / FOUR | 1);
}

/* Bits of a pixel's labels, 32 at once, without branches, so that many loads are on their way. */
DEVICE void find_bits(const agreement_args &a, int x, int y, uint8_t *bits) {
    const uint64_t *target = a.census_target + (size_t)y * (size_t)a.grid.width;
    uint64_t own = __ldg(a.census_reference + (size_t)y * (size_t)a.grid.width + (size_t)x);
#pragma unroll 4
    for (int label = (int)threadIdx.x; label < a.grid.labels; label += WARP_SIZE) {
        int xo = x - a.grid.space.u_min - label, inside = stage_clamp(xo, 0, a.grid.width - 1);
        int differing = hamming64(own, __ldg(target + inside));
        bits[label] = (uint8_t)(xo == inside ? differing : 64);
    }
}

static __global__ void __launch_bounds__(WARP_SIZE *FINDERS)
    agreement_kernel(const __grid_constant__ agreement_args a) {
    DYNAMIC_SHARED(uint32_t, words);
    __shared__ uint32_t counts[AGREEMENT_COUNTS]; /* of the block: most pixels fall into few bins */
    agreement_args own = a;
    own.counts = counts;
    int lane = (int)threadIdx.x, thread = (int)threadIdx.y * WARP_SIZE + lane,
        row = bits_row(a.grid.labels);
    int x = ((int)blockIdx.x * WARP_SIZE + lane) * AGREEMENT_STEP + AGREEMENT_STEP / 2,
        y = (int)blockIdx.y * AGREEMENT_STEP + AGREEMENT_STEP / 2;
    uint8_t *bits = reinterpret_cast<uint8_t *>(words);
    wait_for_previous_kernel();
    if (y >= a.grid.height)
        return;
    for (int i = thread; i < AGREEMENT_COUNTS; i += FINDERS * WARP_SIZE)
        counts[i] = 0;
#pragma unroll 2
    for (int i = (int)threadIdx.y; i < WARP_SIZE; i += FINDERS)
        find_bits(a, stage_min(x + (i - lane) * AGREEMENT_STEP, a.grid.width - 1), y,
                  bits + i * row);
    __syncthreads();
    if (threadIdx.y == 0 && x < a.grid.width) {
        agreement_search s = {64, 64, -1};
        for (int first = 0; first < a.grid.labels; first += FOUR) {
            uint32_t four = words[(lane * row + first) / FOUR];
#pragma unroll
            for (int k = 0; k < FOUR; k++)
                if (first + k < a.grid.labels)
                    agreement_look(&s, first + k, (int)(four >> 8 * k & 255));
        }
        agreement_count(&own, x, y, &s);
    }
    __syncthreads();
    for (int i = thread; i < AGREEMENT_COUNTS; i += FINDERS * WARP_SIZE)
        if (counts[i])
            stage_add(a.counts + i, counts[i]);
}

void cuda_launch_agreement(backend_cuda *cuda, const void *args, int width, int height) {
    const agreement_args *a = static_cast<const agreement_args *>(args);
    launch_with_memory(cuda, agreement_kernel, cuda_blocks(width, WARP_SIZE, height, 1),
                       dim3(WARP_SIZE, FINDERS), (size_t)(WARP_SIZE * bits_row(a->grid.labels)),
                       *a);
}

/* A warp finds these in a list of counts. Each lane has the same number of them, side by side. */
struct binned_counts {
    uint32_t total;
    int bin; /* quantile_bin() */
};

static_assert(AGREEMENT_BINS % WARP_SIZE == 0 && NOISE_BINS % WARP_SIZE == 0, "shared by lanes");

DEVICE binned_counts find_quantile(const uint32_t *counts, int bins, uint32_t share, uint32_t of) {
    int lane = (int)threadIdx.x, each = bins / WARP_SIZE;
    uint32_t own = 0, up_to;
    for (int i = 0; i < each; i++)
        own += counts[each * lane + i];
    up_to = own;
    for (int k = 1; k < WARP_SIZE; k *= 2) {
        uint32_t below = __shfl_up_sync(ALL_LANES, up_to, k);
        up_to += lane >= k ? below : 0;
    }
    uint32_t total = __shfl_sync(ALL_LANES, up_to, WARP_SIZE - 1), below = up_to - own;
    int less = 0;
    for (int i = 0; i < each && each * lane + i < bins - 1; i++)
        less += of * (below += counts[each * lane + i]) < share * total;
    return {total, warp_sum(less)};
}

static __global__ void __launch_bounds__(WARP_SIZE)
    strength_kernel(const __grid_constant__ agreement_args a) {
    wait_for_previous_kernel();
    binned_counts matches = find_quantile(a.counts, AGREEMENT_BINS, 3, 4),
                  noise = find_quantile(a.counts + AGREEMENT_BINS, NOISE_BINS, 1, 5);
    if (threadIdx.x == 0)
        agreement_choose(&a, matches.bin, matches.total, noise.total, noise.bin);
}

void cuda_launch_agreement_strength(backend_cuda *cuda, const void *args, int, int) {
    launch_dependent(cuda, strength_kernel, dim3(1), dim3(WARP_SIZE),
                     *static_cast<const agreement_args *>(args));
}
