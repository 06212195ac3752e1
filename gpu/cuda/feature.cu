/*
 * The layers of the learned descriptor optimised for CUDA: products of matrices, of 16 outputs by
 * 32 inputs and 32 inputs by 8 pixels, on tensor cores. A block has the weights of the layer in
 * shared memory and goes through tiles of the picture, each with the pixels around it. In which
 * order inputs are added is free, and so is which output a row of a product is: both are chosen so
 * that what a thread reads of a pixel or of the weights lies in neighbouring registers as the
 * instruction wants it, and that it writes neighbouring outputs.
 *
 * Layers of 64 inputs and 64 outputs have a kernel of their own where the tensor cores can read
 * pixels from shared memory themselves (warpgroup.cuh), in products of 64 outputs by 32 inputs and
 * 32 inputs by 128 pixels. The threads of a block hold all weights in registers. The block goes
 * down a strip of 128 columns and keeps the rows that it needs in shared memory, so that it loads
 * each but once; while one row is multiplied, the next one is on its way.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/matrix_product.cuh"
#include "gpu/cuda/warpgroup.cuh"

#include <math.h>

enum { WARPS = 4, BLOCK_THREADS = WARPS * WARP_SIZE };
enum { PART_WIDTH = 32, PART_HEIGHT = 4 };                        /* pixels of a tile */
enum { ROWS = 16, COLUMNS = 8, PRODUCTS = PART_WIDTH / COLUMNS }; /* of a product; of a warp */
enum { BLOCKS = 4 };                                              /* of a multiprocessor */

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

/* Of a layer: products on top of each other, steps of 32 inputs for a tap, taps for a step, outputs
 * of a pixel that a thread gets. One input has all taps in one step. */
template <int INPUTS, int OUTPUTS> struct layer_shape {
    static constexpr int PARTS = OUTPUTS / ROWS, STEPS = INPUTS == 64 ? 2 : 1,
                         TAPS = INPUTS == 1 ? 1 : FEATURE_TAPS, EACH = OUTPUTS / COLUMNS;
    static constexpr int WEIGHT_WORDS = TAPS * STEPS * PARTS * WARP_SIZE * 4;
};

/* Four weights of an output, the first of them of an input of a tap. */
DEVICE uint32_t weights_of(const feature_args &a, int tap, int group, int output) {
    int groups = (a.inputs + FEATURE_GROUP - 1) / FEATURE_GROUP;
    const uint32_t *words = reinterpret_cast<const uint32_t *>(a.weights);
    return __ldg(words +
                 ((output / FEATURE_BLOCK * FEATURE_TAPS + tap) * groups + group) * FEATURE_BLOCK +
                 output % FEATURE_BLOCK);
}

/* The weights in the order that threads read them: a of multiply_add(). Rows g and g + 8 of product
 * number part are outputs EACH g + 2 part and the next one. */
template <int INPUTS, int OUTPUTS> DEVICE void load_weights(const feature_args &a, uint32_t *to) {
    using shape = layer_shape<INPUTS, OUTPUTS>;
    for (int i = (int)threadIdx.x; i < shape::WEIGHT_WORDS; i += BLOCK_THREADS) {
        int half = i / 2 % 2, lane = i / 4 % WARP_SIZE, t = lane % 4,
            part = i / (4 * WARP_SIZE) % shape::PARTS, step = i / (4 * WARP_SIZE * shape::PARTS);
        int output = shape::EACH * (lane / 4) + 2 * part + i % 2;
        uint32_t word = 0;
        if constexpr (INPUTS == 1) {
            for (int k = 0; k < 4 && half == 0; k++)
                if (4 * t + k < FEATURE_TAPS)
                    word |= (weights_of(a, 4 * t + k, 0, output) & 255) << 8 * k;
        } else {
            word = weights_of(a, step / shape::STEPS,
                              2 * shape::STEPS * t + 2 * (step % shape::STEPS) + half, output);
        }
        to[i] = word;
    }
}

/* The pixels of a tile and those around it. */
template <int INPUTS> DEVICE void load_part(const feature_args &a, int left, int top, uint8_t *to) {
    constexpr int BYTES = INPUTS == 1 ? 1 : 16, PIECES = INPUTS / BYTES;
    int pitch = PART_WIDTH + 2 * a.dilation, height = PART_HEIGHT + 2 * a.dilation;
    for (int y = (int)threadIdx.x / WARP_SIZE; y < height; y += WARPS) {
        const uint8_t *row = a.source + (size_t)stage_clamp(top + y - a.dilation, 0, a.height - 1) *
                                            (size_t)a.width * INPUTS;
        for (int i = (int)threadIdx.x % WARP_SIZE; i < pitch * PIECES; i += WARP_SIZE) {
            int x = stage_clamp(left + i / PIECES - a.dilation, 0, a.width - 1);
            const uint8_t *from = row + (size_t)x * INPUTS + i % PIECES * BYTES;
            uint8_t *there = to + (y * pitch * PIECES + i) * BYTES;
            if constexpr (INPUTS == 1)
                *there = *from;
            else
                *reinterpret_cast<uint4 *>(there) = *reinterpret_cast<const uint4 *>(from);
        }
    }
}

/* b of multiply_add() for each step of a tap: of 8 pixels side by side, the first of which, at the
 * tap, is at from. */
template <int INPUTS>
DEVICE void load_pixels(const uint8_t *from, int pitch, int dilation, uint32_t b[2][2]) {
    int lane = (int)threadIdx.x % WARP_SIZE, t = lane % 4;
    from += lane / 4 * INPUTS;
    if constexpr (INPUTS == 64) {
        uint4 v = *reinterpret_cast<const uint4 *>(from + 16 * t);
        b[0][0] = v.x;
        b[0][1] = v.y;
        b[1][0] = v.z;
        b[1][1] = v.w;
    } else if constexpr (INPUTS == 32) {
        uint2 v = *reinterpret_cast<const uint2 *>(from + 8 * t);
        b[0][0] = v.x;
        b[0][1] = v.y;
    } else {
        b[0][0] = b[0][1] = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int tap = 4 * t + k;
            if (tap < FEATURE_TAPS)
                b[0][0] |= (uint32_t)from[(tap / 3 * pitch + tap % 3) * dilation] << 8 * k;
        }
    }
}

/* Of a warp's PRODUCTS, a thread has two pixels each. */
enum { OWN_PIXELS = 2 * PRODUCTS };

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
    for (int i = 0; i < COUNT; i++)
        sum += (uint64_t)((int64_t)number[i] * number[i]);
    return sum;
}

/* What gives vectors their lengths. Threads STEP lanes apart, COUNT of them, have parts of the same
 * COUNT vectors, and of each the sum of their squares; one thread adds up one vector. */
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
    reinterpret_cast<uint2 *>(a.vectors)[COLUMNS * pixel + threadIdx.x % WARP_SIZE / 4] =
        uint2{scaled_of(number, scale), scaled_of(number + 4, scale)};
}

/* feature_activation() of the sums of four outputs. */
DEVICE uint32_t activations(const feature_args &a, const int32_t sum[4]) {
    const int32_t shifted[4] = {sum[0] >> a.shift, sum[1] >> a.shift, sum[2] >> a.shift,
                                sum[3] >> a.shift};
    return bytes_of(shifted);
}

/* An eighth of a pixel's activations. */
template <int OUTPUTS>
DEVICE void store_activations(const feature_args &a, size_t pixel, const int32_t *sum) {
    uint8_t *out = a.out + pixel * OUTPUTS + OUTPUTS / COLUMNS * (threadIdx.x % WARP_SIZE / 4);
    if constexpr (OUTPUTS == 64)
        *reinterpret_cast<uint2 *>(out) = uint2{activations(a, sum), activations(a, sum + 4)};
    else
        *reinterpret_cast<uint32_t *>(out) = activations(a, sum);
}

template <int INPUTS, int OUTPUTS, bool VECTORS>
DEVICE void do_part(const feature_args &a, int left, int top, const uint4 *weights,
                    const int32_t *bias, const uint8_t *part) {
    using shape = layer_shape<INPUTS, OUTPUTS>;
    int warp = (int)threadIdx.x / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE;
    int pitch = PART_WIDTH + 2 * a.dilation;
    int32_t sum[PRODUCTS][shape::PARTS][4];
#pragma unroll
    for (int m = 0; m < shape::PARTS; m++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int32_t first = bias[shape::EACH * (lane / 4) + 2 * m + i / 2];
#pragma unroll
            for (int n = 0; n < PRODUCTS; n++)
                sum[n][m][i] = first;
        }
#pragma unroll
    for (int tap = 0; tap < shape::TAPS; tap++) {
        const uint8_t *from =
            part + ((warp + tap / 3 * a.dilation) * pitch + tap % 3 * a.dilation) * INPUTS;
        uint32_t pixels[PRODUCTS][2][2];
#pragma unroll
        for (int n = 0; n < PRODUCTS; n++)
            load_pixels<INPUTS>(from + n * COLUMNS * INPUTS, pitch, a.dilation, pixels[n]);
#pragma unroll
        for (int step = 0; step < shape::STEPS; step++)
#pragma unroll
            for (int m = 0; m < shape::PARTS; m++) {
                uint4 rows =
                    weights[((tap * shape::STEPS + step) * shape::PARTS + m) * WARP_SIZE + lane];
#pragma unroll
                for (int n = 0; n < PRODUCTS; n++)
                    multiply_add<false>(sum[n][m], rows, pixels[n][step]);
            }
    }
    int32_t own[OWN_PIXELS][shape::EACH], scale[OWN_PIXELS];
#pragma unroll
    for (int p = 0; p < OWN_PIXELS; p++)
#pragma unroll
        for (int i = 0; i < shape::EACH; i++) {
            own[p][i] = sum[p / 2][i / 2][i % 2 * 2 + p % 2];
            if (VECTORS)
                own[p][i] = feature_number(&a, own[p][i]);
        }
    if constexpr (VECTORS) {
        static_assert(OWN_PIXELS == WARP_SIZE / 4, "a vector for each thread that shares them");
        uint64_t squares[OWN_PIXELS];
#pragma unroll
        for (int p = 0; p < OWN_PIXELS; p++)
            squares[p] = sum_of_squares<shape::EACH>(own[p]);
        scales_of<OWN_PIXELS, 4>(squares, scale);
    }
    int y = top + warp;
#pragma unroll
    for (int p = 0; p < OWN_PIXELS; p++) {
        int x = left + p / 2 * COLUMNS + lane % 4 * 2 + p % 2;
        size_t pixel = (size_t)y * (size_t)a.width + (size_t)x;
        if (x >= a.width || y >= a.height)
            continue;
        if constexpr (VECTORS)
            store_vector(a, pixel, own[p], scale[p]);
        else
            store_activations<OUTPUTS>(a, pixel, own[p]);
    }
}

template <int INPUTS, int OUTPUTS, bool VECTORS>
static __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS)
    feature_kernel(const __grid_constant__ feature_args a) {
    using shape = layer_shape<INPUTS, OUTPUTS>;
    DYNAMIC_SHARED(uint4, memory);
    int32_t *bias = reinterpret_cast<int32_t *>(memory) + shape::WEIGHT_WORDS;
    uint8_t *part = reinterpret_cast<uint8_t *>(bias + OUTPUTS);
    int across = (a.width + PART_WIDTH - 1) / PART_WIDTH,
        count = across * ((a.height + PART_HEIGHT - 1) / PART_HEIGHT);
    load_weights<INPUTS, OUTPUTS>(a, reinterpret_cast<uint32_t *>(memory));
    for (int i = (int)threadIdx.x; i < OUTPUTS; i += BLOCK_THREADS)
        bias[i] = __ldg(a.bias + i);
    wait_for_previous_kernel();
    for (int i = (int)blockIdx.x; i < count; i += (int)gridDim.x) {
        int left = i % across * PART_WIDTH, top = i / across * PART_HEIGHT;
        __syncthreads();
        load_part<INPUTS>(a, left, top, part);
        __syncthreads();
        do_part<INPUTS, OUTPUTS, VECTORS>(a, left, top, memory, bias, part);
    }
}

/* False where the tiles are too large for the shared memory. */
template <int INPUTS, int OUTPUTS, bool VECTORS>
static bool launch(backend_cuda *cuda, const feature_args &a) {
    using shape = layer_shape<INPUTS, OUTPUTS>;
    size_t pixels = (size_t)(PART_WIDTH + 2 * a.dilation) * (size_t)(PART_HEIGHT + 2 * a.dilation),
           shared = 4 * (size_t)(shape::WEIGHT_WORDS + OUTPUTS) + pixels * INPUTS;
    if (shared > cuda->max_shared)
        return false;
    auto kernel = feature_kernel<INPUTS, OUTPUTS, VECTORS>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    dim3 blocks = cuda_blocks(a.width, PART_WIDTH, a.height, PART_HEIGHT);
    /* one input leaves registers for another block */
    unsigned most = (unsigned)((INPUTS == 1 ? BLOCKS + 1 : BLOCKS) * cuda->processors);
    launch_with_memory(cuda, kernel, dim3(min(blocks.x * blocks.y, most)), dim3(BLOCK_THREADS),
                       shared, a);
    return true;
}

/* ---- 64 inputs and outputs, with warpgroup.cuh */

enum { ROWS_BLOCKS = 3, LEAST_ROWS = 4 }; /* blocks of a multiprocessor; rows of a block */
enum { STEPS = 2, PIECES = 4 };           /* of 32 and of 16 inputs */

/* The rows in shared memory: those of a row's taps and the next one, in turns. A pixel's inputs lie
 * in PIECES planes; where that many lie side by side in other banks, copies meet no conflicts. */
struct row_ring {
    int slots, pitch, plane; /* pixels */
};

STAGE struct row_ring row_ring_of(int dilation) {
    struct row_ring r = {2 * dilation + 2, WIDE + 2 * dilation, 0};
    r.plane = (r.slots * r.pitch + 5) / 8 * 8 + 2;
    return r;
}

/* The pixels of a row, which may lie outside of the picture, for a strip that begins at left. */
[[maybe_unused]] DEVICE void load_row(const feature_args &a, const row_ring &ring, int left, int y,
                                      uint4 *rows) {
    const uint4 *from = reinterpret_cast<const uint4 *>(a.source) +
                        (size_t)stage_clamp(y, 0, a.height - 1) * (size_t)a.width * PIECES;
    int piece = (int)threadIdx.x % PIECES;
    uint4 *to = rows + (y + a.dilation) % ring.slots * ring.pitch + piece * ring.plane;
    for (int i = (int)threadIdx.x / PIECES; i < ring.pitch; i += WARPGROUP / PIECES)
        copy_later(to + i,
                   from + stage_clamp(left + i - a.dilation, 0, a.width - 1) * PIECES + piece);
}

/* Where a piece of 16 bytes lies of a pixel that has so many: threads that store the same piece of
 * neighbouring pixels, or read all pieces of a few, use all banks. */
template <int COUNT> DEVICE int place_of(int pixel, int piece) {
    return pixel * COUNT + (piece ^ pixel * COUNT / 8 % COUNT);
}

/* feature_number() of two sums, as numbers of 16 bits in a word. */
[[maybe_unused]] DEVICE uint32_t numbers_of(const feature_args &a, const int32_t sum[2]) {
#if defined(__CUDA_ARCH__)
    static_assert(FEATURE_NUMBER_LARGEST == INT16_MAX, "what the instruction takes numbers to");
    uint32_t word;
    asm("cvt.pack.sat.s16.s32 %0, %2, %1;"
        : "=r"(word)
        : "r"(sum[0] >> a.shift), "r"(sum[1] >> a.shift));
    return __vmaxs2(word, 0x80018001u); /* not -32768 */
#else
    return (uint32_t)(uint16_t)feature_number(&a, sum[0]) | (uint32_t)feature_number(&a, sum[1])
                                                                << 16;
#endif
}

/* A strip's row of sums as the other threads of the block read it: of thread 4 g + t of warp w
 * outputs 16 w + 2 g and the next one of pixels 8 i + 2 t and the next one. For vectors a pixel
 * has two pieces for each warp, of even and of odd outputs. */
template <bool VECTORS>
DEVICE void stage_row(const feature_args &a, const int32_t sum[WIDE_SUMS], uint4 *staged) {
    int warp = (int)threadIdx.x / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE, matrix = lane / 8;
#pragma unroll
    for (int i = 0; i < WIDE_SUMS; i += VECTORS ? 8 : 16) {
        uint32_t word[4];
#pragma unroll
        for (int m = 0; m < 4; m++) {
            if constexpr (VECTORS) {
                const int32_t *pair = sum + i + 2 * m;
                word[m] = numbers_of(a, pair);
            } else {
                const int32_t *s = sum + i + 4 * m;
                const int32_t pixels[4] = {s[0], s[2], s[1], s[3]};
                word[m] = activations(a, pixels);
            }
        }
        int pixel = 2 * i + lane % 8 + 8 * (VECTORS ? matrix / 2 : matrix);
        store_matrices(staged,
                       VECTORS ? place_of<2 * PIECES>(pixel, 2 * warp + matrix % 2)
                               : place_of<PIECES>(pixel, warp),
                       word);
    }
}

enum { STAGED = WIDE * PIECES / WARPGROUP }; /* quarters of pixels that a thread writes */

template <bool VECTORS>
DEVICE void write_row(const feature_args &a, int left, int y, const uint4 *staged) {
    int first = (int)threadIdx.x / PIECES, piece = (int)threadIdx.x % PIECES;
    uint4 out[STAGED];
    if constexpr (VECTORS) {
        int32_t number[STAGED][16], scale[STAGED];
        uint64_t squares[STAGED];
#pragma unroll
        for (int n = 0; n < STAGED; n++) {
#pragma unroll
            for (int odd = 0; odd < 2; odd++) {
                uint4 v =
                    staged[place_of<2 * PIECES>(first + n * (WARPGROUP / PIECES), 2 * piece + odd)];
                const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
                for (int i = 0; i < 8; i++)
                    number[n][2 * i + odd] = (int16_t)(words[i / 2] >> i % 2 * 16);
            }
            squares[n] = sum_of_squares<16>(number[n]);
        }
        scales_of<STAGED, 1>(squares, scale);
#pragma unroll
        for (int n = 0; n < STAGED; n++) {
            const int32_t *v = number[n];
            out[n] = uint4{scaled_of(v, scale[n]), scaled_of(v + 4, scale[n]),
                           scaled_of(v + 8, scale[n]), scaled_of(v + 12, scale[n])};
        }
    } else {
#pragma unroll
        for (int n = 0; n < STAGED; n++)
            out[n] = staged[place_of<PIECES>(first + n * (WARPGROUP / PIECES), piece)];
    }
    uint4 *to = VECTORS ? reinterpret_cast<uint4 *>(a.vectors) : reinterpret_cast<uint4 *>(a.out);
    to += (size_t)y * (size_t)a.width * PIECES;
#pragma unroll
    for (int n = 0; n < STAGED; n++) {
        int x = left + first + n * (WARPGROUP / PIECES);
        if (x < a.width)
            to[x * PIECES + piece] = out[n];
    }
}

template <bool VECTORS> constexpr int STAGED_ROW = WIDE *PIECES *(VECTORS ? 2 : 1);

template <bool VECTORS>
static __global__ void __launch_bounds__(WARPGROUP, ROWS_BLOCKS)
    feature_rows_kernel(const __grid_constant__ feature_args a) {
    if constexpr (HAS_WARPGROUP) {
        DYNAMIC_SHARED(uint4, rows);
        __shared__ uint4 staged[STAGED_ROW<VECTORS>]; /* launch_rows() asks whether it is there */
        const row_ring ring = row_ring_of(a.dilation);
        int output = (int)threadIdx.x / 4 * 2, t = (int)threadIdx.x % 4;
        uint32_t weights[FEATURE_TAPS][STEPS][4];
#pragma unroll
        for (int tap = 0; tap < FEATURE_TAPS; tap++)
#pragma unroll
            for (int step = 0; step < STEPS; step++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    weights[tap][step][i] =
                        weights_of(a, tap, 8 * step + i / 2 * 4 + t, output + i % 2);
        const int32_t bias[2] = {__ldg(a.bias + output), __ldg(a.bias + output + 1)};
        wait_for_previous_kernel();
        size_t count = (size_t)((a.width + WIDE - 1) / WIDE) * (size_t)a.height;
        int first = (int)(count * blockIdx.x / gridDim.x),
            end = (int)(count * (blockIdx.x + 1) / gridDim.x);
        for (int i = first; i < end; i++) {
            int left = i / a.height * WIDE, y = i % a.height;
            if (i == first || y == 0)
                for (int k = y - a.dilation; k <= y + a.dilation; k++)
                    load_row(a, ring, left, k, rows);
            wait_for_copies();
            __syncthreads(); /* the row before this one is written */
            if (i + 1 < end && y + 1 < a.height)
                load_row(a, ring, left, y + 1 + a.dilation, rows);
            int32_t sum[WIDE_SUMS];
#pragma unroll
            for (int k = 0; k < WIDE_SUMS; k++)
                sum[k] = bias[k / 2 % 2];
            begin_products(sum);
#pragma unroll
            for (int tap = 0; tap < FEATURE_TAPS; tap++) {
                int slot = y % ring.slots + tap / 3 * a.dilation;
                slot -= slot < ring.slots ? 0 : ring.slots;
                const uint4 *from = rows + slot * ring.pitch + tap % 3 * a.dilation;
#pragma unroll
                for (int step = 0; step < STEPS; step++)
                    multiply_wide(sum, weights[tap][step],
                                  wide_operand(from + 2 * step * ring.plane, 8, ring.plane));
            }
            finish_products(sum);
            stage_row<VECTORS>(a, sum, staged);
            __syncthreads();
            write_row<VECTORS>(a, left, y, staged);
        }
    }
}

/* False where the code that this GPU runs has no such kernel, only an empty one. */
template <bool VECTORS> static bool launch_rows(backend_cuda *cuda, const feature_args &a) {
    auto kernel = feature_rows_kernel<VECTORS>;
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, kernel) ||
        attributes.sharedSizeBytes < sizeof(uint4) * STAGED_ROW<VECTORS>)
        return false;
    size_t shared = sizeof(uint4) * PIECES * (size_t)row_ring_of(a.dilation).plane, reserved = 1024,
           each = shared + attributes.sharedSizeBytes + reserved;
    unsigned blocks = (unsigned)min((cuda->max_shared + reserved) / each, (size_t)ROWS_BLOCKS);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    /* fewer rows are not worth the loading of all weights */
    dim3 enough = cuda_blocks((a.width + WIDE - 1) / WIDE * a.height, LEAST_ROWS, 1, 1);
    launch_with_memory(cuda, kernel, dim3(min(enough.x, blocks * (unsigned)cuda->processors)),
                       dim3(WARPGROUP), shared, a);
    return true;
}

template <int INPUTS> static bool launch_layer(backend_cuda *cuda, const feature_args &a) {
    if (a.vectors)
        return launch<INPUTS, FEATURE_CHANNELS, true>(cuda, a);
    return a.outputs == 64 ? launch<INPUTS, 64, false>(cuda, a)
                           : launch<INPUTS, 32, false>(cuda, a);
}

static void launch_any(backend_cuda *cuda, enum stage stage, const void *args, int width,
                       int height) {
    const feature_args &a = *static_cast<const feature_args *>(args);
    if (a.stride > 1 || a.joined || a.inputs > 64 || a.outputs > 64) {
        cuda->plain[stage](cuda, args, width, height);
        return;
    }
    bool launched = a.inputs == 64 && a.outputs == 64 &&
                    (a.vectors ? launch_rows<true>(cuda, a) : launch_rows<false>(cuda, a));
    if (!launched)
        launched = a.inputs == 64   ? launch_layer<64>(cuda, a)
                   : a.inputs == 32 ? launch_layer<32>(cuda, a)
                                    : launch_layer<1>(cuda, a);
    if (!launched)
        cuda->plain[stage](cuda, args, width, height);
}

void cuda_launch_feature_layer(backend_cuda *cuda, const void *args, int width, int height) {
    launch_any(cuda, STAGE_feature_layer, args, width, height);
}

void cuda_launch_feature_vector(backend_cuda *cuda, const void *args, int width, int height) {
    launch_any(cuda, STAGE_feature_vector, args, width, height);
}
