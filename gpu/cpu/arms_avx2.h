/*
 * Private: arms of 16 pixels from their lengths, a direction each.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/cpu/vector_avx2.h"
#include "gpu/stages/image.h"

#include <assert.h>
static inline void put_arms(__m128i up, __m128i down, __m128i left, __m128i right,
                            struct arms *out) {
    static_assert(UP == 0 && DOWN == 1 && LEFT == 2 && RIGHT == 3, "order of the lengths");
    __m128i columns[2] = {_mm_unpacklo_epi8(up, down), _mm_unpackhi_epi8(up, down)};
    __m128i sides[2] = {_mm_unpacklo_epi8(left, right), _mm_unpackhi_epi8(left, right)};
    for (int i = 0; i < 2; i++) {
        store_128((out + 8 * i), _mm_unpacklo_epi16(columns[i], sides[i]));
        store_128((out + 8 * i + 4), _mm_unpackhi_epi16(columns[i], sides[i]));
    }
}
