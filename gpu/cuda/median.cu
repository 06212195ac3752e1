/*
 * The weighted median optimised for CUDA. A block's pixels and their surroundings lie in shared
 * memory, a colour to a word. Values are not sorted: the one at which half of the weight is reached
 * is searched by halving the range of values. Holes, which are few, are listed first, so that
 * neighbouring threads take their medians.
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

/* The least value from low to high, the greatest, up to which lies half of the total weight. */
template <int COUNT>
DEVICE int search_median(const int (&window)[COUNT], int low, int high, int own, int total) {
    while (low < high) {
        int middle = probe_of(low, high, own), maximum = (int)((uint32_t)middle << 16 | 0xffff);
        uint32_t sum = 0;
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            sum += window[k] <= maximum ? (uint32_t)window[k] : 0;
        if (2 * (int)(sum & 0xffff) >= total)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
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
    wait_for_previous_kernel();
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
    int median = search_median(window, low >> 16, high >> 16, values[centre] >> 16, total);
    a.out[(size_t)(y - a.first_row) * (size_t)a.width + (size_t)x] =
        (int16_t)(values[centre] == NO_VALUE ? UNKNOWN : median);
}

void cuda_launch_median(backend_cuda *cuda, const void *args, int width, int height) {
    static void (*const kernels[2][4])(median_args, int) = {
        {median_kernel<1, 1>, median_kernel<2, 1>, median_kernel<3, 1>, median_kernel<4, 1>},
        {median_kernel<1, 3>, median_kernel<2, 3>, median_kernel<3, 3>, median_kernel<4, 3>}};
    const median_args *a = static_cast<const median_args *>(args);
    launch_dependent(cuda, kernels[a->channels == 3][a->radius - 1],
                     cuda_blocks(width, BLOCK_WIDTH, height, BLOCK_HEIGHT),
                     dim3(BLOCK_WIDTH, BLOCK_HEIGHT), *a, a->first_row + height);
}

/* ---- holes */

/* Most holes are narrow strips beside objects: in wide tiles each block finds about as many. */
enum { MOST_WIDTH_BITS = 9, LEAST_WIDTH_BITS = 6, HOLES_HEIGHT = 8, HOLES_THREADS = 128 };

/* Of a pixel that has a disparity. weights: a.weight. */
template <int SIDE, int CHANNELS>
DEVICE int median_of_hole(const hole_median_args &a, const uint16_t *weights, int x, int y) {
    size_t centre = (size_t)y * (size_t)a.width + (size_t)x;
    uint32_t own = packed_pixel<CHANNELS>(a.image, centre);
    int own_value = a.source[centre], low = own_value, high = own_value, total = 0,
        window[SIDE * SIDE];
#pragma unroll
    for (int k = 0; k < SIDE * SIDE; k++) {
        int px = x + HOLE_STEP * (k % SIDE - SIDE / 2), py = y + HOLE_STEP * (k / SIDE - SIDE / 2);
        bool exists = px >= 0 && py >= 0 && px < a.width && py < a.height;
        size_t at = exists ? (size_t)py * (size_t)a.width + (size_t)px : centre;
        int value = a.source[at];
        int weight = weights[step_between(own, packed_pixel<CHANNELS>(a.image, at))];
        exists &= value != UNKNOWN;
        window[k] = exists ? (int)((uint32_t)value << 16) | weight : NO_VALUE;
        low = exists ? min(low, value) : low;
        high = exists ? max(high, value) : high;
        total += exists ? weight : 0;
    }
    return search_median(window, low, high, own_value, total);
}

template <int SIDE, int CHANNELS>
static __global__ void __launch_bounds__(HOLES_THREADS)
    hole_median_kernel(const __grid_constant__ hole_median_args a, int width_bits) {
    __shared__ uint16_t weights[256], holes[HOLES_HEIGHT << MOST_WIDTH_BITS];
    __shared__ int count;
    int width = 1 << width_bits, left = (int)blockIdx.x * width,
        top = (int)blockIdx.y * HOLES_HEIGHT, thread = (int)threadIdx.x;
    wait_for_previous_kernel();
    for (int i = thread; i < 256; i += HOLES_THREADS)
        weights[i] = a.weight[i];
    if (thread == 0)
        count = 0;
    __syncthreads();
#pragma unroll 8
    for (int i = thread; i < width * HOLES_HEIGHT; i += HOLES_THREADS) {
        int x = left + (i & (width - 1)), y = top + (i >> width_bits);
        size_t at = (size_t)y * (size_t)a.width + (size_t)x;
        if (x >= a.width || y >= a.height)
            continue;
        int16_t value = a.source[at];
        if (value != UNKNOWN && a.known[at] == UNKNOWN)
            holes[atomicAdd(&count, 1)] = (uint16_t)i;
        else
            a.out[at] = value;
    }
    __syncthreads();
    for (int k = thread; k < count; k += HOLES_THREADS) {
        int x = left + (holes[k] & (width - 1)), y = top + (holes[k] >> width_bits);
        a.out[(size_t)y * (size_t)a.width + (size_t)x] =
            (int16_t)median_of_hole<SIDE, CHANNELS>(a, weights, x, y);
    }
}

template <int CHANNELS> static auto hole_median_of(int side) {
    static void (*const kernels[])(hole_median_args, int) = {
        hole_median_kernel<1, CHANNELS>,  hole_median_kernel<3, CHANNELS>,
        hole_median_kernel<5, CHANNELS>,  hole_median_kernel<7, CHANNELS>,
        hole_median_kernel<9, CHANNELS>,  hole_median_kernel<11, CHANNELS>,
        hole_median_kernel<13, CHANNELS>,
    };
    static_assert(MAX_HOLE_SIDE == 13, "a kernel for each side");
    return kernels[side / 2];
}

void cuda_launch_hole_median(backend_cuda *cuda, const void *args, int width, int height) {
    const hole_median_args *a = static_cast<const hole_median_args *>(args);
    int side = 2 * (a->radius / HOLE_STEP) + 1, bits = MOST_WIDTH_BITS;
    const auto blocks = [&] { return cuda_blocks(width, 1 << bits, height, HOLES_HEIGHT); };
    while (bits > LEAST_WIDTH_BITS && blocks().x * blocks().y < 4u * (unsigned)cuda->processors)
        bits--; /* so that a small picture has blocks for the whole GPU */
    launch_dependent(cuda, a->channels == 3 ? hole_median_of<3>(side) : hole_median_of<1>(side),
                     blocks(), dim3(HOLES_THREADS), *a, bits);
}
