/*
 * Stands in for the CUDA backend in builds without nvcc.
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "gpu/backend.h"

#include <errno.h>

struct backend *backend_cuda_open(int gpu, enum backend_variant variant, bool quiet, int *error) {
    (void)gpu;
    (void)variant;
    if (!quiet)
        log_error("cuda", "this build has no CUDA backend; build where nvcc is installed, or use "
                          "backend=cpu");
    *error = -ENODEV;
    return NULL;
}
