/*
 * The pyramids of costs and messages optimised for CUDA: 16 labels a thread, so that volumes are
 * read and written 16 bytes at a time.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/packed_u16x2.h"
#include "gpu/cuda/launch.cuh"

enum { THREADS = 256 };

/* A thread's labels, 16 or fewer. */
struct label_block {
    int x, y, first;
    bool exists;
};

template <int LABELS = LABEL_BLOCK> DEVICE label_block block_of(const grid &g) {
    int group = g.padded / LABELS, i = (int)(blockIdx.x * THREADS + threadIdx.x);
    label_block b = {i / group, (int)blockIdx.y, i % group * LABELS, false};
    b.exists = b.x < g.width;
    return b;
}

/* The same of the pixels of one parity. */
DEVICE label_block block_of_parity(const grid &g, int parity) {
    label_block b = block_of(g);
    b.x = grid_column(parity, b.x, b.y);
    b.exists = b.x < g.width;
    return b;
}

DEVICE label_words load_words(const void *from) {
    uint4 w = __ldg(static_cast<const uint4 *>(from));
    return {{w.x, w.y, w.z, w.w}};
}

DEVICE void store_words(void *to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    *static_cast<uint4 *>(to) = make_uint4(a, b, c, d);
}

DEVICE uint32_t add_saturated(uint32_t a, uint32_t b) {
    return u16x2_min(a + b, u16x2_broadcast(COST_SATURATION)); /* two of at most 30720 fit a lane */
}

/* Children of a node, or their children. */
template <int SIDE>
static __global__ void __launch_bounds__(THREADS)
    downsample_kernel(const __grid_constant__ downsample_cost_args a) {
    wait_for_previous_kernel();
    label_block b = block_of(a.grid);
    if (!b.exists)
        return;
    uint16_t *out = a.cost + grid_labels(&a.grid, b.x, b.y) + b.first;
    uint32_t total[8] = {};
    label_sums sums = {};
#pragma unroll
    for (int k = 0; k < SIDE * SIDE; k++) {
        int x = SIDE * b.x + k % SIDE, y = SIDE * b.y + k / SIDE;
        if (x >= a.fine.width || y >= a.fine.height)
            continue;
        size_t at = grid_labels(&a.fine, x, y) + (size_t)b.first;
        if (a.fine8) {
            label_words w = load_words(a.fine8 + at);
            sums_add(&sums, &w);
            continue;
        }
        label_words low = load_words(a.fine16 + at), high = load_words(a.fine16 + at + 8);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            total[i] = add_saturated(total[i], low.w[i]);
            total[i + 4] = add_saturated(total[i + 4], high.w[i]);
        }
    }
    if (a.fine8) {
        packed_labels l;
        sums_to_packed(&sums, &l);
        packed_to_u16(&l, total);
    }
    store_words(out, total[0], total[1], total[2], total[3]);
    store_words(out + 8, total[4], total[5], total[6], total[7]);
}

void cuda_launch_downsample_cost(backend_cuda *cuda, const void *args, int, int) {
    const downsample_cost_args *a = static_cast<const downsample_cost_args *>(args);
    int threads = a->grid.width * (a->grid.padded / LABEL_BLOCK);
    launch_dependent(cuda, a->levels > 1 ? downsample_kernel<4> : downsample_kernel<2>,
                     cuda_blocks(threads, THREADS, a->grid.height, 1), dim3(THREADS), *a);
}

/* Two sums / count by multiplying with inverse, 2^32 / count rounded up; count > 1. */
DEVICE uint32_t divide_lanes(uint32_t sums, uint32_t count, uint32_t inverse) {
    uint32_t low = (sums & 0xffff) + count / 2, high = (sums >> 16) + count / 2;
    return __umulhi(low, inverse) | __umulhi(high, inverse) << 16;
}

/* A thread has 8 labels of a node. */
static __global__ void __launch_bounds__(THREADS)
    cross_nodes_kernel(const __grid_constant__ cross_nodes_args a) {
    label_block b = block_of<8>(a.grid);
    wait_for_previous_kernel();
    if (!b.exists)
        return;
    node_range r = cross_nodes_range(&a, b.x, b.y);
    uint32_t count = (uint32_t)(r.last - r.first + 1), w[4] = {};
    for (int px = r.first; px <= r.last; px++) {
        label_words more = load_words(a.source + grid_labels(&a.grid, px, b.y) + b.first);
#pragma unroll
        for (int k = 0; k < 4; k++)
            w[k] += more.w[k];
    }
    uint32_t inverse = 0xffffffffu / count + 1;
#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = count > 1 ? divide_lanes(w[k], count, inverse) : w[k];
    store_words(a.out + grid_labels(&a.grid, b.x, b.y) + b.first, w[0], w[1], w[2], w[3]);
}

void cuda_launch_cross_nodes(backend_cuda *cuda, const void *args, int, int) {
    const cross_nodes_args *a = static_cast<const cross_nodes_args *>(args);
    launch_dependent(cuda, cross_nodes_kernel,
                     cuda_blocks(a->grid.width * (a->grid.padded / 8), THREADS, a->grid.height, 1),
                     dim3(THREADS), *a);
}

/* Two labels of each word, with their sums: those whose match lies in the other picture. */
template <int WORDS, typename Use>
DEVICE void each_label(const label_range &range, const uint32_t (&sums)[WORDS], Use use) {
#pragma unroll
    for (int i = 0; i < 2 * WORDS; i++) {
        int d = 2 * (i / 2 * WARP_SIZE + (int)threadIdx.x % WARP_SIZE) + i % 2;
        if (d >= range.first && d < range.end)
            use(i % 2 ? sums[i / 2] >> 16 : sums[i / 2] & 0xffff, d);
    }
}

/* By the costs summed over nodes, in all lanes. */
template <int WORDS>
DEVICE node_costs node_costs_of(const label_range &range, const uint32_t (&sums)[WORDS]) {
    node_costs c = {0, 0, 0, 0, UINT32_MAX};
    uint32_t least = UINT32_MAX; /* the cost above its label */
    each_label(range, sums, [&](uint32_t v, int d) {
        c.sum += v;
        least = min(least, v << 16 | (uint32_t)d);
    });
    c.sum = (uint32_t)warp_sum((int)c.sum);
    least = warp_min(least);
    c.least = least >> 16;
    c.label = least & 0xffff;
    uint32_t limit = evidence_limit(range.end - range.first, c.sum, c.least);
    each_label(range, sums, [&](uint32_t v, int d) {
        c.near += v <= limit;
        c.second = abs(d - (int)c.label) > MATCH_APART ? min(c.second, v) : c.second;
    });
    c.near = (uint32_t)warp_sum((int)c.near);
    c.second = warp_min(c.second);
    return c;
}

/* A warp has NODES nodes of a row and those that count for them in registers, two labels a word;
 * lane i finds the match of node i. */
template <int WORDS, int NODES>
static __global__ void __launch_bounds__(THREADS)
    node_match_kernel(const __grid_constant__ evidence_args a) {
    int lane = (int)threadIdx.x % WARP_SIZE, y = (int)blockIdx.y,
        first = NODES * (int)((blockIdx.x * THREADS + threadIdx.x) / WARP_SIZE);
    uint32_t node[NODES + 2 * EVIDENCE_REACH][WORDS] = {}, sums[WORDS] = {};
    node_costs own = {};
    wait_for_previous_kernel();
    if (first >= a.grid.width)
        return;
#pragma unroll
    for (int i = 0; i < (NODES + 2 * EVIDENCE_REACH) * WORDS; i++) {
        int x = first + i / WORDS - EVIDENCE_REACH, at = 2 * (i % WORDS * WARP_SIZE + lane);
        if (x >= 0 && x < a.grid.width && at < a.grid.padded)
            node[i / WORDS][i % WORDS] = __ldg(
                reinterpret_cast<const uint32_t *>(a.source + grid_labels(&a.grid, x, y) + at));
    }
#pragma unroll
    for (int i = 0; i < NODES + 2 * EVIDENCE_REACH; i++) {
        int k = i - 2 * EVIDENCE_REACH; /* the node whose last neighbour this is */
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            sums[w] += node[i][w] - (k > 0 ? node[k - 1][w] : 0);
        if (k < 0)
            continue;
        node_costs c = node_costs_of(evidence_labels(&a, first + k), sums);
        own = lane == k ? c : own;
    }
    if (first + lane == 0 && y == 0 && a.ground)
        *a.ground = 0;
    if (lane >= NODES || first + lane >= a.grid.width)
        return;
    label_range range = evidence_labels(&a, first + lane);
    a.match[y * a.grid.width + first + lane] =
        node_match_of(&a, evidence_nodes(&a, first + lane), range.end - range.first, &own);
}

template <int WORDS, int NODES>
static void launch_node_match(backend_cuda *cuda, const evidence_args *a) {
    int warps = (a->grid.width + NODES - 1) / NODES;
    launch_dependent(cuda, node_match_kernel<WORDS, NODES>,
                     cuda_blocks(warps * WARP_SIZE, THREADS, a->grid.height, 1), dim3(THREADS), *a);
}

void cuda_launch_node_match(backend_cuda *cuda, const void *args, int, int) {
    const evidence_args *a = static_cast<const evidence_args *>(args);
    if (a->grid.padded <= 64)
        launch_node_match<1, 8>(cuda, a);
    else if (a->grid.padded <= 128)
        launch_node_match<2, 8>(cuda, a);
    else if (a->grid.padded <= 256)
        launch_node_match<4, 8>(cuda, a);
    else
        launch_node_match<MAX_LABELS / 64, 4>(cuda, a);
}

/* ---- evidence, perhaps with the sums of the next level */

enum { EIGHT = 8, QUAD = 4, MOST_QUADS = THREADS * EIGHT / LABEL_BLOCK };

DEVICE int quad_x(int quad, int k) {
    return 2 * quad + k % 2;
}

/* A thread has 8 labels of 2x2 nodes; the weights of a block's nodes are found first. d.cost: of a
 * node that has these, or null. quads: of a block. */
static __global__ void __launch_bounds__(THREADS)
    evidence_kernel(const __grid_constant__ evidence_args a,
                    const __grid_constant__ downsample_cost_args d, int quads) {
    __shared__ node_weight weight[QUAD * MOST_QUADS];
    int group = a.grid.padded / EIGHT, first = (int)blockIdx.x * quads, top = 2 * (int)blockIdx.y,
        quad = (int)threadIdx.x / group, label = (int)threadIdx.x % group * EIGHT;
    uint32_t total[4] = {};
    wait_for_previous_kernel();
    for (int i = (int)threadIdx.x; i < QUAD * quads; i += THREADS) {
        int x = quad_x(first + i / QUAD, i), y = top + i % QUAD / 2;
        if (x < a.grid.width && y < a.grid.height)
            weight[i] = node_weight_of(&a, x, y, ground_of_row(&a, y));
    }
    __syncthreads();
    if (quad >= quads)
        return;
#pragma unroll
    for (int k = 0; k < QUAD; k++) {
        int x = quad_x(first + quad, k), y = top + k / 2;
        if (x >= a.grid.width || y >= a.grid.height)
            continue;
        node_weight own = weight[QUAD * quad + k];
        size_t at = grid_labels(&a.grid, x, y) + (size_t)label;
        label_words w = load_words(a.source + at);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            w.w[i] = evidence_scaled((int)(w.w[i] & 0xffff), &own, label + 2 * i) |
                     (uint32_t)evidence_scaled((int)(w.w[i] >> 16), &own, label + 2 * i + 1) << 16;
            total[i] = add_saturated(total[i], w.w[i]);
        }
        store_words(a.out + at, w.w[0], w.w[1], w.w[2], w.w[3]);
    }
    if (d.cost && first + quad < d.grid.width)
        store_words(d.cost + grid_labels(&d.grid, first + quad, (int)blockIdx.y) + label, total[0],
                    total[1], total[2], total[3]);
}

static void launch_evidence(backend_cuda *cuda, const evidence_args *a,
                            const downsample_cost_args *d) {
    int quads = THREADS * EIGHT / a->grid.padded;
    launch_dependent(cuda, evidence_kernel,
                     cuda_blocks((a->grid.width + 1) / 2, quads, (a->grid.height + 1) / 2, 1),
                     dim3(THREADS), *a, d ? *d : downsample_cost_args(), quads);
}

void cuda_launch_evidence(backend_cuda *cuda, const void *args, int, int) {
    launch_evidence(cuda, static_cast<const evidence_args *>(args), nullptr);
}

int cuda_unit_evidence(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    const evidence_args *a = cuda_args<evidence_args>(g, unit, STAGE_evidence, slot);
    const downsample_cost_args *d =
        cuda_args<downsample_cost_args>(g, unit, STAGE_downsample_cost, slot);
    if (!a || !d)
        return 0;
    launch_evidence(cuda, a, d);
    return 2;
}

enum { LINE_THREADS = 512, NEAR_COUNTS = 1 << 14 };
static_assert((int)LINE_THREADS >= (int)MAX_LABELS, "a thread each line");

/* A block has the lines of one horizon. For as many rows as fit it counts the labels of least cost
 * that are within 1 of each label from -1 on, then adds what lies on the lines, several threads a
 * line. */
static __global__ void __launch_bounds__(LINE_THREADS)
    ground_line_kernel(const __grid_constant__ evidence_args a) {
    __shared__ uint32_t near[NEAR_COUNTS / 2], votes[LINE_THREADS]; /* two counts a word */
    __shared__ uint64_t most;
    const struct grid &g = a.grid;
    int thread = (int)threadIdx.x, horizon = (int)blockIdx.x, groups = ground_groups(&g),
        counts = g.labels + 2, step = LINE_THREADS / g.labels, line = thread % g.labels,
        below = g.height - horizon, twice = 2 * (GROUND_BOTTOM + line);
    uint64_t inverse = (1ull << 40) / (uint32_t)(2 * below) + 1; /* of numbers below 2^26 */
    votes[thread] = 0;
    if (thread == 0)
        most = 0;
    wait_for_previous_kernel();
    for (int top = horizon + 2; top < g.height; top += 2 * (NEAR_COUNTS / counts)) {
        int rows = min(NEAR_COUNTS / counts, (g.height - top + 1) / 2);
        for (int i = thread; i < (rows * counts + 1) / 2; i += LINE_THREADS)
            near[i] = 0;
        __syncthreads();
        for (int i = thread; i < rows * groups; i += LINE_THREADS) {
            int row = i / groups, least = ground_voter(&a, i % groups, top + 2 * row);
            for (int at = row * counts + least, k = 0; k < 3 && least != NO_MATCH; k++, at++)
                atomicAdd(&near[at / 2], 1u << 16 * (at & 1));
        }
        __syncthreads();
        uint32_t sum = 0;
        for (int row = thread / g.labels; row < rows && thread < step * g.labels; row += step) {
            /* ground_label() + 1 */
            uint32_t whole = (uint32_t)(twice * (top + 2 * row - horizon) + below);
            int label = (int)(whole * inverse >> 40) - g.space.u_min + 1, at = row * counts + label;
            if (label >= 0 && label < counts)
                sum += near[at / 2] >> 16 * (at & 1) & 0xffff;
        }
        atomicAdd(&votes[line], sum);
        __syncthreads();
    }
    __syncthreads();
    if (thread < g.labels)
        stage_raise64(&most, ground_vote(votes[thread], horizon, GROUND_BOTTOM + thread));
    __syncthreads();
    if (thread == 0)
        stage_raise64(a.ground, most);
}

void cuda_launch_ground_line(backend_cuda *cuda, const void *args, int, int height) {
    launch_dependent(cuda, ground_line_kernel, dim3((unsigned)height), dim3(LINE_THREADS),
                     *static_cast<const evidence_args *>(args));
}

/* A thread each 16 labels of a pixel of one parity. */
template <bool ZERO>
static __global__ void __launch_bounds__(THREADS)
    start_kernel(const __grid_constant__ start_messages_args a) {
    wait_for_previous_kernel();
    label_block b = block_of_parity(a.grid, a.parity);
    if (!b.exists)
        return;
    size_t from = ZERO ? 0 : grid_labels(&a.coarse, b.x / 2, b.y / 2) + (size_t)b.first,
           to = grid_labels(&a.grid, b.x, b.y) + (size_t)b.first;
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++) {
        label_words w = {};
        if (!ZERO)
            w = load_words(a.parent[r] + from);
        store_words(a.message[r] + to, w.w[0], w.w[1], w.w[2], w.w[3]);
    }
}

void cuda_launch_start_messages(backend_cuda *cuda, const void *args, int, int) {
    const start_messages_args *a = static_cast<const start_messages_args *>(args);
    int threads = a->grid.half * (a->grid.padded / LABEL_BLOCK);
    launch_dependent(cuda, a->parent[0] ? start_kernel<false> : start_kernel<true>,
                     cuda_blocks(threads, THREADS, a->grid.height, 1), dim3(THREADS), *a);
}
