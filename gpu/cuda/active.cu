/*
 * Fast-converging updates optimised for CUDA: half-steps of active tiles. A block looks at a tile a
 * thread, lists the active ones, and its warps share their pixels, so that tiles which are not
 * active cost next to nothing. A block's tiles lie far apart: where much is active, many blocks
 * share it.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/bp.cuh"
#include "gpu/cuda/launch.cuh"

/* The tile arguments of the half-step of struct message_args. */
struct active_tiles {
    const uint16_t *active;
    uint16_t *next;
    uint32_t *updates;
    int iteration;
    uint32_t threshold;
};

/* Largest change of a real label among a thread's 16. */
DEVICE uint32_t largest_change(const bp_level &a, const work_item &p, const label_words &fresh,
                               const label_words &old) {
    uint32_t maximum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int labels = stage_clamp(a.grid.labels - p.first - 4 * k, 0, 4);
        uint32_t change = __vabsdiffu4(fresh.w[k], old.w[k]) & (uint32_t)((1ull << 8 * labels) - 1);
        maximum = __vmaxu4(maximum, change);
    }
    maximum = __vmaxu4(maximum, maximum >> 16);
    return max(maximum & 255, maximum >> 8 & 255);
}

/* Marks the tile that gets p's message in direction r. */
DEVICE void activate(const bp_level &a, const active_tiles &t, const work_item &p, int r) {
    int x = p.x + (r == RIGHT) - (r == LEFT), y = p.y + (r == DOWN) - (r == UP);
    if (x >= 0 && y >= 0 && x < a.grid.width && y < a.grid.height)
        t.next[tile_of(a.grid.width, x, y)] = (uint16_t)(t.iteration + 1);
}

template <bool INSIDE, bool WIDE, int GROUP, int EDGES>
DEVICE void send_and_compare(const bp_level &a, const active_tiles &t, const work_item &p) {
    packed_labels in[DIRECTIONS];
    label_words old[DIRECTIONS]; /* all are on their way before the first is needed */
    read_all<INSIDE, false>(a, p, in);
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++) {
        uint4 w = make_uint4(0, 0, 0, 0);
        if (p.exists)
            w = *reinterpret_cast<const uint4 *>(a.out[r] + p.at);
        old[r] = {{w.x, w.y, w.z, w.w}};
    }
    packed_labels cost = cost_of<INSIDE, WIDE>(a, p, a.parity);
    int classes = classes_at<EDGES>(a, p.x, p.y, p.exists);
    send_sums(cost, in, [&](int r, packed_labels h) {
        uint32_t minimum = convolve<GROUP, EDGES>(a, p, &h, weight_of<EDGES>(a, classes, r));
        label_words fresh = packed_to_bytes(&h, minimum);
        if (p.exists && largest_change(a, p, fresh, old[r]) > t.threshold)
            activate(a, t, p, r);
        store_words(a.out[r] + p.at, fresh, p.exists);
    });
}

/* The thread's labels of pixel number k of a tile. */
template <int GROUP>
DEVICE work_item item_of(const bp_level &a, int tile, int k, int pixel, bool exists) {
    work_item p;
    int columns = tile_columns(a.grid.width);
    p.group = GROUP ? GROUP : a.group;
    p.lane = (int)threadIdx.x % WARP_SIZE;
    p.in_group = p.lane - pixel * p.group;
    p.first = LABEL_BLOCK * p.in_group;
    p.i = tile % columns * (TILE_WIDTH / 2) + k % (TILE_WIDTH / 2);
    p.y = tile / columns * TILE_HEIGHT + k / (TILE_WIDTH / 2);
    p.x = grid_column(a.parity, p.i, p.y);
    p.at =
        ((size_t)p.y * (size_t)a.grid.half + (size_t)p.i) * (size_t)a.grid.padded + (size_t)p.first;
    p.exists = exists && p.x < a.grid.width && p.y < a.grid.height;
    return p;
}

enum { THREADS = 256, MIN_TILES = 32 };

/* The active ones of the block's tiles, at most THREADS, in any order; returns how many. Those with
 * a pixel of the parity are counted, as count_update() does. */
DEVICE int list_active(const bp_level &a, const active_tiles &t, int tiles, int list[THREADS]) {
    __shared__ int count;
    int tile = (int)(blockIdx.x + gridDim.x * threadIdx.x), columns = tile_columns(a.grid.width);
    bool active = (int)threadIdx.x < tiles && tile < tile_count(a.grid.width, a.grid.height) &&
                  (!t.active || t.active[tile] == t.iteration);
    int y = tile / columns * TILE_HEIGHT,
        x = grid_column(a.parity, tile % columns * (TILE_WIDTH / 2), y);
    if (threadIdx.x == 0)
        count = 0;
    int updates = __syncthreads_count(active && (x < a.grid.width || y + 1 < a.grid.height));
    if (active)
        list[atomicAdd(&count, 1)] = tile;
    if (t.updates && threadIdx.x == 0 && updates)
        atomicAdd(t.updates + t.iteration, (uint32_t)updates);
    __syncthreads();
    return count;
}

template <bool WIDE, int GROUP, int EDGES>
static __global__ void __launch_bounds__(THREADS, 2)
    active_kernel(const __grid_constant__ bp_level a, const __grid_constant__ active_tiles t,
                  int tiles) {
    if constexpr (!LEFT_OUT(GROUP)) {
        __shared__ int list[THREADS];
        wait_for_previous_kernel();
        int count = list_active(a, t, tiles, list) * TILE_PIXELS;
        int group = GROUP ? GROUP : a.group, pixels = WARP_SIZE / group,
            warp = (int)threadIdx.x / WARP_SIZE, pixel = ((int)threadIdx.x % WARP_SIZE) / group;
        for (int start = warp * pixels; start < count; start += THREADS / WARP_SIZE * pixels) {
            int k = start + pixel;
            bool exists = pixel < pixels && k < count;
            work_item p = item_of<GROUP>(a, exists ? list[k / TILE_PIXELS] : 0, k % TILE_PIXELS,
                                         pixel, exists);
            if (all_inside(a, p, 1))
                send_and_compare<true, WIDE, GROUP, EDGES>(a, t, p);
            else
                send_and_compare<false, WIDE, GROUP, EDGES>(a, t, p);
        }
    }
}

typedef void (*active_kernel_of)(bp_level, active_tiles, int);

void cuda_launch_message(backend_cuda *cuda, const void *args, int width, int height) {
    static const active_kernel_of kernels[2][BP_KERNELS] = {BP_KERNELS_OF(active_kernel < false, ),
                                                            BP_KERNELS_OF(active_kernel < true, )};
    const message_args *m = static_cast<const message_args *>(args);
    if (m->windows) {
        cuda_launch_window_message(cuda, args, width, height);
        return;
    }
    if (!m->next_active) {
        bp_launch_half_step(cuda, m);
        return;
    }
    bp_level a = bp_level_of(m);
    bp_choose_planes(&a, m->message, !a.parity, a.parity);
    active_tiles t = {m->active, m->next_active, m->updates, m->iteration, (uint32_t)m->threshold};
    /* a block for each multiprocessor's places, so that small levels are shared as well */
    int count = tile_count(a.grid.width, a.grid.height),
        tiles = stage_clamp(count / (2 * cuda->processors), MIN_TILES, THREADS);
    launch_dependent(cuda, kernels[a.cost16 != nullptr][bp_kernel_for(cuda, &a)],
                     dim3((unsigned)(count + tiles - 1) / tiles), dim3(THREADS), a, t, tiles);
}
