/*
 * Smoothing of JPEG's blocks in AVX2: loops over the bytes of rows, which compilers turn into
 * vectors. A picture without blocks is copied, and so is what remap makes of it.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <string.h>

enum { ROW_BYTES = 3 * MAX_FRAME_SIDE };

struct deblocked_rows {
    uint8_t row[3][ROW_BYTES]; /* row y at y mod 3 */
    int16_t ramps[ROW_BYTES];
    uint16_t sum[ROW_BYTES];
};

/* The ramps over the border of blocks next to row y. */
static void ramps_down(const struct deblock_args *a, int y, int limit, int16_t *ramps) {
    int border = jpeg_border(y), bytes = a->width * a->channels;
    const uint8_t *q = a->source + (ptrdiff_t)border * bytes;
    memset(ramps, 0, (size_t)bytes * sizeof(*ramps));
    if (!is_between_blocks(border, a->height))
        return;
    int16_t weight = (int16_t)ramp_weight(y - border);
    for (int i = 0; i < bytes; i++) {
        int16_t step = (int16_t)(q[i] - q[i - bytes]);
        int16_t excess = (int16_t)(3 * step + q[i - 2 * bytes] - q[i + bytes]);
        ramps[i] = (int16_t)(excess <= limit && -excess <= limit ? weight * step : 0);
    }
}

static void ramps_along(const struct deblock_args *a, int y, int limit, int16_t *ramps) {
    int channels = a->channels;
    const uint8_t *row = a->source + (ptrdiff_t)y * a->width * channels;
    for (int border = JPEG_BLOCK; is_between_blocks(border, a->width); border += JPEG_BLOCK)
        for (int i = border * channels; i < (border + 1) * channels; i++) {
            int step = row[i] - row[i - channels];
            if (step == 0 || step_excess(row + i, channels) > limit)
                continue;
            int end = stage_min(JPEG_BLOCK / 2, a->width - border);
            for (int d = -JPEG_BLOCK / 2; d < end; d++)
                ramps[i + d * channels] =
                    (int16_t)(ramps[i + d * channels] + ramp_weight(d) * step);
        }
}

static const uint8_t *deblock_row(const struct deblock_args *a, int y, int limit,
                                  struct deblocked_rows *rows) {
    y = stage_clamp(y, 0, a->height - 1);
    int bytes = a->width * a->channels;
    const uint8_t *source = a->source + (ptrdiff_t)y * bytes;
    uint8_t *out = rows->row[y % 3];
    ramps_down(a, y, limit, rows->ramps);
    ramps_along(a, y, limit, rows->ramps);
    for (int i = 0; i < bytes; i++)
        out[i] = (uint8_t)stage_clamp(source[i] + ((rows->ramps[i] + 8) >> 4), 0, 255);
    return out;
}

static void soften(const uint8_t *above, const uint8_t *row, const uint8_t *below, int side,
                   int bytes, int channels, uint16_t *sum, uint8_t *out) {
    int centre = SOFTEN_ONE - 2 * side;
    for (int i = 0; i < bytes; i++)
        sum[i] = (uint16_t)(centre * row[i] + side * (above[i] + below[i]));
    for (int i = 0; i < channels; i++) {
        int last = bytes - channels + i;
        out[i] = soften_byte(centre * sum[i] + side * (sum[i] + sum[i + channels]));
        out[last] = soften_byte(centre * sum[last] + side * (sum[last] + sum[last - channels]));
    }
    for (int i = channels; i < bytes - channels; i++)
        out[i] = soften_byte(centre * sum[i] + side * (sum[i - channels] + sum[i + channels]));
}

void rows_deblock_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct deblock_args *a = args;
    int strength = block_strength(a->sums, a->width, a->height), bytes = width * a->channels;
    int limit = strength / STRENGTH_UNIT, side = soften_weight(strength);
    struct deblocked_rows *rows = scratch;
    static_assert(sizeof(*rows) <= SCRATCH_BYTES, "three rows fit");
    if (!strength) {
        memcpy(a->out + (ptrdiff_t)first * bytes, a->source + (ptrdiff_t)first * bytes,
               (size_t)(last - first) * (size_t)bytes);
        return;
    }
    const uint8_t *above = deblock_row(a, first - 1, limit, rows);
    const uint8_t *row = deblock_row(a, first, limit, rows);
    for (int y = first; y < last; y++) {
        const uint8_t *below = deblock_row(a, y + 1, limit, rows);
        soften(above, row, below, side, bytes, a->channels, rows->sum,
               a->out + (ptrdiff_t)y * bytes);
        above = row;
        row = below;
    }
}

void rows_remap_avx2(const void *args, int width, int first, int last, void *scratch) {
    struct remap_args a = *(const struct remap_args *)args;
    size_t bytes = (size_t)width * (size_t)a.channels, at = (size_t)first * bytes;
    (void)scratch;
    if (remap_is_known(&a)) {
        memcpy(a.out + at, a.with_blocks + at, (size_t)(last - first) * bytes);
        return;
    }
    a.with_blocks = NULL;
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++)
            stage_remap(&a, x, y);
}
