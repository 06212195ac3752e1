/*
 * Messages and winner-takes-all of motion optimised for CUDA. A pixel's labels are read and written
 * four to a 32-bit word, a few words a thread; for the sweeps a thread has a row, then a column, of
 * all four messages, two of them in the 16-bit lanes of a register.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"
#include "gpu/cuda/packed_u16x2.h"

enum { THREADS = 128, LANES = 32, WORDS = 4, LONGEST_LINE = 32 };
#define ALL_LANES 0xffffffffu

/* ---- a thread's share of a pixel */

/* Labels l to l + 3 in lanes: l and l + 2, l + 1 and l + 3. */
struct four_labels {
    uint32_t even, odd;
};

/* A pixel has padded / 16 threads of one warp; thread number k has the words k, k + threads, ...
 * of four labels each. */
struct pixel_share {
    int threads, number; /* of the pixel, of the thread among them */
    int pixel;           /* number of the pixel in the block */
    int x, y;            /* exists: in the picture */
    size_t labels;       /* the pixel's first */
    neighbours around;
    bool exists;
};

static __host__ __device__ __forceinline__ int pixels_per_block(const grid &g) {
    return THREADS / LANES * (LANES / (g.padded / LABEL_BLOCK));
}

/* Of the pixels of one parity, or of all. */
static __device__ __forceinline__ pixel_share share_of(const grid &g, bool half, int parity) {
    pixel_share p;
    int warp = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    p.threads = g.padded / LABEL_BLOCK;
    int pixels = LANES / p.threads, in_warp = lane / p.threads;
    p.number = lane - in_warp * p.threads;
    p.pixel = warp * pixels + in_warp;
    int i = (int)blockIdx.x * pixels_per_block(g) + p.pixel;
    p.y = (int)blockIdx.y;
    p.x = half ? grid_column(parity, i, p.y) : i;
    p.exists = in_warp < pixels && p.x < g.width;
    p.labels = p.exists ? grid_labels(&g, p.x, p.y) : 0;
    p.around = {};
    if (p.exists)
        p.around = grid_neighbours(&g, p.x, p.y);
    return p;
}

static __device__ __forceinline__ int word_of(const pixel_share &p, int j) {
    return p.number + j * p.threads;
}

static __device__ __forceinline__ uint32_t load_word(const uint8_t *labels, int word, bool exists) {
    return exists ? __ldg(reinterpret_cast<const uint32_t *>(labels) + word) : 0;
}

static __device__ __forceinline__ four_labels four_of(uint32_t word) {
    return {word & 0x00ff00ffu, odd_labels(word)};
}

/* Lanes from label number labels on, which are no labels, lose every minimum. */
static __device__ __forceinline__ uint32_t far_from(uint32_t lanes, int first, int labels) {
    uint32_t keep = (first < labels ? 0xffffu : 0) | (first + 2 < labels ? 0xffff0000u : 0);
    return (lanes & keep) | (U16X2_FAR & ~keep);
}

static __device__ __forceinline__ four_labels without_padding(four_labels l, int first,
                                                              int labels) {
    return first + 4 <= labels
               ? l
               : four_labels{far_from(l.even, first, labels), far_from(l.odd, first + 1, labels)};
}

static __device__ __forceinline__ four_labels load_cost(const uint8_t *cost8,
                                                        const uint16_t *cost16,
                                                        const pixel_share &p, int word) {
    if (!cost16)
        return four_of(load_word(cost8 + p.labels, word, p.exists));
    uint2 w = p.exists ? __ldg(reinterpret_cast<const uint2 *>(cost16 + p.labels) + word)
                       : make_uint2(0, 0);
    return {byte_permute(w.x, w.y, 0x5410), byte_permute(w.x, w.y, 0x7632)};
}

/* Words of the messages to the pixel, by the direction they come from. */
static __device__ __forceinline__ void load_messages(const uint8_t *const message[DIRECTIONS],
                                                     const grid &g, const pixel_share &p, int word,
                                                     four_labels in[DIRECTIONS]) {
#pragma unroll
    for (int s = 0; s < DIRECTIONS; s++)
        in[s] = four_of(load_word(message[opposite(s)] + p.around.pixel[s] * (size_t)g.padded, word,
                                  p.around.exist & 1 << s));
}

/* Least of both lanes' numbers of a pixel's threads. */
static __device__ __forceinline__ uint32_t minimum_of_pixel(const pixel_share &p, uint32_t v) {
    int lane = (int)threadIdx.x % LANES, first = lane - p.number;
    for (int step = 1; step < p.threads; step *= 2) {
        int other = p.number + step;
        other -= other < p.threads ? 0 : p.threads;
        v = u16x2_min(v, __shfl_sync(ALL_LANES, v, first + other));
    }
    return v;
}

/* ---- messages */

/* A block's pixels between the phases of a half-step. */
struct block_memory {
    uint2 rho[THREADS];                   /* of each pixel, in the order of packed_messages */
    int moved_count;                      /* messages between windows that are not the same: */
    uint16_t moved[THREADS * DIRECTIONS]; /* 4 pixel + direction */
};

/* One label of a pixel's four messages: up and left, down and right. */
struct packed_messages {
    uint32_t up_left, down_right;
};

static __device__ __forceinline__ packed_messages messages_of(uint32_t word) {
    return {word & 0x00ff00ffu, odd_labels(word)};
}

/* There and back along count labels that lie stride apart. EXACT: LINE of them. */
template <int LINE, bool EXACT>
static __device__ __forceinline__ void sweep(uint32_t *m, int count, int stride, uint2 rho) {
    packed_messages line[LINE];
#pragma unroll
    for (int k = 0; k < LINE; k++)
        line[k] = messages_of(EXACT || k < count ? m[k * stride] : ~0u);
#pragma unroll
    for (int k = 1; k < LINE; k++) {
        line[k].up_left = u16x2_add_min(line[k - 1].up_left, rho.x, line[k].up_left);
        line[k].down_right = u16x2_add_min(line[k - 1].down_right, rho.y, line[k].down_right);
    }
#pragma unroll
    for (int k = LINE - 2; k >= 0; k--) {
        line[k].up_left = u16x2_add_min(line[k + 1].up_left, rho.x, line[k].up_left);
        line[k].down_right = u16x2_add_min(line[k + 1].down_right, rho.y, line[k].down_right);
    }
#pragma unroll
    for (int k = 0; k < LINE; k++)
        if (EXACT || k < count)
            m[k * stride] = line[k].up_left + 256 * line[k].down_right;
}

/* All lines of all of the block's pixels. lines: of a pixel; their starts are apart. */
template <int LINE, bool EXACT>
static __device__ __forceinline__ void sweep_lines(uint32_t *memory, const block_memory &shared,
                                                   const grid &g, int lines, int apart, int count,
                                                   int stride) {
    int all = pixels_per_block(g) * lines;
    for (int i = (int)threadIdx.x; i < all; i += THREADS) {
        int pixel = i / lines, line = i - pixel * lines;
        sweep<LINE, EXACT>(memory + pixel * g.padded + line * apart, count, stride,
                           shared.rho[pixel]);
    }
}

/* T and the windows seen from each other. */
struct edge {
    int rho, maximum;
    displacement shift;
};

static __device__ __forceinline__ edge edge_of(const motion_message_args &a, int x, int y, int r) {
    const message_args &b = a.base;
    const grid &g = b.grid;
    int bits = b.classes ? b.classes[(size_t)y * (size_t)g.width + (size_t)x] : 0,
        edge_class = bits >> (2 * r) & 3;
    edge e = {b.rho[edge_class], b.truncation[edge_class], {0, 0}};
    int to_x = x + (r == RIGHT) - (r == LEFT), to_y = y + (r == DOWN) - (r == UP);
    if (a.centre.u && to_x >= 0 && to_y >= 0 && to_x < g.width && to_y < g.height) {
        displacement here = motion_centre(&a.centre, &g, x, y),
                     there = motion_centre(&a.centre, &g, to_x, to_y);
        e.shift = {there.u - here.u, there.v - here.v};
    }
    return e;
}

/* D and all messages but one, less the least, up to T, of all four directions: a word a label with
 * a byte a direction. */
static __device__ __forceinline__ void sum_messages(const message_args &b, const pixel_share &p,
                                                    const edge e[DIRECTIONS], uint32_t *m) {
    four_labels h[DIRECTIONS][WORDS];
    uint32_t least[DIRECTIONS] = {~0u, ~0u, ~0u, ~0u};
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        four_labels in[DIRECTIONS], total = load_cost(b.cost8, b.cost16, p, word_of(p, j));
        load_messages(b.message, b.grid, p, word_of(p, j), in);
        total = without_padding(total, 4 * word_of(p, j), b.grid.labels);
#pragma unroll
        for (int s = 0; s < DIRECTIONS; s++)
            total = {total.even + in[s].even, total.odd + in[s].odd};
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++) {
            h[r][j] = {total.even - in[r].even, total.odd - in[r].odd};
            least[r] = u16x2_min3(least[r], h[r][j].even, h[r][j].odd);
        }
    }
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r += 2) {
        uint32_t both = u16x2_min(byte_permute(least[r], least[r + 1], 0x5410),
                                  byte_permute(least[r], least[r + 1], 0x7632));
        both = minimum_of_pixel(p, both);
        least[r] = byte_permute(both, 0, 0x1010);
        least[r + 1] = byte_permute(both, 0, 0x3232);
    }
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++) {
            uint32_t top = u16x2_broadcast((uint32_t)e[r].maximum);
            h[r][j].even = u16x2_min(h[r][j].even - least[r], top);
            h[r][j].odd = u16x2_min(h[r][j].odd - least[r], top);
        }
        uint32_t even = h[0][j].even + 256 * h[1][j].even,
                 even2 = h[2][j].even + 256 * h[3][j].even, odd = h[0][j].odd + 256 * h[1][j].odd,
                 odd2 = h[2][j].odd + 256 * h[3][j].odd;
        if (p.exists)
            reinterpret_cast<uint4 *>(m)[word_of(p, j)] =
                make_uint4(byte_permute(even, even2, 0x5410), byte_permute(odd, odd2, 0x5410),
                           byte_permute(even, even2, 0x7632), byte_permute(odd, odd2, 0x7632));
    }
}

/* Back to four labels of each direction. */
static __device__ __forceinline__ void store_messages(const message_args &b, const pixel_share &p,
                                                      int moved, const uint32_t *m) {
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        uint4 l = reinterpret_cast<const uint4 *>(m)[word_of(p, j)];
        uint32_t low = byte_permute(l.x, l.y, 0x5140), low2 = byte_permute(l.z, l.w, 0x5140),
                 high = byte_permute(l.x, l.y, 0x7362), high2 = byte_permute(l.z, l.w, 0x7362);
        const uint32_t of[DIRECTIONS] = {
            byte_permute(low, low2, 0x5410), byte_permute(low, low2, 0x7632),
            byte_permute(high, high2, 0x5410), byte_permute(high, high2, 0x7632)};
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++)
            if (!(moved & 1 << r))
                reinterpret_cast<uint32_t *>(b.message[r] + p.labels)[word_of(p, j)] = of[r];
    }
}

/* motion_handed() of four labels from l on, of direction r. */
static __device__ __forceinline__ uint32_t hand_over(const uint32_t *m, const grid &g,
                                                     const edge &e, int r, int l) {
    const uint8_t *of_r = reinterpret_cast<const uint8_t *>(m) + r;
    const label_space &s = g.space;
    int v = l / s.u_count, u = l - v * s.u_count;
    uint32_t out = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int at_u = u + e.shift.u, at_v = v + e.shift.v;
        int bu = stage_clamp(at_u, 0, s.u_count - 1), bv = stage_clamp(at_v, 0, s.v_count - 1);
        int cost = of_r[4 * (bv * s.u_count + bu)] + e.rho * (abs(at_u - bu) + abs(at_v - bv));
        out |= (uint32_t)(l + k < g.labels ? min(cost, e.maximum) : e.maximum) << 8 * k;
        if (++u == s.u_count) {
            u = 0;
            v++;
        }
    }
    return out;
}

/* The messages between windows that are not the same. */
static __device__ __forceinline__ void
store_moved(const motion_message_args &a, const block_memory &shared, const uint32_t *memory) {
    const message_args &b = a.base;
    const grid &g = b.grid;
    int words = g.padded / 4, first_i = (int)blockIdx.x * pixels_per_block(g), y = (int)blockIdx.y;
    for (int k = (int)threadIdx.x; k < shared.moved_count * words; k += THREADS) {
        int number = k / words, word = k - number * words, pixel = shared.moved[number] / 4,
            r = shared.moved[number] % 4;
        int x = grid_column(b.iteration & 1, first_i + pixel, y);
        reinterpret_cast<uint32_t *>(b.message[r] + grid_labels(&g, x, y))[word] =
            hand_over(memory + pixel * g.padded, g, edge_of(a, x, y, r), r, 4 * word);
    }
}

template <int LINE, bool EXACT>
static __global__ void __launch_bounds__(THREADS)
    message_kernel(const __grid_constant__ motion_message_args a) {
    extern __shared__ uint4 words[];
    __shared__ block_memory shared;
    const message_args &b = a.base;
    const grid &g = b.grid;
    const label_space &s = g.space;
    int u_count = EXACT ? LINE : s.u_count, v_count = EXACT ? LINE : s.v_count;
    uint32_t *memory = reinterpret_cast<uint32_t *>(words);
    pixel_share p = share_of(g, true, b.iteration & 1);
    uint32_t *m = memory + p.pixel * g.padded;
    edge e[DIRECTIONS] = {};
    int moved = 0;
    if (threadIdx.x == 0)
        shared.moved_count = 0;
    __syncthreads();
    if (p.exists) {
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++) {
            e[r] = edge_of(a, p.x, p.y, r);
            moved |= (e[r].shift.u || e[r].shift.v) << r;
            if (p.number == 0 && moved & 1 << r)
                shared.moved[atomicAdd(&shared.moved_count, 1)] = (uint16_t)(4 * p.pixel + r);
        }
        if (p.number == 0)
            shared.rho[p.pixel] = make_uint2((uint32_t)(e[UP].rho | e[LEFT].rho << 16),
                                             (uint32_t)(e[DOWN].rho | e[RIGHT].rho << 16));
    }
    sum_messages(b, p, e, m);
    __syncthreads();
    sweep_lines<LINE, EXACT>(memory, shared, g, v_count, u_count, u_count, 1);
    __syncthreads();
    sweep_lines<LINE, EXACT>(memory, shared, g, u_count, 1, v_count, u_count);
    __syncthreads();
    if (p.exists)
        store_messages(b, p, moved, m);
    store_moved(a, shared, memory);
}

static dim3 pixel_blocks(const grid &g, int pixels) {
    int block = pixels_per_block(g);
    return dim3((unsigned)((pixels + block - 1) / block), (unsigned)g.height);
}

typedef void (*message_launch)(motion_message_args);

static message_launch message_kernel_for(const label_space &s) {
    int line = stage_max(s.u_count, s.v_count);
    if (s.u_count == s.v_count && line == 7)
        return message_kernel<7, true>;
    if (s.u_count == s.v_count && line == 11)
        return message_kernel<11, true>;
    if (s.u_count == s.v_count && line == 21)
        return message_kernel<21, true>;
    return line <= 12 ? message_kernel<12, false> : message_kernel<LONGEST_LINE, false>;
}

/* Half-steps that look for changes, and windows with long lines, are left to the plain form. */
static void launch_message(backend_cuda *cuda, const void *args, int width, int height) {
    const motion_message_args *a = static_cast<const motion_message_args *>(args);
    const grid &g = a->base.grid;
    size_t bytes = sizeof(uint32_t) * (size_t)pixels_per_block(g) * (size_t)g.padded;
    if (a->base.active || a->base.next_active ||
        stage_max(g.space.u_count, g.space.v_count) > LONGEST_LINE) {
        cuda->plain[STAGE_motion_message](cuda, args, width, height);
        return;
    }
    message_kernel_for(g.space)<<<pixel_blocks(g, g.half), THREADS, bytes, cuda->stream>>>(*a);
}

/* ---- winner-takes-all */

/* The lowest of a thread's labels that have this belief, or MAX_LABELS. */
static __device__ __forceinline__ int lowest_label(const pixel_share &p, const four_labels l[WORDS],
                                                   uint32_t belief) {
    int lowest = MAX_LABELS;
#pragma unroll
    for (int j = WORDS - 1; j >= 0; j--) {
        int first = 4 * word_of(p, j);
        lowest = l[j].odd >> 16 == belief ? first + 3 : lowest;
        lowest = l[j].even >> 16 == belief ? first + 2 : lowest;
        lowest = (l[j].odd & 0xffffu) == belief ? first + 1 : lowest;
        lowest = (l[j].even & 0xffffu) == belief ? first : lowest;
    }
    return lowest;
}

static __device__ __forceinline__ uint16_t at_label(const uint16_t *beliefs, int l, int labels) {
    return l >= 0 && l < labels ? beliefs[l] : 0;
}

static __global__ void __launch_bounds__(THREADS)
    wta_kernel(const __grid_constant__ motion_wta_args a) {
    __shared__ uint2 words[THREADS * WORDS];
    const wta_args &b = a.base;
    const grid &g = b.grid;
    int row = g.space.u_count;
    pixel_share p = share_of(g, false, 0);
    uint2 *own = words + p.pixel * (g.padded / 4);
    four_labels l[WORDS];
    uint32_t least = ~0u;
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        four_labels in[DIRECTIONS];
        l[j] = load_cost(b.cost, nullptr, p, word_of(p, j));
        load_messages(b.message, g, p, word_of(p, j), in);
        l[j] = without_padding(l[j], 4 * word_of(p, j), g.labels);
#pragma unroll
        for (int s = 0; s < DIRECTIONS; s++)
            l[j] = {l[j].even + in[s].even, l[j].odd + in[s].odd};
        least = u16x2_min3(least, l[j].even, l[j].odd);
        if (p.exists)
            own[word_of(p, j)] = make_uint2(byte_permute(l[j].even, l[j].odd, 0x5410),
                                            byte_permute(l[j].even, l[j].odd, 0x7632));
    }
    least = minimum_of_pixel(p, u16x2_min(least, __funnelshift_l(least, least, 16))) & 0xffffu;
    int best = (int)minimum_of_pixel(p, (uint32_t)lowest_label(p, l, least)), second = 0xffff;
    int u = best % row, v = best / row;
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        int at = 4 * word_of(p, j), at_v = at / row, at_u = at - at_v * row;
        const uint32_t of[4] = {l[j].even & 0xffffu, l[j].odd & 0xffffu, l[j].even >> 16,
                                l[j].odd >> 16};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (abs(at_u - u) > 1 || abs(at_v - v) > 1)
                second = min(second, (int)of[k]);
            if (++at_u == row) {
                at_u = 0;
                at_v++;
            }
        }
    }
    second = (int)minimum_of_pixel(p, (uint32_t)second);
    __syncwarp();
    if (p.exists && p.number == 0) {
        const uint16_t *beliefs = reinterpret_cast<const uint16_t *>(own);
        motion_beliefs around = {(int)least, at_label(beliefs, best - 1, g.labels),
                                 at_label(beliefs, best + 1, g.labels),
                                 at_label(beliefs, best - row, g.labels),
                                 at_label(beliefs, best + row, g.labels)};
        motion_wta_put(&a, p.x, p.y, best, &around, min(second, (int)least + 255));
    }
}

static void launch_wta(backend_cuda *cuda, const void *args, int, int) {
    const motion_wta_args *a = static_cast<const motion_wta_args *>(args);
    const grid &g = a->base.grid;
    wta_kernel<<<pixel_blocks(g, g.width), THREADS, 0, cuda->stream>>>(*a);
}

void cuda_optimise_motion(backend_cuda *cuda) {
    cuda->launches[STAGE_motion_message] = launch_message;
    cuda->launches[STAGE_motion_wta] = launch_wta;
}
