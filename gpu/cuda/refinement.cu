/*
 * The refinement optimised for CUDA; its layers but the last one are in feature.cu.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/feature.cuh"

#include <math.h>

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

/* ---- evidence: a thread for a pixel; four pixels' vectors are compared by their threads together,
 * each with a quarter of them */

enum { QUARTER = 4, FEATURE_WORDS = REFINE_FEATURES / 4 };

/* The sum of the products of 16 numbers. */
DEVICE int products(const uint4 &a, const uint4 &b) {
    return __dp4a(
        (int)a.x, (int)b.x,
        __dp4a((int)a.y, (int)b.y, __dp4a((int)a.z, (int)b.z, __dp4a((int)a.w, (int)b.w, 0))));
}

DEVICE int given(int v, int mask) {
    return (int)__shfl_xor_sync(ALL_LANES, (uint32_t)v, mask);
}

/* Of four threads' sums in parts, those of number t in thread t. */
DEVICE int sum_of_quarters(const int part[QUARTER], int t) {
    int a = t & 2 ? part[2] : part[0], b = t & 2 ? part[3] : part[1];
    a += given(t & 2 ? part[0] : part[2], 2);
    b += given(t & 2 ? part[1] : part[3], 2);
    return (t & 1 ? b : a) + given(t & 1 ? a : b, 1);
}

/* The right picture in words of four bytes, of which the last one may be cut off. */
struct picture_words {
    const uint32_t *words;
    uint32_t whole, last; /* how many are whole; what is there behind them */
};

DEVICE picture_words words_of(const refine_evidence_args &a) {
    uint32_t bytes = (uint32_t)(a.map.width * a.map.height * a.channels);
    picture_words p = {reinterpret_cast<const uint32_t *>(a.right), bytes / 4, 0};
    for (uint32_t i = 0; i < bytes % 4; i++)
        p.last |= (uint32_t)__ldg(a.right + 4 * p.whole + i) << 8 * i;
    return p;
}

DEVICE uint32_t word_at(const picture_words &p, uint32_t i) {
    return i < p.whole ? __ldg(p.words + i) : p.last;
}

/* refine_colour() of columns first and the next one. own: the pixel's colours times 16; of a grey
 * picture three times the same, and a column's are taken so, too. */
DEVICE int colour_at(const picture_words &p, int channels, const uint32_t own[3], uint32_t first,
                     int share) {
    uint32_t byte = first * (uint32_t)channels, i = byte / 4, shift = byte % 4 * 8, sum = 0,
             middle = word_at(p, i + 1), low = __funnelshift_r(word_at(p, i), middle, shift),
             high = __funnelshift_r(middle, word_at(p, i + 2), shift),
             shares = (uint32_t)(16 - share) | (uint32_t)share << 8;
#pragma unroll
    for (uint32_t c = 0; c < 3; c++)
        sum = __usad(
            own[c],
            __dp4a(__byte_perm(low, high, channels > 1 ? 0x30 + 0x11 * c : 0x10), shares, 0u), sum);
    return (int)stage_min(sum / 24, (uint32_t)FEATURE_LARGEST);
}

/* What vectors are compared by: a quarter of those of the four pixels. */
struct quarters {
    uint4 left[QUARTER];
    const uint4 *right;
};

/* refine_similarity() but for refine_likeness(); row: the number of the row's first pixel. */
DEVICE int compare_vectors(const quarters &q, uint32_t row, const struct refine_columns &own) {
    int lane = (int)threadIdx.x % WARP_SIZE, t = lane % QUARTER, part[QUARTER];
#pragma unroll
    for (int s = 0; s < QUARTER; s++) {
        int from = lane - t + s, share = (int)__shfl_sync(ALL_LANES, (uint32_t)own.share, from);
        uint32_t first = __shfl_sync(ALL_LANES, row + (uint32_t)own.first, from),
                 second = __shfl_sync(ALL_LANES, row + (uint32_t)own.second, from);
        part[s] = products(q.left[s], q.right[first * QUARTER + t]) * (16 - share) +
                  products(q.left[s], q.right[second * QUARTER + t]) * share;
    }
    return sum_of_quarters(part, t);
}

template <bool CENSUS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    evidence_kernel(const __grid_constant__ refine_evidence_args a) {
    __shared__ uint32_t staged[WARPS][WARP_SIZE][FEATURE_WORDS + 1];
    const refine_map &m = a.map;
    int warp = (int)threadIdx.x / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE,
        half = (m.width + 1) / 2, first = ((int)blockIdx.x * WARPS + warp) * (WARP_SIZE / 4),
        x = stage_min(2 * (first + lane / 4) + lane % 2, m.width - 1),
        y = stage_min(2 * (int)blockIdx.y + lane / 2 % 2, m.height - 1);
    uint32_t row = (uint32_t)(y * m.width);
    uint32_t words[FEATURE_WORDS] = {}, colours[3];
    const auto put = [&](int k, int v) { words[k / 4] |= (uint32_t)v << k % 4 * 8; };
    wait_for_previous_kernel();
    int own = refine_own(&m, x, y);
#pragma unroll
    for (int c = 0; c < 3; c++)
        colours[c] = 16u * __ldg(a.left + (row + x) * a.channels + (a.channels > 1 ? c : 0));
    const picture_words right = words_of(a);
    [[maybe_unused]] quarters q;
    [[maybe_unused]] uint64_t word;
    if constexpr (CENSUS)
        word = a.left_vectors[row + x];
    else {
        q.right = reinterpret_cast<const uint4 *>(a.right_vectors);
#pragma unroll
        for (int s = 0; s < QUARTER; s++) {
            int from = lane - lane % QUARTER + s;
            uint32_t at = __shfl_sync(ALL_LANES, row + x, from);
            q.left[s] =
                reinterpret_cast<const uint4 *>(a.left_vectors)[at * QUARTER + lane % QUARTER];
        }
    }
#pragma unroll
    for (int k = 0; k < REFINE_CANDIDATES; k++) {
        int candidate = refine_candidate(&m, x, y, k), sum;
        struct refine_columns c = refine_columns(&m, x, candidate);
        if constexpr (CENSUS)
            sum = refine_agreement(word, a.right_vectors[row + c.first],
                                   a.right_vectors[row + c.second], c.share);
        else
            sum = compare_vectors(q, row, c);
        if (k > 0)
            put(k - 1, refine_distance(candidate - own));
        put(REFINE_LIKENESS + k, refine_likeness(sum));
        put(REFINE_COLOUR + k, colour_at(right, a.channels, colours, row + (uint32_t)c.first,
                                         c.first < c.second ? c.share : 0));
    }
#pragma unroll
    for (int k = REFINE_OTHERS; k < REFINE_FEATURES; k++)
        put(k, refine_other(&a, x, y, k - REFINE_OTHERS));
#pragma unroll
    for (int i = 0; i < FEATURE_WORDS; i++)
        staged[warp][lane][i] = words[i];
    __syncwarp();
    uint32_t *to = reinterpret_cast<uint32_t *>(a.out) +
                   ((size_t)blockIdx.y * (size_t)half + (size_t)first) * (4 * FEATURE_WORDS);
#pragma unroll
    for (int i = lane; i < WARP_SIZE * FEATURE_WORDS; i += WARP_SIZE)
        if (first + i / (4 * FEATURE_WORDS) < half)
            to[i] = staged[warp][i / FEATURE_WORDS][i % FEATURE_WORDS];
}

void cuda_launch_refine_evidence(backend_cuda *cuda, const void *args, int width, int height) {
    const refine_evidence_args &a = *static_cast<const refine_evidence_args *>(args);
    launch_dependent(cuda, a.census ? evidence_kernel<true> : evidence_kernel<false>,
                     cuda_blocks(width, WARPS * WARP_SIZE / 4, height, 1), dim3(BLOCK_THREADS), a);
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
    int d[QUARTER], all[2] = {0, 0}, count[2] = {0, 0};
    bool known[QUARTER];
#pragma unroll
    for (int i = 0; i < QUARTER; i++) {
        d[i] = refine_own(&a.map, stage_min(4 * inside + i, a.map.width - 1),
                          stage_min(4 * y + t, a.map.height - 1));
        known[i] = is_known(a.map, 4 * inside + i, 4 * y + t);
    }
#pragma unroll
    for (int i = 0; i < QUARTER; i++)
        if (4 * inside + i < a.map.width && 4 * y + t < a.map.height)
#pragma unroll
            for (int k = 0; k < 2; k++) {
                all[k] += k && !known[i] ? 0 : d[i];
                count[k] += !k || known[i];
            }
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
        for (int mask = 1; mask < QUARTER; mask *= 2) {
            all[k] += given(all[k], mask);
            count[k] += given(count[k], mask);
        }
    int own = t ? sum[1] : sum[0];
    if (t < REFINE_REGRESSED && x < l.width)
        a.out[((size_t)y * (size_t)l.width + (size_t)x) * REFINE_REGRESSED + (size_t)t] =
            refine_mean_of(all, count) + 8 * feature_number(&l, l.bias[t] + own);
}

void cuda_launch_refine_regress(backend_cuda *cuda, const void *args, int width, int height) {
    const refine_regress_args &a = *static_cast<const refine_regress_args *>(args);
    launch_dependent(cuda, a.layer.inputs == 64 ? regress_kernel<64> : regress_kernel<32>,
                     cuda_blocks(width, BLOCK_THREADS / QUARTER, height, 1), dim3(BLOCK_THREADS),
                     a);
}

/* ---- the choice: a warp has the layer's outputs for a row of a tile, then a thread each pixel */

enum { CHOICES = 5 }; /* blocks of a multiprocessor */

/* Two numbers of 16 bits a word; so many words apart, threads of a warp use all banks. */
enum { NUMBER_WORDS = REFINE_OUTPUTS / 2 + 1 };

/* Sums of products of these are whole numbers below 2^24, which floats hold. The last entry of
 * near, and all behind it, are 0. */
enum { NEAR = 71 };
struct choice_tables {
    float weight[REFINE_WEIGHTS], near[NEAR];
};

/* The entry of near for modes so far apart: 4 bytes for 4/64 px. */
DEVICE float near_of(const choice_tables &tables, int one, int other) {
    uint32_t apart = stage_min((uint32_t)__sad(one, other, 0), 4u * NEAR - 1);
    return *reinterpret_cast<const float *>(reinterpret_cast<const char *>(tables.near) +
                                            (apart & ~3u));
}

/* refine_choose() in registers, of the layer's numbers. */
DEVICE void choose_pixel(const refine_choose_args &a, const choice_tables &tables, int x, int y,
                         const uint32_t *words) {
    size_t i = (size_t)y * (size_t)a.map.width + (size_t)x;
    int mode[REFINE_MODES], logit[REFINE_MODES], most = INT16_MIN;
    float weight[REFINE_MODES], score[REFINE_MODES], all = 0;
    if (a.map.disparity[i] == UNKNOWN) {
        refine_keep(&a, i);
        return;
    }
#pragma unroll
    for (int k = 0; k < REFINE_MODES; k++) {
        int residual = REFINE_MODES + k;
        logit[k] = (int16_t)(words[k / 2] >> k % 2 * 16);
        mode[k] = refine_mode(&a, x, y, k) + (int16_t)(words[residual / 2] >> residual % 2 * 16);
    }
    logit[0] += refine_known(&a.map, x, y) ? a.prior : 0;
#pragma unroll
    for (int k = 0; k < REFINE_MODES; k++)
        most = stage_max(most, logit[k]);
#pragma unroll
    for (int k = 0; k < REFINE_MODES; k++) {
        weight[k] = tables.weight[stage_min((most - logit[k]) >> 2, REFINE_WEIGHTS - 1)];
        score[k] = 256 * weight[k];
        all += weight[k];
    }
#pragma unroll
    for (int k = 1; k < REFINE_MODES; k++)
#pragma unroll
        for (int j = 0; j < k; j++) {
            float near = near_of(tables, mode[j], mode[k]);
            score[k] = fmaf(weight[j], near, score[k]);
            score[j] = fmaf(weight[k], near, score[j]);
        }
    int best = mode[0];
    float best_score = score[0], total = 0, offset = 0;
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
            offset = fmaf(weight[k], (float)(mode[k] - best), offset);
        }
    refine_store(&a, i, best, (int)offset, (int)total,
                 stage_min((int)best_score / (int)all, UINT8_MAX));
}

/* SIDE: refine_side() */
template <int SIDE>
static __global__ void __launch_bounds__(BLOCK_THREADS, CHOICES)
    choose_kernel(const __grid_constant__ refine_choose_args a) {
    using shape = layer_shape<REFINE_OUTPUTS / SIDE, REFINE_OUTPUTS>;
    DYNAMIC_SHARED(uint4, memory);
    __shared__ choice_tables tables;
    __shared__ uint32_t numbers[BLOCK_THREADS][NUMBER_WORDS];
    for (int i = (int)threadIdx.x; i < REFINE_WEIGHTS; i += BLOCK_THREADS)
        tables.weight[i] = (float)refine_weight(i);
    for (int i = (int)threadIdx.x; i < NEAR; i += BLOCK_THREADS)
        tables.near[i] = (float)refine_near(i);
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
        cuda, choose_kernel<SIDE>, a, a.layer, width, height, CHOICES);
}

void cuda_launch_refine_choose(backend_cuda *cuda, const void *args, int width, int height) {
    const refine_choose_args &a = *static_cast<const refine_choose_args *>(args);
    if (!(refine_side(&a.layer) > 1 ? launch_choice<2>(cuda, a, width, height)
                                    : launch_choice<1>(cuda, a, width, height)))
        cuda->plain[STAGE_refine_choose](cuda, args, width, height);
}
