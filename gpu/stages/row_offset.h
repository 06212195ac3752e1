/*
 * Stages that measure, frame by frame, how many rows the right picture is too low, and move it
 * back. Both are done in ROW_CELLS x ROW_CELLS parts of the picture, between whose middles the
 * offset is interpolated: a rotated camera, or another focal length, moves each part differently.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/cost.h"

enum { ROW_CELLS = 3, ROW_STEP = 8 };
enum { ROW_REACH = 2, ROW_TRIED = 2 * ROW_REACH + 1, ROW_SUMS = ROW_CELLS * ROW_CELLS * ROW_TRIED };
enum { ROW_ONE = 32 }; /* offsets are in 1/32 px */

/* The census of one pixel of ROW_STEP x ROW_STEP is compared with all labels of the same row of the
 * target picture and of ROW_REACH rows above and below it. The least number of differing bits in
 * each row is summed over the pixels of a cell. */
struct row_offset_args {
    struct grid grid;
    const uint64_t *census_reference, *census_target;
    uint32_t *sums;  /* [cell][ROW_TRIED], cells row by row */
    int32_t *offset; /* of each cell, 1/32 px: how much lower the target is */
};

/* Run over ROW_SUMS x 1. */
STAGE void stage_row_offset_start(const struct row_offset_args *a, int x, int y) {
    (void)y;
    a->sums[x] = 0;
}

/* Run over every ROW_STEP-th column and, for each ROW_STEP-th row, ROW_TRIED rows. */
STAGE void stage_row_offset_sum(const struct row_offset_args *a, int i, int j) {
    int x = i * ROW_STEP + ROW_STEP / 2, y = j / ROW_TRIED * ROW_STEP + ROW_STEP / 2;
    int tried = j % ROW_TRIED, row = y + tried - ROW_REACH, width = a->grid.width, least = 64;
    if (x >= width || y < ROW_REACH || y + ROW_REACH >= a->grid.height)
        return;
    const uint64_t *target = a->census_target + (size_t)row * width;
    uint64_t own = a->census_reference[(size_t)y * width + x];
    int from = x - a->grid.space.u_min - a->grid.labels + 1;
    for (int xo = stage_max(from, 0); xo <= stage_min(x - a->grid.space.u_min, width - 1); xo++)
        least = stage_min(least, hamming64(own, target[xo]));
    int cell = y * ROW_CELLS / a->grid.height * ROW_CELLS + x * ROW_CELLS / width;
    stage_add(a->sums + cell * ROW_TRIED + tried, (uint32_t)least);
}

/* Where two lines of equal slope through the least sum and its neighbours meet. */
STAGE int row_offset_of(const int64_t sum[ROW_TRIED]) {
    int best = ROW_REACH;
    for (int i = 1; i < ROW_TRIED - 1; i++)
        best = sum[i] < sum[best] ? i : best;
    int64_t above = sum[best - 1], below = sum[best + 1];
    int64_t rise = (above > below ? above : below) - sum[best];
    int part = rise > 0 ? (int)(ROW_ONE / 2 * (above - below) / rise) : 0;
    return ROW_ONE * (best - ROW_REACH) + stage_clamp(part, -ROW_ONE / 2, ROW_ONE / 2);
}

/* Run over one pixel for each cell. All cells' sums count for a fifth of each cell's, so that a
 * cell where nothing matches has the offset of the picture. */
STAGE void stage_row_offset_find(const struct row_offset_args *a, int cell, int y) {
    int64_t sum[ROW_TRIED];
    (void)y;
    for (int i = 0; i < ROW_TRIED; i++) {
        sum[i] = 4 * ROW_CELLS * ROW_CELLS * (int64_t)a->sums[cell * ROW_TRIED + i];
        for (int c = 0; c < ROW_CELLS * ROW_CELLS; c++)
            sum[i] += a->sums[c * ROW_TRIED + i];
    }
    a->offset[cell] = row_offset_of(sum);
}

/* Moves a picture up by the offsets, by cubic convolution along columns (Keys 1981, a = -1/2). */
struct move_rows_args {
    const uint8_t *source;
    const int32_t *offset; /* stage row_offset_find's */
    uint8_t *out;
    int width, height, channels;
};

/* The place among the middles of cells, in 1/256 cell, of pixel i of so many. */
STAGE int row_cell(int i, int count) {
    return stage_clamp((2 * i + 1) * 128 * ROW_CELLS / count - 128, 0, 256 * (ROW_CELLS - 1));
}

STAGE int row_offset_at(const struct move_rows_args *a, int x, int y) {
    int column = row_cell(x, a->width), row = row_cell(y, a->height), fx = column % 256,
        fy = row % 256;
    const int32_t *top = a->offset + row / 256 * ROW_CELLS + column / 256;
    const int32_t *bottom = fy ? top + ROW_CELLS : top;
    int right = fx > 0, reach = ROW_ONE * ROW_REACH;
    int offset = ((256 - fy) * ((256 - fx) * top[0] + fx * top[right]) +
                  fy * ((256 - fx) * bottom[0] + fx * bottom[right]) + 32768) >>
                 16;
    return stage_clamp(offset, -reach, reach);
}

/* The weights of the four rows around a place t/32 below the second one, in 1/16384. */
STAGE void move_rows_weights(int t, int16_t weight[4]) {
    weight[0] = (int16_t)((-1024 * t + 64 * t * t - t * t * t + 2) >> 2);
    weight[2] = (int16_t)((1024 * t + 128 * t * t - 3 * t * t * t + 2) >> 2);
    weight[3] = (int16_t)((-32 * t * t + t * t * t + 2) >> 2);
    weight[1] = (int16_t)(16384 - weight[0] - weight[2] - weight[3]);
}

/* Row y of the source at a whole offset and -1 to 2. */
STAGE const uint8_t *move_rows_source(const struct move_rows_args *a, int y) {
    return a->source + (size_t)stage_clamp(y, 0, a->height - 1) * a->width * a->channels;
}

STAGE void stage_move_rows(const struct move_rows_args *a, int x, int y) {
    int offset = row_offset_at(a, x, y);
    int16_t weight[4];
    move_rows_weights(offset & (ROW_ONE - 1), weight);
    for (int i = x * a->channels; i < (x + 1) * a->channels; i++) {
        int sum = 8192;
        for (int k = 0; k < 4; k++)
            sum += weight[k] * move_rows_source(a, y + (offset >> 5) - 1 + k)[i];
        a->out[(size_t)y * a->width * a->channels + i] = (uint8_t)stage_clamp(sum >> 14, 0, 255);
    }
}
