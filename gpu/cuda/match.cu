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

enum { TILE = 16, TILES = 2, VECTOR_PIXELS = 128 }; /* pixels; of a warp; pixels of a block */
enum { PIECES = VECTOR_WORDS / 2 };                 /* of a vector, 16 bytes each */
enum { LOWER = 8 * 4 * PIECES }; /* words from a row of a product to its other half */
enum { VECTOR_BLOCKS = 3 };      /* of a multiprocessor */

/* A block's pixels, in whole parts of a warp. */
static __host__ __device__ __forceinline__ int whole_parts(int pixels) {
    return (pixels + TILES * TILE - 1) / (TILES * TILE) * (TILES * TILE);
}

/* Words of shared memory from one pixel's costs to the next one's: an odd multiple of 4, so that
 * eight pixels' costs of neighbouring targets lie in different banks. */
static __host__ __device__ __forceinline__ int cost_stride(int group) {
    return LABEL_BLOCK / 4 * ((group + 1) | 1);
}

/* A product begins with VECTOR_FIRST so that minus vector_place() of it without limits is what is
 * left of it after a shift; the curve has an entry for each sum there is. */
enum {
    VECTOR_FIRST = (1 << VECTOR_SHIFT) - 1 - VECTOR_HALF,
    VECTOR_MOST = FEATURE_CHANNELS * FEATURE_VECTOR_LARGEST * FEATURE_VECTOR_LARGEST,
    VECTOR_LEAST_PLACE = (VECTOR_FIRST - VECTOR_MOST) / (1 << VECTOR_SHIFT) - 1,
    VECTOR_CURVE = (VECTOR_FIRST + VECTOR_MOST) / (1 << VECTOR_SHIFT) + 1 - VECTOR_LEAST_PLACE
};

/* A block's row in shared memory. Targets lie in the order of labels: number i of those of a tile
 * is label i of its first pixel and label i - 1 of the next one, or with SIGN 1 of its last pixel
 * and the one before that. Costs of a pixel are those of its tile's targets. */
struct vector_row {
    uint4 *own, *target;
    uint32_t *costs, *own_color, *target_color;
    int whole, targets; /* pixels, and targets */
};

DEVICE vector_row vector_row_in(uint4 *memory, int pixels, int group) {
    int whole = whole_parts(pixels), targets = whole + group * LABEL_BLOCK;
    vector_row r = {memory, memory + PIECES * whole};
    r.costs = reinterpret_cast<uint32_t *>(r.target + PIECES * targets);
    r.own_color = r.costs + whole * cost_stride(group);
    r.target_color = r.own_color + whole;
    r.whole = whole;
    r.targets = targets;
    return r;
}

/* Loads vectors and colours of count pixels of a row: that of column first, and on by step. */
template <bool AD, int CHANNELS>
DEVICE void load_vectors(const cost_args &a, const uint64_t *vectors, const uint8_t *picture, int y,
                         int first, int step, int count, uint4 *to, uint32_t *colors) {
    size_t row = (size_t)y * (size_t)a.grid.width;
    const uint4 *from =
        reinterpret_cast<const uint4 *>(vectors + row * VECTOR_WORDS) + threadIdx.x % PIECES;
    int x = first + step * ((int)threadIdx.x / PIECES), apart = step * ((int)blockDim.x / PIECES),
        end = first + step * (count - 1);
    if (min(first, end) >= 0 && max(first, end) < a.grid.width) {
        from += PIECES * x;
#pragma unroll 4
        for (int i = (int)threadIdx.x; i < PIECES * count;
             i += (int)blockDim.x, from += PIECES * apart)
            copy_piece(to + i, from);
    } else {
        for (int i = (int)threadIdx.x; i < PIECES * count; i += (int)blockDim.x, x += apart)
            copy_piece(to + i, from + PIECES * stage_clamp(x, 0, a.grid.width - 1));
    }
    for (int i = (int)threadIdx.x; AD && i < count; i += (int)blockDim.x)
        colors[i] = packed_pixel<CHANNELS>(
            picture, row + (size_t)stage_clamp(first + step * i, 0, a.grid.width - 1));
}

template <bool AD, int CHANNELS, int SIGN>
DEVICE void load_vector_row(const cost_args &a, int left, int y, const vector_row &row) {
    load_vectors<AD, CHANNELS>(a, a.descriptor_reference, a.reference, y, left, 1, row.whole,
                               row.own, row.own_color);
    load_vectors<AD, CHANNELS>(a, a.descriptor_target, a.target, y,
                               left - SIGN * a.grid.space.u_min + (SIGN > 0 ? row.whole - 1 : 0),
                               -SIGN, row.targets, row.target, row.target_color);
}

struct vector_tables {
    match_tables differences;
    int32_t start[4]; /* VECTOR_FIRST */
    uint8_t curve[VECTOR_CURVE];
};

template <bool AD, int CHANNELS>
static __device__ void load_vector_tables(const cost_args &a, vector_tables *t) {
    load_tables<AD, false, CHANNELS>(a, &t->differences);
    for (int i = (int)threadIdx.x; i < VECTOR_CURVE; i += (int)blockDim.x)
        t->curve[i] =
            __ldg(a.census_lut + stage_clamp(-(i + VECTOR_LEAST_PLACE), 0, CENSUS_LUT - 1));
    if (threadIdx.x < 4)
        t->start[threadIdx.x] = VECTOR_FIRST;
}

/* The costs of a thread's pixels with 4 targets each, of 16 pixels' products with 16 targets:
 * column 2 t + e of product number q is target 4 t + 2 q + e. */
template <bool AD>
DEVICE void multiply_targets(const vector_tables &tables, const int32_t first[4], int last,
                             const uint4 own[2], const uint32_t own_color[2], const uint4 target[2],
                             const uint32_t target_color[4], uint32_t word[2]) {
    int32_t product[2][4];
#pragma unroll
    for (int q = 0; q < 2; q++) {
        const uint32_t low[2] = {target[q].x, target[q].y}, high[2] = {target[q].z, target[q].w};
        multiply_add<true>(product[q], first, own[0], low);
        multiply_add<true>(product[q], product[q], own[1], high);
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
        uint32_t cost[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            cost[i] =
                tables.curve[(product[i / 2][2 * k + i % 2] >> VECTOR_SHIFT) - VECTOR_LEAST_PLACE];
            if (AD)
                cost[i] +=
                    tables.differences.ad[min((int)__vsadu4(own_color[k], target_color[i]), last)];
        }
        word[k] = cost[0] + (cost[1] << 8) + ((cost[2] + (cost[3] << 8)) << 16);
    }
}

/* The costs of a row. A warp has TILES tiles of pixels and some of the targets that they reach. */
template <bool AD, int SIGN>
DEVICE void multiply_row(const vector_tables &tables, const vector_row &row, int group) {
    int lane = (int)threadIdx.x % WARP_SIZE, g = lane / 4, t = lane % 4,
        warp = (int)threadIdx.x / WARP_SIZE, warps = (int)blockDim.x / WARP_SIZE,
        parts = row.whole / (TILES * TILE),
        bits = parts > 2 ? 2 : parts - 1, /* of a warp's number that choose its part */
        begin = warp >> bits, split = max(warps >> bits, 1), last = tables.differences.ad_last;
    int32_t start[4];
    for (int i = 0; i < 4; i++) /* it would come from a constant before each product */
        start[i] = const_cast<const volatile int32_t *>(tables.start)[i];
    for (int part = warp & ((1 << bits) - 1); begin < split && part < parts; part += warps) {
        int first = part * (TILES * TILE), stride = cost_stride(group),
            left = g + (SIGN > 0 ? row.whole - TILE - first : first),
            apart = (SIGN > 0 ? -TILE : TILE) * stride - TILE / 4; /* two tiles' words of targets */
        uint4 own[TILES][2];
        uint32_t color[TILES][2] = {}, *to = row.costs + left * stride + TILE / 4 * begin + t;
#pragma unroll
        for (int k = 0; k < TILES; k++) {
            int pixel = left + (SIGN > 0 ? -TILE : TILE) * k;
            const volatile uint32_t *w /* or they would be moved for each product */
                = reinterpret_cast<uint32_t *>(row.own + PIECES * pixel + t);
            own[k][0] = make_uint4(w[0], w[LOWER], w[1], w[LOWER + 1]);
            own[k][1] = make_uint4(w[2], w[LOWER + 2], w[3], w[LOWER + 3]);
            for (int n = 0; AD && n < 2; n++)
                color[k][n] = row.own_color[pixel + 8 * n];
        }
        const uint4 *target = row.target + PIECES * (first + TILE * begin + g / 2 * 4 + g % 2) + t;
        const uint32_t *target_color = row.target_color + first + TILE * begin + 4 * t;
#pragma unroll 1
        for (int i = begin; i < group + TILES; i += split) {
            const uint4 vectors[2] = {target[0], target[2 * PIECES]};
            uint4 c = make_uint4(0, 0, 0, 0);
            if (AD)
                c = *reinterpret_cast<const uint4 *>(target_color);
            const uint32_t colors[4] = {c.x, c.y, c.z, c.w};
#pragma unroll
            for (int k = 0; k < TILES; k++) {
                uint32_t word[2];
                if (i < k || i > group + k)
                    continue;
                multiply_targets<AD>(tables, start, last, own[k], color[k], vectors, colors, word);
                to[k * apart] = word[0];
                to[k * apart + 8 * stride] = word[1];
            }
            target += PIECES * TILE * split;
            target_color += TILE * split;
            to += TILE / 4 * split;
        }
    }
}

/* store_quad() where all matches lie inside the picture; elsewhere it stores nothing and returns
 * false. */
template <int SIGN>
DEVICE bool store_inner_quad(const cost_args &a, int x, int y, int first,
                             const uint32_t w[PIXELS][4]) {
    int one = x - SIGN * (a.grid.space.u_min + first),
        other = one + PIXELS - 1 + SIGN * (1 - LABEL_BLOCK);
    if (min(one, other) < PIXELS || max(one, other) + PIXELS > a.grid.width ||
        first + LABEL_BLOCK > a.grid.labels || x + PIXELS > a.grid.width)
        return false;
    size_t plane = grid_volume(&a.grid) / 2;
    uint8_t *even = a.cost + grid_labels(&a.grid, x, y) + first,
            *odd = (x + y) & 1 ? even - plane : even + plane;
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        store_words((j % 2 ? odd : even) + j / 2 * a.grid.padded, w[j]);
    return true;
}

/* As match_kernel. AD: with absolute differences. */
template <bool AD, int CHANNELS, int SIGN, int LEVELS>
static __global__ void __launch_bounds__(THREADS, VECTOR_BLOCKS)
    vector_kernel(const __grid_constant__ cost_args a,
                  const __grid_constant__ downsample_cost_args h, int pixels, int group) {
    constexpr int LINES = 1 << LEVELS;
    DYNAMIC_SHARED(uint4, memory);
    const thread_part t = part_of<SIGN>(a, pixels, group);
    const vector_row row = vector_row_in(memory, pixels, group);
    int left = (int)blockIdx.x * pixels, top = (int)blockIdx.y * LINES,
        quad = (t.x - left) / PIXELS, turn = SIGN > 0 ? 3 - quad % 4 : quad % 4;
    const uint32_t *costs = row.costs + PIXELS * quad * cost_stride(group) + t.first / 4 + turn;
    /* not at an address that is known, which would be computed again before each use */
    vector_tables &tables = *reinterpret_cast<vector_tables *>(row.target_color + row.targets);
    wait_for_previous_kernel();
    load_vector_row<AD, CHANNELS, SIGN>(a, left, top, row);
    load_vector_tables<AD, CHANNELS>(a, &tables);
    thread_nodes<LEVELS> nodes = {};
#pragma unroll 1
    for (int r = 0; r < LINES && top + r < a.grid.height; r++) {
        wait_for_pieces();
        __syncthreads();
        multiply_row<AD, SIGN>(tables, row, group);
        __syncthreads();
        if (r + 1 < LINES && top + r + 1 < a.grid.height)
            load_vector_row<AD, CHANNELS, SIGN>(a, left, top + r + 1, row);
        if (!t.works)
            continue;
        uint32_t w[PIXELS][4];
#pragma unroll
        for (int j = 0; j < PIXELS; j++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                w[j][i] = __funnelshift_r(costs[j * cost_stride(group) + i],
                                          costs[j * cost_stride(group) + i + 1],
                                          8u * (SIGN > 0 ? 3 - j : j));
        if (!store_inner_quad<SIGN>(a, t.x, top + r, t.first, w))
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
    bool vectors = a->words > 1 && a->kind != DATA_COST_AD;
    int levels = h ? h->levels : 0, group = a->grid.padded / LABEL_BLOCK, quads = THREADS / group;
    while (quads > 8 && PIXELS * (quads / 2) >= a->grid.width)
        quads /= 2;
    if (vectors)
        quads = stage_min(quads, VECTOR_PIXELS / PIXELS);
    int pixels = PIXELS * quads, threads = (quads * group + WARP_SIZE - 1) / WARP_SIZE * WARP_SIZE;
    bool ad = a->kind != DATA_COST_CENSUS, census = a->kind != DATA_COST_AD;
    int rows = 1 << levels, room = room_for(targets(pixels, group)),
        words = room * (ad + 2 * census) + pixels * reference_words(ad, census);
    size_t bytes = sizeof(uint32_t) * (size_t)(words * rows);
    match_kernel_of kernel = levels == 2 ? choose_sign<2>(a) : choose_sign<1>(a);
    if (levels == 0)
        kernel = choose_sign<0>(a);
    if (vectors) {
        int whole = whole_parts(pixels), loaded = 2 * whole + group * LABEL_BLOCK;
        bytes = sizeof(vector_tables) +
                sizeof(uint32_t) * (size_t)(loaded + whole * cost_stride(group)) +
                sizeof(uint4) * (size_t)(PIECES * loaded);
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
