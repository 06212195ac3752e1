/*
 * Belief propagation by tiles optimised for CUDA. A warp sends messages along a
 * row or a column in one direction; each of its lanes has N pairs of labels, of 16 bits. A block
 * has a tile, in shared memory where that is large enough.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_u16x2.h"

enum { MAX_WARPS = 32, PAIRS = MAX_LABELS / 2 / WARP_SIZE };
static const uint32_t NO_LABELS = NO_LABEL * 0x10001u;

/* Whether a lane needs no more than one pair of labels, else it has PAIRS. */
static bool has_one_pair(const smoothing &s) {
    return s.grid.padded <= 2 * WARP_SIZE;
}

/* How many pairs of labels V reaches beyond a pair. */
STAGE int reach_of(const smoothing &s) {
    int steps = 0;
    for (int i = 0; i < 4; i++)
        steps = stage_max(steps, s.steps[i]);
    return (steps + 1) / 2;
}

/* A warp's shared memory: a word for each pair of labels, and those that are none on both sides. */
STAGE int room_words(const smoothing &s) {
    return s.grid.padded / 2 + 2 * reach_of(s);
}

DEVICE int warp_of(void) {
    return (int)threadIdx.x / WARP_SIZE;
}

DEVICE int lane_of(void) {
    return (int)threadIdx.x % WARP_SIZE;
}

DEVICE int warps(void) {
    return (int)blockDim.x / WARP_SIZE;
}

/* A lane has the labels from first + more[j] on, two at a time; lanes for which none are left
 * repeat the last two. */
template <int N> struct lane {
    uint32_t *room; /* the warp's, from the first pair on */
    int reach, first, more[N];
    uint32_t fresh; /* of 256, the share of a new message */
};

template <int N> DEVICE lane<N> lane_with_room(const smoothing &s, uint4 *shared) {
    int words = room_words(s), last = s.grid.padded - 2;
    lane<N> own = {reinterpret_cast<uint32_t *>(shared) + warp_of() * words, reach_of(s)};
    for (int i = lane_of(); i < words; i += WARP_SIZE)
        own.room[i] = NO_LABELS;
    own.room += own.reach;
    own.fresh = 256 - (uint32_t)s.damping;
    own.first = min(2 * lane_of(), last);
#pragma unroll
    for (int j = 0; j < N; j++)
        own.more[j] = min(2 * (lane_of() + j * WARP_SIZE), last) - own.first;
    return own;
}

DEVICE uint32_t pair_of(const uint8_t *message) {
    return byte_permute(*reinterpret_cast<const uint16_t *>(message), 0, 0x4140);
}

DEVICE uint8_t *messages(const area &a, int r) {
    if (r == LEFT || r == RIGHT)
        return r == LEFT ? a.message[LEFT] : a.message[RIGHT];
    return r == UP ? a.message[UP] : a.message[DOWN];
}

/* min(h, min over |k| <= steps of h(l + k) + V(k)) of a lane's pairs. */
template <int N>
DEVICE void smooth_steps(const smoothing &s, const lane<N> &own, int edge_class, uint32_t *h) {
    const uint8_t *v = s.smoothness + (size_t)edge_class * MAX_LABELS;
    int steps = s.steps[edge_class];
    uint32_t *room = own.room + own.first / 2;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < N; j++)
        room[own.more[j] / 2] = h[j];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < N; j++) {
        const uint32_t *below = room + own.more[j] / 2, *above = below;
        uint32_t lower = h[j], upper = h[j];
#pragma unroll 1
        for (int k = 1; k <= steps; k += 2) { /* two steps by the next pair on each side */
            uint32_t odd = u16x2_min(byte_permute(*--below, lower, 0x5432),
                                     byte_permute(upper, *++above, 0x5432));
            lower = *below;
            upper = *above;
            h[j] = u16x2_add_min(odd, u16x2_broadcast(v[k]), h[j]);
            if (k < steps)
                h[j] = u16x2_add_min(u16x2_min(lower, upper), u16x2_broadcast(v[k + 1]), h[j]);
        }
    }
}

/* area_send() of count pixels in direction r, from (x, y) on, that of the first one to out. Returns
 * whether one of the lane's labels changed. */
template <int N>
DEVICE uint32_t send(const smoothing &s, const area &a, const lane<N> &own, int x, int y, int r,
                     int count, uint8_t *out) {
    int forward = r == UP || r == LEFT ? -1 : 1, row = r == LEFT || r == RIGHT;
    const uint8_t *one = messages(a, r ^ 2), *other = messages(a, r ^ 3), *classes = s.smoothness;
    size_t at = area_labels(&s, &a, x, y) + (size_t)own.first;
    ptrdiff_t step = (ptrdiff_t)forward * (row ? 1 : a.width) * s.grid.padded, class_step = 0;
    if (s.classes) { /* else all are V(0), which is 0 */
        classes = s.classes + (size_t)(a.y + y) * (size_t)s.grid.width + (size_t)(a.x + x);
        class_step = (ptrdiff_t)forward * (row ? 1 : s.grid.width);
    }
    uint32_t behind[N], old[N], h[N], differs = 0;
#pragma unroll
    for (int j = 0; j < N; j++)
        behind[j] = pair_of(messages(a, r) + at + own.more[j]);
    out += own.first;
    for (; count > 0; count--, at += (size_t)step, out += step, classes += class_step) {
        int edge_class = *classes >> (2 * r) & 3;
        uint32_t least = NO_LABELS, largest = u16x2_broadcast(s.largest[edge_class]);
#pragma unroll
        for (int j = 0; j < N; j++) {
            size_t i = at + (size_t)own.more[j];
            h[j] = *reinterpret_cast<const uint32_t *>(a.cost + i) + pair_of(one + i) +
                   pair_of(other + i) + behind[j];
            old[j] = pair_of(out + own.more[j]);
            least = u16x2_min(least, h[j]);
        }
        least = warp_min(u16x2_min(least, byte_permute(least, 0, 0x1032)));
        if (own.reach)
            smooth_steps<N>(s, own, edge_class, h);
#pragma unroll
        for (int j = 0; j < N; j++) {
            uint32_t mixed = (uint32_t)s.damping * old[j] + u16x2_broadcast(128) +
                             own.fresh * (u16x2_add_min(least, largest, h[j]) - least);
            behind[j] = odd_labels(mixed);
            differs |= behind[j] ^ old[j];
            *reinterpret_cast<uint16_t *>(out + own.more[j]) =
                (uint16_t)byte_permute(mixed, 0, 0x4431);
        }
    }
    return differs;
}

/* Half of area_row() or area_column(): line i / 2 in one direction. */
template <int N>
DEVICE void send_line(const smoothing &s, const area &a, const lane<N> &own, int i, int rows) {
    int last = (rows ? a.width : a.height) - 1, from = i % 2 ? 0 : last;
    int r = (rows ? LEFT : UP) + i % 2, to = i % 2 ? 1 : last - 1;
    size_t out = rows ? area_labels(&s, &a, to, i / 2) : area_labels(&s, &a, i / 2, to);
    if (last > 0)
        send<N>(s, a, own, rows ? from : i / 2, rows ? i / 2 : from, r, last, messages(a, r) + out);
}

/* Costs, no messages but those that enter: stage_tiles() up to its sweeps. */
static __device__ void fill_tile(const tiles_args &a, const area &t, int tile) {
    int padded = a.smoothing.grid.padded, x, y;
    for (int p = warp_of(); p < t.width * t.height; p += warps())
        for (int l = lane_of(), i = p * padded + l; l < padded; l += WARP_SIZE, i += WARP_SIZE) {
            t.cost[i] = NO_LABEL;
            if (l < a.smoothing.grid.labels)
                t.cost[i] =
                    (int16_t)label_cost_at(&a.source, t.x + p % t.width, t.y + p / t.width, l);
            for (int d = 0; d < DIRECTIONS; d++)
                t.message[d][i] = 0;
        }
    __syncthreads();
    for (int d = 0; d < DIRECTIONS; d++)
        for (int i = warp_of(); i < border_length(&t, d); i += warps()) {
            size_t from = ((size_t)tile * (size_t)a.tiling.size + (size_t)i) * (size_t)padded;
            border_pixel(&t, opposite(d), i, &x, &y);
            uint8_t *to = t.message[d] + area_labels(&a.smoothing, &t, x, y);
            for (int l = lane_of(); l < padded; l += WARP_SIZE)
                to[l] = a.tiling.entering[d][from + (size_t)l];
        }
    __syncthreads();
}

/* area_wta() by a warp; belief has room for all. */
static __device__ void warp_wta(const tiles_args &a, const area &t, int x, int y, int16_t *belief) {
    const smoothing &s = a.smoothing;
    size_t own = area_labels(&s, &t, x, y);
    int least = INT32_MAX;
    __syncwarp();
    for (int l = lane_of(); l < s.grid.labels; l += WARP_SIZE) {
        belief[l] = area_belief(&t, own + (size_t)l);
        least = min(least, belief[l] << 16 | l);
    }
    least = warp_min(least);
    int best = least & 0xffff, second = (least >> 16) + 255;
    for (int l = lane_of(); l < s.grid.labels; l += WARP_SIZE)
        if (l < best - 1 || l > best + 1)
            second = min(second, (int)belief[l]);
    second = warp_min(second);
    __syncwarp();
    if (lane_of() == 0)
        area_put(&s, &t, x, y, belief, best, second, &a.out);
}

/* tile_at: where the tile lies in shared memory, behind the warps' rooms; not SHARED: in its
 * scratch. */
template <int N, bool SHARED>
static __global__ void __launch_bounds__(WARP_SIZE *MAX_WARPS)
    tiles_kernel(const __grid_constant__ tiles_args a, size_t tile_at) {
    DYNAMIC_SHARED(uint4, memory);
    wait_for_previous_kernel();
    const smoothing &s = a.smoothing;
    int column = a.column + (int)blockIdx.x, row = a.diagonal - column;
    int tile = row * a.tiling.columns + column;
    uint32_t sent = 0;
    uint8_t *changed = a.tiling.changed + (size_t)tile * TILE_FLAGS;
    if (tile_is_unchanged(changed))
        return;
    lane<N> own = lane_with_room<N>(s, memory);
    uint8_t *in_memory = a.scratch + (size_t)blockIdx.x * tile_bytes(a.tiling.size, s.grid.padded);
    area t = tile_area(&a, column, row,
                       SHARED ? reinterpret_cast<uint8_t *>(memory) + tile_at : in_memory);
    fill_tile(a, t, tile);
    for (int k = 0; k < 2 * a.iterations; k++) {
        for (int i = warp_of(); i < 2 * (k % 2 ? t.width : t.height); i += warps())
            send_line<N>(s, t, own, i, k % 2 == 0);
        __syncthreads();
    }
    for (int d = 0; d < DIRECTIONS; d++) {
        int next = tile_next(&a.tiling, column, row, d), x, y;
        size_t to = (size_t)next * (size_t)a.tiling.size;
        uint32_t differs = 0;
        for (int i = warp_of(); i < border_length(&t, d) && next >= 0; i += warps()) {
            border_pixel(&t, d, i, &x, &y);
            differs |= send<N>(s, t, own, x, y, d, 1,
                               a.tiling.entering[d] + (to + (size_t)i) * (size_t)s.grid.padded);
        }
        differs = __syncthreads_count(differs != 0) != 0;
        if (differs && threadIdx.x == 0)
            a.tiling.changed[(size_t)next * TILE_FLAGS + (size_t)d] = 1;
        if (threadIdx.x == 0)
            changed[d] = 0;
        sent |= differs;
    }
    if (threadIdx.x == 0)
        changed[DIRECTIONS] = (uint8_t)sent;
    for (int p = warp_of(); p < t.width * t.height; p += warps())
        warp_wta(a, t, p % t.width, p / t.width, reinterpret_cast<int16_t *>(own.room));
}

/* A warp has a row or column in one direction, as far as there are so many. */
void cuda_launch_tiles(backend_cuda *cuda, const void *args, int, int count) {
    const tiles_args *a = static_cast<const tiles_args *>(args);
    const smoothing &s = a->smoothing;
    int count_of_warps = stage_min(2 * a->tiling.size, MAX_WARPS);
    size_t rooms = (size_t)(count_of_warps * room_words(s)) * sizeof(uint32_t);
    size_t tile_at = (rooms + 15) / 16 * 16;
    size_t with_tile = tile_at + tile_bytes(a->tiling.size, s.grid.padded);
    bool fits = with_tile <= cuda->max_shared;
    auto kernel = fits ? tiles_kernel<PAIRS, true> : tiles_kernel<PAIRS, false>;
    if (has_one_pair(s))
        kernel = fits ? tiles_kernel<1, true> : tiles_kernel<1, false>;
    size_t shared = fits ? with_tile : rooms;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    launch_with_memory(cuda, kernel, dim3((unsigned)count),
                       dim3((unsigned)(WARP_SIZE * count_of_warps)), shared, *a, tile_at);
}
