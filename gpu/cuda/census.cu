/*
 * Census optimised for CUDA, from a tile in shared memory: of a picture, or mixed with that of the
 * smoothed picture, which is not stored; and its steady bits, with the slack of colours.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_pixel.cuh"
#include "gpu/cuda/packed_u16x2.h"

enum { BLOCK_WIDTH = WARP_SIZE, BLOCK_HEIGHT = 8, REACH_X = 4, REACH_Y = 3 };

/* ---- census: four pixels a thread, two of them in the 16-bit lanes of a word */

enum { QUAD = 4, CENSUS_WIDTH = QUAD * BLOCK_WIDTH };

/* Grey levels around a block's pixels; the picture's rim goes on outside it. */
enum {
    CENSUS_TILE_WIDTH = CENSUS_WIDTH + 2 * REACH_X,
    CENSUS_TILE_HEIGHT = BLOCK_HEIGHT + 2 * REACH_Y
};

struct census_tile {
    uint32_t words[CENSUS_TILE_HEIGHT][CENSUS_TILE_WIDTH / 4];
};

/* WIDTH x HEIGHT bytes of a picture from (left, top) on. */
template <int WIDTH, int HEIGHT>
DEVICE void load_tile(const uint8_t *grey, int width, int height, int left, int top, uint8_t *to) {
    int thread = (int)(threadIdx.y * BLOCK_WIDTH + threadIdx.x);
    for (int i = thread; i < WIDTH * HEIGHT; i += BLOCK_WIDTH * BLOCK_HEIGHT)
        to[i] = __ldg(grey + (size_t)stage_clamp(top + i / WIDTH, 0, height - 1) * width +
                      stage_clamp(left + i % WIDTH, 0, width - 1));
}

/* Bytes i and i + 1 of words that follow each other, a 16-bit lane each. */
DEVICE uint32_t two_of(const uint32_t *words, int i) {
    if (i % 4 == 3)
        return byte_permute(words[i / 4], words[i / 4 + 1], 0x0403) & 0xff00ffu;
    return byte_permute(words[i / 4], 0, 0x4040u + 0x101u * (uint32_t)(i % 4) + 0x100u);
}

/* Bit 15 of set's lanes goes into the highest bits of these lanes, what is there moves down: of
 * sixteen bits none moves beyond its lane. */
DEVICE void add_bit(uint32_t set, uint32_t *bits) {
    *bits = (*bits >> 1) + (set & 0x80008000u);
}

/* Census of two pixels from sixteen bits of each at a time, the lowest first. */
DEVICE void pair_of(const uint32_t bits[4], uint64_t census[2]) {
    uint32_t last = bits[3] >> (64 - CENSUS_BITS) & 0x3fff3fffu;
    census[0] = (uint64_t)byte_permute(bits[2], last, 0x5410) << 32 |
                byte_permute(bits[0], bits[1], 0x5410);
    census[1] = (uint64_t)byte_permute(bits[2], last, 0x7632) << 32 |
                byte_permute(bits[0], bits[1], 0x7632);
}

/* A word's four pixels + 0x7fff, in 16-bit lanes: less a neighbour, bit 15 is set where it is
 * darker. */
DEVICE void centres_of(uint32_t centre, uint32_t darker[2]) {
    darker[0] = byte_permute(centre, 0, 0x4140) + 0x7fff7fffu;
    darker[1] = byte_permute(centre, 0, 0x4342) + 0x7fff7fffu;
}

/* A thread has four pixels. */
DEVICE void census_of(const census_tile &tile, uint64_t census[QUAD]) {
    uint32_t darker[2], bits[2][4] = {};
    centres_of(tile.words[threadIdx.y + REACH_Y][threadIdx.x + REACH_X / 4], darker);
    int place = 0; /* of the stage's bits, the lowest of which is its last neighbour */
#pragma unroll
    for (int dy = 2 * REACH_Y; dy >= 0; dy--) {
        const uint32_t *from = &tile.words[threadIdx.y + dy][threadIdx.x];
        uint32_t words[3] = {from[0], from[1], from[2]};
#pragma unroll
        for (int dx = 2 * REACH_X; dx >= 0; dx--) {
            if (dx == REACH_X && dy == REACH_Y)
                continue;
            add_bit(darker[0] - two_of(words, dx), &bits[0][place / 16]);
            add_bit(darker[1] - two_of(words, dx + 2), &bits[1][place / 16]);
            place++;
        }
    }
    pair_of(bits[0], census);
    pair_of(bits[1], census + 2);
}

static __global__ void __launch_bounds__(BLOCK_WIDTH *BLOCK_HEIGHT)
    census_kernel(const __grid_constant__ census_args a) {
    __shared__ census_tile tile;
    int left = (int)blockIdx.x * CENSUS_WIDTH, top = (int)blockIdx.y * BLOCK_HEIGHT;
    int x = left + QUAD * (int)threadIdx.x, y = top + (int)threadIdx.y;
    wait_for_previous_kernel();
    if (census_stays(&a))
        return;
    load_tile<CENSUS_TILE_WIDTH, CENSUS_TILE_HEIGHT>(a.grey, a.width, a.height, left - REACH_X,
                                                     top - REACH_Y,
                                                     reinterpret_cast<uint8_t *>(tile.words));
    __syncthreads();
    if (y >= a.height)
        return;
    uint64_t census[QUAD];
    census_of(tile, census);
#pragma unroll
    for (int i = 0; i < QUAD; i++)
        if (x + i < a.width)
            a.out[(size_t)y * (size_t)a.width + (size_t)(x + i)] = census[i];
}

static const dim3 census_block(BLOCK_WIDTH, BLOCK_HEIGHT);

static dim3 census_blocks(int width, int height) {
    return cuda_blocks((width + QUAD - 1) / QUAD, BLOCK_WIDTH, height, BLOCK_HEIGHT);
}

void cuda_launch_census(backend_cuda *cuda, const void *args, int width, int height) {
    launch_dependent(cuda, census_kernel, census_blocks(width, height), census_block,
                     *static_cast<const census_args *>(args));
}

/* ---- steady bits of census */

/* A census_tile with a word more at either end of its rows, for the columns beside it. */
enum { STEADY_TILE_WIDTH = CENSUS_TILE_WIDTH + 8 };

struct steady_tile {
    uint32_t words[CENSUS_TILE_HEIGHT][STEADY_TILE_WIDTH / 4];
};

/* (a + b + 1) / 2 of each byte. */
DEVICE uint32_t mean_of(uint32_t a, uint32_t b) {
    return (a | b) - ((a ^ b) >> 1 & 0x7f7f7f7fu);
}

/* Bit 15 of each lane: own has it, and one of the others has not and is more than STEADY_STEP away,
 * or the other way round. */
DEVICE uint32_t changes(uint32_t own, uint32_t left, uint32_t right) {
    const uint32_t apart = (0x7fffu - STEADY_STEP) * 0x10001u;
    uint32_t least = u16x2_min(left, right), most = u16x2_max(left, right);
    return (own & ~least & (own - least + apart)) | (~own & most & (most - own + apart));
}

/* A thread has four pixels, as in census_of. Left of each pixel lies what is half a pixel aside. */
DEVICE void steady_of(const steady_tile &tile, uint64_t steady[QUAD]) {
    uint32_t centre[2], aside[2][2], bits[2][4] = {};
    const uint32_t *own = &tile.words[threadIdx.y + REACH_Y][threadIdx.x + 1 + REACH_X / 4];
    centres_of(own[0], centre);
    centres_of(mean_of(own[0], byte_permute(own[-1], own[0], 0x6543)), aside[0]);
    centres_of(mean_of(own[0], byte_permute(own[0], own[1], 0x4321)), aside[1]);
    int place = 0;
#pragma unroll
    for (int dy = 2 * REACH_Y; dy >= 0; dy--) {
        const uint32_t *words = &tile.words[threadIdx.y + dy][threadIdx.x + 1];
        uint32_t left[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            left[i] = mean_of(words[i], byte_permute(words[i - 1], words[i], 0x6543));
#pragma unroll
        for (int dx = 2 * REACH_X; dx >= 0; dx--) {
            if (dx == REACH_X && dy == REACH_Y)
                continue;
#pragma unroll
            for (int i = 0; i < 2; i++)
                add_bit(changes(centre[i] - two_of(words, dx + 2 * i),
                                aside[0][i] - two_of(left, dx + 2 * i),
                                aside[1][i] - two_of(left, dx + 2 * i + 1)),
                        &bits[i][place / 16]);
            place++;
        }
    }
    pair_of(bits[0], steady);
    pair_of(bits[1], steady + 2);
}

/* slack_of() of a thread's four pixels. */
template <int CHANNELS>
DEVICE void slack_of_quad(const steady_bits_args &a, int x, int y, uint8_t slack[QUAD]) {
    uint32_t color[QUAD + 2];
#pragma unroll
    for (int i = 0; i < QUAD + 2; i++)
        color[i] =
            packed_pixel<CHANNELS>(a.picture, (size_t)y * (size_t)a.width +
                                                  (size_t)stage_clamp(x + i - 1, 0, a.width - 1));
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        uint32_t most = __vmaxu4(__vabsdiffu4(color[i + 1], color[i]),
                                 __vabsdiffu4(color[i + 1], color[i + 2]));
        slack[i] = (uint8_t)min((int)__vsadu4(most, 0) / 2, (int)SLACK_MAX);
    }
}

template <int CHANNELS>
static __global__ void __launch_bounds__(BLOCK_WIDTH *BLOCK_HEIGHT)
    steady_bits_kernel(const __grid_constant__ steady_bits_args a) {
    __shared__ steady_tile tile;
    int left = (int)blockIdx.x * CENSUS_WIDTH, top = (int)blockIdx.y * BLOCK_HEIGHT;
    int x = left + QUAD * (int)threadIdx.x, y = top + (int)threadIdx.y;
    uint64_t steady[QUAD];
    uint8_t slack[QUAD];
    wait_for_previous_kernel();
    load_tile<STEADY_TILE_WIDTH, CENSUS_TILE_HEIGHT>(a.grey, a.width, a.height, left - REACH_X - 4,
                                                     top - REACH_Y,
                                                     reinterpret_cast<uint8_t *>(tile.words));
    __syncthreads();
    steady_of(tile, steady);
    slack_of_quad<CHANNELS>(a, x, min(y, a.height - 1), slack);
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        size_t at = (size_t)y * (size_t)a.width + (size_t)(x + i);
        if (y >= a.height || x + i >= a.width)
            continue;
        a.out[at] = steady[i] ^ STEADY_ALL;
        a.slack[at] = slack[i];
    }
}

void cuda_launch_steady_bits(backend_cuda *cuda, const void *args, int width, int height) {
    const steady_bits_args *a = static_cast<const steady_bits_args *>(args);
    launch_dependent(cuda, a->channels == 3 ? steady_bits_kernel<3> : steady_bits_kernel<1>,
                     census_blocks(width, height), census_block, *a);
}

/* ---- bits of census of the picture and of the smoothed one, without storing the latter */

struct mixed_census {
    const uint8_t *grey;
    mix_census_args mix;
    int height;
};

/* Smooths by 1 2 1 along both axes, as smooth_x and smooth_y do, what begins at (left, top); from
 * has one pixel more on all sides. */
DEVICE void smooth_tile(const mixed_census &a, int left, int top, const uint8_t *from,
                        uint8_t *to) {
    int thread = (int)(threadIdx.y * BLOCK_WIDTH + threadIdx.x);
    for (int i = thread; i < CENSUS_TILE_WIDTH * CENSUS_TILE_HEIGHT;
         i += BLOCK_WIDTH * BLOCK_HEIGHT) {
        int x = stage_clamp(left + i % CENSUS_TILE_WIDTH, 0, a.mix.width - 1) - left,
            y = stage_clamp(top + i / CENSUS_TILE_WIDTH, 0, a.height - 1) - top, sum = 8;
#pragma unroll
        for (int k = 0; k < 9; k++)
            sum += (1 + (k / 3 == 1)) * (1 + (k % 3 == 1)) *
                   from[(y + k / 3) * (CENSUS_TILE_WIDTH + 2) + x + k % 3];
        to[i] = (uint8_t)(sum >> 4);
    }
}

static __global__ void __launch_bounds__(BLOCK_WIDTH *BLOCK_HEIGHT)
    mixed_census_kernel(const __grid_constant__ mixed_census a) {
    __shared__ uint8_t grey[(CENSUS_TILE_WIDTH + 2) * (CENSUS_TILE_HEIGHT + 2)];
    __shared__ census_tile tile;
    int left = (int)blockIdx.x * CENSUS_WIDTH, top = (int)blockIdx.y * BLOCK_HEIGHT;
    int x = left + QUAD * (int)threadIdx.x, y = top + (int)threadIdx.y;
    wait_for_previous_kernel();
    uint64_t mask = smoothed_bits(&a.mix), census[QUAD];
    if (!mask)
        return;
    load_tile<CENSUS_TILE_WIDTH + 2, CENSUS_TILE_HEIGHT + 2>(
        a.grey, a.mix.width, a.height, left - REACH_X - 1, top - REACH_Y - 1, grey);
    __syncthreads();
    smooth_tile(a, left - REACH_X, top - REACH_Y, grey, reinterpret_cast<uint8_t *>(tile.words));
    __syncthreads();
    census_of(tile, census);
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        uint64_t *at = a.mix.census + (size_t)y * (size_t)a.mix.width + (size_t)(x + i);
        if (y < a.height && x + i < a.mix.width)
            *at = (*at & ~mask) | (census[i] & mask);
    }
}

int cuda_unit_mixed_census(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    const smooth_x_args *smooth = cuda_args<smooth_x_args>(g, unit, STAGE_smooth_x, slot);
    const census_args *c = cuda_args<census_args>(g, unit, STAGE_census, slot);
    const mix_census_args *mix = cuda_args<mix_census_args>(g, unit, STAGE_mix_census, slot);
    if (!smooth || !mix)
        return 0;
    mixed_census a = {smooth->source, *mix, c->height};
    launch_dependent(cuda, mixed_census_kernel, census_blocks(c->width, c->height), census_block,
                     a);
    return 4;
}
