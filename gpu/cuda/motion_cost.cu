/*
 * Data costs, centres and filling of motion optimised for CUDA. Whole px: a thread four labels of a
 * pixel, so that costs are stored 128 bytes a warp. Windows of 7x7, of whole px and of fractions: a
 * thread a column of labels, whose samples are made once.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"
#include "gpu/stages/stages.h"

enum { THREADS = 256, SIDE = 7, LABELS = SIDE * SIDE, MAX_CHANNELS = 3 };

/* A thread's four labels of a pixel; masked: they cost nothing. */
struct label_word {
    int x, y, first; /* of the pictures, of the labels */
    displacement centre;
    uint8_t *out;
    bool exists, masked;
};

DEVICE label_word word_of(const motion_cost_args &a) {
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

/* Absolute differences, census or both of a pixel of the reference, which is read once. */
template <bool AD, bool CENSUS> struct matcher {
    const motion_cost_args &a;
    uint32_t reference[MAX_CHANNELS];
    uint64_t census;

    __device__ __forceinline__ matcher(const motion_cost_args &args, int x, int y) : a(args) {
        unsigned at = (unsigned)(y * a.width + x), channels = (unsigned)a.channels;
#pragma unroll
        for (unsigned c = 0; AD && c < MAX_CHANNELS; c++)
            reference[c] = c < channels ? a.reference[at * channels + c] : 0;
        census = CENSUS ? a.descriptor_reference[at] : 0;
    }

    /* The cost of a match at x, y. */
    __device__ __forceinline__ int cost(int x, int y) const {
        int xo = stage_clamp(x, 0, a.width - 1), yo = stage_clamp(y, 0, a.height - 1), sum = 0;
        unsigned at = (unsigned)(yo * a.width + xo), channels = (unsigned)a.channels;
        if (AD) {
            uint32_t difference = 0;
#pragma unroll
            for (unsigned c = 0; c < MAX_CHANNELS; c++)
                if (c < channels)
                    difference = __usad(reference[c], a.target[at * channels + c], difference);
            sum += a.lut[difference];
        }
        if (CENSUS)
            sum += a.census_lut[descriptor_distance(&census, a.descriptor_target + at, 1)];
        return a.border || (x == xo && y == yo) ? sum : a.outside;
    }
};

template <bool AD, bool CENSUS>
static __global__ void __launch_bounds__(THREADS)
    match_kernel(const __grid_constant__ motion_cost_args a) {
    label_word w = word_of(a);
    const label_space &s = a.grid.space;
    uint32_t four = 0;
    if (!w.exists)
        return;
    const matcher<AD, CENSUS> match(a, w.x, w.y);
    int v = w.first / s.u_count, u = w.first - v * s.u_count;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (w.first + k < a.grid.labels && !w.masked)
            four |=
                (uint32_t)match.cost(w.x + w.centre.u + s.u_min + u, w.y + w.centre.v + s.v_min + v)
                << 8 * k;
        if (++u == s.u_count) {
            u = 0;
            v++;
        }
    }
    *reinterpret_cast<uint32_t *>(w.out) = four;
}

/* ---- windows of 7x7: a warp has one column of the labels of 32 pixels */

enum { STRIDE = 68 }; /* of a pixel's labels in shared memory: an odd number of words */

/* A thread's pixel; u: number of its column of labels. */
struct label_column {
    int x, y, u; /* x, y: of the pictures */
    displacement centre;
    uint8_t *out; /* SIDE apart */
    bool exists, masked;
};

DEVICE label_column column_of(const motion_cost_args &a, uint8_t *costs) {
    label_column l = {};
    int x = (int)(blockIdx.x * WARP_SIZE + threadIdx.x), y = (int)blockIdx.y;
    l.u = (int)threadIdx.y;
    l.exists = x < a.grid.width;
    if (l.exists) {
        l.centre = motion_centre(&a.centre, &a.grid, x, y);
        l.x = x + a.left;
        l.y = y + a.top;
        l.masked = a.mask && a.mask[(size_t)l.y * (size_t)a.width + (size_t)l.x] >= MASKED;
        l.out = costs + threadIdx.x * STRIDE + threadIdx.y;
    }
    return l;
}

/* From shared memory to the volume, after a barrier. */
DEVICE void store_columns(const motion_cost_args &a, const uint8_t *costs) {
    enum { WORDS = (LABELS + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK / 4 };
    int first_x = (int)blockIdx.x * WARP_SIZE, y = (int)blockIdx.y;
    for (int k = (int)(threadIdx.y * WARP_SIZE + threadIdx.x); k < WARP_SIZE * WORDS;
         k += WARP_SIZE * SIDE) {
        int pixel = k / WORDS, word = k % WORDS;
        uint32_t four = reinterpret_cast<const uint32_t *>(costs + pixel * STRIDE)[word];
        if (first_x + pixel < a.grid.width)
            reinterpret_cast<uint32_t *>(a.cost + grid_labels(&a.grid, first_x + pixel, y))[word] =
                4 * word + 4 <= LABELS ? four
                : 4 * word < LABELS    ? four & 0xffu
                                       : 0;
    }
}

template <bool AD, bool CENSUS>
static __global__ void __launch_bounds__(WARP_SIZE *SIDE)
    column_kernel(const __grid_constant__ motion_cost_args a) {
    __shared__ uint32_t words[WARP_SIZE * STRIDE / 4];
    uint8_t *costs = reinterpret_cast<uint8_t *>(words);
    label_column l = column_of(a, costs);
    if (l.exists) {
        const matcher<AD, CENSUS> match(a, l.x, l.y);
        int x = l.x + l.centre.u + a.grid.space.u_min + l.u,
            y = l.y + l.centre.v + a.grid.space.v_min;
#pragma unroll
        for (int v = 0; v < SIDE; v++)
            l.out[v * SIDE] = (uint8_t)(l.masked ? 0 : match.cost(x, y + v));
    }
    __syncthreads();
    store_columns(a, costs);
}

/* Labels of 1 / F px. */
template <int F> struct steps {
    enum {
        BITS = F == 2   ? 1
               : F == 4 ? 2
                        : 3,
        COUNT = SIDE + F - 1,   /* from the px at or above the first label's place on */
        SAMPLES = COUNT + 2 * F /* of a column: with a px more above and below */
    };
};

/* F times the samples between four neighbouring columns of a row. */
template <int F>
DEVICE void sample_row(const motion_cost_args &a, int y, int weight, const unsigned column[4],
                       int out[3]) {
    unsigned start = (unsigned)(stage_clamp(y, 0, a.height - 1) * a.width * a.channels);
    int p[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        p[k] = a.target[start + column[k]];
#pragma unroll
    for (int k = 0; k < 3; k++)
        out[k] = F * p[k] + weight * (p[k + 1] - p[k]);
}

/* Adds a channel's absolute differences to the sums of a column of steps, which begins with the px
 * at or above fy; fx: of the labels. From step to step a sample grows by the same number until the
 * next row of px. */
template <int F>
DEVICE void add_channel(const motion_cost_args &a, int x, int y, int fx, int fy, int c,
                        uint32_t sum[steps<F>::COUNT]) {
    int left = (fx >> steps<F>::BITS) - 1, top = (fy >> steps<F>::BITS) - 1, weight = fx & (F - 1);
    int row[3], next[3], sample[3];
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
    sample_row<F>(a, top, weight, column, next);
#pragma unroll
    for (int i = 0; i < steps<F>::SAMPLES; i++) {
#pragma unroll
        for (int k = 0; k < 3 && i % F == 0; k++)
            row[k] = next[k];
        if (i % F == 0)
            sample_row<F>(a, top + i / F + 1, weight, column, next);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            sample[k] = i % F ? sample[k] + next[k] - row[k] : F * row[k];
#pragma unroll
            for (int j = 0; j < 3; j++)
                if (i - F * j >= 0 && i - F * j < steps<F>::COUNT)
                    sum[i - F * j] = __usad(reference[j][k], (uint32_t)sample[k], sum[i - F * j]);
        }
    }
}

template <int F> DEVICE uint32_t mean_difference(uint32_t sum, int channels) {
    if (channels == 1)
        return 16 * sum / (9 * F * F);
    return channels == 3 ? 16 * sum / (27 * F * F) : 16 * sum / (uint32_t)(9 * F * F * channels);
}

template <int F>
static __global__ void __launch_bounds__(WARP_SIZE *SIDE, 4)
    fraction_kernel(const __grid_constant__ motion_cost_args a) {
    __shared__ uint32_t words[WARP_SIZE * STRIDE / 4];
    uint8_t *costs = reinterpret_cast<uint8_t *>(words);
    label_column l = column_of(a, costs);
    if (l.exists) {
        int fx = F * l.x + l.centre.u + a.grid.space.u_min + l.u,
            fy = F * l.y + l.centre.v + a.grid.space.v_min;
        bool inside_x = fx >= 0 && fx <= F * (a.width - 1);
        uint32_t sum[steps<F>::COUNT] = {};
        for (int c = 0; c < a.channels; c++)
            add_channel<F>(a, l.x, l.y, fx, fy, c, sum);
#pragma unroll
        for (int i = 0; i < steps<F>::COUNT; i++) {
            int v = i - (fy & (F - 1)), at = fy + v;
            bool inside = inside_x && at >= 0 && at <= F * (a.height - 1);
            int cost =
                a.border || inside ? a.lut[mean_difference<F>(sum[i], a.channels)] : a.outside;
            if (v >= 0 && v < SIDE)
                l.out[v * SIDE] = (uint8_t)(l.masked ? 0 : cost);
        }
    }
    __syncthreads();
    store_columns(a, costs);
}

typedef void (*cost_launch)(motion_cost_args);

/* By kind of cost, whole px: of any window, and of 7x7 labels, or NULL. */
static cost_launch whole_kernel(const motion_cost_args *a, bool columns) {
    if (a->fraction > 1 || a->channels > MAX_CHANNELS || a->words > 1)
        return nullptr;
    switch (a->kind) {
    case DATA_COST_AD:
        return columns ? column_kernel<true, false> : match_kernel<true, false>;
    case DATA_COST_CENSUS:
        return columns ? column_kernel<false, true> : match_kernel<false, true>;
    case DATA_COST_AD_CENSUS:
        return columns ? column_kernel<true, true> : match_kernel<true, true>;
    default:
        return nullptr;
    }
}

void cuda_launch_motion_cost(backend_cuda *cuda, const void *args, int width, int height) {
    const motion_cost_args *a = static_cast<const motion_cost_args *>(args);
    const grid &g = a->grid;
    bool columns = g.space.u_count == SIDE && g.space.v_count == SIDE;
    cost_launch kernel = whole_kernel(a, columns);
    if (columns && a->fraction > 4)
        kernel = fraction_kernel<8>;
    else if (columns && a->fraction > 1)
        kernel = a->fraction == 2 ? fraction_kernel<2> : fraction_kernel<4>;
    if (columns && kernel) {
        dim3 blocks = cuda_blocks(width, WARP_SIZE, height, 1);
        kernel<<<blocks, dim3(WARP_SIZE, SIDE), 0, cuda->stream>>>(*a);
        return;
    }
    int threads = g.half * (g.padded / 4);
    dim3 blocks((unsigned)((threads + THREADS - 1) / THREADS), (unsigned)height, 2);
    kernel = kernel ? kernel : cost_kernel;
    kernel<<<blocks, THREADS, 0, cuda->stream>>>(*a);
}

/* ---- centres */

enum { WINDOW = 5 };

/* centre_difference() to the reference's window, of which the bits in known count. Where the
 * target's window lies within its columns, a row is at constant distances from its start. */
DEVICE uint32_t window_difference(const motion_centre_args &a, int x, int y, displacement d,
                                  const uint32_t window[WINDOW * WINDOW], uint32_t known) {
    enum { ALL = (1 << WINDOW * WINDOW) - 1 };
    int left = x + divide_round(d.u, a.fraction) - 2, top = y + divide_round(d.v, a.fraction) - 2;
    bool inside = left >= 0 && left + WINDOW <= a.width && known == ALL;
    uint32_t sum = 0;
#pragma unroll
    for (int j = 0; j < WINDOW; j++) {
        const uint8_t *row = a.target + (unsigned)(stage_clamp(top + j, 0, a.height - 1) * a.width);
        if (inside) {
            row += left;
#pragma unroll
            for (int k = 0; k < WINDOW; k++)
                sum = __usad(window[WINDOW * j + k], row[k], sum);
            continue;
        }
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            if (known >> (WINDOW * j + k) & 1)
                sum =
                    __usad(window[WINDOW * j + k], row[stage_clamp(left + k, 0, a.width - 1)], sum);
    }
    return sum;
}

static __global__ void __launch_bounds__(THREADS, 3)
    centre_kernel(const __grid_constant__ motion_centre_args a) {
    int x = (int)(blockIdx.x * WARP_SIZE + threadIdx.x),
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
    uint32_t minimum = window_difference(a, x, y, best, window, known);
    for (int k = 0; k < 9; k++) {
        displacement d = centre_candidate(&a, x0 + k % 3 - 1, y0 + k / 3 - 1);
        if ((d.u == best.u && d.v == best.v) || (d.u == before.u && d.v == before.v))
            continue;
        uint32_t sum = window_difference(a, x, y, d, window, known);
        before = d;
        if (sum < minimum) {
            minimum = sum;
            best = d;
        }
    }
    motion_put(&a.centre, (size_t)y * (size_t)a.width + (size_t)x, best);
}

void cuda_launch_motion_centre(backend_cuda *cuda, const void *args, int width, int height) {
    const motion_centre_args *a = static_cast<const motion_centre_args *>(args);
    enum { ROWS = THREADS / WARP_SIZE };
    dim3 blocks = cuda_blocks(width, WARP_SIZE, height, ROWS);
    centre_kernel<<<blocks, dim3(WARP_SIZE, ROWS), 0, cuda->stream>>>(*a);
}

/* ---- filling along rows */

/* The nearest known pixel of a row from x on in steps of 32 px (step 32 or -32), or none: -1. x is
 * the first of 32 px that a warp looks at at once. */
DEVICE int known_from(const int16_t *row, int width, int x, int step) {
    for (; x > -WARP_SIZE && x < width; x += step) {
        int at = x + (int)threadIdx.x;
        unsigned known = __ballot_sync(ALL_LANES, at >= 0 && at < width && row[at] != UNKNOWN);
        if (known)
            return x + (step > 0 ? __ffs((int)known) - 1 : 31 - __clz((int)known));
    }
    return -1;
}

/* A warp has 32 pixels of a row. */
static __global__ void __launch_bounds__(THREADS) fill_kernel(const __grid_constant__ fill_args a) {
    int lane = (int)threadIdx.x, first = (int)blockIdx.x * WARP_SIZE, x = first + lane,
        y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (y >= a.height)
        return;
    ptrdiff_t row = (ptrdiff_t)y * a.width, from = row + x;
    bool looks = x < a.width && a.source.u[from] == UNKNOWN;
    unsigned known = __ballot_sync(ALL_LANES, x < a.width && !looks),
             below = known & ((1u << lane) - 1), above = known & ~((2u << lane) - 1);
    int before = -1, after = -1;
    if (__any_sync(ALL_LANES, looks && !below))
        before = known_from(a.source.u + row, a.width, first - WARP_SIZE, -WARP_SIZE);
    if (__any_sync(ALL_LANES, looks && !above))
        after = known_from(a.source.u + row, a.width, first + WARP_SIZE, WARP_SIZE);
    before = below ? first + 31 - __clz((int)below) : before;
    after = above ? first + __ffs((int)above) - 1 : after;
    if (looks)
        from = fill_choose(&a.source, before < 0 ? -1 : row + before, after < 0 ? -1 : row + after);
    if (x < a.width)
        fill_put(&a, (size_t)(row + x), from);
}

void cuda_launch_fill(backend_cuda *cuda, const void *args, int width, int height) {
    const fill_args *a = static_cast<const fill_args *>(args);
    enum { ROWS = THREADS / WARP_SIZE };
    if (a->dy) {
        cuda->plain[STAGE_fill](cuda, args, width, height);
        return;
    }
    dim3 blocks = cuda_blocks(width, WARP_SIZE, height, ROWS);
    fill_kernel<<<blocks, dim3(WARP_SIZE, ROWS), 0, cuda->stream>>>(*a);
}
