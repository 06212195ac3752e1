/*
 * A backend for tests that runs CUDA kernels of belief propagation on the processor.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Never NULL: running out of memory is an assert. Not linked where it cannot run. */
__attribute__((weak)) struct backend *emulated_backend_open(void);

#ifdef __cplusplus
}
#endif
