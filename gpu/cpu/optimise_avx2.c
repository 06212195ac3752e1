/*
 * Puts the stages optimised for AVX2 into the CPU backend's launch table.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

void cpu_optimise_avx2(struct backend_cpu *cpu) {
    optimise_message_avx2(cpu);
    optimise_levels_avx2(cpu);
    optimise_cost_avx2(cpu);
    optimise_cross_avx2(cpu);
    optimise_wta_avx2(cpu);
    optimise_census_avx2(cpu);
    optimise_refine_avx2(cpu);
    optimise_area_avx2(cpu);
    optimise_image_avx2(cpu);
    optimise_motion_avx2(cpu);
    optimise_surface_avx2(cpu);
    optimise_motion_cost_avx2(cpu);
}
