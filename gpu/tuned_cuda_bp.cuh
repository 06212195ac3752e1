/*
 * Device functions of the tuned belief propagation: a group of padded / 16 threads of one warp holds one
 * message, 16 labels a thread (gpu/lanes.h), so that loads and stores are 16 bytes wide.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_TUNED_CUDA_BP_CUH
#define LIVESTEREO_TUNED_CUDA_BP_CUH

#include "gpu/lanes.h"
#include "gpu/stages.h"

enum { ALL_LANES = -1 };
#define WARP_MASK 0xffffffffu

/* One level for the kernels. in: what the receiving colour reads, the plane of one colour, or, when it
 * starts from its parents, the coarser level's whole arrays. out: a plane. */
struct bp_level {
    struct grid grid, coarse;
    const uint8_t *cost8;
    const uint16_t *cost16;
    const uint8_t *classes;
    const uint8_t *in[DIRECTIONS];
    uint8_t *out[DIRECTIONS];
    uint32_t rho, truncation; /* tables of four bytes */
    int colour;               /* of the pixels that send first */
    int silent;               /* in holds nothing yet: all messages are zero */
    int carry;                /* blocks that a carry travels */
    int group;                /* threads a message */
};

/* Which 16 labels of which pixel a thread has. */
struct place {
    int group, in_group, lane; /* threads a message, number among them, number in the warp */
    int first;                 /* label */
    int i, x, y;
    bool exists;
};

template <int GROUP> __device__ __forceinline__ place place_of(const bp_level &a, int colour) {
    place p;
    p.group = GROUP ? GROUP : a.group;
    p.lane = (int)threadIdx.x;
    int pixels = 32 / p.group, pixel = p.lane / p.group;
    p.in_group = p.lane - pixel * p.group;
    p.first = LABEL_BLOCK * p.in_group;
    p.i = ((int)blockIdx.x * (int)blockDim.y + (int)threadIdx.y) * pixels + pixel;
    p.y = (int)blockIdx.y * (int)blockDim.z + (int)threadIdx.z;
    p.x = grid_column(colour, p.i, p.y);
    p.exists = pixel < pixels && p.x < a.grid.width && p.y < a.grid.height;
    return p;
}

__device__ __forceinline__ label_words words_at(const uint8_t *from, bool exists) {
    uint4 w = make_uint4(0, 0, 0, 0);
    if (exists)
        w = __ldg(reinterpret_cast<const uint4 *>(from));
    label_words out = {{w.x, w.y, w.z, w.w}};
    return out;
}

/* Message that the pixel (x, y), number i of its colour in its row, sent in direction r. */
template <bool PARENT>
__device__ __forceinline__ label_words message_at(const bp_level &a, int r, int i, int x, int y, int first,
                                                  bool exists) {
    size_t at = PARENT ? grid_pixel(&a.coarse, x >> 1, y >> 1) : (size_t)y * (size_t)a.grid.half + (size_t)i;
    return words_at(a.in[r] + at * (size_t)a.grid.padded + first, exists && !a.silent);
}

template <bool WIDE>
__device__ __forceinline__ lanes cost_at(const bp_level &a, int x, int y, int first, bool exists) {
    size_t at = grid_labels(&a.grid, x, y) + (size_t)first;
    lanes out;
    if (WIDE) {
        const uint8_t *from = reinterpret_cast<const uint8_t *>(a.cost16 + at);
        label_words low = words_at(from, exists), high = words_at(from + 16, exists);
        uint32_t w[8] = {low.w[0], low.w[1], low.w[2], low.w[3], high.w[0], high.w[1], high.w[2], high.w[3]};
        lanes_of_shorts(w, &out);
    } else {
        label_words w = words_at(a.cost8 + at, exists);
        label_sums s;
        sums_start(&s, &w);
        sums_lanes(&s, &out);
    }
    return out;
}

/* rho and T of an edge, in both lanes. */
struct edge_weight {
    uint32_t rho, truncation;
};

__device__ __forceinline__ edge_weight weight_of(const bp_level &a, int classes, int direction) {
    int edge_class = classes >> (2 * direction) & 3;
    return {lanes_from_table(a.rho, edge_class), lanes_from_table(a.truncation, edge_class)};
}

__device__ __forceinline__ int classes_at(const bp_level &a, int x, int y, bool exists) {
    return a.classes && exists ? __ldg(a.classes + (size_t)y * (size_t)a.grid.width + (size_t)x) : 0;
}

/* The lane that is step (less than a group) further in the group, which counts as a ring. */
__device__ __forceinline__ int group_lane(const place &p, int step) {
    int other = p.in_group + step;
    return (p.lane - p.in_group + (other < p.group ? other : other - p.group)) & 31;
}

/* Minimum over a message, in both lanes. */
template <int GROUP> __device__ __forceinline__ uint32_t group_least(const place &p, uint32_t least) {
    least = lanes_min(least, __funnelshift_l(least, least, 16));
    if constexpr (GROUP > 0) {
#pragma unroll
        for (int step = 1; step < GROUP; step *= 2)
            least = lanes_min(least, __shfl_xor_sync(WARP_MASK, least, step));
    } else {
        for (int step = 1; step < p.group; step *= 2)
            least = lanes_min(least, __shfl_sync(WARP_MASK, least, group_lane(p, step)));
    }
    return least;
}

/* h becomes the message plus *least in every label (and at most *least + T). */
template <int GROUP>
__device__ __forceinline__ uint32_t convolve(const bp_level &a, const place &p, lanes *h, edge_weight weight) {
    if (a.grid.labels != a.grid.padded)
        lanes_pad(h, p.first, a.grid.labels);
    lanes slanted;
    uint32_t least = lanes_least(h), rho8 = 8 * weight.rho;
    block_ends ends = lanes_ends(h, weight.rho, &slanted);
    bool lowest = p.in_group == 0, highest = p.in_group == p.group - 1;
    uint32_t up = carry_up(__shfl_up_sync(WARP_MASK, ends.up, 1), ends.up, rho8, lowest);
    uint32_t down = carry_down(__shfl_down_sync(WARP_MASK, ends.down, 1), ends.down, rho8, highest);
    for (int n = 1; n < a.carry; n++) {
        up = lanes_min(up, carry_up(__shfl_up_sync(WARP_MASK, up, 1), up, rho8, lowest));
        down = lanes_min(down, carry_down(__shfl_down_sync(WARP_MASK, down, 1), down, rho8, highest));
    }
    least = group_least<GROUP>(p, least);
    lanes_sweep(&slanted, up, down, weight.rho, least + weight.truncation);
    *h = slanted;
    return least;
}

__device__ __forceinline__ void store_words(uint8_t *to, const label_words &w, bool exists) {
    if (exists)
        *reinterpret_cast<uint4 *>(to) = make_uint4(w.w[0], w.w[1], w.w[2], w.w[3]);
}

/* Message of p towards r out of h = its cost and the three other messages. */
template <int GROUP>
__device__ __forceinline__ void send(const bp_level &a, const place &p, int classes, int r, lanes h) {
    uint32_t least = convolve<GROUP>(a, p, &h, weight_of(a, classes, r));
    size_t at = ((size_t)p.y * (size_t)a.grid.half + (size_t)p.i) * (size_t)a.grid.padded + (size_t)p.first;
    store_words(a.out[r] + at, lanes_bytes(&h, least), p.exists);
}

/* All four messages of p out of its cost and what comes in from each direction. */
template <int GROUP>
__device__ __forceinline__ void send_all(const bp_level &a, const place &p, const lanes &cost,
                                         const lanes in[DIRECTIONS]) {
    int classes = classes_at(a, p.x, p.y, p.exists);
    lanes vertical = cost, horizontal = cost;
    lanes_add(&horizontal, &in[UP]);
    lanes_add(&horizontal, &in[DOWN]); /* for the messages to the left and right */
    lanes_add(&vertical, &in[LEFT]);
    lanes_add(&vertical, &in[RIGHT]);
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++) {
        lanes h = r == UP || r == DOWN ? vertical : horizontal;
        lanes_add(&h, &in[opposite(r)]);
        send<GROUP>(a, p, classes, r, h);
    }
}

__device__ __forceinline__ lanes lanes_of(const label_words &w) {
    lanes out;
    label_sums s;
    sums_start(&s, &w);
    sums_lanes(&s, &out);
    return out;
}

/* What p gets from its neighbour (x, y) in direction s, worked out from the neighbour's cost and from what
 * that got from its three other neighbours a, b, c. Outside the picture all of it is zero, and so is the
 * message. NORMAL subtracts its minimum; without, sums of three still fit their lanes at the finest level. */
template <bool WIDE, int GROUP, bool NORMAL>
__device__ __forceinline__ lanes receive(const bp_level &l, const place &p, int s, int x, int y, bool exists,
                                         const label_words &a, const label_words &b, const label_words &c) {
    label_sums sums;
    lanes h;
    sums_start(&sums, &a);
    sums_add(&sums, &b);
    sums_add(&sums, &c);
    if (WIDE) {
        sums_lanes(&sums, &h);
        lanes cost = cost_at<true>(l, x, y, p.first, exists);
        lanes_add(&h, &cost);
    } else {
        label_words cost = words_at(l.cost8 + grid_labels(&l.grid, x, y) + p.first, exists);
        sums_add(&sums, &cost);
        sums_lanes(&sums, &h);
    }
    uint32_t least = convolve<GROUP>(l, p, &h, weight_of(l, classes_at(l, x, y, exists), opposite(s)));
    if (NORMAL)
        lanes_subtract(&h, least);
    return h;
}

/* Everything p gets from its four neighbours after their half-step, out of p's own colour's messages. */
template <bool PARENT, bool WIDE, int GROUP, bool NORMAL>
__device__ __forceinline__ void receive_all(const bp_level &a, const place &p, lanes in[DIRECTIONS]) {
    int x = p.x, y = p.y, f = p.first, odd = x & 1;
    int left = p.i - 1 + odd, right = p.i + odd; /* numbers of columns x - 1 and x + 1 in the rows next to y */
    bool up = p.exists && y > 0, down = p.exists && y + 1 < a.grid.height;
    bool to_left = p.exists && x > 0, to_right = p.exists && x + 1 < a.grid.width;
    in[UP] = receive<WIDE, GROUP, NORMAL>(
        a, p, UP, x, y - 1, up, message_at<PARENT>(a, DOWN, p.i, x, y - 2, f, up && y > 1),
        message_at<PARENT>(a, RIGHT, left, x - 1, y - 1, f, up && to_left),
        message_at<PARENT>(a, LEFT, right, x + 1, y - 1, f, up && to_right));
    in[DOWN] = receive<WIDE, GROUP, NORMAL>(
        a, p, DOWN, x, y + 1, down,
        message_at<PARENT>(a, UP, p.i, x, y + 2, f, down && y + 2 < a.grid.height),
        message_at<PARENT>(a, RIGHT, left, x - 1, y + 1, f, down && to_left),
        message_at<PARENT>(a, LEFT, right, x + 1, y + 1, f, down && to_right));
    in[LEFT] = receive<WIDE, GROUP, NORMAL>(
        a, p, LEFT, x - 1, y, to_left, message_at<PARENT>(a, RIGHT, p.i - 1, x - 2, y, f, to_left && x > 1),
        message_at<PARENT>(a, DOWN, left, x - 1, y - 1, f, to_left && up),
        message_at<PARENT>(a, UP, left, x - 1, y + 1, f, to_left && down));
    in[RIGHT] = receive<WIDE, GROUP, NORMAL>(
        a, p, RIGHT, x + 1, y, to_right,
        message_at<PARENT>(a, LEFT, p.i + 1, x + 2, y, f, to_right && x + 2 < a.grid.width),
        message_at<PARENT>(a, DOWN, right, x + 1, y - 1, f, to_right && up),
        message_at<PARENT>(a, UP, right, x + 1, y + 1, f, to_right && down));
}

/* What p gets from its four neighbours as it lies in memory. */
template <bool PARENT>
__device__ __forceinline__ void read_all(const bp_level &a, const place &p, lanes in[DIRECTIONS]) {
    int x = p.x, y = p.y, f = p.first, odd = x & 1;
    in[UP] = lanes_of(message_at<PARENT>(a, DOWN, p.i, x, y - 1, f, p.exists && y > 0));
    in[DOWN] = lanes_of(message_at<PARENT>(a, UP, p.i, x, y + 1, f, p.exists && y + 1 < a.grid.height));
    in[LEFT] = lanes_of(message_at<PARENT>(a, RIGHT, p.i - 1 + odd, x - 1, y, f, p.exists && x > 0));
    in[RIGHT] = lanes_of(
        message_at<PARENT>(a, LEFT, p.i + odd, x + 1, y, f, p.exists && x + 1 < a.grid.width));
}

#endif
