/*
 * The label of least belief out of a group of threads that hold the pixel's beliefs: those of the
 * stage winner_takes_all.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CUDA_WTA_CUH
#define LIVESTEREO_CUDA_WTA_CUH

#include "gpu/cuda/bp.cuh"

template <int GROUP> DEVICE uint32_t group_min(const work_item &p, uint32_t value) {
    if constexpr (GROUP > 0) {
#pragma unroll
        for (int step = 1; step < GROUP; step *= 2)
            value = min(value, __shfl_xor_sync(ALL_LANES, value, step));
    } else {
        for (int step = 1; step < p.group; step *= 2)
            value = min(value, __shfl_sync(ALL_LANES, value, group_lane(p, step)));
    }
    return value;
}

/* The beliefs of one or two pixels of each group of a block, register 0 to 3 and 4 to 7 of each
 * thread, so that any thread of a group gets at any label. */
template <int PIXELS> struct belief_store { uint4 part[PIXELS][2][256]; };

/* start: the group's first thread. */
template <int PIXELS>
DEVICE uint16_t *belief_of(belief_store<PIXELS> &store, int pixel, int start, int label) {
    int i = label % LABEL_BLOCK;
    uint4 *words = &store.part[pixel][i >> 2 & 1][start + label / LABEL_BLOCK];
    return reinterpret_cast<uint16_t *>(words) + 2 * (i & 3) + (i >> 3);
}

DEVICE int thread_number(void) {
    return (int)(threadIdx.x + WARP_SIZE * (threadIdx.y + blockDim.y * threadIdx.z));
}

/* A data cost and four messages; those that come straight from a neighbour's sums (receive) reach
 * MAX_COST + 3 * 255. So a lane has room for a belief above the number of a thread's label. */
enum { MAX_BELIEF = MAX_COST + 4 * (MAX_COST + 3 * 255), BELIEF_ROOM = 4095 };
static_assert(MAX_BELIEF + 255 <= BELIEF_ROOM, "a belief fits into twelve bits");

/* The least belief of a pixel's group of threads above its label's number; padding labels get the
 * largest belief. A number added to all labels changes nothing. All threads of a warp call this
 * together. */
template <int GROUP>
DEVICE uint32_t minimum_belief(const struct grid &grid, const work_item &p, packed_labels *belief) {
    if (!GROUP && grid.labels != grid.padded) {
        packed_pad(belief, p.first, grid.labels);
        for (int i = 0; i < PACKED_REGISTERS; i++)
            belief->v[i] = u16x2_min(belief->v[i], u16x2_broadcast(BELIEF_ROOM));
    }
    packed_labels keys;
#pragma unroll
    for (uint32_t i = 0; i < PACKED_REGISTERS; i++)
        keys.v[i] = 16 * belief->v[i] + (i | (i + 8) << 16);
    uint32_t key = packed_minimum(&keys);
    key = min(key & 0xffff, key >> 16);
    return group_min<GROUP>(p, key >> 4 << 16 | ((uint32_t)p.first + (key & 15)));
}

/* The same; keeps the beliefs as those of number pixel. */
template <int GROUP, int PIXELS>
DEVICE uint32_t best_label(const wta_args &a, const work_item &p, packed_labels belief,
                           belief_store<PIXELS> &store, int pixel) {
    uint32_t key = minimum_belief<GROUP>(a.grid, p, &belief);
    int thread = thread_number();
    const uint32_t *v = belief.v;
    store.part[pixel][0][thread] = make_uint4(v[0], v[1], v[2], v[3]);
    store.part[pixel][1][thread] = make_uint4(v[4], v[5], v[6], v[7]);
    return key;
}

/* The best label and those beside it must not be found again; before and after get the beliefs of
 * these. */
template <int PIXELS>
DEVICE void mask_best(const wta_args &a, belief_store<PIXELS> &store, int pixel, int start,
                      int best, int *before, int *after) {
    *belief_of(store, pixel, start, best) = 0xffff;
    if (best > 0) {
        uint16_t *below = belief_of(store, pixel, start, best - 1);
        *before = *below;
        *below = 0xffff;
    }
    if (best + 1 < a.grid.labels) {
        uint16_t *above = belief_of(store, pixel, start, best + 1);
        *after = *above;
        *above = 0xffff;
    }
}

template <int GROUP, int PIXELS>
DEVICE int second_best(const work_item &p, belief_store<PIXELS> &store, int pixel) {
    uint4 low = store.part[pixel][0][thread_number()], high = store.part[pixel][1][thread_number()];
    packed_labels rest = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    return (int)(group_minimum<GROUP>(p, packed_minimum(&rest)) & 0xffff);
}

DEVICE void write_label(const wta_args &a, int x, int y, uint32_t key, int before, int after,
                        int second) {
    int best = (int)(key & 0xffff), minimum = (int)(key >> 16), offset = 0;
    if (best > 0 && best + 1 < a.grid.labels)
        offset = subpixel_offset(before, minimum, after, a.subpixel);
    size_t i = (size_t)y * (size_t)a.grid.width + (size_t)x;
    a.label[i] = (uint16_t)best;
    a.disparity[i] = (int16_t)(16 * (a.grid.space.u_min + best) + offset);
    a.confidence[i] = (uint8_t)(min(second, minimum + 255) - minimum);
}

/* stage_winner_takes_all of one pixel a group, whose beliefs are kept as number pixel. */
template <int GROUP, int PIXELS>
DEVICE void wta_one(const wta_args &a, const work_item &p, uint32_t key,
                    belief_store<PIXELS> &store, int pixel) {
    bool writes = p.exists && p.in_group == 0;
    int before = 0, after = 0;
    __syncwarp();
    if (writes)
        mask_best(a, store, pixel, thread_number(), (int)(key & 0xffff), &before, &after);
    __syncwarp();
    int second = second_best<GROUP>(p, store, pixel);
    if (writes)
        write_label(a, p.x, p.y, key, before, after, second);
}

/* Two pixels, p and q, lie in one row: the first thread of a group takes one, the second
 * thread the other. */
template <int GROUP>
DEVICE void wta_two(const wta_args &a, const work_item &p, const work_item &q, uint32_t key_p,
                    uint32_t key_q, belief_store<2> &store) {
    if constexpr (GROUP < 2) {
        wta_one<GROUP>(a, p, key_p, store, 0);
        wta_one<GROUP>(a, q, key_q, store, 1);
    } else {
        int mine = p.in_group, before = 0, after = 0, x = mine ? q.x : p.x;
        uint32_t key = mine ? key_q : key_p;
        bool writes = mine < 2 && (mine ? q.exists : p.exists);
        __syncwarp();
        if (writes)
            mask_best(a, store, mine, thread_number() - mine, (int)(key & 0xffff), &before, &after);
        __syncwarp();
        int second_p = second_best<GROUP>(p, store, 0), second_q = second_best<GROUP>(p, store, 1);
        if (writes)
            write_label(a, x, p.y, key, before, after, mine ? second_q : second_p);
    }
}

#endif
