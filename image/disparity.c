/*
 * The function of image/disparity.h. SPDX-License-Identifier: MIT
 */
#include "image/disparity.h"

#include <stddef.h>
#include <stdlib.h>

/* Whether both neighbours are known and more than a pixel of disparity away, on either side. */
static bool between(int before, int d, int after) {
    int to_before = before - d, to_after = after - d;
    return before != DISPARITY_UNKNOWN && after != DISPARITY_UNKNOWN &&
           abs(to_before) > DISPARITY_ONE && abs(to_after) > DISPARITY_ONE &&
           (to_before < 0) != (to_after < 0);
}

bool disparity_hangs(const int16_t *disparity, int x, int y, int width, int height) {
    const int16_t *at = disparity + (size_t)y * (size_t)width + (size_t)x;
    return (x > 0 && x + 1 < width && between(at[-1], at[0], at[1])) ||
           (y > 0 && y + 1 < height && between(at[-width], at[0], at[width]));
}
