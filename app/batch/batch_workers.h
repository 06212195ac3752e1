/*
 * batch --workers and --gpus: a batch as processes that each compute a part.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BATCH_WORKERS_H
#define LIVESTEREO_BATCH_WORKERS_H

#include <stdbool.h>

/* Runs the program again, count times beside each other, with the words of argv and --part K/N, and
 * joins the rows in folder. gpus: number K uses GPU K - 1; otherwise they share the processor's
 * cores. The worst of their exit codes; 1 after a log line where they cannot be started or joined.
 * When the program is to end, so are they. */
int batch_workers_run(char **argv, int count, bool gpus, const char *folder);

/* How many GPUs the library can use, from number 0 on and at most max; 0 after a log line. */
int batch_workers_find_gpus(int max);

#endif
