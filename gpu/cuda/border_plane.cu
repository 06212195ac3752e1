/*
 * Planes at the left border optimised for CUDA: a warp a row of the picture, whose lanes share the
 * rows of the region.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"

enum { WARPS = 4 };

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

/* The last one, or -1. */
DEVICE int last_known(const int16_t *row, int width) {
    for (int end = width; end > 0; end -= WARP_SIZE) {
        int at = end - WARP_SIZE + (int)threadIdx.x;
        unsigned known = __ballot_sync(ALL_LANES, at >= 0 && row[at] != UNKNOWN);
        if (known)
            return end - 1 - __clz((int)known);
    }
    return -1;
}

/* surface_arm() of a known pixel along its column: a lane looks at each pixel. */
DEVICE int column_arm(const surface_args &a, int x, int y, int dy) {
    static_assert((int)BORDER_LENGTH < (int)WARP_SIZE, "a lane each pixel");
    int lane = (int)threadIdx.x, py = y + dy * lane;
    bool exists = py >= 0 && py < a.height;
    int d = exists ? a.source[(size_t)py * (size_t)a.width + (size_t)x] : UNKNOWN,
        before = (int)__shfl_up_sync(ALL_LANES, (uint32_t)d, 1);
    bool ends = lane > 0 && (d == UNKNOWN || stage_abs(d - before) > a.step);
    unsigned end = __ballot_sync(ALL_LANES, ends);
    return min(end ? __ffs((int)end) - 2 : (int)WARP_SIZE, a.longest);
}

static __global__ void __launch_bounds__(WARPS *WARP_SIZE)
    border_plane_kernel(const __grid_constant__ border_plane_args a) {
    wait_for_previous_kernel();
    int y = (int)(blockIdx.x * WARPS + threadIdx.y);
    if (y >= a.height)
        return;
    const int16_t *row = a.source + (size_t)y * (size_t)a.width;
    int x = first_known(row, a.width);
    plane_sums s = {};
    if (x > 0 && x < a.width) {
        surface_args map = border_region(&a);
        int up = column_arm(map, x, y, -1), down = column_arm(map, x, y, 1);
        for (int dy = (int)threadIdx.x - up; dy <= down; dy += WARP_SIZE)
            plane_add_arms(&map, x, y, dy, row[x], &s);
    }
    s = {warp_sum(s.n),  warp_sum(s.x), warp_sum(s.y),  warp_sum(s.xx), warp_sum(s.xy),
         warp_sum(s.yy), warp_sum(s.d), warp_sum(s.xd), warp_sum(s.yd)};
    int last = last_known(row, a.width);
    if (threadIdx.x == 0)
        a.out[y] = border_plane_of(&s, x, last);
}

void cuda_launch_border_plane(backend_cuda *cuda, const void *args, int, int height) {
    launch_dependent(cuda, border_plane_kernel, dim3((unsigned)(height + WARPS - 1) / WARPS),
                     dim3(WARP_SIZE, WARPS), *static_cast<const border_plane_args *>(args));
}
