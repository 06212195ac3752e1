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

enum { COLUMNS_MOST = 128, THREADS = 4 * COLUMNS_MOST, WORDS = 8, LOADS = 2 };
enum { RING_STRIDE = COLUMNS_MOST + 4, SUMS_MOST = 65535, COUNT_MOST = SUMS_MOST / COST_MOST };

/* Lanes take an odd number of columns each, so that no two read from one bank. */
enum { EACH_SHORT = 5, EACH_LONG = 9 };

struct cross_plan {
    int columns; /* of a strip */
    int halo;    /* columns read on either side of it */
    int stride;  /* words to a row of sums; rows 2 apart lie a quarter of the banks apart */
    int slots;   /* rows of the ring */
    int reach;   /* longest vertical arm */
    int band;    /* rows of a block */
};

/* Where things lie in shared memory. */
struct cross_memory {
    uint32_t *row;     /* WORDS words of 4 labels, a row each */
    uint32_t *sums;    /* running sums: even labels of all words, then odd ones */
    uint32_t *ring;    /* the same down the columns: slots times 2 * WORDS rows of RING_STRIDE */
    uint32_t *inverse; /* 2^32 / count, rounded up */
    uint16_t *counts;  /* pixels down the columns: slots times COLUMNS_MOST */
};

static __host__ __device__ __forceinline__ size_t cross_words(const cross_plan &p) {
    return (size_t)(3 * WORDS * p.stride + p.slots * 2 * WORDS * RING_STRIDE + COUNT_MOST + 1);
}

static __device__ __forceinline__ cross_memory memory_of(const cross_plan &p, void *memory) {
    cross_memory m;
    m.row = static_cast<uint32_t *>(memory);
    m.sums = m.row + WORDS * p.stride;
    m.ring = m.sums + 2 * WORDS * p.stride;
    m.inverse = m.ring + p.slots * 2 * WORDS * RING_STRIDE;
    m.counts = reinterpret_cast<uint16_t *>(m.inverse + COUNT_MOST + 1);
    return m;
}

/* Four threads to a pixel, eight labels each. */
static __device__ __forceinline__ int quarter(void) {
    return (int)threadIdx.x & 3;
}

/* What a thread reads of every row: one or two pixels' labels, or nothing. */
struct cross_reader {
    const uint8_t *from[LOADS]; /* in row 0 of colour 0 */
    int colour[LOADS];          /* of the pixel in row 0 */
    ptrdiff_t row, plane;
};

static __device__ __forceinline__ cross_reader reader_of(const cross_args &a, const cross_plan &p) {
    cross_reader r;
    int left = (int)blockIdx.y * p.columns - p.halo, label = 32 * (int)blockIdx.x + 8 * quarter();
    r.row = (ptrdiff_t)a.grid.half * a.grid.padded;
    r.plane = r.row * a.grid.height;
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        int i = (int)threadIdx.x / 4 + k * COLUMNS_MOST, x = left + i;
        bool exists =
            i < p.columns + 2 * p.halo && x >= 0 && x < a.grid.width && label < a.grid.padded;
        r.from[k] = exists ? a.source + (ptrdiff_t)(x >> 1) * a.grid.padded + label : nullptr;
        r.colour[k] = x & 1;
    }
    return r;
}

static __device__ __forceinline__ void read_row(const cross_reader &r, int y, uint2 words[LOADS]) {
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        const uint8_t *from = r.from[k] + y * r.row + (r.colour[k] ^ (y & 1) ? r.plane : 0);
        words[k] = r.from[k] ? __ldg(reinterpret_cast<const uint2 *>(from)) : make_uint2(0, 0);
    }
}

static __device__ __forceinline__ void keep_row(const cross_plan &p, const uint2 words[LOADS],
                                                uint32_t *row) {
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        int i = (int)threadIdx.x / 4 + k * COLUMNS_MOST;
        if (i >= p.stride)
            continue;
        row[2 * quarter() * p.stride + i] = words[k].x;
        row[(2 * quarter() + 1) * p.stride + i] = words[k].y;
    }
}

/* A warp has the even or the odd ones of four labels. Sums before column i are number i. */
template <int EACH>
static __device__ __forceinline__ void run_sums(const cross_plan &p, const cross_memory &m) {
    int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32, shift = 8 * (warp / WORDS);
    const uint32_t *in = m.row + warp % WORDS * p.stride + EACH * lane;
    uint32_t sum[EACH], total, before, *out = m.sums + warp * p.stride + EACH * lane;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        sum[i] = (in[i] >> shift & 0xff00ffu) + (i ? sum[i - 1] : 0);
    total = sum[EACH - 1];
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        before = __shfl_up_sync(0xffffffffu, total, step);
        total += lane >= step ? before : 0;
    }
    before = total - sum[EACH - 1];
    out[0] = before;
#pragma unroll
    for (int i = 0; i + 1 < EACH; i++)
        out[i + 1] = before + sum[i];
}

/* A thread's column: running sums down it, of even and odd labels of two words. */
struct cross_column {
    uint32_t even[2], odd[2], count;
};

static __device__ __forceinline__ void add_row(const cross_plan &p, uchar4 arm, int column,
                                               const uint32_t *sums, cross_column *c) {
    const uint32_t *at = sums + 2 * quarter() * p.stride + p.halo + column;
    const uint32_t *from = at - arm.z, *to = at + arm.w + 1;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        c->even[k] += to[k * p.stride] - from[k * p.stride];
        c->odd[k] += to[(WORDS + k) * p.stride] - from[(WORDS + k) * p.stride];
    }
    c->count += arm.z + arm.w + 1u;
}

/* A thread's words in the ring; nobody else's. */
static __device__ __forceinline__ uint32_t *ring_words(const cross_memory &m, int slot) {
    return m.ring + (slot * 2 * WORDS + 2 * quarter()) * RING_STRIDE + (int)threadIdx.x / 4;
}

/* The four threads of a pixel share its count. */
static __device__ __forceinline__ void ring_put(const cross_memory &m, int slot,
                                                const cross_column &c) {
    uint32_t *to = ring_words(m, slot);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        to[k * RING_STRIDE] = c.even[k];
        to[(WORDS + k) * RING_STRIDE] = c.odd[k];
    }
    if (quarter() == 0)
        m.counts[slot * COLUMNS_MOST + (int)threadIdx.x / 4] = (uint16_t)c.count;
}

/* Four sums / count by multiplying with inverse; up is half of count. Exact while sum * count
 * stays below 2^32. A count of one, whose inverse has no room, takes 2^32 - 1 and up 1. */
static __device__ __forceinline__ uint32_t means(uint32_t even, uint32_t odd, uint32_t up,
                                                 uint32_t inverse) {
    uint32_t a = __umulhi((even & 0xffff) + up, inverse),
             b = __umulhi((odd & 0xffff) + up, inverse);
    uint32_t c = __umulhi((even >> 16) + up, inverse), d = __umulhi((odd >> 16) + up, inverse);
    return a + (b << 8) + (c << 16) + (d << 24);
}

/* Row y lies in slot of the ring. */
static __device__ __forceinline__ void put_mean(const cross_plan &p, const cross_memory &m,
                                                uchar4 arm, int slot, uint8_t *out) {
    int last = slot + arm.y, before = slot - arm.x - 1, column = (int)threadIdx.x / 4;
    last -= last >= p.slots ? p.slots : 0;
    before += before < 0 ? p.slots : 0;
    const uint32_t *to = ring_words(m, last), *from = ring_words(m, before);
    uint32_t count = (uint32_t)(uint16_t)(m.counts[last * COLUMNS_MOST + column] -
                                          m.counts[before * COLUMNS_MOST + column]);
    uint32_t inverse = m.inverse[count], up = max(count / 2, 1u), w[2];
#pragma unroll
    for (int k = 0; k < 2; k++)
        w[k] = means(to[k * RING_STRIDE] - from[k * RING_STRIDE],
                     to[(WORDS + k) * RING_STRIDE] - from[(WORDS + k) * RING_STRIDE], up, inverse);
    *reinterpret_cast<uint2 *>(out) = make_uint2(w[0], w[1]);
}

static __device__ void start_block(const cross_plan &p, const cross_memory &m) {
    cross_column none = {};
    for (int slot = 0; slot < p.slots; slot++)
        ring_put(m, slot, none);
    for (int i = (int)threadIdx.x; i <= COUNT_MOST; i += THREADS)
        m.inverse[i] = i < 2 ? 0xffffffffu : 0xffffffffu / (uint32_t)i + 1;
}

/* The arms of a thread's pixel in row y, or of a pixel nearby where there is none. */
static __device__ __forceinline__ uchar4 arms_at(const cross_args &a, const uchar4 *column, int y) {
    return __ldg(column + (ptrdiff_t)stage_clamp(y, 0, a.grid.height - 1) * a.grid.width);
}

template <int EACH>
static __global__ void __launch_bounds__(THREADS, 2)
    cross_kernel(const __grid_constant__ cross_args a, const __grid_constant__ cross_plan p) {
    extern __shared__ uint4 memory[];
    cross_memory m = memory_of(p, memory);
    int column = (int)threadIdx.x / 4, x = (int)blockIdx.y * p.columns + column;
    int label = 32 * (int)blockIdx.x + 8 * quarter();
    int top = (int)blockIdx.z * p.band, bottom = min(top + p.band, a.grid.height);
    int y = max(0, top - p.reach), slot = 0, slot_out = (2 * p.slots - p.reach) % p.slots;
    bool exists = column < p.columns && x < a.grid.width && label < a.grid.padded;
    cross_reader reader = reader_of(a, p);
    uint8_t *out = a.out + (ptrdiff_t)(x >> 1) * a.grid.padded + label;
    const uchar4 *arms = reinterpret_cast<const uchar4 *>(a.arms) + min(x, a.grid.width - 1);
    cross_column c = {};
    uint2 words[LOADS], later[LOADS]; /* rows on their way from memory */
    start_block(p, m);
    read_row(reader, y, words);
    read_row(reader, min(y + 1, a.grid.height - 1), later);
    uchar4 next = arms_at(a, arms, y), next_out = arms_at(a, arms, y - p.reach);
    for (; y < bottom + p.reach; y++) {
        uchar4 here = next, here_out = next_out;
        int y_out = y - p.reach;
        keep_row(p, words, m.row);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            words[k] = later[k];
        read_row(reader, min(y + 2, a.grid.height - 1), later);
        next = arms_at(a, arms, y + 1);
        next_out = arms_at(a, arms, y_out + 1);
        run_sums<EACH>(p, m);
        __syncthreads();
        if (exists && y < a.grid.height) {
            add_row(p, here, column, m.sums, &c);
            ring_put(m, slot, c);
        }
        __syncwarp();
        if (exists && y_out >= top)
            put_mean(p, m, here_out, slot_out,
                     out + y_out * reader.row + ((x ^ y_out) & 1 ? reader.plane : 0));
        slot = slot + 1 == p.slots ? 0 : slot + 1;
        slot_out = slot_out + 1 == p.slots ? 0 : slot_out + 1;
    }
}

static size_t cross_shared(const cross_plan *p) {
    return sizeof(uint32_t) * cross_words(*p) +
           sizeof(uint16_t) * (size_t)(p->slots * COLUMNS_MOST);
}

static struct cross_plan plan_of(const struct cross_args *a, int *each) {
    struct cross_plan p = {0, a->longest_x, 0, 2 * a->longest_y + 2, a->longest_y, 0};
    *each = 32 * EACH_SHORT - 1 - 2 * p.halo >= COLUMNS_MOST / 2 ? EACH_SHORT : EACH_LONG;
    p.columns = stage_min(COLUMNS_MOST, 32 * *each - 1 - 2 * p.halo);
    for (p.stride = 32 * *each; p.stride % 16 != 4;)
        p.stride++;
    return p;
}

/* As many bands as fill the multiprocessors once. Blocks that share lines of memory follow each
 * other. */
static dim3 cross_blocks(const backend_cuda *cuda, const cross_args *a, cross_plan *p) {
    unsigned strips = (unsigned)(a->grid.width + p->columns - 1) / (unsigned)p->columns,
             slices = (unsigned)(a->grid.padded + 31) / 32;
    int fit = stage_clamp((int)(cuda->shared_most / (cross_shared(p) + 1024)), 1, 2);
    int bands = stage_max(1, fit * cuda->processors / (int)(strips * slices));
    p->band = stage_max((a->grid.height + bands - 1) / bands, 4 * p->reach + 8);
    return dim3(slices, strips, (unsigned)((a->grid.height + p->band - 1) / p->band));
}

/* Long arms, whose sums or ring do not fit, go through the two stages. */
static void cross(struct backend *b, const struct cross_args *a) {
    backend_cuda *cuda = reinterpret_cast<backend_cuda *>(b);
    int each;
    cross_plan p = plan_of(a, &each);
    size_t shared = cross_shared(&p);
    int count = (2 * a->longest_x + 1) * (2 * a->longest_y + 1);
    if (count > COUNT_MOST || shared > cuda->shared_most) {
        b->run(b, STAGE_cross_x, a, a->grid.width, a->grid.height);
        b->run(b, STAGE_cross_y, a, a->grid.width, a->grid.height);
        return;
    }
    dim3 blocks = cross_blocks(cuda, a, &p);
    auto kernel = each == EACH_SHORT ? cross_kernel<EACH_SHORT> : cross_kernel<EACH_LONG>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    kernel<<<blocks, THREADS, shared, cuda->stream>>>(*a, p);
    cuda_check(cuda, "cross");
}

void cuda_tune_cross(backend_cuda *cuda) {
    cuda->base.cross = cross;
}
