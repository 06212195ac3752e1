/*
 * Puts the optimised stages into the CPU backend's launch table.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#ifndef AVX512
#include "gpu/cpu/plain_rows.h"

#include <string.h>
#endif

void FORM(cpu_optimise)(struct backend_cpu *cpu) {
#ifndef AVX512
    memcpy(cpu->rows, plain_rows, sizeof(plain_rows));
#endif
#define FORM_ROWS(name) cpu->rows[STAGE_##name] = FORM(rows_##name);
    FORM_STAGES(FORM_ROWS)
#undef FORM_ROWS
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
#define LAYER_ROWS(name) \
    cpu->rows[STAGE_##name] = vex ? rows_##name##_vnni : rows_##name##_vnni_512;
        LAYER_STAGES(LAYER_ROWS)
#undef LAYER_ROWS
    }
#endif
    cpu->units[UNIT_PRUNED_LEVEL] = pruned_level_avx2;
#endif
}
