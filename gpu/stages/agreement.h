/*
 * Stages that measure how alike the two pictures are, frame by frame: how far matched pixels differ
 * in colour, how many pixels have a match, how much noise there is. The data cost's curves, census
 * and arms are chosen by that.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/cost.h"
#include "gpu/stages/deblock.h"

/* One pixel of AGREEMENT_STEP x AGREEMENT_STEP looks for its match by census alone. Where that is
 * like and no other place is nearly as like, the difference of the two is counted. */
enum { AGREEMENT_STEP = 8, AGREEMENT_BITS = 12, AGREEMENT_LEAD = 4, AGREEMENT_BINS = 256 };

/* Where such a pixel has a match. */
enum places { NO_PLACE, ONE_PLACE, SEVERAL_PLACES };

/* How strongly the curves change, from none to all: from the upper quartile of the differences. */
enum { AGREEMENT_NONE = 0, AGREEMENT_ALL = 16, AGREEMENT_MIN = 7, AGREEMENT_MAX = 11 };

/* How many of every other bit of census come from smoothed pictures, in quarters: from the share of
 * the pixels that have a match, in per cent. */
enum { SMOOTH_ALL = 4, SHARE_MIN = 28, SHARE_MAX = 40 };

/* The size of the second derivative along both axes, 1 -2 1 by -1 2 -1, of the reference's grey
 * levels: with noise alone of standard deviation sigma it is at most 1.52 sigma at a fifth of the
 * pixels. The rest may be texture. */
enum { NOISE_BINS = 256, AGREEMENT_COUNTS = AGREEMENT_BINS + NOISE_BINS };

struct agreement_args {
    struct grid grid;
    const uint64_t *census_reference, *census_target;
    const uint8_t *reference, *target; /* width*height*channels */
    const uint8_t *grey;               /* of the reference */
    uint32_t *counts;                  /* AGREEMENT_BINS, one a grey level; NOISE_BINS */
    const uint32_t *block_sums;        /* of the reference as it came, or NULL */
    struct likeness *likeness;
    uint8_t *places; /* enum places of each pixel looked at, in rows of agreement_columns() */
    int channels;
    int source_width, source_height;
};

/* How many pixels are looked at along a side. */
STAGE int agreement_columns(int side) {
    return (side + AGREEMENT_STEP / 2 - 1) / AGREEMENT_STEP;
}

/* Run over AGREEMENT_COUNTS x 1. */
STAGE void stage_agreement_start(const struct agreement_args *a, int x, int y) {
    (void)y;
    a->counts[x] = 0;
}

STAGE int second_derivative(const struct agreement_args *a, int x, int y) {
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++) {
        const uint8_t *row =
            a->grey + (size_t)stage_clamp(y + dy, 0, a->grid.height - 1) * a->grid.width;
        int along =
            row[stage_max(x - 1, 0)] - 2 * row[x] + row[stage_min(x + 1, a->grid.width - 1)];
        sum += dy ? along : -2 * along;
    }
    return stage_abs(sum);
}

/* A look at labels in their order finds these: the least number of differing bits, its label,
 * and the least number among labels that are not beside it. */
struct agreement_search {
    int best, second, label;
};

STAGE void agreement_look(struct agreement_search *s, int label, int bits) {
    if (bits < s->best) {
        s->second = s->label == label - 1 ? s->second : s->best;
        s->best = bits;
        s->label = label;
    } else if (s->label != label - 1) {
        s->second = stage_min(s->second, bits);
    }
}

/* Differing bits of (x, y) and its target at a label; more than there are where it has none. */
STAGE int agreement_bits(const struct agreement_args *a, int x, int y, int label) {
    size_t row = (size_t)y * a->grid.width;
    int xo = x - a->grid.space.u_min - label;
    return xo < 0 || xo >= a->grid.width
               ? 64
               : hamming64(a->census_reference[row + x], a->census_target[row + xo]);
}

STAGE enum places agreement_places(const struct agreement_search *s) {
    if (s->best > AGREEMENT_BITS)
        return NO_PLACE;
    return s->second < s->best + AGREEMENT_LEAD ? SEVERAL_PLACES : ONE_PLACE;
}

/* Counts pixel (x, y) and, where it has only one match, how far the two differ in colour. */
STAGE void agreement_count(const struct agreement_args *a, int x, int y,
                           const struct agreement_search *s) {
    stage_add(a->counts + AGREEMENT_BINS + stage_min(second_derivative(a, x, y), NOISE_BINS - 1),
              1);
    enum places places = agreement_places(s);
    a->places[(size_t)(y / AGREEMENT_STEP) * (size_t)agreement_columns(a->grid.width) +
              (size_t)(x / AGREEMENT_STEP)] = (uint8_t)places;
    if (places != ONE_PLACE)
        return;
    size_t row = (size_t)y * a->grid.width;
    const uint8_t *p = a->reference + (row + x) * a->channels;
    const uint8_t *q = a->target + (row + x - a->grid.space.u_min - s->label) * a->channels;
    int sum = 0;
    for (int c = 0; c < a->channels; c++)
        sum += stage_abs(p[c] - q[c]);
    stage_add(a->counts + sum / a->channels, 1);
}

STAGE void stage_agreement(const struct agreement_args *a, int i, int j) {
    int x = i * AGREEMENT_STEP + AGREEMENT_STEP / 2, y = j * AGREEMENT_STEP + AGREEMENT_STEP / 2;
    struct agreement_search s = {64, 64, -1};
    if (x >= a->grid.width || y >= a->grid.height)
        return;
    for (int l = 0; l < a->grid.labels; l++)
        agreement_look(&s, l, agreement_bits(a, x, y, l));
    agreement_count(a, x, y, &s);
}

/* The least bin up to which lies a share of the counts, share / of. */
STAGE int quantile_bin(const uint32_t *counts, int bins, uint32_t share, uint32_t of) {
    uint32_t total = 0, below = 0;
    int bin = 0;
    for (int i = 0; i < bins; i++)
        total += counts[i];
    while (bin < bins - 1 && of * (below += counts[bin]) < share * total)
        bin++;
    return bin;
}

/* quartile: the upper one of the matches' differences, grey levels. matches: how many of the pixels
 * looked at have one match. noise: what a fifth of their second derivatives do not exceed. */
STAGE void agreement_choose(const struct agreement_args *a, int quartile, uint32_t matches,
                            uint32_t pixels, int noise) {
    int share = pixels ? (int)(100 * (uint64_t)matches / pixels) : 100;
    a->likeness->difference =
        stage_clamp((quartile - AGREEMENT_MIN) * AGREEMENT_ALL / (AGREEMENT_MAX - AGREEMENT_MIN),
                    AGREEMENT_NONE, AGREEMENT_ALL);
    a->likeness->smooth_bits =
        stage_clamp((SHARE_MAX - share) * SMOOTH_ALL / (SHARE_MAX - SHARE_MIN), 0, SMOOTH_ALL);
    if (a->channels == 1) /* a sum of three channels has two thirds of their noise */
        noise = (2 * noise + 1) / 3;
    if (a->block_sums) /* arms cross what blocks leave of noise */
        noise = stage_max(noise, block_strength(a->block_sums, a->source_width, a->source_height) /
                                     STRENGTH_UNIT);
    a->likeness->noise = noise;
}

/* Run over 1 x 1. */
STAGE void stage_agreement_strength(const struct agreement_args *a, int x, int y) {
    const uint32_t *noise = a->counts + AGREEMENT_BINS;
    uint32_t matches = 0, pixels = 0;
    (void)x;
    (void)y;
    for (int i = 0; i < AGREEMENT_BINS; i++)
        matches += a->counts[i];
    for (int i = 0; i < NOISE_BINS; i++)
        pixels += noise[i];
    agreement_choose(a, quantile_bin(a->counts, AGREEMENT_BINS, 3, 4), matches, pixels,
                     quantile_bin(noise, NOISE_BINS, 1, 5));
}

/* The tables of the data cost for a strength: the one of differences of colour fades, that of
 * census turns into another. Run over COST_LUT x 1. */
struct choose_costs_args {
    const struct likeness *likeness;
    const uint8_t *lut;                               /* COST_LUT */
    const uint8_t *census_lut, *differing_census_lut; /* CENSUS_LUT */
    uint8_t *out, *census_out;
};

STAGE void stage_choose_costs(const struct choose_costs_args *a, int x, int y) {
    (void)y;
    int strength = a->likeness->difference, rest = AGREEMENT_ALL - strength;
    a->out[x] = (uint8_t)((a->lut[x] * rest + AGREEMENT_ALL / 2) / AGREEMENT_ALL);
    if (x < CENSUS_LUT)
        a->census_out[x] = (uint8_t)((a->census_lut[x] * rest +
                                      a->differing_census_lut[x] * strength + AGREEMENT_ALL / 2) /
                                     AGREEMENT_ALL);
}

/* Census words in which bits of smoothed pictures take the place of others: of every second
 * neighbour, a quarter of those after the other. */
struct mix_census_args {
    const struct likeness *likeness;
    const uint64_t *smoothed;
    uint64_t *census;
    int width;
};

/* Which bits come from the smoothed picture. */
STAGE uint64_t smoothed_bits(const struct mix_census_args *a) {
    const uint64_t every_eighth = 0x0101010101010101u;
    uint64_t mask = 0;
    for (int k = 0; k < a->likeness->smooth_bits; k++)
        mask |= every_eighth << (2 * (k % 2 * 2 + k / 2));
    return mask;
}

STAGE void stage_mix_census(const struct mix_census_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    uint64_t mask = smoothed_bits(a);
    a->census[i] = (a->census[i] & ~mask) | (a->smoothed[i] & mask);
}
