/*
 * Stages against the blocks of JPEG: pictures that were compressed have steps between blocks of 8x8
 * pixels, at the same places for both eyes, so that they match at wrong disparities.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/stage.h"

/* How far a step between two pixels stands out from those on both sides of it, in 1/2 grey level
 * and at most MAX_EXCESS, is summed where blocks meet and in the middle of blocks. */
enum { JPEG_BLOCK = 8, MAX_EXCESS = 32, BLOCK_SUMS = 2 };

/* The mean where blocks meet less that in their middle, in 1/STRENGTH_UNIT of the above: about 0
 * without JPEG, 8 with quality 90, 15 with 80, 29 with 40. Below MIN_STRENGTH nothing is done. From
 * SOFTEN_MIN on the picture is smoothed as well, the more the stronger the blocks are: each
 * neighbour along an axis has a weight of up to SOFTEN_MAX / SOFTEN_ONE. */
enum { STRENGTH_UNIT = 4, MIN_STRENGTH = 10 };
enum { SOFTEN_MIN = 12, SOFTEN_MAX = 16, SOFTEN_ONE = 64 };

struct deblock_args {
    const uint8_t *source;
    uint32_t *sums; /* BLOCK_SUMS: where blocks meet, in their middle */
    uint8_t *out;
    int width, height, channels;
};

/* The number of whole blocks along an axis that have one before them. */
STAGE int jpeg_blocks(int size) {
    return stage_max(size / JPEG_BLOCK - 1, 0);
}

/* Run over BLOCK_SUMS x 1. */
STAGE void stage_deblock_start(const struct deblock_args *a, int x, int y) {
    (void)y;
    a->sums[x] = 0;
}

/* The excess of the step to the pixel at p; its line's pixels are so many bytes apart. */
STAGE int step_excess(const uint8_t *p, ptrdiff_t apart) {
    return stage_abs(3 * (p[0] - p[-apart]) + p[-2 * apart] - p[apart]);
}

/* The excess along the left column and the upper row of 8 pixels from p on. */
STAGE int block_excess(const uint8_t *p, ptrdiff_t row, ptrdiff_t pixel, ptrdiff_t column) {
    int sum = 0;
    for (int k = 0; k < JPEG_BLOCK; k++)
        sum += stage_min(step_excess(p + k * row + column * pixel, pixel), MAX_EXCESS) +
               stage_min(step_excess(p + k * pixel + column * row, row), MAX_EXCESS);
    return sum;
}

/* Run over jpeg_blocks() x jpeg_blocks(), of the green channel. */
STAGE void stage_deblock_sum(const struct deblock_args *a, int i, int j) {
    ptrdiff_t pixel = a->channels, row = a->width * pixel;
    const uint8_t *p = a->source + JPEG_BLOCK * ((j + 1) * row + (i + 1) * pixel) + pixel / 2;
    stage_add(a->sums, (uint32_t)block_excess(p, row, pixel, 0));
    stage_add(a->sums + 1, (uint32_t)block_excess(p, row, pixel, JPEG_BLOCK / 2));
}

/* How strong the blocks of a picture of that size are; 0 without. */
STAGE int block_strength(const uint32_t *sums, int width, int height) {
    int64_t steps = 2 * JPEG_BLOCK * (int64_t)jpeg_blocks(width) * jpeg_blocks(height);
    int64_t more = STRENGTH_UNIT * ((int64_t)sums[0] - sums[1]);
    return more < MIN_STRENGTH * steps || !steps ? 0 : (int)(more / steps);
}

/* The weight of a pixel's neighbours along an axis. */
STAGE int soften_weight(int strength) {
    return stage_clamp(strength - SOFTEN_MIN, 0, SOFTEN_MAX);
}

STAGE uint8_t soften_byte(int sum) {
    return (uint8_t)((sum + SOFTEN_ONE * SOFTEN_ONE / 2) / (SOFTEN_ONE * SOFTEN_ONE));
}

/* The first pixel behind the border of blocks that pixel i of a line is at most half a block away
 * from, and whether there is one. */
STAGE int jpeg_border(int i) {
    return (i + JPEG_BLOCK / 2) / JPEG_BLOCK * JPEG_BLOCK;
}

STAGE int is_between_blocks(int border, int count) {
    return border >= JPEG_BLOCK && border + 1 < count;
}

/* A step between blocks becomes a ramp over half of both: what of it is added to the pixel that is
 * so far from the border, in sixteenths. */
STAGE int ramp_weight(int distance) {
    return distance < 0 ? 2 * distance + 9 : 2 * distance - 7;
}

/* In sixteenths of a grey level, to the pixel at p, number i of count along a line. Steps that
 * stand out by more than limit are in the picture. */
STAGE int deblock_ramp(const uint8_t *p, ptrdiff_t apart, int i, int count, int limit) {
    int border = jpeg_border(i);
    const uint8_t *q = p + (border - i) * apart;
    if (!is_between_blocks(border, count) || step_excess(q, apart) > limit)
        return 0;
    return ramp_weight(i - border) * (q[0] - q[-apart]);
}

STAGE int deblocked(const struct deblock_args *a, int x, int y, int c, int limit) {
    ptrdiff_t row = (ptrdiff_t)a->width * a->channels;
    const uint8_t *p = a->source + y * row + x * a->channels + c;
    int ramps = deblock_ramp(p, a->channels, x, a->width, limit) +
                deblock_ramp(p, row, y, a->height, limit);
    return stage_clamp(p[0] + ((ramps + 8) >> 4), 0, 255);
}

STAGE void stage_deblock(const struct deblock_args *a, int x, int y) {
    int strength = block_strength(a->sums, a->width, a->height);
    int side = soften_weight(strength), weight[2] = {SOFTEN_ONE - 2 * side, side};
    ptrdiff_t i = ((ptrdiff_t)y * a->width + x) * a->channels;
    for (int c = 0; c < a->channels; c++) {
        int sum = 0;
        for (int dy = -1; dy <= 1 && strength; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum +=
                    weight[dx != 0] * weight[dy != 0] *
                    deblocked(a, stage_clamp(x + dx, 0, a->width - 1),
                              stage_clamp(y + dy, 0, a->height - 1), c, strength / STRENGTH_UNIT);
        a->out[i + c] = strength ? soften_byte(sum) : a->source[i + c];
    }
}
