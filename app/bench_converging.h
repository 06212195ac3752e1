/*
 * livestereo bench converging. SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BENCH_CONVERGING_H
#define LIVESTEREO_BENCH_CONVERGING_H

#include "config/params.h"

/* Measures fast-converging updates on the first pair of a folder, for which params get its range,
 * and prints a table. The exit code. */
int bench_converging(struct params *params, const char *folder);

#endif
