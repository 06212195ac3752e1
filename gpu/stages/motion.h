/*
 * Stages of motion, whose labels are displacements (u, v): data cost, what the frame before says,
 * the picture pyramid and the windows' centres, check. Belief propagation (bp.h), filling and
 * speckles (postprocess.h) are those of disparities.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/bp.h"
#include "gpu/stages/cost.h"
#include "gpu/stages/postprocess.h"

/* ---- data cost */

/* The dissimilarity of (x, y) of the reference and the target at (x, y) + a label's displacement.
 * The index into lut depends on the kind, as in struct cost_args; bt uses the interval of a pixel
 * and the half-way values to its four neighbours. With fraction above 1 the index is the mean
 * absolute difference over 3x3 and the channels between the reference and bilinear samples of the
 * target, in 1/16 grey levels (SUM_LUT entries). */
struct motion_cost_args {
    struct grid grid;                  /* of the whole picture, or of a block of it */
    int left, top;                     /* the block's place */
    int width, height;                 /* of the pictures */
    const uint8_t *reference, *target; /* width*height*channels */
    const uint64_t *descriptor_reference, *descriptor_target; /* width*height*words */
    const uint8_t *lut, *census_lut;
    struct motion_map centre; /* of the grid */
    uint8_t *cost;
    int channels, words, kind; /* as in struct cost_args */
    int fraction;              /* labels in a px: above 1 kind is not looked at */
    int border;                /* labels whose match lies outside are compared with the border */
    uint8_t outside;           /* or cost this */
    const uint8_t *mask; /* of the reference, from MASKED on all labels cost nothing; or NULL */
};

enum { MASKED = 16 };

STAGE const uint8_t *motion_pixel(const struct motion_cost_args *a, const uint8_t *image, int x,
                                  int y) {
    x = stage_clamp(x, 0, a->width - 1);
    y = stage_clamp(y, 0, a->height - 1);
    return image + ((size_t)y * (size_t)a->width + (size_t)x) * (size_t)a->channels;
}

STAGE int motion_ad(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    const uint8_t *p = motion_pixel(a, a->reference, x, y), *q = motion_pixel(a, a->target, xo, yo);
    int sum = 0;
    for (int c = 0; c < a->channels; c++)
        sum += stage_abs(p[c] - q[c]);
    return sum;
}

/* The distance of value from the interval around (x, y) of image, in half grey levels. */
STAGE int motion_bt_one_way(const struct motion_cost_args *a, int value, const uint8_t *image,
                            int x, int y, int c) {
    const int dx[DIRECTIONS] = {0, 0, -1, 1}, dy[DIRECTIONS] = {-1, 1, 0, 0};
    int here = motion_pixel(a, image, x, y)[c], minimum = 2 * here, largest = minimum;
    for (int r = 0; r < DIRECTIONS; r++) {
        int half_way = here + motion_pixel(a, image, x + dx[r], y + dy[r])[c];
        minimum = stage_min(minimum, half_way);
        largest = stage_max(largest, half_way);
    }
    return stage_max(0, stage_max(2 * value - largest, minimum - 2 * value));
}

STAGE int motion_bt(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    const uint8_t *p = motion_pixel(a, a->reference, x, y), *q = motion_pixel(a, a->target, xo, yo);
    int sum = 0;
    for (int c = 0; c < a->channels; c++)
        sum += stage_min(motion_bt_one_way(a, p[c], a->target, xo, yo, c),
                         motion_bt_one_way(a, q[c], a->reference, x, y, c));
    return sum;
}

STAGE int motion_ssd(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const uint8_t *p = motion_pixel(a, a->reference, x + dx, y + dy);
            const uint8_t *q = motion_pixel(a, a->target, xo + dx, yo + dy);
            for (int c = 0; c < a->channels; c++)
                sum += (p[c] - q[c]) * (p[c] - q[c]);
        }
    return sum / (9 * a->channels);
}

STAGE int motion_descriptor(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    size_t width = (size_t)a->width, words = (size_t)a->words;
    return a->census_lut[descriptor_distance(
        a->descriptor_reference + ((size_t)y * width + (size_t)x) * words,
        a->descriptor_target + ((size_t)yo * width + (size_t)xo) * words, a->words)];
}

/* fraction^2 times the difference, summed over the channels, between the reference at (x, y) and
 * the target at (xo + wx / fraction, yo + wy / fraction). */
STAGE int motion_sampled_pixel(const struct motion_cost_args *a, int x, int y, int xo, int yo,
                               int wx, int wy) {
    const uint8_t *own = motion_pixel(a, a->reference, x, y),
                  *above = motion_pixel(a, a->target, xo, yo),
                  *above_right = motion_pixel(a, a->target, xo + 1, yo),
                  *below = motion_pixel(a, a->target, xo, yo + 1),
                  *below_right = motion_pixel(a, a->target, xo + 1, yo + 1);
    int sum = 0, f = a->fraction, left = f - wx;
    for (int c = 0; c < a->channels; c++)
        sum += stage_abs(f * f * own[c] - (f - wy) * (left * above[c] + wx * above_right[c]) -
                         wy * (left * below[c] + wx * below_right[c]));
    return sum;
}

/* The whole px before a step. */
STAGE int motion_floor(int step, int fraction) {
    return (step + (fraction << 15)) / fraction - (1 << 15);
}

/* d in 1 / fraction px. */
STAGE int motion_sampled(const struct motion_cost_args *a, int x, int y, struct displacement d) {
    int sum = 0, f = a->fraction, u = motion_floor(d.u, f), v = motion_floor(d.v, f),
        wx = d.u - u * f, wy = d.v - v * f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += motion_sampled_pixel(a, x + dx, y + dy, x + dx + u, y + dy + v, wx, wy);
    return 16 * sum / (9 * f * f * a->channels);
}

STAGE int motion_match(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    switch (a->kind) {
    case DATA_COST_AD:
        return a->lut[motion_ad(a, x, y, xo, yo)];
    case DATA_COST_BT:
        return a->lut[motion_bt(a, x, y, xo, yo)];
    case DATA_COST_SSD:
        return a->lut[motion_ssd(a, x, y, xo, yo)];
    case DATA_COST_CENSUS:
        return motion_descriptor(a, x, y, xo, yo);
    default:
        return a->lut[motion_ad(a, x, y, xo, yo)] + motion_descriptor(a, x, y, xo, yo);
    }
}

/* Whether a label's match lies outside and costs that. */
STAGE int motion_leaves(const struct motion_cost_args *a, int x, int y, struct displacement d) {
    int f = a->fraction, fx = f * x + d.u, fy = f * y + d.v;
    return !a->border && (fx < 0 || fy < 0 || fx > f * (a->width - 1) || fy > f * (a->height - 1));
}

STAGE int motion_is_masked(const struct motion_cost_args *a, int x, int y) {
    return a->mask && a->mask[(size_t)y * (size_t)a->width + (size_t)x] >= MASKED;
}

STAGE int motion_label_cost(const struct motion_cost_args *a, int x, int y, struct displacement d) {
    if (motion_leaves(a, x, y, d))
        return a->outside;
    if (a->fraction > 1)
        return a->lut[motion_sampled(a, x, y, d)];
    return motion_match(a, x, y, stage_clamp(x + d.u, 0, a->width - 1),
                        stage_clamp(y + d.v, 0, a->height - 1));
}

STAGE void stage_motion_cost(const struct motion_cost_args *a, int x, int y) {
    const struct label_space *s = &a->grid.space;
    uint8_t *out = a->cost + grid_labels(&a->grid, x, y), *end = out + a->grid.padded;
    struct displacement centre = motion_centre(&a->centre, &a->grid, x, y);
    x += a->left;
    y += a->top;
    int masked = motion_is_masked(a, x, y);
    for (int v = 0; v < s->v_count; v++)
        for (int u = 0; u < s->u_count; u++) {
            struct displacement d = {centre.u + s->u_min + u, centre.v + s->v_min + v};
            *out++ = (uint8_t)(masked ? 0 : motion_label_cost(a, x, y, d));
        }
    while (out < end)
        *out++ = 0;
}

/* ---- the picture pyramid */

/* Takes every second pixel of every second row. */
struct halve_args {
    const uint8_t *source;
    uint8_t *out;
    int source_width, width, channels; /* width: (source_width + 1) / 2 */
};

STAGE void stage_halve(const struct halve_args *a, int x, int y) {
    const uint8_t *p =
        a->source + ((size_t)2 * (size_t)y * (size_t)a->source_width + (size_t)2 * (size_t)x) *
                        (size_t)a->channels;
    uint8_t *out = a->out + ((size_t)y * (size_t)a->width + (size_t)x) * (size_t)a->channels;
    for (int c = 0; c < a->channels; c++)
        out[c] = p[c];
}

/* The centre of a pixel's window: of the motions of the 3x3 nodes around the pixel's node in a map,
 * the one with the least difference of grey levels over 5x5 px. The map may be that of the coarser
 * level (scale 2) or of this one (scale 1). Among equals the pixel's own node comes first. */
struct motion_centre_args {
    const uint8_t *reference, *target; /* grey, width*height */
    const uint8_t *mask;               /* of the reference: from MASKED on not compared; or NULL */
    struct motion_map motion;          /* motion_width * motion_height, all known */
    struct motion_map centre;
    int width, height, motion_width, motion_height, scale;
    int fraction; /* steps in a px of the result */
};

/* The map's motion at a node, in steps. */
STAGE struct displacement centre_candidate(const struct motion_centre_args *a, int x, int y) {
    x = stage_clamp(x, 0, a->motion_width - 1);
    y = stage_clamp(y, 0, a->motion_height - 1);
    struct displacement d = motion_at(&a->motion, (size_t)y * (size_t)a->motion_width + (size_t)x);
    d.u = divide_round(d.u * a->scale * a->fraction, 16);
    d.v = divide_round(d.v * a->scale * a->fraction, 16);
    return d;
}

STAGE int centre_pixel(const struct motion_centre_args *a, const uint8_t *image, int x, int y) {
    return image[(size_t)stage_clamp(y, 0, a->height - 1) * (size_t)a->width +
                 (size_t)stage_clamp(x, 0, a->width - 1)];
}

/* 5x5 difference at the nearest whole px. */
STAGE int centre_difference(const struct motion_centre_args *a, int x, int y,
                            struct displacement d) {
    int u = divide_round(d.u, a->fraction), v = divide_round(d.v, a->fraction), sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            if (!a->mask || centre_pixel(a, a->mask, x + dx, y + dy) < MASKED)
                sum += stage_abs(centre_pixel(a, a->reference, x + dx, y + dy) -
                                 centre_pixel(a, a->target, x + dx + u, y + dy + v));
    return sum;
}

STAGE void stage_motion_centre(const struct motion_centre_args *a, int x, int y) {
    int x0 = x / a->scale, y0 = y / a->scale;
    struct displacement best = centre_candidate(a, x0, y0);
    int minimum = centre_difference(a, x, y, best);
    for (int k = 0; k < 9; k++) {
        struct displacement d = centre_candidate(a, x0 + k % 3 - 1, y0 + k / 3 - 1);
        if (d.u == best.u && d.v == best.v)
            continue;
        int sum = centre_difference(a, x, y, d);
        if (sum < minimum) {
            minimum = sum;
            best = d;
        }
    }
    motion_put(&a->centre, (size_t)y * (size_t)a->width + (size_t)x, best);
}

/* ---- the map */

/* Forward-backward check: unknown where a pixel's motion and the backward one where it leads do not
 * cancel, or where it leads out of the picture. */
struct motion_check_args {
    struct motion_map forward, backward; /* backward.u NULL: least confidence alone */
    const uint8_t *confidence;
    struct motion_map out;
    int width, height;
    int tolerance; /* 1/16 px */
    int min_confidence;
};

STAGE int motion_cancels(const struct motion_check_args *a, int x, int y, struct displacement d) {
    int xo = x + ((d.u + 8) >> 4), yo = y + ((d.v + 8) >> 4);
    if (xo < 0 || yo < 0 || xo >= a->width || yo >= a->height)
        return 0;
    struct displacement back = motion_at(&a->backward, (size_t)yo * (size_t)a->width + (size_t)xo);
    int64_t u = d.u + back.u, v = d.v + back.v, maximum = a->tolerance;
    return back.u != UNKNOWN && u * u + v * v <= maximum * maximum;
}

STAGE void stage_motion_check(const struct motion_check_args *a, int x, int y) {
    size_t i = (size_t)y * (size_t)a->width + (size_t)x;
    struct displacement d = motion_at(&a->forward, i), unknown = {UNKNOWN, UNKNOWN};
    int keep =
        a->confidence[i] >= a->min_confidence && (!a->backward.u || motion_cancels(a, x, y, d));
    motion_put(&a->out, i, keep ? d : unknown);
}
