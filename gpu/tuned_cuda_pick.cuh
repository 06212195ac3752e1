/*
 * The label of least belief out of a group of threads that hold the pixel's beliefs: stage_pick's
 * bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_TUNED_CUDA_PICK_CUH
#define LIVESTEREO_TUNED_CUDA_PICK_CUH

#include "gpu/tuned_cuda_bp.cuh"

template <int GROUP> __device__ __forceinline__ uint32_t group_min(const place &p, uint32_t value) {
    if constexpr (GROUP > 0) {
#pragma unroll
        for (int step = 1; step < GROUP; step *= 2)
            value = min(value, __shfl_xor_sync(WARP_MASK, value, step));
    } else {
        for (int step = 1; step < p.group; step *= 2)
            value = min(value, __shfl_sync(WARP_MASK, value, group_lane(p, step)));
    }
    return value;
}

/* A block's beliefs, register 0 to 3 and 4 to 7 of each thread, so that any thread of a group
 * gets at any label. */
struct belief_store {
    uint4 part[2][256];
};

__device__ __forceinline__ uint16_t *belief_of(belief_store &store, int thread, int label) {
    int i = label % LABEL_BLOCK;
    uint4 *words = &store.part[i >> 2 & 1][thread + label / LABEL_BLOCK];
    return reinterpret_cast<uint16_t *>(words) + 2 * (i & 3) + (i >> 3);
}

/* The least of a thread's 16 beliefs, above its number (0 to 15) in the lower half. Beliefs of
 * one pixel differ by less than 4096, so that a lane has room for the number. */
__device__ __forceinline__ uint32_t least_key(const lanes &belief) {
    uint32_t least = lanes_least(&belief);
    least = lanes_min(least, __funnelshift_l(least, least, 16));
    lanes keys;
#pragma unroll
    for (uint32_t i = 0; i < LANE_REGISTERS; i++)
        keys.v[i] = (lanes_min(belief.v[i] - least, 0x0fff0fffu) << 4) + (i | (i + 8) << 16);
    uint32_t key = lanes_least(&keys);
    return least << 16 | min(key & 0xffff, key >> 16);
}

/* belief is the cost on entry; a number added to all labels of a message in changes nothing.
 * All threads of a warp call this together. */
template <int GROUP>
__device__ __forceinline__ void pick_label(const pick_args &a, const place &p, lanes belief,
                                           const lanes in[DIRECTIONS], belief_store &store) {
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        lanes_add(&belief, &in[r]);
    if (!GROUP && a.grid.labels != a.grid.padded)
        lanes_pad(&belief, p.first, a.grid.labels);
    uint32_t key = group_min<GROUP>(p, least_key(belief) + (uint32_t)p.first);
    int best = (int)(key & 0xffff), least = (int)(key >> 16), before = 0, after = 0;
    int thread = (int)(threadIdx.x + 32 * (threadIdx.y + blockDim.y * threadIdx.z));
    store.part[0][thread] = make_uint4(belief.v[0], belief.v[1], belief.v[2], belief.v[3]);
    store.part[1][thread] = make_uint4(belief.v[4], belief.v[5], belief.v[6], belief.v[7]);
    __syncwarp();
    bool writes = p.exists && p.in_group == 0;
    if (writes) { /* the best label and those beside it must not be found again */
        uint16_t *here = belief_of(store, thread, best);
        *here = 0xffff;
        if (best > 0) {
            uint16_t *below = belief_of(store, thread, best - 1);
            before = *below;
            *below = 0xffff;
        }
        if (best + 1 < a.grid.labels) {
            uint16_t *above = belief_of(store, thread, best + 1);
            after = *above;
            *above = 0xffff;
        }
    }
    __syncwarp();
    uint4 low = store.part[0][thread], high = store.part[1][thread];
    lanes rest = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    int second = min((int)(group_least<GROUP>(p, lanes_least(&rest)) & 0xffff), least + 255);
    __syncwarp();
    if (!writes)
        return;
    int offset = 0;
    if (best > 0 && best + 1 < a.grid.labels)
        offset = subpixel_offset(before, least, after, a.subpixel);
    size_t i = (size_t)p.y * (size_t)a.grid.width + (size_t)p.x;
    a.label[i] = (uint16_t)best;
    a.disparity[i] = (int16_t)(16 * (a.min_disparity + best) + offset);
    a.confidence[i] = (uint8_t)(second - least);
}

#endif
