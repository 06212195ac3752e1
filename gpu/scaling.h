/*
 * From the user's parameters, reals in the papers' units, to the integers that the stages compute
 * with (docs/DESIGN.md, numbers). Pure functions of their arguments.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SCALING_H
#define LIVESTEREO_SCALING_H

#include "config/params.h"
#include "gpu/stages/stages.h"

struct scaling {
    double scale; /* integer units in one of the papers' */
    uint8_t lut[COST_LUT];
    uint8_t census_lut[CENSUS_LUT];
    uint16_t median_weight[256];
    uint8_t outside;               /* cost of labels outside the other picture */
    uint8_t rho[4], truncation[4]; /* by edge class */
    int convergence_threshold;
};

/* The largest scale at which the finest data cost stays at most MAX_COST and T at most
 * TRUNCATION_MOST. match_channels: channels of the pictures compared (1 or 3). */
void scaling_make(struct scaling *s, const struct params *p, int match_channels);

/* Gaussian of sigma px as Q14 taps that sum to 1 << 14; radius ceil(3 sigma). */
struct taps scaling_taps(double sigma);

/* The mean over 2 * radius + 1 px, likewise. */
struct taps scaling_mean_taps(int radius);

/* Half-steps at a level, 0 the finest. */
int scaling_iterations(const struct params *p, int level);

#endif
