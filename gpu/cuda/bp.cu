/*
 * Belief propagation optimised for CUDA. A kernel runs one half-step (9 bytes for each sending
 * pixel and label) or two. With two, the pixels of one parity compute what their neighbours
 * send them instead of reading it: those messages are not written to memory, and both half-
 * steps together move 5 bytes for each pixel and label. The first kernel of a level reads the
 * messages of the parents in place, and the last one of the finest level chooses the labels.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/wta.cuh"

#include <cstring>

template <bool INSIDE, bool PARENT, bool WIDE, int GROUP, int EDGES>
DEVICE void single(const bp_level &a, const work_item &p) {
    packed_labels in[DIRECTIONS];
    read_all<INSIDE, PARENT>(a, p, in);
    packed_labels cost = cost_of<INSIDE, WIDE>(a, p, a.parity);
    send_all<GROUP, EDGES>(a, p, cost, in);
}

template <bool PARENT, bool WIDE, int GROUP, int EDGES>
__global__ void BP_BOUNDS single_kernel(const __grid_constant__ bp_level a) {
    if constexpr (!LEFT_OUT(GROUP)) {
        work_item p = work_item_of<GROUP>(a, a.parity);
        wait_for_previous_kernel();
        if (p.y >= a.grid.height)
            return;
        if (all_inside(a, p, 1))
            single<true, PARENT, WIDE, GROUP, EDGES>(a, p);
        else
            single<false, PARENT, WIDE, GROUP, EDGES>(a, p);
    }
}

template <bool INSIDE, bool PARENT, bool WIDE, int GROUP, int EDGES>
DEVICE void pair(const bp_level &a, const work_item &p) {
    packed_labels in[DIRECTIONS];
    receive_all<INSIDE, PARENT, WIDE, GROUP, EDGES>(a, p, in);
    packed_labels cost = cost_of<INSIDE, WIDE>(a, p, !a.parity);
    send_all<GROUP, EDGES>(a, p, cost, in);
}

/* Two half-steps; only the messages of the second one are stored. */
template <bool PARENT, bool WIDE, int GROUP, int EDGES>
__global__ void BP_BOUNDS pair_kernel(const __grid_constant__ bp_level a) {
    if constexpr (!LEFT_OUT(GROUP)) {
        work_item p = work_item_of<GROUP>(a, !a.parity);
        wait_for_previous_kernel();
        if (p.y >= a.grid.height)
            return;
        if (all_inside(a, p, 2))
            pair<true, PARENT, WIDE, GROUP, EDGES>(a, p);
        else
            pair<false, PARENT, WIDE, GROUP, EDGES>(a, p);
    }
}

/* ---- the same with a group of threads for each direction, where a level's pixels do not fill the
 * GPU: a thread computes one message of a half-step in place of four */

/* The message that the pixel (x, y) sent in direction r; zero where it or its receiver does not
 * exist. */
template <bool PARENT>
DEVICE packed_labels sent_by(const bp_level &a, const work_item &p, int r, int x, int y,
                             bool received) {
    bool exists = received && x >= 0 && y >= 0 && x < a.grid.width && y < a.grid.height;
    size_t at = PARENT ? grid_labels(&a.coarse, x >> 1, y >> 1)
                       : (size_t)(y * a.row) + (size_t)((x >> 1) * a.grid.padded);
    return packed_of(words_at<false>(a.in[r] + at + p.first, exists && !a.no_messages));
}

/* Stores what p sends in direction s, where in comes from. */
template <int GROUP, int EDGES>
DEVICE void send_directed(const bp_level &a, const work_item &p, int s, const packed_labels &in) {
    packed_labels h = cost_of<false, true>(a, p, (p.x + p.y) & 1);
#pragma unroll
    for (int i = 0; i < PACKED_REGISTERS; i++) {
        uint32_t two = in.v[i] + __shfl_xor_sync(ALL_LANES, in.v[i], GROUP);
        h.v[i] += two + __shfl_xor_sync(ALL_LANES, two, 2 * GROUP) - in.v[i];
    }
    int classes = classes_at<EDGES>(a, p.x, p.y, p.exists);
    uint32_t minimum = convolve<GROUP, EDGES>(a, p, &h, weight_of<EDGES>(a, classes, s));
    store_words(a.out[s] + p.at, packed_to_bytes(&h, minimum), p.exists);
}

template <bool PARENT, int GROUP, int EDGES>
__global__ void BP_BOUNDS directed_single_kernel(const __grid_constant__ bp_level a) {
    if constexpr (!LEFT_OUT(GROUP)) {
        work_item p = work_item_of<GROUP, true>(a, a.parity);
        int s = p.lane / GROUP % DIRECTIONS;
        wait_for_previous_kernel();
        if (p.y >= a.grid.height)
            return;
        send_directed<GROUP, EDGES>(
            a, p, s,
            sent_by<PARENT>(a, p, opposite(s), p.x + step_x(s), p.y + step_y(s), p.exists));
    }
}

template <bool PARENT, int GROUP, int EDGES>
__global__ void BP_BOUNDS directed_pair_kernel(const __grid_constant__ bp_level a) {
    if constexpr (!LEFT_OUT(GROUP)) {
        work_item p = work_item_of<GROUP, true>(a, !a.parity);
        int s = p.lane / GROUP % DIRECTIONS, x = p.x + step_x(s), y = p.y + step_y(s);
        bool exists = p.exists && x >= 0 && y >= 0 && x < a.grid.width && y < a.grid.height;
        wait_for_previous_kernel();
        if (p.y >= a.grid.height)
            return;
        packed_labels h = wide_cost_at<false>(a, grid_labels(&a.grid, x, y) + p.first, exists);
#pragma unroll
        for (int k = 1; k < DIRECTIONS; k++) { /* the directions but that of p */
            int t = opposite(s) ^ k;
            packed_labels in =
                sent_by<PARENT>(a, p, opposite(t), x + step_x(t), y + step_y(t), exists);
            packed_add(&h, &in);
        }
        int classes = classes_at<EDGES>(a, x, y, exists);
        uint32_t minimum =
            convolve<GROUP, EDGES>(a, p, &h, weight_of<EDGES>(a, classes, opposite(s)));
        packed_subtract(&h, minimum);
        send_directed<GROUP, EDGES>(a, p, s, h);
    }
}

/* ---- labels */

/* The beliefs of p and q, neighbours in a row: p's after its neighbours' half-step, q's out of the
 * messages in memory. INSIDE: all that they need exists. */
template <bool INSIDE, int GROUP, int EDGES>
DEVICE void last_beliefs(const bp_level &a, const work_item &p, const work_item &q,
                         packed_labels *of_p, packed_labels *of_q) {
    packed_labels in[DIRECTIONS];
    receive_all<INSIDE, false, false, GROUP, EDGES>(a, p, in);
    *of_p = cost_of<INSIDE, false>(a, p, !a.parity);
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        packed_add(of_p, &in[r]);
    *of_q = belief_in_memory<INSIDE>(a, q, a.parity);
}

/* The last half-step of the finest level, and the labels of both parities. */
template <int GROUP, int EDGES>
__global__ void BP_BOUNDS last_kernel(const __grid_constant__ bp_level a,
                                      const __grid_constant__ wta_args wta) {
    if constexpr (!LEFT_OUT(GROUP)) {
        __shared__ belief_store<2> store;
        work_item p = work_item_of<GROUP>(a, !a.parity), q = work_item_of<GROUP>(a, a.parity);
        wait_for_previous_kernel();
        if (p.y >= a.grid.height)
            return;
        packed_labels of_p, of_q;
        if (all_inside(a, p, 2)) /* then q's neighbours exist as well */
            last_beliefs<true, GROUP, EDGES>(a, p, q, &of_p, &of_q);
        else
            last_beliefs<false, GROUP, EDGES>(a, p, q, &of_p, &of_q);
        uint32_t best_p = best_label<GROUP>(wta, p, of_p, store, 0);
        uint32_t best_q = best_label<GROUP>(wta, q, of_q, store, 1);
        wta_two<GROUP>(wta, p, q, best_p, best_q, store);
    }
}

/* The labels of one parity, from messages in memory. */
template <int GROUP>
__global__ void BP_BOUNDS wta_kernel(const __grid_constant__ bp_level a,
                                     const __grid_constant__ wta_args wta) {
    if constexpr (!LEFT_OUT(GROUP)) {
        __shared__ belief_store<1> store;
        work_item p = work_item_of<GROUP>(a, a.parity);
        wait_for_previous_kernel();
        if (p.y >= a.grid.height)
            return;
        packed_labels belief = belief_in_memory<false>(a, p, a.parity);
        wta_one<GROUP>(wta, p, best_label<GROUP>(wta, p, belief, store, 0), store, 0);
    }
}

/* The first label of least belief, where beliefs need all bits of a lane: a cost and what comes in
 * from each direction. */
template <int GROUP>
DEVICE uint32_t wide_best_label(const bp_level &a, const work_item &p, packed_labels belief,
                                const packed_labels in[DIRECTIONS]) {
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        packed_add(&belief, &in[r]);
    packed_pad(&belief, p.first, a.grid.labels);
    uint32_t minimum = group_minimum<GROUP>(p, packed_minimum(&belief)) & 0xffff, equal = 0;
#pragma unroll
    for (int i = 0; i < PACKED_REGISTERS; i++)
        equal |= (uint32_t)((belief.v[i] & 0xffff) == minimum) << i |
                 (uint32_t)(belief.v[i] >> 16 == minimum) << (i + 8);
    return group_min<GROUP>(p, equal ? (uint32_t)(p.first + __ffs((int)equal) - 1) : ~0u);
}

DEVICE void store_label(const bp_level &a, const work_item &p, uint32_t best, uint16_t *label) {
    if (p.exists && p.in_group == 0)
        label[(size_t)p.y * (size_t)a.grid.width + (size_t)p.x] = (uint16_t)best;
}

/* The label of a pixel of a.parity; next(pixel, cost, messages) is done with what it needs. */
template <int GROUP, typename Next>
DEVICE void label_pixel(const bp_level &a, uint16_t *label, Next next) {
    work_item p = work_item_of<GROUP>(a, a.parity);
    wait_for_previous_kernel();
    if (p.y >= a.grid.height)
        return;
    packed_labels in[DIRECTIONS], cost = cost_of<false, true>(a, p, a.parity);
    read_all<false, false>(a, p, in);
    store_label(a, p, wide_best_label<GROUP>(a, p, cost, in), label);
    next(p, cost, in);
}

/* A half-step, and the labels of the pixels that send, which have all that these need. */
template <int GROUP, int EDGES>
__global__ void BP_BOUNDS labelled_single_kernel(const __grid_constant__ bp_level a,
                                                 uint16_t *label) {
    if constexpr (!LEFT_OUT(GROUP))
        label_pixel<GROUP>(a, label,
                           [&](const work_item &p, const packed_labels &cost, packed_labels *in) {
                               send_all<GROUP, EDGES>(a, p, cost, in);
                           });
}

template <int GROUP>
__global__ void BP_BOUNDS best_label_kernel(const __grid_constant__ bp_level a, uint16_t *label) {
    if constexpr (!LEFT_OUT(GROUP))
        label_pixel<GROUP>(a, label,
                           [](const work_item &, const packed_labels &, packed_labels *) {});
}

typedef void (*bp_kernel)(bp_level);
typedef void (*bp_wta_kernel)(bp_level, wta_args);
typedef void (*bp_label_kernel)(bp_level, uint16_t *);

int bp_kernel_for(const backend_cuda *cuda, const bp_level *a) {
    int edges = a->classes ? 1 + (a->carry > 1) : 0;
    if (cuda->capability < 90 || a->grid.labels != a->grid.padded || (!edges && a->carry > 1))
        return 0;
    for (int i = 0; i < 4; i++)
        if (a->group == (i ? 2 << i : 1))
            return 1 + 3 * i + edges;
    return 0;
}

#define BY_COST(kernel, parent) \
    { BP_KERNELS_OF(kernel < parent, false, ), BP_KERNELS_OF(kernel < parent, true, ) }

static const bp_kernel singles[2][2][BP_KERNELS] = {BY_COST(single_kernel, false),
                                                    BY_COST(single_kernel, true)};
static const bp_kernel pairs[2][2][BP_KERNELS] = {BY_COST(pair_kernel, false),
                                                  BY_COST(pair_kernel, true)};
#define DIRECTED(kernel, parent)                                                 \
    {                                                                            \
        nullptr, BY_EDGES(1, kernel < parent, ), BY_EDGES(4, kernel < parent, ), \
            BY_EDGES(8, kernel < parent, )                                       \
    }
static const bp_kernel directed_singles[2][BP_KERNELS] = {DIRECTED(directed_single_kernel, false),
                                                          DIRECTED(directed_single_kernel, true)};
static const bp_kernel directed_pairs[2][BP_KERNELS] = {DIRECTED(directed_pair_kernel, false),
                                                        DIRECTED(directed_pair_kernel, true)};
static const bp_wta_kernel lasts[BP_KERNELS] = BP_KERNELS_OF(last_kernel <);
static const bp_wta_kernel wta_kernels[] = BY_GROUP(wta_kernel <);
static const bp_label_kernel labelled_singles[BP_KERNELS] = BP_KERNELS_OF(labelled_single_kernel <);
static const bp_label_kernel best_labels[] = BY_GROUP(best_label_kernel <);

/* Warps of a block lie above each other, so that neighbouring rows are found in the first cache. */
enum { BLOCK_COLUMNS = 1, BLOCK_ROWS = 8 };

dim3 bp_block() {
    return dim3(WARP_SIZE, BLOCK_COLUMNS, BLOCK_ROWS);
}

dim3 bp_grid(const bp_level *a) {
    int pixels = WARP_SIZE / a->group * BLOCK_COLUMNS;
    return cuda_blocks(a->grid.half, pixels, a->grid.height, BLOCK_ROWS);
}

static void launch(backend_cuda *cuda, bp_kernel kernel, const bp_level *a) {
    launch_dependent(cuda, kernel, bp_grid(a), bp_block(), *a);
}

static void launch_wta(backend_cuda *cuda, bp_wta_kernel kernel, const bp_level *a,
                       const wta_args *wta) {
    launch_dependent(cuda, kernel, bp_grid(a), bp_block(), *a, *wta);
}

bp_level bp_level_of_grid(const struct grid *grid) {
    bp_level a;
    memset(&a, 0, sizeof(a));
    a.grid = *grid;
    a.group = grid->padded / LABEL_BLOCK;
    a.carry = 1;
    a.row = (ptrdiff_t)grid->half * grid->padded;
    a.plane = (size_t)grid->height * (size_t)a.row;
    return a;
}

bp_level bp_level_of(const message_args *m) {
    bp_level a = bp_level_of_grid(&m->grid);
    a.cost8 = m->cost8;
    a.cost16 = m->cost16;
    a.classes = m->classes;
    a.parity = m->iteration & 1;
    memcpy(&a.rho, m->rho, sizeof(a.rho));
    memcpy(&a.truncation, m->truncation, sizeof(a.truncation));
    a.rho_both = u16x2_broadcast(m->rho[0]);
    a.truncation_both = u16x2_broadcast(m->truncation[0]);
    for (int c = 0; c < (m->classes ? 4 : 1); c++) {
        int carry = carry_blocks(m->rho[c], m->truncation[c], 2 * a.group);
        a.carry = carry > a.carry ? carry : a.carry;
    }
    return a;
}

void bp_choose_planes(bp_level *a, uint8_t *const message[DIRECTIONS], int in, int out) {
    a->upwards = out;
    for (int r = 0; r < DIRECTIONS; r++) {
        a->in[r] = message[r] + (size_t)in * a->plane;
        a->out[r] = message[r] + (size_t)out * a->plane;
    }
}

/* Warps of a multiprocessor, at most, for a level with a group of threads each direction. */
enum { DIRECTED_WARPS = 20, DIRECTED_ROWS = 2 };

/* One of the two kernels: directed where there is one and the level is small. */
static void launch_either(backend_cuda *cuda, const bp_level *a, bp_kernel directed,
                          bp_kernel kernel) {
    int threads = a->grid.half * a->grid.height * a->group * DIRECTIONS;
    if (a->cost16 && directed && threads <= DIRECTED_WARPS * WARP_SIZE * cuda->processors)
        launch_dependent(cuda, directed,
                         cuda_blocks(a->grid.half, WARP_SIZE / (DIRECTIONS * a->group),
                                     a->grid.height, DIRECTED_ROWS),
                         dim3(WARP_SIZE, 1, DIRECTED_ROWS), *a);
    else
        launch(cuda, kernel, a);
}

static void launch_single(backend_cuda *cuda, const bp_level *a, int parent) {
    int number = bp_kernel_for(cuda, a);
    launch_either(cuda, a, directed_singles[parent][number],
                  singles[parent][a->cost16 != nullptr][number]);
}

static void launch_pair(backend_cuda *cuda, const bp_level *a, int parent) {
    int number = bp_kernel_for(cuda, a);
    launch_either(cuda, a, directed_pairs[parent][number],
                  pairs[parent][a->cost16 != nullptr][number]);
}

void bp_launch_half_step(backend_cuda *cuda, const message_args *m) {
    bp_level a = bp_level_of(m);
    bp_choose_planes(&a, m->message, !a.parity, a.parity);
    launch_single(cuda, &a, 0);
}

static bp_level level_of_wta(const wta_args *wta) {
    bp_level a = bp_level_of_grid(&wta->grid);
    a.cost8 = wta->cost;
    return a;
}

void cuda_launch_winner_takes_all(backend_cuda *cuda, const void *args, int width, int height) {
    const wta_args *wta = static_cast<const wta_args *>(args);
    if (wta->v) { /* labels in windows */
        cuda->plain[STAGE_winner_takes_all](cuda, args, width, height);
        return;
    }
    bp_level a = level_of_wta(wta);
    for (a.parity = 0; a.parity < 2; a.parity++) {
        for (int r = 0; r < DIRECTIONS; r++)
            a.in[r] = wta->message[r] + (size_t)!a.parity * a.plane;
        launch_wta(cuda, wta_kernels[bp_group_number(bp_kernel_for(cuda, &a))], &a, wta);
    }
}

void cuda_launch_best_label(backend_cuda *cuda, const void *args, int width, int height) {
    const best_label_args *b = static_cast<const best_label_args *>(args);
    if (!b->cost16) {
        cuda->plain[STAGE_best_label](cuda, args, width, height);
        return;
    }
    bp_level a = bp_level_of_grid(&b->grid);
    a.cost16 = b->cost16;
    a.parity = b->parity;
    for (int r = 0; r < DIRECTIONS; r++)
        a.in[r] = b->message[r] + (size_t)!a.parity * a.plane;
    launch_dependent(cuda, best_labels[bp_group_number(bp_kernel_for(cuda, &a))], bp_grid(&a),
                     bp_block(), a, b->label);
}

/* ---- a level: perhaps the start of parity 1, half-steps, perhaps the labels */

/* Where the first kernel of a level reads: the parents, or, for zeros, nowhere. */
static int choose_start(bp_level *a, const message_args *m, const start_messages_args *start,
                        int out) {
    bp_choose_planes(a, m->message, out, out);
    a->no_messages = !start->parent[0];
    a->coarse = start->coarse;
    for (int r = 0; r < DIRECTIONS && start->parent[r]; r++)
        a->in[r] = start->parent[r];
    return !a->no_messages;
}

static void launch_from_start(backend_cuda *cuda, const message_args *m,
                              const start_messages_args *start, int count) {
    bp_level a = bp_level_of(m);
    for (int k = 0; k < level_kernels(count); k++) {
        level_kernel kernel = level_kernel_of(count, k);
        int parent = 0;
        if (k == 0) {
            parent = choose_start(&a, m, start, kernel.out);
        } else {
            bp_choose_planes(&a, m->message, !kernel.out, kernel.out);
            a.no_messages = 0;
        }
        a.parity = kernel.parity;
        if (kernel.single)
            launch_single(cuda, &a, parent);
        else
            launch_pair(cuda, &a, parent);
    }
}

/* Half-steps from messages in memory. Pairs go there and back, so the messages end where they
 * belong. */
static void launch_half_steps(backend_cuda *cuda, const message_args *m, int count) {
    bp_level a = bp_level_of(m);
    int first = a.parity, second = !a.parity;
    /* where rows are odd, a plane of one parity has gaps that the other one would fill */
    int pairs_of_two = a.grid.width % 2 ? 0 : count / 4;
    for (int i = 0; i < pairs_of_two; i++) {
        bp_choose_planes(&a, m->message, second, first);
        launch_pair(cuda, &a, 0);
        bp_choose_planes(&a, m->message, first, second);
        launch_pair(cuda, &a, 0);
    }
    for (int t = 4 * pairs_of_two; t < count; t++) {
        a.parity = (first + t) & 1;
        bp_choose_planes(&a, m->message, !a.parity, a.parity);
        launch_single(cuda, &a, 0);
    }
}

/* The last half-step of the finest level gives the labels and stores no messages; that of another
 * level may give the labels of the pixels that send. */
int cuda_unit_level(backend_cuda *cuda, const struct graph *g, int unit, int slot) {
    int count = graph_unit_count(g, unit, STAGE_message);
    const message_args *m = cuda_args<message_args>(g, unit, STAGE_message, slot);
    const start_messages_args *start =
        cuda_args<start_messages_args>(g, unit, STAGE_start_messages, slot);
    const wta_args *wta = cuda_args<wta_args>(g, unit, STAGE_winner_takes_all, slot);
    const best_label_args *label = cuda_args<best_label_args>(g, unit, STAGE_best_label, slot);
    if (count == 0)
        return 0;
    if (start && count > 1)
        launch_from_start(cuda, m, start, count);
    else if (start)
        cuda->launches[STAGE_start_messages](cuda, start, m->grid.half, m->grid.height);
    else
        launch_half_steps(cuda, m, count - 1);
    bp_level a = bp_level_of(m);
    a.parity = (m->iteration + count - 1) & 1;
    bp_choose_planes(&a, m->message, !a.parity, a.parity);
    int number = bp_kernel_for(cuda, &a);
    bool labels = label && a.cost16 && label->parity == a.parity;
    if (wta)
        launch_wta(cuda, lasts[number], &a, wta);
    else if (labels)
        launch_dependent(cuda, labelled_singles[number], bp_grid(&a), bp_block(), a, label->label);
    else
        launch_single(cuda, &a, 0);
    return (start != nullptr) + count + (wta != nullptr) + labels;
}
