/*
 * Checks by the disparity map whether the searched range fits the pictures. No
 * state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RANGE_HINT_H
#define LIVESTEREO_RANGE_HINT_H

#include "image/frame.h"

/* A better disparity_range for frames like this one: twice as large (at most max) where more
 * than 3 % of the known pixels have one of the two largest labels, smaller where less than a
 * quarter of the range is used; 0 where it fits. */
int range_hint(const struct frame *frame, int max);

#endif
