/*
 * Smoothing of pictures in AVX2: plain loops without borders, which compilers turn into vectors.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

enum { PART = 512 }; /* sums that stay in the cache */

void rows_smooth_x_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct smooth_x_args *a = args;
    int border = stage_min(a->taps.radius, width), channels = a->channels;
    int from = border * channels, to = stage_max(width - border, border) * channels;
    (void)scratch;
    for (int y = first; y < last; y++) {
        const uint8_t *row = a->source + (size_t)y * (size_t)(width * channels);
        uint16_t *out = a->out + (size_t)y * (size_t)(width * channels);
        for (int x = 0; x < border; x++)
            stage_smooth_x(a, x, y);
        for (int x = stage_max(width - border, border); x < width; x++)
            stage_smooth_x(a, x, y);
        for (int at = from; at < to; at += PART) {
            int sum[PART], count = stage_min(PART, to - at);
            for (int i = 0; i < count; i++)
                sum[i] = a->taps.q14[0] * row[at + i];
            for (int k = 1; k <= a->taps.radius; k++) {
                const uint8_t *before = row + at - k * channels, *after = row + at + k * channels;
                int weight = a->taps.q14[k];
                for (int i = 0; i < count; i++)
                    sum[i] += weight * (before[i] + after[i]);
            }
            for (int i = 0; i < count; i++)
                out[at + i] = (uint16_t)((sum[i] + 32) >> 6);
        }
    }
}

void rows_smooth_y_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct smooth_y_args *a = args;
    int step = width * a->channels;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int at = 0; at < step; at += PART) {
            uint32_t sum[PART];
            int count = stage_min(PART, step - at);
            const uint16_t *row = a->source + (size_t)y * (size_t)step + at;
            uint8_t *out = a->out + (size_t)y * (size_t)step + at;
            for (int i = 0; i < count; i++)
                sum[i] = (uint32_t)a->taps.q14[0] * row[i];
            for (int k = 1; k <= a->taps.radius; k++) {
                const uint16_t *above = a->source + (size_t)stage_max(y - k, 0) * (size_t)step + at,
                               *below = a->source +
                                        (size_t)stage_min(y + k, a->height - 1) * (size_t)step + at;
                uint32_t weight = (uint32_t)a->taps.q14[k];
                for (int i = 0; i < count; i++)
                    sum[i] += weight * ((uint32_t)above[i] + below[i]);
            }
            for (int i = 0; i < count; i++)
                out[i] = (uint8_t)((sum[i] + (1u << 21)) >> 22);
        }
}
