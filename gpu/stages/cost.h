/*
 * Stages of the data cost: match, Gaussian and cross-shaped smoothing, pyramid. All cost volumes
 * are in the grid's checkerboard order; the finest one is 8 bits and at most MAX_COST, coarser
 * ones are 16 bits and saturate at COST_SATURATION. Padding labels hold 0 and are never read as
 * labels.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/choices.h"
#include "gpu/stages/feature.h"
#include "gpu/stages/image.h"

enum {
    COST_LUT = 255 * 255 + 1,
    CENSUS_LUT = 64,
    VECTOR_WORDS = FEATURE_CHANNELS / 8,
    SUM_LUT = 4096
};

/* D_p(d): the dissimilarity of reference (x, y) and target (x - sign*(u_min + d), y). The index
 * into lut depends on the kind: ad, sum of |difference| over channels, less the slack;
 * bt, Birchfield and Tomasi's dissimilarity (1998) in half grey levels, summed over channels; ssd,
 * mean of squares over 3x3 and channels. Descriptors have their own table. */
struct cost_args {
    struct grid grid;
    const uint8_t *reference, *target;                        /* width*height*channels */
    const uint64_t *descriptor_reference, *descriptor_target; /* width*height*words */
    const uint64_t *steady;                                   /* stage steady_bits's, or NULL */
    const uint8_t *slack;                                     /* with it */
    const struct likeness *likeness;                          /* with it */
    const uint8_t *lut;                                       /* COST_LUT entries */
    const uint8_t *census_lut;                                /* CENSUS_LUT entries */
    uint8_t *cost;
    int channels;
    int words;       /* of a pixel's descriptor: 1, census, or VECTOR_WORDS */
    int kind;        /* DATA_COST_* */
    int sign;        /* 1: the target is the right picture, -1: the left one */
    int border;      /* a label whose match lies outside costs what the border's pixel does */
    uint8_t outside; /* or this */
};

/* The largest distance in the target picture of pixels that are read for a label. */
STAGE int cost_reach(const struct cost_args *a) {
    int first = a->grid.space.u_min, last = first + a->grid.space.u_count - 1;
    return stage_max(stage_abs(first), stage_abs(last)) + 1;
}

STAGE int hamming64(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
    return __popcll(a ^ b);
#else
    return __builtin_popcountll(a ^ b);
#endif
}

/* 32 - 32 cos of two vectors of gpu/stages/feature.h with this product, rounded, as a place in a
 * table of CENSUS_LUT entries: (VECTOR_HALF - product) >> VECTOR_SHIFT, limited. */
enum {
    VECTOR_SHIFT = 2 * FEATURE_LENGTH_BITS - 5,
    VECTOR_HALF = (1 << 2 * FEATURE_LENGTH_BITS) + (1 << (VECTOR_SHIFT - 1))
};

STAGE int vector_place(int product) {
    return stage_clamp((VECTOR_HALF - product) >> VECTOR_SHIFT, 0, CENSUS_LUT - 1);
}

/* The distance of two descriptors of so many words as a place in this table: of bits, or of
 * vectors. */
STAGE int descriptor_distance(const uint64_t *a, const uint64_t *b, int words) {
    int product = 0;
    if (words == 1)
        return stage_min(hamming64(*a, *b), CENSUS_LUT - 1);
    for (int i = 0; i < FEATURE_CHANNELS; i++)
        product += ((const int8_t *)a)[i] * ((const int8_t *)b)[i];
    return vector_place(product);
}

/* Whether steady bits alone count, and there is slack: not where colours differ. */
STAGE int cost_has_slack(const struct cost_args *a) {
    return a->steady && a->likeness->difference == 0;
}

STAGE int cost_ad(const struct cost_args *a, int x, int xo, int y) {
    const uint8_t *p = a->reference + ((size_t)y * a->grid.width + x) * a->channels;
    const uint8_t *q = a->target + ((size_t)y * a->grid.width + xo) * a->channels;
    int sum = 0;
    for (int c = 0; c < a->channels; c++)
        sum += stage_abs(p[c] - q[c]);
    return cost_has_slack(a) ? stage_max(sum - a->slack[(size_t)y * a->grid.width + x], 0) : sum;
}

/* The distance of v from the interval of row[x] and its half-way values, in half grey levels. */
STAGE int bt_one_way(int v, const uint8_t *row, int x, int width, int channels) {
    int here = 2 * row[(size_t)x * channels];
    int left = here / 2 + row[(size_t)stage_max(x - 1, 0) * channels];
    int right = here / 2 + row[(size_t)stage_min(x + 1, width - 1) * channels];
    int maximum = stage_max(here, stage_max(left, right)),
        minimum = stage_min(here, stage_min(left, right));
    return stage_max(0, stage_max(2 * v - maximum, minimum - 2 * v));
}

STAGE int cost_bt(const struct cost_args *a, int x, int xo, int y) {
    size_t row = (size_t)y * a->grid.width * a->channels;
    int sum = 0;
    for (int c = 0; c < a->channels; c++) {
        const uint8_t *p = a->reference + row + c, *q = a->target + row + c;
        sum += stage_min(bt_one_way(p[(size_t)x * a->channels], q, xo, a->grid.width, a->channels),
                         bt_one_way(q[(size_t)xo * a->channels], p, x, a->grid.width, a->channels));
    }
    return sum;
}

STAGE int cost_ssd(const struct cost_args *a, int x, int xo, int y) {
    int sum = 0, w = a->grid.width;
    for (int dy = -1; dy <= 1; dy++) {
        size_t row = (size_t)stage_clamp(y + dy, 0, a->grid.height - 1) * w;
        for (int dx = -1; dx <= 1; dx++) {
            const uint8_t *p = a->reference + (row + stage_clamp(x + dx, 0, w - 1)) * a->channels;
            const uint8_t *q = a->target + (row + stage_clamp(xo + dx, 0, w - 1)) * a->channels;
            for (int c = 0; c < a->channels; c++)
                sum += (p[c] - q[c]) * (p[c] - q[c]);
        }
    }
    return sum / (9 * a->channels);
}

STAGE int cost_descriptor(const struct cost_args *a, int x, int xo, int y) {
    size_t row = (size_t)y * a->grid.width, words = (size_t)a->words;
    if (cost_has_slack(a))
        return a->census_lut[hamming64(a->descriptor_reference[row + x] & a->steady[row + x],
                                       a->descriptor_target[row + xo] & a->steady[row + x])];
    return a->census_lut[descriptor_distance(a->descriptor_reference + (row + x) * words,
                                             a->descriptor_target + (row + xo) * words, a->words)];
}

STAGE int cost_match(const struct cost_args *a, int x, int xo, int y) {
    switch (a->kind) {
    case DATA_COST_AD:
        return a->lut[cost_ad(a, x, xo, y)];
    case DATA_COST_BT:
        return a->lut[cost_bt(a, x, xo, y)];
    case DATA_COST_SSD:
        return a->lut[cost_ssd(a, x, xo, y)];
    case DATA_COST_CENSUS:
        return cost_descriptor(a, x, xo, y);
    default:
        return a->lut[cost_ad(a, x, xo, y)] + cost_descriptor(a, x, xo, y);
    }
}

STAGE int cost_label(const struct cost_args *a, int x, int y, int d) {
    int xo = x - a->sign * (a->grid.space.u_min + d), at = stage_clamp(xo, 0, a->grid.width - 1);
    return xo == at || a->border ? cost_match(a, x, at, y) : a->outside;
}

STAGE void stage_cost(const struct cost_args *a, int x, int y) {
    uint8_t *out = a->cost + grid_labels(&a->grid, x, y);
    for (int d = 0; d < a->grid.padded; d++)
        out[d] = (uint8_t)(d < a->grid.labels ? cost_label(a, x, y, d) : 0);
}

/* The most pixels of a window for which the sum of costs, with half their number to round it, has
 * 16 bits. */
enum { CROSS_PIXELS = 2 * 65535 / (2 * MAX_COST + 1) };

/* Mean of the cost over a cross-shaped window (Zhang, Lu, Lafruit 2009): sums along each pixel's
 * horizontal arms, then sums of those along its vertical arms, divided by the number of pixels. */
struct cross_args {
    struct grid grid;
    const struct arms *arms;  /* width*height */
    const uint8_t *source;    /* x pass */
    uint16_t *between;        /* at most (2*63 + 1) * MAX_COST */
    uint8_t *out;             /* y pass */
    int longest_x, longest_y; /* no arm is longer */
};

STAGE void stage_cross_x(const struct cross_args *a, int x, int y) {
    const struct arms *arms = a->arms + (size_t)y * a->grid.width + x;
    uint16_t *out = a->between + grid_labels(&a->grid, x, y);
    for (int d = 0; d < a->grid.padded; d++) {
        int sum = 0;
        for (int px = x - arms->length[LEFT]; px <= x + arms->length[RIGHT]; px++)
            sum += a->source[grid_labels(&a->grid, px, y) + d];
        out[d] = (uint16_t)sum;
    }
}

/* The pixels of column x's horizontal arms in rows top..bottom. */
STAGE int cross_count(const struct arms *all, int width, int x, int top, int bottom) {
    int count = 0;
    for (int y = top; y <= bottom; y++) {
        const struct arms *arms = all + (size_t)y * (size_t)width + (size_t)x;
        count += arms->length[LEFT] + arms->length[RIGHT] + 1;
    }
    return count;
}

STAGE void stage_cross_y(const struct cross_args *a, int x, int y) {
    const struct arms *arms = a->arms + (size_t)y * a->grid.width + x;
    int top = y - arms->length[UP], bottom = y + arms->length[DOWN];
    int count = cross_count(a->arms, a->grid.width, x, top, bottom);
    uint8_t *out = a->out + grid_labels(&a->grid, x, y);
    for (int d = 0; d < a->grid.padded; d++) {
        int sum = 0;
        for (int py = top; py <= bottom; py++)
            sum += a->between[grid_labels(&a->grid, x, py) + d];
        out[d] = (uint8_t)((sum + count / 2) / count);
    }
}

/* Cost of a coarser level: the sum of a node's 2x2 children (Felzenszwalb, Huttenlocher 2006,
 * 3.3), or of their children. */
struct downsample_cost_args {
    struct grid grid, fine;
    int levels;           /* from fine to grid: 1, or 2 from fine8 */
    const uint8_t *fine8; /* one of the two is NULL */
    const uint16_t *fine16;
    uint16_t *cost;
};

STAGE void stage_downsample_cost(const struct downsample_cost_args *a, int x, int y) {
    uint16_t *out = a->cost + grid_labels(&a->grid, x, y);
    for (int d = 0; d < a->grid.padded; d++) {
        int sum = 0;
        for (int cy = y << a->levels; cy < stage_min((y + 1) << a->levels, a->fine.height); cy++)
            for (int cx = x << a->levels; cx < stage_min((x + 1) << a->levels, a->fine.width);
                 cx++) {
                size_t i = grid_labels(&a->fine, cx, cy) + d;
                sum += a->fine16 ? a->fine16[i] : a->fine8[i];
            }
        out[d] = (uint16_t)stage_min(sum, COST_SATURATION);
    }
}

/* Mean of the costs of a row's nodes, along horizontal arms: those of the pixel in the middle of
 * the node, as far as the grid goes. At the third finest level this stands in for averaging the
 * costs of all pixels. */
struct cross_nodes_args {
    struct grid grid;
    int level;               /* nodes of 2^level x 2^level pixels, level > 0 */
    const struct arms *arms; /* of the first node's first pixel; at most 63 */
    int arms_width;          /* from one row of arms to the next */
    int width, height;       /* pixels of all nodes */
    const uint16_t *source;  /* at most 4^level * MAX_COST */
    uint16_t *out;
};

struct node_range {
    int first, last;
};

/* Columns of the nodes that node (x, y) is averaged over. */
STAGE struct node_range cross_nodes_range(const struct cross_nodes_args *a, int x, int y) {
    int middle_x = stage_min((2 * x + 1) << (a->level - 1), a->width - 1),
        middle_y = stage_min((2 * y + 1) << (a->level - 1), a->height - 1);
    const struct arms *arms = a->arms + (size_t)middle_y * (size_t)a->arms_width + middle_x;
    struct node_range r = {stage_max(x - (arms->length[LEFT] >> a->level), 0),
                           stage_min(x + (arms->length[RIGHT] >> a->level), a->grid.width - 1)};
    return r;
}

STAGE void stage_cross_nodes(const struct cross_nodes_args *a, int x, int y) {
    struct node_range r = cross_nodes_range(a, x, y);
    uint16_t *out = a->out + grid_labels(&a->grid, x, y);
    int count = r.last - r.first + 1;
    for (int d = 0; d < a->grid.padded; d++) {
        int sum = 0;
        for (int px = r.first; px <= r.last; px++)
            sum += a->source[grid_labels(&a->grid, px, y) + d];
        out[d] = (uint16_t)((sum + count / 2) / count);
    }
}

/* The source of data costs in 16 bits for the solver by tiles: a volume of stage cost or,
 * for costs of more than 8 bits, the pictures, from which they are computed at each use. The latter
 * are the data costs of the Middlebury MRF benchmark (Szeliski et al.
 * 2008): Birchfield-Tomasi with half-way values rounded down, its absolute value or its square,
 * summed over the channels. */
struct label_cost {
    struct grid grid;                  /* of the pictures */
    const uint8_t *volume;             /* stage cost's, or NULL */
    const uint8_t *reference, *target; /* width*height*channels */
    const uint16_t *lut;               /* SUM_LUT entries; the last one serves larger sums, too */
    int channels, squared, sign;       /* sign as in cost_args */
    int border;       /* labels whose match lies outside are compared with the border */
    uint16_t outside; /* or cost this */
};

/* The distance of v from the interval of row[x] and its half-way values, which are rounded down.
 * The border is repeated. */
STAGE int bt_whole(int v, const uint8_t *row, int x, int width, int channels) {
    int here = row[(size_t)x * channels];
    int left = (here + row[(size_t)stage_max(x - 1, 0) * channels]) / 2;
    int right = (here + row[(size_t)stage_min(x + 1, width - 1) * channels]) / 2;
    int maximum = stage_max(here, stage_max(left, right)),
        minimum = stage_min(here, stage_min(left, right));
    return stage_max(0, stage_max(v - maximum, minimum - v));
}

/* The sum over the channels, before the lookup table. */
STAGE int label_difference(const struct label_cost *a, int x, int xo, int y) {
    size_t row = (size_t)y * a->grid.width * a->channels;
    int sum = 0;
    for (int c = 0; c < a->channels; c++) {
        const uint8_t *p = a->reference + row + c, *q = a->target + row + c;
        int v = stage_min(bt_whole(p[(size_t)x * a->channels], q, xo, a->grid.width, a->channels),
                          bt_whole(q[(size_t)xo * a->channels], p, x, a->grid.width, a->channels));
        sum += a->squared ? v * v : v;
    }
    return sum;
}

/* Column of the match of label l; outside the target picture its border's, or -1. */
STAGE int label_match(const struct label_cost *a, int x, int l) {
    int xo = x - a->sign * (a->grid.space.u_min + l), inside = xo >= 0 && xo < a->grid.width;
    return inside || a->border ? stage_clamp(xo, 0, a->grid.width - 1) : -1;
}

/* D_p(l) of pixel (x, y). */
STAGE int label_cost_at(const struct label_cost *a, int x, int y, int l) {
    int xo = label_match(a, x, l);
    if (a->volume)
        return a->volume[grid_labels(&a->grid, x, y) + l];
    return xo < 0 ? a->outside : a->lut[stage_min(label_difference(a, x, xo, y), SUM_LUT - 1)];
}

/* More than any cost with four messages; T may be added to it. */
enum { NO_LABEL = INT16_MAX - MAX_TRUNCATION };

/* The costs of all padded labels; padding labels get NO_LABEL. */
STAGE void label_costs(const struct label_cost *a, int x, int y, int16_t *out) {
    for (int l = 0; l < a->grid.padded; l++)
        out[l] = (int16_t)(l < a->grid.labels ? label_cost_at(a, x, y, l) : NO_LABEL);
}
