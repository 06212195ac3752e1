/*
 * Speckles optimised for CUDA. A block joins the pixels of a tile in shared memory and counts them
 * there; then the tiles' patches are joined across their seams, and their counts are added up.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"

enum { TILE = WARP_SIZE, WARPS = 8, ROWS = TILE / WARPS, THREADS = WARPS * WARP_SIZE, FOUR = 4 };

/* A pixel's disparity or motion. */
struct value {
    int u, v;
};

DEVICE value value_at(const speckle_args &a, uint32_t i) {
    return {a.source.u[i], a.source.v ? a.source.v[i] : 0};
}

/* speckle_linked() */
DEVICE bool linked(const speckle_args &a, const value &p, const value &q) {
    return (p.u != UNKNOWN) & (q.u != UNKNOWN) & (stage_abs(p.u - q.u) <= a.range) &
           (stage_abs(p.v - q.v) <= a.range);
}

/* The root of i. It also shortens the path for the next search. join_roots gives a new parent to
 * roots alone, so a link that is written late still leads to an ancestor. */
DEVICE uint32_t find_root(uint32_t *parent, uint32_t i) {
    volatile uint32_t *link = parent;
    uint32_t here = i, up;
    while ((up = link[here]) != here) {
        uint32_t above = link[up];
        if (above != up)
            link[here] = above;
        here = up;
    }
    return here;
}

DEVICE void join_roots(uint32_t *parent, uint32_t a, uint32_t b) {
    for (;;) {
        a = find_root(parent, a);
        b = find_root(parent, b);
        if (a == b)
            return;
        uint32_t high = max(a, b), low = min(a, b);
        if (atomicCAS(parent + high, high, low) == high)
            return;
    }
}

/* The same in a tile, by atomic operations alone, where pixels near each other meet often. */
DEVICE void join_in_tile(uint32_t *parent, uint32_t a, uint32_t b) {
    while (a != b) {
        uint32_t high = max(a, b), low = min(a, b), old = atomicMin(parent + high, low);
        a = old == high ? low : old; /* what high hung from must join low as well */
        b = low;
    }
}

/* The lane where the run of this lane begins. joined: the lanes that go on with the run before. */
DEVICE uint32_t run_of(uint32_t joined, uint32_t lane) {
    return 31 - (uint32_t)__clz((int)(~joined & (ALL_LANES >> (31 - lane))));
}

/* Each pixel hangs from the root of its tile's patch, which has the patch's count; others have 0. A
 * warp has ROWS rows of a tile and looks at the next one. */
static __global__ void __launch_bounds__(THREADS)
    tile_kernel(const __grid_constant__ speckle_args a) {
    __shared__ uint32_t parent[TILE * TILE], count[TILE * TILE];
    uint32_t lane = threadIdx.x, width = (uint32_t)a.width, first = threadIdx.y * ROWS,
             left = blockIdx.x * TILE, top = blockIdx.y * TILE, x = left + lane, beside[ROWS + 1],
             below[ROWS], root[ROWS]; /* lanes that are linked to those there */
    value own[ROWS + 1];
    wait_for_previous_kernel();
#pragma unroll
    for (uint32_t k = 0; k <= ROWS; k++) {
        uint32_t y = top + first + k;
        own[k] = {UNKNOWN, 0};
        if (x < width && y < (uint32_t)a.height && first + k < TILE)
            own[k] = value_at(a, y * width + x);
    }
#pragma unroll
    for (uint32_t k = 0; k <= ROWS; k++) {
        value before = {(int)__shfl_up_sync(ALL_LANES, (uint32_t)own[k].u, 1),
                        (int)__shfl_up_sync(ALL_LANES, (uint32_t)own[k].v, 1)};
        beside[k] = __ballot_sync(ALL_LANES, lane > 0 && linked(a, before, own[k]));
        if (k > 0)
            below[k - 1] = __ballot_sync(ALL_LANES, linked(a, own[k - 1], own[k]));
    }
#pragma unroll
    for (uint32_t k = 0; k < ROWS; k++) {
        parent[(first + k) * TILE + lane] = (first + k) * TILE + run_of(beside[k], lane);
        count[(first + k) * TILE + lane] = 0;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < ROWS; k++) { /* once for each stretch that two runs share */
        uint32_t joins = below[k] & ~(beside[k] & beside[k + 1] & below[k] << 1);
        if (joins >> lane & 1)
            join_in_tile(parent, (first + k) * TILE + run_of(beside[k], lane),
                         (first + k + 1) * TILE + run_of(beside[k + 1], lane));
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < ROWS; k++) {
        uint32_t starts = ~beside[k], after = lane < 31 ? starts >> (lane + 1) : 0;
        root[k] = speckle_root(parent, (first + k) * TILE + lane);
        if (starts >> lane & 1)
            atomicAdd(count + root[k], after ? (uint32_t)__ffs((int)after) : TILE - lane);
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < ROWS; k++) {
        uint32_t y = top + first + k;
        if (x >= width || y >= (uint32_t)a.height)
            continue;
        a.parent[y * width + x] = (top + root[k] / TILE) * width + left + root[k] % TILE;
        a.count[y * width + x] = count[(first + k) * TILE + lane];
    }
}

/* How many pixels lie left of a seam, or above one. */
struct seams {
    uint32_t upright, level;
};

/* A thread joins the patches of the pixels on either side of a seam, i and j, where those before
 * them in the same two tiles do not. Pixels that are no roots keep their parents. */
static __global__ void __launch_bounds__(THREADS)
    seam_kernel(const __grid_constant__ speckle_args a, seams s) {
    uint32_t k = blockIdx.x * THREADS + threadIdx.x, width = (uint32_t)a.width, i, j, along, step;
    wait_for_previous_kernel();
    if (k >= s.upright + s.level)
        return;
    if (k < s.upright) {
        along = k % (uint32_t)a.height;
        i = along * width + (k / (uint32_t)a.height + 1) * TILE - 1;
        j = i + 1;
        step = width;
    } else {
        along = (k - s.upright) % width;
        i = (((k - s.upright) / width + 1) * TILE - 1) * width + along;
        j = i + width;
        step = 1;
    }
    bool first = along % TILE == 0;
    step = first ? 0 : step;
    value one = value_at(a, i), two = value_at(a, j), before = value_at(a, i - step),
          beside = value_at(a, j - step);
    bool joined =
        !first && linked(a, before, one) && linked(a, beside, two) && linked(a, before, beside);
    if (linked(a, one, two) && !joined)
        join_roots(a.parent, a.parent[i], a.parent[j]);
}

/* The roots of tiles' patches that hang from others add their counts to those of whole patches, and
 * then hang from these. */
static __global__ void __launch_bounds__(THREADS)
    count_kernel(const __grid_constant__ speckle_args a) {
    uint32_t first = FOUR * (blockIdx.x * THREADS + threadIdx.x),
             pixels = (uint32_t)a.width * (uint32_t)a.height;
    wait_for_previous_kernel();
#pragma unroll
    for (uint32_t i = first; i < first + FOUR; i++)
        if (i < pixels && a.count[i] > 0 && a.parent[i] != i) {
            uint32_t root = speckle_root_now(a.parent, i);
            atomicAdd(a.count + root, a.count[i]);
            a.parent[i] = root;
        }
}

int cuda_unit_speckles(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    const speckle_args *a = cuda_args<speckle_args>(g, unit, STAGE_speckle_drop, slot);
    if (!a || !cuda_args<speckle_args>(g, unit, STAGE_speckle_start, slot))
        return 0;
    unsigned width = (unsigned)a->width, height = (unsigned)a->height, at_once = FOUR * THREADS,
             blocks = (width * height + at_once - 1) / at_once;
    seams s = {(width - 1) / TILE * height, (height - 1) / TILE * width};
    launch_dependent(cuda, tile_kernel, cuda_blocks(a->width, TILE, a->height, TILE),
                     dim3(TILE, WARPS), *a);
    if (s.upright + s.level > 0)
        launch_dependent(cuda, seam_kernel, dim3((s.upright + s.level + THREADS - 1) / THREADS),
                         dim3(THREADS), *a, s);
    launch_dependent(cuda, count_kernel, dim3(blocks), dim3(THREADS), *a);
    cuda->plain[STAGE_speckle_drop](cuda, a, a->width, a->height);
    return 4;
}
