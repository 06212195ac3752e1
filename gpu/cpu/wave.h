/*
 * Half-steps of belief propagation that go down the picture together, each a row behind the one
 * before, and find their messages in the cache.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/cpu/thread_pool.h"

/* Row y of a half-step, counted from 0. It may read what the half-step before it gave rows y - 1, y
 * and y + 1. scratch is the thread's memory (thread_pool.h). */
typedef void wave_row(const void *context, int step, int y, void *scratch);

/* together: steps that go down the picture at the same time, as many as the cache has rows for. */
void wave_run(struct thread_pool *pool, int height, int steps, int together, wave_row *row,
              const void *context);
