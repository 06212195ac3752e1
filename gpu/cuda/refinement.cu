/*
 * The refinement optimised for CUDA; its layers but the last one are in feature.cu.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/feature.cuh"

#include <math.h>

/* ---- nearest known disparities, in bits: a warp has 32 columns of OWN_ROWS rows, a block the rows
 * above each other */

enum { LOADED_ROWS = 16, LOADED = WARPS * LOADED_ROWS }; /* by a warp, by a block */
enum { OWN_ROWS = 8, AT_ONCE = 4, ROWS_ABOVE = (LOADED - WARPS * OWN_ROWS) / 2 };
enum { NOWHERE = 1 << 20 };
enum { NEAREST_BLOCKS = 6 }; /* of a multiprocessor */

/* refine_known(), false outside of the map. It loads without branches, so that many loads are on
 * their way. */
DEVICE bool is_known(const refine_map &m, int x, int y) {
    int px = stage_clamp(x, 0, m.width - 1), py = stage_clamp(y, 0, m.height - 1);
    size_t i = (size_t)py * (size_t)m.width + (size_t)px;
    int d = m.disparity[i], confidence = m.confidence[i];
    return (px == x) & (py == y) & (d != UNKNOWN) & (confidence >= CHANCE_MATCHED);
}

/* Stores the nearest known disparity of pixel (x, y) in this direction, so many steps away. */
DEVICE void store_nearest(const refine_map &m, int direction, int x, int y, int d, int steps) {
    size_t at = refine_plane(&m) * (size_t)direction + (size_t)y * (size_t)m.width + (size_t)x;
    m.nearest[at] = (int16_t)d;
    m.steps[at] = (uint8_t)stage_min(steps, REFINE_STEPS);
}

/* The last of some bits that are set, or the first one; the number of bit 0 is from. */
DEVICE int known_in(uint64_t known, int from, bool first) {
    uint32_t low = (uint32_t)known, high = (uint32_t)(known >> 32);
    int last_bit = high ? 32 + stage_top_bit(high | 1) : stage_top_bit(low | 1),
        first_bit = low ? __ffs((int)low) - 1 : 31 + __ffs((int)high);
    return known ? from + (first ? first_bit : last_bit) : (int)NOWHERE;
}

/* Loads a warp's part of LOADED rows from y on: which pixels of its columns are known. */
typedef uint16_t column_parts[WARPS][WARP_SIZE];
DEVICE void load_columns(const refine_map &m, int x, int y, column_parts parts) {
    uint32_t known = 0;
#pragma unroll
    for (int i = 0; i < LOADED_ROWS; i++)
        known |= (uint32_t)is_known(m, x, y + (int)threadIdx.y * LOADED_ROWS + i) << i;
    parts[threadIdx.y][threadIdx.x] = (uint16_t)known;
}

DEVICE uint64_t column_of(const column_parts parts) {
    uint64_t all = 0;
#pragma unroll
    for (int i = 0; i < WARPS; i++)
        all |= (uint64_t)parts[i][threadIdx.x] << i * LOADED_ROWS;
    return all;
}

/* Above and below a warp's rows, which begin at top: what is known nearest. rows: the block's
 * LOADED rows, from y on. */
struct column_ends {
    int above, below;
};

DEVICE column_ends search_columns(const refine_map &m, int x, int top, uint64_t rows, int y) {
    __shared__ column_parts upper, lower;
    column_ends at = {known_in(rows & ((2ull << (top - y)) - 1), y, false),
                      known_in(rows >> (top - y + OWN_ROWS - 1), top + OWN_ROWS - 1, true)};
    bool exists = x < m.width && top < m.height;
    for (int far = LOADED; far < REFINE_STEPS + LOADED; far += LOADED) {
        bool more = (at.above == NOWHERE && y > far - LOADED) ||
                    (at.below == NOWHERE && y + far < m.height);
        if (!__syncthreads_count(exists && more))
            break;
        load_columns(m, x, y - far, upper);
        load_columns(m, x, y + far, lower);
        __syncthreads();
        int above = known_in(column_of(upper), y - far, false),
            below = known_in(column_of(lower), y + far, true);
        at.above = at.above == NOWHERE ? above : at.above;
        at.below = at.below == NOWHERE ? below : at.below;
    }
    return at;
}

/* The nearest known disparity to the left or right in each of a warp's rows. bit: the first row's
 * number among those of rows. */
DEVICE void search_rows(const refine_map &m, int left, int top, uint64_t rows, int bit,
                        bool onwards, int at[OWN_ROWS]) {
    int lane = (int)threadIdx.x, step = onwards ? WARP_SIZE : -WARP_SIZE;
    bool more = false, exists = left + lane < m.width;
#pragma unroll
    for (int r = 0; r < OWN_ROWS; r++) {
        uint32_t row = __ballot_sync(ALL_LANES, rows >> (bit + r) & 1),
                 mask = onwards ? ALL_LANES << lane : ALL_LANES >> (WARP_SIZE - 1 - lane);
        at[r] = known_in(row & mask, left, onwards);
        more |= exists && top + r < m.height && at[r] == NOWHERE;
    }
#pragma unroll 1
    for (int from = left + step; stage_abs(from - left) <= REFINE_STEPS + 1 && from > -WARP_SIZE &&
                                 from < m.width && __any_sync(ALL_LANES, more);
         from += step) {
        more = false;
#pragma unroll
        for (int r = 0; r < OWN_ROWS; r++) {
            uint32_t row = __ballot_sync(ALL_LANES, is_known(m, from + lane, top + r));
            at[r] = at[r] == NOWHERE ? known_in(row, from, onwards) : at[r];
            more |= exists && top + r < m.height && at[r] == NOWHERE;
        }
    }
}

static __global__ void __launch_bounds__(BLOCK_THREADS, NEAREST_BLOCKS)
    nearest_kernel(const __grid_constant__ refine_nearest_args a) {
    __shared__ column_parts parts;
    const refine_map &m = a.map;
    int left = (int)blockIdx.x * WARP_SIZE, x = left + (int)threadIdx.x,
        from = (int)blockIdx.y * WARPS * OWN_ROWS - ROWS_ABOVE,
        bit = ROWS_ABOVE + (int)threadIdx.y * OWN_ROWS, top = from + bit;
    wait_for_previous_kernel();
    load_columns(m, x, from, parts);
    __syncthreads();
    uint64_t rows = column_of(parts);
    column_ends ends = search_columns(m, x, top, rows, from);
    int side[2][OWN_ROWS];
    search_rows(m, left, top, rows, bit, false, side[0]);
    search_rows(m, left, top, rows, bit, true, side[1]);
#pragma unroll
    for (int first = 0; first < OWN_ROWS; first += AT_ONCE) {
        int steps[4 * AT_ONCE], d[4 * AT_ONCE];
#pragma unroll
        for (int i = 0; i < 4 * AT_ONCE; i++) {
            int r = first + i / 4, y = top + r, at;
            uint64_t over = rows & ((2ull << (bit + r)) - 1), under = rows >> (bit + r);
            if (i % 4 < 2)
                at = side[i % 4][r];
            else if (i % 4 == 2)
                at = over ? known_in(over, from, false) : ends.above;
            else
                at = under ? known_in(under, y, true) : ends.below;
            steps[i] = stage_abs(at - (i % 4 < 2 ? x : y));
            bool near = steps[i] <= REFINE_STEPS;
            d[i] = refine_own(&m, near && i % 4 < 2 ? at : stage_min(x, m.width - 1),
                              near && i % 4 > 1 ? at : stage_min(y, m.height - 1));
        }
#pragma unroll
        for (int i = 0; i < 4 * AT_ONCE; i++)
            if (x < m.width && top + first + i / 4 < m.height)
                store_nearest(m, i % 4, x, top + first + i / 4, d[i], steps[i]);
    }
}

void cuda_launch_refine_nearest(backend_cuda *cuda, const void *args, int width, int height) {
    launch_dependent(cuda, nearest_kernel, cuda_blocks(width, WARP_SIZE, height, WARPS * OWN_ROWS),
                     dim3(WARP_SIZE, WARPS), *static_cast<const refine_nearest_args *>(args));
}

/* ---- evidence: a thread for a pixel, a warp for 16 columns of two rows */

enum { QUARTER = 4, FEATURE_WORDS = REFINE_FEATURES / 4, PIXEL_PIECES = FEATURE_WORDS / 4 };

DEVICE int given(int v, int mask) {
    return (int)__shfl_xor_sync(ALL_LANES, (uint32_t)v, mask);
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

/* INSIDE: there is such a word. */
template <bool INSIDE> DEVICE uint32_t word_at(const picture_words &p, uint32_t i) {
    return INSIDE || i < p.whole ? __ldg(p.words + i) : p.last;
}

/* refine_colour() of columns first and the next one. own: the pixel's colours times 16; of a grey
 * picture three times the same, and a column's are taken so, too. */
template <bool INSIDE>
DEVICE int colour_at(const picture_words &p, int channels, const uint32_t own[3], uint32_t first,
                     int share) {
    uint32_t byte = first * (uint32_t)channels, i = byte / 4, shift = byte % 4 * 8, sum = 0,
             middle = word_at<INSIDE>(p, i + 1),
             low = __funnelshift_r(word_at<INSIDE>(p, i), middle, shift),
             high = __funnelshift_r(middle, word_at<INSIDE>(p, i + 2), shift),
             shares = (uint32_t)(16 - share) | (uint32_t)share << 8;
#pragma unroll
    for (uint32_t c = 0; c < 3; c++)
        sum = __usad(
            own[c],
            __dp4a(__byte_perm(low, high, channels > 1 ? 0x30 + 0x11 * c : 0x10), shares, 0u), sum);
    return (int)stage_min(sum / 24, (uint32_t)FEATURE_LARGEST);
}

/* The products of a warp's vectors with those of a band of at most BAND columns of the right
 * picture. Disparities lead to the first BAND - COLUMNS of them; the next column is read for
 * fractions. The 16 words between two rows' products let the threads of a warp use all banks. */
enum { BAND = 72, ROW_PRODUCTS = ROWS * BAND + 16, PRODUCTS_OF_WARP = 2 * ROW_PRODUCTS };
enum { EVIDENCE_BLOCKS = 5 }; /* of a multiprocessor */

/* A thread's part of the operands of a row's products: of 16 pixels' vectors, and of the right
 * picture's row, whose vectors begin there. */
struct row_operands {
    uint4 left[2];
    const uint4 *right;
};

DEVICE row_operands load_row(const refine_evidence_args &a, int left, int y) {
    int lane = (int)threadIdx.x % WARP_SIZE, last = a.map.width - 1;
    uint32_t row = (uint32_t)stage_min(y, a.map.height - 1) * (uint32_t)a.map.width * QUARTER;
    const uint4 *from = reinterpret_cast<const uint4 *>(a.left_vectors) + row + lane % 4;
    uint4 upper = from[stage_min(left + lane / 4, last) * QUARTER],
          lower = from[stage_min(left + lane / 4 + 8, last) * QUARTER];
    return {{{upper.x, lower.x, upper.y, lower.y}, {upper.z, lower.z, upper.w, lower.w}},
            reinterpret_cast<const uint4 *>(a.right_vectors) + row + lane % 4};
}

/* The products with columns first to last of the right picture, outside of which its border
 * repeats. */
DEVICE void multiply_columns(const row_operands rows[2], int width, int first, int last,
                             int32_t *products) {
    int lane = (int)threadIdx.x % WARP_SIZE, g = lane / 4;
    products += g * BAND + lane % 4 * 2;
#pragma unroll 2
    for (int i = 0; i <= last - first; i += COLUMNS)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            uint4 v = rows[r].right[stage_clamp(first + i + g, 0, width - 1) * QUARTER];
            const uint32_t low[2] = {v.x, v.y}, high[2] = {v.z, v.w};
            int32_t sum[4] = {0, 0, 0, 0};
            multiply_add<true>(sum, rows[r].left[0], low);
            multiply_add<true>(sum, rows[r].left[1], high);
            uint2 *to = reinterpret_cast<uint2 *>(products + r * ROW_PRODUCTS + i);
            to[0] = uint2{(uint32_t)sum[0], (uint32_t)sum[1]};
            to[COLUMNS * BAND / 2] = uint2{(uint32_t)sum[2], (uint32_t)sum[3]};
        }
}

/* refine_similarity() of a pixel's candidates, but for refine_likeness(). The warp's pixels begin
 * at column left; products: room for PRODUCTS_OF_WARP. */
DEVICE void compare_vectors(const refine_evidence_args &a, int left, int x, int y,
                            const int candidate[REFINE_CANDIDATES], int32_t *products,
                            int sum[REFINE_CANDIDATES]) {
    int lane = (int)threadIdx.x % WARP_SIZE, first = INT_MAX, last = 0, width = a.map.width;
    const row_operands rows[2] = {load_row(a, left, y), load_row(a, left, y + 1)};
    const int32_t *own = products + lane / 2 % 2 * ROW_PRODUCTS + (lane / 4 * 2 + lane % 2) * BAND;
    const auto column = [&](int k) {
        return stage_clamp((16 * x - candidate[k]) >> 4, -1, width - 1);
    };
#pragma unroll
    for (int k = 0; k < REFINE_CANDIDATES; k++) {
        first = stage_min(first, column(k));
        last = stage_max(last, column(k));
        sum[k] = 0;
    }
    first = warp_min(first);
    last = -warp_min(-last);
#pragma unroll 1
    for (; first <= last; first += BAND - COLUMNS) {
        multiply_columns(rows, width, first, stage_min(last + 1, first + BAND - COLUMNS), products);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < REFINE_CANDIDATES; k++) {
            int i = column(k) - first, share = (16 * x - candidate[k]) & 15;
            bool there = (uint32_t)i < BAND - COLUMNS;
            const int32_t *two =
                own + (there ? i : 0); /* without branches: all loads wait at once */
            int v = two[0] * (16 - share) + two[1] * share;
            sum[k] = there ? v : sum[k];
        }
        __syncwarp();
    }
}

/* INSIDE: the picture goes on behind all words that are read. memory: a warp's. */
template <bool CENSUS, bool INSIDE>
DEVICE void make_evidence(const refine_evidence_args &a, uint4 *memory) {
    const refine_map &m = a.map;
    int warp = (int)threadIdx.x / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE,
        half = (m.width + 1) / 2, first = ((int)blockIdx.x * WARPS + warp) * (WARP_SIZE / 4),
        x = stage_min(2 * (first + lane / 4) + lane % 2, m.width - 1),
        y = stage_min(2 * (int)blockIdx.y + lane / 2 % 2, m.height - 1);
    uint32_t row = (uint32_t)(y * m.width);
    uint32_t words[FEATURE_WORDS] = {}, colours[3];
    const auto put = [&](int k, int v) { words[k / 4] |= (uint32_t)v << k % 4 * 8; };
    int own = refine_own(&m, x, y), candidate[REFINE_CANDIDATES], sum[REFINE_CANDIDATES];
#pragma unroll
    for (int k = 0; k < REFINE_CANDIDATES; k++)
        candidate[k] = refine_candidate(&m, x, y, k);
#pragma unroll
    for (int c = 0; c < 3; c++)
        colours[c] = 16u * __ldg(a.left + (row + x) * a.channels + (a.channels > 1 ? c : 0));
    const picture_words right = words_of(a);
    if constexpr (!CENSUS)
        compare_vectors(a, 2 * first, x, 2 * (int)blockIdx.y, candidate,
                        reinterpret_cast<int32_t *>(memory), sum);
#pragma unroll
    for (int k = 0; k < REFINE_CANDIDATES; k++) {
        struct refine_columns c = refine_columns(&m, x, candidate[k]);
        if constexpr (CENSUS)
            sum[k] = refine_agreement(a.left_vectors[row + x], a.right_vectors[row + c.first],
                                      a.right_vectors[row + c.second], c.share);
        if (k > 0)
            put(k - 1, refine_distance(candidate[k] - own));
        put(REFINE_LIKENESS + k, refine_likeness(sum[k]));
        put(REFINE_COLOUR + k,
            colour_at<INSIDE>(right, a.channels, colours, row + (uint32_t)c.first,
                              c.first < c.second ? c.share : 0));
    }
#pragma unroll
    for (int k = REFINE_OTHERS; k < REFINE_FEATURES; k++)
        put(k, refine_other(&a, x, y, k - REFINE_OTHERS));
#pragma unroll
    for (int i = 0; i < PIXEL_PIECES; i++)
        memory[lane * PIXEL_PIECES + i] =
            uint4{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]};
    __syncwarp();
    uint4 *to = reinterpret_cast<uint4 *>(a.out) +
                ((size_t)blockIdx.y * (size_t)half + (size_t)first) * (4 * PIXEL_PIECES);
#pragma unroll
    for (int i = lane; i < WARP_SIZE * PIXEL_PIECES; i += WARP_SIZE)
        if (first + i / (4 * PIXEL_PIECES) < half)
            to[i] = memory[i];
}

template <bool CENSUS>
static __global__ void __launch_bounds__(BLOCK_THREADS, EVIDENCE_BLOCKS)
    evidence_kernel(const __grid_constant__ refine_evidence_args a) {
    __shared__ uint4 memory[WARPS][CENSUS ? WARP_SIZE * PIXEL_PIECES : PRODUCTS_OF_WARP / 4];
    wait_for_previous_kernel();
    if (2 * (int)blockIdx.y + 2 < a.map.height && a.map.width * a.channels >= 12)
        make_evidence<CENSUS, true>(a, memory[threadIdx.x / WARP_SIZE]);
    else
        make_evidence<CENSUS, false>(a, memory[threadIdx.x / WARP_SIZE]);
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

/* Modes and logits are four times what the stage has, so that their differences are the bytes from
 * an entry of these to the one that is wanted. Sums of products of entries are whole numbers below
 * 2^24, which floats hold. Modes APART or further apart do not support each other. */
enum { APART = 70 << 2, LOGITS = REFINE_WEIGHTS << 2 };
struct choice_tables {
    float weight[LOGITS], near[2 * APART + 1];
};

DEVICE void fill_tables(choice_tables *tables) {
    for (int i = (int)threadIdx.x; i < LOGITS; i += BLOCK_THREADS)
        tables->weight[i] = (float)refine_weight(i >> 2);
    for (int i = (int)threadIdx.x; i <= 2 * APART; i += BLOCK_THREADS)
        tables->near[i] = (float)refine_near(stage_abs(i - APART) >> 2);
}

/* The entry a + b bytes from the first one, or the first or the last one. */
template <int COUNT> DEVICE float entry_of(const float (&table)[COUNT], int a, int b) {
    return *reinterpret_cast<const float *>(reinterpret_cast<const char *>(table) +
                                            max(min(a + b, 4 * (COUNT - 1)), 0));
}

/* Number k of those in words. */
DEVICE int number_in(const uint32_t numbers[NUMBER_WORDS], int k) {
    return (int)(k % 2 ? numbers[k / 2] : numbers[k / 2] << 16) >> 16;
}

/* refine_choose() in registers, of the layer's numbers; mode: without their residuals. */
DEVICE void choose_pixel(const refine_choose_args &a, const choice_tables &tables, int x, int y,
                         const uint32_t numbers[NUMBER_WORDS], int mode[REFINE_MODES]) {
    size_t i = (size_t)y * (size_t)a.map.width + (size_t)x;
    int logit[REFINE_MODES], most;
    float weight[REFINE_MODES], score[REFINE_MODES], all = 0;
    if (a.map.disparity[i] == UNKNOWN) {
        refine_keep(&a, i);
        return;
    }
#pragma unroll
    for (int k = 0; k < REFINE_MODES; k++) {
        logit[k] = 4 * number_in(numbers, k);
        mode[k] = 4 * (mode[k] + number_in(numbers, REFINE_MODES + k));
    }
    most = logit[0] += refine_known(&a.map, x, y) ? 4 * a.prior : 0;
#pragma unroll
    for (int k = 1; k < REFINE_MODES; k++)
        most = stage_max(most, logit[k]);
#pragma unroll
    for (int k = 0; k < REFINE_MODES; k++) {
        weight[k] = entry_of(tables.weight, most, -logit[k]);
        score[k] = 256 * weight[k];
        all += weight[k];
    }
#pragma unroll
    for (int k = 1; k < REFINE_MODES; k++)
#pragma unroll
        for (int j = 0; j < k; j++) {
            float near = entry_of(tables.near, mode[j], 4 * APART - mode[k]);
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
        if (stage_abs(mode[k] - best) <= 4 * REFINE_ONE) {
            total += weight[k];
            offset = fmaf(weight[k], (float)(mode[k] - best), offset);
        }
    refine_store(&a, i, best >> 2, (int)offset >> 2, (int)total,
                 stage_min((int)best_score / (int)all, UINT8_MAX));
}

/* SIDE: refine_side() */
template <int SIDE>
static __global__ void __launch_bounds__(BLOCK_THREADS, CHOICES)
    choose_kernel(const __grid_constant__ refine_choose_args a, int end_row) {
    using shape = layer_shape<REFINE_OUTPUTS / SIDE, REFINE_OUTPUTS>;
    DYNAMIC_SHARED(uint4, memory);
    __shared__ choice_tables tables;
    __shared__ uint32_t numbers[BLOCK_THREADS][NUMBER_WORDS];
    fill_tables(&tables);
    for_each_part<shape, SIDE * SIDE>(
        a.layer, memory, 0,
        [&](int left, int top, const int32_t *bias, const uint8_t *part) {
            int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE;
#pragma unroll 1
            for (int set = 0; set < SIDE * SIDE; set++) {
                int x = SIDE * (left + warp * COLUMNS + lane % COLUMNS) + set % SIDE,
                    y = SIDE * (top + lane / COLUMNS) + set / SIDE;
                int32_t own[OWN_PIXELS][shape::EACH], mode[REFINE_MODES];
#pragma unroll
                for (int k = 0; k < REFINE_MODES; k++) /* they are there after the products */
                    mode[k] = refine_mode(&a, stage_min(x, a.map.width - 1),
                                          stage_min(y, a.map.height - 1), k);
                sum_part<shape>(memory + set * (shape::WEIGHT_WORDS / 4),
                                bias + set * shape::OUTPUTS, part, own);
#pragma unroll
                for (int p = 0; p < OWN_PIXELS; p++) {
                    int at = p / 2 * COLUMNS + lane % 4 * 2 + p % 2;
#pragma unroll
                    for (int i = 0; i < shape::EACH; i += 2)
                        numbers[warp * WARP_SIZE + at][lane / 4 * (shape::EACH / 2) + i / 2] =
                            numbers_of(a.layer, own[p] + i);
                }
                __syncwarp();
                if (x < a.map.width && y < min(a.map.height, SIDE * end_row))
                    choose_pixel(a, tables, x, y, numbers[threadIdx.x], mode);
                __syncwarp();
            }
        },
        a.first_row, end_row);
}

template <int SIDE>
static bool launch_choice(backend_cuda *cuda, const refine_choose_args &a, int width, int height) {
    return launch_parts<layer_shape<REFINE_OUTPUTS / SIDE, REFINE_OUTPUTS>, SIDE * SIDE>(
        cuda, choose_kernel<SIDE>, a, a.layer, width, height, CHOICES, a.first_row + height);
}

void cuda_launch_refine_choose(backend_cuda *cuda, const void *args, int width, int height) {
    const refine_choose_args &a = *static_cast<const refine_choose_args *>(args);
    if (!(refine_side(&a.layer) > 1 ? launch_choice<2>(cuda, a, width, height)
                                    : launch_choice<1>(cuda, a, width, height)))
        cuda->plain[STAGE_refine_choose](cuda, args, width, height);
}
