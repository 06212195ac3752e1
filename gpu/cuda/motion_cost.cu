/*
 * Data costs and centres of motion optimised for CUDA. Whole px: a thread four labels of a pixel,
 * so that costs are stored 128 bytes a warp. Fractions of a px: a thread a column of a pixel's 7x7
 * labels, for which rows of bilinear samples are made once.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"
#include "gpu/stages/stages.h"

enum { THREADS = 256, LANES = 32, SIDE = 7, LABELS = SIDE * SIDE };

static __global__ void __launch_bounds__(THREADS)
    cost_kernel(const __grid_constant__ motion_cost_args a) {
    const grid &g = a.grid;
    int words = g.padded / 4, thread = (int)(blockIdx.x * THREADS + threadIdx.x),
        pixel = thread / words, first = 4 * (thread - pixel * words);
    int y = (int)blockIdx.y, x = grid_column((int)blockIdx.z, pixel, y);
    if (x >= g.width)
        return;
    displacement centre = motion_centre(&a.centre, &g, x, y);
    uint8_t *out = a.cost + grid_labels(&g, x, y) + first;
    x += a.left;
    y += a.top;
    bool masked = a.mask && a.mask[(size_t)y * (size_t)a.width + (size_t)x] >= MASKED;
    uint32_t word = 0;
    for (int k = 0; k < 4; k++)
        if (first + k < g.labels && !masked)
            word |= (uint32_t)motion_label_cost(&a, x, y, motion_label(&g.space, centre, first + k))
                    << 8 * k;
    *reinterpret_cast<uint32_t *>(out) = word;
}

/* ---- fractions */

/* Clamped offsets of four columns and of rows of one channel of the target. */
struct sampler {
    const uint8_t *target;
    int column[4], row_bytes, last;
};

/* F times the samples of one row, between neighbouring columns. */
template <int F>
static __device__ __forceinline__ void sample_row(const sampler &s, int y, int weight, int out[3]) {
    const uint8_t *row = s.target + (size_t)stage_clamp(y, 0, s.last) * (size_t)s.row_bytes;
    int p[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        p[k] = row[s.column[k]];
#pragma unroll
    for (int k = 0; k < 3; k++)
        out[k] = (F - weight) * p[k] + weight * p[k + 1];
}

/* Adds a channel's absolute differences of the labels (u, 0 to 6), whose first sample's middle is
 * at fx, fy. */
template <int F>
static __device__ __forceinline__ void add_channel(const motion_cost_args &a, int x, int y, int fx,
                                                   int fy, int c, uint32_t sum[SIDE]) {
    enum { BITS = F == 2 ? 1 : F == 4 ? 2 : 3 };
    int column = fx >> BITS, row = fy >> BITS, weight = fx & (F - 1);
    sampler s = {a.target + c, {}, a.width * a.channels, a.height - 1};
    uint32_t reference[3][3];
    int rows[4][3]; /* of samples, from the one above the label's on */
#pragma unroll
    for (int k = 0; k < 4; k++)
        s.column[k] = stage_clamp(column - 1 + k, 0, a.width - 1) * a.channels;
#pragma unroll
    for (int dy = 0; dy < 3; dy++)
#pragma unroll
        for (int dx = 0; dx < 3; dx++)
            reference[dy][dx] =
                (uint32_t)(F * F * motion_pixel(&a, a.reference, x + dx - 1, y + dy - 1)[c]);
#pragma unroll
    for (int k = 0; k < 4; k++)
        sample_row<F>(s, row - 1 + k, weight, rows[k]);
    row += 3;
#pragma unroll
    for (int v = 0; v < SIDE; v++) {
        int down = (fy + v) & (F - 1);
        if (v > 0 && down == 0) {
#pragma unroll
            for (int k = 0; k < 3; k++)
#pragma unroll
                for (int dx = 0; dx < 3; dx++)
                    rows[k][dx] = rows[k + 1][dx];
            sample_row<F>(s, row, weight, rows[3]);
            row++;
        }
#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
            for (int dx = 0; dx < 3; dx++)
                sum[v] =
                    __usad(reference[dy][dx],
                           (uint32_t)((F - down) * rows[dy][dx] + down * rows[dy + 1][dx]), sum[v]);
    }
}

template <int F> static __device__ __forceinline__ int mean_difference(uint32_t sum, int channels) {
    if (channels == 1)
        return (int)(16 * sum / (9 * F * F));
    return (int)(16 * sum / (uint32_t)(9 * F * F * channels));
}

/* A warp has one column of the labels of 32 pixels. */
template <int F>
static __global__ void __launch_bounds__(LANES *SIDE)
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
        bool masked = a.mask && a.mask[(size_t)at_y * (size_t)a.width + (size_t)at_x] >= MASKED;
        uint32_t sum[SIDE] = {};
        for (int c = 0; c < a.channels; c++)
            add_channel<F>(a, at_x, at_y, fx, fy, c, sum);
#pragma unroll
        for (int v = 0; v < SIDE; v++) {
            bool inside =
                fx >= 0 && fy + v >= 0 && fx <= F * (a.width - 1) && fy + v <= F * (a.height - 1);
            int cost =
                a.border || inside ? a.lut[mean_difference<F>(sum[v], a.channels)] : a.outside;
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
    dim3 blocks((unsigned)((threads + THREADS - 1) / THREADS), (unsigned)height, 2);
    cost_kernel<<<blocks, THREADS, 0, cuda->stream>>>(*a);
}

/* ---- centres */

enum { WINDOW = 5 };

/* centre_difference() to the reference's window, of which the bits in known count. */
static __device__ __forceinline__ uint32_t window_difference(const motion_centre_args &a, int x,
                                                             int y, displacement d,
                                                             const uint32_t window[WINDOW * WINDOW],
                                                             uint32_t known) {
    int u = divide_round(d.u, a.fraction), v = divide_round(d.v, a.fraction), column[WINDOW];
    uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < WINDOW; k++)
        column[k] = stage_clamp(x + u + k - 2, 0, a.width - 1);
#pragma unroll
    for (int j = 0; j < WINDOW; j++) {
        const uint8_t *row =
            a.target + (size_t)stage_clamp(y + v + j - 2, 0, a.height - 1) * (size_t)a.width;
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            if (known >> (WINDOW * j + k) & 1)
                sum = __usad(window[WINDOW * j + k], row[column[k]], sum);
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
