/*
 * Stages optimised for AVX2: which file has which, and what they share. Each gives the same
 * bytes as its plain stage, which documents what is computed.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_OPTIMISE_AVX2_H
#define LIVESTEREO_OPTIMISE_AVX2_H

#include "gpu/cpu/backend_cpu.h"

/* The stages of which rows_NAME_avx2() of one of the files here computes rows. */
/* clang-format off */
#define AVX2_STAGES(STAGE) \
    STAGE(message) STAGE(downsample_cost) STAGE(start_messages) \
    STAGE(cost) STAGE(border_cost) STAGE(cross_x) STAGE(cross_y) STAGE(winner_takes_all) \
    STAGE(best_label) STAGE(census) STAGE(median) STAGE(hole_median) STAGE(check) STAGE(rows) \
    STAGE(columns) STAGE(area_labels) STAGE(tiles) STAGE(arms) STAGE(edges) STAGE(surface_arms) \
    STAGE(surface_sums) STAGE(surface_plane) STAGE(motion_cost) STAGE(agreement) \
    STAGE(row_offset_sum) STAGE(move_rows) STAGE(deblock) STAGE(remap) STAGE(smooth_x) \
    STAGE(smooth_y) STAGE(pruned_start) STAGE(pruned_message) STAGE(pruned_winner) \
    STAGE(feature_layer) STAGE(feature_vector) STAGE(sum_message) STAGE(sum_labels) \
    STAGE(cross_nodes) STAGE(pruned_downsample)
/* clang-format on */
#define AVX2_ROWS(name) cpu_rows rows_##name##_avx2;
AVX2_STAGES(AVX2_ROWS)
#undef AVX2_ROWS

/* struct backend_cpu's. */
bool message_is_small_avx2(const void *args);
void half_steps_avx2(struct thread_pool *pool, const struct level_unit *unit);
void pruned_steps_avx2(struct thread_pool *pool, const struct level_unit *unit);
bool cross_fits_avx2(const struct cross_args *args);
void kept_costs_avx2(struct thread_pool *pool, const struct pruned_cost_args *args);
void costs_avx2(struct thread_pool *pool, const struct cost_unit *unit);
void sum_steps_avx2(struct thread_pool *pool, const struct sum_message_args *args, int count);

/* The stages feature_layer and feature_vector by vpdpbusd, where the processor has it: encoded for
 * AVX-VNNI, and for AVX512-VNNI with AVX512-VL. */
cpu_rows rows_feature_layer_vnni, rows_feature_vector_vnni;
cpu_rows rows_feature_layer_vnni_512, rows_feature_vector_vnni_512;
bool has_vnni(void), has_vnni_512(void);

/* The stages message and winner_takes_all of labels in windows. */
cpu_rows window_rows_message_avx2, window_rows_wta_avx2;

#endif
