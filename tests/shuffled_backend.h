/*
 * A backend for tests: the pixels of a stage in an order drawn from a seed, and streams that hold
 * their work back until somebody waits for it. Then it is done in an order drawn from the seed,
 * too, and only what a GPU keeps holds it: each stream's own order, and the waits that the graph
 * says. Host memory is read and written no sooner. Two frames may be in flight.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/backend.h"

/* Never NULL: running out of memory is an assert. */
struct backend *shuffled_backend_open(uint64_t seed);

/* One pixel of a stage, as written. */
void stage_run_pixel(enum stage stage, const void *args, int x, int y);
