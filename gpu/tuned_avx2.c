/*
 * Puts the AVX2 twins into the CPU backend's launch table.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/tuned_avx2.h"

void cpu_tune_avx2(struct backend_cpu *cpu) {
    tune_message_avx2(cpu);
    tune_resting_avx2(cpu);
    tune_levels_avx2(cpu);
    tune_cost_avx2(cpu);
    tune_pick_avx2(cpu);
    tune_census_avx2(cpu);
    tune_refine_avx2(cpu);
}
