/*
 * The passes of refinement=learned (gpu/stages/refinement.h).
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/picture.h"

/* Whether maps are refined: the settings ask for it, and the weights have this one. */
bool refinement_is_on(const struct pipeline *p);

/* Rows of a map, and the confidence of the choice there. */
struct refined {
    const int16_t *map;
    uint8_t *confidence;
};

/* Adds the passes that choose the disparities of a map of the left picture anew. out[0] becomes the
 * first upper rows, an even number, if that is not 0, out[1] the others. */
void refinement_describe(struct graph *g, const struct pipeline *p, const struct picture picture[2],
                         const int16_t *map, const uint8_t *confidence, int upper,
                         struct refined out[2]);
