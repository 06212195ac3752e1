/*
 * Messages and winner-takes-all of motion optimised for CUDA: a warp a pixel. Labels lie side by
 * side over its lanes where sums are made and results stored; for the sweeps a lane has a row, then
 * a column, of a message's labels in registers.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"

enum { LANES = 32, WARPS = 4, MAX_LINE = 32 };
#define ALL_LANES 0xffffffffu

static __device__ __forceinline__ int warp_minimum(int v) {
#pragma unroll
    for (int k = LANES / 2; k > 0; k /= 2)
        v = min(v, __shfl_xor_sync(ALL_LANES, v, k));
    return v;
}

/* There and back along a line of count labels that lie stride apart. */
template <int LINE>
static __device__ __forceinline__ void sweep(uint16_t *m, int count, int stride, int rho) {
    int line[LINE];
#pragma unroll
    for (int k = 0; k < LINE; k++)
        line[k] = k < count ? m[k * stride] : MAX_TRUNCATION;
#pragma unroll
    for (int k = 1; k < LINE; k++)
        line[k] = min(line[k], line[k - 1] + rho);
#pragma unroll
    for (int k = LINE - 2; k >= 0; k--)
        line[k] = min(line[k], line[k + 1] + rho);
#pragma unroll
    for (int k = 0; k < LINE; k++)
        if (k < count)
            m[k * stride] = (uint16_t)line[k];
}

/* What a pixel sends: rho and T of its edges, and the receivers' windows seen from its own. */
struct motion_edges {
    int rho[DIRECTIONS], maximum[DIRECTIONS];
    displacement shift[DIRECTIONS];
};

static __device__ __forceinline__ motion_edges edges_of(const motion_message_args &a,
                                                        const neighbours &n, int x, int y) {
    const message_args &b = a.base;
    const grid &g = b.grid;
    int classes = b.classes ? b.classes[(size_t)y * (size_t)g.width + (size_t)x] : 0;
    motion_edges e = {};
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++) {
        e.rho[r] = b.rho[classes >> (2 * r) & 3];
        e.maximum[r] = b.truncation[classes >> (2 * r) & 3];
        if (!a.centre.u || !(n.exist & 1 << r))
            continue;
        displacement here = motion_centre(&a.centre, &g, x, y),
                     there = motion_centre(&a.centre, &g, x + (r == RIGHT) - (r == LEFT),
                                           y + (r == DOWN) - (r == UP));
        e.shift[r] = {there.u - here.u, there.v - here.v};
    }
    return e;
}

/* m[r][padded]: D and all messages but that from r, less the least, up to T. */
static __device__ __forceinline__ void sum_messages(const message_args &b, const neighbours &n,
                                                    size_t own, const motion_edges &e, int lane,
                                                    uint16_t *m) {
    const grid &g = b.grid;
    int least[DIRECTIONS] = {INT16_MAX, INT16_MAX, INT16_MAX, INT16_MAX};
    for (int l = lane; l < g.labels; l += LANES) {
        int total = message_cost(&b, own + (size_t)l), in[DIRECTIONS];
#pragma unroll
        for (int s = 0; s < DIRECTIONS; s++) {
            in[s] = n.exist & 1 << s
                        ? b.message[opposite(s)][n.pixel[s] * (size_t)g.padded + (size_t)l]
                        : 0;
            total += in[s];
        }
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++) {
            m[r * g.padded + l] = (uint16_t)(total - in[r]);
            least[r] = min(least[r], total - in[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        least[r] = warp_minimum(least[r]);
    for (int l = lane; l < g.labels; l += LANES)
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++)
            m[r * g.padded + l] = (uint16_t)min(m[r * g.padded + l] - least[r], e.maximum[r]);
}

/* motion_handed() of words. */
static __device__ __forceinline__ int handed(const uint16_t *m, const label_space &s,
                                             displacement shift, int l, int rho, int maximum) {
    if (shift.u == 0 && shift.v == 0)
        return m[l];
    int u = l % s.u_count + shift.u, v = l / s.u_count + shift.v;
    int bu = stage_clamp(u, 0, s.u_count - 1), bv = stage_clamp(v, 0, s.v_count - 1);
    return min(maximum, m[bv * s.u_count + bu] + rho * (abs(u - bu) + abs(v - bv)));
}

template <int LINE>
static __global__ void __launch_bounds__(WARPS *LANES)
    message_kernel(const __grid_constant__ motion_message_args a) {
    extern __shared__ uint16_t memory[];
    const message_args &b = a.base;
    const grid &g = b.grid;
    const label_space &s = g.space;
    int warp = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES, y = (int)blockIdx.y;
    int x = grid_column(b.iteration & 1, (int)blockIdx.x * WARPS + warp, y);
    if (x >= g.width)
        return;
    uint16_t *m = memory + warp * DIRECTIONS * g.padded;
    neighbours n = grid_neighbours(&g, x, y);
    size_t own = grid_labels(&g, x, y);
    motion_edges e = edges_of(a, n, x, y);
    sum_messages(b, n, own, e, lane, m);
    __syncwarp();
    for (int i = lane; i < DIRECTIONS * s.v_count; i += LANES) {
        int r = i / s.v_count, v = i % s.v_count;
        sweep<LINE>(m + r * g.padded + v * s.u_count, s.u_count, 1, e.rho[r]);
    }
    __syncwarp();
    for (int i = lane; i < DIRECTIONS * s.u_count; i += LANES) {
        int r = i / s.u_count, u = i % s.u_count;
        sweep<LINE>(m + r * g.padded + u, s.v_count, s.u_count, e.rho[r]);
    }
    __syncwarp();
    for (int l = lane; l < g.padded; l += LANES)
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++)
            b.message[r][own + (size_t)l] =
                (uint8_t)(l < g.labels
                              ? handed(m + r * g.padded, s, e.shift[r], l, e.rho[r], e.maximum[r])
                              : e.maximum[r]);
}

static dim3 warps_of(int pixels, int height) {
    return dim3((unsigned)((pixels + WARPS - 1) / WARPS), (unsigned)height);
}

/* Half-steps that look for changes, and windows with long lines, are left to the plain form. */
static void launch_message(backend_cuda *cuda, const void *args, int width, int height) {
    const motion_message_args *a = static_cast<const motion_message_args *>(args);
    const grid &g = a->base.grid;
    int line = stage_max(g.space.u_count, g.space.v_count);
    size_t shared = sizeof(uint16_t) * WARPS * DIRECTIONS * (size_t)g.padded;
    if (a->base.active || a->base.next_active || line > MAX_LINE) {
        cuda->plain[STAGE_motion_message](cuda, args, width, height);
        return;
    }
    auto kernel = line <= 8    ? message_kernel<8>
                  : line <= 16 ? message_kernel<16>
                               : message_kernel<MAX_LINE>;
    kernel<<<warps_of(width, height), WARPS * LANES, shared, cuda->stream>>>(*a);
}

/* ---- winner-takes-all */

static __global__ void __launch_bounds__(WARPS *LANES)
    wta_kernel(const __grid_constant__ motion_wta_args a) {
    extern __shared__ uint16_t memory[];
    const wta_args &b = a.base;
    const grid &g = b.grid;
    int warp = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES, y = (int)blockIdx.y;
    int x = (int)blockIdx.x * WARPS + warp;
    if (x >= g.width)
        return;
    uint16_t *beliefs = memory + warp * g.padded;
    neighbours n = grid_neighbours(&g, x, y);
    size_t own = grid_labels(&g, x, y);
    int least = INT32_MAX; /* belief and label: of equals the lower label */
    for (int l = lane; l < g.labels; l += LANES) {
        beliefs[l] = (uint16_t)belief(&b, &n, own, l);
        least = min(least, beliefs[l] * MAX_LABELS + l);
    }
    least = warp_minimum(least);
    int best = least % MAX_LABELS, second = least / MAX_LABELS + 255;
    int u = best % g.space.u_count, v = best / g.space.u_count;
    for (int l = lane; l < g.labels; l += LANES)
        if (abs(l % g.space.u_count - u) > 1 || abs(l / g.space.u_count - v) > 1)
            second = min(second, (int)beliefs[l]);
    second = warp_minimum(second);
    if (lane == 0)
        motion_wta_put(&a, &n, x, y, best, second);
}

static void launch_wta(backend_cuda *cuda, const void *args, int width, int height) {
    const motion_wta_args *a = static_cast<const motion_wta_args *>(args);
    size_t shared = sizeof(uint16_t) * WARPS * (size_t)a->base.grid.padded;
    wta_kernel<<<warps_of(width, height), WARPS * LANES, shared, cuda->stream>>>(*a);
}

void cuda_optimise_motion(backend_cuda *cuda) {
    cuda->launches[STAGE_motion_message] = launch_message;
    cuda->launches[STAGE_motion_wta] = launch_wta;
}
