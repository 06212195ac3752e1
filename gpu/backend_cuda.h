/*
 * The CUDA backend's launch table, for it and for the files of tuned kernels.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BACKEND_CUDA_H
#define LIVESTEREO_BACKEND_CUDA_H

#include "gpu/backend.h"

#include <cuda_runtime.h>

struct backend_cuda;

typedef void (*cuda_launch)(struct backend_cuda *cuda, const void *args, int width, int height);

/* What was issued under a number, once it came twice. */
struct cuda_recording {
    cudaGraphExec_t graph;
    uint64_t number;
};

struct backend_cuda {
    struct backend base; /* first: the two pointers are one */
    cudaStream_t stream; /* of the lane in use */
    cudaStream_t lanes[LANES];
    cudaStream_t beside; /* in recordings: what others wait for, but the stages need not */
    cudaEvent_t parting, joining;
    int parted; /* the recording being made has something beside */
    cudaEvent_t signals[BACKEND_SIGNALS];
    cudaEvent_t marks[BACKEND_MARKS];
    int failed;         /* anything but a lack of memory, ever */
    int error;          /* first failure since the last finish */
    int device;         /* number of the GPU */
    int capability;     /* 90 for compute capability 9.0 */
    int processors;     /* multiprocessors */
    size_t shared_most; /* bytes of shared memory a block may ask for */
    struct cuda_recording recordings[BACKEND_RECORDINGS];
    struct cuda_recording *recording; /* being made */
    cuda_launch launches[STAGE_COUNT];
    const cuda_launch *plain; /* the generated kernels, for shapes the tuned ones leave out */
};

/* Notes a failed launch by its name. */
void cuda_check(struct backend_cuda *cuda, const char *what);

/* Puts the tuned kernels of belief propagation into the table. */
void cuda_tune_bp(struct backend_cuda *cuda);

/* Those of fast-converging updates. */
void cuda_tune_rest(struct backend_cuda *cuda);

/* And those of the data cost: matching, and what is done to the volume. */
void cuda_tune_match(struct backend_cuda *cuda);
void cuda_tune_cost(struct backend_cuda *cuda);
void cuda_tune_cross(struct backend_cuda *cuda);

/* And those of the warm start. */
void cuda_tune_warm(struct backend_cuda *cuda);

/* And those on pictures and maps. */
void cuda_tune_image(struct backend_cuda *cuda);
void cuda_tune_colour(struct backend_cuda *cuda);
void cuda_tune_refine(struct backend_cuda *cuda);

#endif
