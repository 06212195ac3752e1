/*
 * The layers of the networks optimised for CUDA (feature.cuh).
 *
 * Layers of 64 inputs and 64 outputs have kernels of their own where the tensor cores can
 * read pixels from shared memory themselves (warpgroup.cuh), in products of 64 outputs by 32 inputs
 * and 32 inputs by 128 pixels. The threads of a warpgroup hold weights in registers. It goes down a
 * strip of 128 columns and keeps the rows that it needs in shared memory, so that each is loaded
 * but once; while one row is multiplied, the next one is on its way. A block of the descriptor has
 * a warpgroup for each layer, which reads from shared memory what the one before it computed.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/feature.cuh"
#include "gpu/cuda/warpgroup.cuh"

#include <math.h>

/* Four numbers, each taken to the nearest of 0 to FEATURE_LARGEST, as bytes of a word. */
DEVICE uint32_t bytes_of(const int32_t v[4]) {
#if defined(__CUDA_ARCH__)
    static_assert(FEATURE_LARGEST == INT8_MAX, "what the instruction takes numbers to");
    uint32_t word, negative;
    asm("{ .reg .b32 high;\n"
        "  cvt.pack.sat.s8.s32.b32 high, %5, %4, 0;\n"
        "  cvt.pack.sat.s8.s32.b32 %0, %3, %2, high;\n"
        "  prmt.b32 %1, %0, 0, 0xba98; }" /* the signs of all bytes */
        : "=&r"(word), "=r"(negative)
        : "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]));
    return word & ~negative;
#else
    uint32_t word = 0;
    for (int i = 0; i < 4; i++)
        word |= (uint32_t)stage_clamp(v[i], 0, FEATURE_LARGEST) << 8 * i;
    return word;
#endif
}

/* feature_scale() of feature_square_root(): the root in floating point is off by at most 1. */
DEVICE int32_t quick_scale(uint64_t squares) {
    uint32_t root = (uint32_t)sqrtf((float)squares);
    root -= (uint64_t)root * root > squares;
    root += (uint64_t)(root + 1) * (root + 1) <= squares;
    return root ? (int32_t)((1u << FEATURE_SCALE_BITS) / root) : 0;
}

template <int COUNT> DEVICE uint64_t sum_of_squares(const int32_t number[COUNT]) {
    uint64_t sum = 0;
#pragma unroll
    for (int i = 0; i < COUNT; i += 4) {
        static_assert(4ull * FEATURE_NUMBER_LARGEST * FEATURE_NUMBER_LARGEST <= UINT32_MAX,
                      "sums of four squares");
        uint32_t four = 0;
#pragma unroll
        for (int k = i; k < i + 4; k++)
            four += (uint32_t)(number[k] * number[k]);
        sum += four;
    }
    return sum;
}

/* Computes the factors that give vectors their lengths. Threads STEP lanes apart, COUNT of them,
 * have parts of the same COUNT vectors, and of each the sum of their squares; one thread adds up
 * one vector. */
template <int COUNT, int STEP>
DEVICE void scales_of(uint64_t squares[COUNT], int32_t scale[COUNT]) {
    int lane = (int)threadIdx.x % WARP_SIZE;
#pragma unroll
    for (int half = COUNT / 2; half > 0; half /= 2) {
        bool upper = lane & STEP * half;
#pragma unroll
        for (int p = 0; p < half; p++) {
            uint64_t given = upper ? squares[p] : squares[p + half];
            squares[p] = upper ? squares[p + half] : squares[p];
            squares[p] += (uint64_t)__shfl_xor_sync(ALL_LANES, (uint32_t)(given >> 32), STEP * half)
                              << 32 |
                          __shfl_xor_sync(ALL_LANES, (uint32_t)given, STEP * half);
        }
    }
    int32_t mine = quick_scale(squares[0]);
#pragma unroll
    for (int p = 0; p < COUNT; p++)
        scale[p] = (int32_t)__shfl_sync(ALL_LANES, (uint32_t)mine,
                                        (lane & ~(STEP * (COUNT - 1))) + STEP * p);
}

/* feature_scaled() of four numbers: it adds a multiple to them, takes them to what is left of its
 * range from above, then from below with bytes_of(), and subtracts it from all four at once. */
DEVICE uint32_t scaled_of(const int32_t number[4], int32_t scale) {
    enum { SHIFT = FEATURE_SCALE_BITS - FEATURE_LENGTH_BITS, MOST = FEATURE_VECTOR_LARGEST };
    int32_t above[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        above[i] = stage_min((number[i] * scale + ((1 << (SHIFT - 1)) + (MOST << SHIFT))) >> SHIFT,
                             2 * MOST);
    return (bytes_of(above) + 0x01010101u * (128 - MOST)) ^ 0x80808080u;
}

/* An eighth of a pixel's vector. */
DEVICE void store_vector(const feature_args &a, size_t pixel, const int32_t *number,
                         int32_t scale) {
    reinterpret_cast<uint2 *>(a.out)[COLUMNS * pixel + threadIdx.x % WARP_SIZE / 4] =
        uint2{scaled_of(number, scale), scaled_of(number + 4, scale)};
}

/* feature_activation() of the sums of four outputs. */
DEVICE uint32_t activations(const feature_args &a, const int32_t sum[4]) {
    const int32_t shifted[4] = {sum[0] >> a.shift, sum[1] >> a.shift, sum[2] >> a.shift,
                                sum[3] >> a.shift};
    return bytes_of(shifted);
}

/* An eighth of OUTPUTS activations of a pixel, which are its outputs from number first on. */
template <int OUTPUTS>
DEVICE void store_activations(const feature_args &a, size_t pixel, int first, const int32_t *sum) {
    uint8_t *out = a.out + pixel * (size_t)a.outputs + first +
                   OUTPUTS / COLUMNS * (threadIdx.x % WARP_SIZE / 4);
    if constexpr (OUTPUTS == 64)
        *reinterpret_cast<uint2 *>(out) = uint2{activations(a, sum), activations(a, sum + 4)};
    else if constexpr (OUTPUTS == 32)
        *reinterpret_cast<uint32_t *>(out) = activations(a, sum);
    else
        *reinterpret_cast<uint16_t *>(out) =
            (uint16_t)(feature_activation(&a, sum[0]) | feature_activation(&a, sum[1]) << 8);
}

template <typename shape, bool VECTORS>
static __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS)
    feature_kernel(const __grid_constant__ feature_args a) {
    DYNAMIC_SHARED(uint4, memory);
    int first = (int)blockIdx.y * shape::OUTPUTS,
        width = (a.width + shape::STRIDE - 1) / shape::STRIDE,
        height = (a.height + shape::STRIDE - 1) / shape::STRIDE;
    for_each_part<shape>(
        a, memory, first, [&](int left, int top, const int32_t *bias, const uint8_t *part) {
            int32_t own[OWN_PIXELS][shape::EACH], scale[OWN_PIXELS];
            sum_part<shape>(memory, bias, part, own);
            if constexpr (VECTORS) {
                static_assert(OWN_PIXELS == WARP_SIZE / 4,
                              "a vector for each thread that shares them");
                uint64_t squares[OWN_PIXELS];
#pragma unroll
                for (int p = 0; p < OWN_PIXELS; p++) {
#pragma unroll
                    for (int i = 0; i < shape::EACH; i++)
                        own[p][i] = feature_number(&a, own[p][i]);
                    squares[p] = sum_of_squares<shape::EACH>(own[p]);
                }
                scales_of<OWN_PIXELS, 4>(squares, scale);
            }
            int column = left + (int)threadIdx.x / WARP_SIZE * COLUMNS + (int)threadIdx.x % 4 * 2;
#pragma unroll
            for (int p = 0; p < OWN_PIXELS; p++) {
                int x = column + p % 2, y = top + p / 2;
                size_t pixel = (size_t)y * (size_t)width + (size_t)x;
                if (x >= width || y >= height)
                    continue;
                if constexpr (VECTORS)
                    store_vector(a, pixel, own[p], scale[p]);
                else
                    store_activations<shape::OUTPUTS>(a, pixel, first, own[p]);
            }
        });
}

template <typename shape, bool VECTORS = false>
static bool launch(backend_cuda *cuda, const feature_args &a) {
    /* few inputs leave registers for more blocks */
    constexpr int MORE = (shape::INPUTS == 1) + 4 * (shape::INPUTS == 16 && shape::STRIDE == 1);
    return launch_parts<shape>(cuda, feature_kernel<shape, VECTORS>, a, a,
                               (a.width + shape::STRIDE - 1) / shape::STRIDE,
                               (a.height + shape::STRIDE - 1) / shape::STRIDE, BLOCKS + MORE);
}

/* ---- 64 inputs and outputs, with warpgroup.cuh */

enum { ROWS_BLOCKS = 3, LEAST_ROWS = 4 }; /* blocks of a multiprocessor; rows of a block */
enum { STEPS = 2, PIECES = 4 };           /* of 32 and of 16 inputs */
enum { PIECE_PIXELS = WARPGROUP / PIECES };

/* The rows in shared memory: those of a row's taps and the next one, in turns, in pixels. A pixel's
 * inputs lie in PIECES planes; where that many lie side by side in other banks, copies meet no
 * conflicts. */
enum { SLOTS = 4, PITCH = WIDE + 2, PLANE = (SLOTS * PITCH + 5) / 8 * 8 + 2 };

/* The pixels of a row, which may lie outside of the picture, for a strip that begins at left. */
[[maybe_unused]] DEVICE void load_row(const feature_args &a, int left, int y, uint4 *rows) {
    const uint4 *from = reinterpret_cast<const uint4 *>(a.source) +
                        (size_t)stage_clamp(y, 0, a.height - 1) * (size_t)a.width * PIECES;
    int piece = (int)threadIdx.x % PIECES;
    uint4 *to = rows + (y + 1) % SLOTS * PITCH + piece * PLANE;
    for (int i = (int)threadIdx.x / PIECES; i < PITCH; i += PIECE_PIXELS) {
        int x = stage_clamp(left + i - 1, 0, a.width - 1);
        const uint4 *fine = from + x * PIECES + piece;
        if (a.coarse)
            to[i] = means(*reinterpret_cast<const uint4 *>(
                              feature_coarse(&a, x, stage_clamp(y, 0, a.height - 1), 16 * piece)),
                          *fine);
        else
            copy_later(to + i, fine);
    }
}

/* Where a piece of 16 bytes lies of a pixel that has so many: threads that store the same piece of
 * neighbouring pixels, or read all pieces of a few, use all banks. */
template <int COUNT> DEVICE int place_of(int pixel, int piece) {
    return pixel * COUNT + (piece ^ pixel * COUNT / 8 % COUNT);
}

/* Stores activations of a row of sums: a warp's 16 outputs of pixel i as a piece of 16 bytes, at
 * place(i). Of thread 4 g + t of warp w they are outputs 16 w + 2 g and the next one of pixels
 * 8 i + 2 t and the next one. */
template <typename Place>
DEVICE void store_row(const feature_args &a, const int32_t sum[WIDE_SUMS], uint4 *to, Place place) {
#pragma unroll
    for (int i = 0; i < WIDE_SUMS; i += 16) {
        uint32_t word[4];
#pragma unroll
        for (int m = 0; m < 4; m++) {
            const int32_t *s = sum + i + 4 * m;
            const int32_t pixels[4] = {s[0], s[2], s[1], s[3]};
            word[m] = activations(a, pixels);
        }
        store_matrices(to, place(2 * i + (int)threadIdx.x % WARP_SIZE), word);
    }
}

/* The weights and biases of the outputs of a thread. */
enum { WIDE_PRODUCTS = FEATURE_TAPS * STEPS };
struct wide_layer {
    uint32_t weights[WIDE_PRODUCTS][4];
    int32_t bias[2];
};

DEVICE int wide_output(void) {
    return (int)threadIdx.x % WARPGROUP / 4 * 2;
}

[[maybe_unused]] DEVICE void load_layer(const feature_args &a, wide_layer *to) {
    int output = wide_output(), t = (int)threadIdx.x % 4;
#pragma unroll
    for (int k = 0; k < WIDE_PRODUCTS; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            to->weights[k][i] =
                weights_of(a, k / STEPS, 8 * (k % STEPS) + i / 2 * 4 + t, output + i % 2);
    for (int i = 0; i < 2; i++)
        to->bias[i] = __ldg(a.bias + output + i);
}

DEVICE void start_sums(const int32_t bias[2], int32_t sum[WIDE_SUMS]) {
#pragma unroll
    for (int k = 0; k < WIDE_SUMS; k++)
        sum[k] = bias[k / 2 % 2];
}

/* A row of sums. Its taps' rows begin at these pixels of each of rows' planes. */
[[maybe_unused]] DEVICE void sum_row(const wide_layer &layer, const uint4 *rows, int plane,
                                     const int taps[3], int32_t sum[WIDE_SUMS]) {
    start_sums(layer.bias, sum);
    begin_products(sum);
#pragma unroll
    for (int row = 0; row < 3; row++) {
        uint64_t first = wide_operand(rows + taps[row], 8, plane);
#pragma unroll
        for (int k = 0; k < 3 * STEPS; k++) /* the address comes first in an operand */
            multiply_wide(sum, layer.weights[row * 3 * STEPS + k],
                          first + (uint64_t)(k / STEPS + k % STEPS * 2 * plane));
    }
    finish_products(sum);
}

enum { STAGED = WIDE * PIECES / WARPGROUP }; /* quarters of pixels that a thread writes */

static __global__ void __launch_bounds__(WARPGROUP, ROWS_BLOCKS)
    feature_rows_kernel(const __grid_constant__ feature_args a) {
    if constexpr (HAS_WARPGROUP) {
        DYNAMIC_SHARED(uint4, rows);
        __shared__ uint4 staged[WIDE * PIECES]; /* has_kernel() asks whether it is there */
        int warp = (int)threadIdx.x / WARP_SIZE, piece = (int)threadIdx.x % PIECES;
        wide_layer layer;
        load_layer(a, &layer);
        wait_for_previous_kernel();
        size_t count = (size_t)((a.width + WIDE - 1) / WIDE) * (size_t)a.height;
        int first = (int)(count * blockIdx.x / gridDim.x),
            end = (int)(count * (blockIdx.x + 1) / gridDim.x);
        for (int i = first; i < end; i++) {
            int left = i / a.height * WIDE, y = i % a.height;
            if (i == first || y == 0)
                for (int k = y - 1; k <= y + 1; k++)
                    load_row(a, left, k, rows);
            wait_for_copies();
            __syncthreads(); /* the row before this one is written */
            if (i + 1 < end && y + 1 < a.height)
                load_row(a, left, y + 2, rows);
            int32_t sum[WIDE_SUMS];
            const int taps[3] = {y % SLOTS * PITCH, (y + 1) % SLOTS * PITCH,
                                 (y + 2) % SLOTS * PITCH};
            sum_row(layer, rows, PLANE, taps, sum);
            store_row(a, sum, staged, [&](int pixel) { return place_of<PIECES>(pixel, warp); });
            __syncthreads();
            uint4 *to = reinterpret_cast<uint4 *>(a.out) + (size_t)y * (size_t)a.width * PIECES;
#pragma unroll
            for (int n = 0; n < STAGED; n++) {
                int pixel = (int)threadIdx.x / PIECES + n * PIECE_PIXELS, x = left + pixel;
                if (x < a.width)
                    to[x * PIECES + piece] = staged[place_of<PIECES>(pixel, piece)];
            }
        }
    }
}

/* False where the code that this GPU runs has no such kernel, only an empty one. */
template <typename Kernel> static bool has_kernel(Kernel kernel, size_t staged) {
    cudaFuncAttributes attributes;
    return !cudaFuncGetAttributes(&attributes, kernel) && attributes.sharedSizeBytes >= staged;
}

static bool launch_rows(backend_cuda *cuda, const feature_args &a) {
    size_t shared = sizeof(uint4) * PIECES * PLANE, staged = sizeof(uint4) * WIDE * PIECES,
           reserved = 1024, each = shared + staged + reserved;
    if (!has_kernel(feature_rows_kernel, staged))
        return false;
    unsigned blocks = (unsigned)min((cuda->max_shared + reserved) / each, (size_t)ROWS_BLOCKS);
    cudaFuncSetAttribute(feature_rows_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)shared);
    /* fewer rows are not worth the loading of all weights */
    dim3 enough = cuda_blocks((a.width + WIDE - 1) / WIDE * a.height, LEAST_ROWS, 1, 1);
    launch_with_memory(cuda, feature_rows_kernel,
                       dim3(min(enough.x, blocks * (unsigned)cuda->processors)), dim3(WARPGROUP),
                       shared, a);
    return true;
}

/* ---- the descriptor: all layers, with warpgroup.cuh. A block has a strip of columns, of which a
 * layer loses one at each side, and some rows of it. */

enum { HIDDEN = FEATURE_LAYERS - 1 }; /* layers whose rows are kept; warpgroups of a block */
enum { OWN = WIDE - 2 * HIDDEN };     /* columns between two strips */
enum { STAGED_ROWS = HIDDEN, WRITTEN_ROWS, COUNTED }; /* rows that were staged, odd ones written */
enum { STAGED_ROW = 2 * WIDE * PIECES, BEHIND = 4 };
enum { KEPT = 6, KEPT_PLANE = (KEPT * PITCH + 5) / 8 * 8 + 2 };
/* WIDE + 8 are read; compute-sanitizer takes an operand for one piece of memory. */
enum { WINDOWS = 2 * WIDE };

struct describe_args {
    feature_args layer[FEATURE_LAYERS];
};

/* A block's vectors: of columns from left on, and rows first to end - 1. done: the last row that
 * warpgroup number i has computed. */
struct strip {
    int left, first, end, width, height;
    uint4 *kept[HIDDEN], *windows, *staged;
    int *done;
};

/* The rows of a layer that vectors need. */
DEVICE int first_of(const strip &s, int layer) {
    return max(s.first - (HIDDEN - layer), 0);
}
[[maybe_unused]] DEVICE int end_of(const strip &s, int layer) {
    return min(s.end + (HIDDEN - layer), s.height);
}

DEVICE int warpgroup(void) {
    return (int)threadIdx.x / WARPGROUP;
}

/* The sums of a row of a layer but the first one. */
DEVICE void sum_kept(const strip &s, const wide_layer &w, const uint4 *kept, int y,
                     int32_t sum[WIDE_SUMS]) {
    const int taps[3] = {max(y - 1, 0) % KEPT * PITCH, y % KEPT * PITCH,
                         min(y + 1, s.height - 1) % KEPT * PITCH};
    sum_row(w, kept, KEPT_PLANE, taps, sum);
}

/* Keeps a row of a layer; outside of the picture its border repeats. */
template <int NUMBER>
DEVICE void keep_row(const strip &s, const feature_args &a, int y, const int32_t sum[WIDE_SUMS],
                     uint4 *kept) {
    int thread = (int)threadIdx.x % WARPGROUP, beyond = s.width - s.left + 1;
    uint4 *row = kept + y % KEPT * PITCH;
    store_row(a, sum, row + thread / WARP_SIZE * KEPT_PLANE, [](int pixel) { return pixel + 1; });
    show_products();
    wait_for_warpgroup<NUMBER>();
    if (s.left > 0 && beyond >= PITCH)
        return;
    uint4 *piece = row + thread % PIECES * KEPT_PLANE;
    if (thread < PIECES && s.left == 0)
        piece[0] = piece[1];
    if (thread / PIECES == 1 && beyond < PITCH)
        piece[beyond] = piece[beyond - 1];
    show_products();
    wait_for_warpgroup<NUMBER>();
}

/* The grey levels of a row that three taps of a thread's pixel see. */
DEVICE uint32_t window_row(const feature_args &a, int x, int y) {
    const uint8_t *row = a.source + (size_t)stage_clamp(y, 0, a.height - 1) * (size_t)a.width;
    uint32_t word = 0;
    for (int i = 0; i < 3; i++)
        word |= (uint32_t)row[stage_clamp(x + i - 1, 0, a.width - 1)] << 8 * i;
    return word;
}

/* The first layer, row by row: inputs 4 i to 4 i + 2 of a product are row i of its taps. */
struct first_layer {
    uint32_t weights[4], window[3];
    int32_t bias[2];
    int x, next; /* the column of the thread, the row that is next */
};

[[maybe_unused]] DEVICE void start_first(const strip &s, const feature_args &a, first_layer *f) {
    int t = (int)threadIdx.x % 4;
    f->x = s.left + (int)threadIdx.x;
    f->next = first_of(s, 0);
    for (int i = 0; i < 2; i++) {
        f->bias[i] = __ldg(a.bias + wide_output() + i);
        f->weights[i] = f->weights[2 + i] = 0;
        for (int k = 0; k < 3 && t < 3; k++)
            f->weights[i] |= (weights_of(a, 3 * t + k, 0, wide_output() + i) & 255) << 8 * k;
        f->window[i + 1] = window_row(a, f->x, f->next - 1 + i);
    }
}

[[maybe_unused]] DEVICE void keep_first(const strip &s, const feature_args &a, first_layer *f) {
    int32_t sum[WIDE_SUMS];
    f->window[0] = f->window[1];
    f->window[1] = f->window[2];
    f->window[2] = window_row(a, f->x, f->next + 1);
    s.windows[threadIdx.x] = uint4{f->window[0], f->window[1], f->window[2], 0};
    show_products();
    wait_for_warpgroup<0>();
    start_sums(f->bias, sum);
    begin_products(sum);
    multiply_wide(sum, f->weights, wide_operand(s.windows, 8, 8));
    finish_products(sum);
    keep_row<0>(s, a, f->next++, sum, s.kept[0]);
}

/* Stages feature_number() of a row of sums, a piece for the even and one for the odd outputs of a
 * warp. */
DEVICE void stage_numbers(const feature_args &a, const int32_t sum[WIDE_SUMS], uint4 *staged) {
    int warp = (int)threadIdx.x % WARPGROUP / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE;
#pragma unroll
    for (int i = 0; i < WIDE_SUMS; i += 8) {
        uint32_t word[4];
#pragma unroll
        for (int m = 0; m < 4; m++)
            word[m] = numbers_of(a, sum + i + 2 * m);
        store_matrices(
            staged, place_of<2 * PIECES>(2 * i + lane % 8 + lane / 16 * 8, 2 * warp + lane / 8 % 2),
            word);
    }
}

/* Writes a row's vectors of the strip's columns of which all inputs were there. */
DEVICE void write_vectors(const strip &s, const feature_args &a, int y) {
    const uint4 *staged = s.staged + y % 2 * STAGED_ROW;
    int begin = s.left ? HIDDEN : 0,
        end = blockIdx.x + 1 < gridDim.x ? WIDE - HIDDEN : s.width - s.left;
    int first = (int)threadIdx.x % WARPGROUP / PIECES, piece = (int)threadIdx.x % PIECES;
    int32_t number[STAGED][16], scale[STAGED];
    uint64_t squares[STAGED];
#pragma unroll
    for (int n = 0; n < STAGED; n++) {
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
            uint4 v = staged[place_of<2 * PIECES>(first + n * PIECE_PIXELS, 2 * piece + odd)];
            const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 8; i++)
                number[n][2 * i + odd] = (int16_t)(words[i / 2] >> i % 2 * 16);
        }
        squares[n] = sum_of_squares<16>(number[n]);
    }
    scales_of<STAGED, 1>(squares, scale);
    uint4 *to =
        reinterpret_cast<uint4 *>(a.out) + ((size_t)y * (size_t)a.width + (size_t)s.left) * PIECES;
#pragma unroll
    for (int n = 0; n < STAGED; n++) {
        const int32_t *v = number[n];
        int pixel = first + n * PIECE_PIXELS;
        uint4 out = {scaled_of(v, scale[n]), scaled_of(v + 4, scale[n]), scaled_of(v + 8, scale[n]),
                     scaled_of(v + 12, scale[n])};
        if (pixel >= begin && pixel < end)
            to[pixel * PIECES + piece] = out;
    }
}

/* The last warpgroup but one writes odd rows, so that the last one does not do the most. */
[[maybe_unused]] DEVICE void write_odd(const strip &s, const feature_args &a, int y) {
    if (y < s.first || y % 2 == 0)
        return;
    wait_until(s.done + STAGED_ROWS, y);
    write_vectors(s, a, y);
    wait_for_warpgroup<HIDDEN - 2>();
    if (threadIdx.x % WARPGROUP == 0)
        tell(s.done + WRITTEN_ROWS, y);
}

/* Hidden layers but the first one; warpgroup 0 computes that, too. */
template <int LAYER> DEVICE void keep_layer(const strip &s, const describe_args &d) {
    const feature_args &a = d.layer[LAYER];
    int32_t sum[WIDE_SUMS];
    wide_layer w;
    first_layer first;
    load_layer(a, &w);
    wait_for_previous_kernel();
    if (LAYER == 1)
        start_first(s, d.layer[0], &first);
    for (int y = first_of(s, LAYER); y < end_of(s, LAYER); y++) {
        int below = min(y + 1, s.height - 1);
        while (LAYER == 1 && first.next <= below)
            keep_first(s, d.layer[0], &first);
        if (LAYER > 1)
            wait_until(s.done + LAYER - 2, below);
        sum_kept(s, w, s.kept[LAYER - 1], y, sum);
        wait_until(s.done + LAYER, y - KEPT + 1); /* rows that are overwritten were read */
        keep_row<LAYER - 1>(s, a, y, sum, s.kept[LAYER]);
        if (threadIdx.x % WARPGROUP == 0)
            tell(s.done + LAYER - 1, y);
        if (LAYER == HIDDEN - 1)
            write_odd(s, d.layer[HIDDEN], y - BEHIND);
    }
    for (int y = end_of(s, LAYER) - BEHIND; LAYER == HIDDEN - 1 && y < s.end; y++)
        write_odd(s, d.layer[HIDDEN], y);
}

DEVICE void make_vectors(const strip &s, const feature_args &a) {
    int32_t sum[WIDE_SUMS];
    wide_layer w;
    load_layer(a, &w);
    wait_for_previous_kernel();
    for (int y = s.first; y < s.end; y++) {
        wait_until(s.done + HIDDEN - 2, min(y + 1, s.height - 1));
        sum_kept(s, w, s.kept[HIDDEN - 1], y, sum);
        wait_for_warpgroup<HIDDEN - 1>(); /* the row before this one was read */
        if (threadIdx.x % WARPGROUP == 0)
            tell(s.done + HIDDEN - 1, y);
        if (y % 2)
            wait_until(s.done + WRITTEN_ROWS, y - 2);
        stage_numbers(a, sum, s.staged + y % 2 * STAGED_ROW);
        wait_for_warpgroup<HIDDEN - 1>();
        if (threadIdx.x % WARPGROUP == 0)
            tell(s.done + STAGED_ROWS, y);
        if (y % 2 == 0)
            write_vectors(s, a, y);
    }
}

static __global__ void __launch_bounds__(HIDDEN *WARPGROUP, 1)
    describe_kernel(const __grid_constant__ describe_args d) {
    if constexpr (HAS_WARPGROUP) {
        DYNAMIC_SHARED(uint4, memory);
        __shared__ uint4 staged[2 * STAGED_ROW]; /* has_kernel() asks whether it is there */
        __shared__ int done[COUNTED];
        strip s;
        s.width = d.layer[0].width;
        s.height = d.layer[0].height;
        s.left = (int)blockIdx.x * OWN;
        s.first = (int)((size_t)s.height * blockIdx.y / gridDim.y);
        s.end = (int)((size_t)s.height * (blockIdx.y + 1) / gridDim.y);
        s.done = done;
        s.staged = staged;
        for (int i = 0; i < HIDDEN; i++)
            s.kept[i] = memory + i * PIECES * KEPT_PLANE;
        s.windows = memory + HIDDEN * PIECES * KEPT_PLANE;
        if (threadIdx.x < COUNTED)
            done[threadIdx.x] = first_of(s, min((int)threadIdx.x + 1, (int)HIDDEN)) - 1;
        __syncthreads();
        if (warpgroup() == 0)
            keep_layer<1>(s, d);
        else if (warpgroup() == 1)
            keep_layer<2>(s, d);
        else
            make_vectors(s, d.layer[HIDDEN]);
    }
}

int cuda_unit_vectors(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    size_t staged = sizeof(uint4) * STAGED_ROW,
           shared = sizeof(uint4) * (HIDDEN * PIECES * KEPT_PLANE + WINDOWS);
    const feature_args *last = cuda_args<feature_args>(g, unit, STAGE_feature_vector, slot);
    describe_args d;
    for (int k = 0; k < HIDDEN; k++) {
        const feature_args *a = cuda_args<feature_args>(g, unit, STAGE_feature_layer, slot, k);
        if (!a)
            return 0;
        d.layer[k] = *a;
    }
    if (!last || shared + 2 * staged > cuda->max_shared || !has_kernel(describe_kernel, staged))
        return 0;
    d.layer[HIDDEN] = *last;
    cudaFuncSetAttribute(describe_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    int strips = max((last->width - 2 * HIDDEN + OWN - 1) / OWN, 1);
    launch_with_memory(cuda, describe_kernel,
                       dim3((unsigned)strips, (unsigned)min(max(cuda->processors / strips, 1),
                                                            (last->height + 3) / 4)),
                       dim3(HIDDEN * WARPGROUP), shared, d);
    return FEATURE_LAYERS;
}

/* The shapes of layers that have a kernel, 32 outputs at a time where layers are small, since there
 * are few tiles. outputs, stride 0: any. */
static const struct {
    int inputs, outputs, stride;
    bool (*launch)(backend_cuda *cuda, const feature_args &a);
} shapes[] = {
    {1, 0, 0, launch<layer_shape<1, 64>>},      {16, 0, 1, launch<layer_shape<16, 16>>},
    {16, 0, 0, launch<layer_shape<16, 32, 2>>}, {32, 16, 1, launch<layer_shape<32, 16>>},
    {32, 0, 1, launch<layer_shape<32, 32>>},    {32, 0, 0, launch<layer_shape<32, 32, 2>>},
    {64, 64, 1, launch<layer_shape<64, 64>>},   {64, 0, 1, launch<layer_shape<64, 32>>},
    {64, 0, 0, launch<layer_shape<64, 32, 2>>}, {96, 0, 1, launch<layer_shape<96, 32>>},
    {96, 0, 0, launch<layer_shape<96, 32, 2>>}, {192, 16, 1, launch<layer_shape<192, 16>>},
    {0, 0, 0, launch<layer_shape<192, 32>>}};

static bool launch_tiles(backend_cuda *cuda, const feature_args &a) {
    if (a.joined)
        return launch<layer_shape<64, 32, 1, true>>(cuda, a);
    for (const auto &shape : shapes)
        if ((!shape.inputs || shape.inputs == a.inputs) &&
            (!shape.outputs || shape.outputs == a.outputs) &&
            (!shape.stride || shape.stride == a.stride))
            return shape.launch(cuda, a);
    return false;
}

void cuda_launch_feature_layer(backend_cuda *cuda, const void *args, int width, int height) {
    const feature_args &a = *static_cast<const feature_args *>(args);
    bool wide = a.inputs == 64 && a.outputs == 64 && a.stride == 1;
    if (!(wide && launch_rows(cuda, a)) && !launch_tiles(cuda, a))
        cuda->plain[STAGE_feature_layer](cuda, args, width, height);
}

void cuda_launch_feature_vector(backend_cuda *cuda, const void *args, int width, int height) {
    const feature_args &a = *static_cast<const feature_args *>(args);
    if (!launch<layer_shape<64, 64>, true>(cuda, a))
        cuda->plain[STAGE_feature_vector](cuda, args, width, height);
}
