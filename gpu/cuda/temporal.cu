/*
 * Stages of the temporal filter optimised for CUDA: a warp a patch, whose lanes try places; a block
 * for all steps of a pose, whose sums are whole numbers and so do not depend on their order; a
 * block for four cells.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"

enum { PATCHES = 4, POSE_THREADS = 128 };

/* ---- patches */

static __global__ void __launch_bounds__(PATCHES *WARP_SIZE)
    find_patch_kernel(const __grid_constant__ find_patch_args a, int count) {
    __shared__ uint8_t patches[PATCHES][PATCH_SIDE * PATCH_SIDE];
    __shared__ int costs[PATCHES][PATCH_PLACES];
    wait_for_previous_kernel();
    int i = (int)(blockIdx.x * PATCHES + threadIdx.y), lane = (int)threadIdx.x;
    int begin[2], around[2], side = 2 * a.reach + 1, *cost = costs[threadIdx.y];
    uint8_t *patch = patches[threadIdx.y];
    patch_match m = {-1, 0, 0, 0, 0};
    float disparity;
    if (i >= count)
        return;
    if (patch_begins(&a, i % a.columns, i / a.columns, begin, around, &disparity)) {
        if (lane == 0)
            patch_read(&a, begin, patch);
        __syncwarp();
        const uint8_t *now = a.now + (size_t)(around[1] - a.reach) * a.width + around[0] - a.reach;
        int was = patch_sum(patch, PATCH_SIDE);
        for (int k = lane; k < side * side; k += WARP_SIZE)
            cost[k] =
                patch_cost(patch, was, now + (size_t)(k / side) * a.width + k % side, a.width);
        __syncwarp();
        if (lane == 0)
            m = patch_found(&a, begin, around, disparity, cost);
    }
    if (lane == 0)
        a.out[i] = m;
}

void cuda_launch_find_patch(backend_cuda *cuda, const void *args, int width, int height) {
    int count = width * height;
    launch_dependent(cuda, find_patch_kernel, dim3((unsigned)(count + PATCHES - 1) / PATCHES),
                     dim3(WARP_SIZE, PATCHES), *static_cast<const find_patch_args *>(args), count);
}

/* ---- the pose */

static __global__ void __launch_bounds__(POSE_THREADS)
    pose_kernel(const __grid_constant__ pose_args a) {
    __shared__ rig_motion m;
    __shared__ int64_t parts[POSE_THREADS][POSE_SUMS], sums[POSE_SUMS];
    wait_for_previous_kernel();
    int thread = (int)threadIdx.x;
    float scale = a.widest;
    if (thread == 0)
        m = *a.motion;
    __syncthreads();
    for (int step = 0; step < a.steps; step++) {
        int64_t own[POSE_SUMS] = {};
        for (int i = thread; i < a.count; i += POSE_THREADS)
            pose_add(&a, &m, i, scale, own);
#pragma unroll
        for (int k = 0; k < POSE_SUMS; k++)
            parts[thread][k] = own[k];
        __syncthreads();
        if (thread < POSE_SUMS) {
            int64_t sum = 0;
            for (int i = 0; i < POSE_THREADS; i++)
                sum += parts[i][thread];
            sums[thread] = sum;
        }
        __syncthreads();
        if (thread == 0 && sums[SUM_POINTS] >= 256 * LEAST_PATCHES)
            pose_step(&m, sums);
        scale = pose_scale(&a, scale);
        __syncthreads();
    }
    if (thread == 0) {
        pose_judge(&a, sums, &m);
        *a.motion = m;
    }
}

void cuda_launch_pose(backend_cuda *cuda, const void *args, int, int) {
    launch_dependent(cuda, pose_kernel, dim3(1), dim3(POSE_THREADS),
                     *static_cast<const pose_args *>(args));
}

/* ---- cells */

static __global__ void __launch_bounds__(WARP_SIZE *CELL)
    count_cells_kernel(const __grid_constant__ count_cells_args a) {
    enum { CELLS = WARP_SIZE / CELL };
    __shared__ int counts[3][CELLS];
    wait_for_previous_kernel();
    int lane = (int)threadIdx.x, thread = (int)threadIdx.y * WARP_SIZE + lane;
    int x = (int)blockIdx.x * WARP_SIZE + lane, y = (int)(blockIdx.y * CELL + threadIdx.y);
    int kinds[3] = {0, 0, 0};
    if (thread < 3 * CELLS)
        counts[thread / CELLS][thread % CELLS] = 0;
    __syncthreads();
    if (x < a.width && y < a.height) {
        size_t i = (size_t)y * (size_t)a.width + (size_t)x;
        pixel_counts(a.moved[i], a.source[i], a.confidence[i], kinds);
    }
    for (int k = 0; k < 3; k++) {
        unsigned here = __ballot_sync(ALL_LANES, kinds[k]);
        if (lane % CELL == 0)
            atomicAdd(&counts[k][lane / CELL], __popc(here >> lane & 255));
    }
    __syncthreads();
    int cell = (int)blockIdx.x * CELLS + thread;
    if (thread < CELLS && cell < a.cells)
        a.out[(size_t)blockIdx.y * (size_t)a.cells + (size_t)cell] = {
            (uint8_t)counts[0][thread], (uint8_t)counts[1][thread], (uint8_t)counts[2][thread]};
}

void cuda_launch_count_cells(backend_cuda *cuda, const void *args, int width, int height) {
    launch_dependent(cuda, count_cells_kernel,
                     dim3((unsigned)(width * CELL + WARP_SIZE - 1) / WARP_SIZE, (unsigned)height),
                     dim3(WARP_SIZE, CELL), *static_cast<const count_cells_args *>(args));
}
