/*
 * Device functions of the optimised belief propagation: a group of padded / 16 threads of one warp
 * holds one message, 16 labels a thread (gpu/cuda/packed_u16x2.h), so that loads and stores are 16
 * bytes wide.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CUDA_BP_CUH
#define LIVESTEREO_CUDA_BP_CUH

#include "gpu/cuda/backend_cuda.h"
#include "gpu/cuda/packed_u16x2.h"
#include "gpu/stages/stages.h"

/* One level. A plane holds the messages to the pixels of one parity. in: the plane that the
 * receiving parity reads or, where it starts from its parents, the coarser level's whole arrays.
 * out: a plane. */
struct bp_level {
    struct grid grid, coarse;
    const uint8_t *cost8;
    const uint16_t *cost16;
    const uint8_t *classes;
    const uint8_t *in[DIRECTIONS];
    uint8_t *out[DIRECTIONS];
    uint32_t rho, truncation;           /* tables of four bytes */
    int parity;                         /* of the pixels that send first */
    int upwards;                        /* rows from the last one on */
    int no_messages;                    /* in is not set yet: all messages are zero */
    int carry;                          /* blocks that a carry travels */
    int group;                          /* threads a message */
    ptrdiff_t row;                      /* labels in a row of a plane */
    size_t plane;                       /* labels in a plane */
    uint32_t rho_both, truncation_both; /* first entries of the tables in both lanes */
};

/* A level's numbers without the planes, of a half-step or of any kernel; the launch shape. */
bp_level bp_level_of(const struct message_args *m);
bp_level bp_level_of_grid(const struct grid *grid);
dim3 bp_block();
dim3 bp_grid(const bp_level *a);

/* Kernels of their own for 16, 64, 128 and 256 labels (1, 4, 8, 16 threads a message), each without
 * edge classes, with these (EDGES 1), and with carries that travel further than one block, too (2);
 * number 0 does everything. */
enum { BP_KERNELS = 13 };
int bp_kernel_for(const struct backend_cuda *cuda, const bp_level *a);

#define BY_EDGES(group, ...) __VA_ARGS__ group, 0 >, __VA_ARGS__ group, 1 >, __VA_ARGS__ group, 2 >
#define BP_KERNELS_OF(...)                                                      \
    {                                                                           \
        __VA_ARGS__ 0, 1 >, BY_EDGES(1, __VA_ARGS__), BY_EDGES(4, __VA_ARGS__), \
            BY_EDGES(8, __VA_ARGS__), BY_EDGES(16, __VA_ARGS__)                 \
    }

/* Kernels that know no edges, by the number of the level's kernels. */
#define BY_GROUP(...) \
    { __VA_ARGS__ 0 >, __VA_ARGS__ 1 >, __VA_ARGS__ 4 >, __VA_ARGS__ 8 >, __VA_ARGS__ 16 > }
inline int bp_group_number(int kernel) {
    return (kernel + 2) / 3;
}

/* Older GPUs have the general kernels alone: less to compile, and they are bound by their
 * arithmetic. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define LEFT_OUT(group) ((group) > 0)
#else
#define LEFT_OUT(group) false
#endif

/* 24 warps on a multiprocessor: fewer hide less latency, more would spill registers. */
#define BP_BOUNDS __launch_bounds__(256, 3)

/* Messages are read from the plane of parity in and written to that of parity out, whichever
 * parity they belong to. Kernels that alternate between the planes go down and up, so that each
 * begins with what the one before left in the second cache. */
void bp_choose_planes(bp_level *a, uint8_t *const message[DIRECTIONS], int in, int out);

/* The kernels of a level from its start on: all but the last of count (at least two) half-steps, in
 * pairs, a single one first where that is an odd number. The parity that does not send last ends
 * with its messages in its own plane; until then the kernels alternate between both planes. */
struct level_kernel {
    bool single;
    int out, parity; /* the plane written to; what sends first */
};

inline int level_kernels(int count) {
    return count / 2;
}

inline level_kernel level_kernel_of(int count, int k) {
    bool single = k == 0 && count % 2 == 0;
    int keeper = count & 1, out = (level_kernels(count) - 1 - k) & 1 ? !keeper : keeper;
    return {single, out, single ? 0 : !keeper};
}

/* A half-step of all tiles. */
void bp_launch_half_step(struct backend_cuda *cuda, const struct message_args *m);

/* To the neighbour in a direction. */
DEVICE int step_x(int direction) {
    return (direction == RIGHT) - (direction == LEFT);
}

DEVICE int step_y(int direction) {
    return (direction == DOWN) - (direction == UP);
}

/* Which 16 labels of which pixel a thread has. */
struct work_item {
    int group, in_group, lane; /* threads a message, number among them, number in the warp */
    int first;                 /* label */
    int i, x, y;
    size_t at; /* of its first label in the plane of its parity */
    bool exists;
};

/* DIRECTED: a pixel has a group of threads for each direction. */
template <int GROUP, bool DIRECTED = false>
DEVICE work_item work_item_of(const bp_level &a, int parity) {
    work_item p;
    p.group = GROUP ? GROUP : a.group;
    p.lane = (int)threadIdx.x;
    int of_pixel = DIRECTED ? DIRECTIONS * p.group : p.group, pixels = WARP_SIZE / of_pixel,
        pixel = p.lane / of_pixel;
    int block = a.upwards ? (int)(gridDim.y - 1 - blockIdx.y) : (int)blockIdx.y;
    p.in_group = (p.lane - pixel * of_pixel) % p.group;
    p.first = LABEL_BLOCK * p.in_group;
    p.i = ((int)blockIdx.x * (int)blockDim.y + (int)threadIdx.y) * pixels + pixel;
    p.y = block * (int)blockDim.z + (int)threadIdx.z;
    p.x = grid_column(parity, p.i, p.y);
    p.at =
        ((size_t)p.y * (size_t)a.grid.half + (size_t)p.i) * (size_t)a.grid.padded + (size_t)p.first;
    p.exists = pixel < pixels && p.x < a.grid.width && p.y < a.grid.height;
    return p;
}

/* Whether, for all pixels of the warp, there are messages and all neighbours within reach exist (1:
 * the neighbours; 2: also theirs). Then no load needs a test. Most warps are of this kind. */
DEVICE bool all_inside(const bp_level &a, const work_item &p, int reach) {
    bool inside = p.exists && p.x >= reach && p.x + reach < a.grid.width && p.y >= reach &&
                  p.y + reach < a.grid.height;
    return __all_sync(ALL_LANES, inside) && !a.no_messages;
}

/* 16 bytes, or zeros where there is no such pixel. INSIDE: the warp knows that there is. */
template <bool INSIDE> DEVICE label_words words_at(const uint8_t *from, bool exists) {
    label_words out;
    if (INSIDE) {
        uint4 w = __ldg(reinterpret_cast<const uint4 *>(from));
        return {{w.x, w.y, w.z, w.w}};
    }
#ifdef __CUDA_ARCH__
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %5, 0;\n\t"
                 "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\tmov.b32 %2, 0;\n\tmov.b32 %3, 0;\n\t"
                 "@p ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];\n\t}"
                 : "=&r"(out.w[0]), "=&r"(out.w[1]), "=&r"(out.w[2]), "=&r"(out.w[3])
                 : "l"(from), "r"((int)exists));
#else /* the kernel runs on a processor */
    out = exists ? *reinterpret_cast<const label_words *>(from) : label_words{};
#endif
    return out;
}

/* Message that the pixel (x + dx, y + dy) sent in direction r; di is how far its number in its
 * row is from p's. */
template <bool INSIDE, bool PARENT>
DEVICE label_words message_at(const bp_level &a, const work_item &p, int r, int di, int dx, int dy,
                              bool exists) {
    const uint8_t *from = a.in[r];
    if (PARENT)
        from += grid_labels(&a.coarse, (p.x + dx) >> 1, (p.y + dy) >> 1) + (size_t)p.first;
    else
        from += p.at + (ptrdiff_t)dy * a.row + (ptrdiff_t)(di * a.grid.padded);
    return words_at<INSIDE>(from, exists && !a.no_messages);
}

/* Where the cost of a pixel of this parity is: the one with p's number plus di in row y + dy. */
DEVICE size_t cost_place(const bp_level &a, const work_item &p, int parity, int di, int dy) {
    return (size_t)parity * a.plane + p.at + (ptrdiff_t)dy * a.row +
           (ptrdiff_t)(di * a.grid.padded);
}

template <bool INSIDE>
DEVICE packed_labels wide_cost_at(const bp_level &a, size_t at, bool exists) {
    const uint8_t *from = reinterpret_cast<const uint8_t *>(a.cost16 + at);
    label_words low = words_at<INSIDE>(from, exists), high = words_at<INSIDE>(from + 16, exists);
    uint32_t w[8] = {low.w[0],  low.w[1],  low.w[2],  low.w[3],
                     high.w[0], high.w[1], high.w[2], high.w[3]};
    packed_labels out;
    packed_from_u16(w, &out);
    return out;
}

DEVICE packed_labels packed_of(const label_words &w) {
    packed_labels out;
    packed_from_bytes(&w, &out);
    return out;
}

/* p's own cost. */
template <bool INSIDE, bool WIDE>
DEVICE packed_labels cost_of(const bp_level &a, const work_item &p, int parity) {
    size_t at = cost_place(a, p, parity, 0, 0);
    if (WIDE)
        return wide_cost_at<INSIDE>(a, at, p.exists);
    return packed_of(words_at<INSIDE>(a.cost8 + at, p.exists));
}

/* rho and T of an edge, in both lanes. */
struct edge_weight {
    uint32_t rho, truncation;
};

/* EDGES: whether there are classes; without, the first entries of the tables hold. */
template <int EDGES> DEVICE edge_weight weight_of(const bp_level &a, int classes, int direction) {
    if (!EDGES)
        return {a.rho_both, a.truncation_both};
    int edge_class = classes >> (2 * direction) & 3;
    return {u16x2_from_table(a.rho, edge_class), u16x2_from_table(a.truncation, edge_class)};
}

template <int EDGES> DEVICE int classes_at(const bp_level &a, int x, int y, bool exists) {
    if (!EDGES)
        return 0;
    return a.classes && exists ? __ldg(a.classes + (size_t)y * (size_t)a.grid.width + (size_t)x)
                               : 0;
}

/* The lane that is step (less than a group) further in the group, which counts as a ring. */
DEVICE int group_lane(const work_item &p, int step) {
    int other = p.in_group + step;
    return (p.lane - p.in_group + (other < p.group ? other : other - p.group)) & 31;
}

/* Minimum over a message, in both lanes. */
template <int GROUP> DEVICE uint32_t group_minimum(const work_item &p, uint32_t minimum) {
    minimum = u16x2_min(minimum, __funnelshift_l(minimum, minimum, 16));
    if constexpr (GROUP > 0) {
#pragma unroll
        for (int step = 1; step < GROUP; step *= 2)
            minimum = u16x2_min(minimum, __shfl_xor_sync(ALL_LANES, minimum, step));
    } else {
        for (int step = 1; step < p.group; step *= 2)
            minimum = u16x2_min(minimum, __shfl_sync(ALL_LANES, minimum, group_lane(p, step)));
    }
    return minimum;
}

/* h becomes the message plus *least in every label (and at most *least + T). Kernels of a
 * group's own (GROUP > 0) know that there are no padding labels, and how far carries travel. */
template <int GROUP, int EDGES>
DEVICE uint32_t convolve(const bp_level &a, const work_item &p, packed_labels *h,
                         edge_weight weight) {
    if (!GROUP && a.grid.labels != a.grid.padded)
        packed_pad(h, p.first, a.grid.labels);
    uint32_t minimum = packed_minimum(h);
    packed_labels slanted;
    block_ends ends = packed_ends(h, weight.rho, &slanted);
    uint32_t lowest = p.in_group == 0 ? 0xffff0000u : ~0u;
    uint32_t highest = p.in_group == p.group - 1 ? 0xffffu : ~0u;
    uint32_t up = carry_up(__shfl_up_sync(ALL_LANES, ends.up, 1), ends.up, lowest);
    uint32_t down = carry_down(__shfl_down_sync(ALL_LANES, ends.down, 1), ends.down, highest);
#pragma unroll 1
    for (int n = 1; (!GROUP || EDGES > 1) && n < a.carry; n++) {
        uint32_t before = __shfl_up_sync(ALL_LANES, up, 1),
                 after = __shfl_down_sync(ALL_LANES, down, 1), rho8 = 8 * weight.rho;
        up = u16x2_add_min(carry_up(before, up, lowest), rho8, up);
        down = u16x2_add_min(carry_down(after, down, highest), rho8, down);
    }
    minimum = group_minimum<GROUP>(p, minimum);
    packed_sweep(&slanted, up, down, weight.rho, minimum + weight.truncation);
    *h = slanted;
    return minimum;
}

DEVICE void store_words(uint8_t *to, const label_words &w, bool exists) {
    if (exists)
        *reinterpret_cast<uint4 *>(to) = make_uint4(w.w[0], w.w[1], w.w[2], w.w[3]);
}

/* Calls send(r, h) for each direction r with the sum h of a pixel's cost and of what comes in from
 * the three others. */
template <typename SEND>
DEVICE void send_sums(const packed_labels &cost, const packed_labels in[DIRECTIONS], SEND send) {
    packed_labels vertical = cost, horizontal = cost;
    packed_add(&horizontal, &in[UP]);
    packed_add(&horizontal, &in[DOWN]); /* for the messages to the left and right */
    packed_add(&vertical, &in[LEFT]);
    packed_add(&vertical, &in[RIGHT]);
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++) {
        packed_labels h = r == UP || r == DOWN ? vertical : horizontal;
        packed_add(&h, &in[opposite(r)]);
        send(r, h);
    }
}

/* All four messages of p out of its cost and what comes in from each direction. */
template <int GROUP, int EDGES>
DEVICE void send_all(const bp_level &a, const work_item &p, const packed_labels &cost,
                     const packed_labels in[DIRECTIONS]) {
    int classes = classes_at<EDGES>(a, p.x, p.y, p.exists);
    send_sums(cost, in, [&](int r, packed_labels h) {
        uint32_t minimum = convolve<GROUP, EDGES>(a, p, &h, weight_of<EDGES>(a, classes, r));
        store_words(a.out[r] + p.at, packed_to_bytes(&h, minimum), p.exists);
    });
}

/* The message to p from its neighbour (x + dx, y + dy) in direction s, worked out from the
 * neighbour's cost and from what that got from its three other neighbours, one, two and three.
 * Outside the picture all of it is zero, and so is the message. The finest level does not
 * subtract the minimum: sums of three still fit their lanes. */
template <bool INSIDE, bool WIDE, int GROUP, int EDGES>
DEVICE packed_labels receive(const bp_level &a, const work_item &p, int s, int di, int dx, int dy,
                             bool exists, const label_words &one, const label_words &two,
                             const label_words &three) {
    size_t at = cost_place(a, p, a.parity, di, dy);
    label_sums sums;
    packed_labels h;
    sums_start(&sums, &one);
    sums_add(&sums, &two);
    sums_add(&sums, &three);
    if (WIDE) {
        sums_to_packed(&sums, &h);
        packed_labels cost = wide_cost_at<INSIDE>(a, at, exists);
        packed_add(&h, &cost);
    } else {
        label_words cost = words_at<INSIDE>(a.cost8 + at, exists);
        sums_add(&sums, &cost);
        sums_to_packed(&sums, &h);
    }
    int classes = classes_at<EDGES>(a, p.x + dx, p.y + dy, exists);
    uint32_t minimum = convolve<GROUP, EDGES>(a, p, &h, weight_of<EDGES>(a, classes, opposite(s)));
    if (WIDE)
        packed_subtract(&h, minimum);
    return h;
}

/* Everything that p gets from its four neighbours after their half-step, computed from the messages
 * to pixels of p's own parity. */
template <bool INSIDE, bool PARENT, bool WIDE, int GROUP, int EDGES>
DEVICE void receive_all(const bp_level &a, const work_item &p, packed_labels in[DIRECTIONS]) {
    int odd = p.x & 1, left = odd - 1,
        right = odd; /* where columns x - 1 and x + 1 are in their rows */
    bool up = p.exists && p.y > 0, down = p.exists && p.y + 1 < a.grid.height;
    bool to_left = p.exists && p.x > 0, to_right = p.exists && p.x + 1 < a.grid.width;
    in[UP] = receive<INSIDE, WIDE, GROUP, EDGES>(
        a, p, UP, 0, 0, -1, up, message_at<INSIDE, PARENT>(a, p, DOWN, 0, 0, -2, up && p.y > 1),
        message_at<INSIDE, PARENT>(a, p, RIGHT, left, -1, -1, up && to_left),
        message_at<INSIDE, PARENT>(a, p, LEFT, right, 1, -1, up && to_right));
    in[DOWN] = receive<INSIDE, WIDE, GROUP, EDGES>(
        a, p, DOWN, 0, 0, 1, down,
        message_at<INSIDE, PARENT>(a, p, UP, 0, 0, 2, down && p.y + 2 < a.grid.height),
        message_at<INSIDE, PARENT>(a, p, RIGHT, left, -1, 1, down && to_left),
        message_at<INSIDE, PARENT>(a, p, LEFT, right, 1, 1, down && to_right));
    in[LEFT] = receive<INSIDE, WIDE, GROUP, EDGES>(
        a, p, LEFT, left, -1, 0, to_left,
        message_at<INSIDE, PARENT>(a, p, RIGHT, -1, -2, 0, to_left && p.x > 1),
        message_at<INSIDE, PARENT>(a, p, DOWN, left, -1, -1, to_left && up),
        message_at<INSIDE, PARENT>(a, p, UP, left, -1, 1, to_left && down));
    in[RIGHT] = receive<INSIDE, WIDE, GROUP, EDGES>(
        a, p, RIGHT, right, 1, 0, to_right,
        message_at<INSIDE, PARENT>(a, p, LEFT, 1, 2, 0, to_right && p.x + 2 < a.grid.width),
        message_at<INSIDE, PARENT>(a, p, DOWN, right, 1, -1, to_right && up),
        message_at<INSIDE, PARENT>(a, p, UP, right, 1, 1, to_right && down));
}

/* The messages to p from its four neighbours as they lie in memory. */
template <bool INSIDE, bool PARENT>
DEVICE void words_all(const bp_level &a, const work_item &p, label_words in[DIRECTIONS]) {
    int odd = p.x & 1;
    in[UP] = message_at<INSIDE, PARENT>(a, p, DOWN, 0, 0, -1, p.exists && p.y > 0);
    in[DOWN] = message_at<INSIDE, PARENT>(a, p, UP, 0, 0, 1, p.exists && p.y + 1 < a.grid.height);
    in[LEFT] = message_at<INSIDE, PARENT>(a, p, RIGHT, odd - 1, -1, 0, p.exists && p.x > 0);
    in[RIGHT] =
        message_at<INSIDE, PARENT>(a, p, LEFT, odd, 1, 0, p.exists && p.x + 1 < a.grid.width);
}

template <bool INSIDE, bool PARENT>
DEVICE void read_all(const bp_level &a, const work_item &p, packed_labels in[DIRECTIONS]) {
    label_words words[DIRECTIONS];
    words_all<INSIDE, PARENT>(a, p, words);
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        in[r] = packed_of(words[r]);
}

/* Cost and messages as they lie in memory, added; the finest level. */
template <bool INSIDE>
DEVICE packed_labels belief_in_memory(const bp_level &a, const work_item &p, int parity) {
    label_words cost = words_at<INSIDE>(a.cost8 + cost_place(a, p, parity, 0, 0), p.exists),
                in[DIRECTIONS];
    words_all<INSIDE, false>(a, p, in);
    label_sums sums;
    packed_labels belief;
    sums_start(&sums, &cost);
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        sums_add(&sums, &in[r]);
    sums_to_packed(&sums, &belief);
    return belief;
}

#endif
