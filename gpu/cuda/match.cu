/*
 * The data cost optimised for CUDA. A thread computes 16 labels of 4 neighbouring pixels: along a
 * diagonal of pixels and labels the target pixel is the same, so 19 of them serve 64 comparisons.
 * They are in shared memory, one colour per word. Consecutive threads share a pixel, so that a warp
 * stores whole lines of memory.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_u16x2.h"
#include "gpu/cuda/matrix_product.cuh"
#include "gpu/cuda/packed_pixel.cuh"

enum { THREADS = 256, PIXELS = 4, REACH = LABEL_BLOCK + PIXELS, AD_LUT = 3 * 255 + 1 };

DEVICE void store_words(void *to, const uint32_t w[4]) {
    *static_cast<uint4 *>(to) = make_uint4(w[0], w[1], w[2], w[3]);
}

/* ---- data costs of 3x3 windows or neighbours: the plain functions, 16 labels a thread */

template <int KIND> DEVICE int window_match(const cost_args &a, int x, int xo, int y) {
    return __ldg(a.lut + (KIND == DATA_COST_BT ? cost_bt(&a, x, xo, y) : cost_ssd(&a, x, xo, y)));
}

template <int KIND>
static __global__ void __launch_bounds__(THREADS)
    window_kernel(const __grid_constant__ cost_args a) {
    int x = (int)(blockIdx.x * WARP_SIZE + threadIdx.x), y = (int)blockIdx.z,
        first = (int)(blockIdx.y * blockDim.y + threadIdx.y) * LABEL_BLOCK;
    wait_for_previous_kernel();
    if (x >= a.grid.width || first >= a.grid.padded)
        return;
    uint32_t w[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < LABEL_BLOCK; k++) {
        int xo = x - a.sign * (a.grid.space.u_min + first + k),
            at = stage_clamp(xo, 0, a.grid.width - 1);
        uint32_t cost = first + k >= a.grid.labels ? 0 : a.outside;
        if (first + k < a.grid.labels && (xo == at || a.border))
            cost = (uint8_t)window_match<KIND>(a, x, at, y);
        w[k / 4] |= cost << 8 * (k % 4);
    }
    store_words(a.cost + grid_labels(&a.grid, x, y) + first, w);
}

/* ---- absolute differences and census */

/* The place of target i in shared memory: four empty words follow each 16, so that the threads of a
 * pixel, 16 labels apart, read from different banks. */
static __host__ __device__ __forceinline__ int place_of(int i) {
    return i + i / 16 * 4;
}

/* The number of target pixels that a block of so many pixels may need. */
static __host__ __device__ __forceinline__ int targets(int pixels, int group) {
    return pixels + group * LABEL_BLOCK + PIXELS;
}

/* Words of shared memory for so many target pixels and those that a quad reads behind them. */
static __host__ __device__ __forceinline__ int room_for(int count) {
    return place_of(count + REACH) / 4 * 4;
}

/* The curves of both costs. ad_last: differences from here on have the same cost and are looked up
 * at this one address, which avoids bank conflicts. */
struct match_tables {
    uint8_t ad[AD_LUT + 1], census[CENSUS_LUT + 1];
    int ad_last;
};

template <bool AD, bool CENSUS, int CHANNELS>
static __device__ void load_tables(const cost_args &a, match_tables *t) {
    constexpr int LAST = 255 * CHANNELS;
    if (threadIdx.x == 0)
        t->ad_last = 0;
    __syncthreads();
    uint32_t end = AD ? __ldg(a.lut + LAST) : 0;
    int last = 0;
    for (int i = (int)threadIdx.x; AD && i <= LAST; i += (int)blockDim.x) {
        t->ad[i] = __ldg(a.lut + i);
        last = t->ad[i] != end ? i + 1 : last;
    }
    for (int step = WARP_SIZE / 2; step; step /= 2)
        last = max(last, (int)__shfl_xor_sync(ALL_LANES, last, step));
    if ((threadIdx.x % WARP_SIZE) == 0)
        atomicMax(&t->ad_last, last);
    for (int i = (int)threadIdx.x; CENSUS && i <= CENSUS_LUT; i += (int)blockDim.x)
        t->census[i] =
            __ldg(a.census_lut + stage_min(i, CENSUS_LUT - 1)); /* descriptor_distance() */
}

/* A comparison needs these of a pixel. With both costs the highest byte of the reference's colour
 * has its slack, that of the target's SLACK_MAX: so the sum of differences is SLACK_MAX less the
 * slack too large. */
template <bool AD, bool CENSUS> struct sample { uint32_t color, low, high; };

/* The reference's pixel also says, with both costs, which bits of census count. */
template <bool AD, bool CENSUS> struct reference_sample {
    sample<AD, CENSUS> own;
    uint32_t steady_low, steady_high;
};

/* The words of a reference's pixel in shared memory; a row has an array of each. */
static __host__ __device__ __forceinline__ constexpr int reference_words(bool ad, bool census) {
    return ad + 2 * census + 2 * (ad && census);
}

template <bool AD, bool CENSUS>
DEVICE uint32_t compare(const match_tables &t, int last, const reference_sample<AD, CENSUS> &p,
                        const sample<AD, CENSUS> &q) {
    uint32_t cost = 0;
    uint32_t low = p.own.low ^ q.low, high = p.own.high ^ q.high;
    if (AD && CENSUS)
        return t.ad[max(min((int)__vsadu4(p.own.color, q.color) - SLACK_MAX, last), 0)] +
               t.census[__popc(low & p.steady_low) + __popc(high & p.steady_high)];
    if (AD)
        cost = t.ad[min((int)__vsadu4(p.own.color, q.color), last)];
    if (CENSUS)
        cost = t.census[__popc(low) + __popc(high)];
    return cost;
}

/* Labels whose target lies outside the picture, for which the border's pixel is loaded, and those
 * that are none. */
static __device__ void fix_borders(const cost_args &a, int x, int first, uint32_t w[4]) {
    int start = x - a.sign * (a.grid.space.u_min + first);
#pragma unroll
    for (int k = 0; k < LABEL_BLOCK; k++) {
        int xo = start - a.sign * k;
        uint32_t mask = 255u << 8 * (k % 4);
        if (first + k >= a.grid.labels)
            w[k / 4] &= ~mask;
        else if (!a.border && (xo < 0 || xo >= a.grid.width))
            w[k / 4] = (w[k / 4] & ~mask) | (uint32_t)a.outside << 8 * (k % 4);
    }
}

/* A row of the other picture in shared memory, an array for what is compared each. */
template <bool AD, bool CENSUS> struct target_row { uint32_t *color, *low, *high; };

template <bool AD, bool CENSUS>
DEVICE target_row<AD, CENSUS> row_in(uint4 *memory, int room, int r) {
    uint32_t *from = reinterpret_cast<uint32_t *>(memory) + r * room * (AD + 2 * CENSUS);
    return {from, from + (AD ? room : 0), from + (AD + CENSUS) * room};
}

template <bool AD, bool CENSUS, int CHANNELS>
DEVICE void load_row(const cost_args &a, int start, int y, int count,
                     const target_row<AD, CENSUS> &to) {
    size_t row = (size_t)y * (size_t)a.grid.width;
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
        size_t from = row + (size_t)stage_clamp(start + i, 0, a.grid.width - 1);
        if (AD)
            to.color[place_of(i)] =
                packed_pixel<CHANNELS>(a.target, from) | (uint32_t)(CENSUS * SLACK_MAX) << 24;
        if (CENSUS) {
            uint64_t bits = __ldg(a.descriptor_target + from);
            to.low[place_of(i)] = (uint32_t)bits;
            to.high[place_of(i)] = (uint32_t)(bits >> 32);
        }
    }
}

/* A row of the reference in shared memory, from column left on. */
template <bool AD, bool CENSUS, int CHANNELS>
DEVICE void load_reference(const cost_args &a, int left, int y, int pixels, uint32_t *to) {
    bool steadies = AD && CENSUS && cost_has_slack(&a);
    for (int i = (int)threadIdx.x; i < pixels; i += (int)blockDim.x) {
        size_t from = (size_t)y * (size_t)a.grid.width + (size_t)min(left + i, a.grid.width - 1);
        uint64_t bits = CENSUS ? __ldg(a.descriptor_reference + from) : 0;
        uint64_t steady = steadies ? __ldg(a.steady + from) : STEADY_ALL;
        uint32_t slack = steadies ? __ldg(a.slack + from) : 0;
        uint32_t color = AD ? packed_pixel<CHANNELS>(a.reference, from) | slack << 24 : 0,
                 words[] = {(uint32_t)bits, (uint32_t)(bits >> 32), (uint32_t)steady,
                            (uint32_t)(steady >> 32)};
        if (AD)
            to[i] = color;
#pragma unroll
        for (int k = AD; k < reference_words(AD, CENSUS); k++)
            to[k * pixels + i] = words[k - AD];
    }
}

/* w gets 16 labels of 4 pixels, those of reference, whose targets begin at place reach. */
template <bool AD, bool CENSUS, int SIGN>
DEVICE void match_quad(const match_tables &tables, const uint32_t *reference, int pixels,
                       const target_row<AD, CENSUS> &row, int reach, uint32_t w[PIXELS][4]) {
    uint32_t own[5][PIXELS] = {};
    int last = tables.ad_last;
#pragma unroll
    for (int k = 0; k < reference_words(AD, CENSUS); k++) {
        uint4 four = *reinterpret_cast<const uint4 *>(reference + k * pixels);
        uint32_t *to = own[AD ? k : k + 1];
        to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    }
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        w[j][0] = w[j][1] = w[j][2] = w[j][3] = 0;
#pragma unroll
    for (int c = 0; c < REACH / 4; c++) {
        uint4 zero = make_uint4(0, 0, 0, 0);
        int at = place_of(reach + 4 * c);
        uint4 q = AD ? *reinterpret_cast<const uint4 *>(row.color + at) : zero;
        uint4 l = CENSUS ? *reinterpret_cast<const uint4 *>(row.low + at) : zero;
        uint4 h = CENSUS ? *reinterpret_cast<const uint4 *>(row.high + at) : zero;
        sample<AD, CENSUS> target[4] = {
            {q.x, l.x, h.x}, {q.y, l.y, h.y}, {q.z, l.z, h.z}, {q.w, l.w, h.w}};
#pragma unroll
        for (int e = 0; e < 4; e++)
#pragma unroll
            for (int j = 0; j < PIXELS; j++) {
                int k = SIGN > 0 ? j + LABEL_BLOCK - (4 * c + e) : 4 * c + e - j;
                if (k >= 0 && k < LABEL_BLOCK)
                    w[j][k / 4] +=
                        compare(tables, last,
                                reference_sample<AD, CENSUS>{
                                    {own[0][j], own[1][j], own[2][j]}, own[3][j], own[4][j]},
                                target[e])
                        << 8 * (k % 4);
            }
    }
}

/* Pixels beyond the picture's side get zeros. */
template <int SIGN>
DEVICE void store_quad(const cost_args &a, int x, int y, int first, uint32_t w[PIXELS][4]) {
    int width = a.grid.width, one = x - SIGN * (a.grid.space.u_min + first);
    int other = x + PIXELS - 1 - SIGN * (a.grid.space.u_min + first + LABEL_BLOCK - 1);
    bool inside = min(one, other) - PIXELS >= 0 && max(one, other) + PIXELS <= width &&
                  first + LABEL_BLOCK <= a.grid.labels;
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        if (x + j >= width) {
            w[j][0] = w[j][1] = w[j][2] = w[j][3] = 0;
            continue;
        }
        if (!inside)
            fix_borders(a, x + j, first, w[j]);
        store_words(a.cost + grid_labels(&a.grid, x + j, y) + first, w[j]);
    }
}

/* 16-bit costs of a node's labels from first on. */
DEVICE void store_node(const downsample_cost_args &a, int x, int y, int first,
                       const uint32_t w[8]) {
    uint16_t *to = a.cost + grid_labels(&a.grid, x, y) + first;
    store_words(to, w);
    store_words(to + 8, w + 4);
}

/* Sums of the two pixels of a node in two rows, below 256 each, as 16-bit labels in their order. */
DEVICE void node_of_rows(const uint32_t upper[4], const uint32_t lower[4], uint32_t w[8]) {
#pragma unroll
    for (int i = 0; i < 4; i++)
        labels_of_rows(upper[i], lower[i], w + 2 * i);
}

/* Sums of the two pixels of each node in a row. */
DEVICE void add_columns(const uint32_t w[PIXELS][4], uint32_t sum[PIXELS / 2][4]) {
#pragma unroll
    for (int i = 0; i < PIXELS / 2 * 4; i++)
        sum[i / 4][i % 4] = w[i / 4 * 2][i % 4] + w[i / 4 * 2 + 1][i % 4];
}

/* A thread computes 16 labels, from first on, of 4 pixels, from x on. start: of the targets
 * of its block; the thread's own begin at number reach. works: it has pixels. */
struct thread_part {
    int x, first, start, reach;
    bool works;
};

template <int SIGN> DEVICE thread_part part_of(const cost_args &a, int pixels, int group) {
    int left = (int)blockIdx.x * pixels, quad = (int)threadIdx.x / group,
        g = (int)threadIdx.x - quad * group;
    thread_part t = {left + PIXELS * quad, g * LABEL_BLOCK};
    t.start = left - SIGN * a.grid.space.u_min - (SIGN > 0 ? group * LABEL_BLOCK : 0);
    t.reach = PIXELS * quad + (SIGN > 0 ? (group - 1 - g) * LABEL_BLOCK : t.first);
    t.works = PIXELS * quad < pixels && t.x < a.grid.width;
    return t;
}

/* The rows of a thread's pixels add up to nodes: with LEVELS 1 two, whose rows are kept apart;
 * with 2 one node, of which each word has two labels of 16 bits, even ones before odd ones. */
template <int LEVELS> struct thread_nodes { uint32_t sum[2][PIXELS / 2][4]; };

DEVICE void add_row(const uint32_t w[PIXELS][4], int r, thread_nodes<1> *n) {
    add_columns(w, r ? n->sum[1] : n->sum[0]);
}

DEVICE void add_row(const uint32_t w[PIXELS][4], int, thread_nodes<2> *n) {
    uint32_t row[PIXELS / 2][4];
    add_columns(w, row);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        n->sum[0][0][i] += (row[0][i] & 0xff00ff) + (row[1][i] & 0xff00ff);
        n->sum[1][0][i] += (row[0][i] >> 8 & 0xff00ff) + (row[1][i] >> 8 & 0xff00ff);
    }
}

DEVICE void add_row(const uint32_t[PIXELS][4], int, thread_nodes<0> *) {
}

DEVICE void store_nodes(const cost_args &a, const downsample_cost_args &h, const thread_part &t,
                        int top, const thread_nodes<1> &n) {
    uint32_t w[8];
    node_of_rows(n.sum[0][0], n.sum[1][0], w);
    store_node(h, t.x / 2, top / 2, t.first, w);
    node_of_rows(n.sum[0][1], n.sum[1][1], w);
    if (t.x + 2 < a.grid.width)
        store_node(h, t.x / 2 + 1, top / 2, t.first, w);
}

DEVICE void store_nodes(const cost_args &, const downsample_cost_args &h, const thread_part &t,
                        int top, const thread_nodes<2> &n) {
    uint32_t w[8];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        w[2 * i] = byte_permute(n.sum[0][0][i], n.sum[1][0][i], 0x5410);
        w[2 * i + 1] = byte_permute(n.sum[0][0][i], n.sum[1][0][i], 0x7632);
    }
    store_node(h, t.x / 4, top / 4, t.first, w);
}

DEVICE void store_nodes(const cost_args &, const downsample_cost_args &, const thread_part &, int,
                        const thread_nodes<0> &) {
}

/* SIGN 1: targets lie to the left. LEVELS: how far above the finest one the level is whose costs
 * are computed, too, 0: none; a block has the rows of a node. pixels: of a block; group: threads
 * per pixel. Kernels with both costs want more registers than lets enough blocks run beside each
 * other: they are held to three or four. */
template <bool AD, bool CENSUS, int CHANNELS, int SIGN, int LEVELS>
static __global__ void __launch_bounds__(THREADS, (AD && CENSUS) * (LEVELS == 2 ? 3 : 4))
    match_kernel(const __grid_constant__ cost_args a,
                 const __grid_constant__ downsample_cost_args h, int pixels, int group) {
    constexpr int ROWS = 1 << LEVELS;
    DYNAMIC_SHARED(uint4, memory);
    __shared__ match_tables tables;
    const thread_part t = part_of<SIGN>(a, pixels, group);
    int top = (int)blockIdx.y * ROWS, count = targets(pixels, group), room = room_for(count);
    constexpr int WORDS = reference_words(AD, CENSUS);
    uint32_t *reference = row_in<AD, CENSUS>(memory, room, ROWS).color;
    wait_for_previous_kernel();
    load_tables<AD, CENSUS, CHANNELS>(a, &tables);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int y = min(top + r, a.grid.height - 1);
        load_row<AD, CENSUS, CHANNELS>(a, t.start, y, count, row_in<AD, CENSUS>(memory, room, r));
        load_reference<AD, CENSUS, CHANNELS>(a, (int)blockIdx.x * pixels, y, pixels,
                                             reference + r * WORDS * pixels);
    }
    __syncthreads();
    if (!t.works)
        return;
    thread_nodes<LEVELS> nodes = {};
    uint32_t w[PIXELS][4];
#pragma unroll(LEVELS > 1 ? 1 : ROWS)
    for (int r = 0; r < ROWS; r++) {
        if (top + r >= a.grid.height)
            break;
        match_quad<AD, CENSUS, SIGN>(
            tables, reference + r * WORDS * pixels + t.x - (int)blockIdx.x * pixels, pixels,
            row_in<AD, CENSUS>(memory, room, r), t.reach, w);
        store_quad<SIGN>(a, t.x, top + r, t.first, w);
        add_row(w, r, &nodes);
    }
    store_nodes(a, h, t, top, nodes);
}

/* ---- absolute differences and vectors: products of 16 pixels and 8 targets at a time */

enum { ROWS = 16, COLUMNS = 8, VECTOR_PIXELS = 128 }; /* of a product; of a block, at most */
enum { PIECES = VECTOR_WORDS / 2 };                   /* of a vector, 16 bytes each */

DEVICE const uint4 *vector_of(const uint64_t *vectors, const cost_args &a, int x, int y) {
    size_t pixel = (size_t)y * (size_t)a.grid.width + (size_t)stage_clamp(x, 0, a.grid.width - 1);
    return reinterpret_cast<const uint4 *>(vectors + pixel * VECTOR_WORDS);
}

/* A block's pixels, in whole products, and the targets that these reach. */
static __host__ __device__ __forceinline__ int whole_products(int pixels) {
    return (pixels + ROWS - 1) / ROWS * ROWS;
}

/* Bytes of shared memory from one pixel's costs to the next one's, with room for a block of targets
 * that are no labels before and behind them: an odd multiple of 16, so that eight pixels' costs of
 * neighbouring labels lie in different banks. */
static __host__ __device__ __forceinline__ int cost_stride(int group) {
    return LABEL_BLOCK * ((group + 2) | 1);
}

/* A product begins with VECTOR_FIRST so that minus vector_place() of it without limits is what is
 * left of it after a shift; the curve has an entry for each sum there is. */
enum {
    VECTOR_FIRST = (1 << VECTOR_SHIFT) - 1 - VECTOR_HALF,
    VECTOR_MOST = FEATURE_CHANNELS * FEATURE_VECTOR_LARGEST * FEATURE_VECTOR_LARGEST,
    VECTOR_LEAST_PLACE = (VECTOR_FIRST - VECTOR_MOST) / (1 << VECTOR_SHIFT) - 1,
    VECTOR_CURVE = (VECTOR_FIRST + VECTOR_MOST) / (1 << VECTOR_SHIFT) + 1 - VECTOR_LEAST_PLACE
};

static __device__ void load_vector_curve(const cost_args &a, uint8_t curve[VECTOR_CURVE]) {
    for (int i = (int)threadIdx.x; i < VECTOR_CURVE; i += (int)blockDim.x)
        curve[i] = __ldg(a.census_lut + stage_clamp(-(i + VECTOR_LEAST_PLACE), 0, CENSUS_LUT - 1));
}

/* The costs of a row's products, of all targets that one of 16 pixels reaches. The target of a
 * pixel's label 0 is the one with its number, and the other labels' follow; with SIGN 1 they come
 * before the one group * LABEL_BLOCK behind it. */
template <int SIGN>
DEVICE void multiply_row(const cost_args &a, const uint8_t *curve, const uint4 *row, uint8_t *costs,
                         int pixels, int group, int y) {
    int lane = (int)threadIdx.x % WARP_SIZE, g = lane / 4, labels = group * LABEL_BLOCK,
        stride = cost_stride(group), left = (int)blockIdx.x * pixels + g;
    for (int p = (int)threadIdx.x / WARP_SIZE * ROWS; p < pixels;
         p += (int)blockDim.x / WARP_SIZE * ROWS) {
        const uint4 *upper = vector_of(a.descriptor_reference, a, left + p, y) + lane % 4,
                    *lower = vector_of(a.descriptor_reference, a, left + p + 8, y) + lane % 4;
        const uint4 from[2] = {
            /* by words, so that these lie in registers as a product wants */
            make_uint4(__ldg(&upper->x), __ldg(&lower->x), __ldg(&upper->y), __ldg(&lower->y)),
            make_uint4(__ldg(&upper->z), __ldg(&lower->z), __ldg(&upper->w), __ldg(&lower->w))};
        const uint4 *targets = row + PIECES * (p + g) + lane % 4;
        uint8_t *to[2]; /* of the thread's first pixel and the one 8 further on, for target 0 */
#pragma unroll
        for (int k = 0; k < 2; k++) {
            int pixel = g + 8 * k, target = lane % 4 * 2;
            to[k] = costs + (p + pixel) * stride +
                    (SIGN > 0 ? pixel + labels - target : target - pixel);
        }
#pragma unroll 4
        for (int i = 0; i < ROWS + labels; i += COLUMNS) {
            uint4 v = targets[PIECES * i];
            const uint32_t low[2] = {v.x, v.y}, high[2] = {v.z, v.w};
            int32_t product[4] = {VECTOR_FIRST, VECTOR_FIRST, VECTOR_FIRST, VECTOR_FIRST};
            multiply_add<true>(product, from[0], low);
            multiply_add<true>(product, from[1], high);
            uint8_t found[4]; /* all of them before the first is stored: the loads wait together */
#pragma unroll
            for (int k = 0; k < 4; k++)
                found[k] = curve[(product[k] >> VECTOR_SHIFT) - VECTOR_LEAST_PLACE];
#pragma unroll
            for (int k = 0; k < 4; k++)
                to[k / 2][-SIGN * (i + k % 2)] = found[k];
        }
    }
}

/* As match_kernel. AD: with absolute differences. */
template <bool AD, int CHANNELS, int SIGN, int LEVELS>
static __global__ void __launch_bounds__(THREADS, 4)
    vector_kernel(const __grid_constant__ cost_args a,
                  const __grid_constant__ downsample_cost_args h, int pixels, int group) {
    constexpr int LINES = 1 << LEVELS;
    DYNAMIC_SHARED(uint4, memory);
    __shared__ match_tables tables;
    __shared__ uint8_t curve[VECTOR_CURVE];
    const thread_part t = part_of<SIGN>(a, pixels, group);
    int top = (int)blockIdx.y * LINES, count = targets(pixels, group),
        vectors = whole_products(pixels) + group * LABEL_BLOCK;
    uint4 *target = memory + (AD ? room_for(count) / 4 : 0);
    uint8_t *costs = reinterpret_cast<uint8_t *>(target + PIECES * vectors) + LABEL_BLOCK;
    uint32_t *reference = reinterpret_cast<uint32_t *>(costs - LABEL_BLOCK +
                                                       whole_products(pixels) * cost_stride(group));
    wait_for_previous_kernel();
    load_tables<AD, false, CHANNELS>(a, &tables);
    load_vector_curve(a, curve);
    thread_nodes<LEVELS> nodes = {};
#pragma unroll 1
    for (int r = 0; r < LINES && top + r < a.grid.height; r++) {
        target_row<AD, false> row = row_in<AD, false>(memory, room_for(count), 0);
        uint32_t w[PIXELS][4] = {};
        __syncthreads();
        if (AD) {
            load_row<AD, false, CHANNELS>(a, t.start, top + r, count, row);
            load_reference<AD, false, CHANNELS>(a, (int)blockIdx.x * pixels, top + r, pixels,
                                                reference);
        }
        for (int i = (int)threadIdx.x; i < PIECES * vectors; i += (int)blockDim.x)
            target[i] = __ldg(vector_of(a.descriptor_target, a, t.start + i / PIECES, top + r) +
                              i % PIECES);
        __syncthreads();
        multiply_row<SIGN>(a, curve, target, costs, pixels, group, top + r);
        __syncthreads();
        if (!t.works)
            continue;
        if (AD)
            match_quad<AD, false, SIGN>(tables, reference + t.x - (int)blockIdx.x * pixels, pixels,
                                        row, t.reach, w);
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            int pixel = t.x + j - (int)blockIdx.x * pixels;
            uint4 more =
                *reinterpret_cast<const uint4 *>(costs + pixel * cost_stride(group) + t.first);
            w[j][0] += more.x;
            w[j][1] += more.y;
            w[j][2] += more.z;
            w[j][3] += more.w;
        }
        store_quad<SIGN>(a, t.x, top + r, t.first, w);
        add_row(w, r, &nodes);
    }
    if (t.works)
        store_nodes(a, h, t, top, nodes);
}

typedef void (*match_kernel_of)(cost_args, downsample_cost_args, int, int);

template <int SIGN, int LEVELS> static match_kernel_of choose(const cost_args *a) {
    int color = a->channels == 3;
    if (a->kind == DATA_COST_CENSUS && a->words > 1)
        return vector_kernel<false, 1, SIGN, LEVELS>;
    if (a->kind != DATA_COST_AD && a->words > 1)
        return color ? vector_kernel<true, 3, SIGN, LEVELS> : vector_kernel<true, 1, SIGN, LEVELS>;
    if (a->kind == DATA_COST_AD)
        return color ? match_kernel<true, false, 3, SIGN, LEVELS>
                     : match_kernel<true, false, 1, SIGN, LEVELS>;
    if (a->kind == DATA_COST_CENSUS)
        return match_kernel<false, true, 1, SIGN, LEVELS>;
    return color ? match_kernel<true, true, 3, SIGN, LEVELS>
                 : match_kernel<true, true, 1, SIGN, LEVELS>;
}

template <int LEVELS> static match_kernel_of choose_sign(const cost_args *a) {
    return a->sign > 0 ? choose<1, LEVELS>(a) : choose<-1, LEVELS>(a);
}

static void launch_window(backend_cuda *cuda, const cost_args *a) {
    int group = a->grid.padded / LABEL_BLOCK, together = group < 8 ? group : 8;
    dim3 block(WARP_SIZE, (unsigned)together);
    dim3 blocks((unsigned)(a->grid.width + WARP_SIZE - 1) / WARP_SIZE,
                (unsigned)((group + together - 1) / together), (unsigned)a->grid.height);
    auto kernel =
        a->kind == DATA_COST_BT ? window_kernel<DATA_COST_BT> : window_kernel<DATA_COST_SSD>;
    launch_dependent(cuda, kernel, blocks, block, *a);
}

/* A block takes as many pixels as its threads hold, but not many more than the row has, and of
 * vectors only as many as its shared memory holds. */
static void launch_match(backend_cuda *cuda, const cost_args *a, const downsample_cost_args *h) {
    int levels = h ? h->levels : 0, group = a->grid.padded / LABEL_BLOCK, quads = THREADS / group;
    while (quads > 8 && PIXELS * (quads / 2) >= a->grid.width)
        quads /= 2;
    if (a->words > 1)
        quads = stage_min(quads, VECTOR_PIXELS / PIXELS);
    int pixels = PIXELS * quads, threads = (quads * group + WARP_SIZE - 1) / WARP_SIZE * WARP_SIZE;
    bool ad = a->kind != DATA_COST_CENSUS, census = a->kind != DATA_COST_AD;
    int rows = 1 << levels, room = room_for(targets(pixels, group)),
        words = room * (ad + 2 * census) + pixels * reference_words(ad, census);
    size_t bytes = sizeof(uint32_t) * (size_t)(words * rows);
    match_kernel_of kernel = levels == 2 ? choose_sign<2>(a) : choose_sign<1>(a);
    if (levels == 0)
        kernel = choose_sign<0>(a);
    if (a->words > 1) {
        int whole = whole_products(pixels);
        bytes = sizeof(uint32_t) * (size_t)(ad * (room + pixels)) +
                sizeof(uint4) * (size_t)(PIECES * (whole + group * LABEL_BLOCK)) +
                (size_t)(whole * cost_stride(group));
    }
    allow_shared(cuda, kernel);
    dim3 blocks = cuda_blocks(a->grid.width, pixels, a->grid.height, rows);
    launch_with_memory(cuda, kernel, blocks, dim3((unsigned)threads), bytes, *a,
                       h ? *h : downsample_cost_args(), pixels, group);
}

static int compares_windows(const cost_args *a) {
    return a->kind == DATA_COST_BT || a->kind == DATA_COST_SSD;
}

void cuda_launch_cost(backend_cuda *cuda, const void *args, int, int) {
    const cost_args *a = static_cast<const cost_args *>(args);
    if (compares_windows(a))
        launch_window(cuda, a);
    else
        launch_match(cuda, a, nullptr);
}

/* The cost with that of a coarser level. */
int cuda_unit_costs(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    const cost_args *a = cuda_args<cost_args>(g, unit, STAGE_cost, slot);
    if (!a)
        return cuda_unit_averages(cuda, g, unit, slot);
    if (compares_windows(a))
        return 0;
    launch_match(cuda, a, cuda_args<downsample_cost_args>(g, unit, STAGE_downsample_cost, slot));
    return 2;
}
