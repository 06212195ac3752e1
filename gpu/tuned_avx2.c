#include "gpu/backend_cpu.h"
void cpu_tune_avx2(struct backend_cpu *cpu) {
    (void)cpu;
}
