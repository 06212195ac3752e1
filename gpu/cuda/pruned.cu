/*
 * Belief propagation among the labels that tiles keep, see gpu/stages/pruning.h. A warp has the 32
 * pixels of one parity that lie in one tile of the finest level, or in four tiles of the next one.
 * It looks at them in passes, a group of 1, 2 or 4 threads for each pixel: as many as the tiles
 * keep blocks, one thread for each block of labels. A kernel is one half-step: in a pair, of which
 * only the second is stored, each pixel would look for the blocks of twelve neighbours instead of
 * twice four.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/wta.cuh"

#include <cstring>

/* Where a half-step reads messages: those of its own level, or the parents', of the level above. */
enum pruned_source { OWN_MESSAGES, PRUNED_PARENTS, PARENTS };

/* A kernel does this with the pixels of its parity. */
enum { SENDS = 1, PICKS = 2 };

/* A level. A plane holds the messages that the pixels of one parity send. */
struct pruned_level {
    struct grid grid, coarse;
    const uint8_t *cost8;
    const uint16_t *cost16;
    const uint8_t *classes;
    const uint32_t *kept;          /* the bytes of a tile in a word */
    const uint8_t *in[DIRECTIONS]; /* the plane of the other parity, or the parents */
    uint8_t *out[DIRECTIONS];      /* the plane of this one */
    uint8_t *start[DIRECTIONS];    /* or null; the other one, to keep what it starts from */
    uint32_t rho, truncation;      /* tables of four bytes */
    size_t block, coarse_block;    /* labels from one block of a message to the next */
    int columns, rows;             /* tiles */
    int small_tiles;               /* 4x4 px, of the second finest level */
    int parity;                    /* of the pixels looked at */
    int carry;                     /* blocks of 8 labels that a carry travels */
};

/* A pixel and a block of its labels. Where it does not exist, k and block are those of the pixel's
 * first block, and what is read there is not used. */
struct pruned_item {
    int x, y;
    uint32_t kept;
    int k, block;              /* number among those kept; which one it is */
    bool exists, below, above; /* whether the labels below and above are kept as well */
    size_t at;                 /* of its first label in the plane of its parity */
};

enum { TILE_WARPS_X = 4, TILE_WARPS_Y = 1 };

/* The number of a block among those that a tile keeps, -1 if it is not. */
DEVICE int kept_number(uint32_t kept, int block) {
    uint32_t equal = __vcmpeq4(kept, 0x01010101u * (uint32_t)block);
    return equal ? (__ffs((int)equal) - 1) >> 3 : -1;
}

DEVICE uint32_t kept_in(const pruned_level &a, int x, int y) {
    int shift = a.small_tiles ? 2 : 3;
    return __ldg(a.kept + (size_t)(y >> shift) * (size_t)a.columns + (size_t)(x >> shift));
}

DEVICE bool in_picture(const pruned_level &a, int x, int y) {
    return x >= 0 && y >= 0 && x < a.grid.width && y < a.grid.height;
}

/* The place of pixel j of the warp. Half-steps go down and up, so that each begins with what is
 * still in the second cache. */
DEVICE void warp_pixel(const pruned_level &a, int j, int *x, int *y) {
    int tile_x = (int)blockIdx.x * TILE_WARPS_X + (int)(threadIdx.y % TILE_WARPS_X),
        block = a.parity ? (int)(gridDim.y - 1 - blockIdx.y) : (int)blockIdx.y,
        tile_y = block * TILE_WARPS_Y + (int)(threadIdx.y / TILE_WARPS_X), i;
    if (a.small_tiles) {
        *y = 4 * tile_y + (j >> 1 & 3);
        i = 8 * tile_x + 2 * (j >> 3) + (j & 1);
    } else {
        *y = 8 * tile_y + (j >> 2);
        i = 4 * tile_x + (j & 3);
    }
    *x = grid_column(a.parity, i, *y);
}

/* All pixels of a warp share these. */
struct warp_tiles {
    int log2_group; /* of the threads a pixel: as many as the tile that keeps most needs */
    unsigned alike; /* bits of the directions in which all have a neighbour that keeps the same */
};

/* Each thread looks at one of the warp's tiles and at the neighbour of it in one direction. */
DEVICE warp_tiles warp_tiles_of(const pruned_level &a) {
    int s = (int)threadIdx.x % DIRECTIONS, size = a.small_tiles ? 4 : 8, x, y;
    warp_pixel(a, a.small_tiles ? 2 * (int)threadIdx.x & 24 : 0, &x, &y);
    x &= -size; /* the first pixel may be of the other parity */
    int qx = x + (s == RIGHT) * size - (s == LEFT), qy = y + (s == DOWN) * size - (s == UP);
    uint32_t kept = in_picture(a, x, y) ? kept_in(a, x, y) : ~0u;
    bool alike = x + size <= a.grid.width && y + size <= a.grid.height && in_picture(a, qx, qy) &&
                 kept_in(a, qx, qy) == kept;
    uint32_t same = __ballot_sync(ALL_LANES, alike);
    same &= same >> 16;
    same &= same >> 8;
    same &= same >> 4;
    bool two = __any_sync(ALL_LANES, ~kept & 0xff00),
         three = __any_sync(ALL_LANES, ~kept & 0xff0000);
    return {two + three, same};
}

/* The first label of a pixel's block number k in the plane of its parity. */
DEVICE size_t place_in_plane(const pruned_level &a, int x, int y, int k) {
    return (size_t)k * a.block + (size_t)(uint32_t)(y * a.grid.half + (x >> 1)) * LABEL_BLOCK;
}

DEVICE pruned_item pruned_item_of(const pruned_level &a, int pass, int log2_group) {
    int lane = (int)threadIdx.x, k = lane & ((1 << log2_group) - 1), x, y;
    warp_pixel(a, (pass << (5 - log2_group)) + (lane >> log2_group), &x, &y);
    pruned_item p;
    bool inside = in_picture(a, x, y);
    p.x = inside ? x : 0;
    p.y = inside ? y : 0;
    p.kept = kept_in(a, p.x, p.y);
    p.block = (int)(p.kept >> 8 * k & 255);
    p.exists = inside && p.block != NOT_KEPT;
    int before = k > 0 ? (int)(p.kept >> (8 * k - 8) & 255) : NOT_KEPT;
    int after = k < 3 ? (int)(p.kept >> (8 * k + 8) & 255) : NOT_KEPT;
    p.below = p.exists && before + 1 == p.block;
    p.above = p.exists && p.block + 1 == after;
    p.k = p.exists ? k : 0;
    p.block = p.exists ? p.block : (int)(p.kept & 255);
    p.at = place_in_plane(a, p.x, p.y, p.k);
    return p;
}

/* Label 0 of the message that pixel (x, y) sends in direction r, of number k of the blocks kept. */
template <int SOURCE>
DEVICE const uint8_t *sent_by(const pruned_level &a, int x, int y, int r, uint32_t kept, int k) {
    if (SOURCE == OWN_MESSAGES)
        return a.in[r] + place_in_plane(a, x, y, k);
    size_t above = grid_pixel(&a.coarse, x >> 1, y >> 1);
    if (SOURCE == PRUNED_PARENTS)
        return a.in[r] + (size_t)k * a.coarse_block + above * LABEL_BLOCK;
    return a.in[r] + above * (size_t)a.coarse.padded + (size_t)(kept >> 8 * k & 255) * LABEL_BLOCK;
}

/* handed_label(), of all labels of a block that the neighbour (x, y) does not keep. */
template <int SOURCE>
DEVICE label_words handed_beside(const pruned_level &a, int x, int y, int r, uint32_t kept,
                                 int block, edge_weight weight) {
    int before = block > 0 ? kept_number(kept, block - 1) : -1,
        after = kept_number(kept, block + 1);
    uint32_t up = U16X2_FAR, down = U16X2_FAR, rho = weight.rho & 0xffff;
    if (before >= 0)
        up = u16x2_broadcast(sent_by<SOURCE>(a, x, y, r, kept, before)[LABEL_BLOCK - 1]);
    if (after >= 0)
        down = u16x2_broadcast(*sent_by<SOURCE>(a, x, y, r, kept, after));
    packed_labels m;
#pragma unroll
    for (uint32_t i = 0; i < PACKED_REGISTERS; i++)
        m.v[i] = u16x2_min3(weight.truncation, up + rho * (i + 1 + ((i + 9) << 16)),
                            down + rho * (16 - i + ((8 - i) << 16)));
    return packed_to_bytes(&m, 0);
}

template <bool EDGES> DEVICE edge_weight pruned_weight(const pruned_level &a, int classes, int r) {
    int edge_class = EDGES ? classes >> (2 * r) & 3 : 0;
    return {u16x2_from_table(a.rho, edge_class), u16x2_from_table(a.truncation, edge_class)};
}

/* The message to p from its neighbour in direction s. ALIKE: all pixels of the warp have one, which
 * keeps the same blocks. */
template <int SOURCE, bool EDGES>
DEVICE label_words received(const pruned_level &a, const pruned_item &p, int classes, int s,
                            bool alike) {
    int x = p.x + step_x(s), y = p.y + step_y(s), r = opposite(s);
    if (alike && SOURCE == OWN_MESSAGES) {
        ptrdiff_t step = step_y(s) * a.grid.half + (x >> 1) - (p.x >> 1);
        return words_at<true>(a.in[r] + step * LABEL_BLOCK + p.at, true);
    }
    if (alike)
        return words_at<true>(sent_by<SOURCE>(a, x, y, r, p.kept, p.k), true);
    bool exists = p.exists && in_picture(a, x, y);
    uint32_t kept = exists ? kept_in(a, x, y) : 0;
    int k = exists ? kept_number(kept, p.block) : -1;
    label_words words =
        words_at<false>(k < 0 ? a.in[r] : sent_by<SOURCE>(a, x, y, r, kept, k), k >= 0);
    if (exists && k < 0)
        words =
            handed_beside<SOURCE>(a, x, y, r, kept, p.block, pruned_weight<EDGES>(a, classes, s));
    return words;
}

/* Stores the messages that the pixels beside the warp's, of the other parity, start from. */
template <int SOURCE> DEVICE void keep_start(const pruned_level &a, int pass, int log2_group) {
    int lane = (int)threadIdx.x, k = lane & ((1 << log2_group) - 1), x, y;
    warp_pixel(a, (pass << (5 - log2_group)) + (lane >> log2_group), &x, &y);
    x ^= 1;
    uint32_t kept = in_picture(a, x, y) ? kept_in(a, x, y) : ~0u;
    if ((kept >> 8 * k & 255) == NOT_KEPT)
        return;
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        store_words(a.start[r] + place_in_plane(a, x, y, k),
                    words_at<true>(sent_by<SOURCE>(a, x, y, r, kept, k), true), true);
}

DEVICE packed_labels pruned_cost(const pruned_level &a, const pruned_item &p) {
    size_t at = p.at + (a.parity ? a.block / 2 : 0);
    packed_labels cost;
    if (a.cost16) {
        const uint8_t *from = reinterpret_cast<const uint8_t *>(a.cost16 + at);
        label_words low = words_at<true>(from, true), high = words_at<true>(from + 16, true);
        uint32_t w[8] = {low.w[0],  low.w[1],  low.w[2],  low.w[3],
                         high.w[0], high.w[1], high.w[2], high.w[3]};
        packed_from_u16(w, &cost);
    } else {
        cost = packed_of(words_at<true>(a.cost8 + at, true));
    }
    /* blocks that do not exist and padding lose every minimum */
    if (a.grid.labels != a.grid.padded)
        packed_pad(&cost, p.block * LABEL_BLOCK, a.grid.labels);
#pragma unroll
    for (int i = 0; i < PACKED_REGISTERS; i++)
        cost.v[i] = p.exists ? cost.v[i] : U16X2_FAR;
    return cost;
}

DEVICE uint32_t warp_minimum(uint32_t value, int log2_group) {
    value = u16x2_min(value, __funnelshift_l(value, value, 16));
    if (log2_group > 0)
        value = u16x2_min(value, __shfl_xor_sync(ALL_LANES, value, 1));
    if (log2_group > 1)
        value = u16x2_min(value, __shfl_xor_sync(ALL_LANES, value, 2));
    return value;
}

/* pruned_convolve() in the manner of convolve(). */
DEVICE uint32_t convolve_kept(const pruned_level &a, const pruned_item &p, int log2_group,
                              packed_labels *h, edge_weight weight) {
    uint32_t minimum = warp_minimum(packed_minimum(h), log2_group);
    packed_labels slanted;
    block_ends ends = packed_ends(h, weight.rho, &slanted);
    uint32_t lowest = p.below ? ~0u : 0xffff0000u;
    uint32_t highest = p.above ? ~0u : 0xffffu;
    uint32_t up = carry_up(__shfl_up_sync(ALL_LANES, ends.up, 1), ends.up, lowest),
             down = carry_down(__shfl_down_sync(ALL_LANES, ends.down, 1), ends.down, highest);
    if (a.carry > 1) {
        uint32_t before = __shfl_up_sync(ALL_LANES, up, 1),
                 after = __shfl_down_sync(ALL_LANES, down, 1);
        up = u16x2_add_min(carry_up(before, up, lowest), 8 * weight.rho, up);
        down = u16x2_add_min(carry_down(after, down, highest), 8 * weight.rho, down);
    }
    packed_sweep(&slanted, up, down, weight.rho, minimum + weight.truncation);
    *h = slanted;
    return minimum;
}

/* The number of the label of least belief among a pixel's, with the belief above it, as
 * minimum_belief() has them. */
DEVICE uint32_t best_of(const pruned_item &p, int log2_group, packed_labels *belief) {
    packed_labels keys;
#pragma unroll
    for (uint32_t i = 0; i < PACKED_REGISTERS; i++) {
        belief->v[i] = u16x2_min(belief->v[i], u16x2_broadcast(BELIEF_ROOM));
        keys.v[i] = 16 * belief->v[i] + (i | (i + 8) << 16);
    }
    uint32_t key = packed_minimum(&keys);
    key = min(key & 0xffff, key >> 16);
    key = key >> 4 << 16 | (uint32_t)(LABEL_BLOCK * p.k) | (key & 15);
    for (int step = 1; step < 1 << log2_group; step *= 2)
        key = min(key, __shfl_xor_sync(ALL_LANES, key, step));
    return key;
}

/* stage_pruned_winner of one pixel a group, out of its beliefs. The thread that holds the pixel's
 * first block writes. */
DEVICE void write_winner(const pruned_level &a, const pruned_wta_args &wta, const pruned_item &p,
                         int log2_group, packed_labels belief, belief_store<1> &store) {
    uint32_t key = best_of(p, log2_group, &belief);
    const uint32_t *v = belief.v;
    int thread = thread_number(), best = (int)(key & 0xffff), minimum = (int)(key >> 16);
    int label = (int)(p.kept >> 8 * (best / LABEL_BLOCK) & 255) * LABEL_BLOCK + best % LABEL_BLOCK,
        beside = 0, sum[2];
    bool writes = p.exists && p.k == 0;
    __syncwarp();
    store.part[0][0][thread] = make_uint4(v[0], v[1], v[2], v[3]);
    store.part[0][1][thread] = make_uint4(v[4], v[5], v[6], v[7]);
    __syncwarp();
    for (int step = -1; step <= 1 && writes; step++) {
        int to = best + step, other = label + step;
        if (to < 0 || other >= a.grid.labels ||
            kept_number(p.kept, other / LABEL_BLOCK) != to / LABEL_BLOCK)
            continue;
        uint16_t *at = belief_of(store, 0, thread, to);
        sum[step > 0] = step ? *at : sum[0];
        beside += step != 0;
        *at = 0xffff;
    }
    __syncwarp();
    uint4 low = store.part[0][0][thread], high = store.part[0][1][thread];
    packed_labels rest = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    int second = (int)(warp_minimum(packed_minimum(&rest), log2_group) & 0xffff);
    if (!writes)
        return;
    size_t at = (size_t)p.y * (size_t)a.grid.width + (size_t)p.x;
    int offset = beside == 2 ? subpixel_offset(sum[0], minimum, sum[1], wta.subpixel) : 0;
    wta.label[at] = (uint16_t)label;
    wta.disparity[at] = (int16_t)(16 * (a.grid.space.u_min + label) + offset);
    wta.confidence[at] = (uint8_t)(min(second, minimum + 255) - minimum);
}

/* A half-step, or the labels out of what comes in, or both: WORK. */
template <int SOURCE, bool EDGES, int WORK>
__global__ void BP_BOUNDS pruned_kernel(const __grid_constant__ pruned_level a,
                                        const __grid_constant__ pruned_wta_args wta) {
    wait_for_previous_kernel();
    warp_tiles tiles = warp_tiles_of(a);
    for (int pass = 0; pass < 1 << tiles.log2_group; pass++) {
        pruned_item p = pruned_item_of(a, pass, tiles.log2_group);
        int classes =
            EDGES ? __ldg(a.classes + (size_t)p.y * (size_t)a.grid.width + (size_t)p.x) : 0;
        label_words words[DIRECTIONS];
#pragma unroll
        for (int s = 0; s < DIRECTIONS; s++)
            words[s] = received<SOURCE, EDGES>(a, p, classes, s, tiles.alike >> s & 1);
        if (SOURCE != OWN_MESSAGES && a.start[0])
            keep_start<SOURCE>(a, pass, tiles.log2_group);
        packed_labels cost = pruned_cost(a, p), in[DIRECTIONS];
#pragma unroll
        for (int s = 0; s < DIRECTIONS; s++)
            in[s] = packed_of(words[s]);
        if constexpr (WORK & SENDS) {
            send_sums(cost, in, [&](int r, packed_labels h) {
                uint32_t minimum =
                    convolve_kept(a, p, tiles.log2_group, &h, pruned_weight<EDGES>(a, classes, r));
                store_words(a.out[r] + p.at, packed_to_bytes(&h, minimum), p.exists);
            });
        }
        if constexpr (WORK & PICKS) {
            __shared__ belief_store<1> store;
#pragma unroll
            for (int s = 0; s < DIRECTIONS; s++)
                packed_add(&cost, &in[s]);
            write_winner(a, wta, p, tiles.log2_group, cost, store);
        }
    }
}

static pruned_level pruned_level_of(const struct grid *grid, const struct pruning *pruning,
                                    const uint8_t *classes, const uint8_t rho[4],
                                    const uint8_t truncation[4]) {
    pruned_level a;
    memset(&a, 0, sizeof(a));
    a.grid = *grid;
    a.classes = classes;
    a.kept = reinterpret_cast<const uint32_t *>(pruning->kept);
    a.columns = pruning->columns;
    a.rows = (grid->height + pruning->tile - 1) / pruning->tile;
    a.small_tiles = pruning->tile < PRUNING_TILE;
    a.block = pruned_volume(grid, 1);
    a.carry = 1;
    for (int c = 0; c < (classes ? 4 : 1); c++)
        a.carry = stage_max(a.carry, carry_blocks(rho[c], truncation[c], 2 * KEPT_MOST));
    memcpy(&a.rho, rho, sizeof(a.rho));
    memcpy(&a.truncation, truncation, sizeof(a.truncation));
    return a;
}

/* Its pixels of one parity, which read their neighbours' messages. */
static void choose_parity(pruned_level *a, uint8_t *const message[DIRECTIONS], int parity) {
    size_t plane = a->block / 2;
    a->parity = parity;
    for (int r = 0; r < DIRECTIONS; r++) {
        a->in[r] = message[r] + (parity ? 0 : plane);
        a->out[r] = message[r] + (parity ? plane : 0);
    }
}

static pruned_level level_of_message(const pruned_message_args *m) {
    pruned_level a = pruned_level_of(&m->grid, &m->pruning, m->classes, m->rho, m->truncation);
    a.cost8 = m->cost8;
    a.cost16 = m->cost16;
    choose_parity(&a, m->message, m->iteration & 1);
    return a;
}

static dim3 pruned_grid(const pruned_level *a) {
    return cuda_blocks(a->small_tiles ? (a->columns + 3) / 4 : a->columns, TILE_WARPS_X, a->rows,
                       TILE_WARPS_Y);
}

static const dim3 pruned_block(WARP_SIZE, TILE_WARPS_X *TILE_WARPS_Y);

static void launch_pruned(backend_cuda *cuda, const pruned_level *a, pruned_source source, int work,
                          const pruned_wta_args *wta) {
#define PRUNED_BY_EDGES(source, work) \
    { pruned_kernel<source, false, work>, pruned_kernel<source, true, work> }
    using kernel = void(pruned_level, pruned_wta_args);
    static kernel *const kernels[6][2] = {PRUNED_BY_EDGES(OWN_MESSAGES, SENDS),
                                          PRUNED_BY_EDGES(PRUNED_PARENTS, SENDS),
                                          PRUNED_BY_EDGES(PARENTS, SENDS),
                                          PRUNED_BY_EDGES(OWN_MESSAGES, PICKS),
                                          PRUNED_BY_EDGES(OWN_MESSAGES, SENDS | PICKS),
                                          PRUNED_BY_EDGES(PRUNED_PARENTS, SENDS | PICKS)};
    static const pruned_wta_args none = {};
    int form = work == SENDS ? source : work + 1 + source;
    launch_dependent(cuda, kernels[form][a->classes != nullptr], pruned_grid(a), pruned_block, *a,
                     wta ? *wta : none);
}

void cuda_launch_pruned_message(backend_cuda *cuda, const void *args, int, int) {
    pruned_level a = level_of_message(static_cast<const pruned_message_args *>(args));
    launch_pruned(cuda, &a, OWN_MESSAGES, SENDS, nullptr);
}

/* The labels of the pixels of one parity. */
static void launch_winner(backend_cuda *cuda, const pruned_wta_args *w, int parity) {
    pruned_level a = pruned_level_of(&w->grid, &w->pruning, w->classes, w->rho, w->truncation);
    a.cost8 = w->cost;
    choose_parity(&a, const_cast<uint8_t *const *>(w->message), parity);
    launch_pruned(cuda, &a, OWN_MESSAGES, PICKS, w);
}

void cuda_launch_pruned_winner(backend_cuda *cuda, const void *args, int, int) {
    for (int parity = 0; parity < 2; parity++)
        launch_winner(cuda, static_cast<const pruned_wta_args *>(args), parity);
}

/* ---- a level: perhaps the start of parity 1, half-steps, perhaps the labels */

/* The first half-step reads the messages that the start would make from the parents, and stores
 * them if no other one does. The last one gives the labels of the pixels that send, too. */
int cuda_unit_pruned_level(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    int count = graph_unit_count(g, unit, STAGE_pruned_message);
    const pruned_start_args *start =
        cuda_args<pruned_start_args>(g, unit, STAGE_pruned_start, slot);
    const pruned_wta_args *wta = cuda_args<pruned_wta_args>(g, unit, STAGE_pruned_winner, slot);
    if (count == 0)
        return 0;
    for (int k = 0; k < count; k++) {
        pruned_level a = level_of_message(
            cuda_args<pruned_message_args>(g, unit, STAGE_pruned_message, slot, k));
        pruned_source source = OWN_MESSAGES;
        if (k == 0 && start) {
            source = start->from_pruned ? PRUNED_PARENTS : PARENTS;
            a.coarse = start->coarse;
            a.coarse_block = pruned_volume(&start->coarse, 1);
            for (int d = 0; d < DIRECTIONS && count == 1; d++)
                a.start[d] = const_cast<uint8_t *>(a.in[d]);
            memcpy(a.in, start->parent, sizeof(a.in));
        }
        bool last = wta && k + 1 == count, picks = last && source != PARENTS;
        launch_pruned(cuda, &a, source, picks ? SENDS | PICKS : SENDS, wta);
        if (last && !picks)
            launch_winner(cuda, wta, a.parity);
        if (last)
            launch_winner(cuda, wta, !a.parity);
    }
    return (start != nullptr) + count + (wta != nullptr);
}
