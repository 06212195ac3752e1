/*
 * The stages of refine_avx2.c for AVX-512.
 * SPDX-License-Identifier: MIT
 */
#ifdef __x86_64__
#define AVX512
#include "gpu/cpu/refine_avx2.c" /* NOLINT(bugprone-suspicious-include) */
#endif
