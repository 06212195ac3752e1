/*
 * Stages on pictures: remap, grey, Gaussian smoothing, Sobel derivatives, residuals, census, cross
 * arms, edge classes.
 * Pictures are rows without gaps, channels side by side; outside a picture its border repeats.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rectify.h"
#include "gpu/stages/deblock.h"

/* Bilinear resampling by a table in 1/32 px. source is source_width x source_height. Where the
 * result is smaller than the source, each of its pixels is the mean of samples x samples places in
 * an area of step x step, to avoid aliasing. */
struct remap_args {
    const uint8_t *source;
    const struct rectify_point *map; /* width*height; NULL: where it is */
    uint8_t *out;
    int width, channels, source_width, source_height;
    int row_shift;     /* 1/32 px further down in the source */
    int samples, step; /* 0 or 1: one sample; step: from pixel to pixel, 1/32 px of the source */
    /* NULL, or, where the source is a result of stage deblock: what that stage read, remapped
     * already, and its sums. Without blocks of JPEG both pictures are the same: this is copied. */
    const uint8_t *with_blocks;
    const uint32_t *block_sums;
};

STAGE int remap_is_known(const struct remap_args *a) {
    return a->with_blocks && !block_strength(a->block_sums, a->source_width, a->source_height);
}

/* Adds the interpolated value at one place of the source, in 1/1024 of a grey level. */
STAGE void remap_add(const struct remap_args *a, int px, int py, int sum[3]) {
    int x0 = px >> 5, y0 = py >> 5, fx = px & 31, fy = py & 31;
    int xa = stage_clamp(x0, 0, a->source_width - 1);
    int xb = stage_clamp(x0 + 1, 0, a->source_width - 1);
    const uint8_t *top = a->source + (size_t)stage_clamp(y0, 0, a->source_height - 1) *
                                         a->source_width * a->channels;
    const uint8_t *bottom = a->source + (size_t)stage_clamp(y0 + 1, 0, a->source_height - 1) *
                                            a->source_width * a->channels;
    for (int c = 0; c < 3 && c < a->channels; c++) {
        int ia = xa * a->channels + c, ib = xb * a->channels + c;
        sum[c] += (32 - fy) * ((32 - fx) * top[ia] + fx * top[ib]) +
                  fy * ((32 - fx) * bottom[ia] + fx * bottom[ib]);
    }
}

STAGE void stage_remap(const struct remap_args *a, int x, int y) {
    struct rectify_point p = {32 * x, 32 * y};
    int sum[3] = {0, 0, 0}, n = stage_max(a->samples, 1), area = 1024 * n * n;
    ptrdiff_t at = ((ptrdiff_t)y * a->width + x) * a->channels;
    if (remap_is_known(a)) {
        for (int c = 0; c < a->channels; c++)
            a->out[at + c] = a->with_blocks[at + c];
        return;
    }
    if (a->map)
        p = a->map[(size_t)y * a->width + x];
    p.y += a->row_shift;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            remap_add(a, p.x + (2 * i + 1 - n) * a->step / (2 * n),
                      p.y + (2 * j + 1 - n) * a->step / (2 * n), sum);
    for (int c = 0; c < 3 && c < a->channels; c++)
        a->out[at + c] = (uint8_t)(n == 1 ? (sum[c] + 512) >> 10 : (sum[c] + area / 2) / area);
}

/* Whether the source has something at this place. */
STAGE int point_is_seen(struct rectify_point p, int source_width, int source_height) {
    return p.x >= 0 && p.y >= 0 && p.x <= 32 * (source_width - 1) &&
           p.y <= 32 * (source_height - 1);
}

/* Pixels that show nothing of the source become unknown in a map and get confidence 0. */
struct hide_unseen_args {
    const struct rectify_point *map;
    const int16_t *source; /* NULL where confidence is set */
    int16_t *out;
    const uint8_t *confidence; /* NULL where source is set */
    uint8_t *confidence_out;
    int width, source_width, source_height;
};

STAGE void stage_hide_unseen(const struct hide_unseen_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    int seen = point_is_seen(a->map[i], a->source_width, a->source_height);
    if (a->source)
        a->out[i] = (int16_t)(seen ? a->source[i] : UNKNOWN);
    if (a->confidence)
        a->confidence_out[i] = seen ? a->confidence[i] : 0;
}

/* Luma of ITU-R BT.601, weights in 1/256, of a pixel of 1 or 3 channels. */
STAGE uint8_t grey_level(const uint8_t *p, int channels) {
    return channels == 1 ? p[0] : (uint8_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
}

struct grey_args {
    const uint8_t *source;
    uint8_t *out;
    int width, channels;
};

STAGE void stage_grey(const struct grey_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    a->out[i] = grey_level(a->source + i * a->channels, a->channels);
}

/* Separable kernel, first along rows to Q8, then along columns back to 8 bits. */
enum { MAX_TAPS = 13 }; /* radius 12: three sigma of 4 px */

struct taps {
    int radius;
    int16_t q14[MAX_TAPS]; /* q14[0] is the centre; the whole kernel sums to 1 << 14 */
};

struct smooth_x_args {
    const uint8_t *source;
    uint16_t *out;
    int width, channels;
    struct taps taps;
};

STAGE void stage_smooth_x(const struct smooth_x_args *a, int x, int y) {
    const uint8_t *row = a->source + (size_t)y * a->width * a->channels;
    for (int c = 0; c < a->channels; c++) {
        int sum = a->taps.q14[0] * row[x * a->channels + c];
        for (int k = 1; k <= a->taps.radius; k++)
            sum += a->taps.q14[k] * (row[stage_max(x - k, 0) * a->channels + c] +
                                     row[stage_min(x + k, a->width - 1) * a->channels + c]);
        a->out[((size_t)y * a->width + x) * a->channels + c] = (uint16_t)((sum + 32) >> 6);
    }
}

struct smooth_y_args {
    const uint16_t *source;
    uint8_t *out;
    int width, height, channels;
    struct taps taps;
};

STAGE void stage_smooth_y(const struct smooth_y_args *a, int x, int y) {
    size_t step = (size_t)a->width * a->channels;
    for (int c = 0; c < a->channels; c++) {
        const uint16_t *column = a->source + (size_t)x * a->channels + c;
        uint32_t sum = (uint32_t)a->taps.q14[0] * column[y * step];
        for (int k = 1; k <= a->taps.radius; k++)
            sum += (uint32_t)a->taps.q14[k] * ((uint32_t)column[stage_max(y - k, 0) * step] +
                                               column[stage_min(y + k, a->height - 1) * step]);
        a->out[y * step + (size_t)x * a->channels + c] = (uint8_t)((sum + (1u << 21)) >> 22);
    }
}

/* 3x3 Sobel derivatives of a grey picture: 128 + gx / 4, or (|gx| + |gy|) / 4, clamped to 8
 * bits. */
struct sobel_args {
    const uint8_t *grey;
    uint8_t *out;
    int width, height;
};

STAGE void stage_sobel(const struct sobel_args *a, int x, int y) {
    const uint8_t *above = a->grey + (size_t)stage_max(y - 1, 0) * a->width;
    const uint8_t *row = a->grey + (size_t)y * a->width;
    const uint8_t *below = a->grey + (size_t)stage_min(y + 1, a->height - 1) * a->width;
    int left = stage_max(x - 1, 0), right = stage_min(x + 1, a->width - 1);
    int gx = above[right] - above[left] + 2 * (row[right] - row[left]) + below[right] - below[left];
    int gy = below[left] - above[left] + 2 * (below[x] - above[x]) + below[right] - above[right];
    int value = divide_round(stage_abs(gx) + stage_abs(gy), 4);
    a->out[(size_t)y * a->width + x] = (uint8_t)stage_clamp(value, 0, 255);
}

/* 128 + grey - smoothed, clamped to 8 bits. */
struct residual_args {
    const uint8_t *grey, *smoothed;
    uint8_t *out;
    int width;
};

STAGE void stage_residual(const struct residual_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    a->out[i] = (uint8_t)stage_clamp(128 + a->grey[i] - a->smoothed[i], 0, 255);
}

/* Census transform (Zabih, Woodfill 1994) over 9x7: bit set where the neighbour is darker, 62
 * bits. */
enum { CENSUS_BITS = 62 };

struct census_args {
    const uint8_t *grey;
    uint64_t *out;
    int width, height;
    /* NULL, or out has census of the picture before its rows were moved by these, which stays where
     * none of them was moved */
    const int32_t *offset;
    int offsets;
};

STAGE int census_stays(const struct census_args *a) {
    for (int i = 0; i < a->offsets; i++)
        if (a->offset[i] != 0)
            return 0;
    return a->offsets > 0;
}

STAGE void stage_census(const struct census_args *a, int x, int y) {
    if (census_stays(a))
        return;
    int centre = a->grey[(size_t)y * a->width + x];
    uint64_t bits = 0;
    for (int dy = -3; dy <= 3; dy++) {
        const uint8_t *row = a->grey + (size_t)stage_clamp(y + dy, 0, a->height - 1) * a->width;
        for (int dx = -4; dx <= 4; dx++)
            if (dx || dy)
                bits = bits << 1 | (row[stage_clamp(x + dx, 0, a->width - 1)] < centre);
    }
    a->out[(size_t)y * a->width + x] = bits;
}

/* Arms of cross-shaped windows (Zhang, Lu, Lafruit 2009): the distance in each direction over which
 * no channel differs from the pixel's by more than step. */
struct arms {
    uint8_t length[DIRECTIONS];
};

/* A frame's matched pixels and its noise tell these, by stage agreement_strength. */
struct likeness {
    int32_t difference;  /* of AGREEMENT_ALL: how strongly the curves of the data cost change */
    int32_t smooth_bits; /* of SMOOTH_ALL: bits of census from smoothed pictures */
    int32_t noise; /* grey levels: of the second derivatives where there is no texture; where there
                      are no colours, two thirds of that */
};

/* Bits of census that stay as they are where the picture moves by half a pixel to either side. The
 * others compare how the scene was sampled, and do not count. A bit changes where its difference
 * and the one half a pixel aside have other signs and lie more than STEADY_STEP grey levels apart.
 * Slack is what such a shift changes of a pixel's colours, at most: so much of a difference of
 * colour costs nothing. */
enum { STEADY_STEP = 8, SLACK_MAX = 127 };
static const uint64_t STEADY_ALL = ((uint64_t)1 << CENSUS_BITS) - 1;

struct steady_bits_args {
    const uint8_t *grey;
    const uint8_t *picture; /* whose colours are compared */
    uint64_t *out;
    uint8_t *slack;
    int width, height, channels;
};

STAGE int slack_of(const struct steady_bits_args *a, int x, int y) {
    const uint8_t *row = a->picture + (size_t)y * a->width * a->channels;
    int left = stage_max(x - 1, 0), right = stage_min(x + 1, a->width - 1), sum = 0;
    for (int c = 0; c < a->channels; c++, row++) {
        int own = row[(size_t)x * a->channels];
        sum += stage_max(stage_abs(own - row[(size_t)left * a->channels]),
                         stage_abs(own - row[(size_t)right * a->channels]));
    }
    return stage_min(sum / 2, SLACK_MAX);
}

/* The grey level between columns x and x + 1. */
STAGE int half_pixel(const uint8_t *row, int x, int width) {
    return (row[stage_clamp(x, 0, width - 1)] + row[stage_clamp(x + 1, 0, width - 1)] + 1) / 2;
}

STAGE int is_steady(int difference, int aside) {
    return (difference < 0) == (aside < 0) || stage_abs(difference - aside) <= STEADY_STEP;
}

STAGE void stage_steady_bits(const struct steady_bits_args *a, int x, int y) {
    const uint8_t *own = a->grey + (size_t)y * a->width;
    int left = half_pixel(own, x - 1, a->width), right = half_pixel(own, x, a->width);
    uint64_t bits = 0;
    for (int dy = -3; dy <= 3; dy++) {
        const uint8_t *row = a->grey + (size_t)stage_clamp(y + dy, 0, a->height - 1) * a->width;
        for (int px = x - 4; px <= x + 4; px++) {
            int difference = row[stage_clamp(px, 0, a->width - 1)] - own[x];
            if (px != x || dy)
                bits =
                    bits << 1 | (is_steady(difference, half_pixel(row, px - 1, a->width) - left) &
                                 is_steady(difference, half_pixel(row, px, a->width) - right));
        }
    }
    a->out[(size_t)y * a->width + x] = bits;
    a->slack[(size_t)y * a->width + x] = (uint8_t)slack_of(a, x, y);
}

struct arms_args {
    const uint8_t *image;
    const struct likeness *likeness; /* the step is at least NOISE_STEP times its noise; or NULL */
    struct arms *out;
    int width, height, channels;
    int longest_x, longest_y, step;
};

enum { NOISE_STEP = 4 };

STAGE int arm_step(const struct arms_args *a) {
    return a->likeness ? stage_max(a->step, NOISE_STEP * a->likeness->noise) : a->step;
}

STAGE int arm_length(const struct arms_args *a, int x, int y, int dx, int dy) {
    const uint8_t *centre = a->image + ((size_t)y * a->width + x) * a->channels;
    int longest = dx ? a->longest_x : a->longest_y, step = arm_step(a), n = 0;
    while (n < longest) {
        int px = x + (n + 1) * dx, py = y + (n + 1) * dy;
        if (px < 0 || py < 0 || px >= a->width || py >= a->height)
            break;
        const uint8_t *p = a->image + ((size_t)py * a->width + px) * a->channels;
        if (color_step(centre, p, a->channels) > step)
            break;
        n++;
    }
    return n;
}

STAGE void stage_arms(const struct arms_args *a, int x, int y) {
    struct arms *out = a->out + (size_t)y * a->width + x;
    out->length[UP] = (uint8_t)arm_length(a, x, y, 0, -1);
    out->length[DOWN] = (uint8_t)arm_length(a, x, y, 0, 1);
    out->length[LEFT] = (uint8_t)arm_length(a, x, y, -1, 0);
    out->length[RIGHT] = (uint8_t)arm_length(a, x, y, 1, 0);
}

/* Class of each of a pixel's four edges, two bits a direction; edges out of the picture have
 * class 0. Class 1 from a colour step of step[0], class 2 from step[1]. */
struct edges_args {
    const uint8_t *image;
    uint8_t *out;
    int width, height, channels;
    int step[2];
    int mean_square; /* the step is the root of the mean square over the channels, else the largest
                        of their differences */
};

STAGE int squared_step(const uint8_t *a, const uint8_t *b, int channels) {
    int sum = 0;
    for (int c = 0; c < channels; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/* Whether the colours p and q differ by step or more. */
STAGE int is_step(const struct edges_args *a, const uint8_t *p, const uint8_t *q, int step) {
    return a->mean_square ? squared_step(p, q, a->channels) >= a->channels * step * step
                          : color_step(p, q, a->channels) >= step;
}

STAGE int edge_class(const struct edges_args *a, const uint8_t *p, int x, int y) {
    if (x < 0 || y < 0 || x >= a->width || y >= a->height)
        return 0;
    const uint8_t *q = a->image + ((size_t)y * a->width + x) * a->channels;
    if (is_step(a, p, q, a->step[1]))
        return 2;
    return is_step(a, p, q, a->step[0]) ? 1 : 0;
}

STAGE void stage_edges(const struct edges_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    const uint8_t *p = a->image + i * a->channels;
    a->out[i] = (uint8_t)(edge_class(a, p, x, y - 1) << (2 * UP) |
                          edge_class(a, p, x, y + 1) << (2 * DOWN) |
                          edge_class(a, p, x - 1, y) << (2 * LEFT) |
                          edge_class(a, p, x + 1, y) << (2 * RIGHT));
}

/* Classes of the next coarser level: an edge between two blocks has the lower class of the two
 * finer edges that cross the border. */
struct downsample_edges_args {
    const uint8_t *fine;
    uint8_t *out;
    int fine_width, fine_height, width;
};

STAGE int edges_fine(const struct downsample_edges_args *a, int x, int y, int direction) {
    if (x >= a->fine_width || y >= a->fine_height)
        return 3;
    return a->fine[(size_t)y * a->fine_width + x] >> (2 * direction) & 3;
}

STAGE void stage_downsample_edges(const struct downsample_edges_args *a, int x, int y) {
    int x0 = 2 * x, y0 = 2 * y, xr = stage_min(x0 + 1, a->fine_width - 1);
    int yb = stage_min(y0 + 1, a->fine_height - 1);
    int up = stage_min(edges_fine(a, x0, y0, UP), edges_fine(a, x0 + 1, y0, UP));
    int down = stage_min(edges_fine(a, x0, yb, DOWN), edges_fine(a, x0 + 1, yb, DOWN));
    int left = stage_min(edges_fine(a, x0, y0, LEFT), edges_fine(a, x0, y0 + 1, LEFT));
    int right = stage_min(edges_fine(a, xr, y0, RIGHT), edges_fine(a, xr, y0 + 1, RIGHT));
    a->out[(size_t)y * a->width + x] =
        (uint8_t)(up << (2 * UP) | down << (2 * DOWN) | left << (2 * LEFT) | right << (2 * RIGHT));
}
