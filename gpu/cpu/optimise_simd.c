/*
 * Puts the optimised stages into the CPU backend's launch table.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

void FORM(cpu_optimise)(struct backend_cpu *cpu) {
#define FORM_ROWS(name) cpu->rows[STAGE_##name] = FORM(rows_##name);
    FORM_STAGES(FORM_ROWS)
#undef FORM_ROWS
    cpu->is_small[STAGE_message] = FORM(message_is_small);
    cpu->units[UNIT_COSTS] = FORM(costs);
    cpu->units[UNIT_LEVEL] = FORM(level);
    cpu->units[UNIT_KEPT_COSTS] = FORM(kept_costs);
#ifndef AVX512
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
        cpu->rows[STAGE_refine_choose] =
            vex ? rows_refine_choose_vnni : rows_refine_choose_vnni_512;
    }
#endif
    cpu->units[UNIT_PRUNED_LEVEL] = pruned_level_avx2;
#endif
}
