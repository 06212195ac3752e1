/*
 * The CUDA backend, for backend_cuda.cu and the files of optimised kernels.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/backend.h"

#include <cuda_runtime.h>

struct backend_cuda;

#define DEVICE static __device__ __forceinline__ /* a function of kernels */

enum { WARP_SIZE = 32 };
#define ALL_LANES 0xffffffffu /* the mask of a whole warp, for shuffles and votes */
enum { URGENT = -1 };         /* the priority of all streams */

/* Issues a stage on cuda->stream. */
typedef void cuda_launch(struct backend_cuda *cuda, const void *args, int width, int height);

/* The optimised form of a kind of unit: issues passes of a unit as one, from its first on, and
 * returns how many; those that are left are issued one by one. 0: the form does not fit these. */
typedef int cuda_unit(struct backend_cuda *cuda, const struct graph *g, int unit, int slot);

/* A frame in flight owns these. */
struct cuda_slot {
    cudaEvent_t uploads[2], downloads[2]; /* before and after; timed */
    cudaEvent_t begun;                    /* the caller's stream is here */
    cudaEvent_t stages_done, finished;
    const struct cuda_program *program; /* of the frame in flight, else NULL */
    double ms[GROUP_COUNT];
    char *staging; /* page-locked, for what the caller has in pageable memory */
    size_t staging_bytes;
};

struct backend_cuda {
    struct backend base; /* first: the two pointers are one */
    cudaStream_t streams[STREAMS];
    cudaStream_t stream;          /* in use */
    cudaStream_t beside[STREAMS]; /* while capturing: for events that no stage waits for */
    cudaEvent_t fork, part;       /* where branches begin; where beside begins */
    bool capturing, parted[STREAMS];
    int priority; /* of the kernel that is launched next: URGENT or 0 */
    struct cuda_slot slots[MAX_SLOTS];
    struct thread_pool *pool; /* copies within the host; null: not yet needed */
    bool failed;              /* any error so far, except a lack of memory */
    int error;                /* first failure since the last wait */
    int device;               /* number of the GPU */
    int capability;           /* 90 for compute capability 9.0 */
    int processors;           /* multiprocessors */
    int threads;              /* that each of them has at most */
    size_t max_shared;        /* bytes of shared memory a block may ask for */
    cuda_launch *launches[STAGE_COUNT];
    cuda_unit *units[UNIT_KINDS]; /* null: pass by pass */
    bool apart[STAGE_COUNT];      /* struct unit_rules' */
    bool yields[STAGE_COUNT];     /* its blocks begin after those of others that can */
    cuda_launch *const
        *plain; /* the generated kernels, for shapes that the optimised ones leave out */
};

/* Blocks of so many threads, or of what these do, that cover width x height. */
static inline dim3 cuda_blocks(int width, int block_width, int height, int block_height) {
    dim3 blocks = {(unsigned)((width + block_width - 1) / block_width),
                   (unsigned)((height + block_height - 1) / block_height), 1};
    return blocks;
}

/* Stores the error of the last launch, if any, and logs it with this name. */
void cuda_check(struct backend_cuda *cuda, const char *what);

/* The stages that have kernels of their own, which cuda_launch_NAME() of one of the files here
 * issues. */
/* clang-format off */
#define CUDA_STAGES(STAGE) \
    STAGE(cost) STAGE(downsample_cost) STAGE(start_messages) \
    STAGE(node_match) STAGE(ground_line) STAGE(evidence) \
    STAGE(winner_takes_all) STAGE(message) STAGE(census) STAGE(steady_bits) STAGE(arms) \
    STAGE(hole_median) STAGE(median) \
    STAGE(border_plane) STAGE(check) STAGE(best_label) \
    STAGE(fill) \
    STAGE(pruned_message) STAGE(pruned_winner) STAGE(feature_layer) STAGE(feature_vector) \
    STAGE(row_offset_sum) STAGE(agreement) STAGE(agreement_strength) \
    STAGE(deblock) STAGE(move_rows) STAGE(edges) STAGE(surface_arms) \
    STAGE(surface_plane) STAGE(cost_curve) STAGE(cross_nodes) STAGE(pruned_cost) \
    STAGE(refine_nearest) STAGE(refine_evidence) STAGE(refine_regress) \
    STAGE(refine_choose) STAGE(find_patch) STAGE(pose) STAGE(count_cells)
/* clang-format on */
#define CUDA_LAUNCH(name) cuda_launch cuda_launch_##name;
CUDA_STAGES(CUDA_LAUNCH)
#undef CUDA_LAUNCH

/* Forms of units; cuda_unit_averages() is that of UNIT_COSTS which begins with averaging. */
cuda_unit cuda_unit_costs, cuda_unit_averages, cuda_unit_level, cuda_unit_pruned_level,
    cuda_unit_kept_costs, cuda_unit_mixed_census, cuda_unit_grey, cuda_unit_vectors,
    cuda_unit_speckles, cuda_unit_sides, cuda_unit_evidence;
bool cuda_leaves_out(void *cuda, const struct graph *g, int i);

/* Averaging begins when its arms are there too, and cost curves are found beside what needs labels
 * alone. */
static inline void cuda_use_units(struct backend_cuda *cuda) {
    cuda->units[UNIT_COSTS] = cuda_unit_costs;
    cuda->units[UNIT_LEVEL] = cuda_unit_level;
    cuda->units[UNIT_PRUNED_LEVEL] = cuda_unit_pruned_level;
    cuda->units[UNIT_KEPT_COSTS] = cuda_unit_kept_costs;
    cuda->units[UNIT_MIXED_CENSUS] = cuda_unit_mixed_census;
    cuda->units[UNIT_GREY] = cuda_unit_grey;
    cuda->units[UNIT_VECTORS] = cuda_unit_vectors;
    cuda->units[UNIT_SPECKLES] = cuda_unit_speckles;
    cuda->units[UNIT_SIDES] = cuda_unit_sides;
    cuda->units[UNIT_EVIDENCE] = cuda_unit_evidence;
    cuda->apart[STAGE_cross_x] = cuda->apart[STAGE_cost_curve] = true;
    cuda->base.rules.apart = cuda->apart;
    cuda->base.rules.leaves_out = cuda_leaves_out;
    cuda->base.rules.context = cuda;
}

static inline void cuda_issue_unit(struct backend_cuda *cuda, const struct graph *g, int unit,
                                   int slot) {
    const struct pass *first = &g->passes[unit];
    cuda_unit *form = first->unit > 1 ? cuda->units[first->of] : NULL;
    cuda->priority = cuda->yields[first->stage] ? 0 : URGENT;
    int done = form ? form(cuda, g, unit, slot) : 0;
    cuda->base.fused += stage_max(done - 1, 0);
    for (int i = unit + done; i < unit + first->unit; i++)
        cuda->launches[g->passes[i].stage](cuda, graph_args(g, i, slot), g->passes[i].width,
                                           g->passes[i].height);
}

/* The stage message of labels in windows. */
cuda_launch cuda_launch_window_message;
