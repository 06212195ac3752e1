/*
 * Belief propagation by rows, columns and tiles optimised for CUDA. A warp goes along a row or a
 * column, its lanes share the labels; a block has a tile, in shared memory where that is large
 * enough.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"

enum { LINE_WARPS = 8, MAX_WARPS = 32 };

/* A warp's shared memory for h of one message: all labels and the most steps on both sides. */
struct room {
    int steps, entries;
};

static room room_of(const smoothing &s) {
    int steps = 0;
    for (int i = 0; i < 4; i++)
        steps = stage_max(steps, s.steps[i]);
    return {steps, (s.grid.padded + 2 * steps + 1) / 2 * 2};
}

static size_t room_bytes(const room &r, int warps) {
    return (size_t)warps * sizeof(int16_t) * (size_t)r.entries;
}

DEVICE int warp_of(void) {
    return (int)threadIdx.x / WARP_SIZE;
}

DEVICE int warps(void) {
    return (int)blockDim.x / WARP_SIZE;
}

DEVICE int16_t *room_of_warp(int16_t *shared, const room &r) {
    return shared + warp_of() * r.entries + r.steps;
}

/* area_send() by a warp. The first barrier makes visible what its lanes wrote before. Returns
 * whether one of the lane's labels changed. */
static __device__ int warp_send(const smoothing &s, const area &a, int x, int y, int r,
                                uint8_t *out, int16_t *h) {
    int lane = (int)threadIdx.x % WARP_SIZE, padded = s.grid.padded, labels = s.grid.labels;
    size_t own = area_labels(&s, &a, x, y);
    int bits = s.classes ? s.classes[(size_t)(a.y + y) * s.grid.width + a.x + x] : 0;
    int edge_class = bits >> (2 * r) & 3, steps = s.steps[edge_class];
    const uint8_t *table = s.smoothness + (size_t)edge_class * MAX_LABELS;
    const uint8_t *in[3];
    int minimum = NO_LABEL, differs = 0;
#pragma unroll
    for (int i = 0; i < 3; i++)
        in[i] = a.message[i < opposite(r) ? i : i + 1] + own;
    __syncwarp();
    for (int l = lane - steps; l < padded + steps; l += WARP_SIZE) {
        int v = NO_LABEL;
        if (l >= 0 && l < labels)
            v = a.cost[own + l] + in[0][l] + in[1][l] + in[2][l];
        h[l] = (int16_t)v;
        minimum = min(minimum, v);
    }
    minimum = warp_min(minimum);
    __syncwarp();
    int largest = minimum + s.largest[edge_class];
    for (int l = lane; l < padded; l += WARP_SIZE) {
        int m = min((int)h[l], largest);
        for (int k = 1; k <= steps; k++)
            m = min(m, min((int)h[l - k], (int)h[l + k]) + table[k]);
        int mixed = (s.damping * out[l] + (256 - s.damping) * (m - minimum) + 128) >> 8;
        differs |= mixed ^ out[l];
        out[l] = (uint8_t)mixed;
    }
    return differs;
}

/* area_row() and area_column() by a warp. */
static __device__ void warp_row(const smoothing &s, const area &a, int y, int16_t *h) {
    for (int x = 0; x + 1 < a.width; x++)
        warp_send(s, a, x, y, RIGHT, a.message[RIGHT] + area_labels(&s, &a, x + 1, y), h);
    for (int x = a.width - 1; x > 0; x--)
        warp_send(s, a, x, y, LEFT, a.message[LEFT] + area_labels(&s, &a, x - 1, y), h);
}

static __device__ void warp_column(const smoothing &s, const area &a, int x, int16_t *h) {
    for (int y = 0; y + 1 < a.height; y++)
        warp_send(s, a, x, y, DOWN, a.message[DOWN] + area_labels(&s, &a, x, y + 1), h);
    for (int y = a.height - 1; y > 0; y--)
        warp_send(s, a, x, y, UP, a.message[UP] + area_labels(&s, &a, x, y - 1), h);
}

static __global__ void __launch_bounds__(WARP_SIZE *LINE_WARPS)
    lines_kernel(const __grid_constant__ area_args a, const room r, int rows, int count) {
    extern __shared__ uint4 memory[];
    int16_t *h = room_of_warp(reinterpret_cast<int16_t *>(memory), r);
    int line = (int)blockIdx.x * LINE_WARPS + warp_of();
    if (line >= count)
        return;
    area whole = area_of(&a, rows);
    if (rows)
        warp_row(a.smoothing, whole, line, h);
    else
        warp_column(a.smoothing, whole, line, h);
}

static void launch_lines(backend_cuda *cuda, const void *args, int rows, int count) {
    const area_args *a = static_cast<const area_args *>(args);
    room r = room_of(a->smoothing);
    unsigned blocks = ((unsigned)count + LINE_WARPS - 1) / LINE_WARPS;
    lines_kernel<<<blocks, WARP_SIZE * LINE_WARPS, room_bytes(r, LINE_WARPS), cuda->stream>>>(
        *a, r, rows, count);
}

void cuda_launch_rows(backend_cuda *cuda, const void *args, int, int height) {
    launch_lines(cuda, args, 1, height);
}

void cuda_launch_columns(backend_cuda *cuda, const void *args, int, int height) {
    launch_lines(cuda, args, 0, height);
}

/* Costs, no messages but those that enter: stage_tiles() up to its sweeps. */
static __device__ void fill_tile(const tiles_args &a, const area &t, int tile) {
    const smoothing &s = a.smoothing;
    int padded = s.grid.padded, pixels = t.width * t.height;
    for (int i = (int)threadIdx.x; i < pixels; i += (int)blockDim.x)
        label_costs(&a.source, t.x + i % t.width, t.y + i / t.width,
                    t.cost + (size_t)i * (size_t)padded);
    for (int d = 0; d < DIRECTIONS; d++)
        for (int i = (int)threadIdx.x; i < pixels * padded; i += (int)blockDim.x)
            t.message[d][i] = 0;
    __syncthreads();
    for (int d = 0; d < DIRECTIONS; d++) {
        const uint8_t *from =
            a.tiling.entering[d] + (size_t)tile * (size_t)a.tiling.size * (size_t)padded;
        for (int i = (int)threadIdx.x; i < border_length(&t, d) * padded; i += (int)blockDim.x) {
            int x, y;
            border_pixel(&t, opposite(d), i / padded, &x, &y);
            t.message[d][area_labels(&s, &t, x, y) + (size_t)(i % padded)] = from[i];
        }
    }
    __syncthreads();
}

/* Whether a message that leaves towards tile number next changed; the same for all threads. */
static __device__ int leave_tile(const tiles_args &a, const area &t, int r, int next, int16_t *h) {
    size_t padded = (size_t)a.smoothing.grid.padded;
    uint8_t *to = a.tiling.entering[r] + (size_t)next * (size_t)a.tiling.size * padded;
    int differs = 0;
    for (int i = warp_of(); i < border_length(&t, r) && next >= 0; i += warps()) {
        int x, y;
        border_pixel(&t, r, i, &x, &y);
        differs |= warp_send(a.smoothing, t, x, y, r, to + (size_t)i * padded, h);
    }
    return __syncthreads_or(differs);
}

static __global__ void __launch_bounds__(WARP_SIZE *MAX_WARPS)
    tiles_kernel(const __grid_constant__ tiles_args a, const room r, size_t tile_at) {
    extern __shared__ uint4 memory[];
    int16_t *h = room_of_warp(reinterpret_cast<int16_t *>(memory), r);
    const smoothing &s = a.smoothing;
    int column = a.column + (int)blockIdx.x, row = a.diagonal - column;
    int tile = row * a.tiling.columns + column, sent = 0;
    uint8_t *changed = a.tiling.changed + (size_t)tile * TILE_FLAGS;
    if (tile_is_unchanged(changed))
        return;
    uint8_t *own = a.scratch + (size_t)blockIdx.x * tile_bytes(a.tiling.size, s.grid.padded);
    area t =
        tile_area(&a, column, row, tile_at ? reinterpret_cast<uint8_t *>(memory) + tile_at : own);
    fill_tile(a, t, tile);
    for (int k = 0; k < a.iterations; k++) {
        for (int y = warp_of(); y < t.height; y += warps())
            warp_row(s, t, y, h);
        __syncthreads();
        for (int x = warp_of(); x < t.width; x += warps())
            warp_column(s, t, x, h);
        __syncthreads();
    }
    for (int d = 0; d < DIRECTIONS; d++) {
        int next = tile_next(&a.tiling, column, row, d);
        int differs = leave_tile(a, t, d, next, h);
        if (differs && threadIdx.x == 0)
            a.tiling.changed[(size_t)next * TILE_FLAGS + (size_t)d] = 1;
        if (threadIdx.x == 0)
            changed[d] = 0;
        sent |= differs;
    }
    if (threadIdx.x == 0)
        changed[DIRECTIONS] = (uint8_t)(sent != 0);
    for (int i = (int)threadIdx.x; i < t.width * t.height; i += (int)blockDim.x)
        area_wta(&s, &t, i % t.width, i / t.width, &a.out);
}

/* A warp has a row or column, as far as there are so many. tile_at: where the tile lies in shared
 * memory, behind the warps' rooms; 0: in its scratch. */
void cuda_launch_tiles(backend_cuda *cuda, const void *args, int, int count) {
    const tiles_args *a = static_cast<const tiles_args *>(args);
    room r = room_of(a->smoothing);
    int count_of_warps = stage_min(a->tiling.size, MAX_WARPS);
    size_t shared = room_bytes(r, count_of_warps), tile_at = (shared + 15) / 16 * 16;
    size_t with_tile = tile_at + tile_bytes(a->tiling.size, a->smoothing.grid.padded);
    if (with_tile <= cuda->max_shared)
        shared = with_tile;
    else
        tile_at = 0;
    cudaFuncSetAttribute(tiles_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    tiles_kernel<<<(unsigned)count, WARP_SIZE *(unsigned)count_of_warps, shared, cuda->stream>>>(
        *a, r, tile_at);
}
