/*
 * Cross-shaped averaging in both passes at once, with the costs of the next level: the sums between
 * the passes never reach memory. A block goes down a strip of the picture with 4 * WORDS labels.
 * Each row becomes running sums along x, of which two differ by the sum over a pixel's horizontal
 * arms; those are summed down the column, and two of these, kept in a ring of as many rows as
 * vertical arms span, differ by the sum over the cross.
 *
 * Two labels share a word. Words are added and subtracted as they are: what carries from one label
 * into the next is taken back by the subtraction, as long as the sum over a cross is below 65536.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/packed_u16x2.h"

/* WORDS: a block's labels, four to a word; PARTS threads share a pixel. With 8 words they are a
 * pixel's lines of memory. */
enum { MAX_COLUMNS = 128, WORDS = 8, PARTS = WORDS / 2, CROSS_THREADS = PARTS * MAX_COLUMNS };

/* Lanes take an odd number of columns each, so that no two read from one bank; rows 2 apart lie
 * 1/PARTS of the banks apart. */
enum { EACH = 5, STRIDE = WARP_SIZE * EACH + 16 / PARTS };

/* Shared memory, in words: a row, WORDS rows of 4 labels a word; its running sums, even labels of
 * all words, then odd ones; 2^32 / count, rounded up; and the ring, whose slots have the same sums
 * down the columns and, of 16 bits each, the pixels that are in them. */
enum {
    INVERSES = (CROSS_PIXELS + 4) / 4 * 4,
    RING_STRIDE = MAX_COLUMNS + 16 / PARTS,
    RING_COUNTS = 2 * WORDS * RING_STRIDE,
    RING_SLOT = RING_COUNTS + MAX_COLUMNS / 2,
    RING_FROM = 3 * WORDS * STRIDE + INVERSES
};

struct cross_plan {
    int columns; /* of a strip, even */
    int halo;    /* columns read on either side of it */
    int slots;   /* rows of the ring */
    int reach;   /* longest vertical arm */
    int band;    /* rows of a block, even */
};

/* A thread's place: of a pixel's threads the one with these eight labels, and, in bytes of
 * shared memory, where its words lie. All that the loop over rows needs is a fixed distance away. A
 * thread without a pixel works along, on its own words, but stores nothing. */
struct cross_place {
    int x, column, label;
    bool exists, reads, reads_more; /* has a pixel of its own; reads one; and another */
    int row, sums, ring, counts, scan_in, scan_out;
    uint32_t scan_bytes;
};

/* Hides a value's origin from the compiler, which keeps it in a register instead of computing it
 * again at every use. */
DEVICE int opaque(int value) {
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(value));
#endif
    return value;
}

DEVICE char *cross_memory(void) {
    DYNAMIC_SHARED(uint32_t, memory);
    return reinterpret_cast<char *>(memory);
}

template <typename T> DEVICE T &shared_at(int bytes) {
    return *reinterpret_cast<T *>(cross_memory() + bytes);
}

DEVICE cross_place place_of(const cross_args &a, const cross_plan &p) {
    int part = (int)threadIdx.x % PARTS, warp = (int)threadIdx.x / WARP_SIZE,
        lane = (int)threadIdx.x % WARP_SIZE;
    cross_place t;
    t.column = (int)threadIdx.x / PARTS;
    t.x = (int)blockIdx.y * p.columns + t.column;
    t.label = 4 * WORDS * (int)blockIdx.x + 8 * part;
    bool labels = t.label < a.grid.padded;
    t.exists = labels && t.column < p.columns && t.x < a.grid.width;
    int x = t.x - p.halo, wide = p.columns + 2 * p.halo;
    t.reads = labels && t.column < wide && x >= 0 && x < a.grid.width;
    t.reads_more = labels && t.column + MAX_COLUMNS < wide && x + MAX_COLUMNS < a.grid.width;
    t.row = opaque(4 * (2 * part * STRIDE + t.column));
    t.sums = opaque(4 * ((WORDS + 2 * part) * STRIDE + p.halo + t.column));
    t.ring = opaque(4 * (RING_FROM + 2 * part * RING_STRIDE + t.column));
    t.counts = opaque(4 * (RING_FROM + RING_COUNTS) + 2 * t.column);
    t.scan_in = opaque(4 * (warp % WORDS * STRIDE + EACH * lane));
    t.scan_out = opaque(4 * ((WORDS + warp) * STRIDE + EACH * lane));
    t.scan_bytes = (uint32_t)opaque(warp < WORDS ? 0x4240 : 0x4341);
    return t;
}

/* A thread's labels in row after row: the next row's lie in the plane of the other parity. */
struct cross_walk {
    ptrdiff_t at, hop;
};

DEVICE cross_walk walk_from(const struct grid &g, int x, int y, int label) {
    ptrdiff_t row = (ptrdiff_t)g.half * g.padded, plane = row * g.height;
    int parity = (x ^ y) & 1;
    ptrdiff_t at = (ptrdiff_t)(x >> 1) * g.padded + label + y * row + (parity ? plane : 0);
    return {at, parity ? row - plane : row + plane};
}

DEVICE void walk_on(const struct grid &g, cross_walk *w) {
    w->at += w->hop;
    w->hop = 2 * (ptrdiff_t)(g.half * g.padded) - w->hop;
}

/* The labels of one or two pixels of a row; what lies outside stays zero. */
DEVICE void read_row(const cross_args &a, const cross_place &t, cross_walk *walk, uint2 words[2]) {
    const uint8_t *from = a.source + walk->at;
    if (t.reads)
        words[0] = __ldg(reinterpret_cast<const uint2 *>(from));
    if (t.reads_more)
        words[1] = __ldg(
            reinterpret_cast<const uint2 *>(from + (ptrdiff_t)(MAX_COLUMNS / 2) * a.grid.padded));
    walk_on(a.grid, walk);
}

DEVICE void keep_row(const cross_place &t, const uint2 words[2]) {
    shared_at<uint32_t>(t.row) = words[0].x;
    shared_at<uint32_t>(t.row + 4 * STRIDE) = words[0].y;
    if (t.column < STRIDE - MAX_COLUMNS) {
        shared_at<uint32_t>(t.row + 4 * MAX_COLUMNS) = words[1].x;
        shared_at<uint32_t>(t.row + 4 * (MAX_COLUMNS + STRIDE)) = words[1].y;
    }
}

/* total and, where there is a lane so many below, its total. */
DEVICE uint32_t add_from_below(uint32_t total, int lanes) {
#ifdef __CUDA_ARCH__ /* the shuffle says itself whether there is such a lane */
    asm volatile("{ .reg .pred p; .reg .u32 r;\n"
                 "  shfl.sync.up.b32 r|p, %0, %1, 0, 0xffffffff;\n"
                 "  @p add.u32 %0, %0, r; }"
                 : "+r"(total)
                 : "r"(lanes));
    return total;
#else
    uint32_t below = __shfl_up_sync(ALL_LANES, total, lanes);
    return total + ((int)threadIdx.x % WARP_SIZE >= lanes ? below : 0);
#endif
}

/* A warp has the even or the odd ones of four labels. Sums before column i are number i. */
DEVICE void run_sums(const cross_place &t) {
    uint32_t sum[EACH], total;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        sum[i] = __byte_perm(shared_at<uint32_t>(t.scan_in + 4 * i), 0, t.scan_bytes) +
                 (i ? sum[i - 1] : 0);
    total = sum[EACH - 1];
#pragma unroll
    for (int lanes = 1; lanes < WARP_SIZE; lanes *= 2)
        total = add_from_below(total, lanes);
    uint32_t before = total - sum[EACH - 1];
    shared_at<uint32_t>(t.scan_out) = before;
#pragma unroll
    for (int i = 0; i + 1 < EACH; i++)
        shared_at<uint32_t>(t.scan_out + 4 * (i + 1)) = before + sum[i];
}

/* Arms as they lie in memory: up, down, left, right from the lowest byte on. */
DEVICE int arm_of(uint32_t arms, int direction) {
    static_assert(UP == 0 && DOWN == 1 && LEFT == 2 && RIGHT == 3, "order of struct arms");
    return (int)(arms >> 8 * direction & 255);
}

/* A thread's column: running sums down it, of even and odd labels of two words. */
struct cross_column {
    uint32_t even[2], odd[2], count;
};

DEVICE void add_row(const cross_place &t, uint32_t arms, cross_column *c) {
    int left = arm_of(arms, LEFT), right = arm_of(arms, RIGHT);
    int from = t.sums - 4 * left, to = t.sums + 4 * right + 4;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int even = 4 * k * STRIDE, odd = 4 * (WORDS + k) * STRIDE;
        c->even[k] += shared_at<uint32_t>(to + even) - shared_at<uint32_t>(from + even);
        c->odd[k] += shared_at<uint32_t>(to + odd) - shared_at<uint32_t>(from + odd);
    }
    c->count += (uint32_t)(left + right + 1);
}

enum { SLOT_BYTES = 4 * RING_SLOT, RING_ODD = 4 * WORDS * RING_STRIDE };

/* at: a slot's distance from the first one. The threads of a pixel share its count. */
DEVICE void ring_put(const cross_place &t, int at, const cross_column &c) {
    int to = t.ring + at;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        shared_at<uint32_t>(to + 4 * k * RING_STRIDE) = c.even[k];
        shared_at<uint32_t>(to + 4 * k * RING_STRIDE + RING_ODD) = c.odd[k];
    }
    shared_at<uint16_t>(t.counts + at) = (uint16_t)c.count;
}

/* Four sums / count by multiplying with inverse; up is half of count. Exact while sum * count
 * stays below 2^32. A count of one, whose inverse has no room, takes 2^32 - 1 and up 1. */
DEVICE uint32_t means(uint32_t even, uint32_t odd, uint32_t up, uint32_t inverse) {
    uint32_t a = __umulhi((even & 0xffff) + up, inverse),
             b = __umulhi((odd & 0xffff) + up, inverse);
    uint32_t c = __umulhi((even >> 16) + up, inverse), d = __umulhi((odd >> 16) + up, inverse);
    return a + (b << 8) + (c << 16) + (d << 24);
}

/* The eight means of the row whose sums lie in the slot at distance at; end: that behind the last
 * slot. */
DEVICE uint2 mean_of(const cross_place &t, uint32_t arms, int at, int end) {
    int last = at + arm_of(arms, DOWN) * SLOT_BYTES,
        before = at - arm_of(arms, UP) * SLOT_BYTES - SLOT_BYTES;
    last -= last >= end ? end : 0;
    before += before < 0 ? end : 0;
    uint32_t count =
        (shared_at<uint16_t>(t.counts + last) - shared_at<uint16_t>(t.counts + before)) & 0xffffu;
    uint32_t inverse = shared_at<uint32_t>(4 * (RING_FROM - INVERSES) + 4 * (int)count),
             up = max(count / 2, 1u), w[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int to = t.ring + last + 4 * k * RING_STRIDE, from = t.ring + before + 4 * k * RING_STRIDE;
        w[k] = means(shared_at<uint32_t>(to) - shared_at<uint32_t>(from),
                     shared_at<uint32_t>(to + RING_ODD) - shared_at<uint32_t>(from + RING_ODD), up,
                     inverse);
    }
    return make_uint2(w[0], w[1]);
}

static __device__ void start_block(const cross_plan &p, const cross_place &t) {
    cross_column none = {};
    for (int slot = 0; slot < p.slots; slot++)
        ring_put(t, slot * SLOT_BYTES, none);
    for (int i = (int)threadIdx.x; i <= CROSS_PIXELS; i += CROSS_THREADS)
        shared_at<uint32_t>(4 * (RING_FROM - INVERSES + i)) =
            i < 2 ? 0xffffffffu : 0xffffffffu / (uint32_t)i + 1;
}

/* Sums of two rows, of two pixels each, as 16-bit labels in their order. */
DEVICE uint4 sum_rows(uint2 upper, uint2 lower) {
    uint32_t w[4];
    labels_of_rows(upper.x, lower.x, w);
    labels_of_rows(upper.y, lower.y, w + 2);
    return make_uint4(w[0], w[1], w[2], w[3]);
}

/* Whether row y of so many ends a node whose left pixel the thread has: each second row does, and
 * the last one. Sums of its pixels go to *sums. w: the row's means; upper: those of the row above,
 * two pixels added. */
DEVICE bool ends_node(const cross_place &t, int y, int height, uint2 w, uint2 *upper, uint4 *sums) {
    w = t.exists ? w : make_uint2(0, 0);
    w.x += __shfl_down_sync(ALL_LANES, w.x, PARTS);
    w.y += __shfl_down_sync(ALL_LANES, w.y, PARTS);
    if (!(y & 1) && y + 1 < height) {
        *upper = w;
        return false;
    }
    *sums = y & 1 ? sum_rows(*upper, w) : sum_rows(w, make_uint2(0, 0));
    return t.exists && !(t.column & 1);
}

/* All but band. */
static cross_plan plan_of(const cross_args *a) {
    cross_plan p = {0, a->longest_x, 2 * a->longest_y + 2, a->longest_y, 0};
    p.columns = stage_min(MAX_COLUMNS, WARP_SIZE * EACH - 1 - 2 * p.halo) & -2;
    return p;
}

static size_t cross_shared(const cross_plan *p) {
    return sizeof(uint32_t) * (size_t)(RING_FROM + p->slots * RING_SLOT);
}

/* Long arms, whose rows, sums or ring do not fit, go through the plain stages. */
static bool cross_fits(const backend_cuda *cuda, const cross_plan *p) {
    return p->columns >= MAX_COLUMNS / 2 && cross_shared(p) <= cuda->max_shared &&
           (2 * p->halo + 1) * (2 * p->reach + 1) <= CROSS_PIXELS;
}

/* DOWNSAMPLE: also computes the costs of the next coarser level. */
template <bool DOWNSAMPLE>
static __global__ void __launch_bounds__(CROSS_THREADS, 1024 / CROSS_THREADS)
    cross_kernel(const __grid_constant__ cross_args a, const __grid_constant__ cross_plan p,
                 const __grid_constant__ downsample_cost_args h) {
    int top = (int)blockIdx.z * p.band, bottom = min(top + p.band, a.grid.height);
    int y = max(0, top - p.reach), y_out = y - p.reach, end = p.slots * SLOT_BYTES;
    int at = 0, at_out = (2 * p.slots - p.reach) % p.slots * SLOT_BYTES;
    cross_place t = place_of(a, p);
    cross_walk in = walk_from(a.grid, t.x - p.halo, y, t.label),
               out = walk_from(a.grid, t.x, top, t.label);
    const uint32_t *column =
                       reinterpret_cast<const uint32_t *>(a.arms) + min(t.x, a.grid.width - 1),
                   *from = column + (ptrdiff_t)y * a.grid.width,
                   *from_out = column + (ptrdiff_t)top * a.grid.width;
    cross_column c = {};
    uint2 words[2] = {}, upper = {}; /* the next row, being read from memory; see sum_rows */
    wait_for_previous_kernel();
    start_block(p, t);
    read_row(a, t, &in, words);
    uint32_t next = __ldg(from), next_out = __ldg(from_out);
    for (; y < bottom + p.reach; y++, y_out++) {
        uint32_t here = next, here_out = next_out;
        keep_row(t, words);
        __syncthreads();
        if (y + 1 < a.grid.height) {
            read_row(a, t, &in, words);
            next = __ldg(from += a.grid.width);
        }
        if (y_out >= top && y_out + 1 < bottom)
            next_out = __ldg(from_out += a.grid.width);
        run_sums(t);
        __syncthreads();
        add_row(t, here, &c);
        ring_put(t, at, c);
        __syncwarp();
        if (y_out >= top) {
            uint2 w = mean_of(t, here_out, at_out, end);
            if (t.exists)
                *reinterpret_cast<uint2 *>(a.out + out.at) = w;
            walk_on(a.grid, &out);
            if constexpr (DOWNSAMPLE) {
                uint4 sums;
                if (ends_node(t, y_out, h.fine.height, w, &upper, &sums))
                    *reinterpret_cast<uint4 *>(h.cost + grid_labels(&h.grid, t.x >> 1, y_out >> 1) +
                                               t.label) = sums;
            }
        }
        at = at + SLOT_BYTES == end ? 0 : at + SLOT_BYTES;
        at_out = at_out + SLOT_BYTES == end ? 0 : at_out + SLOT_BYTES;
    }
}

/* As many bands as fill half of the multiprocessors once: both views are averaged beside each
 * other. Blocks that share lines of memory follow each other. */
static dim3 cross_blocks(const backend_cuda *cuda, const cross_args *a, cross_plan *p) {
    unsigned strips = (unsigned)(a->grid.width + p->columns - 1) / (unsigned)p->columns,
             slices = (unsigned)(a->grid.padded + 4 * WORDS - 1) / (4 * WORDS);
    int fit =
        stage_clamp((int)(cuda->max_shared / (cross_shared(p) + 1024)), 1, 1024 / CROSS_THREADS);
    int bands = stage_max(1, fit * cuda->processors / (int)(2 * strips * slices));
    p->band = stage_max((a->grid.height + bands - 1) / bands, 2 * p->reach + 8);
    p->band += p->band & 1;
    return dim3(slices, strips, (unsigned)((a->grid.height + p->band - 1) / p->band));
}

bool cuda_leaves_out(void *context, const struct graph *g, int i) {
    if (g->passes[i].stage == STAGE_fill)
        return g->passes[i].of == UNIT_SIDES;
    if (g->passes[i].stage != STAGE_cross_x)
        return false;
    cross_plan p = plan_of(static_cast<const cross_args *>(graph_virtual_args(g, i)));
    return cross_fits(static_cast<const backend_cuda *>(context), &p);
}

/* Both passes, with the next level's costs where they follow. */
int cuda_unit_averages(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    const cross_args *rows = cuda_args<cross_args>(g, unit, STAGE_cross_x, slot);
    if (!rows)
        return 0;
    cross_args a = *cuda_args<cross_args>(g, unit, STAGE_cross_y, slot);
    const downsample_cost_args *next =
        cuda_args<downsample_cost_args>(g, unit, STAGE_downsample_cost, slot);
    bool sums = next && next->levels == 1;
    cross_plan p = plan_of(&a);
    if (!cross_fits(cuda, &p))
        return 0;
    a.source = rows->source;
    dim3 blocks = cross_blocks(cuda, &a, &p);
    void (*kernel)(cross_args, cross_plan, downsample_cost_args) =
        sums ? cross_kernel<true> : cross_kernel<false>;
    allow_shared(cuda, kernel);
    launch_with_memory(cuda, kernel, blocks, dim3(CROSS_THREADS), cross_shared(&p), a, p,
                       sums ? *next : downsample_cost_args());
    return sums ? 3 : 2;
}
