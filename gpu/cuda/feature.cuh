/*
 * Layers of the networks for CUDA: products of matrices, of 16 outputs by 32 inputs and 32 inputs
 * by 8 pixels, on tensor cores. A block has the weights of some outputs in shared memory and goes
 * through tiles of the picture, each with the pixels around it. In which order inputs are added is
 * free, and so is which output a row of a product is: both are chosen so that what a thread reads
 * of a pixel or of the weights lies in neighbouring registers as the instruction wants it, and that
 * it writes neighbouring outputs.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CUDA_FEATURE_CUH
#define LIVESTEREO_CUDA_FEATURE_CUH

#include "gpu/cuda/matrix_product.cuh"

#include <climits>

enum { WARPS = 4, BLOCK_THREADS = WARPS * WARP_SIZE };
enum { PART_WIDTH = 32, PART_HEIGHT = 4 };               /* pixels of a tile */
enum { ROWS = 16, COLUMNS = 8, PRODUCTS = PART_HEIGHT }; /* of a product; of a warp */
enum { BLOCKS = 4 };                                     /* of a multiprocessor */

/* The shape of a layer, or of OUTPUTS of its outputs: products on top of each other, inputs of a
 * tap that four threads read at once, steps of 32 inputs for these, taps times the parts of a tap's
 * inputs, outputs of a pixel that a thread gets. One input has all taps in one step, 16 inputs two
 * taps. JOINED: struct feature_args' joined. */
template <int INPUTS_, int OUTPUTS_, int STRIDE_ = 1, bool JOINED_ = false> struct layer_shape {
    static constexpr int INPUTS = INPUTS_, OUTPUTS = OUTPUTS_, STRIDE = STRIDE_;
    static constexpr bool JOINED = JOINED_;
    /* whether a layer of this shape may have struct feature_args' coarse */
    static constexpr bool MEANS = STRIDE == 1 && !JOINED && INPUTS > 1 && INPUTS < 192;
    static constexpr int PARTS = OUTPUTS / ROWS, CHUNK = INPUTS % 64 == 0 ? 64 : 32,
                         CHUNKS = INPUTS / CHUNK, STEPS = CHUNK / 32,
                         TAPS = (FEATURE_TAPS * INPUTS + CHUNK - 1) / CHUNK,
                         EACH = OUTPUTS / COLUMNS;
    static constexpr int WEIGHT_WORDS = TAPS * STEPS * PARTS * WARP_SIZE * 4;
    /* columns and rows of the source that a tile needs */
    static constexpr int PITCH = (PART_WIDTH - 1) * STRIDE + 3,
                         HEIGHT = (PART_HEIGHT - 1) * STRIDE + 3;
};

/* Four weights of an output, the first of them of an input of a tap. */
DEVICE uint32_t weights_of(const feature_args &a, int tap, int group, int output) {
    int groups = (a.inputs + FEATURE_GROUP - 1) / FEATURE_GROUP;
    const uint32_t *words = reinterpret_cast<const uint32_t *>(a.weights);
    return __ldg(words +
                 ((output / FEATURE_BLOCK * FEATURE_TAPS + tap) * groups + group) * FEATURE_BLOCK +
                 output % FEATURE_BLOCK);
}

/* The biases of the outputs from number first on, and their weights in the order that threads read
 * them: a of multiply_add(). Rows g and g + 8 of product number part are outputs EACH g + 2 part
 * and the next one. */
template <typename shape>
DEVICE void load_weights(const feature_args &a, int first, uint32_t *to, int32_t *bias) {
    for (int i = (int)threadIdx.x; i < shape::OUTPUTS; i += BLOCK_THREADS)
        bias[i] = __ldg(a.bias + first + i);
#pragma unroll 9
    for (int i = (int)threadIdx.x; i < shape::WEIGHT_WORDS; i += BLOCK_THREADS) {
        int half = i / 2 % 2, lane = i / 4 % WARP_SIZE, t = lane % 4,
            part = i / (4 * WARP_SIZE) % shape::PARTS, step = i / (4 * WARP_SIZE * shape::PARTS);
        int output = first + shape::EACH * (lane / 4) + 2 * part + i % 2;
        uint32_t word = 0;
        if constexpr (shape::INPUTS == 1) {
            for (int k = 0; k < 4 && half == 0; k++)
                if (4 * t + k < FEATURE_TAPS)
                    word |= (weights_of(a, 4 * t + k, 0, output) & 255) << 8 * k;
        } else if constexpr (shape::INPUTS == 16) {
            if (2 * step + half < FEATURE_TAPS)
                word = weights_of(a, 2 * step + half, t, output);
        } else {
            int tap = step / shape::STEPS;
            word = weights_of(a, tap / shape::CHUNKS,
                              tap % shape::CHUNKS * (shape::CHUNK / FEATURE_GROUP) +
                                  2 * shape::STEPS * t + 2 * (step % shape::STEPS) + half,
                              output);
        }
        to[i] = word;
    }
}

/* (a + b + 1) / 2 of each byte. */
DEVICE uint4 means(const uint4 &a, const uint4 &b) {
    const auto mean = [](uint32_t u, uint32_t v) { return (u | v) - ((u ^ v) >> 1 & 0x7f7f7f7fu); };
    return uint4{mean(a.x, b.x), mean(a.y, b.y), mean(a.z, b.z), mean(a.w, b.w)};
}

/* Loads the pixels of the source that a tile of the output needs. */
template <typename shape>
DEVICE void load_part(const feature_args &a, int left, int top, uint8_t *to) {
    constexpr int BYTES = shape::INPUTS == 1 ? 1 : 16, PIECES = shape::INPUTS / BYTES;
    for (int y = (int)threadIdx.x / WARP_SIZE; y < shape::HEIGHT; y += WARPS) {
        int from_y = stage_clamp(top * shape::STRIDE + y - 1, 0, a.height - 1);
        const uint8_t *row = a.source + (size_t)from_y * (size_t)a.width * shape::INPUTS;
        for (int i = (int)threadIdx.x % WARP_SIZE; i < shape::PITCH * PIECES; i += WARP_SIZE) {
            int x = stage_clamp(left * shape::STRIDE + i / PIECES - 1, 0, a.width - 1);
            const uint8_t *from = row + (size_t)x * shape::INPUTS + i % PIECES * BYTES;
            uint8_t *there = to + (y * shape::PITCH * PIECES + i) * BYTES;
            if constexpr (shape::JOINED)
                from = feature_inputs(&a, x, from_y, i % PIECES * BYTES);
            if constexpr (shape::INPUTS == 1)
                *there = *from;
            else if (shape::MEANS && a.coarse)
                *reinterpret_cast<uint4 *>(there) =
                    means(*reinterpret_cast<const uint4 *>(
                              feature_coarse(&a, x, from_y, i % PIECES * BYTES)),
                          *reinterpret_cast<const uint4 *>(from));
            else
                copy_piece(reinterpret_cast<uint4 *>(there), reinterpret_cast<const uint4 *>(from));
        }
    }
    wait_for_pieces();
}

/* Where a tap of a pixel begins, from its first tap. */
template <typename shape> DEVICE int tap_offset(int tap) {
    return (tap / 3 * shape::PITCH + tap % 3) * shape::INPUTS;
}

/* b of multiply_add() for each step of number i of TAPS: of 8 pixels, STRIDE apart, the first of
 * which has its first tap at from. */
template <typename shape> DEVICE void load_pixels(const uint8_t *from, int i, uint32_t b[2][2]) {
    int lane = (int)threadIdx.x % WARP_SIZE, t = lane % 4;
    from += lane / 4 * shape::STRIDE * shape::INPUTS;
    if constexpr (shape::INPUTS > 16)
        from += tap_offset<shape>(i / shape::CHUNKS) + i % shape::CHUNKS * shape::CHUNK;
    if constexpr (shape::INPUTS == 1) {
        b[0][0] = b[0][1] = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int tap = 4 * t + k;
            if (tap < FEATURE_TAPS)
                b[0][0] |= (uint32_t)from[tap_offset<shape>(tap)] << 8 * k;
        }
    } else if constexpr (shape::INPUTS == 16) {
#pragma unroll
        for (int half = 0; half < 2; half++)
            b[0][half] = *reinterpret_cast<const uint32_t *>(
                from + tap_offset<shape>(stage_min(2 * i + half, FEATURE_TAPS - 1)) + 4 * t);
    } else if constexpr (shape::STEPS == 2) {
        uint4 v = *reinterpret_cast<const uint4 *>(from + 16 * t);
        b[0][0] = v.x;
        b[0][1] = v.y;
        b[1][0] = v.z;
        b[1][1] = v.w;
    } else {
        uint2 v = *reinterpret_cast<const uint2 *>(from + 8 * t);
        b[0][0] = v.x;
        b[0][1] = v.y;
    }
}

/* A thread has two pixels of each of its warp's PRODUCTS. */
enum { OWN_PIXELS = 2 * PRODUCTS };

/* The sums of a tile's columns, of which each warp has COLUMNS: own[p], of row p / 2 and the warp's
 * column lane % 4 * 2 + p % 2, of EACH outputs from EACH * (lane / 4) on. Pixels of more than 16
 * inputs are read once for three taps above each other. */
template <typename shape>
DEVICE void sum_part(const uint4 *weights, const int32_t *bias, const uint8_t *part,
                     int32_t own[OWN_PIXELS][shape::EACH]) {
    int warp = (int)threadIdx.x / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE;
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
    constexpr int TALL = shape::INPUTS > 16 ? 3 : 1, ACROSS = shape::TAPS / TALL,
                  READ = (PRODUCTS - 1) * shape::STRIDE + TALL;
    const uint8_t *from = part + warp * COLUMNS * shape::STRIDE * shape::INPUTS;
#pragma unroll
    for (int i = 0; i < ACROSS; i++) {
        uint32_t pixels[READ][2][2];
#pragma unroll
        for (int row = 0; row < READ; row++)
            if (TALL > 1 || row % shape::STRIDE == 0)
                load_pixels<shape>(from + row * shape::PITCH * shape::INPUTS, i, pixels[row]);
#pragma unroll
        for (int k = 0; k < TALL * shape::STEPS * shape::PARTS; k++) {
            int m = k % shape::PARTS, step = k / shape::PARTS % shape::STEPS,
                tap = k / (shape::PARTS * shape::STEPS);
            uint4 rows = weights[(((tap * ACROSS + i) * shape::STEPS + step) * shape::PARTS + m) *
                                     WARP_SIZE +
                                 lane];
#pragma unroll
            for (int n = 0; n < PRODUCTS; n++)
                multiply_add<false>(sum[n][m], rows, pixels[n * shape::STRIDE + tap][step]);
        }
    }
#pragma unroll
    for (int p = 0; p < OWN_PIXELS; p++)
#pragma unroll
        for (int i = 0; i < shape::EACH; i++)
            own[p][i] = sum[p / 2][i / 2][i % 2 * 2 + p % 2];
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

/* Goes through the tiles of a layer, or of its rows first_row..end_row-1, and calls do_part(left,
 * top, bias, part) for each. memory has the weights of the outputs from first_output on, SETS times
 * OUTPUTS of them. */
template <typename shape, int SETS = 1, typename Do>
DEVICE void for_each_part(const feature_args &a, uint4 *memory, int first_output, Do do_part,
                          int first_row = 0, int end_row = INT_MAX) {
    int32_t *bias = reinterpret_cast<int32_t *>(memory) + SETS * shape::WEIGHT_WORDS;
    uint8_t *part = reinterpret_cast<uint8_t *>(bias + SETS * shape::OUTPUTS);
    int width = (a.width + shape::STRIDE - 1) / shape::STRIDE,
        height = min((a.height + shape::STRIDE - 1) / shape::STRIDE, end_row) - first_row,
        across = (width + PART_WIDTH - 1) / PART_WIDTH,
        count = across * ((height + PART_HEIGHT - 1) / PART_HEIGHT);
    for (int set = 0; set < SETS; set++)
        load_weights<shape>(a, first_output + set * shape::OUTPUTS,
                            reinterpret_cast<uint32_t *>(memory) + set * shape::WEIGHT_WORDS,
                            bias + set * shape::OUTPUTS);
    wait_for_previous_kernel();
    for (int i = (int)blockIdx.x; i < count; i += (int)gridDim.x) {
        int left = i % across * PART_WIDTH, top = first_row + i / across * PART_HEIGHT;
        __syncthreads();
        load_part<shape>(a, left, top, part);
        __syncthreads();
        do_part(left, top, bias, part);
    }
}

/* Launches a kernel of for_each_part() on an output of width x height pixels, for all outputs in
 * turns. False where the tiles are too large for the shared memory. */
template <typename shape, int SETS = 1, typename... Parameters, typename Args>
static bool launch_parts(backend_cuda *cuda, void (*kernel)(Args, Parameters...), const Args &args,
                         const feature_args &a, int width, int height, int most_blocks,
                         const Parameters &...parameters) {
    size_t reserved = 1024, shared = 4 * SETS * (size_t)(shape::WEIGHT_WORDS + shape::OUTPUTS) +
                                     (size_t)(shape::PITCH * shape::HEIGHT) * shape::INPUTS;
    if (shared > cuda->max_shared)
        return false;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    dim3 tiles = cuda_blocks(width, PART_WIDTH, height, PART_HEIGHT);
    unsigned outputs = (unsigned)(a.outputs / (SETS * shape::OUTPUTS)),
             each = (unsigned)min((cuda->max_shared + reserved) / (shared + reserved),
                                  (size_t)most_blocks),
             most = max(each * (unsigned)cuda->processors / outputs, 1u);
    launch_with_memory(cuda, kernel, dim3(min(tiles.x * tiles.y, most), outputs),
                       dim3(BLOCK_THREADS), shared, args, parameters...);
    return true;
}

#endif
