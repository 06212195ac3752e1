/*
 * A pixel's colour in one word, for kernels that compare colours.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PACKED_PIXEL_CUH
#define LIVESTEREO_PACKED_PIXEL_CUH

#include "gpu/cuda/backend_cuda.h"

/* Pixel number i of a picture of 1 or 3 channels; channels lie in the lower bytes. */
template <int CHANNELS> DEVICE uint32_t packed_pixel(const uint8_t *picture, size_t i) {
    const uint8_t *p = picture + i * CHANNELS;
    return CHANNELS == 1 ? __ldg(p) : __ldg(p) | __ldg(p + 1) << 8 | (uint32_t)__ldg(p + 2) << 16;
}

/* color_step() of two packed pixels. */
DEVICE uint32_t step_between(uint32_t a, uint32_t b) {
    uint32_t d = __vabsdiffu4(a, b);
    return max(max(d << 24, d << 16), d << 8) >> 24;
}

#endif
