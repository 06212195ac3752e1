/*
 * See scaling.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/scaling.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Grey levels at which a neighbour's weight in a median falls to 1/e: of the map, of filled
 * holes. */
static const double MEDIAN_COLOR_SIGMA = 20, HOLE_COLOR_SIGMA = 12;

/* The least mean of a node's 16 pixels' costs that its evidence is a share of. Learned vectors have
 * length 1 on bare walls, too: what noise makes of them costs more. */
static const double LEAST_MEAN = 16 * 0.4, LEAST_MEAN_LEARNED = 16;

/* Robust curve: weight * min(x, tau) or weight * (1 - exp(-x / tau)). */
static double curve(int form, double weight, double tau, double x) {
    return form == CURVE_TRUNCATED ? weight * fmin(x, tau) : weight * (1 - exp(-x / tau));
}

/* The difference that entry i of the lookup table stands for, in grey levels. The squared
 * difference of DATA_COST_SSD is divided by tau, so that one tau serves all kinds. */
static double lut_difference(const struct params *p, int channels, int i) {
    switch (p->data_cost) {
    case DATA_COST_BT:
        return (double)i / (2 * channels);
    case DATA_COST_SSD:
        return i / p->data_truncation;
    default:
        return (double)i / channels;
    }
}

int scaling_match_channels(const struct params *params, int channels) {
    return params->cost_color && params->matching_input == MATCHING_INPUT_PICTURE ? channels : 1;
}

bool scaling_sums(const struct params *p) {
    return p->data_cost == DATA_COST_BT_SUM || p->data_cost == DATA_COST_BT_SUM_SQUARED;
}

static int uses_difference(const struct params *p) {
    return p->data_cost != DATA_COST_CENSUS && !scaling_sums(p);
}

static int uses_census(const struct params *p) {
    return p->data_cost == DATA_COST_CENSUS || p->data_cost == DATA_COST_AD_CENSUS;
}

bool scaling_learned(const struct params *p) {
    return uses_census(p) && p->descriptor == DESCRIPTOR_LEARNED;
}

static double difference_cost(const struct params *p, int channels, int i) {
    return curve(p->data_curve, p->data_weight, p->data_truncation, lut_difference(p, channels, i));
}

static double census_cost(const struct params *p, int i) {
    return curve(CURVE_EXPONENTIAL, p->census_weight, p->census_truncation, i);
}

/* With cost_adapts, where matched pixels differ most; i is in bits. */
static double differing_census_cost(int i) {
    return curve(CURVE_EXPONENTIAL, 0.5, 10, i);
}

bool scaling_adapts(const struct params *p) {
    return p->cost_adapts && p->data_cost == DATA_COST_AD_CENSUS;
}

static uint8_t byte_of(double v, int maximum) {
    return (uint8_t)stage_clamp((int)lround(v), 0, maximum);
}

static double edge_factor(const struct params *p, int edge_class) {
    const double factor[4] = {1, p->edge_factor_1, p->edge_factor_2, 1};
    return factor[edge_class];
}

static double truncation_of(const struct params *p) {
    return p->discontinuity_truncation * (p->truncation_by_range ? p->disparity_range / 16.0 : 1);
}

double scaling_sum_cost(const struct params *p, int sum) {
    return curve(p->data_curve, p->data_weight, p->data_truncation, stage_min(sum, SUM_LUT - 1));
}

double scaling_smoothness(const struct params *p, int edge_class, int difference) {
    double f = p->smoothness == SMOOTHNESS_QUADRATIC ? (double)difference * difference : difference;
    double factor = edge_factor(p, edge_class), slope = p->discontinuity_weight * f;
    return p->edge_weakens == EDGE_WEAKENS_BOTH ? factor * fmin(slope, truncation_of(p))
                                                : fmin(slope, factor * truncation_of(p));
}

static void make_edges(struct scaling *s, const struct params *p) {
    for (int i = 0; i < 4; i++) {
        double factor = s->scale * edge_factor(p, i);
        double steep = p->edge_weakens == EDGE_WEAKENS_BOTH ? factor : s->scale;
        s->rho[i] = byte_of(steep * p->discontinuity_weight, MAX_TRUNCATION);
        s->truncation[i] = byte_of(factor * truncation_of(p), MAX_TRUNCATION);
        s->fraction_rho[i] =
            byte_of(steep * p->discontinuity_weight / (1 << p->motion_fraction), MAX_TRUNCATION);
    }
}

/* With linear smoothness the bytes of rho and T, with which other stages compute. */
static void make_smoothness(struct scaling *s, const struct params *p) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < MAX_LABELS; k++) {
            int v = p->smoothness == SMOOTHNESS_LINEAR
                        ? s->rho[i] * k
                        : byte_of(s->scale * scaling_smoothness(p, i, k), MAX_TRUNCATION);
            s->tables.smoothness[i][k] = (uint8_t)stage_min(v, s->truncation[i]);
            if (s->tables.smoothness[i][k] < s->truncation[i])
                s->steps[i] = stage_min(k, p->disparity_range - 1);
        }
}

static void make_sums(struct scaling *s, const struct params *p) {
    for (int i = 0; i < SUM_LUT; i++)
        s->tables.sum_lut[i] = (uint16_t)lround(s->scale * scaling_sum_cost(p, i));
    s->sum_outside = s->tables.sum_lut[SUM_LUT - 1];
}

/* Whole where it is above 1, so that whole costs and smoothness stay exact. */
static double scale_of_sums(const struct params *p) {
    double maximum = scaling_sum_cost(p, SUM_LUT - 1), scale = MAX_TRUNCATION / truncation_of(p);
    if (maximum > 0)
        scale = fmin(scale, COST_SATURATION / maximum);
    return scale >= 1 ? floor(scale) : scale;
}

void scaling_make(struct scaling *s, const struct params *p, int match_channels) {
    memset(s, 0, sizeof(*s));
    double max_difference = 0, max_census = 0;
    if (uses_difference(p))
        max_difference = difference_cost(p, match_channels, COST_LUT - 1);
    if (uses_census(p))
        max_census = census_cost(p, CENSUS_BITS);
    double maximum = max_difference + max_census;
    if (scaling_adapts(p))
        maximum = fmax(maximum, differing_census_cost(CENSUS_BITS));
    s->scale = MAX_TRUNCATION / truncation_of(p);
    if (maximum > 0)
        s->scale = fmin(s->scale, MAX_COST / maximum);
    if (scaling_sums(p)) {
        s->scale = scale_of_sums(p);
        make_sums(s, p);
    }
    for (int i = 0; i < COST_LUT && uses_difference(p); i++)
        s->tables.lut[i] = byte_of(s->scale * difference_cost(p, match_channels, i), MAX_COST);
    for (int i = 0; i < CENSUS_LUT && uses_census(p); i++)
        s->tables.census_lut[i] = byte_of(s->scale * census_cost(p, stage_min(i, CENSUS_BITS)),
                                          MAX_COST - s->tables.lut[COST_LUT - 1]);
    for (int i = 0; i < SUM_LUT; i++)
        s->tables.fraction_lut[i] =
            byte_of(s->scale * curve(p->data_curve, 1, p->data_truncation, i / 16.0) *
                        (p->data_curve == CURVE_TRUNCATED ? 1 / p->data_truncation : 1),
                    MAX_COST);
    for (int i = 0; i < CENSUS_LUT && scaling_adapts(p); i++)
        s->tables.differing_census_lut[i] =
            byte_of(s->scale * differing_census_cost(stage_min(i, CENSUS_BITS)), MAX_COST);
    s->outside = byte_of(s->scale * maximum, MAX_COST);
    make_edges(s, p);
    make_smoothness(s, p);
    s->damping = (int)lround(256 * p->bp_damping);
    s->convergence_threshold = (int)floor(p->bp_convergence_threshold * s->truncation[0]);
    s->bare_weight = (int)lround(256 * p->bare_weight);
    s->least_mean = (int)lround((scaling_learned(p) ? LEAST_MEAN_LEARNED : LEAST_MEAN) * s->scale);
    for (int i = 0; i < 256; i++) {
        s->tables.median_weight[i] = (uint16_t)lround(256 * exp(-i / MEDIAN_COLOR_SIGMA));
        s->tables.hole_weight[i] = (uint16_t)lround(256 * exp(-i / HOLE_COLOR_SIGMA));
    }
}

/* The centre takes what rounding leaves over. */
static struct taps make_taps(int radius, const double *weight, double sum) {
    struct taps taps = {.radius = radius};
    int rest = 1 << 14;
    for (int k = 1; k <= radius; k++) {
        taps.q14[k] = (int16_t)lround(weight[k] / sum * (1 << 14));
        rest -= 2 * taps.q14[k];
    }
    taps.q14[0] = (int16_t)rest;
    return taps;
}

struct taps scaling_taps(double sigma) {
    int radius = (int)ceil(3 * sigma);
    double weight[MAX_TAPS], sum = 1;
    assert(radius < MAX_TAPS);
    for (int k = 1; k <= radius; k++)
        sum += 2 * (weight[k] = exp(-k * k / (2 * sigma * sigma)));
    return make_taps(radius, weight, sum);
}

struct taps scaling_mean_taps(int radius) {
    double weight[MAX_TAPS];
    assert(radius < MAX_TAPS);
    for (int k = 1; k <= radius; k++)
        weight[k] = 1;
    return make_taps(radius, weight, 2 * radius + 1);
}
