/*
 * Planes on the disparity map and what costs beside a label say, optimised for CUDA. Whether two
 * neighbours belong together is a bit; arms are runs of such bits.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_u16x2.h"

/* ---- arms: a thread has some pixels of a column, and its warp the bits of 32 links of a row */

/* rows of a block: the fewer, the more blocks small pictures have */
enum { WARPS = 4, COLUMNS = WARPS * WARP_SIZE, MOST_ROWS = 16, FEW_ROWS = 4 };
enum { REACH = MAX_SURFACE_LENGTH };
static_assert(MOST_ROWS + 2 * REACH <= 64 && (int)REACH <= (int)WARP_SIZE, "bits of one word");

/* Pixels outside of the map are unknown. */
DEVICE int map_value(const surface_args &a, int x, int y) {
    bool inside = x >= 0 && y >= 0 && x < a.width && y < a.height;
    return inside ? __ldg(a.source + (size_t)y * (size_t)a.width + (size_t)x) : (int)UNKNOWN;
}

DEVICE bool are_linked(const surface_args &a, int p, int q) {
    return p != UNKNOWN && q != UNKNOWN && stage_abs(p - q) <= a.step;
}

/* A bit for each pixel of row y, from first on, that is linked with the next one to the right. */
DEVICE uint32_t row_links(const surface_args &a, int first, int y) {
    int x = first + (int)(threadIdx.x % WARP_SIZE);
    return __ballot_sync(ALL_LANES, are_linked(a, map_value(a, x, y), map_value(a, x + 1, y)));
}

/* Bit k: row k - REACH from top on is linked with the one above it. */
template <int ROWS> DEVICE uint64_t column_links(const surface_args &a, int x, int top) {
    uint64_t links = 0;
    int first = REACH - a.longest, above = map_value(a, x, top - a.longest);
#pragma unroll 8
    for (int k = first + 1; k < ROWS + REACH + a.longest; k++) {
        int here = map_value(a, x, top - REACH + k);
        links |= (uint64_t)are_linked(a, above, here) << k;
        above = here;
    }
    return links;
}

/* How many bits are set in turn from the highest or lowest one on. */
DEVICE int leading_ones(uint32_t bits) {
    return __clz((int)~bits);
}

DEVICE int trailing_ones(uint32_t bits) {
    return ~bits ? __ffs((int)~bits) - 1 : 32;
}

template <int ROWS>
static __global__ void __launch_bounds__(COLUMNS)
    surface_arms_kernel(const __grid_constant__ surface_args a) {
    __shared__ uint32_t links[ROWS][WARPS + 2]; /* with the words on both sides */
    wait_for_previous_kernel();
    int left = (int)blockIdx.x * COLUMNS, top = (int)blockIdx.y * ROWS, x = left + (int)threadIdx.x,
        warp = (int)threadIdx.x / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE;
    for (int i = warp; i < ROWS * (WARPS + 2); i += WARPS) {
        int row = i / (WARPS + 2), word = i % (WARPS + 2);
        uint32_t bits = row_links(a, left + (word - 1) * WARP_SIZE, top + row);
        if (lane == 0)
            links[row][word] = bits;
    }
    uint64_t column = column_links<ROWS>(a, x, top);
    __syncthreads();
    for (int row = 0; row < ROWS && top + row < a.height && x < a.width; row++) {
        const uint32_t *word = links[row] + warp;
        uint32_t before = __funnelshift_r(word[0], word[1], (uint32_t)lane),
                 after = __funnelshift_r(word[1], word[2], (uint32_t)lane);
        /* bit row + REACH is the pixel's link upwards */
        uint32_t above = (uint32_t)(column << (31 - REACH) >> row),
                 below = (uint32_t)(column >> (row + REACH + 1));
        uint32_t up = (uint32_t)min(leading_ones(above), a.longest),
                 down = (uint32_t)min(trailing_ones(below), a.longest);
        reinterpret_cast<uint32_t *>(a.arms)[(size_t)(top + row) * (size_t)a.width + (size_t)x] =
            up | down << 8 | (uint32_t)min(leading_ones(before), a.longest) << 16 |
            (uint32_t)min(trailing_ones(after), a.longest) << 24;
    }
}

void cuda_launch_surface_arms(backend_cuda *cuda, const void *args, int width, int height) {
    dim3 many = cuda_blocks(width, COLUMNS, height, MOST_ROWS);
    const surface_args &a = *static_cast<const surface_args *>(args);
    if (many.x * many.y < 2 * (unsigned)cuda->processors)
        launch_dependent(cuda, surface_arms_kernel<FEW_ROWS>,
                         cuda_blocks(width, COLUMNS, height, FEW_ROWS), dim3(COLUMNS), a);
    else
        launch_dependent(cuda, surface_arms_kernel<MOST_ROWS>, many, dim3(COLUMNS), a);
}

/* ---- planes */

enum { BLOCK_WIDTH = WARP_SIZE, BLOCK_HEIGHT = 8 };

/* plane_value() where it is at most MAX_SURFACE_OFFSET, else more than that. A quotient of doubles
 * is one too large or too small at most. */
DEVICE int near_plane_value(const plane_sums &s) {
    plane_determinants plane = plane_solve(&s);
    int64_t part = 2 * (plane.value < 0 ? -plane.value : plane.value) + plane.whole,
            whole = 2 * plane.whole;
    if (part >= (MAX_SURFACE_OFFSET + 1) * whole)
        return MAX_SURFACE_OFFSET + 1;
    int64_t value = (int64_t)((double)part / (double)whole), rest = part - value * whole;
    value += (rest >= whole) - (rest < 0);
    return (int)(plane.value < 0 ? -value : value);
}

/* Sums over the horizontal arms of a tile's rows and of those around it become running sums down
 * each column: the difference of two is a sum over a region. Running sums may exceed 32 bits, their
 * differences do not. row: counted from the first one on. */
enum { TILE_ROWS = 32, REGION_SUMS = 9 };

DEVICE void sums_of_row(const surface_args &a, int x, int y, uint32_t row,
                        uint32_t to[REGION_SUMS]) {
    plane_sums s = {};
    if (x < a.width && y >= 0 && y < a.height) {
        plane_add_row(&a, x, y, 0, &s);
        int d = a.source[(size_t)y * (size_t)a.width + (size_t)x];
        s.d += s.n * d;
        s.xd += s.x * d;
    }
    const int sums[REGION_SUMS / 3] = {s.n, s.x, s.d}, others[REGION_SUMS / 3] = {0, s.xx, s.xd};
#pragma unroll
    for (int k = 0; k < REGION_SUMS / 3; k++) {
        to[3 * k] = (uint32_t)sums[k];
        to[3 * k + 1] = row * (uint32_t)sums[k];
        to[3 * k + 2] = k ? (uint32_t)others[k] : row * to[1];
    }
}

/* A region's sums around row number row and disparity d, from differences of running sums. */
DEVICE plane_sums sums_around(const uint32_t s[REGION_SUMS], uint32_t row, uint32_t d) {
    uint32_t y = s[1] - row * s[0], yy = s[2] - row * (s[1] + y), xy = s[4] - row * s[3],
             sum_d = s[6] - d * s[0], xd = s[8] - d * s[3], yd = s[7] - row * s[6] - d * y;
    return {(int)s[0], (int)s[3],  (int)y,  (int)s[5], (int)xy,
            (int)yy,   (int)sum_d, (int)xd, (int)yd};
}

static __global__ void __launch_bounds__(BLOCK_WIDTH *BLOCK_HEIGHT)
    surface_plane_kernel(const __grid_constant__ surface_args a) {
    DYNAMIC_SHARED(uint32_t, memory);
    int lane = (int)threadIdx.x, x = (int)blockIdx.x * BLOCK_WIDTH + lane,
        top = (int)blockIdx.y * TILE_ROWS, rows = TILE_ROWS + 2 * a.longest;
    const auto at = [&](int k, int row) -> uint32_t & {
        return memory[(k * (rows + 1) + row) * BLOCK_WIDTH + lane];
    };
    wait_for_previous_kernel();
    for (int row = (int)threadIdx.y; row < rows; row += BLOCK_HEIGHT) {
        uint32_t sums[REGION_SUMS];
        sums_of_row(a, x, top - a.longest + row, (uint32_t)row, sums);
#pragma unroll
        for (int k = 0; k < REGION_SUMS; k++)
            at(k, row + 1) = sums[k];
    }
    __syncthreads();
    for (int k = (int)threadIdx.y; k < REGION_SUMS; k += BLOCK_HEIGHT) {
        uint32_t sum = at(k, 0) = 0;
#pragma unroll 4
        for (int row = 1; row <= rows; row++)
            sum = at(k, row) += sum;
    }
    __syncthreads();
    for (int y = top + (int)threadIdx.y; y < stage_min(top + TILE_ROWS, a.height) && x < a.width;
         y += BLOCK_HEIGHT) {
        size_t i = (size_t)y * (size_t)a.width + (size_t)x;
        int d = a.source[i], row = y - top + a.longest, offset = 0;
        if (d != UNKNOWN) {
            const uint8_t *length = a.arms[i].length;
            uint32_t sums[REGION_SUMS];
#pragma unroll
            for (int k = 0; k < REGION_SUMS; k++)
                sums[k] = at(k, row + length[DOWN] + 1) - at(k, row - length[UP]);
            plane_sums s = sums_around(sums, (uint32_t)row, (uint32_t)d);
            offset = s.n >= MIN_SURFACE ? near_plane_value(s) : 0;
        }
        a.out[i] = (int16_t)(stage_abs(offset) > MAX_SURFACE_OFFSET ? d : d + offset);
    }
}

void cuda_launch_surface_plane(backend_cuda *cuda, const void *args, int width, int height) {
    const surface_args &a = *static_cast<const surface_args *>(args);
    size_t shared =
        sizeof(uint32_t) * BLOCK_WIDTH * REGION_SUMS * (size_t)(TILE_ROWS + 2 * a.longest + 1);
    if (shared > cuda->max_shared) {
        cuda->plain[STAGE_surface_plane](cuda, args, width, height);
        return;
    }
    allow_shared(cuda, surface_plane_kernel);
    launch_with_memory(cuda, surface_plane_kernel,
                       cuda_blocks(width, BLOCK_WIDTH, height, TILE_ROWS),
                       dim3(BLOCK_WIDTH, BLOCK_HEIGHT), shared, a);
}

/* ---- curves of the data cost: those of the labels beside one lie in two words of eight labels */

static_assert(2 * RISE_REACH + 1 + 7 <= 2 * 8, "two words hold them wherever they begin");

struct near_costs {
    uint2 word[2];
    bool known[2];
    int first; /* the label of the first byte */
};

DEVICE near_costs costs_near(const cost_curve_args &a, int x, int y, int label) {
    near_costs near;
    size_t pixel = grid_pixel(&a.grid, x, y);
    const uint8_t *kept = a.pruning.kept ? kept_at(&a.pruning, x, y) : nullptr;
    near.first = max(label - RISE_REACH, 0) & ~7;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int first = near.first + 8 * i, k = kept ? kept_find(kept, first / LABEL_BLOCK) : 0;
        near.known[i] = first < a.grid.padded && k >= 0;
        const uint8_t *from =
            a.cost + (kept ? pruned_labels(&a.grid, k, pixel) + (size_t)(first % LABEL_BLOCK)
                           : pixel * (size_t)a.grid.padded + (size_t)first);
        near.word[i] = near.known[i] ? __ldg(reinterpret_cast<const uint2 *>(from)) : uint2();
    }
    return near;
}

/* The cost of a label, none where it has none. */
DEVICE int cost_of(const cost_curve_args &a, const near_costs &near, int label, int none) {
    int i = label - near.first;
    uint2 word = i < 8 ? near.word[0] : near.word[1];
    bool known = label >= 0 && label < a.grid.labels && (i < 8 ? near.known[0] : near.known[1]);
    return known ? (int)byte_permute(word.x, word.y, 0x4440u + (uint32_t)(i & 7)) & 255 : none;
}

static __global__ void __launch_bounds__(BLOCK_WIDTH *BLOCK_HEIGHT)
    cost_curve_kernel(const __grid_constant__ cost_curve_args a) {
    wait_for_previous_kernel();
    int x = (int)(blockIdx.x * BLOCK_WIDTH + threadIdx.x),
        y = (int)(blockIdx.y * BLOCK_HEIGHT + threadIdx.y), offset = 0;
    if (x >= a.grid.width || y >= a.grid.height)
        return;
    size_t i = (size_t)y * (size_t)a.grid.width + (size_t)x;
    int l = a.label[i];
    near_costs near = costs_near(a, x, y, l);
    int own = cost_of(a, near, l, 0), before = cost_of(a, near, l - 1, -1),
        after = cost_of(a, near, l + 1, -1);
    if (before >= 0 && after >= 0)
        offset = stage_clamp(subpixel_offset(before, own, after, a.subpixel), -8, 8);
    a.disparity[i] = (int16_t)(16 * (a.grid.space.u_min + l) + offset);
    a.rise[i] = cost_rise(cost_of(a, near, l - RISE_REACH, MAX_COST), own,
                          cost_of(a, near, l + RISE_REACH, MAX_COST));
}

void cuda_launch_cost_curve(backend_cuda *cuda, const void *args, int width, int height) {
    launch_dependent(cuda, cost_curve_kernel, cuda_blocks(width, BLOCK_WIDTH, height, BLOCK_HEIGHT),
                     dim3(BLOCK_WIDTH, BLOCK_HEIGHT), *static_cast<const cost_curve_args *>(args));
}
