/*
 * Stages on pictures optimised for CUDA: grey levels, rows that are moved, blocks of JPEG, edges,
 * arms.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_u16x2.h"

enum { BLOCK_WIDTH = WARP_SIZE, BLOCK_HEIGHT = 8, THREADS = BLOCK_WIDTH * BLOCK_HEIGHT };

/* ---- four pixels a thread, in whole words, since a picture's rows have no gaps */

enum { PIXELS = 4 };

/* A thread's pixels, by their numbers in the picture. */
struct pixel_range {
    size_t first, end;
    bool whole; /* all four exist */
};

DEVICE pixel_range range_of_thread(size_t count) {
    size_t first = PIXELS * ((size_t)blockIdx.x * THREADS + threadIdx.x);
    return {first, min(first + PIXELS, count), first + PIXELS <= count};
}

/* A word for each channel. */
DEVICE void copy_pixels(const uint8_t *from, uint8_t *to, const pixel_range &r, int channels) {
    if (r.whole) {
        size_t first = r.first / PIXELS * (size_t)channels;
        for (size_t i = first; i < first + (size_t)channels; i++)
            reinterpret_cast<uint32_t *>(to)[i] =
                __ldg(reinterpret_cast<const uint32_t *>(from) + i);
        return;
    }
    for (size_t i = r.first * (size_t)channels; i < r.end * (size_t)channels; i++)
        to[i] = from[i];
}

/* Whether words can be read and written there, of a picture as wide as the launch. */
static bool in_words(const void *from, const void *to, int width, int launched) {
    return ((uintptr_t)from | (uintptr_t)to) % sizeof(uint32_t) == 0 && width == launched;
}

static dim3 pixel_blocks(size_t count) {
    return dim3((unsigned)((count + PIXELS * THREADS - 1) / (PIXELS * THREADS)));
}

DEVICE uint32_t weighted_grey(uint32_t colour) {
    return __dp4a(colour, 77u | 150u << 8 | 29u << 16, 128u) >> 8; /* grey_level() */
}

/* Makes grey of a picture in colour, which this thread may have written. */
DEVICE void store_grey(const uint8_t *picture, uint8_t *out, const pixel_range &r) {
    if (!r.whole) {
        for (size_t i = r.first; i < r.end; i++)
            out[i] = grey_level(picture + 3 * i, 3);
        return;
    }
    const uint32_t *w = reinterpret_cast<const uint32_t *>(picture + 3 * r.first);
    *reinterpret_cast<uint32_t *>(out + r.first) =
        weighted_grey(w[0]) | weighted_grey(byte_permute(w[0], w[1], 0x543)) << 8 |
        weighted_grey(byte_permute(w[1], w[2], 0x432)) << 16 | weighted_grey(w[2] >> 8) << 24;
}

/* Whether there is nothing to do, so that the picture is copied: most have no blocks of JPEG, and
 * the rows of a good rig match as they are. Called by whole warps. */
DEVICE bool is_copied(const deblock_args &a) {
    return block_strength(a.sums, a.width, a.height) == 0;
}

DEVICE bool is_copied(const move_rows_args &a) {
    int lane = (int)(threadIdx.x % WARP_SIZE);
    static_assert(ROW_CELLS * ROW_CELLS <= (int)WARP_SIZE, "a lane for each cell");
    return !__any_sync(ALL_LANES, lane < ROW_CELLS * ROW_CELLS && a.offset[lane] != 0);
}

DEVICE void run_stage(const deblock_args &a, int x, int y) {
    stage_deblock(&a, x, y);
}

DEVICE void run_stage(const move_rows_args &a, int x, int y) {
    stage_move_rows(&a, x, y);
}

/* grey: with that of the picture, which has colours; or null. */
template <typename Args>
static __global__ void __launch_bounds__(THREADS)
    copying_kernel(const __grid_constant__ Args a, uint8_t *grey) {
    wait_for_previous_kernel();
    pixel_range r = range_of_thread((size_t)a.width * (size_t)a.height);
    bool copied = is_copied(a);
    if (copied)
        copy_pixels(a.source, a.out, r, a.channels);
    for (size_t i = r.first; i < r.end && !copied; i++)
        run_stage(a, (int)((uint32_t)i % (uint32_t)a.width),
                  (int)((uint32_t)i / (uint32_t)a.width));
    if (grey)
        store_grey(copied ? a.source : a.out, grey, r);
}

template <typename Args>
static void launch_words(backend_cuda *cuda, const Args *a, uint8_t *grey) {
    launch_dependent(cuda, copying_kernel<Args>, pixel_blocks((size_t)a->width * (size_t)a->height),
                     dim3(THREADS), *a, grey);
}

template <typename Args>
static void launch_copying(backend_cuda *cuda, stage stage, const void *args, int width,
                           int height) {
    const Args *a = static_cast<const Args *>(args);
    if (in_words(a->source, a->out, a->width, width) && a->height == height)
        launch_words(cuda, a, nullptr);
    else
        cuda->plain[stage](cuda, args, width, height);
}

/* a: null where the unit has none. */
template <typename Args>
static int launch_with_grey(backend_cuda *cuda, const Args *a, const grey_args *grey) {
    if (!a || !grey || grey->source != a->out || grey->channels != 3 ||
        !in_words(a->source, a->out, a->width, grey->width) || (uintptr_t)grey->out % PIXELS)
        return 0;
    launch_words(cuda, a, grey->out);
    return 2;
}

void cuda_launch_deblock(backend_cuda *cuda, const void *args, int width, int height) {
    launch_copying<deblock_args>(cuda, STAGE_deblock, args, width, height);
}

void cuda_launch_move_rows(backend_cuda *cuda, const void *args, int width, int height) {
    launch_copying<move_rows_args>(cuda, STAGE_move_rows, args, width, height);
}

int cuda_unit_grey(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    const grey_args *grey = cuda_args<grey_args>(g, unit, STAGE_grey, slot);
    int done = launch_with_grey(cuda, cuda_args<deblock_args>(g, unit, STAGE_deblock, slot), grey);
    return done ? done
                : launch_with_grey(cuda, cuda_args<move_rows_args>(g, unit, STAGE_move_rows, slot),
                                   grey);
}

/* ---- colours with ten bits for each channel, so that sums of them do not carry into the next */

#define EACH_CHANNEL 0x00100401u
#define ABOVE_ALL (512 * EACH_CHANNEL)

template <int CHANNELS> DEVICE uint32_t spread_colour(const uint8_t *picture, size_t i) {
    const uint8_t *p = picture + i * CHANNELS;
    return CHANNELS == 1 ? __ldg(p)
                         : __ldg(p) | (uint32_t)__ldg(p + 1) << 10 | (uint32_t)__ldg(p + 2) << 20;
}

/* The colours of which no channel differs from one colour's by more than step, -1 to 255. */
struct colour_range {
    uint32_t above, below;
};

DEVICE colour_range colours_around(uint32_t colour, int step) {
    uint32_t all = (uint32_t)(512 + step) * EACH_CHANNEL;
    return {all + colour, all - colour};
}

DEVICE bool holds(const colour_range &r, uint32_t colour) {
    return ((r.above - colour) & (r.below + colour) & ABOVE_ALL) == ABOVE_ALL;
}

/* ---- edges: a thread goes down a column, so that each edge is looked at once */

enum { EDGE_ROWS = 8 };

DEVICE uint32_t class_between(const edges_args &a, uint32_t p, uint32_t q) {
    if (!holds(colours_around(p, a.step[1] - 1), q))
        return 2;
    return !holds(colours_around(p, a.step[0] - 1), q);
}

template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    edges_kernel(const __grid_constant__ edges_args a) {
    wait_for_previous_kernel();
    int x = (int)(blockIdx.x * BLOCK_WIDTH + threadIdx.x), lane = (int)threadIdx.x,
        y = EDGE_ROWS * (int)(blockIdx.y * BLOCK_HEIGHT + threadIdx.y),
        end = min(y + EDGE_ROWS, a.height), column = min(x, a.width - 1);
    if (y >= end)
        return;
    auto colour = [&](int px, int py) {
        return spread_colour<CHANNELS>(a.image, (size_t)py * (size_t)a.width + (size_t)px);
    };
    uint32_t own = colour(column, y), up = y > 0 ? class_between(a, own, colour(column, y - 1)) : 0;
    for (; y < end; y++) {
        uint32_t beside = __shfl_down_sync(ALL_LANES, own, 1);
        if (lane == WARP_SIZE - 1)
            beside = colour(min(x + 1, a.width - 1), y);
        uint32_t right = x + 1 < a.width ? class_between(a, own, beside) : 0,
                 left = __shfl_up_sync(ALL_LANES, right, 1);
        if (lane == 0)
            left = x > 0 ? class_between(a, own, colour(column - 1, y)) : 0;
        uint32_t below = own, down = 0;
        if (y + 1 < a.height) {
            below = colour(column, y + 1);
            down = class_between(a, own, below);
        }
        if (x < a.width)
            a.out[(size_t)y * (size_t)a.width + (size_t)x] =
                (uint8_t)(up << 2 * UP | down << 2 * DOWN | left << 2 * LEFT | right << 2 * RIGHT);
        up = down;
        own = below;
    }
}

void cuda_launch_edges(backend_cuda *cuda, const void *args, int width, int height) {
    const edges_args *a = static_cast<const edges_args *>(args);
    if (a->mean_square || stage_max(a->step[0], a->step[1]) > 256)
        cuda->plain[STAGE_edges](cuda, args, width, height);
    else
        launch_dependent(cuda, a->channels == 3 ? edges_kernel<3> : edges_kernel<1>,
                         cuda_blocks(width, BLOCK_WIDTH, height, EDGE_ROWS * BLOCK_HEIGHT),
                         dim3(BLOCK_WIDTH, BLOCK_HEIGHT), *a);
}

/* ---- arms: a block's colours and those that its arms may reach lie in shared memory; a thread has
 * four pixels of a row */

enum { ARMS_WIDTH = 64, ARMS_HEIGHT = 16, MAX_ARMS_TILE = 48 << 10, AT_ONCE = 4 };
static_assert(ARMS_WIDTH / PIXELS * ARMS_HEIGHT == THREADS, "a thread for each four pixels");

/* The colours of a block, with so many more on each side as arms look at. */
struct arms_tile {
    int beside, above, columns, rows;
};

/* In place of colours outside of the picture: no range holds it. */
#define NO_COLOUR (511 * EACH_CHANNEL)

/* How far four pixels can go by steps of hop, at most so long: their arms get it, from bit shift
 * on. They look at AT_ONCE colours each before they ask whether any goes on. */
DEVICE void go_on(const uint32_t *pixel, int hop, int longest, const colour_range range[PIXELS],
                  int shift, uint32_t arms[PIXELS]) {
    uint32_t missed[PIXELS] = {}, length[PIXELS] = {};
    bool goes = true;
    for (int n = 0; n < longest && goes; n += AT_ONCE) {
        goes = false;
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            pixel += hop;
#pragma unroll
            for (int j = 0; j < PIXELS; j++) {
                uint32_t colour = pixel[j];
                missed[j] |= ~((range[j].above - colour) & (range[j].below + colour));
                length[j] += (missed[j] & ABOVE_ALL) == 0;
            }
        }
#pragma unroll
        for (int j = 0; j < PIXELS; j++)
            goes |= (missed[j] & ABOVE_ALL) == 0;
    }
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        arms[j] |= min(length[j], (uint32_t)longest) << shift;
}

template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    arms_kernel(const __grid_constant__ arms_args a, arms_tile t) {
    DYNAMIC_SHARED(uint4, memory);
    uint32_t *tile = reinterpret_cast<uint32_t *>(memory);
    wait_for_previous_kernel();
    int left = (int)blockIdx.x * ARMS_WIDTH, top = (int)blockIdx.y * ARMS_HEIGHT;
    for (int r = (int)threadIdx.y; r < t.rows; r += BLOCK_HEIGHT) {
        int y = top - t.above + r, inside = stage_clamp(y, 0, a.height - 1);
        for (int c = (int)threadIdx.x; c < t.columns; c += BLOCK_WIDTH) {
            int x = left - t.beside + c;
            uint32_t colour = spread_colour<CHANNELS>(
                a.image, (size_t)inside * (size_t)a.width + (size_t)stage_clamp(x, 0, a.width - 1));
            tile[r * t.columns + c] = y == inside && x >= 0 && x < a.width ? colour : NO_COLOUR;
        }
    }
    int step = min(arm_step(&a), 255), thread = (int)(threadIdx.y * BLOCK_WIDTH + threadIdx.x),
        i = thread % (ARMS_WIDTH / PIXELS) * PIXELS, j = thread / (ARMS_WIDTH / PIXELS);
    __syncthreads();
    const uint32_t *pixel = tile + (j + t.above) * t.columns + i + t.beside;
    colour_range range[PIXELS];
    uint32_t arms[PIXELS] = {};
#pragma unroll
    for (int k = 0; k < PIXELS; k++)
        range[k] = colours_around(pixel[k], step);
    go_on(pixel, -t.columns, a.longest_y, range, 8 * UP, arms);
    go_on(pixel, t.columns, a.longest_y, range, 8 * DOWN, arms);
    go_on(pixel, -1, a.longest_x, range, 8 * LEFT, arms);
    go_on(pixel, 1, a.longest_x, range, 8 * RIGHT, arms);
    uint32_t *out = reinterpret_cast<uint32_t *>(a.out) + (size_t)(top + j) * (size_t)a.width +
                    (size_t)(left + i);
#pragma unroll
    for (int k = 0; k < PIXELS; k++)
        if (top + j < a.height && left + i + k < a.width)
            out[k] = arms[k];
}

static int whole_steps(int longest) {
    return (longest + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
}

void cuda_launch_arms(backend_cuda *cuda, const void *args, int width, int height) {
    const arms_args *a = static_cast<const arms_args *>(args);
    arms_tile t = {whole_steps(a->longest_x), whole_steps(a->longest_y)};
    t.columns = ARMS_WIDTH + 2 * t.beside;
    t.rows = ARMS_HEIGHT + 2 * t.above;
    size_t shared = sizeof(uint32_t) * (size_t)(t.columns * t.rows);
    if (shared > MAX_ARMS_TILE)
        cuda->plain[STAGE_arms](cuda, args, width, height);
    else
        launch_with_memory(cuda, a->channels == 3 ? arms_kernel<3> : arms_kernel<1>,
                           cuda_blocks(width, ARMS_WIDTH, height, ARMS_HEIGHT),
                           dim3(BLOCK_WIDTH, BLOCK_HEIGHT), shared, *a, t);
}
