/*
 * The functions of image/disparity.h. SPDX-License-Identifier: MIT
 */
#include "image/disparity.h"

#include <errno.h>
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

enum { SEEN = 1 };

/* Adds a pixel to a region unless it has another mark than that of what was filled in. */
static void add(uint8_t *mask, int32_t *region, int *count, int pixel) {
    if (mask[pixel] != 255)
        return;
    mask[pixel] = SEEN;
    region[(*count)++] = pixel;
}

int disparity_mark_filled(const int16_t *disparity, const uint8_t *confidence, int width,
                          int height, int matched_from, uint8_t *mask) {
    const int pixels = width * height;
    int32_t *region =
        malloc((size_t)pixels * sizeof(*region)); /* the regions, one after the other */
    int count = 0;
    if (!region)
        return -ENOMEM;
    for (int i = 0; i < pixels; i++)
        mask[i] = confidence[i] < matched_from && disparity[i] != DISPARITY_UNKNOWN ? 255 : 0;
    for (int i = 0; i < pixels; i++) {
        int first = count;
        add(mask, region, &count, i);
        for (int k = first; k < count; k++) {
            int at = region[k], x = at % width;
            if (x > 0)
                add(mask, region, &count, at - 1);
            if (x + 1 < width)
                add(mask, region, &count, at + 1);
            if (at >= width)
                add(mask, region, &count, at - width);
            if (at + width < pixels)
                add(mask, region, &count, at + width);
        }
        if (count - first < DISPARITY_FILLED_PX)
            for (int k = first; k < count; k++)
                mask[region[k]] = 0;
    }
    for (int k = 0; k < count; k++)
        mask[region[k]] = mask[region[k]] ? 255 : 0;
    free(region);
    return 0;
}
