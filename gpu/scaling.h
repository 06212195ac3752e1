/*
 * Converts the user's parameters, reals in the papers' units, to the integers that the stages
 * compute with (docs/DESIGN.md, Numbers). Pure functions of their arguments.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/params.h"
#include "gpu/stages/stages.h"

#include <stdbool.h>

/* Tables that stages look up. They read a copy in the backend's memory. */
struct tables {
    uint16_t median_weight[256], hole_weight[256];
    uint16_t sum_lut[SUM_LUT]; /* costs of DATA_COST_BT_SUM */
    uint8_t smoothness[4]
                      [MAX_LABELS]; /* V by edge class and difference of labels, not decreasing */
    uint8_t fraction_lut[SUM_LUT];  /* costs of a mean difference in 1/16 grey levels */
    uint8_t lut[COST_LUT], census_lut[CENSUS_LUT];
    uint8_t differing_census_lut[CENSUS_LUT]; /* with cost_adapts, of pictures that differ */
};

struct scaling {
    double scale; /* integer units per unit of the papers */
    struct tables tables;
    uint8_t outside;               /* cost of labels outside the other picture */
    uint8_t rho[4], truncation[4]; /* by edge class */
    uint8_t fraction_rho[4];       /* per step, for the search of fractions of a px */

    int steps[4];         /* the largest difference of labels for which V is below the truncation */
    uint16_t sum_outside; /* outside with DATA_COST_BT_SUM */
    int damping;          /* of 256 */
    int convergence_threshold;
    int bare_weight, least_mean; /* struct evidence_args's */
};

/* Channels of the pictures that are compared: 1, or those of the input. */
int scaling_match_channels(const struct params *params, int channels);

/* The largest scale at which the finest data cost stays at most MAX_COST and T at most
 * MAX_TRUNCATION. match_channels: channels of the pictures compared (1 or 3). */
void scaling_make(struct scaling *s, const struct params *p, int match_channels);

/* Gaussian of sigma px as Q14 taps that sum to 1 << 14; radius ceil(3 sigma). */
struct taps scaling_taps(double sigma);

/* The mean over 2 * radius + 1 px, likewise. */
struct taps scaling_mean_taps(int radius);

/* Whether the cost curves adapt to the pictures (cost_adapts with a data cost that allows it). */
bool scaling_adapts(const struct params *p);

/* Whether the data cost compares learned vectors. */
bool scaling_learned(const struct params *p);

/* Whether the data cost needs more than 8 bits (bt_sum, bt_sum_squared). */
bool scaling_sums(const struct params *p);

/* In the papers' units: with scaling_sums(), the data cost of a sum of the channels' differences; V
 * of an edge class and a difference of labels. */
double scaling_sum_cost(const struct params *p, int sum);
double scaling_smoothness(const struct params *p, int edge_class, int difference);
