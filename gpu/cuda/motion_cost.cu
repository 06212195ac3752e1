/*
 * Data costs and centres of motion optimised for CUDA. Whole px: a thread four labels of a pixel,
 * so that costs are stored 128 bytes a warp. Fractions of a px: a thread a column of a pixel's 7x7
 * labels, for which rows of bilinear samples are made once.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"
#include "gpu/stages/stages.h"

enum { THREADS = 256, LANES = 32, SIDE = 7, LABELS = SIDE * SIDE, MOST_CHANNELS = 3 };

/* A thread's four labels of a pixel; masked: they cost nothing. */
struct label_word {
    int x, y, first; /* of the pictures, of the labels */
    displacement centre;
    uint8_t *out;
    bool exists, masked;
};

static __device__ __forceinline__ label_word word_of(const motion_cost_args &a) {
    const grid &g = a.grid;
    int words = g.padded / 4, thread = (int)(blockIdx.x * THREADS + threadIdx.x),
        pixel = thread / words;
    label_word w = {};
    w.y = (int)blockIdx.y;
    w.x = grid_column((int)blockIdx.z, pixel, w.y);
    w.first = 4 * (thread - pixel * words);
    w.exists = w.x < g.width;
    if (w.exists) {
        w.centre = motion_centre(&a.centre, &g, w.x, w.y);
        w.out = a.cost + grid_labels(&g, w.x, w.y) + w.first;
        w.x += a.left;
        w.y += a.top;
        w.masked = a.mask && a.mask[(size_t)w.y * (size_t)a.width + (size_t)w.x] >= MASKED;
    }
    return w;
}

/* All kinds of cost. */
static __global__ void __launch_bounds__(THREADS)
    cost_kernel(const __grid_constant__ motion_cost_args a) {
    label_word w = word_of(a);
    uint32_t four = 0;
    if (!w.exists)
        return;
    for (int k = 0; k < 4; k++)
        if (w.first + k < a.grid.labels && !w.masked)
            four |= (uint32_t)motion_label_cost(&a, w.x, w.y,
                                                motion_label(&a.grid.space, w.centre, w.first + k))
                    << 8 * k;
    *reinterpret_cast<uint32_t *>(w.out) = four;
}

/* Absolute differences, census or both: what is the reference's is read once. */
template <bool AD, bool CENSUS>
static __global__ void __launch_bounds__(THREADS)
    match_kernel(const __grid_constant__ motion_cost_args a) {
    label_word w = word_of(a);
    const label_space &s = a.grid.space;
    uint32_t four = 0, reference[MOST_CHANNELS] = {};
    if (!w.exists)
        return;
    unsigned at = (unsigned)(w.y * a.width + w.x), channels = (unsigned)a.channels;
#pragma unroll
    for (unsigned c = 0; AD && c < MOST_CHANNELS; c++)
        reference[c] = c < channels ? a.reference[at * channels + c] : 0;
    uint64_t census = CENSUS ? a.census_reference[at] : 0;
    int v = w.first / s.u_count, u = w.first - v * s.u_count;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int x = w.x + w.centre.u + s.u_min + u, y = w.y + w.centre.v + s.v_min + v;
        int xo = stage_clamp(x, 0, a.width - 1), yo = stage_clamp(y, 0, a.height - 1), cost = 0;
        unsigned there = (unsigned)(yo * a.width + xo);
        if (AD) {
            uint32_t sum = 0;
#pragma unroll
            for (unsigned c = 0; c < MOST_CHANNELS; c++)
                if (c < channels)
                    sum = __usad(reference[c], a.target[there * channels + c], sum);
            cost += a.lut[sum];
        }
        if (CENSUS)
            cost += a.census_lut[__popcll(census ^ a.census_target[there])];
        if (!a.border && (x != xo || y != yo))
            cost = a.outside;
        if (w.first + k < a.grid.labels && !w.masked)
            four |= (uint32_t)cost << 8 * k;
        if (++u == s.u_count) {
            u = 0;
            v++;
        }
    }
    *reinterpret_cast<uint32_t *>(w.out) = four;
}

/* ---- fractions */

/* The numbers of labels of 1 / F px: */
template <int F> struct steps {
    enum {
        BITS = F == 2   ? 1
               : F == 4 ? 2
                        : 3,
        COUNT = SIDE + F - 1,          /* steps from the px above the first label's place on */
        ROWS = (COUNT - 1) / F + 2 + 2 /* of px that their 3x3 samples lie between */
    };
};

/* F times the samples between neighbouring columns, that begin at column[0..3], of all rows. */
template <int F>
static __device__ __forceinline__ void sample_rows(const motion_cost_args &a, int row, int weight,
                                                   const unsigned column[4],
                                                   int out[steps<F>::ROWS][3]) {
#pragma unroll
    for (int j = 0; j < steps<F>::ROWS; j++) {
        unsigned start = (unsigned)(stage_clamp(row + j, 0, a.height - 1) * a.width * a.channels);
        int p[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            p[k] = a.target[start + column[k]];
#pragma unroll
        for (int k = 0; k < 3; k++)
            out[j][k] = (F - weight) * p[k] + weight * p[k + 1];
    }
}

/* Adds a channel's absolute differences to the sums of a column of steps, which begins with the px
 * at or above fy; fx: of the labels. */
template <int F>
static __device__ __forceinline__ void add_channel(const motion_cost_args &a, int x, int y, int fx,
                                                   int fy, int c, uint32_t sum[steps<F>::COUNT]) {
    int left = (fx >> steps<F>::BITS) - 1, top = (fy >> steps<F>::BITS) - 1;
    int rows[steps<F>::ROWS][3];
    unsigned column[4];
    uint32_t reference[3][3];
#pragma unroll
    for (int k = 0; k < 4; k++)
        column[k] = (unsigned)(stage_clamp(left + k, 0, a.width - 1) * a.channels + c);
#pragma unroll
    for (int j = 0; j < 3; j++) {
        unsigned start =
            (unsigned)(stage_clamp(y + j - 1, 0, a.height - 1) * a.width * a.channels + c);
#pragma unroll
        for (int k = 0; k < 3; k++)
            reference[j][k] =
                F * F *
                a.reference[start +
                            (unsigned)(stage_clamp(x + k - 1, 0, a.width - 1) * a.channels)];
    }
    sample_rows<F>(a, top, fx & (F - 1), column, rows);
#pragma unroll
    for (int i = 0; i < steps<F>::COUNT; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int k = 0; k < 3; k++)
                sum[i] = __usad(
                    reference[j][k],
                    (uint32_t)((F - i % F) * rows[j + i / F][k] + i % F * rows[j + i / F + 1][k]),
                    sum[i]);
}

template <int F>
static __device__ __forceinline__ uint32_t mean_difference(uint32_t sum, int channels) {
    if (channels == 1)
        return 16 * sum / (9 * F * F);
    return channels == 3 ? 16 * sum / (27 * F * F) : 16 * sum / (uint32_t)(9 * F * F * channels);
}

/* A warp has one column of the labels of 32 pixels. */
template <int F>
static __global__ void __launch_bounds__(LANES *SIDE, 4)
    fraction_kernel(const __grid_constant__ motion_cost_args a) {
    enum { STRIDE = 68 }; /* of a pixel's labels: an odd number of words */
    __shared__ uint8_t costs[LANES * STRIDE];
    const grid &g = a.grid;
    int lane = (int)threadIdx.x, u = (int)threadIdx.y, first_x = (int)blockIdx.x * LANES;
    int x = first_x + lane, y = (int)blockIdx.y;
    if (x < g.width) {
        displacement d = motion_centre(&a.centre, &g, x, y);
        int at_x = x + a.left, at_y = y + a.top;
        int fx = F * at_x + d.u + g.space.u_min + u, fy = F * at_y + d.v + g.space.v_min;
        bool masked = a.mask && a.mask[(size_t)at_y * (size_t)a.width + (size_t)at_x] >= MASKED,
             inside_x = fx >= 0 && fx <= F * (a.width - 1);
        uint32_t sum[steps<F>::COUNT] = {};
        for (int c = 0; c < a.channels; c++)
            add_channel<F>(a, at_x, at_y, fx, fy, c, sum);
#pragma unroll
        for (int i = 0; i < steps<F>::COUNT; i++) {
            int v = i - (fy & (F - 1)), at = fy + v;
            bool inside = inside_x && at >= 0 && at <= F * (a.height - 1);
            int cost =
                a.border || inside ? a.lut[mean_difference<F>(sum[i], a.channels)] : a.outside;
            if (v >= 0 && v < SIDE)
                costs[lane * STRIDE + v * SIDE + u] = (uint8_t)(masked ? 0 : cost);
        }
    }
    __syncthreads();
    int words = g.padded / 4;
    for (int k = u * LANES + lane; k < LANES * words; k += LANES * SIDE) {
        int pixel = k / words, word = k - pixel * words;
        uint32_t four = reinterpret_cast<const uint32_t *>(costs + pixel * STRIDE)[word];
        if (first_x + pixel < g.width)
            reinterpret_cast<uint32_t *>(a.cost + grid_labels(&g, first_x + pixel, y))[word] =
                4 * word + 4 <= LABELS ? four
                : 4 * word < LABELS    ? four & 0xffu
                                       : 0;
    }
}

static void launch_cost(backend_cuda *cuda, const void *args, int width, int height) {
    const motion_cost_args *a = static_cast<const motion_cost_args *>(args);
    const grid &g = a->grid;
    if (a->fraction > 1 && g.space.u_count == SIDE && g.space.v_count == SIDE) {
        auto kernel = a->fraction == 2   ? fraction_kernel<2>
                      : a->fraction == 4 ? fraction_kernel<4>
                                         : fraction_kernel<8>;
        kernel<<<dim3((unsigned)((width + LANES - 1) / LANES), (unsigned)height), dim3(LANES, SIDE),
                 0, cuda->stream>>>(*a);
        return;
    }
    int threads = g.half * (g.padded / 4);
    auto kernel = a->fraction > 1 || a->channels > MOST_CHANNELS ? cost_kernel
                  : a->kind == DATA_COST_AD                      ? match_kernel<true, false>
                  : a->kind == DATA_COST_CENSUS                  ? match_kernel<false, true>
                  : a->kind == DATA_COST_AD_CENSUS               ? match_kernel<true, true>
                                                                 : cost_kernel;
    dim3 blocks((unsigned)((threads + THREADS - 1) / THREADS), (unsigned)height, 2);
    kernel<<<blocks, THREADS, 0, cuda->stream>>>(*a);
}

/* ---- centres */

enum { WINDOW = 5 };

/* centre_difference() to the reference's window, of which the bits in known count. */
static __device__ __forceinline__ uint32_t window_difference(const motion_centre_args &a, int x,
                                                             int y, displacement d,
                                                             const uint32_t window[WINDOW * WINDOW],
                                                             uint32_t known) {
    int u = divide_round(d.u, a.fraction), v = divide_round(d.v, a.fraction);
    unsigned column[WINDOW];
    uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < WINDOW; k++)
        column[k] = (unsigned)stage_clamp(x + u + k - 2, 0, a.width - 1);
#pragma unroll
    for (int j = 0; j < WINDOW; j++) {
        unsigned start = (unsigned)(stage_clamp(y + v + j - 2, 0, a.height - 1) * a.width);
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            if (known >> (WINDOW * j + k) & 1)
                sum = __usad(window[WINDOW * j + k], a.target[start + column[k]], sum);
    }
    return sum;
}

static __global__ void __launch_bounds__(THREADS)
    centre_kernel(const __grid_constant__ motion_centre_args a) {
    int x = (int)(blockIdx.x * LANES + threadIdx.x),
        y = (int)(blockIdx.y * blockDim.y) + (int)threadIdx.y;
    if (x >= a.width || y >= a.height)
        return;
    uint32_t window[WINDOW * WINDOW], known = 0;
#pragma unroll
    for (int i = 0; i < WINDOW * WINDOW; i++) {
        int at_x = x + i % WINDOW - 2, at_y = y + i / WINDOW - 2;
        window[i] = (uint32_t)centre_pixel(&a, a.reference, at_x, at_y);
        known |= (uint32_t)(!a.mask || centre_pixel(&a, a.mask, at_x, at_y) < MASKED) << i;
    }
    int x0 = x / a.scale, y0 = y / a.scale;
    displacement best = centre_candidate(&a, x0, y0), before = best;
    uint32_t least = window_difference(a, x, y, best, window, known);
    for (int k = 0; k < 9; k++) {
        displacement d = centre_candidate(&a, x0 + k % 3 - 1, y0 + k / 3 - 1);
        if ((d.u == best.u && d.v == best.v) || (d.u == before.u && d.v == before.v))
            continue;
        uint32_t sum = window_difference(a, x, y, d, window, known);
        before = d;
        if (sum < least) {
            least = sum;
            best = d;
        }
    }
    motion_put(&a.centre, (size_t)y * (size_t)a.width + (size_t)x, best);
}

static void launch_centre(backend_cuda *cuda, const void *args, int width, int height) {
    const motion_centre_args *a = static_cast<const motion_centre_args *>(args);
    enum { ROWS = THREADS / LANES };
    dim3 blocks((unsigned)((width + LANES - 1) / LANES), (unsigned)((height + ROWS - 1) / ROWS));
    centre_kernel<<<blocks, dim3(LANES, ROWS), 0, cuda->stream>>>(*a);
}

void cuda_optimise_motion_cost(backend_cuda *cuda) {
    cuda->launches[STAGE_motion_cost] = launch_cost;
    cuda->launches[STAGE_motion_centre] = launch_centre;
}
