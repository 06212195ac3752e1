/*
 * Launching kernels that get ready while the one before them runs (programmatic dependent launch),
 * the arguments of their units, and what warps of several files do.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CUDA_LAUNCH_CUH
#define LIVESTEREO_CUDA_LAUNCH_CUH

#include "gpu/cuda/backend_cuda.h"

/* graph_unit_args() of a type. */
template <typename Args>
static inline const Args *cuda_args(const struct graph *g, int unit, enum stage stage, int slot,
                                    int n = 0) {
    return static_cast<const Args *>(graph_unit_args(g, unit, stage, n, slot));
}

/* Memory of a block whose size is chosen at the launch. */
#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#endif

/* The start of a kernel launched with launch_dependent: it waits for its predecessor, then lets its
 * successor start. It must not do so earlier: a first-level cache could still hold what the
 * predecessor read, out of date by the time the successor reads it. */
DEVICE void wait_for_previous_kernel(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* In all lanes: the sum, or the least, of theirs. */
DEVICE int warp_sum(int v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_LANES, v);
#else
    for (int k = WARP_SIZE / 2; k > 0; k /= 2)
        v += __shfl_xor_sync(ALL_LANES, v, k);
    return v;
#endif
}

template <typename T> DEVICE T warp_min(T v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_min_sync(ALL_LANES, v);
#else
    for (int k = WARP_SIZE / 2; k > 0; k /= 2)
        v = min(v, (T)__shfl_xor_sync(ALL_LANES, (uint32_t)v, k));
    return v;
#endif
}

/* Lets a kernel's blocks have all shared memory that they can: the limit holds for all handles,
 * whose threads launch the kernel with as much as each needs. */
template <typename Kernel>
static void allow_shared(const struct backend_cuda *cuda, Kernel kernel) {
    cudaFuncAttributes own;
    if (!cudaFuncGetAttributes(&own, kernel))
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)(cuda->max_shared - own.sharedSizeBytes));
}

/* Launches a kernel that begins with wait_for_previous_kernel(): it gets ready while the one before
 * it runs. shared: bytes of DYNAMIC_SHARED. */
template <typename... Parameters>
static void launch_with_memory(struct backend_cuda *cuda, void (*kernel)(Parameters...), dim3 grid,
                               dim3 block, size_t shared, const Parameters &...parameters) {
    cudaLaunchAttribute attributes[2];
    attributes[0].id = cudaLaunchAttributePriority;
    attributes[0].val.priority = cuda->priority;
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {grid,         block,      shared,
                                 cuda->stream, attributes, cuda->capability >= 90 ? 2u : 1u};
    cudaLaunchKernelEx(&config, kernel, parameters...);
}

template <typename... Parameters>
static void launch_dependent(struct backend_cuda *cuda, void (*kernel)(Parameters...), dim3 grid,
                             dim3 block, const Parameters &...parameters) {
    launch_with_memory(cuda, kernel, grid, block, 0, parameters...);
}

#endif
