/*
 * The CUDA backend, for backend_cuda.cu and the files of optimised kernels.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BACKEND_CUDA_H
#define LIVESTEREO_BACKEND_CUDA_H

#include "gpu/backend.h"

#include <cuda_runtime.h>

struct backend_cuda;

enum { WARP_SIZE = 32 };
#define ALL_LANES 0xffffffffu /* the mask of a whole warp, for shuffles and votes */

/* Issues a stage on cuda->stream. */
typedef void cuda_launch(struct backend_cuda *cuda, const void *args, int width, int height);

/* Neighbouring passes that fused kernels execute. length: how many from pass i on (below 2: none),
 * by their virtual arguments. launch: issues them with the arguments of a slot. */
struct cuda_fusion {
    int (*length)(const struct backend_cuda *cuda, const struct graph *g, int i);
    void (*launch)(struct backend_cuda *cuda, const struct graph *g, int i, int length, int slot);
};

enum { MAX_FUSIONS = 4 };

/* What belongs to a frame in flight. */
struct cuda_slot {
    cudaEvent_t uploads[2], downloads[2]; /* before and after; timed */
    cudaEvent_t stages_done, finished;
    const struct cuda_program *program; /* of the frame in flight, else NULL */
    double ms[GROUP_COUNT];
};

struct backend_cuda {
    struct backend base; /* first: the two pointers are one */
    cudaStream_t streams[STREAMS];
    cudaStream_t stream;    /* in use */
    cudaStream_t beside;    /* while capturing: for events that no stage waits for */
    cudaEvent_t fork, part; /* where the branch begins; where beside begins */
    bool capturing, parted;
    struct cuda_slot slots[MAX_SLOTS];
    bool failed;       /* any error so far, except a lack of memory */
    int error;         /* first failure since the last wait */
    int device;        /* number of the GPU */
    int capability;    /* 90 for compute capability 9.0 */
    int processors;    /* multiprocessors */
    size_t max_shared; /* bytes of shared memory a block may ask for */
    cuda_launch *launches[STAGE_COUNT];
    cuda_launch *const
        *plain; /* the generated kernels, for shapes that the optimised ones leave out */
    struct cuda_fusion fusions[MAX_FUSIONS];
    int fusion_count;
};

/* Stores the error of the last launch, if any, and logs it with this name. */
void cuda_check(struct backend_cuda *cuda, const char *what);

/* Enter optimised kernels into the launch table, and fusions into their list. */
void cuda_optimise_bp(struct backend_cuda *cuda);
void cuda_optimise_active(struct backend_cuda *cuda);
void cuda_optimise_match(struct backend_cuda *cuda);
void cuda_optimise_downsample(struct backend_cuda *cuda);
void cuda_optimise_cross(struct backend_cuda *cuda);
void cuda_optimise_image(struct backend_cuda *cuda);
void cuda_optimise_median(struct backend_cuda *cuda);
void cuda_optimise_border_plane(struct backend_cuda *cuda);
void cuda_optimise_check(struct backend_cuda *cuda);
void cuda_optimise_area(struct backend_cuda *cuda);
void cuda_optimise_occlusion(struct backend_cuda *cuda);
void cuda_optimise_motion(struct backend_cuda *cuda);
void cuda_optimise_motion_cost(struct backend_cuda *cuda);

void cuda_add_fusion(struct backend_cuda *cuda, struct cuda_fusion fusion);

#endif
