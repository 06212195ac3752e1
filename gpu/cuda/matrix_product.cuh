/*
 * Products of matrices of bytes on tensor cores, and copies of their operands to shared memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CUDA_MATRIX_PRODUCT_CUH
#define LIVESTEREO_CUDA_MATRIX_PRODUCT_CUH

#include "gpu/cuda/launch.cuh"

/* Copies 16 bytes from global to shared memory, until wait_for_pieces() of the same thread. */
DEVICE void copy_piece(uint4 *to, const uint4 *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
#else
    *to = *from;
#endif
}

DEVICE void wait_for_pieces(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#define MMA_16X8X32(type)                                                                     \
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8." type                                      \
        ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"            \
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                      \
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), \
          "r"(c[2]), "r"(c[3]))
#define MMA_8X8X16(type, i)                                                                    \
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8." type ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
        : "+r"(d[i % 2 * 2]), "+r"(d[i % 2 * 2 + 1])                                           \
        : "r"(row[i]), "r"(b[i / 2]))

/* d = c + a b, of 16x32 bytes with sign and 32x8 bytes, SIGNED or not: thread 4 g + t of the warp
 * has of a, in rows g and g + 8, bytes 4 t to 4 t + 3, and the same of the other 16; of b these
 * bytes of column g; of c and d columns 2 t and 2 t + 1 of both rows. */
template <bool SIGNED>
DEVICE void multiply_add(int32_t d[4], const int32_t c[4], const uint4 &a, const uint32_t b[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (SIGNED)
        MMA_16X8X32("s8");
    else
        MMA_16X8X32("u8");
#else
    const uint32_t row[4] = {a.x, a.y, a.z, a.w};
    for (int i = 0; i < 4; i++)
        d[i] = c[i];
#ifdef __CUDA_ARCH__
    for (int i = 0; i < 4; i++)
        if constexpr (SIGNED)
            MMA_8X8X16("s8", i);
        else
            MMA_8X8X16("u8", i);
#else /* what the instruction does */
    int from = (int)threadIdx.x % WARP_SIZE / 4 * 4, column = (int)threadIdx.x % 4 * 8;
    for (int word = 0; word < 8; word++) {
        uint32_t p[2], q[2];
        for (int i = 0; i < 2; i++) {
            p[i] = __shfl_sync(ALL_LANES, row[word / 4 * 2 + i], from + word % 4);
            q[i] = __shfl_sync(ALL_LANES, b[word / 4], column + 4 * i + word % 4);
        }
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 32; k += 8)
                d[i] += (int8_t)(p[i / 2] >> k) * (SIGNED ? (int32_t)(int8_t)(q[i % 2] >> k)
                                                          : (int32_t)(q[i % 2] >> k & 255));
    }
#endif
#endif
}

/* c += a b */
template <bool SIGNED> DEVICE void multiply_add(int32_t c[4], const uint4 &a, const uint32_t b[2]) {
    multiply_add<SIGNED>(c, c, a, b);
}

#undef MMA_16X8X32
#undef MMA_8X8X16

#endif
