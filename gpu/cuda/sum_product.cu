/*
 * Half-steps of sum-product optimised for CUDA, for V that is a function of the difference of at
 * most 128 labels. A warp has the 16 pixels of a block: each thread two neighbouring lanes, one in
 * each half of a word, and every fourth of their labels, in registers.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_u16x2.h"

enum { PAIRS = SUM_LANES / 2, GROUPS = WARP_SIZE / PAIRS, WARPS = 4 };

DEVICE uint32_t u16x2_max(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    return __vmaxu2(a, b);
#else
    return ~u16x2_min(~a, ~b);
#endif
}

/* Means, rounded up. */
DEVICE uint32_t u16x2_mean(uint32_t a, uint32_t b) {
    return (a | b) - ((a ^ b) >> 1 & 0x7fff7fff);
}

/* The upper halves of two words. */
DEVICE uint32_t upper_halves(uint32_t low, uint32_t high) {
    return byte_permute(low, high, 0x7632);
}

/* The shifts with which each half has 16 bits. */
struct shifts {
    int low, high;
};

/* Of the largest of all labels, which the groups have parts of. */
DEVICE uint32_t largest_of_groups(uint32_t largest) {
#pragma unroll
    for (int mask = PAIRS; mask < WARP_SIZE; mask *= 2)
        largest = u16x2_max(largest, __shfl_xor_sync(ALL_LANES, largest, mask));
    return largest;
}

DEVICE shifts shifts_of(uint32_t largest) {
    return {__clz((int)(largest << 16)), __clz((int)largest)};
}

DEVICE uint32_t shift_halves(uint32_t v, shifts s) {
    return (v & 0xffff) << s.low | (v & 0xffff0000) << s.high;
}

/* a b, at least 1, where a lacks its shifts. */
DEVICE uint32_t multiply(uint32_t a, shifts s, uint32_t b) {
    uint32_t low = (a & 0xffff) * (b & 0xffff) << s.low, high = (a >> 16) * (b >> 16) << s.high;
    return u16x2_max(upper_halves(low, high), 0x10001);
}

/* v = v b, and the largest of a pair's labels. */
template <int N> DEVICE uint32_t multiply_all(uint32_t (&v)[N], shifts s, const uint32_t (&b)[N]) {
    uint32_t largest = 0x10001;
#pragma unroll
    for (int j = 0; j < N; j++) {
        v[j] = multiply(v[j], s, b[j]);
        largest = u16x2_max(largest, v[j]);
    }
    return largest_of_groups(largest);
}

/* Which pixels and labels a thread has: every GROUPS-th from group on. */
struct place {
    int pair, group, labels;
    size_t own;     /* where the pair begins, in volumes */
    bool low, high; /* whether the pixels exist */
};

DEVICE uint32_t load_pair(const uint16_t *from) {
    return *reinterpret_cast<const uint32_t *>(from);
}

/* Label j of a thread; 0 where there is none, and from NULL where it comes from outside. */
template <bool FULL> DEVICE uint32_t load_label(const place &p, const uint16_t *from, int j) {
    int l = GROUPS * j + p.group;
    return !FULL && l >= p.labels ? 0 : from ? load_pair(from + l * SUM_LANES) : 0xffffffff;
}

template <int N, bool FULL>
DEVICE void load_labels(const place &p, const uint16_t *from, uint32_t (&v)[N]) {
#pragma unroll
    for (int j = 0; j < N; j++)
        v[j] = load_label<FULL>(p, from, j);
}

/* The same of the lanes one lower or one higher; beside: where the first or last pair finds the
 * pair that it takes a lane of. */
template <int N, bool FULL>
DEVICE void load_shifted(const place &p, const uint16_t *from, const uint16_t *beside, bool lower,
                         uint32_t (&v)[N]) {
    bool border = p.pair == (lower ? 0 : PAIRS - 1);
    int neighbour = (int)threadIdx.x + (lower ? -1 : 1);
#pragma unroll
    for (int j = 0; j < N; j++) {
        uint32_t here = load_label<FULL>(p, from, j),
                 next = __shfl_sync(ALL_LANES, here, neighbour & (WARP_SIZE - 1));
        if (border)
            next = load_label<FULL>(p, beside, j);
        v[j] = lower ? __funnelshift_l(next, here, 16) : __funnelshift_l(here, next, 16);
    }
}

/* What comes from the sides. */
template <int N, bool FULL>
DEVICE void load_sides(const sum_message_args &a, const place &p, int b, int y, uint32_t (&left)[N],
                       uint32_t (&right)[N]) {
    bool lower = ((y + a.parity) & 1) == 0; /* the left neighbour is one column lower */
    size_t here = sum_place(&a.grid, !a.parity, b * SUM_LANES + 2 * p.pair, y);
    if (lower) {
        size_t beside = sum_place(&a.grid, !a.parity, b * SUM_LANES - 2, y);
        load_shifted<N, FULL>(p, a.message[RIGHT] + here, b ? a.message[RIGHT] + beside : nullptr,
                              true, left);
        load_labels<N, FULL>(p, a.message[LEFT] + here, right);
    } else {
        size_t beside = sum_place(&a.grid, !a.parity, (b + 1) * SUM_LANES, y);
        load_shifted<N, FULL>(p, a.message[LEFT] + here,
                              b + 1 < a.grid.blocks ? a.message[LEFT] + beside : nullptr, false,
                              right);
        load_labels<N, FULL>(p, a.message[RIGHT] + here, left);
    }
}

/* The kernel of a pixel's edge. */
struct half_kernel {
    bool is_free;
    int steps;
    uint64_t rest;
    const uint16_t *values;
};

DEVICE half_kernel read_kernel(const sum_message_args &a, uint32_t number) {
    const sum_kernel *k = a.kernel + number;
    bool is_free = k->kind == SUM_FREE;
    return {is_free, is_free ? 0 : k->steps, k->rest, a.values + (is_free ? 0 : k->values)};
}

DEVICE uint32_t value_of(const half_kernel &k, int d) {
    return k.is_free || d > k.steps ? 0 : k.values[d];
}

/* What a message has for each label, of the sum of the product. */
DEVICE uint32_t rest_of(const half_kernel &k, uint32_t sum) {
    return k.is_free ? UINT16_MAX : (uint32_t)(sum * k.rest >> 32) & UINT16_MAX;
}

/* v value / 2^16 of each half. */
DEVICE uint32_t scaled(uint32_t v, uint32_t low, uint32_t high) {
    return upper_halves((v & 0xffff) * low, (v >> 16) * high);
}

/* Sums of the labels of both pixels, in all groups. */
template <int N, bool FULL>
DEVICE void add_labels(const place &p, const uint32_t (&v)[N], uint32_t *low, uint32_t *high) {
    *low = *high = 0;
#pragma unroll
    for (int j = 0; j < N; j++) {
        uint32_t w = FULL || GROUPS * j + p.group < p.labels ? v[j] : 0;
        *low += w & 0xffff;
        *high += w >> 16;
    }
#pragma unroll
    for (int mask = PAIRS; mask < WARP_SIZE; mask *= 2) {
        *low += __shfl_xor_sync(ALL_LANES, *low, mask);
        *high += __shfl_xor_sync(ALL_LANES, *high, mask);
    }
}

/* Adds the labels at distances 1 to steps. h: the product, [label][pair]. */
template <int N>
DEVICE void add_steps(const place &p, const half_kernel (&k)[2], const uint32_t *h, int steps,
                      uint32_t (&v)[N]) {
    for (int d = 1; d <= steps; d++) {
        uint32_t low = value_of(k[0], d), high = value_of(k[1], d);
#pragma unroll
        for (int j = 0; j < N; j++) {
            int l = GROUPS * j + p.group;
            uint32_t below = l >= d ? h[(l - d) * PAIRS + p.pair] : 0,
                     above = l + d < p.labels ? h[(l + d) * PAIRS + p.pair] : 0;
            v[j] += scaled(u16x2_mean(below, above), low, high);
        }
    }
}

/* Sends a product, which lacks its shifts and has this largest label. h: memory of the warp. */
template <int N, bool FULL>
DEVICE void send(const place &p, const half_kernel (&k)[2], uint32_t (&v)[N], uint32_t largest,
                 uint32_t *h, uint16_t *to) {
    shifts s = shifts_of(largest);
    uint32_t low, high;
    add_labels<N, FULL>(p, v, &low, &high);
    uint32_t rest = rest_of(k[0], low << s.low) | rest_of(k[1], high << s.high) << 16;
    low = value_of(k[0], 0) << s.low;
    high = value_of(k[1], 0) << s.high;
    int steps = max(k[0].steps, k[1].steps);
    bool wide = __any_sync(ALL_LANES, steps > 0);
    if (wide) {
        __syncwarp(); /* the product before has been read */
#pragma unroll
        for (int j = 0; j < N; j++)
            h[(GROUPS * j + p.group) * PAIRS + p.pair] = shift_halves(v[j], s);
        __syncwarp();
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        v[j] = rest + scaled(v[j], low, high);
    largest = u16x2_max(rest + scaled(largest, low, high), 0x10001);
    if (wide) { /* else the product is largest at the same label */
        add_steps(p, k, h, steps, v);
        largest = 0x10001;
#pragma unroll
        for (int j = 0; j < N; j++)
            largest = u16x2_max(largest, FULL || GROUPS * j + p.group < p.labels ? v[j] : 0);
        largest = largest_of_groups(largest);
    }
    s = shifts_of(largest);
#pragma unroll
    for (int j = 0; j < N; j++) {
        int l = GROUPS * j + p.group;
        uint32_t out = shift_halves(u16x2_max(v[j], 0x10001), s);
        uint16_t *at = to + p.own + l * SUM_LANES;
        if (p.high && (FULL || l < p.labels))
            *reinterpret_cast<uint32_t *>(at) = out;
        else if (p.low && (FULL || l < p.labels))
            *at = (uint16_t)out;
    }
}

template <int N, bool FULL>
static __global__ void __launch_bounds__(WARP_SIZE *WARPS)
    sum_message_kernel(const __grid_constant__ sum_message_args a) {
    __shared__ uint32_t memory[WARPS][GROUPS * N * PAIRS];
    wait_for_previous_kernel();
    const sum_grid &g = a.grid;
    int b = (int)(blockIdx.x * WARPS + threadIdx.y), y = (int)blockIdx.y, lane = (int)threadIdx.x,
        sender = !a.parity;
    if (b >= g.blocks)
        return;
    int i = b * SUM_LANES + 2 * (lane % PAIRS), x = grid_column(a.parity, i, y);
    place p = {lane % PAIRS, lane / PAIRS,   g.labels, sum_place(&g, a.parity, i, y),
               x < g.width,  x + 2 < g.width};
    uint32_t from[DIRECTIONS][N], with[2][N], h[N];
    load_labels<N, FULL>(p, y ? a.message[DOWN] + sum_place(&g, sender, i, y - 1) : nullptr,
                         from[UP]);
    load_labels<N, FULL>(
        p, y + 1 < g.height ? a.message[UP] + sum_place(&g, sender, i, y + 1) : nullptr,
        from[DOWN]);
    load_sides<N, FULL>(a, p, b, y, from[LEFT], from[RIGHT]);
    load_labels<N, FULL>(p, a.data + p.own, h);
    shifts s[2];
#pragma unroll
    for (int n = 0; n < 2; n++) {
#pragma unroll
        for (int j = 0; j < N; j++)
            with[n][j] = from[2 * n][j];
        s[n] = shifts_of(multiply_all(with[n], {0, 0}, from[2 * n + 1]));
        s[n] = shifts_of(multiply_all(with[n], s[n], h));
    }
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++) {
        int n = r < LEFT;
        uint32_t edges =
            load_pair(a.edge + (size_t)r * sum_slots(&g) + sum_pixel(&g, a.parity, i, y));
        half_kernel k[2] = {read_kernel(a, edges & 0xffff), read_kernel(a, edges >> 16)};
#pragma unroll
        for (int j = 0; j < N; j++)
            h[j] = with[n][j];
        uint32_t largest = multiply_all(h, s[n], from[r ^ 1]);
        send<N, FULL>(p, k, h, largest, memory[threadIdx.y], a.message[r]);
    }
}

template <int N> static void launch(backend_cuda *cuda, const sum_message_args *a) {
    dim3 grid = cuda_blocks(a->grid.blocks, WARPS, a->grid.height, 1), block(WARP_SIZE, WARPS);
    launch_dependent(cuda,
                     a->grid.labels == GROUPS * N ? sum_message_kernel<N, true>
                                                  : sum_message_kernel<N, false>,
                     grid, block, *a);
}

void cuda_launch_sum_message(backend_cuda *cuda, const void *args, int width, int height) {
    const sum_message_args *a = static_cast<const sum_message_args *>(args);
    int labels = a->grid.labels;
    if (labels > 128 || a->kinds & (1 << SUM_RECURSIVE | 1 << SUM_TABLE))
        cuda->plain[STAGE_sum_message](cuda, args, width, height);
    else if (labels <= 16)
        launch<4>(cuda, a);
    else if (labels <= 32)
        launch<8>(cuda, a);
    else if (labels <= 64)
        launch<16>(cuda, a);
    else
        launch<32>(cuda, a);
}
