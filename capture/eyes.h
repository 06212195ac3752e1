/*
 * Which eye a name means: of topics, tracks and files. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <glib.h>

enum eye { EYE_UNKNOWN = -1, EYE_LEFT, EYE_RIGHT };

/* By its words, of which the last one that says it counts: left, l, right, r, in any case, also
 * behind or before others ("leftImage", "cam_L"). */
enum eye eye_of_name(const char *name);

/* Two names are those of a pair where they are equal but for what says the eye: left and right, l
 * and r, or the numbers 0 and 1, 1 and 2, 2 and 3 (image_02, image_03). Calls found for each way in
 * which a name may be one of a pair: key is equal for both; rank is lower for what says more. */
void eye_pair_keys(const char *name,
                   void (*found)(void *context, const char *key, enum eye eye, int rank),
                   void *context);
