/*
 * The weighted median optimised for CUDA. A block's pixels and their surroundings lie in shared
 * memory, a colour to a word. Values are not sorted: the one at which half of the weight is reached
 * is searched by halving the range of values. In holes, which are few, a warp takes the median of
 * one pixel.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_pixel.cuh"

#include <climits>

enum { BLOCK_WIDTH = WARP_SIZE, BLOCK_HEIGHT = 8, THREADS = BLOCK_WIDTH * BLOCK_HEIGHT };

template <int CHANNELS>
DEVICE uint32_t packed(const uint8_t *image, int width, int height, int x, int y) {
    size_t i = (size_t)stage_clamp(y, 0, height - 1) * (size_t)width +
               (size_t)stage_clamp(x, 0, width - 1);
    return packed_pixel<CHANNELS>(image, i);
}

/* Fills columns x rows words from (left, top) on. */
template <int CHANNELS>
DEVICE void load_tile(const uint8_t *image, int width, int height, int left, int top, int columns,
                      int rows, uint32_t *tile) {
    int thread = (int)(threadIdx.y * BLOCK_WIDTH + threadIdx.x);
    for (int i = thread; i < columns * rows; i += THREADS)
        tile[i] = packed<CHANNELS>(image, width, height, left + i % columns, top + i / columns);
}

DEVICE uint32_t step_between(uint32_t a, uint32_t b) {
    uint32_t d = __vabsdiffu4(a, b);
    return max(max(d & 255, d >> 8 & 255), d >> 16);
}

/* In place of unknown values, above all that are known; values stand in the upper half. */
enum { NO_VALUE = INT16_MAX << 16 };

/* Where to look for the median between low and high. It is rarely far from the pixel's own value: a
 * wide range is cut down to a pixel around that first. */
DEVICE int probe_of(int low, int high, int own) {
    int above = own + 7, below = own - 8, middle = (low + high) >> 1;
    if (high - low <= 64)
        return middle;
    if (above < high && above >= low)
        return above;
    return below >= low && below < high ? below : middle;
}

/* Rows from a.first_row to before end. Value above weight in one number; the sum of all weights
 * stays below 65536. */
template <int RADIUS, int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    median_kernel(const __grid_constant__ median_args a, int end) {
    constexpr int SIDE = 2 * RADIUS + 1, COLUMNS = BLOCK_WIDTH + 2 * RADIUS,
                  ROWS = BLOCK_HEIGHT + 2 * RADIUS;
    __shared__ uint32_t colors[ROWS * COLUMNS];
    __shared__ int values[ROWS * COLUMNS];
    __shared__ uint16_t weights[256];
    int left = (int)blockIdx.x * BLOCK_WIDTH, top = a.first_row + (int)blockIdx.y * BLOCK_HEIGHT;
    int thread = (int)(threadIdx.y * BLOCK_WIDTH + threadIdx.x);
    load_tile<CHANNELS>(a.image, a.width, a.height, left - RADIUS, top - RADIUS, COLUMNS, ROWS,
                        colors);
    for (int i = thread; i < ROWS * COLUMNS; i += THREADS) {
        int x = left - RADIUS + i % COLUMNS, y = top - RADIUS + i / COLUMNS;
        bool exists = x >= 0 && y >= 0 && x < a.width && y < a.height;
        int16_t value =
            exists ? a.source[(size_t)y * (size_t)a.width + (size_t)x] : (int16_t)UNKNOWN;
        values[i] = value == UNKNOWN ? NO_VALUE : (int)((uint32_t)value << 16);
    }
    weights[thread] = a.weight[thread];
    __syncthreads();
    int x = left + (int)threadIdx.x, y = top + (int)threadIdx.y;
    if (x >= a.width || y >= end)
        return;
    int corner = (int)threadIdx.y * COLUMNS + (int)threadIdx.x,
        centre = corner + RADIUS * (COLUMNS + 1);
    int low = INT_MAX, high = INT_MIN, total = 0, window[SIDE * SIDE];
    uint32_t own = colors[centre];
#pragma unroll
    for (int k = 0; k < SIDE * SIDE; k++) {
        int at = corner + k / SIDE * COLUMNS + k % SIDE, value = values[at];
        int weight = weights[step_between(own, colors[at])];
        weight = value == NO_VALUE ? 0 : weight;
        window[k] = value | weight;
        low = min(low, value);
        high = max(high, value == NO_VALUE ? INT_MIN : value);
        total += weight;
    }
    int own_value = values[centre] >> 16;
    low >>= 16;
    high >>= 16;
    while (low < high) {
        int middle = probe_of(low, high, own_value),
            maximum = (int)((uint32_t)middle << 16 | 0xffff);
        uint32_t sum = 0;
#pragma unroll
        for (int k = 0; k < SIDE * SIDE; k++)
            sum += window[k] <= maximum ? (uint32_t)window[k] : 0;
        if (2 * (int)(sum & 0xffff) >= total)
            high = middle;
        else
            low = middle + 1;
    }
    a.out[(size_t)(y - a.first_row) * (size_t)a.width + (size_t)x] =
        (int16_t)(values[centre] == NO_VALUE ? UNKNOWN : low);
}

void cuda_launch_median(backend_cuda *cuda, const void *args, int width, int height) {
    static void (*const kernels[2][4])(median_args, int) = {
        {median_kernel<1, 1>, median_kernel<2, 1>, median_kernel<3, 1>, median_kernel<4, 1>},
        {median_kernel<1, 3>, median_kernel<2, 3>, median_kernel<3, 3>, median_kernel<4, 3>}};
    const median_args *a = static_cast<const median_args *>(args);
    kernels[a->channels == 3]
           [a->radius - 1]<<<cuda_blocks(width, BLOCK_WIDTH, height, BLOCK_HEIGHT),
                             dim3(BLOCK_WIDTH, BLOCK_HEIGHT), 0, cuda->stream>>>(*a, a->first_row +
                                                                                         height);
}

/* ---- holes */

enum { MAX_SAMPLES = (MAX_HOLE_SIDE * MAX_HOLE_SIDE + WARP_SIZE - 1) / WARP_SIZE };

/* A warp takes the median of one pixel, that has a disparity: samples of its window lie in lanes,
 * SAMPLES in each. The result is in all lanes. */
template <int SAMPLES> DEVICE int median_of_window(const hole_median_args &a, int x, int y) {
    int radius = a.radius / HOLE_STEP, side = 2 * radius + 1, lane = (int)threadIdx.x;
    size_t own = (size_t)y * (size_t)a.width + (size_t)x;
    int value[SAMPLES], weight[SAMPLES], total = 0, low = a.source[own], high = low;
#pragma unroll
    for (int k = 0; k < SAMPLES; k++) {
        int i = lane + WARP_SIZE * k, row = i / side,
            px = x + HOLE_STEP * (i - row * side - radius), py = y + HOLE_STEP * (row - radius);
        size_t at = (size_t)py * (size_t)a.width + (size_t)px;
        value[k] = i < side * side && px >= 0 && py >= 0 && px < a.width && py < a.height
                       ? a.source[at]
                       : UNKNOWN;
        weight[k] = 0;
        if (value[k] != UNKNOWN) {
            weight[k] = a.weight[color_step(a.image + own * (size_t)a.channels,
                                            a.image + at * (size_t)a.channels, a.channels)];
            low = min(low, value[k]);
            high = max(high, value[k]);
        }
        total += weight[k];
    }
    low = warp_min(low);
    high = -warp_min(-high);
    total = warp_sum(total);
    while (low < high) {
        int middle = low + (high - low) / 2, sum = 0;
#pragma unroll
        for (int k = 0; k < SAMPLES; k++)
            sum += value[k] <= middle ? weight[k] : 0;
        if (2 * warp_sum(sum) < total)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A warp has some pixels of a row, and takes the median of one after the other that lacks it. Holes
 * lie together: few pixels a warp are faster where a picture has few warps. */
enum { FEW_PIXELS = 8, FEW_WARPS = 1 << 14 };

template <int SAMPLES>
static __global__ void __launch_bounds__(THREADS)
    hole_median_kernel(const __grid_constant__ hole_median_args a, int pixels) {
    int lane = (int)threadIdx.x, first = (int)blockIdx.x * pixels, x = first + lane,
        y = (int)(blockIdx.y * BLOCK_HEIGHT + threadIdx.y);
    if (y >= a.height)
        return;
    size_t i = (size_t)y * (size_t)a.width + (size_t)x;
    bool own = lane < pixels && x < a.width;
    int out = own ? a.source[i] : UNKNOWN;
    bool hole = own && out != UNKNOWN && a.known[i] == UNKNOWN;
    for (unsigned holes = __ballot_sync(ALL_LANES, hole); holes; holes &= holes - 1) {
        int k = __ffs((int)holes) - 1, median = median_of_window<SAMPLES>(a, first + k, y);
        out = lane == k ? median : out;
    }
    if (own)
        a.out[i] = (int16_t)out;
}

void cuda_launch_hole_median(backend_cuda *cuda, const void *args, int width, int height) {
    static void (*const kernels[MAX_SAMPLES])(hole_median_args, int) = {
        hole_median_kernel<1>, hole_median_kernel<2>, hole_median_kernel<3>,
        hole_median_kernel<4>, hole_median_kernel<5>, hole_median_kernel<6>};
    const hole_median_args *a = static_cast<const hole_median_args *>(args);
    int side = 2 * (a->radius / HOLE_STEP) + 1;
    int pixels = width * height / WARP_SIZE < FEW_WARPS ? (int)FEW_PIXELS : (int)WARP_SIZE;
    kernels[(side * side - 1) / WARP_SIZE]<<<cuda_blocks(width, pixels, height, BLOCK_HEIGHT),
                                             dim3(WARP_SIZE, BLOCK_HEIGHT), 0, cuda->stream>>>(
        *a, pixels);
}
