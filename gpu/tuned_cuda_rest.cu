/*
 * Fast-converging updates tuned for CUDA: a warp whose pixels all rest reads its neighbours' flags
 * and nothing else; messages are worked out as in tuned_cuda_bp.cu and stored where they changed.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend_cuda.h"
#include "gpu/tuned_cuda_bp.cuh"

/* Directions whose neighbour has sent p something new, a bit each. */
static __device__ __forceinline__ int arrivals(const bp_level &a, const place &p,
                                               const uint8_t *flags) {
    int arrived = 0;
    if (!p.exists)
        return 0;
    struct neighbours n = grid_neighbours(&a.grid, p.x, p.y);
#pragma unroll
    for (int s = 0; s < DIRECTIONS; s++)
        if (n.exist & 1 << s && flags[n.pixel[s]] & FLAG_CHANGED << opposite(s))
            arrived |= 1 << s;
    return arrived;
}

/* Largest change of a real label among a thread's 16. */
static __device__ __forceinline__ uint32_t largest_change(const bp_level &a, const place &p,
                                                          const label_words &fresh,
                                                          const label_words &old) {
    uint32_t most = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int labels = stage_clamp(a.grid.labels - p.first - 4 * k, 0, 4);
        uint32_t change = __vabsdiffu4(fresh.w[k], old.w[k]) & (uint32_t)((1ull << 8 * labels) - 1);
        most = __vmaxu4(most, change);
    }
    most = __vmaxu4(most, most >> 16);
    return max(most & 255, most >> 8 & 255);
}

static __device__ __forceinline__ uint32_t group_most(const place &p, uint32_t value) {
    for (int step = 1; step < p.group; step *= 2)
        value = max(value, __shfl_sync(WARP_MASK, value, group_lane(p, step)));
    return value;
}

template <bool WIDE>
static __global__ void __launch_bounds__(256)
    rest_kernel(const __grid_constant__ bp_level a, uint8_t *flags, int iteration, int threshold) {
    place p = place_of<0>(a, a.colour);
    if (p.y >= a.grid.height)
        return;
    bool first = iteration == 0;
    int arrived = iteration > 1 ? arrivals(a, p, flags) : 15, due = 0, state = 0;
    for (int r = 0; r < DIRECTIONS; r++)
        due |= p.exists && arrived & ~(1 << r) ? 1 << r : 0;
    uint8_t *flag = flags + grid_pixel(&a.grid, p.x, p.y);
    if (__any_sync(WARP_MASK, due)) {
        lanes in[DIRECTIONS], cost = cost_of<false, WIDE>(a, p, a.colour);
        read_all<false, false>(a, p, in);
        int classes = classes_at<true>(a, p.x, p.y, p.exists);
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++) {
            bool wanted = due >> r & 1;
            if (!__any_sync(WARP_MASK, wanted))
                continue;
            lanes h = cost;
#pragma unroll
            for (int s = 0; s < DIRECTIONS; s++)
                if (s != r)
                    lanes_add(&h, &in[s]);
            uint32_t least = convolve<0>(a, p, &h, weight_of<true>(a, classes, r));
            label_words fresh = lanes_bytes(&h, least), old = {};
            if (!first && wanted) {
                uint4 w = *reinterpret_cast<const uint4 *>(a.out[r] + p.at);
                old = {{w.x, w.y, w.z, w.w}};
            }
            uint32_t change =
                first ? TRUNCATION_MOST + 1 : group_most(p, largest_change(a, p, fresh, old));
            bool send = wanted && (int)change > threshold;
            store_words(a.out[r] + p.at, fresh, send);
            state |= (wanted ? FLAG_COMPUTED << r : 0) | (send ? FLAG_CHANGED << r : 0);
        }
    }
    if (p.exists && p.in_group == 0)
        *flag = (uint8_t)state;
}

static void launch_rest(backend_cuda *cuda, const void *args, int, int) {
    const message_args *m = static_cast<const message_args *>(args);
    bp_level a = bp_level_of(m);
    bp_choose_planes(&a, m->message, !a.colour, a.colour);
    (a.cost16 ? rest_kernel<true>
              : rest_kernel<false>)<<<bp_grid(&a), bp_block(), 0, cuda->stream>>>(
        a, m->flags, m->iteration, m->threshold);
}

/* A warp a row. */
static __global__ void tally_kernel(const __grid_constant__ tally_args a) {
    int y = (int)blockIdx.x;
    unsigned count = 0;
    for (int i = (int)threadIdx.x; i < a.grid.half; i += 32) {
        int x = grid_column(a.colour, i, y);
        if (x < a.grid.width)
            count += (unsigned)__popc((unsigned)a.flags[grid_pixel(&a.grid, x, y)] / FLAG_COMPUTED);
    }
    for (int step = 16; step; step /= 2)
        count += __shfl_xor_sync(WARP_MASK, count, step);
    if (threadIdx.x == 0)
        a.count[y] = count;
}

static void launch_tally(backend_cuda *cuda, const void *args, int, int) {
    const tally_args *a = static_cast<const tally_args *>(args);
    tally_kernel<<<(unsigned)a->grid.height, 32, 0, cuda->stream>>>(*a);
}

void cuda_tune_rest(backend_cuda *cuda) {
    cuda->launches[STAGE_message_resting] = launch_rest;
    cuda->launches[STAGE_tally] = launch_tally;
}
