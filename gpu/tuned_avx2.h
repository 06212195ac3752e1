/*
 * Private to the AVX2 twins of the stages: which file holds which, and what they share. A twin
 * gives the bytes of its plain stage; the plain stage is the explanation of what is computed.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_TUNED_AVX2_H
#define LIVESTEREO_TUNED_AVX2_H

#include "gpu/backend_cpu.h"

/* Each replaces rows in the launch table. */
void tune_message_avx2(struct backend_cpu *cpu);
void tune_resting_avx2(struct backend_cpu *cpu);
void tune_cost_avx2(struct backend_cpu *cpu);
void tune_pick_avx2(struct backend_cpu *cpu);
void tune_levels_avx2(struct backend_cpu *cpu);
void tune_census_avx2(struct backend_cpu *cpu);
void tune_refine_avx2(struct backend_cpu *cpu);

void widen_row_avx2(const struct widen_args *a, int y);

/* Rows of stage cost. 0, nothing done, where kind or table is left to others. */
int match_rows_avx2(const struct cost_args *a, int first, int last);

/* Labels [from, to) of column x whose match lies inside the other picture. */
void labels_inside_avx2(const struct cost_args *a, int x, int *from, int *to);

#endif
