/*
 * Stages that compare colours within a window, tuned for CUDA: cross arms and the weighted median.
 * A block's pixels and their surroundings lie in shared memory, a colour to a word. The median is
 * not sorted: the value at which half of the weight is reached is searched by halving the range of
 * values.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend_cuda.h"
#include "gpu/tuned_cuda_colour.cuh"

#include <climits>

enum { TILE_WIDTH = 32, TILE_HEIGHT = 8, THREADS = TILE_WIDTH * TILE_HEIGHT };

static dim3 tiles(int width, int height) {
    return dim3((unsigned)(width + TILE_WIDTH - 1) / TILE_WIDTH,
                (unsigned)(height + TILE_HEIGHT - 1) / TILE_HEIGHT);
}

template <int CHANNELS>
static __device__ __forceinline__ uint32_t packed(const uint8_t *image, int width, int height,
                                                  int x, int y) {
    size_t i = (size_t)stage_clamp(y, 0, height - 1) * (size_t)width +
               (size_t)stage_clamp(x, 0, width - 1);
    return packed_pixel<CHANNELS>(image, i);
}

/* Fills columns x rows words from (left, top) on. */
template <int CHANNELS>
static __device__ __forceinline__ void load_tile(const uint8_t *image, int width, int height,
                                                 int left, int top, int columns, int rows,
                                                 uint32_t *tile) {
    int thread = (int)(threadIdx.y * TILE_WIDTH + threadIdx.x);
    for (int i = thread; i < columns * rows; i += THREADS)
        tile[i] = packed<CHANNELS>(image, width, height, left + i % columns, top + i / columns);
}

/* ---- arms */

/* Steps from here, stride words each, before a colour differs by more than step in any channel. */
static __device__ __forceinline__ uint8_t arm(const uint32_t *here, int stride, int longest,
                                              uint32_t steps) {
    uint32_t centre = *here;
    int n = 0;
    while (n < longest && !__vcmpgtu4(__vabsdiffu4(centre, here[(n + 1) * stride]), steps))
        n++;
    return (uint8_t)n;
}

/* A band of rows for the horizontal arms, one of columns for the vertical ones. */
template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS) arms_kernel(const __grid_constant__ arms_args a) {
    extern __shared__ uint32_t wide[];
    int left = (int)blockIdx.x * TILE_WIDTH, top = (int)blockIdx.y * TILE_HEIGHT;
    int columns = TILE_WIDTH + 2 * a.longest_x, x = left + (int)threadIdx.x,
        y = top + (int)threadIdx.y;
    uint32_t *tall = wide + columns * TILE_HEIGHT;
    load_tile<CHANNELS>(a.image, a.width, a.height, left - a.longest_x, top, columns, TILE_HEIGHT,
                        wide);
    load_tile<CHANNELS>(a.image, a.width, a.height, left, top - a.longest_y, TILE_WIDTH,
                        TILE_HEIGHT + 2 * a.longest_y, tall);
    __syncthreads();
    if (x >= a.width || y >= a.height)
        return;
    const uint32_t *row = wide + (int)threadIdx.y * columns + a.longest_x + (int)threadIdx.x;
    const uint32_t *column =
        tall + ((int)threadIdx.y + a.longest_y) * TILE_WIDTH + (int)threadIdx.x;
    uint32_t steps = (uint32_t)min(a.step, 255) * 0x01010101u;
    uchar4 length;
    static_assert(UP == 0 && DOWN == 1 && LEFT == 2 && RIGHT == 3, "order of struct arms");
    length.x = arm(column, -TILE_WIDTH, min(a.longest_y, y), steps);
    length.y = arm(column, TILE_WIDTH, min(a.longest_y, a.height - 1 - y), steps);
    length.z = arm(row, -1, min(a.longest_x, x), steps);
    length.w = arm(row, 1, min(a.longest_x, a.width - 1 - x), steps);
    reinterpret_cast<uchar4 *>(a.out)[(size_t)y * (size_t)a.width + (size_t)x] = length;
}

static void launch_arms(backend_cuda *cuda, const void *args, int width, int height) {
    const arms_args *a = static_cast<const arms_args *>(args);
    size_t words = (size_t)((TILE_WIDTH + 2 * a->longest_x) * TILE_HEIGHT +
                            (TILE_HEIGHT + 2 * a->longest_y) * TILE_WIDTH);
    (a->channels == 3 ? arms_kernel<3>
                      : arms_kernel<1>)<<<tiles(width, height), dim3(TILE_WIDTH, TILE_HEIGHT),
                                          words * sizeof(uint32_t), cuda->stream>>>(*a);
}

/* ---- median */

static __device__ __forceinline__ uint32_t step_between(uint32_t a, uint32_t b) {
    uint32_t d = __vabsdiffu4(a, b);
    return max(max(d & 255, d >> 8 & 255), d >> 16);
}

/* In place of unknown values, above all that are known; values stand in the upper half. */
enum { NO_VALUE = INT16_MAX << 16 };

/* Where to look for the median between low and high. It is rarely far from the pixel's own value: a
 * wide range is cut down to a pixel around that first. */
static __device__ __forceinline__ int probe_of(int low, int high, int own) {
    int above = own + 7, below = own - 8, middle = (low + high) >> 1;
    if (high - low <= 64)
        return middle;
    return above < high && above >= low ? above : below >= low && below < high ? below : middle;
}

/* Rows from a.first_row to before end. Value above weight in one number; the sum of all weights
 * stays below 65536. */
template <int RADIUS, int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    median_kernel(const __grid_constant__ median_args a, int end) {
    constexpr int SIDE = 2 * RADIUS + 1, COLUMNS = TILE_WIDTH + 2 * RADIUS,
                  ROWS = TILE_HEIGHT + 2 * RADIUS;
    __shared__ uint32_t colours[ROWS * COLUMNS];
    __shared__ int values[ROWS * COLUMNS];
    __shared__ uint16_t weights[256];
    int left = (int)blockIdx.x * TILE_WIDTH, top = a.first_row + (int)blockIdx.y * TILE_HEIGHT;
    int thread = (int)(threadIdx.y * TILE_WIDTH + threadIdx.x);
    load_tile<CHANNELS>(a.image, a.width, a.height, left - RADIUS, top - RADIUS, COLUMNS, ROWS,
                        colours);
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
    uint32_t own = colours[centre];
#pragma unroll
    for (int k = 0; k < SIDE * SIDE; k++) {
        int at = corner + k / SIDE * COLUMNS + k % SIDE, value = values[at];
        int weight = weights[step_between(own, colours[at])];
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
        int middle = probe_of(low, high, own_value), most = (int)((uint32_t)middle << 16 | 0xffff);
        uint32_t sum = 0;
#pragma unroll
        for (int k = 0; k < SIDE * SIDE; k++)
            sum += window[k] <= most ? (uint32_t)window[k] : 0;
        if (2 * (int)(sum & 0xffff) >= total)
            high = middle;
        else
            low = middle + 1;
    }
    a.out[(size_t)y * (size_t)a.width + (size_t)x] =
        (int16_t)(values[centre] == NO_VALUE ? UNKNOWN : low);
}

static void launch_median(backend_cuda *cuda, const void *args, int width, int height) {
    static void (*const kernels[2][4])(median_args, int) = {
        {median_kernel<1, 1>, median_kernel<2, 1>, median_kernel<3, 1>, median_kernel<4, 1>},
        {median_kernel<1, 3>, median_kernel<2, 3>, median_kernel<3, 3>, median_kernel<4, 3>}};
    const median_args *a = static_cast<const median_args *>(args);
    kernels[a->channels == 3]
           [a->radius -
            1]<<<tiles(width, height), dim3(TILE_WIDTH, TILE_HEIGHT), 0, cuda->stream>>>(
               *a, a->first_row + height);
}

void cuda_tune_colour(backend_cuda *cuda) {
    cuda->launches[STAGE_arms] = launch_arms;
    cuda->launches[STAGE_median] = launch_median;
}
