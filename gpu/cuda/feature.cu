/*
 * The layers of the learned descriptor optimised for CUDA: products of matrices, of 16 pixels by 32
 * inputs and 32 inputs by 8 outputs, on tensor cores. A block has the weights of the layer in
 * shared memory and goes through tiles of the picture, each with the pixels around it. In which
 * order inputs are added is free, and so is which output a column of a product is: both are chosen
 * so that a thread reads and writes 16 bytes at a time.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"

enum { WARPS = 4, BLOCK_THREADS = WARPS * WARP_SIZE };
enum { PART_WIDTH = 32, PART_HEIGHT = 4 };     /* pixels of a tile */
enum { ROWS = 16, COLUMNS = 8, PRODUCTS = 2 }; /* of a product; of pixels, of a warp */
enum { BLOCKS = 4 };                           /* of a multiprocessor */

/* c += a b, of 16x32 bytes without sign and 32x8 bytes with sign: thread 4 g + t of the warp has of
 * a, in rows g and g + 8, bytes 4 t to 4 t + 3, and the same of the other 16; of b these bytes of
 * column g; of c columns 2 t and 2 t + 1 of both rows. */
DEVICE void multiply_add(int32_t c[4], const uint32_t a[4], const uint32_t b[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif defined(__CUDA_ARCH__)
    for (int i = 0; i < 4; i++)
        asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+r"(c[i % 2 * 2]), "+r"(c[i % 2 * 2 + 1])
            : "r"(a[i]), "r"(b[i / 2]));
#else /* what the instruction does */
    int row = (int)threadIdx.x % WARP_SIZE / 4 * 4, column = (int)threadIdx.x % 4 * 8;
    for (int word = 0; word < 8; word++) {
        uint32_t p[2], q[2];
        for (int i = 0; i < 2; i++) {
            p[i] = __shfl_sync(ALL_LANES, a[word / 4 * 2 + i], row + word % 4);
            q[i] = __shfl_sync(ALL_LANES, b[word / 4], column + 4 * i + word % 4);
        }
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 32; k += 8)
                c[i] += (int32_t)(p[i / 2] >> k & 255) * (int8_t)(q[i % 2] >> k & 255);
    }
#endif
}

/* Of a layer: products that lie side by side, steps of 32 inputs for a tap, taps for a step. One
 * input has all taps in one step. */
template <int INPUTS, int OUTPUTS> struct layer_shape {
    static constexpr int PARTS = OUTPUTS / COLUMNS, STEPS = INPUTS == 64 ? 2 : 1,
                         TAPS = INPUTS == 1 ? 1 : FEATURE_TAPS;
    static constexpr int WEIGHT_WORDS = TAPS * STEPS * PARTS * WARP_SIZE * 2;
    static constexpr int BIAS_WORDS = OUTPUTS;
};

/* The output of a column of product number part. */
template <int OUTPUTS> DEVICE int output_of(int part, int column) {
    return OUTPUTS / 4 * (column / 2) + 2 * part + column % 2;
}

/* Four weights of an output, the first of them of an input of a tap. */
DEVICE uint32_t weights_of(const feature_args &a, int tap, int group, int output) {
    int groups = (a.inputs + FEATURE_GROUP - 1) / FEATURE_GROUP;
    const uint32_t *words = reinterpret_cast<const uint32_t *>(a.weights);
    return __ldg(words +
                 ((output / FEATURE_BLOCK * FEATURE_TAPS + tap) * groups + group) * FEATURE_BLOCK +
                 output % FEATURE_BLOCK);
}

/* The weights in the order that threads read them: b of multiply_add(). */
template <int INPUTS, int OUTPUTS> DEVICE void load_weights(const feature_args &a, uint32_t *to) {
    using shape = layer_shape<INPUTS, OUTPUTS>;
    for (int i = (int)threadIdx.x; i < shape::WEIGHT_WORDS; i += BLOCK_THREADS) {
        int half = i % 2, part = i / 2 % 2 + i / (4 * WARP_SIZE) % (shape::PARTS / 2) * 2,
            lane = i / 4 % WARP_SIZE, step = i / (2 * WARP_SIZE * shape::PARTS);
        int output = output_of<OUTPUTS>(part, lane / 4), t = lane % 4;
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

/* a of multiply_add() for each step of a tap: of 16 pixels side by side, the first of which, at the
 * tap, is at from. */
template <int INPUTS>
DEVICE void load_pixels(const uint8_t *from, int pitch, int dilation, uint32_t a[2][4]) {
    int lane = (int)threadIdx.x % WARP_SIZE, t = lane % 4;
    from += lane / 4 * INPUTS;
#pragma unroll
    for (int row = 0; row < 2; row++, from += 8 * INPUTS) {
        if constexpr (INPUTS == 64) {
            uint4 v = *reinterpret_cast<const uint4 *>(from + 16 * t);
            a[0][row] = v.x;
            a[0][2 + row] = v.y;
            a[1][row] = v.z;
            a[1][2 + row] = v.w;
        } else if constexpr (INPUTS == 32) {
            uint2 v = *reinterpret_cast<const uint2 *>(from + 8 * t);
            a[0][row] = v.x;
            a[0][2 + row] = v.y;
        } else {
            a[0][row] = a[0][2 + row] = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                int tap = 4 * t + k;
                if (tap < FEATURE_TAPS)
                    a[0][row] |= (uint32_t)from[(tap / 3 * pitch + tap % 3) * dilation] << 8 * k;
            }
        }
    }
}

/* What gives a vector its length, from the numbers of the four threads that have a quarter of it
 * each. */
DEVICE int32_t scale_of(const int32_t number[16]) {
    uint32_t low = 0, high = 0; /* sums of 16 squares below 2^30 each: of their halves */
#pragma unroll
    for (int i = 0; i < 16; i++) {
        uint32_t square = (uint32_t)(number[i] * number[i]);
        low += square & 65535;
        high += square >> 16;
    }
    for (int step = 1; step < 4; step *= 2) {
        low += __shfl_xor_sync(ALL_LANES, low, step);
        high += __shfl_xor_sync(ALL_LANES, high, step);
    }
    return feature_scale(((uint64_t)high << 16) + low);
}

DEVICE void store_vector(const feature_args &a, size_t pixel, const int32_t number[16],
                         int32_t scale) {
    uint32_t word[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 16; i++)
        word[i / 4] |= (uint32_t)(uint8_t)feature_scaled(number[i], scale) << 8 * (i % 4);
    reinterpret_cast<uint4 *>(a.vectors)[4 * pixel + threadIdx.x % 4] =
        make_uint4(word[0], word[1], word[2], word[3]);
}

/* A quarter of a pixel's activations. */
template <int OUTPUTS>
DEVICE void store_activations(const feature_args &a, size_t pixel, const int32_t *sum) {
    uint32_t word[4];
#pragma unroll
    for (int i = 0; i < OUTPUTS / 16; i++) {
        word[i] = 0;
#pragma unroll
        for (int k = 0; k < 4; k++)
            word[i] |= (uint32_t)feature_activation(&a, sum[4 * i + k]) << 8 * k;
    }
    uint8_t *out = a.out + pixel * OUTPUTS + OUTPUTS / 4 * (threadIdx.x % 4);
    if constexpr (OUTPUTS == 64)
        *reinterpret_cast<uint4 *>(out) = make_uint4(word[0], word[1], word[2], word[3]);
    else
        *reinterpret_cast<uint2 *>(out) = uint2{word[0], word[1]};
}

template <int INPUTS, int OUTPUTS, bool VECTORS>
DEVICE void do_part(const feature_args &a, int left, int top, const uint32_t *weights,
                    const int32_t *bias, const uint8_t *part) {
    using shape = layer_shape<INPUTS, OUTPUTS>;
    int warp = (int)threadIdx.x / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE;
    int pitch = PART_WIDTH + 2 * a.dilation;
    int32_t sum[PRODUCTS][shape::PARTS][4];
#pragma unroll
    for (int n = 0; n < shape::PARTS; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int32_t first = bias[OUTPUTS / 4 * (lane % 4) + 2 * n + i % 2];
#pragma unroll
            for (int m = 0; m < PRODUCTS; m++)
                sum[m][n][i] = first;
        }
#pragma unroll 1
    for (int tap = 0; tap < shape::TAPS; tap++) {
        uint32_t pixels[PRODUCTS][2][4];
#pragma unroll
        for (int m = 0; m < PRODUCTS; m++) {
            int x = m % 2 * ROWS + tap % 3 * a.dilation,
                y = PRODUCTS / 2 * warp + m / 2 + tap / 3 * a.dilation;
            load_pixels<INPUTS>(part + (y * pitch + x) * INPUTS, pitch, a.dilation, pixels[m]);
        }
#pragma unroll
        for (int step = 0; step < shape::STEPS; step++)
#pragma unroll
            for (int n = 0; n < shape::PARTS; n += 2) {
                const uint4 w = reinterpret_cast<const uint4 *>(weights)
                    [((tap * shape::STEPS + step) * (shape::PARTS / 2) + n / 2) * WARP_SIZE + lane];
                const uint32_t one[2] = {w.x, w.y}, two[2] = {w.z, w.w};
#pragma unroll
                for (int m = 0; m < PRODUCTS; m++) {
                    multiply_add(sum[m][n], pixels[m][step], one);
                    multiply_add(sum[m][n + 1], pixels[m][step], two);
                }
            }
    }
#pragma unroll
    for (int m = 0; m < PRODUCTS; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int x = left + m % 2 * ROWS + lane / 4 + 8 * half,
                y = top + PRODUCTS / 2 * warp + m / 2;
            int32_t own[OUTPUTS / 4];
#pragma unroll
            for (int i = 0; i < OUTPUTS / 4; i++)
                own[i] = sum[m][i / 2][2 * half + i % 2];
            size_t pixel = (size_t)y * (size_t)a.width + (size_t)x;
            int32_t scale = 0;
            if constexpr (VECTORS) {
#pragma unroll
                for (int i = 0; i < 16; i++)
                    own[i] = feature_number(&a, own[i]);
                scale = scale_of(own);
            }
            if (x >= a.width || y >= a.height)
                continue;
            if constexpr (VECTORS)
                store_vector(a, pixel, own, scale);
            else
                store_activations<OUTPUTS>(a, pixel, own);
        }
}

template <int INPUTS, int OUTPUTS, bool VECTORS>
static __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS)
    feature_kernel(const __grid_constant__ feature_args a) {
    using shape = layer_shape<INPUTS, OUTPUTS>;
    DYNAMIC_SHARED(uint4, memory);
    uint32_t *weights = reinterpret_cast<uint32_t *>(memory);
    int32_t *bias = reinterpret_cast<int32_t *>(weights + shape::WEIGHT_WORDS);
    uint8_t *part = reinterpret_cast<uint8_t *>(bias + OUTPUTS);
    int across = (a.width + PART_WIDTH - 1) / PART_WIDTH,
        count = across * ((a.height + PART_HEIGHT - 1) / PART_HEIGHT);
    load_weights<INPUTS, OUTPUTS>(a, weights);
    for (int i = (int)threadIdx.x; i < OUTPUTS; i += BLOCK_THREADS)
        bias[i] = __ldg(a.bias + i);
    wait_for_previous_kernel();
    for (int i = (int)blockIdx.x; i < count; i += (int)gridDim.x) {
        int left = i % across * PART_WIDTH, top = i / across * PART_HEIGHT;
        __syncthreads();
        load_part<INPUTS>(a, left, top, part);
        __syncthreads();
        do_part<INPUTS, OUTPUTS, VECTORS>(a, left, top, weights, bias, part);
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
    unsigned most = (unsigned)(BLOCKS * cuda->processors);
    launch_with_memory(cuda, kernel, dim3(min(blocks.x * blocks.y, most)), dim3(BLOCK_THREADS),
                       shared, a);
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
    bool launched = a.inputs == 64   ? launch_layer<64>(cuda, a)
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
