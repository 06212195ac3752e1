/*
 * Finds labels of a host's problem (mrf.h) with the pipeline's solver on a checkerboard (solver.h),
 * whose numbers are bytes, where these hold all of them. Used by one thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/backend.h"
#include "gpu/mrf/mrf.h"

/* The labels of mrf_min_sum() on five levels. With watch the problem is solved with 1, 2, 4, 8...
 * half-steps and with all of them, and each of these results is told. Every backend gives the same
 * bytes. threads translate the problem, 0: all cores. Returns 0; -ENOTSUP with *why where the
 * solver cannot have this smoothness, as many classes of edges or these numbers; or -ENOMEM and
 * what the backend returns. */
int mrf_min_sum_in_bytes(const struct mrf *m, int sweeps, struct backend *b, int threads,
                         const struct mrf_watch *watch, uint16_t *label, struct mrf_result *result,
                         const char **why);
