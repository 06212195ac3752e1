/*
 * Belief propagation among the labels that tiles keep, see gpu/stages/pruning.h. A warp has the 32
 * pixels of one parity that lie in one tile of the finest level, or in four tiles of the next one.
 * It looks at them in passes, a group of 1, 2 or 4 threads for each pixel: as many as the tiles
 * keep blocks, one thread for each block of labels.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/wta.cuh"
#include "gpu/fusion.h"

#include <cstring>

/* A level. Where in[] are the messages of the level above: parents. */
enum pruned_source { OWN_MESSAGES, PRUNED_PARENTS, PARENTS };

struct pruned_level {
    struct grid grid, coarse;
    const uint8_t *cost8;
    const uint16_t *cost16;
    const uint8_t *classes;
    const uint32_t *kept; /* the bytes of a tile in a word */
    const uint8_t *in[DIRECTIONS];
    uint8_t *out[DIRECTIONS];
    uint32_t rho, truncation;   /* tables of four bytes */
    size_t block, coarse_block; /* labels from one block of a message to the next */
    size_t plane, in_plane,
        out_plane;     /* labels of a parity; where that read, that written begins */
    int columns, rows; /* tiles */
    int small_tiles;   /* 4x4 px, of the second finest level */
    int parity;        /* of the pixels looked at */
    int carry;         /* blocks of 8 labels that a carry travels */
};

/* A pixel and a block of its labels. */
struct pruned_item {
    int x, y;
    uint32_t kept;
    int k, block;              /* number among those kept; which one it is */
    bool exists, below, above; /* whether the labels below and above are kept as well */
};

enum { TILE_WARPS_X = 4, TILE_WARPS_Y = 2 };

/* The number of a block among those that a tile keeps, -1 if it is not. */
DEVICE int kept_number(uint32_t kept, int block) {
    uint32_t equal = __vcmpeq4(kept, 0x01010101u * (uint32_t)block);
    return equal ? (__ffs((int)equal) - 1) >> 3 : -1;
}

DEVICE uint32_t kept_in(const pruned_level &a, int x, int y) {
    int shift = a.small_tiles ? 2 : 3;
    return __ldg(a.kept + (size_t)(y >> shift) * (size_t)a.columns + (size_t)(x >> shift));
}

/* The place of pixel j of the warp. */
DEVICE void warp_pixel(const pruned_level &a, int parity, int j, int *x, int *y) {
    int tile_x = (int)blockIdx.x * TILE_WARPS_X + (int)(threadIdx.y % TILE_WARPS_X),
        tile_y = (int)blockIdx.y * TILE_WARPS_Y + (int)(threadIdx.y / TILE_WARPS_X), i;
    if (a.small_tiles) {
        *y = 4 * tile_y + (j >> 1 & 3);
        i = 8 * tile_x + 2 * (j >> 3) + (j & 1);
    } else {
        *y = 8 * tile_y + (j >> 2);
        i = 4 * tile_x + (j & 3);
    }
    *x = grid_column(parity, i, *y);
}

/* Whether, for all pixels of the warp, all others within reach (at most half a tile) exist and keep
 * the same blocks. Then no load needs a test, and no block has to be looked for. Most warps are of
 * this kind. */
DEVICE bool all_alike(const pruned_level &a, int parity, int reach) {
    int x, y;
    warp_pixel(a, parity, (int)threadIdx.x, &x, &y);
    bool alike = x >= reach && y >= reach && x + reach < a.grid.width && y + reach < a.grid.height;
    if (alike) {
        uint32_t kept = kept_in(a, x, y);
        for (int corner = 0; corner < 4; corner++)
            alike &= kept == kept_in(a, x + (corner & 1 ? reach : -reach),
                                     y + (corner & 2 ? reach : -reach));
    }
    return __all_sync(ALL_LANES, alike);
}

/* log2 of the threads a pixel takes: as many as the tile that keeps most needs. AROUND: the tiles
 * of the neighbours, too. */
template <bool AROUND> DEVICE int warp_group(const pruned_level &a, int parity) {
    int x, y;
    warp_pixel(a, parity, (int)threadIdx.x, &x, &y);
    uint32_t second = 0, third = 0; /* bits of blocks that are kept */
    for (int r = AROUND ? 0 : DIRECTIONS; r <= DIRECTIONS; r++) {
        int qx = x + (r == RIGHT) - (r == LEFT), qy = y + (r == DOWN) - (r == UP);
        if (qx < 0 || qy < 0 || qx >= a.grid.width || qy >= a.grid.height)
            continue;
        uint32_t kept = ~kept_in(a, qx, qy);
        second |= kept >> 8 & 255;
        third |= kept >> 16 & 255;
    }
    return __any_sync(ALL_LANES, third) ? 2 : __any_sync(ALL_LANES, second) ? 1 : 0;
}

/* Block number k of a pixel, which may lie outside the picture. */
DEVICE pruned_item item_at(const pruned_level &a, int x, int y, int k) {
    pruned_item p;
    bool inside = x >= 0 && y >= 0 && x < a.grid.width && y < a.grid.height;
    p.x = inside ? x : 0;
    p.y = inside ? y : 0;
    p.k = k;
    p.kept = kept_in(a, p.x, p.y);
    p.block = (int)(p.kept >> 8 * k & 255);
    p.exists = inside && p.block != NOT_KEPT;
    p.block = p.exists ? p.block : 0;
    int before = k > 0 ? (int)(p.kept >> (8 * k - 8) & 255) : NOT_KEPT,
        after = k < 3 ? (int)(p.kept >> (8 * k + 8) & 255) : NOT_KEPT;
    p.below = p.exists && before + 1 == p.block;
    p.above = p.exists && p.block + 1 == after;
    return p;
}

DEVICE pruned_item pruned_item_of(const pruned_level &a, int parity, int pass, int log2_group) {
    int lane = (int)threadIdx.x, x, y;
    warp_pixel(a, parity, (pass << (5 - log2_group)) + (lane >> log2_group), &x, &y);
    return item_at(a, x, y, lane & ((1 << log2_group) - 1));
}

/* The first label of a pixel in the plane of a parity. */
DEVICE size_t place_in_plane(const pruned_level &a, int x, int y) {
    return ((size_t)y * (size_t)a.grid.half + (size_t)(x >> 1)) * LABEL_BLOCK;
}

/* Label 0 of the message that pixel (x, y) sends in direction r, of number k of the blocks kept. */
template <int SOURCE>
DEVICE const uint8_t *sent_by(const pruned_level &a, int x, int y, int r, uint32_t kept, int k) {
    if (SOURCE == OWN_MESSAGES)
        return a.in[r] + (size_t)k * a.block + a.in_plane + place_in_plane(a, x, y);
    size_t above = grid_pixel(&a.coarse, x >> 1, y >> 1);
    if (SOURCE == PRUNED_PARENTS)
        return a.in[r] + (size_t)k * a.coarse_block + above * LABEL_BLOCK;
    return a.in[r] + above * (size_t)a.coarse.padded + (size_t)(kept >> 8 * k & 255) * LABEL_BLOCK;
}

/* The labels of a block that is not kept, out of the messages of the label below it and of the one
 * above, in both lanes: U16X2_FAR where these are not kept. */
DEVICE packed_labels beside_of(uint32_t up, uint32_t down, edge_weight weight) {
    uint32_t rho = weight.rho & 0xffff;
    packed_labels m;
#pragma unroll
    for (uint32_t i = 0; i < PACKED_REGISTERS; i++)
        m.v[i] = u16x2_min3(weight.truncation, up + rho * (i + 1 + ((i + 9) << 16)),
                            down + rho * (16 - i + ((8 - i) << 16)));
    return m;
}

/* handed_label(), of all labels of a block that the neighbour (x, y) does not keep. rho and T in
 * both lanes. */
template <int SOURCE>
DEVICE packed_labels handed_beside(const pruned_level &a, int x, int y, int r, uint32_t kept,
                                   int block, edge_weight weight) {
    int before = block > 0 ? kept_number(kept, block - 1) : -1,
        after = kept_number(kept, block + 1);
    uint32_t up = U16X2_FAR, down = U16X2_FAR;
    if (before >= 0)
        up = u16x2_broadcast(sent_by<SOURCE>(a, x, y, r, kept, before)[LABEL_BLOCK - 1]);
    if (after >= 0)
        down = u16x2_broadcast(*sent_by<SOURCE>(a, x, y, r, kept, after));
    return beside_of(up, down, weight);
}

/* What p gets from its neighbour (x, y), which sends it in direction r. */
template <int SOURCE>
DEVICE packed_labels handed(const pruned_level &a, const pruned_item &p, int x, int y, int r,
                            bool exists, edge_weight weight) {
    exists = exists && p.exists;
    uint32_t kept = exists ? kept_in(a, x, y) : 0;
    int k = exists ? kept_number(kept, p.block) : -1;
    const uint8_t *from =
        k >= 0 ? sent_by<SOURCE>(a, x, y, r, kept, k) : a.in[r]; /* read if k >= 0 */
    packed_labels m = packed_of(words_at<false>(from, k >= 0));
    if (exists && k < 0)
        m = handed_beside<SOURCE>(a, x, y, r, kept, p.block, weight);
    return m;
}

template <bool EDGES> DEVICE edge_weight pruned_weight(const pruned_level &a, int classes, int r) {
    int edge_class = EDGES ? classes >> (2 * r) & 3 : 0;
    return {u16x2_from_table(a.rho, edge_class), u16x2_from_table(a.truncation, edge_class)};
}

template <bool EDGES> DEVICE int pruned_classes(const pruned_level &a, const pruned_item &p) {
    return EDGES ? __ldg(a.classes + (size_t)p.y * (size_t)a.grid.width + (size_t)p.x) : 0;
}

/* What p gets from its neighbour in direction s, as it lies in memory. */
template <int SOURCE, bool EDGES, bool ALIKE>
DEVICE packed_labels handed_from(const pruned_level &a, const pruned_item &p, int classes, int s) {
    int x = p.x + (s == RIGHT) - (s == LEFT), y = p.y + (s == DOWN) - (s == UP);
    if (ALIKE)
        return packed_of(
            words_at<false>(sent_by<SOURCE>(a, x, y, opposite(s), p.kept, p.k), p.exists));
    bool exists = x >= 0 && y >= 0 && x < a.grid.width && y < a.grid.height;
    return handed<SOURCE>(a, p, x, y, opposite(s), exists, pruned_weight<EDGES>(a, classes, s));
}

DEVICE packed_labels pruned_cost(const pruned_level &a, const pruned_item &p) {
    size_t at = grid_labels(&a.grid, p.x, p.y) + (size_t)p.block * LABEL_BLOCK;
    packed_labels cost;
    if (a.cost16) {
        const uint8_t *from = reinterpret_cast<const uint8_t *>(a.cost16 + at);
        label_words low = words_at<false>(from, p.exists),
                    high = words_at<false>(from + 16, p.exists);
        uint32_t w[8] = {low.w[0],  low.w[1],  low.w[2],  low.w[3],
                         high.w[0], high.w[1], high.w[2], high.w[3]};
        packed_from_u16(w, &cost);
    } else {
        cost = packed_of(words_at<false>(a.cost8 + at, p.exists));
    }
    /* blocks that do not exist and padding lose every minimum */
    packed_pad(&cost, p.exists ? p.block * LABEL_BLOCK : a.grid.labels, a.grid.labels);
    return cost;
}

DEVICE uint32_t warp_minimum(uint32_t value, int log2_group) {
    value = u16x2_min(value, __funnelshift_l(value, value, 16));
    if (log2_group > 0)
        value = u16x2_min(value, __shfl_xor_sync(ALL_LANES, value, 1));
    if (log2_group > 1)
        value = u16x2_min(value, __shfl_xor_sync(ALL_LANES, value, 2));
    return value;
}

/* pruned_convolve() in the manner of convolve(). */
DEVICE uint32_t convolve_kept(const pruned_level &a, const pruned_item &p, int log2_group,
                              packed_labels *h, edge_weight weight) {
    uint32_t minimum = warp_minimum(packed_minimum(h), log2_group);
    packed_labels slanted;
    block_ends ends = packed_ends(h, weight.rho, &slanted);
    uint32_t lowest = p.below ? ~0u : 0xffff0000u, highest = p.above ? ~0u : 0xffffu;
    uint32_t up = carry_up(__shfl_up_sync(ALL_LANES, ends.up, 1), ends.up, lowest),
             down = carry_down(__shfl_down_sync(ALL_LANES, ends.down, 1), ends.down, highest);
    if (a.carry > 1) {
        uint32_t before = __shfl_up_sync(ALL_LANES, up, 1),
                 after = __shfl_down_sync(ALL_LANES, down, 1);
        up = u16x2_add_min(carry_up(before, up, lowest), 8 * weight.rho, up);
        down = u16x2_add_min(carry_down(after, down, highest), 8 * weight.rho, down);
    }
    packed_sweep(&slanted, up, down, weight.rho, minimum + weight.truncation);
    *h = slanted;
    return minimum;
}

/* What p gets from its neighbour q, which has the message in its own blocks: handed_label() between
 * the threads of a group. */
DEVICE packed_labels hand_over(const pruned_item &p, const pruned_item &q, int log2_group,
                               packed_labels m, edge_weight weight) {
    if (__all_sync(ALL_LANES, p.kept == q.kept))
        return m;
    int first = (int)threadIdx.x >> log2_group << log2_group;
    int k = kept_number(q.kept, p.block),
        before = p.block > 0 ? kept_number(q.kept, p.block - 1) : -1,
        after = kept_number(q.kept, p.block + 1);
    uint32_t up = __shfl_sync(ALL_LANES, m.v[7], first + max(before, 0)) >> 16,
             down = __shfl_sync(ALL_LANES, m.v[0], first + max(after, 0)) & 0xffff;
    up = before >= 0 ? u16x2_broadcast(up) : U16X2_FAR;
    down = after >= 0 ? u16x2_broadcast(down) : U16X2_FAR;
    packed_labels beside = beside_of(up, down, weight);
#pragma unroll
    for (int i = 0; i < PACKED_REGISTERS; i++) {
        uint32_t same = __shfl_sync(ALL_LANES, m.v[i], first + max(k, 0));
        m.v[i] = k >= 0 ? same : beside.v[i];
    }
    return m;
}

/* What p gets from its neighbour in direction s after that one's half-step, worked out from what
 * the neighbour gets from its three other neighbours. */
template <int SOURCE, bool EDGES, bool ALIKE>
DEVICE packed_labels receive_from(const pruned_level &a, const pruned_item &p, int log2_group,
                                  int classes, int s) {
    int x = p.x + (s == RIGHT) - (s == LEFT), y = p.y + (s == DOWN) - (s == UP);
    pruned_item q = p;
    q.x = x;
    q.y = y;
    if (!ALIKE)
        q = item_at(a, x, y, p.k);
    int classes_q = pruned_classes<EDGES>(a, q);
    packed_labels h = pruned_cost(a, q);
#pragma unroll
    for (int other = 1; other < DIRECTIONS; other++) {
        packed_labels in = handed_from<SOURCE, EDGES, ALIKE>(a, q, classes_q, opposite(s) ^ other);
        packed_add(&h, &in);
    }
    uint32_t minimum =
        convolve_kept(a, q, log2_group, &h, pruned_weight<EDGES>(a, classes_q, opposite(s)));
    packed_subtract(&h, minimum);
    bool none = !p.exists;
    if (!ALIKE) {
        h = hand_over(p, q, log2_group, h, pruned_weight<EDGES>(a, classes, s));
        none |= x < 0 || y < 0 || x >= a.grid.width || y >= a.grid.height;
    }
#pragma unroll
    for (int i = 0; i < PACKED_REGISTERS; i++)
        h.v[i] = none ? 0 : h.v[i];
    return h;
}

/* What p gets from its neighbour in direction s; AFTER: after a half-step of its neighbours, else
 * as it lies in memory. */
template <int SOURCE, bool EDGES, bool AFTER, bool ALIKE>
DEVICE packed_labels taken_from(const pruned_level &a, const pruned_item &p, int log2_group,
                                int classes, int s) {
    if constexpr (AFTER)
        return receive_from<SOURCE, EDGES, ALIKE>(a, p, log2_group, classes, s);
    else
        return handed_from<SOURCE, EDGES, ALIKE>(a, p, classes, s);
}

/* What each thread got from four directions. */
struct incoming_store {
    uint4 part[DIRECTIONS][2][WARP_SIZE * TILE_WARPS_X * TILE_WARPS_Y];
};

/* What a warp does. The loops over directions stay loops: unrolled, the code of warps that are not
 * alike is larger than what a multiprocessor keeps of its instructions. */
template <int SOURCE, bool EDGES, bool PAIR, bool ALIKE>
DEVICE void half_steps(const pruned_level &a, int parity, incoming_store &store) {
    int log2_group = warp_group < PAIR && !ALIKE > (a, parity), thread = thread_number();
    for (int pass = 0; pass < 1 << log2_group; pass++) {
        pruned_item p = pruned_item_of(a, parity, pass, log2_group);
        int classes = pruned_classes<EDGES>(a, p);
        packed_labels sum = pruned_cost(a, p);
#pragma unroll(ALIKE ? DIRECTIONS : 1)
        for (int s = 0; s < DIRECTIONS; s++) {
            packed_labels in = taken_from<SOURCE, EDGES, PAIR, ALIKE>(a, p, log2_group, classes, s);
            store.part[s][0][thread] = make_uint4(in.v[0], in.v[1], in.v[2], in.v[3]);
            store.part[s][1][thread] = make_uint4(in.v[4], in.v[5], in.v[6], in.v[7]);
            packed_add(&sum, &in);
        }
#pragma unroll(ALIKE ? DIRECTIONS : 1)
        for (int r = 0; r < DIRECTIONS; r++) {
            uint4 low = store.part[r][0][thread], high = store.part[r][1][thread];
            packed_labels h = {{sum.v[0] - low.x, sum.v[1] - low.y, sum.v[2] - low.z,
                                sum.v[3] - low.w, sum.v[4] - high.x, sum.v[5] - high.y,
                                sum.v[6] - high.z, sum.v[7] - high.w}};
            uint32_t minimum =
                convolve_kept(a, p, log2_group, &h, pruned_weight<EDGES>(a, classes, r));
            store_words(a.out[r] + (size_t)p.k * a.block + a.out_plane +
                            place_in_plane(a, p.x, p.y),
                        packed_to_bytes(&h, minimum), p.exists);
        }
    }
}

/* PAIR: two half-steps, of which the messages of the second one are stored; else one. */
template <int SOURCE, bool EDGES, bool PAIR>
__global__ void BP_BOUNDS pruned_kernel(const __grid_constant__ pruned_level a) {
    __shared__ incoming_store store;
    wait_for_previous_kernel();
    int parity = PAIR ? !a.parity : a.parity;
    if (all_alike(a, parity, 1 + PAIR))
        half_steps<SOURCE, EDGES, PAIR, true>(a, parity, store);
    else
        half_steps<SOURCE, EDGES, PAIR, false>(a, parity, store);
}

/* The number of the label of least belief among a pixel's, with the belief above it, as
 * minimum_belief() has them. */
DEVICE uint32_t best_of(const pruned_item &p, int log2_group, packed_labels *belief) {
    packed_labels keys;
#pragma unroll
    for (uint32_t i = 0; i < PACKED_REGISTERS; i++) {
        belief->v[i] = u16x2_min(belief->v[i], u16x2_broadcast(BELIEF_ROOM));
        keys.v[i] = 16 * belief->v[i] + (i | (i + 8) << 16);
    }
    uint32_t key = packed_minimum(&keys);
    key = min(key & 0xffff, key >> 16);
    key = key >> 4 << 16 | (uint32_t)(LABEL_BLOCK * p.k) | (key & 15);
    for (int step = 1; step < 1 << log2_group; step *= 2)
        key = min(key, __shfl_xor_sync(ALL_LANES, key, step));
    return key;
}

/* stage_pruned_winner of one pixel a group, out of its beliefs. The thread that holds the pixel's
 * first block writes. */
DEVICE void write_winner(const pruned_level &a, const pruned_wta_args &wta, const pruned_item &p,
                         int log2_group, packed_labels belief, belief_store<1> &store) {
    uint32_t key = best_of(p, log2_group, &belief);
    const uint32_t *v = belief.v;
    int thread = thread_number(), best = (int)(key & 0xffff), minimum = (int)(key >> 16);
    int label = (int)(p.kept >> 8 * (best / LABEL_BLOCK) & 255) * LABEL_BLOCK + best % LABEL_BLOCK,
        beside = 0, sum[2];
    bool writes = p.exists && p.k == 0;
    __syncwarp();
    store.part[0][0][thread] = make_uint4(v[0], v[1], v[2], v[3]);
    store.part[0][1][thread] = make_uint4(v[4], v[5], v[6], v[7]);
    __syncwarp();
    for (int step = -1; step <= 1 && writes; step++) {
        int to = best + step, other = label + step;
        if (to < 0 || other >= a.grid.labels ||
            kept_number(p.kept, other / LABEL_BLOCK) != to / LABEL_BLOCK)
            continue;
        uint16_t *at = belief_of(store, 0, thread, to);
        sum[step > 0] = step ? *at : sum[0];
        beside += step != 0;
        *at = 0xffff;
    }
    __syncwarp();
    uint4 low = store.part[0][0][thread], high = store.part[0][1][thread];
    packed_labels rest = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    int second = (int)(warp_minimum(packed_minimum(&rest), log2_group) & 0xffff);
    if (!writes)
        return;
    size_t at = (size_t)p.y * (size_t)a.grid.width + (size_t)p.x;
    int offset = beside == 2 ? subpixel_offset(sum[0], minimum, sum[1], wta.subpixel) : 0;
    wta.label[at] = (uint16_t)label;
    wta.disparity[at] = (int16_t)(16 * (a.grid.space.u_min + label) + offset);
    wta.confidence[at] = (uint8_t)(min(second, minimum + 255) - minimum);
}

/* Pixels of one parity. */
template <bool EDGES, bool AFTER, bool ALIKE>
DEVICE void winners_of_warp(const pruned_level &a, const pruned_wta_args &wta, int parity,
                            belief_store<1> &store) {
    int log2_group = warp_group < AFTER && !ALIKE > (a, parity);
    for (int pass = 0; pass < 1 << log2_group; pass++) {
        pruned_item p = pruned_item_of(a, parity, pass, log2_group);
        int classes = pruned_classes<EDGES>(a, p);
        packed_labels belief = pruned_cost(a, p);
#pragma unroll(ALIKE ? DIRECTIONS : 1)
        for (int s = 0; s < DIRECTIONS; s++) {
            packed_labels in =
                taken_from<OWN_MESSAGES, EDGES, AFTER, ALIKE>(a, p, log2_group, classes, s);
            packed_add(&belief, &in);
        }
        write_winner(a, wta, p, log2_group, belief, store);
    }
}

template <bool EDGES, bool AFTER>
DEVICE void winners(const pruned_level &a, const pruned_wta_args &wta, int parity,
                    belief_store<1> &store) {
    if (all_alike(a, parity, 1 + AFTER))
        winners_of_warp<EDGES, AFTER, true>(a, wta, parity, store);
    else
        winners_of_warp<EDGES, AFTER, false>(a, wta, parity, store);
}

/* LAST: after the last half-step, which parity a.parity sends and nobody stores; else out of the
 * messages of both. */
template <bool EDGES, bool LAST>
__global__ void BP_BOUNDS pruned_wta_kernel(const __grid_constant__ pruned_level level,
                                            const __grid_constant__ pruned_wta_args wta) {
    __shared__ belief_store<1> store;
    wait_for_previous_kernel();
    pruned_level a = level;
    winners<EDGES, LAST>(a, wta, !a.parity, store);
    if (!LAST)
        a.in_plane = a.plane - a.in_plane;
    winners<EDGES, false>(a, wta, a.parity, store);
}

static pruned_level pruned_level_of(const struct grid *grid, const struct pruning *pruning,
                                    const uint8_t *classes, const uint8_t rho[4],
                                    const uint8_t truncation[4]) {
    pruned_level a;
    memset(&a, 0, sizeof(a));
    a.grid = *grid;
    a.classes = classes;
    a.kept = reinterpret_cast<const uint32_t *>(pruning->kept);
    a.columns = pruning->columns;
    a.rows = (grid->height + pruning->tile - 1) / pruning->tile;
    a.small_tiles = pruning->tile < PRUNING_TILE;
    a.block = pruned_volume(grid, 1);
    a.plane = a.block / 2;
    a.carry = 1;
    for (int c = 0; c < (classes ? 4 : 1); c++)
        a.carry = stage_max(a.carry, carry_blocks(rho[c], truncation[c], 2 * KEPT_MOST));
    memcpy(&a.rho, rho, sizeof(a.rho));
    memcpy(&a.truncation, truncation, sizeof(a.truncation));
    return a;
}

static pruned_level level_of_message(const pruned_message_args *m) {
    pruned_level a = pruned_level_of(&m->grid, &m->pruning, m->classes, m->rho, m->truncation);
    a.cost8 = m->cost8;
    a.cost16 = m->cost16;
    a.parity = m->iteration & 1;
    for (int r = 0; r < DIRECTIONS; r++)
        a.in[r] = a.out[r] = m->message[r];
    return a;
}

/* Messages are read from the plane of parity in and written to that of parity out, whichever parity
 * they belong to. */
static void choose_planes(pruned_level *a, int in, int out) {
    a->in_plane = (size_t)in * a->plane;
    a->out_plane = (size_t)out * a->plane;
}

static dim3 pruned_grid(const pruned_level *a) {
    return cuda_blocks(a->small_tiles ? (a->columns + 3) / 4 : a->columns, TILE_WARPS_X, a->rows,
                       TILE_WARPS_Y);
}

static const dim3 pruned_block(WARP_SIZE, TILE_WARPS_X *TILE_WARPS_Y);

#define BY_EDGES(pair, source) \
    { pruned_kernel<source, false, pair>, pruned_kernel<source, true, pair> }
#define BY_SOURCE(pair) \
    { BY_EDGES(pair, OWN_MESSAGES), BY_EDGES(pair, PRUNED_PARENTS), BY_EDGES(pair, PARENTS) }

static void launch_half_steps(backend_cuda *cuda, const pruned_level *a, pruned_source source,
                              bool pair) {
    static void (*const kernels[2][3][2])(pruned_level) = {BY_SOURCE(false), BY_SOURCE(true)};
    launch_dependent(cuda, kernels[pair][source][a->classes != nullptr], pruned_grid(a),
                     pruned_block, *a);
}

void cuda_launch_pruned_message(backend_cuda *cuda, const void *args, int, int) {
    pruned_level a = level_of_message(static_cast<const pruned_message_args *>(args));
    choose_planes(&a, !a.parity, a.parity);
    launch_half_steps(cuda, &a, OWN_MESSAGES, false);
}

static void launch_winner(backend_cuda *cuda, const pruned_level *a, const pruned_wta_args *w,
                          bool last) {
    static void (*const kernels[2][2])(pruned_level, pruned_wta_args) = {
        {pruned_wta_kernel<false, false>, pruned_wta_kernel<true, false>},
        {pruned_wta_kernel<false, true>, pruned_wta_kernel<true, true>}};
    launch_dependent(cuda, kernels[last][a->classes != nullptr], pruned_grid(a), pruned_block, *a,
                     *w);
}

void cuda_launch_pruned_winner(backend_cuda *cuda, const void *args, int, int) {
    const pruned_wta_args *w = static_cast<const pruned_wta_args *>(args);
    pruned_level a = pruned_level_of(&w->grid, &w->pruning, w->classes, w->rho, w->truncation);
    a.cost8 = w->cost;
    for (int r = 0; r < DIRECTIONS; r++)
        a.in[r] = w->message[r];
    launch_winner(cuda, &a, w, false);
}

/* ---- half-steps of one level that follow each other, and what may come before and after them */

/* Passes of a list: perhaps the start of parity 1, half-steps, perhaps the labels. -1: none. */
struct pruned_run {
    int start, first, count, wta, length;
};

static const pruned_message_args *half_step(const struct graph *g, int i) {
    return static_cast<const pruned_message_args *>(graph_virtual_args(g, i));
}

static bool starts(const pruned_start_args *s, const pruned_message_args *m) {
    return s->parity == 1 && m->iteration == 0 && !memcmp(&s->grid, &m->grid, sizeof(s->grid)) &&
           !memcmp(&s->pruning, &m->pruning, sizeof(s->pruning)) &&
           !memcmp(s->message, m->message, sizeof(s->message));
}

static bool picks(const pruned_wta_args *w, const pruned_message_args *m) {
    return w->cost == m->cost8 && w->classes == m->classes &&
           !memcmp(w->message, m->message, sizeof(w->message)) &&
           !memcmp(&w->pruning, &m->pruning, sizeof(w->pruning)) &&
           !memcmp(w->rho, m->rho, sizeof(w->rho)) &&
           !memcmp(w->truncation, m->truncation, sizeof(w->truncation));
}

static pruned_run find_run(const struct graph *g, int i) {
    pruned_run r = {-1, i, 0, -1, 0};
    if (g->passes[i].stage == STAGE_pruned_start && fusion_allows(g, i + 1, STAGE_pruned_message) &&
        starts(static_cast<const pruned_start_args *>(graph_virtual_args(g, i)),
               half_step(g, i + 1))) {
        r.start = i;
        r.first = i + 1;
    }
    r.count = fusion_pruned_steps(g, r.first);
    if (r.count == 0)
        return r;
    int after = r.first + r.count;
    if (fusion_allows(g, after, STAGE_pruned_winner) &&
        picks(static_cast<const pruned_wta_args *>(graph_virtual_args(g, after)),
              half_step(g, r.first)))
        r.wta = after++;
    r.length = after - i;
    return r;
}

static int run_length(const backend_cuda *, const struct graph *g, int i) {
    return g->passes[i].kind == PASS_STAGE ? find_run(g, i).length : 0;
}

static void launch_from_start(backend_cuda *cuda, const pruned_level *level,
                              const pruned_start_args *start, int count) {
    for (int k = 0; k < level_kernels(count); k++) {
        level_kernel kernel = level_kernel_of(count, k);
        pruned_level a = *level;
        choose_planes(&a, !kernel.out, kernel.out);
        a.coarse = start->coarse;
        a.coarse_block = pruned_volume(&start->coarse, 1);
        for (int r = 0; r < DIRECTIONS && k == 0; r++)
            a.in[r] = start->parent[r];
        a.parity = kernel.parity;
        launch_half_steps(cuda, &a,
                          k                    ? OWN_MESSAGES
                          : start->from_pruned ? PRUNED_PARENTS
                                               : PARENTS,
                          !kernel.single);
    }
}

/* The last half-step of the finest level gives the labels and stores no messages. */
static void launch_run(backend_cuda *cuda, const struct graph *g, int i, int, int slot) {
    pruned_run r = find_run(g, i);
    const pruned_message_args *m =
        static_cast<const pruned_message_args *>(graph_args(g, r.first, slot));
    pruned_level a = level_of_message(m);
    if (r.start >= 0 && r.count > 1) {
        launch_from_start(cuda, &a,
                          static_cast<const pruned_start_args *>(graph_args(g, r.start, slot)),
                          r.count);
    } else {
        if (r.start >= 0)
            cuda->launches[STAGE_pruned_start](cuda, graph_args(g, r.start, slot), m->grid.half,
                                               m->grid.height);
        for (int k = 0; k + 1 < r.count; k++)
            cuda_launch_pruned_message(cuda, graph_args(g, r.first + k, slot), 0, 0);
    }
    a.parity = (m->iteration + r.count - 1) & 1;
    choose_planes(&a, !a.parity, a.parity);
    if (r.wta < 0)
        launch_half_steps(cuda, &a, OWN_MESSAGES, false);
    else
        launch_winner(cuda, &a, static_cast<const pruned_wta_args *>(graph_args(g, r.wta, slot)),
                      true);
}

extern const cuda_fusion cuda_fuse_pruned = {run_length, launch_run};
