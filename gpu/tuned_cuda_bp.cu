/*
 * Belief propagation tuned for CUDA: one half-step a pass (9 bytes a sending pixel and label), and
 * two half-steps a pass, in which the pixels of one colour work out what their neighbours send them
 * instead of reading it: those messages never touch memory, and a pair moves 5 bytes a pixel and
 * label. The first pass of a level reads the messages of its parents where they are, and the last
 * of the finest level picks the labels.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend_cuda.h"
#include "gpu/tuned_cuda_launch.cuh"
#include "gpu/tuned_cuda_pick.cuh"

#include <cstring>

/* Older GPUs have the general kernels alone: less to compile, and they are bound by their
 * arithmetic. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define LEFT_OUT(group) ((group) > 0)
#else
#define LEFT_OUT(group) false
#endif

/* 24 warps on a multiprocessor: fewer hide less, more need registers that are not there. */
#define BP_BOUNDS __launch_bounds__(256, 3)

template <bool INSIDE, bool PARENT, bool WIDE, int GROUP, bool EDGES>
__device__ __forceinline__ void single(const bp_level &a, const place &p) {
    lanes in[DIRECTIONS];
    read_all<INSIDE, PARENT>(a, p, in);
    lanes cost = cost_of<INSIDE, WIDE>(a, p, a.colour);
    send_all<GROUP, EDGES>(a, p, cost, in);
}

template <bool PARENT, bool WIDE, int GROUP, bool EDGES>
__global__ void BP_BOUNDS single_kernel(const __grid_constant__ bp_level a) {
    if constexpr (!LEFT_OUT(GROUP)) {
        cuda_follow();
        place p = place_of<GROUP>(a, a.colour);
        if (p.y >= a.grid.height)
            return;
        if (a.heat) {
            p.exists = p.exists && a.heat[tile_of(a.grid.width, p.x, p.y)];
            if (!__any_sync(WARP_MASK, p.exists))
                return;
        }
        if (all_inside(a, p, 1))
            single<true, PARENT, WIDE, GROUP, EDGES>(a, p);
        else
            single<false, PARENT, WIDE, GROUP, EDGES>(a, p);
    }
}

template <bool INSIDE, bool PARENT, bool WIDE, int GROUP, bool EDGES>
__device__ __forceinline__ void pair(const bp_level &a, const place &p) {
    lanes in[DIRECTIONS];
    receive_all<INSIDE, PARENT, WIDE, GROUP, EDGES>(a, p, in);
    lanes cost = cost_of<INSIDE, WIDE>(a, p, !a.colour);
    send_all<GROUP, EDGES>(a, p, cost, in);
}

/* The colour that sends first is only computed with; the other one's new messages are stored. */
template <bool PARENT, bool WIDE, int GROUP, bool EDGES>
__global__ void BP_BOUNDS pair_kernel(const __grid_constant__ bp_level a) {
    if constexpr (!LEFT_OUT(GROUP)) {
        cuda_follow();
        place p = place_of<GROUP>(a, !a.colour);
        if (p.y >= a.grid.height)
            return;
        if (all_inside(a, p, 2))
            pair<true, PARENT, WIDE, GROUP, EDGES>(a, p);
        else
            pair<false, PARENT, WIDE, GROUP, EDGES>(a, p);
    }
}

/* The beliefs of p and q, neighbours in a row: p's after its neighbours' half-step, q's out of the
 * messages in memory. INSIDE: all that they need exists. */
template <bool INSIDE, int GROUP, bool EDGES>
__device__ __forceinline__ void last_beliefs(const bp_level &a, const place &p, const place &q,
                                             lanes *of_p, lanes *of_q) {
    lanes in[DIRECTIONS];
    receive_all<INSIDE, false, false, GROUP, EDGES>(a, p, in);
    *of_p = cost_of<INSIDE, false>(a, p, !a.colour);
#pragma unroll
    for (int r = 0; r < DIRECTIONS; r++)
        lanes_add(of_p, &in[r]);
    *of_q = belief_in_memory<INSIDE>(a, q, a.colour);
}

/* The last half-step of the finest level, and the labels of both colours. */
template <int GROUP, bool EDGES>
__global__ void BP_BOUNDS last_kernel(const __grid_constant__ bp_level a,
                                      const __grid_constant__ pick_args pick) {
    if constexpr (!LEFT_OUT(GROUP)) {
        __shared__ belief_store<2> store;
        cuda_follow();
        place p = place_of<GROUP>(a, !a.colour), q = place_of<GROUP>(a, a.colour);
        if (p.y >= a.grid.height)
            return;
        lanes of_p, of_q;
        if (all_inside(a, p, 2)) /* then q's neighbours exist as well */
            last_beliefs<true, GROUP, EDGES>(a, p, q, &of_p, &of_q);
        else
            last_beliefs<false, GROUP, EDGES>(a, p, q, &of_p, &of_q);
        uint32_t best_p = best_label<GROUP>(pick, p, of_p, store, 0);
        uint32_t best_q = best_label<GROUP>(pick, q, of_q, store, 1);
        pick_two<GROUP>(pick, p, q, best_p, best_q, store);
    }
}

/* The labels of one colour, from messages in memory. */
template <int GROUP>
__global__ void BP_BOUNDS pick_kernel(const __grid_constant__ bp_level a,
                                      const __grid_constant__ pick_args pick) {
    if constexpr (!LEFT_OUT(GROUP)) {
        __shared__ belief_store<1> store;
        cuda_follow();
        place p = place_of<GROUP>(a, a.colour);
        if (p.y >= a.grid.height)
            return;
        lanes belief = belief_in_memory<false>(a, p, a.colour);
        pick_one<GROUP>(pick, p, best_label<GROUP>(pick, p, belief, store, 0), store, 0);
    }
}

typedef void (*bp_kernel)(bp_level);
typedef void (*bp_pick_kernel)(bp_level, pick_args);

/* Kernels of their own for 16, 64, 128 and 256 labels (1, 4, 8, 16 threads a message), each
 * without and with edge classes; number 0 does everything. */
enum { FORMS = 9 };

static int form_of(const backend_cuda *cuda, const bp_level *a) {
    if (cuda->capability < 90 || a->carry > 1 || a->grid.labels != a->grid.padded)
        return 0;
    int edges = a->classes != nullptr;
    switch (a->group) {
    case 1:
        return 1 + edges;
    case 4:
        return 3 + edges;
    case 8:
        return 5 + edges;
    case 16:
        return 7 + edges;
    default:
        return 0;
    }
}

#define FORMS_OF(...)                                                                        \
    {                                                                                        \
        __VA_ARGS__ 0, true >, __VA_ARGS__ 1, false >, __VA_ARGS__ 1, true >, __VA_ARGS__ 4, \
            false >, __VA_ARGS__ 4, true >, __VA_ARGS__ 8, false >, __VA_ARGS__ 8, true >,   \
            __VA_ARGS__ 16, false >, __VA_ARGS__ 16, true >                                  \
    }
#define BY_COST(kernel, parent) \
    { FORMS_OF(kernel < parent, false, ), FORMS_OF(kernel < parent, true, ) }

static const bp_kernel singles[2][2][FORMS] = {BY_COST(single_kernel, false),
                                               BY_COST(single_kernel, true)};
static const bp_kernel pairs[2][2][FORMS] = {BY_COST(pair_kernel, false),
                                             BY_COST(pair_kernel, true)};
static const bp_pick_kernel lasts[FORMS] = FORMS_OF(last_kernel <);
static const bp_pick_kernel picks[FORMS] = {pick_kernel<0>, pick_kernel<1>,  pick_kernel<1>,
                                            pick_kernel<4>, pick_kernel<4>,  pick_kernel<8>,
                                            pick_kernel<8>, pick_kernel<16>, pick_kernel<16>};

/* Warps of a block lie above each other, so that neighbouring rows are found in the first cache. */
enum { BLOCK_COLUMNS = 1, BLOCK_ROWS = 8 };

dim3 bp_block() {
    return dim3(32, BLOCK_COLUMNS, BLOCK_ROWS);
}

dim3 bp_grid(const bp_level *a) {
    int pixels = 32 / a->group * BLOCK_COLUMNS;
    return dim3((unsigned)(a->grid.half + pixels - 1) / pixels,
                (unsigned)(a->grid.height + BLOCK_ROWS - 1) / BLOCK_ROWS);
}

static void launch(backend_cuda *cuda, bp_kernel kernel, const bp_level *a) {
    cuda_launch_early(cuda, kernel, bp_grid(a), bp_block(), *a);
}

static void launch_pick(backend_cuda *cuda, bp_pick_kernel kernel, const bp_level *a,
                        const pick_args *pick) {
    cuda_launch_early(cuda, kernel, bp_grid(a), bp_block(), *a, *pick);
}

static bp_level level_of(const struct grid *grid) {
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
    bp_level a = level_of(&m->grid);
    a.cost8 = m->cost8;
    a.cost16 = m->cost16;
    a.classes = m->classes;
    a.heat = m->heat;
    a.colour = m->iteration & 1;
    memcpy(&a.rho, m->rho, sizeof(a.rho));
    memcpy(&a.truncation, m->truncation, sizeof(a.truncation));
    a.rho_both = lanes_both(m->rho[0]);
    a.truncation_both = lanes_both(m->truncation[0]);
    for (int c = 0; c < (m->classes ? 4 : 1); c++) {
        int carry = carry_blocks(m->rho[c], m->truncation[c], 2 * a.group);
        a.carry = carry > a.carry ? carry : a.carry;
    }
    return a;
}

void bp_choose_planes(bp_level *a, uint8_t *const message[DIRECTIONS], int in, int out) {
    for (int r = 0; r < DIRECTIONS; r++) {
        a->in[r] = message[r] + (size_t)in * a->plane;
        a->out[r] = message[r] + (size_t)out * a->plane;
    }
}

static void launch_single(backend_cuda *cuda, const bp_level *a, int parent) {
    launch(cuda, singles[parent][a->cost16 != nullptr][form_of(cuda, a)], a);
}

static void launch_pair(backend_cuda *cuda, const bp_level *a, int parent) {
    launch(cuda, pairs[parent][a->cost16 != nullptr][form_of(cuda, a)], a);
}

static void launch_message(backend_cuda *cuda, const void *args, int, int) {
    bp_level a = bp_level_of(static_cast<const message_args *>(args));
    bp_choose_planes(&a, static_cast<const message_args *>(args)->message, !a.colour, a.colour);
    launch_single(cuda, &a, 0);
}

static bp_level level_of_pick(const pick_args *pick) {
    bp_level a = level_of(&pick->grid);
    a.cost8 = pick->cost;
    return a;
}

static void launch_pick_stage(backend_cuda *cuda, const void *args, int, int) {
    const pick_args *pick = static_cast<const pick_args *>(args);
    bp_level a = level_of_pick(pick);
    for (a.colour = 0; a.colour < 2; a.colour++) {
        for (int r = 0; r < DIRECTIONS; r++)
            a.in[r] = pick->message[r] + (size_t)!a.colour * a.plane;
        launch_pick(cuda, picks[form_of(cuda, &a)], &a, pick);
    }
}

static void half_steps(struct backend *b, const struct message_args *args, int count) {
    backend_cuda *cuda = reinterpret_cast<backend_cuda *>(b);
    bp_level a = bp_level_of(args);
    int first = a.colour, second = !a.colour;
    /* where rows are odd, a plane of one colour has gaps that the other one would fill */
    int pairs_of_two = a.grid.width % 2 ? 0 : (count - 1) / 4;
    for (int i = 0; i < pairs_of_two;
         i++) { /* there and back, so the messages end where they belong */
        bp_choose_planes(&a, args->message, second, first);
        launch_pair(cuda, &a, 0);
        bp_choose_planes(&a, args->message, first, second);
        launch_pair(cuda, &a, 0);
    }
    for (int t = 4 * pairs_of_two; t < count; t++) {
        a.colour = (first + t) & 1;
        bp_choose_planes(&a, args->message, !a.colour, a.colour);
        launch_single(cuda, &a, 0);
    }
    cuda_check(cuda, "half-steps");
}

/* A level's start where its first pass cannot read it from the parents itself. */
static void start_plain(backend_cuda *cuda, const propagate_args *p, int l, int from) {
    for (int colour = from; colour < 2; colour++) {
        const message_args *m = &p->level[l];
        silence_args silence = {
            m->grid, {m->message[0], m->message[1], m->message[2], m->message[3]}, colour};
        widen_args widen = {
            m->grid, {}, {}, {m->message[0], m->message[1], m->message[2], m->message[3]}, colour};
        if (l + 1 == p->levels) {
            cuda->launches[STAGE_silence](cuda, &silence, m->grid.half, m->grid.height);
            continue;
        }
        widen.coarse = p->level[l + 1].grid;
        for (int r = 0; r < DIRECTIONS; r++)
            widen.parent[r] = p->level[l + 1].message[r];
        cuda->launches[STAGE_widen](cuda, &widen, m->grid.half, m->grid.height);
    }
}

/* Where the first pass of level l reads. */
static int choose_start(bp_level *a, const propagate_args *p, int l, int out) {
    bp_choose_planes(a, p->level[l].message, out, out);
    a->silent = l + 1 == p->levels;
    if (a->silent)
        return 0;
    a->coarse = p->level[l + 1].grid;
    for (int r = 0; r < DIRECTIONS; r++)
        a->in[r] = p->level[l + 1].message[r];
    return 1;
}

/* All but the last half-step of a level of at least two. The colour that does not send last
 * ends with its messages in its own plane; until then the passes alternate between both planes. */
static void propagate_level(backend_cuda *cuda, const propagate_args *p, int l, bp_level *a) {
    int count = p->iterations[l], even = count % 2 == 0, keeper = count & 1;
    int passes = (count - 1) / 2 + even, parent;
    uint8_t *const *message = p->level[l].message;
    for (int pass = 0; pass < passes; pass++) {
        int out = (passes - 1 - pass) & 1 ? !keeper : keeper;
        if (pass == 0) {
            parent = choose_start(a, p, l, out);
        } else {
            bp_choose_planes(a, message, !out, out);
            a->silent = parent = 0;
        }
        a->colour = pass == 0 && even ? 0 : !keeper;
        if (pass == 0 && even)
            launch_single(cuda, a, parent);
        else
            launch_pair(cuda, a, parent);
    }
    a->silent = 0;
}

/* Pairs of half-steps take the messages of colour 1 to the other plane and back; the last half-step
 * finds them where they are. */
static void propagate_warm(backend_cuda *cuda, const propagate_args *p) {
    bp_level a = bp_level_of(&p->level[0]);
    int from = !p->displaced;
    for (int i = 0; i < p->iterations[0] / 2; i++, from = !from) {
        bp_choose_planes(&a, p->level[0].message, from, !from);
        launch_pair(cuda, &a, 0);
    }
    bp_choose_planes(&a, p->level[0].message, from, !from);
    launch_pick(cuda, lasts[form_of(cuda, &a)], &a, &p->pick);
    cuda_check(cuda, "belief propagation from the last frame's messages");
}

static void propagate(struct backend *b, const struct propagate_args *p) {
    backend_cuda *cuda = reinterpret_cast<backend_cuda *>(b);
    if (p->warm) {
        propagate_warm(cuda, p);
        return;
    }
    for (int l = p->levels - 1; l >= 0; l--) {
        bp_level a = bp_level_of(&p->level[l]);
        int count = p->iterations[l];
        if (count > 1)
            propagate_level(cuda, p, l, &a);
        else
            start_plain(cuda, p, l, count);
        a.colour = (count - 1) & 1;
        bp_choose_planes(&a, p->level[l].message, !a.colour, a.colour);
        int stored = l > 0 || (p->keep && a.colour == 1);
        if (count > 0 && stored)
            launch_single(cuda, &a, 0);
        else if (count > 0)
            launch_pick(cuda, lasts[form_of(cuda, &a)], &a, &p->pick);
        if (l == 0 && (count == 0 || stored))
            launch_pick_stage(cuda, &p->pick, 0, 0);
    }
    cuda_check(cuda, "belief propagation");
}

void cuda_tune_bp(backend_cuda *cuda) {
    cuda->launches[STAGE_message] = launch_message;
    cuda->launches[STAGE_pick] = launch_pick_stage;
    cuda->base.half_steps = half_steps;
    cuda->base.propagate = propagate;
}
