/*
 * Weights and truncations of the energy, estimated from a pair itself (Zhang, Seitz: Parameter
 * Estimation for MRF Stereo. CVPR 2005). No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

/* Why parameters cannot be estimated with these; NULL: they can be. */
const char *estimate_conflict(const struct params *params);

/* The same method with what preset plain has after belief propagation, so that the map has its
 * labels, and without row_alignment, so that they belong to the frame's rectified pictures. */
struct params estimate_unrefined(const struct params *params);

/* Fits the weights and truncations in params to the rectified pictures and the labels of a frame
 * that was computed without refinement. Differences of matching pixels, and of neighbours' labels
 * where edge classes do not weaken the smoothness, are taken for a mixture of a geometric
 * distribution and of outliers, all equally probable; both are fitted by expectation maximisation,
 * and the energy is the mixture's negative logarithm. Returns the largest relative change. */
double estimate_fit(const struct frame *frame, struct params *params);

/* "lambda 0.31, tau 12.5; rho 1.7, T 4.2": of census, too, where it counts. */
const char *estimate_print(const struct params *params, char *text, size_t bytes);
