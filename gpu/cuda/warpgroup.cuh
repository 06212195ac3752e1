/*
 * Products of matrices of bytes by the four warps of a block together, whose second operand the
 * tensor cores read from shared memory themselves (wgmma), and what goes with them. Only code for
 * compute capability 9.0 and no later one (sm_90a) has them.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CUDA_WARPGROUP_CUH
#define LIVESTEREO_CUDA_WARPGROUP_CUH

#include "gpu/cuda/launch.cuh"

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool HAS_WARPGROUP = true;
#else
constexpr bool HAS_WARPGROUP = false;
#endif

/* asm of instructions that other code does not have. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define WARPGROUP_ASM(...) asm volatile(__VA_ARGS__)
#else
#define WARPGROUP_ASM(...) (void)0
#endif

enum { WARPGROUP = 4 * WARP_SIZE };
enum { WIDE = 128, WIDE_SUMS = WIDE / 2 }; /* columns of a product; numbers that a thread has */

DEVICE uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Copies 16 bytes from global to shared memory, until wait_for_copies() of the same thread. */
DEVICE void copy_later(uint4 *to, const uint4 *from) {
#ifdef __CUDA_ARCH__
    WARPGROUP_ASM("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                  : "memory");
#else
    *to = *from;
#endif
}

/* After the next barrier products may read what was copied. */
DEVICE void wait_for_copies(void) {
    WARPGROUP_ASM("cp.async.wait_all;\n fence.proxy.async.shared::cta;" ::: "memory");
}

/* After the next barrier of threads that wrote to shared memory products may read it. */
DEVICE void show_products(void) {
    WARPGROUP_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}

/* A barrier of a warpgroup of the block. */
template <int NUMBER> DEVICE void wait_for_warpgroup(void) {
#ifdef __CUDA_ARCH__
    WARPGROUP_ASM("bar.sync %0, 128;" ::"n"(NUMBER + 1) : "memory");
#else
    __syncthreads(); /* emulated warps go from barrier to barrier in turns */
#endif
}

/* A number in shared memory that grows, by which a warpgroup tells others how far it is. */
DEVICE void tell(int *at, int value) {
#ifdef __CUDA_ARCH__
    WARPGROUP_ASM("st.release.cta.shared.s32 [%0], %1;" ::"r"(shared_address(at)), "r"(value)
                  : "memory");
#else
    *at = value;
#endif
}

DEVICE void wait_until(const int *at, int least) {
#ifdef __CUDA_ARCH__
    int now = least;
    do
        WARPGROUP_ASM("ld.acquire.cta.shared.s32 %0, [%1];"
                      : "=r"(now)
                      : "r"(shared_address(at))
                      : "memory");
    while (now < least);
#else
    do
        __syncthreads();
    while (*at < least);
#endif
}

/* The second operand of multiply_wide(), in shared memory: groups of 8 columns, of which 16 bytes
 * of the first column lie there, then 16 of the next one and so on. The next group begins so many
 * times 16 bytes further on (the stride of PTX's descriptor, which swizzles nothing here), and the
 * other 16 bytes of the columns so many (its leading dimension). */
DEVICE uint64_t wide_operand(const uint4 *from, int between_groups, int between_halves) {
    return (uint64_t)between_groups << 32 | (uint64_t)between_halves << 16 |
           shared_address(from) >> 4;
}

/* sum += a b, of 64x32 bytes with sign and 32x128 without: of a warp's 16 rows of a and columns of
 * sum, eight by eight, a thread has those of multiply_add() (matrix_product.cuh). Until
 * finish_products() no thread may touch sum, nor change a. */
DEVICE void multiply_wide(int32_t sum[WIDE_SUMS], const uint32_t a[4], uint64_t b) {
#ifdef __CUDA_ARCH__
#define IN_8(i)                                                                           \
    "+r"(sum[i]), "+r"(sum[i + 1]), "+r"(sum[i + 2]), "+r"(sum[i + 3]), "+r"(sum[i + 4]), \
        "+r"(sum[i + 5]), "+r"(sum[i + 6]), "+r"(sum[i + 7])
    WARPGROUP_ASM("wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.u8 "
                  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63},"
                  " {%64, %65, %66, %67}, %68, 1;"
                  : IN_8(0), IN_8(8), IN_8(16), IN_8(24), IN_8(32), IN_8(40), IN_8(48), IN_8(56)
                  : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#undef IN_8
#else /* what the instruction does */
    int lane = (int)threadIdx.x % WARP_SIZE;
    uint32_t row[2][8]; /* words */
    for (int word = 0; word < 8; word++)
        for (int i = 0; i < 2; i++)
            row[i][word] = __shfl_sync(ALL_LANES, a[word / 4 * 2 + i], lane / 4 * 4 + word % 4);
    for (int i = 0; i < WIDE_SUMS; i++) {
        int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        for (int half = 0; half < 2; half++) {
            uint64_t at = (b & 0x3fff) + (uint64_t)half * (b >> 16 & 0x3fff) +
                          (uint64_t)(column / 8) * (b >> 32 & 0x3fff) + (uint64_t)(column % 8);
            const uint8_t *bytes = (const uint8_t *)__cvta_shared_to_generic(16 * at);
            const int8_t *weights = (const int8_t *)(row[i / 2 % 2] + 4 * half);
            for (int k = 0; k < 16; k++)
                sum[i] += weights[k] * bytes[k];
        }
    }
#endif
}

/* Ties sums to their places among the instructions: compilers do not know when products end. */
DEVICE void hold(int32_t sum[WIDE_SUMS]) {
#pragma unroll
    for (int i = 0; i < WIDE_SUMS; i++)
        WARPGROUP_ASM("" : "+r"(sum[i])::"memory");
}

/* Before the first of some products, of all threads. */
DEVICE void begin_products(int32_t sum[WIDE_SUMS]) {
    hold(sum);
    WARPGROUP_ASM("wgmma.fence.sync.aligned;" ::: "memory");
}

/* After the last one. */
DEVICE void finish_products(int32_t sum[WIDE_SUMS]) {
    WARPGROUP_ASM("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" ::
                      : "memory");
    hold(sum);
}

/* Stores four matrices of 8 rows of 16 bytes. Row i of matrix m goes to memory[place], with the
 * place of lane 8 m + i. Of matrix m thread 4 g + t has, in word m, number g, of 16 bits, of rows
 * 2 t and 2 t + 1. */
DEVICE void store_matrices(uint4 *memory, int place, const uint32_t word[4]) {
#ifdef __CUDA_ARCH__
    WARPGROUP_ASM("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                      shared_address(memory + place)),
                  "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
                  : "memory");
#else /* what the instruction does */
    int lane = (int)threadIdx.x % WARP_SIZE;
    for (int i = 0; i < 8; i++) {
        int there = (int)__shfl_sync(ALL_LANES, (uint32_t)place, i / 2 * 8 + lane % 4 * 2 + i % 2);
        ((uint16_t *)(memory + there))[lane / 4] = (uint16_t)(word[i / 2] >> i % 2 * 16);
    }
#endif
}

#endif
