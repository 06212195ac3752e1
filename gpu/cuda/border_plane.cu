/*
 * The planes of holes at the left border optimised for CUDA: a warp a row of the picture, whose
 * lanes share the rows of the region.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"

enum { WARPS = 4 };

DEVICE int sum_of_lanes(int v) {
    for (int k = WARP_SIZE / 2; k > 0; k /= 2)
        v += __shfl_xor_sync(ALL_LANES, v, k);
    return v;
}

/* The first known pixel of a row, or width. */
DEVICE int first_known(const int16_t *row, int width) {
    for (int x = 0; x < width; x += WARP_SIZE) {
        int at = x + (int)threadIdx.x;
        unsigned known = __ballot_sync(ALL_LANES, at < width && row[at] != UNKNOWN);
        if (known)
            return x + __ffs((int)known) - 1;
    }
    return width;
}

static __global__ void __launch_bounds__(WARPS *WARP_SIZE)
    border_plane_kernel(const __grid_constant__ border_plane_args a) {
    int y = (int)(blockIdx.x * WARPS + threadIdx.y);
    if (y >= a.height)
        return;
    const int16_t *row = a.source + (size_t)y * (size_t)a.width;
    int x = first_known(row, a.width);
    plane_sums s = {};
    if (x > 0 && x < a.width) {
        surface_args map = border_region(&a);
        int up = surface_arm(&map, x, y, 0, -1), down = surface_arm(&map, x, y, 0, 1);
        for (int dy = (int)threadIdx.x - up; dy <= down; dy += WARP_SIZE)
            plane_add_arms(&map, x, y, dy, row[x], &s);
    }
    s = {sum_of_lanes(s.n),  sum_of_lanes(s.x),  sum_of_lanes(s.y),
         sum_of_lanes(s.xx), sum_of_lanes(s.xy), sum_of_lanes(s.yy),
         sum_of_lanes(s.d),  sum_of_lanes(s.xd), sum_of_lanes(s.yd)};
    if (threadIdx.x == 0)
        a.out[y] = border_plane_of(&s);
}

void cuda_launch_border_plane(backend_cuda *cuda, const void *args, int, int height) {
    unsigned blocks = (unsigned)(height + WARPS - 1) / WARPS;
    border_plane_kernel<<<blocks, dim3(WARP_SIZE, WARPS), 0, cuda->stream>>>(
        *static_cast<const border_plane_args *>(args));
}
