/*
 * The refinement optimised for CUDA; its layers but the last one are in feature.cu.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/feature.cuh"

/* ---- nearest known disparities: along rows by votes of a warp, along columns by words of bits */

enum { LOOKED_AT = (REFINE_STEPS + WARP_SIZE - 1) / WARP_SIZE }; /* parts of a row, of a column */

/* refine_known(), false outside of the map. It loads without branches, so that many loads are on
 * their way. */
DEVICE bool is_known(const refine_map &m, int x, int y) {
    int px = stage_clamp(x, 0, m.width - 1), py = stage_clamp(y, 0, m.height - 1);
    size_t i = (size_t)py * (size_t)m.width + (size_t)px;
    int d = m.disparity[i], confidence = m.confidence[i];
    return (px == x) & (py == y) & (d != UNKNOWN) & (confidence >= CHANCE_MATCHED);
}

/* Of pixel (x, y): the nearest known disparity in this direction, so many steps away. */
DEVICE void store_nearest(const refine_map &m, int direction, int x, int y, int d, int steps) {
    size_t at = refine_plane(&m) * (size_t)direction + (size_t)y * (size_t)m.width + (size_t)x;
    m.nearest[at] = (int16_t)d;
    m.steps[at] = (uint8_t)stage_min(steps, REFINE_STEPS);
}

enum { NOWHERE = 1 << 20 };
enum { SQUARE_ROWS = 8 }; /* that a warp does of 32 columns */

/* A part of a row, which begins at left, in direction 0, left, or 1. */
DEVICE void search_row(const refine_map &m, int left, int y, int direction) {
    int lane = (int)threadIdx.x % WARP_SIZE, x = left + lane, at = x < m.width ? NOWHERE : x;
    for (int k = 0; k <= LOOKED_AT && __any_sync(ALL_LANES, at == NOWHERE); k++) {
        int from = left + (direction ? k : -k) * WARP_SIZE;
        uint32_t known = __ballot_sync(ALL_LANES, is_known(m, from + lane, y));
        if (k == 0)
            known &= direction ? ALL_LANES << lane : ALL_LANES >> (WARP_SIZE - 1 - lane);
        if (at == NOWHERE && known)
            at = from + (direction ? __ffs((int)known) - 1 : stage_top_bit(known));
    }
    int steps = stage_abs(at - x);
    if (x < m.width)
        store_nearest(m, direction, x, y, refine_own(&m, steps <= REFINE_STEPS ? at : x, y), steps);
}

/* Whether 32 pixels of a column, from y on, are known. */
DEVICE uint32_t known_column(const refine_map &m, int x, int y) {
    uint32_t known = 0;
#pragma unroll
    for (int i = 0; i < WARP_SIZE; i++)
        known |= (uint32_t)is_known(m, x, y + i) << i;
    return known;
}

/* The last known row above a part of a column, or the first one below it. */
DEVICE int search_column(const refine_map &m, int x, int top, bool needed, bool below) {
    int at = NOWHERE;
    for (int k = 1; k <= LOOKED_AT && __any_sync(ALL_LANES, needed && at == NOWHERE); k++) {
        int from = top + (below ? k : -k) * WARP_SIZE;
        uint32_t known = known_column(m, x, from);
        if (at == NOWHERE && known)
            at = from + (below ? __ffs((int)known) - 1 : stage_top_bit(known));
    }
    return at;
}

/* 32 columns of SQUARE_ROWS rows. */
DEVICE void search_columns(const refine_map &m, int left, int top) {
    int x = left + (int)threadIdx.x % WARP_SIZE, inside = stage_min(x, m.width - 1);
    uint32_t known = known_column(m, x, top);
    int above = search_column(m, x, top, !(known & 1), false),
        below = search_column(m, x, top, !(known >> (SQUARE_ROWS - 1)), true);
    int d[SQUARE_ROWS][2], steps[SQUARE_ROWS][2];
#pragma unroll
    for (int i = 0; i < 2 * SQUARE_ROWS; i++) {
        int r = i / 2, y = stage_min(top + r, m.height - 1), at = i % 2 ? below : above;
        uint32_t there = i % 2 ? known >> r : known & ALL_LANES >> (WARP_SIZE - 1 - r);
        if (there)
            at = i % 2 ? y + __ffs((int)there) - 1 : top + stage_top_bit(there);
        steps[r][i % 2] = stage_abs(at - y);
        d[r][i % 2] = refine_own(&m, inside, steps[r][i % 2] <= REFINE_STEPS ? at : y);
    }
#pragma unroll
    for (int i = 0; i < 2 * SQUARE_ROWS; i++)
        if (x < m.width && top + i / 2 < m.height)
            store_nearest(m, 2 + i % 2, x, top + i / 2, d[i / 2][i % 2], steps[i / 2][i % 2]);
}

/* Warps for columns, then warps for 32 pixels along a row in each direction. */
static __global__ void nearest_kernel(const __grid_constant__ refine_nearest_args a) {
    const refine_map &m = a.map;
    int left = (int)blockIdx.x * WARP_SIZE, i = (int)(blockIdx.y * blockDim.y + threadIdx.y),
        squares = (m.height + SQUARE_ROWS - 1) / SQUARE_ROWS;
    wait_for_previous_kernel();
    if (i < squares)
        search_columns(m, left, i * SQUARE_ROWS);
    else if (i - squares < 2 * m.height)
        search_row(m, left, (i - squares) / 2, (i - squares) % 2);
}

void cuda_launch_refine_nearest(backend_cuda *cuda, const void *args, int width, int height) {
    int rows = 2 * height + (height + SQUARE_ROWS - 1) / SQUARE_ROWS;
    launch_dependent(cuda, nearest_kernel, cuda_blocks(width, WARP_SIZE, rows, WARPS),
                     dim3(WARP_SIZE, WARPS), *static_cast<const refine_nearest_args *>(args));
}

/* ---- evidence: four threads a pixel, each with a quarter of vectors and of candidates; of census
 * each thread has whole words */

enum { QUARTER = 4, TURNS = (REFINE_CANDIDATES + QUARTER - 1) / QUARTER };
enum { WARP_PIXELS = WARP_SIZE / QUARTER, WARP_BYTES = WARP_PIXELS * REFINE_FEATURES };

/* The sum of the products of 16 numbers. */
DEVICE int products(const uint4 &a, const uint4 &b) {
    return __dp4a(
        (int)a.x, (int)b.x,
        __dp4a((int)a.y, (int)b.y, __dp4a((int)a.z, (int)b.z, __dp4a((int)a.w, (int)b.w, 0))));
}

DEVICE int given(int v, int mask) {
    return (int)__shfl_xor_sync(ALL_LANES, (uint32_t)v, mask);
}

/* Of four threads' sums in parts, those of candidate number t in thread t. */
DEVICE int sum_of_quarters(const int part[QUARTER], int t) {
    int a = t & 2 ? part[2] : part[0], b = t & 2 ? part[3] : part[1];
    a += given(t & 2 ? part[0] : part[2], 2);
    b += given(t & 2 ? part[1] : part[3], 2);
    return (t & 1 ? b : a) + given(t & 1 ? a : b, 1);
}

template <bool CENSUS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    evidence_kernel(const __grid_constant__ refine_evidence_args a) {
    __shared__ uint4 staged[WARPS][WARP_BYTES / 16];
    const refine_map &m = a.map;
    int warp = (int)threadIdx.x / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE,
        t = lane % QUARTER, pixel = lane / QUARTER, half = (m.width + 1) / 2,
        first = ((int)blockIdx.x * WARPS + warp) * (WARP_PIXELS / 4),
        x = stage_min(2 * (first + pixel / 4) + pixel % 2, m.width - 1),
        y = stage_min(2 * (int)blockIdx.y + pixel / 2 % 2, m.height - 1);
    uint8_t *out = reinterpret_cast<uint8_t *>(staged[warp]) + pixel * REFINE_FEATURES;
    size_t row = (size_t)y * (size_t)m.width;
    wait_for_previous_kernel();
    int own = refine_own(&m, x, y), candidate[TURNS], sum[TURNS];
    uint8_t colour[TURNS];
#pragma unroll
    for (int i = 0; i < TURNS; i++) {
        int k = i * QUARTER + t;
        candidate[i] = k < REFINE_CANDIDATES ? refine_candidate(&m, x, y, k) : own;
    }
    [[maybe_unused]] uint64_t word;
    [[maybe_unused]] uint4 left;
    if constexpr (CENSUS)
        word = a.left_vectors[row + (size_t)x];
    else
        left = reinterpret_cast<const uint4 *>(a.left_vectors)[(row + (size_t)x) * QUARTER + t];
#pragma unroll
    for (int i = 0; i < TURNS; i++) {
        struct refine_columns columns = refine_columns(&m, x, candidate[i]);
        colour[i] = refine_colour(&a, x, y, columns);
        if constexpr (CENSUS) {
            const uint64_t *right = a.right_vectors + row;
            sum[i] =
                refine_agreement(word, right[columns.first], right[columns.second], columns.share);
        } else {
            const uint4 *right =
                reinterpret_cast<const uint4 *>(a.right_vectors) + row * QUARTER + t;
            int part[QUARTER];
#pragma unroll
            for (int s = 0; s < QUARTER; s++) {
                int other = (int)__shfl_sync(ALL_LANES, (uint32_t)candidate[i], lane - t + s);
                struct refine_columns c = refine_columns(&m, x, other);
                part[s] = i * QUARTER + s < REFINE_CANDIDATES
                              ? products(left, right[c.first * QUARTER]) * (16 - c.share) +
                                    products(left, right[c.second * QUARTER]) * c.share
                              : 0;
            }
            sum[i] = sum_of_quarters(part, t);
        }
    }
    /* only now, since loads do not move across stores */
#pragma unroll
    for (int i = 0; i < TURNS; i++) {
        int k = i * QUARTER + t;
        if (k > 0 && k < REFINE_CANDIDATES)
            out[k - 1] = refine_distance(candidate[i] - own);
        if (k < REFINE_CANDIDATES) {
            out[REFINE_LIKENESS + k] = refine_likeness(sum[i]);
            out[REFINE_COLOUR + k] = colour[i];
        }
    }
    for (int k = t; k < REFINE_FEATURES - REFINE_OTHERS; k += QUARTER)
        out[REFINE_OTHERS + k] = refine_other(&a, x, y, k);
    __syncwarp();
    uint4 *to = reinterpret_cast<uint4 *>(a.out) +
                ((size_t)blockIdx.y * (size_t)half + (size_t)first) * (4 * REFINE_FEATURES / 16);
    if (lane < WARP_BYTES / 16 && first + lane / (WARP_BYTES / 32) < half)
        to[lane] = staged[warp][lane];
}

void cuda_launch_refine_evidence(backend_cuda *cuda, const void *args, int width, int height) {
    const refine_evidence_args &a = *static_cast<const refine_evidence_args *>(args);
    launch_dependent(cuda, a.census ? evidence_kernel<true> : evidence_kernel<false>,
                     cuda_blocks(width, WARPS * WARP_PIXELS / 4, height, 1), dim3(BLOCK_THREADS),
                     a);
}

/* ---- sums: a thread for 16 channels */

/* (a + b + 1) / 2 of each byte. */
DEVICE uint32_t means(uint32_t a, uint32_t b) {
    return (a | b) - ((a ^ b) >> 1 & 0x7f7f7f7fu);
}

static __global__ void sum_kernel(const __grid_constant__ refine_sum_args a) {
    int pieces = a.channels / 16, i = (int)(blockIdx.x * blockDim.x + threadIdx.x), x = i / pieces,
        piece = i % pieces, y = (int)blockIdx.y;
    wait_for_previous_kernel();
    if (x >= a.width)
        return;
    size_t fine = ((size_t)y * (size_t)a.width + (size_t)x) * (size_t)pieces + (size_t)piece,
           coarse =
               ((size_t)(y / 2) * (size_t)((a.width + 1) / 2) + (size_t)(x / 2)) * (size_t)pieces +
               (size_t)piece;
    uint4 u = reinterpret_cast<const uint4 *>(a.coarse)[coarse],
          v = reinterpret_cast<const uint4 *>(a.fine)[fine];
    reinterpret_cast<uint4 *>(a.out)[fine] =
        uint4{means(u.x, v.x), means(u.y, v.y), means(u.z, v.z), means(u.w, v.w)};
}

void cuda_launch_refine_sum(backend_cuda *cuda, const void *args, int width, int height) {
    const refine_sum_args &a = *static_cast<const refine_sum_args *>(args);
    launch_dependent(cuda, sum_kernel,
                     cuda_blocks(width * (a.channels / 16), BLOCK_THREADS, height, 1),
                     dim3(BLOCK_THREADS), a);
}

/* ---- regressed disparities: four threads a pixel, each with a quarter of the inputs */

template <int INPUTS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    regress_kernel(const __grid_constant__ refine_regress_args a) {
    const feature_args &l = a.layer;
    int t = (int)threadIdx.x % QUARTER, y = (int)blockIdx.y,
        x = (int)(blockIdx.x * blockDim.x + threadIdx.x) / QUARTER,
        inside = stage_min(x, l.width - 1);
    wait_for_previous_kernel();
    int sum[REFINE_REGRESSED] = {0, 0};
#pragma unroll
    for (int tap = 0; tap < FEATURE_TAPS; tap++) {
        constexpr int WORDS = INPUTS / QUARTER / FEATURE_GROUP;
        const uint2 *v = reinterpret_cast<const uint2 *>(feature_inputs(
            &l, feature_tap_x(&l, inside, tap), feature_tap_y(&l, y, tap), INPUTS / QUARTER * t));
#pragma unroll
        for (int i = 0; i < WORDS; i++)
#pragma unroll
            for (int r = 0; r < REFINE_REGRESSED; r++)
                sum[r] = __dp4a((int)weights_of(l, tap, WORDS * t + i, r),
                                (int)(i % 2 ? v[i / 2].y : v[i / 2].x), sum[r]);
    }
#pragma unroll
    for (int r = 0; r < REFINE_REGRESSED; r++) {
        sum[r] += given(sum[r], 1);
        sum[r] += given(sum[r], 2);
    }
    int own = t ? sum[1] : sum[0];
    if (t < REFINE_REGRESSED && x < l.width)
        a.out[((size_t)y * (size_t)l.width + (size_t)x) * REFINE_REGRESSED + (size_t)t] =
            refine_mean(&a.map, x, y) + 8 * feature_number(&l, l.bias[t] + own);
}

void cuda_launch_refine_regress(backend_cuda *cuda, const void *args, int width, int height) {
    const refine_regress_args &a = *static_cast<const refine_regress_args *>(args);
    launch_dependent(cuda, a.layer.inputs == 64 ? regress_kernel<64> : regress_kernel<32>,
                     cuda_blocks(width, BLOCK_THREADS / QUARTER, height, 1), dim3(BLOCK_THREADS),
                     a);
}

/* ---- the choice: a warp has the layer's outputs for a row of a tile, then a thread each pixel */

/* Two numbers of 16 bits a word; so many words apart, threads of a warp use all banks. */
enum { NUMBER_WORDS = REFINE_OUTPUTS / 2 + 1 };

/* Behind NEAR entries there are none but 0. */
enum { NEAR = 71 };
struct choice_tables {
    uint16_t weight[REFINE_WEIGHTS], near[NEAR];
};

/* refine_choose() in registers, of the layer's numbers. */
DEVICE void choose_pixel(const refine_choose_args &a, const choice_tables &tables, int x, int y,
                         const uint32_t *words) {
    size_t i = (size_t)y * (size_t)a.map.width + (size_t)x;
    int mode[REFINE_MODES], weight[REFINE_MODES], score[REFINE_MODES], most = INT16_MIN, all = 0;
    if (a.map.disparity[i] == UNKNOWN) {
        refine_keep(&a, i);
        return;
    }
#pragma unroll
    for (int k = 0; k < REFINE_MODES; k++) {
        int residual = REFINE_MODES + k;
        weight[k] = (int16_t)(words[k / 2] >> k % 2 * 16);
        mode[k] = refine_mode(&a, x, y, k) + (int16_t)(words[residual / 2] >> residual % 2 * 16);
    }
    weight[0] += refine_known(&a.map, x, y) ? a.prior : 0;
#pragma unroll
    for (int k = 0; k < REFINE_MODES; k++)
        most = stage_max(most, weight[k]);
#pragma unroll
    for (int k = 0; k < REFINE_MODES; k++) {
        weight[k] = tables.weight[stage_min((most - weight[k]) >> 2, REFINE_WEIGHTS - 1)];
        score[k] = 256 * weight[k];
        all += weight[k];
    }
#pragma unroll
    for (int k = 1; k < REFINE_MODES; k++)
#pragma unroll
        for (int j = 0; j < k; j++) {
            int near = tables.near[stage_min(stage_abs(mode[j] - mode[k]) >> 2, NEAR - 1)];
            score[k] += weight[j] * near;
            score[j] += weight[k] * near;
        }
    int best = mode[0], best_score = score[0], total = 0, offset = 0;
#pragma unroll
    for (int k = 1; k < REFINE_MODES; k++)
        if (score[k] > best_score) {
            best = mode[k];
            best_score = score[k];
        }
#pragma unroll
    for (int k = 0; k < REFINE_MODES; k++)
        if (stage_abs(mode[k] - best) <= REFINE_ONE) {
            total += weight[k];
            offset += weight[k] * (mode[k] - best);
        }
    refine_store(&a, i, best, offset, total, stage_min(best_score / all, UINT8_MAX));
}

/* SIDE: refine_side() */
template <int SIDE>
static __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS)
    choose_kernel(const __grid_constant__ refine_choose_args a) {
    using shape = layer_shape<REFINE_OUTPUTS / SIDE, REFINE_OUTPUTS>;
    DYNAMIC_SHARED(uint4, memory);
    __shared__ choice_tables tables;
    __shared__ uint32_t numbers[BLOCK_THREADS][NUMBER_WORDS];
    for (int i = (int)threadIdx.x; i < REFINE_WEIGHTS; i += BLOCK_THREADS)
        tables.weight[i] = (uint16_t)refine_weight(i);
    for (int i = (int)threadIdx.x; i < NEAR; i += BLOCK_THREADS)
        tables.near[i] = (uint16_t)refine_near(i);
    for_each_part<shape, SIDE * SIDE>(
        a.layer, memory, 0, [&](int left, int top, const int32_t *bias, const uint8_t *part) {
            int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE;
#pragma unroll 1
            for (int set = 0; set < SIDE * SIDE; set++) {
                int32_t own[OWN_PIXELS][shape::EACH];
                sum_part<shape>(memory + set * (shape::WEIGHT_WORDS / 4),
                                bias + set * shape::OUTPUTS, part, own);
#pragma unroll
                for (int p = 0; p < OWN_PIXELS; p++) {
                    int x = p / 2 * COLUMNS + lane % 4 * 2 + p % 2;
#pragma unroll
                    for (int i = 0; i < shape::EACH; i += 2)
                        numbers[warp * WARP_SIZE + x][lane / 4 * (shape::EACH / 2) + i / 2] =
                            (uint32_t)(uint16_t)feature_number(&a.layer, own[p][i]) |
                            (uint32_t)feature_number(&a.layer, own[p][i + 1]) << 16;
                }
                __syncwarp();
                int x = SIDE * (left + lane) + set % SIDE, y = SIDE * (top + warp) + set / SIDE;
                if (x < a.map.width && y < a.map.height)
                    choose_pixel(a, tables, x, y, numbers[threadIdx.x]);
                __syncwarp();
            }
        });
}

template <int SIDE>
static bool launch_choice(backend_cuda *cuda, const refine_choose_args &a, int width, int height) {
    return launch_parts<layer_shape<REFINE_OUTPUTS / SIDE, REFINE_OUTPUTS>, SIDE * SIDE>(
        cuda, choose_kernel<SIDE>, a, a.layer, width, height, BLOCKS);
}

void cuda_launch_refine_choose(backend_cuda *cuda, const void *args, int width, int height) {
    const refine_choose_args &a = *static_cast<const refine_choose_args *>(args);
    if (!(refine_side(&a.layer) > 1 ? launch_choice<2>(cuda, a, width, height)
                                    : launch_choice<1>(cuda, a, width, height)))
        cuda->plain[STAGE_refine_choose](cuda, args, width, height);
}
