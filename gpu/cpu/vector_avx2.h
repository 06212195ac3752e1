/*
 * Private: loads and stores of vectors; tables of bytes looked up by shuffles, 16 entries each, 32
 * places at once.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdint.h>
#ifdef __x86_64__
#include <immintrin.h>
#else /* SIMDe has the same functions by the processor's own vectors: NEON on Arm. */
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE __m256i load_256(const void *from) {
    return _mm256_loadu_si256(from);
}

INLINE void store_256(void *to, __m256i v) {
    _mm256_storeu_si256(to, v);
}

INLINE __m128i load_128(const void *from) {
    return _mm_loadu_si128(from);
}

INLINE void store_128(void *to, __m128i v) {
    _mm_storeu_si128(to, v);
}

static inline __m256i entries(const uint8_t *table) {
    return _mm256_broadcastsi128_si256(load_128(table));
}

/* The difference of each part of 16 entries, but for the first, to the part before it. */
static inline void make_parts(const uint8_t *table, int count, __m256i *parts) {
    parts[0] = entries(table);
    for (int i = 1; i < count; i++)
        parts[i] = _mm256_xor_si256(entries(table + 16 * i), entries(table + 16 * (i - 1)));
}

/* Bytes of a table of 16 * count entries, at most 128: the parts up to that of a place, put
 * together. In later ones the place is negative, which a shuffle answers with 0, and so is a place
 * that is negative at first. */
INLINE __m256i look_up(const __m256i *parts, int count, __m256i place) {
    __m256i out = _mm256_shuffle_epi8(parts[0], place);
    for (int i = 1; i < count; i++) {
        __m256i here = _mm256_subs_epi8(place, _mm256_set1_epi8((char)(16 * i)));
        out = _mm256_xor_si256(out, _mm256_shuffle_epi8(parts[i], here));
    }
    return out;
}
