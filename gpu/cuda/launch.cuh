/*
 * Launching kernels that get ready while the one before them runs (programmatic dependent launch).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CUDA_LAUNCH_CUH
#define LIVESTEREO_CUDA_LAUNCH_CUH

#include "gpu/cuda/backend_cuda.h"

/* The start of a kernel launched with launch_dependent: it waits for its predecessor, then lets its
 * successor start. It must not do so earlier: a first-level cache could still hold what the
 * predecessor read, out of date by the time the successor reads it. */
DEVICE void wait_for_previous_kernel(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Launches a kernel that begins with wait_for_previous_kernel(): it gets ready while the one before
 * it runs. */
template <typename... Parameters>
static void launch_dependent(struct backend_cuda *cuda, void (*kernel)(Parameters...), dim3 grid,
                             dim3 block, const Parameters &...parameters) {
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {grid,         block,  0,
                                 cuda->stream, &early, cuda->capability >= 90 ? 1u : 0u};
    cudaLaunchKernelEx(&config, kernel, parameters...);
}

#endif
