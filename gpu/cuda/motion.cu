/*
 * Messages of motion optimised for CUDA. A pixel's labels are read and written
 * four to a 32-bit word, a few words a thread; for the sweeps a thread has a row, then a column, of
 * all four messages, two of them in the 16-bit lanes of a register.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"
#include "gpu/cuda/packed_u16x2.h"

enum { THREADS = 128, WARPS = THREADS / WARP_SIZE, WORDS = 4, LONGEST_LINE = 32 };

/* ---- a thread's share of a pixel */

/* The labels of a pixel. LINE above 0: LINE x LINE of them, which the compiler knows. */
template <int LINE> struct window {
    int u_count, v_count, labels, padded, threads; /* threads: of a pixel */
    __device__ __forceinline__ window(const grid &g) {
        u_count = LINE > 0 ? LINE : g.space.u_count;
        v_count = LINE > 0 ? LINE : g.space.v_count;
        labels = u_count * v_count;
        threads = (labels + LABEL_BLOCK - 1) / LABEL_BLOCK;
        padded = threads * LABEL_BLOCK;
    }
};

/* Labels l to l + 3 in lanes: l and l + 2, l + 1 and l + 3. */
struct four_labels {
    uint32_t even, odd;
};

/* A pixel has padded / 16 threads of one warp; thread number k has the words k, k + threads, ...
 * of four labels each. */
struct pixel_share {
    int threads, number; /* of the pixel, of the thread among them */
    int pixel;           /* number of the pixel in the block; without one: some other's */
    int x, y;            /* without one: some other's */
    size_t labels;       /* the pixel's first */
    bool exists;         /* in the picture */
};

static __host__ __device__ __forceinline__ int pixels_per_block(int threads) {
    return WARPS * (WARP_SIZE / threads);
}

/* The share is one of the pixels of one parity. */
DEVICE pixel_share share_of(const grid &g, int threads, int parity) {
    pixel_share p;
    int warp = (int)threadIdx.x / WARP_SIZE, lane = (int)threadIdx.x % WARP_SIZE,
        pixels = WARP_SIZE / threads, in_warp = lane / threads;
    p.threads = threads;
    p.number = lane - in_warp * threads;
    p.pixel = warp * pixels + min(in_warp, pixels - 1);
    int i = (int)blockIdx.x * WARPS * pixels + p.pixel;
    p.y = (int)blockIdx.y;
    p.x = grid_column(parity, i, p.y);
    p.exists = in_warp < pixels && p.x < g.width;
    if (!p.exists) /* the costs there are read, and nothing of them is stored */
        p.x = 0;
    p.labels = grid_labels(&g, p.x, p.y);
    return p;
}

DEVICE int word_of(const pixel_share &p, int j) {
    return p.number + j * p.threads;
}

DEVICE four_labels four_of(uint32_t word) {
    return {word & 0x00ff00ffu, odd_labels(word)};
}

/* Lanes from label number labels on, which are no labels, lose every minimum. */
DEVICE uint32_t far_from(uint32_t lanes, int first, int labels) {
    uint32_t low = first < labels ? 0xffffu : 0;
    uint32_t keep = low | (first + 2 < labels ? 0xffff0000u : 0);
    return (lanes & keep) | (U16X2_FAR & ~keep);
}

/* Where a thread's words of cost and messages lie. A message that does not exist is read out of the
 * pixel's own costs and then made zero, so that no load waits for a condition. */
struct word_source {
    const uint32_t *cost8, *message[DIRECTIONS]; /* by the direction they come from */
    const uint2 *cost16;
    uint32_t keep[DIRECTIONS]; /* all ones or 0 */
};

DEVICE word_source source_of(const grid &g, int padded, const pixel_share &p, const uint8_t *cost8,
                             const uint16_t *cost16, const uint8_t *const message[DIRECTIONS]) {
    const bool exists[DIRECTIONS] = {p.exists && p.y > 0, p.exists && p.y + 1 < g.height,
                                     p.exists && p.x > 0, p.exists && p.x + 1 < g.width};
    ptrdiff_t same = (ptrdiff_t)grid_labels(&g, p.x ^ 1, p.y) + 4 * p.number,
              own = (ptrdiff_t)p.labels + 4 * p.number, row = (ptrdiff_t)g.half * padded,
              odd = p.x & 1;
    const ptrdiff_t at[DIRECTIONS] = {same - row, same + row, same + (odd - 1) * padded,
                                      same + odd * padded};
    const uint8_t *costs = cost8 ? cost8 + own : reinterpret_cast<const uint8_t *>(cost16 + own);
    word_source source = {reinterpret_cast<const uint32_t *>(cost8 + own),
                          {},
                          reinterpret_cast<const uint2 *>(cost16 + own),
                          {}};
#pragma unroll
    for (int s = 0; s < DIRECTIONS; s++) {
        source.message[s] =
            reinterpret_cast<const uint32_t *>(exists[s] ? message[opposite(s)] + at[s] : costs);
        source.keep[s] = exists[s] ? ~0u : 0;
    }
    return source;
}

/* Words of the cost, which are two where it has 16 bits, and of the messages. */
struct loaded_words {
    uint2 cost[WORDS];
    uint32_t in[WORDS][DIRECTIONS];
};

DEVICE void load_words(const pixel_share &p, const word_source &source, bool wide,
                       loaded_words *l) {
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        l->cost[j] = wide ? __ldg(source.cost16 + j * p.threads)
                          : make_uint2(__ldg(source.cost8 + j * p.threads), 0);
#pragma unroll
        for (int s = 0; s < DIRECTIONS; s++)
            l->in[j][s] = __ldg(source.message[s] + j * p.threads);
    }
}

/* Cost and messages of a thread's word number j. */
template <int LINE>
DEVICE four_labels labels_of(const window<LINE> &w, const pixel_share &p, const word_source &source,
                             bool wide, const loaded_words &l, int j, four_labels in[DIRECTIONS]) {
    int first = 4 * word_of(p, j);
    four_labels cost = four_of(l.cost[j].x);
    if (wide)
        cost = {byte_permute(l.cost[j].x, l.cost[j].y, 0x5410),
                byte_permute(l.cost[j].x, l.cost[j].y, 0x7632)};
    if (LINE == 0 || 4 * p.threads * (j + 1) > w.labels)
        cost = {far_from(cost.even, first, w.labels), far_from(cost.odd, first + 1, w.labels)};
#pragma unroll
    for (int s = 0; s < DIRECTIONS; s++)
        in[s] = four_of(l.in[j][s] & source.keep[s]);
    return cost;
}

/* Least of both lanes' numbers of a pixel's threads. */
DEVICE uint32_t minimum_of_pixel(const pixel_share &p, uint32_t v) {
    int lane = (int)threadIdx.x % WARP_SIZE, first = lane - p.number;
#pragma unroll
    for (int step = 1; step < p.threads; step *= 2) {
        int other = p.number + step;
        other -= other < p.threads ? 0 : p.threads;
        v = u16x2_min(v, __shfl_sync(ALL_LANES, v, first + other));
    }
    return v;
}

/* ---- messages */

/* Where a pixel's labels are in a block's memory, in words. Neighbouring pixels of a warp begin 16
 * banks apart, and the next two 8 further, so that rows and columns of 7 labels of four pixels, and
 * 16 bytes of eight threads, are in banks of their own. */
static __host__ __device__ __forceinline__ int place_of(int pixel, int padded) {
    return pixel * (padded + 16) + 8 * (pixel >> 1 & 1);
}

/* A message that is delivered in another window than the one that it was computed in. */
struct moved_message {
    short pixel, direction, u, v;
};

/* A half-step keeps this of a block's pixels. No warp reads another warp's. */
struct block_memory {
    uint8_t rho[THREADS][DIRECTIONS], maximum[THREADS][DIRECTIONS];
    moved_message moved[WARPS][WARP_SIZE * DIRECTIONS];
};

/* One label of a pixel's four messages: up and left, down and right. */
struct packed_messages {
    uint32_t up_left, down_right;
};

DEVICE packed_messages messages_of(uint32_t word) {
    return {word & 0x00ff00ffu, odd_labels(word)};
}

/* There and back along count labels that lie stride apart. */
template <int LINE> DEVICE void sweep(uint32_t *m, int count, int stride, packed_messages rho) {
    constexpr int LONGEST = LINE > 0 ? LINE : LONGEST_LINE;
    packed_messages line[LONGEST];
#pragma unroll
    for (int k = 0; k < LONGEST; k++)
        line[k] = messages_of(LINE > 0 || k < count ? m[k * stride] : ~0u);
#pragma unroll
    for (int k = 1; k < LONGEST; k++) {
        line[k].up_left = u16x2_add_min(line[k - 1].up_left, rho.up_left, line[k].up_left);
        line[k].down_right =
            u16x2_add_min(line[k - 1].down_right, rho.down_right, line[k].down_right);
    }
#pragma unroll
    for (int k = LONGEST - 2; k >= 0; k--) {
        line[k].up_left = u16x2_add_min(line[k + 1].up_left, rho.up_left, line[k].up_left);
        line[k].down_right =
            u16x2_add_min(line[k + 1].down_right, rho.down_right, line[k].down_right);
    }
#pragma unroll
    for (int k = 0; k < LONGEST; k++)
        if (LINE > 0 || k < count)
            m[k * stride] = line[k].up_left + 256 * line[k].down_right;
}

/* A warp's threads that have a line each of some of its pixels at a time. */
struct line_share {
    int at_once, number, line; /* pixels, the thread's among them, its line */
};

DEVICE line_share line_of(int lines) {
    int lane = (int)threadIdx.x % WARP_SIZE;
    return {WARP_SIZE / lines, lane / lines, lane % lines};
}

/* All lines of all of a warp's pixels. lines: of a pixel; their starts are apart. */
template <int LINE>
DEVICE void sweep_lines(uint32_t *memory, const block_memory &shared, const window<LINE> &w,
                        int lines, int apart, int count, int stride) {
    line_share l = line_of(lines);
    int pixels = WARP_SIZE / w.threads, first = (int)threadIdx.x / WARP_SIZE * pixels;
    for (int i = l.number; l.number < l.at_once && i < pixels; i += l.at_once)
        sweep<LINE>(memory + place_of(first + i, w.padded) + l.line * apart, count, stride,
                    messages_of(*reinterpret_cast<const uint32_t *>(shared.rho[first + i])));
    __syncwarp();
}

/* Windows further apart than any label cost as much as these do. */
DEVICE int shift_of(int difference) {
    return stage_clamp(difference, -16 * MAX_LABELS, 16 * MAX_LABELS);
}

/* rho and T of the pixel's edges, each by a thread; returns how many of the warp's messages are
 * moved. */
DEVICE int prepare_edges(const message_args &a, const pixel_share &p, block_memory *shared) {
    const grid &g = a.grid;
    int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE, count = 0;
    int classes =
        a.classes && p.exists ? a.classes[(size_t)p.y * (size_t)g.width + (size_t)p.x] : 0;
    for (int first = 0; first < DIRECTIONS; first += p.threads) {
        int r = first + p.number, edge_class = classes >> (2 * r) & 3;
        displacement shift = {0, 0};
        if (p.exists && r < DIRECTIONS) {
            int x = p.x + (r == RIGHT) - (r == LEFT), y = p.y + (r == DOWN) - (r == UP);
            shared->rho[p.pixel][r] = a.rho[edge_class];
            shared->maximum[p.pixel][r] = a.truncation[edge_class];
            if (a.centre.u && x >= 0 && y >= 0 && x < g.width && y < g.height) {
                displacement here = motion_centre(&a.centre, &g, p.x, p.y),
                             there = motion_centre(&a.centre, &g, x, y);
                shift = {shift_of(there.u - here.u), shift_of(there.v - here.v)};
            }
        }
        unsigned moved = __ballot_sync(ALL_LANES, shift.u || shift.v);
        if (shift.u || shift.v)
            shared->moved[warp][count + __popc(moved & ((1u << lane) - 1))] = {
                (short)p.pixel, (short)r, (short)shift.u, (short)shift.v};
        count += __popc(moved);
    }
    __syncwarp();
    return count;
}

/* D and all messages but one, less the least, up to T, of all four directions: a word a label with
 * a byte a direction. */
template <int LINE>
DEVICE void sum_messages(const window<LINE> &w, const pixel_share &p, const word_source &source,
                         bool wide, const loaded_words &words, const uint8_t maximum[DIRECTIONS],
                         uint32_t *m) {
    four_labels h[DIRECTIONS][WORDS];
    uint32_t minimum[DIRECTIONS] = {~0u, ~0u, ~0u, ~0u};
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        four_labels in[DIRECTIONS], total = labels_of(w, p, source, wide, words, j, in);
#pragma unroll
        for (int s = 0; s < DIRECTIONS; s++)
            total = {total.even + in[s].even, total.odd + in[s].odd};
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++) {
            h[r][j] = {total.even - in[r].even, total.odd - in[r].odd};
            minimum[r] = u16x2_min3(minimum[r], h[r][j].even, h[r][j].odd);
        }
    }
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r += 2) {
        uint32_t both = u16x2_min(byte_permute(minimum[r], minimum[r + 1], 0x5410),
                                  byte_permute(minimum[r], minimum[r + 1], 0x7632));
        both = minimum_of_pixel(p, both);
        minimum[r] = byte_permute(both, 0, 0x1010);
        minimum[r + 1] = byte_permute(both, 0, 0x3232);
    }
    uint32_t top = *reinterpret_cast<const uint32_t *>(maximum);
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
#pragma unroll
        for (int r = 0; r < DIRECTIONS; r++) {
            h[r][j].even = u16x2_min(h[r][j].even - minimum[r], u16x2_from_table(top, r));
            h[r][j].odd = u16x2_min(h[r][j].odd - minimum[r], u16x2_from_table(top, r));
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

/* window_handed() of the warp's moved messages, in place: a thread has a row of labels, and all
 * rows of a message are read before one is written. */
template <int LINE>
DEVICE void move_messages(const block_memory &shared, int count, const window<LINE> &w,
                          uint32_t *memory) {
    constexpr int LONGEST = LINE > 0 ? LINE : LONGEST_LINE;
    line_share l = line_of(w.v_count);
    for (int first = 0; first < count; first += l.at_once) {
        bool exists = l.number < l.at_once && first + l.number < count;
        moved_message moved = shared.moved[threadIdx.x / WARP_SIZE][exists ? first + l.number : 0];
        int r = moved.direction, rho = shared.rho[moved.pixel][r],
            maximum = shared.maximum[moved.pixel][r], row[LONGEST];
        int from_v = l.line + moved.v, bv = stage_clamp(from_v, 0, w.v_count - 1),
            steps_v = abs(from_v - bv);
        uint8_t *of_r = reinterpret_cast<uint8_t *>(memory + place_of(moved.pixel, w.padded)) + r;
#pragma unroll
        for (int u = 0; u < LONGEST; u++) {
            int from_u = u + moved.u, bu = stage_clamp(from_u, 0, w.u_count - 1);
            row[u] =
                min(maximum, of_r[4 * (bv * w.u_count + bu)] + rho * (abs(from_u - bu) + steps_v));
        }
        __syncwarp();
#pragma unroll
        for (int u = 0; u < LONGEST; u++)
            if (exists && u < w.u_count)
                of_r[4 * (l.line * w.u_count + u)] = (uint8_t)row[u];
        __syncwarp();
    }
}

/* Back to four labels of each direction. */
DEVICE void store_messages(const message_args &b, const pixel_share &p, const uint32_t *m) {
    const uint4 *from = reinterpret_cast<const uint4 *>(m) + p.number;
    uint32_t *out[DIRECTIONS];
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        out[r] = reinterpret_cast<uint32_t *>(b.message[r] + p.labels) + p.number;
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        uint4 l = from[j * p.threads];
        uint32_t low = byte_permute(l.x, l.y, 0x5140), low2 = byte_permute(l.z, l.w, 0x5140),
                 high = byte_permute(l.x, l.y, 0x7362), high2 = byte_permute(l.z, l.w, 0x7362);
        out[0][j * p.threads] = byte_permute(low, low2, 0x5410);
        out[1][j * p.threads] = byte_permute(low, low2, 0x7632);
        out[2][j * p.threads] = byte_permute(high, high2, 0x5410);
        out[3][j * p.threads] = byte_permute(high, high2, 0x7632);
    }
}

template <int LINE>
static __global__ void __launch_bounds__(THREADS)
    message_kernel(const __grid_constant__ message_args a) {
    extern __shared__ uint4 words[];
    __shared__ block_memory shared;
    uint32_t *memory = reinterpret_cast<uint32_t *>(words);
    const window<LINE> w(a.grid);
    pixel_share p = share_of(a.grid, w.threads, a.iteration & 1);
    uint32_t *m = memory + place_of(p.pixel, w.padded);
    bool wide = a.cost16;
    word_source source = source_of(a.grid, w.padded, p, a.cost8, a.cost16, a.message);
    loaded_words loaded;
    load_words(p, source, wide, &loaded);
    int moved = prepare_edges(a, p, &shared);
    sum_messages(w, p, source, wide, loaded, shared.maximum[p.pixel], m);
    __syncwarp();
    sweep_lines(memory, shared, w, w.v_count, w.u_count, w.u_count, 1);
    sweep_lines(memory, shared, w, w.u_count, 1, w.v_count, w.u_count);
    move_messages(shared, moved, w, memory);
    if (p.exists)
        store_messages(a, p, m);
}

/* The length of a square window's lines if there is a kernel for it, else 0. */
static int known_line(const label_space &s) {
    bool known = s.u_count == 7 || s.u_count == 11 || s.u_count == 21;
    return known && s.u_count == s.v_count ? s.u_count : 0;
}

/* Half-steps that look for changes, and windows with long lines, are left to the plain form. */
void cuda_launch_window_message(backend_cuda *cuda, const void *args, int width, int height) {
    const message_args *a = static_cast<const message_args *>(args);
    const grid &g = a->grid;
    if (a->active || a->next_active || stage_max(g.space.u_count, g.space.v_count) > LONGEST_LINE) {
        cuda->plain[STAGE_message](cuda, args, width, height);
        return;
    }
    int line = known_line(g.space), pixels = pixels_per_block(g.padded / LABEL_BLOCK);
    auto kernel = message_kernel<0>;
    if (line == 7)
        kernel = message_kernel<7>;
    else if (line == 11)
        kernel = message_kernel<11>;
    else if (line == 21)
        kernel = message_kernel<21>;
    size_t bytes = sizeof(uint32_t) * (size_t)place_of(pixels, g.padded);
    kernel<<<cuda_blocks(g.half, pixels, g.height, 1), THREADS, bytes, cuda->stream>>>(*a);
}
