/*
 * The stages of cross_avx2.c for AVX-512.
 * SPDX-License-Identifier: MIT
 */
#ifdef __x86_64__
#define AVX512
#include "gpu/cpu/cross_avx2.c" /* NOLINT(bugprone-suspicious-include) */
#endif
