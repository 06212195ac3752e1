/*
 * The passes of refinement=learned (gpu/stages/refinement.h).
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/picture.h"

/* Whether maps are refined: the settings ask for it, and the weights have this one. */
bool refinement_is_on(const struct pipeline *p);

/* Adds the passes that choose the disparities of a map of the left picture anew. Returns the map;
 * *refined becomes the confidence of the choice. */
const int16_t *refinement_describe(struct graph *g, const struct pipeline *p,
                                   const struct picture picture[2], const int16_t *map,
                                   const uint8_t *confidence, uint8_t **refined);
