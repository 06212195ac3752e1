/*
 * Cross-shaped averaging tuned for CUDA, both passes in one: the sums between them never reach
 * memory. A block goes down a strip of the picture with 32 labels. Each row becomes running sums
 * along x, of which two differ by the sum over a pixel's horizontal arms; those are summed down the
 * column, and two of these, kept in a ring of as many rows as vertical arms span, differ by the sum
 * over the cross.
 *
 * Two labels share a word. Words are added and subtracted as they are: what carries from one label
 * into the next is taken back by the subtraction, as long as the sum over a cross is below 65536.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend_cuda.h"

enum { COLUMNS = 128, THREADS = 4 * COLUMNS, WORDS = 8, LOADS = 2, RING_STRIDE = COLUMNS + 4 };

struct cross_plan {
    int halo;   /* columns read on either side of a strip */
    int stride; /* words to a row of running sums; rows 2 apart lie a quarter of the banks apart */
    int slots;  /* rows of the ring */
    int reach;  /* longest vertical arm */
    int band;   /* rows of a block */
};

static __device__ __forceinline__ int columns_read(const cross_plan &p) {
    return COLUMNS + 2 * p.halo;
}

/* Four threads to a pixel, eight labels each. */
static __device__ __forceinline__ int quarter(void) {
    return (int)threadIdx.x & 3;
}

/* A thread's share of a row: its labels of one or two pixels. */
static __device__ __forceinline__ void read_row(const cross_args &a, const cross_plan &p, int y,
                                                uint2 words[LOADS]) {
    int left = (int)blockIdx.x * COLUMNS - p.halo, label = 32 * (int)blockIdx.z + 8 * quarter();
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        int i = (int)threadIdx.x / 4 + k * COLUMNS, x = left + i;
        bool exists = i < columns_read(p) && x >= 0 && x < a.grid.width && y < a.grid.height &&
                      label < a.grid.padded;
        words[k] = exists ? __ldg(reinterpret_cast<const uint2 *>(
                                a.source + grid_labels(&a.grid, x, y) + label))
                          : make_uint2(0, 0);
    }
}

static __device__ __forceinline__ void keep_row(const cross_plan &p, const uint2 words[LOADS],
                                                uint32_t *row) {
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        int i = (int)threadIdx.x / 4 + k * COLUMNS;
        if (i >= columns_read(p))
            continue;
        row[2 * quarter() * p.stride + i] = words[k].x;
        row[(2 * quarter() + 1) * p.stride + i] = words[k].y;
    }
}

/* Running sums: a warp has the even or the odd ones of four labels, a lane some columns of them. */
static __device__ __forceinline__ void run_sums(const cross_plan &p, const uint32_t *row,
                                                uint32_t *sums) {
    int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
    int count = columns_read(p), each = (count + 31) / 32 | 1; /* odd: no two in one bank */
    int from = min(lane * each, count), to = min(from + each, count), shift = 8 * (warp / WORDS);
    const uint32_t *in = row + warp % WORDS * p.stride;
    uint32_t sum = 0, *out = sums + warp * p.stride;
    for (int i = from; i < to; i++)
        sum += in[i] >> shift & 0xff00ffu;
    uint32_t own = sum;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        uint32_t before = __shfl_up_sync(0xffffffffu, sum, step);
        sum += lane >= step ? before : 0;
    }
    sum -= own;
    for (int i = from; i < to; i++) {
        out[i] = sum;
        sum += in[i] >> shift & 0xff00ffu;
    }
    if (lane == 31) /* its columns may be none */
        out[count] = sum;
}

/* A thread's column: running sums down it, of even and odd labels of two words. */
struct cross_column {
    uint32_t even[2], odd[2], count;
};

static __device__ __forceinline__ void add_row(const cross_plan &p, const arms &here, int column,
                                               const uint32_t *sums, cross_column *c) {
    int at = 2 * quarter() * p.stride + p.halo + column;
    int from = at - here.length[LEFT], to = at + here.length[RIGHT] + 1;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        c->even[k] += sums[to + k * p.stride] - sums[from + k * p.stride];
        c->odd[k] += sums[to + (WORDS + k) * p.stride] - sums[from + (WORDS + k) * p.stride];
    }
    c->count += (uint32_t)(here.length[LEFT] + here.length[RIGHT] + 1);
}

/* Where the ring has a thread's column: 8 words stride apart, and its count of pixels. */
struct ring {
    uint32_t *words;
    uint16_t *counts;
};

static __device__ __forceinline__ uint32_t *ring_words(const ring &r, int slot) {
    return r.words + (slot * 2 * WORDS + 2 * quarter()) * RING_STRIDE + (int)threadIdx.x / 4;
}

static __device__ __forceinline__ void ring_put(const ring &r, int slot, const cross_column &c) {
    uint32_t *to = ring_words(r, slot);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        to[k * RING_STRIDE] = c.even[k];
        to[(WORDS + k) * RING_STRIDE] = c.odd[k];
    }
    r.counts[slot * THREADS + (int)threadIdx.x] = (uint16_t)c.count;
}

/* n / count by multiplying with inverse = 2^31 / count, rounded up: exact while n * count < 2^31. */
static __device__ __forceinline__ uint32_t divided(uint32_t n, uint32_t inverse) {
    return __umulhi(2 * n, inverse);
}

static __device__ __forceinline__ void put_mean(const cross_args &a, const cross_plan &p,
                                                const ring &r, const arms &own, int x, int y,
                                                int label) {
    int last = (y + own.length[DOWN]) % p.slots,
        before = (y - own.length[UP] - 1 + p.slots) % p.slots;
    const uint32_t *to = ring_words(r, last), *from = ring_words(r, before);
    uint32_t count = (uint32_t)(uint16_t)(r.counts[last * THREADS + (int)threadIdx.x] -
                                          r.counts[before * THREADS + (int)threadIdx.x]);
    uint32_t inverse = (0x80000000u + count - 1) / count, w[2], up = count / 2;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        uint32_t even = to[k * RING_STRIDE] - from[k * RING_STRIDE];
        uint32_t odd = to[(WORDS + k) * RING_STRIDE] - from[(WORDS + k) * RING_STRIDE];
        w[k] = divided((even & 0xffff) + up, inverse) | divided((odd & 0xffff) + up, inverse) << 8 |
               divided((even >> 16) + up, inverse) << 16 | divided((odd >> 16) + up, inverse) << 24;
    }
    *reinterpret_cast<uint2 *>(a.out + grid_labels(&a.grid, x, y) + label) =
        make_uint2(w[0], w[1]);
}

static __device__ __forceinline__ arms arms_at(const cross_args &a, int x, int y) {
    int at = __ldg(reinterpret_cast<const int *>(a.arms) +
                   (size_t)stage_clamp(y, 0, a.grid.height - 1) * a.grid.width +
                   min(x, a.grid.width - 1));
    return *reinterpret_cast<const arms *>(&at);
}

static __global__ void __launch_bounds__(THREADS, 2)
    cross_kernel(const __grid_constant__ cross_args a, const __grid_constant__ cross_plan p) {
    extern __shared__ uint4 memory[];
    uint32_t *row = reinterpret_cast<uint32_t *>(memory), *sums = row + WORDS * p.stride;
    ring r = {sums + 2 * WORDS * p.stride, nullptr};
    r.counts = reinterpret_cast<uint16_t *>(r.words + p.slots * 2 * WORDS * RING_STRIDE);
    int column = (int)threadIdx.x / 4, x = (int)blockIdx.x * COLUMNS + column;
    int label = 32 * (int)blockIdx.z + 8 * quarter();
    int top = (int)blockIdx.y * p.band, bottom = min(top + p.band, a.grid.height);
    bool exists = x < a.grid.width && label < a.grid.padded;
    cross_column c = {};
    uint2 words[LOADS];
    for (int slot = 0; slot < p.slots; slot++)
        ring_put(r, slot, c);
    int y = max(0, top - p.reach);
    read_row(a, p, y, words);
    arms next = arms_at(a, x, y), next_out = arms_at(a, x, y - p.reach);
    for (; y < bottom + p.reach; y++) {
        arms here = next, out = next_out;
        if (y < a.grid.height) {
            keep_row(p, words, row);
            __syncthreads();
            read_row(a, p, y + 1, words);
        }
        next = arms_at(a, x, y + 1);
        next_out = arms_at(a, x, y + 1 - p.reach);
        if (y < a.grid.height) {
            run_sums(p, row, sums);
            __syncthreads();
            if (exists) {
                add_row(p, here, column, sums, &c);
                ring_put(r, y % p.slots, c);
            }
        }
        if (exists && y - p.reach >= top)
            put_mean(a, p, r, out, x, y - p.reach, label);
    }
}

enum { SUMS_MOST = 65535 };

static size_t cross_shared(const cross_plan *p) {
    return sizeof(uint32_t) * (size_t)(3 * WORDS * p->stride + p->slots * 2 * WORDS * RING_STRIDE) +
           sizeof(uint16_t) * (size_t)(p->slots * THREADS);
}

/* As many bands as fill the multiprocessors once. */
static void cross_bands(const backend_cuda *cuda, const cross_args *a, cross_plan *p, dim3 *blocks) {
    unsigned strips = (unsigned)(a->grid.width + COLUMNS - 1) / COLUMNS,
             slices = (unsigned)(a->grid.padded + 31) / 32;
    int fit = (int)(cuda->shared_most / (cross_shared(p) + 1024));
    int bands = stage_max(1, fit * cuda->processors / (int)(strips * slices));
    p->band = stage_max((a->grid.height + bands - 1) / bands, 4 * p->reach + 8);
    *blocks = dim3(strips, (unsigned)((a->grid.height + p->band - 1) / p->band), slices);
}

/* Long arms, whose sums or ring do not fit, go through the two stages. */
static void cross(struct backend *b, const struct cross_args *a) {
    backend_cuda *cuda = reinterpret_cast<backend_cuda *>(b);
    cross_plan p = {a->longest_x, 0, 2 * a->longest_y + 2, a->longest_y, 0};
    for (p.stride = COLUMNS + 2 * p.halo + 1; p.stride % 16 != 4;)
        p.stride++;
    size_t shared = cross_shared(&p);
    int most = (2 * a->longest_x + 1) * (2 * a->longest_y + 1) * COST_MOST;
    if (most > SUMS_MOST || shared > cuda->shared_most) {
        b->run(b, STAGE_cross_x, a, a->grid.width, a->grid.height);
        b->run(b, STAGE_cross_y, a, a->grid.width, a->grid.height);
        return;
    }
    dim3 blocks;
    cross_bands(cuda, a, &p, &blocks);
    cudaFuncSetAttribute(cross_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    cross_kernel<<<blocks, THREADS, shared, cuda->stream>>>(*a, p);
    cuda_check(cuda, "cross");
}

void cuda_tune_cross(backend_cuda *cuda) {
    cuda->base.cross = cross;
}
