/*
 * Stages optimised for AVX2, some of them for AVX-512 as well: which file has which, and what they
 * share. Each gives the same bytes as its plain stage, which documents what is computed.
 * The Makefile compiles X_simd.c twice, the second time with AVX512, where FORM(name) is
 * name_avx512; AVX-512 stands for its extensions BW, VL, VBMI, BITALG and VNNI.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/cpu/backend_cpu.h"

#ifdef AVX512
#define FORM(name) name##_avx512
#else
#define FORM(name) name##_avx2
#endif

/* FORM(rows_NAME)() of one of the files here computes rows of these stages, rows_NAME_avx2() those
 * of the second list. The others are the plain stages, compiled for AVX2. */
/* clang-format off */
#define FORM_STAGES(STAGE) \
    STAGE(message) STAGE(cost) STAGE(cross_nodes) \
    STAGE(winner_takes_all) STAGE(pruned_winner) STAGE(median) \
    STAGE(hole_median) STAGE(check) STAGE(fill) STAGE(cost_curve) \
    STAGE(refine_nearest) STAGE(refine_evidence) LAYER_STAGES(STAGE)
#define AVX2_STAGES(STAGE) \
    STAGE(census) STAGE(steady_bits) STAGE(downsample_cost) STAGE(node_match) STAGE(evidence) \
    STAGE(arms) STAGE(edges) STAGE(surface_arms) STAGE(surface_sums) STAGE(surface_plane) \
    STAGE(move_rows) STAGE(deblock) STAGE(remap) STAGE(smooth_x) \
    STAGE(smooth_y) STAGE(pruned_message) STAGE(pruned_downsample) STAGE(grey) STAGE(chance) \
    STAGE(move_take) STAGE(motion_cost)
/* Those with layers, which vpdpbusd also computes in vectors of AVX2 where the processor has it:
 * encoded for AVX-VNNI, and for AVX512-VNNI with AVX512-VL. */
#define LAYER_STAGES(STAGE) \
    STAGE(feature_layer) STAGE(feature_vector) STAGE(refine_regress) STAGE(refine_choose)
/* clang-format on */
#define FORM_ROWS(name) cpu_rows FORM(rows_##name);
FORM_STAGES(FORM_ROWS)
#undef FORM_ROWS
#define AVX2_ROWS(name) cpu_rows rows_##name##_avx2;
AVX2_STAGES(AVX2_ROWS)
#undef AVX2_ROWS

/* struct backend_cpu's. */
cpu_unit FORM(costs), FORM(level), FORM(kept_costs), pruned_level_avx2;

#define LAYER_ROWS(name) cpu_rows rows_##name##_vnni, rows_##name##_vnni_512;
LAYER_STAGES(LAYER_ROWS)
#undef LAYER_ROWS

/* Run these stages at columns from..to-1 of a row of their layer, whose outputs are in numbers. */
void FORM(regress_columns)(const struct refine_regress_args *a, int y, int from, int to,
                           const int16_t *numbers);
void FORM(choose_columns)(const struct refine_choose_args *a, int y, int from, int to,
                          const int16_t *numbers);

bool has_vnni(void), has_vnni_512(void);

/* The stage message of labels in windows. */
cpu_rows window_rows_message_avx2;
