/*
 * Finds labels of a host's problem (mrf.h) with the solvers of the pipeline (solver.h). Their
 * numbers are bytes: along rows and columns costs and smoothness are rounded to what these hold,
 * and the energy is then that of the problem itself; on a checkerboard nothing is.
 * Used by one thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MRF_STAGES_H
#define LIVESTEREO_MRF_STAGES_H

#include "gpu/backend.h"
#include "gpu/mrf/mrf.h"

/* schedule: a BP_SCHEDULE of config/solvers.h, which does sweeps: half-steps of each of five levels
 * (checkerboard), rows and columns, or all tiles of each level forwards and backwards. With watch
 * the problem is solved with 1, 2, 4, 8... sweeps and with all of them, and each of these results
 * is told. Every backend gives the same bytes. threads translate the problem, 0: all cores. Returns
 * 0; -ENOTSUP with *why where the solver cannot have this smoothness, as many classes of edges or,
 * on a checkerboard, these numbers (mrf_min_sum() has any); or -ENOMEM and what the backend
 * returns. */
int mrf_run_stages(const struct mrf *m, int schedule, int sweeps, struct backend *b, int threads,
                   const struct mrf_watch *watch, uint16_t *label, struct mrf_result *result,
                   const char **why);

#endif
