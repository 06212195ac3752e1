/*
 * The label of least belief out of a group of threads that hold the pixel's beliefs: stage_pick's bytes.
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

/* The least of a thread's 16 beliefs, above its number (0 to 15) in the lower half. */
__device__ __forceinline__ uint32_t least_key(const lanes &belief) {
    uint32_t key = ~0u;
#pragma unroll
    for (int i = 0; i < LANE_REGISTERS; i++)
        key = min(key, min(belief.v[i] << 16 | (uint32_t)i, (belief.v[i] & 0xffff0000u) | (uint32_t)(i + 8)));
    return key;
}

/* Beliefs beside the best label, and the least of those further away. */
struct around_best {
    uint32_t before, after, rest;
};

__device__ __forceinline__ around_best look_around(const lanes &belief, int first, int best) {
    around_best a = {0, 0, 0xffff};
#pragma unroll
    for (int i = 0; i < LABEL_BLOCK; i++) {
        uint32_t value = i < 8 ? belief.v[i & 7] & 0xffff : belief.v[i & 7] >> 16;
        int beyond = first + i - best;
        a.before = beyond == -1 ? value : a.before;
        a.after = beyond == 1 ? value : a.after;
        a.rest = beyond < -1 || beyond > 1 ? min(a.rest, value) : a.rest;
    }
    return a;
}

/* belief is the cost on entry; a number added to all labels of a message in changes nothing. */
template <int GROUP>
__device__ __forceinline__ void pick_label(const pick_args &a, const place &p, lanes belief,
                                           const lanes in[DIRECTIONS]) {
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        lanes_add(&belief, &in[r]);
    if (a.grid.labels != a.grid.padded)
        lanes_pad(&belief, p.first, a.grid.labels);
    uint32_t own = least_key(belief), key = group_min<GROUP>(p, own + (uint32_t)p.first);
    int best = (int)(key & 0xffff), least = (int)(key >> 16);
    around_best around = {0, 0, own >> 16};
    if (best >= p.first - 1 && best <= p.first + LABEL_BLOCK)
        around = look_around(belief, p.first, best);
    int second = min((int)group_min<GROUP>(p, around.rest), least + 255), base = p.lane - p.in_group;
    int before = (int)__shfl_sync(WARP_MASK, around.before, (base + (best - 1) / LABEL_BLOCK) & 31);
    int after = (int)__shfl_sync(WARP_MASK, around.after, (base + (best + 1) / LABEL_BLOCK) & 31);
    if (!p.exists || p.in_group > 0)
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
