/*
 * Puts the stages optimised for AVX2 into the CPU backend's launch table.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

void cpu_optimise_avx2(struct backend_cpu *cpu) {
#define AVX2_ROWS(name) cpu->rows[STAGE_##name] = rows_##name##_avx2;
    AVX2_STAGES(AVX2_ROWS)
#undef AVX2_ROWS
#ifdef __x86_64__
    if (has_vnni() || has_vnni_512()) {
        bool vex = has_vnni();
        cpu->rows[STAGE_feature_layer] =
            vex ? rows_feature_layer_vnni : rows_feature_layer_vnni_512;
        cpu->rows[STAGE_feature_vector] =
            vex ? rows_feature_vector_vnni : rows_feature_vector_vnni_512;
    }
#endif
    cpu->is_small[STAGE_message] = message_is_small_avx2;
    cpu->half_steps = half_steps_avx2;
    cpu->pruned_steps = pruned_steps_avx2;
    cpu->cross_fits = cross_fits_avx2;
    cpu->costs = costs_avx2;
    cpu->kept_costs = kept_costs_avx2;
    cpu->sum_steps = sum_steps_avx2;
}
