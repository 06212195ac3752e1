/*
 * A thread pool for the CPU backend: threads take rows of one stage by an atomic counter. The
 * caller works too; thread_pool_run returns when all rows are done. Each thread has scratch memory.
 * In a child process the pool starts threads of its own, unless it was running at the fork().
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>

struct thread_pool;

/* threads in all, the caller's included; 0 takes all cores. Each has scratch_bytes of memory,
 * 64-byte aligned. NULL on failure, *error = -errno. */
struct thread_pool *thread_pool_open(int threads, size_t scratch_bytes, int *error);
int thread_pool_threads(const struct thread_pool *pool);

/* Calls work(context, first, last, scratch) for disjoint blocks that cover [0, rows), block rows
 * each at most. */
typedef void thread_pool_work(void *context, int first, int last, void *scratch);
void thread_pool_run(struct thread_pool *pool, int rows, int block, thread_pool_work *work,
                     void *context);

void thread_pool_close(struct thread_pool **pool);
