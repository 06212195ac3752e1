/*
 * A crew of threads for the CPU backend: rows of one stage are dealt out by an atomic counter.
 * The caller works too; workers_run returns when all rows are done.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_WORKERS_H
#define LIVESTEREO_WORKERS_H

struct workers;

/* threads in all, the caller's included; 0 takes all cores. NULL on failure, *error = -errno. */
struct workers *workers_open(int threads, int *error);
int workers_count(const struct workers *w);

/* Calls work(context, first, last) for disjoint blocks that cover [0, rows), block rows each at
 * most. */
void workers_run(struct workers *w, int rows, int block,
                 void (*work)(void *context, int first, int last), void *context);

void workers_close(struct workers **w);

#endif
