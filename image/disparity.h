/*
 * The unit of disparity maps and flow: 16 bits, 1/16 px, and the value of what is not known.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_DISPARITY_H
#define LIVESTEREO_DISPARITY_H

#include <stdint.h>

/* Left column minus right column; to the right and down for flow. */
#define DISPARITY_UNKNOWN INT16_MIN
#define DISPARITY_ONE 16

#endif
