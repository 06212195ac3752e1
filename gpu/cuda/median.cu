/*
 * The weighted median optimised for CUDA. A block's pixels and their surroundings lie in shared
 * memory, a colour to a word. Values are not sorted: the one at which half of the weight is reached
 * is mostly the pixel's own, or searched for on one side of that. Holes, which are few, are listed
 * first, so that neighbouring threads take their medians.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_pixel.cuh"

#include <cmath>

enum { BLOCK_WIDTH = WARP_SIZE, BLOCK_HEIGHT = 8, THREADS = BLOCK_WIDTH * BLOCK_HEIGHT };

/* Values and their weights as floats, which hold whole numbers: the units that add and multiply
 * have time. An unknown value is NaN, of which any saturated sum is 0. */
template <int COUNT> struct median_window {
    float value[COUNT], weight[COUNT], below, above, total; /* sums of weights, beside own */
};

template <int COUNT>
DEVICE void weigh(median_window<COUNT> *w, int k, float own, float value, float weight) {
    w->value[k] = value;
    w->weight[k] = weight;
    w->below = fmaf(weight, __saturatef(own - value), w->below);
    w->above = fmaf(weight, __saturatef(value - own), w->above);
    w->total = fmaf(weight, __saturatef(value - UNKNOWN), w->total);
}

/* The median, which is mostly a pixel's own value. Else it lies on one side of that, as far away as
 * values that far or further have a weight of at least half. */
template <int COUNT> DEVICE int median_near(const median_window<COUNT> &w, float own) {
    bool is_below = w.below > 0 && 2 * w.below >= w.total;
    float sign = is_below ? -1 : 1, half = is_below ? w.total / 2 : w.total / 2 + 0.5f;
    int far = 1, step = 1;
    const auto reaches = [&](int from) {
        float sum = 0, more = 1 - (float)from - sign * own;
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            sum = fmaf(w.weight[k], __saturatef(fmaf(w.value[k], sign, more)), sum);
        return sum >= half;
    };
    if (!is_below && 2 * w.above <= w.total)
        return (int)own;
    for (; reaches(far + step); step *= 4)
        far += step;
    for (; step > 1; far += reaches(far + step) ? step : 0)
        step /= 2;
    return (int)own + (is_below ? -far : far);
}

/* Rows from a.first_row to before end. */
template <int RADIUS, int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    median_kernel(const __grid_constant__ median_args a, int end) {
    enum { SIDE = 2 * RADIUS + 1, COLUMNS = BLOCK_WIDTH + SIDE - 1, COUNT = SIDE * SIDE };
    enum { PLACES = COLUMNS * (BLOCK_HEIGHT + SIDE - 1) };
    __shared__ uint32_t colors[PLACES];
    __shared__ float values[PLACES], weights[256];
    int left = (int)blockIdx.x * BLOCK_WIDTH, top = a.first_row + (int)blockIdx.y * BLOCK_HEIGHT,
        x = left + (int)threadIdx.x, y = top + (int)threadIdx.y,
        thread = (int)(threadIdx.y * BLOCK_WIDTH + threadIdx.x);
    wait_for_previous_kernel();
    for (int i = thread; i < PLACES; i += THREADS) {
        int px = left - RADIUS + i % COLUMNS, py = top - RADIUS + i / COLUMNS,
            inside_x = stage_clamp(px, 0, a.width - 1), inside_y = stage_clamp(py, 0, a.height - 1),
            at = inside_y * a.width + inside_x,
            value = px == inside_x && py == inside_y ? a.source[at] : UNKNOWN;
        colors[i] = packed_pixel<CHANNELS>(a.image, (size_t)at);
        values[i] = value == UNKNOWN ? NAN : (float)value;
    }
    weights[thread] = a.weight[thread];
    __syncthreads();
    if (x >= a.width || y >= end)
        return;
    int corner = (int)threadIdx.y * COLUMNS + (int)threadIdx.x,
        centre = corner + RADIUS * (COLUMNS + 1);
    float own = values[centre];
    median_window<COUNT> w = {};
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        int at = corner + k / SIDE * COLUMNS + k % SIDE;
        weigh(&w, k, own, values[at], weights[step_between(colors[centre], colors[at])]);
    }
    a.out[(size_t)(y - a.first_row) * (size_t)a.width + (size_t)x] =
        (int16_t)(own == own ? median_near(w, own) : UNKNOWN);
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
enum { MOST_WIDTH_BITS = 9, LEAST_WIDTH_BITS = 6, HOLES_HEIGHT = 8 };
enum { HOLES_THREADS = 128, AT_ONCE = 4 };
static_assert((HOLES_HEIGHT << LEAST_WIDTH_BITS) % (AT_ONCE * HOLES_THREADS) == 0, "no rest");

/* Of a pixel that has a disparity. INSIDE: the picture has the whole window. weights: a.weight. */
template <int SIDE, int CHANNELS, bool INSIDE>
DEVICE int median_of_hole(const hole_median_args &a, const float *weights, int x, int y) {
    int centre = y * a.width + x;
    float own = a.source[centre];
    uint32_t color = packed_pixel<CHANNELS>(a.image, (size_t)centre);
    median_window<SIDE *SIDE> w = {};
#pragma unroll
    for (int k = 0; k < SIDE * SIDE; k++) {
        int dx = HOLE_STEP * (k % SIDE - SIDE / 2), dy = HOLE_STEP * (k / SIDE - SIDE / 2);
        bool exists =
            INSIDE || (x + dx >= 0 && y + dy >= 0 && x + dx < a.width && y + dy < a.height);
        int at = exists ? centre + dy * a.width + dx : centre, value = a.source[at];
        float weight = weights[step_between(color, packed_pixel<CHANNELS>(a.image, (size_t)at))];
        weigh(&w, k, own, exists && value != UNKNOWN ? (float)value : NAN, weight);
    }
    return median_near(w, own);
}

template <int SIDE, int CHANNELS>
static __global__ void __launch_bounds__(HOLES_THREADS, SIDE < 9 ? 4 : 1)
    hole_median_kernel(const __grid_constant__ hole_median_args a, int width_bits) {
    __shared__ float weights[256];
    __shared__ uint16_t holes[HOLES_HEIGHT << MOST_WIDTH_BITS];
    __shared__ int count;
    constexpr int REACH = SIDE / 2 * HOLE_STEP;
    int width = 1 << width_bits, left = (int)blockIdx.x * width,
        top = (int)blockIdx.y * HOLES_HEIGHT, thread = (int)threadIdx.x;
    wait_for_previous_kernel();
    for (int i = thread; i < 256; i += HOLES_THREADS)
        weights[i] = a.weight[i];
    if (thread == 0)
        count = 0;
    __syncthreads();
    for (int first = thread; first < width * HOLES_HEIGHT; first += AT_ONCE * HOLES_THREADS) {
        int16_t value[AT_ONCE], known[AT_ONCE];
        int at[AT_ONCE]; /* -1: outside */
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            int i = first + j * HOLES_THREADS, x = left + (i & (width - 1)),
                y = top + (i >> width_bits);
            at[j] = x < a.width && y < a.height ? y * a.width + x : -1;
            value[j] = __ldg(a.source + max(at[j], 0));
            known[j] = __ldg(a.known + max(at[j], 0));
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++)
            if (at[j] >= 0 && value[j] != UNKNOWN && known[j] == UNKNOWN)
                holes[atomicAdd(&count, 1)] = (uint16_t)(first + j * HOLES_THREADS);
            else if (at[j] >= 0)
                a.out[at[j]] = value[j];
    }
    __syncthreads();
    for (int k = thread; k < count; k += HOLES_THREADS) {
        int x = left + (holes[k] & (width - 1)), y = top + (holes[k] >> width_bits);
        bool inside = x >= REACH && y >= REACH && x + REACH < a.width && y + REACH < a.height;
        a.out[(size_t)y * (size_t)a.width + (size_t)x] =
            (int16_t)(inside ? median_of_hole<SIDE, CHANNELS, true>(a, weights, x, y)
                             : median_of_hole<SIDE, CHANNELS, false>(a, weights, x, y));
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
