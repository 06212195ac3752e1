/*
 * Stages optimised for AVX2: which file has which, and what they share. Each gives the same
 * bytes as its plain stage, which documents what is computed.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_OPTIMISE_AVX2_H
#define LIVESTEREO_OPTIMISE_AVX2_H

#include "gpu/cpu/backend_cpu.h"

/* Each replaces rows in the launch table. */
void optimise_message_avx2(struct backend_cpu *cpu);
void optimise_cost_avx2(struct backend_cpu *cpu);
void optimise_cross_avx2(struct backend_cpu *cpu);
void optimise_wta_avx2(struct backend_cpu *cpu);
void optimise_levels_avx2(struct backend_cpu *cpu);
void optimise_census_avx2(struct backend_cpu *cpu);
void optimise_refine_avx2(struct backend_cpu *cpu);
void optimise_area_avx2(struct backend_cpu *cpu);
void optimise_image_avx2(struct backend_cpu *cpu);
void optimise_motion_avx2(struct backend_cpu *cpu);
void optimise_surface_avx2(struct backend_cpu *cpu);
void optimise_motion_cost_avx2(struct backend_cpu *cpu);

/* Rows of the stage cost. Returns false and does nothing where another function computes this kind
 * or table. */
bool match_rows_avx2(const struct cost_args *a, int first, int last, void *scratch);

/* Labels [from, to) of column x whose match lies inside the other picture. */
void labels_inside_avx2(const struct cost_args *a, int x, int *from, int *to);

#endif
