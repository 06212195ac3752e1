/*
 * A backend for tests: CUDA kernels on the processor, see cuda_runtime.h beside it. Stages whose
 * kernels it does not have run as written. One frame is in flight.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cuda/backend_cuda.h"
#include "tests/emulated_gpu/emulated_backend.h"

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" void stage_run_pixel(enum stage stage, const void *args, int x, int y);

/* The stages and fused passes that are emulated. */
#define EMULATED(STAGE)       \
    STAGE(message)            \
    STAGE(winner_takes_all)   \
    STAGE(best_label)         \
    STAGE(start_messages)     \
    STAGE(downsample_cost)    \
    STAGE(cost)               \
    STAGE(pruned_message)     \
    STAGE(pruned_winner)      \
    STAGE(feature_layer)      \
    STAGE(feature_vector)     \
    STAGE(refine_nearest)     \
    STAGE(refine_evidence)    \
    STAGE(refine_regress)     \
    STAGE(refine_choose)      \
    STAGE(row_offset_sum)     \
    STAGE(agreement)          \
    STAGE(census)             \
    STAGE(agreement_strength) \
    STAGE(border_plane)       \
    STAGE(fill)               \
    STAGE(steady_bits)        \
    STAGE(median)             \
    STAGE(hole_median)        \
    STAGE(deblock)            \
    STAGE(move_rows)          \
    STAGE(edges)              \
    STAGE(arms)               \
    STAGE(surface_arms)       \
    STAGE(surface_plane)      \
    STAGE(cost_curve)         \
    STAGE(cross_nodes)        \
    STAGE(evidence)           \
    STAGE(node_match)         \
    STAGE(ground_line)        \
    STAGE(pruned_cost)

/* The stages as written, in the form of a launch. */
#define STAGE_ROW(name, arguments, reach_x, reach_y, ...)                               \
    static void plain_##name(backend_cuda *, const void *args, int width, int height) { \
        for (int y = 0; y < height; y++)                                                \
            for (int x = 0; x < width; x++)                                             \
                stage_run_pixel(STAGE_##name, args, x, y);                              \
    }
#include "gpu/stages/stages.def"
#undef STAGE_ROW

static cuda_launch *const plain[STAGE_COUNT] = {
#define STAGE_ROW(name, arguments, reach_x, reach_y, ...) plain_##name,
#include "gpu/stages/stages.def"
#undef STAGE_ROW
};

/* The kernels are not linked. */
void cuda_launch_window_message(backend_cuda *cuda, const void *args, int width, int height) {
    plain_message(cuda, args, width, height);
}

static void run(backend *b, void *compiled, int slot, const struct backend_frame *frame) {
    backend_cuda *cuda = reinterpret_cast<backend_cuda *>(b);
    const struct graph *g = static_cast<const struct graph *>(compiled);
    for (int i = 0; i < g->count; i += g->passes[i].unit) {
        const struct pass *pass = &g->passes[i];
        if (pass->kind == PASS_STAGE)
            cuda_issue_unit(cuda, g, i, slot);
        else
            backend_transfer(&pass->transfer, pass->kind == PASS_UPLOAD, false,
                             graph_address(g, pass->transfer.buffer, slot),
                             &frame->memory[pass->transfer.host]);
    }
}

static int wait_for(backend *, int) {
    return 0;
}

static void *alloc(backend *, enum memory_kind, size_t bytes) {
    void *memory = nullptr;
    return posix_memalign(&memory, 256, bytes ? bytes : 1) ? nullptr : memory;
}

static void release_memory(backend *, enum memory_kind, void *memory) {
    free(memory);
}

static int copy(backend *, void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return 0;
}

static void *compile(backend *, void *, const struct graph *g) {
    return const_cast<struct graph *>(g);
}

static void discard(backend *, void *) {
}

static void times(backend *, int, double *ms) {
    memset(ms, 0, GROUP_COUNT * sizeof(*ms));
}

static void close_backend(backend **b) {
    free(*b);
    *b = nullptr;
}

struct backend *emulated_backend_open(void) {
    backend_cuda *cuda = static_cast<backend_cuda *>(calloc(1, sizeof(*cuda)));
    assert(cuda);
    cuda->capability = 90;
    cuda->processors = 1;
    cuda->max_shared = 228 << 10;
    cuda->plain = plain;
    memcpy(cuda->launches, plain, sizeof(plain));
#define KERNEL(name) cuda->launches[STAGE_##name] = cuda_launch_##name;
    EMULATED(KERNEL)
#undef KERNEL
    backend *b = &cuda->base;
    b->slots = 1;
    b->alloc = alloc;
    b->release = release_memory;
    b->copy = copy;
    cuda_use_units(cuda);
    b->compile = compile;
    b->discard = discard;
    b->run = run;
    b->wait = wait_for;
    b->times = times;
    b->close = close_backend;
    snprintf(b->name, sizeof(b->name), "emulated");
    return b;
}
